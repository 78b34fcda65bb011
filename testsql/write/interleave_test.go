package write

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

var (
	interleaveAll  = flag.Bool("interleave.all", false, "every interleaving, not a sample")
	interleaveTime = flag.Duration("interleave.time", 20*time.Second, "how long the sample may take")
	interleaveSeed = flag.Uint64("interleave.seed", 1, "order of the sample")
)

// writers are statements that two or three sessions run at once. Each result depends on the
// rows that it finds, so that a lost or doubled effect shows.
var writers = map[string]string{
	"insert":     "INSERT INTO %s VALUES (7, 'new', 1)",
	"delete":     "DELETE FROM %s WHERE id = 2",
	"delete all": "DELETE FROM %s WHERE n >= 0",
	"delete grp": "DELETE FROM %s WHERE grp = 'a'",
	"increment":  "UPDATE %s SET n = n + 1 WHERE id <= 2",
	"double":     "UPDATE %s SET n = n * 2 WHERE n > 0",
	"move":       "UPDATE %s SET grp = 'a' WHERE grp = 'b'",
	"merge":      "MERGE INTO %s AS t USING (VALUES (2, 'm', 5), (7, 'm', 6)) AS u (id, grp, n) ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = t.n + u.n WHEN NOT MATCHED THEN INSERT (id, grp, n) VALUES (u.id, u.grp, u.n)",
	"merge gone": "MERGE INTO %s AS t USING (VALUES (1), (3)) AS u (id) ON t.id = u.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = t.n + 100",
	"truncate":   "TRUNCATE %s",
	"overwrite":  "INSERT OVERWRITE %s VALUES (9, 'a', 9)",
	"add column": "ALTER TABLE %s ADD COLUMN later int",
	"partition":  "ALTER TABLE %s ADD PARTITION FIELD bucket(2, id)",
	"block":      "BEGIN; UPDATE %[1]s SET n = n + 10 WHERE id = 1; INSERT INTO %[1]s SELECT id + 10, grp, n FROM %[1]s WHERE id = 1; DELETE FROM %[1]s WHERE id = 3; COMMIT",
}

// commitSteps are the steps of a commit at which another writer may come (lake.WithYield).
var commitSteps = []string{"load", "validate", "manifests", "list", "metadata", "swap", "swapped"}

