package mysql

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// query serves COM_QUERY: one statement, or several where the client has asked for that, each
// with its own result, up to the first error.
func (c *conn) query(text string) {
	cost := engine.CutCost(text)
	if err := c.sess.Hold(cost); err != nil {
		c.failed(err)
		return
	}
	defer c.sess.Drop(cost)
	list := c.cut(text)
	if len(list) == 0 {
		c.failed(wireError(1065, "42000", "Query was empty"))
		return
	}
	if len(list) > 1 && c.caps&capMultiStmts == 0 {
		c.failed(nearError(text, list[1].offset))
		return
	}
	for i := range list {
		c.more = i+1 < len(list)
		if err := c.piece(&list[i], false); err != nil {
			c.more = false
			c.failed(err)
			return
		}
		if c.w.err != nil {
			return
		}
		if c.more {
			if err := c.sess.EndImplicit(c.ctx); err != nil {
				c.srv.cfg.Log("ending a statement: %v", err)
			}
		}
	}
}

// cut splits a text as sql_mode reads it.
func (c *conn) cut(text string) []piece {
	return cut(text, c.vars.mode("ANSI_QUOTES"), c.vars.mode("NO_BACKSLASH_ESCAPES"))
}

// nearError is MySQL's syntax error at a place of the text.
func nearError(text string, pos int) error {
	near := text[min(pos, len(text)):]
	if len(near) > 80 {
		near = strings.ToValidUTF8(near[:80], "")
	}
	return wireError(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d",
		near, 1+strings.Count(text[:min(pos, len(text))], "\n"))
}

// runLocal sends the result of a statement that the wire itself understands.
func (c *conn) runLocal(l *local, binary bool) error {
	if !l.keepWarnings {
		c.warnings = nil
	}
	if l.run != nil {
		if err := l.run(); err != nil {
			return err
		}
	}
	switch {
	case l.sql != "":
		st, err := c.prepareAs(l.sql, l.text)
		if err != nil {
			return err
		}
		return c.send(st, nil, &result{binary: binary})
	case l.names != nil:
		return c.sendTable(l, binary)
	}
	c.affected = 0
	c.ok(0, 0)
	return nil
}

// local is a statement that does not go to the engine as it is: it becomes another one (sql), a
// table of texts (names, rows), or something done (run).
type local struct {
	sql          string
	text         string // what the client wrote, for lists of sessions
	names        []string
	rows         [][]any // string, int64 or nil
	run          func() error
	keepWarnings bool
}

// runText runs one statement of the engine's and sends its result as text rows.
func (c *conn) runText(sql string, args []types.Datum) error {
	c.warnings = nil
	st, err := c.prepareText(sql)
	if err != nil {
		return err
	}
	if len(st.Params()) != len(args) {
		return nearError(sql, strings.IndexByte(sql, '?'))
	}
	return c.send(st, args, &result{})
}

// prepareText binds one statement.
func (c *conn) prepareText(sql string) (*stmt, error) { return c.prepareAs(sql, "") }

// prepareAs is prepareText of a statement that the client wrote in other words.
func (c *conn) prepareAs(sql, written string) (*stmt, error) {
	list, err := c.sess.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, wireError(1064, "42000", "You have an error in your SQL syntax; one statement is expected")
	}
	if written != "" {
		list[0].Text = written
	}
	if err := c.beforeStatement(list[0]); err != nil {
		return nil, err
	}
	st, err := c.sess.Prepare(c.ctx, list[0], nil)
	if err != nil {
		return nil, err
	}
	return c.newStmt(st, list[0]), nil
}

// stmt is a statement of the engine's with what it was parsed from.
type stmt struct {
	*engine.Stmt
	parsed    engine.Parsed
	assigned  []assigned // by @v := x, with the last row's values
	values    []types.Datum
	hasRows   bool
	calcFound *piece // SELECT SQL_CALC_FOUND_ROWS
}

func (c *conn) newStmt(st *engine.Stmt, p engine.Parsed) *stmt {
	s := &stmt{Stmt: st, parsed: p}
	if text := strings.ToLower(p.Text[:min(len(p.Text), 200)]); strings.Contains(text, "sql_calc_found_rows") {
		if list := c.cut(p.Text); len(list) == 1 {
			s.calcFound = &list[0]
		}
	}
	if strings.Contains(p.Text, ":=") {
		if list := c.cut(p.Text); len(list) == 1 {
			s.assigned = assignedIn(&list[0])
			s.values = make([]types.Datum, len(s.assigned))
		}
	}
	return s
}

// beforeStatement keeps MySQL's rules of transactions: DDL commits what is open, and without
// autocommit the first statement that touches data begins a transaction.
func (c *conn) beforeStatement(p engine.Parsed) error {
	switch engine.KindOf(p) {
	case engine.DefineKind:
		if c.sess.Status() != 'I' {
			return c.do("COMMIT")
		}
	case engine.QueryKind, engine.WriteKind:
		if c.sess.Status() == 'I' && !c.vars.autocommit() {
			return c.do(c.begin())
		}
	}
	return nil
}

// begin is the statement that begins a transaction as SET TRANSACTION has asked for this one.
func (c *conn) begin() string {
	text := "START TRANSACTION"
	for _, kv := range c.vars.next {
		// The isolation level changes nothing: transactions read one snapshot at every level.
		if kv[0] == "transaction_read_only" {
			text = "START TRANSACTION READ WRITE"
			if kv[1] == "ON" {
				text = "START TRANSACTION READ ONLY"
			}
		}
	}
	c.vars.next = nil
	return text
}

