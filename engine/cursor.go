package engine

import (
	"context"
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// cursor is a SQL cursor. A forward-only cursor pulls rows as they are fetched; a scrollable or
// held one keeps the rows it has seen, so that it can go back and outlive its transaction.
type cursor struct {
	name    string
	query   string
	columns []ResultColumn
	hold    bool
	scroll  bool
	res     *Result // nil: all rows are in kept
	kept    [][]types.Datum
	base    int64 // number of rows before kept[0] (0 when scrollable)
	pos     int64 // 0: before the first row; n: on row n; total+1: after the last
	total   int64 // -1: not known yet
	session *Session
	held    int64 // bytes of kept that the session counts
}

// close ends the query, if it runs, and gives back what the cursor keeps.
func (c *cursor) close() {
	if c.res != nil {
		c.res.Close()
		c.res = nil
	}
	c.session.Drop(c.held)
	c.kept, c.held = nil, 0
}

func (s *Session) cursor(name string) (*cursor, error) {
	c := s.cursors[name]
	if c == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor %q does not exist", name)
	}
	return c, nil
}

// CursorColumns are those of the SQL cursor of the name; ok is false when there is none.
func (s *Session) CursorColumns(name string) (cols []ResultColumn, ok bool) {
	c, err := s.cursor(name)
	if err != nil {
		return nil, false
	}
	return c.columns, true
}

// fetchColumns are what FETCH from the name returns: of a cursor or of the wire's portal.
func (s *Session) fetchColumns(name string) ([]ResultColumn, error) {
	c, err := s.cursor(name)
	if err == nil {
		return c.columns, nil
	}
	if p := s.portal(name); p != nil {
		return p.Columns(), nil
	}
	return nil, err
}

// declare opens a cursor.
func (s *Session) declare(ctx context.Context, n *ast.Declare, b *bind.Bound, args []types.Datum) error {
	if !n.Hold && !s.tx.block {
		return sqlerr.New(sqlerr.NoActiveTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	}
	if s.cursors[n.Name] != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor %q already exists", n.Name)
	}
	inner := b
	if b.Inner != nil {
		inner = b.Inner
	}
	c := &cursor{name: n.Name, query: s.activity.query, columns: inner.Columns, hold: n.Hold, scroll: n.Scroll || n.Hold, total: -1, session: s}
	// The cursor outlives this statement: it runs under the session's own context.
	cctx, cancel := context.WithCancelCause(withRunner(context.WithoutCancel(ctx), s))
	runnerIn(cctx).begin(cancel)
	r := &Result{session: s, columns: inner.Columns, ctx: cctx, cancel: cancel, verb: "FETCH", counted: true}
	if err := s.runPlan(cctx, inner.Plan, args, r); err != nil {
		err = causeOf(cctx, err)
		cancel(err)
		runnerIn(cctx).end()
		return err
	}
	c.res = r
	if n.Hold && !s.tx.block {
		// Its transaction ends with this statement, which is who can be told of an error.
		if err := c.pull(math.MaxInt64); err != nil {
			c.close()
			return err
		}
	}
	s.cursors[n.Name] = c
	return nil
}

// pull reads rows from the query until row number n is known or the rows end.
func (c *cursor) pull(n int64) error {
	for c.res != nil && c.base+int64(len(c.kept)) < n {
		b, err := c.res.Next(context.Background()) // a statement has a context of its own
		if err != nil {
			return err
		}
		if b == nil {
			c.total = c.base + int64(len(c.kept))
			err := c.res.Close()
			c.res = nil
			return err
		}
		size := batchBytes(b)
		if err := c.session.Hold(size); err != nil {
			return err
		}
		c.held += size
		for k := 0; k < b.Len(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			row := make([]types.Datum, len(b.Cols))
			for j, v := range b.Cols {
				row[j] = v.Datum(i)
			}
			c.kept = append(c.kept, row)
		}
	}
	return nil
}

// at gives row n if there is one.
func (c *cursor) at(n int64) ([]types.Datum, bool, error) {
	if n < 1 {
		return nil, false, nil
	}
	if err := c.pull(n); err != nil {
		return nil, false, err
	}
	if i := n - c.base - 1; i >= 0 && i < int64(len(c.kept)) {
		return c.kept[i], true, nil
	}
	return nil, false, nil
}

// forget drops rows that a forward-only cursor has passed.
func (c *cursor) forget() {
	if n := c.pos - c.base - 1; !c.scroll && n > 0 && n <= int64(len(c.kept)) {
		c.kept = append([][]types.Datum(nil), c.kept[n:]...)
		c.base += n
		if len(c.kept) == 0 {
			c.session.Drop(c.held)
			c.held = 0
		}
	}
}

