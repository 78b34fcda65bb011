package pg

import (
	"encoding/binary"
	"strconv"

	"github.com/lhsql/lhsql/engine"
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
		c.dataRows(b, 0, b.Len(), enc)
		if c.w.err != nil {
			return c.w.err
		}
	}
}

// dataRows sends the rows [from, to) of b, counted within its selection.
func (c *conn) dataRows(b *vec.Batch, from, to int, enc []encoder) {
	for k := from; k < to; k++ {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		c.w.begin('D')
		c.w.int16(len(enc))
		c.w.buf = appendRow(c.w.buf, b, i, enc)
		c.w.end()
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

// textEncoder gives a type's text form (PostgreSQL's typoutput).
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
		return func(dst []byte, v *vec.Vector, i int) []byte {
			return strconv.AppendInt(dst, v.Values().I64[v.Row(i)], 10)
		}
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Char, types.JSON, types.JSONB, types.Unknown:
		return appendString
	case types.Numeric:
		return func(dst []byte, v *vec.Vector, i int) []byte {
			if f := v.Values(); f.Form == types.FormI64 {
				return types.AppendDecimal64(dst, f.I64[v.Row(i)], int(t.Scale))
			}
			return types.AppendText(dst, v.Datum(i), t, o)
		}
	}
	return func(dst []byte, v *vec.Vector, i int) []byte { return types.AppendText(dst, v.Datum(i), t, o) }
}
