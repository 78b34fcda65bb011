package lake

import (
	"encoding/binary"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/lhsql/lhsql/types"
)

// DecodeBound reads a single-value serialised bound (spec, appendix D) of a column whose SQL
// type is t and whose Iceberg type is spelled iceberg. A bound may have been written before
// the column was widened (int → long, float → double, date → timestamp). ok is false for
// whatever proves nothing: a wrong length, NaN, invalid UTF-8, types without bounds (R3).
func DecodeBound(t types.Type, iceberg string, b []byte) (types.Datum, bool) {
	if b == nil {
		return types.Null, false
	}
	switch iceberg {
	case "boolean":
		return types.NewBool(len(b) == 1 && b[0] != 0), len(b) == 1
	case "int", "date":
		if len(b) == 4 {
			return types.NewInt(int64(int32(binary.LittleEndian.Uint32(b)))), true
		}
	case "long", "time":
		return decodeLong(b, 1)
	case "timestamp", "timestamptz":
		return decodeLong(b, 86_400_000_000)
	case "timestamp_ns", "timestamptz_ns":
		return decodeLong(b, 86_400_000_000_000)
	case "float", "double":
		return decodeFloat(b)
	case "string":
		return types.NewStr(string(b)), utf8.Valid(b)
	case "uuid":
		return uuidDatum(b), len(b) == 16
	case "binary":
		return types.NewStr(string(b)), true
	}
	if _, ok := fixedLength(iceberg); ok {
		return types.NewStr(string(b)), true
	}
	if _, _, ok := decimalParams(iceberg); ok {
		return decimalBytes(b, t)
	}
	return types.Null, false
}

// decodeLong reads 8 bytes, or 4 bytes in units of scale (a date where a timestamp is now).
func decodeLong(b []byte, scale int64) (types.Datum, bool) {
	switch len(b) {
	case 8:
		return types.NewInt(int64(binary.LittleEndian.Uint64(b))), true
	case 4:
		v := int64(int32(binary.LittleEndian.Uint32(b)))
		if v > math.MaxInt64/scale || v < math.MinInt64/scale {
			return types.Null, false
		}
		return types.NewInt(v * scale), true
	}
	return types.Null, false
}

func decodeFloat(b []byte) (types.Datum, bool) {
	var f float64
	switch len(b) {
	case 4:
		f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 8:
		f = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		return types.Null, false
	}
	return types.NewFloat(f), !isNaN(f)
}

// decimalBytes reads a big-endian two's complement unscaled value.
func decimalBytes(b []byte, t types.Type) (types.Datum, bool) {
	if len(b) == 0 || len(b) > 16 {
		return types.Null, false
	}
	w := types.Int128{}
	if b[0]&0x80 != 0 {
		w = types.Int128{Lo: math.MaxUint64, Hi: -1}
	}
	for _, c := range b {
		w.Hi = w.Hi<<8 | int64(w.Lo>>56)
		w.Lo = w.Lo<<8 | uint64(c)
	}
	return wideDatum(w, t)
}

// wideDatum gives an unscaled decimal the form that t's values have.
func wideDatum(w types.Int128, t types.Type) (types.Datum, bool) {
	if t.Form() == types.FormI64 {
		return types.NewInt(int64(w.Lo)), w.Hi == int64(w.Lo)>>63
	}
	return types.NewW128(w), true
}

func bigDatum(n *big.Int, t types.Type) (types.Datum, bool) {
	if n.BitLen() > 127 {
		return types.Null, false
	}
	abs := new(big.Int).Abs(n).FillBytes(make([]byte, 16))
	w := types.Int128{Hi: int64(binary.BigEndian.Uint64(abs)), Lo: binary.BigEndian.Uint64(abs[8:])}
	if n.Sign() < 0 {
		w.Lo = -w.Lo
		w.Hi = ^w.Hi
		if w.Lo == 0 {
			w.Hi++
		}
	}
	return wideDatum(w, t)
}

// unscaled is the 128-bit value of a decimal datum in either of its fixed forms.
func unscaled(d types.Datum) types.Int128 {
	if d.Form() == types.FormI64 {
		return types.Int128{Lo: uint64(d.Int()), Hi: d.Int() >> 63}
	}
	return d.W128()
}

func uuidDatum(b []byte) types.Datum {
	if len(b) != 16 {
		return types.Null
	}
	return types.NewW128(types.Int128{Hi: int64(binary.BigEndian.Uint64(b)), Lo: binary.BigEndian.Uint64(b[8:])})
}

func uuidBytes(d types.Datum) []byte {
	b := make([]byte, 16)
	w := d.W128()
	binary.BigEndian.PutUint64(b, uint64(w.Hi))
	binary.BigEndian.PutUint64(b[8:], w.Lo)
	return b
}

// decimalMin is the shortest big-endian two's complement form of w (spec, appendices B and D).
func decimalMin(w types.Int128) []byte {
	b := uuidBytes(types.NewW128(w))
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// EncodeBound is DecodeBound's inverse: the single-value serialisation of d. nil for NULL and
// for types that have no bounds.
func EncodeBound(d types.Datum, iceberg string) []byte {
	if d.IsNull() || !spelled(iceberg) {
		return nil
	}
	return AppendBound([]byte{}, d, iceberg)
}

// AppendBound appends the single-value serialisation of d, which is not NULL, to b.
func AppendBound(b []byte, d types.Datum, iceberg string) []byte {
	switch iceberg {
	case "boolean":
		if d.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case "int", "date":
		return binary.LittleEndian.AppendUint32(b, uint32(d.Int()))
	case "long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
		return binary.LittleEndian.AppendUint64(b, uint64(d.Int()))
	case "float":
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(d.Float())))
	case "double":
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(d.Float()))
	case "string", "binary":
		return append(b, d.Str()...)
	case "uuid":
		return append(b, uuidBytes(d)...)
	}
	if _, ok := fixedLength(iceberg); ok {
		return append(b, d.Str()...)
	}
	if _, _, ok := decimalParams(iceberg); ok {
		return append(b, decimalMin(unscaled(d))...)
	}
	return b
}

// HasBounds tells whether values of the field have a single-value serialisation.
func HasBounds(f *Field) bool { return spelled(f.Iceberg) }

// spelled tells whether values of an Iceberg type have a single-value serialisation.
func spelled(iceberg string) bool {
	switch iceberg {
	case "boolean", "int", "date", "long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "float", "double", "string", "binary", "uuid":
		return true
	}
	_, fixed := fixedLength(iceberg)
	_, _, decimal := decimalParams(iceberg)
	return fixed || decimal
}
