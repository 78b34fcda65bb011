package planner

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// dependentKeys groups by no expression of what it groups by:
//
//	γ(x, x-1, 'a'; F)  →  π(x, x-1, 'a', F)(γ(x; F))
//
// Rows of one group have one x, and so one x-1. That fails where equal values can look different: of
// numerics 1.0 and 1.00, which are one x, x::text makes two groups. One key stays in any case: without
// keys there would be a group of no rows.
func dependentKeys(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		if a, ok := n.(*plan.Aggregate); ok {
			return withoutDependentKeys(a), nil
		}
		return n, nil
	})
}

func withoutDependentKeys(a *plan.Aggregate) plan.Node {
	if a.Sets != nil || a.GroupingSet.ID != 0 || len(a.Groups) < 2 {
		return a
	}
	// Columns that are keys by themselves, and the key that shows each.
	at := map[plan.ColID]plan.Column{}
	for _, g := range a.Groups {
		if c, ok := g.Expr.(*plan.Col); ok && !types.LooksDiffer(c.Typ) {
			if _, twice := at[c.ID]; !twice {
				at[c.ID] = g.Col
			}
		}
	}
	m := *a
	m.Groups = nil
	shown := map[plan.ColID]plan.Expr{}
	for i, g := range a.Groups {
		e, ok := ofKeys(g, at)
		if !ok || len(m.Groups) == 0 && i == len(a.Groups)-1 {
			m.Groups = append(m.Groups, g)
			continue
		}
		shown[g.Col.ID] = e
	}
	if len(shown) == 0 {
		return a
	}
	return showing(a, &m, shown)
}

// ofKeys gives key g as an expression of the keys that show the columns at, if it is one.
func ofKeys(g plan.Named, at map[plan.ColID]plan.Column) (plan.Expr, bool) {
	if c, ok := g.Expr.(*plan.Col); ok {
		k, ok := at[c.ID]
		return plan.ColOf(k), ok && k.ID != g.Col.ID // the second of two equal keys
	}
	if plan.IsVolatile(g.Expr) {
		return nil, false
	}
	ok := true
	plan.WalkExpr(g.Expr, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Col:
			_, known := at[x.ID]
			ok = ok && known
		case *plan.Subquery, *plan.Param:
			ok = false
		}
		return ok
	})
	if !ok {
		return nil, false
	}
	return plan.MapExpr(g.Expr, func(x plan.Expr) plan.Expr {
		if c, isCol := x.(*plan.Col); isCol {
			return plan.ColOf(at[c.ID])
		}
		return x
	}), true
}
