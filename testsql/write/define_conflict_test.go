package write

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

var defineCatalog = flag.String("define.catalog", "", "a PostgreSQL database (postgresql://user@host/db) that keeps the catalog; none: SQLite")

// definitionConflicts are blocks with definitions that another session gets in the way of, between
// their statements and their COMMIT. The block has happened as if after the other session, or not at
// all: then it is told 40001, and what look asks is as if it had never been.
var definitionConflicts = []struct {
	block, other, code string
	look               string
	want               []string
}{
	{"CREATE TABLE x (a int)", "CREATE TABLE x (b int)", "40001",
		"SELECT column_name FROM information_schema.columns WHERE table_name = 'x'", []string{"b"}},
	{"CREATE TABLE x (a int)", "CREATE VIEW x AS SELECT 1 AS b", "40001", "SELECT b FROM x", []string{"1"}},
	{"DROP TABLE t", "INSERT INTO t VALUES (9, 'other')", "40001", "SELECT count(*) FROM t", []string{"3"}},
	{"DROP TABLE t PURGE", "DELETE FROM t WHERE id = 1", "40001", "SELECT id FROM t", []string{"2"}},
	{"DROP TABLE t", "DROP TABLE t", "40001", "SELECT count(*) FROM pg_tables WHERE tablename = 't'", []string{"0"}},
	{"DROP TABLE t; CREATE TABLE t (z int); INSERT INTO t VALUES (1)", "UPDATE t SET v = 'u'", "40001", "SELECT v FROM t ORDER BY id", []string{"u", "u"}},
	{"ALTER TABLE t RENAME TO x", "INSERT INTO t VALUES (9, 'other')", "", "SELECT count(*), max(v) FROM x", []string{"3|two"}},
	{"INSERT INTO t VALUES (8, 'own'); ALTER TABLE t RENAME TO x", "INSERT INTO t VALUES (9, 'other')", "", "SELECT id FROM x ORDER BY id", []string{"1", "2", "8", "9"}},
	{"ALTER TABLE t RENAME TO x", "DROP TABLE t", "40001", "SELECT count(*) FROM pg_tables WHERE tablename IN ('t', 'x')", []string{"0"}},
	{"ALTER TABLE t RENAME TO x", "DROP TABLE t; CREATE TABLE t (id int)", "40001", "SELECT tablename FROM pg_tables WHERE tablename IN ('t', 'x')", []string{"t"}},
	{"ALTER TABLE t RENAME TO x", "CREATE TABLE x (b int)", "40001", "SELECT count(*) FROM t", []string{"2"}},
	{"ALTER TABLE t RENAME TO x", "ALTER TABLE t RENAME TO y", "40001", "SELECT count(*) FROM y", []string{"2"}},
	{"ALTER TABLE t RENAME TO x; ALTER TABLE w RENAME TO t; ALTER TABLE x RENAME TO w", "INSERT INTO w VALUES (5)", "", "SELECT (SELECT sum(a) FROM t), (SELECT count(*) FROM w)", []string{"6|2"}},
	{"CREATE TABLE x AS SELECT * FROM t; INSERT INTO t VALUES (8, 'own')", "INSERT INTO t VALUES (9, 'other')", "", "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM x)", []string{"4|2"}},
	{"CREATE TABLE x AS SELECT * FROM t; UPDATE t SET v = 'own' WHERE id = 1", "UPDATE t SET v = 'other' WHERE id = 1", "40001",
		"SELECT v, to_regclass('s.x') IS NULL FROM t WHERE id = 1", []string{"other|t"}},
	{"CREATE OR REPLACE TABLE t AS SELECT id FROM t", "INSERT INTO t VALUES (9, 'other')", "40001", "SELECT count(v) FROM t", []string{"3"}},
	{"CREATE SCHEMA z; CREATE TABLE z.x (a int)", "CREATE SCHEMA z", "40001", "SELECT count(*) FROM pg_tables WHERE schemaname = 'z'", []string{"0"}},
	{"CREATE TABLE e.x (a int)", "DROP SCHEMA e", "40001", "SELECT count(*) FROM pg_namespace WHERE nspname = 'e'", []string{"0"}},
	{"ALTER TABLE t SET SCHEMA e", "DROP SCHEMA e", "40001", "SELECT count(*) FROM t", []string{"2"}},
	{"DROP SCHEMA e", "CREATE TABLE e.y (a int)", "40001", "SELECT count(*) FROM e.y", []string{"0"}},
	{"DROP SCHEMA e", "DROP SCHEMA e", "40001", "SELECT count(*) FROM pg_namespace WHERE nspname = 'e'", []string{"0"}},
	{"COMMENT ON SCHEMA e IS 'own'", "COMMENT ON SCHEMA e IS 'other'", "", "SELECT count(*) FROM pg_namespace WHERE nspname = 'e'", []string{"1"}},
	{"CREATE OR REPLACE VIEW v AS SELECT 2 AS a", "CREATE OR REPLACE VIEW v AS SELECT 3 AS a", "40001", "SELECT a FROM v", []string{"3"}},
	{"DROP VIEW v", "COMMENT ON VIEW v IS 'other'", "40001", "SELECT a FROM v", []string{"1"}},
	{"ALTER VIEW v RENAME TO x", "DROP VIEW v", "40001", "SELECT count(*) FROM pg_views WHERE schemaname = 's'", []string{"0"}},
	{"ALTER TABLE t ADD COLUMN c int; UPDATE t SET c = id; ALTER TABLE t ALTER COLUMN c SET NOT NULL", "INSERT INTO t VALUES (9, 'other')", "40001", "SELECT count(*) FROM t", []string{"3"}},
	{"ALTER TABLE w ALTER COLUMN a SET NOT NULL; CREATE TABLE x (a int)", "INSERT INTO w VALUES (NULL)", "40001", "SELECT count(*), to_regclass('s.x') IS NULL FROM w", []string{"2|t"}},
}

