package mysql

import (
	"context"
	"strconv"
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
	list := c.sess.MySQLCut(text)
	if len(list) == 0 {
		c.failed(wireError(1065, "42000", "Query was empty"))
		return
	}
	if len(list) > 1 && c.caps&capMultiStmts == 0 {
		c.failed(nearError(text, list[1].Offset))
		return
	}
	for i := range list {
		c.more = i+1 < len(list)
		if err := c.piece(list[i].Text); err != nil {
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

// nearError is MySQL's syntax error at a place of the text.
func nearError(text string, pos int) error {
	near := text[min(pos, len(text)):]
	if len(near) > 80 {
		near = strings.ToValidUTF8(near[:80], "")
	}
	return wireError(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d",
		near, 1+strings.Count(text[:min(pos, len(text))], "\n"))
}

// piece runs one statement and sends its result as text rows.
func (c *conn) piece(text string) error {
	st, err := c.bind(text, c.sess.Prepare)
	if err != nil {
		return err
	}
	if len(st.Params()) != 0 {
		return nearError(text, strings.IndexByte(text, '?'))
	}
	return c.send(st, nil, &result{})
}

// stmt is a statement of the engine's with what it was parsed from.
type stmt struct {
	*engine.Stmt
	parsed engine.Parsed
}

// bind parses and binds one statement.
func (c *conn) bind(text string, prepare func(context.Context, engine.Parsed, []types.Type) (*engine.Stmt, error)) (*stmt, error) {
	list, err := c.sess.Parse(text)
	if err != nil {
		c.my().Warnings = nil
		return nil, err
	}
	if len(list) != 1 {
		return nil, nearError(text, 0)
	}
	if !engine.KeepsWarnings(list[0]) {
		c.my().Warnings = nil
	}
	st, err := prepare(c.ctx, list[0], nil)
	if err != nil {
		return nil, err
	}
	return &stmt{st, list[0]}, nil
}

// my is what the session has of MySQL's.
func (c *conn) my() *engine.MySQL { return c.sess.MySQL() }

// result is how a statement's rows leave.
type result struct {
	binary bool
	cursor *statement // rows wait here for COM_STMT_FETCH
}

// send runs a bound statement and sends what it gives.
func (c *conn) send(st *stmt, args []types.Datum, how *result) error {
	kind := engine.KindOf(st.parsed)
	start := time.Now()
	res, err := st.Execute(c.ctx, args)
	if err != nil {
		return err
	}
	if cols := res.Columns(); cols != nil {
		desc := describeAll(cols, st.Origins())
		if kind == engine.ExplainKind && len(desc) == 1 {
			desc[0].name = "EXPLAIN"
		}
		format := newRowFormat(cols, how.binary, c.sess.TextOptions())
		if how.cursor != nil {
			return c.openCursor(how.cursor, res, desc, format)
		}
		defer res.Close()
		if err := c.rows(res, desc, format); err != nil {
			return err
		}
	} else {
		defer res.Close()
		if err := c.finish(res); err != nil {
			return err
		}
	}
	if d := time.Since(start); d > c.my().LongQuery() {
		c.srv.count.Slow.Add(1)
	}
	return nil
}

// rows sends all of res. Its description waits for the first batch, so that a query that fails at
// once answers with the error alone.
func (c *conn) rows(res *engine.Result, desc []column, f *rowFormat) error {
	defer c.w.sends(res)()
	described := false
	for {
		b, err := res.Next(c.ctx)
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
		c.sendRows(res, b, 0, b.Len(), f)
		if res.Ended() {
			continue // Next says why
		}
		if c.w.err != nil {
			return c.w.err
		}
	}
	if err := res.Close(); err != nil {
		return err
	}
	c.noteAll(res.Notices())
	c.endRows(0)
	return nil
}

// finish takes a statement without rows to its end and says how many rows it touched.
func (c *conn) finish(res *engine.Result) error {
	for {
		b, err := res.Next(c.ctx)
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
	touched, info := int64(0), ""
	if verb, _, _ := strings.Cut(res.Tag(), " "); verb == "INSERT" || verb == "UPDATE" || verb == "DELETE" || verb == "MERGE" || verb == "REPLACE" || verb == "SELECT" {
		if touched = res.RowCount(); verb == "UPDATE" {
			info = "Rows matched: " + itoa(touched) + "  Changed: " + itoa(touched) + "  Warnings: " + itoa(int64(len(c.my().Warnings)))
		}
	}
	c.okInfo(uint64(touched), uint64(res.InsertID()), info)
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (c *conn) noteAll(list []*sqlerr.Error) {
	for _, n := range list {
		c.my().Warnings = append(c.my().Warnings, noteOf(n))
	}
}
