package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

func itoa(i int) string { return strconv.Itoa(i) }

// mark remembers where an expression stands in the text.
func (b *binder) mark(e plan.Expr, pos int) plan.Expr {
	b.pos[e] = pos
	return e
}

// posOf is where e starts; -1 if unknown.
func (b *binder) posOf(e plan.Expr) int {
	if e != nil {
		if p, ok := b.pos[e]; ok {
			return p
		}
	}
	return -1
}

// expr binds an expression in level lv. The result's type may be Unknown: an untyped literal
// or a parameter, for the context to decide.
func (b *binder) expr(lv *level, e ast.Expr) plan.Expr {
	b.enter(e.Position())
	x := b.bindExpr(lv, e)
	b.leave()
	if p, ok := b.pos[x]; !ok || p < 0 {
		b.pos[x] = leftmost(e)
	}
	return x
}

func (b *binder) bindExpr(lv *level, e ast.Expr) plan.Expr {
	switch e := e.(type) {
	case *ast.Ident:
		x := b.ident(lv, e)
		if x.Type().Kind == types.Invalid {
			// A table opens even where a newer writer gave a column a type that is not known here.
			b.fail(sqlerr.FeatureNotSupported, e.Pos, "column %q has a type that is not supported", e.Parts[len(e.Parts)-1])
		}
		return x
	case *ast.Star:
		if len(e.Qualifier) > 0 {
			// count(t.*), ROW(t.*): the row as a value.
			it, l := b.findRelation(lv, e.Qualifier, e.Pos)
			if it == nil {
				b.missingRelation(lv, e.Qualifier, e.Pos)
			}
			return b.wholeRow(l, it, e.Pos)
		}
		b.fail(sqlerr.SyntaxError, e.Pos, "* is not allowed here")
	case *ast.Lit:
		return b.literal(e)
	case *ast.Param:
		return b.param(e)
	case *ast.Variable:
		return b.variable(e)
	case *ast.Unary:
		return b.unary(lv, e)
	case *ast.Binary:
		return b.binary(lv, e)
	case *ast.And:
		return &plan.And{Args: b.conditions(lv, e.Args, "AND")}
	case *ast.Or:
		return &plan.Or{Args: b.conditions(lv, e.Args, "OR")}
	case *ast.Not:
		return &plan.Not{X: b.condition(lv, e.X, "NOT")}
	case *ast.IsNull:
		return b.isNull(lv, e)
	case *ast.IsBool:
		return b.isBool(lv, e)
	case *ast.IsDistinct:
		return b.isDistinct(lv, e)
	case *ast.Between:
		return b.between(lv, e)
	case *ast.In:
		return b.in(lv, e)
	case *ast.Quantified:
		return b.quantified(lv, e)
	case *ast.Subquery:
		return b.subquery(lv, e)
	case *ast.Case:
		return b.caseExpr(lv, e)
	case *ast.Coalesce:
		return b.coalesce(lv, e)
	case *ast.MinMax:
		return b.minMax(lv, e)
	case *ast.NullIf:
		return b.nullIf(lv, e)
	case *ast.Call:
		return b.callExpr(lv, e)
	case *ast.Cast:
		return b.castExpr(lv, e)
	case *ast.Collate:
		return b.collate(lv, e)
	case *ast.Array:
		return b.array(lv, e, nil)
	case *ast.Row:
		return b.row(lv, e)
	case *ast.Field:
		if e.Star {
			b.fail(sqlerr.FeatureNotSupported, e.Pos, "row expansion via \"*\" is not supported here")
		}
		return b.member(b.expr(lv, e.X), e.Name, leftmost(e.X))
	case *ast.Index:
		return b.index(lv, e)
	case *ast.Grouping:
		return b.grouping(lv, e)
	case *ast.MergeAction:
		return b.mergeAction(e)
	case *ast.Default:
		b.fail(sqlerr.SyntaxError, e.Pos, "DEFAULT is not allowed in this context")
	}
	invariant.Fail("bind: expression %T", e)
	return nil
}

// ---- literals and parameters ----

func (b *binder) literal(l *ast.Lit) plan.Expr {
	if b.d.Literal != nil {
		if x := b.d.Literal(b, l); x != nil {
			return x
		}
	}
	switch l.Kind {
	case 'i', 'n':
		return b.number(l.Text, l.Pos)
	case 's':
		return &plan.Const{Value: types.NewStr(l.Text), Typ: types.T(types.Unknown)}
	case 'b':
		return &plan.Const{Value: types.NewBool(strings.HasPrefix(l.Text, "t")), Typ: types.T(types.Bool)}
	case '0':
		return &plan.Const{Typ: types.T(types.Unknown)}
	case 'x':
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "bit strings are not supported").
			WithHint("For binary data write '\\x...'::bytea.").At(l.Pos))
	}
	invariant.Fail("bind: literal kind %q", l.Kind)
	return nil
}

