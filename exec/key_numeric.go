package exec

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/lhsql/lhsql/types"
)

// The codes of numerics. A fixed column's values lie almost always within 128 bits at the common
// scale; the others go below or above all of those, with the general code behind.
const (
	numericBelow  = 1
	numericInside = 2
	numericAbove  = 3
)

func (kc *keyColumn) appendNumeric(dst []byte, d types.Decimal) []byte {
	if !kc.fixed {
		return appendDecimalKey(dst, d)
	}
	if d.IsFinite() {
		at := d.WithScale(kc.scale)
		if w, ok := at.Int128(); ok && at.Cmp(d) == 0 {
			dst = append(dst, numericInside)
			dst = binary.BigEndian.AppendUint64(dst, uint64(w.Hi)^1<<63)
			return binary.BigEndian.AppendUint64(dst, w.Lo)
		}
	}
	if d.Sign() < 0 {
		return appendDecimalKey(append(dst, numericBelow), d)
	}
	return appendDecimalKey(append(dst, numericAbove), d)
}

// digitsOf writes d's coefficient, in buf where it fits.
func digitsOf(d types.Decimal, buf *[20]byte) []byte {
	if w, ok := d.Int128(); ok && w.Hi == int64(w.Lo)>>63 {
		return strconv.AppendInt(buf[:0], int64(w.Lo), 10)
	}
	return d.Coef().Append(nil, 10)
}

// appendDecimalKey codes a decimal of any scale. A finite one is 0.d1d2…dn · 10^e with d1 and dn
// not 0: the class, e biased, then the digits each plus 1, then 0; a negative one inverted.
func appendDecimalKey(dst []byte, d types.Decimal) []byte {
	switch {
	case d.IsNaN():
		return append(dst, 7)
	case d.IsInf() && d.Sign() > 0:
		return append(dst, 6)
	case d.IsInf():
		return append(dst, 1)
	case d.IsZero():
		return append(dst, 4)
	}
	var buf [20]byte
	digits := digitsOf(d, &buf)
	scale := d.Scale()
	neg := digits[0] == '-'
	if neg {
		digits = digits[1:]
	}
	e := len(digits) - scale
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	if neg {
		dst = append(dst, 3)
	} else {
		dst = append(dst, 5)
	}
	from := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(int64(e)+math.MaxInt32))
	for i := 0; i < len(digits); i++ {
		dst = append(dst, digits[i]-'0'+1)
	}
	dst = append(dst, 0)
	invert(dst[from:], neg)
	return dst
}
