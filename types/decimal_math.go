package types

import (
	"math"
	"math/big"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// The transcendental functions choose their result's scale as PostgreSQL's numeric.c does,
// compute with bits to spare in big.Float, and round once.

// Sqrt is the square root, with at least 16 significant digits.
func (d Decimal) Sqrt() (Decimal, error) {
	if d.Sign() < 0 {
		return d, sqlerr.New(sqlerr.InvalidPower, "cannot take square root of a negative number")
	}
	if d.class != finite {
		return d, nil
	}
	weight, _ := d.base10000()
	sweight := (weight+1)*4/2 - 1
	scale := clampScale(minSigDigits-sweight, d)
	return d.SqrtScale(scale), nil
}

// SqrtScale is the square root of a finite d ≥ 0 rounded to scale digits after the point.
func (d Decimal) SqrtScale(scale int) Decimal {
	// One digit more than wanted; a root is exact or irrational, so that digit decides alone.
	shift := 2*(scale+1) - int(d.scale)
	z := new(big.Int)
	if shift >= 0 {
		z.Mul(d.Coef(), bigPow10(shift))
	} else {
		z.Quo(d.Coef(), bigPow10(-shift))
	}
	return DecimalFromBig(z.Sqrt(z), scale+1).rescale(scale, false)
}

// decimalBits is enough precision for n decimal digits and some to spare.
func decimalBits(n int) uint { return uint(float64(max(n, 1))*3.3219281) + 96 }

// float is a finite d as a big.Float.
func (d Decimal) float(prec uint) *big.Float {
	f := new(big.Float).SetPrec(prec).SetInt(d.Coef())
	if d.scale > 0 {
		f.Quo(f, new(big.Float).SetPrec(prec).SetInt(bigPow10(int(d.scale))))
	}
	return f
}

// decimalFromFloatBig rounds f half away from zero to scale digits after the point.
func decimalFromFloatBig(f *big.Float, scale int) Decimal {
	g := new(big.Float).SetPrec(f.Prec()).SetInt(bigPow10(scale))
	g.Mul(g, f)
	half := big.NewFloat(0.5)
	if g.Sign() < 0 {
		half.Neg(half)
	}
	// The sum needs a bit more precision, or a value just below one half could round up twice.
	g.SetPrec(g.Prec()+8).Add(g, half)
	z, _ := g.Int(nil)
	return DecimalFromBig(z, scale)
}

// lnWeight estimates the decimal exponent of ln d (estimate_ln_dweight).
func lnWeight(d Decimal) int {
	if d.Sign() <= 0 {
		return 0
	}
	if d.Cmp(NewDecimal(9, 1)) >= 0 && d.Cmp(NewDecimal(11, 1)) <= 0 {
		x := d.Sub(DecimalFromInt64(1))
		if x.IsZero() {
			return 0
		}
		w, first := x.base10000()
		return w*4 + int(math.Log10(float64(first)))
	}
	w, first := d.base10000()
	digits, weight := float64(first), w*4
	// PostgreSQL looks at two base-10000 digits when there are two.
	if n := d.digits() - 1 - int(d.scale) - 4*w + 1; d.trim().digits() > n || d.scale > 0 && d.digits() > n {
		digits, weight = float64(d.leading(n+4)), weight-4
	}
	ln := math.Log(digits) + float64(weight)*2.302585092994046
	return int(math.Log10(math.Abs(ln)))
}

func errLogarithm(sign int) error {
	if sign == 0 {
		return sqlerr.New(sqlerr.InvalidLogarithm, "cannot take logarithm of zero")
	}
	return sqlerr.New(sqlerr.InvalidLogarithm, "cannot take logarithm of a negative number")
}

// Ln is the natural logarithm.
func (d Decimal) Ln() (Decimal, error) { return d.LnUntil(nil) }

// LnUntil is Ln that calls stop now and then, where it takes long; stop may panic.
func (d Decimal) LnUntil(stop func()) (Decimal, error) {
	if d.class == notANumber {
		return d, nil
	}
	if d.Sign() <= 0 {
		return d, errLogarithm(d.Sign())
	}
	if d.class != finite {
		return d, nil
	}
	scale := clampScale(minSigDigits-lnWeight(d), d)
	return decimalFromFloatBig(lnFloat(d, scale+10, stop), scale), nil
}

// Log is the logarithm of d to base.
func (d Decimal) Log(base Decimal) (Decimal, error) { return d.LogUntil(base, nil) }

// LogUntil is Log that calls stop now and then, where it takes long; stop may panic.
func (d Decimal) LogUntil(base Decimal, stop func()) (Decimal, error) {
	if d.class == notANumber || base.class == notANumber {
		return DecimalNaN, nil
	}
	// With an infinity about, PostgreSQL looks for negative operands before zeros.
	if s := min(base.Sign(), d.Sign()); s < 0 && (base.class != finite || d.class != finite) {
		return d, errLogarithm(s)
	}
	for _, x := range []Decimal{base, d} {
		if x.Sign() <= 0 {
			return d, errLogarithm(x.Sign())
		}
	}
	if base.class != finite {
		if d.class != finite {
			return DecimalNaN, nil
		}
		return Decimal{}, nil
	}
	if d.class != finite {
		return d, nil
	}
	if base.Cmp(DecimalFromInt64(1)) == 0 {
		return d, ErrDivisionByZero()
	}
	scale := clampScale(minSigDigits-(lnWeight(d)-lnWeight(base)), base, d)
	n := scale + 30 + max(0, -lnWeight(base)) + max(0, -lnWeight(d))
	q := lnFloat(d, n, stop)
	q.Quo(q, lnFloat(base, n, stop))
	return decimalFromFloatBig(q, scale), nil
}

// Exp is e to the power d.
func (d Decimal) Exp() (Decimal, error) { return d.ExpUntil(nil) }

// ExpUntil is Exp that calls stop now and then, where it takes long; stop may panic.
func (d Decimal) ExpUntil(stop func()) (Decimal, error) {
	switch d.class {
	case negInf:
		return Decimal{}, nil
	case posInf, notANumber:
		return d, nil
	}
	val := d.Float64() * 0.434294481903252
	val = math.Min(math.Max(val, -maxResultScale), maxResultScale)
	scale := clampScale(minSigDigits-int(val), d)
	return expScale(d.float(decimalBits(d.digits()+scale+int(math.Abs(val))+30)), scale, stop)
}

// expScale is e^x rounded to scale digits, with PostgreSQL's limits.
func expScale(x *big.Float, scale int, stop func()) (Decimal, error) {
	f, _ := x.Float64()
	if f > maxResultScale*3 {
		return Decimal{}, errNumericOverflow()
	}
	if f < -maxResultScale*3 {
		return Decimal{scale: int32(scale)}, nil
	}
	n := scale + 10 + max(0, int(f*0.4343)+1)
	return decimalFromFloatBig(expFloat(x, decimalBits(n), stop), scale), nil
}

// Pow is d to the power e.
func (d Decimal) Pow(e Decimal) (Decimal, error) { return d.PowUntil(e, nil) }

// PowUntil is Pow that calls stop now and then, where it takes long; stop may panic.
func (d Decimal) PowUntil(e Decimal, stop func()) (Decimal, error) {
	one := DecimalFromInt64(1)
	whole := e.class == finite && e.trim().scale == 0
	switch {
	case d.class == notANumber:
		if e.IsZero() {
			return one, nil
		}
		return DecimalNaN, nil
	case e.class == notANumber:
		if d.class == finite && d.Cmp(one) == 0 {
			return one, nil
		}
		return DecimalNaN, nil
	case d.IsZero() && e.Sign() < 0:
		return d, sqlerr.New(sqlerr.InvalidPower, "zero raised to a negative power is undefined")
	case d.Sign() < 0 && !whole && e.class == finite:
		return d, sqlerr.New(sqlerr.InvalidPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if d.class != finite || e.class != finite {
		return powInfinite(d, e), nil
	}
	if whole {
		if i := e.trim(); i.big == nil && i.small == int64(int32(i.small)) {
			return d.powInt(int(i.small), clampScale(minSigDigits, d, e))
		}
	}
	if d.IsZero() {
		return Decimal{scale: minSigDigits}, nil
	}
	neg := false
	if d.Sign() < 0 {
		i := e.trim()
		neg = i.Coef().Bit(0) != 0
		d = d.Neg()
	}
	w := lnWeight(d)
	rough := decimalFromFloatBig(lnFloat(d, 12+max(0, 8-w), stop), min(max(8-w, 0), maxDisplayScale)).Mul(e)
	val := rough.Float64()
	if math.Abs(val) > maxResultScale*3.01 {
		if val > 0 {
			return d, errNumericOverflow()
		}
		return Decimal{scale: maxDisplayScale}, nil
	}
	val *= 0.434294481903252
	scale := clampScale(minSigDigits-int(val), d, e)
	n := scale + int(math.Abs(val)) + 40 + max(0, e.digits()-int(e.scale)) + max(0, -w)
	x := lnFloat(d, n, stop)
	x.Mul(x, e.float(x.Prec()))
	r, err := expScale(x, scale, stop)
	if neg {
		r = r.Neg()
	}
	return r, err
}

// powInfinite is POSIX's pow where an operand is infinite.
func powInfinite(d, e Decimal) Decimal {
	one := DecimalFromInt64(1)
	if d.class == finite && d.Cmp(one) == 0 || e.IsZero() {
		return one
	}
	if d.IsZero() {
		return Decimal{}
	}
	if e.class != finite {
		grows := true
		if d.class == finite {
			c := d.Abs().Cmp(one)
			if c == 0 {
				return one
			}
			grows = c > 0
		}
		if grows == (e.Sign() > 0) {
			return DecimalInf
		}
		return Decimal{}
	}
	if e.Sign() < 0 {
		return Decimal{}
	}
	if d.class == posInf {
		return DecimalInf
	}
	if i := e.trim(); i.scale == 0 && i.Coef().Bit(0) != 0 {
		return DecimalNegInf
	}
	return DecimalInf
}

// powInt is d^n rounded to scale digits (power_var_int).
func (d Decimal) powInt(n, scale int) (Decimal, error) {
	switch n {
	case 0:
		return DecimalFromInt64(1).rescale(scale, false), nil
	case 1:
		return d.rescale(scale, false), nil
	case -1:
		return DecimalFromInt64(1).DivScale(d, scale), nil
	case 2:
		return d.Mul(d).rescale(scale, false), nil
	}
	if d.IsZero() {
		return Decimal{scale: int32(scale)}, nil
	}
	// The weight of the result decides whether it can be shown, and the digits to compute with.
	lead, _ := new(big.Float).SetInt(new(big.Int).Abs(d.Coef())).Float64()
	weight := float64(n) * (math.Log10(lead) - float64(d.scale))
	if math.IsInf(lead, 0) {
		weight = float64(n) * (float64(d.digits()-1) - float64(d.scale))
	}
	if weight > maxWholeDigits+4 {
		return d, errNumericOverflow()
	}
	if weight+1 < -float64(scale) {
		return Decimal{scale: int32(scale)}, nil
	}
	sig := 1 + scale + int(weight)
	prec := decimalBits(sig + 20)
	// A whole power that is short enough is exact, so that halves round as they should.
	if exact := d.Coef().BitLen() * max(n, 1); n > 0 && exact < 1<<20 {
		z := new(big.Int).Exp(d.Coef(), big.NewInt(int64(n)), nil)
		s := int(d.scale) * n
		return roundBig(z, s, scale).check()
	}
	base, r := d.float(prec), new(big.Float).SetPrec(prec).SetInt64(1)
	for k := abs64(int64(n)); k > 0; k >>= 1 {
		if k&1 != 0 {
			r.Mul(r, base)
		}
		base.Mul(base, base)
	}
	if n < 0 {
		r.Quo(new(big.Float).SetPrec(prec).SetInt64(1), r)
	}
	return decimalFromFloatBig(r, scale).check()
}

// roundBig is z / 10^from rounded to scale digits; from may be beyond a Decimal's limits.
func roundBig(z *big.Int, from, scale int) Decimal {
	if from <= scale {
		return DecimalFromBig(new(big.Int).Mul(z, bigPow10(scale-from)), scale)
	}
	p := bigPow10(from - scale)
	q, r := new(big.Int).QuoRem(z, p, new(big.Int))
	r.Abs(r)
	if r.Lsh(r, 1).Cmp(p) >= 0 {
		q.Add(q, big.NewInt(int64(z.Sign())))
	}
	return DecimalFromBig(q, scale)
}

var ln2Cache struct {
	sync.Mutex
	value *big.Float
}

// ln2 is ln 2 = 2 atanh(1/3) with at least prec bits.
func ln2(prec uint, stop func()) *big.Float {
	ln2Cache.Lock()
	defer ln2Cache.Unlock()
	if v := ln2Cache.value; v != nil && v.Prec() >= prec {
		return v
	}
	third := new(big.Float).SetPrec(prec + 32).SetInt64(1)
	third.Quo(third, big.NewFloat(3))
	v := atanh(third, stop)
	ln2Cache.value = v.Add(v, v)
	return ln2Cache.value
}

// atanh is z + z³/3 + z⁵/5 + … for small z.
func atanh(z *big.Float, stop func()) *big.Float {
	prec := z.Prec()
	sum, pow := new(big.Float).Copy(z), new(big.Float).Copy(z)
	zz := new(big.Float).SetPrec(prec).Mul(z, z)
	term, k := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec)
	if z.Sign() == 0 {
		return sum
	}
	for n := int64(3); ; n += 2 {
		look(stop, n/2, prec)
		pow.Mul(pow, zz)
		term.Quo(pow, k.SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(prec) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// lnFloat is ln d good to n digits after the point, relatively as well near 1.
func lnFloat(d Decimal, n int, stop func()) *big.Float {
	// Near 1 the logarithm is as small as what d's last digits say; elsewhere its leading digits
	// decide.
	prec := decimalBits(n + 10)
	if f := d.Float64(); f > 0.5 && f < 2 {
		prec += uint(d.digits()) * 4
	}
	x := d.float(prec)
	exp := x.MantExp(nil)
	m := new(big.Float).SetPrec(prec).SetMantExp(x, -exp) // in [0.5, 1)
	if f, _ := m.Float64(); f < 0.7072 {
		m.SetMantExp(m, 1)
		exp--
	}
	r := lnNearOne(m, stop)
	if exp != 0 {
		k := new(big.Float).SetPrec(prec).SetInt64(int64(exp))
		r.Add(r, k.Mul(k, ln2(prec, stop)))
	}
	return r
}

// lnRoots is ln m for m near 1 of any precision. Roots bring m closer: ln m = 2^r · ln m^(1/2^r).
func lnRoots(m *big.Float, stop func()) *big.Float {
	prec := m.Prec()
	m = new(big.Float).Copy(m)
	const roots = 6
	for i := 0; i < roots; i++ {
		look(stop, int64(i), prec)
		m.Sqrt(m)
	}
	one := new(big.Float).SetPrec(prec).SetInt64(1)
	num := new(big.Float).SetPrec(prec).Sub(m, one)
	den := new(big.Float).SetPrec(prec).Add(m, one)
	r := atanh(num.Quo(num, den), stop)
	return r.SetMantExp(r, roots+1)
}

// expFloat is e^x with prec bits.
func expFloat(x *big.Float, prec uint, stop func()) *big.Float {
	prec += 64
	f, _ := x.Float64()
	k := int64(math.Round(f / math.Ln2))
	r := new(big.Float).SetPrec(prec).SetInt64(k)
	r.Mul(r, ln2(prec+32, stop))
	r.Sub(new(big.Float).SetPrec(prec).Set(x), r)
	const halvings = 8
	r.SetMantExp(r, -halvings)
	sum := expFixed(toFixed(r, prec), prec, stop)
	e := new(big.Float).SetPrec(prec).SetInt(sum)
	e.SetMantExp(e, -int(prec))
	for i := 0; i < halvings; i++ {
		look(stop, int64(i), prec)
		e.Mul(e, e)
	}
	return e.SetMantExp(e, int(k))
}
