package planner

import "github.com/lhsql/lhsql/plan"

// withColumns gives n exactly the columns want, in that order, by a Project where it has others.
func withColumns(n plan.Node, want []plan.Column) plan.Node {
	got := n.Columns()
	if sameIDs(got, want) {
		return n
	}
	exprs := make([]plan.Named, len(want))
	for i, c := range want {
		exprs[i] = plan.Named{Col: c, Expr: plan.ColOf(c)}
	}
	return &plan.Project{Input: n, Exprs: exprs}
}

func sameIDs(a, b []plan.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ID != b[i].ID {
			return false
		}
	}
	return true
}

// positional tells whether n takes its inputs' columns by number and order, or by all of them,
// so that a rewrite below must not add, drop or reorder any.
func positional(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.SetOp, *plan.With:
		return true
	case *plan.Distinct:
		return n.On == nil
	case *plan.Filter, *plan.Project, *plan.ProjectSet, *plan.Join, *plan.Apply, *plan.Aggregate, *plan.Window,
		*plan.Sort, *plan.Limit:
		return false
	}
	return true // operators that we do not know (sinks): leave their inputs' shape alone
}

// mapInputs rewrites n's inputs with f, keeping their shape where n depends on it.
func (env *Env) mapInputs(n plan.Node, f func(plan.Node) (plan.Node, error)) (plan.Node, error) {
	env.alive()
	in := n.Inputs()
	if len(in) == 0 {
		return n, nil
	}
	out := make([]plan.Node, len(in))
	changed := false
	for i, x := range in {
		y, err := f(x)
		if err != nil {
			return nil, err
		}
		if positional(n) {
			y = withColumns(y, x.Columns())
		}
		out[i] = y
		changed = changed || y != x
	}
	if !changed {
		return n, nil
	}
	return n.WithInputs(out...), nil
}

// mapUp rewrites the tree bottom-up.
func (env *Env) mapUp(n plan.Node, f func(plan.Node) (plan.Node, error)) (plan.Node, error) {
	n, err := env.mapInputs(n, func(x plan.Node) (plan.Node, error) { return env.mapUp(x, f) })
	if err != nil {
		return nil, err
	}
	return f(n)
}

// filter puts p above n; nothing for TRUE. Adjacent filters become one.
func filter(n plan.Node, p plan.Expr) plan.Node {
	if plan.IsTrue(p) {
		return n
	}
	if f, ok := n.(*plan.Filter); ok {
		return &plan.Filter{Input: f.Input, Pred: guarded(append(plan.Conjuncts(f.Pred), plan.Conjuncts(p)...))}
	}
	return &plan.Filter{Input: n, Pred: p}
}

// empty is the relation of no rows with n's columns.
func empty(n plan.Node) plan.Node { return &plan.Values{Cols: n.Columns()} }

// isEmpty tells whether n surely makes no rows.
func isEmpty(n plan.Node) bool {
	v, ok := n.(*plan.Values)
	return ok && len(v.Rows) == 0
}

// unit is the relation of one row and no columns.
func unit() *plan.Values { return &plan.Values{Rows: [][]plan.Expr{{}}} }

func isUnit(n plan.Node) bool {
	v, ok := n.(*plan.Values)
	return ok && len(v.Rows) == 1 && len(v.Cols) == 0
}

// passThrough lists cols as expressions that hand them on.
func passThrough(cols []plan.Column) []plan.Named {
	out := make([]plan.Named, len(cols))
	for i, c := range cols {
		out[i] = plan.Named{Col: c, Expr: plan.ColOf(c)}
	}
	return out
}
