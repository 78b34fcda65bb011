// Package write tests what write statements do to tables: random histories beside a model in
// memory, concurrent writers, failures in the midst of a write.
package write

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/testsql/speccheck"
	"github.com/lhsql/lhsql/types"
)

var (
	historySeed = flag.Uint64("history.seed", 0, "run this history only")
	historyRuns = flag.Int("history.runs", 20, "random histories")
	historyLen  = flag.Int("history.len", 40, "steps of a history")
)

// TestHistories runs random statements on a table and on the model, and compares them after
// each step: rows, counts, conditions, branches, the past, and the identity of rows.
func TestHistories(t *testing.T) {
	for i := 0; i < *historyRuns; i++ {
		seed := uint64(i) + 1
		if *historySeed != 0 {
			seed = *historySeed
		}
		r := rand.New(rand.NewPCG(seed, 7))
		steps := make([]uint64, *historyLen)
		for k := range steps {
			steps[k] = r.Uint64()
		}
		if script, err := runHistory(t, seed, steps); err != nil {
			steps, script, err = shrink(t, seed, steps, script, err)
			t.Errorf("history.seed %d: %v\n-- %d steps:\n%s", seed, err, len(steps), script)
		}
		if *historySeed != 0 {
			break
		}
	}
}

// transactions tells that histories have BEGIN, SAVEPOINT, COMMIT and ROLLBACK.
const transactions = true

// shrink leaves out steps for as long as the history still fails.
func shrink(t *testing.T, seed uint64, steps []uint64, script string, err error) ([]uint64, string, error) {
	for n := len(steps) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(steps); {
			less := append(append([]uint64(nil), steps[:i]...), steps[i+n:]...)
			if s, e := runHistory(t, seed, less); e != nil {
				steps, script, err = less, s, e
				continue
			}
			i += n
		}
	}
	return steps, script, err
}

// state is a history under way.
type state struct {
	s       *engine.Session
	dir     string
	script  []string
	heads   map[string]*table // by branch
	tags    map[string]*table
	past    map[int64]*table // by snapshot id, of main
	rowIDs  map[int64]string // row key → _row_id, of main
	version int
	nextKey int64
	copies  int64
	names   int
	inTx    bool
	before  map[string]*table // what ROLLBACK brings back
	saved   map[string]*table // what ROLLBACK TO brings back
	// txBranch is the branch that the transaction writes.
	txBranch string
}

