package planner

import (
	"sort"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// domain is way 3 of decorrelate. The right side is computed once for every distinct
// combination of the outer values that it reads, by pushing D = δ(π c (L)) down to where they
// are read; the result is joined back on those values, NULL equal to NULL.
//
// D repeats the left side's work, so a volatile left side, whose two computations could
// differ, stays an Apply.
func (d *decorrelator) domain(a *plan.Apply, outer plan.ColSet) (plan.Node, bool) {
	if plan.NodeVolatile(a.Left) || plan.NodeVolatile(a.Right) {
		return nil, false
	}
	var corr []plan.Column
	free := plan.Free(a.Right)
	for _, c := range a.Left.Columns() {
		if free.Has(c.ID) {
			corr = append(corr, c)
		}
	}
	sort.Slice(corr, func(i, j int) bool { return corr[i].ID < corr[j].ID })
	for _, c := range corr {
		if equal(plan.ColOf(c), plan.ColOf(c)) == nil {
			return nil, false // a type without equality: there is no distinct
		}
	}
	u := &domain{env: d.env, corr: corr, set: plan.SetOf(corr)}
	if a.Guard == nil {
		u.left, u.from = origin(a.Left, corr)
	} else {
		// D must have no value that only rows have which do not pass.
		u.left, u.from, u.strict = filter(a.Left, a.Guard), corr, true
	}
	right, m, ok := u.push(a.Right)
	if !ok {
		return nil, false
	}
	terms := []plan.Expr{a.Guard, a.On}
	for _, c := range corr {
		terms = append(terms, notDistinct(plan.ColOf(c), plan.ColOf(m[c.ID])))
	}
	return &plan.Join{Kind: a.Kind, Left: a.Left, Right: right, On: plan.AndOf(terms...), Mark: a.Mark, Guard: costly(a)}, true
}

// guardedDomain is way 3 for a right side that may fail: it is evaluated only beside values of D,
// hence not where a part of it stands below the join with D.
func (d *decorrelator) guardedDomain(a *plan.Apply, outer plan.ColSet) (plan.Node, bool) {
	if mayFail(a.Left) {
		return nil, false // D repeats it
	}
	return d.domain(a, outer)
}

type domain struct {
	strict bool // nothing that may fail may leave D behind
	env    *Env
	left   plan.Node     // where D's values come from
	from   []plan.Column // corr as left has it
	corr   []plan.Column
	set    plan.ColSet
}

// origin finds, below n, a simpler relation whose columns from hold at least the values that
// cols have in n. D may have values that no outer row has: nothing joins with them. Without
// this each of k subqueries on one relation would repeat all the work of those before it.
func origin(n plan.Node, cols []plan.Column) (plan.Node, []plan.Column) {
	within := func(in plan.Node) bool {
		have := plan.SetOf(in.Columns())
		for _, c := range cols {
			if !have.Has(c.ID) {
				return false
			}
		}
		return true
	}
	switch m := n.(type) {
	case *plan.Join:
		switch {
		case m.Kind != plan.RightJoin && m.Kind != plan.FullJoin && within(m.Left):
			return origin(m.Left, cols)
		case (m.Kind == plan.InnerJoin || m.Kind == plan.RightJoin) && within(m.Right):
			return origin(m.Right, cols)
		}
	case *plan.Apply:
		if within(m.Left) {
			return origin(m.Left, cols)
		}
	case *plan.Filter:
		// Terms that can still be tested keep D small.
		in, from := origin(m.Input, cols)
		have := plan.SetOf(in.Columns())
		var terms []plan.Expr
		for _, t := range plan.Conjuncts(m.Pred) {
			if c := plan.ExprCols(t); len(c) > 0 && have.Contains(c) {
				terms = append(terms, t)
			}
		}
		return filter(in, plan.AndOf(terms...)), from
	case *plan.Project:
		from := make([]plan.Column, len(cols))
		for i, c := range cols {
			for _, e := range m.Exprs {
				if x, ok := e.Expr.(*plan.Col); ok && e.Col.ID == c.ID {
					from[i] = plan.Column{ID: x.ID, Name: c.Name, Type: x.Typ}
				}
			}
			if from[i].ID == 0 {
				return n, cols
			}
		}
		if !plan.SetOf(m.Input.Columns()).Contains(plan.SetOf(from)) {
			return n, cols // an enclosing query's column
		}
		return origin(m.Input, from)
	case *plan.Sort:
		if !m.HasLimit {
			return origin(m.Input, cols)
		}
	case *plan.Distinct:
		return origin(m.Input, cols)
	}
	return n, cols
}

// columns maps each outer column to the copy of it that a node makes.
type columns map[plan.ColID]plan.Column

// make builds a fresh D.
func (u *domain) make() (plan.Node, columns) {
	left, ids := plan.Clone(u.left, u.env.fresh)
	exprs := make([]plan.Named, len(u.corr))
	m := columns{}
	for i, c := range u.corr {
		from := u.from[i]
		from.ID = ids[from.ID]
		to := c
		to.ID = u.env.fresh()
		exprs[i] = plan.Named{Col: to, Expr: plan.ColOf(from)}
		m[c.ID] = to
	}
	return &plan.Distinct{Input: &plan.Project{Input: left, Exprs: exprs}}, m
}

// replace makes e read the copies.
func (m columns) replace(e plan.Expr) plan.Expr {
	s := make(map[plan.ColID]plan.Expr, len(m))
	for id, c := range m {
		s[id] = plan.ColOf(c)
	}
	return plan.Substitute(e, s)
}

// exprs are the copies, ordered as the outer columns are.
func (u *domain) exprs(m columns) []plan.Expr {
	out := make([]plan.Expr, len(u.corr))
	for i, c := range u.corr {
		out[i] = plan.ColOf(m[c.ID])
	}
	return out
}

func (u *domain) named(m columns) []plan.Named {
	out := make([]plan.Named, len(u.corr))
	for i, c := range u.corr {
		out[i] = plan.Named{Col: m[c.ID], Expr: plan.ColOf(m[c.ID])}
	}
	return out
}

// push computes n for every row of D at once: the result has n's columns, and the copies m of
// the outer columns beside each row.
func (u *domain) push(n plan.Node) (plan.Node, columns, bool) {
	if !plan.Free(n).Intersects(u.set) {
		if u.strict && mayFail(n) {
			return nil, nil, false
		}
		dom, m := u.make()
		return &plan.Join{Kind: plan.InnerJoin, Left: dom, Right: n}, m, true
	}
	switch n := n.(type) {
	case *plan.Filter:
		in, m, ok := u.push(n.Input)
		if !ok || u.strict && u.sinks(n.Pred) {
			return nil, nil, false
		}
		return filter(in, m.replace(n.Pred)), m, true
	case *plan.Project:
		in, m, ok := u.push(n.Input)
		if !ok {
			return nil, nil, false
		}
		exprs := u.named(m)
		for _, e := range n.Exprs {
			exprs = append(exprs, plan.Named{Col: e.Col, Expr: m.replace(e.Expr)})
		}
		return &plan.Project{Input: in, Exprs: exprs}, m, true
	case *plan.ProjectSet:
		in, m, ok := u.push(n.Input)
		if !ok {
			return nil, nil, false
		}
		exprs := u.named(m)
		for _, e := range n.Exprs {
			exprs = append(exprs, plan.Named{Col: e.Col, Expr: m.replace(e.Expr)})
		}
		return &plan.ProjectSet{Input: in, Exprs: exprs}, m, true
	case *plan.Sort:
		if n.HasLimit {
			return nil, nil, false
		}
		return u.push(n.Input)
	case *plan.Aggregate:
		return u.aggregate(n)
	case *plan.Window:
		if frameReads(n) {
			return nil, nil, false
		}
		in, m, ok := u.push(n.Input)
		if !ok {
			return nil, nil, false
		}
		w := plan.MapNodeExprs(n, m.replace).(*plan.Window)
		w.Input = in
		w.Partition = append(u.exprs(m), w.Partition...)
		return w, m, true
	case *plan.Distinct:
		return u.distinct(n)
	case *plan.Limit:
		return u.limit(n)
	case *plan.Join:
		return u.join(n)
	case *plan.SetOp:
		return u.setOp(n)
	case *plan.Values:
		return u.values(n)
	case *plan.FuncScan:
		dom, m := u.make()
		in, ok := expand(u.env, dom, plan.MapNodeExprs(n, m.replace).(*plan.FuncScan), false)
		return in, m, ok
	}
	return nil, nil, false
}

// sinks tells whether a term of pred may fail and, reading nothing of D, may be tested below.
func (u *domain) sinks(pred plan.Expr) bool {
	for _, t := range plan.Conjuncts(pred) {
		if exprMayFail(t) && !plan.ExprCols(t).Intersects(u.set) {
			return true
		}
	}
	return false
}

// aggregate groups by the copies too. Without groups of its own it makes a row for every row
// of D, also where no input row is: D ⟕ γ, with counts 0.
func (u *domain) aggregate(n *plan.Aggregate) (plan.Node, columns, bool) {
	if n.Sets != nil {
		return nil, nil, false // the empty grouping set among others makes rows of nothing
	}
	in, m, ok := u.push(n.Input)
	if !ok {
		return nil, nil, false
	}
	a := plan.MapNodeExprs(n, m.replace).(*plan.Aggregate)
	a.Input = in
	a.Groups = append(u.named(m), a.Groups...)
	if len(n.Groups) > 0 {
		return a, m, true
	}
	d := &decorrelator{env: u.env}
	var fix []plan.Named
	a.Aggs, fix = d.emptyValues(a.Aggs)
	dom, dm := u.make()
	j := &plan.Join{Kind: plan.LeftJoin, Left: dom, Right: a, On: u.same(dm, m)}
	return &plan.Project{Input: j, Exprs: append(u.named(dm), fix...)}, dm, true
}

// same is the condition that two sets of copies agree.
func (u *domain) same(a, b columns) plan.Expr {
	var terms []plan.Expr
	for _, c := range u.corr {
		terms = append(terms, notDistinct(plan.ColOf(a[c.ID]), plan.ColOf(b[c.ID])))
	}
	return plan.AndOf(terms...)
}

func (u *domain) distinct(n *plan.Distinct) (plan.Node, columns, bool) {
	if n.On == nil {
		in, m, ok := u.push(n.Input)
		if !ok {
			return nil, nil, false
		}
		cols := n.Input.Columns()
		return &plan.Distinct{Input: &plan.Project{Input: in, Exprs: append(u.named(m), passThrough(cols)...)}}, m, true
	}
	// DISTINCT ON keeps the first row in order, so the order must be made again on top of D.
	s, _ := n.Input.(*plan.Sort)
	if s == nil || s.HasLimit {
		return nil, nil, false
	}
	in, m, ok := u.push(s.Input)
	if !ok {
		return nil, nil, false
	}
	keys := u.keys(m)
	for _, k := range s.Keys {
		k.Expr = m.replace(k.Expr)
		keys = append(keys, k)
	}
	on := u.exprs(m)
	for _, e := range n.On {
		on = append(on, m.replace(e))
	}
	return &plan.Distinct{Input: &plan.Sort{Input: in, Keys: keys}, On: on}, m, true
}

func (u *domain) keys(m columns) []plan.SortKey {
	var keys []plan.SortKey
	for _, e := range u.exprs(m) {
		keys = append(keys, plan.SortKey{Expr: e})
	}
	return keys
}

// limit becomes a condition on the row's number within its row of D:
//
//	LIMIT n OFFSET k  →  row_number() OVER (PARTITION BY d ORDER BY keys) in (k, k+n]
func (u *domain) limit(n *plan.Limit) (plan.Node, columns, bool) {
	if n.WithTies {
		return nil, nil, false
	}
	count, ok1 := constCount(n.Count)
	offset, ok2 := constCount(n.Offset)
	if !ok1 || !ok2 || count < -1 || offset < -1 {
		return nil, nil, false // not constant, or an error to be raised at run time
	}
	input, keys := n.Input, []plan.SortKey(nil)
	// The projection between LIMIT and ORDER BY stays above the numbering.
	var project *plan.Project
	if p, ok := input.(*plan.Project); ok {
		if s, ok := p.Input.(*plan.Sort); ok && !s.HasLimit {
			project, input, keys = p, s.Input, s.Keys
		}
	} else if s, ok := input.(*plan.Sort); ok && !s.HasLimit {
		input, keys = s.Input, s.Keys
	}
	in, m, ok := u.push(input)
	if !ok {
		return nil, nil, false
	}
	rn, err := eval.ResolveFunction("row_number", nil, false)
	if err != nil {
		return nil, nil, false
	}
	order := append([]plan.SortKey(nil), keys...)
	for i := range order {
		order[i].Expr = m.replace(order[i].Expr)
	}
	num := u.env.column("row_number", rn.Ret)
	w := &plan.Window{Input: in, Partition: u.exprs(m), Order: order, Calls: []plan.WindowCall{{
		Func: rn.Func, Out: num, Frame: plan.Frame{Mode: plan.RangeFrame,
			Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}}}}
	var terms []plan.Expr
	if offset > 0 {
		terms = append(terms, compareInt(num, ">", offset))
	}
	if count >= 0 {
		terms = append(terms, compareInt(num, "<=", max(offset, 0)+count))
	}
	out := filter(w, plan.AndOf(terms...))
	exprs := u.named(m)
	if project == nil {
		exprs = append(exprs, passThrough(n.Input.Columns())...)
	} else {
		for _, e := range project.Exprs {
			exprs = append(exprs, plan.Named{Col: e.Col, Expr: m.replace(e.Expr)})
		}
	}
	return &plan.Project{Input: out, Exprs: exprs}, m, true
}

// constCount reads LIMIT's or OFFSET's constant; -1: none.
func constCount(e plan.Expr) (int64, bool) {
	if e == nil {
		return -1, true
	}
	c, ok := e.(*plan.Const)
	if !ok || !c.Typ.IsInteger() {
		return 0, false
	}
	if c.Value.IsNull() {
		return -1, true
	}
	if c.Value.Int() < 0 || c.Value.Int() > 1<<62 {
		return 0, false
	}
	return c.Value.Int(), true
}

func compareInt(c plan.Column, op string, v int64) plan.Expr {
	k := intConst(v)
	r, err := eval.ResolveOperator(op, []types.Type{c.Type, k.Typ})
	if err != nil {
		return nil
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{castTo(plan.ColOf(c), r.Args[0]), castTo(k, r.Args[1])}, Typ: types.T(types.Bool), Pos: -1}
}

// join pushes D into the side that reads it, or into both and joins those on the copies too.
// The side whose rows are kept (the left of a left, semi, anti, mark join) must have D in any
// case: it makes rows for each row of D, partner or not.
func (u *domain) join(n *plan.Join) (plan.Node, columns, bool) {
	n = leftward(n)
	if u.strict && (mayFail(n) || u.sinks(n.On)) {
		return nil, nil, false
	}
	l, r := plan.Free(n.Left).Intersects(u.set), plan.Free(n.Right).Intersects(u.set)
	m := *n
	switch n.Kind {
	case plan.InnerJoin:
		if !l && r {
			right, rm, ok := u.push(n.Right)
			m.Right, m.On = right, rm.replace(n.On)
			return &m, rm, ok
		}
	case plan.LeftJoin, plan.SemiJoin, plan.AntiJoin, plan.SingleJoin, plan.MarkJoin:
	default:
		return nil, nil, false
	}
	left, lm, ok := u.push(n.Left)
	if !ok {
		return nil, nil, false
	}
	m.Left, m.On, m.Guard = left, lm.replace(n.On), lm.replace(n.Guard)
	if !r {
		return &m, lm, true
	}
	right, rm, ok := u.push(n.Right)
	if !ok {
		return nil, nil, false
	}
	m.Right = right
	m.On = plan.AndOf(m.On, u.same(lm, rm))
	return &m, lm, true
}

func (u *domain) setOp(n *plan.SetOp) (plan.Node, columns, bool) {
	side := func(in plan.Node) (plan.Node, bool) {
		p, m, ok := u.push(in)
		if !ok {
			return nil, false
		}
		return &plan.Project{Input: p, Exprs: append(u.named(m), passThrough(in.Columns())...)}, true
	}
	l, ok1 := side(n.Left)
	r, ok2 := side(n.Right)
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	m := columns{}
	var cols []plan.Column
	for _, c := range u.corr {
		id := c.ID
		c.ID = u.env.fresh()
		m[id] = c
		cols = append(cols, c)
	}
	return &plan.SetOp{Kind: n.Kind, All: n.All, Left: l, Right: r, Cols: append(cols, n.Cols...)}, m, true
}

// values: one row of outer references is a projection of D. More are left to the Apply.
func (u *domain) values(n *plan.Values) (plan.Node, columns, bool) {
	if len(n.Rows) != 1 {
		return nil, nil, false
	}
	dom, m := u.make()
	exprs := u.named(m)
	for i, e := range n.Rows[0] {
		exprs = append(exprs, plan.Named{Col: n.Cols[i], Expr: m.replace(e)})
	}
	return &plan.Project{Input: dom, Exprs: exprs}, m, true
}
