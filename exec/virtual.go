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
	err := n.Table.Rows(ctx, v.equal(), func(row []types.Datum) error {
		for i, k := range n.Index {
			out[i] = row[k]
		}
		return w.add(out)
	})
	if err != nil {
		return err
	}
	return w.finish()
}

// equal finds the predicate's terms column = constant.
func (v *virtual) equal() map[int]types.Datum {
	eq := map[int]types.Datum{}
	at := map[plan.ColID]int{}
	for i, c := range v.node.Cols {
		at[c.ID] = v.node.Index[i]
	}
	var visit func(e plan.Expr)
	visit = func(e plan.Expr) {
		switch e := e.(type) {
		case *plan.And:
			for _, a := range e.Args {
				visit(a)
			}
		case *plan.Call:
			if !e.Func.Operator || e.Func.Name != "=" || len(e.Args) != 2 {
				return
			}
			col, k := e.Args[0], e.Args[1]
			if _, ok := k.(*plan.Col); ok {
				col, k = k, col
			}
			c, ok1 := col.(*plan.Col)
			d, ok2 := k.(*plan.Const)
			if ok1 && ok2 && !d.Value.IsNull() {
				if i, ok := at[c.ID]; ok && c.Typ.Same(d.Typ) {
					eq[i] = d.Value
				}
			}
		}
	}
	if v.node.Pred != nil {
		visit(v.node.Pred)
	}
	return eq
}

func (v *virtual) Close() error { return v.rows.close() }
