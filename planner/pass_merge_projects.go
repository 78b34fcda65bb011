package planner

import "github.com/lhsql/lhsql/plan"

// mergeProjects removes what the rewrites before it leave behind: projections that only drop
// or reorder columns under operators that do not care, projections of projections, filters on
// filters. What joins, stays in one piece for the join order.
func mergeProjects(env *Env, n plan.Node) (plan.Node, error) {
	return mergeTree(n, true), nil
}

// mergeTree rewrites top-down: exact tells whether the parent needs n's columns exactly.
func mergeTree(n plan.Node, exact bool) plan.Node {
	for {
		m := mergeOne(n, exact)
		if m == n {
			break
		}
		n = m
	}
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	out := make([]plan.Node, len(in))
	changed := false
	for i, x := range in {
		need := positional(n)
		switch n.(type) {
		case *plan.Filter, *plan.Sort, *plan.Limit, *plan.Window, *plan.Join, *plan.Apply:
			need = exact // they pass columns on, so they may only be as lax as their parent
		case *plan.Distinct:
			need = true
		}
		out[i] = mergeTree(x, need)
		changed = changed || out[i] != x
	}
	if !changed {
		return n
	}
	return n.WithInputs(out...)
}

func mergeOne(n plan.Node, exact bool) plan.Node {
	switch n := n.(type) {
	case *plan.Project:
		if passesOnly(n) && (!exact || sameIDs(n.Columns(), n.Input.Columns())) {
			return n.Input
		}
		if p, ok := n.Input.(*plan.Project); ok {
			if m, ok := composed(n, p); ok {
				return m
			}
		}
	case *plan.Join:
		if m, ok := withOneRow(n); ok {
			return m
		}
	case *plan.Filter:
		if f, ok := n.Input.(*plan.Filter); ok {
			return &plan.Filter{Input: f.Input, Pred: plan.AndOf(f.Pred, n.Pred)}
		}
	}
	return n
}

// withOneRow makes of an inner join with one row of constants what it is: more columns, and a
// filter, whose terms may then guard each other.
//
//	L ⋈p {k}  →  σp(π(L.*, k)(L))
func withOneRow(j *plan.Join) (plan.Node, bool) {
	if j.Kind != plan.InnerJoin || j.Guard != nil {
		return nil, false
	}
	other, exprs := j.Left, passThrough(j.Left.Columns())
	if row, ok := constantRow(j.Right); ok {
		exprs = append(exprs, row...)
	} else if row, ok := constantRow(j.Left); ok {
		other, exprs = j.Right, append(row, passThrough(j.Right.Columns())...)
	} else {
		return nil, false
	}
	return filter(&plan.Project{Input: other, Exprs: exprs}, plan.AndOf(plan.Conjuncts(j.On)...)), true
}

// constantRow gives the columns of a relation of one row of constants.
func constantRow(n plan.Node) ([]plan.Named, bool) {
	v, ok := n.(*plan.Values)
	if !ok || len(v.Rows) != 1 || v.From != "" || len(v.Cols) == 0 {
		return nil, false
	}
	out := make([]plan.Named, len(v.Cols))
	for i, e := range v.Rows[0] {
		if _, ok := e.(*plan.Const); !ok {
			return nil, false
		}
		out[i] = plan.Named{Col: v.Cols[i], Expr: e}
	}
	return out, true
}

func passesOnly(p *plan.Project) bool {
	for _, e := range p.Exprs {
		if !plan.Passes(e) {
			return false
		}
	}
	return true
}

// composed merges π(e)(π(f)(X)) into π(e∘f)(X), unless that would compute something costly or
// volatile more than once.
func composed(outer, inner *plan.Project) (plan.Node, bool) {
	uses := map[plan.ColID]int{}
	for _, e := range outer.Exprs {
		countCols(e.Expr, uses)
	}
	m := map[plan.ColID]plan.Expr{}
	for _, e := range inner.Exprs {
		if !cheap(e.Expr) && uses[e.Col.ID] > 1 || plan.IsVolatile(e.Expr) {
			return nil, false
		}
		m[e.Col.ID] = e.Expr
	}
	exprs := make([]plan.Named, len(outer.Exprs))
	for i, e := range outer.Exprs {
		exprs[i] = plan.Named{Col: e.Col, Expr: plan.Substitute(e.Expr, m)}
	}
	return &plan.Project{Input: inner.Input, Exprs: exprs}, true
}

func countCols(e plan.Expr, uses map[plan.ColID]int) {
	plan.WalkExpr(e, func(x plan.Expr) bool {
		if c, ok := x.(*plan.Col); ok {
			uses[c.ID]++
		}
		return true
	})
}

// cheap tells whether copying e costs nothing.
func cheap(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Col, *plan.Const:
		return true
	case *plan.FieldOf:
		return cheap(e.X)
	}
	return false
}
