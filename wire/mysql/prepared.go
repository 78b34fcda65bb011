package mysql

import (
	"context"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// maxStatements bounds a connection's prepared statements.
const maxStatements = 16_382

// statement is a prepared statement.
type statement struct {
	id       uint32
	stmt     *stmt
	types    []paramType    // as the last execution gave them
	given    []types.Type   // the values' own types that stmt is bound with, where they count
	held     int64          // memory of the statement itself
	long     map[int][]byte // COM_STMT_SEND_LONG_DATA by parameter
	failed   error          // long data that found no room: an error of the execution
	longHeld int64
	rows     *engine.Result // of an open cursor
	format   *rowFormat
	batch    *vec.Batch
	row      int
}

// prepare serves COM_STMT_PREPARE.
func (c *conn) prepare(text string) error {
	cost := engine.CutCost(text)
	if err := c.sess.Hold(cost); err != nil {
		return err
	}
	defer c.sess.Drop(cost)
	list := c.sess.MySQLCut(text)
	if len(list) == 0 {
		return wireError(1065, "42000", "Query was empty")
	}
	if len(list) > 1 {
		return nearError(text, list[1].Offset)
	}
	if len(c.stmts) >= maxStatements {
		return wireError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxStatements)
	}
	s, err := c.newStatement(list[0].Text)
	if err != nil {
		return err
	}
	c.lastStmt++
	s.id = c.lastStmt
	c.stmts[s.id] = s
	c.my().Statements = len(c.stmts)
	params := s.stmt.Params()
	cols := describeAll(s.stmt.Columns(), s.stmt.Origins())
	c.w.begin()
	c.w.byte(0)
	c.w.int32(s.id)
	c.w.int16(uint16(len(cols)))
	c.w.int16(uint16(len(params)))
	c.w.byte(0)
	c.w.int16(0)
	c.w.end()
	if len(params) > 0 {
		list := make([]column, len(params))
		for i := range list {
			list[i] = column{name: "?", typ: typeVarString, collation: collationBinary, flags: flagBinary}
		}
		c.definitions(list)
	}
	if len(cols) > 0 {
		c.definitions(cols)
	}
	return nil
}

func (c *conn) newStatement(text string) (_ *statement, err error) {
	s := &statement{held: engine.StatementCost(text)}
	if err := c.sess.Hold(s.held); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.sess.Drop(s.held)
		}
	}()
	s.stmt, err = c.bind(text, func(ctx context.Context, p engine.Parsed, _ []types.Type) (*engine.Stmt, error) {
		return c.sess.PrepareUntyped(ctx, p)
	})
	if err == nil && len(s.stmt.Params()) > 65535 {
		err = wireError(1390, "HY000", "Prepared statement contains too many placeholders")
	}
	return s, err
}

func (c *conn) find(f *fields, what string) (*statement, error) {
	id := f.int32()
	if s := c.stmts[id]; s != nil && !f.bad {
		return s, nil
	}
	return nil, wireError(1243, "HY000", "Unknown prepared statement handler (%d) given to %s", id, what)
}

// execute serves COM_STMT_EXECUTE.
func (c *conn) execute(body []byte) error {
	f := &fields{b: body}
	s, err := c.find(f, "mysqld_stmt_execute")
	if err != nil {
		return err
	}
	c.closeCursor(s)
	cursor := f.byte()&1 != 0
	f.int32() // the iteration count, always 1
	args, err := c.readParams(s, f)
	if err != nil {
		return err
	}
	s.dropLong(c)
	if !engine.KeepsWarnings(s.stmt.parsed) {
		c.my().Warnings = nil
	}
	how := &result{binary: true}
	if cursor && engine.KindOf(s.stmt.parsed) == engine.QueryKind {
		how.cursor = s
	}
	return c.send(s.stmt, args, how)
}

// openCursor keeps a result for COM_STMT_FETCH and sends its description alone.
func (c *conn) openCursor(s *statement, res *engine.Result, desc []column, f *rowFormat) error {
	s.rows, s.format, s.batch, s.row = res, f, nil, 0
	res.Suspend()
	c.w.begin()
	c.w.lenInt(uint64(len(desc)))
	c.w.end()
	for i := range desc {
		c.w.begin()
		c.definition(&desc[i])
		c.w.end()
	}
	c.endRows(statusCursor)
	return nil
}

// fetch serves COM_STMT_FETCH.
func (c *conn) fetch(body []byte) error {
	f := &fields{b: body}
	s, err := c.find(f, "mysqld_stmt_fetch")
	if err != nil {
		return err
	}
	n := int64(f.int32())
	if s.rows == nil {
		return wireError(1421, "HY000", "The statement (%d) has no open cursor.", s.id)
	}
	defer c.w.sends(s.rows)()
	last := false
	for sent := int64(0); ; {
		if s.batch == nil {
			b, err := s.rows.Next(c.ctx)
			if err != nil {
				c.closeCursor(s)
				return err
			}
			if b == nil {
				last = true
				break
			}
			s.batch, s.row = b, 0
		}
		if sent >= n {
			break
		}
		k := int(min(int64(s.batch.Len()-s.row), n-sent))
		c.sendRows(s.rows, s.batch, s.row, s.row+k, s.format)
		if s.rows.Ended() {
			s.batch = nil
			continue // Next says why
		}
		sent += int64(k)
		if s.row += k; s.row >= s.batch.Len() {
			s.batch = nil
		}
		if c.w.err != nil {
			return c.w.err
		}
	}
	if last {
		c.closeCursor(s)
		c.endRows(statusCursor | statusLastRow)
		return nil
	}
	s.rows.Suspend()
	c.endRows(statusCursor)
	return nil
}

func (c *conn) closeCursor(s *statement) {
	if s.rows != nil {
		s.rows.Close()
		s.rows, s.batch = nil, nil
	}
}

// longData serves COM_STMT_SEND_LONG_DATA, which has no answer: an error waits for the execution.
func (c *conn) longData(body []byte) {
	f := &fields{b: body}
	s, err := c.find(f, "")
	if err != nil {
		return
	}
	i := int(f.int16())
	if f.bad || i >= len(s.stmt.Params()) {
		return
	}
	if s.long == nil {
		s.long = map[int][]byte{}
	}
	if err := c.sess.Hold(int64(len(f.b))); err != nil {
		s.failed = err
		return
	}
	s.longHeld += int64(len(f.b))
	s.long[i] = append(s.long[i], f.b...)
}

// dropLong forgets long data once it was used.
func (s *statement) dropLong(c *conn) {
	if s.longHeld > 0 {
		c.sess.Drop(s.longHeld)
	}
	s.long, s.longHeld, s.failed = nil, 0, nil
}

func (c *conn) resetStatement(body []byte) error {
	s, err := c.find(&fields{b: body}, "mysqld_stmt_reset")
	if err != nil {
		return err
	}
	s.dropLong(c)
	c.closeCursor(s)
	c.ok(0, 0)
	return nil
}

func (c *conn) closeStatement(f *fields) {
	if s, err := c.find(f, ""); err == nil {
		c.drop(s)
		delete(c.stmts, s.id)
		c.my().Statements = len(c.stmts)
	}
}

func (c *conn) drop(s *statement) {
	s.dropLong(c)
	if s.held > 0 {
		c.sess.Drop(s.held)
		s.held = 0
	}
	c.closeCursor(s)
}

func (c *conn) closeStatements() {
	for _, s := range c.stmts {
		c.drop(s)
	}
}
