package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// A partition is computed in pieces where each call's value at a row follows from the row's piece
// and from a little that is kept of the pieces before, or is one for the whole partition. Then a
// partition of any size takes the memory of a piece, and where the end must be known at the
// beginning, a place on disk.

// running tells how a call goes on from piece to piece.
type running uint8

const (
	notRunning  running = iota // it needs the whole partition
	withinPiece                // nothing is kept
	afterRows                  // counts on from the rows before
	afterGroups                // counts on from the peer groups before
	firstRow                   // the first row's value stays
	rowsBefore                 // looks back a few rows
	growing                    // an aggregate's state goes on
	overall                    // an aggregate of the whole partition
)

// keptRows bounds how far back lag may look and still run: what is kept should be small.
const keptRows = 1024

// windowKept is what a running call keeps of the pieces before.
type windowKept struct {
	rows, groups int64
	values       *vec.Appender // firstRow, overall: one value; rowsBefore: the last ones
	state        eval.AggState
}

// runningOf tells how a call runs, how many rows it looks back, and whether a piece must end
// where a peer group does.
func runningOf(c *plan.WindowCall, aggregate, ordered bool) (how running, back int, peers bool) {
	f := c.Frame
	fromStart := f.Start.Kind == plan.UnboundedPreceding && f.Exclude == plan.ExcludeNoOthers
	toRow := fromStart && f.End.Kind == plan.CurrentRow
	peers = f.Mode != plan.RowsFrame
	switch {
	case aggregate && fromStart && (f.End.Kind == plan.UnboundedFollowing || toRow && f.Mode == plan.RangeFrame && !ordered):
		return overall, 0, false
	case aggregate && toRow:
		return growing, 0, peers
	case aggregate:
		return notRunning, 0, false
	}
	switch c.Func.Name {
	case "row_number":
		return afterRows, 0, false
	case "rank":
		return afterRows, 0, true
	case "dense_rank":
		return afterGroups, 0, true
	case "last_value":
		if toRow {
			return withinPiece, 0, peers
		}
	case "first_value":
		if fromStart && f.End.Kind != plan.OffsetPreceding {
			return firstRow, 0, false
		}
	case "lag":
		if len(c.Args) == 1 {
			return rowsBefore, 1, false
		}
		if k, ok := c.Args[1].(*plan.Const); ok && !k.Value.IsNull() && k.Value.Int() >= 0 && k.Value.Int() <= keptRows {
			return rowsBefore, int(k.Value.Int()), false
		}
	}
	return notRunning, 0, false
}

// append adds what a call gives for a piece, v, to out: corrected by what is kept if the piece
// goes on from another one. args are the call's over the piece; more: it goes on after this one.
func (k *windowKept) append(call *windowCall, out *vec.Appender, v *vec.Vector, args []*vec.Vector, part *windowPart, goesOn, more bool) {
	n := part.to - part.from
	done := 0
	switch {
	case !goesOn:
		*k = windowKept{}
	case call.running == afterRows:
		addTo(v.I64[:n], k.rows)
	case call.running == afterGroups:
		addTo(v.I64[:n], k.groups)
	case call.running == firstRow:
		for ; done < n; done++ {
			out.Append(k.values.Vector(), 0)
		}
	case call.running == rowsBefore:
		for ; done < min(call.back, n); done++ {
			if at := k.len() - call.back + done; at >= 0 {
				out.Append(k.values.Vector(), at)
			} else {
				out.Append(v, done)
			}
		}
	}
	if done == 0 {
		appendAll(out, v, n)
	} else {
		for ; done < n; done++ {
			out.Append(v, done)
		}
	}
	if !more {
		*k = windowKept{}
		return
	}
	k.rows += int64(n)
	k.groups += int64(len(part.starts) - 1)
	switch {
	case call.running == firstRow && !goesOn:
		k.values = vec.NewAppender(v.Type)
		k.values.Append(v, 0)
	case call.running == rowsBefore:
		k.keep(args[0], n, call.back)
	}
}

func addTo(v []int64, by int64) {
	for i := range v {
		v[i] += by
	}
}

// keep holds the last rows values of those kept and the n of v.
func (k *windowKept) keep(v *vec.Vector, n, rows int) {
	next := vec.NewAppender(v.Type)
	for i := max(k.len()-max(rows-n, 0), 0); i < k.len(); i++ {
		next.Append(k.values.Vector(), i)
	}
	for i := max(n-rows, 0); i < n; i++ {
		next.Append(v, i)
	}
	k.values = next
}

func (k *windowKept) len() int {
	if k.values == nil {
		return 0
	}
	return k.values.Len()
}

func (k *windowKept) bytes() int64 {
	var n int64
	if k.values != nil {
		n += k.values.Bytes()
	}
	if k.state != nil {
		n += k.state.Bytes()
	}
	return n
}

// spool reads the rest of the buffer's last partition: the calls that want all of it learn their
// value, and its rows are put by to be read again as the next pieces.
func (w *window) spool(ctx context.Context) error {
	head, goesOn := w.buf, w.goesOn
	key, cut := append([]byte(nil), w.lastKey...), w.lastCut
	from := head.parts[len(head.parts)-2]
	folds := make([]*frameAggregate, len(w.calls))
	for i := range w.calls {
		if w.calls[i].running != overall {
			continue
		}
		a := &frameAggregate{w: w, call: &w.calls[i]}
		var err error
		if a.call.kept.state, err = a.newState(1); err != nil {
			return err
		}
		if err := a.fold(a.call.kept.state, from, head.n, 0); err != nil {
			return err
		}
		folds[i] = a
	}
	w.buf = newWindowRows(w.types, nil)
	rest := newRowBuffer(w.env, w.types)
	w.replay, w.replayAt = rest, -1
	for w.more {
		if err := w.fill(ctx); err != nil {
			return err
		}
		for _, a := range folds {
			if a == nil {
				continue
			}
			a.args = nil // the buffer is another
			if err := a.fold(a.call.kept.state, 0, w.buf.n, 0); err != nil {
				return err
			}
		}
		for at := 0; at < w.buf.n; at += windowSpan {
			to := min(at+windowSpan, w.buf.n)
			b := &vec.Batch{Rows: to - at}
			for _, c := range w.buf.cols {
				b.Cols = append(b.Cols, denseRows(c.Vector(), at, to))
			}
			if err := rest.append(b); err != nil {
				return err
			}
		}
	}
	if err := rest.flush(false); err != nil {
		return err
	}
	for _, a := range folds {
		if a == nil {
			continue
		}
		v, err := a.result(a.call.kept.state, 1)
		if err != nil {
			return err
		}
		k := &a.call.kept
		k.state, k.values = nil, vec.NewAppender(v.Type)
		k.values.Append(v, 0)
	}
	w.buf, w.goesOn, w.more = head, goesOn, true
	w.lastKey, w.lastCut = key, cut
	if b := w.carry; b != nil { // of the partition that follows
		w.after, w.carry = &vec.Batch{Cols: b.Cols, Sel: selection(b)[w.carryAt:], Rows: b.Rows}, nil
	}
	w.replayAt, w.ended = 0, false
	return nil
}

// next is the input's next batch, after the rows put by.
func (w *window) next(ctx context.Context) (*vec.Batch, error) {
	if w.replay == nil || w.replayAt < 0 {
		return w.input(ctx)
	}
	if w.replayAt < len(w.replay.chunks) {
		w.replayAt++
		return w.replay.chunk(w.replayAt - 1)
	}
	err := w.replay.close()
	w.replay = nil
	b := w.after // nil: the partition was the last one
	w.after = nil
	return b, err
}
