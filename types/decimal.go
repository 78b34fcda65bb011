package types

import (
	"math"
	"math/big"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Decimal is a value of PostgreSQL's numeric: a whole coefficient over 10^scale, NaN or an
// infinity. The scale is what is shown: 1.0 and 1.00 are equal and look different. The zero
// Decimal is 0. A Decimal is immutable: copy it freely.
type Decimal struct {
	small int64    // the coefficient while big is nil
	big   *big.Int // never modified once it is here
	scale int32    // digits after the point, ≥ 0
	class decimalClass
}

type decimalClass uint8

const (
	finite decimalClass = iota
	negInf
	posInf
	notANumber
)

// PostgreSQL's limits of numeric (src/include/utils/numeric.h, numeric.c).
const (
	maxResultScale  = 2000   // NUMERIC_MAX_RESULT_SCALE
	maxDisplayScale = 1000   // NUMERIC_MAX_DISPLAY_SCALE
	minSigDigits    = 16     // NUMERIC_MIN_SIG_DIGITS
	maxScale        = 16383  // NUMERIC_DSCALE_MAX
	maxWholeDigits  = 131072 // digits before the point
)

// The special values.
var (
	DecimalNaN    = Decimal{class: notANumber}
	DecimalInf    = Decimal{class: posInf}
	DecimalNegInf = Decimal{class: negInf}
)

// DecimalFromInt64 is i with scale 0.
func DecimalFromInt64(i int64) Decimal { return Decimal{small: i} }

// NewDecimal is coef / 10^scale.
func NewDecimal(coef int64, scale int) Decimal {
	return Decimal{small: coef, scale: int32(scale)}
}

// DecimalFromInt128 is w / 10^scale.
func DecimalFromInt128(w Int128, scale int) Decimal {
	if w.IsInt64() {
		return Decimal{small: w.Int64(), scale: int32(scale)}
	}
	return Decimal{big: w.Big(), scale: int32(scale)}
}

// DecimalFromBig is z / 10^scale. It keeps z: do not modify it later.
func DecimalFromBig(z *big.Int, scale int) Decimal {
	if z.IsInt64() {
		return Decimal{small: z.Int64(), scale: int32(scale)}
	}
	return Decimal{big: z, scale: int32(scale)}
}

// DecimalFromFloat64 converts as PostgreSQL's float8_numeric does: to 15 significant digits.
func DecimalFromFloat64(f float64) Decimal { return decimalFromFloat(f, 15) }

// DecimalFromFloat32 converts as PostgreSQL's float4_numeric does: to 6 significant digits.
func DecimalFromFloat32(f float64) Decimal { return decimalFromFloat(f, 6) }

func decimalFromFloat(f float64, digits int) Decimal {
	switch {
	case math.IsNaN(f):
		return DecimalNaN
	case math.IsInf(f, 1):
		return DecimalInf
	case math.IsInf(f, -1):
		return DecimalNegInf
	}
	// 'g' as in C's printf: trailing zeros go.
	s := strconv.FormatFloat(f, 'e', digits-1, 64)
	d, ok := parseDecimal(s)
	if !ok {
		return DecimalNaN
	}
	return d.trim()
}

// DecimalOf reads a numeric or integer Datum of type t, in whichever form it comes. Floats
// convert as their casts do. d is not NULL. Bytes that are no Decimal read as NaN.
func DecimalOf(d Datum, t Type) Decimal {
	switch d.form {
	case FormI64:
		if t.Kind == Numeric {
			return NewDecimal(d.Int(), int(t.Scale))
		}
		return DecimalFromInt64(d.Int())
	case FormW128:
		return DecimalFromInt128(d.W128(), int(t.Scale))
	case FormF64:
		if t.Kind == Float4 {
			return DecimalFromFloat32(d.Float())
		}
		return DecimalFromFloat64(d.Float())
	case FormStr:
		return decodeDecimal(d.str)
	}
	return DecimalNaN
}

// IsNaN, IsInf and IsFinite tell the class.
func (d Decimal) IsNaN() bool    { return d.class == notANumber }
func (d Decimal) IsInf() bool    { return d.class == posInf || d.class == negInf }
func (d Decimal) IsFinite() bool { return d.class == finite }

// Scale is the number of digits shown after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Sign is -1, 0 or 1; 0 for NaN.
func (d Decimal) Sign() int {
	switch d.class {
	case negInf:
		return -1
	case posInf:
		return 1
	case notANumber:
		return 0
	}
	if d.big != nil {
		return d.big.Sign()
	}
	switch {
	case d.small < 0:
		return -1
	case d.small > 0:
		return 1
	}
	return 0
}

// IsZero tells whether d is 0 of whatever scale.
func (d Decimal) IsZero() bool { return d.class == finite && d.Sign() == 0 }

// Coef is the coefficient of a finite d as a big.Int that must not be modified.
func (d Decimal) Coef() *big.Int {
	if d.big != nil {
		return d.big
	}
	return big.NewInt(d.small)
}

// Int128 is the coefficient of a finite d; ok is false when it does not fit.
func (d Decimal) Int128() (w Int128, ok bool) {
	if d.class != finite {
		return w, false
	}
	if d.big == nil {
		return FromInt64(d.small), true
	}
	return Int128FromBig(d.big)
}

var pow10big = func() (p [64]*big.Int) {
	for i := range p {
		p[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return
}()

// bigPow10 is 10^n; not to be modified.
func bigPow10(n int) *big.Int {
	if n < len(pow10big) {
		return pow10big[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// rescale changes the scale to s, rounding half away from zero when digits go (or cutting
// them off when trunc). s may be negative here only inside Round and Trunc.
func (d Decimal) rescale(s int, trunc bool) Decimal {
	if d.class != finite || s == int(d.scale) {
		return d
	}
	if s > int(d.scale) {
		n := s - int(d.scale)
		if d.big == nil && n <= 18 {
			if w := MulInt64(d.small, pow10int64[n]); w.IsInt64() {
				return Decimal{small: w.Int64(), scale: int32(s)}
			}
		}
		if d.Sign() == 0 {
			return Decimal{scale: int32(s)}
		}
		return DecimalFromBig(new(big.Int).Mul(d.Coef(), bigPow10(n)), s)
	}
	n := int(d.scale) - s
	if d.big == nil {
		if n > 18 {
			// |small| < 10^19: everything goes, except that 5…9·10^18 rounds up at n = 19.
			if n == 19 && !trunc {
				switch {
				case d.small >= 5e18:
					return Decimal{small: 1, scale: int32(s)}
				case d.small <= -5e18:
					return Decimal{small: -1, scale: int32(s)}
				}
			}
			return Decimal{scale: int32(s)}
		}
		p := pow10int64[n]
		q, r := d.small/p, d.small%p
		if !trunc {
			if r < 0 {
				r = -r
			}
			if r >= p-r {
				if d.small < 0 {
					q--
				} else {
					q++
				}
			}
		}
		return Decimal{small: q, scale: int32(s)}
	}
	p := bigPow10(n)
	q, r := new(big.Int).QuoRem(d.big, p, new(big.Int))
	if !trunc {
		r.Abs(r)
		if r.Lsh(r, 1).Cmp(p) >= 0 {
			q.Add(q, big.NewInt(int64(d.big.Sign())))
		}
	}
	return DecimalFromBig(q, s)
}

// WithScale gives d the scale s ≥ 0, rounding half away from zero where digits go.
func (d Decimal) WithScale(s int) Decimal { return d.rescale(s, false) }

// trim takes trailing zeros after the point away.
func (d Decimal) trim() Decimal {
	if d.class != finite {
		return d
	}
	if d.Sign() == 0 {
		return Decimal{}
	}
	if d.big == nil {
		for d.scale > 0 && d.small%10 == 0 {
			d.small /= 10
			d.scale--
		}
		return d
	}
	if d.scale == 0 || d.big.Bit(0) != 0 {
		return d
	}
	q, r := new(big.Int), new(big.Int)
	cur, s := d.big, d.scale
	for s > 0 {
		step := int32(1)
		if s >= 16 {
			step = 16
		}
		q.QuoRem(cur, bigPow10(int(step)), r)
		if r.Sign() != 0 {
			if step == 1 {
				break
			}
			q.QuoRem(cur, bigPow10(1), r)
			if r.Sign() != 0 {
				break
			}
			step = 1
		}
		cur, s = new(big.Int).Set(q), s-step
	}
	return DecimalFromBig(cur, int(s))
}

// TrimScale takes trailing zeros after the point away (PostgreSQL's trim_scale).
func (d Decimal) TrimScale() Decimal { return d.trim() }

// digits is the number of decimal digits of the coefficient; 0 for 0.
func (d Decimal) digits() int {
	if d.big == nil {
		u := uint64(d.small)
		if d.small < 0 {
			u = -u
		}
		n := 0
		for u != 0 {
			n++
			u /= 10
		}
		return n
	}
	return bigDigits(d.big)
}

// bigDigits counts decimal digits without printing them: the estimate from the bit length is
// one too high at most.
func bigDigits(z *big.Int) int {
	if z.Sign() == 0 {
		return 0
	}
	n := int(float64(z.BitLen()-1)*0.30102999566398114) + 1
	if z.CmpAbs(bigPow10(n)) >= 0 {
		n++
	} else if z.CmpAbs(bigPow10(n-1)) < 0 {
		n--
	}
	return n
}

// errNumericOverflow is what PostgreSQL says of numerics beyond its format.
func errNumericOverflow() error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "value overflows numeric format")
}

// Check refuses results that PostgreSQL's format does not hold (22003).
func (d Decimal) Check() (Decimal, error) { return d.check() }

// check refuses results that PostgreSQL's format does not hold.
func (d Decimal) check() (Decimal, error) {
	if d.class != finite {
		return d, nil
	}
	if d.scale > maxScale {
		d = d.rescale(maxScale, false)
	}
	if d.big != nil && d.digits()-int(d.scale) > maxWholeDigits {
		return d, errNumericOverflow()
	}
	return d, nil
}

// Cmp orders as PostgreSQL: -Infinity, finite by value, Infinity, NaN, which equals itself.
func (d Decimal) Cmp(e Decimal) int {
	if d.class != finite || e.class != finite {
		return rankOf(d.class) - rankOf(e.class)
	}
	if d.big == nil && e.big == nil {
		if d.scale == e.scale {
			return cmpInt64(d.small, e.small)
		}
		if n := d.scale - e.scale; n > 0 && n <= 18 {
			return FromInt64(d.small).Cmp(MulInt64(e.small, pow10int64[n]))
		} else if n < 0 && n >= -18 {
			return MulInt64(d.small, pow10int64[-n]).Cmp(FromInt64(e.small))
		}
	}
	if a, b := d.Sign(), e.Sign(); a != b {
		return cmpInt64(int64(a), int64(b))
	}
	a, b := d.Coef(), e.Coef()
	if d.scale < e.scale {
		a = new(big.Int).Mul(a, bigPow10(int(e.scale-d.scale)))
	} else if d.scale > e.scale {
		b = new(big.Int).Mul(b, bigPow10(int(d.scale-e.scale)))
	}
	return a.Cmp(b)
}

func rankOf(c decimalClass) int {
	switch c {
	case negInf:
		return -1
	case posInf:
		return 1
	case notANumber:
		return 2
	}
	return 0
}

func cmpInt64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Datum makes d a value of the numeric, integer or float type t, rounding to its scale. It
// fails where PostgreSQL's cast fails: 22003, or 0A000 for NaN to integers.
func (d Decimal) Datum(t Type) (Datum, error) {
	switch t.Kind {
	case Int2, Int4, Int8, Oid:
		i, err := d.ToInt(t.Kind)
		return NewInt(i), err
	case Float8:
		f, err := d.ToFloat64()
		return NewFloat(f), err
	case Float4:
		f, err := d.ToFloat32()
		return NewFloat(f), err
	}
	if !t.Fixed {
		d, err := d.check()
		if err != nil {
			return Null, err
		}
		return NewStr(d.Encode()), nil
	}
	d, err := d.Fit(t)
	if err != nil {
		return Null, err
	}
	return d.fixedDatum(t), nil
}

// fixedDatum picks the form for a value that already has t's scale.
func (d Decimal) fixedDatum(t Type) Datum {
	if d.class == finite {
		if d.big == nil && t.Form() == FormI64 {
			return NewInt(d.small)
		}
		if w, ok := d.Int128(); ok {
			return NewW128(w)
		}
	}
	return NewStr(d.Encode())
}

// Fit rounds d to the scale of the fixed numeric type t and, where t is declared, checks its
// precision (22003, PostgreSQL's apply_typmod).
func (d Decimal) Fit(t Type) (Decimal, error) {
	if !t.Fixed || d.class == notANumber {
		return d, nil
	}
	if d.class != finite {
		if !t.Declared {
			return d, nil
		}
		return d, sqlerr.New(sqlerr.NumericOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", t.Prec, t.Scale)
	}
	d = d.rescale(int(t.Scale), false)
	if t.Declared && d.digits() > int(t.Prec) {
		return d, ErrFieldOverflow(t)
	}
	return d, nil
}

// ErrFieldOverflow is the error for a number that does not fit the declared numeric type t.
func ErrFieldOverflow(t Type) error {
	ten := "1"
	if n := int(t.Prec) - int(t.Scale); n != 0 {
		ten = "10^" + strconv.Itoa(n)
	}
	return sqlerr.New(sqlerr.NumericOutOfRange, "numeric field overflow").
		WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", t.Prec, t.Scale, ten)
}

// ToInt rounds d to the integer kind k.
func (d Decimal) ToInt(k Kind) (int64, error) {
	switch d.class {
	case notANumber:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", kindNames[k])
	case posInf, negInf:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", kindNames[k])
	}
	r := d.rescale(0, false)
	if r.big != nil || !intFits(r.small, k) {
		return 0, ErrIntRange(k)
	}
	return r.small, nil
}

func intFits(i int64, k Kind) bool {
	switch k {
	case Int2:
		return i == int64(int16(i))
	case Int4:
		return i == int64(int32(i))
	case Oid:
		return i == int64(uint32(i))
	}
	return true
}

// ErrIntRange is PostgreSQL's "integer out of range".
func ErrIntRange(k Kind) error {
	name := kindNames[k]
	if k == Oid {
		name = "OID"
	}
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", name)
}

// Float64 is the nearest float8, infinite when too large.
func (d Decimal) Float64() float64 {
	switch d.class {
	case notANumber:
		return math.NaN()
	case posInf:
		return math.Inf(1)
	case negInf:
		return math.Inf(-1)
	}
	if d.big == nil && d.scale <= 18 && d.small > -1<<53 && d.small < 1<<53 {
		if d.scale == 0 {
			return float64(d.small)
		}
		if d.scale <= 15 { // both exact: one correctly rounded division
			return float64(d.small) / float64(pow10int64[d.scale])
		}
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

// ToFloat64 converts as PostgreSQL's numeric_float8, with 22003 beyond its range.
func (d Decimal) ToFloat64() (float64, error) {
	f := d.Float64()
	if d.class == finite && math.IsInf(f, 0) {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "%q is out of range for type double precision", d.String())
	}
	return f, nil
}

// ToFloat32 converts as PostgreSQL's numeric_float4; the float is a float32 value.
func (d Decimal) ToFloat32() (float64, error) {
	if d.class != finite {
		return d.Float64(), nil
	}
	f, err := strconv.ParseFloat(d.String(), 32)
	if err != nil || (f == 0 && d.Sign() != 0) {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "%q is out of range for type real", d.String())
	}
	return f, nil
}
