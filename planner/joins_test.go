package planner

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/plan"
)

// A star of joins written in an unlucky order is joined small side first, probing with the
// facts, whose scan is told the keys of the filtered dimension.
func TestOrderJoins(t *testing.T) {
	b := newBuilder(t)
	line := b.sized(b.scan("line", "okey int4", "skey int4", "qty int4"), 6000000, 1500000, 10000, 50)
	orders := b.sized(b.scan("orders", "okey int4", "ckey int4", "pri int4"), 1500000, 1500000, 150000, 5)
	cust := b.sized(b.scan("cust", "ckey int4", "nkey int4"), 150000, 150000, 25)
	nation := b.sized(b.scan("nation", "nkey int4", "name text"), 25, 25)
	n := b.join(plan.InnerJoin, b.join(plan.InnerJoin, b.join(plan.InnerJoin, line, nation, nil), cust, b.op("nation.nkey", "=", "cust.nkey")), orders,
		b.and(b.op("orders.okey", "=", "line.okey"), b.op("orders.ckey", "=", "cust.ckey"), b.op("nation.name", "=", "'PERU'")))
	got := b.run(b.sel(n, "line.qty", "cust.ckey"))
	if strings.Contains(got, "Nested Loop") {
		t.Errorf("a product is left:\n%s", got)
	}
	if !strings.Contains(got, "Runtime Filter: line.okey") || !strings.Contains(got, "Runtime Filter: cust.nkey") {
		t.Errorf("scans are told nothing:\n%s", got)
	}
	// line is probed first, on the left.
	if i, j := strings.Index(got, "Scan on line"), strings.Index(got, "Scan on nation"); i < 0 || j < i {
		t.Error(got)
	}
}

// Who may lose probe rows: not the kept side of an outer join.
func TestRuntimeFilterKinds(t *testing.T) {
	for kind, want := range map[plan.JoinKind]bool{plan.InnerJoin: true, plan.SemiJoin: true, plan.LeftJoin: false, plan.AntiJoin: false} {
		b := newBuilder(t)
		l := b.sized(b.scan("l", "id int4"), 1000000, 1000000)
		r := b.sized(b.scan("r", "id int4", "x int4"), 100000, 1000000, 10)
		got := b.run(b.join(kind, l, b.where(r, b.op("r.x", "=", 1)), b.op("l.id", "=", "r.id")))
		if strings.Contains(got, "Runtime Filter") != want {
			t.Errorf("kind %d:\n%s", kind, got)
		}
	}
}

// ORDER BY with LIMIT keeps the first rows only; UNION ALL and outer joins take the limit too.
func TestLimits(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4")
	lim := &plan.Limit{Input: &plan.Sort{Input: s, Keys: []plan.SortKey{{Expr: b.e("s.a")}}}, Count: intConst(3), Offset: intConst(2)}
	expect(t, b.run(lim), `
		Limit
		  Count: 3
		  Offset: 2
		  ->  Top-N Sort
		        Sort Key: a
		        Limit: 5
		        ->  Scan on s
		              Files: 0/0`)
	r := b.scan("r", "a int4")
	got := b.run(&plan.Limit{Input: b.join(plan.LeftJoin, s, r, b.op("s.a", "=", "r.a")), Count: intConst(3)})
	if strings.Count(got, "Count: 3") != 2 {
		t.Error(got)
	}
	got = b.run(&plan.Limit{Input: b.join(plan.InnerJoin, s, r, b.op("s.a", "=", "r.a")), Count: intConst(3)})
	if strings.Count(got, "Count: 3") != 1 {
		t.Error(got)
	}
}

// Every pass can be left out, but those that exec needs; JSON says what text says.
func TestDisableAndJSON(t *testing.T) {
	b := newBuilder(t)
	l, r := b.scan("l", "id int4"), b.scan("r", "id int4")
	n := b.where(b.join(plan.InnerJoin, l, r, nil), b.op("l.id", "=", "r.id"))
	env := b.env()
	env.Disable = map[string]bool{}
	for _, p := range Passes {
		env.Disable[p.Name] = true
	}
	m, err := Plan(env, n)
	if err != nil {
		t.Fatal(err)
	}
	if got := ExplainText(m, ExplainOptions{}); !strings.HasPrefix(got, "Filter\n") || !strings.Contains(got, "Nested Loop Join") {
		t.Error(got)
	}
	js, err := ExplainJSON(b.plan(b.env(), n), ExplainOptions{Costs: true})
	if err != nil || !strings.Contains(js, `"Hash Cond": "(l.id = r.id)"`) || !strings.Contains(js, `"Node Type": "Iceberg Scan"`) {
		t.Error(js, err)
	}
}