// batchBytes is about what the rows of b take as values.
func batchBytes(b *vec.Batch) int64 {
	const row, value = 32, 64
	n := int64(b.Len()) * int64(row+value*len(b.Cols))
	for _, v := range b.Cols {
		for k := range b.Len() {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			n += valueBytes(v, i)
		}
	}
	return n
}

// valueBytes is what row i of v takes beyond a value's own size.
func valueBytes(v *vec.Vector, i int) int64 {
	if v.Null(i) {
		return 0
	}
	f, r := v.Values(), v.Row(i)
	switch f.Form {
	case types.FormStr:
		return int64(f.Views[r].Len)
	case types.FormList:
		n := int64(0)
		for j := f.Offsets[r]; j < f.Offsets[r+1]; j++ {
			n += 64 + valueBytes(f.Child, int(j))
		}
		return n
	case types.FormStruct:
		n := int64(0)
		for _, c := range f.Children {
			n += 64 + valueBytes(c, r)
		}
		return n
	}
	return 0
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(n *ast.Fetch, r *Result) error {
	var rows [][]types.Datum
	var columns []ResultColumn
	if p := s.portal(n.Cursor); p != nil && s.cursors[n.Cursor] == nil {
		if n.Direction != "forward" || n.Count < 0 {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cursor can only scan forward")
		}
		var err error
		if rows, err = p.Take(n.Count); err != nil {
			return err
		}
		columns = p.Columns()
	} else {
		c, err := s.cursor(n.Cursor)
		if err != nil {
			return err
		}
		if rows, err = c.fetch(n.Direction, n.Count); err != nil {
			return err
		}
		columns = c.columns
	}
	if n.Move {
		r.verb, r.counted, r.rows = "MOVE", true, int64(len(rows))
		return nil
	}
	r.verb, r.counted = "FETCH", true
	r.columns = columns
	r.src = rowsSource(columns, rows)
	return nil
}

// fetch moves and gives the rows passed (PostgreSQL manual, FETCH).
func (c *cursor) fetch(direction string, count int64) ([][]types.Datum, error) {
	backward := direction == "backward"
	if count < 0 && (direction == "forward" || direction == "backward") {
		backward, count = !backward, -count
	}
	back := func() error {
		if c.scroll {
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cursor can only scan forward").
			WithHint("Declare it with SCROLL option to enable backward scan.")
	}
	one := func(to int64) ([][]types.Datum, error) {
		if to < c.pos {
			if err := back(); err != nil {
				return nil, err
			}
		}
		row, ok, err := c.at(to)
		if err != nil {
			return nil, err
		}
		c.pos = max(0, to)
		if !ok {
			if c.total >= 0 && to > c.total {
				c.pos = c.total + 1
			}
			return nil, nil
		}
		c.forget()
		return [][]types.Datum{row}, nil
	}
	switch {
	case direction == "absolute" && count >= 0:
		return one(count)
	case direction == "absolute":
		if err := c.pull(math.MaxInt64); err != nil {
			return nil, err
		}
		return one(c.total + 1 + count)
	case direction == "relative":
		return one(c.pos + count)
	case count == 0: // the current row again
		row, ok, err := c.at(c.pos)
		if !ok || err != nil {
			return nil, err
		}
		return [][]types.Datum{row}, nil
	case backward:
		if err := back(); err != nil {
			return nil, err
		}
		var out [][]types.Datum
		for ; count > 0 && c.pos > 0; count-- {
			c.pos--
			row, ok, err := c.at(c.pos)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			out = append(out, row)
		}
		return out, nil
	}
	var out [][]types.Datum
	for ; count > 0; count-- {
		row, ok, err := c.at(c.pos + 1)
		if err != nil {
			return nil, err
		}
		if !ok {
			c.pos = c.total + 1
			break
		}
		c.pos++
		out = append(out, row)
	}
	c.forget()
	return out, nil
}

// closeCursors closes cursors at the end of a transaction; with keepHeld the WITH HOLD ones
// stay, their rows materialised.
func (s *Session) closeCursors(keepHeld bool) {
	for name, c := range s.cursors {
		if keepHeld && c.hold {
			if c.res == nil || c.pull(math.MaxInt64) == nil {
				continue
			}
		}
		c.close()
		delete(s.cursors, name)
	}
}

func (s *Session) closeStatement(n *ast.ClosePortal) (string, error) {
	if n.Name == "" {
		s.closeCursors(false)
		return "CLOSE CURSOR ALL", nil
	}
	c, err := s.cursor(n.Name)
	if err != nil {
		return "", err
	}
	c.close()
	delete(s.cursors, n.Name)
	return "CLOSE CURSOR", nil
}
