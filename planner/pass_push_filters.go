package planner

import (
	"sort"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// pushFilters moves every predicate as far down as it may go, at best into a Scan, which then
// owns it. Terms keep their order, so that one which guards another (x <> 0 AND 1/x > 2) still
// stands before it. Volatile terms do not move.
func pushFilters(env *Env, n plan.Node) (plan.Node, error) {
	p := &pusher{env: env}
	return p.push(n, nil), nil
}

type pusher struct{ env *Env }

// push gives σ(preds)(n), with preds inside n where possible.
func (p *pusher) push(n plan.Node, preds []plan.Expr) plan.Node {
	p.env.alive()
	switch n := n.(type) {
	case *plan.Filter:
		return p.filter(n, preds)
	case *plan.Project:
		return p.project(n, preds)
	case *plan.ProjectSet:
		return p.projectSet(n, preds)
	case *plan.Join:
		return p.join(n, preds)
	case *plan.Apply:
		left, stay := sideOnly(preds, plan.SetOf(n.Left.Columns()))
		m := *n
		m.Left, m.Right = p.push(n.Left, left), p.push(n.Right, nil)
		return filter(&m, plan.AndOf(stay...))
	case *plan.Aggregate:
		return p.aggregate(n, preds)
	case *plan.Window:
		// Rows of other partitions have no part in a partition's functions. A predicate on any
		// other column would take rows away from the frames.
		down, stay := sideOnly(preds, bareCols(n.Partition))
		m := *n
		m.Input = p.push(n.Input, down)
		return filter(&m, plan.AndOf(stay...))
	case *plan.Sort:
		if !n.HasLimit {
			return n.WithInputs(p.push(n.Input, preds))
		}
	case *plan.Distinct:
		if n.On == nil {
			return n.WithInputs(withColumns(p.push(n.Input, preds), n.Input.Columns()))
		}
		// DISTINCT ON keeps the first row of each On: only On's own columns say nothing
		// about which is first.
		down, stay := sideOnly(preds, bareCols(n.On))
		return filter(n.WithInputs(p.push(n.Input, down)), plan.AndOf(stay...))
	case *plan.SetOp:
		return p.setOp(n, preds)
	case *plan.Scan:
		return p.scan(n, preds)
	case *plan.Virtual:
		if len(preds) > 0 {
			m := *n
			// It may read an enclosing query's columns: they are constants by the time it runs.
			m.Pred = plan.AndOf(append([]plan.Expr{n.Pred}, preds...)...)
			return filter(&m, plan.AndOf(preds...))
		}
		return n
	}
	// Everything else (LIMIT above all) must see all rows first.
	m, _ := p.env.mapInputs(n, func(x plan.Node) (plan.Node, error) { return p.push(x, nil), nil })
	return filter(m, guarded(preds))
}

func (p *pusher) filter(n *plan.Filter, preds []plan.Expr) plan.Node {
	terms := plan.Conjuncts(n.Pred)
	for i, t := range terms {
		if plan.IsVolatile(t) {
			// Nothing may pass a volatile term, or it would see other rows.
			above := plan.AndOf(append(append([]plan.Expr(nil), terms[i:]...), preds...)...)
			return &plan.Filter{Input: p.push(n.Input, terms[:i]), Pred: above}
		}
	}
	return p.push(n.Input, append(append([]plan.Expr(nil), terms...), preds...))
}

// project: σ(p)(π(e)(X)) = π(e)(σ(p∘e)(X)), unless e is volatile.
func (p *pusher) project(n *plan.Project, preds []plan.Expr) plan.Node {
	m := map[plan.ColID]plan.Expr{}
	for _, e := range n.Exprs {
		m[e.Col.ID] = e.Expr
	}
	var down, stay []plan.Expr
	for _, t := range preds {
		s := plan.Substitute(t, m)
		if plan.IsVolatile(s) {
			stay = append(stay, t)
			continue
		}
		down = append(down, p.env.foldDeep(s))
	}
	return filter(&plan.Project{Input: p.push(n.Input, down), Exprs: n.Exprs}, guarded(stay))
}

// projectSet: terms that read no set decide about all rows of an input row alike.
func (p *pusher) projectSet(n *plan.ProjectSet, preds []plan.Expr) plan.Node {
	plain := map[plan.ColID]plan.Expr{}
	cols := plan.ColSet{}
	for _, e := range n.Exprs {
		if !isSetCall(e.Expr) && !plan.IsVolatile(e.Expr) {
			plain[e.Col.ID] = e.Expr
			cols.Add(e.Col.ID)
		}
	}
	down, stay := sideOnly(preds, cols)
	for i := range down {
		down[i] = p.env.foldDeep(plan.Substitute(down[i], plain))
	}
	return filter(n.WithInputs(p.push(n.Input, down)), plan.AndOf(stay...))
}

// aggregate: a predicate on group columns decides whole groups, so their rows may go before.
// With grouping sets only for columns that are in every set: elsewhere they are NULL above and
// values below. Without groups never: σ(false)(γ(;count)(X)) has no row, γ(;count)(σ(false)(X)) one.
func (p *pusher) aggregate(n *plan.Aggregate, preds []plan.Expr) plan.Node {
	m := map[plan.ColID]plan.Expr{}
	cols := plan.ColSet{}
	for i, g := range n.Groups {
		if inEverySet(n.Sets, i) && !plan.IsVolatile(g.Expr) {
			m[g.Col.ID] = g.Expr
			cols.Add(g.Col.ID)
		}
	}
	down, stay := sideOnly(preds, cols)
	for i := range down {
		down[i] = p.env.foldDeep(plan.Substitute(down[i], m))
	}
	a := *n
	a.Input = p.push(n.Input, down)
	return filter(&a, guarded(stay))
}

func inEverySet(sets [][]int, group int) bool {
	for _, s := range sets {
		found := false
		for _, i := range s {
			found = found || i == group
		}
		if !found {
			return false
		}
	}
	return true
}

// setOp: a filter of a union is the union of filters; of rows in both (or in left but not
// right) it is enough on both, as equal rows pass alike.
func (p *pusher) setOp(n *plan.SetOp, preds []plan.Expr) plan.Node {
	if n.Kind == plan.Except {
		// A row that the right side takes away is not to be asked.
		var stay []plan.Expr
		preds, stay = splitFallible(preds)
		if len(stay) > 0 {
			return filter(p.setOp(n, preds), plan.AndOf(stay...))
		}
	}
	side := func(in plan.Node) plan.Node {
		m := map[plan.ColID]plan.Expr{}
		cols := in.Columns()
		for i, c := range n.Cols {
			m[c.ID] = plan.ColOf(cols[i])
		}
		down := make([]plan.Expr, len(preds))
		for i, t := range preds {
			down[i] = plan.Substitute(t, m)
		}
		return withColumns(p.push(in, down), cols)
	}
	m := *n
	m.Left, m.Right = side(n.Left), side(n.Right)
	return &m
}

// splitFallible parts the terms that cannot fail from those that can.
func splitFallible(terms []plan.Expr) (safe, fallible []plan.Expr) {
	for _, t := range terms {
		if exprMayFail(t) {
			fallible = append(fallible, t)
		} else {
			safe = append(safe, t)
		}
	}
	return safe, fallible
}

// guarded puts the terms that can fail behind those that cannot, the dearer ones last, as PostgreSQL's
// order by cost does: 1 / v > 0 AND v <> 0 does not fail.
func guarded(terms []plan.Expr) plan.Expr {
	if anyVolatile(terms) {
		return plan.AndOf(terms...)
	}
	safe, fallible := splitFallible(terms)
	sort.SliceStable(fallible, func(i, j int) bool { return callCost(fallible[i]) < callCost(fallible[j]) })
	return plan.AndOf(append(safe, fallible...)...)
}

// callCost counts the functions that e calls, as PostgreSQL does: a cast by way of text is two.
func callCost(e plan.Expr) float64 {
	n := 0.0
	plan.WalkExpr(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			n++
		case *plan.InList:
			n += float64(len(x.List)) / 2
		case *plan.Cast:
			if from, to := x.X.Type(), x.Typ; from.IsString() != to.IsString() {
				n += 2
			} else if !from.Same(to) && !from.IsString() {
				n++
			}
		}
		return true
	})
	return n
}

