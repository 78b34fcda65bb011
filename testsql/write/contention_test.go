package write

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

var (
	contentionTime   = flag.Duration("contention.time", 0, "measure statements beside a session that appends, each for so long, instead of the short test")
	contentionPause  = flag.Duration("contention.pause", 125*time.Millisecond, "between two appends")
	contentionOthers = flag.Bool("contention.others", false, "the appends come from another server")
	contentionSet    = flag.String("contention.set", "", "a statement that sessions begin with")
)

// beside are statements that change rows beside appends of others. The appended ids, and those that
// the statement changes, are apart or not.
var beside = []struct {
	name, sql string
	apart     bool
}{
	{"update of one row", "UPDATE t SET n = n + 1 WHERE id = 1", true},
	{"update of all rows", "UPDATE t SET n = n + 1 WHERE n >= 0 AND v = 'old'", false},
	{"merge", "MERGE INTO t USING (VALUES (1, 1), (2, 1)) AS u (id, n) ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = t.n + u.n WHEN NOT MATCHED THEN INSERT VALUES (u.id, 'new', u.n)", true},
	{"merge by text", "MERGE INTO t USING (VALUES ('old', 1)) AS u (v, n) ON t.v = u.v WHEN MATCHED THEN UPDATE SET n = t.n + u.n", false},
	{"delete and insert", "DELETE FROM t WHERE v = 'gone'", false},
}

// contention is a table, a session that changes it and one that appends to it.
type contention struct {
	t    *testing.T
	a, b *engine.Session
	made atomic.Int64
}

func contend(t *testing.T) *contention {
	dir := fastDir(t)
	eng := openLake(t, dir)
	t.Cleanup(func() { eng.Close() })
	other := eng
	if *contentionOthers {
		other = openLake(t, dir)
		t.Cleanup(func() { other.Close() })
	}
	c := &contention{t: t, a: openSession(t, eng), b: openSession(t, other)}
	t.Cleanup(c.a.Close)
	t.Cleanup(c.b.Close)
	mustRows(t, c.a)("CREATE SCHEMA s; CREATE TABLE s.t (id int, v text, n int); INSERT INTO s.t VALUES (1, 'old', 0), (2, 'old', 0)")
	for _, s := range []*engine.Session{c.a, c.b} {
		mustRows(t, s)("SET search_path = s")
		if *contentionSet != "" {
			mustRows(t, s)(*contentionSet)
		}
	}
	return c
}

func (c *contention) append() {
	n := 1000 + c.made.Load()
	// 'a' and 'z': bounds do not tell the texts apart.
	if _, err := rows(context.Background(), c.b, fmt.Sprintf("INSERT INTO t VALUES (%d, 'a', 0), (%d, 'z', 0)", n, n)); err != nil {
		c.t.Errorf("append: %s", errText(err))
	}
	c.made.Add(1)
}

// TestContention: statements that change rows end beside a session that appends without a pause,
// each append and each of them is done once, and an append that could not matter to them does not
// end them.
func TestContention(t *testing.T) {
	if *contentionTime > 0 {
		measureContention(t)
		return
	}
	for _, b := range beside {
		t.Run(b.name, func(t *testing.T) {
			c := contend(t)
			var wg sync.WaitGroup
			var stop atomic.Bool
			wg.Go(func() {
				for !stop.Load() {
					c.append()
				}
			})
			const times = 6
			for range times {
				if _, err := rows(context.Background(), c.a, b.sql); err != nil {
					t.Errorf("%s: %s", b.sql, errText(err))
				}
			}
			stop.Store(true)
			wg.Wait()
			want := fmt.Sprint(times)
			if strings.HasPrefix(b.sql, "DELETE") {
				want = "0"
			}
			got := mustRows(t, c.a)("SELECT max(n), count(*) FILTER (WHERE id >= 1000), count(*) FROM t")
			if n := c.made.Load(); strings.Join(got, "") != fmt.Sprintf("%s|%d|%d", want, 2*n, 2*n+2) {
				t.Errorf("after %d appends: %q", n, got)
			}
		})
	}
}

func measureContention(t *testing.T) {
	for _, b := range beside {
		c := contend(t)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(*contentionPause):
					c.append()
				}
			}
		})
		var took []time.Duration
		lost, other := 0, 0
		for start := time.Now(); time.Since(start) < *contentionTime; {
			at := time.Now()
			_, err := rows(context.Background(), c.a, b.sql)
			took = append(took, time.Since(at))
			switch sqlerr.CodeOf(err) {
			case "":
			case sqlerr.SerializationFailure:
				lost++
			default:
				other++
				t.Log(errText(err))
			}
		}
		close(stop)
		wg.Wait()
		slices.Sort(took)
		t.Logf("%-20s %4d statements beside %4d appends: %4.1f%% ended with 40001, %d otherwise; median %v, worst %v",
			b.name, len(took), c.made.Load(), 100*float64(lost)/float64(len(took)), other, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	}
}
