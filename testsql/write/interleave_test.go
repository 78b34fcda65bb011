package write

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
)

var (
	interleaveAll   = flag.Bool("interleave.all", false, "every schedule: of every two writers in all table shapes at both isolation levels, then of every three, those of two kinds first")
	interleaveCases = flag.Int("interleave.cases", 60, "how many cases of two writers the samples hold, and ten times as many of three")
	interleaveSeed  = flag.Uint64("interleave.seed", 0, "of the samples; 0: LHSQL_SEED")
	interleaveWith  = flag.String("interleave.with", "", "only cases with a writer whose name begins so")
	interleaveOnly  = flag.String("interleave.only", "", "the one schedule that a failure printed")
)

// writers are statements that two or three sessions run at once. Each result depends on the rows
// that it finds, so that a lost or doubled effect shows. {t} and {u} are tables, {first} is a
// snapshot of t's. (An INSERT whose query reads its own table reads it at one snapshot and is not
// serialized with other INSERTs: promises.md, C5.)
var writers = map[string]string{
	"insert":        "INSERT INTO {t} VALUES (7, 'new', 1)",
	"delete":        "DELETE FROM {t} WHERE id = 2",
	"delete all":    "DELETE FROM {t} WHERE n >= 0",
	"delete grp":    "DELETE FROM {t} WHERE grp = 'a'",
	"increment":     "UPDATE {t} SET n = n + 1 WHERE id <= 2",
	"double":        "UPDATE {t} SET n = n * 2 WHERE n > 0",
	"move":          "UPDATE {t} SET grp = 'a' WHERE grp = 'b'",
	"merge":         "MERGE INTO {t} AS t USING (VALUES (2, 'm', 5), (7, 'm', 6)) AS u (id, grp, n) ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = t.n + u.n WHEN NOT MATCHED THEN INSERT (id, grp, n) VALUES (u.id, u.grp, u.n)",
	"merge gone":    "MERGE INTO {t} AS t USING (VALUES (1), (3)) AS u (id) ON t.id = u.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = t.n + 100",
	"truncate":      "TRUNCATE {t}",
	"overwrite":     "INSERT OVERWRITE {t} VALUES (9, 'a', 9)",
	"add column":    "ALTER TABLE {t} ADD COLUMN later int",
	"not null":      "ALTER TABLE {t} ALTER COLUMN n SET NOT NULL",
	"insert null":   "INSERT INTO {t} VALUES (8, 'b', NULL)",
	"partition":     "ALTER TABLE {t} ADD PARTITION FIELD bucket(2, id)",
	"property":      "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')",
	"block":         "BEGIN; UPDATE {t} SET n = n + 10 WHERE id = 1; INSERT INTO {t} SELECT id + 10, grp, n FROM {t} WHERE id = 1; DELETE FROM {t} WHERE id = 3; COMMIT",
	"transfer":      "BEGIN; INSERT INTO {u} SELECT id, grp, n FROM {t} WHERE id = 2; DELETE FROM {t} WHERE id = 2; COMMIT",
	"transfer grp":  "BEGIN; INSERT INTO {u} SELECT id, grp, n FROM {t} WHERE grp = 'b'; DELETE FROM {t} WHERE grp = 'b' AND id > 0; COMMIT",
	"insert into u": "INSERT INTO {u} VALUES (5, 'u', 5)",
	"branch insert": "INSERT INTO {t}.branch_b VALUES (6, 'b', 6)",
	"branch update": "UPDATE {t}.branch_b SET n = n + 1",
	"fast forward":  "ALTER BRANCH main IN TABLE {t} FAST FORWARD TO b",
	"rollback":      "CALL system.rollback_to_snapshot('{t}', {first})",
	"tag":           "ALTER TABLE {t} CREATE OR REPLACE TAG g",
	"drop branch":   "ALTER TABLE {t} DROP BRANCH b",
	"replace":       "CREATE OR REPLACE TABLE {t} AS SELECT id, grp, n + 1000 AS n FROM {t}",
	"drop":          "DROP TABLE {t}",
	"rename":        "ALTER TABLE {t} RENAME TO {t}x",
	"exchange":      "BEGIN; CREATE TABLE {t}y AS SELECT id, grp, n + 500 AS n FROM {t}; ALTER TABLE {t} RENAME TO {t}z; ALTER TABLE {t}y RENAME TO {t}; DROP TABLE {t}z; COMMIT",
	"compact":       "CALL system.rewrite_data_files('s.{t}', options => map('rewrite-all', 'true'))",
	"compact b":     "CALL system.rewrite_data_files('s.{t}', branch => 'b', options => map('rewrite-all', 'true'))",
	"compact new":   "CALL system.rewrite_data_files('s.{t}', options => map('rewrite-all', 'true', 'use-starting-sequence-number', 'false', 'partial-progress.enabled', 'true'))",
	"fold deletes":  "CALL system.rewrite_position_delete_files('s.{t}', options => map('rewrite-all', 'true'))",
	"make":          "BEGIN; CREATE TABLE {t}w AS SELECT id, grp, n FROM {t} WHERE id = 1; DELETE FROM {t} WHERE id = 1; COMMIT",
}

