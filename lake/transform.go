package lake

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/lhsql/lhsql/types"
)

// Result gives the type of the transformed value: SQL's and Iceberg's spelling. Days are
// dates; years, months and hours count from 1970 as integers (spec, "Partition Transforms").
func (t Transform) Result(src types.Type, iceberg string) (types.Type, string) {
	switch t.Kind {
	case Bucket, Year, Month, Hour:
		return types.T(types.Int4), "int"
	case Day:
		return types.T(types.Date), "date"
	case UnknownTransform:
		return types.T(types.Text), "string"
	}
	return src, iceberg
}

// AppliesTo tells whether the spec allows the transform on a column of this Iceberg type.
func (t Transform) AppliesTo(iceberg string) bool {
	_, _, decimal := decimalParams(iceberg)
	_, fixed := fixedLength(iceberg)
	switch t.Kind {
	case Void:
		return true
	case Identity:
		src := TypeOf(iceberg)
		return src.Kind != types.Invalid && iceberg != "variant" && iceberg != "unknown" && (src.Kind != types.Bytea || iceberg == "binary" || fixed)
	case Bucket:
		switch iceberg {
		case "int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid", "binary":
			return true
		}
		return decimal || fixed
	case Truncate:
		switch iceberg {
		case "int", "long", "string", "binary":
			return true
		}
		return decimal
	case Year, Month, Day:
		switch iceberg {
		case "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
			return true
		}
	case Hour:
		switch iceberg {
		case "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
			return true
		}
	}
	return false
}

// Apply transforms a value of SQL type src. NULL gives NULL; so does an unknown transform,
// which no caller may take for a value.
func (t Transform) Apply(d types.Datum, src types.Type) types.Datum {
	if d.IsNull() {
		return types.Null
	}
	if src.Kind == types.Numeric && src.Fixed && d.Form() == types.FormStr {
		// Vectors hold decimals in any form; partitions, hashes and manifests in the fixed ones.
		n, err := types.DecimalOf(d, src).Datum(src)
		if err != nil {
			return types.Null
		}
		d = n
	}
	switch t.Kind {
	case Identity:
		return d
	case Bucket:
		h, ok := bucketHash(d, src)
		if !ok || t.Param <= 0 {
			return types.Null
		}
		return types.NewInt(int64(h&0x7fffffff) % int64(t.Param))
	case Truncate:
		return t.truncate(d, src)
	case Year, Month, Day, Hour:
		return t.period(d, src)
	}
	return types.Null
}

// bucketHash is the spec's 32-bit hash (appendix B). int and long hash alike, so that widening
// a column keeps its buckets; so do µs and ns timestamps of the same µs.
func bucketHash(d types.Datum, src types.Type) (uint32, bool) {
	switch src.Kind {
	case types.Int2, types.Int4, types.Int8, types.Date, types.Time, types.Timestamp, types.TimestampTZ:
		return hashLong(d.Int()), true
	case types.TimestampNS, types.TimestampTZNS:
		return hashLong(floorDiv(d.Int(), 1000)), true
	case types.Numeric:
		if d.Form() == types.FormStr {
			return 0, false
		}
		return murmur3(decimalMin(unscaled(d))), true
	case types.UUID:
		return murmur3(uuidBytes(d)), true
	case types.Text, types.Varchar, types.Bpchar, types.Bytea:
		return murmur3([]byte(d.Str())), true
	}
	return 0, false
}

func hashLong(v int64) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	return murmur3(b[:])
}

