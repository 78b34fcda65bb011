package planner

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

var unnest = []string{"unnest_subqueries", "decorrelate", "merge_projects", "choose_joins", "parameters", "prune_files"}

func decorrelated(b *builder, n plan.Node) string {
	b.t.Helper()
	return b.run(n, unnest...)
}

// EXISTS with an equality is a hash semi join; NOT EXISTS an anti join; other terms are the
// join's residual (TPC-H Q4, Q21, Q22).
func TestExists(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4", "s int4"), b.scan("r", "id int4", "s int4")
	sub := b.where(r, b.and(b.op("r.id", "=", "l.id"), b.op("r.s", "<>", "l.s")))
	expect(t, decorrelated(b, b.where(l, b.exists(sub))), `
		Hash Semi Join
		  Hash Cond: (l.id = r.id)
		  Join Filter: (r.s <> l.s)
		  ->  Scan on l
		        Files: 0/0
		  ->  Scan on r
		        Files: 0/0`)
	expect(t, decorrelated(b, b.where(l, not(b.exists(sub)))), `
		Hash Anti Join
		  Hash Cond: (l.id = r.id)
		  Join Filter: (r.s <> l.s)
		  ->  Scan on l
		        Files: 0/0
		  ->  Scan on r
		        Files: 0/0`)
}

// NOT IN keeps no row of the left side if the right side has a NULL: a mark join, unless
// neither side can be NULL.
func TestNotIn(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4")
	expect(t, decorrelated(b, b.where(l, not(b.in("l.id", r)))), `
		Project
		  Exprs: l.id
		  ->  Filter
		        Filter: (NOT any)
		        ->  Hash Mark Join
		              Hash Cond: (l.id = r.id)
		              ->  Scan on l
		                    Files: 0/0
		              ->  Scan on r
		                    Files: 0/0`)
	b = newBuilder(t)
	l, r = b.scan("l", "id int4!"), b.scan("r", "id int4!")
	expect(t, decorrelated(b, b.where(l, not(b.in("l.id", r)))), `
		Hash Anti Join
		  Hash Cond: (l.id = r.id)
		  ->  Scan on l
		        Files: 0/0
		  ->  Scan on r
		        Files: 0/0`)
}

// A correlated NOT IN must not let a NULL correlation key make the mark NULL: rows outside the
// subquery have no say.
func TestCorrelatedNotIn(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4", "k int4"), b.scan("r", "id int4", "k int4")
	sub := b.sel(b.where(r, b.op("r.k", "=", "l.k")), "r.id")
	expect(t, decorrelated(b, b.where(l, not(b.in("l.id", sub)))), `
		Project
		  Exprs: l.id, l.k
		  ->  Filter
		        Filter: (NOT any)
		        ->  Hash Mark Join
		              Hash Cond: (l.id = r.id) AND (l.k IS NOT DISTINCT FROM r.k)
		              ->  Scan on l
		                    Files: 0/0
		              ->  Filter
		                    Filter: (r.k IS NOT NULL)
		                    ->  Scan on r
		                          Files: 0/0`)
}

// A scalar aggregate is grouped by its correlation and joined (TPC-H Q2, Q17, Q20); count is 0
// where no group is found.
func TestScalarAggregate(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4", "q int4"), b.scan("r", "id int4", "q int4")
	sub := b.agg(b.where(r, b.op("r.id", "=", "l.id")), nil, "n", "count", nil)
	expect(t, decorrelated(b, b.sel(l, "l.id", "c", b.scalar(sub))), `
		Project
		  Exprs: l.id, COALESCE(n, 0) AS c
		  ->  Hash Left Join
		        Hash Cond: (l.id = r.id)
		        ->  Scan on l
		              Files: 0/0
		        ->  HashAggregate
		              Group Key: r.id
		              Aggregates: count(*)
		              ->  Scan on r
		                    Files: 0/0`)
}

// A correlation that is no equality goes through the distinct outer values.
func TestDomain(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4", "q int4")
	sub := b.agg(b.where(r, b.op("r.id", "<", "l.id")), nil, "m", "max", "r.q")
	got := decorrelated(b, b.sel(l, "l.id", "c", b.scalar(sub)))
	if strings.Contains(got, "Apply") || !strings.Contains(got, "IS NOT DISTINCT FROM") || !strings.Contains(got, "Unique") {
		t.Error(got)
	}
}

// LATERAL with LIMIT numbers the rows of each outer value.
func TestLateralLimit(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4", "q int4")
	right := &plan.Limit{Count: intConst(2), Input: &plan.Sort{
		Input: b.where(r, b.op("r.id", "=", "l.id")), Keys: []plan.SortKey{{Expr: b.e("r.q"), Desc: true}}}}
	got := decorrelated(b, &plan.Apply{Kind: plan.LeftJoin, Left: l, Right: right})
	if strings.Contains(got, "Apply") || !strings.Contains(got, "WindowAgg") || !strings.Contains(got, "<= ") {
		t.Error(got)
	}
}

// A scalar subquery that may make two rows stays able to fail.
func TestSingle(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4", "q int4")
	sub := b.sel(b.where(r, b.op("r.id", "=", "l.id")), "r.q")
	expect(t, decorrelated(b, b.sel(l, "l.id", "c", b.scalar(sub))), `
		Project
		  Exprs: l.id, r.q AS c
		  ->  Hash Single Join
		        Hash Cond: (l.id = r.id)
		        ->  Scan on l
		              Files: 0/0
		        ->  Scan on r
		              Files: 0/0`)
}

// A left lateral join whose right side is a constant must be NULL where nothing was found.
func TestLateralConstant(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4")
	right := b.sel(b.where(r, b.op("r.id", "=", "l.id")), "x", b.op("l.id", "+", 1))
	expect(t, decorrelated(b, &plan.Apply{Kind: plan.LeftJoin, Left: l, Right: right}), `
		Project
		  Exprs: l.id, CASE WHEN (found IS NOT NULL) THEN (l.id + 1) END AS x
		  ->  Hash Left Join
		        Hash Cond: (l.id = r.id)
		        ->  Scan on l
		              Files: 0/0
		        ->  Project
		              Exprs: r.id, true AS found
		              ->  Scan on r
		                    Files: 0/0`)
}

// A function in FROM that reads the left side makes its rows beside each left row.
func TestFunctionOfLeft(t *testing.T) {
	for kind, is := range map[plan.JoinKind]string{plan.InnerJoin: "ProjectSet", plan.LeftJoin: "ProjectSet Left Join"} {
		b := newBuilder(t)
		l := b.scan("l", "id int4")
		f := &plan.FuncScan{Calls: []*plan.Call{{Func: &plan.Function{Name: "generate_series", Kind: plan.SetFunc, Strict: true, Volatility: plan.Immutable},
			Args: []plan.Expr{b.e(1), b.e("l.id")}, Typ: types.T(types.Int4)}}, Cols: []plan.Column{b.col("g", types.T(types.Int4))}}
		expect(t, decorrelated(b, &plan.Apply{Kind: kind, Left: l, Right: f}), `
		`+is+`
		  Exprs: id, generate_series(1, id) AS g
		  ->  Scan on l
		        Files: 0/0`)
	}
}
