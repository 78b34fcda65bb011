package pg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// copyIn runs COPY … FROM STDIN: the statement pulls batches, which pull messages.
func (c *conn) copyIn(st *engine.Stmt, args []types.Datum) error {
	spec := st.Copy()
	c.copyStart('G', spec)
	c.w.flush()
	src := newCopySource(c, spec)
	res, err := st.ExecuteCopy(c.ctx, args, src)
	if err == nil {
		err = drainRows(c.ctx, res)
	}
	if err == nil {
		return c.complete(res, res.RowCount())
	}
	if res != nil {
		res.Close()
	}
	return src.locate(err)
}

// copySource turns COPY data into batches. It reads the connection's messages, so it must be
// used only while the connection waits for the statement.
type copySource struct {
	c     *conn
	spec  *engine.CopySpec
	cols  []*vec.Appender
	batch vec.Batch
	buf   []byte // data not parsed yet
	eof   bool   // CopyDone came
	end   bool   // end marker seen: the rest is ignored
	line  int
	field string // column being read, for messages
	start bool   // header or signature handled
	o     *types.TextOptions
}

func newCopySource(c *conn, spec *engine.CopySpec) *copySource {
	s := &copySource{c: c, spec: spec, o: c.sess.TextOptions()}
	for _, col := range spec.Columns {
		s.cols = append(s.cols, vec.NewAppender(col.Type))
	}
	return s
}

// locate adds where in the data an error happened.
func (s *copySource) locate(err error) error {
	e, ok := sqlerr.As(err)
	if !ok || s.line == 0 || e.Detail != "" {
		return err
	}
	f := *e
	f.Detail = fmt.Sprintf("COPY data, line %d", s.line)
	if s.field != "" {
		f.Detail += ", column " + s.field
	}
	return &f
}

func (s *copySource) Close() error { return nil }

// Next parses up to one batch of rows.
func (s *copySource) Next(ctx context.Context) (*vec.Batch, error) {
	for _, a := range s.cols {
		a.Reset()
	}
	rows := 0
	for rows < vec.BatchRows {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		ok, err := s.row()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		rows++
	}
	if rows == 0 {
		return nil, nil
	}
	s.batch = vec.Batch{Rows: rows, Cols: s.batch.Cols[:0]}
	for _, a := range s.cols {
		s.batch.Cols = append(s.batch.Cols, a.Vector())
	}
	return &s.batch, nil
}

// more reads one message into buf; false at the end of the data.
func (s *copySource) more() (bool, error) {
	if s.eof {
		return false, nil
	}
	for {
		msg, err := s.c.be.Receive()
		if err != nil {
			return false, sqlerr.New(sqlerr.ConnectionException, "connection lost during COPY")
		}
		if r, ok := s.c.frames.passed(); ok {
			return false, r.err
		}
		switch m := msg.(type) {
		case *pgproto3.CopyData:
			s.buf = append(s.buf, m.Data...)
			return true, nil
		case *pgproto3.CopyDone:
			s.eof = true
			return false, nil
		case *pgproto3.CopyFail:
			s.eof = true
			return false, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", m.Message)
		case *pgproto3.Flush, *pgproto3.Sync:
			// Allowed, and ignored, by the protocol.
		default:
			return false, sqlerr.New(sqlerr.ProtocolViolation, "unexpected message type during COPY from stdin")
		}
	}
}

func (s *copySource) row() (bool, error) {
	if s.end {
		for { // after the end marker the client may still send
			if ok, err := s.more(); !ok || err != nil {
				return false, err
			}
			s.buf = s.buf[:0]
		}
	}
	if s.spec.Format == "binary" {
		return s.binaryRow()
	}
	for {
		line, ok, err := s.nextLine()
		if !ok || err != nil {
			return false, err
		}
		s.line++
		if !s.start {
			s.start = true
			if s.spec.Header {
				if err := s.checkHeader(line); err != nil {
					return false, err
				}
				continue
			}
		}
		if string(line) == `\.` {
			s.end = true
			return s.row()
		}
		fields, err := s.split(line)
		if err != nil {
			return false, err
		}
		return true, s.store(fields)
	}
}

