package limits

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// endless are statements that would run for hours, each in a part of the engine of its own.
var endless = []struct{ what, sql string }{
	{"nested loop", "select count(*) from generate_series(1,1000000) a, generate_series(1,1000000) b"},
	{"nested loop with a condition", "select count(*) from generate_series(1,100000) a, generate_series(1,1000000) b where a * b < a + b"},
	{"series", "select count(*) from generate_series(1,1000000000000)"},
	{"series in the select list", "select count(*) from (select generate_series(1,1000000000000)) x"},
	{"sort", "select * from (select a.g*b.g as v from generate_series(1,30000) a(g), generate_series(1,30000) b(g)) x order by v % 1000, v desc limit 5 offset 100000000"},
	{"hash join build", "select count(*) from generate_series(1,10) s(i) left join (select a.g*30000+b.g as v from generate_series(1,30000) a(g), generate_series(1,30000) b(g)) x on x.v = s.i"},
	{"aggregate", "select v, count(*) from (select a.g*30000+b.g as v from generate_series(1,30000) a(g), generate_series(1,30000) b(g)) x group by v"},
	{"count distinct", "select count(distinct a.g*30000+b.g) from generate_series(1,30000) a(g), generate_series(1,30000) b(g)"},
	{"window", "select sum(v) over (partition by v % 10 order by v) from (select a.g*b.g as v from generate_series(1,30000) a(g), generate_series(1,30000) b(g)) x"},
	{"regular expressions", "select count(*) from generate_series(1,100000000) g where repeat(g::text, 100) ~ '(1.*2.*3|4.*5.*6){2}x'"},
	{"recursion", "with recursive t(n) as (select 1 union all select n+1 from t) select count(*) from t"},
	{"union of recursion", "with recursive t(n) as (select 1::bigint union select (n*7919)%1000000007 from t) select count(*) from t"},
	{"correlated subquery", "select count(*) from generate_series(1,1000000) a(g) where g < (select count(*) from generate_series(1,1000000) b(h) where h % 7 < a.g)"},
	{"sleep", "select pg_sleep(3600)"},
	{"write", "create table w as select a.g*b.g as v from generate_series(1,30000) a(g), generate_series(1,30000) b(g)"},
	{"planning", "select count(*) from " + many(250, func(i int) string { return "t t" + num(i) }, ",") +
		" where " + many(249, func(i int) string { return "t" + num(i) + ".a = t" + num(i+1) + ".a" }, " and ")},
	{"grouping sets", "select count(*) from (select g, g%2 a, g%3 b, g%5 c, g%7 d, g%11 e, g%13 f, g%17 h, g%19 i, g%23 j, g%29 k from generate_series(1,10000000) g) x group by cube (g,a,b,c,d,e,f,h,i,j)"},
}

// patience is when a cancelled statement counts as not stopping at all. How soon it stops (the
// promise is a second) depends on the machine's load and is measured, not asserted.
const patience = 20 * time.Second

// A cancelled statement stops soon and leaves nothing behind.
func TestCancel(t *testing.T) {
	s := open(t, 256<<20)
	x := s.session(t)
	if _, err := ask(context.Background(), x, "create schema public; create table t (a int)"); err != nil {
		t.Fatal(err)
	}
	for _, e := range endless {
		t.Run(e.what, func(t *testing.T) {
			before := runtime.NumGoroutine()
			// Again and again: on a busy machine the statement may begin after the first one.
			done := make(chan struct{})
			var stopped sync.WaitGroup
			stopped.Add(1)
			go func() {
				defer stopped.Done()
				for {
					select {
					case <-time.After(300 * time.Millisecond):
						x.Cancel()
					case <-done:
						return
					}
				}
			}()
			start := time.Now()
			_, err := ask(context.Background(), x, e.sql)
			close(done)
			stopped.Wait()
			t.Logf("ended after %v", time.Since(start))
			if took := time.Since(start); took > 300*time.Millisecond+patience {
				t.Errorf("it ended %v after the cancel", took-300*time.Millisecond)
			}
			if c := code(err); c != sqlerr.QueryCanceled {
				t.Errorf("error %v", err)
			}
			s.nothingLeft(t, before)
		})
	}
}

// statement_timeout does the same by itself, and says so.
func TestStatementTimeout(t *testing.T) {
	s := open(t, 256<<20)
	x := s.session(t, "statement_timeout", "200ms")
	for _, e := range endless[:6] {
		before := runtime.NumGoroutine()
		start := time.Now()
		_, err := ask(context.Background(), x, e.sql)
		if took := time.Since(start); took > 200*time.Millisecond+patience {
			t.Errorf("%s: it ended after %v", e.what, took)
		}
		if err == nil || err.Error() != "canceling statement due to statement timeout" {
			t.Errorf("%s: error %v", e.what, err)
		}
		s.nothingLeft(t, before)
	}
}