// number types a numeric literal: the smallest of integer, bigint that holds it, else numeric
// with exactly the digits that are written.
func (b *binder) number(text string, pos int) plan.Expr {
	text = strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil && !oldOctal(text) {
		k := types.Int8
		if i == int64(int32(i)) {
			k = types.Int4
		}
		return &plan.Const{Value: types.NewInt(i), Typ: types.T(k)}
	}
	d, err := types.ParseDecimal(text)
	b.check(err, pos)
	t := types.T(types.Numeric)
	if d.IsFinite() {
		digits := len(strings.TrimPrefix(d.Coef().String(), "-"))
		if p := max(digits, d.Scale()+1); p <= 38 && d.Scale() >= 0 {
			t = types.FixedNumeric(p, d.Scale())
		}
	}
	v, err := d.Datum(t)
	b.check(err, pos)
	return &plan.Const{Value: v, Typ: t}
}

// oldOctal: 010 is ten in SQL, and eight to ParseInt with base 0.
func oldOctal(text string) bool {
	t := strings.TrimLeft(text, "+-")
	return len(t) > 1 && t[0] == '0' && t[1] >= '0' && t[1] <= '9'
}

func (b *binder) param(p *ast.Param) plan.Expr {
	if p.Index < 1 || p.Index > len(b.params) || b.inView > 0 {
		b.fail(sqlerr.UndefinedParameter, p.Pos, "there is no parameter $%d", p.Index)
	}
	if b.paramPos[p.Index-1] < 0 {
		b.paramPos[p.Index-1] = p.Pos
	}
	t := b.params[p.Index-1]
	if t.Kind == types.Unknown {
		b.loose = true
	}
	return &plan.Param{Index: p.Index, Typ: t}
}

// ---- operators ----

func (b *binder) unary(lv *level, e *ast.Unary) plan.Expr {
	// A sign before a number belongs to it: -2147483648 is an integer.
	if l, ok := e.X.(*ast.Lit); ok && e.Op == "-" && (l.Kind == 'i' || l.Kind == 'n') && !strings.HasPrefix(l.Text, "-") {
		return b.mark(b.number("-"+l.Text, e.Pos), e.Pos)
	}
	b.checkOperatorSchema(e.Schema, e.Op, e.Pos)
	x := b.expr(lv, e.X)
	if b.d.Unary != nil {
		if y := b.d.Unary(b, e.Op, x, e.Pos); y != nil {
			return y
		}
	}
	r, err := b.d.ResolveOperator(e.Op, []types.Type{x.Type()})
	b.check(err, e.Pos)
	return &plan.Call{Func: r.Func, Args: []plan.Expr{b.coerce(x, r.Args[0], plan.Implicit)}, Typ: r.Ret, Pos: b.at(e.Pos)}
}

func (b *binder) checkOperatorSchema(schema, op string, pos int) {
	if schema != "" && schema != "pg_catalog" {
		b.fail(sqlerr.UndefinedFunction, pos, "operator does not exist: %s.%s", schema, op)
	}
}

func (b *binder) binary(lv *level, e *ast.Binary) plan.Expr {
	b.checkOperatorSchema(e.Schema, e.Op, e.Pos)
	l, lok := e.L.(*ast.Row)
	r, rok := e.R.(*ast.Row)
	if lok && rok {
		return b.compareRows(e.Op, b.elems(lv, l), b.elems(lv, r), e.Pos)
	}
	if q, ok := e.R.(*ast.Subquery); lok && ok && q.Kind == 's' {
		return b.compareRowQuery(lv, e, l, q)
	}
	if q, ok := e.L.(*ast.Subquery); rok && ok && q.Kind == 's' && b.d.Comparands != nil && isComparison(e.Op) {
		// The query first, which PostgreSQL does not take.
		turned := *e
		if o, ok := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[e.Op]; ok {
			turned.Op = o
		}
		return b.compareRowQuery(lv, &turned, r, q)
	}
	// A chain a || b || c … nests to the left as deep as it is long: go down it in a loop.
	var chain []*ast.Binary
	var left ast.Expr = e
	for {
		x, ok := left.(*ast.Binary)
		if !ok || len(chain) > 0 && isRow(x.L) && isRow(x.R) {
			break
		}
		b.checkOperatorSchema(x.Schema, x.Op, x.Pos)
		chain = append(chain, x)
		left = x.L
	}
	if len(chain) > 5*maxDepth {
		b.fail(sqlerr.StatementTooComplex, e.Pos, "a chain of %d operators is too long (limit %d)", len(chain), 5*maxDepth)
	}
	x := b.expr(lv, left)
	start := leftmost(left)
	for i := len(chain) - 1; i >= 0; i-- {
		y := b.expr(lv, chain[i].R)
		x = b.mark(b.operator(chain[i].Op, x, y, chain[i].Pos), start)
	}
	return x
}

func isRow(e ast.Expr) bool { _, ok := e.(*ast.Row); return ok }

// operator applies a binary operator to bound operands.
func (b *binder) operator(op string, l, r plan.Expr, pos int) plan.Expr {
	if lr, ok := l.(*plan.RowExpr); ok {
		if rr, ok := r.(*plan.RowExpr); ok && isComparison(op) {
			return b.compareRows(op, lr.Elems, rr.Elems, pos)
		}
	}
	if b.d.Operator != nil {
		if x := b.d.Operator(b, op, l, r, pos); x != nil {
			return x
		}
	}
	return b.plainOperator(op, l, r, pos)
}

