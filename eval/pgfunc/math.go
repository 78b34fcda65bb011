package pgfunc

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/libm"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Mathematics: PostgreSQL's chapter 9.3, except the operators.
func registerMath() {
	const i2, i4, i8, f8, num = types.Int2, types.Int4, types.Int8, types.Float8, types.Numeric
	for _, name := range []string{"ceil", "ceiling"} {
		eval.Register(
			eval.Immutable(name, eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Ceil)).NeverFails(),
			eval.Immutable(name, eval.Sig(num), eval.TNumeric, eval.Fn1(types.Decimal.Ceil)).NeverFails(),
		)
	}
	eval.Register(
		eval.Immutable("floor", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Floor)).NeverFails(),
		eval.Immutable("floor", eval.Sig(num), eval.TNumeric, eval.Fn1(types.Decimal.Floor)).NeverFails(),
		eval.Immutable("round", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.RoundToEven)).NeverFails(),
		eval.Immutable("round", eval.Sig(num), eval.TNumeric, eval.Fn1(func(d types.Decimal) types.Decimal { return d.Round(0) })).NeverFails(),
		eval.Immutable("round", eval.Sig(num, i4), eval.TNumeric, eval.Try2(func(d types.Decimal, n int) (types.Decimal, error) { return d.Round(n).Check() })),
		eval.Immutable("trunc", eval.Sig(f8), eval.TFloat8, eval.Fn1(math.Trunc)).NeverFails(),
		eval.Immutable("trunc", eval.Sig(num), eval.TNumeric, eval.Fn1(func(d types.Decimal) types.Decimal { return d.Trunc(0) })).NeverFails(),
		eval.Immutable("trunc", eval.Sig(num, i4), eval.TNumeric, eval.Fn2(func(d types.Decimal, n int) types.Decimal { return d.Trunc(n) })).NeverFails(),
		eval.Immutable("sign", eval.Sig(f8), eval.TFloat8, eval.Fn1(func(f float64) float64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0 // NaN too
		})).NeverFails(),
		eval.Immutable("sign", eval.Sig(num), eval.TNumeric, eval.Fn1(func(d types.Decimal) types.Decimal {
			if d.IsNaN() {
				return d
			}
			return types.DecimalFromInt64(int64(d.Sign()))
		})).NeverFails(),
		eval.Immutable("sqrt", eval.Sig(f8), eval.TFloat8, eval.Try1(eval.FloatSqrt)),
		eval.Immutable("sqrt", eval.Sig(num), eval.TNumeric, eval.Try1(types.Decimal.Sqrt)),
		eval.Immutable("cbrt", eval.Sig(f8), eval.TFloat8, eval.Fn1(libm.Cbrt)).NeverFails(),
		eval.Immutable("exp", eval.Sig(f8), eval.TFloat8, eval.Try1(exp)),
		eval.Immutable("exp", eval.Sig(num), eval.TNumeric, eval.Ask1(func(c *eval.Ctx, d types.Decimal) (types.Decimal, error) { return d.ExpUntil(c.MustLive) })),
		eval.Immutable("ln", eval.Sig(f8), eval.TFloat8, eval.Try1(func(f float64) (float64, error) { return logarithm(f, libm.Log) })),
		eval.Immutable("ln", eval.Sig(num), eval.TNumeric, eval.Ask1(func(c *eval.Ctx, d types.Decimal) (types.Decimal, error) { return d.LnUntil(c.MustLive) })),
		eval.Immutable("div", eval.Sig(num, num), eval.TNumeric, eval.Try2(types.Decimal.Quo)),
		eval.Immutable("scale", eval.Sig(num), eval.TInt4, intOrNull(func(d types.Decimal) (int64, bool) { return int64(d.Scale()), d.IsFinite() })).NeverFails(),
		eval.Immutable("min_scale", eval.Sig(num), eval.TInt4, intOrNull(func(d types.Decimal) (int64, bool) { return int64(d.TrimScale().Scale()), d.IsFinite() })).NeverFails(),
		eval.Immutable("trim_scale", eval.Sig(num), eval.TNumeric, eval.Fn1(types.Decimal.TrimScale)).NeverFails(),
		eval.Immutable("factorial", eval.Sig(i8), eval.TNumeric, eval.Try1(factorial)),
		eval.Immutable("gcd", eval.Sig(i4, i4), eval.TInt4, eval.Try2(func(a, b int64) (int64, error) { return gcd(a, b, types.Int4) })),
		eval.Immutable("gcd", eval.Sig(i8, i8), eval.TInt8, eval.Try2(func(a, b int64) (int64, error) { return gcd(a, b, types.Int8) })),
		eval.Immutable("gcd", eval.Sig(num, num), eval.TNumeric, eval.Try2(numericGCD)),
		eval.Immutable("lcm", eval.Sig(i4, i4), eval.TInt4, eval.Try2(func(a, b int64) (int64, error) { return lcm(a, b, types.Int4) })),
		eval.Immutable("lcm", eval.Sig(i8, i8), eval.TInt8, eval.Try2(func(a, b int64) (int64, error) { return lcm(a, b, types.Int8) })),
		eval.Immutable("lcm", eval.Sig(num, num), eval.TNumeric, eval.Try2(numericLCM)),
		eval.Immutable("width_bucket", eval.Sig(f8, f8, f8, i4), eval.TInt4, eval.Try4(widthBucket)),
		eval.Immutable("width_bucket", eval.Sig(num, num, num, i4), eval.TInt4, eval.Try4(numericWidthBucket)),
		eval.Immutable("width_bucket", []types.Type{eval.TAnyElement, eval.TAnyArray}, eval.TInt4, typed(bucketOf)),
		eval.Immutable("pi", nil, eval.TFloat8, eval.Ask0(func(*eval.Ctx) (float64, error) { return math.Pi, nil })).NeverFails(),
		eval.Immutable("degrees", eval.Sig(f8), eval.TFloat8, eval.Fn1(func(f float64) float64 { return f / (math.Pi / 180) })).NeverFails(),
		eval.Immutable("radians", eval.Sig(f8), eval.TFloat8, eval.Fn1(func(f float64) float64 { return f * (math.Pi / 180) })).NeverFails(),
		eval.Volatile("random", nil, eval.TFloat8, eval.Ask0(func(*eval.Ctx) (float64, error) { return rand.Float64(), nil })),
		eval.Volatile("setseed", eval.Sig(f8), eval.TVoid, eval.Try1(func(f float64) (types.Datum, error) {
			if !(f >= -1 && f <= 1) {
				return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "setseed parameter %g is out of allowed range [-1,1]", f)
			}
			return types.NewStr(""), nil
		})),
		eval.Immutable("isnan", eval.Sig(f8), eval.TBool, eval.Fn1(math.IsNaN)).NeverFails(),
	)
	for _, name := range []string{"power", "pow"} {
		eval.Register(
			eval.Immutable(name, eval.Sig(f8, f8), eval.TFloat8, eval.Try2(eval.FloatPower)),
			eval.Immutable(name, eval.Sig(num, num), eval.TNumeric, eval.Ask2(func(c *eval.Ctx, d, e types.Decimal) (types.Decimal, error) { return d.PowUntil(e, c.MustLive) })),
		)
	}
	log10 := func(f float64) (float64, error) { return logarithm(f, libm.Log10) }
	numLog10 := func(c *eval.Ctx, d types.Decimal) (types.Decimal, error) {
		return d.LogUntil(types.DecimalFromInt64(10), c.MustLive)
	}
	for _, name := range []string{"log", "log10"} {
		eval.Register(
			eval.Immutable(name, eval.Sig(f8), eval.TFloat8, eval.Try1(log10)),
			eval.Immutable(name, eval.Sig(num), eval.TNumeric, eval.Ask1(numLog10)),
		)
	}
	eval.Register(eval.Immutable("log", eval.Sig(num, num), eval.TNumeric, eval.Ask2(func(c *eval.Ctx, base, d types.Decimal) (types.Decimal, error) { return d.LogUntil(base, c.MustLive) })))
	trigonometry()
}

