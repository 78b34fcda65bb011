package planner

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// decorrelate turns each Apply into a join, innermost first. Three ways, cheapest first:
//
//  1. the right side reads nothing of the left: a join as it stands;
//  2. the correlation is in predicates that can be pulled up to the join's condition;
//  3. the right side is computed for all distinct values of the columns that it reads of the
//     left (Neumann and Kemper, "Unnesting Arbitrary Queries", BTW 2015):
//     L ⋈ₐ R  →  L ⋈(L.c IS NOT DISTINCT FROM d.c) R'(d), d = δ(π c (L)).
//
// What none of them can do stays an Apply, which exec runs row by row.
func decorrelate(env *Env, n plan.Node) (plan.Node, error) {
	d := &decorrelator{env: env}
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		a, ok := n.(*plan.Apply)
		if !ok {
			return n, nil
		}
		return withColumns(d.apply(a), a.Columns()), nil
	})
}

type decorrelator struct{ env *Env }

func (d *decorrelator) apply(a *plan.Apply) plan.Node {
	if plan.IsTrue(a.On) && a.On != nil {
		b := *a
		b.On, a = nil, &b
	}
	outer := plan.SetOf(a.Left.Columns())
	if !plan.Free(a.Right).Intersects(outer) {
		return uncorrelated(a)
	}
	a = existential(a)
	if !plan.Free(a.Right).Intersects(outer) {
		return uncorrelated(a)
	}
	if a.Guard == nil {
		return d.correlated(a, outer)
	}
	if mayFail(a.Right) {
		return d.guarded(a, outer)
	}
	b := *a
	b.Guard = costly(a)
	if a.Kind == plan.SingleJoin {
		b.On = plan.AndOf(a.Guard, a.On)
	}
	n := d.correlated(&b, outer)
	if n == plan.Node(&b) {
		return a
	}
	return n
}

// costly gives the guard of a right side that is worth sparing even if it cannot fail: a system
// catalog loads the metadata of every table.
func costly(a *plan.Apply) plan.Expr {
	found := false
	plan.Walk(a.Right, func(n plan.Node) {
		_, ok := n.(*plan.Virtual)
		found = found || ok
	})
	if !found {
		return nil
	}
	return a.Guard
}

// uncorrelated is a join. With a guard it runs its right side for the first row that passes.
func uncorrelated(a *plan.Apply) plan.Node {
	j := &plan.Join{Kind: a.Kind, Left: a.Left, Right: a.Right, On: a.On, Mark: a.Mark}
	if a.Guard == nil {
		return j
	}
	if a.Kind == plan.SingleJoin { // a second partner is an error
		j.On = plan.AndOf(a.Guard, a.On)
	}
	if mayFail(a.Right) || costly(a) != nil {
		j.Guard = a.Guard
		j.On = plan.AndOf(a.Guard, a.On)
	}
	return j
}

// guarded decorrelates an Apply whose right side may fail and is to be evaluated for the rows
// that pass the guard, and no others.
func (d *decorrelator) guarded(a *plan.Apply, outer plan.ColSet) plan.Node {
	b := *a
	b.Guard, b.On = nil, plan.AndOf(a.Guard, a.On)
	if p, ok := a.Right.(*plan.Project); ok && !mayFail(p.Input) {
		if n, ok := d.projected(&b, outer); ok {
			return n // which computes the projection for rows that found a partner
		}
	}
	if n, ok := d.guardedDomain(a, outer); ok {
		return n
	}
	return a
}

// correlated tries the ways in turn; what none can do is a itself.
func (d *decorrelator) correlated(a *plan.Apply, outer plan.ColSet) plan.Node {
	if n, ok := d.function(a); ok {
		return n
	}
	if n, ok := d.scalarAggregate(a, outer); ok {
		return n
	}
	if n, ok := d.predicates(a, outer); ok {
		return n
	}
	if n, ok := d.projected(a, outer); ok {
		return n
	}
	if n, ok := d.domain(a, outer); ok {
		return n
	}
	return a
}

