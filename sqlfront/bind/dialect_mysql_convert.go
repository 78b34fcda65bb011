package bind

import (
	"math"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// evalCall calls a function of eval's table by its name, whose first overload that these
// arguments fit exactly is taken, or else the one that the arguments convert to best.
func (b *binder) evalCall(name string, pos int, args ...plan.Expr) plan.Expr {
	f := b.overload(name, args)
	invariant.Check(f != nil, "there is no function %s of %d arguments", name, len(args))
	return b.applyFunction(f, args, pos)
}

func (b *binder) applyFunction(f *plan.Function, args []plan.Expr, pos int) plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		out[i] = b.toArg(a, paramType(f, i))
	}
	return &plan.Call{Func: f, Args: out, Typ: f.Ret, Pos: b.at(pos)}
}

// toArg converts an argument to the type that the function declares.
func (b *binder) toArg(a plan.Expr, t types.Type) plan.Expr {
	switch {
	case isPseudo(t):
		return b.known(a)
	case t.Kind == types.Numeric && a.Type().Kind == types.Numeric:
		return a
	}
	return b.coerce(a, t, plan.Implicit)
}

func paramType(f *plan.Function, i int) types.Type {
	if i >= len(f.Args) {
		i = len(f.Args) - 1 // VARIADIC
	}
	return f.Args[i]
}

// overload chooses the overload with this many arguments whose types are closest to args'.
func (b *binder) overload(name string, args []plan.Expr) *plan.Function {
	var best *plan.Function
	most := -1
	for _, f := range eval.FunctionsNamed(name) {
		if len(args) > len(f.Args) && !f.Variadic || len(args) < len(f.Args)-eval.Declaration(f).Defaults {
			continue
		}
		score := 0
		for i, a := range args {
			want, have := paramType(f, i), a.Type()
			switch {
			case want.Kind == have.Kind:
				score += 3
			case classOf(want) == classOf(have):
				score += 2
			case classOf(want).number() && classOf(have).number() && classOf(want) > classOf(have):
				score++
			}
		}
		if score > most {
			best, most = f, score
		}
	}
	return best
}

// ---- conversions ----

func (b *binder) to(x plan.Expr, k types.Kind) plan.Expr {
	return b.coerce(x, types.T(k), plan.Implicit)
}

func (b *binder) asText(x plan.Expr) plan.Expr {
	if classOf(x.Type()) == isText {
		return x
	}
	return b.to(x, types.Text)
}

func (b *binder) asBytes(x plan.Expr) plan.Expr { return b.to(x, types.Bytea) }

// memberNumber is the number of an ENUM's or SET's value; nil where x is none.
func memberNumber(x plan.Expr) plan.Expr {
	m := x.Type().MySQL
	if m == nil || m.Members == nil {
		return nil
	}
	return &plan.Call{Func: eval.MemberFunction(m), Args: []plan.Expr{x}, Typ: types.T(types.Int8), Pos: -1}
}

// asNumber makes what arithmetic takes: bigint, numeric or double.
func (b *binder) asNumber(x plan.Expr) plan.Expr {
	if n := memberNumber(x); n != nil {
		return n
	}
	switch classOf(x.Type()) {
	case isNull:
		if isNullLit(x) {
			return b.to(x, types.Int8)
		}
		return b.to(x, types.Float8)
	case isBool, isInt, isDate:
		return b.to(x, types.Int8)
	case isDecimal, isDouble:
		return x
	case isDatetime, isTime:
		return b.to(x, types.Numeric)
	case isBytes:
		if c, ok := x.(*plan.Const); ok && len(c.Value.Str()) <= 8 {
			return b.to(x, types.Int8) // x'0A' in a sum is ten
		}
	}
	return b.to(x, types.Float8)
}