// TestInterleavings runs writers in each other's commits, at every step: what comes out is what
// some serial order gives, or one of them is told 40001 and has done nothing.
func TestInterleavings(t *testing.T) {
	var names []string
	for n := range writers {
		names = append(names, n)
	}
	sort.Strings(names)
	var cases []interleaving
	for _, shape := range []string{"2 copy-on-write", "2 merge-on-read", "3 copy-on-write", "3 merge-on-read"} {
		for _, a := range names {
			for _, b := range names {
				for i := range commitSteps {
					cases = append(cases, interleaving{shape, []string{a, b}, []int{i}})
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(*interleaveSeed, 2))
	cases = slices.DeleteFunc(cases, interleaving.defines)
	pairs := len(cases)
	for i := 0; i < pairs/4; i++ {
		c := cases[r.IntN(pairs)]
		c = interleaving{c.shape, append(append([]string(nil), c.who...), names[r.IntN(len(names))]), []int{c.at[0], r.IntN(len(commitSteps))}}
		if !c.defines() {
			cases = append(cases, c)
		}
	}
	r.Shuffle(len(cases), func(i, k int) { cases[i], cases[k] = cases[k], cases[i] })
	eng := openLake(t, fastDir(t))
	defer eng.Close()
	m := &mixer{t: t, eng: eng, serial: map[string]string{}}
	for i := 0; i < 3; i++ {
		s := openSession(t, eng)
		defer s.Close()
		m.must(s, "SET search_path = s")
		m.sessions = append(m.sessions, s)
	}
	m.must(m.sessions[0], "CREATE SCHEMA s")
	begin, n := time.Now(), 0
	for _, c := range cases {
		if !*interleaveAll && time.Since(begin) > *interleaveTime {
			break
		}
		n++
		if m.run(c); t.Failed() {
			break
		}
	}
	t.Logf("%d of %d interleavings, seed %d; %d conflicts", n, len(cases), *interleaveSeed, m.conflicts)
}

// interleaving has the second writer run at a step of the first one's commit, and the third at
// a step of the second's.
type interleaving struct {
	shape string
	who   []string
	at    []int
}

// defines tells that one definition stands twice in c, which no order allows.
func (c interleaving) defines() bool {
	n := map[string]int{}
	for _, w := range c.who {
		n[w]++
	}
	return n["add column"] > 1 || n["partition"] > 1
}

type mixer struct {
	t         *testing.T
	eng       *engine.Engine
	sessions  []*engine.Session
	tables    int
	serial    map[string]string // shape and writers in order → rows
	conflicts int
}

func (m *mixer) must(s *engine.Session, q string) []string {
	m.t.Helper()
	out, err := rows(context.Background(), s, q)
	if err != nil {
		m.t.Fatalf("%s: %s", q, errText(err))
	}
	return out
}

// fresh makes a table with rows in two partitions, and a delete on one of its files.
func (m *mixer) fresh(shape string) string {
	m.tables++
	name := fmt.Sprintf("t%d", m.tables)
	format, mode, _ := strings.Cut(shape, " ")
	s := m.sessions[0]
	m.must(s, fmt.Sprintf("CREATE TABLE %s (id int, grp text, n int) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '%s', 'write.delete.mode' = '%s', 'write.update.mode' = '%s', 'write.merge.mode' = '%s', 'commit.retry.min-wait-ms' = '1', 'commit.retry.max-wait-ms' = '2')", name, format, mode, mode, mode))
	m.must(s, fmt.Sprintf("INSERT INTO %s VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3), (4, 'a', 4)", name))
	m.must(s, fmt.Sprintf("DELETE FROM %s WHERE id = 4", name))
	return name
}

func (m *mixer) state(name string) string {
	out := m.must(m.sessions[0], "SELECT id, grp, n FROM "+name)
	sort.Strings(out)
	return strings.Join(out, " ")
}

// inOrder is what the writers give one after the other.
func (m *mixer) inOrder(shape string, who []string) string {
	key := shape + ": " + strings.Join(who, ", ")
	if s, ok := m.serial[key]; ok {
		return s
	}
	name := m.fresh(shape)
	for _, w := range who {
		m.must(m.sessions[1], fmt.Sprintf(writers[w], name))
	}
	m.serial[key] = m.state(name)
	m.must(m.sessions[0], "DROP TABLE "+name)
	return m.serial[key]
}

// run runs one interleaving and looks for a serial order that explains it.
func (m *mixer) run(c interleaving) {
	name := m.fresh(c.shape)
	errs := make([]error, len(c.who))
	var start func(i int)
	start = func(i int) {
		ctx := context.Background()
		ran := false
		if i+1 < len(c.who) {
			ctx = lake.WithYield(ctx, func(step string) error {
				if !ran && step == commitSteps[c.at[i]] {
					ran = true
					start(i + 1)
				}
				return nil
			})
		}
		_, errs[i] = rows(ctx, m.sessions[i], fmt.Sprintf(writers[c.who[i]], name))
		if errs[i] != nil {
			rows(context.Background(), m.sessions[i], "ROLLBACK")
		}
		if i+1 < len(c.who) && !ran {
			start(i + 1) // the step never came: metadata alone has fewer
		}
	}
	start(0)
	var done []string
	for i, err := range errs {
		if err == nil {
			done = append(done, c.who[i])
			continue
		}
		if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.SerializationFailure {
			m.t.Errorf("%v: %s failed: %s", c, c.who[i], errText(err))
			return
		}
		m.conflicts++
	}
	got := m.state(name)
	m.must(m.sessions[0], "DROP TABLE "+name)
	var tried []string
	for _, order := range orders(done) {
		want := m.inOrder(c.shape, order)
		if got == want {
			return
		}
		tried = append(tried, fmt.Sprintf("%s: %s", strings.Join(order, ", "), want))
	}
	m.t.Errorf("%s, %v at %v (conflicts %v): no serial order gives\n%s\n-- orders:\n%s", c.shape, c.who, c.at, errs, got, strings.Join(tried, "\n"))
}

func orders(list []string) [][]string {
	if len(list) < 2 {
		return [][]string{list}
	}
	var out [][]string
	for i := range list {
		rest := append(append([]string(nil), list[:i]...), list[i+1:]...)
		for _, o := range orders(rest) {
			out = append(out, append([]string{list[i]}, o...))
		}
	}
	return out
}
