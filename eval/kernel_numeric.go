package eval

import (
	"math"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Numeric + - * are exact. Over fixed scales they compute in int64 while a bound on the batch's
// magnitudes says that no row can overflow, else in 128 bits, else in Decimal.

// maxFixed bounds the digits of a computed fixed numeric: beyond, values carry their own scale.
const maxFixed = 200

// numericRet gives the exact type of l op r.
func numericRet(name string) func(args []types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		l, r := args[0], args[1]
		if !l.Fixed || !r.Fixed {
			return TNumeric, nil
		}
		p, s := int(l.Prec)+int(r.Prec), int(l.Scale)+int(r.Scale)
		if name != "*" {
			s = int(max(l.Scale, r.Scale))
			p = int(max(l.Prec-l.Scale, r.Prec-r.Scale)) + s + 1
		}
		if p > maxFixed {
			return TNumeric, nil
		}
		return types.FixedNumeric(p, s), nil
	}
}

// sameNumeric is the type of -x and abs(x).
func sameNumeric(args []types.Type) (types.Type, error) {
	t := args[0]
	t.Declared = false
	return t, nil
}

// numericArith is + - * with scratch memory of its own.
type numericArith struct {
	name   string
	ab, bb []int64
	aw, bw []types.Int128
}

func numericKernel(name string) func(*plan.Call) Kernel {
	return func(*plan.Call) Kernel { return (&numericArith{name: name}).kernel }
}

func (k *numericArith) kernel(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	a, b := args[0], args[1]
	fa, fb := a.Values(), b.Values()
	t := out.Type
	if t.Fixed && fa.Form != types.FormStr && fb.Form != types.FormStr && fa.Type.Fixed && fb.Type.Fixed {
		// How many digits each operand is short of the common scale.
		ua, ub := 0, 0
		if k.name != "*" {
			ua, ub = int(t.Scale-fa.Type.Scale), int(t.Scale-fb.Type.Scale)
		}
		if fa.Form == types.FormI64 && fb.Form == types.FormI64 && k.small(a, b, ua, ub, sel, n, out) {
			return nil
		}
		if k.wide(a, b, ua, ub, sel, n, out) {
			return nil
		}
	}
	return k.exact(a, b, sel, n, out)
}

// small computes in int64; false: some row might overflow.
func (k *numericArith) small(a, b *vec.Vector, ua, ub int, sel []uint16, n int, out *vec.Vector) bool {
	x, xc := operand(a, a.Values().I64, &k.ab, sel, n)
	y, yc := operand(b, b.Values().I64, &k.bb, sel, n)
	ok := true
	if ua > 0 {
		x, ok = rescaled(x, xc, ua, &k.ab, sel)
	}
	if ok && ub > 0 {
		y, ok = rescaled(y, yc, ub, &k.bb, sel)
	}
	if !ok {
		return false
	}
	o := OutI64(out, n)
	switch k.name {
	case "+":
		return !addInts(o, x, xc, y, yc, sel)
	case "-":
		return !subInts(o, x, xc, y, yc, sel)
	}
	return !mulInts(o, x, xc, y, yc, sel)
}

// wides gives v's values as Int128s.
func wides(v *vec.Vector, up int, buf *[]types.Int128, sel []uint16, n int) (w []types.Int128, isConst, ok bool) {
	f := v.Values()
	if up > 38 {
		return nil, false, false
	}
	if v.Enc == vec.Const {
		n, sel = 1, nil
	}
	*buf = resize(*buf, n)
	w = *buf
	ten := types.Pow10Int128(up)
	ok = true
	eachRow(sel, n, func(i int) {
		r := v.Row(i)
		x := types.Int128{}
		if f.Form == types.FormW128 {
			x = f.W128[r]
		} else {
			x = types.FromInt64(f.I64[r])
		}
		if up > 0 {
			var fits bool
			x, fits = x.Mul(ten)
			ok = ok && fits
		}
		w[i] = x
	})
	return w, v.Enc == vec.Const, ok
}

// wide computes in 128 bits and gives int64s again when all results fit; false: overflow.
func (k *numericArith) wide(a, b *vec.Vector, ua, ub int, sel []uint16, n int, out *vec.Vector) bool {
	x, xc, ok := wides(a, ua, &k.aw, sel, n)
	if !ok {
		return false
	}
	y, yc, ok := wides(b, ub, &k.bw, sel, n)
	if !ok {
		return false
	}
	o := OutW128(out, n)
	var high int64
	all := true
	eachRow(sel, n, func(i int) {
		p, q := x[0], y[0]
		if !xc {
			p = x[i]
		}
		if !yc {
			q = y[i]
		}
		var r types.Int128
		var fits bool
		switch k.name {
		case "+":
			r, fits = p.AddOK(q)
		case "-":
			r, fits = p.SubOK(q)
		default:
			r, fits = p.Mul(q)
		}
		all = all && fits
		high |= r.Hi ^ int64(r.Lo)>>63
		o[i] = r
	})
	if !all {
		return false
	}
	if high == 0 {
		narrow := OutI64(out, n)
		eachRow(sel, n, func(i int) { narrow[i] = int64(o[i].Lo) })
	}
	return true
}

// exact computes in Decimal.
func (k *numericArith) exact(a, b *vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	OutStr(out, n)
	return EachRow(sel, n, func(i int) error {
		x, y := DecimalAt(a, i), DecimalAt(b, i)
		var r types.Decimal
		switch k.name {
		case "+":
			r = x.Add(y)
		case "-":
			r = x.Sub(y)
		default:
			r = x.Mul(y)
		}
		r, err := checked(r)
		if err != nil {
			return err
		}
		PutDecimal(out, i, r)
		return nil
	})
}

// checked is r unless it is beyond what numeric can hold.
func checked(r types.Decimal) (types.Decimal, error) {
	if _, small := r.Int128(); small && r.IsFinite() || r.IsFinite() && r.Coef().BitLen() < 4000 {
		return r, nil
	}
	_, err := r.Datum(TNumeric)
	return r, err
}

// numericDiv is division with PostgreSQL's choice of scale.
func numericDiv(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	OutStr(out, n)
	return EachRow(sel, n, func(i int) error {
		r, err := DecimalAt(args[0], i).Div(DecimalAt(args[1], i))
		if err != nil {
			return err
		}
		PutDecimal(out, i, r)
		return nil
	})
}

func numericMod(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	OutStr(out, n)
	return EachRow(sel, n, func(i int) error {
		r, err := DecimalAt(args[0], i).Mod(DecimalAt(args[1], i))
		if err != nil {
			return err
		}
		PutDecimal(out, i, r)
		return nil
	})
}

// numericSign makes -x (or |x|) in the form that x has.
func numericSign(abs bool) Kernel {
	return func(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		v := args[0]
		f := v.Values()
		if f.Form == types.FormI64 && out.Type.Fixed && minInt64Free(v, sel, n) {
			o := OutI64(out, n)
			eachRow(sel, n, func(i int) {
				x := f.I64[v.Row(i)]
				if !abs || x < 0 {
					x = -x
				}
				o[i] = x
			})
			return nil
		}
		OutStr(out, n)
		eachRow(sel, n, func(i int) {
			d := DecimalAt(v, i)
			if abs {
				d = d.Abs()
			} else {
				d = d.Neg()
			}
			PutDecimal(out, i, d)
		})
		return nil
	}
}

func minInt64Free(v *vec.Vector, sel []uint16, n int) bool {
	f := v.Values().I64
	free := true
	eachRow(sel, n, func(i int) { free = free && f[v.Row(i)] != math.MinInt64 })
	return free
}