// mysqlConvert makes the conversions that MySQL makes otherwise than PostgreSQL; nil: a
// plan.Cast does it. What is stored must fit (strict mode): such text is read by the column's
// type, whole.
func mysqlConvert(b *binder, x plan.Expr, t types.Type, ctx plan.CastContext, pos int) plan.Expr {
	from, to := classOf(x.Type()), classOf(t)
	if x.Type().Same(t) {
		return nil
	}
	if n := memberNumber(x); n != nil && to.number() {
		return b.coerce(n, t, ctx)
	}
	switch { // a variant is JSON
	case t.Kind == types.Variant && x.Type().Kind == types.JSONB, t.Kind == types.JSONB && x.Type().Kind == types.Variant:
		return &plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	case t.Kind == types.Variant && from != isText && from != isNull:
		return &plan.Cast{X: b.convertTo(x, types.T(types.JSONB), pos), Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	case x.Type().Kind == types.Variant:
		return b.convertTo(b.convertTo(x, types.T(types.JSONB), pos), t, pos)
	}
	if ctx == plan.Assignment {
		if y, ok := b.store(x, t, from, to, pos); ok {
			return y
		}
	}
	if k := x.Type().Kind; ctx == plan.Implicit && (k == types.TimestampTZ || k == types.TimestampTZNS) &&
		(t.Kind == types.Timestamp || t.Kind == types.Date) {
		// MySQL's functions take a TIMESTAMP as the session's local time; PostgreSQL's casts do
		// that only where a value is stored.
		return &plan.Cast{X: x, Typ: t, Context: plan.Assignment, Pos: b.at(pos)}
	}
	switch to {
	case isText:
		if ctx == plan.Assignment && from == isBytes {
			return b.typedText(b.evalCall("mysql:text_stored", pos, x), t, pos)
		}
		return b.convertText(x, t, from, pos)
	case isBytes:
		if from == isText {
			return b.evalCall("mysql:bytes", pos, x)
		}
		return b.evalCall("mysql:bytes", pos, b.asText(x))
	case isBool:
		return mysqlTruth(b, x)
	case isDouble, isInt, isDecimal:
		return b.convertNumber(x, t, from, to, pos)
	case isDate, isDatetime, isTime:
		return b.convertTime(x, t, from, to, pos)
	case isJSON:
		if from == isText {
			return b.evalCall("mysql:json_parse", pos, x)
		}
		if from == isNull {
			return nil
		}
		return b.evalCall("mysql:json_of", pos, b.jsonValue(x))
	}
	return nil
}

// store converts what a column takes, where that is an error for what an expression makes NULL or
// cuts; false: the conversion of expressions does. A nil expression is a plan.Cast.
func (b *binder) store(x plan.Expr, t types.Type, from, to class, pos int) (plan.Expr, bool) {
	fit := func(y plan.Expr) (plan.Expr, bool) {
		if y.Type().Equal(t) {
			return y, true
		}
		return &plan.Cast{X: y, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}, true
	}
	if to == isBytes && from != isNull && from != isJSON && from != isOther {
		if from != isBytes {
			x = b.evalCall("mysql:bytes", pos, b.asText(x))
		}
		if t.Prec > 0 { // fixed[n]
			return fit(b.evalCall("mysql:store_bytes", pos, x, int4Const(int64(t.Prec))))
		}
		return x, true
	}
	if to == isTime && t.Kind == types.Time {
		switch {
		case from == isText || from == isBytes || from.number():
			x, _ = b.store(x, types.T(types.Interval), from, to, pos)
		case from != isTime || x.Type().Kind != types.Interval:
			return nil, false
		}
		return fit(b.evalCall("mysql:time_of_day", pos, x))
	}
	if from == isBytes && (to.number() || to.temporal()) {
		if c, ok := x.(*plan.Const); ok && to.number() && len(c.Value.Str()) <= 8 {
			y := b.evalCall("mysql:int", pos, x) // x'0A' is ten
			if to == isBool {
				return mysqlTruth(b, y), true
			}
			return fit(y)
		}
		x, from = b.asText(x), isText
	}
	switch {
	case from == isText && to == isText:
		return nil, true
	case from == isText && to == isBool:
		n := b.evalCall("mysql:store_int", pos, x, int4Const(8))
		return b.plainOperator("<>", n, b.to(int4Const(0), types.Int8), pos), true
	case from == isText && to == isInt:
		width := map[types.Kind]int64{types.Int2: 2, types.Int4: 4}[t.Kind]
		if width == 0 {
			width = 8
		}
		return fit(b.evalCall("mysql:store_int", pos, x, int4Const(width)))
	case from == isText && to == isDouble:
		return fit(b.evalCall("mysql:store_double", pos, x))
	case from == isText && to == isDecimal:
		return fit(b.evalCall("mysql:store_decimal", pos, x))
	case to.temporal() && (from == isText || from.number()):
		if from != isText {
			x = b.to(b.asNumber(x), types.Numeric)
		}
		name := map[class]string{isDate: "mysql:store_date", isDatetime: "mysql:store_datetime", isTime: "mysql:store_time"}[to]
		return fit(b.evalCall(name, pos, x))
	case from == isText: // JSON, uuid and the like are read by their own rules
		return &plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}, true
	}
	return nil, false
}