// murmur3 is MurmurHash3_x86_32 with seed 0.
func murmur3(b []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h, n := uint32(0), uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * c1
		h ^= bits.RotateLeft32(k, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i := len(b) - 1; i >= 0; i-- {
		k = k<<8 | uint32(b[i])
	}
	if len(b) > 0 {
		h ^= bits.RotateLeft32(k*c1, 15) * c2
	}
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// truncate: numbers go down to a multiple of the width, towards minus infinity; strings keep
// width code points; binary keeps width bytes.
func (t Transform) truncate(d types.Datum, src types.Type) types.Datum {
	w := int64(t.Param)
	if w <= 0 {
		return types.Null
	}
	switch src.Kind {
	case types.Int2, types.Int4, types.Int8:
		return types.NewInt(truncInt(d.Int(), w))
	case types.Numeric:
		switch d.Form() {
		case types.FormI64:
			return types.NewInt(truncInt(d.Int(), w))
		case types.FormW128:
			return types.NewW128(truncWide(d.W128(), uint64(w)))
		}
	case types.Text, types.Varchar, types.Bpchar:
		return types.NewStr(prefixRunes(d.Str(), t.Param))
	case types.Bytea:
		return types.NewStr(d.Str()[:min(len(d.Str()), t.Param)])
	}
	return types.Null
}

func truncInt(v, w int64) int64 { return v - ((v%w)+w)%w }

// truncWide subtracts the non-negative remainder of v by w.
func truncWide(v types.Int128, w uint64) types.Int128 {
	hi, lo, neg := uint64(v.Hi), v.Lo, v.Hi < 0
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	_, r := bits.Div64(hi%w, lo, w)
	if neg && r != 0 {
		r = w - r
	}
	l, borrow := bits.Sub64(v.Lo, r, 0)
	h, _ := bits.Sub64(uint64(v.Hi), 0, borrow)
	return types.Int128{Lo: l, Hi: int64(h)}
}

func prefixRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// period counts whole years, months, days or hours since 1970, downwards before it.
func (t Transform) period(d types.Datum, src types.Type) types.Datum {
	var perDay int64
	switch src.Kind {
	case types.Date:
		perDay = 1
	case types.Timestamp, types.TimestampTZ:
		perDay = 86_400_000_000
	case types.TimestampNS, types.TimestampTZNS:
		perDay = 86_400_000_000_000
	default:
		return types.Null
	}
	v := d.Int()
	if t.Kind == Hour {
		if perDay == 1 {
			return types.Null
		}
		return types.NewInt(floorDiv(v, perDay/24))
	}
	days := floorDiv(v, perDay)
	if t.Kind == Day {
		return types.NewInt(days)
	}
	y, m := civil(days)
	if t.Kind == Year {
		return types.NewInt(y - 1970)
	}
	return types.NewInt((y-1970)*12 + m - 1)
}

// civil gives year and month of a day number, in the proleptic Gregorian calendar: years are
// counted from March, so that the leap day is a year's last.
func civil(days int64) (year, month int64) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	year, month = yoe+era*400, mp+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month
}

// String spells the transform as metadata does.
func (t Transform) String() string {
	switch t.Kind {
	case Identity:
		return "identity"
	case Bucket:
		return "bucket[" + strconv.Itoa(t.Param) + "]"
	case Truncate:
		return "truncate[" + strconv.Itoa(t.Param) + "]"
	case Year:
		return "year"
	case Month:
		return "month"
	case Day:
		return "day"
	case Hour:
		return "hour"
	case Void:
		return "void"
	}
	return t.Text
}

// TruncateUpper gives the shortest-known upper bound of a value longer than width: the prefix
// with its last code point (byte, for binary) raised. ok is false if none can be raised: then
// there is no upper bound to write.
func TruncateUpper(s string, width int, text bool) (string, bool) {
	if !text {
		if len(s) <= width {
			return s, true
		}
		b := []byte(s[:width])
		for i := len(b) - 1; i >= 0; i-- {
			if b[i] < 0xff {
				b[i]++
				return string(b[:i+1]), true
			}
		}
		return "", false
	}
	p := prefixRunes(s, width)
	if len(p) == len(s) {
		return s, true
	}
	for r := []rune(p); len(r) > 0; r = r[:len(r)-1] {
		next := r[len(r)-1] + 1
		if next >= 0xd800 && next <= 0xdfff { // surrogates are no code points
			next = 0xe000
		}
		if next <= utf8.MaxRune {
			return string(r[:len(r)-1]) + string(next), true
		}
	}
	return "", false
}
