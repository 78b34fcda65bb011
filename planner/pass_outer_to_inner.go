package planner

import "github.com/lhsql/lhsql/plan"

// outerToInner makes an outer join an inner one where a predicate above rejects the rows that
// the outer join adds:
//
//	σ(r.x > 1)(L ⟕ R)  →  σ(r.x > 1)(L ⋈ R)
//
// The added rows have NULL in every column of R, and NULL > 1 is not true. A predicate that
// accepts NULL forbids it: σ(r.x IS NULL)(L ⟕ R) asks for just the added rows.
func outerToInner(env *Env, n plan.Node) (plan.Node, error) {
	return rejectNulls(n, plan.ColSet{}), nil
}

// rejectNulls rewrites n, whose rows with NULL in any column of rejected are thrown away above.
func rejectNulls(n plan.Node, rejected plan.ColSet) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		return n.WithInputs(rejectNulls(n.Input, rejected.Union(rejecting(n.Pred))))
	case *plan.Project:
		in := plan.ColSet{}
		for _, e := range n.Exprs {
			if rejected.Has(e.Col.ID) {
				in.AddAll(strictCols(e.Expr))
			}
		}
		return n.WithInputs(rejectNulls(n.Input, in))
	case *plan.Aggregate:
		in := plan.ColSet{}
		for _, g := range n.Groups {
			if n.Sets == nil && rejected.Has(g.Col.ID) {
				in.AddAll(strictCols(g.Expr))
			}
		}
		return n.WithInputs(rejectNulls(n.Input, in))
	case *plan.Sort:
		return n.WithInputs(rejectNulls(n.Input, rejected))
	case *plan.Distinct:
		if n.On == nil {
			return n.WithInputs(rejectNulls(n.Input, rejected))
		}
	case *plan.Join:
		return rejectJoin(n, rejected)
	}
	// LIMIT, window functions and the rest see all rows: what is thrown away above them must
	// still reach them.
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	out := make([]plan.Node, len(in))
	for i := range in {
		out[i] = rejectNulls(in[i], plan.ColSet{})
	}
	return n.WithInputs(out...)
}

func rejectJoin(n *plan.Join, rejected plan.ColSet) plan.Node {
	m := *n
	l, r := plan.SetOf(n.Left.Columns()), plan.SetOf(n.Right.Columns())
	byLeft, byRight := rejected.Intersects(l), rejected.Intersects(r)
	switch {
	case n.Guard != nil: // an inner join may be reordered, and its right side run at once
	case n.Kind == plan.LeftJoin && byRight, n.Kind == plan.RightJoin && byLeft,
		n.Kind == plan.FullJoin && byLeft && byRight:
		m.Kind = plan.InnerJoin
	case n.Kind == plan.FullJoin && byLeft: // rows must have a left side
		m.Kind = plan.LeftJoin
	case n.Kind == plan.FullJoin && byRight:
		m.Kind = plan.RightJoin
	}
	on := rejecting(n.On)
	left, right := plan.ColSet{}, plan.ColSet{}
	switch m.Kind {
	case plan.InnerJoin:
		left, right = rejected.Union(on), rejected.Union(on)
	case plan.LeftJoin, plan.SingleJoin, plan.AntiJoin:
		// A right row for which On is not true finds no partner, whether it is there or not.
		left, right = rejected, on
	case plan.RightJoin:
		left, right = on, rejected
	case plan.SemiJoin:
		left, right = rejected.Union(on), on
	case plan.MarkJoin:
		left = rejected
	}
	m.Left = rejectNulls(n.Left, restrict(left, l))
	m.Right = rejectNulls(n.Right, restrict(right, r))
	return &m
}

func restrict(s, t plan.ColSet) plan.ColSet {
	out := plan.ColSet{}
	for id := range s {
		if t.Has(id) {
			out.Add(id)
		}
	}
	return out
}

// rejecting is the set of columns that, NULL, keep pred from being true.
func rejecting(pred plan.Expr) plan.ColSet {
	switch e := pred.(type) {
	case nil:
		return plan.ColSet{}
	case *plan.And:
		s := plan.ColSet{}
		for _, a := range e.Args {
			s.AddAll(rejecting(a))
		}
		return s
	case *plan.Or:
		s := rejecting(e.Args[0])
		for _, a := range e.Args[1:] {
			s = restrict(s, rejecting(a))
		}
		return s
	case *plan.Not:
		return strictCols(e.X)
	case *plan.IsNull:
		if e.Negate {
			return strictCols(e.X)
		}
		return plan.ColSet{}
	case *plan.Coalesce: // coalesce(x, false) is true only if x is
		if len(e.Args) == 2 && plan.IsFalseOrNull(e.Args[1]) {
			return rejecting(e.Args[0])
		}
		return plan.ColSet{}
	}
	return strictCols(pred)
}

// strictCols is the set of columns that, NULL, make e NULL.
func strictCols(e plan.Expr) plan.ColSet {
	switch e := e.(type) {
	case *plan.Col:
		return plan.ColSet{e.ID: {}}
	case *plan.Cast:
		return strictCols(e.X)
	case *plan.InList:
		return strictCols(e.X)
	case *plan.FieldOf:
		return strictCols(e.X)
	case *plan.Not:
		return strictCols(e.X)
	case *plan.Call:
		s := plan.ColSet{}
		if e.Func.Strict && e.Func.Kind == plan.ScalarFunc {
			for _, a := range e.Args {
				s.AddAll(strictCols(a))
			}
		}
		return s
	}
	return plan.ColSet{}
}