// existential strips from the right side of a semi, anti or mark Apply what does not change
// whether a partner exists: order, duplicates, computed columns (put into On), and with no On
// also LIMIT and grouping.
func existential(a *plan.Apply) *plan.Apply {
	if a.Kind != plan.SemiJoin && a.Kind != plan.AntiJoin && a.Kind != plan.MarkJoin {
		return a
	}
	b := *a
	for {
		switch r := b.Right.(type) {
		case *plan.Sort:
			if r.HasLimit {
				return &b
			}
			b.Right = r.Input
		case *plan.Distinct:
			if r.On != nil {
				return &b
			}
			b.Right = r.Input
		case *plan.Project:
			m := map[plan.ColID]plan.Expr{}
			for _, e := range r.Exprs {
				if plan.IsVolatile(e.Expr) || a.Guard != nil && exprMayFail(e.Expr) {
					return &b
				}
				m[e.Col.ID] = e.Expr
			}
			b.On = plan.Substitute(b.On, m)
			b.Right = r.Input
		case *plan.Limit:
			if b.On != nil || r.Offset != nil || !atLeastOne(r.Count) {
				return &b
			}
			b.Right = r.Input
		case *plan.Aggregate:
			if b.On != nil || len(r.Groups) == 0 || r.Sets != nil {
				return &b
			}
			b.Right = r.Input
		default:
			return &b
		}
	}
}

func atLeastOne(count plan.Expr) bool {
	if count == nil {
		return true
	}
	c, ok := count.(*plan.Const)
	return ok && (c.Value.IsNull() || c.Value.Int() >= 1)
}

// predicates is way 2.
func (d *decorrelator) predicates(a *plan.Apply, outer plan.ColSet) (plan.Node, bool) {
	right, preds, ok := d.pull(a.Right, outer)
	if !ok {
		return nil, false
	}
	if a.Kind == plan.MarkJoin && a.On != nil {
		if right, preds, ok = twoValued(right, preds, outer); !ok {
			return nil, false
		}
	}
	on := plan.AndOf(append([]plan.Expr{a.Guard, a.On}, preds...)...)
	return &plan.Join{Kind: a.Kind, Left: a.Left, Right: right, On: on, Mark: a.Mark, Guard: a.Guard}, true
}

// twoValued makes the pulled-up predicates of a mark join TRUE or FALSE. A row for which such
// a predicate is NULL was never in the subquery, so it must not make the mark NULL:
//
//	x IN (SELECT y FROM r WHERE r.k = l.k)   with l.k NULL is false.
//
// An equality becomes IS NOT DISTINCT FROM over the rows of r whose key is not NULL, so that
// the join can still hash on it.
func twoValued(right plan.Node, preds []plan.Expr, outer plan.ColSet) (plan.Node, []plan.Expr, bool) {
	out := make([]plan.Expr, len(preds))
	var keep []plan.Expr
	for i, p := range preds {
		if in, out1, _, ok := equality(p, outer); ok {
			keep = append(keep, &plan.IsNull{X: in, Negate: true})
			if out[i] = notDistinct(out1, in); out[i] == nil {
				out[i] = &plan.Coalesce{Args: []plan.Expr{p, plan.False()}, Typ: types.T(types.Bool)}
			}
			continue
		}
		out[i] = &plan.Coalesce{Args: []plan.Expr{p, plan.False()}, Typ: types.T(types.Bool)}
	}
	return filter(right, plan.AndOf(keep...)), out, true
}

// equality takes apart inner = outer, either way round: inner reads nothing of the outer
// query, the other side nothing else.
func equality(p plan.Expr, outer plan.ColSet) (in, out plan.Expr, eq *plan.Function, ok bool) {
	c, isCall := p.(*plan.Call)
	if !isCall || !plan.IsOp(p, "=") || plan.IsVolatile(p) {
		return nil, nil, nil, false
	}
	l, r := plan.ExprCols(c.Args[0]), plan.ExprCols(c.Args[1])
	switch {
	case len(l) > 0 && !l.Intersects(outer) && len(r) > 0 && outer.Contains(r):
		return c.Args[0], c.Args[1], c.Func, true
	case len(r) > 0 && !r.Intersects(outer) && len(l) > 0 && outer.Contains(l):
		return c.Args[1], c.Args[0], c.Func, true
	}
	return nil, nil, nil, false
}

