package bind

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

func mysqlUnary(b *binder, op string, x plan.Expr, pos int) plan.Expr {
	switch op {
	case "-":
		n := b.asNumber(x)
		if c, ok := n.(*plan.Const); ok && c.Typ.Kind == types.Float8 {
			return &plan.Const{Value: types.NewFloat(-c.Value.Float()), Typ: c.Typ}
		}
		r, err := b.d.ResolveOperator("-", []types.Type{n.Type()})
		b.check(err, pos)
		return &plan.Call{Func: r.Func, Args: []plan.Expr{b.coerce(n, r.Args[0], plan.Implicit)}, Typ: r.Ret, Pos: b.at(pos)}
	case "~":
		return b.evalCall("mysql:bit_not", pos, b.asBits(x))
	}
	return nil
}

func mysqlOperator(b *binder, op string, l, r plan.Expr, pos int) plan.Expr {
	if _, row := l.(*plan.RowExpr); row != isRowExpr(r) && classOf(l.Type()) != isNull && classOf(r.Type()) != isNull &&
		(row && r.Type().Kind != types.Struct || !row && l.Type().Kind != types.Struct) {
		b.failWith(sqlerr.New(sqlerr.CardinalityViolation, "Operand should contain 1 column(s)").WithNumber(1241).At(pos))
	}
	switch op {
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		x, y := b.mysqlComparands(l, r)
		cond := b.plainOperator(op, x, y, pos)
		if op == "=" {
			return b.paddedRange(l, r, cond, pos)
		}
		return cond
	case "+", "-", "*":
		return b.arithmetic(op, l, r, pos)
	case "/":
		l, r, k := b.operands(l, r)
		r = b.divisor(r, pos)
		if k == isDouble {
			return b.evalCall("mysql:div", pos, l, r)
		}
		return b.evalCall("mysql:div", pos, b.to(l, types.Numeric), b.to(r, types.Numeric), int4Const(int64(b.my().divScale)))
	case "div":
		if x, y, k := b.operands(l, r); k == isInt {
			return b.evalCall("mysql:int_div", pos, x, b.divisor(y, pos))
		}
		l, r = b.asNumber(l), b.asNumber(r)
		return b.evalCall("mysql:int_div", pos, b.to(l, types.Numeric), b.divisor(b.to(r, types.Numeric), pos))
	case "mod":
		l, r, k := b.operands(l, r)
		r = b.divisor(r, pos)
		if k == isDecimal {
			l, r = b.to(l, types.Numeric), b.to(r, types.Numeric)
		}
		return b.evalCall("mysql:mod", pos, l, r)
	case "xor":
		return b.plainOperator("<>", mysqlTruth(b, l), mysqlTruth(b, r), pos)
	case "&", "|", "^", "<<", ">>":
		name := map[string]string{"&": "and", "|": "or", "^": "xor", "<<": "left", ">>": "right"}[op]
		return b.evalCall("mysql:bit_"+name, pos, b.asBits(l), b.asBits(r))
	}
	return nil
}

// divisor is what a write divides by: zero is an error there in strict mode, and makes a query's
// value NULL.
func (b *binder) divisor(x plan.Expr, pos int) plan.Expr {
	if !b.writes || !b.my().divisionError {
		return x
	}
	return b.evalCall("mysql:divisor", pos, x)
}

// mysqlBounded: a text of which one bound is a number is compared with both as a double.
func mysqlBounded(b *binder, x, lo, hi plan.Expr) func(plan.Expr) plan.Expr {
	if classOf(x.Type()) == isText && (classOf(lo.Type()).number() || classOf(hi.Type()).number()) {
		return func(x plan.Expr) plan.Expr { return b.to(b.asNumber(x), types.Float8) }
	}
	return func(x plan.Expr) plan.Expr { return x }
}

func isRowExpr(x plan.Expr) bool { _, ok := x.(*plan.RowExpr); return ok }

// paddedRange adds to an equality of texts that disregards spaces at the end the range of texts
// that it lies in, by which files are pruned:
//
//	s = 'ab' COLLATE utf8mb4_bin   →   s >= 'ab' AND s < 'ab!' AND key(s) = key('ab')
func (b *binder) paddedRange(l, r, cond plan.Expr, pos int) plan.Expr {
	if classOf(l.Type()) != isText || classOf(r.Type()) != isText || keyFunction(b.collationIn(l, r)) != "mysql:key_bin_pad" {
		return cond
	}
	l, _ = collated(l)
	r, _ = collated(r)
	c, ok := r.(*plan.Const)
	if !ok {
		if c, ok = l.(*plan.Const); !ok {
			return cond
		}
		l = r
	}
	if c.Value.IsNull() {
		return cond
	}
	s := strings.TrimRight(c.Value.Str(), " ")
	// '!' is what follows the space.
	return plan.AndOf(b.plainOperator(">=", l, textConst(s), pos), b.plainOperator("<", l, textConst(s+"!"), pos), cond)
}

