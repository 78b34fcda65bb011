package aggregate

import (
	"bytes"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerExtreme() {
	for name, want := range map[string]int{"min": -1, "max": 1} {
		impl := &eval.AggImpl{
			New:               func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) { return NewExtreme(call, want), nil },
			IgnoresDuplicates: true,
			ShowsOrder:        func(args []types.Type) bool { return len(args) == 1 && types.LooksDiffer(args[0]) },
		}
		for _, k := range []types.Kind{types.Int2, types.Int4, types.Int8, types.Oid, types.Float4,
			types.Float8, types.Numeric, types.Date, types.Time, types.TimeTZ, types.Timestamp,
			types.TimestampTZ, types.TimestampNS, types.TimestampTZNS, types.Interval, types.Text,
			types.Bpchar, types.AnyArray} {
			eval.Register(eval.Immutable(name, eval.Sig(k), types.T(k), impl).Returning(sameType))
		}
	}
	eval.Register(eval.Immutable("any_value", eval.Sig(types.AnyElement), eval.TAnyElement, &eval.AggImpl{
		New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) {
			return &datumExtreme{typ: call.Args[0]}, nil
		},
		IgnoresDuplicates: true,
	}).Returning(sameType))
}

// NewExtreme makes the state of min (want -1) or max (want 1). Of equal values that look different (2
// and 2.0, 1 day and 24:00:00, 0 and -0) the later one stays, as PostgreSQL's numeric_larger and its
// like have it; bpchar's take the first. Where rows come in no order, the look decides.
func NewExtreme(call eval.AggCall, want int) eval.AggState {
	t := call.Args[0]
	tie := tieLater
	switch {
	case call.Unordered:
		tie = tieByLook
	case t.Kind == types.Bpchar:
		tie = tieFirst
	}
	switch {
	case t.Form() == types.FormI64 && t.Kind != types.Numeric:
		return &intExtreme{want: want}
	case t.Form() == types.FormF64:
		return &floatExtreme{want: want, tie: tie}
	case t.Kind == types.Text:
		return &textExtreme{want: want}
	case t.Kind == types.Numeric && t.Fixed:
		return &numericExtreme{typ: t, want: want}
	}
	return &datumExtreme{typ: t, want: want, tie: tie}
}

// tieRule says which of two equal values stays.
type tieRule uint8

const (
	tieFirst tieRule = iota
	tieLater
	tieByLook
)

// intExtreme: everything that lies as int64.
type intExtreme struct {
	want int
	val  []int64
	seen []bool
}

func (s *intExtreme) Grow(n int)   { s.val, s.seen = grow(s.val, n), grow(s.seen, n) }
func (s *intExtreme) Bytes() int64 { return int64(cap(s.val))*8 + int64(cap(s.seen)) }

func (s *intExtreme) add(g uint32, x int64) {
	if !s.seen[g] || s.want < 0 && x < s.val[g] || s.want > 0 && x > s.val[g] {
		s.val[g], s.seen[g] = x, true
	}
}

func (s *intExtreme) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	vals := v.Values().I64
	n := rows
	if sel != nil {
		n = len(sel)
	}
	switch {
	case n == 0:
	case v.Enc == vec.Const && groups == nil:
		if !v.Null(0) {
			s.add(0, vals[0])
		}
	case v.Enc == vec.Flat && v.Valid == nil && sel == nil && groups == nil:
		best := vals[0]
		if s.want < 0 {
			for _, x := range vals[:rows] {
				best = min(best, x)
			}
		} else {
			for _, x := range vals[:rows] {
				best = max(best, x)
			}
		}
		s.add(0, best)
	case v.Enc == vec.Flat && v.Valid == nil && groups != nil:
		for k := 0; k < n; k++ {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			s.add(groups[k], vals[i])
		}
	default:
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			s.add(g, vals[v.Row(i)])
			return nil
		})
	}
	return nil
}

func (s *intExtreme) Merge(other eval.AggState, into []uint32) error {
	o := other.(*intExtreme)
	for i, g := range into {
		if o.seen[i] {
			s.add(g, o.val[i])
		}
	}
	return nil
}

func (s *intExtreme) Result(from, to int, out *vec.Vector) error {
	copy(eval.OutI64(out, to-from), s.val[from:to])
	nullUnseen(s.seen, from, to, out)
	return nil
}

func nullUnseen(seen []bool, from, to int, out *vec.Vector) {
	for g := from; g < to; g++ {
		if !seen[g] {
			eval.NullOut(out, g-from, to-from)
		}
	}
}

// floatExtreme: NaN is the largest.
type floatExtreme struct {
	want int
	tie  tieRule
	val  []float64
	seen []bool
}

func (s *floatExtreme) Grow(n int)   { s.val, s.seen = grow(s.val, n), grow(s.seen, n) }
func (s *floatExtreme) Bytes() int64 { return int64(cap(s.val))*8 + int64(cap(s.seen)) }

func (s *floatExtreme) add(g uint32, x float64) {
	if !s.seen[g] {
		s.val[g], s.seen[g] = x, true
		return
	}
	switch c := types.CompareFloats(x, s.val[g]); {
	case c == s.want:
		s.val[g] = x
	case c == 0 && x == 0: // 0 and -0
		if s.tie == tieLater || s.tie == tieByLook && !math.Signbit(x) {
			s.val[g] = x
		}
	}
}

