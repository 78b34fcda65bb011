package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// computeAggregate computes an aggregate over each row's frame:
//
//	the whole partition             one group per partition, all partitions at once
//	from the partition's start on   one state that grows with the rows
//	few rows                        each frame anew, a group per row
//	many rows                       whole blocks of rows from states made once, the ends anew
func (w *window) computeAggregate(ctx context.Context, call *windowCall, out *vec.Appender) error {
	f := call.plan.Frame
	a := &frameAggregate{w: w, call: call, out: out}
	if call.running == overall {
		return a.wholePartitions()
	}
	peer := 0
	for p := 0; p+1 < len(w.buf.parts); p++ {
		part := w.partition(p, &peer)
		frames, err := w.frames(call, part)
		if err != nil {
			return err
		}
		if f.Start.Kind == plan.UnboundedPreceding && f.Exclude == plan.ExcludeNoOthers {
			goesOn, more := w.piece(p)
			err = a.running(ctx, frames, goesOn, more)
		} else {
			err = a.sliding(ctx, frames)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// frameAggregate folds ranges of the buffer's rows into states.
type frameAggregate struct {
	w    *window
	call *windowCall
	out  *vec.Appender

	// The columns around the rows folded last: [base, limit) of the buffer.
	base, limit int
	args        []*vec.Vector
	filter      *vec.Vector
	sel         []uint16
	groups      []uint32
	res         vec.Vector
}

func (a *frameAggregate) newState(n int) (eval.AggState, error) {
	s, err := a.call.agg.New(a.w.c, a.call.call)
	if err == nil {
		s.Grow(n)
	}
	return s, err
}

// windowSpan is how many rows of the buffer are looked at as one batch.
const windowSpan = 1 << 15

// fold adds buffer rows [from, to) to group g of s.
func (a *frameAggregate) fold(s eval.AggState, from, to int, g uint32) error {
	for from < to {
		if from < a.base || from >= a.limit || a.args == nil {
			a.view(from)
		}
		end := min(to, a.limit)
		sel := identity[from-a.base : end-a.base]
		if a.filter != nil {
			a.sel = a.sel[:0]
			for _, r := range sel {
				if !a.filter.Null(int(r)) && a.filter.Bools[r] {
					a.sel = append(a.sel, r)
				}
			}
			sel = a.sel
		}
		if len(sel) > 0 {
			var groups []uint32
			if g > 0 {
				a.groups = grown(a.groups, len(sel))
				fill(a.groups, g)
				groups = a.groups
			}
			if err := s.Update(a.args, sel, a.limit-a.base, groups); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

func (a *frameAggregate) view(from int) {
	a.base = from &^ 63
	a.limit = min(a.base+windowSpan, a.w.buf.n)
	a.args = make([]*vec.Vector, len(a.call.args))
	for i, c := range a.call.args {
		a.args[i] = rowsOf(a.w.buf.cols[c].Vector(), a.base, a.limit)
	}
	if a.call.filter >= 0 {
		a.filter = rowsOf(a.w.buf.cols[a.call.filter].Vector(), a.base, a.limit)
	}
}

// result takes the values of groups [0, n) of s.
func (a *frameAggregate) result(s eval.AggState, n int) (*vec.Vector, error) {
	a.res.Type = a.call.call.Ret
	a.res.Form, a.res.Enc, a.res.Valid = a.res.Type.Form(), vec.Flat, nil
	return &a.res, s.Result(0, n, &a.res)
}

func (a *frameAggregate) wholePartitions() error {
	parts := a.w.buf.parts
	n := len(parts) - 1
	s, err := a.newState(n)
	if err != nil {
		return err
	}
	for p := range n {
		if goesOn, more := a.w.piece(p); goesOn || more {
			continue // its value is kept
		}
		if err := a.fold(s, parts[p], parts[p+1], uint32(p)); err != nil {
			return err
		}
	}
	v, err := a.result(s, n)
	if err != nil {
		return err
	}
	for p := range n {
		value, at := v, p
		goesOn, more := a.w.piece(p)
		if goesOn || more {
			value, at = a.call.kept.values.Vector(), 0
		}
		for range parts[p+1] - parts[p] {
			a.out.Append(value, at)
		}
		if goesOn && !more {
			a.call.kept = windowKept{}
		}
	}
	return nil
}

// running computes frames that begin with the partition: each frame is the one before and more.
// A partition that goes on from an earlier buffer goes on with its state.
func (a *frameAggregate) running(ctx context.Context, f *windowFrames, goesOn, more bool) (err error) {
	s := a.call.kept.state
	if a.call.kept.state = nil; !goesOn {
		if s, err = a.newState(1); err != nil {
			return err
		}
	}
	done := 0
	var v *vec.Vector
	for i := range f.Rows() {
		if i%64 == 0 { // a result may be as long as all rows so far
			if err := canceled(ctx); err != nil {
				return err
			}
		}
		if e := f.end[i]; e > done || v == nil {
			if err := a.fold(s, f.from+done, f.from+e, 0); err != nil {
				return err
			}
			done = max(done, e)
			if v, err = a.result(s, 1); err != nil {
				return err
			}
		}
		a.out.Append(v, 0)
	}
	if more {
		a.call.kept.state = s
	}
	return nil
}

const (
	frameGroups = 1024 // frames computed at a time
	blockRows   = 64
	manyRows    = 8 * blockRows // frames longer than this use blocks
)

// sliding computes frames of any shape.
func (a *frameAggregate) sliding(ctx context.Context, f *windowFrames) error {
	n := f.Rows()
	total := 0
	for i := range n {
		total += f.end[i] - f.start[i]
	}
	var blocks *frameBlocks
	if total/n > manyRows && a.mergeable() {
		blocks = &frameBlocks{a: a, f: f}
	}
	for from := 0; from < n; from += frameGroups {
		if err := canceled(ctx); err != nil {
			return err
		}
		to := min(from+frameGroups, n)
		s, err := a.newState(to - from)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if f.end[i]-f.start[i] > windowSpan/64 {
				if err := canceled(ctx); err != nil {
					return err
				}
			}
			for _, r := range f.Frame(i) {
				if blocks != nil {
					err = blocks.fold(s, r[0], r[1], uint32(i-from))
				} else {
					err = a.fold(s, f.from+r[0], f.from+r[1], uint32(i-from))
				}
				if err != nil {
					return err
				}
			}
		}
		v, err := a.result(s, to-from)
		if err != nil {
			return err
		}
		a.out.AppendSel(v, nil, to-from)
	}
	return nil
}

// mergeable aggregates' states only read what they merge, so that a block's serves many frames;
// sums of floats depend on the order of adding and are done in order.
func (a *frameAggregate) mergeable() bool {
	for _, t := range a.call.call.Args {
		if t.Kind == types.Float4 || t.Kind == types.Float8 {
			return a.call.plan.Func.Name == "min" || a.call.plan.Func.Name == "max" || a.call.plan.Func.Name == "count"
		}
	}
	switch a.call.plan.Func.Name {
	case "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor",
		"stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp":
		return true
	}
	return false
}

// frameBlocks holds a state per block of blockRows rows, and per blockRows blocks, made when
// first needed.
type frameBlocks struct {
	a     *frameAggregate
	f     *windowFrames
	small map[int]eval.AggState
	large map[int]eval.AggState
}

func (b *frameBlocks) fold(s eval.AggState, from, to int, g uint32) error {
	const large = blockRows * blockRows
	into := []uint32{g}
	for from < to {
		switch {
		case from%large == 0 && from+large <= to:
			st, err := b.block(&b.large, from, large)
			if err != nil {
				return err
			}
			if err := s.Merge(st, into); err != nil {
				return err
			}
			from += large
		case from%blockRows == 0 && from+blockRows <= to:
			st, err := b.block(&b.small, from, blockRows)
			if err != nil {
				return err
			}
			if err := s.Merge(st, into); err != nil {
				return err
			}
			from += blockRows
		default:
			end := min(to, from-from%blockRows+blockRows)
			if err := b.a.fold(s, b.f.from+from, b.f.from+end, g); err != nil {
				return err
			}
			from = end
		}
	}
	return nil
}

func (b *frameBlocks) block(m *map[int]eval.AggState, from, rows int) (eval.AggState, error) {
	if s := (*m)[from]; s != nil {
		return s, nil
	}
	if *m == nil {
		*m = map[int]eval.AggState{}
	}
	s, err := b.a.newState(1)
	if err != nil {
		return nil, err
	}
	(*m)[from] = s
	return s, b.a.fold(s, b.f.from+from, b.f.from+from+rows, 0)
}
