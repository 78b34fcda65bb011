package bind

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// castExpr binds CAST(x AS t), x::t, and typed literals.
func (b *binder) castExpr(lv *level, e *ast.Cast) plan.Expr {
	if b.d.Cast != nil {
		return b.d.Cast(b, lv, e)
	}
	t := b.typeOf(&e.Type)
	if t.Kind == types.Interval && e.Type.Fields != "" {
		return b.intervalLiteral(lv, e)
	}
	if a, ok := e.X.(*ast.Array); ok && t.Kind == types.Array {
		if d := literalDepth(a); d > t.Depth() {
			t = t.WithDepth(d)
		}
		elem := t.Elem()
		x := b.array(lv, a, &elem)
		return b.castTo(b.mark(x, a.Pos), t, e)
	}
	x := b.expr(lv, e.X)
	if t.Kind != types.Array {
		return b.castTo(x, t, e)
	}
	y := b.castTo(x, b.dimensions(x, t), e)
	if c, ok := y.(*plan.Const); ok && x.Type().Kind == types.Unknown && !rectangular(c.Value) {
		b.failWith(sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", x.(*plan.Const).Value.Str()).
			WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.").At(b.posOf(x)))
	}
	return y
}

// dimensions gives the array type t the number of dimensions that x has: PostgreSQL's type is
// int[] whatever the dimensions, and ours says them. Where only each row would tell, they are
// as t was written.
func (b *binder) dimensions(x plan.Expr, t types.Type) types.Type {
	depth := x.Type().Depth()
	if c, ok := x.(*plan.Const); ok && c.Typ.Kind == types.Unknown && !c.Value.IsNull() {
		depth = types.ArrayDepth(c.Value.Str())
	}
	if depth == 0 || depth > maxDimensions {
		return t
	}
	return t.WithDepth(depth)
}

// rectangular tells whether the members of an array of arrays have one length, at every level.
func rectangular(d types.Datum) bool {
	if d.IsNull() || d.Form() != types.FormList {
		return true
	}
	n := -1
	for _, e := range d.List() {
		if e.IsNull() || e.Form() != types.FormList {
			continue
		}
		if m := len(e.List()); m == 0 || n >= 0 && m != n || !rectangular(e) {
			return false
		}
		n = len(e.List())
	}
	return true
}

// maxDimensions is PostgreSQL's MAXDIM.
const maxDimensions = 6

// literalDepth is how deep ARRAY[ARRAY[…]] nests.
func literalDepth(a *ast.Array) int {
	d := 1
	for _, x := range a.Elems {
		if sub, ok := x.(*ast.Array); ok {
			d = max(d, 1+literalDepth(sub))
		}
	}
	return d
}

func (b *binder) castTo(x plan.Expr, t types.Type, e *ast.Cast) plan.Expr {
	// The literal's own position where it is one, else that of the cast.
	pos := e.Pos
	if x.Type().Kind == types.Unknown {
		pos = b.posOf(x)
	}
	return b.cast(x, t, pos)
}

// roundTime applies the precision of an interval literal.
func (b *binder) roundTime(x plan.Expr, t types.Type, p, pos int) plan.Expr {
	switch t.Kind {
	case types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval:
	default:
		return x
	}
	if p >= 6 {
		return x
	}
	args := []plan.Expr{x, &plan.Const{Value: types.NewInt(int64(p)), Typ: types.T(types.Int4)}}
	r, err := b.d.ResolveFunction(t.PGName(), exprTypes(args), false)
	if err != nil || !r.Ret.Same(t) {
		b.fail(sqlerr.FeatureNotSupported, pos, "%s(%d) is not supported: only the full precision is", t.PGName(), p)
	}
	return &plan.Call{Func: r.Func, Args: b.coerceArgs(args, r.Args), Typ: r.Ret, Pos: b.at(pos)}
}

// cast converts x to t as an explicit cast does.
func (b *binder) cast(x plan.Expr, t types.Type, pos int) plan.Expr {
	from := x.Type()
	if from.Kind == types.Unknown {
		return b.fromUnknown(x, t, plan.Explicit)
	}
	if from.Equal(t) {
		if from.Declared == t.Declared {
			return x
		}
		return b.mark(&plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}, b.posOf(x))
	}
	if !from.Same(t) && !b.canCast(x, t, plan.Explicit) {
		b.fail(sqlerr.CannotCoerce, pos, "cannot cast type %s to %s", typeName(from), typeName(t))
	}
	return b.convert(x, t, plan.Explicit, pos)
}

