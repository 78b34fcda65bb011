package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/types"
)

// A table whose files were taken away can still be taken out of its catalog, by its whole name.
func TestDropWithoutMetadata(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	e, err := Open(ctx, Config{TempDir: t.TempDir(), Catalogs: []CatalogConfig{{Name: "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run := func(sql string) error {
		s, err := e.NewSession(ctx, SessionOptions{User: "tester"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Query(ctx, sql, nil, func([]types.Datum) error { return nil }); err != nil {
			return err
		}
		return s.EndImplicit(ctx)
	}
	for _, sql := range []string{"CREATE SCHEMA s", "CREATE TABLE s.t (x int)", "CREATE TABLE s.u (x int)",
		"CREATE SCHEMA all_gone", "CREATE TABLE all_gone.t (x int)", "CREATE VIEW all_gone.v AS SELECT 1 AS a"} {
		if err := run(sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"s", "all_gone"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("DROP TABLE s.t PURGE"); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Errorf("what is gone was purged: %v", err)
	}
	for _, sql := range []string{"DROP TABLE s.t", "DROP TABLE IF EXISTS lake.s.u", "DROP SCHEMA s", "DROP SCHEMA all_gone CASCADE"} {
		if err := run(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