// intOrNull makes a kernel of a function of a numeric that gives NULL where ok is false.
func intOrNull(f func(types.Decimal) (v int64, ok bool)) eval.Kernel {
	return eval.Fn1(func(d types.Decimal) types.Datum {
		if v, ok := f(d); ok {
			return types.NewInt(v)
		}
		return types.Null
	})
}

func errInputRange() error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
}

func exp(f float64) (float64, error) {
	r := libm.Exp(f)
	switch {
	case math.IsInf(r, 0) && !math.IsInf(f, 0):
		return 0, eval.ErrFloatOverflow()
	case r == 0 && !math.IsInf(f, 0):
		return 0, eval.ErrFloatUnderflow()
	}
	return r, nil
}

func logarithm(f float64, log func(float64) float64) (float64, error) {
	switch {
	case f == 0:
		return 0, sqlerr.New(sqlerr.InvalidLogarithm, "cannot take logarithm of zero")
	case f < 0:
		return 0, sqlerr.New(sqlerr.InvalidLogarithm, "cannot take logarithm of a negative number")
	}
	return log(f), nil
}

func factorial(n int64) (types.Decimal, error) {
	if n < 0 {
		return types.Decimal{}, sqlerr.New(sqlerr.NumericOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return types.Decimal{}, sqlerr.New(sqlerr.NumericOutOfRange, "value overflows numeric format")
	}
	return types.DecimalFromBig(new(big.Int).MulRange(1, max(n, 1)), 0), nil
}

func gcd(a, b int64, k types.Kind) (int64, error) {
	ua, ub := absU(a), absU(b)
	for ub != 0 {
		ua, ub = ub, ua%ub
	}
	return fitUnsigned(ua, k)
}

func absU(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func fitUnsigned(u uint64, k types.Kind) (int64, error) {
	if u > math.MaxInt64 || k == types.Int4 && u > math.MaxInt32 {
		return 0, types.ErrIntRange(k)
	}
	return int64(u), nil
}

func lcm(a, b int64, k types.Kind) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	ua, ub := absU(a), absU(b)
	x, y := ua, ub
	for y != 0 {
		x, y = y, x%y
	}
	q := ua / x
	if q != 0 && ub > math.MaxUint64/q {
		return 0, types.ErrIntRange(k)
	}
	return fitUnsigned(q*ub, k)
}

func numericGCD(a, b types.Decimal) (types.Decimal, error) {
	if !a.IsFinite() || !b.IsFinite() {
		return types.DecimalNaN, nil
	}
	s := max(a.Scale(), b.Scale())
	x, y := a.WithScale(s).Coef(), b.WithScale(s).Coef()
	z := new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
	return types.DecimalFromBig(z, s), nil
}

func numericLCM(a, b types.Decimal) (types.Decimal, error) {
	if !a.IsFinite() || !b.IsFinite() {
		return types.DecimalNaN, nil
	}
	s := max(a.Scale(), b.Scale())
	x, y := new(big.Int).Abs(a.WithScale(s).Coef()), new(big.Int).Abs(b.WithScale(s).Coef())
	if x.Sign() == 0 || y.Sign() == 0 {
		return types.NewDecimal(0, s), nil
	}
	g := new(big.Int).GCD(nil, nil, x, y)
	return types.DecimalFromBig(new(big.Int).Mul(new(big.Int).Quo(x, g), y), s), nil
}

func bucketError(what string) error {
	return sqlerr.New(sqlerr.Code("2201G"), "%s", what)
}

func widthBucket(x, lo, hi float64, n int64) (int64, error) {
	switch {
	case n <= 0:
		return 0, bucketError("count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return 0, bucketError("operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return 0, bucketError("lower and upper bounds must be finite")
	case lo == hi:
		return 0, bucketError("lower bound cannot equal upper bound")
	}
	down := lo > hi
	if down {
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return 0, nil
	case x >= hi:
		if n == math.MaxInt32 {
			return 0, types.ErrIntRange(types.Int4)
		}
		return n + 1, nil
	}
	f := (x - lo) / (hi - lo)
	if math.IsInf(hi-lo, 0) { // halve, so that the difference does not overflow
		f = (x/2 - lo/2) / (hi/2 - lo/2)
	}
	return min(int64(f*float64(n)), n-1) + 1, nil
}

func numericWidthBucket(x, lo, hi types.Decimal, n int64) (int64, error) {
	switch {
	case n <= 0:
		return 0, bucketError("count must be greater than zero")
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return 0, bucketError("operand, lower bound, and upper bound cannot be NaN")
	case lo.IsInf() || hi.IsInf():
		return 0, bucketError("lower and upper bounds must be finite")
	case lo.Cmp(hi) == 0:
		return 0, bucketError("lower bound cannot equal upper bound")
	}
	if lo.Cmp(hi) > 0 {
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	switch {
	case x.Cmp(lo) < 0:
		return 0, nil
	case x.Cmp(hi) >= 0:
		if n == math.MaxInt32 {
			return 0, types.ErrIntRange(types.Int4)
		}
		return n + 1, nil
	}
	q, err := x.Sub(lo).Mul(types.DecimalFromInt64(n)).Quo(hi.Sub(lo))
	if err != nil {
		return 0, err
	}
	i, err := q.ToInt(types.Int8)
	return i + 1, err
}

// bucketOf counts the thresholds, sorted upwards, that are not above x.
func bucketOf(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	elem := t[1].Elem()
	x, err := recast(a[0], t[0], elem)
	if err != nil {
		return types.Null, err
	}
	list := a[1].List()
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].IsNull() {
			return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "thresholds array must not contain NULLs")
		}
		if types.Compare(x, list[mid], elem) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return types.NewInt(int64(lo)), nil
}