// plainOperator applies the operator that the operands' types choose.
func (b *binder) plainOperator(op string, l, r plan.Expr, pos int) plan.Expr {
	if k := l.Type().Kind; (k == types.Struct || k == types.Map) && isJSONOperator(op) {
		l = b.cast(l, types.T(types.JSONB), pos) // as which it shows outside
	}
	res, err := b.d.ResolveOperator(op, []types.Type{l.Type(), r.Type()})
	b.check(err, pos)
	return &plan.Call{Func: res.Func, Typ: res.Ret, Pos: b.at(pos), Args: []plan.Expr{
		b.coerce(l, res.Args[0], plan.Implicit), b.coerce(r, res.Args[1], plan.Implicit)}}
}

func isJSONOperator(op string) bool {
	switch op {
	case "->", "->>", "#>", "#>>", "?", "?|", "?&":
		return true
	}
	return false
}

func isComparison(op string) bool {
	switch op {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

func (b *binder) elems(lv *level, r *ast.Row) []plan.Expr {
	out := make([]plan.Expr, 0, len(r.Elems))
	for _, e := range r.Elems {
		out = append(out, b.rowElems(lv, e)...)
	}
	return out
}

// rowElems binds an element of a row; t.* is all columns of t.
func (b *binder) rowElems(lv *level, e ast.Expr) []plan.Expr {
	var ts []target
	switch x := e.(type) {
	case *ast.Star:
		ts = b.star(lv, x)
	case *ast.Field:
		if x.Star {
			ts = b.expand(b.expr(lv, x.X), x.Pos)
		}
	}
	if ts == nil {
		return []plan.Expr{b.expr(lv, e)}
	}
	out := make([]plan.Expr, len(ts))
	for i, t := range ts {
		out[i] = t.expr
	}
	return out
}

// compareRows spells a comparison of rows out in comparisons of their members:
//
//	(a, b) = (c, d)   →  a = c AND b = d
//	(a, b) < (c, d)   →  a < c OR (a = c AND b < d)
//
// NULLs come out as SQL has it: (1, NULL) < (2, 0) is true, (1, NULL) < (1, 0) is NULL.
func (b *binder) compareRows(op string, l, r []plan.Expr, pos int) plan.Expr {
	if len(l) != len(r) {
		b.fail(sqlerr.SyntaxError, pos, "unequal number of entries in row expressions")
	}
	if len(l) == 0 {
		b.fail(sqlerr.FeatureNotSupported, pos, "cannot compare rows of zero length")
	}
	all := func(op string) []plan.Expr {
		terms := make([]plan.Expr, len(l))
		for i := range l {
			terms[i] = b.operator(op, l[i], r[i], pos)
		}
		return terms
	}
	switch op {
	case "=":
		return plan.AndOf(all("=")...)
	case "<>", "!=":
		return plan.OrOf(all("<>")...)
	case "<", "<=", ">", ">=":
	default:
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", op).
			WithHint("Row comparison operators must be associated with btree operator families.").At(pos))
	}
	strict := op[:1]
	// All but the last are compared twice, and what holds a query stands in one place only.
	var onces []*letOnce
	single := func(list []plan.Expr) []plan.Expr {
		out := append([]plan.Expr(nil), list...)
		for i, e := range out[:len(out)-1] {
			if plan.IsVolatile(e) || plan.HasSubquery(e) {
				o := b.letOnce(b.known(e))
				onces = append(onces, o)
				out[i] = o.ref
			}
		}
		return out
	}
	l, r = single(l), single(r)
	x := b.operator(op, l[len(l)-1], r[len(r)-1], pos)
	for i := len(l) - 2; i >= 0; i-- {
		x = &plan.Or{Args: []plan.Expr{
			b.operator(strict, l[i], r[i], pos),
			&plan.And{Args: []plan.Expr{b.operator("=", l[i], r[i], pos), x}}}}
	}
	for _, o := range onces {
		x = o.in(x, pos)
	}
	return x
}

// ---- conditions ----

// condition binds a boolean expression; what names the construct for the message.
func (b *binder) condition(lv *level, e ast.Expr, what string) plan.Expr {
	return b.toBool(b.expr(lv, e), what)
}

func (b *binder) conditions(lv *level, list []ast.Expr, what string) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		out[i] = b.condition(lv, e, what)
	}
	return out
}

func (b *binder) toBool(x plan.Expr, what string) plan.Expr {
	t := x.Type()
	if t.Kind == types.Bool {
		return x
	}
	pos := b.posOf(x)
	if b.d.Truth != nil {
		return b.mark(b.d.Truth(b, x), pos)
	}
	if t.Kind == types.Unknown {
		return b.coerce(x, types.T(types.Bool), plan.Implicit)
	}
	if b.d.BoolFrom(t) {
		zero := b.coerce(&plan.Const{Value: types.NewInt(0), Typ: types.T(types.Int4)}, t, plan.Explicit)
		return b.mark(b.operator("<>", x, zero, pos), pos)
	}
	b.fail(sqlerr.DatatypeMismatch, pos, "argument of %s must be type boolean, not type %s", what, typeName(t))
	return nil
}

