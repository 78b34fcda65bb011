package aggregate

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerSum() {
	eval.Register(
		eval.Immutable("sum", eval.Sig(types.Int2), eval.TInt8, exactAgg(newSum, false)),
		eval.Immutable("sum", eval.Sig(types.Int4), eval.TInt8, exactAgg(newSum, false)),
		eval.Immutable("sum", eval.Sig(types.Int8), eval.TNumeric, exactAgg(newSum, false)),
		eval.Immutable("sum", eval.Sig(types.Numeric), eval.TNumeric, exactAgg(newSum, false)).Returning(sumType),
		eval.Immutable("sum", eval.Sig(types.Float4), eval.TFloat4, agg(newFloatSum)),
		eval.Immutable("sum", eval.Sig(types.Float8), eval.TFloat8, agg(newFloatSum)),
		eval.Immutable("sum", eval.Sig(types.Interval), eval.TInterval, agg(newIntervalSum)),
		eval.Immutable("avg", eval.Sig(types.Int2), eval.TNumeric, exactAgg(newAvg, true)),
		eval.Immutable("avg", eval.Sig(types.Int4), eval.TNumeric, exactAgg(newAvg, true)),
		eval.Immutable("avg", eval.Sig(types.Int8), eval.TNumeric, exactAgg(newAvg, true)),
		eval.Immutable("avg", eval.Sig(types.Numeric), eval.TNumeric, exactAgg(newAvg, true)),
		eval.Immutable("avg", eval.Sig(types.Float4), eval.TFloat8, agg(newFloatMoments(momentAvg))),
		eval.Immutable("avg", eval.Sig(types.Float8), eval.TFloat8, agg(newFloatMoments(momentAvg))),
		eval.Immutable("avg", eval.Sig(types.Interval), eval.TInterval, agg(newIntervalAvg)),
	)
}

// sumType: decimals of one scale add up to decimals of that scale, with room for 10¹⁹ rows.
func sumType(args []types.Type) (types.Type, error) {
	if t := args[0]; t.Kind == types.Numeric && t.Fixed {
		return types.FixedNumeric(min(int(t.Prec)+19, 1000), int(t.Scale)), nil
	}
	return eval.TNumeric, nil
}

// sumState is sum and avg of integers and numerics.
type sumState struct {
	exactSum
	avg bool
}

func scaleOf(t types.Type) int {
	if t.Kind == types.Numeric && t.Fixed {
		return int(t.Scale)
	}
	return 0
}

func newSum(call eval.AggCall) eval.AggState {
	return &sumState{exactSum: exactSum{scale: scaleOf(call.Args[0])}}
}
func newAvg(call eval.AggCall) eval.AggState {
	return &sumState{exactSum: exactSum{scale: scaleOf(call.Args[0])}, avg: true}
}

// exactAgg is sum or avg: one can show its result from what the other has collected.
func exactAgg(f func(call eval.AggCall) eval.AggState, avg bool) *eval.AggImpl {
	a := agg(f)
	a.Collects = "exact sum"
	a.View = func(base eval.AggState, _ eval.AggCall) eval.AggState { return &sumView{base.(*sumState), avg} }
	return a
}

// sumView shows the sum or the average from another's state.
type sumView struct {
	base *sumState
	avg  bool
}

func (v *sumView) Grow(int)                                            {}
func (v *sumView) Update([]*vec.Vector, []uint16, int, []uint32) error { return nil }
func (v *sumView) Merge(eval.AggState, []uint32) error                 { return nil }
func (v *sumView) Bytes() int64                                        { return 0 }
func (v *sumView) Result(from, to int, out *vec.Vector) error {
	s := sumState{exactSum: v.base.exactSum, avg: v.avg}
	return s.Result(from, to, out)
}

func (s *sumState) Grow(n int)   { s.grow(n) }
func (s *sumState) Bytes() int64 { return s.bytes() }

func (s *sumState) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	return s.update(args[0], sel, rows, groups)
}

func (s *sumState) Merge(other eval.AggState, into []uint32) error {
	s.merge(&other.(*sumState).exactSum, into)
	return nil
}

func (s *sumState) Result(from, to int, out *vec.Vector) error {
	if !s.avg && s.putTotals(from, to, out) {
		return nil
	}
	if out.Type.Kind == types.Numeric && !out.Type.Fixed {
		return s.putDecimals(from, to, out)
	}
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		n := s.cells[g].n
		if n == 0 {
			return types.Null, nil
		}
		t := s.total(g)
		if s.avg {
			var err error
			if t, err = t.Div(types.DecimalFromInt64(n)); err != nil {
				return types.Null, err
			}
		}
		return t.Datum(out.Type)
	})
}

