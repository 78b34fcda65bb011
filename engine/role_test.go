package engine

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// SET ROLE and SET SESSION AUTHORIZATION take who is connected and whom the server lets in, and show
// what PostgreSQL shows. A commit names who logged in.
func TestRoles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	e, err := Open(ctx, Config{Catalogs: []CatalogConfig{{Name: "lake", Props: map[string]string{"type": "sql",
		"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.KnowUsers(func(name string) bool { return name == "listed" })
	open := func(user string) *Session {
		s, err := e.NewSession(ctx, SessionOptions{User: user, Database: "lake"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s := open("root")
	open("other")
	for _, c := range []struct{ sql, want string }{
		{"SET ROLE other", "other|root|other"},
		{"SET ROLE listed", "listed|root|listed"},
		{"SET SESSION AUTHORIZATION other", "other|other|none"},
		{"SET ROLE root", "root|other|root"},
		{"RESET SESSION AUTHORIZATION", "root|root|none"},
		{"SET ROLE other", "other|root|other"},
		{"RESET ALL", "other|root|other"},
		{"DISCARD ALL", "root|root|none"},
	} {
		if _, err := run(ctx, s, c.sql); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		got, err := run(ctx, s, "SELECT current_user || '|' || session_user || '|' || current_setting('role')")
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.sql, got, err, c.want)
		}
	}
	for _, sql := range []string{"SET ROLE nobody", "SET SESSION AUTHORIZATION nobody", "SET LOCAL ROLE nobody"} {
		if _, err := run(ctx, s, sql); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := e.NewSession(ctx, SessionOptions{User: "root", Database: "lake", Settings: map[string]string{"role": "nobody"}}); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Errorf("a session began with a role that there is not: %v", err)
	}
}

// run gives the first value of a statement's result.
func run(ctx context.Context, s *Session, sql string) (first string, err error) {
	err = s.Query(ctx, sql, nil, func(row []types.Datum) error {
		first = row[0].Str()
		return nil
	})
	if e := s.EndImplicit(ctx); err == nil {
		err = e
	}
	return first, err
}