func (b *binder) convertText(x plan.Expr, t types.Type, from class, pos int) plan.Expr {
	var y plan.Expr
	switch from {
	case isBool, isDouble, isTime, isBytes:
		if x.Type().Kind == types.Float4 {
			y = b.evalCall("mysql:text_float", pos, &plan.Cast{X: x, Typ: types.T(types.Float8), Context: plan.Explicit})
			break
		}
		y = b.evalCall("mysql:text", pos, x)
	case isDatetime:
		y = b.evalCall("mysql:text", pos, b.to(x, types.Timestamp))
	case isDecimal:
		y = &plan.Cast{X: mysqlOutput(b, x), Typ: types.T(types.Text), Context: plan.Explicit, Pos: b.at(pos)}
	case isJSON:
		if k := x.Type().Kind; k != types.JSON && k != types.JSONB {
			x = &plan.Cast{X: x, Typ: types.T(types.JSONB), Context: plan.Explicit, Pos: b.at(pos)}
		}
		y = &plan.Cast{X: x, Typ: types.T(types.Text), Context: plan.Explicit, Pos: b.at(pos)}
	case isInt, isDate, isOther:
		y = &plan.Cast{X: x, Typ: types.T(types.Text), Context: plan.Explicit, Pos: b.at(pos)}
	default:
		return nil
	}
	return b.typedText(y, t, pos)
}