// convert makes the cast, which is known to exist.
func (b *binder) convert(x plan.Expr, t types.Type, ctx plan.CastContext, pos int) plan.Expr {
	if b.d.Convert != nil {
		if y := b.d.Convert(b, x, t, ctx, pos); y != nil {
			return b.mark(y, b.posOf(x))
		}
	}
	if r, ok := x.(*plan.RowExpr); ok && t.Kind == types.Struct && len(t.Fields()) == len(r.Elems) {
		row := &plan.RowExpr{Typ: t}
		for i, e := range r.Elems {
			f := t.Fields()[i].Type
			if ctx == plan.Explicit {
				row.Elems = append(row.Elems, b.cast(e, f, pos))
			} else {
				row.Elems = append(row.Elems, b.coerce(e, f, ctx))
			}
		}
		return b.mark(row, b.posOf(x))
	}
	return b.mark(&plan.Cast{X: x, Typ: t, Context: ctx, Pos: b.at(pos)}, b.posOf(x))
}

// canCast is the dialect's rule, and member by member for rows and lists, whose types are
// anonymous.
func (b *binder) canCast(x plan.Expr, t types.Type, ctx plan.CastContext) bool {
	if r, ok := x.(*plan.RowExpr); ok && t.Kind == types.Struct {
		if len(r.Elems) != len(t.Fields()) {
			return false
		}
		for i, e := range r.Elems {
			f := t.Fields()[i].Type
			if e.Type().Kind != types.Unknown && !e.Type().Same(f) && !b.canCast(e, f, ctx) {
				return false
			}
		}
		return true
	}
	return b.d.CanCast(x.Type(), t, ctx)
}

// coerce makes x of type t where the context wants it. The caller has made sure that such a
// cast exists, by overload resolution or common type; else it is an error of the types.
func (b *binder) coerce(x plan.Expr, t types.Type, ctx plan.CastContext) plan.Expr {
	from := x.Type()
	if from.Kind == types.Invalid || from.Equal(t) {
		return x
	}
	if from.Kind == types.Unknown {
		return b.fromUnknown(x, t, ctx)
	}
	if isPseudo(t) {
		return x
	}
	if _, rounded := from.SecondDigits(); rounded && from.Kind == t.Kind && t.Prec == 0 {
		return x // a timestamp(3) is a timestamp
	}
	if t.Kind == types.Struct && len(t.Fields()) == 0 && from.Kind == types.Struct {
		return x
	}
	if t.Kind == types.Map && t.Key().Kind == types.Invalid && from.Kind == types.Map {
		return x
	}
	// A literal number takes its new type at once, which keeps plans plain.
	if c, ok := x.(*plan.Const); ok && c.Typ.IsNumber() && t.IsNumber() && !c.Value.IsNull() {
		if y := b.numberAs(c, t); y != nil {
			return b.mark(y, b.posOf(x))
		}
	}
	return b.convert(x, t, ctx, b.posOf(x))
}

// numberAs converts an integer literal to another number type; nil where it is not plain.
func (b *binder) numberAs(c *plan.Const, t types.Type) plan.Expr {
	if !c.Typ.IsInteger() {
		return nil
	}
	i := c.Value.Int()
	switch t.Kind {
	case types.Int8:
		return &plan.Const{Value: c.Value, Typ: t}
	case types.Int4:
		if i == int64(int32(i)) {
			return &plan.Const{Value: c.Value, Typ: t}
		}
	case types.Float8:
		return &plan.Const{Value: types.NewFloat(float64(i)), Typ: t}
	case types.Numeric:
		if d, err := types.DecimalFromInt64(i).Datum(t); err == nil {
			return &plan.Const{Value: d, Typ: t}
		}
	}
	return nil
}

// coerceArgument makes x of type t or says what it is an argument of (coerce_to_specific_type).
func (b *binder) coerceArgument(x plan.Expr, t types.Type, what string) plan.Expr {
	from := x.Type()
	if from.Kind != types.Unknown && !from.Same(t) && !b.d.CanCast(from, t, plan.Assignment) {
		b.fail(sqlerr.DatatypeMismatch, b.posOf(x), "argument of %s must be type %s, not type %s", what, typeName(t), typeName(from))
	}
	return b.coerce(x, t, plan.Assignment)
}

// fromUnknown gives an untyped literal or parameter its type. A literal is read by the type's
// input function now; a length or precision is applied after, as a cast would.
func (b *binder) fromUnknown(x plan.Expr, t types.Type, ctx plan.CastContext) plan.Expr {
	pos := b.posOf(x)
	switch x := x.(type) {
	case *plan.Const:
		if x.Value.IsNull() {
			return b.mark(&plan.Const{Typ: t}, pos)
		}
		base := inputType(t)
		v, err := types.Parse(x.Value.Str(), base, b.env.textOptions())
		b.check(err, pos)
		y := b.mark(&plan.Const{Value: v, Typ: base}, pos)
		if !base.Equal(t) || base.Declared != t.Declared {
			return b.fit(y, t, ctx, pos)
		}
		return y
	case *plan.Param:
		base := inputType(t)
		i := x.Index - 1
		have := b.params[i]
		switch {
		case have.Kind == types.Unknown:
			b.params[i] = base
		case !have.Equal(base):
			b.failWith(sqlerr.New(sqlerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", x.Index).
				WithDetail("%s versus %s", typeName(have), typeName(base)).At(pos))
		}
		y := b.mark(&plan.Param{Index: x.Index, Typ: base}, pos)
		if !base.Equal(t) {
			return b.mark(&plan.Cast{X: y, Typ: t, Context: ctx, Pos: b.at(pos)}, pos)
		}
		return y
	}
	return b.mark(&plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}, pos)
}

