package pg

import (
	"context"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// prepared is a named (or the unnamed) statement of the extended protocol.
type prepared struct {
	text string
	stmt *engine.Stmt
	held int64 // of the session's memory, for the unnamed statement
}

// portal is a bound statement, perhaps with rows in flight.
type portal struct {
	p       *prepared
	args    []types.Datum
	formats []int16 // per column, expanded
	res     *engine.Result
	enc     []encoder
	batch   *vec.Batch // rows taken from res and not sent yet
	row     int        // next row of batch
	sent    int64      // rows that earlier Executes sent
	ended   bool       // all rows sent
	held    int64      // of the session's memory, for args
}

func (c *conn) parse(m *pgproto3.Parse) error {
	c.stmtText = m.Query
	if m.Name == "" {
		if c.unnamed != nil {
			c.sess.Drop(c.unnamed.held)
		}
		c.unnamed = nil
	} else if st, _ := c.sess.Prepared(m.Name); st != nil {
		return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", m.Name)
	}
	list, err := c.sess.Parse(m.Query)
	if err != nil {
		return err
	}
	if len(list) > 1 {
		return sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	var one engine.Parsed
	if len(list) == 1 {
		one = list[0]
	} else {
		one = engine.EmptyStatement()
	}
	given := make([]types.Type, len(m.ParameterOIDs))
	for i, oid := range m.ParameterOIDs {
		t, ok := types.FromOID(oid)
		if !ok && oid != 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
		}
		if oid == 0 {
			t = types.T(types.Unknown)
		}
		given[i] = t
	}
	st, err := c.sess.Prepare(c.ctx, one, given)
	if err != nil {
		return shifted(err, one.Offset)
	}
	if m.Name != "" {
		if err := c.sess.KeepPrepared(m.Name, m.Query, st); err != nil {
			return err
		}
	} else {
		held := engine.StatementCost(m.Query)
		if err := c.sess.Hold(held); err != nil {
			return err
		}
		c.unnamed = &prepared{text: m.Query, stmt: st, held: held}
	}
	c.w.begin('1')
	c.w.end()
	return nil
}

// statement finds a prepared statement: the unnamed one is the connection's, named ones are the
// session's, which SQL's PREPARE, EXECUTE and DEALLOCATE see too.
func (c *conn) statement(name string) (*prepared, error) {
	if name == "" {
		if c.unnamed == nil {
			return nil, sqlerr.New(sqlerr.InvalidStatementName, "unnamed prepared statement does not exist")
		}
		return c.unnamed, nil
	}
	st, text := c.sess.Prepared(name)
	if st == nil {
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement %q does not exist", name)
	}
	return &prepared{text: text, stmt: st}, nil
}

func (c *conn) bind(m *pgproto3.Bind) error {
	p, err := c.statement(m.PreparedStatement)
	if err != nil {
		return err
	}
	c.stmtText = p.text
	if m.DestinationPortal != "" && c.portals[m.DestinationPortal] != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "portal %q already exists", m.DestinationPortal)
	}
	args, err := c.decodeParams(p.stmt.Params(), m)
	if err != nil {
		return err
	}
	formats, err := expandFormats(m.ResultFormatCodes, len(p.stmt.Columns()))
	if err != nil {
		return err
	}
	c.closePortal(m.DestinationPortal)
	held := int64(0)
	for _, v := range m.Parameters {
		held += int64(len(v))
	}
	if err := c.sess.Hold(held); err != nil {
		return err
	}
	c.portals[m.DestinationPortal] = &portal{p: p, args: args, formats: formats, held: held}
	c.w.begin('2')
	c.w.end()
	return nil
}

// expandFormats applies the rule that no code means text and one code means all.
func expandFormats(codes []int16, n int) ([]int16, error) {
	for _, f := range codes {
		if f != 0 && f != 1 {
			return nil, sqlerr.New(sqlerr.ProtocolViolation, "unsupported format code: %d", f)
		}
	}
	out := make([]int16, n)
	switch {
	case len(codes) == 1:
		for i := range out {
			out[i] = codes[0]
		}
	case len(codes) > 1 && n > 0:
		if len(codes) != n {
			return nil, sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(codes), n)
		}
		copy(out, codes)
	}
	return out, nil
}

func (c *conn) describe(m *pgproto3.Describe) error {
	if m.ObjectType == 'P' {
		p := c.portals[m.Name]
		if p == nil {
			return c.describeCursor(m.Name)
		}
		c.describeColumns(p.p.stmt.Columns(), p.formats)
		return nil
	}
	p, err := c.statement(m.Name)
	if err != nil {
		return err
	}
	c.w.begin('t')
	params := p.stmt.Params()
	c.w.int16(len(params))
	for _, t := range params {
		c.w.int32(int32(t.OID()))
	}
	c.w.end()
	c.describeColumns(p.stmt.Columns(), nil)
	return nil
}

func (c *conn) describeColumns(cols []engine.ResultColumn, formats []int16) {
	if cols == nil {
		c.w.begin('n')
		c.w.end()
		return
	}
	c.rowDescription(cols, formats)
}