func (b *binder) isNull(lv *level, e *ast.IsNull) plan.Expr {
	x := b.expr(lv, e.X)
	if p, ok := x.(*plan.Param); ok && p.Typ.Kind == types.Unknown && !b.d.TextParams {
		return &plan.IsNull{X: x, Negate: e.Negate}
	}
	if r, ok := x.(*plan.RowExpr); ok {
		return b.rowIsNull(r.Elems, e.Negate)
	}
	if c, ok := x.(*plan.Col); ok && c.Typ.Kind == types.Struct && len(c.Typ.Fields()) > 0 {
		// A row is NULL when it is, or when all members are; it is not NULL when no member is.
		var members []plan.Expr
		for i, f := range c.Typ.Fields() {
			members = append(members, &plan.FieldOf{X: c, Index: i, Typ: f.Type})
		}
		all := b.rowIsNull(members, e.Negate)
		self := &plan.IsNull{X: c, Negate: e.Negate}
		if e.Negate {
			return &plan.And{Args: []plan.Expr{self, all}}
		}
		return &plan.Or{Args: []plan.Expr{self, all}}
	}
	if x.Type().Kind == types.Unknown {
		x = b.coerce(x, types.T(types.Text), plan.Implicit)
	}
	return &plan.IsNull{X: x, Negate: e.Negate}
}

func (b *binder) rowIsNull(elems []plan.Expr, negate bool) plan.Expr {
	terms := make([]plan.Expr, len(elems))
	for i, x := range elems {
		if x.Type().Kind == types.Unknown {
			x = b.coerce(x, types.T(types.Text), plan.Implicit)
		}
		terms[i] = &plan.IsNull{X: x, Negate: negate}
	}
	if len(terms) == 0 {
		return plan.True()
	}
	return plan.AndOf(terms...)
}

func (b *binder) isBool(lv *level, e *ast.IsBool) plan.Expr {
	what := map[byte]string{'t': "TRUE", 'f': "FALSE", 'u': "UNKNOWN"}[e.Value]
	if e.Negate {
		what = "NOT " + what
	}
	x := b.condition(lv, e.X, "IS "+what)
	if e.Value == 'u' {
		return &plan.IsNull{X: x, Negate: e.Negate}
	}
	op := "IS NOT DISTINCT FROM"
	if e.Negate {
		op = "IS DISTINCT FROM"
	}
	return b.operator(op, x, &plan.Const{Value: types.NewBool(e.Value == 't'), Typ: types.T(types.Bool)}, e.Pos)
}

func (b *binder) isDistinct(lv *level, e *ast.IsDistinct) plan.Expr {
	op := "IS DISTINCT FROM"
	if e.Negate {
		op = "IS NOT DISTINCT FROM"
	}
	l, lok := e.L.(*ast.Row)
	r, rok := e.R.(*ast.Row)
	if !lok || !rok {
		x, y := b.expr(lv, e.L), b.expr(lv, e.R)
		// With NULL as an operand it is IS [NOT] NULL, for types without = too.
		if isNullLit(y) {
			return &plan.IsNull{X: b.known(x), Negate: !e.Negate}
		}
		if isNullLit(x) {
			return &plan.IsNull{X: b.known(y), Negate: !e.Negate}
		}
		return b.operator(op, x, y, e.Pos)
	}
	le, re := b.elems(lv, l), b.elems(lv, r)
	if len(le) != len(re) {
		b.fail(sqlerr.SyntaxError, e.Pos, "unequal number of entries in row expressions")
	}
	terms := make([]plan.Expr, len(le))
	for i := range le {
		terms[i] = b.operator(op, le[i], re[i], e.Pos)
	}
	if e.Negate {
		return plan.AndOf(terms...)
	}
	return plan.OrOf(terms...)
}

func isNullLit(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && c.Value.IsNull() && c.Typ.Kind == types.Unknown
}

// known makes what is still untyped text.
func (b *binder) known(x plan.Expr) plan.Expr {
	if x.Type().Kind == types.Unknown {
		return b.coerce(x, types.T(types.Text), plan.Implicit)
	}
	return x
}

// again gives a second use of a bound operand. A query inside must be bound anew, because
// columns are unique within a statement.
func (b *binder) again(lv *level, e ast.Expr, x plan.Expr) plan.Expr {
	if plan.HasSubquery(x) {
		return b.expr(lv, e)
	}
	return x
}

