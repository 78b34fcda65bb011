package exec

import (
	"github.com/lhsql/lhsql/plan"
)

// rebind copies n for another run, with outer columns replaced by constants. What a run writes
// to its plan is made anew: run-time filters (the last run's keys do not hold for this one) and
// CTEs (theirs may depend on outer columns).
func rebind(n plan.Node, outer map[plan.ColID]*plan.Const) plan.Node {
	r := &rebinder{outer: outer, ctes: map[*plan.CTE]*plan.CTE{}, filters: map[*plan.RuntimeFilter]*plan.RuntimeFilter{}}
	return r.node(n)
}

type rebinder struct {
	outer   map[plan.ColID]*plan.Const
	ctes    map[*plan.CTE]*plan.CTE
	filters map[*plan.RuntimeFilter]*plan.RuntimeFilter
}

func (r *rebinder) expr(e plan.Expr) plan.Expr {
	if len(r.outer) == 0 {
		return e
	}
	return plan.MapExpr(e, func(e plan.Expr) plan.Expr {
		if c, ok := e.(*plan.Col); ok {
			if k, ok := r.outer[c.ID]; ok {
				return k
			}
		}
		return e
	})
}

func (r *rebinder) filterList(in []*plan.RuntimeFilter) []*plan.RuntimeFilter {
	if in == nil {
		return nil
	}
	out := make([]*plan.RuntimeFilter, len(in))
	for i, f := range in {
		if f == nil {
			continue
		}
		if r.filters[f] == nil {
			r.filters[f] = &plan.RuntimeFilter{Expr: r.expr(f.Expr)}
		}
		out[i] = r.filters[f]
	}
	return out
}

func (r *rebinder) node(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.With:
		// CTERef nodes point to their CTE, so the copies come first.
		m := &plan.With{}
		for _, c := range n.CTEs {
			d := *c
			r.ctes[c] = &d
			m.CTEs = append(m.CTEs, &d)
		}
		for _, c := range m.CTEs {
			c.Plan = r.node(c.Plan)
			if c.Step != nil {
				c.Step = r.node(c.Step)
			}
		}
		m.Body = r.node(n.Body)
		return m
	case *plan.CTERef:
		m := *n
		if c := r.ctes[n.CTE]; c != nil {
			m.CTE = c
		}
		return &m
	}
	in := n.Inputs()
	if len(in) > 0 {
		out := make([]plan.Node, len(in))
		for i, c := range in {
			out[i] = r.node(c)
		}
		n = n.WithInputs(out...)
	}
	n = plan.MapNodeExprs(n, r.expr)
	switch n := n.(type) { // a copy by now
	case *plan.Join:
		n.Filters = r.filterList(n.Filters)
	case *plan.Virtual:
		n.RuntimeFilters = r.filterList(n.RuntimeFilters)
	case *plan.Scan:
		n.RuntimeFilters = r.filterList(n.RuntimeFilters)
		tasks := append([]plan.FileTask(nil), n.Tasks...)
		for i := range tasks {
			if tasks[i].Residual != nil {
				tasks[i].Residual = r.expr(tasks[i].Residual)
			}
		}
		n.Tasks = tasks
	}
	return n
}

// outerColumns lists which of cols the expressions of n refer to.
func outerColumns(n plan.Node, cols []plan.Column) []int {
	used := map[plan.ColID]bool{}
	note := func(e plan.Expr) {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			if c, ok := e.(*plan.Col); ok {
				used[c.ID] = true
			}
			return true
		})
	}
	plan.Walk(n, func(m plan.Node) {
		plan.NodeExprs(m, note)
		if s, ok := m.(*plan.Scan); ok {
			for _, t := range s.Tasks {
				if t.Residual != nil {
					note(t.Residual)
				}
			}
		}
	})
	var at []int
	for i, c := range cols {
		if used[c.ID] {
			at = append(at, i)
		}
	}
	return at
}
