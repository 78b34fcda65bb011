package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// unnestSubqueries turns every embedded query into an Apply below the operator that reads it:
//
//	σ(EXISTS q)(R)        →  R ⋉ₐ q
//	σ(NOT EXISTS q)(R)    →  R ▷ₐ q
//	σ(x IN q)(R)          →  R ⋉ₐ q on x = q.c
//	π(… (q) …)(R)         →  π(… q.c …)(R ⟕ₐ q), failing at a second row of q
//	f(x IN q) elsewhere   →  f(mark)(R markₐ q)
//
// NOT IN is no anti join: 1 NOT IN (2, NULL) is NULL, while an anti join on 1 = c would keep
// the row. It becomes NOT mark, unless neither side can be NULL.
func unnestSubqueries(env *Env, n plan.Node) (plan.Node, error) {
	u := &unnester{env: env}
	return u.node(n)
}

type unnester struct{ env *Env }

func (u *unnester) node(n plan.Node) (plan.Node, error) {
	n, err := u.env.mapInputs(n, u.node)
	if err != nil {
		return nil, err
	}
	found := false
	plan.NodeExprs(n, func(e plan.Expr) { found = found || plan.HasSubquery(e) })
	if !found {
		return n, nil
	}
	m, err := u.unnest(n)
	if err != nil {
		return nil, err
	}
	return withColumns(m, n.Columns()), nil
}