// scan takes what reads its own columns only; what reads an enclosing query's stays above.
func (p *pusher) scan(n *plan.Scan, preds []plan.Expr) plan.Node {
	cols := plan.Made(n)
	var own, stay []plan.Expr
	for _, t := range preds {
		if cols.Contains(plan.ExprCols(t)) && !plan.IsVolatile(t) && !plan.HasSubquery(t) {
			own = append(own, t)
		} else {
			stay = append(stay, t)
		}
	}
	if len(own) == 0 {
		return filter(n, plan.AndOf(stay...))
	}
	m := *n
	m.Pred = guarded(append(plan.Conjuncts(n.Pred), own...))
	return filter(&m, guarded(stay))
}

// sideOnly splits preds into those that read columns of side and of nothing else in reach, and
// the rest. Terms without columns stay.
func sideOnly(preds []plan.Expr, side plan.ColSet) (down, stay []plan.Expr) {
	for _, t := range preds {
		if c := plan.ExprCols(t); len(c) > 0 && side.Contains(c) && !plan.IsVolatile(t) {
			down = append(down, t)
		} else {
			stay = append(stay, t)
		}
	}
	return down, stay
}

func bareCols(exprs []plan.Expr) plan.ColSet {
	s := plan.ColSet{}
	for _, e := range exprs {
		if c, ok := e.(*plan.Col); ok {
			s.Add(c.ID)
		}
	}
	return s
}

