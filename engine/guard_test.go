package engine

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// locked opens an engine with the lock on; dba is its administrator.
func locked(t *testing.T, dir string) (*Engine, func(user string) *Session) {
	t.Helper()
	ctx := context.Background()
	e, err := Open(ctx, Config{Guard: &GuardConfig{Admins: []string{"dba"}, Users: func() []string { return []string{"dba", "filed"} }},
		Catalogs: []CatalogConfig{{Name: "lake", Props: map[string]string{"type": "sql",
			"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.SetPasswords(func(_, password string, native bool) (string, string, error) {
		return "SCRAM-SHA-256$of " + password, "", nil
	})
	return e, func(user string) *Session {
		t.Helper()
		s, err := e.NewSession(ctx, SessionOptions{User: user, Database: "lake"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
}

// do runs statements that must succeed.
func do(t *testing.T, s *Session, list ...string) {
	t.Helper()
	for _, sql := range list {
		if err := exec1(s, sql); err != nil {
			t.Fatalf("%s: %s: %v", s.opts.User, sql, err)
		}
	}
}

func exec1(s *Session, sql string) error {
	err := s.Query(context.Background(), sql, nil, func([]types.Datum) error { return nil })
	if e := s.EndImplicit(context.Background()); err == nil {
		err = e
	}
	return err
}

// refused runs statements that must fail with a message.
func refused(t *testing.T, s *Session, sql, message string) {
	t.Helper()
	err := exec1(s, sql)
	if err == nil || err.Error() != message || sqlerr.CodeOf(err) != sqlerr.InsufficientPrivilege {
		t.Errorf("%s: %s: %v, want %s", s.opts.User, sql, err, message)
	}
}

func TestLock(t *testing.T) {
	_, open := locked(t, t.TempDir())
	dba := open("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int, b text)", "INSERT INTO s.t VALUES (1, 'x')",
		"CREATE ROLE anna LOGIN PASSWORD 'secret'", "CREATE ROLE readers", "GRANT readers TO anna")
	anna := open("anna")
	refused(t, anna, "SELECT * FROM s.t", "permission denied for schema s")
	do(t, dba, "GRANT USAGE ON SCHEMA s TO readers")
	refused(t, anna, "SELECT * FROM s.t", "permission denied for table t")
	do(t, dba, "GRANT SELECT (a) ON s.t TO readers")
	do(t, anna, "SELECT a FROM s.t", "SELECT count(*) FROM s.t")
	refused(t, anna, "SELECT b FROM s.t", "permission denied for table t")
	refused(t, anna, "SELECT a FROM s.t WHERE b = 'x'", "permission denied for table t")
	refused(t, anna, "INSERT INTO s.t VALUES (2)", "permission denied for table t")
	do(t, dba, "GRANT SELECT ON s.t TO readers", "GRANT INSERT (a) ON s.t TO anna")
	do(t, anna, "SELECT * FROM s.t", "INSERT INTO s.t (a) VALUES (2)")
	refused(t, anna, "INSERT INTO s.t VALUES (2, 'y')", "permission denied for table t")
	refused(t, anna, "SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()", "permission denied for table t")
	do(t, dba, "GRANT HISTORY ON s.t TO anna")
	do(t, anna, "SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()")
}
