package mysql

import (
	"bytes"
	"math"
	"strconv"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// encoder appends row i of a vector, which is not NULL, in one column's wire form.
type encoder func(dst []byte, v *vec.Vector, i int) []byte

// rowFormat is how a result's rows leave: text (COM_QUERY) or binary (COM_STMT_EXECUTE).
type rowFormat struct {
	binary bool
	enc    []encoder
}

// newRowFormat chooses each column's encoder once per result.
func newRowFormat(cols []engine.ResultColumn, binary bool, o *types.TextOptions) *rowFormat {
	f := &rowFormat{binary: binary, enc: make([]encoder, len(cols))}
	for i, c := range cols {
		if binary {
			f.enc[i] = binaryEncoder(c.Type, o)
		} else {
			f.enc[i] = textField(c.Type, o)
		}
	}
	return f
}

// append appends row i of b.
func (f *rowFormat) append(buf []byte, b *vec.Batch, i int) []byte {
	if f.binary {
		return f.appendBinary(buf, b, i)
	}
	for j, e := range f.enc {
		v := b.Cols[j]
		if v.Null(i) {
			buf = append(buf, 0xfb)
			continue
		}
		buf = e(buf, v, i)
	}
	return buf
}

// sendRows sends the rows [from, to) of res's batch b, counted within its selection, each as a
// packet; fewer if the statement ends meanwhile, and then res's Next says why.
func (c *conn) sendRows(res *engine.Result, b *vec.Batch, from, to int, f *rowFormat) {
	for k := from; k < to && !res.Ended(); k++ {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		c.w.begin()
		c.w.buf = f.append(c.w.buf, b, i)
		c.w.end()
		if c.w.err != nil {
			return
		}
	}
}

func int64At(v *vec.Vector, i int) int64     { return v.Values().I64[v.Row(i)] }
func float64At(v *vec.Vector, i int) float64 { return v.Values().F64[v.Row(i)] }

// lengthened puts a length before what e appends.
func lengthened(e encoder) encoder {
	return func(dst []byte, v *vec.Vector, i int) []byte {
		at := len(dst)
		dst = e(append(dst, 0), v, i)
		n := len(dst) - at - 1
		if n < 251 {
			dst[at] = byte(n)
			return dst
		}
		// A longer length takes more bytes than were kept for it: move the value.
		head := appendLenInt(nil, uint64(n))
		dst = append(dst, head[1:]...)
		copy(dst[at+len(head):], dst[at+1:at+1+n])
		copy(dst[at:], head)
		return dst
	}
}

func appendText(dst []byte, v *vec.Vector, i int) []byte {
	b := v.Bytes(i)
	return append(appendLenInt(dst, uint64(len(b))), b...)
}

// textField is a column's encoder in text rows: a length and MySQL's text form.
func textField(t types.Type, o *types.TextOptions) encoder {
	if e := declaredText(t); e != nil {
		return lengthened(e)
	}
	switch t.Kind {
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.JSON, types.JSONB, types.JSONPath, types.Unknown, types.Bytea:
		return appendText
	}
	return lengthened(textEncoder(t, o))
}

// textEncoder gives a type's text form as MySQL prints it. The common types are written from the
// vectors; the others through a Datum.
func textEncoder(t types.Type, o *types.TextOptions) encoder {
	switch t.Kind {
	case types.Bool:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if v.Values().Bools[v.Row(i)] {
				return append(dst, '1')
			}
			return append(dst, '0')
		}
	case types.Int2, types.Int4, types.Int8, types.Oid, types.Xid:
		return func(dst []byte, v *vec.Vector, i int) []byte { return strconv.AppendInt(dst, int64At(v, i), 10) }
	case types.Float4, types.Float8:
		bits := 64
		if t.Kind == types.Float4 {
			bits = 32
		}
		return func(dst []byte, v *vec.Vector, i int) []byte { return appendFloat(dst, float64At(v, i), bits) }
	case types.Date:
		return func(dst []byte, v *vec.Vector, i int) []byte { return appendDate(dst, int64At(v, i)) }
	case types.Time:
		digits := digitsOf(t)
		return func(dst []byte, v *vec.Vector, i int) []byte { return appendClock(dst, int64At(v, i), digits) }
	case types.Interval:
		digits := digitsOf(t)
		return func(dst []byte, v *vec.Vector, i int) []byte {
			us := intervalMicros(types.IntervalOf(v.Datum(i).W128()))
			if us < 0 {
				dst, us = append(dst, '-'), -us
			}
			return appendClock(dst, us, digits)
		}
	case types.Timestamp, types.TimestampNS, types.TimestampTZ, types.TimestampTZNS:
		digits := digitsOf(t)
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return appendInstant(dst, localMicros(int64At(v, i), t.Kind, o), digits)
		}
	case types.Numeric:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			switch f := v.Values(); f.Form {
			case types.FormI64:
				return types.AppendDecimal64(dst, f.I64[v.Row(i)], int(t.Scale))
			case types.FormW128:
				return types.AppendDecimal128(dst, f.W128[v.Row(i)], int(t.Scale))
			}
			return types.AppendText(dst, v.Datum(i), t, o)
		}
	case types.Array, types.Struct, types.Map, types.Int2Vector, types.OidVector:
		return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendJSON(dst, v.Datum(i), t, o, true) }
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.JSON, types.JSONB, types.JSONPath, types.Unknown, types.Bytea:
		return func(dst []byte, v *vec.Vector, i int) []byte { return append(dst, v.Bytes(i)...) }
	}
	return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendText(dst, v.Datum(i), t, o) }
}