func (u *unnester) unnest(n plan.Node) (plan.Node, error) {
	switch n := n.(type) {
	case *plan.Filter:
		return u.filter(n.Input, n.Pred)
	case *plan.Join:
		return u.join(n)
	case *plan.Apply:
		// LATERAL with a condition: the condition moves into the right side, where its
		// subqueries become Applies in turn.
		right, err := u.filter(n.Right, n.On)
		return &plan.Apply{Kind: n.Kind, Left: n.Left, Right: withColumns(right, n.Right.Columns()), Mark: n.Mark, Guard: n.Guard}, err
	case *plan.Values:
		return u.values(n)
	case *plan.FuncScan:
		in, m, err := u.extractAll(unit(), n)
		return &plan.Apply{Kind: plan.InnerJoin, Left: in, Right: m}, err
	case *plan.Project, *plan.ProjectSet, *plan.Aggregate, *plan.Window, *plan.Sort, *plan.Distinct:
		in, m, err := u.extractAll(n.Inputs()[0], n)
		if err != nil {
			return nil, err
		}
		return m.WithInputs(in), nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a subquery is not supported in this place")
}

// extractAll replaces the subqueries in n's own expressions, stacking Applies on in.
func (u *unnester) extractAll(in plan.Node, n plan.Node) (plan.Node, plan.Node, error) {
	var err error
	m := plan.MapNodeExprs(n, func(e plan.Expr) plan.Expr {
		if err != nil || !plan.HasSubquery(e) {
			return e
		}
		in, e, err = u.extract(in, e, nil)
		return e
	})
	return in, m, err
}

// filter builds σ(pred)(in). Terms without subqueries go first: they are cheaper.
func (u *unnester) filter(in plan.Node, pred plan.Expr) (plan.Node, error) {
	var plain, nested []plan.Expr
	for _, c := range plan.Conjuncts(pred) {
		if plan.HasSubquery(c) {
			nested = append(nested, c)
		} else {
			plain = append(plain, c)
		}
	}
	in = filter(in, plan.AndOf(plain...))
	for _, c := range nested {
		out, ok, err := u.semi(in, c)
		if err != nil {
			return nil, err
		}
		if ok {
			in = out
			continue
		}
		if in, c, err = u.extract(in, c, nil); err != nil {
			return nil, err
		}
		in = filter(in, c)
	}
	return in, nil
}

// semi handles the terms that are semi and anti joins by themselves.
func (u *unnester) semi(in plan.Node, c plan.Expr) (plan.Node, bool, error) {
	not := false
	for {
		x, ok := c.(*plan.Not)
		if !ok {
			break
		}
		not, c = !not, x.X
	}
	s, ok := c.(*plan.Subquery)
	if !ok {
		return nil, false, nil
	}
	for _, t := range s.Test {
		if plan.HasSubquery(t) {
			return nil, false, nil
		}
	}
	kind := plan.SemiJoin
	if not {
		kind = plan.AntiJoin
	}
	switch s.Kind {
	case plan.ExistsSubquery:
		p, err := u.node(s.Plan)
		if err == nil && len(plan.Free(p)) == 0 {
			p = &plan.Limit{Input: p, Count: intConst(1)}
		}
		return &plan.Apply{Kind: kind, Left: in, Right: p}, true, err
	case plan.AnySubquery:
		if not && !u.neverNull(in, s) {
			return nil, false, nil
		}
		p, err := u.node(s.Plan)
		return &plan.Apply{Kind: kind, Left: in, Right: p, On: anyTest(s, p)}, true, err
	}
	return nil, false, nil
}

// neverNull tells whether neither side of x IN q can be NULL.
func (u *unnester) neverNull(in plan.Node, s *plan.Subquery) bool {
	have := in.Columns()
	for i, c := range s.Plan.Columns() {
		if !c.NotNull || !notNull(s.Test[i], have) {
			return false
		}
	}
	return true
}

func notNull(e plan.Expr, cols []plan.Column) bool {
	switch e := e.(type) {
	case *plan.Const:
		return !e.Value.IsNull()
	case *plan.Col:
		for _, c := range cols {
			if c.ID == e.ID {
				return c.NotNull
			}
		}
	}
	return false
}

// anyTest is the condition under which a row of p makes `Test Op ANY (p)` true.
func anyTest(s *plan.Subquery, p plan.Node) plan.Expr {
	cols := p.Columns()
	terms := make([]plan.Expr, len(s.Test))
	differ := false
	for i, t := range s.Test {
		terms[i] = &plan.Call{Func: s.Ops[i], Args: []plan.Expr{t, plan.ColOf(cols[i])}, Typ: types.T(types.Bool), Pos: s.Pos}
		differ = differ || s.Ops[i].Name == "<>"
	}
	if differ { // rows differ if any member does
		return plan.OrOf(terms...)
	}
	return plan.AndOf(terms...)
}

// value makes one subquery, with its plan p unnested, a column. It is read only in rows that
// pass guard.
func (u *unnester) value(in plan.Node, s *plan.Subquery, p plan.Node, guard plan.Expr) (plan.Node, plan.Expr, error) {
	switch s.Kind {
	case plan.ScalarSubquery:
		col := p.Columns()[0]
		if pr, ok := p.(*plan.Project); ok && isUnit(pr.Input) { // (SELECT expression)
			return in, pr.Exprs[0].Expr, nil
		}
		kind := plan.SingleJoin
		if atMostOneRow(p) {
			kind = plan.LeftJoin
		}
		return &plan.Apply{Kind: kind, Left: in, Right: p, Guard: guard}, plan.ColOf(col), nil
	case plan.ExistsSubquery:
		mark := u.env.column("exists", types.T(types.Bool))
		if len(plan.Free(p)) == 0 {
			p = &plan.Limit{Input: p, Count: intConst(1)}
		}
		// A mark is NULL where a pulled-up condition is NULL; EXISTS never is.
		e := &plan.Coalesce{Args: []plan.Expr{plan.ColOf(mark), plan.False()}, Typ: mark.Type}
		return &plan.Apply{Kind: plan.MarkJoin, Left: in, Right: p, Mark: mark, Guard: guard}, e, nil
	case plan.AnySubquery:
		mark := u.env.column("any", types.T(types.Bool))
		return &plan.Apply{Kind: plan.MarkJoin, Left: in, Right: p, On: anyTest(s, p), Mark: mark, Guard: guard}, plan.ColOf(mark), nil
	case plan.AllSubquery:
		// x op ALL q  =  NOT (NOT (x op c) ANY), NULLs included.
		mark := u.env.column("all", types.T(types.Bool))
		on := simplifyNot(&plan.Not{X: anyTest(s, p)})
		return &plan.Apply{Kind: plan.MarkJoin, Left: in, Right: p, On: on, Mark: mark, Guard: guard}, &plan.Not{X: plan.ColOf(mark)}, nil
	case plan.ArraySubquery:
		return u.array(in, s, p, guard)
	}
	return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "this form of subquery is not supported")
}