// pull takes the predicates that read the outer query out of n: n = σ(preds)(node) for each
// outer row, with node uncorrelated and making n's columns and those that preds read.
func (d *decorrelator) pull(n plan.Node, outer plan.ColSet) (node plan.Node, preds []plan.Expr, ok bool) {
	if !plan.Free(n).Intersects(outer) {
		return n, nil, true
	}
	switch n := n.(type) {
	case *plan.Filter:
		in, preds, ok := d.pull(n.Input, outer)
		if !ok {
			return nil, nil, false
		}
		stay, rise := split(n.Pred, outer)
		return filter(in, plan.AndOf(stay...)), append(preds, rise...), !anyVolatile(rise)
	case *plan.Project:
		if exprsRead(n.Exprs, outer) {
			return nil, nil, false
		}
		in, preds, ok := d.pull(n.Input, outer)
		if !ok {
			return nil, nil, false
		}
		return &plan.Project{Input: in, Exprs: keepColumns(n.Exprs, in, preds)}, preds, true
	case *plan.Sort:
		if n.HasLimit {
			return nil, nil, false
		}
		return d.pull(n.Input, outer) // order means nothing below a join
	case *plan.Join:
		return d.pullJoin(n, outer)
	case *plan.Aggregate:
		return d.pullAggregate(n, outer)
	case *plan.Window:
		return d.pullWindow(n, outer)
	case *plan.Distinct:
		// For one outer row, columns that equal its value add nothing to tell rows apart.
		if n.On != nil {
			return nil, nil, false
		}
		in, preds, ok := d.pull(n.Input, outer)
		if !ok || !allEqualities(preds, outer) {
			return nil, nil, false
		}
		return &plan.Distinct{Input: onlyColumns(in, n.Input.Columns(), preds)}, preds, true
	}
	return nil, nil, false
}

// onlyColumns leaves in the columns cols and those that preds read.
func onlyColumns(in plan.Node, cols []plan.Column, preds []plan.Expr) plan.Node {
	return &plan.Project{Input: in, Exprs: keepColumns(passThrough(cols), in, preds)}
}

// keepColumns adds to exprs the columns of in that preds read.
func keepColumns(exprs []plan.Named, in plan.Node, preds []plan.Expr) []plan.Named {
	out := append([]plan.Named(nil), exprs...)
	have := plan.ColSet{}
	for _, e := range exprs {
		have.Add(e.Col.ID)
	}
	used := plan.ExprCols(preds...)
	for _, c := range in.Columns() {
		if used.Has(c.ID) && !have.Has(c.ID) {
			out = append(out, plan.Named{Col: c, Expr: plan.ColOf(c)})
		}
	}
	return out
}

func split(pred plan.Expr, outer plan.ColSet) (stay, rise []plan.Expr) {
	for _, c := range plan.Conjuncts(pred) {
		if plan.ExprCols(c).Intersects(outer) {
			rise = append(rise, c)
		} else {
			stay = append(stay, c)
		}
	}
	return stay, rise
}

func anyVolatile(list []plan.Expr) bool {
	for _, e := range list {
		if plan.IsVolatile(e) {
			return true
		}
	}
	return false
}

func exprsRead(exprs []plan.Named, cols plan.ColSet) bool {
	for _, e := range exprs {
		if plan.ExprCols(e.Expr).Intersects(cols) {
			return true
		}
	}
	return false
}

func allEqualities(preds []plan.Expr, outer plan.ColSet) bool {
	for _, p := range preds {
		if _, _, _, ok := equality(p, outer); !ok {
			return false
		}
	}
	return true
}

// pullJoin: a filter on the left side of a join that keeps left rows' identity rises above it;
// one on the right side only above an inner join. (Above L ⟕ R a filter on R would drop the
// rows that found no partner.)
func (d *decorrelator) pullJoin(n *plan.Join, outer plan.ColSet) (plan.Node, []plan.Expr, bool) {
	n = leftward(n)
	m := *n
	switch n.Kind {
	case plan.InnerJoin:
		l, lp, ok := d.pull(n.Left, outer)
		if !ok {
			return nil, nil, false
		}
		r, rp, ok := d.pull(n.Right, outer)
		if !ok {
			return nil, nil, false
		}
		stay, rise := split(n.On, outer)
		m.Left, m.Right, m.On = l, r, plan.AndOf(stay...)
		return &m, append(append(lp, rp...), rise...), !anyVolatile(rise)
	case plan.LeftJoin, plan.SemiJoin, plan.AntiJoin, plan.SingleJoin, plan.MarkJoin:
		if plan.Free(n.Right).Intersects(outer) || plan.ExprCols(n.On).Intersects(outer) {
			return nil, nil, false
		}
		l, lp, ok := d.pull(n.Left, outer)
		if !ok {
			return nil, nil, false
		}
		m.Left = l
		return &m, lp, true
	}
	return nil, nil, false
}

// leftward makes a right join the left join that it is.
func leftward(n *plan.Join) *plan.Join {
	if n.Kind != plan.RightJoin {
		return n
	}
	return &plan.Join{Kind: plan.LeftJoin, Left: n.Right, Right: n.Left, On: n.On}
}

