package pgdiff

import (
	"context"
	"flag"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/pg"
)

// The objects: owner makes them, subject asks. Only what a cell grants holds, and the public schema.
var privilegeFixture = []string{
	"CREATE ROLE owner", "CREATE ROLE grp", "CREATE ROLE other", "CREATE ROLE subject LOGIN", "GRANT grp TO subject",
	"CREATE SCHEMA gs AUTHORIZATION owner",
	"SET ROLE owner",
	"CREATE TABLE gs.t (a int, b int)", "CREATE TABLE gs.u (a int, b int)",
	"INSERT INTO gs.t VALUES (1, 10), (2, 20)", "INSERT INTO gs.u VALUES (1, 100)",
	"CREATE VIEW gs.v AS SELECT a, b FROM gs.t", "CREATE VIEW gs.vi WITH (security_invoker = true) AS SELECT a, b FROM gs.t",
	"RESET ROLE",
}

// grants are what subject may have, one after the other.
var grants = []struct{ name, sql string }{
	{"nothing", ""},
	{"usage", "GRANT USAGE ON SCHEMA gs TO subject"},
	{"select without usage", "GRANT SELECT ON gs.t TO subject"},
	{"select", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.t TO subject"},
	{"select a", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT (a) ON gs.t TO subject"},
	{"select both", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.t, gs.u TO subject"},
	{"select by a group", "GRANT USAGE ON SCHEMA gs TO grp; GRANT SELECT ON gs.t TO grp"},
	{"select by public", "GRANT USAGE ON SCHEMA gs TO PUBLIC; GRANT SELECT ON gs.t TO PUBLIC"},
	{"select by a group, not inherited", "GRANT USAGE ON SCHEMA gs TO grp; GRANT SELECT ON gs.t TO grp; ALTER ROLE subject NOINHERIT"},
	{"select with option", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.t TO subject WITH GRANT OPTION"},
	{"select a with option", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT (a) ON gs.t TO subject WITH GRANT OPTION"},
	{"insert", "GRANT USAGE ON SCHEMA gs TO subject; GRANT INSERT ON gs.t TO subject"},
	{"insert a", "GRANT USAGE ON SCHEMA gs TO subject; GRANT INSERT (a) ON gs.t TO subject"},
	{"update", "GRANT USAGE ON SCHEMA gs TO subject; GRANT UPDATE ON gs.t TO subject"},
	{"update a", "GRANT USAGE ON SCHEMA gs TO subject; GRANT UPDATE (a) ON gs.t TO subject"},
	{"update b, select a", "GRANT USAGE ON SCHEMA gs TO subject; GRANT UPDATE (b), SELECT (a) ON gs.t TO subject"},
	{"delete", "GRANT USAGE ON SCHEMA gs TO subject; GRANT DELETE ON gs.t TO subject"},
	{"truncate", "GRANT USAGE ON SCHEMA gs TO subject; GRANT TRUNCATE ON gs.t TO subject"},
	{"select, insert", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT, INSERT ON gs.t TO subject"},
	{"select, update", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT, UPDATE ON gs.t TO subject; GRANT SELECT ON gs.u TO subject"},
	{"select, delete", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT, DELETE ON gs.t TO subject; GRANT SELECT ON gs.u TO subject"},
	{"all of t", "GRANT USAGE ON SCHEMA gs TO subject; GRANT ALL ON gs.t TO subject"},
	{"all tables in the schema", "GRANT USAGE ON SCHEMA gs TO subject; GRANT ALL ON ALL TABLES IN SCHEMA gs TO subject"},
	{"select view", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.v TO subject"},
	{"select a of view", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT (a) ON gs.v TO subject"},
	{"select invoker's view", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.vi TO subject"},
	{"select invoker's view and a", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.vi TO subject; GRANT SELECT (a) ON gs.t TO subject"},
	{"select view, whose owner lost t", "GRANT USAGE ON SCHEMA gs TO subject; GRANT SELECT ON gs.v TO subject; REVOKE SELECT ON gs.t FROM owner"},
	{"create", "GRANT USAGE, CREATE ON SCHEMA gs TO subject"},
	{"create without usage", "GRANT CREATE ON SCHEMA gs TO subject"},
	{"create, select", "GRANT USAGE, CREATE ON SCHEMA gs TO subject; GRANT SELECT ON gs.t TO subject"},
	{"create of the database", "GRANT CREATE ON DATABASE postgres TO subject"},
	{"no temporary tables", "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC"},
	{"member of the owner", "GRANT owner TO subject"},
	{"member of the owner, not inherited", "GRANT owner TO subject; ALTER ROLE subject NOINHERIT"},
	{"owner of u", "GRANT USAGE ON SCHEMA gs TO subject; GRANT CREATE ON SCHEMA gs TO subject; ALTER TABLE gs.u OWNER TO subject"},
	{"owner of the schema", "ALTER SCHEMA gs OWNER TO subject"},
	{"pg_read_all_data", "GRANT pg_read_all_data TO subject"},
	{"pg_write_all_data", "GRANT pg_write_all_data TO subject"},
	{"both of all data", "GRANT pg_read_all_data, pg_write_all_data TO subject"},
	{"createrole", "ALTER ROLE subject CREATEROLE"},
	{"admin of grp", "GRANT grp TO subject WITH ADMIN OPTION"},
	{"superuser", "ALTER ROLE subject SUPERUSER"},
}

// asked are what subject does, each a kind of statement, or a way to it.
var asked = []string{
	"SELECT * FROM gs.t", "SELECT a FROM gs.t", "SELECT b FROM gs.t", "SELECT count(*) FROM gs.t", "SELECT 1 FROM gs.t",
	"SELECT a FROM gs.t WHERE b = 1", "SELECT a FROM gs.t ORDER BY b", "SELECT max(a) FROM gs.t GROUP BY b", "SELECT count(t) FROM gs.t",
	"SELECT t.a FROM gs.t JOIN gs.u ON t.a = u.a", "SELECT * FROM gs.t NATURAL JOIN gs.u", "SELECT t.a FROM gs.t JOIN gs.u USING (a)",
	"SELECT 1 WHERE EXISTS (SELECT FROM gs.t WHERE a = 1)", "WITH x AS (SELECT a, b FROM gs.t) SELECT a FROM x", "SELECT a FROM (SELECT a, b FROM gs.t) x",
	"SELECT a FROM gs.t UNION SELECT a FROM gs.u", "SELECT (SELECT max(b) FROM gs.u WHERE u.a = t.a) FROM gs.t", "SELECT a, row_number() OVER (ORDER BY b) FROM gs.t",
	"SELECT * FROM gs.v", "SELECT a FROM gs.v", "SELECT b FROM gs.v", "SELECT count(*) FROM gs.v", "SELECT * FROM gs.vi", "SELECT a FROM gs.vi",
	"SELECT a FROM gs.t FOR UPDATE", "SELECT * FROM gs.t FOR SHARE", "TABLE gs.t",
	"INSERT INTO gs.t VALUES (1, 2)", "INSERT INTO gs.t (a) VALUES (1)", "INSERT INTO gs.t (b) VALUES (1)", "INSERT INTO gs.t DEFAULT VALUES",
	"INSERT INTO gs.t SELECT * FROM gs.u", "INSERT INTO gs.t (a) SELECT a FROM gs.t", "INSERT INTO gs.t VALUES (1, 2) RETURNING a", "INSERT INTO gs.t (a) VALUES (1) RETURNING b",
	"UPDATE gs.t SET a = 1", "UPDATE gs.t SET a = b", "UPDATE gs.t SET b = 1 WHERE a = 1", "UPDATE gs.t SET a = a + 1", "UPDATE gs.t SET (a, b) = (1, 2)",
	"UPDATE gs.t SET a = u.b FROM gs.u WHERE u.a = t.a", "UPDATE gs.t SET a = 1 RETURNING b", "UPDATE gs.t SET a = (SELECT max(a) FROM gs.u)",
	"DELETE FROM gs.t", "DELETE FROM gs.t WHERE a = 1", "DELETE FROM gs.t USING gs.u WHERE t.a = u.a", "DELETE FROM gs.t RETURNING a",
	"MERGE INTO gs.t USING gs.u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = u.b WHEN NOT MATCHED THEN INSERT VALUES (u.a, u.b)",
	"MERGE INTO gs.t USING (VALUES (1, 2)) s (a, b) ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b",
	"MERGE INTO gs.t USING (VALUES (1, 2)) s (a, b) ON t.a = s.a WHEN MATCHED THEN DELETE",
	"MERGE INTO gs.t USING (VALUES (1, 2)) s (a, b) ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)",
	"TRUNCATE gs.t", "TRUNCATE gs.t, gs.u",
	"EXPLAIN SELECT b FROM gs.t", "EXPLAIN UPDATE gs.t SET a = 1", "EXPLAIN DELETE FROM gs.t", "EXPLAIN INSERT INTO gs.t VALUES (1, 2)",
	"PREPARE p AS SELECT b FROM gs.t; EXECUTE p", "DECLARE c CURSOR FOR SELECT b FROM gs.t",
	"CREATE TABLE gs.n (a int)", "CREATE TABLE gs.n AS SELECT a FROM gs.t", "CREATE TABLE gs.n (LIKE gs.t)", "CREATE VIEW gs.n AS SELECT a FROM gs.t",
	"CREATE TEMPORARY TABLE n (a int)", "CREATE TEMPORARY TABLE n AS SELECT b FROM gs.t", "CREATE SCHEMA n", "CREATE TABLE n (a int)",
	"CREATE OR REPLACE VIEW gs.v AS SELECT a, b FROM gs.t",
	"DROP TABLE gs.u", "DROP VIEW gs.v", "DROP SCHEMA gs", "DROP SCHEMA gs CASCADE", "DROP TABLE IF EXISTS gs.nothing", "DROP TABLE gs.nothing",
	"ALTER TABLE gs.u ADD COLUMN c int", "ALTER TABLE gs.u DROP COLUMN b", "ALTER TABLE gs.u RENAME TO n", "ALTER TABLE gs.u RENAME COLUMN b TO c",
	"ALTER TABLE gs.u ALTER COLUMN a SET NOT NULL", "ALTER TABLE gs.u SET SCHEMA public", "ALTER TABLE gs.u OWNER TO subject", "ALTER TABLE gs.u OWNER TO owner",
	"ALTER TABLE gs.u OWNER TO other", "ALTER VIEW gs.v RENAME TO n", "ALTER SCHEMA gs OWNER TO owner", "ALTER SCHEMA gs OWNER TO subject",
	"COMMENT ON TABLE gs.u IS 'x'", "COMMENT ON COLUMN gs.u.a IS 'x'", "COMMENT ON SCHEMA gs IS 'x'", "COMMENT ON VIEW gs.v IS 'x'",
	"CREATE INDEX ON gs.u (a)",
	"GRANT SELECT ON gs.t TO other", "GRANT SELECT (a) ON gs.t TO other", "GRANT SELECT, INSERT ON gs.t TO other", "GRANT ALL ON gs.t TO other", "GRANT ALL ON gs.u TO other",
	"REVOKE SELECT ON gs.t FROM subject", "REVOKE ALL ON gs.t FROM other", "GRANT USAGE ON SCHEMA gs TO other", "GRANT CREATE ON DATABASE postgres TO other",
	"GRANT USAGE ON TABLE gs.t TO other", "GRANT SELECT ON SCHEMA gs TO other", "GRANT SELECT ON gs.t TO PUBLIC WITH GRANT OPTION", "GRANT SELECT ON gs.t TO nobody_there",
	"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO other", "ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT SELECT ON TABLES TO other",
	"CREATE ROLE n", "CREATE ROLE n SUPERUSER", "CREATE USER n PASSWORD 'x'", "CREATE ROLE pg_n", "CREATE ROLE grp", "DROP ROLE other", "DROP ROLE owner", "DROP ROLE subject", "DROP ROLE IF EXISTS nobody_there",
	"ALTER ROLE other CREATEROLE", "ALTER ROLE subject PASSWORD 'x'", "ALTER ROLE other PASSWORD 'x'", "ALTER ROLE other RENAME TO n", "ALTER ROLE postgres PASSWORD 'x'",
	"GRANT grp TO other", "GRANT other TO subject", "REVOKE grp FROM subject", "GRANT subject TO grp", "GRANT postgres TO other",
	"REASSIGN OWNED BY owner TO subject", "DROP OWNED BY owner", "DROP OWNED BY other",
	"SELECT count(rolpassword) >= 0 FROM pg_authid", "SELECT count(passwd) >= 0 FROM pg_shadow", "SELECT rolname FROM pg_roles WHERE rolname NOT LIKE 'pg%'",
	"SELECT has_table_privilege('gs.t', 'SELECT'), has_table_privilege('gs.t', 'INSERT, UPDATE'), has_table_privilege('gs.t', 'SELECT WITH GRANT OPTION')",
	"SELECT has_column_privilege('gs.t', 'a', 'SELECT'), has_column_privilege('gs.t', 'b', 'UPDATE'), has_any_column_privilege('gs.t', 'SELECT')",
	"SELECT has_schema_privilege('gs', 'USAGE'), has_schema_privilege('gs', 'CREATE'), has_database_privilege(current_database(), 'CREATE'), has_database_privilege('postgres', 'TEMP')",
	"SELECT pg_has_role('owner', 'USAGE'), pg_has_role('owner', 'MEMBER'), pg_has_role('grp', 'MEMBER WITH ADMIN OPTION')",
	"SELECT has_table_privilege('subject', 'gs.v', 'SELECT'), has_table_privilege('owner', 'gs.v', 'SELECT'), has_table_privilege('gs.t', 'nonsense')",
	"SELECT table_name FROM information_schema.tables WHERE table_schema = 'gs'", "SELECT column_name FROM information_schema.columns WHERE table_schema = 'gs' AND table_name = 't'",
	"SELECT grantee, privilege_type, is_grantable FROM information_schema.table_privileges WHERE table_schema = 'gs' AND table_name = 't'",
	"SELECT role_name FROM information_schema.enabled_roles WHERE role_name NOT LIKE 'pg%'",
	"SELECT c.relname, pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'gs' AND relkind IN ('r', 'v')",
	"SELECT nspname, pg_get_userbyid(nspowner), nspacl FROM pg_namespace WHERE nspname IN ('gs', 'public')",
	"SELECT r.rolname, m.rolname, admin_option FROM pg_auth_members a JOIN pg_roles r ON r.oid = roleid JOIN pg_roles m ON m.oid = member WHERE m.rolname = 'subject'",
	"SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcanlogin, rolconnlimit FROM pg_roles WHERE rolname IN ('owner', 'grp', 'other', 'subject')",
}

// differences are the cells in which lhsql does otherwise, by the statement, and why.
var differences = map[string]string{
	"REVOKE SELECT ON gs.t FROM subject": "PostgreSQL finds first that the system column tableoid cannot be revoked",
	"REVOKE ALL ON gs.t FROM other":      "PostgreSQL finds first that the system column tableoid cannot be revoked",
}

// everyCell asks all; otherwise a third, of each statement and of each grant.
var everyCell = flag.Bool("every-cell", false, "ask every statement with every grant")

// verdict is what came of a statement, as far as privileges go: an error of theirs, or "allowed".
type verdict struct {
	denied string
	other  string // another error
	rows   string
}

// privilegeCodes are the errors that the rules of roles and privileges make.
var privilegeCodes = []string{"42501", "0LP01", "42939", "55006", "2BP01"}

func verdictOf(a answer) verdict {
	for _, c := range privilegeCodes {
		if a.code == c && c != "2BP01" || a.code == c && strings.Contains(a.message, "role") {
			return verdict{denied: a.code + " " + a.message}
		}
	}
	if a.code != "" {
		return verdict{other: a.code + " " + a.message}
	}
	return verdict{rows: strings.Join(a.rows, "\n")}
}

// TestPrivilegeMatrix grants and asks the same of PostgreSQL and of lhsql: each kind of statement with
// each privilege held or missing.
func TestPrivilegeMatrix(t *testing.T) {
	ctx := context.Background()
	judge := startPostgres(t)
	house, mysql := startLocked(t)
	both := []*pgconn.PgConn{judge, house}
	for _, q := range privilegeFixture {
		for _, c := range both {
			if a := ask(ctx, c, q); a.code != "" {
				t.Fatalf("%s: %s", q, a)
			}
		}
	}
	cells, differ := 0, map[string]int{}
	want := map[[2]string]verdict{}
	for i, g := range grants {
		for j, q := range asked {
			if !*everyCell && (i+j)%3 != 0 {
				continue
			}
			var got [2]verdict
			for k, c := range both {
				run := func(sql string) answer { return ask(ctx, c, sql) }
				if a := run("BEGIN"); a.code != "" {
					t.Fatal(a)
				}
				if g.sql != "" {
					if a := run(g.sql); a.code != "" {
						t.Fatalf("%s: %s", g.sql, a)
					}
				}
				if a := run("SET LOCAL ROLE subject"); a.code != "" {
					t.Fatal(a)
				}
				got[k] = verdictOf(run(q))
				run("ROLLBACK")
				run("DEALLOCATE ALL")
			}
			cells++
			want[[2]string{g.name, q}] = got[0]
			same := got[0].denied == got[1].denied
			if strings.HasPrefix(q, "SELECT") && got[0].denied == "" {
				same = same && (got[0].other == "") == (got[1].other == "") && got[0].rows == got[1].rows
			}
			if same {
				continue
			}
			if why, known := differences[q]; known {
				differ[q+": "+why]++
				continue
			}
			t.Errorf("with %s: %s\nPostgreSQL: %+v\nlhsql:      %+v", g.name, q, got[0], got[1])
		}
	}
	t.Logf("%d cells: %d grants, %d statements", cells, len(grants), len(asked))
	for q, n := range differ {
		t.Logf("%d differ: %s", n, q)
	}
	t.Run("mysql", func(t *testing.T) { mysqlMatrix(t, house, mysql, want) })
}

// mysqlMatrix asks what PostgreSQL decided about in a session of the MySQL dialect, as far as it has the
// same words.
func mysqlMatrix(t *testing.T, house *pgconn.PgConn, open func() *engine.Session, want map[[2]string]verdict) {
	ctx := context.Background()
	cells := 0
	for _, g := range grants {
		if strings.Contains(g.sql, "ALTER") || strings.Contains(g.sql, "REVOKE") || strings.Contains(g.sql, "DATABASE") {
			continue // what is not taken back below
		}
		if g.sql != "" {
			if a := ask(ctx, house, g.sql); a.code != "" {
				t.Fatalf("%s: %s", g.sql, a)
			}
		}
		s := open()
		for _, q := range asked {
			if !strings.HasPrefix(q, "SELECT ") && !strings.HasPrefix(q, "INSERT ") && !strings.HasPrefix(q, "UPDATE ") && !strings.HasPrefix(q, "DELETE ") && !strings.HasPrefix(q, "TRUNCATE gs.t") ||
				strings.Contains(q, "has_") || strings.Contains(q, "pg_") || strings.Contains(q, "RETURNING") || strings.Contains(q, "information_schema") || strings.Contains(q, "DEFAULT VALUES") ||
				strings.Contains(q, "SELECT FROM") || strings.Contains(q, "(a, b) = ") || strings.Contains(q, "SET a = u.b FROM") || strings.Contains(q, "USING gs.u") || strings.Contains(q, ", gs.u") || strings.Contains(q, "count(t)") {
				continue
			}
			if _, known := want[[2]string{g.name, q}]; !known {
				continue
			}
			if strings.HasPrefix(q, "TRUNCATE") || strings.HasPrefix(q, "INSERT") || strings.HasPrefix(q, "UPDATE") || strings.HasPrefix(q, "DELETE") {
				if want[[2]string{g.name, q}].denied == "" {
					continue // it would change what the next ones find
				}
			}
			cells++
			err := s.Query(ctx, q, nil, nil)
			denied := ""
			if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.InsufficientPrivilege {
				denied = "42501 " + e.Message
			} else if err != nil {
				t.Errorf("with %s: %s: %v", g.name, q, err)
			}
			if w := want[[2]string{g.name, q}].denied; denied != w {
				t.Errorf("with %s: %s\nPostgreSQL: %s\nMySQL here: %s", g.name, q, w, denied)
			}
		}
		s.Close()
		for _, sql := range []string{"REVOKE ALL ON ALL TABLES IN SCHEMA gs FROM subject, grp, PUBLIC", "REVOKE ALL ON SCHEMA gs FROM subject, grp, PUBLIC",
			"REVOKE owner, pg_read_all_data, pg_write_all_data FROM subject", "GRANT grp TO subject", "REVOKE ADMIN OPTION FOR grp FROM subject"} {
			if a := ask(ctx, house, sql); a.code != "" {
				t.Fatalf("%s: %s", sql, a)
			}
		}
	}
	t.Logf("%d cells", cells)
}

// startLocked serves an empty warehouse with the lock on, over the Postgres wire to its administrator; the
// function opens sessions of subject in the MySQL dialect.
func startLocked(t *testing.T) (*pgconn.PgConn, func() *engine.Session) {
	ctx := context.Background()
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: filepath.Join(dir, "tmp"), MemoryLimit: 1 << 30, PageCache: 4 << 20,
		Guard: &engine.GuardConfig{Admins: []string{"postgres"}}, Catalogs: []engine.CatalogConfig{{
			Name:  "postgres",
			Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")},
		}}})
	if err != nil {
		t.Fatal(err)
	}
	eng.SetPasswords(func(_, password string, _ bool) (string, string, error) {
		v, err := pg.Verifier(password)
		return v, "", err
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := pg.NewServer(eng, pg.Config{})
	go func() { _ = srv.Serve(l) }()
	c, err := pgconn.Connect(ctx, "postgres://postgres@"+l.Addr().String()+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(ctx); l.Close(); eng.Close() })
	return c, func() *engine.Session {
		s, err := eng.NewSession(ctx, engine.SessionOptions{User: "subject", Database: "postgres", Dialect: "mysql"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}
