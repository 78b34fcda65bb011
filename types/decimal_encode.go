package types

import (
	"encoding/binary"
	"math/big"
)

// The encoding of a Decimal in a string or vector:
//
//	byte 0    class<<1 | negative
//	uvarint   scale
//	the rest  magnitude, big-endian, without leading zero bytes
//
// Equal values of different scales have different bytes: the scale is part of what is shown.
// AppendKey makes equal bytes of equal values.

// Encode gives d's compact encoding.
func (d Decimal) Encode() string {
	var buf [24]byte
	return string(d.AppendEncoded(buf[:0]))
}

// AppendEncoded appends d's compact encoding.
func (d Decimal) AppendEncoded(dst []byte) []byte {
	head := byte(d.class) << 1
	if d.class != finite {
		return append(dst, head)
	}
	if d.Sign() < 0 {
		head |= 1
	}
	dst = append(dst, head)
	dst = binary.AppendUvarint(dst, uint64(d.scale))
	if d.big != nil {
		n := (d.big.BitLen() + 7) / 8
		at := len(dst)
		for i := 0; i < n; i++ {
			dst = append(dst, 0)
		}
		d.big.FillBytes(dst[at:])
		return dst
	}
	u := uint64(d.small)
	if d.small < 0 {
		u = -u
	}
	n := 0
	for v := u; v != 0; v >>= 8 {
		n++
	}
	for n--; n >= 0; n-- {
		dst = append(dst, byte(u>>(8*n)))
	}
	return dst
}

// DecodeDecimal reads Encode's bytes. Bytes that are no encoding give NaN.
func DecodeDecimal(b []byte) Decimal {
	if len(b) == 0 {
		return DecimalNaN
	}
	class := decimalClass(b[0] >> 1)
	if class != finite {
		if class > notANumber {
			return DecimalNaN
		}
		return Decimal{class: class}
	}
	scale, n := binary.Uvarint(b[1:])
	if n <= 0 || scale > maxScale {
		return DecimalNaN
	}
	neg := b[0]&1 != 0
	b = b[1+n:]
	if len(b) <= 8 {
		var u uint64
		for _, c := range b {
			u = u<<8 | uint64(c)
		}
		if u <= 1<<63-1 {
			v := int64(u)
			if neg {
				v = -v
			}
			return Decimal{small: v, scale: int32(scale)}
		}
	}
	z := new(big.Int).SetBytes(b)
	if neg {
		z.Neg(z)
	}
	return DecimalFromBig(z, int(scale))
}

func decodeDecimal(s string) Decimal {
	var buf [64]byte
	return DecodeDecimal(append(buf[:0], s...))
}