// pullAggregate groups by the correlated equalities' inner sides too:
//
//	γ(g; f)(σ(k = o)(X))  =  σ(k = o)(γ(g, k; f)(X))    for one outer row o
//
// Not for an aggregate without groups: it makes a row where X is empty (scalarAggregate).
func (d *decorrelator) pullAggregate(n *plan.Aggregate, outer plan.ColSet) (plan.Node, []plan.Expr, bool) {
	if len(n.Groups) == 0 || n.Sets != nil || ownRead(n, outer) {
		return nil, nil, false
	}
	in, preds, ok := d.pull(n.Input, outer)
	if !ok {
		return nil, nil, false
	}
	groups, preds, ok := d.groupBy(n.Groups, preds, outer)
	if !ok {
		return nil, nil, false
	}
	m := *n
	m.Input, m.Groups = in, groups
	return &m, preds, true
}

// groupBy adds the inner sides of equalities to groups, and restates the equalities over them.
func (d *decorrelator) groupBy(groups []plan.Named, preds []plan.Expr, outer plan.ColSet) ([]plan.Named, []plan.Expr, bool) {
	groups = append([]plan.Named(nil), groups...)
	out := make([]plan.Expr, len(preds))
	for i, p := range preds {
		in, o, eq, ok := equality(p, outer)
		if !ok {
			return nil, nil, false
		}
		var col *plan.Column
		for j := range groups {
			if plan.EqualExpr(groups[j].Expr, in) {
				col = &groups[j].Col
			}
		}
		if col == nil {
			c := d.env.column(nameOf(in), in.Type())
			groups = append(groups, plan.Named{Col: c, Expr: in})
			col = &groups[len(groups)-1].Col
		}
		args := []plan.Expr{plan.ColOf(*col), o}
		if plan.EqualExpr(p.(*plan.Call).Args[1], in) {
			args[0], args[1] = args[1], args[0]
		}
		out[i] = &plan.Call{Func: eq, Args: args, Typ: types.T(types.Bool), Pos: -1}
	}
	return groups, out, true
}

func nameOf(e plan.Expr) string {
	if c, ok := e.(*plan.Col); ok {
		return c.Name
	}
	return "key"
}

// pullWindow partitions by the inner sides of the equalities too.
// frameReads tells whether a window's frames depend on columns, which are an enclosing query's: a
// frame is one for all rows, so that such a window runs once per outer row.
func frameReads(n *plan.Window) bool {
	for _, c := range n.Calls {
		for _, o := range []plan.Expr{c.Frame.Start.Offset, c.Frame.End.Offset} {
			if o != nil && len(plan.ExprCols(o)) > 0 {
				return true
			}
		}
	}
	return false
}

func (d *decorrelator) pullWindow(n *plan.Window, outer plan.ColSet) (plan.Node, []plan.Expr, bool) {
	if ownRead(n, outer) {
		return nil, nil, false
	}
	in, preds, ok := d.pull(n.Input, outer)
	if !ok {
		return nil, nil, false
	}
	m := *n
	m.Input = in
	m.Partition = append([]plan.Expr(nil), n.Partition...)
	for _, p := range preds {
		inner, _, _, ok := equality(p, outer)
		if !ok {
			return nil, nil, false
		}
		m.Partition = append(m.Partition, inner)
	}
	return &m, preds, true
}

// ownRead tells whether n's own expressions read any of cols.
func ownRead(n plan.Node, cols plan.ColSet) bool {
	found := false
	plan.NodeExprs(n, func(e plan.Expr) { found = found || plan.ExprCols(e).Intersects(cols) })
	return found
}

// scalarAggregate handles the right side π*(γ(; f)(X)), which makes exactly one row per outer
// row, empty X or not:
//
//	L ⋈ₐ γ(; f)(σ(k = o)(X))  →  L ⟕(k = o) γ(k; f)(X)
//
// where for outer rows without partner sum is NULL, as over no rows, but count must be 0.
func (d *decorrelator) scalarAggregate(a *plan.Apply, outer plan.ColSet) (plan.Node, bool) {
	var projects []*plan.Project
	r := a.Right
	for {
		p, ok := r.(*plan.Project)
		if !ok {
			break
		}
		projects, r = append(projects, p), p.Input
	}
	agg, ok := r.(*plan.Aggregate)
	if !ok || len(agg.Groups) > 0 || agg.Sets != nil || ownRead(agg, outer) {
		return nil, false
	}
	if (a.Kind == plan.LeftJoin || a.Kind == plan.SingleJoin) && a.On != nil {
		return nil, false
	}
	in, preds, ok := d.pull(agg.Input, outer)
	if !ok || len(preds) == 0 {
		return nil, false
	}
	groups, on, ok := d.groupBy(nil, preds, outer)
	if !ok {
		return nil, false
	}
	grouped, fix := d.emptyValues(agg.Aggs)
	n := plan.Node(&plan.Join{Kind: plan.LeftJoin, Left: a.Left, On: plan.AndOf(append(on, a.Guard)...), Guard: a.Guard,
		Right: &plan.Aggregate{Input: in, Groups: groups, Aggs: grouped}})
	left := passThrough(a.Left.Columns())
	n = &plan.Project{Input: n, Exprs: append(append([]plan.Named(nil), left...), fix...)}
	for i := len(projects) - 1; i >= 0; i-- {
		n = &plan.Project{Input: n, Exprs: append(append([]plan.Named(nil), left...), projects[i].Exprs...)}
	}
	return oneRow(a, n), true
}

