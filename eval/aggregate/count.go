package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/vec"
)

func registerCount() {
	eval.Register(
		eval.Immutable("count", nil, eval.TInt8, agg(newCount)),
		eval.Immutable("count", eval.Sig(eval.TAny.Kind), eval.TInt8, agg(newCount)),
	)
}

// countState counts rows, or the values of its argument that are not NULL.
type countState struct{ n []int64 }

func newCount(eval.AggCall) eval.AggState { return &countState{} }

func (s *countState) Grow(n int) { s.n = grow(s.n, n) }

func (s *countState) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	var valid vec.Bitmap
	if len(args) > 0 {
		valid = args[0].Valid
		if args[0].Enc == vec.Const && valid != nil {
			if args[0].Null(0) {
				return nil
			}
			valid = nil
		}
	}
	n := rows
	if sel != nil {
		n = len(sel)
	}
	switch {
	case valid == nil && groups == nil:
		s.n[0] += int64(n)
	case valid == nil:
		for _, g := range groups[:n] {
			s.n[g]++
		}
	default:
		return eachGrouped(args[0], sel, rows, groups, func(_ int, g uint32) error {
			s.n[g]++
			return nil
		})
	}
	return nil
}

func (s *countState) Merge(other eval.AggState, into []uint32) error {
	for i, n := range other.(*countState).n[:len(into)] {
		s.n[into[i]] += n
	}
	return nil
}

func (s *countState) Result(from, to int, out *vec.Vector) error {
	copy(eval.OutI64(out, to-from), s.n[from:to])
	return nil
}

func (s *countState) Bytes() int64 { return int64(cap(s.n)) * 8 }