// byMode are the writers that do the same in either write mode, and byIsolation those that do the
// same at either isolation level: a pair of such runs once.
func byMode(w string) bool {
	return slices.Contains([]string{"delete", "increment", "double", "move", "merge", "merge gone", "block", "transfer", "transfer grp", "branch update", "delete all", "make", "compact", "compact b", "compact new", "fold deletes"}, w)
}

func byIsolation(w string) bool {
	return byMode(w) || w == "delete grp" || w == "overwrite" || w == "truncate"
}

// TestInterleavings runs two and three writers at once in every order of their accesses to what
// they share, the table's pointer: what comes out is what some serial order gives, or one of them
// is told 40001 and has done nothing.
//
// A writer reads the pointer when its statement is bound, reads it again at each try of its
// commit, and swaps it at the end of the try; all else that it touches are files of its own or
// files that never change. Two reads commute, and a swap that comes too late fails whenever it is
// tried, so of the orders that differ in nothing else one is run (sleep sets). That all statements
// are bound before one commits loses nothing: who is bound after a commit runs after it.
func TestInterleavings(t *testing.T) {
	if *interleaveOnly != "" {
		m := newMixer(t)
		c, order := parseInterleaving(t, *interleaveOnly)
		m.check(c, m.run(c, &schedule{fixed: order}))
		return
	}
	seed := *interleaveSeed
	if seed == 0 {
		seed = testseed.Of(t)
	}
	names := sortedNames(writers)
	two, three := everyCase(names, 2), everyCase(names, 3)
	if *interleaveWith != "" {
		without := func(c interleaving) bool {
			return !slices.ContainsFunc(c.who, func(w string) bool { return strings.HasPrefix(w, *interleaveWith) })
		}
		two, three = slices.DeleteFunc(two, without), slices.DeleteFunc(three, without)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	r.Shuffle(len(two), func(i, k int) { two[i], two[k] = two[k], two[i] })
	r.Shuffle(len(three), func(i, k int) { three[i], three[k] = three[k], three[i] })
	if *interleaveAll {
		slices.SortStableFunc(three, func(a, b interleaving) int { return a.kinds() - b.kinds() })
	}
	was := debug.SetGCPercent(400) // runs are short and leave nothing
	t.Cleanup(func() { debug.SetGCPercent(was) })
	if !*interleaveAll {
		two, three = two[:min(*interleaveCases, len(two))], three[:min(10**interleaveCases, len(three))]
	}
	// Runs of one lake take turns; several lakes use the machine.
	const lakes = 4
	for l := range lakes {
		t.Run(fmt.Sprint(l), func(t *testing.T) {
			t.Parallel()
			m := newMixer(t)
			n := 0
			for i := l; i < len(two) && !t.Failed(); i += lakes {
				m.explore(two[i])
				n++
				m.progress("two writers", n, len(two)/lakes)
			}
			t.Logf("two writers: %d schedules, all of %d of %d cases, %d conflicts, seed %d", m.runs, n, len(two), m.conflicts, seed)
			m.runs, m.conflicts, n = 0, 0, 0
			r := rand.New(rand.NewPCG(seed, uint64(l)))
			for i := l; i < len(three) && !t.Failed(); i += lakes {
				if *interleaveAll {
					m.explore(three[i])
				} else {
					m.check(three[i], m.run(three[i], &schedule{random: r}))
				}
				n++
				m.progress("three writers", n, len(three)/lakes)
			}
			t.Logf("three writers: %d schedules of %d of %d cases, %d conflicts, seed %d", m.runs, n, len(three), m.conflicts, seed)
		})
	}
}

// progress says now and then how far a run that takes hours is.
func (m *mixer) progress(what string, n, of int) {
	if *interleaveAll && n%100 == 0 {
		fmt.Fprintf(os.Stderr, "%s %s: %d of %d cases, %d schedules, %d conflicts\n", m.t.Name(), what, n, of, m.runs, m.conflicts)
	}
}

// interleaving is who writes what at once.
type interleaving struct {
	shape string // format version and write mode
	level string // isolation
	who   []string
}

func (c interleaving) String() string {
	return c.shape + "|" + c.level + "|" + strings.Join(c.who, ",")
}

func parseInterleaving(t *testing.T, text string) (interleaving, []int) {
	p := strings.Split(text, "|")
	if len(p) != 4 {
		t.Fatalf("%q: want shape|isolation|writers|order", text)
	}
	c := interleaving{p[0], p[1], strings.Split(p[2], ",")}
	var order []int
	for _, s := range strings.Split(p[3], " ") {
		i, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, i)
	}
	return c, order
}

