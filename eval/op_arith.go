package eval

import (
	"math"

	"github.com/lhsql/lhsql/eval/libm"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerOpArith() {
	ints := []types.Kind{types.Int2, types.Int4, types.Int8}
	for _, l := range ints {
		for _, r := range ints {
			k := max(l, r) // the kinds are in the order of their width
			for _, name := range []string{"+", "-", "*"} {
				Register(withScratch(Op(name, Sig(l, r), types.T(k), intKernel(name, k)), intArith(name, k)))
			}
			Register(Op("/", Sig(l, r), types.T(k), intDiv(k)))
		}
		Register(
			Op("%", Sig(l, l), types.T(l), Try2(intMod)),
			Op("-", Sig(l), types.T(l), intNeg(l)),
			Op("+", Sig(l), types.T(l), Fn1(func(a int64) int64 { return a })).NeverFails(),
			Op("@", Sig(l), types.T(l), intAbs(l)),
			Immutable("abs", Sig(l), types.T(l), intAbs(l)),
			Immutable("mod", Sig(l, l), types.T(l), Try2(intMod)),
			Op("&", Sig(l, l), types.T(l), Fn2(func(a, b int64) int64 { return a & b })).NeverFails(),
			Op("|", Sig(l, l), types.T(l), Fn2(func(a, b int64) int64 { return a | b })).NeverFails(),
			Op("#", Sig(l, l), types.T(l), Fn2(func(a, b int64) int64 { return a ^ b })).NeverFails(),
			Op("~", Sig(l), types.T(l), Fn1(func(a int64) int64 { return ^a })).NeverFails(),
			Op("<<", Sig(l, types.Int4), types.T(l), Fn2(shiftLeft(l))).NeverFails(),
			Op(">>", Sig(l, types.Int4), types.T(l), Fn2(shiftRight(l))).NeverFails(),
		)
	}
	floats := []types.Kind{types.Float4, types.Float8}
	for _, l := range floats {
		for _, r := range floats {
			k := max(l, r)
			for _, name := range []string{"+", "-", "*", "/"} {
				Register(withScratch(Op(name, Sig(l, r), types.T(k), floatKernel(name, k)), floatArith(name, k)))
			}
		}
		Register(
			Op("-", Sig(l), types.T(l), Fn1(func(a float64) float64 { return -a })).NeverFails(),
			Op("+", Sig(l), types.T(l), Fn1(func(a float64) float64 { return a })).NeverFails(),
			Op("@", Sig(l), types.T(l), Fn1(math.Abs)).NeverFails(),
			Immutable("abs", Sig(l), types.T(l), Fn1(math.Abs)).NeverFails(),
		)
	}
	Register(
		Op("^", Sig(types.Float8, types.Float8), TFloat8, Try2(FloatPower)),
		Op("|/", Sig(types.Float8), TFloat8, Try1(FloatSqrt)),
		Op("||/", Sig(types.Float8), TFloat8, Fn1(math.Cbrt)).NeverFails(),
	)
	for _, name := range []string{"+", "-", "*"} {
		Register(withScratch(Op(name, Sig(types.Numeric, types.Numeric), TNumeric, numericOnce(name)), numericKernel(name)).
			Returning(numericRet(name)))
	}
	Register(
		Op("/", Sig(types.Numeric, types.Numeric), TNumeric, Kernel(numericDiv)),
		Op("%", Sig(types.Numeric, types.Numeric), TNumeric, Kernel(numericMod)),
		Immutable("mod", Sig(types.Numeric, types.Numeric), TNumeric, Kernel(numericMod)),
		Op("^", Sig(types.Numeric, types.Numeric), TNumeric, Ask2(func(c *Ctx, d, e types.Decimal) (types.Decimal, error) { return d.PowUntil(e, c.MustLive) })),
		Op("-", Sig(types.Numeric), TNumeric, numericSign(false)).Returning(sameNumeric).NeverFails(),
		Op("+", Sig(types.Numeric), TNumeric, Fn1(func(d types.Datum) types.Datum { return d })).Returning(sameNumeric).NeverFails(),
		Op("@", Sig(types.Numeric), TNumeric, numericSign(true)).Returning(sameNumeric).NeverFails(),
		Immutable("abs", Sig(types.Numeric), TNumeric, numericSign(true)).Returning(sameNumeric).NeverFails(),
	)
}

// withScratch gives f kernels with memory of their own, besides the one for single calls.
func withScratch(f Func, kernel func(*plan.Call) Kernel) Func {
	f.fast.kernel = kernel
	return f
}

func intKernel(name string, k types.Kind) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return intArith(name, k)(nil)(c, args, sel, n, out)
	}
}

func numericOnce(name string) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return (&numericArith{name: name}).kernel(c, args, sel, n, out)
	}
}

func floatKernel(name string, k types.Kind) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return floatArith(name, k)(nil)(c, args, sel, n, out)
	}
}

// shiftLeft and shiftRight count modulo the width, as PostgreSQL's C does on x86; the narrow
// types shift as int32.
func shiftLeft(k types.Kind) func(a, b int64) int64 {
	switch k {
	case types.Int2:
		return func(a, b int64) int64 { return int64(int16(int32(a) << (uint32(b) & 31))) }
	case types.Int4:
		return func(a, b int64) int64 { return int64(int32(a) << (uint32(b) & 31)) }
	}
	return func(a, b int64) int64 { return a << (uint64(b) & 63) }
}