// asBits makes what bit operators take: an integer that may be up to 2^64 - 1.
func (b *binder) asBits(x plan.Expr) plan.Expr { return b.to(b.asNumber(x), types.Numeric) }

// operands makes both sides of arithmetic numbers of one class: int, decimal or double.
func (b *binder) operands(l, r plan.Expr) (plan.Expr, plan.Expr, class) {
	l, r = b.asNumber(l), b.asNumber(r)
	x, y := classOf(l.Type()), classOf(r.Type())
	switch {
	case x == isDouble || y == isDouble:
		return b.to(l, types.Float8), b.to(r, types.Float8), isDouble
	case x == isDecimal || y == isDecimal:
		return l, r, isDecimal
	}
	return b.to(l, types.Int8), b.to(r, types.Int8), isInt
}

func (b *binder) arithmetic(op string, l, r plan.Expr, pos int) plan.Expr {
	if y := classOf(r.Type()); y == isTime && r.Type().Kind == types.Interval && classOf(l.Type()) == isOther {
		b.fail(sqlerr.DatatypeMismatch, pos, "wrong operands of %s", op)
	}
	unsigned := isUnsigned(l, r)
	l, r, k := b.operands(l, r)
	if k != isDouble && (unsigned || k == isDecimal && isUnsigned(l, r)) {
		// Integers, one of them without a sign, give one without a sign: 1 - 2 is an error.
		x := b.plainOperator(op, b.to(l, types.Numeric), b.to(r, types.Numeric), pos)
		if op == "-" && b.my().signedMinus {
			return b.evalCall("mysql:signed_range", pos, x)
		}
		return b.evalCall("mysql:unsigned_range", pos, x)
	}
	return b.plainOperator(op, l, r, pos)
}

// isUnsigned tells whether both are integers and one has no sign.
func isUnsigned(l, r plan.Expr) bool {
	x, y := unsignedValue(l), unsignedValue(r)
	return x && (y || classOf(r.Type()) == isInt) || y && classOf(l.Type()) == isInt
}

func unsignedValue(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Col:
		_, _, integer := x.Typ.MySQL.Integer()
		return integer && x.Typ.MySQL.Unsigned
	case *plan.Const:
		// 2^63 and what is written of more.
		if x.Typ.Kind != types.Numeric || x.Value.IsNull() {
			return false
		}
		d := types.DecimalOf(x.Value, x.Typ)
		return d.Scale() == 0 && d.Sign() > 0
	case *plan.Call:
		switch x.Func.Name {
		case "mysql:unsigned", "mysql:unsigned_range", "mysql:bit_and", "mysql:bit_or", "mysql:bit_xor", "mysql:bit_left",
			"mysql:bit_right", "mysql:bit_not", "mysql:from_bits":
			return true
		case "mysql:abs", "mysql:ceiling", "mysql:floor":
			return unsignedValue(x.Args[0])
		}
	}
	return false
}

// mysqlComparands turns two values into what a comparison of them compares: numbers as numbers,
// texts by their collation's keys, a temporal value and a constant as the temporal type, and
// whatever else is mixed as doubles.
func (b *binder) mysqlComparands(l, r plan.Expr) (plan.Expr, plan.Expr) {
	if n := memberNumber(l); n != nil && classOf(r.Type()).number() {
		l = n
	} else if n := memberNumber(r); n != nil && classOf(l.Type()).number() {
		r = n
	}
	x, y := classOf(l.Type()), classOf(r.Type())
	switch {
	case x == isNull && y == isNull:
		l, r = b.asText(l), b.asText(r)
		return l, r
	case x == isNull && isNullLit(l):
		return b.nullAs(r), r
	case y == isNull && isNullLit(r):
		return l, b.nullAs(l)
	case x == isNull:
		l = b.paramAs(l, r)
		x = classOf(l.Type())
	case y == isNull:
		r = b.paramAs(r, l)
		y = classOf(r.Type())
	}
	switch {
	case x == isText && y == isText:
		c := b.collationIn(l, r)
		return b.keyIn(l, c), b.keyIn(r, c)
	case x == isBool && y == isBool:
		return l, r
	case x.number() && y.number():
		return mysqlOutput(b, b.asNumberKeep(l)), mysqlOutput(b, b.asNumberKeep(r))
	case x == isBytes && y == isText:
		return l, b.asBytes(r)
	case x == isText && y == isBytes:
		return b.asBytes(l), r
	case x == isBytes && y == isBytes, x == isJSON && y == isJSON, x == isOther && y == isOther:
		return l, r
	case x.temporal() && y.temporal():
		return b.temporals(l, r, x, y)
	case x.temporal() && (y == isText || y.number()):
		return b.withTemporal(l, r)
	case y.temporal() && (x == isText || x.number()):
		r, l = b.withTemporal(r, l)
		return l, r
	case x == isJSON || y == isJSON:
		return b.withJSON(l, r, x, y)
	case x == isText && y.number():
		if c, ok := l.(*plan.Const); ok {
			return b.numberConst(c), b.asNumberKeep(r)
		}
		return b.to(l, types.Float8), b.to(b.asNumber(r), types.Float8)
	case y == isText && x.number():
		if c, ok := r.(*plan.Const); ok {
			return b.asNumberKeep(l), b.numberConst(c)
		}
		return b.to(b.asNumber(l), types.Float8), b.to(r, types.Float8)
	case x == isOther || y == isOther:
		// uuid and the like: one side is of the type, the other is read as one.
		if x == isOther {
			return l, b.convertTo(b.asText(r), l.Type(), b.posOf(r))
		}
		return b.convertTo(b.asText(l), r.Type(), b.posOf(l)), r
	}
	return b.to(b.asNumber(l), types.Float8), b.to(b.asNumber(r), types.Float8)
}

