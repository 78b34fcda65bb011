package planner

import "github.com/lhsql/lhsql/plan"

// placeGuards keeps expressions from failing at rows that something takes away. Terms of a filter
// that can fail stand behind those that cannot; a limit stands below what can fail as well:
//
//	limit n (π(10/v)(X))  →  limit n (π(10/v)(limit n (X)))
//
// and the arguments of a call with FILTER ask the filter first:
//
//	sum(10 / v) FILTER (WHERE v <> 0)
//	  →  sum(CASE WHEN v <> 0 THEN 10 / v END) FILTER (WHERE v <> 0)
//
// The operators compute all arguments of a batch before they look at the filters. A volatile
// filter is computed once, below.
func placeGuards(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		switch n := n.(type) {
		case *plan.Filter:
			return filter(n.Input, guarded(plan.Conjuncts(n.Pred))), nil
		case *plan.Limit:
			if want, ok := limitRows(n); ok && !n.WithTies {
				return n.WithInputs(limitFallible(n.Input, want)), nil
			}
		case *plan.Aggregate:
			g := &filterGuard{env: env, input: n.Input}
			m := *n
			m.Aggs = append([]plan.Agg(nil), n.Aggs...)
			for i := range m.Aggs {
				a := &m.Aggs[i]
				if a.Filter == nil || !anyMayFail(a.Args) && !anyMayFail(keyExprs(a.OrderBy)) {
					continue
				}
				a.Filter = g.once(a.Filter)
				a.Args = g.guard(a.Args, a.Filter)
				a.OrderBy = append([]plan.SortKey(nil), a.OrderBy...)
				for k := range a.OrderBy {
					a.OrderBy[k].Expr = g.guard([]plan.Expr{a.OrderBy[k].Expr}, a.Filter)[0]
				}
			}
			m.Input = g.input
			if g.used {
				return &m, nil
			}
		case *plan.Window:
			g := &filterGuard{env: env, input: n.Input}
			m := *n
			m.Calls = append([]plan.WindowCall(nil), n.Calls...)
			for i := range m.Calls {
				c := &m.Calls[i]
				if c.Filter != nil && anyMayFail(c.Args) {
					c.Filter = g.once(c.Filter)
					c.Args = g.guard(c.Args, c.Filter)
				}
			}
			m.Input = g.input
			if g.used && g.input != n.Input {
				return withColumns(&m, n.Columns()), nil
			}
			if g.used {
				return &m, nil
			}
		}
		return n, nil
	})
}

// limitFallible puts a limit below projections that can fail.
func limitFallible(n plan.Node, want int64) plan.Node {
	p, ok := n.(*plan.Project)
	if !ok {
		return n
	}
	in := limitFallible(p.Input, want)
	for _, e := range p.Exprs {
		if exprMayFail(e.Expr) && in == p.Input {
			in = &plan.Limit{Input: in, Count: intConst(want)}
		}
	}
	return p.WithInputs(in)
}

type filterGuard struct {
	env   *Env
	input plan.Node
	used  bool
}

// once gives a filter that may be computed twice: a volatile one becomes a column of the input.
func (g *filterGuard) once(f plan.Expr) plan.Expr {
	if !plan.IsVolatile(f) {
		return f
	}
	c := g.env.column("filter", f.Type())
	g.input = &plan.Project{Input: g.input, Exprs: append(passThrough(g.input.Columns()), plan.Named{Col: c, Expr: f})}
	return plan.ColOf(c)
}

func (g *filterGuard) guard(list []plan.Expr, filter plan.Expr) []plan.Expr {
	g.used = true
	return guardTests(list, filter)
}

func anyMayFail(list []plan.Expr) bool {
	for _, e := range list {
		if exprMayFail(e) {
			return true
		}
	}
	return false
}

func keyExprs(keys []plan.SortKey) []plan.Expr {
	out := make([]plan.Expr, len(keys))
	for i, k := range keys {
		out[i] = k.Expr
	}
	return out
}
