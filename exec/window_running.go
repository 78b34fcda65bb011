package exec

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// A partition is computed in pieces where each call's value at a row follows from the row's piece
// and from a little that is kept of the pieces before. Then a partition of any size takes the
// memory of a piece.

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
)

// keptRows bounds how far back lag may look and still run: what is kept should be small.
const keptRows = 1024

// windowKept is what a running call keeps of the pieces before.
type windowKept struct {
	rows, groups int64
	values       *vec.Appender // firstRow: one value; rowsBefore: the last ones
	state        eval.AggState
}

// runningOf tells how a call runs, how many rows it looks back, and whether a piece must end
// where a peer group does.
func runningOf(c *plan.WindowCall, aggregate bool) (how running, back int, peers bool) {
	f := c.Frame
	fromStart := f.Start.Kind == plan.UnboundedPreceding && f.Exclude == plan.ExcludeNoOthers
	toRow := fromStart && f.End.Kind == plan.CurrentRow
	peers = f.Mode != plan.RowsFrame
	switch {
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
