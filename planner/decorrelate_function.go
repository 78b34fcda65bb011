package planner

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// function is the way of functions in FROM that read columns to their left, the commonest of
// correlations (FROM t, unnest(t.list) x): each left row makes its rows on the spot.
func (d *decorrelator) function(a *plan.Apply) (plan.Node, bool) {
	if a.Guard != nil || a.Kind != plan.InnerJoin && (a.Kind != plan.LeftJoin || a.On != nil) {
		return nil, false
	}
	n, ok := expandBelow(d.env, a.Left, a.Right, a.Kind == plan.LeftJoin)
	return filter(n, a.On), ok
}

// expandBelow is left ⋈ₐ right for a right side that is a function in FROM, or, when no left row
// need survive without partners, filters and projections of one.
func expandBelow(env *Env, left, right plan.Node, outer bool) (plan.Node, bool) {
	switch r := right.(type) {
	case *plan.FuncScan:
		return expand(env, left, r, outer)
	case *plan.Filter:
		if in, ok := expandBelow(env, left, r.Input, outer); ok && !outer {
			return filter(in, r.Pred), true
		}
	case *plan.Project:
		if in, ok := expandBelow(env, left, r.Input, outer); ok && !outer {
			return &plan.Project{Input: in, Exprs: append(passThrough(left.Columns()), r.Exprs...)}, true
		}
	}
	return nil, false
}

// expand gives every row of left beside the rows that f makes of it; outer: a row of which it
// makes none beside NULLs.
func expand(env *Env, left plan.Node, f *plan.FuncScan, outer bool) (plan.Node, bool) {
	sets := 0
	for _, c := range f.Calls {
		if c.Func.Kind == plan.SetFunc {
			sets++
		}
	}
	if sets < len(f.Calls) && len(f.Calls) > 1 {
		return nil, false // a scalar's one row does not repeat beside longer sets
	}
	cols := append([]plan.Column(nil), f.Cols...)
	for i := range cols {
		cols[i].NotNull = cols[i].NotNull && !outer
	}
	made, out := passThrough(left.Columns()), passThrough(left.Columns())
	for i, w := range f.Widths() {
		call := f.Calls[i]
		if call.Typ.Kind != types.Struct || len(call.Typ.Fields()) != w {
			made = append(made, plan.Named{Col: cols[0], Expr: call})
			out = append(out, plan.Named{Col: cols[0], Expr: plan.ColOf(cols[0])})
			cols = cols[1:]
			continue
		}
		row := plan.Column{ID: env.fresh(), Name: call.Func.Name, Type: call.Typ}
		made = append(made, plan.Named{Col: row, Expr: call})
		for m := range w {
			out = append(out, plan.Named{Col: cols[m], Expr: &plan.FieldOf{X: plan.ColOf(row), Index: m, Typ: cols[m].Type}})
		}
		cols = cols[w:]
	}
	if sets == 0 {
		for _, c := range cols {
			out = append(out, plan.Named{Col: c, Expr: &plan.Const{Value: types.NewInt(1), Typ: c.Type}})
		}
		return &plan.Project{Input: &plan.Project{Input: left, Exprs: made}, Exprs: out}, true
	}
	set := &plan.ProjectSet{Input: left, Exprs: made, Outer: outer}
	if f.Ordinality {
		set.Ordinal = cols[0]
		out = append(out, plan.Named{Col: set.Ordinal, Expr: plan.ColOf(set.Ordinal)})
	}
	return &plan.Project{Input: set, Exprs: out}, true
}

// isSetCall tells whether e makes a set of rows in a ProjectSet.
func isSetCall(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	return ok && c.Func.Kind == plan.SetFunc
}
