package engine

import (
	"context"
	"database/sql"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/fakerest"
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
	// A file's path tells its partition's values.
	refused(t, anna, "SELECT a, _file FROM s.t", "permission denied for table t")
	refused(t, anna, "SELECT a FROM s.t WHERE _pos = 0", "permission denied for table t")
	do(t, anna, "SELECT a FROM s.t TABLESAMPLE SYSTEM (50)")
	refused(t, anna, "SELECT a FROM s.t WHERE b = 'x'", "permission denied for table t")
	refused(t, anna, "INSERT INTO s.t VALUES (2)", "permission denied for table t")
	do(t, dba, "GRANT SELECT ON s.t TO readers", "GRANT INSERT (a) ON s.t TO anna")
	do(t, anna, "SELECT * FROM s.t", "SELECT _file FROM s.t", "INSERT INTO s.t (a) VALUES (2)")
	refused(t, anna, "INSERT INTO s.t VALUES (2, 'y')", "permission denied for table t")
	refused(t, anna, "SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()", "permission denied for table t")
	do(t, dba, "GRANT HISTORY ON s.t TO anna")
	do(t, anna, "SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()")

	do(t, dba, "CREATE ROLE bert LOGIN", "GRANT USAGE ON SCHEMA s TO bert", "CREATE VIEW s.v AS SELECT * FROM s.t", "GRANT SELECT ON s.v TO bert", "GRANT INSERT (b) ON s.t TO bert")
	bert := open("bert")
	refused(t, bert, "COPY s.t TO STDOUT", "permission denied for table t")
	refused(t, bert, "COPY s.t (a) TO STDOUT", "permission denied for table t")
	refused(t, bert, "COPY (SELECT a FROM s.t) TO STDOUT", "permission denied for table t")
	refused(t, bert, "COPY s.t FROM STDIN", "permission denied for table t")
	refused(t, bert, "COPY s.t (a) FROM STDIN", "permission denied for table t")
	do(t, dba, "GRANT SELECT (a) ON s.t TO bert")
	do(t, bert, "COPY s.t (a) TO STDOUT")
	refused(t, bert, "COPY s.t TO STDOUT", "permission denied for table t")

	// A view reads with its owner's privileges, but not the past for who may read only the present.
	do(t, bert, "SELECT b FROM s.v", "CREATE TEMPORARY TABLE mine AS SELECT b FROM s.v", "INSERT INTO mine VALUES ('z')", "SELECT * FROM mine", "CREATE TEMPORARY VIEW own AS SELECT b FROM s.t")
	refused(t, bert, "SELECT * FROM own", "permission denied for table t")
	refused(t, bert, "SELECT b FROM s.v FOR SYSTEM_TIME AS OF now()", "permission denied for view v")
	if err := exec1(bert, "SET lhsql.as_of = '2100-01-01'"); err != nil {
		t.Fatal(err)
	}
	refused(t, bert, "SELECT b FROM s.v", "permission denied for view v")
	do(t, bert, "RESET lhsql.as_of")
	do(t, dba, "GRANT HISTORY ON s.v TO bert")
	do(t, bert, "SELECT b FROM s.v FOR SYSTEM_TIME AS OF now()")
	refused(t, bert, "SELECT b FROM (SELECT * FROM s.t) x FOR SYSTEM_TIME AS OF now()", "permission denied for table t")
	refused(t, bert, "CREATE SCHEMA x AUTHORIZATION dba", "permission denied for database lake")
	do(t, dba, "GRANT CREATE ON DATABASE lake TO bert")
	refused(t, bert, "CREATE SCHEMA x AUTHORIZATION dba", `must be member of role "dba"`)
	do(t, dba, "CREATE TABLE s.k (a int PRIMARY KEY)")
	do(t, bert, "CREATE SCHEMA x AUTHORIZATION bert")
	refused(t, bert, "CREATE TABLE x.child (a int REFERENCES s.k (a))", "permission denied for table k")
	do(t, dba, "GRANT REFERENCES (a) ON s.k TO bert")
	do(t, bert, "CREATE TABLE x.child (a int REFERENCES s.k (a))", "CREATE TABLE x.u (a int PRIMARY KEY, b int)", "DROP TABLE x.child")
	do(t, dba, "CREATE TABLE s.up (a int PRIMARY KEY, b int)", "GRANT INSERT ON s.up TO bert")
	refused(t, bert, "INSERT INTO s.up VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = 3", "permission denied for table up")
	do(t, bert, "CREATE TABLE x.t (a int)", "INSERT INTO x.t VALUES (1)", "DROP SCHEMA x CASCADE")
}