// rowDescription sends the columns; formats nil: text.
func (c *conn) rowDescription(cols []engine.ResultColumn, formats []int16) {
	c.w.begin('T')
	c.w.int16(len(cols))
	for i, col := range cols {
		c.w.cstring(col.Name)
		c.w.int32(int32(col.TableOID))
		c.w.int16(int(col.Attnum))
		c.w.int32(int32(outType(col.Type).OID()))
		c.w.int16(int(outType(col.Type).TypLen()))
		c.w.int32(outType(col.Type).Typmod())
		if formats != nil {
			c.w.int16(int(formats[i]))
		} else {
			c.w.int16(0)
		}
	}
	c.w.end()
}

// outType is the type that a column shows outside: an untyped literal leaves as text.
func outType(t types.Type) types.Type {
	if t.Kind == types.Unknown || t.Kind == types.Invalid {
		return types.T(types.Text)
	}
	return t
}

func (c *conn) execute(m *pgproto3.Execute) error {
	p := c.portals[m.Portal]
	if p == nil {
		return sqlerr.New(sqlerr.InvalidCursorName, "portal %q does not exist", m.Portal)
	}
	c.stmtText = p.p.text
	st := p.p.stmt
	if st.Empty() {
		c.w.begin('I')
		c.w.end()
		return nil
	}
	if p.res == nil {
		if err := c.pipeline(st); err != nil {
			return err
		}
		if cp := st.Copy(); cp != nil && cp.In {
			return c.copyIn(st, p.args)
		}
		res, err := st.Execute(c.ctx, p.args)
		if err != nil {
			return shifted(err, st.Offset())
		}
		p.res = res
		if cp := st.Copy(); cp != nil {
			return c.copyOut(res, cp)
		}
		p.enc = newEncoders(res.Columns(), p.formats, c.sess.TextOptions())
	}
	if p.res.Columns() == nil {
		// A statement without rows ends at its first Execute, whatever the row limit.
		if p.ended {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "portal %q cannot be run", m.Portal)
		}
		p.ended = true
		if err := drainRows(c.ctx, p.res); err != nil {
			return err
		}
		return c.complete(p.res, p.res.RowCount())
	}
	if p.ended {
		c.w.begin('C')
		c.w.cstring(p.res.TagFor(0))
		c.w.end()
		return nil
	}
	return c.sendPortal(p, int64(m.MaxRows))
}

// pipeline makes st part of its pipeline's transaction: all that comes up to a Sync is done or
// nothing. What stands alone before its Sync is a transaction by itself, as is what must be one.
//
// Whether a Sync comes next is waited for, so that it is not a matter of how the client's bytes
// arrive: a client that wants an answer says Sync, or Flush. But one may wait for COPY to begin.
func (c *conn) pipeline(st *engine.Stmt) error {
	c.last = false
	if st.Copy() == nil {
		if !c.r.Pending() {
			c.w.flush()
			done, ok := c.Wait(false, false, c.sess.IdleTimeout())
			if !ok {
				return errShutdown
			}
			defer done()
		}
		c.last = c.r.Peek(1) == "S"
	}
	if !c.last && !st.Immediate() {
		c.sess.BeginImplicit()
	}
	return nil
}

// sendPortal sends up to limit rows (0: all) and says whether the portal is suspended or done.
func (c *conn) sendPortal(p *portal, limit int64) error {
	var n int64
	defer c.w.sends(p.res)()
	for {
		if p.batch == nil || p.res.Ended() {
			b, err := p.res.Next(c.ctx)
			if err != nil {
				return shifted(err, p.p.stmt.Offset())
			}
			if b == nil {
				p.ended = true
				// The tag counts what this Execute sent, not what earlier ones did.
				return c.complete(p.res, p.res.RowCount()-p.sent)
			}
			p.batch, p.row = b, 0
		}
		room := p.batch.Len() - p.row
		if limit > 0 {
			room = min(room, int(limit-n))
		}
		if err := c.dataRows(p.res, p.batch, p.row, p.row+room, p.enc); err != nil {
			return err
		}
		if c.w.err != nil {
			return c.w.err
		}
		if p.res.Ended() {
			continue // Next says why
		}
		p.row += room
		n += int64(room)
		if p.row >= p.batch.Len() {
			p.batch = nil
		}
		if limit > 0 && n >= limit {
			p.res.Suspend()
			p.sent += n
			c.w.begin('s')
			c.w.end()
			return nil
		}
	}
}

func (c *conn) close(m *pgproto3.Close) {
	switch {
	case m.ObjectType != 'S':
		c.closePortal(m.Name)
	case m.Name == "":
		c.unnamed = nil
	default:
		c.sess.ForgetPrepared(m.Name)
	}
	c.w.begin('3')
	c.w.end()
}

func (c *conn) closePortal(name string) {
	if p := c.portals[name]; p != nil {
		delete(c.portals, name)
		c.sess.Drop(p.held)
		if p.res != nil {
			p.res.Close()
		}
	}
}

func (c *conn) closePortals() {
	for name := range c.portals {
		c.closePortal(name)
	}
}

func drainRows(ctx context.Context, res *engine.Result) error {
	for {
		b, err := res.Next(ctx)
		if b == nil || err != nil {
			return err
		}
	}
}
