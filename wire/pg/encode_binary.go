package pg

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The wire counts days and microseconds from 2000-01-01, types from 1970-01-01.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86_400_000_000
)

// binaryEncoder gives a type's binary form (PostgreSQL's typsend).
func binaryEncoder(t types.Type, o *types.TextOptions) encoder {
	switch t.Kind {
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Char, types.JSON, types.Bytea, types.Unknown:
		return appendString
	case types.Bool:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if v.Values().Bools[v.Row(i)] {
				return append(dst, 1)
			}
			return append(dst, 0)
		}
	case types.Int4:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.BigEndian.AppendUint32(dst, uint32(int64At(v, i)))
		}
	case types.Int8:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.BigEndian.AppendUint64(dst, uint64(int64At(v, i)))
		}
	case types.Float8:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.BigEndian.AppendUint64(dst, floatBits(float64At(v, i)))
		}
	case types.Date:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.BigEndian.AppendUint32(dst, uint32(dateOut(int64At(v, i))))
		}
	case types.Timestamp, types.TimestampTZ:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return binary.BigEndian.AppendUint64(dst, uint64(timestampOut(int64At(v, i))))
		}
	case types.Numeric:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if f := v.Values(); f.Form == types.FormI64 {
				return appendNumeric64(dst, f.I64[v.Row(i)], int(t.Scale))
			}
			return appendBinary(dst, v.Datum(i), t, o)
		}
	}
	return func(dst []byte, v *vec.Vector, i int) []byte { return appendBinary(dst, v.Datum(i), t, o) }
}