// inputType is t without the parameters that its input function does not apply.
func inputType(t types.Type) types.Type {
	switch t.Kind {
	case types.Numeric, types.Varchar, types.Bpchar, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval:
		return types.T(t.Kind)
	case types.Array:
		if e := inputType(t.Elem()); !e.Equal(t.Elem()) {
			return types.ArrayOf(e)
		}
	}
	return t
}

// fit applies precision or length to a literal now: its error is then the literal's.
func (b *binder) fit(c plan.Expr, t types.Type, ctx plan.CastContext, pos int) plan.Expr {
	x := &plan.Cast{X: c, Typ: t, Context: ctx, Pos: b.at(pos)}
	v := b.evaluate(x, pos)
	return b.mark(&plan.Const{Value: v, Typ: t}, pos)
}

// evaluate computes a constant expression.
func (b *binder) evaluate(x plan.Expr, pos int) types.Datum {
	if c, ok := x.(*plan.Const); ok {
		return c.Value
	}
	ctx := b.env.Eval
	if ctx == nil {
		ctx = &eval.Ctx{Context: b.ctx}
	}
	v, err := eval.EvalConst(ctx, x)
	b.check(err, pos)
	return v
}

// commonType finds the type of several expressions that become one (CASE, VALUES, ARRAY …).
// With report the error points at the first that does not fit.
func (b *binder) commonType(construct string, list []plan.Expr, resolve bool) types.Type {
	ts := exprTypes(list)
	if !resolve && len(ts) == 1 {
		return ts[0] // one row: an untyped literal stays untyped for INSERT and UNION
	}
	t, err := b.d.CommonType(construct, ts)
	if err == nil {
		return t
	}
	for n := 2; n <= len(ts); n++ {
		if _, e := b.d.CommonType(construct, ts[:n]); e != nil {
			b.check(e, b.posOf(list[n-1]))
		}
	}
	b.check(err, b.posOf(list[0]))
	return t
}

// ---- intervals with fields ----

// intervalLiteral reads INTERVAL '5' DAY: the fields say what a bare number counts, and cut
// off what is finer.
func (b *binder) intervalLiteral(lv *level, e *ast.Cast) plan.Expr {
	t := types.T(types.Interval)
	fields := strings.ToLower(e.Type.Fields)
	unit := fields
	if i := strings.LastIndex(fields, " to "); i >= 0 {
		unit = fields[i+4:]
	}
	x := b.expr(lv, e.X)
	c, ok := x.(*plan.Const)
	if !ok || c.Typ.Kind != types.Unknown || c.Value.IsNull() {
		if ok && c.Value.IsNull() {
			return &plan.Const{Typ: t}
		}
		x = b.cast(x, t, e.Pos)
		if v, ok := x.(*plan.Const); ok {
			return &plan.Const{Value: trimInterval(v.Value, unit), Typ: t}
		}
		b.fail(sqlerr.FeatureNotSupported, e.Pos, "interval %s is supported for literals only", fields)
	}
	v, err := types.ParseIntervalFields(c.Value.Str(), fields, b.env.textOptions())
	b.check(err, b.posOf(x))
	x = &plan.Const{Value: types.NewW128(v.W128()), Typ: t}
	if len(e.Type.Mods) > 0 {
		x = b.roundTime(x, t, e.Type.Mods[len(e.Type.Mods)-1], e.Pos)
	}
	return x
}

func isPlainNumber(s string) bool {
	s = strings.TrimSpace(s)
	s = strings.TrimLeft(s, "+-")
	digits := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		} else if s[i] != '.' {
			return false
		}
	}
	return digits > 0
}

// trimInterval drops what is finer than unit (PostgreSQL's AdjustIntervalForTypmod).
func trimInterval(d types.Datum, unit string) types.Datum {
	if d.IsNull() {
		return d
	}
	iv := types.IntervalOf(d.W128())
	const hour, minute = 3600_000_000, 60_000_000
	switch unit {
	case "year":
		iv.Months, iv.Days, iv.Micros = iv.Months/12*12, 0, 0
	case "month":
		iv.Days, iv.Micros = 0, 0
	case "day":
		iv.Micros = 0
	case "hour":
		iv.Micros = iv.Micros / hour * hour
	case "minute":
		iv.Micros = iv.Micros / minute * minute
	}
	return types.NewW128(iv.W128())
}
