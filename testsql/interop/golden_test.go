package interop

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
)

// goldenDir is the folder of golden tables, "" if it is not there.
func goldenDir() string {
	d := os.Getenv("LHSQL_GOLDEN")
	if d == "" {
		d = "../../../shared/golden"
	}
	if abs, err := filepath.Abs(d); err == nil {
		if st, err := os.Stat(abs); err == nil && st.IsDir() {
			return abs
		}
	}
	return ""
}

// TestGolden reads every state of every golden table, by all columns, by each column alone and
// by filters on each column, with pruning and without, and compares with what DuckDB and
// PyIceberg read.
func TestGolden(t *testing.T) {
	dir := goldenDir()
	if dir == "" {
		t.Skip("the golden tables are not here: set LHSQL_GOLDEN to their folder")
	}
	files, err := filepath.Glob("golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no expected files: run expected_golden.py")
	}
	checkExpected(t, files, dir)
}

// TestTables reads small tables that make_tables.py wrote: all types, encodings, changes of schema
// and partitioning, old forms of metadata, deletes, statistics that lie.
func TestTables(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables: run make_tables.py")
	}
	checkExpected(t, files, dir)
}

// checkExpected checks expected files against the tables below dir.
func checkExpected(t *testing.T, files []string, dir string) {
	eng := openEngine(t, t.TempDir(), dir)
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			c := &checker{t: t, s: openSession(t, eng, "lake"), dir: dir}
			for n, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
				c.line = fmt.Sprintf("%s:%d", f, n+1)
				c.check(strings.Split(l, "\t"))
			}
		})
	}
}

// checker walks an expected file.
type checker struct {
	t    *testing.T
	s    *engine.Session
	dir  string
	line string
	path string
	from string
	cols string
	rows []string // expected rows as far as the file lists them
}

func (c *checker) check(f []string) {
	switch f[0] {
	case "table":
		c.path = filepath.Join(c.dir, filepath.FromSlash(f[1]))
	case "unreadable":
		// Its files are gone: an error that says so, never an answer.
		if _, err := query(c.s, "SELECT count(*), max(_pos) FROM "+c.source(f[1])); err == nil {
			c.t.Errorf("%s: snapshot %s reads although its files are gone", c.line, f[1])
		}
	case "state":
		c.from, c.rows = c.source(f[1]), nil
	case "columns":
		var list []string
		for _, col := range f[1:] {
			list = append(list, ident(col[:strings.Index(col, ":")]))
		}
		c.cols = strings.Join(list, ", ")
		c.same("SELECT * FROM "+c.from+" LIMIT 0", "SELECT "+c.cols+" FROM "+c.from+" LIMIT 0")
	case "all":
		c.answer("SELECT "+c.cols+" FROM "+c.from, f[1], f[2])
	case "column":
		c.answer("SELECT "+ident(f[1])+" FROM "+c.from, "", f[2])
	case "where":
		n := len(f)
		col, args := ident(f[1]), f[3:n-2]
		var pred string
		switch f[2] {
		case "isnull":
			pred = col + " IS NULL"
		case "in":
			for i, a := range args {
				args[i] = quote(unfield(a))
			}
			pred = col + " IN (" + strings.Join(args, ", ") + ")"
		default:
			pred = col + " " + f[2] + " " + quote(unfield(args[0]))
		}
		c.answer("SELECT "+c.cols+" FROM "+c.from+" WHERE "+pred, f[n-2], f[n-1])
	}
}

// source is the table in FROM, at a state.
func (c *checker) source(state string) string {
	if state == "current" {
		return "iceberg(" + quote(c.path) + ")"
	}
	return "iceberg(" + quote(c.path) + ", version => " + state + ")"
}

// answer asks with pruning and without.
func (c *checker) answer(sql, count, digest string) {
	c.t.Helper()
	for _, pruning := range []string{"on", "off"} {
		set(c.t, c.s, "lhsql.pruning", pruning)
		r, err := query(c.s, sql)
		if err != nil {
			c.t.Errorf("%s: %s: %v", c.line, sql, err)
			return
		}
		lines := r.lines()
		if n := strconv.Itoa(len(lines)); count != "" && n != count {
			c.t.Errorf("%s: pruning %s: %s: %s rows, not %s", c.line, pruning, sql, n, count)
		} else if got := digestOf(lines); got != digest {
			c.t.Errorf("%s: pruning %s: %s: other rows:\n%s", c.line, pruning, sql, strings.Join(lines[:min(len(lines), 5)], "\n"))
		}
	}
}

// same wants two queries to have the same columns.
func (c *checker) same(a, b string) {
	c.t.Helper()
	x, err := query(c.s, a)
	y, err2 := query(c.s, b)
	if err != nil || err2 != nil {
		c.t.Errorf("%s: %v %v", c.line, err, err2)
		return
	}
	if fmt.Sprint(x.cols) != fmt.Sprint(y.cols) {
		c.t.Errorf("%s: columns %v, not %v", c.line, x.cols, y.cols)
	}
}

// digestOf is what a bag of lines is known by in expected files.
func digestOf(lines []string) string {
	lines = append([]string(nil), lines...)
	sort.Strings(lines)
	h := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(h[:])[:16]
}
