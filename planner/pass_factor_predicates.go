package planner

import "github.com/lhsql/lhsql/plan"

// factorPredicates takes what is common to all arms of an OR out of it, so that it can become
// a join key or reach a scan (TPC-H Q19):
//
//	(k AND a) OR (k AND b)  =  k AND (a OR b)
//
// which holds in three-valued logic too.
func factorPredicates(env *Env, n plan.Node) (plan.Node, error) {
	return plan.Rewrite(n, nil, func(e plan.Expr) plan.Expr {
		if o, ok := e.(*plan.Or); ok {
			return factor(o)
		}
		return e
	}), nil
}

func factor(o *plan.Or) plan.Expr {
	arms := plan.Disjuncts(o)
	terms := make([][]plan.Expr, len(arms))
	for i, a := range arms {
		terms[i] = plan.Conjuncts(a)
	}
	var common []plan.Expr
	for _, t := range terms[0] {
		everywhere := !plan.IsVolatile(t)
		for _, other := range terms[1:] {
			everywhere = everywhere && hasEqual(other, t)
		}
		if everywhere {
			common = append(common, t)
		}
	}
	if len(common) == 0 {
		return o
	}
	rest := make([]plan.Expr, len(arms))
	for i, ts := range terms {
		var left []plan.Expr
		for _, t := range ts {
			if !hasEqual(common, t) {
				left = append(left, t)
			}
		}
		if len(left) == 0 { // k OR (k AND b) = k
			return plan.AndOf(common...)
		}
		rest[i] = plan.AndOf(left...)
	}
	return plan.AndOf(append(common, plan.OrOf(rest...))...)
}

// implied derives from an OR over several relations what must hold of the columns in side
// alone (TPC-H Q7), nil if some arm says nothing of them:
//
//	(l.a AND r.b) OR (l.c AND r.d)  implies  l.a OR l.c
func implied(e plan.Expr, side plan.ColSet) plan.Expr {
	o, ok := e.(*plan.Or)
	if !ok || plan.IsVolatile(e) {
		return nil
	}
	arms := plan.Disjuncts(o)
	out := make([]plan.Expr, len(arms))
	for i, a := range arms {
		var of []plan.Expr
		for _, t := range plan.Conjuncts(a) {
			if c := plan.ExprCols(t); len(c) > 0 && side.Contains(c) {
				of = append(of, t)
			} else if p := implied(t, side); p != nil {
				of = append(of, p)
			}
		}
		if len(of) == 0 {
			return nil
		}
		out[i] = plan.AndOf(of...)
	}
	return simplify(plan.OrOf(out...))
}