// do runs a statement without rows.
func (c *conn) do(sql string) error {
	return c.sess.Query(c.ctx, sql, nil, nil)
}

// value computes one expression.
func (c *conn) value(expr string) (types.Datum, types.Type, error) {
	st, err := c.prepareText("SELECT " + expr)
	if err != nil {
		return types.Null, types.Type{}, err
	}
	cols := st.Columns()
	if len(cols) != 1 || len(st.Params()) != 0 {
		return types.Null, types.Type{}, nearError(expr, 0)
	}
	res, err := st.Execute(c.ctx, nil)
	if err != nil {
		return types.Null, types.Type{}, err
	}
	defer res.Close()
	d, n := types.Null, 0
	for {
		b, err := res.Next(c.ctx)
		if err != nil {
			return types.Null, types.Type{}, err
		}
		if b == nil {
			break
		}
		if n += b.Len(); n == b.Len() {
			i := 0
			if b.Sel != nil {
				i = int(b.Sel[0])
			}
			d = b.Cols[0].Datum(i)
		}
	}
	if n > 1 {
		return types.Null, types.Type{}, wireError(1242, "21000", "Subquery returns more than 1 row")
	}
	return d, cols[0].Type, nil
}

// result is how a statement's rows leave.
type result struct {
	binary bool
	cursor *statement // rows wait here for COM_STMT_FETCH
}

// send runs a bound statement and sends what it gives.
func (c *conn) send(st *stmt, args []types.Datum, how *result) error {
	ctx := c.ctx
	kind := engine.KindOf(st.parsed)
	if d := c.vars.maxTime(); d > 0 && kind == engine.QueryKind {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, errMaxTime)
		if how.cursor == nil {
			defer cancel()
		} else {
			how.cursor.stop = cancel
		}
	}
	start := time.Now()
	res, err := st.Execute(ctx, args)
	if err != nil {
		return err
	}
	if cols := res.Columns(); cols != nil {
		desc := describeAll(cols, st.Origins())
		if st.word() == "explain" && len(desc) == 1 {
			desc[0].name = "EXPLAIN"
		}
		limit := int64(-1)
		if kind == engine.QueryKind && !engine.Limited(st.parsed) {
			limit = c.vars.selectLimit()
		}
		format := newRowFormat(cols, how.binary, c.sess.TextOptions())
		if how.cursor != nil {
			return c.openCursor(how.cursor, res, desc, format, limit)
		}
		defer res.Close()
		if err := c.rows(ctx, st, res, desc, format, limit); err != nil {
			return err
		}
		c.setAssigned(st)
		if st.calcFound != nil {
			c.countFound(st.calcFound, len(args) > 0)
		}
		c.affected = -1
	} else {
		defer res.Close()
		if err := c.finish(ctx, res, kind); err != nil {
			return err
		}
	}
	if d := time.Since(start); d > c.vars.longQuery() {
		c.srv.count.slow.Add(1)
	}
	return nil
}

// word is the first word of the statement.
func (st *stmt) word() string {
	l := lexer{s: st.parsed.Text}
	t, _ := l.next()
	return t.text
}

// rows sends all of res. Its description waits for the first batch, so that a query that fails at
// once answers with the error alone.
func (c *conn) rows(ctx context.Context, st *stmt, res *engine.Result, desc []column, f *rowFormat, limit int64) error {
	defer c.w.sends(res)()
	described := false
	var n int64
	for {
		b, err := res.Next(ctx)
		if err != nil {
			return err
		}
		if !described {
			c.columns(desc)
			described = true
		}
		if b == nil {
			break
		}
		k := b.Len()
		if limit >= 0 {
			k = int(min(int64(k), limit-n))
		}
		if len(st.assigned) > 0 && k > 0 {
			st.keepAssigned(b, k-1)
		}
		c.sendRows(res, b, 0, k, f)
		if res.Ended() {
			continue // Next says why
		}
		n += int64(k)
		if c.w.err != nil {
			return c.w.err
		}
		if limit >= 0 && n >= limit {
			break
		}
	}
	c.found = n
	// A limit leaves rows untaken: the statement then ends early and that is no failure.
	if err := res.Close(); err != nil {
		return err
	}
	c.noteAll(res.Notices())
	c.endRows(0)
	return nil
}

// finish takes a statement without rows to its end and says how many rows it touched.
func (c *conn) finish(ctx context.Context, res *engine.Result, kind engine.Kind) error {
	for {
		b, err := res.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
	}
	if err := res.Close(); err != nil {
		return err
	}
	c.noteAll(res.Notices())
	c.affected = 0
	info := ""
	if kind == engine.WriteKind {
		c.affected = res.RowCount()
		if strings.HasPrefix(res.Tag(), "UPDATE") {
			info = "Rows matched: " + itoa(c.affected) + "  Changed: " + itoa(c.affected) + "  Warnings: " + itoa(int64(len(c.warnings)))
		}
	}
	c.okInfo(uint64(c.affected), 0, info)
	return nil
}

func (c *conn) noteAll(list []*sqlerr.Error) {
	for _, n := range list {
		c.warnings = append(c.warnings, noteOf(n))
	}
}
