package engine

// This file runs write statements that take several steps, of which all happen or none.

import (
	"context"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// stepped is a write that run does as a whole, and again where another writer was first.
type stepped struct {
	s    *Session
	st   *Stmt
	r    *Result
	run  func(ctx context.Context) (rows int64, err error)
	done bool
}

func (w *stepped) Close() error { return nil }

func (w *stepped) Next(ctx context.Context) (*vec.Batch, error) {
	if w.done {
		return nil, nil
	}
	w.done = true
	for left := w.s.mayRunAgain(w.st.parsed.Stmt); ; left-- {
		n, err := w.run(ctx)
		if err == nil {
			w.r.rows = n
			return nil, nil
		}
		if left <= 0 || !lostTo(ctx, err) {
			return nil, err
		}
		w.s.loaded, w.s.host = nil, nil
	}
}

// inSteps makes run the result's.
func (s *Session) inSteps(st *Stmt, r *Result, run func(ctx context.Context) (int64, error)) error {
	r.src = &stepped{s: s, st: st, r: r, run: run}
	r.columns = nil
	r.after = func(bool) error { return nil }
	return nil
}

// runSeveral writes the tables of a statement that names several. All its steps are bound before the
// first of them is run: each reads the state before the statement.
func (s *Session) runSeveral(ctx context.Context, st *Stmt, args []types.Datum, r *Result) (rows int64, err error) {
	var list []*bind.Bound
	for _, step := range st.bound.Steps {
		env := s.bindEnv(ctx, args)
		if env.Args = args; args == nil {
			env.Args = []types.Datum{}
		}
		p := st.parsed
		p.Stmt = step
		b, err := bind.Bind(env, p, st.params)
		if err != nil {
			return 0, err
		}
		if err := s.allowed(ctx, func(p *permission) error { return p.uses(b, writesOf(b), false) }); err != nil {
			return 0, err
		}
		list = append(list, b)
	}
	err = s.atOnce(ctx, r, func() error {
		rows = 0
		for _, b := range list {
			n, err := s.runToEnd(ctx, b, args, r)
			if rows += n; err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// runToEnd runs a write without rows of its own, gives how many it affected, and tells of what it warns
// by r.
func (s *Session) runToEnd(ctx context.Context, b *bind.Bound, args []types.Datum, r *Result) (rows int64, err error) {
	own := &Result{session: s}
	run, err := s.buildWrite(ctx, b, b.Plan, args, own, s.commitTo(b))
	if err != nil {
		return 0, err
	}
	defer run.env.Account.Close()
	for {
		batch, err := run.src.Next(ctx)
		if err != nil {
			run.src.Close()
			return 0, err
		}
		if batch == nil {
			break
		}
	}
	for _, n := range own.notices {
		r.warn(n.Code, "%s", n.Message)
	}
	return run.env.Written, run.src.Close()
}

// severalSteps tells whether a statement writes several tables.
func severalSteps(st *Stmt) bool {
	switch st.parsed.Stmt.(type) {
	case *ast.Update, *ast.Delete:
		return len(st.bound.Steps) > 0
	}
	return false
}