// declaredText is the text form of columns whose declared type has one of its own: BIT(n) as its
// bytes, YEAR with four digits, times with as many digits after the second as were declared; nil for
// all others.
func declaredText(t types.Type) encoder {
	if m := t.MySQL; m != nil && m.Name == "bit" {
		n := (m.Width + 7) / 8
		return func(dst []byte, v *vec.Vector, i int) []byte {
			u := unsignedAt(v, i, t)
			for k := n - 1; k >= 0; k-- {
				dst = append(dst, byte(u>>(8*k)))
			}
			return dst
		}
	} else if m != nil && m.Name == "year" {
		return func(dst []byte, v *vec.Vector, i int) []byte {
			y := int64At(v, i)
			for lim := int64(1000); lim > max(y, 1); lim /= 10 {
				dst = append(dst, '0')
			}
			return strconv.AppendInt(dst, y, 10)
		}
	}
	return nil
}

// unsignedAt is a value that may take all 64 bits.
func unsignedAt(v *vec.Vector, i int, t types.Type) uint64 {
	if f := v.Values(); t.Kind != types.Numeric {
		return uint64(f.I64[v.Row(i)])
	}
	w, _ := types.DecimalOf(v.Datum(i), v.Type).WithScale(0).Int128()
	return w.Lo
}

// localMicros is a timestamp of any kind in µs as the session's clock shows it.
func localMicros(x int64, k types.Kind, o *types.TextOptions) int64 {
	switch k {
	case types.TimestampNS, types.TimestampTZNS:
		x = types.NanosToMicros(x)
	}
	if k == types.TimestampTZ || k == types.TimestampTZNS {
		return types.ToLocal(o.Zone, x)
	}
	return x
}

// appendDate appends YYYY-MM-DD. Years outside MySQL's 0 to 9999 keep their digits: another date
// would be a lie.
func appendDate(dst []byte, days int64) []byte {
	y, m, d := types.CivilFromDays(days)
	if y < 0 {
		dst, y = append(dst, '-'), -y
	}
	for lim := int64(1000); lim > max(y, 1); lim /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, y, 10)
	return append(dst, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
}

// digitsOf is how many digits after the second a column shows; -1: six if they are not zero.
func digitsOf(t types.Type) int {
	if p, ok := t.SecondDigits(); ok {
		return p
	}
	return -1
}

// appendInstant appends YYYY-MM-DD HH:MM:SS, and a fraction as digitsOf says.
func appendInstant(dst []byte, micros int64, digits int) []byte {
	days, tod := types.SplitTimestamp(micros)
	return appendClock(append(appendDate(dst, days), ' '), tod, digits)
}

// appendClock appends HH:MM:SS, and a fraction as digitsOf says.
func appendClock(dst []byte, tod int64, digits int) []byte {
	two := func(n int64) { dst = append(dst, byte('0'+n/10), byte('0'+n%10)) }
	sec := tod / 1_000_000
	if h := sec / 3600; h < 100 {
		two(h)
	} else {
		dst = strconv.AppendInt(dst, h, 10)
	}
	dst = append(dst, ':')
	two(sec / 60 % 60)
	dst = append(dst, ':')
	two(sec % 60)
	us := tod % 1_000_000
	if digits < 0 && us != 0 {
		digits = 6
	}
	if digits > 0 {
		dst = append(dst, '.')
		for p := int64(100_000); digits > 0; p /= 10 {
			dst = append(dst, byte('0'+us/p%10))
			digits--
		}
	}
	return dst
}

// appendFloat appends the shortest digits that mean f, in MySQL's form: its exponent has no plus
// sign and no leading zeros, and it begins at 1e15.
func appendFloat(dst []byte, f float64, bits int) []byte {
	at := len(dst)
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return types.AppendFloat(dst, f, bits, 1)
	case f == 0 || a >= 1e-15 && a < 1e15:
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	e := at + bytes.IndexByte(dst[at:], 'e') + 1
	out := dst[:e]
	rest := dst[e:]
	if rest[0] == '-' {
		out = append(out, '-')
	}
	rest = bytes.TrimLeft(rest[1:], "0")
	return append(out, rest...)
}
