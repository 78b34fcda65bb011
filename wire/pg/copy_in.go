package pg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/room"
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
	parts []copyField
	text  []byte // of parts that are not as they stand in the line
	eof   bool   // CopyDone came
	end   bool   // end marker seen: the rest is ignored
	line  int
	field string // column being read, for messages
	start bool   // header or signature handled
	ends  newline
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
		if s.end {
			return s.row()
		}
		line, ok, err := s.nextLine()
		if !ok && err == nil && s.end {
			return s.row()
		}
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

// copyField is one value of a line. Its text is valid until the next line.
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
		text := room.String(fields[i].text) // appended, it is copied
		if err := checkText(text); err != nil {
			return err
		}
		d, err := types.Parse(text, col.Type, s.o)
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

// newline is how lines of COPY data end: as the first one does.
type newline uint8

const (
	anyNewline newline = iota
	lineFeed
	carriageReturn
	both
)

// nextLine cuts one record off buf (CopyReadLineText): a CSV record may span lines inside quotes,
// and in text format a backslash takes what follows it. It sets end at the end marker.
func (s *copySource) nextLine() ([]byte, bool, error) {
	csv := s.spec.Format == "csv"
	quoted, escaped := false, false
	cut := func(n, end int) ([]byte, bool, error) {
		line := s.buf[:n]
		s.buf = s.buf[end:]
		return line, true, nil
	}
	escape := s.spec.Escape
	if escape == s.spec.Quote {
		escape = 0 // a doubled quote ends a field and begins it again
	}
	for i := 0; ; i++ {
		ok, err := s.need(i + 1)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			if len(s.buf) == 0 {
				return nil, false, nil
			}
			return cut(len(s.buf), len(s.buf))
		}
		c := s.buf[i]
		if csv {
			if quoted && c == escape && escape != 0 {
				escaped = !escaped
			}
			if c == s.spec.Quote && !escaped {
				quoted = !quoted
			}
			if c != escape {
				escaped = false
			}
			if quoted && (c == '\n' && s.ends == lineFeed || c == '\r' && s.ends != lineFeed) {
				s.line++
			}
		}
		switch {
		case c == '\r' && !quoted:
			if s.ends == lineFeed {
				return nil, false, s.strayNewline("carriage return", "\\r")
			}
			if s.ends != carriageReturn {
				ok, err := s.need(i + 2)
				if err != nil {
					return nil, false, err
				}
				if ok && s.buf[i+1] == '\n' {
					s.ends = both
					return cut(i, i+2)
				}
				if s.ends == both {
					return nil, false, s.strayNewline("carriage return", "\\r")
				}
				s.ends = carriageReturn
			}
			return cut(i, i+1)
		case c == '\n' && !quoted:
			if s.ends != anyNewline && s.ends != lineFeed {
				return nil, false, s.strayNewline("newline", "\\n")
			}
			s.ends = lineFeed
			return cut(i, i+1)
		case c == '\\' && (!csv || i == 0):
			ok, err := s.need(i + 2)
			if err != nil {
				return nil, false, err
			}
			if ok && s.buf[i+1] == '.' {
				end, err := s.endMarker(i+2, csv)
				if err != nil {
					s.line++
					return nil, false, err
				}
				if end > 0 {
					s.end = true
					if i == 0 {
						s.buf = s.buf[end:]
						return nil, false, nil
					}
					return cut(i, end)
				}
			} else if !csv {
				i++
			}
		}
	}
}

// strayNewline refuses data whose lines end in several ways.
func (s *copySource) strayNewline(name, spelled string) error {
	s.line++
	if s.spec.Format == "csv" {
		return sqlerr.New(sqlerr.BadCopyFormat, "unquoted %s found in data", name).WithHint("Use quoted CSV field to represent %s.", name)
	}
	return sqlerr.New(sqlerr.BadCopyFormat, "literal %s found in data", name).WithHint("Use \"%s\" to represent %s.", spelled, name)
}

