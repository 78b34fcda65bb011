package planner

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// A plan means what the bound plan meant: random queries with subqueries of every kind, nested
// and correlated at any depth, outer joins, aggregates and set operations, over small tables
// full of NULLs and duplicates, run by definition before and after planning.

type queryMaker struct {
	*builder
	r    *rand.Rand
	n    int
	rows map[string][][]types.Datum
}

func (q *queryMaker) table() *plan.Scan {
	q.n++
	name := fmt.Sprint("t", q.n)
	var rows [][]types.Datum
	for i := 0; i < q.r.Intn(5); i++ {
		row := make([]types.Datum, 2)
		for j := range row {
			if q.r.Intn(4) > 0 {
				row[j] = types.NewInt(int64(q.r.Intn(4)))
			}
		}
		rows = append(rows, row)
	}
	q.rows[name] = rows
	s := q.scan(name, "a int4", "b int4")
	s.Snapshot = nil
	return s
}

// value is a column of those in reach, or a constant.
func (q *queryMaker) value(cols []plan.Column) plan.Expr {
	if len(cols) == 0 || q.r.Intn(5) == 0 {
		return q.e(q.r.Intn(4))
	}
	return plan.ColOf(cols[q.r.Intn(len(cols))])
}

func (q *queryMaker) cond(cols, outer []plan.Column, depth int) plan.Expr {
	all := append(append([]plan.Column(nil), cols...), outer...)
	switch k := q.r.Intn(12); {
	case k < 4, depth == 0 && k > 7:
		x, y := q.value(cols), q.value(all)
		if len(outer) > 0 && q.r.Intn(2) == 0 {
			y = q.value(outer)
		}
		return q.op(x, []string{"=", "=", "=", "<", "<>"}[q.r.Intn(5)], y)
	case k == 4:
		return &plan.IsNull{X: q.value(all), Negate: q.r.Intn(2) == 0}
	case k == 5:
		return not(q.cond(cols, outer, depth))
	case k == 6:
		return q.or(q.cond(cols, outer, depth), q.cond(cols, outer, depth))
	case k == 7:
		return q.and(q.cond(cols, outer, depth), q.cond(cols, outer, depth))
	case k == 8:
		return q.exists(q.query(all, depth-1))
	case k == 9:
		return q.op(q.value(all), []string{"=", "<"}[q.r.Intn(2)], q.scalar(q.one(all, depth-1)))
	}
	s := q.in(q.value(all), q.one(all, depth-1)).(*plan.Subquery)
	if q.r.Intn(4) == 0 {
		s.Kind = plan.AllSubquery
	}
	return s
}

// one is a query of one int4 column, often an aggregate or limited.
func (q *queryMaker) one(outer []plan.Column, depth int) plan.Node {
	in := q.query(outer, depth)
	cols := in.Columns()
	switch q.r.Intn(4) {
	case 0, 1:
		f := []string{"count", "max", "sum"}[q.r.Intn(3)]
		a := q.agg(in, nil, fmt.Sprint("g", q.last), f, q.value(cols))
		if f == "count" { // int8: back to int4
			e := &plan.Cast{X: plan.ColOf(a.Aggs[0].Out), Typ: types.T(types.Int4), Context: plan.Explicit, Pos: -1}
			return q.sel(a, fmt.Sprint("c", q.last), e)
		}
		return a
	case 2: // ordered by everything, so that which row is first is no accident
		var keys []plan.SortKey
		for _, c := range cols {
			keys = append(keys, plan.SortKey{Expr: plan.ColOf(c), Desc: q.r.Intn(2) == 0})
		}
		in = &plan.Limit{Count: intConst(int64(1 + q.r.Intn(2))), Input: &plan.Sort{Input: in, Keys: keys}}
	}
	x := q.value(append(append([]plan.Column(nil), cols...), outer...))
	return q.sel(in, fmt.Sprint("x", q.last), x)
}