func (b *binder) between(lv *level, e *ast.Between) plan.Expr {
	x, lo, hi := b.expr(lv, e.X), b.expr(lv, e.Lo), b.expr(lv, e.Hi)
	as := func(x plan.Expr) plan.Expr { return x }
	if b.d.Bounded != nil {
		as = b.d.Bounded(b, x, lo, hi)
	}
	compare := func(op string, x plan.Expr, y plan.Expr) plan.Expr {
		return b.operator(op, as(x), as(y), e.Pos)
	}
	again := func() { x, lo, hi = b.again(lv, e.X, x), b.again(lv, e.Lo, lo), b.again(lv, e.Hi, hi) }
	x2 := func() plan.Expr { return b.again(lv, e.X, x) }
	within := func(lo, hi plan.Expr) plan.Expr {
		return &plan.And{Args: []plan.Expr{compare(">=", x, lo), compare("<=", x2(), hi)}}
	}
	outside := func(lo, hi plan.Expr) plan.Expr {
		return &plan.Or{Args: []plan.Expr{compare("<", x, lo), compare(">", x2(), hi)}}
	}
	switch {
	case e.Symmetric && e.Negate:
		first := outside(lo, hi)
		again()
		return &plan.And{Args: []plan.Expr{first, outside(hi, lo)}}
	case e.Symmetric:
		first := within(lo, hi)
		again()
		return &plan.Or{Args: []plan.Expr{first, within(hi, lo)}}
	case e.Negate:
		return outside(lo, hi)
	}
	return within(lo, hi)
}

// in binds X IN (list). Constants become an InList; otherwise the members are compared one by
// one.
func (b *binder) in(lv *level, e *ast.In) plan.Expr {
	if r, ok := e.X.(*ast.Row); ok {
		return b.rowIn(lv, e, r)
	}
	x := b.expr(lv, e.X)
	list := make([]plan.Expr, len(e.List))
	consts := true
	for i, m := range e.List {
		list[i] = b.expr(lv, m)
		consts = consts && b.isConst(list[i])
	}
	if consts {
		in := b.inList
		if b.d.Comparands != nil {
			in = b.keyedInList
		}
		if in := in(x, list, e.Negate); in != nil {
			return in
		}
	}
	terms := make([]plan.Expr, len(list))
	op := "="
	if e.Negate {
		op = "<>"
	}
	for i, m := range list {
		y := x
		if i > 0 {
			y = b.again(lv, e.X, x)
		}
		terms[i] = b.operator(op, y, m, e.Pos)
	}
	if e.Negate {
		return plan.AndOf(terms...)
	}
	return plan.OrOf(terms...)
}

// inList is X IN (constants) in one common type, if there is one with an = of its own.
func (b *binder) inList(x plan.Expr, list []plan.Expr, negate bool) plan.Expr {
	ts := []types.Type{x.Type()}
	for _, m := range list {
		ts = append(ts, m.Type())
	}
	t, err := b.d.CommonType("IN", ts)
	if err != nil {
		return nil // the comparisons one by one say what is wrong
	}
	if res, err := b.d.ResolveOperator("=", []types.Type{t, t}); err != nil || !res.Args[0].Equal(t) || !res.Args[1].Equal(t) {
		if err != nil || !res.Args[0].Equal(res.Args[1]) {
			return nil
		}
		t = res.Args[0]
	}
	values := make([]types.Datum, len(list))
	for i, m := range list {
		pos := b.posOf(m)
		values[i] = b.evaluate(b.coerce(m, t, plan.Implicit), pos)
	}
	if own, ok := exactly(x.Type(), values, t); ok {
		return &plan.InList{X: x, List: own, Negate: negate}
	}
	return &plan.InList{X: b.coerce(x, t, plan.Implicit), List: values, Negate: negate}
}

// exactly turns numbers of type t into the type of what they are compared with, so that a
// column stays bare for pruning. A value that the type cannot hold equals none of its values
// and drops out:
//
//	price IN (1.5, 2.005)   →   price IN (1.50)      for price numeric(10,2)
//
// unless nothing would be left: x IN () of a NULL x must still be NULL.
func exactly(to types.Type, values []types.Datum, t types.Type) ([]types.Datum, bool) {
	fixed := to.Kind == types.Numeric && to.Fixed
	if to.Equal(t) || !fixed && !to.IsInteger() || t.Kind != types.Numeric && !t.IsInteger() {
		return nil, false
	}
	var out []types.Datum
	for _, v := range values {
		if v.IsNull() {
			out = append(out, v)
			continue
		}
		d := types.DecimalOf(v, t)
		if !d.IsFinite() {
			continue
		}
		if to.IsInteger() {
			if i, err := d.ToInt(to.Kind); err == nil && d.Cmp(types.DecimalFromInt64(i)) == 0 {
				out = append(out, types.NewInt(i))
			}
			continue
		}
		w, err := d.Fit(to)
		if err != nil || w.Cmp(d) != 0 {
			continue
		}
		own, err := w.Datum(to)
		if err != nil {
			continue
		}
		out = append(out, own)
	}
	return out, len(out) > 0
}

// isConst tells whether x is a literal, or casts of one: it has its value without parameters.
func (b *binder) isConst(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Const:
		return true
	case *plan.Cast:
		return b.isConst(x.X)
	}
	return false
}

func (b *binder) rowIn(lv *level, e *ast.In, r *ast.Row) plan.Expr {
	var terms []plan.Expr
	op := "="
	if e.Negate {
		op = "<>"
	}
	x := b.elems(lv, r)
	for _, m := range e.List {
		y, ok := m.(*ast.Row)
		if !ok {
			terms = append(terms, b.operator(op, b.rowOfExprs(x), b.expr(lv, m), e.Pos))
			continue
		}
		terms = append(terms, b.compareRows(op, x, b.elems(lv, y), e.Pos))
	}
	if e.Negate {
		return plan.AndOf(terms...)
	}
	return plan.OrOf(terms...)
}

