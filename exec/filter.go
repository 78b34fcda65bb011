package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/vec"
)

// filter passes the rows for which a predicate is true, by selection.
type filter struct {
	in   vec.Source
	c    *eval.Ctx
	pred *eval.Program
	sel  []uint16
	out  vec.Batch
}

func (f *filter) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := f.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		f.sel, err = f.pred.Select(f.c, b, f.sel)
		if err != nil {
			return nil, err
		}
		if len(f.sel) == 0 {
			continue
		}
		f.out = vec.Batch{Cols: b.Cols, Sel: f.sel, Rows: b.Rows}
		if len(f.sel) == b.Rows {
			f.out.Sel = nil
		}
		return &f.out, nil
	}
}

func (f *filter) Close() error { return f.in.Close() }