// join pushes by the kind of the join. above are predicates on its result, On its condition.
//
//	kind   above on L   above on R   On on L      On on R
//	inner  into L       into R       into L       into R
//	left   into L       stays¹       stays²       into R
//	semi   into L       –            into L       into R
//	anti   into L       –            stays²       into R
//	single as left
//	mark   into L       –            stays        stays³
//	full   stays        stays        stays        stays
//
// ¹ σ(r.x IS NULL)(L ⟕ R) wants rows without partner; inside R it would make more of them.
// ² A left row for which it is false stays in the result, without partner.
// ³ Where it is NULL the mark may be NULL; a filter would make it false.
//
// Right joins are the mirror image.
func (p *pusher) join(n *plan.Join, above []plan.Expr) plan.Node {
	m := *n
	l, r := plan.SetOf(n.Left.Columns()), plan.SetOf(n.Right.Columns())
	on := plan.Conjuncts(n.On)
	var left, right, stayOn, stay []plan.Expr
	switch n.Kind {
	case plan.InnerJoin:
		all := append(append([]plan.Expr(nil), above...), on...)
		all = append(all, transitive(all)...)
		for _, t := range all {
			switch c := plan.ExprCols(t); {
			case plan.IsVolatile(t):
				stay = append(stay, t)
			case !c.Intersects(r) && c.Intersects(l):
				left = append(left, t)
			case !c.Intersects(l) && c.Intersects(r):
				right = append(right, t)
			default:
				stayOn = append(stayOn, t)
			}
		}
		left, right = withImplied(stayOn, left, l), withImplied(stayOn, right, r)
	case plan.LeftJoin, plan.SingleJoin, plan.AntiJoin, plan.SemiJoin:
		left, stay = sideOnly(above, l)
		semi := n.Kind == plan.SemiJoin
		for _, t := range append(on, equalsOf(above, on)...) {
			switch c := plan.ExprCols(t); {
			case plan.IsVolatile(t):
				stayOn = append(stayOn, t)
			case !c.Intersects(l) && c.Intersects(r):
				right = append(right, t)
			case semi && !c.Intersects(r) && c.Intersects(l):
				left = append(left, t)
			default:
				stayOn = append(stayOn, t)
			}
		}
		right = withImplied(stayOn, right, r)
	case plan.RightJoin:
		right, stay = sideOnly(above, r)
		for _, t := range append(on, equalsOf(above, on)...) {
			if c := plan.ExprCols(t); !c.Intersects(r) && c.Intersects(l) && !plan.IsVolatile(t) {
				left = append(left, t)
			} else {
				stayOn = append(stayOn, t)
			}
		}
		left = withImplied(stayOn, left, l)
	case plan.MarkJoin:
		left, stay = sideOnly(above, l)
		stayOn = on
	default:
		stay, stayOn = above, on
	}
	m.Left, m.Right, m.On = p.push(n.Left, left), p.push(n.Right, right), guarded(stayOn)
	return filter(&m, guarded(stay))
}

// withImplied adds to a side's terms what the terms over both sides imply for it.
func withImplied(both, side []plan.Expr, cols plan.ColSet) []plan.Expr {
	for _, t := range both {
		if d := implied(t, cols); d != nil && !hasEqual(side, d) {
			side = append(side, d)
		}
	}
	return side
}

// transitive derives b op k from a = b and a op k, where a and b are columns: for inner joins,
// where all terms must hold.
func transitive(terms []plan.Expr) []plan.Expr {
	out := equalsOf(terms, terms)
	// Chains a = b = c need another round; each adds terms on columns that had none.
	for i := 0; i < 4 && len(out) > 0; i++ {
		more := equalsOf(append(append([]plan.Expr(nil), terms...), out...), terms)
		if len(more) == 0 {
			break
		}
		out = append(out, more...)
	}
	return out
}

// equalsOf derives terms over columns that equal (by an equality in on) columns which facts
// compare with constants. Only comparisons carry over: equal values (1.0 and 1.00, 0.0 and
// -0.0) compare alike, but functions may tell them apart.
func equalsOf(facts, on []plan.Expr) []plan.Expr {
	type pair struct{ a, b *plan.Col }
	var eqs []pair
	for _, t := range on {
		c, ok := t.(*plan.Call)
		if !ok || !plan.IsOp(t, "=") {
			continue
		}
		a, ok1 := c.Args[0].(*plan.Col)
		b, ok2 := c.Args[1].(*plan.Col)
		if ok1 && ok2 && a.Typ.Equal(b.Typ) {
			eqs = append(eqs, pair{a, b}, pair{b, a})
		}
	}
	var out []plan.Expr
	for _, f := range facts {
		col := comparedColumn(f)
		if col == nil {
			continue
		}
		for _, q := range eqs {
			if q.a.ID != col.ID {
				continue
			}
			d := plan.Substitute(f, map[plan.ColID]plan.Expr{col.ID: q.b})
			if !hasEqual(facts, d) && !hasEqual(on, d) && !hasEqual(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// comparedColumn gives the column of `column op constant` or `column IN (constants)`.
func comparedColumn(e plan.Expr) *plan.Col {
	switch e := e.(type) {
	case *plan.InList:
		c, _ := e.X.(*plan.Col)
		return c
	case *plan.Call:
		if len(e.Args) != 2 || !e.Func.Operator || commuted[e.Func.Name] == "" {
			return nil
		}
		c, ok := e.Args[0].(*plan.Col)
		k, isConst := e.Args[1].(*plan.Const)
		if ok && isConst && !k.Value.IsNull() && k.Typ.Kind != types.Invalid {
			return c
		}
	}
	return nil
}