// endMarker checks that the line of \. ends, at i, as the lines before it did; it gives where it is
// over, 0 where it is no marker.
func (s *copySource) endMarker(i int, csv bool) (int, error) {
	next := func() byte {
		if ok, err := s.need(i + 1); !ok || err != nil {
			return 0
		}
		i++
		return s.buf[i-1]
	}
	var corrupt error // in CSV it is data
	if !csv {
		corrupt = sqlerr.New(sqlerr.BadCopyFormat, "end-of-copy marker corrupt")
	}
	other := sqlerr.New(sqlerr.BadCopyFormat, "end-of-copy marker does not match previous newline style")
	if s.ends == both {
		switch next() {
		case '\r':
		case '\n':
			if csv {
				return 0, nil
			}
			return 0, other
		default:
			return 0, corrupt
		}
	}
	c := next()
	switch {
	case c != '\r' && c != '\n':
		return 0, corrupt
	case (s.ends == lineFeed || s.ends == both) && c != '\n' || s.ends == carriageReturn && c != '\r':
		return 0, other
	}
	return i, nil
}

// split cuts a line into its fields.
func (s *copySource) split(line []byte) ([]copyField, error) {
	s.parts = s.parts[:0]
	// Decoding makes nothing longer, so that the fields' texts stay where they are.
	s.text = room.Grow(s.text[:0], len(line))
	var err error
	if s.spec.Format == "csv" {
		err = s.splitCSV(line)
	} else {
		s.splitText(line)
	}
	return s.parts, err
}

func (s *copySource) splitText(line []byte) {
	for {
		end := bytes.IndexByte(line, s.spec.Delimiter)
		raw, rest := line, []byte(nil)
		if end >= 0 {
			raw, rest = line[:end], line[end+1:]
		}
		text := raw
		if i := bytes.IndexByte(raw, '\\'); i >= 0 {
			raw, text, end = s.unescape(line, i)
			if end >= 0 {
				rest = line[end+1:]
			}
		}
		s.parts = append(s.parts, copyField{text: text, null: string(raw) == s.spec.Null})
		if end < 0 {
			return
		}
		line = rest
	}
}

// unescape decodes the first field of line, whose first backslash is at i. It gives the field as it stands
// there, decoded, and the place of the delimiter behind it; -1: there is none.
func (s *copySource) unescape(line []byte, i int) (raw, text []byte, end int) {
	from := len(s.text)
	s.text = append(s.text, line[:i]...)
	for i < len(line) && line[i] != s.spec.Delimiter {
		switch b := line[i]; {
		case b != '\\':
			s.text = append(s.text, b)
			i++
		case i+1 < len(line):
			var n int
			s.text, n = appendEscape(s.text, line[i+1:])
			i += 1 + n
		default: // with nothing behind it is nothing
			return line[:i], s.text[from:], -1
		}
	}
	if i == len(line) {
		return line, s.text[from:], -1
	}
	return line[:i], s.text[from:], i
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

func (s *copySource) splitCSV(line []byte) error {
	quoted, wasQuoted, from := false, false, 0
	finish := func() {
		name := ""
		if j := len(s.parts); j < len(s.spec.Columns) {
			name = s.spec.Columns[j].Name
		}
		text := s.text[from:]
		null := string(text) == s.spec.Null && (!wasQuoted || s.spec.ForceNull[name]) && !s.spec.ForceNotNull[name]
		s.parts = append(s.parts, copyField{text: text, null: null})
		from, wasQuoted = len(s.text), false
	}
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case quoted && b == s.spec.Escape && i+1 < len(line) && (line[i+1] == s.spec.Quote || line[i+1] == s.spec.Escape):
			i++
			s.text = append(s.text, line[i])
		case b == s.spec.Quote:
			quoted = !quoted
			wasQuoted = true
		case b == s.spec.Delimiter && !quoted:
			finish()
		default:
			s.text = append(s.text, b)
		}
	}
	if quoted {
		return sqlerr.New(sqlerr.BadCopyFormat, "unterminated CSV quoted field")
	}
	finish()
	return nil
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
