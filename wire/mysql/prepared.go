package mysql

import (
	"context"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// maxStatements bounds a connection's prepared statements.
const maxStatements = 16_382

// statement is a prepared statement: of the engine (stmt), or one that the wire understands
// (text, parsed anew at each execution).
type statement struct {
	id       uint32
	text     string
	piece    *piece // nil: the engine's
	stmt     *stmt
	types    []paramType    // as the last execution gave them
	held     int64          // memory of the statement itself
	long     map[int][]byte // COM_STMT_SEND_LONG_DATA by parameter
	failed   error          // long data that found no room: an error of the execution
	longHeld int64
	stop     context.CancelFunc
	rows     *engine.Result // of an open cursor
	format   *rowFormat
	batch    *vec.Batch
	row      int
	limit    int64
	sent     int64
}

// prepare serves COM_STMT_PREPARE.
func (c *conn) prepare(text string) error {
	cost := engine.CutCost(text)
	if err := c.sess.Hold(cost); err != nil {
		return err
	}
	defer c.sess.Drop(cost)
	list := c.cut(text)
	if len(list) == 0 {
		return wireError(1065, "42000", "Query was empty")
	}
	if len(list) > 1 {
		return nearError(text, list[1].offset)
	}
	if len(c.stmts) >= maxStatements {
		return wireError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxStatements)
	}
	s, err := c.newStatement(&list[0])
	if err != nil {
		return err
	}
	c.lastStmt++
	s.id = c.lastStmt
	c.stmts[s.id] = s
	var params []types.Type
	var cols []column
	if s.stmt != nil {
		params = s.stmt.Params()
		cols = describeAll(s.stmt.Columns(), s.stmt.Origins())
	}
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

func (c *conn) newStatement(p *piece) (_ *statement, err error) {
	c.warnings = nil
	if err := c.unsafe(p); err != nil {
		return nil, err
	}
	l, err := c.local(p)
	if err != nil {
		return nil, err
	}
	s := &statement{text: p.text}
	held := engine.StatementCost(p.text)
	if err := c.sess.Hold(held); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.sess.Drop(held)
		}
	}()
	s.held = held
	if l != nil || p.word(0) == "execute" {
		if s.piece = p; l != nil && l.sql != "" {
			if s.stmt, err = c.bindText(l.sql); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	s.stmt, err = c.bindText(p.text)
	return s, err
}

// bindText is prepareText without what is due before an execution.
func (c *conn) bindText(sql string) (*stmt, error) {
	list, err := c.sess.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, nearError(sql, 0)
	}
	st, err := c.sess.Prepare(c.ctx, list[0], nil)
	given := make([]types.Type, list[0].NumParams)
	for i := range given {
		given[i] = types.T(types.Unknown)
	}
	for range given {
		// A parameter that nothing gives a type (? IS NULL) is a string until its value comes.
		i := untyped(err)
		if i < 1 || i > len(given) {
			break
		}
		given[i-1] = types.T(types.Text)
		st, err = c.sess.Prepare(c.ctx, list[0], given)
	}
	if err != nil {
		return nil, err
	}
	if len(st.Params()) > 65535 {
		return nil, wireError(1390, "HY000", "Prepared statement contains too many placeholders")
	}
	return c.newStmt(st, list[0]), nil
}

// untyped is the number of the parameter whose type err says it could not find; 0: err is another.
func untyped(err error) (n int) {
	if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.IndeterminateDatatype {
		if i := strings.LastIndexByte(e.Message, '$'); i >= 0 {
			n, _ = strconv.Atoi(e.Message[i+1:])
		}
	}
	return n
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
	var args []types.Datum
	if s.stmt != nil {
		if args, err = c.readParams(s, f); err != nil {
			return err
		}
	}
	s.dropLong(c)
	if s.piece != nil {
		return c.piece(s.piece, true)
	}
	c.warnings = nil
	if err := c.beforeStatement(s.stmt.parsed); err != nil {
		return err
	}
	how := &result{binary: true}
	if cursor && engine.KindOf(s.stmt.parsed) == engine.QueryKind {
		how.cursor = s
	}
	return c.send(s.stmt, args, how)
}

// piece runs one statement with text or binary rows.
func (c *conn) piece(p *piece, binary bool) error {
	if err := c.checkLost(p); err != nil {
		return err
	}
	if p.word(0) == "execute" {
		return c.sqlExecute(p, binary)
	}
	if err := c.unsafe(p); err != nil {
		return err
	}
	l, err := c.local(p)
	if err != nil {
		return err
	}
	if l != nil {
		l.text = p.text
		return c.runLocal(l, binary)
	}
	if w := p.word(0); (w == "begin" || w == "start") && c.sess.Status() == 'I' && len(c.vars.next) > 0 {
		if text := c.begin(); !p.words(2, "read") {
			return c.runText(text, nil)
		}
	}
	return c.runText(p.text, nil)
}

// openCursor keeps a result for COM_STMT_FETCH and sends its description alone.
func (c *conn) openCursor(s *statement, res *engine.Result, desc []column, f *rowFormat, limit int64) error {
	s.rows, s.format, s.limit, s.sent, s.batch, s.row = res, f, limit, 0, nil, 0
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
	c.affected = -1
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
	if s.limit >= 0 {
		n = min(n, s.limit-s.sent)
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
		s.sent += int64(k)
		if s.row += k; s.row >= s.batch.Len() {
			s.batch = nil
		}
		if c.w.err != nil {
			return c.w.err
		}
	}
	last = last || s.limit >= 0 && s.sent >= s.limit
	if last {
		c.found = s.sent
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
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// longData serves COM_STMT_SEND_LONG_DATA, which has no answer: an error waits for the execution.
func (c *conn) longData(body []byte) {
	f := &fields{b: body}
	s, err := c.find(f, "")
	if err != nil || s.stmt == nil {
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