func shiftRight(k types.Kind) func(a, b int64) int64 {
	mask := uint64(31)
	if k == types.Int8 {
		mask = 63
	}
	return func(a, b int64) int64 { return a >> (uint64(b) & mask) }
}

// ErrFloatUnderflow is PostgreSQL's error (22003) where a result that is not zero rounds to zero.
func ErrFloatUnderflow() error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
}

// floatArith computes in float64, rounds for real, and fails where finite operands give an
// infinity, or a zero that is not exact.
func floatArith(name string, k types.Kind) func(*plan.Call) Kernel {
	single := k == types.Float4
	return func(*plan.Call) Kernel {
		var ab, bb []float64
		return func(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
			o := OutF64(out, n)
			x, xc := operand(args[0], args[0].Values().F64, &ab, sel, n)
			y, yc := operand(args[1], args[1].Values().F64, &bb, sel, n)
			if sel == nil && fastFloats(name[0], single, o, x, xc, y, yc) {
				return nil
			}
			return EachRow(sel, n, func(i int) error {
				a, b := x[0], y[0]
				if !xc {
					a = x[i]
				}
				if !yc {
					b = y[i]
				}
				r, err := floatOp(name[0], a, b, single)
				o[i] = r
				return err
			})
		}
	}
}

// fastFloats computes all rows without a branch; false: some result is an infinity, NaN or a
// zero, so that the rows must be looked at one by one.
func fastFloats(name byte, single bool, o, x []float64, xc bool, y []float64, yc bool) bool {
	if single || xc || name == '/' && yc && y[0] == 0 {
		return false
	}
	odd := 0
	switch {
	case name == '+' && yc:
		b := y[0]
		for i, a := range x {
			r := a + b
			odd |= b2i(r-r != 0)
			o[i] = r
		}
	case name == '-' && yc:
		b := y[0]
		for i, a := range x {
			r := a - b
			odd |= b2i(r-r != 0)
			o[i] = r
		}
	case name == '*' && yc:
		b := y[0]
		for i, a := range x {
			r := a * b
			odd |= b2i(r-r != 0) | b2i(r == 0)
			o[i] = r
		}
	case name == '/' && yc:
		b := y[0]
		for i, a := range x {
			r := a / b
			odd |= b2i(r-r != 0) | b2i(r == 0)
			o[i] = r
		}
	case name == '+':
		for i, a := range x {
			r := a + y[i]
			odd |= b2i(r-r != 0)
			o[i] = r
		}
	case name == '-':
		for i, a := range x {
			r := a - y[i]
			odd |= b2i(r-r != 0)
			o[i] = r
		}
	case name == '*':
		for i, a := range x {
			r := a * y[i]
			odd |= b2i(r-r != 0) | b2i(r == 0)
			o[i] = r
		}
	default: // a division by zero gives an infinity or NaN
		for i, a := range x {
			r := a / y[i]
			odd |= b2i(r-r != 0) | b2i(r == 0)
			o[i] = r
		}
	}
	return odd == 0
}

func floatOp(name byte, a, b float64, single bool) (r float64, err error) {
	switch name {
	case '+':
		r = a + b
	case '-':
		r = a - b
	case '*':
		r = a * b
	default:
		if b == 0 && a == a {
			return 0, types.ErrDivisionByZero()
		}
		r = a / b
	}
	if single {
		r = float64(float32(r))
	}
	if math.IsInf(r, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, ErrFloatOverflow()
	}
	if r == 0 && a != 0 && (name == '*' && b != 0 || name == '/' && !math.IsInf(b, 0)) {
		return 0, ErrFloatUnderflow()
	}
	return r, nil
}

// FloatSqrt is sqrt(double precision); of a negative number it is an error (2201F), not NaN.
func FloatSqrt(a float64) (float64, error) {
	if a < 0 {
		return 0, sqlerr.New(sqlerr.InvalidPower, "cannot take square root of a negative number")
	}
	return math.Sqrt(a), nil
}

// FloatPower is dpow: POSIX pow with PostgreSQL's errors.
func FloatPower(a, b float64) (float64, error) {
	switch {
	case a != a:
		if b == 0 {
			return 1, nil
		}
		return a, nil
	case b != b:
		if a == 1 {
			return 1, nil
		}
		return b, nil
	case a == 0 && b < 0:
		return 0, sqlerr.New(sqlerr.InvalidPower, "zero raised to a negative power is undefined")
	case a < 0 && b != math.Floor(b) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
		return 0, sqlerr.New(sqlerr.InvalidPower, "a negative number raised to a non-integer power yields a complex result")
	case math.IsInf(a, -1) && b != math.Floor(b):
		return 0, sqlerr.New(sqlerr.InvalidPower, "a negative number raised to a non-integer power yields a complex result")
	}
	r := libm.Pow(a, b)
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return r, nil
	}
	if math.IsInf(r, 0) {
		return 0, ErrFloatOverflow()
	}
	if r == 0 && a != 0 {
		return 0, ErrFloatUnderflow()
	}
	return r, nil
}

// ErrFloatOverflow is PostgreSQL's error (22003) where finite operands give an infinite result.
func ErrFloatOverflow() error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
}