func (s *copySource) checkHeader(line []byte) error {
	if !s.spec.MatchNames {
		return nil
	}
	fields, err := s.split(line)
	if err != nil {
		return err
	}
	if len(fields) != len(s.spec.Columns) {
		return sqlerr.New(sqlerr.BadCopyFormat, "wrong number of fields in header line: got %d, expected %d", len(fields), len(s.spec.Columns))
	}
	for i, f := range fields {
		if f.null || string(f.text) != s.spec.Columns[i].Name {
			return sqlerr.New(sqlerr.BadCopyFormat, "column name mismatch in header line field %d: got %q, expected %q", i+1, f.text, s.spec.Columns[i].Name)
		}
	}
	return nil
}

// copyField is one value of a line.
type copyField struct {
	text []byte
	null bool
}

func (s *copySource) store(fields []copyField) error {
	for i, col := range s.spec.Columns {
		s.field = col.Name
		if i >= len(fields) {
			return sqlerr.New(sqlerr.BadCopyFormat, "missing data for column %q", col.Name)
		}
		if fields[i].null {
			s.cols[i].AppendNull()
			continue
		}
		if err := checkText(string(fields[i].text)); err != nil {
			return err
		}
		d, err := types.Parse(string(fields[i].text), col.Type, s.o)
		if err != nil {
			return err
		}
		s.cols[i].AppendDatum(d)
	}
	s.field = ""
	if len(fields) > len(s.spec.Columns) {
		return sqlerr.New(sqlerr.BadCopyFormat, "extra data after last expected column")
	}
	return nil
}

// nextLine cuts one record off buf; a CSV record may span lines inside quotes.
func (s *copySource) nextLine() ([]byte, bool, error) {
	from, quoted := 0, false
	for {
		for i := from; i < len(s.buf); i++ {
			switch b := s.buf[i]; {
			case s.spec.Format == "csv" && quoted && b == s.spec.Escape && s.spec.Escape != s.spec.Quote:
				i++
			case s.spec.Format == "csv" && b == s.spec.Quote:
				quoted = !quoted
			case s.spec.Format == "text" && b == '\\':
				i++ // an escaped newline is data
			case b == '\n' && !quoted:
				line := s.buf[:i]
				s.buf = s.buf[i+1:]
				return bytes.TrimSuffix(line, []byte{'\r'}), true, nil
			}
		}
		// The scan starts over when more data comes: an escape may have ended the buffer.
		n := len(s.buf)
		ok, err := s.more()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			if quoted {
				return nil, false, sqlerr.New(sqlerr.BadCopyFormat, "unterminated CSV quoted field")
			}
			if n == 0 {
				return nil, false, nil
			}
			line := s.buf
			s.buf = nil
			return bytes.TrimSuffix(line, []byte{'\r'}), true, nil
		}
		from, quoted = 0, false
	}
}

func (s *copySource) split(line []byte) ([]copyField, error) {
	if s.spec.Format == "csv" {
		return s.splitCSV(line)
	}
	return s.splitText(line)
}

func (s *copySource) splitText(line []byte) ([]copyField, error) {
	var out []copyField
	raw := 0
	var val []byte
	finish := func(end int) {
		null := string(line[raw:end]) == s.spec.Null
		out = append(out, copyField{text: val, null: null})
		val = nil
	}
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case b == s.spec.Delimiter:
			finish(i)
			raw = i + 1
		case b == '\\' && i+1 < len(line):
			i++
			var n int
			val, n = appendEscape(val, line[i:])
			i += n - 1
		default:
			val = append(val, b)
		}
	}
	finish(len(line))
	return out, nil
}

