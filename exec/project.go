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
	err   error // of a row behind those that left
}

func newProject(in vec.Source, c *eval.Ctx, exprs []*eval.Program) *project {
	return &project{in: in, c: c, exprs: exprs, out: vec.Batch{Cols: make([]*vec.Vector, len(exprs))}}
}

func (p *project) Next(ctx context.Context) (*vec.Batch, error) {
	if p.err != nil {
		return nil, p.err
	}
	for {
		b, err := p.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if b.Len() == 0 {
			continue
		}
		p.out.Sel, p.out.Rows = b.Sel, b.Rows
		if err := evalAll(p.c, p.exprs, b, p.out.Cols); err != nil {
			return p.beforeFailure(b, err)
		}
		return &p.out, nil
	}
}

// beforeFailure gives the rows of b before the one that fails.
func (p *project) beforeFailure(b *vec.Batch, err error) (*vec.Batch, error) {
	p.out.Sel, p.err = untilFailure(b, err, func(part *vec.Batch) ([]uint16, error) {
		return part.Sel, evalAll(p.c, p.exprs, part, p.out.Cols)
	})
	if len(p.out.Sel) == 0 {
		return nil, p.err
	}
	part := *b
	part.Sel = p.out.Sel
	if err := evalAll(p.c, p.exprs, &part, p.out.Cols); err != nil {
		return nil, err
	}
	return &p.out, nil
}

func (p *project) Close() error { return p.in.Close() }
