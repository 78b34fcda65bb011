package engine

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/types"
)

// The names that are kept from one statement to the next are never old: not after this session's
// own DDL, not after another session's, not after another server's.
func TestListingsAreNew(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	open := func() *Engine {
		e, err := Open(ctx, Config{TempDir: t.TempDir(), Catalogs: []CatalogConfig{{Name: "lake",
			Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	session := func(e *Engine) *Session {
		s, err := e.NewSession(ctx, SessionOptions{User: "tester"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	here, there := open(), open()
	a, b, c := session(here), session(here), session(there)
	run := func(s *Session, sql string) (out []string) {
		t.Helper()
		err := s.Query(ctx, sql, nil, func(r []types.Datum) error {
			if len(r) > 0 && !r[0].IsNull() {
				out = append(out, r[0].Str())
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if err := s.EndImplicit(ctx); err != nil {
			t.Fatal(err)
		}
		return out
	}
	run(a, "CREATE SCHEMA n")
	want := func(names ...string) {
		t.Helper()
		for i, s := range []*Session{a, b, c, a} {
			if got := run(s, "SELECT relname FROM pg_class WHERE relnamespace = 'n'::regnamespace AND relkind <> 'i' ORDER BY 1"); !slices.Equal(got, names) {
				t.Errorf("session %d lists %v, want %v", i, got, names)
			}
		}
	}
	want()
	run(a, "CREATE TABLE n.x (a int)")
	want("x")
	run(c, "CREATE TABLE n.y (a int)")
	want("x", "y")
	run(b, "CREATE VIEW n.v AS SELECT 1 AS one")
	want("v", "x", "y")
	run(c, "ALTER TABLE n.y RENAME TO z")
	want("v", "x", "z")
	run(c, "DROP TABLE n.x")
	run(b, "DROP VIEW n.v")
	want("z")
	if len(here.listings.of) != 1 || len(there.listings.of) != 1 {
		t.Error("nothing is kept: the test shows nothing")
	}
	run(a, "CREATE TEMPORARY TABLE w (a int)")
	if got := run(a, "SELECT relname FROM pg_class WHERE relname IN ('w', 'z') ORDER BY 1"); !slices.Equal(got, []string{"w", "z"}) {
		t.Errorf("with a temporary table: %v", got)
	}
	if got := run(b, "SELECT relname FROM pg_class WHERE relname IN ('w', 'z') ORDER BY 1"); !slices.Equal(got, []string{"z"}) {
		t.Errorf("another session's temporary table shows: %v", got)
	}
	// What a session with temporary tables lists is kept too, and is as new.
	lists := func(want ...string) {
		t.Helper()
		q := "SELECT relname FROM pg_class WHERE relnamespace IN ('n'::regnamespace, (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg_temp_%')) AND relkind <> 'i' ORDER BY 1"
		for range 2 {
			if got := run(a, q); !slices.Equal(got, want) {
				t.Errorf("the session with temporary tables lists %v, want %v", got, want)
			}
		}
	}
	lists("w", "z")
	if !a.own.names.Made() {
		t.Error("a session with temporary tables keeps nothing: the test shows nothing")
	}
	run(a, "INSERT INTO w VALUES (1)")
	lists("w", "z")
	run(a, "CREATE TEMPORARY TABLE w2 (a int)")
	lists("w", "w2", "z")
	run(c, "CREATE TABLE n.z2 (a int)")
	lists("w", "w2", "z", "z2")
	run(a, "DROP TABLE w2")
	run(b, "DROP TABLE n.z2")
	lists("w", "z")
	run(a, "BEGIN")
	run(a, "CREATE TEMPORARY TABLE w3 (a int)")
	lists("w", "w3", "z")
	run(a, "ROLLBACK")
	lists("w", "z")
	// A description is of the table as it is: after another server's change, within a block as it
	// was first read.
	column := "SELECT attname FROM pg_attribute WHERE attrelid = 'n.z'::regclass AND attnum > 0 ORDER BY attnum"
	if got := run(b, column); !slices.Equal(got, []string{"a"}) {
		t.Errorf("columns %v", got)
	}
	run(c, "ALTER TABLE n.z ADD COLUMN b int")
	if got := run(b, column); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("columns %v after another server's change", got)
	}
	run(c, "ALTER TABLE n.z DROP COLUMN b")
	// An OID finds the table, its key's index and neither of another table.
	run(c, "CREATE TABLE n.k (a int NOT NULL, PRIMARY KEY (a))")
	for _, q := range []string{"oid = 'n.k'::regclass", "oid = (SELECT indexrelid FROM pg_index WHERE indrelid = 'n.k'::regclass)"} {
		if got := run(a, "SELECT relname FROM pg_class WHERE "+q); len(got) != 1 {
			t.Errorf("%s: %v", q, got)
		}
	}
	if got := run(a, "SELECT attname FROM pg_attribute WHERE attrelid IN ('n.k'::regclass, 'n.z'::regclass) ORDER BY attrelid, attnum"); len(got) != 2 {
		t.Errorf("columns of two tables: %v", got)
	}
}
