package testsql

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/testsql/speccheck"
)

var (
	rewrite = flag.Bool("rewrite", false, "write what is seen into the scripts")
	only    = flag.String("script", "", "run the scripts whose path contains this")
)

// goldenDir is where the golden tables lie, "" if they are not there.
func goldenDir() string {
	d := os.Getenv("LHSQL_GOLDEN")
	if d == "" {
		d = "../../shared/golden"
	}
	if abs, err := filepath.Abs(d); err == nil {
		if st, err := os.Stat(abs); err == nil && st.IsDir() {
			return abs
		}
	}
	return ""
}

// scripts are the scripts of the tree, but those that -script leaves out.
func scripts() (files []string, err error) {
	err = filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".sqlt") && strings.Contains(p, *only) {
			files = append(files, p)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("no scripts found")
	}
	return files, err
}

// TestScripts runs every script of the tree.
func TestScripts(t *testing.T) {
	files, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(f, ".sqlt"), func(t *testing.T) { runScript(t, f) })
	}
}

func runScript(t *testing.T, path string) {
	s, err := readScript(path)
	if err != nil {
		t.Fatal(err)
	}
	shapes := []string{""}
	for _, st := range s.steps {
		if st.verb == "shapes" {
			shapes = tableShapes
		}
	}
	changed := false
	for _, shape := range shapes {
		changed = runShape(t, path, s, shape) || changed
	}
	if changed {
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
	}
}

// tableShapes are the ways in which a table may be written that must not change an answer.
var tableShapes = []string{shape(2, "copy-on-write"), shape(2, "merge-on-read"), shape(3, "copy-on-write"), shape(3, "merge-on-read")}

func shape(format int, mode string) string {
	return fmt.Sprintf("'format-version' = '%d', 'write.delete.mode' = '%s', 'write.update.mode' = '%s', 'write.merge.mode' = '%s'", format, mode, mode, mode)
}

// runShape runs a script with one table shape and tells whether what is seen is new.
func runShape(t *testing.T, path string, s *script, shape string) (changed bool) {
	watch := &scriptClock{}
	ctx := clock.With(context.Background(), watch)
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), Clock: watch.Now, PathTables: []string{dir}, Catalogs: []engine.CatalogConfig{{
		Name:  "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	defer func() { // whatever the script wrote keeps the spec's rules
		c, err := lake.OpenCatalog(ctx, "lake", map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")})
		if err == nil {
			err = speccheck.Catalog(ctx, c)
			c.Close()
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}()
	vars := strings.NewReplacer("{golden}", goldenDir(), "{dir}", dir, "{shape}", shape)
	lets := map[string]string{} // value → {name}
	sessions := map[string]*engine.Session{}
	dialect := ""
	var current *engine.Session
	if len(s.steps) == 0 || s.steps[0].verb != "dialect" {
		current = open(t, eng, sessions, "main", dialect)
	}
	for i := range s.steps {
		if t.Failed() && shape != "" && !*rewrite {
			t.Logf("with %s", shape)
			return changed
		}
		st := &s.steps[i]
		switch st.verb {
		case "session":
			current = open(t, eng, sessions, st.args[0], dialect)
			continue
		case "dialect":
			dialect = st.args[0]
			current = open(t, eng, sessions, "main "+dialect, dialect)
			continue
		case "use":
			if err := current.Use(ctx, st.args[0]); err != nil {
				t.Fatalf("%s:%d: %v", path, st.line, err)
			}
			continue
		case "require":
			if st.args[0] == "golden" && goldenDir() == "" {
				t.Skip("the golden tables are not here")
			}
			continue
		case "shapes":
			continue
		case "at":
			if err := watch.set(st.args[0]); err != nil {
				t.Fatalf("%s:%d: %v", path, st.line, err)
			}
			continue
		}
		sql := vars.Replace(st.sql)
		for v, name := range lets {
			sql = strings.ReplaceAll(sql, name, v)
		}
		if st.verb == "plan" {
			sql = "EXPLAIN " + sql
		}
		a := ask(ctx, current, sql)
		if st.verb == "let" {
			if a.err != nil || len(a.rows) != 1 {
				t.Fatalf("%s:%d: %d rows, %v", path, st.line, len(a.rows), a.err)
			}
			lets[a.rows[0]] = "{" + st.args[0] + "}"
			continue
		}
		got := st.seen(a, lets, dir)
		switch {
		case st.verb == "error" && a.err == nil:
			t.Errorf("%s:%d: no error, but %s", path, st.line, a.tag)
		case st.verb != "error" && a.err != nil:
			t.Errorf("%s:%d: %v", path, st.line, errorText(a.err))
		case st.verb == "setup":
		case *rewrite && (shape == "" || shape == tableShapes[0]):
			changed = changed || st.want != got || !st.has
			st.want, st.has = got, true
		case got != st.want:
			t.Errorf("%s:%d: %s\n%s\n-- got:\n%s\n-- want:\n%s", path, st.line, st.verb, st.sql, got, st.want)
		}
		if st.verb == "query" && a.err == nil {
			inModes(t, path, st, current, sql, a.text(st.verb, st.unordered()), st.unordered())
		}
	}
	return changed
}

func (st *step) unordered() bool { return len(st.args) > 0 && st.args[0] == "unordered" }

// seen is an answer in the script's form, with the names of what differs from run to run. lets are names by value.
func (st *step) seen(a answer, lets map[string]string, dir string) string {
	got := a.text(st.verb, st.unordered())
	for v, name := range lets {
		got = strings.ReplaceAll(got, v, name)
	}
	if st.verb == "error" && len(st.args) > 0 && a.err != nil {
		got, _, _ = strings.Cut(got, " ")
		st.want, st.has = st.args[0], true
	}
	return strings.ReplaceAll(got, dir, "{dir}")
}

// inModes asks again in every mode: the answer may not change.
func inModes(t *testing.T, path string, st *step, s *engine.Session, sql, want string, unordered bool) {
	t.Helper()
	ctx := context.Background()
	for _, m := range modes {
		old := map[string]string{}
		for k, v := range m.set {
			old[k], _ = s.Setting(k)
			if err := s.SetSetting(k, v); err != nil {
				t.Fatal(err)
			}
		}
		a := ask(ctx, s, sql)
		for k, v := range old {
			if err := s.SetSetting(k, v); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.text(st.verb, unordered); got != want {
			t.Errorf("%s:%d: with %s:\n%s\n-- got:\n%s\n-- want:\n%s", path, st.line, m.name, st.sql, got, want)
		}
	}
}

func open(t *testing.T, eng *engine.Engine, sessions map[string]*engine.Session, name, dialect string) *engine.Session {
	t.Helper()
	if s := sessions[name]; s != nil {
		return s
	}
	s, err := eng.NewSession(context.Background(), engine.SessionOptions{User: "tester", Database: "lake", Dialect: dialect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	sessions[name] = s
	return s
}
