package planner

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

func pushed(b *builder, n plan.Node, more ...string) string {
	b.t.Helper()
	return b.run(n, append([]string{"parameters", "unnest_subqueries", "prune_files", "choose_joins", "push_filters"}, more...)...)
}

// Above a left join a term on the left side goes down, one on the right side stays.
func TestPushLeftJoin(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4", "x int4"), b.scan("r", "id int4", "x int4")
	j := b.join(plan.LeftJoin, l, r, b.and(b.op("l.id", "=", "r.id"), b.op("r.x", ">", 5), b.op("l.x", "<", 3)))
	n := b.where(j, b.and(b.op("l.x", ">", 1), &plan.IsNull{X: b.e("r.x")}))
	expect(t, pushed(b, n), `
		Filter
		  Filter: (r.x IS NULL)
		  ->  Hash Left Join
		        Hash Cond: (l.id = r.id)
		        Join Filter: (l.x < 3)
		        ->  Scan on l
		              Filter: (l.x > 1)
		              Files: 0/0
		        ->  Scan on r
		              Filter: (r.x > 5)
		              Files: 0/0`)
}

// A predicate that rejects NULL makes the outer join inner; IS NULL does not.
func TestOuterToInner(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4", "x int4")
	j := b.join(plan.LeftJoin, l, r, b.op("l.id", "=", "r.id"))
	if got := pushed(b, b.where(j, b.op("r.x", ">", 1)), "outer_to_inner"); !strings.HasPrefix(got, "Hash Join\n") {
		t.Error(got)
	}
	if got := pushed(b, b.where(j, &plan.IsNull{X: b.e("r.x")}), "outer_to_inner"); !strings.Contains(got, "Hash Left Join") {
		t.Error(got)
	}
	full := b.join(plan.FullJoin, l, r, b.op("l.id", "=", "r.id"))
	if got := pushed(b, b.where(full, b.op("l.id", ">", 1)), "outer_to_inner"); !strings.Contains(got, "Hash Left Join") {
		t.Error(got)
	}
	if got := pushed(b, b.where(full, b.or(b.op("l.id", ">", 1), b.op("r.x", ">", 1))), "outer_to_inner"); !strings.Contains(got, "Hash Full Join") {
		t.Error(got)
	}
	// Under a LIMIT the rows that will be rejected still count.
	lim := &plan.Limit{Input: j, Count: intConst(5)}
	if got := pushed(b, b.where(lim, b.op("r.x", ">", 1)), "outer_to_inner"); !strings.Contains(got, "Hash Left Join") {
		t.Error(got)
	}
}

// Common terms of an OR become keys and filters (TPC-H Q19), one-sided ones reach the scans (Q7).
func TestFactor(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "k int4", "a int4"), b.scan("r", "k int4", "b int4")
	key := b.op("l.k", "=", "r.k")
	p := b.or(b.and(key, b.op("l.a", "=", 1), b.op("r.b", "=", 2)), b.and(key, b.op("l.a", "=", 2), b.op("r.b", "=", 1)))
	expect(t, pushed(b, b.where(b.join(plan.InnerJoin, l, r, nil), p), "factor_predicates"), `
		Hash Join
		  Hash Cond: (l.k = r.k)
		  Join Filter: (((l.a = 1) AND (r.b = 2)) OR ((l.a = 2) AND (r.b = 1)))
		  ->  Scan on l
		        Filter: ((l.a = 1) OR (l.a = 2))
		        Files: 0/0
		  ->  Scan on r
		        Filter: ((r.b = 2) OR (r.b = 1))
		        Files: 0/0`)
}

// What is known of one side of an equality is known of the other, on the side that may lose
// rows.
func TestTransitive(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "k int4"), b.scan("r", "k int4")
	on := b.op("l.k", "=", "r.k")
	for kind, right := range map[plan.JoinKind]bool{plan.InnerJoin: true, plan.LeftJoin: true, plan.FullJoin: false} {
		got := pushed(b, b.where(b.join(kind, l, r, on), b.op("l.k", "=", 7)))
		if strings.Contains(got, "r.k = 7") != right {
			t.Errorf("kind %d:\n%s", kind, got)
		}
	}
}

// Group columns' predicates go below the aggregate, others stay; never below one without groups.
func TestPushAggregate(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "g int4", "x int4")
	a := b.agg(s, []string{"s.g"}, "n", "count", nil)
	expect(t, pushed(b, b.where(a, b.and(b.op("s.g", "=", 1), b.op("n", ">", 5)))), `
		Filter
		  Filter: (n > 5)
		  ->  HashAggregate
		        Group Key: g
		        Aggregates: count(*)
		        ->  Scan on s
		              Filter: (g = 1)
		              Files: 0/0`)
}

// A window keeps its rows, except for whole partitions.
func TestPushWindow(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "g int4", "x int4")
	w := &plan.Window{Input: s, Partition: []plan.Expr{b.e("s.g")}, Calls: []plan.WindowCall{{
		Func: &plan.Function{Name: "row_number", Kind: plan.WindowFunc}, Out: b.col("rn", types.T(types.Int8))}}}
	got := pushed(b, b.where(w, b.and(b.op("s.g", "=", 1), b.op("s.x", "=", 2))))
	if !strings.Contains(got, "Filter: (g = 1)\n") || !strings.HasPrefix(got, "Filter\n  Filter: (x = 2)") {
		t.Error(got)
	}
}

// Both sides of a union get the filter; LIMIT stops it.
func TestPushSetOp(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "x int4"), b.scan("r", "y int4")
	u := &plan.SetOp{Kind: plan.Union, All: true, Left: l, Right: r, Cols: []plan.Column{b.col("u", types.T(types.Int4))}}
	got := pushed(b, b.where(u, b.op("u", ">", 1)))
	if !strings.Contains(got, "l.x > 1") || !strings.Contains(got, "r.y > 1") {
		t.Error(got)
	}
	got = pushed(b, b.where(&plan.Limit{Input: l, Count: intConst(1)}, b.op("l.x", ">", 1)))
	if !strings.HasPrefix(got, "Filter\n") {
		t.Error(got)
	}
}

// Columns that only the predicate reads do not leave the scan.
func TestPruneColumns(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4", "b int4", "c int4")
	n := b.plan(b.env(), b.sel(b.where(s, b.op("s.b", ">", 1)), "s.a"), "parameters", "unnest_subqueries", "prune_files", "choose_joins", "push_filters", "prune_columns", "merge_projects")
	var scan *plan.Scan
	plan.Walk(n, func(m plan.Node) {
		if x, ok := m.(*plan.Scan); ok {
			scan = x
		}
	})
	if len(scan.Cols) != 1 || scan.Cols[0].Name != "a" || len(scan.PredCols) != 1 || scan.PredCols[0].Name != "b" {
		t.Errorf("%v %v", scan.Cols, scan.PredCols)
	}
}

// An expression that fails stays where it is; it may never be reached.
func TestFoldErrors(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4")
	got := b.run(b.sel(s, "x", b.op(1, "/", 0), "y", b.op(2, "*", 3)), "parameters", "unnest_subqueries", "prune_files", "choose_joins", "fold")
	expect(t, got, `
		Project
		  Exprs: (1 / 0) AS x, 6 AS y
		  ->  Scan on s
		        Files: 0/0`)
}
