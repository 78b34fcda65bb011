package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerCollect() {
	array := &eval.AggImpl{Ordered: true, New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) {
		return &arrayAgg{collected: newCollected(call.Args[0])}, nil
	}}
	toArray := func(args []types.Type) (types.Type, error) { return types.ArrayOf(args[0]), nil }
	eval.Register(
		eval.Immutable("array_agg", eval.Sig(types.AnyNonArray), eval.TAnyArray, array).Returning(toArray).CalledOnNull(),
		eval.Immutable("array_agg", eval.Sig(types.AnyArray), eval.TAnyArray, array).Returning(toArray).CalledOnNull(),
	)
}

// collected keeps the values of all groups in the order in which they came.
type collected struct {
	all  *vec.Appender
	rows [][]uint32 // by group: which of all
	n    int64
}

// collectStep is for how many values room is made at once.
const collectStep = 4096

func newCollected(t types.Type) collected { return collected{all: vec.NewAppender(t)} }

func (s *collected) Grow(n int)   { s.rows = grow(s.rows, n) }
func (s *collected) Bytes() int64 { return s.all.Bytes() + int64(cap(s.rows))*24 + s.n*6 }

func (s *collected) add(v *vec.Vector, i int, g uint32) {
	s.rows[g] = room.Append(s.rows[g], uint32(s.all.Len()))
	if s.n&(collectStep-1) == 0 {
		s.all.Reserve(collectStep)
	}
	s.all.Append(v, i)
	s.n++
}

func (s *collected) merge(o *collected, into []uint32) {
	v := o.all.Vector()
	for i, g := range into {
		for _, r := range o.rows[i] {
			s.add(v, int(r), g)
		}
	}
}

// arrayAgg is array_agg, NULLs included; no rows make NULL.
type arrayAgg struct{ collected }

func (s *arrayAgg) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	before := int(s.all.Bytes())
	return eachGrouped(nil, sel, rows, groups, func(i int, g uint32) error {
		s.add(args[0], i, g)
		return vec.CheckBytes(int(s.all.Bytes()) - before) // one batch of large arrays may be too much
	})
}

func (s *arrayAgg) Merge(other eval.AggState, into []uint32) error {
	s.merge(&other.(*arrayAgg).collected, into)
	return nil
}

func (s *arrayAgg) Result(from, to int, out *vec.Vector) error {
	n := to - from
	child := vec.NewAppender(out.Type.Elem())
	size := 0
	for _, rows := range s.rows[from:to] {
		size += len(rows)
	}
	child.Reserve(size)
	out.Form, out.Offsets = types.FormList, make([]uint32, n+1)
	v := s.all.Vector()
	for i := 0; i < n; i++ {
		if len(s.rows[from+i]) == 0 {
			eval.NullOut(out, i, n)
		}
		for _, r := range s.rows[from+i] {
			child.Append(v, int(r))
		}
		out.Offsets[i+1] = uint32(child.Len())
	}
	out.Child = child.Vector()
	return nil
}