// fastDir is a folder in memory where there is such a thing: every commit waits for the disk.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "lhsql-write-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// openLake opens an engine with small caches: each statement makes files that are soon of no use.
func openLake(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	eng, err := engine.Open(context.Background(), engine.Config{TempDir: filepath.Join(dir, "tmp"), MemoryLimit: 2 << 30, PageCache: 4 << 20, Catalogs: []engine.CatalogConfig{{
		Name:  "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

func openSession(t *testing.T, eng *engine.Engine) *engine.Session {
	t.Helper()
	s, err := eng.NewSession(context.Background(), engine.SessionOptions{User: "tester", Database: "lake"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rows runs a statement and gives its rows as text.
func rows(ctx context.Context, s *engine.Session, sql string) ([]string, error) {
	list, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range list {
		if out, err = one(ctx, s, p); err != nil {
			break
		}
	}
	if e := s.EndImplicit(ctx); err == nil {
		err = e
	}
	return out, err
}

func one(ctx context.Context, s *engine.Session, p engine.Parsed) ([]string, error) {
	st, err := s.Prepare(ctx, p, nil)
	if err != nil {
		s.Fail()
		return nil, err
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		s.Fail()
		return nil, err
	}
	var out []string
	o := s.TextOptions()
	err = r.Each(ctx, func(row []types.Datum) error {
		cells := make([]string, len(row))
		for j, d := range row {
			cells[j] = "NULL"
			if !d.IsNull() {
				cells[j] = types.Format(d, r.Columns()[j].Type, o)
			}
		}
		out = append(out, strings.Join(cells, "|"))
		return nil
	})
	return out, err
}

// mustRows runs a statement that the test cannot go on without.
func mustRows(t *testing.T, s *engine.Session) func(sql string) []string {
	return func(sql string) []string {
		t.Helper()
		out, err := rows(context.Background(), s, sql)
		if err != nil {
			t.Fatalf("%s: %s", sql, errText(err))
		}
		return out
	}
}

func runHistory(t *testing.T, seed uint64, steps []uint64) (script string, err error) {
	dir := fastDir(t)
	eng := openLake(t, dir)
	defer eng.Close()
	h := &state{s: openSession(t, eng), dir: dir, heads: map[string]*table{}, tags: map[string]*table{}, past: map[int64]*table{}, rowIDs: map[int64]string{}}
	defer h.s.Close()
	defer func() { script = strings.Join(h.script, ";\n") + ";" }()
	r := rand.New(rand.NewPCG(seed, 1))
	h.version = 2 + r.IntN(2)
	mode := func() string { return []string{"copy-on-write", "merge-on-read"}[r.IntN(2)] }
	h.heads["main"] = &table{cols: []column{{"a", "int", -1}, {"b", "text", -2}, {"n", "numeric(9,2)", -3}}}
	part := []string{"", "", "PARTITIONED BY (b)", "PARTITIONED BY (bucket(3, a))", "PARTITIONED BY (truncate(10, n), b)"}[r.IntN(5)]
	for _, q := range []string{"CREATE SCHEMA s", "SET search_path = s",
		fmt.Sprintf("CREATE TABLE t (k bigint, a int, b text, n numeric(9,2)) %s TBLPROPERTIES ('format-version' = '%d', 'write.delete.mode' = '%s', 'write.update.mode' = '%s', 'write.merge.mode' = '%s', 'commit.manifest.min-count-to-merge' = '4')",
			part, h.version, mode(), mode(), mode())} {
		if err := h.exec(q); err != nil {
			return "", err
		}
	}
	for _, seed := range steps {
		if err := h.step(rand.New(rand.NewPCG(seed, 3))); err != nil {
			return "", err
		}
		if err := h.check(rand.New(rand.NewPCG(seed, 4))); err != nil {
			return "", err
		}
	}
	if h.inTx {
		if err := h.exec("COMMIT"); err != nil {
			return "", err
		}
	}
	return "", checkSpec(context.Background(), dir)
}

func (h *state) exec(q string) error {
	h.script = append(h.script, q)
	if _, err := rows(context.Background(), h.s, q); err != nil {
		return fmt.Errorf("%s: %s", q, errText(err))
	}
	return nil
}

func errText(err error) string {
	if e, ok := sqlerr.As(err); ok {
		return string(e.Code) + " " + e.Message
	}
	return err.Error()
}

// branch picks a branch and how the statement calls it.
func (h *state) branch(r *rand.Rand) (*table, string, string) {
	names := make([]string, 0, len(h.heads))
	for n := range h.heads {
		names = append(names, n)
	}
	sort.Strings(names)
	n := names[r.IntN(len(names))]
	if h.inTx { // a transaction writes one branch of a table
		return h.heads[h.txBranch], map[bool]string{true: "t", false: "t.branch_" + h.txBranch}[h.txBranch == "main"], h.txBranch
	}
	if n == "main" || r.IntN(3) > 0 {
		return h.heads["main"], "t", "main"
	}
	return h.heads[n], "t.branch_" + n, n
}

func (h *state) key() int64 { h.nextKey++; return h.nextKey }

// step does one thing to both.
func (h *state) step(r *rand.Rand) error {
	t, name, branch := h.branch(r)
	switch n := r.IntN(100); {
	case n < 22:
		return h.insert(r, t, name)
	case n < 26:
		return h.insertSelect(r, t, name)
	case n < 41:
		return h.delete(r, t, name)
	case n < 56:
		return h.update(r, t, name)
	case n < 74:
		return h.merge(r, t, name)
	case n < 80:
		return h.transaction(r)
	}
	if h.inTx {
		return nil // DDL is not for transactions
	}
	switch n := r.IntN(20); {
	case n < 3:
		return h.addColumn(r)
	case n < 4:
		return h.dropColumn(r)
	case n < 5:
		return h.renameColumn(r)
	case n < 6:
		return h.widen()
	case n < 8:
		return h.repartition(r)
	case n < 11:
		return h.refs(r)
	case n < 12 && branch == "main":
		t.rows = nil
		return h.exec("TRUNCATE t")
	case n < 14:
		p := []string{"delete", "update", "merge"}[r.IntN(3)]
		return h.exec(fmt.Sprintf("ALTER TABLE t SET TBLPROPERTIES ('write.%s.mode' = '%s')", p, []string{"copy-on-write", "merge-on-read"}[r.IntN(2)]))
	case n < 15 && h.version == 2 && r.IntN(3) == 0:
		h.version = 3
		h.rowIDs = map[int64]string{}
		return h.exec("ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3')")
	case n < 16 && len(t.cols) > 0:
		return h.exec("ALTER TABLE t WRITE ORDERED BY " + t.cols[r.IntN(len(t.cols))].name)
	case n < 17:
		return h.exec("ALTER TABLE t WRITE UNORDERED")
	case n >= 17:
		return h.maintain(r)
	}
	return nil
}

func (h *state) randomRow(r *rand.Rand, t *table) row {
	x := row{key: h.key()}
	for _, c := range t.cols {
		x.vals = append(x.vals, randomValue(r, c.kind))
	}
	return x
}

func (t *table) values(x row) string {
	s := "(" + strconv.FormatInt(x.key, 10)
	for i, v := range x.vals {
		s += ", " + literal(v, t.cols[i].kind)
	}
	return s + ")"
}

func (h *state) insert(r *rand.Rand, t *table, name string) error {
	var list []string
	for i := 1 + r.IntN(12); i > 0; i-- {
		x := h.randomRow(r, t)
		t.rows = append(t.rows, x)
		list = append(list, t.values(x))
	}
	return h.exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", name, t.selectList(), strings.Join(list, ", ")))
}

func (h *state) insertSelect(r *rand.Rand, t *table, name string) error {
	p := randomPred(r, t, 1)
	h.copies++
	off := h.copies * 1_000_000
	for _, x := range append([]row(nil), t.rows...) {
		if x.key < 1_000_000 && p.test(t, x) == yes {
			t.rows = append(t.rows, row{x.key + off, append([]*string(nil), x.vals...)})
		}
	}
	cols := strings.TrimPrefix(t.selectList(), "k")
	return h.exec(fmt.Sprintf("INSERT INTO %s (k%s) SELECT k + %d%s FROM %s WHERE k < 1000000 AND %s", name, cols, off, cols, name, p.in("")))
}

func (h *state) delete(r *rand.Rand, t *table, name string) error {
	p := randomPred(r, t, 2)
	if r.IntN(15) == 0 {
		p = always()
	}
	var left []row
	for _, x := range t.rows {
		if p.test(t, x) != yes {
			left = append(left, x)
		}
	}
	t.rows = left
	return h.exec(fmt.Sprintf("DELETE FROM %s WHERE %s", name, p.in("")))
}

// assignment is SET of one column, over the old row.
func (h *state) assignment(r *rand.Rand, t *table, qualifier string) (int, string, func(row) *string) {
	i := r.IntN(len(t.cols))
	c := t.cols[i]
	if c.kind == "text" && r.IntN(2) == 0 {
		return i, fmt.Sprintf("%s = substr(%s%s || '+', 1, 9)", c.name, qualifier, c.name), func(x row) *string {
			if x.vals[i] == nil {
				return nil
			}
			s := []rune(*x.vals[i] + "+")
			out := string(s[:min(9, len(s))])
			return &out
		}
	}
	v := randomValue(r, c.kind)
	return i, c.name + " = " + literal(v, c.kind), func(row) *string { return v }
}

func (h *state) update(r *rand.Rand, t *table, name string) error {
	if len(t.cols) == 0 {
		return nil
	}
	p := randomPred(r, t, 2)
	i, set, f := h.assignment(r, t, "")
	for k := range t.rows {
		if p.test(t, t.rows[k]) == yes {
			t.rows[k].vals = append([]*string(nil), t.rows[k].vals...)
			t.rows[k].vals[i] = f(t.rows[k])
		}
	}
	return h.exec(fmt.Sprintf("UPDATE %s SET %s WHERE %s", name, set, p.in("")))
}

// merge makes a source of some of the table's keys and some new ones.
func (h *state) merge(r *rand.Rand, t *table, name string) error {
	var src []row
	var list []string
	taken := map[int64]bool{}
	for i := 1 + r.IntN(8); i > 0; i-- {
		x := h.randomRow(r, t)
		if len(t.rows) > 0 && r.IntN(2) == 0 {
			x.key = t.rows[r.IntN(len(t.rows))].key
		}
		if taken[x.key] {
			continue
		}
		taken[x.key] = true
		src = append(src, x)
		list = append(list, t.values(x))
	}
	var sql strings.Builder
	names := "k"
	for _, c := range t.cols {
		names += ", " + c.name
	}
	fmt.Fprintf(&sql, "MERGE INTO %s AS t USING (VALUES %s) AS u (%s) ON t.k = u.k", name, strings.Join(list, ", "), names)
	type arm struct {
		cond pred
		do   func(old row, src row) (row, bool)
	}
	var matched, missing, alone []arm
	for i := r.IntN(3); i > 0; i-- {
		p := randomPred(r, t, 1)
		if r.IntN(2) == 0 {
			p = always()
		}
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&sql, " WHEN MATCHED AND %s THEN DELETE", p.in("t."))
			matched = append(matched, arm{p, func(row, row) (row, bool) { return row{}, false }})
		case 1:
			if len(t.cols) > 0 {
				k := r.IntN(len(t.cols))
				fmt.Fprintf(&sql, " WHEN MATCHED AND %s THEN UPDATE SET %s = u.%s", p.in("t."), t.cols[k].name, t.cols[k].name)
				matched = append(matched, arm{p, func(o, s row) (row, bool) {
					o.vals = append([]*string(nil), o.vals...)
					o.vals[k] = s.vals[k]
					return o, true
				}})
			}
		case 2:
			fmt.Fprintf(&sql, " WHEN MATCHED AND %s THEN UPDATE SET *", p.in("t."))
			matched = append(matched, arm{p, func(o, s row) (row, bool) { return s, true }})
		}
	}
	if r.IntN(3) > 0 || len(matched) == 0 {
		p := always()
		if r.IntN(3) == 0 {
			p = randomPred(r, t, 1)
		}
		fmt.Fprintf(&sql, " WHEN NOT MATCHED AND %s THEN INSERT *", p.in("u."))
		missing = append(missing, arm{p, func(_, s row) (row, bool) { return s, true }})
	}
	if r.IntN(4) == 0 && len(t.cols) > 0 {
		p := randomPred(r, t, 1)
		if r.IntN(2) == 0 {
			fmt.Fprintf(&sql, " WHEN NOT MATCHED BY SOURCE AND %s THEN DELETE", p.in("t."))
			alone = append(alone, arm{p, func(row, row) (row, bool) { return row{}, false }})
		} else {
			i, set, f := h.assignment(r, t, "t.")
			fmt.Fprintf(&sql, " WHEN NOT MATCHED BY SOURCE AND %s THEN UPDATE SET %s", p.in("t."), set)
			alone = append(alone, arm{p, func(o, _ row) (row, bool) {
				n := row{o.key, append([]*string(nil), o.vals...)}
				n.vals[i] = f(o)
				return n, true
			}})
		}
	}
	act := func(arms []arm, on, old, src row) (row, bool, bool) {
		for _, a := range arms {
			if a.cond.test(t, on) == yes {
				n, keep := a.do(old, src)
				return n, keep, true
			}
		}
		return old, true, false
	}
	var out []row
	met := map[int64]bool{}
	for _, x := range t.rows {
		var s *row
		for i := range src {
			if src[i].key == x.key {
				s = &src[i]
			}
		}
		var n row
		var keep bool
		if s != nil {
			met[x.key] = true
			n, keep, _ = act(matched, x, x, *s)
		} else {
			n, keep, _ = act(alone, x, x, row{})
		}
		if keep {
			out = append(out, n)
		}
	}
	for _, s := range src {
		if met[s.key] {
			continue
		}
		if n, _, did := act(missing, s, row{}, s); did {
			out = append(out, n)
		}
	}
	t.rows = out
	return h.exec(sql.String())
}

// each runs f on every branch's table: branches are read with the table's schema.
func (h *state) each(f func(*table)) {
	for _, t := range h.heads {
		f(t)
	}
}

func (h *state) addColumn(r *rand.Rand) error {
	h.names++
	c := column{fmt.Sprintf("c%d", h.names), []string{"int", "bigint", "text", "numeric(9,2)"}[r.IntN(4)], h.names}
	var def *string
	clause := ""
	if h.version == 3 && r.IntN(2) == 0 {
		if def = randomValue(r, c.kind); def != nil {
			clause = " DEFAULT " + literal(def, c.kind)
		}
	}
	h.each(func(t *table) {
		t.cols = append(t.cols, c)
		for i := range t.rows {
			t.rows[i].vals = append(t.rows[i].vals, def)
		}
	})
	return h.exec("ALTER TABLE t ADD COLUMN " + c.name + " " + c.kind + clause)
}

func (h *state) dropColumn(r *rand.Rand) error {
	main := h.heads["main"]
	if len(main.cols) < 4 {
		return nil
	}
	i := r.IntN(len(main.cols))
	q := "ALTER TABLE t DROP COLUMN " + main.cols[i].name
	if _, err := rows(context.Background(), h.s, q); err != nil {
		if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.DependentObjectsExist {
			return nil // partitioned or sorted by it
		}
		return fmt.Errorf("%s: %w", q, err)
	}
	h.script = append(h.script, q)
	h.each(func(t *table) {
		t.cols = append(append([]column(nil), t.cols[:i]...), t.cols[i+1:]...)
		for k := range t.rows {
			v := t.rows[k].vals
			t.rows[k].vals = append(append([]*string(nil), v[:i]...), v[i+1:]...)
		}
	})
	return nil
}

func (h *state) renameColumn(r *rand.Rand) error {
	main := h.heads["main"]
	i := r.IntN(len(main.cols))
	h.names++
	to := fmt.Sprintf("r%d", h.names)
	q := "ALTER TABLE t RENAME COLUMN " + main.cols[i].name + " TO " + to
	h.each(func(t *table) {
		t.cols = append([]column(nil), t.cols...)
		t.cols[i].name = to
	})
	return h.exec(q)
}

func (h *state) widen() error {
	for i, c := range h.heads["main"].cols {
		if c.kind != "int" {
			continue
		}
		h.each(func(t *table) {
			t.cols = append([]column(nil), t.cols...)
			t.cols[i].kind = "bigint"
		})
		return h.exec("ALTER TABLE t ALTER COLUMN " + c.name + " TYPE bigint")
	}
	return nil
}

func (h *state) repartition(r *rand.Rand) error {
	t := h.heads["main"]
	c := t.cols[r.IntN(len(t.cols))]
	f := []string{c.name, "bucket(3, " + c.name + ")", "truncate(5, " + c.name + ")", "bucket(2, k)"}[r.IntN(4)]
	list := ""
	if r.IntN(4) > 0 {
		list = "'" + f + "'"
	}
	return h.exec("ALTER TABLE t SET PROPERTIES partitioning = ARRAY[" + list + "]")
}

func (h *state) refs(r *rand.Rand) error {
	got, err := rows(context.Background(), h.s, "SELECT count(*) FROM t.snapshots")
	if err != nil || got[0] == "0" {
		return err
	}
	if got, err = rows(context.Background(), h.s, "SELECT count(*) FROM t.refs"); err != nil || got[0] == "0" {
		return err
	}
	switch _, open := h.heads["b"]; {
	case r.IntN(3) == 0:
		h.names++
		n := fmt.Sprintf("tag%d", h.names)
		id, err := h.headOf(context.Background(), "main")
		if err != nil {
			return err
		}
		h.tags[n] = h.past[id].clone()
		return h.exec("ALTER TABLE t CREATE TAG " + n)
	case !open:
		h.heads["b"] = h.heads["main"].clone()
		return h.exec("ALTER TABLE t CREATE BRANCH b")
	case r.IntN(2) == 0:
		delete(h.heads, "b")
		return h.exec("ALTER TABLE t DROP BRANCH b")
	}
	q := "ALTER BRANCH main IN TABLE t FAST FORWARD TO b"
	_, err = rows(context.Background(), h.s, q)
	if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.ObjectNotInPrerequisite {
		return nil // main went on
	}
	if err == nil {
		h.script = append(h.script, q)
		h.heads["main"] = h.heads["b"].clone()
		h.rowIDs = map[int64]string{}
	}
	return err
}

func (h *state) cloneHeads() map[string]*table {
	m := map[string]*table{}
	for n, t := range h.heads {
		m[n] = t.clone()
	}
	return m
}

// transaction begins or ends one.
func (h *state) transaction(r *rand.Rand) error {
	if !transactions {
		return nil
	}
	if !h.inTx {
		_, _, h.txBranch = h.branch(r)
		h.inTx, h.before, h.saved = true, h.cloneHeads(), nil
		return h.exec("BEGIN")
	}
	switch n := r.IntN(6); {
	case n < 1 && h.saved == nil:
		h.saved = h.cloneHeads()
		return h.exec("SAVEPOINT sp")
	case n < 3 && h.saved != nil:
		h.heads = h.saved
		h.saved = h.cloneHeads()
		return h.exec("ROLLBACK TO SAVEPOINT sp")
	case n < 4:
		h.inTx, h.heads = false, h.before
		return h.exec("ROLLBACK")
	}
	h.inTx = false
	return h.exec("COMMIT")
}

// check compares all that can be seen.
func (h *state) check(r *rand.Rand) error {
	ctx := context.Background()
	for n, t := range h.heads {
		name := "t"
		if n != "main" {
			name = "t.branch_" + n
		}
		if err := h.same(name, t, always()); err != nil {
			return err
		}
		if err := h.same(name, t, randomPred(r, t, 2)); err != nil {
			return err
		}
	}
	got, err := rows(ctx, h.s, "SELECT count(*) FROM t")
	if err != nil {
		return err
	}
	if want := strconv.Itoa(len(h.heads["main"].rows)); got[0] != want {
		return fmt.Errorf("count(*) is %s, want %s", got[0], want)
	}
	if h.inTx {
		return nil
	}
	for n, t := range h.tags {
		if r.IntN(4) == 0 {
			if err := h.same("t.tag_"+n, t, randomPred(r, t, 1)); err != nil {
				return err
			}
		}
	}
	if err := h.checkPast(ctx, r); err != nil {
		return err
	}
	return h.checkIdentity(ctx)
}

func (h *state) same(name string, t *table, p pred) error {
	q := fmt.Sprintf("SELECT %s FROM %s WHERE %s", t.selectList(), name, p.in(""))
	got, err := rows(context.Background(), h.s, q)
	if err != nil {
		return fmt.Errorf("%s: %s", q, errText(err))
	}
	sort.Strings(got)
	want := &table{cols: t.cols}
	for _, x := range t.rows {
		if p.test(t, x) == yes {
			want.rows = append(want.rows, x)
		}
	}
	if g := strings.Join(got, "\n"); g != want.text() {
		return fmt.Errorf("%s\n-- got:\n%s\n-- want:\n%s", q, g, want.text())
	}
	return nil
}

// headOf is a branch's snapshot, 0 if there is none.
func (h *state) headOf(ctx context.Context, branch string) (int64, error) {
	got, err := rows(ctx, h.s, "SELECT snapshot_id FROM t.refs WHERE name = '"+branch+"'")
	if err != nil || len(got) == 0 {
		return 0, err
	}
	return strconv.ParseInt(got[0], 10, 64)
}

// checkPast remembers the present and looks at one remembered snapshot: with the schema that it
// was made with.
func (h *state) checkPast(ctx context.Context, r *rand.Rand) error {
	for branch := range h.heads {
		id, err := h.headOf(ctx, branch)
		if err != nil || id == 0 {
			return err
		}
		if h.past[id] == nil {
			h.past[id] = h.heads[branch].clone()
		}
	}
	ids := make([]int64, 0, len(h.past))
	for id := range h.past {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, k int) bool { return ids[i] < ids[k] })
	pick := ids[r.IntN(len(ids))]
	t := h.past[pick]
	return h.same(fmt.Sprintf("t FOR VERSION AS OF %d", pick), t, randomPred(r, t, 1))
}

// checkIdentity: in format 3 a row keeps its id for as long as it lives, and no other has it.
func (h *state) checkIdentity(ctx context.Context) error {
	if h.version < 3 {
		return nil
	}
	got, err := rows(ctx, h.s, "SELECT k, _row_id FROM t")
	if err != nil {
		return err
	}
	now, owner := map[int64]string{}, map[string]int64{}
	for _, g := range got {
		ks, id, _ := strings.Cut(g, "|")
		k, _ := strconv.ParseInt(ks, 10, 64)
		if id == "NULL" {
			continue // written before the upgrade, and not touched since
		}
		if o, ok := owner[id]; ok {
			return fmt.Errorf("rows %d and %d both have _row_id %s", o, k, id)
		}
		if was, ok := h.rowIDs[k]; ok && was != id {
			return fmt.Errorf("row %d had _row_id %s, now %s", k, was, id)
		}
		now[k], owner[id] = id, k
	}
	h.rowIDs = now
	return nil
}

// checkSpec holds all tables below dir against the rules of the spec.
func checkSpec(ctx context.Context, dir string) error {
	c, err := lake.OpenCatalog(ctx, "lake", map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")})
	if err != nil {
		return err
	}
	defer c.Close()
	return speccheck.Catalog(ctx, c)
}
