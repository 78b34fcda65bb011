package engine

// This file runs upserts whose rows have to be taken one after the other: where two rows of the
// statement have a key in common, or one of them a key that another one leaves.

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// rounds is an upsert that runs in as many steps as it needs, all of them or none. ON DUPLICATE KEY
// UPDATE is tried with all rows at once first: most often no two of them meet.
type rounds struct {
	s    *Session
	st   *Stmt
	args []types.Datum
	r    *Result
	done bool
}

// inRounds tells whether a statement may need several steps.
func inRounds(st *Stmt) bool {
	n, ok := st.parsed.Stmt.(*ast.Insert)
	if !ok || len(n.Returning) > 0 {
		return false
	}
	if n.OnDuplicate != nil {
		if n.Query == nil {
			return false
		}
		v, ok := n.Query.Body.(*ast.Values)
		return !ok || len(v.Rows) > 1
	}
	in, ok := insertOf(st.bound.Plan).(*plan.Insert)
	return ok && in.Upsert != nil && in.Upsert.Again
}

// insertOf is the write statement below WITH.
func insertOf(n plan.Node) plan.Node {
	for {
		w, ok := n.(*plan.With)
		if !ok {
			return n
		}
		n = w.Body
	}
}

func (w *rounds) Close() error { return nil }

func (w *rounds) Next(ctx context.Context) (*vec.Batch, error) {
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

func (w *rounds) run(ctx context.Context) (rows int64, err error) {
	s := w.s
	err = s.atOnce(ctx, w.r, func() error {
		rows = 0
		if w.st.parsed.Stmt.(*ast.Insert).OnDuplicate == nil {
			// Each step leaves the rows that are there by then.
			for {
				n, _, err := w.step(ctx, 0)
				if rows += n; err != nil || n == 0 {
					return err
				}
			}
		}
		n, _, err := w.step(ctx, 0)
		switch sqlerr.CodeOf(err) {
		case sqlerr.CardinalityViolation, sqlerr.UniqueViolation:
		default:
			rows = n
			return err
		}
		for round, most := 1, 1; round <= most; round++ {
			var n int64
			if n, most, err = w.step(ctx, round); err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	return rows, err
}

// step runs one round, 0: the whole statement, and gives the rows that it affected, and how many rounds
// there are.
func (w *rounds) step(ctx context.Context, round int) (rows int64, most int, err error) {
	s := w.s
	env := s.bindEnv(ctx, w.args)
	if env.Round = round; w.args == nil {
		env.Args = []types.Datum{}
	}
	b, err := bind.Bind(env, w.st.parsed, w.st.params)
	if err != nil {
		return 0, 0, err
	}
	if b.Rounds != nil {
		row, err := s.firstRowWith(ctx, b.Rounds, w.args)
		if err != nil {
			return 0, 0, err
		}
		if !row[0].IsNull() {
			most = int(row[0].Int())
		}
	}
	r := &Result{session: s}
	run, err := s.buildWrite(ctx, b, b.Plan, w.args, r, s.commitTo(b))
	if err != nil {
		return 0, 0, err
	}
	defer run.env.Account.Close()
	for {
		batch, err := run.src.Next(ctx)
		if err != nil {
			run.src.Close()
			return 0, 0, err
		}
		if batch == nil {
			break
		}
	}
	for _, n := range r.notices {
		w.r.warn(n.Code, "%s", n.Message)
	}
	return run.env.Written, most, run.src.Close()
}

// atOnce runs what a statement does in several steps: all of it happens or nothing, in a block, too.
func (s *Session) atOnce(ctx context.Context, r *Result, f func() error) error {
	if !s.tx.block {
		return s.atomically(ctx, r, f)
	}
	was := s.tx.states()
	err := f()
	if err != nil {
		s.restore(ctx, was)
	}
	return err
}