func (s *floatExtreme) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	vals := v.Values().F64
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		s.add(g, vals[v.Row(i)])
		return nil
	})
}

func (s *floatExtreme) Merge(other eval.AggState, into []uint32) error {
	o := other.(*floatExtreme)
	for i, g := range into {
		if o.seen[i] {
			s.add(g, o.val[i])
		}
	}
	return nil
}

func (s *floatExtreme) Result(from, to int, out *vec.Vector) error {
	copy(eval.OutF64(out, to-from), s.val[from:to])
	nullUnseen(s.seen, from, to, out)
	return nil
}

// textExtreme keeps the strings of all groups in one piece of memory. A group's place is
// reused while the string fits and at least doubles when not, so that little is wasted.
type textExtreme struct {
	want int
	data []byte
	at   []textPlace
}

type textPlace struct {
	off, len, cap int
	seen          bool
}

func (s *textExtreme) Grow(n int)   { s.at = grow(s.at, n) }
func (s *textExtreme) Bytes() int64 { return int64(cap(s.data)) + int64(cap(s.at))*32 }

func (s *textExtreme) get(g uint32) []byte {
	p := &s.at[g]
	return s.data[p.off : p.off+p.len]
}

func (s *textExtreme) add(g uint32, x []byte) {
	p := &s.at[g]
	if p.seen && bytes.Compare(x, s.get(g)) != s.want {
		return
	}
	if len(x) > p.cap {
		p.off, p.cap = len(s.data), max(len(x), 2*p.cap)
		s.data = grow(s.data, p.off+p.cap)
	}
	p.len, p.seen = copy(s.data[p.off:], x), true
}

func (s *textExtreme) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		s.add(g, v.Bytes(i))
		return nil
	})
}

func (s *textExtreme) Merge(other eval.AggState, into []uint32) error {
	o := other.(*textExtreme)
	for i, g := range into {
		if o.at[i].seen {
			s.add(g, o.get(uint32(i)))
		}
	}
	return nil
}

func (s *textExtreme) Result(from, to int, out *vec.Vector) error {
	eval.OutStr(out, to-from)
	for g := from; g < to; g++ {
		if !s.at[g].seen {
			eval.NullOut(out, g-from, to-from)
			continue
		}
		eval.PutBytes(out, g-from, s.get(uint32(g)))
	}
	return nil
}

// numericExtreme compares decimals of one scale as whole numbers while they fit.
type numericExtreme struct {
	typ  types.Type
	want int
	ints intExtreme
	wide *datumExtreme // from the first wider value on
}

func (s *numericExtreme) Grow(n int) {
	s.ints.want = s.want
	s.ints.Grow(n)
	if s.wide != nil {
		s.wide.Grow(n)
	}
}

func (s *numericExtreme) Bytes() int64 {
	n := s.ints.Bytes()
	if s.wide != nil {
		n += s.wide.Bytes()
	}
	return n
}

func (s *numericExtreme) widen() {
	if s.wide == nil {
		s.wide = &datumExtreme{typ: s.typ, want: s.want}
		s.wide.Grow(len(s.ints.val))
	}
}

func (s *numericExtreme) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	if f := args[0].Values(); f.Form == types.FormI64 && f.Type.Scale == s.typ.Scale {
		return s.ints.Update(args, sel, rows, groups)
	}
	s.widen()
	return s.wide.Update(args, sel, rows, groups)
}

func (s *numericExtreme) Merge(other eval.AggState, into []uint32) error {
	o := other.(*numericExtreme)
	if o.wide != nil {
		s.widen()
		if err := s.wide.Merge(o.wide, into); err != nil {
			return err
		}
	}
	return s.ints.Merge(&o.ints, into)
}

func (s *numericExtreme) Result(from, to int, out *vec.Vector) error {
	if s.wide == nil {
		return s.ints.Result(from, to, out)
	}
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		if s.ints.seen[g] {
			s.wide.add(uint32(g), types.NewInt(s.ints.val[g]))
		}
		return s.wide.val[g], nil
	})
}

// datumExtreme is for every other type, and (want 0) for any_value: the first one stays.
type datumExtreme struct {
	typ  types.Type
	want int
	tie  tieRule
	val  []types.Datum
}

func (s *datumExtreme) Grow(n int)   { s.val = grow(s.val, n) }
func (s *datumExtreme) Bytes() int64 { return int64(cap(s.val)) * 96 }

func (s *datumExtreme) add(g uint32, d types.Datum) {
	if s.val[g].IsNull() {
		s.val[g] = d
		return
	}
	if s.want == 0 {
		return
	}
	switch c := types.Compare(d, s.val[g], s.typ); {
	case c == s.want, c == 0 && s.tie == tieLater,
		c == 0 && s.tie == tieByLook && types.Format(d, s.typ, nil) > types.Format(s.val[g], s.typ, nil):
		s.val[g] = d
	}
}

func (s *datumExtreme) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		if s.want != 0 || s.val[g].IsNull() {
			s.add(g, v.Datum(i))
		}
		return nil
	})
}

func (s *datumExtreme) Merge(other eval.AggState, into []uint32) error {
	for i, g := range into {
		if d := other.(*datumExtreme).val[i]; !d.IsNull() {
			s.add(g, d)
		}
	}
	return nil
}

func (s *datumExtreme) Result(from, to int, out *vec.Vector) error {
	return putResults(from, to, out, func(g int) (types.Datum, error) { return s.val[g], nil })
}