// array is ARRAY(q): array_agg in q's order. An empty q gives an empty array, not NULL.
func (u *unnester) array(in plan.Node, s *plan.Subquery, p plan.Node, guard plan.Expr) (plan.Node, plan.Expr, error) {
	col := p.Columns()[0]
	r, err := eval.ResolveFunction("array_agg", []types.Type{col.Type}, false)
	if err != nil {
		return nil, nil, err
	}
	var order []plan.SortKey
	if so, ok := p.(*plan.Sort); ok && !so.HasLimit {
		order, p = so.Keys, so.Input
	} else if pr, ok := p.(*plan.Project); ok {
		if so, ok := pr.Input.(*plan.Sort); ok && !so.HasLimit {
			// The sort keys must survive the projection.
			order = so.Keys
			p = &plan.Project{Input: so.Input, Exprs: append(append([]plan.Named(nil), pr.Exprs...), u.keyColumns(&order)...)}
		}
	}
	out := u.env.column(col.Name, s.Typ)
	agg := &plan.Aggregate{Input: p, Aggs: []plan.Agg{{
		Func: r.Func, Args: []plan.Expr{castTo(plan.ColOf(col), r.Args[0])}, OrderBy: order, Out: out}}}
	none := &plan.Const{Value: types.NewList(nil), Typ: s.Typ}
	e := &plan.Coalesce{Args: []plan.Expr{plan.ColOf(out), none}, Typ: s.Typ}
	return &plan.Apply{Kind: plan.LeftJoin, Left: in, Right: agg, Guard: guard}, e, nil
}

// keyColumns computes sort keys as columns, and makes the keys read those.
func (u *unnester) keyColumns(keys *[]plan.SortKey) []plan.Named {
	out := make([]plan.Named, len(*keys))
	sorted := append([]plan.SortKey(nil), *keys...)
	for i, k := range sorted {
		c := u.env.column("key", k.Expr.Type())
		out[i] = plan.Named{Col: c, Expr: k.Expr}
		sorted[i].Expr = plan.ColOf(c)
	}
	*keys = sorted
	return out
}

// join handles subqueries in ON. Of an inner join ON is a filter above. An outer join's term
// that reads one side only is computed on that side; else the whole condition moves into a
// lateral right side:  L ⟕(p) R  =  L ⟕ₐ σ(p)(R).
func (u *unnester) join(n *plan.Join) (plan.Node, error) {
	if n.Kind == plan.InnerJoin {
		return u.filter(&plan.Join{Kind: plan.InnerJoin, Left: n.Left, Right: n.Right}, n.On)
	}
	m := *n
	l, r := plan.SetOf(n.Left.Columns()), plan.SetOf(n.Right.Columns())
	var terms []plan.Expr
	for _, c := range plan.Conjuncts(n.On) {
		if plan.HasSubquery(c) {
			used := plan.ExprCols(c)
			var err error
			switch {
			case !used.Intersects(l):
				m.Right, c, err = u.extract(m.Right, c, nil)
			case !used.Intersects(r):
				m.Left, c, err = u.extract(m.Left, c, nil)
			default:
				return u.lateral(n)
			}
			if err != nil {
				return nil, err
			}
		}
		terms = append(terms, c)
	}
	m.On = plan.AndOf(terms...)
	return &m, nil
}

