// Package maintain tests what keeps tables healthy, by SQL and without being asked.
package maintain

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// server is an engine on a lake, with a session.
type server struct {
	*testing.T
	eng *engine.Engine
	s   *engine.Session
	mu  sync.Mutex
	log []string
}

func serve(t *testing.T, dir string) *server {
	t.Helper()
	v := &server{T: t}
	var err error
	v.eng, err = engine.Open(context.Background(), engine.Config{TempDir: t.TempDir(), MemoryLimit: 1 << 30,
		Log: func(format string, args ...any) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.log = append(v.log, fmt.Sprintf(format, args...))
		},
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.eng.Close() })
	if v.s, err = v.eng.NewSession(context.Background(), engine.SessionOptions{User: "tester", Database: "lake"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.s.Close)
	return v
}

// do runs statements and gives the last one's rows as text.
func (v *server) do(sql string, args ...any) []string {
	v.Helper()
	sql = fmt.Sprintf(sql, args...)
	ctx := context.Background()
	list, err := v.s.Parse(sql)
	var out []string
	for i := 0; i < len(list) && err == nil; i++ {
		var st *engine.Stmt
		var r *engine.Result
		if st, err = v.s.Prepare(ctx, list[i], nil); err == nil {
			if r, err = st.Execute(ctx, nil); err == nil {
				out = nil
				err = r.Each(ctx, func(row []types.Datum) error {
					var cells []string
					for k, d := range row {
						cells = append(cells, types.Format(d, r.Columns()[k].Type, v.s.TextOptions()))
					}
					out = append(out, strings.Join(cells, "|"))
					return nil
				})
			}
		}
	}
	if e := v.s.EndImplicit(ctx); err == nil {
		err = e
	}
	if err != nil {
		v.Fatalf("%s: %v", sql, err)
	}
	return out
}

// The keeper does what tables say, and nothing for those that say nothing: it compacts, expires, removes
// rows that are too old, and what it did is in system.jobs. What cannot be read stops a table, by name.
func TestKeeper(t *testing.T) {
	v := serve(t, t.TempDir())
	v.do("CREATE SCHEMA s; SET search_path = s")
	policies := map[string]string{
		"nothing": "",
		"compact": "'lhsql.keep.compact' = 'true'",
		"whole":   "'lhsql.keep.compact' = 'on', 'lhsql.keep.expire' = 'true', 'lhsql.keep.orphans' = '7d', 'history.expire.max-snapshot-age-ms' = '1'",
		"rows":    "'lhsql.keep.retention' = '30d', 'lhsql.keep.retention-column' = 'at'",
		"wrong":   "'lhsql.keep.compact' = 'yes', 'lhsql.keep.expire' = 'perhaps'",
		"half":    "'lhsql.keep.retention' = '30d'",
	}
	for n, p := range policies {
		v.do("CREATE TABLE %s (id int, at timestamptz) TBLPROPERTIES (%s)", n, "'x' = 'y'"+strings.TrimSuffix(", "+p, ", "))
		for i := range 6 {
			v.do("INSERT INTO %s VALUES (%d, now() - interval '%d days')", n, i, 20*i)
		}
	}
	state := func(table string) string {
		return strings.Join(v.do("SELECT (SELECT count(*) FROM %[1]s), (SELECT count(*) FROM %[1]s.files), (SELECT count(*) FROM %[1]s.snapshots)", table), "")
	}
	check := func(when string, want map[string]string) {
		t.Helper()
		for table, w := range want {
			if got := state(table); got != w {
				t.Errorf("%s, %s: %s rows, files and snapshots, want %s", when, table, got, w)
			}
		}
	}
	v.eng.KeepNow(context.Background(), engine.KeepConfig{})
	want := map[string]string{"nothing": "6|6|6", "compact": "6|1|7", "whole": "6|1|1", "rows": "2|2|7", "wrong": "6|6|6", "half": "6|6|6"}
	check("by the tables' own word", want)
	for _, w := range []string{"lake.s.wrong", "lake.s.half"} {
		if !slices.ContainsFunc(v.log, func(l string) bool { return strings.Contains(l, "keeping table "+w) }) {
			t.Errorf("the log does not name %s: %v", w, v.log)
		}
	}
	jobs := v.do("SELECT kind || ' ' || table_name || ' ' || state FROM system.jobs WHERE user_name = 'lhsql keeper' ORDER BY 1")
	for _, j := range []string{"expire_snapshots lake.s.whole done", "remove_orphan_files lake.s.whole done", "retention lake.s.rows done", "rewrite_data_files lake.s.whole done", "rewrite_data_files lake.s.compact done"} {
		if !slices.Contains(jobs, j) {
			t.Errorf("%q is not among %v", j, jobs)
		}
	}
	if len(jobs) != 5 {
		t.Errorf("%v", jobs)
	}
	// A second round finds nothing to do; orphans are not due again.
	v.eng.KeepNow(context.Background(), engine.KeepConfig{})
	check("again", want)
	if again := v.do("SELECT kind FROM system.jobs WHERE user_name = 'lhsql keeper'"); len(again) != len(jobs) {
		t.Errorf("the second round did %v", again[len(jobs):])
	}
	// The server's defaults are for tables that say nothing.
	cfg := engine.KeepConfig{}
	cfg.Defaults.Compact = true
	v.eng.KeepNow(context.Background(), cfg)
	want["nothing"], want["rows"] = "6|1|7", "2|2|7"
	check("by the server's defaults", want)
}

// One server of several keeps a lake's tables at a time; another goes on when its lease is over or given
// back.
func TestKeeperLease(t *testing.T) {
	v := serve(t, t.TempDir())
	cat, _ := v.eng.Catalog("lake")
	l := cat.(lake.Leaser)
	watch := &movable{now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	ctx := clock.With(context.Background(), watch)
	take := func(holder string, want bool) {
		t.Helper()
		if ok, err := l.Lease(ctx, "keep", holder, time.Minute); ok != want || err != nil {
			t.Errorf("%s: %v, %v", holder, ok, err)
		}
	}
	take("a", true)
	take("b", false)
	take("a", true)
	watch.now = watch.now.Add(59 * time.Second)
	take("b", false)
	watch.now = watch.now.Add(2 * time.Second)
	take("b", true)
	take("a", false)
	if err := l.Release(ctx, "keep", "a"); err != nil {
		t.Error(err)
	}
	take("a", false)
	if err := l.Release(ctx, "keep", "b"); err != nil {
		t.Error(err)
	}
	take("a", true)

	v.do("CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (id int) TBLPROPERTIES ('lhsql.keep.compact' = 'true')")
	for range 6 {
		v.do("INSERT INTO t VALUES (1)")
	}
	if ok, err := l.Lease(context.Background(), "keep", "another server", time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	v.eng.KeepNow(context.Background(), engine.KeepConfig{})
	if got := v.do("SELECT count(*) FROM t.files"); got[0] != "6" {
		t.Errorf("%s files: two servers keep the table", got[0])
	}
	if err := l.Release(context.Background(), "keep", "another server"); err != nil {
		t.Fatal(err)
	}
	v.eng.KeepNow(context.Background(), engine.KeepConfig{})
	if got := v.do("SELECT count(*) FROM t.files"); got[0] != "1" {
		t.Errorf("%s files after the lease was given back", got[0])
	}
}

type movable struct{ now time.Time }

func (c *movable) Now() time.Time                             { return c.now }
func (c *movable) Sleep(context.Context, time.Duration) error { return nil }
