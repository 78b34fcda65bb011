package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Result is a running statement. Next yields batches until nil; then Tag is the command tag
// ("SELECT 5", "SET"). Close always: it stops the work and frees everything. For one goroutine.
type Result struct {
	session *Session
	columns []ResultColumn // nil: no rows
	src     vec.Source
	run     *writeRun // of a statement that writes rows
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watch   stopwatch

	wrote bool // it has committed

	limited bool         // to
	limit   int64        // rows (MySQL's sql_select_limit)
	last    *lastRow     // of a query that assigns variables
	counts  bool         // count finds how many rows there are without the LIMIT
	count   func() error // runs behind the last row

	suspended bool // the client is to take the next rows later

	verb    string // command tag; with counted the number of rows follows
	counted bool
	rows    int64
	noticed sync.Mutex // guards notices: workers warn
	notices []*sqlerr.Error
	after   func(ok bool) error // runs once: when the rows are exhausted (ok) or at an early end
	closed  bool
	err     error
}

// Columns are nil for a statement without rows.
func (r *Result) Columns() []ResultColumn { return r.columns }

// forgetNotices drops those of a run that did not happen.
func (r *Result) forgetNotices() {
	r.noticed.Lock()
	defer r.noticed.Unlock()
	r.notices = nil
}

// Notices are the warnings and notices raised so far that the session wants to hear.
func (r *Result) Notices() []*sqlerr.Error {
	r.noticed.Lock()
	defer r.noticed.Unlock()
	var out []*sqlerr.Error
	for _, n := range r.notices {
		if r.session.hears(n) {
			out = append(out, n)
		}
	}
	return out
}

// hears tells whether client_min_messages lets a notice or warning through.
func (s *Session) hears(n *sqlerr.Error) bool {
	switch least, _ := s.settings.get("client_min_messages"); least {
	case "error":
		return false
	case "warning":
		return n.Warning()
	}
	return true
}

// Tag is the command tag, final once Next gave nil.
func (r *Result) Tag() string { return r.TagFor(r.rows) }

// RowCount is the number of rows returned or written so far.
func (r *Result) RowCount() int64 { return r.rows }

// TagFor is the command tag with another count, for a portal that is executed in pieces.
func (r *Result) TagFor(rows int64) string {
	switch {
	case !r.counted:
		return r.verb
	case r.verb == "INSERT":
		return fmt.Sprintf("INSERT 0 %d", rows)
	}
	return fmt.Sprintf("%s %d", r.verb, rows)
}

// maxNotices bounds what a statement over many rows warns of.
const maxNotices = 1000

func (r *Result) warn(code sqlerr.Code, format string, args ...any) {
	r.noticed.Lock()
	defer r.noticed.Unlock()
	if len(r.notices) >= maxNotices {
		return
	}
	r.notices = append(r.notices, sqlerr.New(code, format, args...))
}

// Next gives the next batch, nil at the end. The batch is valid until the next call.
func (r *Result) Next(context.Context) (b *vec.Batch, err error) {
	if r.err != nil || r.closed || r.src == nil {
		return nil, r.err
	}
	defer r.recover(&err)
	if r.suspended {
		r.suspended = false
		r.watch.restart()
		r.session.setCancel(r.cancel)
	}
	for {
		if r.limited && r.rows >= r.limit {
			return nil, r.exhausted()
		}
		b, err = r.src.Next(r.ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, r.exhausted()
		}
		if n := b.Len(); n > 0 {
			if r.limited && int64(n) > r.limit-r.rows {
				b = firstRows(b, int(r.limit-r.rows))
				n = b.Len()
			}
			r.rows += int64(n)
			if r.last != nil {
				r.last.see(b)
			}
			return b, nil
		}
	}
}

// firstRows is a batch's first n rows.
func firstRows(b *vec.Batch, n int) *vec.Batch {
	out := *b
	if b.Sel != nil {
		out.Sel = b.Sel[:n]
		return &out
	}
	out.Sel = make([]uint16, n)
	for i := range out.Sel {
		out.Sel[i] = uint16(i)
	}
	return &out
}

// exhausted ends the statement behind its last row.
func (r *Result) exhausted() error {
	if r.count != nil {
		if err := r.count(); err != nil {
			return err
		}
	}
	if r.last != nil {
		if err := r.last.end(r.columns); err != nil {
			return err
		}
	}
	return r.end(true)
}

// failed ends the statement with err.
func (r *Result) failed(err error) error {
	r.err = causeOf(r.ctx, err)
	r.session.Fail()
	r.end(false)
	return r.err
}