// appendBinary appends d, which is not NULL, in t's binary form.
func appendBinary(dst []byte, d types.Datum, t types.Type, o *types.TextOptions) []byte {
	be := binary.BigEndian
	switch t.Kind {
	case types.Bool:
		if d.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.Int2:
		return be.AppendUint16(dst, uint16(d.Int()))
	case types.Int4, types.Oid, types.Xid, types.Regclass, types.Regtype, types.Regproc,
		types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return be.AppendUint32(dst, uint32(d.Int()))
	case types.Int8:
		return be.AppendUint64(dst, uint64(d.Int()))
	case types.Float4:
		if f := float32(d.Float()); f == f {
			return be.AppendUint32(dst, math.Float32bits(f))
		}
		return be.AppendUint32(dst, 0x7fc00000)
	case types.Float8:
		return be.AppendUint64(dst, floatBits(d.Float()))
	case types.Date:
		return be.AppendUint32(dst, uint32(dateOut(d.Int())))
	case types.Time:
		return be.AppendUint64(dst, uint64(d.Int()))
	case types.TimeTZ:
		w := d.W128()
		return be.AppendUint32(be.AppendUint64(dst, w.Lo), uint32(w.Hi))
	case types.Timestamp, types.TimestampTZ:
		return be.AppendUint64(dst, uint64(timestampOut(d.Int())))
	case types.TimestampNS, types.TimestampTZNS:
		return be.AppendUint64(dst, uint64(timestampOut(floorDiv(d.Int(), 1000))))
	case types.Interval:
		iv := types.IntervalOf(d.W128())
		dst = be.AppendUint64(dst, uint64(iv.Micros))
		return be.AppendUint32(be.AppendUint32(dst, uint32(iv.Days)), uint32(iv.Months))
	case types.UUID:
		w := d.W128()
		return be.AppendUint64(be.AppendUint64(dst, uint64(w.Hi)), w.Lo)
	case types.Numeric:
		return appendNumeric(dst, string(types.AppendText(nil, d, t, o)))
	case types.JSONB, types.JSONPath:
		return append(append(dst, 1), d.Str()...)
	case types.Struct, types.Map, types.Variant: // jsonb outside
		if t.IsRecord() {
			return appendRecord(dst, d, t, o)
		}
		return types.AppendText(append(dst, 1), d, t, o)
	case types.Array, types.Int2Vector, types.OidVector:
		return appendArray(dst, d, t, o)
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Char, types.JSON, types.Bytea, types.Unknown:
		return append(dst, d.Str()...)
	}
	return types.AppendText(dst, d, t, o)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// dateOut and timestampOut shift the epoch and keep the infinities.
func dateOut(days int64) int32 {
	switch {
	case days >= math.MaxInt32:
		return math.MaxInt32
	case days <= math.MinInt32:
		return math.MinInt32
	}
	return int32(days - epochDays)
}

func timestampOut(us int64) int64 {
	if us == math.MaxInt64 || us == math.MinInt64 {
		return us
	}
	return us - epochMicros
}

// floatBits are a double's bits; every NaN leaves as PostgreSQL's.
func floatBits(f float64) uint64 {
	if f != f {
		return 0x7ff8000000000000
	}
	return math.Float64bits(f)
}

var powersOf10 = [...]uint64{1, 10, 100, 1000}

// appendNumeric64 is appendNumeric of v·10^-scale. Its base-10000 digits are aligned to the
// point: v is first brought to a scale that is a multiple of four.
func appendNumeric64(dst []byte, v int64, scale int) []byte {
	sign, u := uint16(0), uint64(v)
	if v < 0 {
		sign, u = 0x4000, -u
	}
	pad := (4 - scale%4) % 4
	hi, lo := bits.Mul64(u, powersOf10[pad])
	var digits [8]uint16 // from the least: 20 decimal digits and 3 more
	n := 0
	for hi != 0 || lo != 0 {
		var r uint64
		// hi < 10000 always: 2^64·1000 / 2^64.
		hi, r = hi/10000, hi%10000
		lo, r = bits.Div64(r, lo, 10000)
		digits[n] = uint16(r)
		n++
	}
	first := 0 // trailing zero digits are left out
	for first < n && digits[first] == 0 {
		first++
	}
	weight := n - 1 - (scale+pad)/4
	if n == 0 {
		weight, sign = 0, 0
	}
	be := binary.BigEndian
	dst = be.AppendUint16(dst, uint16(n-first))
	dst = be.AppendUint16(dst, uint16(int16(weight)))
	dst = be.AppendUint16(dst, sign)
	dst = be.AppendUint16(dst, uint16(scale))
	for i := n - 1; i >= first; i-- {
		dst = be.AppendUint16(dst, digits[i])
	}
	return dst
}

// appendNumeric turns a numeric's text into base-10000 digits: ndigits, weight, sign, dscale.
func appendNumeric(dst []byte, text string) []byte {
	be := binary.BigEndian
	head := func(n, weight int, sign uint16, scale int) {
		for _, x := range []uint16{uint16(n), uint16(int16(weight)), sign, uint16(scale)} {
			dst = be.AppendUint16(dst, x)
		}
	}
	switch text {
	case "NaN":
		head(0, 0, 0xC000, 0)
		return dst
	case "Infinity":
		head(0, 0, 0xD000, 0)
		return dst
	case "-Infinity":
		head(0, 0, 0xF000, 0)
		return dst
	}
	sign := uint16(0)
	if strings.HasPrefix(text, "-") {
		sign, text = 0x4000, text[1:]
	}
	whole, frac, _ := strings.Cut(text, ".")
	scale := len(frac)
	for len(whole)%4 != 0 {
		whole = "0" + whole
	}
	for len(frac)%4 != 0 {
		frac += "0"
	}
	digits := whole + frac
	weight := len(whole)/4 - 1
	for len(digits) > 0 && digits[:4] == "0000" {
		digits = digits[4:]
		weight--
	}
	for len(digits) > 0 && digits[len(digits)-4:] == "0000" {
		digits = digits[:len(digits)-4]
	}
	if digits == "" {
		weight, sign = 0, 0
	}
	head(len(digits)/4, weight, sign, scale)
	for ; digits != ""; digits = digits[4:] {
		dst = be.AppendUint16(dst, uint16(int(digits[0]-'0')*1000+int(digits[1]-'0')*100+int(digits[2]-'0')*10+int(digits[3]-'0')))
	}
	return dst
}

// oneLength refuses lists of lists that are no array: their binary form has one length for each dimension.
// Iceberg's lists may be of any lengths, and NULL.
func oneLength(list types.Datum, n int) {
	if list.IsNull() || len(list.List()) != n {
		panic(sqlerr.New(sqlerr.ArraySubscript, "a list of lists of different lengths has no binary form").WithHint("Fetch it as text, or cast it: x::text."))
	}
}

// appendRecord appends a row: for each member its type, its length and itself.
func appendRecord(dst []byte, d types.Datum, t types.Type, o *types.TextOptions) []byte {
	be := binary.BigEndian
	dst = be.AppendUint32(dst, uint32(len(t.Fields())))
	for i, f := range t.Fields() {
		dst = be.AppendUint32(dst, outType(f.Type).OID())
		x := d.List()[i]
		if x.IsNull() {
			dst = be.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = appendBinary(append(dst, 0, 0, 0, 0), x, f.Type, o)
		be.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// appendArray appends an array of any dimension; the elements' type is the innermost.
func appendArray(dst []byte, d types.Datum, t types.Type, o *types.TextOptions) []byte {
	be := binary.BigEndian
	elem, lower := vec.ListChild(t), uint32(1)
	if t.Kind != types.Array {
		lower = 0 // int2vector and oidvector count from 0
	}
	var dims []int
	inner, level := elem, []types.Datum{d}
	for {
		n := 0
		if len(level) > 0 && !level[0].IsNull() {
			n = len(level[0].List())
		}
		dims = append(dims, n)
		if inner.Kind != types.Array || n == 0 {
			break
		}
		var next []types.Datum
		for _, x := range level {
			oneLength(x, n)
			next = append(next, x.List()...)
		}
		level, inner = next, inner.Elem()
	}
	for inner.Kind == types.Array {
		inner = inner.Elem()
	}
	if dims[0] == 0 {
		dims = nil
	}
	var flat []types.Datum
	if dims != nil {
		for _, x := range level {
			oneLength(x, dims[len(dims)-1])
			flat = append(flat, x.List()...)
		}
	}
	nulls := uint32(0)
	for _, x := range flat {
		if x.IsNull() {
			nulls = 1
		}
	}
	dst = be.AppendUint32(be.AppendUint32(be.AppendUint32(dst, uint32(len(dims))), nulls), outType(inner).OID())
	for _, n := range dims {
		dst = be.AppendUint32(be.AppendUint32(dst, uint32(n)), lower)
	}
	for _, x := range flat {
		if x.IsNull() {
			dst = be.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = appendBinary(append(dst, 0, 0, 0, 0), x, inner, o)
		be.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}