// quantified is L op ANY|ALL (array).
func (b *binder) quantified(lv *level, e *ast.Quantified) plan.Expr {
	b.checkOperatorSchema(e.Schema, e.Op, e.Pos)
	l := b.expr(lv, e.L)
	r := b.expr(lv, e.Array)
	if r.Type().Kind == types.Unknown {
		// An untyped array holds what the left side is compared with.
		t := l.Type()
		if t.Kind == types.Unknown {
			t = types.T(types.Text)
		}
		r = b.coerce(r, types.ArrayOf(looseType(t)), plan.Implicit)
	}
	at := r.Type()
	var elem types.Type
	switch at.Kind {
	case types.Array:
		elem = at.Elem()
		for elem.Kind == types.Array {
			elem = elem.Elem()
		}
	case types.Int2Vector:
		elem = types.T(types.Int2)
	case types.OidVector:
		elem = types.T(types.Oid)
	default:
		b.fail(sqlerr.WrongObjectType, e.Pos, "op ANY/ALL (array) requires array on right side")
	}
	res, err := b.d.ResolveOperator(e.Op, []types.Type{l.Type(), elem})
	b.check(err, e.Pos)
	if res.Ret.Kind != types.Bool {
		b.fail(sqlerr.WrongObjectType, e.Pos, "op ANY/ALL (array) requires operator to yield boolean")
	}
	l = b.coerce(l, res.Args[0], plan.Implicit)
	if !elem.Equal(res.Args[1]) {
		r = b.coerce(r, types.ArrayOf(res.Args[1]), plan.Implicit)
	}
	// A constant array is a list, which scans prune by.
	negate := e.All && (e.Op == "<>" || e.Op == "!=")
	if list, ok := b.constElems(r); ok && (negate || !e.All && e.Op == "=") && len(list) > 0 {
		if in := b.inList(l, list, negate); in != nil {
			return in
		}
	}
	return b.quantifiedCall(res.Func, l, r, e.All, e.Pos)
}

// constElems lists the elements of a constant one-dimensional array.
func (b *binder) constElems(x plan.Expr) ([]plan.Expr, bool) {
	t := x.Type()
	if t.Kind != types.Array || t.Elem().Kind == types.Array {
		return nil, false
	}
	switch x := x.(type) {
	case *plan.Const:
		var list []plan.Expr
		for _, d := range x.Value.List() {
			list = append(list, &plan.Const{Value: d, Typ: t.Elem()})
		}
		return list, !x.Value.IsNull()
	case *plan.ArrayExpr:
		for _, e := range x.Elems {
			if !b.isConst(e) {
				return nil, false
			}
		}
		return x.Elems, true
	}
	return nil, false
}

// ---- conditionals ----

func (b *binder) noSets(lv *level, what string, f func()) {
	n := 0
	if lv.sel != nil {
		n = len(lv.sel.setCalls)
	}
	f()
	if lv.sel != nil && len(lv.sel.setCalls) > n {
		b.refuseSet(what, true, b.posOf(lv.sel.setCalls[n].call))
	}
}

func (b *binder) caseExpr(lv *level, e *ast.Case) (x plan.Expr) {
	b.noSets(lv, "CASE", func() { x = b.caseArms(lv, e) })
	return x
}

func (b *binder) caseArms(lv *level, e *ast.Case) plan.Expr {
	c := &plan.Case{}
	var operand plan.Expr
	var once *letOnce
	if e.Operand != nil {
		operand = b.known(b.expr(lv, e.Operand))
		if plan.IsVolatile(operand) || plan.HasSubquery(operand) {
			once = b.letOnce(operand)
			operand = once.ref
		}
	}
	var values []plan.Expr
	for _, w := range e.Whens {
		var cond plan.Expr
		if operand != nil {
			y := b.expr(lv, w.Cond)
			cond = b.toBool(b.operator("=", operand, y, leftmost(w.Cond)), "CASE/WHEN")
		} else {
			cond = b.condition(lv, w.Cond, "CASE/WHEN")
		}
		v := b.expr(lv, w.Then)
		c.Whens = append(c.Whens, plan.When{Cond: cond, Then: v})
		values = append(values, v)
	}
	if e.Else != nil {
		c.Else = b.expr(lv, e.Else)
	}
	// PostgreSQL looks at ELSE first.
	all := append([]plan.Expr{}, values...)
	if c.Else != nil {
		all = append([]plan.Expr{c.Else}, values...)
	}
	c.Typ = b.commonType("CASE", all, true)
	for i := range c.Whens {
		c.Whens[i].Then = b.coerce(c.Whens[i].Then, c.Typ, plan.Implicit)
	}
	if c.Else != nil {
		c.Else = b.coerce(c.Else, c.Typ, plan.Implicit)
	}
	if once != nil {
		return once.in(c, e.Pos)
	}
	return c
}

