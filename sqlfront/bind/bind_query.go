package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// output is one output column of a query that is bound and not built yet.
type output struct {
	name string
	typ  types.Type
	pos  int
	// origin of a plain column, for RowDescription.
	tableOID uint32
	attnum   int16
}

// query is a bound query before it becomes nodes. Between the two phases its owner may settle
// the types of its outputs: the other side of a UNION, INSERT's target columns.
type query interface {
	outputs() []output
	// coerce changes output i to type t; typ of the output is then t.
	coerce(i int, t types.Type, ctx plan.CastContext)
	// build makes the nodes; called once.
	build() plan.Node
}

// query binds q under parent. resolve: outputs whose type is still unknown become text
// (p_resolve_unknowns).
func (b *binder) query(q *ast.Query, parent *level, resolve bool) query {
	b.enter(q.Pos)
	defer b.leave()
	lv := newLevel(parent)
	var with *withState
	if q.With != nil {
		with = b.with(q.With, lv)
	}
	var r query
	switch body := q.Body.(type) {
	case *ast.Select:
		r = b.selectQuery(q, body, lv)
	case *ast.Values:
		r = b.valuesQuery(q, body, lv)
	case *ast.SetOp:
		r = b.setOpQuery(q, body, lv)
	}
	if resolve {
		for i, o := range r.outputs() {
			if o.typ.Kind == types.Unknown {
				r.coerce(i, types.T(types.Text), plan.Implicit)
			}
		}
	}
	if with != nil {
		return &withQuery{query: r, b: b, with: with}
	}
	return r
}

// subplan binds and builds a query whose types nobody else settles.
func (b *binder) subplan(q *ast.Query, parent *level) (plan.Node, []output) {
	r := b.query(q, parent, true)
	out := r.outputs()
	return r.build(), out
}

// ---- VALUES ----

type valuesState struct {
	b    *binder
	q    *ast.Query
	lv   *level
	rows [][]plan.Expr
	outs []output
	tail tail
}

func (b *binder) valuesQuery(q *ast.Query, v *ast.Values, lv *level) query {
	s := &valuesState{b: b, q: q, lv: lv}
	lv.kind = inValues
	n := len(v.Rows[0])
	for _, row := range v.Rows {
		if len(row) != n {
			pos := v.Pos
			if len(row) > 0 {
				pos = leftmost(row[0])
			}
			b.fail(sqlerr.SyntaxError, pos, "VALUES lists must all be the same length")
		}
		out := make([]plan.Expr, n)
		for i, e := range row {
			if d, ok := e.(*ast.Default); ok {
				b.fail(sqlerr.SyntaxError, d.Pos, "DEFAULT is not allowed in this context")
			}
			out[i] = b.expr(lv, e)
		}
		s.rows = append(s.rows, out)
	}
	for i := 0; i < n; i++ {
		column := make([]plan.Expr, len(s.rows))
		for r := range s.rows {
			column[r] = s.rows[r][i]
		}
		t := b.commonType("VALUES", column, len(s.rows) > 1)
		for r := range s.rows {
			s.rows[r][i] = b.coerce(column[r], t, plan.Implicit)
		}
		s.outs = append(s.outs, output{name: b.d.valuesColumn(i), typ: t, pos: b.posOf(column[0])})
	}
	s.tail = b.outputTail(q, lv, func() []plan.Column { return s.columns() })
	return s
}

func (s *valuesState) outputs() []output { return s.outs }

func (s *valuesState) coerce(i int, t types.Type, ctx plan.CastContext) {
	for r := range s.rows {
		s.rows[r][i] = s.b.coerce(s.rows[r][i], t, ctx)
	}
	s.outs[i].typ = t
	s.tail.retype(i, t)
}

// columns are made at the first need: ORDER BY refers to them before the node exists.
func (s *valuesState) columns() []plan.Column {
	c := make([]plan.Column, len(s.outs))
	for i, o := range s.outs {
		c[i] = s.b.newColumn(o.name, o.typ)
	}
	return c
}

func (s *valuesState) build() plan.Node {
	cols := s.tail.columns(s.outs)
	return s.tail.build(&plan.Values{Cols: cols, Rows: s.rows})
}

// ---- UNION, INTERSECT, EXCEPT ----

type setOpState struct {
	b           *binder
	op          *ast.SetOp
	left, right query
	outs        []output
	tail        tail
	casts       []castTo
}

type castTo struct {
	i   int
	t   types.Type
	ctx plan.CastContext
}

