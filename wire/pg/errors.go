package pg

import (
	"strconv"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// sendError sends ErrorResponse. Severity is ERROR or FATAL.
func (c *conn) sendError(severity string, err error) { c.report('E', severity, err) }

// report writes an error or notice message with its fields.
func (c *conn) report(typ byte, severity string, err error) {
	e, ok := sqlerr.As(err)
	if !ok {
		e = sqlerr.New(sqlerr.InternalError, "%v", err)
	}
	c.w.begin(typ)
	field := func(k byte, v string) {
		if v != "" {
			c.w.byte(k)
			c.w.cstring(v)
		}
	}
	field('S', severity)
	field('V', severity)
	field('C', string(e.Code))
	// A client may drop a message without text.
	if field('M', e.Message); e.Message == "" {
		field('M', "unspecified error")
	}
	field('D', e.Detail)
	field('H', e.Hint)
	if e.Pos >= 0 && c.stmtText != "" && e.Pos <= len(c.stmtText) {
		// The wire counts characters from 1, over the whole text that the client sent.
		field('P', strconv.Itoa(utf8.RuneCountInString(c.stmtText[:e.Pos])+1))
	}
	c.w.byte(0)
	c.w.end()
}

// notices sends what a statement had to say beside its result.
func (c *conn) notices(list []*sqlerr.Error) {
	for _, n := range list {
		sev := "NOTICE"
		if n.Warning() {
			sev = "WARNING"
		}
		c.report('N', sev, n)
	}
}

// tell sends a notice at once, while a statement is at work.
func (c *conn) tell(n *sqlerr.Error) {
	c.notices([]*sqlerr.Error{n})
	c.w.flush()
}

// shifted moves an error's position, which counts from its statement's own text, into the text
// that the client sent, where the statement begins at offset.
func shifted(err error, offset int) error {
	e, ok := sqlerr.As(err)
	if !ok || e.Pos < 0 || offset == 0 {
		return err
	}
	f := *e
	f.Pos += offset
	return &f
}