// Privileges of a REST catalog's tables are kept in a database of the server's.
func TestLockOfARESTCatalog(t *testing.T) {
	ctx := context.Background()
	web := httptest.NewServer(fakerest.New())
	defer web.Close()
	cfg := Config{Guard: &GuardConfig{Admins: []string{"dba"}}, Catalogs: []CatalogConfig{{Name: "lake", Props: map[string]string{"type": "rest", "uri": web.URL, "warehouse": t.TempDir()}}}}
	if e, err := Open(ctx, cfg); err == nil {
		e.Close()
		t.Error("the lock is on, and there is no place for privileges")
	}
	cfg.Guard.Store = "sqlite:///" + filepath.Join(t.TempDir(), "guard.db")
	e, err := Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	session := func(user string) *Session {
		s, err := e.NewSession(ctx, SessionOptions{User: user, Database: "lake"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	dba := session("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE ROLE anna LOGIN", "GRANT USAGE, CREATE ON SCHEMA s TO anna")
	anna := session("anna")
	refused(t, anna, "SELECT * FROM s.t", "permission denied for table t")
	do(t, dba, "GRANT SELECT ON s.t TO anna")
	do(t, anna, "SELECT * FROM s.t", "CREATE TABLE s.own (a int)", "INSERT INTO s.own VALUES (1)", "ALTER TABLE s.own RENAME TO mine", "SELECT * FROM s.mine", "DROP TABLE s.mine")
	refused(t, anna, "DROP TABLE s.t", "must be owner of table t")
}

// What a lakehouse adds: the past, branches, moving main, maintenance, metadata, paths.
func TestLockOfTheLakehouse(t *testing.T) {
	_, open := locked(t, t.TempDir())
	dba := open("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int, b text)", "INSERT INTO s.t VALUES (1, 'x')", "INSERT INTO s.t VALUES (2, 'y')",
		"ALTER TABLE s.t CREATE BRANCH candidate", "ALTER TABLE s.t CREATE TAG q2", "CREATE ROLE job LOGIN", "GRANT USAGE, CREATE ON SCHEMA s TO job", "GRANT SELECT ON s.t TO job")
	job := open("job")
	const denied = "permission denied for table t"
	for _, sql := range []string{
		"SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()", "SELECT * FROM s.t.snapshots", `SELECT * FROM s."t$history"`, "SELECT * FROM s.t.refs", "SELECT * FROM s.t.all_files",
		"SELECT * FROM s.t FOR SYSTEM_TIME ALL", "CALL system.ancestors_of('s.t')",
		"INSERT INTO s.t.branch_candidate VALUES (3, 'z')", "CALL system.fast_forward('s.t', 'main', 'candidate')", "ALTER BRANCH main IN TABLE s.t FAST FORWARD TO candidate",
		"CALL system.rollback_to_snapshot('s.t', 1)", "CALL system.rewrite_data_files('s.t')", "ALTER TABLE s.t EXECUTE rewrite_data_files", "CALL system.expire_snapshots('s.t')",
		"VACUUM s.t", "ANALYZE s.t", "OPTIMIZE s.t", "EXPLAIN CALL system.rewrite_data_files('s.t')",
	} {
		refused(t, job, sql, denied)
	}
	do(t, job, "SELECT * FROM s.t.files", "SELECT * FROM s.t.properties", "SELECT * FROM s.t.branch_candidate")
	if err := exec1(job, "SET lhsql.as_of = 'q2'"); err != nil {
		t.Fatal(err)
	}
	refused(t, job, "SELECT * FROM s.t", denied)
	do(t, job, "SELECT * FROM s.t FOR SYSTEM_VERSION AS OF 'main'", `SELECT * FROM s."t@candidate"`) // the present
	refused(t, job, "SELECT * FROM s.t.tag_q2", denied)
	refused(t, job, "SELECT * FROM s.t.branch_q2", denied)
	refused(t, job, "SELECT * FROM s.t FOR SYSTEM_VERSION AS OF 'q2'", denied)
	do(t, job, "RESET lhsql.as_of")
	refused(t, job, "ALTER TABLE s.t CREATE BRANCH other", "must be owner of table t")
	refused(t, job, "ERASE FROM s.t WHERE b = 'x' REASON 'none'", "must be owner of table t")
	refused(t, job, "SHOW HOLDERS FROM s.t WHERE b = 'x'", "must be owner of table t")
	refused(t, job, "SELECT * FROM iceberg('/nowhere')", "permission denied to read tables by their path")
	refused(t, job, "CALL system.register_table('s.n', '/nowhere')", "permission denied to make files that lie somewhere a table's")
	refused(t, job, "CALL system.add_files('s.t', '/nowhere')", "permission denied to make files that lie somewhere a table's")
	refused(t, job, "CREATE TABLE s.n (a int) WITH (location = '/tmp/x')", "permission denied to say where a table's files are")
	refused(t, job, "CREATE TABLE s.n (a int) TBLPROPERTIES ('write.data.path' = '/tmp/x')", "permission denied to say where a table's files are")

	do(t, dba, "GRANT HISTORY ON s.t TO job")
	do(t, job, "SELECT * FROM s.t FOR SYSTEM_TIME AS OF now()", "SELECT * FROM s.t.snapshots", "CALL system.ancestors_of('s.t')")
	do(t, dba, "GRANT INSERT, DELETE ON s.t BRANCH candidate TO job")
	do(t, job, "INSERT INTO s.t.branch_candidate VALUES (3, 'z')", "DELETE FROM s.t.branch_candidate WHERE a = 3", "SET lhsql.branch = candidate",
		"INSERT INTO s.t VALUES (4, 'z')", "RESET lhsql.branch")
	refused(t, job, "INSERT INTO s.t VALUES (5, 'z')", denied)
	refused(t, job, "UPDATE s.t.branch_candidate SET a = 1", denied)
	refused(t, job, "ALTER BRANCH main IN TABLE s.t FAST FORWARD TO candidate", denied)
	do(t, dba, "REVOKE DELETE ON s.t BRANCH candidate FROM job")
	refused(t, job, "DELETE FROM s.t.branch_candidate", denied)
	do(t, dba, "GRANT PUBLISH ON s.t TO job")
	do(t, job, "ALTER BRANCH main IN TABLE s.t FAST FORWARD TO candidate")
	do(t, dba, "GRANT MAINTAIN ON s.t TO job")
	do(t, dba, "CREATE TABLE s.other (a int)", "GRANT SELECT ON s.other TO job")
	do(t, job, "CALL system.rewrite_data_files('s.t')", "VACUUM s.t", "VACUUM", "ANALYZE", "ANALYZE s.t") // without names what it may
	refused(t, job, "VACUUM s.other", "permission denied for table other")

	// Columns are of the present: the past of a table is for those who may read all of it.
	do(t, dba, "REVOKE SELECT ON s.t FROM job", "GRANT SELECT (a) ON s.t TO job")
	do(t, job, "SELECT a FROM s.t")
	refused(t, job, "SELECT a FROM s.t FOR SYSTEM_TIME AS OF now()", denied)
	refused(t, job, "SELECT count(*) FROM s.t.files", denied)
	do(t, dba, "ALTER TABLE s.t RENAME COLUMN a TO c")
	do(t, job, "SELECT c FROM s.t")
	do(t, dba, "ALTER TABLE s.t DROP COLUMN c", "ALTER TABLE s.t ADD COLUMN c int")
	refused(t, job, "SELECT c FROM s.t", denied)

	// Another table of the name has none of its privileges.
	do(t, dba, "GRANT SELECT ON s.t TO job", "DROP TABLE s.t", "CREATE TABLE s.t (a int)")
	refused(t, job, "SELECT * FROM s.t", denied)
}

// A transaction's grants are its own until it commits; a prepared statement is decided about each time.
func TestLockInTransactions(t *testing.T) {
	ctx := context.Background()
	_, open := locked(t, t.TempDir())
	dba := open("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE ROLE anna LOGIN", "GRANT USAGE ON SCHEMA s TO anna")
	anna := open("anna")
	do(t, dba, "BEGIN", "GRANT SELECT ON s.t TO anna", "SAVEPOINT x", "GRANT INSERT ON s.t TO anna", "SET LOCAL ROLE anna", "INSERT INTO s.t VALUES (1)")
	refused(t, anna, "SELECT * FROM s.t", "permission denied for table t")
	do(t, dba, "ROLLBACK TO x", "GRANT DELETE ON s.t TO anna", "SET LOCAL ROLE anna", "DELETE FROM s.t") // as many changes as before, and others
	refused(t, dba, "INSERT INTO s.t VALUES (1)", "permission denied for table t")
	do(t, dba, "ROLLBACK", "BEGIN", "GRANT SELECT ON s.t TO anna", "CREATE TABLE s.u (a int)", "GRANT SELECT ON s.u TO anna", "COMMIT")
	do(t, anna, "SELECT * FROM s.t", "SELECT * FROM s.u")

	list, err := anna.Parse("SELECT * FROM s.t")
	if err != nil {
		t.Fatal(err)
	}
	st, err := anna.Prepare(ctx, list[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	do(t, anna, "PREPARE p AS SELECT * FROM s.t")
	do(t, dba, "REVOKE SELECT ON s.t FROM anna")
	if _, err := st.Execute(ctx, nil); sqlerr.CodeOf(err) != sqlerr.InsufficientPrivilege {
		t.Errorf("after a REVOKE: %v", err)
	}
	refused(t, anna, "EXECUTE p", "permission denied for table t")
	refused(t, anna, "EXPLAIN SELECT * FROM s.t", "permission denied for table t")
}

// Several servers agree within a moment; a store that is lost denies, but to administrators of the
// configuration.
func TestLockOfSeveralServers(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	_, open := locked(t, dir)
	other, openOther := locked(t, dir)
	dba := open("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE ROLE anna LOGIN PASSWORD 'secret'", "GRANT USAGE ON SCHEMA s TO anna", "GRANT SELECT ON s.t TO anna")
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	wait("the other server does not learn of a role", func() bool { _, _, ok := other.Credentials(ctx, "anna"); return ok })
	anna := openOther("anna")
	do(t, anna, "SELECT * FROM s.t")
	do(t, dba, "REVOKE SELECT ON s.t FROM anna")
	wait("the other server does not learn of a REVOKE", func() bool { return exec1(anna, "SELECT * FROM s.t") != nil })
	refused(t, anna, "SELECT * FROM s.t", "permission denied for table t")
	do(t, openOther("dba"), "GRANT SELECT ON s.t TO anna")
	wait("this server does not learn of a GRANT", func() bool { return exec1(open("anna"), "SELECT * FROM s.t") == nil })

	// The store is lost: what was known does not count.
	admin := openOther("dba")
	db, err := sql.Open("sqlite", filepath.Join(dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{"DROP TABLE lhsql_privileges", "DROP TABLE lhsql_privileges_version", "CREATE TABLE lhsql_privileges_version (broken int)"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	wait("a lost store still opens", func() bool { return exec1(anna, "SELECT * FROM s.t") != nil })
	if err := exec1(anna, "SELECT * FROM s.t"); sqlerr.CodeOf(err) != sqlerr.ConnectionFailure {
		t.Errorf("without the store: %v", err)
	}
	if _, err := other.NewSession(ctx, SessionOptions{User: "anna", Database: "lake"}); sqlerr.CodeOf(err) != sqlerr.ConnectionFailure {
		t.Errorf("a session without the store: %v", err)
	}
	do(t, admin, "SELECT * FROM s.t")
	do(t, openOther("dba"), "SELECT * FROM s.t")
}

// Who may begin a session, and become whom.
func TestLockAtTheDoor(t *testing.T) {
	ctx := context.Background()
	e, open := locked(t, t.TempDir())
	dba := open("dba")
	do(t, dba, "CREATE ROLE grp", "CREATE ROLE anna LOGIN CONNECTION LIMIT 1 PASSWORD 'secret' IN ROLE grp", "CREATE ROLE bert LOGIN", "CREATE ROLE old LOGIN PASSWORD 'x' VALID UNTIL '2020-01-01'")
	for user, want := range map[string]string{"nobody": `role "nobody" does not exist`, "grp": `role "grp" is not permitted to log in`} {
		if _, err := e.NewSession(ctx, SessionOptions{User: user, Database: "lake"}); err == nil || err.Error() != want || sqlerr.CodeOf(err) != sqlerr.InvalidAuthorization {
			t.Errorf("%s: %v", user, err)
		}
	}
	open("filed") // of the configuration
	if _, _, ok := e.Credentials(ctx, "old"); ok {
		t.Error("a password is good after its time")
	}
	if _, _, ok := e.Credentials(ctx, "filed"); ok {
		t.Error("the store has a password of a user of the configuration")
	}
	anna := open("anna")
	if _, err := e.NewSession(ctx, SessionOptions{User: "anna", Database: "lake"}); sqlerr.CodeOf(err) != sqlerr.TooManyConnections {
		t.Errorf("a second session: %v", err)
	}
	refused(t, anna, "SET ROLE dba", `permission denied to set role "dba"`)
	refused(t, anna, "SET ROLE bert", `permission denied to set role "bert"`)
	refused(t, anna, "SELECT set_config('role', 'dba', false)", `permission denied to set role "dba"`)
	refused(t, anna, "SET SESSION AUTHORIZATION dba", "permission denied to set session authorization")
	do(t, anna, "SET ROLE grp", "RESET ROLE", "SET SESSION AUTHORIZATION anna")
	if _, err := e.NewSession(ctx, SessionOptions{User: "bert", Database: "lake", Settings: map[string]string{"role": "dba"}}); sqlerr.CodeOf(err) != sqlerr.InsufficientPrivilege {
		t.Errorf("a session that begins as another: %v", err)
	}
	do(t, dba, "SET SESSION AUTHORIZATION bert")
	refused(t, dba, "CREATE ROLE n", "permission denied to create role")
	do(t, dba, "RESET SESSION AUTHORIZATION", "REVOKE CONNECT ON DATABASE lake FROM PUBLIC")
	if _, err := e.NewSession(ctx, SessionOptions{User: "bert", Database: "lake"}); err == nil || err.Error() != `permission denied for database "lake"` {
		t.Errorf("without CONNECT: %v", err)
	}
	for _, sql := range []string{"ALTER ROLE dba NOSUPERUSER", "ALTER ROLE dba PASSWORD 'x'", "ALTER ROLE dba NOLOGIN", "DROP ROLE dba", "ALTER ROLE dba RENAME TO n", "ALTER ROLE filed PASSWORD 'x'", "DROP ROLE filed"} {
		if err := exec1(dba, sql); err == nil {
			t.Errorf("%s: it succeeds", sql)
		}
	}
}

// A password is nowhere but in its verifier.
func TestPasswordsAreKeptNowhere(t *testing.T) {
	dir := t.TempDir()
	e, open := locked(t, dir)
	e.SetPasswords(func(_, _ string, _ bool) (string, string, error) { return "SCRAM-SHA-256$made", "", nil })
	dba, watcher := open("dba"), open("dba")
	my, err := e.NewSession(context.Background(), SessionOptions{User: "dba", Database: "lake", Dialect: "mysql"})
	if err != nil {
		t.Fatal(err)
	}
	defer my.Close()
	const secret = "Gehe1m"
	for _, c := range []struct {
		s   *Session
		sql string
	}{
		{dba, "CREATE ROLE a LOGIN PASSWORD '" + secret + "'"}, {dba, "ALTER ROLE a PASSWORD '" + secret + "'"}, {dba, "CREATE ROLE a PASSWORD '" + secret + "' nonsense"},
		{my, "CREATE USER 'm'@'%' IDENTIFIED BY '" + secret + "'"}, {my, "ALTER USER m IDENTIFIED BY '" + secret + "'"}, {my, "SET PASSWORD FOR m = '" + secret + "'"},
		{my, "PREPARE p FROM 'ALTER USER m IDENTIFIED BY ''" + secret + "'''"}, {my, "EXECUTE p"}, {my, "SET @x = 'ALTER USER m IDENTIFIED BY ''" + secret + "'''"},
	} {
		for range 3 { // a text that comes again is kept
			_ = exec1(c.s, c.sql)
		}
		var all string
		for _, q := range []string{"SELECT string_agg(query, ' ') FROM pg_stat_activity", "SELECT string_agg(statement, ' ') FROM pg_prepared_statements"} {
			for _, s := range []*Session{watcher, c.s} {
				if s.my != nil {
					continue
				}
				got, err := run(context.Background(), s, q)
				if err != nil && !strings.Contains(q, "prepared") {
					t.Fatal(err)
				}
				all += got
			}
		}
		for _, p := range c.s.prepared {
			all += p.text
		}
		if strings.Contains(all, secret) {
			t.Errorf("%s: it is shown", c.sql)
		}
	}
	if list := e.trees.find(treeKey{text: "CREATE ROLE a LOGIN PASSWORD '" + secret + "'"}); list != nil {
		t.Error("a tree with a password is kept")
	}
	for _, f := range []string{"catalog.db"} {
		b, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the password", f)
		}
	}
}

// Lists of the server show what the role may see.
func TestLockedLists(t *testing.T) {
	_, open := locked(t, t.TempDir())
	dba := open("dba")
	do(t, dba, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "INSERT INTO s.t VALUES (1)", "CREATE TABLE s.hidden (a int)", "INSERT INTO s.hidden VALUES (1)",
		"CREATE ROLE anna LOGIN", "GRANT USAGE ON SCHEMA s TO anna", "GRANT SELECT ON s.t TO anna", "CALL system.rewrite_data_files('s.hidden')")
	anna := open("anna")
	for q, want := range map[string]string{
		"SELECT coalesce(string_agg(DISTINCT table_name, ','), '') FROM system.table_health":                                   "t",
		"SELECT coalesce(string_agg(DISTINCT table_name, ','), '') FROM system.storage":                                        "t",
		"SELECT count(*)::text FROM system.jobs":                                                                               "0",
		"SELECT count(*)::text FROM system.erasures":                                                                           "0",
		"SELECT string_agg(table_name, ',') FROM information_schema.tables WHERE table_schema = 's'":                           "t",
		"SELECT string_agg(DISTINCT query, ',') FROM pg_stat_activity WHERE usename = 'dba'":                                   "<insufficient privilege>",
		"SELECT pg_get_userbyid(relowner) || array_to_string(relacl, ',') FROM pg_class WHERE relname = 't'":                   "dbadba=arwdDxtmhp/dba,anna=r/dba",
		"SELECT string_agg(privilege_type, ',') FROM aclexplode('{anna=rmhp/dba}'::aclitem[])":                                 "SELECT,MAINTAIN,HISTORY,PUBLISH",
		"SELECT (has_table_privilege('s.t', 'history') OR has_table_privilege('s.hidden', 'select'))::text":                    "false",
		"SELECT string_agg(rolname, ',') FROM pg_roles WHERE rolsuper":                                                         "dba",
		"SELECT pg_get_userbyid(datdba) FROM pg_database":                                                                      "dba",
		"SELECT 'dba'::regrole::oid::text":                                                                                     "10",
		"SELECT count(*)::text FROM pg_user WHERE usename = 'filed'":                                                           "1",
		"SELECT string_agg(nspname || coalesce(array_to_string(nspacl, ','), '-'), ';') FROM pg_namespace WHERE nspname = 's'": "sdba=UC/dba,anna=U/dba",
	} {
		if got, err := run(context.Background(), anna, q); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", q, got, err, want)
		}
	}
	if got, err := run(context.Background(), dba, "SELECT count(*)::text FROM system.jobs"); err != nil || got != "1" {
		t.Errorf("jobs: %s, %v", got, err)
	}
	refused(t, anna, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'dba'", "must be a superuser to terminate superuser process")
}