// oneRow finishes an Apply whose right side, already beside its left row in n, is one row.
func oneRow(a *plan.Apply, n plan.Node) plan.Node {
	switch a.Kind {
	case plan.InnerJoin, plan.SemiJoin:
		return filter(n, a.On)
	case plan.AntiJoin:
		if a.On == nil {
			return empty(a)
		}
		return filter(n, &plan.Not{X: &plan.Coalesce{Args: []plan.Expr{a.On, plan.False()}, Typ: types.T(types.Bool)}})
	case plan.MarkJoin:
		on := a.On
		if on == nil {
			on = plan.True()
		}
		return &plan.Project{Input: n, Exprs: append(passThrough(a.Left.Columns()), plan.Named{Col: a.Mark, Expr: on})}
	}
	return n
}

// emptyValues gives the aggregates fresh columns where the value over no rows is not NULL, and
// the expressions that make the old columns of them.
func (d *decorrelator) emptyValues(aggs []plan.Agg) ([]plan.Agg, []plan.Named) {
	out := append([]plan.Agg(nil), aggs...)
	fix := make([]plan.Named, len(aggs))
	for i := range out {
		col := out[i].Out
		if n := out[i].Func.Name; n == "count" || n == "regr_count" || n == "approx_count_distinct" {
			out[i].Out = d.env.column(col.Name, col.Type)
			zero := &plan.Const{Value: types.NewInt(0), Typ: col.Type}
			fix[i] = plan.Named{Col: col, Expr: &plan.Coalesce{Args: []plan.Expr{plan.ColOf(out[i].Out), zero}, Typ: col.Type}}
			continue
		}
		fix[i] = plan.Named{Col: col, Expr: plan.ColOf(col)}
	}
	return out, fix
}

// projected handles a right side whose topmost projection reads the outer query:
//
//	L ⋈ₐ π(e(l, r))(X)  →  π(l, e(l, r))(L ⋈ X')
//
// For an outer join, e must be NULL where no partner was found: 1 in SELECT 1 is not NULL by
// itself. A column that is TRUE in every row of X' tells.
func (d *decorrelator) projected(a *plan.Apply, outer plan.ColSet) (plan.Node, bool) {
	p, ok := a.Right.(*plan.Project)
	if !ok || a.Kind != plan.InnerJoin && a.Kind != plan.LeftJoin && a.Kind != plan.SingleJoin {
		return nil, false
	}
	m := map[plan.ColID]plan.Expr{}
	for _, e := range p.Exprs {
		if plan.IsVolatile(e.Expr) {
			return nil, false
		}
		m[e.Col.ID] = e.Expr
	}
	in, preds, ok := d.pull(p.Input, outer)
	if !ok {
		return nil, false
	}
	on := plan.AndOf(append([]plan.Expr{a.Guard, plan.Substitute(a.On, m)}, preds...)...)
	exprs := passThrough(a.Left.Columns())
	if a.Kind == plan.InnerJoin {
		exprs = append(exprs, p.Exprs...)
	} else {
		found := d.env.column("found", types.T(types.Bool))
		in = &plan.Project{Input: in, Exprs: append(passThrough(in.Columns()), plan.Named{Col: found, Expr: plan.True()})}
		for _, e := range p.Exprs {
			e.Expr = &plan.Case{Typ: e.Expr.Type(), Whens: []plan.When{{
				Cond: &plan.IsNull{X: plan.ColOf(found), Negate: true}, Then: e.Expr}}}
			exprs = append(exprs, e)
		}
	}
	j := &plan.Join{Kind: a.Kind, Left: a.Left, Right: in, On: on, Guard: a.Guard}
	return &plan.Project{Input: j, Exprs: exprs}, true
}