// asNumberKeep leaves an integer of its size, so that a bare column stays one.
func (b *binder) asNumberKeep(x plan.Expr) plan.Expr {
	if classOf(x.Type()) == isInt {
		return x
	}
	return b.asNumber(x)
}

// nullAs is NULL of the type that x compares as.
func (b *binder) nullAs(x plan.Expr) plan.Expr { return plan.NullOf(x.Type()) }

// paramAs types a parameter by what it is compared with.
func (b *binder) paramAs(p, with plan.Expr) plan.Expr {
	t := with.Type()
	switch classOf(t) {
	case isInt:
		t = types.T(types.Int8)
	case isBool:
		t = types.T(types.Int8)
	case isDecimal:
		t = types.T(types.Numeric)
	case isText, isJSON, isOther:
		t = types.T(types.Text)
	}
	return b.coerce(p, t, plan.Implicit)
}

func (b *binder) temporals(l, r plan.Expr, x, y class) (plan.Expr, plan.Expr) {
	if x == isTime && y == isTime {
		return b.to(l, types.Interval), b.to(r, types.Interval)
	}
	if x == isTime {
		l = b.to(l, types.Timestamp)
	}
	if y == isTime {
		r = b.to(r, types.Timestamp)
	}
	return l, r
}

// withTemporal compares a temporal value with a text or a number.
func (b *binder) withTemporal(t, o plan.Expr) (plan.Expr, plan.Expr) {
	if c, ok := o.(*plan.Const); ok {
		if y := b.temporalConst(c, t.Type()); y != nil {
			if classOf(t.Type()) == isTime {
				t = b.to(t, types.Interval)
			}
			return t, y
		}
	}
	if _, param := o.(*plan.Param); param && classOf(t.Type()) != isTime && (classOf(o.Type()).number() || classOf(o.Type()) == isText) {
		// A parameter is a constant, too: it becomes a date before it is compared.
		var y plan.Expr
		if classOf(o.Type()).number() {
			y = b.evalCall("mysql:datetime_compared", b.posOf(o), b.to(b.asNumber(o), types.Numeric))
		} else {
			y = b.evalCall("mysql:store_datetime", b.posOf(o), o)
		}
		if t.Type().Kind == types.TimestampTZ {
			y = b.to(y, types.TimestampTZ)
		}
		return t, y
	}
	if classOf(o.Type()).number() {
		return b.to(b.asNumber(t), types.Numeric), b.to(b.asNumber(o), types.Numeric)
	}
	if classOf(t.Type()) == isTime {
		return b.to(t, types.Interval), b.to(o, types.Interval)
	}
	o = b.evalCall("mysql:datetime_compared", b.posOf(o), o)
	if t.Type().Kind == types.TimestampTZ {
		return t, b.to(o, types.TimestampTZ)
	}
	return t, o
}

// withJSON compares a JSON value: with a number as a number, else as text by its bytes.
func (b *binder) withJSON(l, r plan.Expr, x, y class) (plan.Expr, plan.Expr) {
	text := func(e plan.Expr, c class) plan.Expr {
		if c == isJSON {
			return b.evalCall("mysql:json_unquote", b.posOf(e), b.to(e, types.JSONB))
		}
		return b.asText(e)
	}
	if x.number() && x != isBool || y.number() && y != isBool {
		num := func(e plan.Expr, c class) plan.Expr {
			if c == isJSON {
				return b.to(text(e, c), types.Float8)
			}
			return b.to(b.asNumber(e), types.Float8)
		}
		return num(l, x), num(r, y)
	}
	word := func(e plan.Expr, c class) plan.Expr {
		if c == isBool {
			return &plan.Case{Typ: types.T(types.Text), Whens: []plan.When{{Cond: e, Then: textConst("true")},
				{Cond: &plan.Not{X: e}, Then: textConst("false")}}}
		}
		return text(e, c)
	}
	return word(l, x), word(r, y)
}