func (u *unnester) lateral(n *plan.Join) (plan.Node, error) {
	left, right := n.Left, n.Right
	switch n.Kind {
	case plan.LeftJoin:
	case plan.RightJoin:
		left, right = right, left
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a subquery over both sides is not supported in a FULL JOIN's condition")
	}
	inner, err := u.filter(right, n.On)
	if err != nil {
		return nil, err
	}
	return &plan.Apply{Kind: plan.LeftJoin, Left: left, Right: withColumns(inner, right.Columns())}, nil
}

// values makes rows with subqueries a union of projections.
func (u *unnester) values(n *plan.Values) (plan.Node, error) {
	var all plan.Node
	for _, row := range n.Rows {
		p := &plan.Project{Input: unit(), Exprs: make([]plan.Named, len(row))}
		for i, e := range row {
			c := n.Cols[i]
			c.ID = u.env.fresh()
			p.Exprs[i] = plan.Named{Col: c, Expr: e}
		}
		one, err := u.node(p)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
			continue
		}
		cols := append([]plan.Column(nil), n.Cols...)
		for i := range cols {
			cols[i].ID = u.env.fresh()
		}
		all = &plan.SetOp{Kind: plan.Union, All: true, Left: all, Right: one, Cols: cols}
	}
	exprs := make([]plan.Named, len(n.Cols))
	for i, c := range all.Columns() {
		exprs[i] = plan.Named{Col: n.Cols[i], Expr: plan.ColOf(c)}
	}
	return &plan.Project{Input: all, Exprs: exprs}, nil
}

// atMostOneRow tells whether n surely makes no second row.
func atMostOneRow(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Values:
		return len(n.Rows) <= 1
	case *plan.Aggregate:
		return len(n.Groups) == 0 && len(n.Sets) <= 1
	case *plan.Limit:
		if c, ok := n.Count.(*plan.Const); ok && !c.Value.IsNull() && c.Value.Int() <= 1 && !n.WithTies {
			return true
		}
		return atMostOneRow(n.Input)
	case *plan.Project, *plan.Filter, *plan.Sort, *plan.Window, *plan.Distinct:
		return atMostOneRow(n.Inputs()[0])
	case *plan.Join:
		return n.Kind == plan.InnerJoin && atMostOneRow(n.Left) && atMostOneRow(n.Right)
	case *plan.Apply:
		if n.Kind == plan.InnerJoin || n.Kind == plan.LeftJoin {
			return atMostOneRow(n.Left) && atMostOneRow(n.Right)
		}
		return atMostOneRow(n.Left)
	}
	return false
}

func intConst(i int64) *plan.Const {
	return &plan.Const{Value: types.NewInt(i), Typ: types.T(types.Int8)}
}

// castTo gives e the type t if it has another.
func castTo(e plan.Expr, t types.Type) plan.Expr {
	switch t.Kind {
	case types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray:
		return e
	}
	if e.Type().Same(t) {
		return e
	}
	return &plan.Cast{X: e, Typ: t, Context: plan.Implicit, Pos: -1}
}

// equal is a = b with the casts that the operator wants; nil if the types have no equality.
func equal(a, b plan.Expr) *plan.Call {
	r, err := eval.ResolveOperator("=", []types.Type{a.Type(), b.Type()})
	if err != nil {
		return nil
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{castTo(a, r.Args[0]), castTo(b, r.Args[1])}, Typ: types.T(types.Bool), Pos: -1}
}

// notDistinct is a IS NOT DISTINCT FROM b; nil if the types have no equality.
func notDistinct(a, b plan.Expr) plan.Expr {
	r, err := eval.ResolveOperator(plan.NotDistinctOp, []types.Type{a.Type(), b.Type()})
	if err != nil {
		return nil
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{castTo(a, r.Args[0]), castTo(b, r.Args[1])}, Typ: types.T(types.Bool), Pos: -1}
}