// letOnce evaluates an expression once for several uses, as a query of one row around them:
// (SELECT … v … FROM (VALUES (x)) AS _(v)).
type letOnce struct {
	b   *binder
	col plan.Column
	ref plan.Expr
	in1 plan.Node
}

func (b *binder) letOnce(x plan.Expr) *letOnce {
	c := b.newColumn("v", x.Type())
	l := &letOnce{b: b, col: c, ref: plan.ColOf(c)}
	l.in1 = &plan.Values{Cols: []plan.Column{c}, Rows: [][]plan.Expr{{x}}}
	b.pos[l.ref] = b.posOf(x)
	return l
}

func (l *letOnce) in(e plan.Expr, pos int) plan.Expr {
	c := l.b.newColumn("v", e.Type())
	return &plan.Subquery{Kind: plan.ScalarSubquery, Typ: e.Type(), Pos: l.b.at(pos),
		Plan: &plan.Project{Input: l.in1, Exprs: []plan.Named{{Col: c, Expr: e}}}}
}

func (b *binder) coalesce(lv *level, e *ast.Coalesce) (x plan.Expr) {
	b.noSets(lv, "COALESCE", func() {
		args := make([]plan.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = b.expr(lv, a)
		}
		c := &plan.Coalesce{Typ: b.commonType("COALESCE", args, true)}
		for _, a := range args {
			c.Args = append(c.Args, b.coerce(a, c.Typ, plan.Implicit))
		}
		x = c
	})
	return x
}

func (b *binder) minMax(lv *level, e *ast.MinMax) plan.Expr {
	name := "least"
	if e.Greatest {
		name = "greatest"
	}
	args := make([]plan.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = b.expr(lv, a)
	}
	t := b.commonType(strings.ToUpper(name), args, true)
	for i := range args {
		args[i] = b.coerce(args[i], t, plan.Implicit)
	}
	return b.call(name, args, e.Pos)
}

func (b *binder) nullIf(lv *level, e *ast.NullIf) plan.Expr {
	l, r := b.expr(lv, e.L), b.expr(lv, e.R)
	if b.d.Operator != nil || r.Type().Kind == types.Unknown {
		l = b.known(l)
	}
	var once *letOnce
	if plan.IsVolatile(l) || plan.HasSubquery(l) {
		once = b.letOnce(l)
		l = once.ref
	}
	cond := b.operator("=", l, r, e.Pos)
	// The value is the first operand as the comparison has it: NULLIF(7, 2.5) is numeric.
	if c, ok := cond.(*plan.Call); ok && len(c.Args) == 2 && b.d.Operator == nil {
		if _, row := l.(*plan.RowExpr); !row {
			l = c.Args[0]
		}
	}
	x := &plan.Case{Whens: []plan.When{{Cond: cond, Then: plan.NullOf(l.Type())}}, Else: l, Typ: l.Type()}
	if once != nil {
		return once.in(x, e.Pos)
	}
	return x
}

// ---- arrays, rows, subscripts ----

// array binds ARRAY[…]. want is the element type that a cast around it asks for.
func (b *binder) array(lv *level, e *ast.Array, want *types.Type) plan.Expr {
	if len(e.Elems) == 0 {
		if want == nil {
			b.failWith(sqlerr.New(sqlerr.IndeterminateDatatype, "cannot determine type of empty array").
				WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].").At(e.Pos))
		}
		return &plan.ArrayExpr{Typ: types.ArrayOf(*want)}
	}
	elems := make([]plan.Expr, len(e.Elems))
	for i, x := range e.Elems {
		if sub, ok := x.(*ast.Array); ok && want != nil {
			inner := *want
			if inner.Kind == types.Array {
				inner = inner.Elem()
			}
			elems[i] = b.array(lv, sub, &inner)
			b.pos[elems[i]] = sub.Pos
			continue
		}
		elems[i] = b.expr(lv, x)
	}
	var t types.Type
	if want != nil && elems[0].Type().Kind != types.Array {
		t = *want
		for i := range elems {
			elems[i] = b.cast(elems[i], t, b.posOf(elems[i]))
		}
	} else {
		t = b.commonType("ARRAY", elems, true)
		for i := range elems {
			elems[i] = b.coerce(elems[i], t, plan.Implicit)
		}
	}
	return &plan.ArrayExpr{Elems: elems, Typ: types.ArrayOf(t)}
}

func (b *binder) row(lv *level, e *ast.Row) plan.Expr {
	return b.rowOfExprs(b.elems(lv, e))
}

func (b *binder) rowOfExprs(elems []plan.Expr) plan.Expr {
	r := &plan.RowExpr{}
	var fields []types.Field
	for i, x := range elems {
		x = b.known(x)
		r.Elems = append(r.Elems, x)
		fields = append(fields, types.Field{Name: "f" + itoa(i+1), Type: x.Type()})
	}
	r.Typ = types.RecordOf(fields...)
	return r
}

