package planner

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// chooseJoins takes the equalities out of each join's condition as hash keys, picks the method
// and the side to build the hash table of.
func chooseJoins(env *Env, n plan.Node) (plan.Node, error) {
	est := newEstimator(n)
	env.cards = est
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		j, ok := n.(*plan.Join)
		if !ok || j.Method != plan.AutoJoin {
			return n, nil
		}
		return chooseJoin(j, est), nil
	})
}

func chooseJoin(j *plan.Join, est *estimator) plan.Node {
	m := *j
	m.LeftKeys, m.RightKeys, m.NullSafe = nil, nil, nil
	l, r := plan.SetOf(j.Left.Columns()), plan.SetOf(j.Right.Columns())
	var rest []plan.Expr
	for _, t := range plan.Conjuncts(j.On) {
		a, b, safe, ok := joinKey(t, l, r)
		if !ok {
			rest = append(rest, t)
			continue
		}
		m.LeftKeys, m.RightKeys, m.NullSafe = append(m.LeftKeys, a), append(m.RightKeys, b), append(m.NullSafe, safe)
	}
	m.Rest = plan.AndOf(rest...)
	m.Method = plan.LoopJoin
	if len(m.LeftKeys) > 0 {
		m.Method = plan.HashJoin
	}
	m.BuildLeft = buildLeft(&m, est)
	est.rows[&m] = est.of(j)
	return &m
}

// joinKey takes a = b or a IS NOT DISTINCT FROM b apart, one side each. Both sides must have
// one type, so that equal values hash alike.
func joinKey(t plan.Expr, l, r plan.ColSet) (a, b plan.Expr, safe, ok bool) {
	if c, isCall := t.(*plan.Call); isCall && plan.IsOp(t, "=") {
		a, b = c.Args[0], c.Args[1]
	} else if x, y, isND := plan.AsNotDistinct(t); isND {
		a, b, safe = x, y, true
	} else {
		return nil, nil, false, false
	}
	if plan.IsVolatile(t) {
		return nil, nil, false, false
	}
	ca, cb := plan.ExprCols(a), plan.ExprCols(b)
	if len(ca) == 0 || len(cb) == 0 {
		return nil, nil, false, false
	}
	if l.Contains(cb) && r.Contains(ca) {
		a, b, ca, cb = b, a, cb, ca
	}
	if !l.Contains(ca) || !r.Contains(cb) {
		return nil, nil, false, false
	}
	ta, tb := a.Type(), b.Type()
	if ta.Kind != tb.Kind {
		// Integers of different widths are one form and one value; anything else needs a cast.
		if !ta.IsInteger() || !tb.IsInteger() {
			text := func(t types.Type) bool { return t.Kind == types.Text || t.Kind == types.Varchar }
			if !text(ta) || !text(tb) {
				return nil, nil, false, false
			}
		}
	}
	return a, b, safe, true
}

// buildLeft: the smaller side is built. Where the kind keeps the rows of one side, exec wants
// to probe with that side, unless the other is far larger: then a filter on the keys that were
// built spares reading most of it. Mark and full joins build the right side always.
func buildLeft(j *plan.Join, est *estimator) bool {
	l, r := max(1, est.work(j.Left)), max(1, est.work(j.Right))
	if j.Method != plan.HashJoin || j.Guard != nil {
		return false
	}
	switch j.Kind {
	case plan.InnerJoin:
		return l < r
	case plan.LeftJoin, plan.SingleJoin, plan.SemiJoin, plan.AntiJoin:
		return l*4 < r
	case plan.RightJoin:
		return l < r*4
	}
	return false
}
