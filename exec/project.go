package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/vec"
)

// project computes columns; the selection passes through.
type project struct {
	in    vec.Source
	c     *eval.Ctx
	exprs []*eval.Program
	out   vec.Batch
}

func newProject(in vec.Source, c *eval.Ctx, exprs []*eval.Program) *project {
	return &project{in: in, c: c, exprs: exprs, out: vec.Batch{Cols: make([]*vec.Vector, len(exprs))}}
}

func (p *project) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := p.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if b.Len() == 0 {
			continue
		}
		if err := evalAll(p.c, p.exprs, b, p.out.Cols); err != nil {
			return nil, err
		}
		p.out.Sel, p.out.Rows = b.Sel, b.Rows
		return &p.out, nil
	}
}

func (p *project) Close() error { return p.in.Close() }
