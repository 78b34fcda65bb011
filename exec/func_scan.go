package exec

import (
	"context"
	"iter"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// funcScan reads set-returning functions in FROM, in lock step. Functions hand their rows to a
// call-back, so the rows are collected first, on disk if they are many.
type funcScan struct {
	env    *Env
	node   *plan.FuncScan
	c      *eval.Ctx
	rows   *rowBuffer
	at     int
	widths []int
}

func newFuncScan(env *Env, n *plan.FuncScan) *funcScan {
	f := &funcScan{env: env, node: n, c: env.evalCtx()}
	f.widths = n.Widths()
	return f
}

func (f *funcScan) Next(ctx context.Context) (*vec.Batch, error) {
	if f.rows == nil {
		f.rows = newRowBuffer(f.env, columnTypes(f.node.Cols))
		if err := f.fill(ctx); err != nil {
			return nil, err
		}
	}
	if f.at == len(f.rows.chunks) {
		return nil, nil
	}
	f.at++
	return f.rows.chunk(f.at - 1)
}

// fill computes all rows. One call goes row by row; several are pulled side by side.
func (f *funcScan) fill(ctx context.Context) error {
	n := f.node
	w := newRowWriter(ctx, f.rows, columnTypes(n.Cols), f.env.batchRows())
	row := make([]types.Datum, len(n.Cols))
	emit := func(parts []types.Datum) error {
		k := 0
		for i, d := range parts {
			k = f.spread(row, k, i, d)
		}
		if n.Ordinality {
			row[k] = types.NewInt(int64(w.total) + 1)
		}
		return w.add(row)
	}
	if len(n.Calls) == 1 {
		if err := f.call(n.Calls[0], func(d types.Datum) error { return emit([]types.Datum{d}) }); err != nil {
			return err
		}
		return w.finish()
	}
	sets := make([]func() (types.Datum, error, bool), len(n.Calls))
	for i, c := range n.Calls {
		next, stop := iter.Pull2(f.values(ctx, c))
		defer stop()
		sets[i] = next
	}
	parts := make([]types.Datum, len(sets))
	for {
		more := false
		for i, next := range sets {
			d, err, ok := next()
			if err != nil {
				return err
			}
			parts[i] = d // NULL when the set has ended
			more = more || ok
		}
		if !more {
			return w.finish()
		}
		if err := emit(parts); err != nil {
			return err
		}
	}
}

// values is call's rows, to be pulled beside others'.
func (f *funcScan) values(ctx context.Context, c *plan.Call) iter.Seq2[types.Datum, error] {
	return pulled(ctx, func(yield func(types.Datum) error) error { return f.call(c, yield) })
}

// spread puts call i's value, or its members, from column k on.
func (f *funcScan) spread(row []types.Datum, k, i int, d types.Datum) int {
	isStruct := f.node.Calls[i].Typ.Kind == types.Struct
	for m := range f.widths[i] {
		switch {
		case d.IsNull():
			row[k] = types.Null
		case isStruct && d.Form() == types.FormStruct && len(f.node.Calls[i].Typ.Fields()) == f.widths[i]:
			row[k] = d.List()[m]
		default:
			row[k] = d
		}
		k++
	}
	return k
}

// call yields the rows of one call; a scalar function makes one.
func (f *funcScan) call(c *plan.Call, yield func(types.Datum) error) error {
	if c.Func.Kind != plan.SetFunc {
		d, err := eval.EvalConst(f.c, c)
		if err != nil {
			return err
		}
		return yield(d)
	}
	args := make([]types.Datum, len(c.Args))
	for i, a := range c.Args {
		var err error
		if args[i], err = eval.EvalConst(f.c, a); err != nil {
			return err
		}
		if args[i].IsNull() && c.Func.Strict {
			return nil
		}
	}
	return eval.Declaration(c.Func).SetFor(c.Typ)(f.c, args, yield)
}

func (f *funcScan) Close() error { return f.rows.close() }

// rowWriter collects rows of single values into a buffer.
type rowWriter struct {
	ctx   context.Context
	rows  *rowBuffer
	apps  []*vec.Appender
	long  varying
	limit int
	n     int
	total int
}

func newRowWriter(ctx context.Context, rows *rowBuffer, t []types.Type, limit int) *rowWriter {
	w := &rowWriter{ctx: ctx, rows: rows, limit: limit, long: varyingOf(t)}
	for i := range t {
		w.apps = append(w.apps, vec.NewAppender(t[i]))
	}
	return w
}

func (w *rowWriter) add(row []types.Datum) error {
	for i, a := range w.apps {
		a.AppendDatum(row[i])
	}
	w.n++
	w.total++
	if w.n < w.limit && w.long.bytes(w.apps) < wideBatch {
		return nil
	}
	if err := canceled(w.ctx); err != nil {
		return err
	}
	return w.flush()
}

func (w *rowWriter) flush() error {
	b := &vec.Batch{Rows: w.n}
	for _, a := range w.apps {
		b.Cols = append(b.Cols, a.Vector())
	}
	err := w.rows.append(b)
	for _, a := range w.apps {
		a.Reset()
	}
	w.n = 0
	return err
}

func (w *rowWriter) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.rows.flush(false)
}