func sortedNames[V any](m map[string]V) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// everyCase lists every choice of n writers in every shape and isolation level that matters.
func everyCase(names []string, n int) []interleaving {
	var out []interleaving
	var choose func(who []string, from int)
	choose = func(who []string, from int) {
		if len(who) == n {
			for _, shape := range []string{"2 copy-on-write", "2 merge-on-read", "3 copy-on-write", "3 merge-on-read"} {
				for _, level := range []string{"serializable", "snapshot"} {
					if c := (interleaving{shape, level, slices.Clone(who)}); *interleaveAll && n == 2 || c.tells() {
						out = append(out, c)
					}
				}
			}
			return
		}
		for i := from; i < len(names); i++ {
			choose(append(who, names[i]), i)
		}
	}
	choose(nil, 0)
	return out
}

// kinds counts the writers that differ.
func (c interleaving) kinds() int { return len(slices.Compact(slices.Clone(c.who))) }

// tells leaves out cases that do what another case does: shapes and levels that none of the
// writers depends on; and format 3 with copy-on-write, which differs from format 2 in no
// validation.
func (c interleaving) tells() bool {
	switch {
	case c.shape != "2 copy-on-write" && !slices.ContainsFunc(c.who, byMode), c.shape == "3 copy-on-write":
		return false
	case c.level == "snapshot":
		return slices.ContainsFunc(c.who, byIsolation)
	}
	return true
}

// instant is a clock that never waits.
type instant struct{ ms atomic.Int64 }