// recover is the one place where a broken invariant, or any panic in the engine below, becomes
// an error of its statement.
func (r *Result) recover(err *error) {
	if p := recover(); p != nil {
		*err = r.session.engine.caught(p)
	}
	if *err != nil {
		*err = r.failed(*err)
	}
}

// caught turns a panic value into XX000 and logs it with its stack.
func (e *Engine) caught(p any) error {
	if err, ok := p.(*sqlerr.Error); ok { // vec.MustFit
		return err
	}
	e.logPanic(p)
	var v invariant.Violation
	if err, ok := p.(error); ok && errors.As(err, &v) {
		return sqlerr.New(sqlerr.InternalError, "%s", v.Error())
	}
	return sqlerr.New(sqlerr.InternalError, "internal error: %v", p)
}

// causeOf says why a statement's context ended, where that is what err is about: a read or a write
// that was cut off says so as its own error's cause. What is not known of a commit stays so.
func causeOf(ctx context.Context, err error) error {
	if ctx == nil || ctx.Err() == nil {
		return err
	}
	if e, ok := sqlerr.As(err); ok && e.Code != sqlerr.QueryCanceled {
		cutOff := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		if !cutOff || e.Code == sqlerr.TransactionUnknown {
			return err
		}
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return errTimeout // a deadline of the caller's
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	}
	return errCanceled
}

// Lend lets the statement end by itself if it is cancelled while the caller waits for something
// else: for a client that does not take its rows, perhaps for a minute, while a sort holds its
// memory. Until back returns the caller touches neither r nor its batch; after it, Ended says
// whether the batch is gone, and then Next says why.
func (r *Result) Lend() (back func()) {
	var mu sync.Mutex
	returned := false
	stop := context.AfterFunc(r.ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !returned && !r.closed {
			var err error
			defer r.recover(&err)
			r.failed(r.ctx.Err())
		}
	})
	return func() {
		if !stop() {
			mu.Lock()
			returned = true
			mu.Unlock()
		}
	}
}

// Ended tells whether the statement is over.
func (r *Result) Ended() bool { return r.closed }

// end runs what follows the last row.
func (r *Result) end(ok bool) error {
	if r.closed {
		return nil
	}
	r.closed = true
	var err error
	if r.src != nil {
		if err = r.src.Close(); err != nil && r.wrote && ok {
			r.warn("01000", "the statement was committed, but what it used could not be freed: %v", err)
			err = nil
		}
	}
	if r.after != nil {
		if e := r.after(ok && err == nil); err == nil {
			err = e
		}
	}
	if r.session != nil && r.session.my != nil {
		r.session.my.ended(r, ok && err == nil)
	}
	if r.cancel != nil {
		r.cancel(context.Canceled)
	}
	runnerIn(r.ctx).end()
	if err != nil && r.err == nil {
		r.err = err
		r.session.Fail()
	}
	return err
}

// Close ends the statement, whether its rows were all read or not.
func (r *Result) Close() error {
	if err := r.end(r.src == nil); err != nil {
		return err
	}
	return nil
}

// Suspend tells that the client will take the next rows later (a portal's row limit).
func (r *Result) Suspend() {
	r.suspended = true
	r.watch.stop()
}

// valuesSource yields rows that are already known.
type valuesSource struct {
	batches []*vec.Batch
}

func (v *valuesSource) Next(context.Context) (*vec.Batch, error) {
	if len(v.batches) == 0 {
		return nil, nil
	}
	b := v.batches[0]
	v.batches = v.batches[1:]
	return b, nil
}

func (v *valuesSource) Close() error { return nil }

// rowsSource makes a source of rows in memory, for utility statements.
func rowsSource(cols []ResultColumn, rows [][]types.Datum) vec.Source {
	v := &valuesSource{}
	for len(rows) > 0 {
		n := min(len(rows), vec.BatchRows)
		b := &vec.Batch{Rows: n}
		for i, c := range cols {
			a := vec.NewAppender(c.Type)
			for _, row := range rows[:n] {
				a.AppendDatum(row[i])
			}
			b.Cols = append(b.Cols, a.Vector())
		}
		v.batches = append(v.batches, b)
		rows = rows[n:]
	}
	return v
}

// InsertID is the first number that the statement gave a row of an identity column; 0 for none.
func (r *Result) InsertID() int64 {
	if r.verb != "INSERT" {
		return 0
	}
	return r.session.inserted
}
