package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// values are values of one leaf without NULLs: a page's, or a dictionary's. One of the slices
// is in use, as the leaf's physical type says.
type values struct {
	bools []bool
	ints  []int64
	f64   []float64
	wide  []types.Int128 // uuids and long decimals
	views []vec.View     // byte strings, in data
	data  []byte
}

func (v *values) reset() {
	v.bools, v.ints, v.f64, v.wide, v.views, v.data = v.bools[:0], v.ints[:0], v.f64[:0], v.wide[:0], v.views[:0], v.data[:0]
}

// bytes is the memory held.
func (v *values) bytes() int64 {
	return int64(cap(v.bools) + 8*cap(v.ints) + 8*cap(v.f64) + 16*cap(v.wide) + 8*cap(v.views) + cap(v.data))
}

// get is byte string i.
func (v *values) get(i int) []byte {
	w := v.views[i]
	return v.data[w.Off : w.Off+w.Len]
}

func (v *values) addBytes(b []byte) {
	v.views = append(v.views, vec.View{Off: uint32(len(v.data)), Len: uint32(len(b))})
	v.data = append(v.data, b...)
}

// count is the number of values of leaf l.
func (v *values) count(l *leaf) int {
	switch {
	case l.phys == physBool:
		return len(v.bools)
	case l.phys == physInt32 || l.phys == physInt64:
		return len(v.ints)
	case l.phys == physFloat || l.phys == physDouble:
		return len(v.f64)
	case l.wide:
		return len(v.wide)
	}
	return len(v.views)
}

// appendPlain encodes values [from, to) (Encodings.md, PLAIN).
func (v *values) appendPlain(dst []byte, l *leaf, from, to int) []byte {
	le := binary.LittleEndian
	switch l.phys {
	case physBool:
		return appendBits(dst, v.bools[from:to])
	case physInt32:
		dst, b := extend(dst, 4*(to-from))
		for i, x := range v.ints[from:to] {
			le.PutUint32(b[4*i:], uint32(x))
		}
		return dst
	case physInt64:
		dst, b := extend(dst, 8*(to-from))
		for i, x := range v.ints[from:to] {
			le.PutUint64(b[8*i:], uint64(x))
		}
		return dst
	case physFloat:
		for _, x := range v.f64[from:to] {
			dst = le.AppendUint32(dst, math.Float32bits(float32(x)))
		}
	case physDouble:
		dst, b := extend(dst, 8*(to-from))
		for i, x := range v.f64[from:to] {
			le.PutUint64(b[8*i:], math.Float64bits(x))
		}
		return dst
	case physBytes:
		for i := from; i < to; i++ {
			b := v.get(i)
			dst = append(le.AppendUint32(dst, uint32(len(b))), b...)
		}
	case physFixed:
		for i := from; i < to; i++ {
			if l.wide {
				dst = appendWide(dst, v.wide[i], l.length)
			} else {
				dst = append(dst, v.get(i)...)
			}
		}
	}
	return dst
}

// extend makes dst n bytes longer and gives the new part too.
func extend(dst []byte, n int) (longer, part []byte) {
	at := len(dst)
	if cap(dst)-at < n {
		dst = append(dst, make([]byte, n)...)
	} else {
		dst = dst[:at+n]
	}
	return dst, dst[at:]
}

func appendBits(dst []byte, bools []bool) []byte {
	var b byte
	for i, x := range bools {
		if x {
			b |= 1 << (i & 7)
		}
		if i&7 == 7 {
			dst, b = append(dst, b), 0
		}
	}
	if len(bools)&7 != 0 {
		dst = append(dst, b)
	}
	return dst
}

// appendWide appends the low length bytes of a 128-bit value, big-endian, sign-extended.
func appendWide(dst []byte, w types.Int128, length int) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(w.Hi))
	binary.BigEndian.PutUint64(b[8:], w.Lo)
	if length <= 16 {
		return append(dst, b[16-length:]...)
	}
	sign := byte(0)
	if w.Hi < 0 {
		sign = 0xff
	}
	for range length - 16 {
		dst = append(dst, sign)
	}
	return append(dst, b[:]...)
}

// value is one value of a leaf that stands by itself: a bound.
type value struct {
	i int64 // integers; booleans as 0 and 1
	f float64
	w types.Int128
	b []byte
}

// at is value i. A byte string stays the values' own: copy it before they change.
func (v *values) at(l *leaf, i int) value {
	switch {
	case l.phys == physBool:
		if v.bools[i] {
			return value{i: 1}
		}
		return value{}
	case l.phys == physInt32 || l.phys == physInt64:
		return value{i: v.ints[i]}
	case l.phys == physFloat || l.phys == physDouble:
		return value{f: v.f64[i]}
	case l.wide:
		return value{w: v.wide[i]}
	}
	return value{b: v.get(i)}
}

// less is the order of Parquet's statistics: signed numbers, unsigned bytes.
func (l *leaf) less(a, b *value) bool {
	switch {
	case l.phys == physBool || l.phys == physInt32 || l.phys == physInt64:
		return a.i < b.i
	case l.phys == physFloat || l.phys == physDouble:
		return a.f < b.f
	case l.wide:
		return l.lessWide(a.w, b.w)
	}
	return bytes.Compare(a.b, b.b) < 0
}

func (l *leaf) lessWide(x, y types.Int128) bool {
	if x.Hi != y.Hi {
		if l.unsigned {
			return uint64(x.Hi) < uint64(y.Hi)
		}
		return x.Hi < y.Hi
	}
	return x.Lo < y.Lo
}

// datum is v as the column's type has it.
func (l *leaf) datum(v value) types.Datum {
	switch l.phys {
	case physBool:
		return types.NewBool(v.i != 0)
	case physInt32, physInt64:
		return types.NewInt(v.i)
	case physFloat, physDouble:
		return types.NewFloat(v.f)
	}
	if l.wide {
		return types.NewW128(v.w)
	}
	return types.NewStr(string(v.b))
}