func (c *instant) Now() time.Time {
	return time.UnixMilli(1_800_000_000_000 + c.ms.Add(1))
}
func (c *instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

type mixer struct {
	t         *testing.T
	dir       string
	eng       *engine.Engine
	ctx       context.Context
	sessions  []*engine.Session
	templates map[string]template
	tables    int
	serial    map[string]outcome
	runs      int
	conflicts int
}

// template is a table in a shape, by its metadata file: each run registers it anew.
type template struct{ t, u, first string }

// outcome is what writers left and what each was told, "" for success.
type outcome struct {
	state string
	codes []string
	order []int
	skip  bool // an order that another one stands for
}

func newMixer(t *testing.T) *mixer {
	m := &mixer{t: t, dir: fastDir(t), ctx: clock.With(context.Background(), &instant{}), templates: map[string]template{}, serial: map[string]outcome{}}
	m.eng = openLake(t, m.dir)
	t.Cleanup(func() { m.eng.Close() })
	for range 4 { // the last one looks on
		s := openSession(t, m.eng)
		t.Cleanup(s.Close)
		m.sessions = append(m.sessions, s)
		m.must(s, "SET search_path = s")
		m.must(s, "SET lhsql.workers = 1")
		m.must(s, "SET lhsql.retry_conflicts = 0") // an order of accesses is one of each statement
	}
	m.must(m.look(), "CREATE SCHEMA s")
	return m
}

func (m *mixer) look() *engine.Session { return m.sessions[3] }

func (m *mixer) must(s *engine.Session, q string) []string {
	m.t.Helper()
	out, err := rows(m.ctx, s, q)
	if err != nil {
		m.t.Fatalf("%s: %s", q, errText(err))
	}
	return out
}

// template makes a table with rows in two partitions, a delete on one of its files, and a branch
// that is a commit ahead.
func (m *mixer) template(shape string) template {
	if p, ok := m.templates[shape]; ok {
		return p
	}
	format, mode, _ := strings.Cut(shape, " ")
	file := func(name string) string {
		list := m.must(m.look(), "SELECT file FROM "+name+".metadata_log_entries ORDER BY timestamp DESC LIMIT 1")
		return list[0]
	}
	n := len(m.templates)
	name := fmt.Sprintf("template%d", n)
	for _, s := range []string{
		"CREATE TABLE %[1]s (id int, grp text, n int) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '" + format + "', 'write.delete.mode' = '" + mode + "', 'write.update.mode' = '" + mode + "', 'write.merge.mode' = '" + mode + "')",
		"INSERT INTO %[1]s VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3), (4, 'a', 4)",
		"DELETE FROM %[1]s WHERE id = 4",
		"ALTER TABLE %[1]s CREATE BRANCH b",
		"INSERT INTO %[1]s.branch_b VALUES (5, 'b', 5)",
		"CREATE TABLE %[1]su (id int, grp text, n int)",
		"INSERT INTO %[1]su VALUES (0, 'u', 0)",
	} {
		m.must(m.look(), fmt.Sprintf(s, name))
	}
	first := m.must(m.look(), "SELECT snapshot_id FROM "+name+".snapshots ORDER BY committed_at LIMIT 1")[0]
	m.templates[shape] = template{t: file(name), u: file(name + "u"), first: first}
	return m.templates[shape]
}

// fresh gives a copy of the shape's tables and the writers' statements on it.
func (m *mixer) fresh(c interleaving, who []string) (name string, sql []string) {
	p := m.template(c.shape)
	m.tables++
	if m.tables%200 == 0 {
		m.sweep()
	}
	name = fmt.Sprintf("t%d", m.tables)
	m.must(m.look(), fmt.Sprintf("CALL system.register_table('s.%s', '%s'); CALL system.register_table('s.%[1]su', '%[3]s')", name, p.t, p.u))
	fill := strings.NewReplacer("{t}", name, "{u}", name+"u", "{first}", p.first)
	for _, w := range who {
		sql = append(sql, fill.Replace(writers[w]))
	}
	for _, s := range m.sessions[:3] {
		if v, _ := s.Setting("lhsql.write_isolation"); v != c.level {
			m.must(s, "SET lhsql.write_isolation = "+c.level)
		}
	}
	return name, sql
}

// sweep removes the files that earlier runs wrote.
func (m *mixer) sweep() {
	keep := map[string]bool{}
	for i := range len(m.templates) {
		for _, n := range []string{fmt.Sprintf("template%d", i), fmt.Sprintf("template%du", i)} {
			for _, q := range []string{"SELECT file_path FROM %s.all_files", "SELECT path FROM %s.all_manifests", "SELECT manifest_list FROM %s.snapshots", "SELECT file FROM %s.metadata_log_entries"} {
				for _, p := range m.must(m.look(), fmt.Sprintf(q, n)) {
					keep[strings.TrimPrefix(p, "file://")] = true
				}
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(m.dir, "warehouse"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !keep[p] {
			err = os.Remove(p)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// tagPart is where state has the rows of the tag.
const tagPart = 2

// state is all that readers see of the tables.
func (m *mixer) state(name string) string {
	var b strings.Builder
	const columns = "SELECT id, grp, n FROM "
	for _, q := range []string{columns + name, columns + name + ".branch_b", "SELECT count(*) FROM " + name + ".tag_g", columns + name + "u", columns + name + "x", columns + name + "w"} {
		out, err := rows(m.ctx, m.look(), q)
		if err != nil {
			out = []string{string(sqlerr.CodeOf(err))}
		}
		sort.Strings(out)
		b.WriteString(strings.Join(out, " ") + "; ")
	}
	return b.String()
}

func (m *mixer) drop(name string) {
	m.must(m.look(), "DROP TABLE IF EXISTS "+name+", "+name+"u, "+name+"x, "+name+"w")
}

// inOrder is what the writers give one after the other.
func (m *mixer) inOrder(c interleaving, who []string) outcome {
	key := c.shape + ": " + strings.Join(who, ", ")
	if o, ok := m.serial[key]; ok {
		return o
	}
	name, sql := m.fresh(c, who)
	var o outcome
	for _, q := range sql {
		_, err := rows(m.ctx, m.sessions[0], q)
		o.codes = append(o.codes, string(sqlerr.CodeOf(err)))
		m.end(0)
	}
	o.state = m.state(name)
	m.drop(name)
	m.serial[key] = o
	return o
}

// end leaves a block that failed.
func (m *mixer) end(i int) {
	if m.sessions[i].Status() != 'I' {
		m.must(m.sessions[i], "ROLLBACK")
	}
}

// schedule decides whose turn it is. The zero schedule runs who comes first, and notes at each
// turn whom else it could have been.
type schedule struct {
	fixed  []int
	random *rand.Rand
	path   []turn
}

// turn is a place where the schedule chose.
type turn struct {
	waiting []access
	sleep   map[int]bool // whose turn is covered by an order that was run before
	chosen  int
}

// access is a writer that waits to read or swap the pointer.
type access struct {
	who        int
	load, swap bool // the read that begins a try of a commit, and the swap that ends it
	late       bool // a swap of what another writer has swapped since the load
}

// explore runs every order that differs in more than reads.
func (m *mixer) explore(c interleaving) {
	s := &schedule{}
	for {
		o := m.run(c, s)
		if !o.skip {
			m.check(c, o)
		}
		if m.t.Failed() || !s.backtrack() {
			return
		}
	}
}

// backtrack goes to the next order: at the last turn that has another choice.
func (s *schedule) backtrack() bool {
	for n := len(s.path) - 1; n >= 0; n-- {
		t := &s.path[n]
		t.sleep[t.chosen] = true
		if next := t.awake(); next >= 0 {
			t.chosen = next
			s.path = s.path[:n+1]
			return true
		}
	}
	return false
}

func (t *turn) awake() int {
	for _, a := range t.waiting {
		if !t.sleep[a.who] {
			return a.who
		}
	}
	return -1
}

// choose picks who goes at turn n; or skips this order, which another one covers.
func (s *schedule) choose(n int, waiting []access) (who int, skip bool) {
	switch {
	case s.fixed != nil:
		if n < len(s.fixed) && slices.ContainsFunc(waiting, func(a access) bool { return a.who == s.fixed[n] }) {
			return s.fixed[n], false
		}
		return waiting[0].who, false
	case s.random != nil:
		return waiting[s.random.IntN(len(waiting))].who, false
	case n < len(s.path):
		return s.path[n].chosen, false
	}
	if late := slices.IndexFunc(waiting, func(a access) bool { return a.late }); late >= 0 {
		// It fails now as it would later, and changes nothing for the others.
		waiting = waiting[late : late+1]
	}
	t := turn{waiting: slices.Clone(waiting), sleep: map[int]bool{}}
	if n > 0 {
		before := &s.path[n-1]
		swaps := map[int]bool{}
		for _, a := range before.waiting {
			swaps[a.who] = a.swap && !a.late
		}
		for who := range before.sleep {
			if !swaps[who] && !swaps[before.chosen] {
				t.sleep[who] = true // two reads commute
			}
		}
	}
	t.chosen = t.awake()
	s.path = append(s.path, t)
	if t.chosen < 0 {
		return waiting[0].who, true
	}
	return t.chosen, false
}

// run runs the writers, one at a time between accesses to the pointer.
func (m *mixer) run(c interleaving, s *schedule) outcome {
	m.runs++
	name, sql := m.fresh(c, c.who)
	type event struct {
		access
		done bool
		err  error
	}
	events := make(chan event)
	turns := make([]chan error, len(sql))
	swaps, loaded := 0, make([]int, len(sql)) // swaps that worked: so far, and before a writer's try
	o := outcome{codes: make([]string, len(sql))}
	var waiting []access
	for i := range sql {
		turns[i] = make(chan error)
		bound := false
		ctx := lake.WithYield(m.ctx, func(step string) error {
			swap := step == "swap"
			if !swap && step != "read" && step != "load" {
				return nil
			}
			if !bound {
				bound = true // before the others commit
				return nil
			}
			events <- event{access: access{who: i, swap: swap, load: step == "load"}}
			return <-turns[i]
		})
		// Each starts alone, up to its first access after it is bound.
		go func() {
			_, err := rows(ctx, m.sessions[i], sql[i])
			events <- event{access: access{who: i}, done: true, err: err}
		}()
		if e := <-events; e.done {
			o.codes[i] = m.ended(i, e.err)
		} else {
			waiting = append(waiting, e.access)
		}
	}
	for n := 0; len(waiting) > 0; n++ {
		for k := range waiting {
			a := &waiting[k]
			a.late = a.swap && loaded[a.who] > 0 && swaps >= loaded[a.who]
		}
		who, stop := waiting[0].who, errCovered
		if !o.skip {
			if who, o.skip = s.choose(n, waiting); !o.skip {
				stop = nil
			}
		}
		o.order = append(o.order, who)
		k := slices.IndexFunc(waiting, func(a access) bool { return a.who == who })
		if k < 0 {
			m.t.Fatalf("%v: in the order %v writer %d once had another turn: what writers do must follow from the order", c, o.order, who)
		}
		now := waiting[k]
		waiting = slices.Delete(waiting, k, k+1)
		switch {
		case now.load:
			loaded[who] = swaps + 1
		case !now.swap:
			loaded[who] = 0
		}
		turns[who] <- stop
		if e := <-events; e.done {
			o.codes[e.who] = m.ended(e.who, e.err)
			if now.swap && e.err == nil {
				swaps++
			}
		} else {
			waiting = append(waiting, e.access)
			slices.SortFunc(waiting, func(a, b access) int { return a.who - b.who })
		}
	}
	if !o.skip {
		o.state = m.state(name)
	}
	m.drop(name)
	return o
}

// errCovered ends writers whose order needs no run.
var errCovered = errors.New("this order is covered")

// ended gives a statement's error code, after its block.
func (m *mixer) ended(i int, err error) string {
	m.end(i)
	return string(sqlerr.CodeOf(err))
}

// check looks for a serial order that explains an outcome.
func (m *mixer) check(c interleaving, o outcome) {
	var done []int
	for i, code := range o.codes {
		if code != string(sqlerr.SerializationFailure) {
			done = append(done, i)
		} else {
			m.conflicts++
		}
	}
	if len(done) == 0 {
		m.fail(c, o, "every writer met a conflict")
		return
	}
	var tried []string
	for _, order := range orders(done) {
		var who []string
		for _, i := range order {
			who = append(who, c.who[i])
		}
		want := m.inOrder(c, who)
		same := want.state == o.state
		for k, i := range order {
			same = same && want.codes[k] == o.codes[i]
		}
		if same {
			return
		}
		tried = append(tried, fmt.Sprintf("%s: %s %q", strings.Join(who, ", "), want.state, want.codes))
	}
	if c.level == "snapshot" {
		same, merged := m.snapshotExplains(c, o, done)
		if same {
			return
		}
		tried = append(tried, merged...)
	}
	m.fail(c, o, "no serial order explains it. Orders:\n"+strings.Join(tried, "\n"))
}

// snapshotExplains tells whether snapshot isolation allows an outcome beside the serial orders:
// the writers fall into groups, each group ran one after the other, and groups that ran at once
// left their changes merged. Who failed with an error of its own changed nothing, and may have
// failed as in any serial order. A tag is put on what has been merged when it commits.
func (m *mixer) snapshotExplains(c interleaving, o outcome, done []int) (bool, []string) {
	var did []int
	tag := false
	for _, i := range done {
		switch {
		case o.codes[i] != "":
			if !m.failsSo(c, done, i, o.codes[i]) {
				return false, nil
			}
		case c.who[i] == "tag":
			tag = true
		default:
			did = append(did, i)
		}
	}
	var tried []string
	for _, order := range orders(did) {
		for cuts := range 1 << max(len(did)-1, 0) {
			last := len(order)
			want, ok := m.mergedInOrder(c, order, cuts)
			if !ok {
				continue
			}
			if !tag && want == o.state {
				return true, nil
			}
			for n := 0; tag && n <= last; n++ {
				if then, ok := m.mergedInOrder(c, order[:n], cuts); ok && tagged(want, then) == o.state {
					return true, nil
				}
			}
			tried = append(tried, fmt.Sprintf("merged %v, cut at %b: %s", order, cuts, want))
		}
	}
	return false, tried
}

// tagged is the state with a tag on what the state then has as main.
func tagged(state, then string) string {
	parts := strings.Split(state, "; ")
	main, _, _ := strings.Cut(then, "; ")
	parts[tagPart] = strconv.Itoa(len(strings.Fields(main)))
	return strings.Join(parts, "; ")
}

// mergedInOrder is the state after writers that all succeed, in order and cut into groups: bit k
// of cuts cuts behind the writer k.
func (m *mixer) mergedInOrder(c interleaving, order []int, cuts int) (string, bool) {
	groups := [][]string{nil}
	for k, i := range order {
		if k > 0 && cuts>>(k-1)&1 == 1 {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], c.who[i])
	}
	for _, who := range groups {
		for _, code := range m.inOrder(c, who).codes {
			if code != "" {
				return "", false
			}
		}
	}
	return m.merged(c, groups)
}

// failsSo tells whether a writer fails with this code in some order of some of the writers.
func (m *mixer) failsSo(c interleaving, done []int, i int, code string) bool {
	for _, order := range orders(done) {
		var who []string
		for _, k := range order {
			who = append(who, c.who[k])
			if k == i {
				break
			}
		}
		if codes := m.inOrder(c, who).codes; codes[len(codes)-1] == code {
			return true
		}
	}
	return false
}

// merged is the tables' state after each group's changes, as it made them on what they all read,
// if no two groups changed one row.
func (m *mixer) merged(c interleaving, groups [][]string) (string, bool) {
	base := m.inOrder(c, nil).state
	now := strings.Split(base, "; ")
	gone := map[string]bool{}
	for _, who := range groups {
		after := strings.Split(m.inOrder(c, who).state, "; ")
		for part, list := range strings.Split(base, "; ") {
			was, is := strings.Fields(list), strings.Fields(after[part])
			rows := strings.Fields(now[part])
			for _, r := range was {
				if slices.Contains(is, r) {
					continue
				}
				key := fmt.Sprint(part, r)
				if gone[key] {
					return "", false
				}
				gone[key] = true
				rows = slices.DeleteFunc(rows, func(x string) bool { return x == r })
			}
			for _, r := range is {
				if !slices.Contains(was, r) {
					rows = append(rows, r)
				}
			}
			sort.Strings(rows)
			now[part] = strings.Join(rows, " ")
		}
	}
	return strings.Join(now, "; "), true
}

func (m *mixer) fail(c interleaving, o outcome, why string) {
	order := strings.Trim(fmt.Sprint(o.order), "[]")
	m.t.Errorf("%v: codes %q\n%s\n-- %s\n-- again: go test ./testsql/write -run TestInterleavings -interleave.only '%v|%s'", c, o.codes, o.state, why, c, order)
}

func orders[T any](list []T) [][]T {
	if len(list) < 2 {
		return [][]T{list}
	}
	var out [][]T
	for i := range list {
		rest := append(append([]T(nil), list[:i]...), list[i+1:]...)
		for _, o := range orders(rest) {
			out = append(out, append([]T{list[i]}, o...))
		}
	}
	return out
}