var setOpNames = map[string]string{"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}

func (b *binder) setOpQuery(q *ast.Query, op *ast.SetOp, lv *level) query {
	s := &setOpState{b: b, op: op}
	s.left = b.query(op.Left, lv, false)
	s.right = b.query(op.Right, lv, false)
	s.outs = b.unify(setOpNames[op.Op], s.left, s.right, op.Right)
	if !(op.Op == "union" && op.All) {
		for _, o := range s.outs {
			b.needEquality(o.typ, o.pos)
		}
	}
	s.tail = b.outputTail(q, lv, func() []plan.Column {
		c := make([]plan.Column, len(s.outs))
		for i, o := range s.outs {
			c[i] = b.newColumn(o.name, o.typ)
		}
		return c
	})
	return s
}

// unify gives both sides of a set operation the same types; names are the left's.
func (b *binder) unify(name string, left, right query, rightAST *ast.Query) []output {
	l, r := left.outputs(), right.outputs()
	if len(l) != len(r) {
		pos := rightAST.Pos
		if len(r) > 0 {
			pos = r[0].pos
		}
		b.fail(sqlerr.SyntaxError, pos, "each %s query must have the same number of columns", name)
	}
	outs := make([]output, len(l))
	for i := range l {
		t, err := b.d.CommonType(name, []types.Type{l[i].typ, r[i].typ})
		b.check(err, r[i].pos)
		left.coerce(i, t, plan.Implicit)
		right.coerce(i, t, plan.Implicit)
		outs[i] = output{name: l[i].name, typ: t, pos: l[i].pos}
	}
	return outs
}

func (s *setOpState) outputs() []output { return s.outs }

func (s *setOpState) coerce(i int, t types.Type, ctx plan.CastContext) {
	if s.outs[i].typ.Equal(t) {
		return
	}
	// Rows are told apart by the types that the operation itself has, so the cast comes after.
	s.casts = append(s.casts, castTo{i, t, ctx})
	s.outs[i].typ = t
}

func (s *setOpState) build() plan.Node {
	kinds := map[string]plan.SetOpKind{"union": plan.Union, "intersect": plan.Intersect, "except": plan.Except}
	outs := append([]output(nil), s.outs...)
	if len(s.casts) > 0 {
		for i, c := range s.left.outputs() {
			outs[i].typ = c.typ
		}
	}
	l, r := s.left.build(), s.right.build()
	n := s.tail.build(s.b.setOp(&plan.SetOp{Kind: kinds[s.op.Op], All: s.op.All, Left: l, Right: r, Cols: s.tail.columns(outs)}))
	return s.b.castOutputs(n, s.casts)
}

// castOutputs projects n with some columns cast.
func (b *binder) castOutputs(n plan.Node, casts []castTo) plan.Node {
	if len(casts) == 0 {
		return n
	}
	p := &plan.Project{Input: n, Exprs: passing(n.Columns())}
	for _, c := range casts {
		x := &p.Exprs[c.i]
		x.Expr = b.coerce(x.Expr, c.t, c.ctx)
		col := b.newColumn(x.Col.Name, c.t)
		x.Col = col
	}
	return p
}

// ---- ORDER BY and LIMIT over outputs only ----

// tail is the ORDER BY and LIMIT of VALUES and of a set operation.
type tail struct {
	b     *binder
	cols  []plan.Column // nil until needed
	make  func() []plan.Column
	keys  []plan.SortKey
	of    []int // which column each key sorts by
	limit *limitState
}

func (b *binder) outputTail(q *ast.Query, lv *level, cols func() []plan.Column) tail {
	t := tail{b: b, make: cols}
	if len(q.OrderBy) > 0 {
		t.cols = cols()
		// ORDER BY sees the outputs as the only names.
		olv := newLevel(lv)
		olv.kind = inOrderBy
		it := &item{colSeen: true}
		for _, c := range t.cols {
			b.own(c, "", olv, fromInput)
			it.cols = append(it.cols, itemCol{name: c.Name, col: c})
		}
		olv.items = []*item{it}
		for _, o := range q.OrderBy {
			i := b.orderOutput(olv, o, t.cols)
			b.needOrdering(t.cols[i].Type, leftmost(o.Expr))
			t.keys = append(t.keys, b.sortKey(plan.ColOf(t.cols[i]), o))
			t.of = append(t.of, i)
		}
	}
	t.limit = b.limit(q, lv)
	return t
}

// orderOutput finds the output that an ORDER BY item of a set operation means.
func (b *binder) orderOutput(lv *level, o ast.Order, cols []plan.Column) int {
	if i, ok := b.ordinal(o.Expr, "ORDER BY", len(cols)); ok {
		return i
	}
	if id, ok := o.Expr.(*ast.Ident); ok && len(id.Parts) == 1 {
		found := -1
		for i, c := range cols {
			if b.d.SameName(c.Name, id.Parts[0]) {
				if found >= 0 {
					b.fail(sqlerr.AmbiguousColumn, id.Pos, "ORDER BY \"%s\" is ambiguous", id.Parts[0])
				}
				found = i
			}
		}
		if found >= 0 {
			return found
		}
	}
	x := b.expr(lv, o.Expr)
	if c, ok := x.(*plan.Col); ok {
		for i := range cols {
			if cols[i].ID == c.ID {
				return i
			}
		}
	}
	b.badSetOrder(leftmost(o.Expr))
	return 0
}

func (b *binder) badSetOrder(pos int) {
	b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
		WithDetail("Only result column names can be used, not expressions or functions.").
		WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.").At(pos))
}

// retype follows a change of an output's type after ORDER BY was bound.
func (t *tail) retype(i int, typ types.Type) {
	if t.cols == nil {
		return
	}
	t.cols[i].Type = typ
	for k := range t.keys {
		if t.of[k] == i {
			t.keys[k].Expr = t.b.key(plan.ColOf(t.cols[i]))
		}
	}
}

// columns are the node's output columns.
func (t *tail) columns(outs []output) []plan.Column {
	if t.cols == nil {
		t.cols = t.make()
	}
	for i := range outs {
		t.cols[i].Type = outs[i].typ
	}
	return t.cols
}

func (t *tail) build(n plan.Node) plan.Node {
	if len(t.keys) > 0 {
		n = &plan.Sort{Input: n, Keys: t.keys}
	}
	return t.limit.build(n, t.keys)
}

// ---- LIMIT ----

type limitState struct {
	b             *binder
	count, offset plan.Expr
	ties          bool
}

func (b *binder) limit(q *ast.Query, lv *level) *limitState {
	if q.Limit == nil && q.Offset == nil {
		return nil
	}
	l := &limitState{b: b, ties: q.WithTies}
	l.offset = b.limitExpr(lv, q.Offset, inOffset)
	l.count = b.limitExpr(lv, q.Limit, inLimit)
	if l.ties && len(q.OrderBy) == 0 {
		b.fail(sqlerr.SyntaxError, leftmost(q.Limit), "WITH TIES cannot be specified without ORDER BY clause")
	}
	if c, ok := q.Limit.(*ast.Lit); ok && l.ties && c.Kind == '0' {
		b.fail(sqlerr.InvalidLimit, c.Pos, "row count cannot be null in FETCH FIRST ... WITH TIES clause")
	}
	return l
}

func (b *binder) limitExpr(lv *level, e ast.Expr, k kind) plan.Expr {
	if e == nil {
		return nil
	}
	var x plan.Expr
	lv.in(k, func() { x = b.expr(lv, e) })
	pos := b.posOf(x)
	x = b.coerceArgument(x, types.T(types.Int8), k.String())
	for id := range plan.ExprCols(x) {
		if b.cols[id].lv == lv {
			b.fail(sqlerr.InvalidColumnReference, pos, "argument of %s must not contain variables", k)
		}
	}
	return x
}

func (l *limitState) build(n plan.Node, keys []plan.SortKey) plan.Node {
	if l == nil {
		return n
	}
	late := &lateValues{b: l.b}
	m := &plan.Limit{Input: n, Count: late.of(l.count), Offset: late.of(l.offset), WithTies: l.ties}
	if l.ties {
		m.Keys = keys
	}
	return late.above(m)
}

// lateValues are values that an operator wants once for all its rows and that only a query can
// give: LIMIT (SELECT …), ROWS (SELECT …) PRECEDING. They are computed first, and the operator runs
// beside them as a lateral item does.
type lateValues struct {
	b     *binder
	exprs []plan.Named
}

// of gives what stands for e.
func (l *lateValues) of(e plan.Expr) plan.Expr {
	if e == nil || !plan.HasSubquery(e) {
		return e
	}
	c := l.b.newColumn("value", e.Type())
	l.exprs = append(l.exprs, plan.Named{Col: c, Expr: e})
	return plan.ColOf(c)
}

// above gives n with its values computed.
func (l *lateValues) above(n plan.Node) plan.Node {
	if len(l.exprs) == 0 {
		return n
	}
	first := &plan.Project{Input: &plan.Values{Rows: [][]plan.Expr{{}}}, Exprs: l.exprs}
	return &plan.Project{Input: &plan.Apply{Kind: plan.InnerJoin, Left: first, Right: n}, Exprs: passing(n.Columns())}
}
