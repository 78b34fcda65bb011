package exec

import (
	"context"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// writeStream is one goroutine's part of a write.
type writeStream struct {
	w                 *write
	src               vec.Source
	ctx               *eval.Ctx
	action, file, pos *eval.Program
	rowID, rowSeq     *eval.Program
	row, ret          []*eval.Program
	out               *dml.RowWriter
	buf               *rowBuffer
	keep              []uint16 // rows of the batch that act
	rows              []uint16 // of them, those with a new row
	cols, retCols     []*vec.Vector
}

func newWriteStream(ctx context.Context, w *write, i int) (*writeStream, error) {
	n, in := w.node, w.node.Input.Columns()
	s := &writeStream{w: w, src: w.in[i], ctx: w.env.evalCtx()}
	var err error
	for _, c := range []struct {
		e plan.Expr
		p **eval.Program
	}{{n.Action, &s.action}, {n.File, &s.file}, {n.Pos, &s.pos}, {n.RowID, &s.rowID}, {n.RowSeq, &s.rowSeq}} {
		if c.e == nil {
			continue
		}
		if *c.p, err = eval.Compile(c.e, in); err != nil {
			return nil, err
		}
	}
	if s.row, err = compileAll(n.Row, in); err != nil {
		return nil, err
	}
	s.cols = make([]*vec.Vector, len(s.row), len(s.row)+2)
	if n.Returning != nil {
		exprs := make([]plan.Expr, len(n.Returning))
		for j := range exprs {
			exprs[j] = n.Returning[j].Expr
		}
		if s.ret, err = compileAll(exprs, in); err != nil {
			return nil, err
		}
		s.retCols = make([]*vec.Vector, len(s.ret))
		s.buf = newRowBuffer(w.env, columnTypes(n.Columns()))
		w.bufs[i] = s.buf
	}
	if len(n.Row) > 0 || n.File == nil { // a table may have no columns
		if s.out, err = w.sink.Writer(ctx); err != nil {
			return nil, err
		}
		if w.late != nil {
			w.late.catch(s.out)
		}
	}
	return s, nil
}

func (s *writeStream) run(ctx context.Context) error {
	if s.out != nil {
		defer s.out.Abort()
	}
	for {
		b, err := s.src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		if err := s.batch(b); err != nil {
			return err
		}
	}
	if s.buf != nil {
		if err := s.buf.flush(false); err != nil {
			return err
		}
	}
	if s.out != nil {
		return s.out.Close()
	}
	return nil
}

// batch acts on the rows of one batch.
func (s *writeStream) batch(b *vec.Batch) error {
	if err := s.choose(b); err != nil {
		return err
	}
	own := vec.Batch{Cols: b.Cols, Rows: b.Rows, Sel: s.rows}
	if s.out != nil && len(s.rows) > 0 {
		s.cols = s.cols[:len(s.row)]
		if err := evalAll(s.ctx, s.row, &own, s.cols); err != nil {
			return err
		}
		if dml.Lineage(s.w.node) {
			if err := s.lineage(&own); err != nil {
				return err
			}
		}
		if err := s.out.Write(&vec.Batch{Cols: s.cols, Rows: b.Rows, Sel: s.rows}); err != nil {
			return err
		}
	}
	if s.buf == nil || len(s.keep) == 0 {
		return nil
	}
	own.Sel = s.keep
	if err := evalAll(s.ctx, s.ret, &own, s.retCols); err != nil {
		return err
	}
	return s.buf.append(&vec.Batch{Cols: s.retCols, Rows: b.Rows, Sel: s.keep})
}

// lineage adds the row's id (kept by an update, none for an insert) and no sequence number: a
// changed row's is that of the commit. A row that is only moved keeps both.
func (s *writeStream) lineage(b *vec.Batch) error {
	null := vec.ConstOf(types.T(types.Int8), types.Null)
	id := null
	if s.rowID != nil {
		v, err := s.rowID.Eval(s.ctx, b)
		if err != nil {
			return err
		}
		id = provisional(v, b, s.w.node.Target.Table, lake.LineageRowID)
	}
	seq := null
	if s.rowSeq != nil {
		v, err := s.rowSeq.Eval(s.ctx, b)
		if err != nil {
			return err
		}
		seq = provisional(v, b, s.w.node.Target.Table, lake.LineageSequence)
	}
	s.cols = append(s.cols, id, seq)
	return nil
}

// choose fills keep and rows: which rows act, and which of them have a new row.
func (s *writeStream) choose(b *vec.Batch) error {
	n := s.w.node
	s.keep, s.rows = s.keep[:0], s.rows[:0]
	var action, file, pos *vec.Vector
	for _, c := range []struct {
		p *eval.Program
		v **vec.Vector
	}{{s.action, &action}, {s.file, &file}, {s.pos, &pos}} {
		if c.p == nil {
			continue
		}
		v, err := c.p.Eval(s.ctx, b)
		if err != nil {
			return err
		}
		*c.v = v
	}
	var count [4]int64
	for _, i := range selection(b) {
		act := n.Fixed
		if action != nil {
			if action.Null(int(i)) {
				continue
			}
			act = plan.RowAction(action.Values().I64[action.Row(int(i))])
		}
		if act == plan.ActNothing {
			continue
		}
		if act != plan.ActInsert {
			invariant.Check(!file.Null(int(i)), "a row without an address is to be changed")
			first, err := s.w.sink.Touch(string(file.Bytes(int(i))), pos.Values().I64[pos.Row(int(i))])
			if err != nil {
				return err
			}
			if !first {
				continue
			}
		}
		count[act]++
		s.keep = append(s.keep, i)
		if act != plan.ActDelete {
			s.rows = append(s.rows, i)
		}
	}
	for a, k := range count {
		if k > 0 {
			s.w.sink.Count(plan.RowAction(a), k)
		}
	}
	return nil
}