// slices binds x[a:b][c:d], each slice of a dimension of its own. A plain subscript among slices
// is a slice from 1: x[2][1:3] is x[1:2][1:3].
func (b *binder) slices(lv *level, x plan.Expr, chain []*ast.Index) plan.Expr {
	for k, e := range chain {
		s := &plan.Slice{X: x, Depth: k}
		if e.Slice {
			s.Lower, s.Upper = b.bound(lv, e.Lower), b.bound(lv, e.Upper)
		} else {
			s.Upper = b.bound(lv, e.Lower)
		}
		x = s
	}
	return x
}

// sliceChain takes x[…][…] apart where one of the brackets is a slice.
func sliceChain(e *ast.Index) (x ast.Expr, chain []*ast.Index, ok bool) {
	x = e
	for {
		i, isIndex := x.(*ast.Index)
		if !isIndex {
			slices.Reverse(chain)
			return x, chain, ok
		}
		x, chain, ok = i.X, append(chain, i), ok || i.Slice
	}
}

// bound binds an array subscript.
func (b *binder) bound(lv *level, a ast.Expr) plan.Expr {
	if a == nil {
		return nil
	}
	i := b.expr(lv, a)
	p := b.posOf(i)
	if i.Type().Kind != types.Unknown && !b.d.CanCast(i.Type(), types.T(types.Int4), plan.Assignment) {
		b.fail(sqlerr.DatatypeMismatch, p, "array subscript must have type integer")
	}
	return b.coerce(i, types.T(types.Int4), plan.Assignment)
}

func (b *binder) index(lv *level, e *ast.Index) plan.Expr {
	if base, chain, ok := sliceChain(e); ok && len(chain) > 1 {
		x := b.expr(lv, base)
		if x.Type().Kind == types.Array {
			return b.slices(lv, x, chain)
		}
	}
	x := b.expr(lv, e.X)
	pos := leftmost(e.X)
	if x.Type().Kind == types.Variant {
		x = b.cast(x, types.T(types.JSONB), pos) // as which it shows outside
	}
	t := x.Type()
	bound := func(a ast.Expr) plan.Expr { return b.bound(lv, a) }
	switch t.Kind {
	case types.Array:
		if e.Slice {
			return &plan.Slice{X: x, Lower: bound(e.Lower), Upper: bound(e.Upper)}
		}
		return &plan.Subscript{X: x, Index: bound(e.Lower), Typ: t.Elem()}
	case types.Int2Vector, types.OidVector, types.Name:
		elem := types.T(types.Int2)
		switch t.Kind {
		case types.OidVector:
			elem = types.T(types.Oid)
		case types.Name:
			elem = types.T(types.Char)
		}
		if e.Slice {
			b.fail(sqlerr.FeatureNotSupported, pos, "slices of type %s are not supported", typeName(t))
		}
		return &plan.Subscript{X: x, Index: bound(e.Lower), Typ: elem}
	case types.Map:
		if e.Slice {
			b.fail(sqlerr.DatatypeMismatch, pos, "a map does not support slices")
		}
		k := b.expr(lv, e.Lower)
		return &plan.Subscript{X: x, Index: b.coerceArgument(k, t.Key(), "map subscript"), Typ: t.Elem()}
	case types.JSONB:
		if e.Slice {
			b.fail(sqlerr.DatatypeMismatch, pos, "jsonb subscript does not support slices")
		}
		// As a path of one step: a scalar has no members, and '0' is also an array's first.
		k := b.expr(lv, e.Lower)
		if kt, text := k.Type(), types.T(types.Text); kt.Kind != types.Unknown && !b.d.CanCast(kt, types.T(types.Int4), plan.Implicit) &&
			!kt.Same(types.T(types.Int4)) && !b.d.CanCast(kt, text, plan.Implicit) && !kt.Same(text) {
			b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "subscript type %s is not supported", typeName(kt)).
				WithHint("jsonb subscript must be coercible to either integer or text.").At(b.posOf(k)))
		}
		step := b.cast(k, types.T(types.Text), b.posOf(k))
		path := &plan.ArrayExpr{Elems: []plan.Expr{step}, Typ: types.ArrayOf(types.T(types.Text))}
		return b.operator("#>", x, path, e.Pos)
	}
	b.fail(sqlerr.DatatypeMismatch, pos, "cannot subscript type %s because it does not support subscripting", typeName(t))
	return nil
}

// ---- COLLATE ----

// collate accepts the collations that order as lhsql does: by code point.
func (b *binder) collate(lv *level, e *ast.Collate) plan.Expr {
	x := b.expr(lv, e.X)
	if b.d.Collate != nil {
		return b.d.Collate(b, x, e)
	}
	switch t := x.Type(); {
	case t.Kind == types.Unknown:
		x = b.coerce(x, types.T(types.Text), plan.Implicit)
	case !t.IsString():
		b.fail(sqlerr.DatatypeMismatch, e.Pos, "collations are not supported by type %s", typeName(t))
	}
	name := e.Name.Parts[len(e.Name.Parts)-1]
	switch name {
	case "default", "C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8":
		return x
	}
	b.failWith(sqlerr.New(sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", strings.Join(e.Name.Parts, ".")).
		WithHint("Text is ordered by code point: COLLATE \"C\" and \"default\" are accepted.").At(e.Pos))
	return nil
}
