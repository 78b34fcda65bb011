package planner

import "github.com/lhsql/lhsql/plan"

// inlineCTEs puts a CTE's plan in place of its only reference, so that filters reach into it.
// A CTE that is referenced more often stays, computed once; a recursive or volatile one too, and a
// volatile one that a recursive term reads again and again.
// A CTE that nobody reads disappears.
//
// One that reads an enclosing query's columns is inlined always (copied per reference): a
// store that is filled once cannot hold rows that differ per outer row.
func inlineCTEs(env *Env, n plan.Node) (plan.Node, error) {
	// Inlining one CTE may leave another with a single reference: until nothing changes.
	for {
		refs, inStep := map[*plan.CTE]int{}, map[*plan.CTE]bool{}
		plan.Walk(n, func(m plan.Node) {
			switch m := m.(type) {
			case *plan.CTERef:
				refs[m.CTE]++
			case *plan.With:
				for _, c := range m.CTEs {
					if c.Step != nil {
						plan.Walk(c.Step, func(x plan.Node) {
							if r, ok := x.(*plan.CTERef); ok {
								inStep[r.CTE] = true
							}
						})
					}
				}
			}
		})
		inline := map[*plan.CTE]bool{}
		any := false
		plan.Walk(n, func(m plan.Node) {
			w, ok := m.(*plan.With)
			if !ok {
				return
			}
			for _, c := range w.CTEs {
				env.alive()
				correlated := len(plan.Free(c.Plan)) > 0
				if c.Step == nil && (refs[c] <= 1 && !plan.NodeVolatile(c.Plan) && !c.Materialized ||
					refs[c] == 1 && !c.Materialized && !(inStep[c] && plan.NodeVolatile(c.Plan)) || correlated || c.NotMaterialized) {
					inline[c] = true
					any = true
				}
			}
		})
		if !any {
			return n, nil
		}
		n = env.replaceCTEs(n, inline)
	}
}

// replaceCTEs works on With nodes innermost first: a CTE's plan that holds references to
// earlier CTEs keeps them.
func (env *Env) replaceCTEs(n plan.Node, inline map[*plan.CTE]bool) plan.Node {
	// Rewrite copies CTEs, so we recognise ours by walking top-down ourselves.
	var node func(plan.Node) plan.Node
	expr := func(e plan.Expr) plan.Expr {
		return plan.MapExpr(e, func(x plan.Expr) plan.Expr {
			if s, ok := x.(*plan.Subquery); ok {
				t := *s
				t.Plan = node(s.Plan)
				return &t
			}
			return x
		})
	}
	used := map[*plan.CTE]bool{}
	node = func(m plan.Node) plan.Node {
		env.alive()
		switch m := m.(type) {
		case *plan.CTERef:
			if !inline[m.CTE] || m.Work {
				return m
			}
			p, ids := node(m.CTE.Plan), map[plan.ColID]plan.ColID(nil)
			if used[m.CTE] {
				p, ids = plan.Clone(p, env.fresh)
			}
			used[m.CTE] = true
			exprs := make([]plan.Named, len(m.Cols))
			for i, c := range m.CTE.Plan.Columns() {
				if ids != nil {
					c.ID = ids[c.ID]
				}
				exprs[i] = plan.Named{Col: m.Cols[i], Expr: plan.ColOf(c)}
			}
			return &plan.Project{Input: p, Exprs: exprs}
		case *plan.With:
			var keep []*plan.CTE
			for _, c := range m.CTEs {
				if inline[c] {
					continue
				}
				c.Plan = node(c.Plan)
				if c.Step != nil {
					c.Step = node(c.Step)
				}
				keep = append(keep, c)
			}
			body := node(m.Body)
			if len(keep) == 0 {
				return body
			}
			return &plan.With{CTEs: keep, Body: body}
		}
		if in := m.Inputs(); len(in) > 0 {
			out := make([]plan.Node, len(in))
			for i := range in {
				out[i] = node(in[i])
			}
			m = m.WithInputs(out...)
		}
		return plan.MapNodeExprs(m, expr)
	}
	return node(n)
}
