// Package deps holds the test of the import rules: which room may know which (docs/architecture.md).
package deps

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lhsql/lhsql/"

// rooms lists, for each room, the rooms whose packages it may import. A room's own packages may
// always import each other. Lines stand in an order in which each names only earlier ones, so
// that the graph has no cycle; the test checks that too.
var rooms = []struct{ name, may string }{
	{"internal", ""},
	{"types", "internal"},
	{"vec", "internal types"},
	{"lake", "internal types"},
	{"plan", "internal types lake"},
	{"eval", "internal types vec plan"},
	{"timetravel", "internal types lake"},
	{"prune", "internal types lake plan eval"},
	{"scan", "internal types vec lake plan eval prune"},
	{"dml", "internal types vec lake plan eval"},
	{"sqlfront", "internal types lake plan eval timetravel"},
	{"planner", "internal types lake plan eval prune dml"},
	{"exec", "internal types vec lake plan eval scan dml"},
	{"maintain", "internal types vec lake plan eval prune planner exec scan dml"},
	{"engine", "internal types vec lake plan eval timetravel sqlfront planner exec scan dml maintain"},
	{"wire", "internal types vec plan engine"},
	{"driver", "internal types vec engine"},
	{"cmd", "internal types vec lake engine wire"},
	{"testsql", "internal types vec lake engine wire driver"},
	{"bench", "internal types vec lake plan engine driver"},
	{"examples", "engine driver"},
}

// guests lists the packages of others that may enter some rooms only, by import path prefix.
var guests = []struct{ prefix, rooms string }{
	{"github.com/apache/iceberg-go", "lake/fakerest"},
	{"github.com/parquet-go/", "scan dml"},
	{"github.com/apache/arrow-go", "testsql"},
	{"github.com/pganalyze/pg_query_go", "sqlfront/pg"},
	{"github.com/jackc/pgx/v5/pgproto3", "wire/pg"},
	{"modernc.org/sqlite", "lake"},
}

func TestImports(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	may := map[string]map[string]bool{}
	for _, r := range rooms {
		may[r.name] = map[string]bool{r.name: true}
		for _, m := range strings.Fields(r.may) {
			if may[m] == nil {
				t.Errorf("room %s may import %s, which is not listed before it", r.name, m)
			}
			may[r.name][m] = true
		}
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); path != root && (strings.HasPrefix(n, ".") || n == "testdata" || n == "bin" || n == "lakehouse") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		rel, _ := filepath.Rel(root, path)
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			checkImport(t, may, filepath.ToSlash(rel), imp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("looked at %d files only: the walk is broken", files)
	}
}

func checkImport(t *testing.T, may map[string]map[string]bool, file, imp string) {
	t.Helper()
	dir := filepath.ToSlash(filepath.Dir(file))
	room, _, _ := strings.Cut(dir, "/")
	allowed := may[room]
	if allowed == nil {
		t.Errorf("%s: folder %s is no room of docs/architecture.md", file, room)
		return
	}
	if rest, ours := strings.CutPrefix(imp, module); ours {
		to, _, _ := strings.Cut(rest, "/")
		// Tests may look at anything below them, in a test package of their own.
		if !allowed[to] && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s imports %s: room %s may import only %s", file, imp, room, list(allowed))
		}
		return
	}
	for _, g := range guests {
		if !strings.HasPrefix(imp, g.prefix) || strings.HasSuffix(file, "_test.go") {
			continue
		}
		ok := false
		for _, r := range strings.Fields(g.rooms) {
			ok = ok || dir == r || strings.HasPrefix(dir, r+"/")
		}
		if !ok {
			t.Errorf("%s imports %s, which belongs in %s only", file, imp, g.rooms)
		}
	}
}

func list(m map[string]bool) string {
	var s []string
	for k := range m {
		s = append(s, k)
	}
	sort.Strings(s)
	return strings.Join(s, " ")
}
