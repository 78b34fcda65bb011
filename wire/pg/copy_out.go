package pg

import (
	"encoding/binary"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/vec"
)

// copySignature opens binary COPY data: signature, flags, header extension length.
const copySignature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copyStart sends CopyInResponse ('G') or CopyOutResponse ('H').
func (c *conn) copyStart(typ byte, spec *engine.CopySpec) {
	format := 0
	if spec.Format == "binary" {
		format = 1
	}
	c.w.begin(typ)
	c.w.byte(byte(format))
	c.w.int16(len(spec.Columns))
	for range spec.Columns {
		c.w.int16(format)
	}
	c.w.end()
}

// copyOut streams a result as COPY data, one row a message.
func (c *conn) copyOut(res *engine.Result, spec *engine.CopySpec) error {
	c.copyStart('H', spec)
	formats := make([]int16, len(spec.Columns))
	// PostgreSQL sends the signature in one message with what comes first behind it, a row or the
	// trailer, and several clients take the first message's rest for a row.
	head := ""
	if spec.Format == "binary" {
		for i := range formats {
			formats[i] = 1
		}
		head = copySignature
	}
	o := *c.sess.TextOptions()
	enc := newEncoders(spec.Columns, formats, &o)
	cw := copyWriter{spec: spec}
	var row []byte
	if spec.Header && spec.Format != "binary" {
		for i, col := range spec.Columns {
			cw.field(i, []byte(col.Name), false)
		}
		c.copyData(cw.line())
	}
	defer c.w.sends(res)()
	for {
		b, err := res.Next(c.ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for k, n := 0, b.Len(); k < n && !res.Ended(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			if spec.Format == "binary" {
				if row, err = binaryRow(row[:0], b, i, enc); err != nil {
					return err
				}
			}
			c.w.begin('d')
			if spec.Format == "binary" {
				c.w.bytes([]byte(head))
				head = ""
				c.w.int16(len(enc))
				c.w.bytes(row)
			} else {
				c.w.bytes(cw.row(b, i, enc))
			}
			c.w.end()
		}
		if c.w.err != nil {
			return c.w.err
		}
	}
	if spec.Format == "binary" {
		c.copyData(binary.BigEndian.AppendUint16([]byte(head), 0xffff))
	}
	c.w.begin('c')
	c.w.end()
	return c.complete(res, res.RowCount())
}

func binaryRow(dst []byte, b *vec.Batch, i int, enc []encoder) (row []byte, err error) {
	defer formless(&err)
	return appendRow(dst, b, i, enc), nil
}

func (c *conn) copyData(b []byte) {
	c.w.begin('d')
	c.w.bytes(b)
	c.w.end()
}

// copyWriter builds text and CSV lines.
type copyWriter struct {
	spec  *engine.CopySpec
	out   []byte
	value []byte
}

func (w *copyWriter) row(b *vec.Batch, i int, enc []encoder) []byte {
	for j, e := range enc {
		v := b.Cols[j]
		if v.Null(i) {
			w.field(j, nil, true)
			continue
		}
		w.value = e(w.value[:0], v, i)
		w.field(j, w.value, false)
	}
	return w.line()
}

func (w *copyWriter) line() []byte {
	l := append(w.out, '\n')
	w.out = l[:0]
	return l
}

func (w *copyWriter) field(j int, val []byte, null bool) {
	if j > 0 {
		w.out = append(w.out, w.spec.Delimiter)
	}
	switch {
	case null:
		w.out = append(w.out, w.spec.Null...)
	case w.spec.Format == "csv":
		w.csv(j, val)
	default:
		w.text(val)
	}
}

// text escapes as COPY's text format does.
func (w *copyWriter) text(val []byte) {
	for _, b := range val {
		switch b {
		case '\\':
			w.out = append(w.out, '\\', '\\')
		case '\b':
			w.out = append(w.out, '\\', 'b')
		case '\f':
			w.out = append(w.out, '\\', 'f')
		case '\n':
			w.out = append(w.out, '\\', 'n')
		case '\r':
			w.out = append(w.out, '\\', 'r')
		case '\t':
			w.out = append(w.out, '\\', 't')
		case '\v':
			w.out = append(w.out, '\\', 'v')
		case w.spec.Delimiter:
			w.out = append(w.out, '\\', b)
		default:
			w.out = append(w.out, b)
		}
	}
}

// csv quotes where the value could be misread: special characters, the NULL string, a lone \.
func (w *copyWriter) csv(j int, val []byte) {
	s := w.spec
	quote := string(val) == s.Null || string(val) == `\.` || s.ForceQuote["*"] || s.ForceQuote[s.Columns[j].Name]
	for _, b := range val {
		if b == s.Delimiter || b == s.Quote || b == '\n' || b == '\r' {
			quote = true
			break
		}
	}
	if !quote {
		w.out = append(w.out, val...)
		return
	}
	w.out = append(w.out, s.Quote)
	for _, b := range val {
		if b == s.Quote || b == s.Escape {
			w.out = append(w.out, s.Escape)
		}
		w.out = append(w.out, b)
	}
	w.out = append(w.out, s.Quote)
}
