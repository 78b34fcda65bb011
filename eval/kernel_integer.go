package eval

import (
	"math"
	"math/bits"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// bitsOf bounds the magnitudes of x's rows sel: every |x| < 2^bitsOf. One pass without branches
// tells that no row can overflow, instead of a test per row.
func bitsOf(x []int64, sel []uint16) int {
	var m uint64
	if sel == nil {
		for _, v := range x {
			m |= uint64(v ^ v>>63)
		}
	} else {
		for _, i := range sel {
			m |= uint64(x[i] ^ x[i]>>63)
		}
	}
	// -2^k has the bits of 2^k - 1, but needs k+1 of them: one more covers that.
	return bits.Len64(m) + 1
}

func bitLen(v int64) int { return bits.Len64(uint64(v^v>>63)) + 1 }

// errRange is PostgreSQL's overflow of an integer type.
func errRange(k types.Kind) error {
	name := map[types.Kind]string{types.Int2: "smallint", types.Int4: "integer", types.Int8: "bigint"}[k]
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", name)
}

func intLimits(k types.Kind) (lo, hi int64) {
	switch k {
	case types.Int2:
		return math.MinInt16, math.MaxInt16
	case types.Int4:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// intArith makes the kernel of + - * over integers with the result type k.
func intArith(name string, k types.Kind) func(*plan.Call) Kernel {
	lo, hi := intLimits(k)
	return func(*plan.Call) Kernel {
		var ab, bb []int64
		return func(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
			o := OutI64(out, n)
			x, xc := operand(args[0], args[0].Values().I64, &ab, sel, n)
			y, yc := operand(args[1], args[1].Values().I64, &bb, sel, n)
			var over bool
			switch name {
			case "+":
				over = addInts(o, x, xc, y, yc, sel)
			case "-":
				over = subInts(o, x, xc, y, yc, sel)
			default:
				over = mulInts(o, x, xc, y, yc, sel)
			}
			if over || k != types.Int8 && outside(o, lo, hi, sel) {
				return errRange(k)
			}
			return nil
		}
	}
}

// outside tells whether some row is not within lo … hi.
func outside(x []int64, lo, hi int64, sel []uint16) bool {
	bad := 0
	width := uint64(hi) - uint64(lo)
	if sel == nil {
		for _, v := range x {
			bad |= b2i(uint64(v)-uint64(lo) > width)
		}
		return bad != 0
	}
	for _, i := range sel {
		bad |= b2i(uint64(x[i])-uint64(lo) > width)
	}
	return bad != 0
}

// addInts, subInts and mulInts compute o = x op y for the rows sel and tell whether one of them
// overflowed. Rows outside sel are computed too where that is faster; they do not count.

func addInts(o, x []int64, xc bool, y []int64, yc bool, sel []uint16) bool {
	if xc && !yc {
		x, xc, y, yc = y, yc, x, xc
	}
	var over int64
	switch {
	case sel != nil:
		for _, i := range sel {
			a, b := pick(x, xc, i), pick(y, yc, i)
			r := a + b
			over |= (a ^ r) & (b ^ r)
			o[i] = r
		}
	case yc && xc:
		r := x[0] + y[0]
		over = (x[0] ^ r) & (y[0] ^ r)
		for i := range o {
			o[i] = r
		}
	case yc:
		b := y[0]
		for i, a := range x {
			r := a + b
			over |= (a ^ r) & (b ^ r)
			o[i] = r
		}
	default:
		y = y[:len(x)]
		for i, a := range x {
			b := y[i]
			r := a + b
			over |= (a ^ r) & (b ^ r)
			o[i] = r
		}
	}
	return over < 0
}

func subInts(o, x []int64, xc bool, y []int64, yc bool, sel []uint16) bool {
	var over int64
	switch {
	case sel != nil || xc && yc:
		eachRow(sel, len(o), func(k int) {
			i := uint16(k)
			a, b := pick(x, xc, i), pick(y, yc, i)
			r := a - b
			over |= (a ^ b) & (a ^ r)
			o[i] = r
		})
	case yc:
		b := y[0]
		for i, a := range x {
			r := a - b
			over |= (a ^ b) & (a ^ r)
			o[i] = r
		}
	case xc:
		a := x[0]
		for i, b := range y {
			r := a - b
			over |= (a ^ b) & (a ^ r)
			o[i] = r
		}
	default:
		y = y[:len(x)]
		for i, a := range x {
			b := y[i]
			r := a - b
			over |= (a ^ b) & (a ^ r)
			o[i] = r
		}
	}
	return over < 0
}

func mulInts(o, x []int64, xc bool, y []int64, yc bool, sel []uint16) bool {
	xs, ys := sel, sel
	if xc {
		xs = nil
	}
	if yc {
		ys = nil
	}
	if bitsOf(x, xs)+bitsOf(y, ys) <= 63 {
		switch {
		case sel != nil || xc && yc:
			eachRow(sel, len(o), func(k int) {
				i := uint16(k)
				o[i] = pick(x, xc, i) * pick(y, yc, i)
			})
		case yc:
			b := y[0]
			for i, a := range x {
				o[i] = a * b
			}
		case xc:
			a := x[0]
			for i, b := range y {
				o[i] = a * b
			}
		default:
			y = y[:len(x)]
			for i, a := range x {
				o[i] = a * y[i]
			}
		}
		return false
	}
	over := false
	eachRow(sel, len(o), func(k int) {
		i := uint16(k)
		w := types.MulInt64(pick(x, xc, i), pick(y, yc, i))
		over = over || !w.IsInt64()
		o[i] = w.Int64()
	})
	return over
}

func pick(x []int64, isConst bool, i uint16) int64 {
	if isConst {
		return x[0]
	}
	return x[i]
}

// intDiv and intMod are truncated division; the one overflow is -2^63 / -1.
func intDiv(k types.Kind) Kernel {
	lo, hi := intLimits(k)
	return Try2(func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, types.ErrDivisionByZero()
		}
		if b == -1 {
			if a == math.MinInt64 || -a > hi || -a < lo {
				return 0, errRange(k)
			}
			return -a, nil
		}
		return a / b, nil
	})
}

func intMod(a, b int64) (int64, error) {
	switch b {
	case 0:
		return 0, types.ErrDivisionByZero()
	case -1:
		return 0, nil
	}
	return a % b, nil
}

func intNeg(k types.Kind) Kernel {
	lo, _ := intLimits(k)
	return Try1(func(a int64) (int64, error) {
		if a == lo {
			return 0, errRange(k)
		}
		return -a, nil
	})
}

func intAbs(k types.Kind) Kernel {
	lo, _ := intLimits(k)
	return Try1(func(a int64) (int64, error) {
		if a == lo {
			return 0, errRange(k)
		}
		return max(a, -a), nil
	})
}
