package exec

import (
	"context"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// reencoded hands on the batches of an operator in another shape: between the rows lie others that the
// selection leaves out, values come by dictionaries that hold more than is used, and columns of one value as a
// constant. No operator may depend on how a batch lies in memory; suites run their queries with it (the setting
// lhsql.reencode), as bugs there show in few plans otherwise.
type reencoded struct {
	vec.Source
	turn int
}

func (r *reencoded) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := r.Source.Next(ctx)
	if err != nil || b == nil {
		return b, err
	}
	n := b.Len()
	if n == 0 || 2*n+1 > vec.MaxBatchRows {
		return b, nil
	}
	r.turn++
	out := &vec.Batch{Rows: 2*n + 1, Sel: make([]uint16, n), Cols: make([]*vec.Vector, 0, len(b.Cols))}
	from := make([]int, out.Rows) // the row of b that each shows
	at := func(k int) int {
		if b.Sel != nil {
			return int(b.Sel[k])
		}
		return k
	}
	for k := range n {
		out.Sel[k] = uint16(2*k + 1)
		from[2*k], from[2*k+1] = at(n-1-k), at(k)
	}
	from[2*n] = at(0)
	for i := range b.Cols {
		out.Cols = append(out.Cols, reshape(b.Cols[i], from, (i+r.turn)%3))
	}
	return out, nil
}

// reshape makes a vector whose row i is row from[i] of v. Every second is one that the selection leaves out.
func reshape(v *vec.Vector, from []int, turn int) *vec.Vector {
	values := make([]types.Datum, len(from))
	text := v.Form == types.FormStr
	scalar := text || v.Form == types.FormI64
	same := scalar && !v.Null(from[0])
	for i, k := range from {
		values[i] = v.Datum(k)
		same = same && !values[i].IsNull() && (text && values[i].Str() == values[0].Str() || !text && values[i].Int() == values[0].Int())
	}
	switch {
	case turn == 0 && same:
		c := vec.ConstOf(v.Type, values[0])
		c.Type = v.Type
		return c
	case turn < 2 && scalar:
		a := vec.NewAppender(v.Type)
		d := &vec.Vector{Type: v.Type, Enc: vec.Dict, Codes: make([]uint32, len(from))}
		seen := 0
		for i := range from { // backwards, so that codes are no row numbers
			k := len(from) - 1 - i
			if values[k].IsNull() {
				if d.Valid == nil {
					d.Valid = vec.NewBitmap(len(from), true)
				}
				d.Valid.Clear(k)
				continue
			}
			a.AppendDatum(values[k])
			d.Codes[k] = uint32(seen)
			seen++
		}
		if seen > 0 {
			d.Dictionary = a.Vector()
			d.Form = d.Dictionary.Form
			return d
		}
	}
	a := vec.NewAppender(v.Type)
	for _, d := range values {
		a.AppendDatum(d)
	}
	return a.Vector()
}