// appendEscape decodes what follows a backslash and says how many bytes it took.
func appendEscape(val, b []byte) ([]byte, int) {
	switch c := b[0]; {
	case c == 'b':
		return append(val, '\b'), 1
	case c == 'f':
		return append(val, '\f'), 1
	case c == 'n':
		return append(val, '\n'), 1
	case c == 'r':
		return append(val, '\r'), 1
	case c == 't':
		return append(val, '\t'), 1
	case c == 'v':
		return append(val, '\v'), 1
	case c >= '0' && c <= '7':
		x, n := 0, 0
		for n < 3 && n < len(b) && b[n] >= '0' && b[n] <= '7' {
			x = x*8 + int(b[n]-'0')
			n++
		}
		return append(val, byte(x)), n
	case c == 'x':
		x, n := 0, 1
		for n < 3 && n < len(b) {
			d := bytes.IndexByte([]byte("0123456789abcdef"), b[n]|0x20)
			if d < 0 {
				break
			}
			x = x*16 + d
			n++
		}
		if n == 1 {
			return append(val, 'x'), 1
		}
		return append(val, byte(x)), n
	default:
		return append(val, c), 1
	}
}

func (s *copySource) splitCSV(line []byte) ([]copyField, error) {
	var out []copyField
	var val []byte
	quoted, wasQuoted := false, false
	finish := func() {
		j := len(out)
		name := ""
		if j < len(s.spec.Columns) {
			name = s.spec.Columns[j].Name
		}
		null := string(val) == s.spec.Null && (!wasQuoted || s.spec.ForceNull[name]) && !s.spec.ForceNotNull[name]
		out = append(out, copyField{text: val, null: null})
		val, wasQuoted = nil, false
	}
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case quoted && b == s.spec.Escape && i+1 < len(line) && (line[i+1] == s.spec.Quote || line[i+1] == s.spec.Escape):
			i++
			val = append(val, line[i])
		case b == s.spec.Quote:
			quoted = !quoted
			wasQuoted = true
		case b == s.spec.Delimiter && !quoted:
			finish()
		default:
			val = append(val, b)
		}
	}
	if quoted {
		return nil, sqlerr.New(sqlerr.BadCopyFormat, "unterminated CSV quoted field")
	}
	finish()
	return out, nil
}

// need makes n bytes available in buf.
func (s *copySource) need(n int) (bool, error) {
	for len(s.buf) < n {
		ok, err := s.more()
		if err != nil {
			return false, err
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

func (s *copySource) binaryRow() (bool, error) {
	short := sqlerr.New(sqlerr.BadCopyFormat, "unexpected EOF in COPY data")
	take := func(n int) ([]byte, error) {
		ok, err := s.need(n)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, short
		}
		b := s.buf[:n]
		s.buf = s.buf[n:]
		return b, nil
	}
	if !s.start {
		s.start = true
		head, err := take(len(copySignature))
		if err != nil {
			return false, err
		}
		if string(head[:11]) != copySignature[:11] {
			return false, sqlerr.New(sqlerr.BadCopyFormat, "COPY file signature not recognized")
		}
		ext := binary.BigEndian.Uint32(head[15:])
		if ext > 1<<20 {
			return false, sqlerr.New(sqlerr.BadCopyFormat, "invalid COPY file header (wrong length)")
		}
		if _, err := take(int(ext)); err != nil {
			return false, err
		}
	}
	if ok, err := s.need(2); !ok || err != nil {
		return false, err // some clients leave the trailer out
	}
	n := int16(binary.BigEndian.Uint16(s.buf))
	s.buf = s.buf[2:]
	if n == -1 {
		s.end = true
		return s.row()
	}
	s.line++
	if int(n) != len(s.spec.Columns) {
		return false, sqlerr.New(sqlerr.BadCopyFormat, "row field count is %d, expected %d", n, len(s.spec.Columns))
	}
	for i, col := range s.spec.Columns {
		s.field = col.Name
		head, err := take(4)
		if err != nil {
			return false, err
		}
		size := int32(binary.BigEndian.Uint32(head))
		if size == -1 {
			s.cols[i].AppendNull()
			continue
		}
		if size < 0 || int(size) > s.c.srv.cfg.MaxMessage {
			return false, sqlerr.New(sqlerr.BadCopyFormat, "invalid field size")
		}
		raw, err := take(int(size))
		if err != nil {
			return false, err
		}
		d, err := decodeBinary(raw, col.Type, s.o, 0)
		if err != nil {
			return false, err
		}
		s.cols[i].AppendDatum(d)
	}
	s.field = ""
	return true, nil
}