// typedText makes a text one of type t.
func (b *binder) typedText(y plan.Expr, t types.Type, pos int) plan.Expr {
	if t.Kind != types.Text {
		y = &plan.Cast{X: y, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	}
	return y
}

func (b *binder) convertNumber(x plan.Expr, t types.Type, from, to class, pos int) plan.Expr {
	fit := func(y plan.Expr, have types.Kind) plan.Expr {
		if t.Kind == have && !t.Fixed {
			return y
		}
		return &plan.Cast{X: y, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	}
	name := map[class]string{isDouble: "mysql:double", isInt: "mysql:int", isDecimal: "mysql:decimal"}[to]
	have := map[class]types.Kind{isDouble: types.Float8, isInt: types.Int8, isDecimal: types.Numeric}[to]
	switch from {
	case isBool:
		y := &plan.Cast{X: x, Typ: types.T(types.Int4), Context: plan.Explicit, Pos: b.at(pos)}
		return fit(y, types.Int4)
	case isText, isBytes, isDate, isTime:
		return fit(b.evalCall(name, pos, x), have)
	case isDatetime:
		return fit(b.evalCall(name, pos, b.to(x, types.Timestamp)), have)
	case isJSON:
		return fit(b.evalCall(name, pos, b.evalCall("mysql:json_unquote", pos, x)), have)
	case isDouble:
		if to == isDecimal {
			return fit(b.evalCall("mysql:decimal", pos, x), types.Numeric)
		}
		return &plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	case isInt, isDecimal:
		return &plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	}
	return nil
}

func (b *binder) convertTime(x plan.Expr, t types.Type, from, to class, pos int) plan.Expr {
	name := map[class]string{isDate: "mysql:date", isDatetime: "mysql:datetime", isTime: "mysql:time"}[to]
	fit := func(y plan.Expr) plan.Expr {
		if y.Type().Same(t) {
			return y
		}
		return &plan.Cast{X: y, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	}
	switch from {
	case isText, isInt, isDecimal, isDouble:
		if from == isDouble {
			x = b.evalCall("mysql:decimal", pos, x)
		}
		if from == isInt || from == isDouble {
			x = b.to(x, types.Numeric)
		}
		return fit(b.evalCall(name, pos, x))
	case isBool, isBytes, isJSON:
		return fit(b.evalCall(name, pos, b.asText(x)))
	case isDate, isDatetime:
		if to == isTime {
			return fit(b.evalCall("mysql:time_of", pos, b.to(x, types.Timestamp)))
		}
		return &plan.Cast{X: x, Typ: t, Context: plan.Explicit, Pos: b.at(pos)}
	case isTime:
		if to != isTime {
			return fit(b.evalCall("mysql:datetime_of", pos, b.to(x, types.Interval)))
		}
		if x.Type().Kind == types.Time && t.Kind == types.Interval {
			return b.evalCall("mysql:time_of", pos, x)
		}
	}
	return nil
}

// mysqlTruth is x as a condition: not zero.
func mysqlTruth(b *binder, x plan.Expr) plan.Expr {
	switch classOf(x.Type()) {
	case isBool:
		return x
	case isNull:
		if isNullLit(x) {
			return plan.NullOf(types.T(types.Bool))
		}
		return b.to(x, types.Bool)
	}
	n := b.asNumber(x)
	zero := b.coerce(int4Const(0), n.Type(), plan.Implicit)
	return b.plainOperator("<>", n, zero, b.posOf(x))
}

// mysqlCast binds CAST(x AS type).
func mysqlCast(b *binder, lv *level, e *ast.Cast) plan.Expr {
	x := b.expr(lv, e.X)
	pos := e.Pos
	n := 0
	if len(e.Type.Mods) > 0 {
		n = e.Type.Mods[0]
	}
	name, own := strings.CutPrefix(e.Type.Name, "mysql ")
	if isNullLit(x) {
		k := map[string]types.Kind{"signed": types.Int8, "unsigned": types.Numeric, "char": types.Text, "binary": types.Bytea,
			"date": types.Date, "datetime": types.Timestamp, "time": types.Interval, "json": types.JSONB, "year": types.Int4}[name]
		if own {
			return plan.NullOf(types.T(k))
		}
	}
	if !own {
		t := b.typeOf(&e.Type)
		if t.Kind == types.Numeric {
			if p, s := int(t.Prec), int(t.Scale); t.Fixed && (p > 65 || s > 30 || s > p) {
				b.fail(sqlerr.InvalidParameterValue, pos, "Too big precision or scale specified: DECIMAL(%d,%d)", p, s)
			}
			return b.mark(b.evalCallTyped("mysql:decimal_to", t, pos, b.to(b.asNumber(x), types.Numeric), int4Const(int64(t.Prec)), int4Const(int64(t.Scale))), pos)
		}
		return b.convertTo(x, t, pos)
	}
	switch name {
	case "signed":
		return b.castSigned(x, pos)
	case "unsigned":
		return b.evalCall("mysql:unsigned", pos, b.castNumber(x))
	case "char":
		x = b.asText(x)
		if len(e.Type.Mods) > 0 {
			x = b.evalCall("mysql:left", pos, x, b.to(int4Const(int64(n)), types.Int8))
		}
		return x
	case "binary":
		x = b.asBytes(x)
		if len(e.Type.Mods) > 0 {
			x = b.evalCall("mysql:binary", pos, x, b.to(int4Const(int64(n)), types.Int8))
		}
		return x
	case "date":
		return b.convertTo(x, types.T(types.Date), pos)
	case "datetime":
		return b.evalCall("mysql:precision", pos, b.convertTo(x, types.T(types.Timestamp), pos), int4Const(int64(n)))
	case "time":
		return b.evalCall("mysql:precision", pos, b.convertTo(x, types.T(types.Interval), pos), int4Const(int64(n)))
	case "year":
		return b.evalCall("mysql:cast_year", pos, b.to(b.asNumber(x), types.Int8))
	case "json":
		if k := x.Type().Kind; k == types.JSON || k == types.JSONB {
			return x
		}
		return b.convertTo(x, types.T(types.JSONB), pos)
	}
	b.fail(sqlerr.FeatureNotSupported, pos, "CAST to %s is not supported", name)
	return nil
}

func (b *binder) evalCallTyped(name string, t types.Type, pos int, args ...plan.Expr) plan.Expr {
	c := b.evalCall(name, pos, args...).(*plan.Call)
	if t.Prec <= 38 {
		c.Typ = t
		c.Typ.Declared = false
	}
	return c
}

func (b *binder) convertTo(x plan.Expr, t types.Type, pos int) plan.Expr {
	if x.Type().Kind == types.Unknown {
		return b.coerce(x, t, plan.Explicit)
	}
	if x.Type().Equal(t) {
		return x
	}
	return b.mark(b.convert(x, t, plan.Explicit, pos), pos)
}

// castNumber is a number whose digits after the point are still there.
func (b *binder) castNumber(x plan.Expr) plan.Expr {
	if classOf(x.Type()) == isText {
		return b.evalCall("mysql:int_prefix", b.posOf(x), x)
	}
	return b.to(b.asNumber(x), types.Numeric)
}

func (b *binder) castSigned(x plan.Expr, pos int) plan.Expr {
	switch classOf(x.Type()) {
	case isInt:
		return b.to(x, types.Int8)
	case isDouble:
		return b.evalCall("mysql:signed", pos, b.to(x, types.Float8))
	}
	return b.evalCall("mysql:signed", pos, b.castNumber(x))
}

// temporalConst reads a constant text or number as the temporal type of what it is compared
// with. A text that is none is an error, as in MySQL.
func (b *binder) temporalConst(c *plan.Const, with types.Type) plan.Expr {
	pos := b.posOf(c)
	if c.Value.IsNull() {
		if classOf(with) == isTime {
			return plan.NullOf(types.T(types.Interval))
		}
		return plan.NullOf(with)
	}
	name, word := "mysql:datetime", "DATETIME"
	if classOf(with) == isTime {
		name, word = "mysql:time", "TIME"
	}
	var arg plan.Expr = c
	if classOf(c.Typ) == isBytes {
		arg = b.asText(c)
	}
	if classOf(c.Typ).number() {
		arg = b.to(c, types.Numeric)
	}
	x := b.evalCall(name, pos, arg)
	v := b.evaluate(x, pos)
	if v.IsNull() {
		if classOf(c.Typ).number() {
			return nil
		}
		if with.Kind == types.Date {
			word = "DATE"
		}
		b.fail(sqlerr.InvalidDatetimeFormat, pos, "Incorrect %s value: '%s'", word, types.Format(c.Value, c.Typ, b.env.textOptions()))
	}
	if classOf(with) == isTime {
		return b.mark(&plan.Const{Value: v, Typ: types.T(types.Interval)}, pos)
	}
	us := v.Int()
	const day = 86400_000_000
	out := &plan.Const{Value: v, Typ: types.T(types.Timestamp)}
	switch {
	case with.Kind == types.Date && us%day == 0:
		out = &plan.Const{Value: types.NewInt(floorDiv(us, day)), Typ: types.T(types.Date)}
	case with.Kind == types.TimestampTZ:
		y := b.evaluate(&plan.Cast{X: out, Typ: types.T(types.TimestampTZ), Context: plan.Explicit}, pos)
		out = &plan.Const{Value: y, Typ: types.T(types.TimestampTZ)}
	}
	return b.mark(out, pos)
}

func floorDiv(a, c int64) int64 {
	q := a / c
	if a%c < 0 {
		q--
	}
	return q
}

// numberConst reads a constant text as the number that it is compared as: exactly where it is
// a plain decimal number, so that a bigint does not lose digits.
func (b *binder) numberConst(c *plan.Const) plan.Expr {
	if c.Value.IsNull() {
		return plan.NullOf(types.T(types.Float8))
	}
	s := strings.TrimSpace(c.Value.Str())
	if isPlainNumber(s) && len(s) <= 40 {
		return b.mark(b.number(s, b.posOf(c)), b.posOf(c))
	}
	v := b.evaluate(b.to(c, types.Float8), b.posOf(c))
	if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return b.mark(&plan.Const{Value: types.NewInt(int64(f)), Typ: types.T(types.Int8)}, b.posOf(c))
	}
	return b.mark(&plan.Const{Value: v, Typ: types.T(types.Float8)}, b.posOf(c))
}
