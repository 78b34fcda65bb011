package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
)

// bounds are the least and greatest value of a stretch of a leaf, by index of the value; NaN
// has no place in them. An empty bounds has ok false.
type bounds struct {
	lo, hi int32
	ok     bool
	nans   int64
}

// less is the order of Parquet's statistics: signed numbers, unsigned bytes.
func (l *leaf) less(a, b int32) bool {
	switch {
	case l.phys == physBool:
		return !l.bools[a] && l.bools[b]
	case l.phys == physInt32 || l.phys == physInt64:
		return l.ints[a] < l.ints[b]
	case l.phys == physFloat || l.phys == physDouble:
		return l.f64[a] < l.f64[b]
	case l.isWide():
		x, y := l.wide[a], l.wide[b]
		if x.Hi != y.Hi {
			if l.field.Iceberg == "uuid" {
				return uint64(x.Hi) < uint64(y.Hi)
			}
			return x.Hi < y.Hi
		}
		return x.Lo < y.Lo
	}
	return bytes.Compare(l.get(int(a)), l.get(int(b))) < 0
}

// bounds finds the bounds of values [from, to).
func (l *leaf) bounds(from, to int) bounds {
	var b bounds
	isFloat := l.phys == physFloat || l.phys == physDouble
	for i := int32(from); i < int32(to); i++ {
		if isFloat && math.IsNaN(l.f64[i]) {
			b.nans++
			continue
		}
		if !b.ok {
			b.lo, b.hi, b.ok = i, i, true
			continue
		}
		if l.less(i, b.lo) {
			b.lo = i
		} else if l.less(b.hi, i) {
			b.hi = i
		}
	}
	return b
}

func (b *bounds) merge(l *leaf, c bounds) {
	nans := b.nans + c.nans
	switch {
	case !c.ok:
	case !b.ok:
		*b = c
	default:
		if l.less(c.lo, b.lo) {
			b.lo = c.lo
		}
		if l.less(b.hi, c.hi) {
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

func (l *leaf) encode(i int32, upper bool) ([]byte, bool) {
	switch l.phys {
	case physBool:
		if l.bools[i] {
			return []byte{1}, true
		}
		return []byte{0}, true
	case physInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(l.ints[i])), true
	case physInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(l.ints[i])), true
	case physFloat:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(signedZero(l.f64[i], upper)))), true
	case physDouble:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(signedZero(l.f64[i], upper))), true
	case physFixed:
		if l.isWide() || l.length <= statLength {
			return l.appendFixed(nil, int(i)), true
		}
	}
	b := l.get(int(i))
	if len(b) <= statLength {
		return append([]byte{}, b...), true
	}
	text := l.field.Iceberg == "string"
	if upper {
		return cutUpper(b, statLength, text), false
	}
	return cutLower(b, statLength, text), false
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