// putDecimals writes the results of groups [from, to) as decimals with a scale of their own.
func (s *sumState) putDecimals(from, to int, out *vec.Vector) error {
	eval.OutStr(out, to-from)
	for g := from; g < to; g++ {
		n := s.cells[g].n
		if n == 0 {
			eval.NullOut(out, g-from, to-from)
			continue
		}
		t := s.total(g)
		if s.avg {
			var err error
			if t, err = t.Div(types.DecimalFromInt64(n)); err != nil {
				return err
			}
		}
		t, err := t.Check()
		if err != nil {
			return err
		}
		eval.PutDecimal(out, g-from, t)
	}
	return nil
}

// floatSum is sum of floats: a real adds up as a real.
type floatSum struct {
	sum  []float64
	seen []bool
	real bool
}

func newFloatSum(call eval.AggCall) eval.AggState {
	return &floatSum{real: call.Ret.Kind == types.Float4}
}

func (s *floatSum) Grow(n int)   { s.sum, s.seen = grow(s.sum, n), grow(s.seen, n) }
func (s *floatSum) Bytes() int64 { return int64(cap(s.sum))*8 + int64(cap(s.seen)) }

func (s *floatSum) add(g uint32, x float64) error {
	r := s.sum[g] + x
	if s.real {
		r = float64(float32(r))
	}
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(s.sum[g], 0) {
		return eval.ErrFloatOverflow()
	}
	s.sum[g], s.seen[g] = r, true
	return nil
}

func (s *floatSum) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	vals := v.Values().F64
	if v.Enc == vec.Flat && v.Valid == nil && sel == nil && groups == nil && !s.real && rows > 0 {
		sum, inf := s.sum[0], false
		for _, x := range vals[:rows] {
			sum += x
			inf = inf || x-x != 0 // an infinity or NaN came in
		}
		if math.IsInf(sum, 0) && !inf && !math.IsInf(s.sum[0], 0) {
			return eval.ErrFloatOverflow()
		}
		if !inf {
			s.sum[0], s.seen[0] = sum, true
			return nil
		}
	}
	if v.Enc == vec.Flat && v.Valid == nil && sel == nil && groups != nil && !s.real {
		sum, seen := s.sum, s.seen
		for i, x := range vals[:rows] {
			g := groups[i]
			r := sum[g] + x
			if r-r != 0 { // no longer finite: find out why
				if err := s.add(g, x); err != nil {
					return err
				}
				continue
			}
			sum[g], seen[g] = r, true
		}
		return nil
	}
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error { return s.add(g, vals[v.Row(i)]) })
}

func (s *floatSum) Merge(other eval.AggState, into []uint32) error {
	o := other.(*floatSum)
	for i, g := range into {
		if o.seen[i] {
			if err := s.add(g, o.sum[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *floatSum) Result(from, to int, out *vec.Vector) error {
	copy(eval.OutF64(out, to-from), s.sum[from:to])
	for g := from; g < to; g++ {
		if !s.seen[g] {
			eval.NullOut(out, g-from, to-from)
		}
	}
	return nil
}

// intervalSum is sum and avg of intervals.
type intervalSum struct {
	sum []types.IntervalValue
	n   []int64
	avg bool
}

func newIntervalSum(eval.AggCall) eval.AggState { return &intervalSum{} }
func newIntervalAvg(eval.AggCall) eval.AggState { return &intervalSum{avg: true} }

func (s *intervalSum) Grow(n int)   { s.sum, s.n = grow(s.sum, n), grow(s.n, n) }
func (s *intervalSum) Bytes() int64 { return int64(cap(s.sum))*16 + int64(cap(s.n))*8 }

func (s *intervalSum) add(g uint32, v types.IntervalValue, n int64) (err error) {
	s.sum[g], err = s.sum[g].Add(v)
	s.n[g] += n
	return err
}

func (s *intervalSum) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	f := v.Values()
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		return s.add(g, types.IntervalOf(f.W128[v.Row(i)]), 1)
	})
}

func (s *intervalSum) Merge(other eval.AggState, into []uint32) error {
	o := other.(*intervalSum)
	for i, g := range into {
		if err := s.add(g, o.sum[i], o.n[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *intervalSum) Result(from, to int, out *vec.Vector) error {
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		if s.n[g] == 0 {
			return types.Null, nil
		}
		v := s.sum[g]
		if s.avg {
			var err error
			if v, err = v.Div(float64(s.n[g])); err != nil {
				return types.Null, err
			}
		}
		return types.NewW128(v.W128()), nil
	})
}
