package planner

import "github.com/lhsql/lhsql/plan"

// topNMax bounds the rows that a top-N keeps in memory; more is a sort that spills.
const topNMax = 1 << 20

// fuseTopN lets a sort below a limit keep the first rows only. The Limit stays: it applies the
// offset, and counts.
func fuseTopN(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		l, ok := n.(*plan.Limit)
		if !ok || l.WithTies {
			return n, nil
		}
		want, ok := limitRows(l)
		if !ok || want > topNMax {
			return n, nil
		}
		if in, ok := keepFirst(l.Input, want); ok {
			return l.WithInputs(in), nil
		}
		return n, nil
	})
}

// limitRows is the number of input rows that a limit looks at.
func limitRows(l *plan.Limit) (int64, bool) {
	count, ok1 := constCount(l.Count)
	offset, ok2 := constCount(l.Offset)
	if !ok1 || !ok2 || count < 0 {
		return 0, false
	}
	return max(offset, 0) + count, true
}

// keepFirst limits the sort below row-by-row projections.
func keepFirst(n plan.Node, want int64) (plan.Node, bool) {
	switch n := n.(type) {
	case *plan.Sort:
		if n.HasLimit && n.Limit <= want {
			return n, false
		}
		m := *n
		m.HasLimit, m.Limit = true, want
		return &m, true
	case *plan.Project:
		if in, ok := keepFirst(n.Input, want); ok {
			return n.WithInputs(in), true
		}
	}
	return n, false
}

// pushLimits copies a limit below operators that make at least one row for each of theirs, in
// the same order: projections, both sides of UNION ALL, the kept side of an outer join.
//
//	limit n (L ⟕ R)  =  limit n (limit n (L) ⟕ R)
//
// The limit above stays: UNION ALL makes up to 2n rows of two times n.
func pushLimits(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		l, ok := n.(*plan.Limit)
		if !ok || l.WithTies {
			return n, nil
		}
		want, ok := limitRows(l)
		if !ok {
			return n, nil
		}
		if in, ok := limitBelow(l.Input, want); ok {
			return l.WithInputs(in), nil
		}
		return n, nil
	})
}

func limitBelow(n plan.Node, want int64) (plan.Node, bool) {
	limit := func(in plan.Node) plan.Node {
		if m, ok := limitBelow(in, want); ok {
			in = m
		}
		if l, ok := in.(*plan.Limit); ok {
			if have, ok := limitRows(l); ok && have <= want {
				return in
			}
		}
		return &plan.Limit{Input: in, Count: intConst(want)}
	}
	switch n := n.(type) {
	case *plan.Project:
		if in, ok := limitBelow(n.Input, want); ok {
			return n.WithInputs(in), true
		}
	case *plan.SetOp:
		if n.Kind == plan.Union && n.All {
			return n.WithInputs(limit(n.Left), limit(n.Right)), true
		}
	case *plan.Join:
		switch n.Kind {
		case plan.LeftJoin, plan.MarkJoin:
			return n.WithInputs(limit(n.Left), n.Right), true
		case plan.RightJoin:
			return n.WithInputs(n.Left, limit(n.Right)), true
		}
	}
	return n, false
}
