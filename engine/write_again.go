package engine

import (
	"context"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// writeRun is a write statement that is built to be run, once.
type writeRun struct {
	src vec.Source
	env *exec.Env
}

// writeAgain runs a write statement, and once more from the beginning where another writer's commit
// made it end with 40001. Outside of a block nobody has seen anything of it, so that the server can
// do what the hint tells the client to do: bind it anew, read the new snapshot, write new files. The
// setting lhsql.retry_conflicts says how often.
//
// The last time it has its turn at the table from the beginning, so that no other writer of this
// server comes between its reading and its commit. A statement that takes longer than the pauses
// between other's commits would else never come to its end, however often it is run.
type writeAgain struct {
	s     *Session
	st    *Stmt
	args  []types.Datum
	r     *Result
	run   *writeRun
	left  int
	begun bool   // rows have left
	done  func() // ends its turn
	// build builds it anew, bound to what there is now; nil: it would be another statement.
	build func(ctx context.Context, b *bind.Bound) (*writeRun, error)
}

// mayRunAgain tells how often a statement may be run again after a conflict.
func (s *Session) mayRunAgain(st ast.Stmt) int {
	if s.tx.block {
		return 0 // the client has seen what the block read
	}
	switch st.(type) {
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge, *ast.Truncate, *ast.CreateSchema, *ast.CreateTable, *ast.CreateView,
		*ast.Drop, *ast.AlterTable, *ast.Comment, *ast.Copy:
		return int(s.settings.int("lhsql.retry_conflicts"))
	}
	return 0
}

// defineAgain runs a definition, and again where it was told 40001; of CREATE TABLE AS the rows come
// later, and with them perhaps the conflict.
func (s *Session) defineAgain(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	left := s.mayRunAgain(st.parsed.Stmt)
	again := func() error {
		for {
			r.forgetNotices()
			err := s.define(ctx, st, args, r)
			if err == nil || left <= 0 || !lostTo(ctx, err) {
				return err
			}
			left--
			b, e := s.bindAnew(ctx, st, args)
			if e != nil {
				return e
			}
			if b == nil {
				return err
			}
		}
	}
	if err := again(); err != nil || r.run == nil || left <= 0 {
		return err
	}
	w := &writeAgain{s: s, st: st, args: args, r: r, run: r.run, left: left}
	w.build = func(context.Context, *bind.Bound) (*writeRun, error) {
		r.run = nil
		err := again()
		r.src = w
		return r.run, err
	}
	r.src = w
	return nil
}

// commitAgain commits rows that a client sent and that lie in files: after a conflict the same files
// are tried again, as what they are, rows that are added. The client cannot be asked for them twice.
func (s *Session) commitAgain(st *Stmt, commit func(context.Context, lake.Change) error) func(context.Context, lake.Change) error {
	return func(ctx context.Context, ch lake.Change) error {
		for left := s.mayRunAgain(st.parsed.Stmt); ; left-- {
			err := commit(ctx, ch)
			if err == nil || left <= 0 || !lostTo(ctx, err) {
				return err
			}
		}
	}
}

// lostTo tells whether an error is a conflict that a statement may be run again after.
func lostTo(ctx context.Context, err error) bool {
	return sqlerr.CodeOf(err) == sqlerr.SerializationFailure && lake.Outcome(err) == lake.Aborted && ctx.Err() == nil
}

func (w *writeAgain) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := w.run.src.Next(ctx)
		w.endTurn() // it has committed, or not
		if err == nil || w.left == 0 || w.begun || !lostTo(ctx, err) {
			w.begun = true
			return b, err
		}
		w.left--
		if ctx, err = w.anew(ctx, err); err != nil {
			return nil, err
		}
	}
}

func (w *writeAgain) Close() error {
	w.endTurn()
	return w.run.src.Close()
}

func (w *writeAgain) endTurn() {
	if w.done != nil {
		w.done()
		w.done = nil
	}
}

// anew builds the statement once more on what the catalog has now. lost is why: it stays the
// statement's error where it no longer means the same.
func (w *writeAgain) anew(ctx context.Context, lost error) (context.Context, error) {
	s := w.s
	err := w.run.src.Close()
	w.run.env.Account.Close()
	if err != nil {
		return ctx, err
	}
	if n, ok := writeTarget(w.st.bound); ok && w.left == 0 {
		if ctx, w.done, err = lake.TakeTurn(ctx, s.catalogOf(n.Catalog), n); err != nil {
			return ctx, err
		}
	}
	b, err := s.bindAnew(ctx, w.st, w.args)
	if err != nil {
		return ctx, err
	}
	if b == nil {
		return ctx, lost
	}
	next, err := w.build(ctx, b)
	if err != nil {
		return ctx, err
	}
	if next == nil {
		return ctx, lost
	}
	w.run = next
	return ctx, nil
}

// bindAnew binds a statement to what the catalog has now; nil if its result would look otherwise.
func (s *Session) bindAnew(ctx context.Context, st *Stmt, args []types.Datum) (*bind.Bound, error) {
	s.loaded, s.host = nil, nil
	b, err := bind.Bind(s.bindEnv(ctx, args), st.parsed, st.params)
	if err != nil {
		return nil, err
	}
	if !sameColumns(st.bound.Columns, b.Columns) {
		return nil, nil
	}
	st.bound = b
	return b, s.permit(ctx, st) // it may be another table by now, or another role's right
}

// writeTarget is the table that a statement writes.
func writeTarget(b *bind.Bound) (lake.Name, bool) {
	for _, u := range b.Tables {
		if u.Write && u.Relation.Table != nil {
			return u.Relation.Table.Name, true
		}
	}
	return lake.Name{}, false
}

// commitTo commits a statement's change to its target.
func (s *Session) commitTo(b *bind.Bound) func(context.Context, lake.Change) error {
	name, _ := writeTarget(b)
	return func(ctx context.Context, ch lake.Change) error { return s.commit(ctx, name, ch) }
}