// TestDefinitionConflicts also sees to the files: a block that was told 40001, or rolled back, has
// left none.
func TestDefinitionConflicts(t *testing.T) {
	ctx := context.Background()
	for i, c := range definitionConflicts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := fastDir(t)
			eng := openDefined(t, dir)
			defer eng.Close()
			a, b := openSession(t, eng), openSession(t, eng)
			defer a.Close()
			defer b.Close()
			must := func(s *engine.Session, q string) []string {
				t.Helper()
				out, err := rows(ctx, s, q)
				if err != nil {
					t.Fatalf("%s: %s", q, errText(err))
				}
				return out
			}
			must(b, `CREATE SCHEMA s; CREATE SCHEMA e; SET search_path = s; CREATE TABLE t (id int, v text);
				INSERT INTO t VALUES (1, 'one'), (2, 'two'); CREATE TABLE w (a int); INSERT INTO w VALUES (1); CREATE VIEW v AS SELECT 1 AS a`)
			must(a, "SET search_path = s")

			before := filesBelow(t, dir)
			must(a, "BEGIN; "+c.block)
			must(a, "ROLLBACK")
			if now := filesBelow(t, dir); !maps.Equal(now, before) {
				t.Errorf("%s: ROLLBACK leaves %v of %v", c.block, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
			}

			must(a, "BEGIN; "+c.block)
			pending := filesBelow(t, dir)
			must(b, c.other)
			for f := range filesBelow(t, dir) {
				if !pending[f] {
					before[f] = true // the other session's
				}
			}
			_, err := rows(ctx, a, "COMMIT")
			if code := string(sqlerr.CodeOf(err)); code != c.code {
				t.Fatalf("%s / %s: COMMIT gives %q (%v), want %q", c.block, c.other, code, err, c.code)
			}
			if a.Status() != 'I' {
				t.Errorf("the session is still in its block")
			}
			if out := must(a, c.look); !slices.Equal(out, c.want) {
				t.Errorf("%s / %s: %s gives %q, want %q", c.block, c.other, c.look, out, c.want)
			}
			if now := filesBelow(t, dir); c.code != "" && !maps.Equal(now, before) {
				t.Errorf("%s / %s: the conflict leaves %v of %v", c.block, c.other, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// TestDropPurgeInBlock: PURGE removes files once the drop is committed, and no sooner.
func TestDropPurgeInBlock(t *testing.T) {
	ctx := context.Background()
	dir := fastDir(t)
	eng := openDefined(t, dir)
	defer eng.Close()
	s := openSession(t, eng)
	defer s.Close()
	run := func(q string) {
		t.Helper()
		if _, err := rows(ctx, s, q); err != nil {
			t.Fatalf("%s: %s", q, errText(err))
		}
	}
	run("CREATE SCHEMA s; SET search_path = s; CREATE TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES (2)")
	before := filesBelow(t, dir)
	run("BEGIN; INSERT INTO t VALUES (3); DROP TABLE t PURGE; SAVEPOINT a; CREATE TABLE t AS SELECT 'new' AS b; ROLLBACK TO a; ROLLBACK")
	if now := filesBelow(t, dir); !maps.Equal(now, before) {
		t.Errorf("ROLLBACK leaves %v of %v", now, before)
	}
	run("BEGIN; INSERT INTO t VALUES (3); DROP TABLE t PURGE; COMMIT")
	if now := filesBelow(t, dir); len(now) != 0 {
		t.Errorf("COMMIT of a purge leaves %v", slices.Sorted(maps.Keys(now)))
	}
}

// openDefined is openLake, or the same over the database that the flag names, emptied.
func openDefined(t *testing.T, dir string) *engine.Engine {
	if *defineCatalog == "" {
		return openLake(t, dir)
	}
	eng, err := engine.Open(context.Background(), engine.Config{TempDir: filepath.Join(dir, "tmp"), MemoryLimit: 2 << 30, Catalogs: []engine.CatalogConfig{{
		Name: "lake", Props: map[string]string{"type": "sql", "uri": *defineCatalog, "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := openSession(t, eng)
	defer s.Close()
	for _, ns := range []string{"s", "e", "z"} {
		if _, err := rows(context.Background(), s, "DROP SCHEMA IF EXISTS "+ns+" CASCADE"); err != nil {
			t.Fatal(err)
		}
	}
	return eng
}

func filesBelow(t *testing.T, dir string) map[string]bool {
	out := map[string]bool{}
	root := filepath.Join(dir, "warehouse")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[strings.TrimPrefix(p, root)] = true
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}
