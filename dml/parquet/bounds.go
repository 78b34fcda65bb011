package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
)

// bounds are the least and greatest value of a stretch of a leaf; NaN has no place in them. An
// empty bounds has ok false.
type bounds struct {
	lo, hi value
	ok     bool
	nans   int64
}

// bounds finds the bounds of all values of v.
func (v *values) bounds(l *leaf) bounds {
	n := v.count(l)
	if n == 0 {
		return bounds{}
	}
	switch {
	case l.phys == physBool:
		b := bounds{lo: value{i: 1}, ok: true}
		for _, x := range v.bools {
			if x {
				b.hi.i = 1
			} else {
				b.lo.i = 0
			}
		}
		return b
	case l.phys == physInt32 || l.phys == physInt64:
		lo, hi := v.ints[0], v.ints[0]
		for _, x := range v.ints {
			lo, hi = min(lo, x), max(hi, x)
		}
		return bounds{lo: value{i: lo}, hi: value{i: hi}, ok: true}
	case l.phys == physFloat || l.phys == physDouble:
		return floatBounds(v.f64)
	case l.wide:
		lo, hi := v.wide[0], v.wide[0]
		for _, x := range v.wide {
			if l.lessWide(x, lo) {
				lo = x
			}
			if l.lessWide(hi, x) {
				hi = x
			}
		}
		return bounds{lo: value{w: lo}, hi: value{w: hi}, ok: true}
	}
	return v.byteBounds()
}

func floatBounds(f []float64) bounds {
	var b bounds
	for _, x := range f {
		switch {
		case math.IsNaN(x):
			b.nans++
		case !b.ok:
			b.lo.f, b.hi.f, b.ok = x, x, true
		case x < b.lo.f:
			b.lo.f = x
		case x > b.hi.f:
			b.hi.f = x
		}
	}
	return b
}

// byteBounds compares first bytes as numbers: most strings differ from both bounds there.
func (v *values) byteBounds() bounds {
	lo, hi := v.get(0), v.get(0)
	loHead, hiHead := head(lo), head(hi)
	for i := range v.views {
		b := v.get(i)
		h := head(b)
		if h < loHead || h == loHead && bytes.Compare(b, lo) < 0 {
			lo, loHead = b, h
		} else if h > hiHead || h == hiHead && bytes.Compare(b, hi) > 0 {
			hi, hiHead = b, h
		}
	}
	return bounds{lo: value{b: bytes.Clone(lo)}, hi: value{b: bytes.Clone(hi)}, ok: true}
}

// head is the first 8 bytes as a number that sorts as they do; shorter strings end in zeros.
func head(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (56 - 8*i)
	}
	return x
}

func (b *bounds) merge(l *leaf, c bounds) {
	nans := b.nans + c.nans
	switch {
	case !c.ok:
	case !b.ok:
		*b = c
	default:
		if l.less(&c.lo, &b.lo) {
			b.lo = c.lo
		}
		if l.less(&b.hi, &c.hi) {
			b.hi = c.hi
		}
	}
	b.nans = nans
}

// statLength is where string statistics are cut.
const statLength = 64

// encoded gives the bounds in Parquet's plain form. exact is false for a cut string; a string
// whose upper bound cannot be cut gives no upper bound.
func (l *leaf) encoded(b bounds) (lo, hi []byte, loExact, hiExact bool) {
	if !b.ok {
		return nil, nil, false, false
	}
	lo, loExact = l.encode(b.lo, false)
	hi, hiExact = l.encode(b.hi, true)
	return lo, hi, loExact, hiExact
}

func (l *leaf) encode(v value, upper bool) ([]byte, bool) {
	switch l.phys {
	case physBool:
		return []byte{byte(v.i)}, true
	case physInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v.i)), true
	case physInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(v.i)), true
	case physFloat:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(signedZero(v.f, upper)))), true
	case physDouble:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(signedZero(v.f, upper))), true
	}
	if l.wide {
		return appendWide(nil, v.w, l.length), true
	}
	if len(v.b) <= statLength || l.phys == physFixed && l.length <= statLength {
		return append([]byte{}, v.b...), true
	}
	text := l.field.Iceberg == "string"
	if upper {
		return cutUpper(v.b, statLength, text), false
	}
	return cutLower(v.b, statLength, text), false
}

// signedZero widens a zero bound to cover both zeros (parquet.thrift, ColumnOrder).
func signedZero(f float64, upper bool) float64 {
	if f != 0 {
		return f
	}
	if upper {
		return 0
	}
	return math.Copysign(0, -1)
}
