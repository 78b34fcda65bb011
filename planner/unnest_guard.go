package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// extract replaces the subqueries inside e by columns that Applies on top of in make. Where e
// evaluates a part for some rows only, the Apply gets that condition as its guard:
//
//	CASE WHEN c THEN (q) ELSE (r) END   q: c            r: c is not true
//	COALESCE(x, (q))                    q: x IS NULL
//	x OR (q)                            q: x is not true
//	x AND (q)                           q: x is not false
//
// guard is the condition under which e itself is evaluated; nil: always.
func (u *unnester) extract(in plan.Node, e plan.Expr, guard plan.Expr) (plan.Node, plan.Expr, error) {
	if !plan.HasSubquery(e) {
		return in, e, nil
	}
	if c, ok := e.(*plan.Case); ok {
		return u.extractCase(in, c, guard)
	}
	children := plan.Children(e)
	out := make([]plan.Expr, len(children))
	for i, c := range children {
		var err error
		if in, out[i], err = u.extract(in, c, guard); err != nil {
			return nil, nil, err
		}
		if !subqueryIn(children[i+1:]) {
			copy(out[i+1:], children[i+1:])
			break
		}
		switch e.(type) {
		case *plan.Coalesce:
			in, out[i], guard = u.guarded(in, out[i], guard, func(x plan.Expr) plan.Expr { return &plan.IsNull{X: x} })
		case *plan.Or:
			in, out[i], guard = u.guarded(in, out[i], guard, notTrue)
		case *plan.And:
			in, out[i], guard = u.guarded(in, out[i], guard, func(x plan.Expr) plan.Expr { return orElse(x, plan.True()) })
		}
	}
	e = plan.WithChildren(e, out)
	s, ok := e.(*plan.Subquery)
	if !ok {
		return in, e, nil
	}
	p, err := u.node(s.Plan)
	if err != nil {
		return nil, nil, err
	}
	if guard != nil {
		s.Test = guardTests(s.Test, guard)
	}
	return u.value(in, s, p, guard)
}

func (u *unnester) extractCase(in plan.Node, e *plan.Case, guard plan.Expr) (plan.Node, plan.Expr, error) {
	m := &plan.Case{Typ: e.Typ, Whens: append([]plan.When(nil), e.Whens...), Else: e.Else}
	for i, w := range e.Whens {
		rest := plan.Children(&plan.Case{Whens: e.Whens[i:], Else: e.Else})
		if !subqueryIn(rest) {
			return in, m, nil
		}
		var err error
		if in, w.Cond, err = u.extract(in, w.Cond, guard); err != nil {
			return nil, nil, err
		}
		if subqueryIn(rest[1:]) {
			in, w.Cond = u.settled(in, w.Cond)
		}
		if in, w.Then, err = u.extract(in, w.Then, plan.AndOf(guard, w.Cond)); err != nil {
			return nil, nil, err
		}
		m.Whens[i] = w
		guard = plan.AndOf(guard, notTrue(w.Cond))
	}
	if e.Else == nil {
		return in, m, nil
	}
	var err error
	in, m.Else, err = u.extract(in, e.Else, guard)
	return in, m, err
}

// guarded adds to guard that goes on(x) holds.
func (u *unnester) guarded(in plan.Node, x, guard plan.Expr, goesOn func(plan.Expr) plan.Expr) (plan.Node, plan.Expr, plan.Expr) {
	in, x = u.settled(in, x)
	return in, x, plan.AndOf(guard, goesOn(x))
}

// settled makes a volatile x a column, so that it and the guards made of it agree.
func (u *unnester) settled(in plan.Node, x plan.Expr) (plan.Node, plan.Expr) {
	if !plan.IsVolatile(x) {
		return in, x
	}
	c := u.env.column("condition", x.Type())
	return &plan.Project{Input: in, Exprs: append(passThrough(in.Columns()), plan.Named{Col: c, Expr: x})}, plan.ColOf(c)
}

// guardTests keeps x IN (q) from failing at an x that nobody asks for: x is computed outside q.
func guardTests(tests []plan.Expr, guard plan.Expr) []plan.Expr {
	out := append([]plan.Expr(nil), tests...)
	for i, t := range tests {
		if !eval.CannotFail(t) {
			out[i] = &plan.Case{Whens: []plan.When{{Cond: guard, Then: t}}, Typ: t.Type()}
		}
	}
	return out
}

func subqueryIn(list []plan.Expr) bool {
	for _, e := range list {
		if plan.HasSubquery(e) {
			return true
		}
	}
	return false
}

func notTrue(x plan.Expr) plan.Expr { return &plan.Not{X: orElse(x, plan.False())} }

// orElse is the boolean x, or y where x is NULL.
func orElse(x, y plan.Expr) plan.Expr {
	return &plan.Coalesce{Args: []plan.Expr{x, y}, Typ: types.T(types.Bool)}
}

// mayFail tells whether evaluating n, or doing so more or less often, can be noticed: some
// expression can raise an error for some value or is volatile, or what n costs has no bound.
func mayFail(n plan.Node) bool {
	found := false
	plan.Walk(n, func(m plan.Node) {
		switch m := m.(type) {
		case *plan.FuncScan, *plan.ProjectSet, *plan.With:
			found = true
		case *plan.Join:
			found = found || m.Kind == plan.SingleJoin
		case *plan.Apply:
			found = found || m.Kind == plan.SingleJoin
		}
		if !found {
			plan.NodeExprs(m, func(e plan.Expr) { found = found || exprMayFail(e) })
		}
	})
	return found
}

func exprMayFail(e plan.Expr) bool { return plan.IsVolatile(e) || !eval.CannotFail(e) }
