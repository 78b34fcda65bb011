// Package deps holds the test of the import rules: which room may know which (docs/architecture.md).
package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	{"guard", "internal lake"},
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
	{"engine", "internal types vec lake guard plan eval timetravel sqlfront planner exec scan dml maintain"},
	{"wire", "internal types vec plan engine"},
	{"driver", "internal types vec engine"},
	{"cmd", "internal types vec lake engine wire"},
	{"testsql", "internal types vec lake engine wire driver"},
	{"bench", "internal types vec lake plan engine driver"},
	{"examples", "engine driver"},
}

// guests lists all packages of others, by import path prefix, and the rooms that they may enter. What
// is in tests is for tests alone, and programs that are tests: beside them nothing of others may be
// imported anywhere.
var guests = []struct{ prefix, rooms, tests string }{
	{"github.com/apache/iceberg-go", "lake/fakerest", "lake"},
	{"github.com/apache/arrow-go", "testsql/speccheck", "maintain"},
	{"github.com/twmb/avro", "", "maintain"},
	{"github.com/parquet-go/bitpack", "scan/parquet", ""},
	{"github.com/parquet-go/parquet-go", "", "scan dml"},
	{"github.com/pganalyze/pg_query_go", "sqlfront/pg", ""},
	{"github.com/jackc/pgx/v5/pgproto3", "wire/pg", ""},
	{"github.com/jackc/pgx/v5", "lake bench testsql/clients", "sqlfront/bind testsql"},
	{"github.com/lib/pq", "testsql/clients", ""},
	{"github.com/go-sql-driver/mysql", "testsql/clients testsql/mysql/suite", ""},
	{"github.com/dolthub/go-mysql-server", "testsql/mysql/suite", ""},
	{"github.com/dolthub/vitess", "testsql/mysql/suite", ""},
	{"gopkg.in/src-d/go-errors.v1", "testsql/mysql/suite", ""},
	{"modernc.org/sqlite", "lake", ""},
	{"github.com/aws/aws-sdk-go-v2", "lake", ""},
	{"github.com/xdg-go/", "wire/pg", ""},
	{"github.com/RoaringBitmap/roaring", "dml exec maintain testsql/speccheck", "scan"},
	{"github.com/klauspost/compress", "lake scan/parquet dml/parquet", "maintain"},
	{"github.com/pierrec/lz4", "lake scan/parquet dml/parquet exec", ""},
	{"github.com/andybalholm/brotli", "scan/parquet dml/parquet", ""},
	{"github.com/cespare/xxhash", "scan/parquet dml/parquet", ""},
	{"github.com/twmb/murmur3", "internal", ""},
	{"github.com/google/uuid", "lake dml maintain engine", ""},
	{"golang.org/x/text", "eval", ""},
	{"golang.org/x/sys", "lake", ""},
	{"gopkg.in/yaml.v3", "cmd/lhsql", ""},
	{"github.com/chzyer/readline", "cmd/lhsql", ""},
}

// testsMay lists, for each room, those that its tests may import besides: who judges a room may stand
// above it.
var testsMay = map[string]string{
	"cmd":      "bench",
	"maintain": "engine testsql",
	"testsql":  "eval",
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
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			checkHooks(t, filepath.ToSlash(rel), f)
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
		test := strings.HasSuffix(file, "_test.go")
		if !allowed[to] && !(test && slices.Contains(strings.Fields(testsMay[room]), to)) {
			t.Errorf("%s imports %s: room %s may import only %s", file, imp, room, list(allowed))
		}
		return
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return // Go's own
	}
	for _, g := range guests {
		if !strings.HasPrefix(imp, g.prefix) {
			continue
		}
		may := strings.Fields(g.rooms)
		if strings.HasSuffix(file, "_test.go") {
			may = append(may, strings.Fields(g.tests)...)
		}
		if !slices.ContainsFunc(may, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") }) {
			t.Errorf("%s imports %s, which belongs in %s only", file, imp, strings.Join(may, ", "))
		}
		return
	}
	t.Errorf("%s imports %s, which is no guest of docs/dependencies.md", file, imp)
}

// checkHooks refuses exported variables that hold functions: a room that another one changes from
// behind is no room. What a room needs is given to it.
func checkHooks(t *testing.T, file string, f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			_, hook := v.Type.(*ast.FuncType)
			for _, x := range v.Values {
				_, lit := x.(*ast.FuncLit)
				hook = hook || lit
			}
			for _, n := range v.Names {
				if hook && n.IsExported() {
					t.Errorf("%s: %s is an exported variable that holds a function", file, n.Name)
				}
			}
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
