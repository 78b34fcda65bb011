package planner

import "github.com/lhsql/lhsql/plan"

// liftProjects moves an expression that can fail from below a join to above it, where the rows
// that the join drops are gone:
//
//	π(10/v)(L) ⋈ R  →  π(10/v)(L ⋈ R)
//
// The other way round 10/v would fail at a v = 0 that has no partner. It stays where the join's
// own condition reads it, and on the side that an outer join fills with NULLs.
func liftProjects(env *Env, n plan.Node) (plan.Node, error) {
	lifted := false
	n, err := env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		j, ok := n.(*plan.Join)
		if !ok {
			return n, nil
		}
		left, right := true, false
		switch j.Kind {
		case plan.InnerJoin:
			right = true
		case plan.RightJoin:
			left, right = false, true
		case plan.FullJoin:
			left = false
		}
		used := plan.ExprCols(j.On, j.Rest, j.Guard).Union(plan.ExprCols(j.LeftKeys...)).Union(plan.ExprCols(j.RightKeys...))
		m := *j
		up := map[plan.ColID]plan.Expr{}
		if left {
			m.Left = liftFrom(j.Left, used, up)
		}
		if right {
			m.Right = liftFrom(j.Right, used, up)
		}
		if len(up) == 0 {
			return n, nil
		}
		lifted = true
		exprs := passThrough(j.Columns())
		for i := range exprs {
			if e := up[exprs[i].Col.ID]; e != nil {
				exprs[i].Expr = e
			}
		}
		return &plan.Project{Input: &m, Exprs: exprs}, nil
	})
	if lifted && err == nil {
		n = mergeTree(n, true)
	}
	return n, err
}

// liftFrom takes from a projection what can fail and is not used, into up, and passes on what
// that reads.
func liftFrom(n plan.Node, used plan.ColSet, up map[plan.ColID]plan.Expr) plan.Node {
	p, ok := n.(*plan.Project)
	if !ok {
		return n
	}
	var kept []plan.Named
	made := plan.ColSet{}
	var moved []plan.Expr
	for _, e := range p.Exprs {
		if !used.Has(e.Col.ID) && exprMayFail(e.Expr) && !plan.IsVolatile(e.Expr) && !plan.HasSubquery(e.Expr) {
			up[e.Col.ID] = e.Expr
			moved = append(moved, e.Expr)
			continue
		}
		kept = append(kept, e)
		made.Add(e.Col.ID)
	}
	if len(moved) == 0 {
		return n
	}
	reads := plan.ExprCols(moved...)
	for _, c := range p.Input.Columns() {
		if reads.Has(c.ID) && !made.Has(c.ID) {
			kept = append(kept, plan.Named{Col: c, Expr: plan.ColOf(c)})
		}
	}
	return &plan.Project{Input: p.Input, Exprs: kept}
}
