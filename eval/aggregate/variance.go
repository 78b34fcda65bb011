package aggregate

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// moment is which of the second moments an aggregate shows.
type moment uint8

const (
	momentAvg moment = iota
	varPop
	varSamp
	stddevPop
	stddevSamp
)

func registerVariance() {
	for name, m := range map[string]moment{
		"var_pop": varPop, "var_samp": varSamp, "variance": varSamp,
		"stddev_pop": stddevPop, "stddev_samp": stddevSamp, "stddev": stddevSamp,
	} {
		exact := func(call eval.AggCall) eval.AggState {
			scale := scaleOf(call.Args[0])
			return &exactMoments{m: m, x: exactSum{scale: scale}, xx: exactSum{scale: 2 * scale}}
		}
		for _, k := range []types.Kind{types.Int2, types.Int4, types.Int8, types.Numeric} {
			eval.Register(eval.Immutable(name, eval.Sig(k), eval.TNumeric, agg(exact)))
		}
		for _, k := range []types.Kind{types.Float4, types.Float8} {
			eval.Register(eval.Immutable(name, eval.Sig(k), eval.TFloat8, agg(newFloatMoments(m))))
		}
	}
}

// exactMoments is variance and stddev of integers and numerics: exact sums of x and x², and
// one division in the end (numeric_stddev_internal).
type exactMoments struct {
	m     moment
	x, xx exactSum
}

func (s *exactMoments) Grow(n int)   { s.x.grow(n); s.xx.grow(n) }
func (s *exactMoments) Bytes() int64 { return s.x.bytes() + s.xx.bytes() }

func (s *exactMoments) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	f := v.Values()
	if f.Form != types.FormI64 || f.Type.Kind == types.Numeric && int(f.Type.Scale) != s.x.scale {
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			d := eval.DecimalAt(v, i)
			s.x.addDecimal(g, d)
			s.xx.addDecimal(g, d.Mul(d))
			s.x.cells[g].n++
			return nil
		})
	}
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		x := f.I64[v.Row(i)]
		s.x.add64(g, x)
		s.x.cells[g].n++
		s.xx.addWide(g, types.MulInt64(x, x))
		return nil
	})
}

func (s *exactMoments) Merge(other eval.AggState, into []uint32) error {
	o := other.(*exactMoments)
	s.x.merge(&o.x, into)
	s.xx.merge(&o.xx, into)
	return nil
}

func (s *exactMoments) Result(from, to int, out *vec.Vector) error {
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		n := s.x.cells[g].n
		sample := s.m == varSamp || s.m == stddevSamp
		if n == 0 || sample && n == 1 {
			return types.Null, nil
		}
		x, xx, count := s.x.total(g), s.xx.total(g), types.DecimalFromInt64(n)
		if !x.IsFinite() || !xx.IsFinite() {
			return types.DecimalNaN.Datum(out.Type)
		}
		num := count.Mul(xx).Sub(x.Mul(x)) // N·Σx² − (Σx)²
		if num.Sign() <= 0 {
			return types.DecimalFromInt64(0).Datum(out.Type)
		}
		den := count.Mul(count)
		if sample {
			den = count.Mul(types.DecimalFromInt64(n - 1))
		}
		r, err := num.Div(den)
		if err != nil {
			return types.Null, err
		}
		if s.m == stddevPop || s.m == stddevSamp {
			r = r.SqrtScale(r.Scale())
		}
		return r.Datum(out.Type)
	})
}

// floatMoments is avg, variance and stddev of floats by the method of Youngs and Cramer
// (float8_accum, float8_combine).
type floatMoments struct {
	m     moment
	cells []momentCell
}

type momentCell struct{ n, sx, sxx float64 }

func newFloatMoments(m moment) func(eval.AggCall) eval.AggState {
	return func(eval.AggCall) eval.AggState { return &floatMoments{m: m} }
}

func (s *floatMoments) Grow(n int)   { s.cells = grow(s.cells, n) }
func (s *floatMoments) Bytes() int64 { return int64(cap(s.cells)) * 24 }

func (c *momentCell) add(x float64) error {
	before := *c
	c.n++
	c.sx += x
	if before.n > 0 {
		t := x*c.n - c.sx
		c.sxx += t * t / (c.n * before.n)
		if math.IsInf(c.sx, 0) || math.IsInf(c.sxx, 0) {
			if !math.IsInf(before.sx, 0) && !math.IsInf(x, 0) {
				return eval.ErrFloatOverflow()
			}
			c.sxx = math.NaN()
		}
	} else if x-x != 0 {
		c.sxx = math.NaN() // an infinity or NaN at the start
	}
	return nil
}

// addSum is add where only the average is wanted. Values below 1e140 cannot make the sum of
// squares overflow, for which alone PostgreSQL's avg would look at it.
func (c *momentCell) addSum(x float64) error {
	if !(math.Abs(x) < 1e140) {
		return c.add(x)
	}
	c.n++
	c.sx += x
	return nil
}

func (s *floatMoments) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	vals := v.Values().F64
	if s.m == momentAvg {
		if v.Enc == vec.Flat && v.Valid == nil && sel == nil {
			cells := s.cells
			for i, x := range vals[:rows] {
				g := uint32(0)
				if groups != nil {
					g = groups[i]
				}
				if err := cells[g].addSum(x); err != nil {
					return err
				}
			}
			return nil
		}
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error { return s.cells[g].addSum(vals[v.Row(i)]) })
	}
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error { return s.cells[g].add(vals[v.Row(i)]) })
}

func (s *floatMoments) Merge(other eval.AggState, into []uint32) error {
	for i, g := range into {
		a, b := &s.cells[g], other.(*floatMoments).cells[i]
		switch {
		case b.n == 0:
		case a.n == 0:
			*a = b
		default:
			n, t := a.n+b.n, a.sx/a.n-b.sx/b.n
			sx := a.sx + b.sx
			sxx := a.sxx + b.sxx + a.n*b.n*t*t/n
			if math.IsInf(sx, 0) && !math.IsInf(a.sx, 0) && !math.IsInf(b.sx, 0) ||
				math.IsInf(sxx, 0) && !math.IsInf(a.sxx, 0) && !math.IsInf(b.sxx, 0) {
				return eval.ErrFloatOverflow()
			}
			*a = momentCell{n, sx, sxx}
		}
	}
	return nil
}

func (s *floatMoments) Result(from, to int, out *vec.Vector) error {
	r := eval.OutF64(out, to-from)
	for i := range r {
		c := s.cells[from+i]
		sample := s.m == varSamp || s.m == stddevSamp
		if c.n == 0 || sample && c.n == 1 {
			eval.NullOut(out, i, to-from)
			continue
		}
		switch s.m {
		case momentAvg:
			r[i] = c.sx / c.n
		case varPop:
			r[i] = c.sxx / c.n
		case varSamp:
			r[i] = c.sxx / (c.n - 1)
		case stddevPop:
			r[i] = math.Sqrt(c.sxx / c.n)
		case stddevSamp:
			r[i] = math.Sqrt(c.sxx / (c.n - 1))
		}
	}
	return nil
}
