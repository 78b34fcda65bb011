package bind

import (
	"github.com/lhsql/lhsql/eval/mysqlfunc"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// literal is DATE '…', TIMESTAMP '…' and TIME '…'.
func (f *mysqlForm) literal() plan.Expr {
	b := f.b
	k := map[string]types.Kind{"literal date": types.Date, "literal datetime": types.Timestamp, "literal time": types.Interval}[f.name]
	word := map[types.Kind]string{types.Date: "DATE", types.Timestamp: "DATETIME", types.Interval: "TIME"}[k]
	x := b.convertTo(f.args[0], types.T(k), f.pos)
	v := b.evaluate(x, f.pos)
	if v.IsNull() {
		b.fail(sqlerr.InvalidDatetimeFormat, f.pos, "Incorrect %s value: '%s'", word, f.args[0].(*plan.Const).Value.Str())
	}
	return &plan.Const{Value: v, Typ: types.T(k)}
}

// now gives the current time to as many digits as its argument says.
func (f *mysqlForm) now() plan.Expr {
	f.b.refuseModifiers(f.call, f.name, false)
	if len(f.args) > 1 {
		f.wrongCount()
	}
	n := f.b.to(int4Const(0), types.Int8)
	if len(f.args) == 1 {
		n = f.args[0]
		if c, ok := n.(*plan.Const); !ok || !c.Typ.IsInteger() || c.Value.Int() < 0 || c.Value.Int() > 6 {
			f.b.fail(sqlerr.InvalidParameterValue, f.pos, "Too-big precision specified for '%s'. Maximum is 6.", f.name)
		}
	}
	return f.eval(f.name, n)
}

func (f *mysqlForm) dateOf() plan.Expr {
	f.need(1, 1)
	x := f.args[0]
	if x.Type().Kind == types.Date {
		return x
	}
	return f.b.convertTo(x, types.T(types.Date), f.pos)
}

func (f *mysqlForm) week() plan.Expr {
	f.need(1, 2)
	mode := f.b.to(&plan.Const{Value: types.NewInt(f.b.my().weekMode), Typ: types.T(types.Int8)}, types.Int8)
	if len(f.args) == 2 {
		mode = f.args[1]
	}
	return f.eval("week", f.args[0], mode)
}

// strToDate gives a date, a time or both, as a constant format says.
func (f *mysqlForm) strToDate() plan.Expr {
	f.need(2, 2)
	name := "str_to_datetime"
	if c, ok := f.args[1].(*plan.Const); ok && !c.Value.IsNull() && classOf(c.Typ) == isText {
		switch date, clock := mysqlfunc.DateFormatParts(c.Value.Str()); {
		case date && !clock:
			name = "str_to_day"
		case clock && !date:
			name = "str_to_time"
		}
	}
	return f.eval(name, f.b.asText(f.args[0]), f.b.asText(f.args[1]))
}

// timeDiff subtracts two datetimes or two times; of one each it is NULL.
func (f *mysqlForm) timeDiff() plan.Expr {
	f.need(2, 2)
	b := f.b
	stamp := func(x plan.Expr) bool {
		k := classOf(x.Type())
		if c, ok := x.(*plan.Const); ok && k == isText {
			return mysqlfunc.IsDatetimeText(c.Value.Str())
		}
		return k == isDatetime || k == isDate
	}
	x, y := f.args[0], f.args[1]
	if stamp(x) || stamp(y) {
		if classOf(x.Type()) == isTime || classOf(y.Type()) == isTime {
			return plan.NullOf(types.T(types.Interval))
		}
		return f.eval("timediff", b.to(x, types.Timestamp), b.to(y, types.Timestamp))
	}
	return f.eval("timediff", b.to(x, types.Interval), b.to(y, types.Interval))
}

// extract takes a part of a date, or of a time where the unit has no date and the value no day.
func (f *mysqlForm) extract() plan.Expr {
	b := f.b
	f.need(2, 2)
	x := f.args[1]
	switch unit := f.args[0].(*plan.Const).Value.Str(); {
	case classOf(x.Type()) == isTime:
		x = b.to(x, types.Interval)
	case unit == "hour" || unit == "minute" || unit == "second" || unit == "microsecond" ||
		len(unit) > 4 && unit[:4] != "day_" && unit[:4] != "year" && unit != "month" && unit != "quarter":
		if classOf(x.Type()) == isText {
			x = b.to(x, types.Interval)
			break
		}
		fallthrough
	default:
		x = b.to(x, types.Timestamp)
	}
	return f.eval("extract", f.args[0], x)
}

// amount is the n of INTERVAL n unit, as the text that the functions read.
func (f *mysqlForm) amount(n plan.Expr) plan.Expr {
	b := f.b
	unit := f.args[len(f.args)-1].(*plan.Const).Value.Str()
	if k := classOf(n.Type()); k != isText && k != isNull && unit != "second" {
		switch unit {
		case "microsecond", "minute", "hour", "day", "week", "month", "quarter", "year":
			n = b.to(b.asNumber(n), types.Int8)
		}
	}
	return b.asText(n)
}

// dateAdd is DATE_ADD and DATE_SUB: a date stays one by days and more, a text stays a text.
func (f *mysqlForm) dateAdd() plan.Expr {
	b := f.b
	f.need(3, 3)
	x, unit := f.args[0], f.args[2]
	n := f.amount(f.args[1])
	switch classOf(x.Type()) {
	case isDate:
		switch unit.(*plan.Const).Value.Str() {
		case "day", "week", "month", "quarter", "year", "year_month":
		default:
			x = b.to(x, types.Timestamp)
		}
	case isDatetime:
		if x.Type().Kind == types.TimestampTZ {
			x = b.to(x, types.Timestamp)
		}
	case isTime:
		x = b.to(x, types.Interval)
	case isText:
	case isNull:
		if isNullLit(x) {
			return plan.NullOf(types.T(types.Timestamp))
		}
		x = b.to(x, types.Timestamp)
	default:
		x = b.asText(x) // a number is read as a text is, and gives one
	}
	return f.eval(f.name, x, n, unit)
}
