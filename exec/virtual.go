package exec

import (
	"context"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// virtual reads a computed table. Its rows come by call-back, so they are collected first: such
// tables are small.
type virtual struct {
	env  *Env
	node *plan.Virtual
	rows *rowBuffer
	at   int
}

func (v *virtual) Next(ctx context.Context) (*vec.Batch, error) {
	if v.rows == nil {
		v.rows = newRowBuffer(v.env, columnTypes(v.node.Cols))
		if err := v.fill(ctx); err != nil {
			return nil, err
		}
	}
	if v.at == len(v.rows.chunks) {
		return nil, nil
	}
	v.at++
	return v.rows.chunk(v.at - 1)
}

func (v *virtual) fill(ctx context.Context) error {
	n := v.node
	w := &rowWriter{ctx: ctx, rows: v.rows, limit: v.env.batchRows()}
	for _, c := range n.Cols {
		w.apps = append(w.apps, vec.NewAppender(c.Type))
	}
	out := make([]types.Datum, len(n.Cols))
	yield := func(row []types.Datum) error {
		for i, k := range n.Index {
			out[i] = row[k]
		}
		return w.add(out)
	}
	ask := newAsker(v.env, n)
	if ask.none {
		return w.finish()
	}
	var err error
	if t, ok := n.Table.(plan.ColumnTable); ok {
		err = t.RowsOf(ctx, plan.Ask{Need: n.Index, Equal: ask.equal, May: ask.may, Among: ask.among}, yield)
	} else {
		err = n.Table.Rows(ctx, ask.single(), yield)
	}
	if err != nil {
		return err
	}
	return w.finish()
}

func (v *virtual) Close() error { return v.rows.close() }
