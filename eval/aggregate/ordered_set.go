package aggregate

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerOrderedSet() {
	ordered := func(pick picker) *eval.AggImpl {
		return &eval.AggImpl{Ordered: true, WithinGroup: true, New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) {
			last := len(call.Args) - 1
			return &orderedSet{collected: newCollected(call.Args[last]), call: call, pick: pick}, nil
		}}
	}
	lastType := func(args []types.Type) (types.Type, error) { return args[len(args)-1], nil }
	arrayOfLast := func(args []types.Type) (types.Type, error) { return types.ArrayOf(args[len(args)-1]), nil }
	floats, intervals := types.ArrayOf(eval.TFloat8), types.ArrayOf(eval.TInterval)
	eval.Register(
		eval.Immutable("percentile_cont", eval.Sig(types.Float8, types.Float8), eval.TFloat8, ordered(percentileCont)),
		eval.Immutable("percentile_cont", eval.Sig(types.Float8, types.Interval), eval.TInterval, ordered(percentileCont)),
		eval.Immutable("percentile_cont", []types.Type{floats, eval.TFloat8}, floats, ordered(percentileCont)),
		eval.Immutable("percentile_cont", []types.Type{floats, eval.TInterval}, intervals, ordered(percentileCont)),
		eval.Immutable("percentile_disc", eval.Sig(types.Float8, types.AnyElement), eval.TAnyElement, ordered(percentileDisc)).Returning(lastType),
		eval.Immutable("percentile_disc", []types.Type{floats, eval.TAnyElement}, eval.TAnyArray, ordered(percentileDisc)).Returning(arrayOfLast),
		eval.Immutable("mode", eval.Sig(types.AnyElement), eval.TAnyElement, ordered(nil)).Returning(sameType),
	)
}

// picker finds the value at fraction p of n ≥ 1 sorted values.
type picker func(p float64, n int, value func(k int) types.Datum, t types.Type) (types.Datum, error)

// orderedSet is percentile_cont, percentile_disc and (pick nil) mode: the sorted values of
// each group, and the fraction, one value or an array, which is the same in all its rows.
type orderedSet struct {
	collected
	call  eval.AggCall
	pick  picker
	given []types.Datum // by group: the direct argument
}

func (s *orderedSet) Grow(n int) {
	s.collected.Grow(n)
	s.given = grow(s.given, n)
}

func (s *orderedSet) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[len(args)-1]
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		if len(s.rows[g]) == 0 && len(args) > 1 {
			s.given[g] = args[0].Datum(i)
		}
		s.add(v, i, g)
		return nil
	})
}

func (s *orderedSet) Merge(other eval.AggState, into []uint32) error {
	o := other.(*orderedSet)
	for i, g := range into {
		if s.given[g].IsNull() {
			s.given[g] = o.given[i]
		}
	}
	s.merge(&o.collected, into)
	return nil
}

func (s *orderedSet) Result(from, to int, out *vec.Vector) error {
	v := s.all.Vector()
	t := s.call.Args[len(s.call.Args)-1]
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		rows := s.rows[g]
		if len(rows) == 0 {
			return types.Null, nil
		}
		value := func(k int) types.Datum { return v.Datum(int(rows[k])) }
		if s.pick == nil {
			return mostFrequent(len(rows), value, t), nil
		}
		one := func(p types.Datum) (types.Datum, error) {
			if p.IsNull() {
				return types.Null, nil
			}
			f := p.Float()
			if !(f >= 0 && f <= 1) {
				return types.Null, sqlerr.New(sqlerr.NumericOutOfRange, "percentile value %s is not between 0 and 1",
					types.AppendFloat(nil, f, 64, 0))
			}
			return s.pick(f, len(rows), value, t)
		}
		if s.call.Args[0].Kind != types.Array {
			return one(s.given[g])
		}
		if s.given[g].IsNull() {
			return types.Null, nil
		}
		list := make([]types.Datum, len(s.given[g].List()))
		for i, p := range s.given[g].List() {
			var err error
			if list[i], err = one(p); err != nil {
				return types.Null, err
			}
		}
		return types.NewList(list), nil
	})
}

func percentileDisc(p float64, n int, value func(int) types.Datum, _ types.Type) (types.Datum, error) {
	return value(max(int(math.Ceil(p*float64(n))), 1) - 1), nil
}

// percentileCont interpolates between the two values around the fraction.
func percentileCont(p float64, n int, value func(int) types.Datum, t types.Type) (types.Datum, error) {
	at := p * float64(n-1)
	lo, hi := int(math.Floor(at)), int(math.Ceil(at))
	a := value(lo)
	if lo == hi {
		return a, nil
	}
	b, part := value(hi), at-math.Floor(at)
	if t.Kind != types.Interval {
		return types.NewFloat(a.Float() + part*(b.Float()-a.Float())), nil
	}
	x := types.IntervalOf(a.W128())
	diff, err := types.IntervalOf(b.W128()).Sub(x)
	if err != nil {
		return types.Null, err
	}
	if diff, err = diff.Mul(part); err != nil {
		return types.Null, err
	}
	r, err := diff.Add(x)
	return types.NewW128(r.W128()), err
}

// mostFrequent is the first of the values that come most often; equal ones stand together.
func mostFrequent(n int, value func(int) types.Datum, t types.Type) types.Datum {
	best, run := value(0), value(0)
	most, length := 1, 1
	for k := 1; k < n; k++ {
		d := value(k)
		if types.Compare(d, run, t) != 0 {
			run, length = d, 0
		}
		if length++; length > most {
			best, most = run, length
		}
	}
	return best
}
