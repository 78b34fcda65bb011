package write

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/fakerest"
)

// TestRESTFaults has statements meet a gateway before a REST catalog that answers other than the
// catalog did: what the client is told is what everybody reads, and no file is missing. (lake's test
// of the same name tries all answers on all kinds of commit.)
func TestRESTFaults(t *testing.T) {
	for _, c := range []struct {
		sql  string
		look string // the state, from a new session
		was  string
		is   string
	}{
		{"INSERT INTO t VALUES (3, 'c')", "SELECT string_agg(v, '' ORDER BY id) FROM s.t", "ab", "abc"},
		{"UPDATE t SET v = v || v WHERE id = 1", "SELECT string_agg(v, '' ORDER BY id) FROM s.t", "ab", "aab"},
		{"DELETE FROM t WHERE id = 1", "SELECT string_agg(v, '' ORDER BY id) FROM s.t", "ab", "b"},
		{"MERGE INTO t USING (VALUES (2, 'x'), (4, 'y')) AS u (id, v) ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = u.v WHEN NOT MATCHED THEN INSERT VALUES (u.id, u.v)", "SELECT string_agg(v, '' ORDER BY id) FROM s.t", "ab", "axy"},
		{"TRUNCATE t", "SELECT count(*) FROM s.t", "2", "0"},
		{"CREATE TABLE made AS SELECT * FROM t", "SELECT coalesce(to_regclass('s.made')::text, '')", "", "s.made"},
		{"CREATE OR REPLACE TABLE t AS SELECT id + 10 AS id, v FROM t", "SELECT min(id) FROM s.t", "1", "11"},
		{"ALTER TABLE t ADD COLUMN w int", "SELECT count(*) FROM information_schema.columns WHERE table_name = 't'", "2", "3"},
		{"ALTER TABLE t CREATE BRANCH b", "SELECT count(*) FROM s.t.refs WHERE name = 'b'", "0", "1"},
		{"BEGIN; INSERT INTO t VALUES (5, 'e'); DELETE FROM t WHERE id = 2; COMMIT", "SELECT string_agg(v, '' ORDER BY id) FROM s.t", "ab", "ae"},
		{"BEGIN; INSERT INTO t VALUES (5, 'e'); INSERT INTO u VALUES (1); COMMIT", "SELECT count(*) FROM s.t, s.u", "0", "3"},
		{"CREATE OR REPLACE VIEW v AS SELECT 2 AS n", "SELECT n FROM s.v", "1", "2"},
		{"DROP TABLE u", "SELECT coalesce(to_regclass('s.u')::text, '')", "s.u", ""},
		{"ALTER TABLE u RENAME TO u2", "SELECT coalesce(to_regclass('s.u2')::text, '')", "", "s.u2"},
	} {
		for _, fault := range []fakerest.Fault{
			{Answer: "409", Applied: true}, {Answer: "twice"}, {Answer: "404", Applied: true}, {Answer: "503", Applied: true}, {Answer: "reset", Applied: true},
			{Answer: "409"}, {Answer: "403"}, {Answer: "429", RetryAfter: "0", Times: 2}, {Answer: "reset"},
		} {
			t.Run(fmt.Sprintf("%s %s %v", strings.Fields(c.sql)[0], fault.Answer, fault.Applied), func(t *testing.T) {
				t.Parallel() // most of the time is waiting
				dir := fastDir(t)
				s := fakerest.New()
				s.Transactions, s.Warehouse = true, dir+"/warehouse"
				srv := httptest.NewServer(s)
				defer srv.Close()
				eng, err := engine.Open(context.Background(), engine.Config{TempDir: filepath.Join(dir, "tmp"), MemoryLimit: 1 << 30, PageCache: 4 << 20, Catalogs: []engine.CatalogConfig{{
					Name: "lake", Props: map[string]string{"type": "rest", "uri": srv.URL, "warehouse": s.Warehouse}}}})
				if err != nil {
					t.Fatal(err)
				}
				defer eng.Close()
				session := openSession(t, eng)
				defer session.Close()
				must := mustRows(t, session)
				must("CREATE SCHEMA s")
				must("SET search_path = s")
				must("CREATE TABLE t (id int, v text)")
				must("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
				must("CREATE TABLE u (x int)")
				must("CREATE VIEW v AS SELECT 1 AS n")
				before := files(t, dir)
				s.Break(&fault)
				_, err = rows(context.Background(), session, c.sql)
				if session.Status() != 'I' {
					_, _ = rows(context.Background(), session, "ROLLBACK")
				}
				s.Break(nil)
				other := openSession(t, eng)
				defer other.Close()
				got, e := rows(context.Background(), other, c.look)
				if e != nil {
					t.Fatalf("after %v: %v", errText(err), errText(e))
				}
				state := strings.Join(got, "")
				code := sqlerr.CodeOf(err)
				switch {
				case state != c.was && state != c.is:
					t.Errorf("it is %q, neither %q nor %q", state, c.was, c.is)
				case err == nil && state != c.is:
					t.Error("it is reported as done and is not")
				case err != nil && state != c.was:
					t.Errorf("it is done, and reported: %s", errText(err))
				case err != nil && (fault.Applied || fault.Answer == "twice" || fault.Answer == "429"):
					t.Errorf("an error: %s", errText(err))
				case code == sqlerr.TransactionUnknown && fault.Answer != "reset":
					t.Errorf("that it is not done could be known: %s", errText(err))
				}
				if after := files(t, dir); err != nil && code != sqlerr.TransactionUnknown && after != before {
					t.Errorf("%s left files or took some away:\n%s\n-- gone:\n%s", errText(err), news(before, after), news(after, before))
				}
			})
		}
	}
}
