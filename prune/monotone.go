package prune

import (
	"math"
	"time"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// monotone describes a function of one varying argument that never decreases (or never
// increases) as the argument grows and is NULL exactly where the argument is. Its span is that
// of its values at the argument's bounds.
type monotone struct {
	arg        spanFn
	argType    types.Type
	apply      func(types.Datum) plan.Expr // the function of a constant
	decreasing bool
	// zoned: computed through the session's time zone. Where clocks are set back, local time
	// repeats itself, so monotony holds only up to the size of the step.
	zoned bool
	ret   types.Type
	memo  map[types.Int128]types.Datum // of FormI64 arguments: partition values repeat
}

// memoMax bounds a memo; statistics of many files rarely repeat beyond it.
const memoMax = 4096

func (c *compiler) span(m *monotone) spanFn {
	m.memo = map[types.Int128]types.Datum{}
	cmp := comparer(m.ret, m.ret)
	return func(s Stats) span {
		a := m.arg(s)
		r := span{nulls: a.nulls}
		lo, hi, slack := a.lo, a.hi, int64(0)
		if m.zoned && !c.steady(m.argType, lo, hi) {
			slack = slackOf(m.argType)
			lo, hi = shift(lo, -slack), shift(hi, slack)
		}
		if m.decreasing {
			lo, hi = hi, lo
		}
		r.lo, r.hi = c.at(m, lo), c.at(m, hi)
		if slack != 0 && zonedType(m.ret) {
			slack = slackOf(m.ret)
			r.lo, r.hi = shift(r.lo, -slack), shift(r.hi, slack)
		}
		if isNaN(r.lo) { // no lower bound that we could believe
			r.lo = types.Null
		}
		if cmp == nil || !r.lo.IsNull() && !r.hi.IsNull() && cmp(r.lo, r.hi) > 0 {
			r.lo, r.hi = types.Null, types.Null
		}
		return r
	}
}

// at evaluates the function at a bound; NULL, unknown, where it is unknown or fails.
func (c *compiler) at(m *monotone, d types.Datum) types.Datum {
	if d.IsNull() {
		return types.Null
	}
	memo := d.Form() == types.FormI64
	if memo {
		c.mu.Lock()
		v, ok := m.memo[d.W128()]
		c.mu.Unlock()
		if ok {
			return v
		}
	}
	v, ok := c.eval(m.apply(d))
	if !ok {
		v = types.Null
	}
	if memo {
		c.mu.Lock()
		if len(m.memo) >= memoMax {
			clear(m.memo)
		}
		m.memo[d.W128()] = v
		c.mu.Unlock()
	}
	return v
}

// zoneSlack, in hours, exceeds every step that a clock has been set by: in the time zone
// database none is above 24 hours (places that changed sides of the date line).
const zoneSlack = 26

// slackOf is zoneSlack in t's units.
func slackOf(t types.Type) int64 {
	switch t.Kind {
	case types.TimestampNS, types.TimestampTZNS:
		return zoneSlack * 3_600_000_000_000
	case types.Date:
		return 2
	}
	return zoneSlack * 3_600_000_000
}

func zonedType(t types.Type) bool {
	return t.Kind == types.TimestampTZ || t.Kind == types.TimestampTZNS
}

// shift moves an instant by d; unknown when that overflows or the instant is infinite.
func shift(v types.Datum, d int64) types.Datum {
	if v.IsNull() || v.Form() != types.FormI64 {
		return types.Null
	}
	i := v.Int()
	if i == math.MaxInt64 || i == math.MinInt64 || d > 0 && i > math.MaxInt64-d || d < 0 && i < math.MinInt64-d {
		return types.Null
	}
	return types.NewInt(i + d)
}

// steady tells whether the session's clock was not set between lo and hi, a margin around
// them included.
func (c *compiler) steady(t types.Type, lo, hi types.Datum) bool {
	zone := time.UTC
	if c.ctx != nil && c.ctx.Zone != nil {
		zone = c.ctx.Zone
	}
	if zone == time.UTC {
		return true
	}
	if lo.IsNull() || hi.IsNull() {
		return false
	}
	a, ok1 := instant(t, lo)
	b, ok2 := instant(t, hi)
	if !ok1 || !ok2 {
		return false
	}
	_, end := a.Add(-zoneSlack * time.Hour).In(zone).ZoneBounds()
	return end.IsZero() || end.After(b.Add(zoneSlack*time.Hour))
}

func instant(t types.Type, d types.Datum) (time.Time, bool) {
	const limit = 200_000 * 366 // days, far within time.Time's range
	i := d.Int()
	switch t.Kind {
	case types.Date:
		return time.Unix(i*86_400, 0), i > -limit && i < limit
	case types.TimestampNS, types.TimestampTZNS:
		return time.Unix(0, i), true
	}
	return time.UnixMicro(i), i/microsPerDay > -limit && i/microsPerDay < limit
}

// castSpan knows the casts that keep order.
func (c *compiler) castSpan(e *plan.Cast) spanFn {
	from, to := e.X.Type(), e.Typ
	keeps, zoned := castKeepsOrder(from, to)
	if !keeps {
		return unknownSpan
	}
	return c.span(&monotone{
		arg: c.value(e.X), argType: from, ret: to, zoned: zoned,
		apply: func(d types.Datum) plan.Expr {
			return &plan.Cast{X: &plan.Const{Value: d, Typ: from}, Typ: to, Context: e.Context, Pos: -1}
		},
	})
}

// castKeepsOrder: x ≤ y implies x::to ≤ y::to. Casts to text do not: 10 < 9 as text.
func castKeepsOrder(from, to types.Type) (keeps, zoned bool) {
	instants := func(t types.Type) bool {
		switch t.Kind {
		case types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
			return true
		}
		return false
	}
	switch {
	case from.IsNumber() && to.IsNumber():
		return true, false
	case from.Kind == types.Bool && to.IsInteger():
		return true, false
	case instants(from) && instants(to):
		// With a zone on one side only, the session's zone stands between.
		return true, zonedType(from) != zonedType(to)
	case (plainText(from) || from.Kind == types.Name) && plainText(to):
		return true, false // varchar(n) keeps a prefix, which keeps order
	case from.Kind == types.Time && to.Kind == types.Time:
		return true, false // to fewer digits they are rounded
	case from.Kind == to.Kind:
		return from.Equal(to), false
	}
	return false, false
}

// callSpan knows the functions and operators that keep or reverse order.
func (c *compiler) callSpan(e *plan.Call) spanFn {
	switch {
	case e.Func.Operator && len(e.Args) == 2:
		return c.arithmetic(e)
	case e.Func.Operator && len(e.Args) == 1 && e.Func.Name == "-":
		if k := orderOf(e.Typ); k == byInt || k == byNumber {
			return c.ofArg(e, 0, true, false)
		}
		return unknownSpan
	}
	if k := orderedCalls[e.Func.Name]; k != nil {
		if i, zoned, ok := k(c, e); ok {
			return c.ofArg(e, i, false, zoned)
		}
	}
	return unknownSpan
}

// ofArg is the span of e as a function of its argument i, the others being constant.
func (c *compiler) ofArg(e *plan.Call, i int, decreasing, zoned bool) spanFn {
	args := make([]plan.Expr, len(e.Args))
	for j, a := range e.Args {
		if j == i {
			continue
		}
		v, ok := c.constant(a)
		if !ok || v.IsNull() {
			return unknownSpan
		}
		args[j] = &plan.Const{Value: v, Typ: a.Type()}
	}
	if e.Func.Volatility == plan.Volatile || !e.Func.Strict {
		return unknownSpan
	}
	return c.span(&monotone{
		arg: c.value(e.Args[i]), argType: e.Args[i].Type(), ret: e.Typ, decreasing: decreasing, zoned: zoned,
		apply: func(d types.Datum) plan.Expr {
			a := append([]plan.Expr(nil), args...)
			a[i] = &plan.Const{Value: d, Typ: e.Args[i].Type()}
			return &plan.Call{Func: e.Func, Args: a, Typ: e.Typ, Pos: -1}
		},
	})
}

// arithmetic: x + k and x - k keep order, k - x reverses it. Integers, decimals and instants
// only: floats round, and infinities make NaN. Overflow fails at the bound and proves nothing.
func (c *compiler) arithmetic(e *plan.Call) spanFn {
	l, r := e.Args[0].Type(), e.Args[1].Type()
	_, rightConst := c.constant(e.Args[1])
	_, leftConst := c.constant(e.Args[0])
	number := func(t types.Type) bool { return orderOf(t) == byInt || orderOf(t) == byNumber }
	instant := func(t types.Type) bool {
		return t.Kind == types.Date || t.Kind == types.Timestamp || t.Kind == types.TimestampTZ
	}
	switch e.Func.Name {
	case "+":
		if number(l) && number(r) {
			if rightConst {
				return c.ofArg(e, 0, false, false)
			}
			if leftConst {
				return c.ofArg(e, 1, false, false)
			}
		}
		// Months clamp to the end of the month, which never changes the order of two instants.
		if instant(l) && rightConst && (r.Kind == types.Interval || r.IsInteger()) {
			return c.ofArg(e, 0, false, zonedType(l))
		}
	case "-":
		if number(l) && number(r) {
			if rightConst {
				return c.ofArg(e, 0, false, false)
			}
			if leftConst {
				return c.ofArg(e, 1, true, false)
			}
		}
		if instant(l) && rightConst && (r.Kind == types.Interval || r.IsInteger()) {
			return c.ofArg(e, 0, false, zonedType(l))
		}
	}
	return unknownSpan
}

// orderedCalls tells for a function which argument it keeps the order of, if it does for this
// call, and whether the session's zone has a part in it.
var orderedCalls = map[string]func(*compiler, *plan.Call) (arg int, zoned, ok bool){
	"date_trunc": func(c *compiler, e *plan.Call) (int, bool, bool) {
		return 1, zonedType(e.Args[1].Type()), len(e.Args) == 2
	},
	"date_part": orderedPart,
	"extract":   orderedPart,
	"date": func(_ *compiler, e *plan.Call) (int, bool, bool) {
		return 0, zonedType(e.Args[0].Type()), len(e.Args) == 1
	},
	"left": func(c *compiler, e *plan.Call) (int, bool, bool) {
		n, ok := c.constant(e.Args[1])
		return 0, false, ok && !n.IsNull() && n.Int() >= 0
	},
	"substr":    orderedSubstring,
	"substring": orderedSubstring,
	"floor":     orderedNumber,
	"ceil":      orderedNumber,
	"ceiling":   orderedNumber,
}

// orderedPart: extract(year …) grows with the instant, extract(month …) does not.
func orderedPart(c *compiler, e *plan.Call) (int, bool, bool) {
	if len(e.Args) != 2 {
		return 0, false, false
	}
	switch e.Args[1].Type().Kind {
	case types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
	default:
		return 0, false, false
	}
	f, ok := c.constant(e.Args[0])
	if !ok || f.IsNull() {
		return 0, false, false
	}
	switch f.Str() {
	case "year", "years", "decade", "century", "millennium", "isoyear", "epoch":
		return 1, zonedType(e.Args[1].Type()), true
	}
	return 0, false, false
}

// orderedSubstring: the first n characters keep order.
func orderedSubstring(c *compiler, e *plan.Call) (int, bool, bool) {
	if len(e.Args) != 3 || !plainText(e.Args[0].Type()) || !e.Args[1].Type().IsInteger() {
		return 0, false, false
	}
	from, ok := c.constant(e.Args[1])
	n, ok2 := c.constant(e.Args[2])
	return 0, false, ok && ok2 && !from.IsNull() && !n.IsNull() && from.Int() <= 1 && n.Int() >= 0
}

func orderedNumber(_ *compiler, e *plan.Call) (int, bool, bool) {
	return 0, false, len(e.Args) == 1 && e.Args[0].Type().Kind == types.Numeric
}
