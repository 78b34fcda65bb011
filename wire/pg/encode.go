package pg

import (
	"encoding/binary"
	"strconv"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// encoder appends row i of a vector, which is not NULL, in one column's wire form.
type encoder func(dst []byte, v *vec.Vector, i int) []byte

// newEncoders chooses each column's encoder once per portal. formats nil: text.
func newEncoders(cols []engine.ResultColumn, formats []int16, o *types.TextOptions) []encoder {
	e := make([]encoder, len(cols))
	for i, c := range cols {
		if formats != nil && formats[i] == 1 {
			e[i] = binaryEncoder(c.Type, o)
		} else {
			e[i] = textEncoder(c.Type, o)
		}
	}
	return e
}

// rows sends all of res as text. Its description waits for the first batch, so that a query that
// fails at once answers with the error alone, as PostgreSQL's does when planning finds it.
func (c *conn) rows(res *engine.Result, cols []engine.ResultColumn) error {
	var enc []encoder
	defer c.w.sends(res)()
	for {
		b, err := res.Next(c.ctx)
		if err != nil {
			return err
		}
		if enc == nil {
			c.rowDescription(cols, nil)
			enc = newEncoders(cols, nil, c.sess.TextOptions())
		}
		if b == nil {
			return nil
		}
		if err := c.dataRows(res, b, 0, b.Len(), enc); err != nil {
			return err
		}
		if c.w.err != nil {
			return c.w.err
		}
	}
}

// dataRows sends the rows [from, to) of res's batch b, counted within its selection; fewer if
// the statement ends meanwhile, and then res's Next says why. An error is of a value without such a form; rows
// before it that wait to be sent go with it.
func (c *conn) dataRows(res *engine.Result, b *vec.Batch, from, to int, enc []encoder) (err error) {
	defer formless(&err)
	buf := c.w.buf
	for k := from; k < to; k++ {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		at := len(buf)
		buf = append(buf, 'D', 0, 0, 0, 0, byte(len(enc)>>8), byte(len(enc)))
		buf = appendRow(buf, b, i, enc)
		binary.BigEndian.PutUint32(buf[at+1:], uint32(len(buf)-at-1))
		if len(buf) >= flushAt {
			c.w.buf = buf
			c.w.flush()
			buf = c.w.buf
			if res.Ended() {
				break
			}
		}
	}
	c.w.buf = buf
	return nil
}

// formless catches what an encoder says of a value that has no such form.
func formless(err *error) {
	switch p := recover().(type) {
	case nil:
	case *sqlerr.Error:
		*err = p
	default:
		panic(p)
	}
}

// appendRow appends row i's columns, each with its length, -1 for NULL.
func appendRow(buf []byte, b *vec.Batch, i int, enc []encoder) []byte {
	for j, e := range enc {
		v := b.Cols[j]
		if v.Null(i) {
			buf = append(buf, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(buf)
		buf = e(append(buf, 0, 0, 0, 0), v, i)
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	}
	return buf
}

func appendString(dst []byte, v *vec.Vector, i int) []byte { return append(dst, v.Bytes(i)...) }

func int64At(v *vec.Vector, i int) int64     { return v.Values().I64[v.Row(i)] }
func float64At(v *vec.Vector, i int) float64 { return v.Values().F64[v.Row(i)] }

// textEncoder gives a type's text form (PostgreSQL's typoutput). The common types are written
// from the vectors; the others through a Datum.
func textEncoder(t types.Type, o *types.TextOptions) encoder {
	switch t.Kind {
	case types.Bool:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if v.Values().Bools[v.Row(i)] {
				return append(dst, 't')
			}
			return append(dst, 'f')
		}
	case types.Int2, types.Int4, types.Int8, types.Oid, types.Xid:
		return func(dst []byte, v *vec.Vector, i int) []byte { return strconv.AppendInt(dst, int64At(v, i), 10) }
	case types.Float4, types.Float8:
		bits := 64
		if t.Kind == types.Float4 {
			bits = 32
		}
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return types.AppendFloat(dst, float64At(v, i), bits, o.ExtraFloatDigits)
		}
	case types.Date:
		return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendDate(dst, int64At(v, i), o) }
	case types.Time:
		return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendTime(dst, int64At(v, i)) }
	case types.Timestamp:
		return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendTimestamp(dst, int64At(v, i), o) }
	case types.TimestampTZ:
		return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendTimestampTZ(dst, int64At(v, i), o) }
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.JSON, types.JSONB, types.JSONPath, types.Unknown:
		return appendString
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
	}
	return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendText(dst, v.Datum(i), t, o) }
}