func (q *queryMaker) query(outer []plan.Column, depth int) plan.Node {
	var n plan.Node = q.table()
	switch q.r.Intn(6) {
	case 0:
		r := q.table()
		kind := []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.RightJoin, plan.FullJoin}[q.r.Intn(4)]
		d := depth
		if kind == plan.FullJoin {
			d = 0
		}
		n = q.join(kind, n, r, q.cond(append(n.Columns(), r.Columns()...), outer, d))
	case 1:
		if depth > 0 {
			kind := []plan.JoinKind{plan.InnerJoin, plan.LeftJoin}[q.r.Intn(2)]
			n = &plan.Apply{Kind: kind, Left: n, Right: q.query(append(n.Columns(), outer...), depth-1)}
		}
	}
	if q.r.Intn(4) > 0 {
		n = q.where(n, q.cond(n.Columns(), outer, depth))
	}
	switch q.r.Intn(8) {
	case 0:
		a := n.Columns()[0]
		g := &plan.Aggregate{Input: n, Groups: []plan.Named{{Col: a, Expr: plan.ColOf(a)}}}
		c := q.agg(n, nil, fmt.Sprint("s", q.last), "sum", q.value(n.Columns()))
		g.Aggs = c.Aggs
		n = g
		if q.r.Intn(2) == 0 {
			n = q.where(n, q.cond(n.Columns(), outer, 0))
		}
	case 1:
		n = &plan.Distinct{Input: n}
	case 2:
		m := q.table()
		l := q.sel(n, fmt.Sprint("l", q.last), plan.ColOf(n.Columns()[0]), fmt.Sprint("m", q.last), q.value(append(n.Columns(), outer...)))
		n = &plan.SetOp{Kind: plan.SetOpKind(q.r.Intn(3)), Left: l, Right: m,
			Cols: []plan.Column{q.col(fmt.Sprint("u", q.last), types.T(types.Int4)), q.col(fmt.Sprint("v", q.last), types.T(types.Int4))}}
	case 3:
		if depth > 0 {
			n = q.sel(n, fmt.Sprint("p", q.last), plan.ColOf(n.Columns()[0]), fmt.Sprint("q", q.last), q.scalar(q.one(append(n.Columns(), outer...), depth-1)))
		}
	}
	return n
}

var compared int

func TestEquivalence(t *testing.T) {
	seed := int64(testseed.Of(t))
	rounds := 4000
	if testing.Short() {
		rounds = 500
	}
	applies := 0
	start := time.Now()
	for i := 0; i < rounds && !t.Failed() && time.Since(start) < 6*time.Second; i++ {
		applies += equivalent(t, seed+int64(i))
	}
	t.Logf("%d plans compared, %d kept an Apply", compared, applies)
}

// equivalent plans one random query and compares the answers.
func equivalent(t *testing.T, seed int64) (applies int) {
	b := newBuilder(t)
	q := &queryMaker{builder: b, r: rand.New(rand.NewSource(seed)), rows: map[string][][]types.Datum{}}
	n := q.query(nil, 2)
	env := b.env()
	o := &oracle{ctx: env.Eval, rows: q.rows}
	want, err := o.run(n)
	if err != nil {
		return 0 // more than one row, an overflow: which of several errors shows is not promised
	}
	compared++
	for _, disable := range []string{"", "decorrelate", "push_filters", "order_joins", "merge_projects", "outer_to_inner"} {
		env = b.env()
		env.Disable = map[string]bool{disable: true}
		start := time.Now()
		m, err := Plan(env, n)
		if err != nil {
			t.Errorf("seed %d without %q: %v", seed, disable, err)
			return 0
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("seed %d without %q: planning took %v", seed, disable, took)
		}
		o.work = 0
		got, err := o.run(m)
		if err != nil {
			if e := err.Error(); e == "more than one row" || e == "too long" {
				continue // a subquery under OR or CASE that need not have been evaluated
			}
			t.Errorf("seed %d without %q: %v", seed, disable, err)
			return 0
		}
		if a, b := sorted(want), sorted(got); a != b {
			t.Errorf("seed %d without %q: answer is\n%s\nnot\n%s\nbound plan\n%s\nplanned\n%s", seed, disable, b, a,
				ExplainText(n, ExplainOptions{}), ExplainText(m, ExplainOptions{}))
			return 0
		}
		if disable == "" && strings.Contains(ExplainText(m, ExplainOptions{}), "Apply ") {
			applies = 1
		}
	}
	return applies
}

func sorted(rows []string) string {
	rows = append([]string(nil), rows...)
	sort.Strings(rows)
	return strings.Join(rows, "\n")
}
