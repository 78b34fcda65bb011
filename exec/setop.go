package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Set operations but UNION ALL are an aggregation over both inputs, grouped by all columns:
// DISTINCT and UNION need the groups alone, the others how often a row is on each side.
//
//	INTERSECT          one,       where both counts are positive
//	INTERSECT ALL      min(l, r)  copies
//	EXCEPT             one,       where l is positive and r is 0
//	EXCEPT ALL         l - r      copies, if positive

// distinctRows makes the operator that keeps one row of each set of equal rows. conform may
// be nil.
func distinctRows(env *Env, t []types.Type, parts []vec.Source) *aggregator {
	spec := &aggSpec{env: env, types: t, keys: len(t), sets: allKeys(len(t))}
	in := make([]aggInput, len(parts))
	for i, p := range parts {
		in[i] = aggInput{src: p, eval: func(b *vec.Batch) ([]*vec.Vector, error) { return b.Cols, nil }}
	}
	return newAggregator(spec, in, false)
}

func allKeys(n int) [][]int {
	set := make([]int, n)
	for i := range set {
		set[i] = i
	}
	return [][]int{set}
}

func newSetOp(env *Env, n *plan.SetOp, left, right []vec.Source) vec.Source {
	t := columnTypes(n.Cols)
	if n.Kind == plan.Union {
		return distinctRows(env, t, append(append([]vec.Source(nil), left...), right...))
	}
	spec := &aggSpec{env: env, types: append(append([]types.Type(nil), t...), types.T(types.Bool)), keys: len(t), sets: allKeys(len(t))}
	spec.calls = []aggCall{{
		args: []int{len(t)}, filter: -1, ret: types.T(types.Int8),
		state: func(*eval.Ctx) (eval.AggState, error) { return &sideCounts{node: n}, nil },
	}}
	var in []aggInput
	for side, parts := range [][]vec.Source{left, right} {
		isLeft := vec.ConstOf(types.T(types.Bool), types.NewBool(side == 0))
		for _, p := range parts {
			var cols []*vec.Vector
			in = append(in, aggInput{src: p, eval: func(b *vec.Batch) ([]*vec.Vector, error) {
				cols = append(append(cols[:0], b.Cols...), isLeft)
				return cols, nil
			}})
		}
	}
	return &repeated{in: newAggregator(spec, in, false), limit: env.batchRows()}
}

// sideCounts is an aggregate state that counts rows by side and gives how many copies of the
// row the set operation returns. Its argument is true for rows of the left side.
type sideCounts struct {
	node *plan.SetOp
	l, r []int64
}

func (s *sideCounts) Grow(n int) {
	for len(s.l) < n {
		s.l, s.r = append(s.l, 0), append(s.r, 0)
	}
}

func (s *sideCounts) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	if sel == nil {
		sel = identity[:rows]
	}
	v := args[0]
	f := v.Values()
	for i, r := range sel {
		g := uint32(0)
		if groups != nil {
			g = groups[i]
		}
		if f.Bools[v.Row(int(r))] {
			s.l[g]++
		} else {
			s.r[g]++
		}
	}
	return nil
}

func (s *sideCounts) Merge(other eval.AggState, into []uint32) error {
	o := other.(*sideCounts)
	for i, g := range into {
		s.l[g] += o.l[i]
		s.r[g] += o.r[i]
	}
	return nil
}

func (s *sideCounts) Result(from, to int, out *vec.Vector) error {
	vals := eval.OutI64(out, to-from)
	for i := range vals {
		l, r := s.l[from+i], s.r[from+i]
		n := int64(0)
		switch {
		case s.node.Kind == plan.Intersect && s.node.All:
			n = min(l, r)
		case s.node.Kind == plan.Intersect:
			n = min(l, r, 1)
		case s.node.All:
			n = max(l-r, 0)
		case r == 0:
			n = 1
		}
		vals[i] = n
	}
	return nil
}

func (s *sideCounts) Bytes() int64 { return int64(cap(s.l)+cap(s.r)) * 8 }

// repeated hands out each row as often as its last column says, without that column.
type repeated struct {
	in    vec.Source
	limit int
	b     *vec.Batch
	row   int
	done  int64 // copies of row so far
	pos   []uint16
	cols  []*column
	out   vec.Batch
}

func (r *repeated) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if r.b == nil {
			b, err := r.in.Next(ctx)
			if b == nil || err != nil {
				return nil, err
			}
			r.b, r.row, r.done = b, 0, 0
		}
		n := len(r.b.Cols) - 1
		r.pos = r.pos[:0]
		for r.row < r.b.Rows && len(r.pos) < r.limit {
			k := min(r.b.Cols[n].I64[r.row]-r.done, int64(r.limit-len(r.pos)))
			for range k {
				r.pos = append(r.pos, uint16(r.row))
			}
			if r.done += k; r.done == r.b.Cols[n].I64[r.row] {
				r.row++
				r.done = 0
			}
		}
		b := r.b
		if r.row == r.b.Rows {
			r.b = nil
		}
		if len(r.pos) == 0 {
			continue
		}
		r.out.Cols = r.out.Cols[:0]
		for c, v := range b.Cols[:n] {
			if len(r.cols) <= c {
				r.cols = append(r.cols, newColumn(v.Type))
			}
			r.out.Cols = append(r.out.Cols, r.cols[c].take(v, r.pos))
		}
		r.out.Rows = len(r.pos)
		return &r.out, nil
	}
}

func (r *repeated) Close() error { return r.in.Close() }

// concat hands out its inputs' rows one after the other: UNION ALL in one partition.
type concat struct {
	in []vec.Source
	at int
}

func (c *concat) Next(ctx context.Context) (*vec.Batch, error) {
	for c.at < len(c.in) {
		b, err := c.in[c.at].Next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		c.at++
	}
	return nil, nil
}

func (c *concat) Close() error { return closeAll(c.in) }

// unionAll pairs the partitions of both sides, so that there are as many as the larger has.
func unionAll(left, right []vec.Source) []vec.Source {
	if len(left) < len(right) {
		left, right = right, left
	}
	out := make([]vec.Source, len(left))
	for i, l := range left {
		if i < len(right) {
			out[i] = &concat{in: []vec.Source{l, right[i]}}
		} else {
			out[i] = l
		}
	}
	return out
}
