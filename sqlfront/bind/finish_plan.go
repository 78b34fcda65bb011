package bind

import (
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// finishPlan settles what is known only when the whole statement is bound: the types of
// parameters that were met before they were typed, and which CTEs have one reader.
func (b *binder) finishPlan(n plan.Node) plan.Node {
	if b.loose {
		n = plan.Rewrite(n, nil, func(e plan.Expr) plan.Expr {
			if p, ok := e.(*plan.Param); ok && p.Typ.Kind == types.Unknown {
				return &plan.Param{Index: p.Index, Typ: b.params[p.Index-1]}
			}
			return e
		})
	}
	n = inlineCTEs(n)
	if invariant.Enabled {
		err := plan.Verify(n)
		invariant.Check(err == nil, "bind made a bad plan: %v", err)
	}
	return n
}

// inlineCTEs puts a CTE that is read once in the place where it is read, as PostgreSQL does
// since 12, so that predicates reach its scans:
//
//	WITH c AS (q) … FROM c   →   … FROM (q)
//
// Not if it is volatile, for it might then be evaluated another number of times (under an
// Apply), and not if it is recursive or MATERIALIZED.
func inlineCTEs(n plan.Node) plan.Node {
	readers := map[*plan.CTE]int{}
	any := false
	plan.Walk(n, func(m plan.Node) {
		switch m := m.(type) {
		case *plan.CTERef:
			readers[m.CTE]++
		case *plan.With:
			any = true
		}
	})
	if !any {
		return n
	}
	once := map[*plan.CTE]plan.Node{}
	var expand func(n plan.Node) plan.Node
	expandExpr := func(e plan.Expr) plan.Expr {
		return plan.MapExpr(e, func(x plan.Expr) plan.Expr {
			if s, ok := x.(*plan.Subquery); ok {
				t := *s
				t.Plan = expand(s.Plan)
				return &t
			}
			return x
		})
	}
	expand = func(n plan.Node) plan.Node {
		switch m := n.(type) {
		case *plan.With:
			var keep []*plan.CTE
			for _, c := range m.CTEs {
				c.Plan = expand(c.Plan)
				if c.Step != nil {
					c.Step = expand(c.Step)
				}
				if c.Step == nil && !c.Materialized && readers[c] == 1 && !plan.NodeVolatile(c.Plan) {
					once[c] = c.Plan
					continue
				}
				keep = append(keep, c)
			}
			body := expand(m.Body)
			if len(keep) == 0 {
				return body
			}
			return &plan.With{CTEs: keep, Body: body}
		case *plan.CTERef:
			q, ok := once[m.CTE]
			if !ok {
				return m
			}
			p := &plan.Project{Input: q}
			for i, c := range q.Columns() {
				p.Exprs = append(p.Exprs, plan.Named{Col: m.Cols[i], Expr: plan.ColOf(c)})
			}
			return p
		}
		if in := n.Inputs(); len(in) > 0 {
			out := make([]plan.Node, len(in))
			changed := false
			for i := range in {
				out[i] = expand(in[i])
				changed = changed || out[i] != in[i]
			}
			if changed {
				n = n.WithInputs(out...)
			}
		}
		if hasSubquery(n) {
			n = plan.MapNodeExprs(n, expandExpr)
		}
		return n
	}
	return expand(n)
}

func hasSubquery(n plan.Node) bool {
	found := false
	plan.NodeExprs(n, func(e plan.Expr) { found = found || plan.HasSubquery(e) })
	return found
}
