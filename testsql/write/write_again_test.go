package write

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Outside of a block a definition, CREATE TABLE AS and COPY that another writer's commit gets in the
// way of have happened after that, whose SQL is other; they are told what they would have been told
// then. Rows that a client sent are committed as they lie, or end with 40001 where the table no longer
// takes them.
func TestRunAgain(t *testing.T) {
	for _, c := range []struct {
		sql, other, code, look string
		want                   []string
	}{
		{"ALTER TABLE t ADD COLUMN c int", "ALTER TABLE t ADD COLUMN d int", "", "SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't'", []string{"id,v,d,c"}},
		{"ALTER TABLE t ADD COLUMN c int", "ALTER TABLE t ADD COLUMN c text", "42701", "SELECT data_type FROM information_schema.columns WHERE column_name = 'c'", []string{"text"}},
		{"ALTER TABLE t ALTER COLUMN v SET NOT NULL", "INSERT INTO t VALUES (9, 'x')", "", "SELECT is_nullable FROM information_schema.columns WHERE column_name = 'v'", []string{"NO"}},
		{"ALTER TABLE t ALTER COLUMN v SET NOT NULL", "INSERT INTO t VALUES (9, NULL)", "23502", "SELECT count(*) FROM t", []string{"3"}},
		{"ALTER TABLE t DROP COLUMN v", "ALTER TABLE t RENAME COLUMN v TO w", "42703", "SELECT count(w) FROM t", []string{"2"}},
		{"CREATE OR REPLACE TABLE t AS SELECT id, 'new' AS v FROM t", "INSERT INTO t VALUES (9, 'other')", "", "SELECT id, v FROM t ORDER BY id", []string{"1|new", "2|new", "9|new"}},
		{"CREATE TABLE x AS SELECT id FROM t", "CREATE TABLE x (z int)", "42P07", "SELECT count(*) FROM x", []string{"0"}},
		{"COPY t FROM STDIN", "INSERT INTO t VALUES (9, 'other')", "", "SELECT id FROM t ORDER BY id", []string{"1", "2", "9", "100"}},
		{"COPY t FROM STDIN", "ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3')", "", "SELECT id, v FROM t ORDER BY id", []string{"1|one", "2|two", "100|sent"}},
		{"COPY t FROM STDIN", "ALTER TABLE t ADD PARTITION FIELD id", "", "SELECT id, v FROM t ORDER BY id", []string{"1|one", "2|two", "100|sent"}},
		{"COPY t FROM STDIN", "ALTER TABLE t DROP COLUMN v; ALTER TABLE t ADD COLUMN v int", "40001", "SELECT count(*) FROM t", []string{"2"}},
	} {
		t.Run(c.sql+" / "+c.other, func(t *testing.T) {
			eng := openLake(t, fastDir(t))
			defer eng.Close()
			a, b := openSession(t, eng), openSession(t, eng)
			defer a.Close()
			defer b.Close()
			mustRows(t, b)("CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (id int, v text); INSERT INTO t VALUES (1, 'one'), (2, 'two')")
			mustRows(t, a)("SET search_path = s")
			var done atomic.Bool
			ctx := lake.WithYield(context.Background(), func(step string) error {
				if (step == "load" || step == "swap") && done.CompareAndSwap(false, true) {
					mustRows(t, b)(c.other)
				}
				return nil
			})
			_, err := execute(ctx, a, c.sql)
			if code := string(sqlerr.CodeOf(err)); code != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if !done.Load() {
				t.Fatal("nobody came between")
			}
			if got := mustRows(t, a)(c.look); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.look, got, c.want)
			}
		})
	}
}

// sent is one row of a client's.
type sent struct{ cols []engine.ResultColumn }

func (s *sent) Next(context.Context) (*vec.Batch, error) {
	if s.cols == nil {
		return nil, nil
	}
	b := &vec.Batch{Rows: 1}
	for i, c := range s.cols {
		d := []types.Datum{types.NewInt(100), types.NewStr("sent")}[i]
		b.Cols = append(b.Cols, vec.ConstOf(c.Type, d))
	}
	s.cols = nil
	return b, nil
}

func (s *sent) Close() error { return nil }

// execute is rows, with a row for COPY.
func execute(ctx context.Context, s *engine.Session, sql string) ([]string, error) {
	list, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	st, err := s.Prepare(ctx, list[0], nil)
	if err != nil {
		return nil, err
	}
	if st.Copy() == nil {
		return rows(ctx, s, sql)
	}
	r, err := st.ExecuteCopy(ctx, nil, &sent{st.Copy().Columns})
	if err != nil {
		return nil, err
	}
	_, err = r.Next(ctx)
	if e := r.Close(); err == nil {
		err = e
	}
	if e := s.EndImplicit(ctx); err == nil {
		err = e
	}
	return nil, err
}
