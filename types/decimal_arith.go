package types

import (
	"math"
	"math/big"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// ErrDivisionByZero is PostgreSQL's.
func ErrDivisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// Neg is -d.
func (d Decimal) Neg() Decimal {
	switch d.class {
	case posInf:
		return DecimalNegInf
	case negInf:
		return DecimalInf
	case notANumber:
		return d
	}
	if d.big == nil && d.small != -1<<63 {
		d.small = -d.small
		return d
	}
	return DecimalFromBig(new(big.Int).Neg(d.Coef()), int(d.scale))
}

// Abs is |d|.
func (d Decimal) Abs() Decimal {
	if d.Sign() < 0 {
		return d.Neg()
	}
	return d
}

// Add is d + e with the larger scale. Only check against PostgreSQL's limits can make it fail,
// which Datum does.
func (d Decimal) Add(e Decimal) Decimal {
	if d.class != finite || e.class != finite {
		switch {
		case d.class == notANumber || e.class == notANumber:
			return DecimalNaN
		case d.class == finite:
			return e
		case e.class == finite || e.class == d.class:
			return d
		}
		return DecimalNaN // Infinity - Infinity
	}
	if d.scale != e.scale {
		if d.scale < e.scale {
			d = d.rescale(int(e.scale), false)
		} else {
			e = e.rescale(int(d.scale), false)
		}
	}
	if d.big == nil && e.big == nil {
		s := d.small + e.small
		if (d.small^s)&(e.small^s) >= 0 {
			return Decimal{small: s, scale: d.scale}
		}
	}
	return DecimalFromBig(new(big.Int).Add(d.Coef(), e.Coef()), int(d.scale))
}

// Sub is d - e with the larger scale.
func (d Decimal) Sub(e Decimal) Decimal { return d.Add(e.Neg()) }

// Mul is d * e, exact: its scale is the sum of both.
func (d Decimal) Mul(e Decimal) Decimal {
	if d.class != finite || e.class != finite {
		if d.class == notANumber || e.class == notANumber {
			return DecimalNaN
		}
		return infSign(d.Sign() * e.Sign())
	}
	scale := int(d.scale + e.scale)
	var r Decimal
	if d.big == nil && e.big == nil {
		r = DecimalFromInt128(MulInt64(d.small, e.small), scale)
	} else {
		r = DecimalFromBig(new(big.Int).Mul(d.Coef(), e.Coef()), scale)
	}
	if scale > maxScale {
		r = r.rescale(maxScale, false)
	}
	return r
}

// infSign is the infinity of sign s; Infinity * 0 is NaN.
func infSign(s int) Decimal {
	switch {
	case s > 0:
		return DecimalInf
	case s < 0:
		return DecimalNegInf
	}
	return DecimalNaN
}

// floorDiv4 is floor(n / 4).
func floorDiv4(n int) int { return n >> 2 }

// base10000 gives what PostgreSQL's rules for result scales look at: the weight of the first
// non-zero digit in base 10000 and that digit. 0 has weight 0 and digit 0.
func (d Decimal) base10000() (weight, first int) {
	n := d.digits()
	if n == 0 {
		return 0, 0
	}
	e := n - 1 - int(d.scale) // exponent of the leading decimal digit
	weight = floorDiv4(e)
	take := e - 4*weight + 1 // decimal digits in the leading base-10000 digit
	lead := d.leading(take)
	return weight, lead
}

// leading is the number made of the first n decimal digits of the coefficient, n ≤ 18,
// filled up with zeros.
func (d Decimal) leading(n int) int {
	have := d.digits()
	if d.big == nil && d.small != math.MinInt64 {
		c := max(d.small, -d.small)
		if have > n {
			return int(c / pow10int64[have-n])
		}
		return int(c * pow10int64[n-have])
	}
	c := new(big.Int).Abs(d.Coef())
	if have > n {
		c.Quo(c, bigPow10(have-n))
	} else if have < n {
		c.Mul(c, bigPow10(n-have))
	}
	return int(c.Int64())
}

// divScale is PostgreSQL's select_div_scale: at least 16 significant digits, and not fewer
// digits after the point than either operand has.
func divScale(d, e Decimal) int {
	w1, f1 := d.base10000()
	w2, f2 := e.base10000()
	q := w1 - w2
	if f1 <= f2 {
		q--
	}
	return clampScale(minSigDigits-q*4, d, e)
}

func clampScale(scale int, ds ...Decimal) int {
	for _, d := range ds {
		scale = max(scale, int(d.scale))
	}
	return min(max(scale, 0), maxDisplayScale)
}

// Div is d / e with PostgreSQL's choice of scale.
func (d Decimal) Div(e Decimal) (Decimal, error) {
	if d.class == notANumber || e.class == notANumber {
		return DecimalNaN, nil
	}
	if e.IsZero() {
		return Decimal{}, ErrDivisionByZero()
	}
	if d.class != finite {
		if e.class != finite {
			return DecimalNaN, nil
		}
		return infSign(d.Sign() * e.Sign()), nil
	}
	if e.class != finite {
		return Decimal{}, nil // zero of scale 0
	}
	return d.DivScale(e, divScale(d, e)), nil
}

// DivScale is d / e rounded half away from zero to scale digits after the point. Both are
// finite and e is not 0.
func (d Decimal) DivScale(e Decimal, scale int) Decimal { return quoScale(d, e, scale, false) }

func quoScale(d, e Decimal, scale int, trunc bool) Decimal {
	// d.coef/10^ds ÷ e.coef/10^es · 10^scale
	shift := scale - int(d.scale) + int(e.scale)
	if d.big == nil && e.big == nil && shift >= 0 && shift <= 38 {
		if n, ok := FromInt64(d.small).Mul(pow10int128[shift]); ok {
			den := FromInt64(e.small)
			q, r := n.QuoRem(den)
			if !trunc {
				rh, rl := r.abs()
				eh, el := den.abs()
				twice := Int128{Lo: rl << 1, Hi: int64(rh<<1 | rl>>63)} // |r| < 2^63: no overflow
				if twice.Cmp(Int128{Lo: el, Hi: int64(eh)}) >= 0 {
					if (d.small < 0) != (e.small < 0) {
						q = q.Add64(-1)
					} else {
						q = q.Add64(1)
					}
				}
			}
			return DecimalFromInt128(q, scale)
		}
	}
	n, m := d.Coef(), e.Coef()
	if shift > 0 {
		n = new(big.Int).Mul(n, bigPow10(shift))
	} else if shift < 0 {
		m = new(big.Int).Mul(m, bigPow10(-shift))
	}
	q, r := new(big.Int).QuoRem(n, m, new(big.Int))
	if !trunc {
		r.Abs(r)
		if r.Lsh(r, 1).CmpAbs(m) >= 0 {
			q.Add(q, big.NewInt(int64(d.Sign()*e.Sign())))
		}
	}
	return DecimalFromBig(q, scale)
}

// Quo is the whole part of d / e, towards zero (PostgreSQL's div()).
func (d Decimal) Quo(e Decimal) (Decimal, error) {
	if d.class == finite && e.class == finite {
		if e.IsZero() {
			return Decimal{}, ErrDivisionByZero()
		}
		return quoScale(d, e, 0, true), nil
	}
	return d.Div(e)
}

// Mod is the remainder of Quo, with d's sign and the larger scale.
func (d Decimal) Mod(e Decimal) (Decimal, error) {
	if d.class == notANumber || e.class == notANumber {
		return DecimalNaN, nil
	}
	if e.IsZero() {
		return Decimal{}, ErrDivisionByZero()
	}
	if d.class != finite {
		return DecimalNaN, nil
	}
	if e.class != finite {
		return d, nil
	}
	s := max(d.Scale(), e.Scale())
	a, b := d.rescale(s, false), e.rescale(s, false)
	if a.big == nil && b.big == nil && b.small != -1 {
		return Decimal{small: a.small % b.small, scale: int32(s)}, nil
	}
	return DecimalFromBig(new(big.Int).Rem(a.Coef(), b.Coef()), s), nil
}

// Round rounds half away from zero to n digits after the point; negative n rounds before it.
func (d Decimal) Round(n int) Decimal { return d.toScale(n, false) }

// Trunc cuts off after n digits after the point; negative n cuts before it.
func (d Decimal) Trunc(n int) Decimal { return d.toScale(n, true) }

func (d Decimal) toScale(n int, trunc bool) Decimal {
	if d.class != finite {
		return d
	}
	n = min(max(n, -maxWholeDigits-1), maxScale) // beyond them is no digit
	if n >= 0 {
		return d.rescale(n, trunc)
	}
	r := d.rescale(n, trunc) // scale is negative for a moment
	if r.IsZero() {
		return Decimal{}
	}
	return DecimalFromBig(new(big.Int).Mul(r.Coef(), bigPow10(-n)), 0)
}

// Ceil is the least whole number not below d.
func (d Decimal) Ceil() Decimal {
	if d.class != finite {
		return d
	}
	t := d.rescale(0, true)
	if d.Sign() > 0 && t.Cmp(d) != 0 {
		t = t.Add(DecimalFromInt64(1))
	}
	return t
}

// Floor is the greatest whole number not above d.
func (d Decimal) Floor() Decimal {
	if d.class != finite {
		return d
	}
	t := d.rescale(0, true)
	if d.Sign() < 0 && t.Cmp(d) != 0 {
		t = t.Sub(DecimalFromInt64(1))
	}
	return t
}
