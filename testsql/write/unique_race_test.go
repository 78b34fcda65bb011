package write

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// raced runs statements in one session and, when they come to a step, another statement in a second one. It gives
// the second session and the first error of the statements. A test whose statements have no such step is skipped.
func raced(t *testing.T, setup []string, step, statements, other string) (b *engine.Session, err error) {
	t.Helper()
	eng := openLake(t, fastDir(t))
	t.Cleanup(func() { eng.Close() })
	a, b := openSession(t, eng), openSession(t, eng)
	t.Cleanup(a.Close)
	t.Cleanup(b.Close)
	for _, sql := range setup {
		mustRows(t, b)(sql)
	}
	mustRows(t, a)("SET search_path = s")
	var done atomic.Bool
	ctx := lake.WithYield(context.Background(), func(at string) error {
		if at == step && done.CompareAndSwap(false, true) {
			mustRows(t, b)(other)
		}
		return nil
	})
	for _, sql := range strings.Split(statements, "; ") {
		if _, e := execute(ctx, a, sql); err == nil {
			err = e
		}
	}
	if !done.Load() {
		t.Skip("the statement has no such step")
	}
	return b, err
}

// Of two sessions that write one key at the same time exactly one does it, whatever the order of their
// steps: who comes second is told so, in the words of a statement that came after the first one's
// commit. Keys that do not meet do not keep each other off.
func TestUniqueRaces(t *testing.T) {
	for _, c := range []struct {
		sql, other, code string
		want             []string // what is there in the end
	}{
		{"INSERT INTO t VALUES (7, 'mine')", "INSERT INTO t VALUES (7, 'other')", "23505", []string{"1|one", "2|two", "7|other"}},
		{"INSERT INTO t VALUES (8, 'mine'), (7, 'mine 7')", "INSERT INTO t VALUES (7, 'other'), (6, 'other 6')", "23505", []string{"1|one", "2|two", "6|other 6", "7|other"}},
		{"INSERT INTO t VALUES (7, 'mine')", "INSERT INTO t VALUES (8, 'other')", "", []string{"1|one", "2|two", "7|mine", "8|other"}},
		{"INSERT INTO t VALUES (7, 'same')", "INSERT INTO t VALUES (8, 'same')", "23505", []string{"1|one", "2|two", "8|same"}},
		{"UPDATE t SET id = 7 WHERE id = 1", "INSERT INTO t VALUES (7, 'other')", "23505", []string{"1|one", "2|two", "7|other"}},
		{"INSERT INTO t VALUES (7, 'mine')", "UPDATE t SET id = 7 WHERE id = 1", "23505", []string{"2|two", "7|one"}},
		{"INSERT INTO t VALUES (1, 'mine')", "DELETE FROM t WHERE id = 1", "23505", []string{"2|two"}},
		{"COPY t FROM STDIN", "INSERT INTO t VALUES (100, 'other')", "23505", []string{"1|one", "2|two", "100|other"}},
		{"COPY t FROM STDIN", "INSERT INTO t VALUES (101, 'other')", "", []string{"1|one", "2|two", "100|sent", "101|other"}},
		{"BEGIN; INSERT INTO t VALUES (7, 'mine'); COMMIT", "INSERT INTO t VALUES (7, 'other')", "23505", []string{"1|one", "2|two", "7|other"}},
		{"BEGIN; INSERT INTO t VALUES (6, 'mine 6'); INSERT INTO t VALUES (7, 'mine'); COMMIT", "INSERT INTO t VALUES (7, 'other')", "23505", []string{"1|one", "2|two", "7|other"}},
		{"BEGIN; INSERT INTO t VALUES (6, 'mine 6'); UPDATE t SET v = 'mine' WHERE id = 6; COMMIT", "INSERT INTO t VALUES (7, 'mine')", "40001", []string{"1|one", "2|two", "7|mine"}},
		{"MERGE INTO t USING (VALUES (7, 'mine')) u (id, v) ON t.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (u.id, u.v)", "INSERT INTO t VALUES (7, 'other')", "", []string{"1|one", "2|two", "7|other"}},
		{"INSERT INTO t VALUES (7, 'mine') ON CONFLICT (id) DO UPDATE SET v = excluded.v || ' over ' || t.v", "INSERT INTO t VALUES (7, 'other')", "", []string{"1|one", "2|two", "7|mine over other"}},
		{"INSERT INTO t VALUES (7, 'mine'), (8, 'mine 8') ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (7, 'other')", "", []string{"1|one", "2|two", "7|other", "8|mine 8"}},
		{"INSERT INTO t VALUES (1, 'mine') ON CONFLICT (id) DO UPDATE SET v = excluded.v", "UPDATE t SET v = 'uno' WHERE id = 1", "", []string{"1|mine", "2|two"}},
		{"INSERT INTO t VALUES (1, 'mine') ON CONFLICT (id) DO UPDATE SET v = excluded.v", "DELETE FROM t WHERE id = 1", "", []string{"1|mine", "2|two"}},
		{"INSERT INTO t VALUES (1, 'mine') ON CONFLICT (id) DO UPDATE SET v = excluded.v", "INSERT INTO t VALUES (9, 'nine')", "", []string{"1|mine", "2|two", "9|nine"}},
		{"INSERT OVERWRITE t VALUES (7, 'mine')", "INSERT INTO t VALUES (7, 'other')", "", []string{"7|mine"}},
		{"ALTER TABLE t ADD UNIQUE (v, id)", "INSERT INTO t VALUES (7, 'other')", "", []string{"1|one", "2|two", "7|other"}},
		{"ALTER TABLE u ADD UNIQUE (v)", "INSERT INTO u VALUES (7, 'one')", "23505", []string{"1|one", "2|two"}},
		{"INSERT INTO u VALUES (7, 'one')", "ALTER TABLE u ADD UNIQUE (v)", "23505", []string{"1|one", "2|two"}},
	} {
		for _, step := range []string{"load", "validate", "swap"} {
			t.Run(fmt.Sprint(c.sql, " / ", c.other, " / ", step), func(t *testing.T) {
				b, err := raced(t, []string{"CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE); INSERT INTO t VALUES (1, 'one'), (2, 'two'); CREATE TABLE u AS SELECT * FROM t"}, step, c.sql, c.other)
				if code := string(sqlerr.CodeOf(err)); code != c.code {
					t.Errorf("%v, want %q", err, c.code)
				}
				if got := mustRows(t, b)("SELECT id, v FROM t ORDER BY id"); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		}
	}
}
