package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// guardedJoin keeps a join's right side from running until a left row passes the guard: the
// subquery in an arm of CASE that no row takes is never evaluated. Left batches before that
// leave with NULLs; then the join takes over, whose condition holds the guard too.
type guardedJoin struct {
	left   vec.Source
	peeked *peeked
	join   vec.Source
	c      *eval.Ctx
	guard  *eval.Program
	nulls  []*vec.Vector
	pass   []uint16
	out    vec.Batch
	began  bool
}

// guardJoin puts the peeked sides below a join, before it is built, and takes its streams afterwards.
// A hash join that spills reads all partitions of its left side from one stream, so that there
// may be but one.
func guardJoin(env *Env, n *plan.Join, left []vec.Source) ([]*guardedJoin, []vec.Source, error) {
	if len(n.LeftKeys) > 0 {
		left = one(newGather(left))
	}
	guard, err := eval.Compile(n.Guard, n.Left.Columns())
	if err != nil {
		return nil, nil, err
	}
	added := columnTypes(n.Right.Columns())
	if n.Kind == plan.MarkJoin {
		added = []types.Type{n.Mark.Type}
	}
	guards, lefts := make([]*guardedJoin, len(left)), make([]vec.Source, len(left))
	for i, src := range left {
		g := &guardedJoin{left: src, peeked: &peeked{src: src}, c: env.evalCtx(), guard: guard.Clone()}
		for _, t := range added {
			g.nulls = append(g.nulls, vec.ConstOf(t, types.Null))
		}
		guards[i], lefts[i] = g, g.peeked
	}
	return guards, lefts, nil
}

// over gives each stream its guard.
func over(guards []*guardedJoin, streams []vec.Source) []vec.Source {
	if guards == nil {
		return streams
	}
	out := make([]vec.Source, len(streams))
	for i, g := range guards {
		g.join = streams[i]
		out[i] = g
	}
	return out
}

func (g *guardedJoin) Next(ctx context.Context) (*vec.Batch, error) {
	if g.began {
		return g.join.Next(ctx)
	}
	b, err := g.left.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	if g.pass, err = g.guard.Select(g.c, b, g.pass); err != nil {
		return nil, err
	}
	if len(g.pass) > 0 {
		g.began, g.peeked.first = true, b
		return g.join.Next(ctx)
	}
	g.out = vec.Batch{Cols: append(append(g.out.Cols[:0], b.Cols...), g.nulls...), Sel: b.Sel, Rows: b.Rows}
	return &g.out, nil
}

func (g *guardedJoin) Close() error { return g.join.Close() }

// peeked is a left side whose first batch was looked at already.
type peeked struct {
	src   vec.Source
	first *vec.Batch
}

func (r *peeked) Next(ctx context.Context) (*vec.Batch, error) {
	if b := r.first; b != nil {
		r.first = nil
		return b, nil
	}
	return r.src.Next(ctx)
}

func (r *peeked) Close() error { return r.src.Close() }
