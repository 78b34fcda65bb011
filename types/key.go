package types

import (
	"encoding/binary"
	"math"
)

// AppendKey appends bytes that are equal exactly when the values are (by Compare; NULLs are
// equal to each other, as GROUP BY has it): for hash tables and for distinct. No key is a
// proper prefix of another of the same type, so that keys of several columns can be joined.
func AppendKey(dst []byte, d Datum, t Type) []byte {
	if d.IsNull() {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch t.Kind {
	case Bool:
		if d.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case Float4, Float8:
		return binary.BigEndian.AppendUint64(dst, FloatKey(d.Float()))
	case Numeric:
		return appendDecimalKey(dst, DecimalOf(d, t))
	case Interval:
		return appendW128(dst, IntervalOf(d.W128()).span())
	case UUID, TimeTZ:
		return appendW128(dst, d.W128())
	case Bpchar:
		return appendStringKey(dst, trimRightSpaces(d.str))
	case Variant:
		return AppendKey(dst[:len(dst)-1], NewStr(VariantJSON(d.str)), T(JSONB))
	case JSONB:
		v, err := ParseJSON(d.str)
		if err != nil {
			return appendStringKey(dst, d.str)
		}
		v.trimNumbers()
		return appendStringKey(dst, string(v.AppendText(nil)))
	case Array, Int2Vector, OidVector:
		dst = binary.AppendUvarint(dst, uint64(len(d.list)))
		for _, e := range d.list {
			dst = AppendKey(dst, e, elemOf(t))
		}
		return dst
	case Map:
		dst = binary.AppendUvarint(dst, uint64(len(d.list)))
		for _, e := range d.list {
			dst = AppendKey(dst, e.list[0], t.Key())
			dst = AppendKey(dst, e.list[1], t.Elem())
		}
		return dst
	case Struct:
		for i, f := range t.Fields() {
			dst = AppendKey(dst, d.list[i], f.Type)
		}
		return dst
	}
	if d.form == FormStr {
		return appendStringKey(dst, d.str)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(d.Int()))
}

// FloatKey gives equal bits for equal floats: one for -0 and 0, one for all NaNs.
func FloatKey(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

func appendStringKey(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendW128(dst []byte, w Int128) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(w.Hi))
	return binary.BigEndian.AppendUint64(dst, w.Lo)
}

// appendDecimalKey drops trailing zeros after the point, so that 1.0 and 1.00 agree.
func appendDecimalKey(dst []byte, d Decimal) []byte {
	d = d.trim()
	var buf [32]byte
	enc := d.AppendEncoded(buf[:0])
	dst = binary.AppendUvarint(dst, uint64(len(enc)))
	return append(dst, enc...)
}

// trimNumbers makes equal numbers look equal.
func (v *JSONValue) trimNumbers() {
	if v.Kind == JSONNumber {
		if d, ok := parseDecimal(v.Text); ok {
			v.Text = d.trim().String()
		}
	}
	for i := range v.Items {
		v.Items[i].trimNumbers()
	}
}
