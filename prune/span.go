package prune

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// nullness is what is known of NULLs among some values; the zero value proves nothing.
type nullness uint8

const (
	maybe nullness = iota
	never
	always
)

// span is what is known of an expression's values: lo ≤ v ≤ hi for those that are not NULL, in
// the type's total order (so NaN, the greatest float, counts). A NULL bound is unknown.
type span struct {
	lo, hi types.Datum
	nulls  nullness
}

type spanFn func(Stats) span

func unknownSpan(Stats) span { return span{} }

// value compiles an expression to its span.
func (c *compiler) value(e plan.Expr) spanFn {
	switch e := e.(type) {
	case *plan.Col:
		return c.column(e)
	case *plan.Const:
		return constSpan(e.Value)
	}
	if v, ok := c.constant(e); ok {
		return constSpan(v)
	}
	switch e := e.(type) {
	case *plan.Cast:
		return c.castSpan(e)
	case *plan.Call:
		return c.callSpan(e)
	}
	return unknownSpan
}

func constSpan(v types.Datum) spanFn {
	s := span{lo: v, hi: v, nulls: never}
	if v.IsNull() {
		s.nulls = always
	}
	return func(Stats) span { return s }
}

// constant evaluates e if it reads no column and does not change within the statement. An
// error proves nothing; it appears where a row meets it.
func (c *compiler) constant(e plan.Expr) (types.Datum, bool) {
	if k, ok := e.(*plan.Const); ok {
		return k.Value, true
	}
	if len(plan.ExprCols(e)) > 0 || plan.IsVolatile(e) || plan.HasSubquery(e) {
		return types.Null, false
	}
	return c.eval(e)
}

func (c *compiler) eval(e plan.Expr) (types.Datum, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := eval.EvalConst(c.ctx, e)
	return v, err == nil
}

// column reads the statistics of a column and believes them as far as they are consistent.
func (c *compiler) column(e *plan.Col) spanFn {
	t, ok := c.cols[e.ID]
	cmp := comparer(t, t)
	if !ok {
		return unknownSpan
	}
	float := t.Kind == types.Float4 || t.Kind == types.Float8
	return func(s Stats) span {
		var r span
		rows, haveRows := s.Rows()
		if n, ok := s.Nulls(e.ID); ok {
			switch {
			case n == 0:
				r.nulls = never
			case haveRows && n == rows:
				r.nulls = always
			}
		}
		lo, hi, ok := s.Bounds(e.ID)
		if ok && cmp != nil && !(float && (isNaN(lo) || isNaN(hi))) &&
			(lo.IsNull() || hi.IsNull() || cmp(lo, hi) <= 0) {
			r.lo, r.hi = lo, hi
		}
		if float {
			// Bounds do not cover NaN, which is greater than every other value.
			if n, ok := s.NaNs(e.ID); !ok || n != 0 {
				r.hi = types.Null
			}
		}
		return r
	}
}

func isNaN(d types.Datum) bool { return d.Form() == types.FormF64 && math.IsNaN(d.Float()) }

// comparer gives PostgreSQL's order between values of two types, nil if we do not know it.
func comparer(a, b types.Type) func(x, y types.Datum) int {
	ka, kb := orderOf(a), orderOf(b)
	switch {
	case ka == noOrder || kb == noOrder:
		return nil
	case ka == byNumber || kb == byNumber: // decimals, or decimals and integers
		if (ka == byNumber || ka == byInt) && (kb == byNumber || kb == byInt) {
			return numericComparer(a, b)
		}
		return nil
	case ka == byInt && kb == byInt:
		return compareInts
	case ka == byFloat && kb == byFloat, ka == byText && kb == byText, a.Same(b):
		return func(x, y types.Datum) int { return types.Compare(x, y, a) }
	case ka == byDay || kb == byDay || ka == byTime || kb == byTime:
		return instantComparer(a, b)
	}
	return nil
}

func compareInts(x, y types.Datum) int {
	switch a, b := x.Int(), y.Int(); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func numericComparer(a, b types.Type) func(x, y types.Datum) int {
	if a.Kind == types.Numeric && a.Equal(b) && a.Form() == types.FormI64 {
		return func(x, y types.Datum) int {
			if x.Form() == types.FormI64 && y.Form() == types.FormI64 {
				return compareInts(x, y)
			}
			return decimalOf(x, a).Cmp(decimalOf(y, b))
		}
	}
	return func(x, y types.Datum) int { return decimalOf(x, a).Cmp(decimalOf(y, b)) }
}

func decimalOf(d types.Datum, t types.Type) types.Decimal {
	if t.IsInteger() {
		return types.DecimalFromInt64(d.Int())
	}
	return types.DecimalOf(d, t)
}

type order uint8

const (
	noOrder order = iota
	byInt
	byNumber
	byFloat
	byText
	byDay  // date
	byTime // timestamp without time zone, µs
	bySelf
)

// orderOf lists the types whose order in PostgreSQL is the order of their statistics. Text is
// ordered by bytes, which is the order of code points.
func orderOf(t types.Type) order {
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8:
		return byInt
	case types.Numeric:
		return byNumber
	case types.Float4, types.Float8:
		return byFloat
	case types.Text, types.Varchar, types.Name:
		return byText
	case types.Date:
		return byDay
	case types.Timestamp:
		return byTime
	case types.Bool, types.Bytea, types.UUID, types.Time, types.TimestampTZ, types.TimestampNS,
		types.TimestampTZNS, types.Oid:
		return bySelf
	}
	return noOrder
}

const microsPerDay = 86_400_000_000

// instantComparer compares dates with timestamps without a zone: a date is its midnight.
func instantComparer(a, b types.Type) func(x, y types.Datum) int {
	if a.Kind == b.Kind {
		return compareInts
	}
	if a.Kind == types.Date && b.Kind == types.Timestamp {
		return func(x, y types.Datum) int { return compareDay(x.Int(), y.Int()) }
	}
	if a.Kind == types.Timestamp && b.Kind == types.Date {
		return func(x, y types.Datum) int { return -compareDay(y.Int(), x.Int()) }
	}
	return nil
}

// compareDay compares a day number with µs without overflow, infinities included: those are
// the extremes of either type.
func compareDay(day, micros int64) int {
	q := micros / microsPerDay
	r := micros % microsPerDay
	if r < 0 {
		q, r = q-1, r+microsPerDay
	}
	switch {
	case day >= math.MaxInt32 && micros == math.MaxInt64, day <= math.MinInt32 && micros == math.MinInt64:
		return 0
	case day < q || day == q && r > 0:
		return -1
	case day > q:
		return 1
	}
	return 0
}
