package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerBits() {
	and := func(a, b int64) int64 { return a & b }
	or := func(a, b int64) int64 { return a | b }
	xor := func(a, b int64) int64 { return a ^ b }
	for _, k := range []types.Kind{types.Int2, types.Int4, types.Int8} {
		eval.Register(
			eval.Immutable("bit_and", eval.Sig(k), types.T(k), foldAgg(and, true)),
			eval.Immutable("bit_or", eval.Sig(k), types.T(k), foldAgg(or, true)),
			eval.Immutable("bit_xor", eval.Sig(k), types.T(k), foldAgg(xor, false)),
		)
	}
	eval.Register(
		eval.Immutable("bool_and", eval.Sig(types.Bool), eval.TBool, foldAgg(and, true)),
		eval.Immutable("every", eval.Sig(types.Bool), eval.TBool, foldAgg(and, true)),
		eval.Immutable("bool_or", eval.Sig(types.Bool), eval.TBool, foldAgg(or, true)),
	)
}

// foldAgg folds with an associative operation on bits; booleans are 0 and 1.
func foldAgg(f func(a, b int64) int64, idempotent bool) *eval.AggImpl {
	return &eval.AggImpl{
		New:               func(*eval.Ctx, eval.AggCall) (eval.AggState, error) { return &foldState{f: f}, nil },
		IgnoresDuplicates: idempotent,
	}
}

type foldState struct {
	f    func(a, b int64) int64
	val  []int64
	seen []bool
}

func (s *foldState) Grow(n int)   { s.val, s.seen = grow(s.val, n), grow(s.seen, n) }
func (s *foldState) Bytes() int64 { return int64(cap(s.val))*8 + int64(cap(s.seen)) }

func (s *foldState) add(g uint32, x int64) {
	if s.seen[g] {
		x = s.f(s.val[g], x)
	}
	s.val[g], s.seen[g] = x, true
}

func (s *foldState) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	f := v.Values()
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		r := v.Row(i)
		if f.Form == types.FormI64 {
			s.add(g, f.I64[r])
			return nil
		}
		x := int64(0)
		if f.Bools[r] {
			x = 1
		}
		s.add(g, x)
		return nil
	})
}

func (s *foldState) Merge(other eval.AggState, into []uint32) error {
	o := other.(*foldState)
	for i, g := range into {
		if o.seen[i] {
			s.add(g, o.val[i])
		}
	}
	return nil
}

func (s *foldState) Result(from, to int, out *vec.Vector) error {
	if out.Type.Kind == types.Bool {
		b := eval.OutBools(out, to-from)
		for i := range b {
			b[i] = s.val[from+i] != 0
		}
	} else {
		copy(eval.OutI64(out, to-from), s.val[from:to])
	}
	nullUnseen(s.seen, from, to, out)
	return nil
}
