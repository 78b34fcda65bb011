package types

import (
	"math"
	"math/big"
	"math/bits"
)

// FromInt64 widens i.
func FromInt64(i int64) Int128 { return Int128{Lo: uint64(i), Hi: i >> 63} }

// MulInt64 is the exact product of two int64.
func MulInt64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The unsigned product counts a negative operand as itself + 2^64.
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return Int128{Lo: lo, Hi: int64(hi)}
}

// The largest and the smallest Int128.
var (
	MaxInt128 = Int128{Lo: math.MaxUint64, Hi: math.MaxInt64}
	MinInt128 = Int128{Lo: 0, Hi: math.MinInt64}
)

// Add is a + b, wrapping.
func (a Int128) Add(b Int128) Int128 {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), c)
	return Int128{Lo: lo, Hi: int64(hi)}
}

// AddOK is a + b; ok is false when it does not fit.
func (a Int128) AddOK(b Int128) (r Int128, ok bool) {
	r = a.Add(b)
	return r, (a.Hi^r.Hi)&(b.Hi^r.Hi) >= 0
}

// Add64 is a + b, wrapping.
func (a Int128) Add64(b int64) Int128 { return a.Add(FromInt64(b)) }

// Sub is a - b, wrapping.
func (a Int128) Sub(b Int128) Int128 {
	lo, c := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), c)
	return Int128{Lo: lo, Hi: int64(hi)}
}

// SubOK is a - b; ok is false when it does not fit.
func (a Int128) SubOK(b Int128) (r Int128, ok bool) {
	r = a.Sub(b)
	return r, (a.Hi^b.Hi)&(a.Hi^r.Hi) >= 0
}

// Neg is -a, wrapping for MinInt128.
func (a Int128) Neg() Int128 { return Int128{}.Sub(a) }

// Sign is -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	}
	return 1
}

// Cmp is -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// IsInt64 tells whether a fits int64.
func (a Int128) IsInt64() bool { return a.Hi == int64(a.Lo)>>63 }

// Int64 is a's low 64 bits, its value when IsInt64.
func (a Int128) Int64() int64 { return int64(a.Lo) }

// abs gives the magnitude, right for MinInt128 too.
func (a Int128) abs() (hi, lo uint64) {
	if a.Hi < 0 {
		a = a.Neg()
	}
	return uint64(a.Hi), a.Lo
}

// Mul64 is a * b; ok is false when it does not fit.
func (a Int128) Mul64(b int64) (r Int128, ok bool) { return a.Mul(FromInt64(b)) }

// Mul is a * b; ok is false when it does not fit.
func (a Int128) Mul(b Int128) (r Int128, ok bool) {
	if a.IsInt64() && b.IsInt64() {
		return MulInt64(a.Int64(), b.Int64()), true
	}
	ah, al := a.abs()
	bh, bl := b.abs()
	if ah != 0 && bh != 0 {
		return r, false
	}
	if bh != 0 {
		ah, al, bh, bl = bh, bl, ah, al
	}
	hi, lo := bits.Mul64(al, bl)
	over, mid := bits.Mul64(ah, bl)
	hi, carry := bits.Add64(hi, mid, 0)
	if over != 0 || carry != 0 {
		return r, false
	}
	r = Int128{Lo: lo, Hi: int64(hi)}
	if (a.Hi < 0) != (b.Hi < 0) {
		r = r.Neg()
		return r, r.Sign() <= 0 // a magnitude above 2^127 comes out positive
	}
	return r, r.Hi >= 0
}

// QuoRem divides the way of Go's / and %: truncated, the remainder with a's sign. b is not 0.
func (a Int128) QuoRem(b Int128) (q, r Int128) {
	if a.IsInt64() && b.IsInt64() && !(a.Int64() == math.MinInt64 && b.Int64() == -1) {
		return FromInt64(a.Int64() / b.Int64()), FromInt64(a.Int64() % b.Int64())
	}
	if b.IsInt64() && b.Int64() > 0 {
		ah, al := a.abs()
		d := uint64(b.Int64())
		qh := ah / d
		ql, rem := bits.Div64(ah%d, al, d)
		q, r = Int128{Lo: ql, Hi: int64(qh)}, Int128{Lo: rem}
		if a.Hi < 0 {
			q, r = q.Neg(), r.Neg()
		}
		return q, r
	}
	bq, br := new(big.Int).QuoRem(a.Big(), b.Big(), new(big.Int))
	q, _ = Int128FromBig(bq)
	r, _ = Int128FromBig(br)
	return q, r
}

// Big is a as a new big.Int.
func (a Int128) Big() *big.Int {
	hi, lo := a.abs()
	z := new(big.Int).SetUint64(hi)
	z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(lo))
	if a.Hi < 0 {
		z.Neg(z)
	}
	return z
}

// Int128FromBig narrows z; ok is false when it does not fit.
func Int128FromBig(z *big.Int) (r Int128, ok bool) {
	if z.BitLen() > 128 {
		return r, false
	}
	var buf [16]byte
	z.FillBytes(buf[:])
	for i := 0; i < 8; i++ {
		r.Hi = r.Hi<<8 | int64(buf[i])
		r.Lo = r.Lo<<8 | uint64(buf[i+8])
	}
	if z.Sign() < 0 {
		r = r.Neg()
		return r, r.Hi < 0
	}
	return r, r.Hi >= 0
}

// Float64 is the float nearest to a, within one rounding.
func (a Int128) Float64() float64 {
	if a.IsInt64() {
		return float64(a.Int64())
	}
	f, _ := new(big.Float).SetInt(a.Big()).Float64()
	return f
}

// String spells a in decimal.
func (a Int128) String() string { return string(appendInt128(nil, a)) }

const pow10of18 = 1e18

// appendInt128 spells a in decimal.
func appendInt128(dst []byte, a Int128) []byte {
	hi, lo := a.abs()
	if a.Hi < 0 {
		dst = append(dst, '-')
	}
	var buf [40]byte
	i := len(buf)
	for hi != 0 {
		qh := hi / pow10of18
		ql, rem := bits.Div64(hi%pow10of18, lo, pow10of18)
		for k := 0; k < 18; k++ {
			i--
			buf[i] = byte('0' + rem%10)
			rem /= 10
		}
		hi, lo = qh, ql
	}
	for {
		i--
		buf[i] = byte('0' + lo%10)
		lo /= 10
		if lo == 0 {
			break
		}
	}
	// A low part below 10^17 after a high part leaves its own leading zeros out; the loop
	// above only runs for the top chunk, so there are none to leave.
	return append(dst, buf[i:]...)
}

// pow10int64 holds 10^0 … 10^18.
var pow10int64 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return
}()

// pow10int128 holds 10^0 … 10^38.
var pow10int128 = func() (p [39]Int128) {
	p[0] = FromInt64(1)
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].Mul64(10)
	}
	return
}()

// Pow10Int64 is 10^n for n in 0…18.
func Pow10Int64(n int) int64 { return pow10int64[n] }

// Pow10Int128 is 10^n for n in 0…38.
func Pow10Int128(n int) Int128 { return pow10int128[n] }
