package aggregate

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerRegression() {
	type cell = regrCell
	least := func(n float64, f func(c *cell) (float64, bool)) func(*cell) (float64, bool) {
		return func(c *cell) (float64, bool) {
			if c.n < n {
				return 0, false
			}
			return f(c)
		}
	}
	for name, f := range map[string]func(c *cell) (float64, bool){
		"regr_sxx":   least(1, func(c *cell) (float64, bool) { return c.sxx, true }),
		"regr_syy":   least(1, func(c *cell) (float64, bool) { return c.syy, true }),
		"regr_sxy":   least(1, func(c *cell) (float64, bool) { return c.sxy, true }),
		"regr_avgx":  least(1, func(c *cell) (float64, bool) { return c.sx / c.n, true }),
		"regr_avgy":  least(1, func(c *cell) (float64, bool) { return c.sy / c.n, true }),
		"covar_pop":  least(1, func(c *cell) (float64, bool) { return c.sxy / c.n, true }),
		"covar_samp": least(2, func(c *cell) (float64, bool) { return c.sxy / (c.n - 1), true }),
		"corr": least(1, func(c *cell) (float64, bool) {
			return c.sxy / math.Sqrt(c.sxx*c.syy), c.sxx != 0 && c.syy != 0
		}),
		"regr_r2": least(1, func(c *cell) (float64, bool) {
			if c.syy == 0 && c.sxx != 0 {
				return 1, true
			}
			return c.sxy * c.sxy / (c.sxx * c.syy), c.sxx != 0
		}),
		"regr_slope": least(1, func(c *cell) (float64, bool) { return c.sxy / c.sxx, c.sxx != 0 }),
		"regr_intercept": least(1, func(c *cell) (float64, bool) {
			return (c.sy - c.sx*c.sxy/c.sxx) / c.n, c.sxx != 0
		}),
	} {
		eval.Register(eval.Immutable(name, eval.Sig(types.Float8, types.Float8), eval.TFloat8, agg(func(eval.AggCall) eval.AggState { return &regrState{f: f} })))
	}
	eval.Register(eval.Immutable("regr_count", eval.Sig(types.Float8, types.Float8), eval.TInt8, agg(func(eval.AggCall) eval.AggState { return &regrState{} })))
}

// regrState is the family of aggregates over pairs (Y, X); f reads the result, nil: the count
// (float8_regr_accum, float8_regr_combine).
type regrState struct {
	f     func(c *regrCell) (float64, bool)
	cells []regrCell
}

type regrCell struct{ n, sx, sxx, sy, syy, sxy float64 }

func (s *regrState) Grow(n int)   { s.cells = grow(s.cells, n) }
func (s *regrState) Bytes() int64 { return int64(cap(s.cells)) * 48 }

func (c *regrCell) add(y, x float64) error {
	before := *c
	c.n++
	c.sx += x
	c.sy += y
	odd := func(f float64) bool { return f-f != 0 }
	if before.n == 0 {
		if odd(x) {
			c.sxx, c.sxy = math.NaN(), math.NaN()
		}
		if odd(y) {
			c.syy, c.sxy = math.NaN(), math.NaN()
		}
		return nil
	}
	tx, ty := x*c.n-c.sx, y*c.n-c.sy
	scale := 1 / (c.n * before.n)
	c.sxx += tx * tx * scale
	c.syy += ty * ty * scale
	c.sxy += tx * ty * scale
	inf := func(f float64) bool { return math.IsInf(f, 0) }
	if inf(c.sx) || inf(c.sxx) || inf(c.sy) || inf(c.syy) || inf(c.sxy) {
		fx, fy := !inf(before.sx) && !inf(x), !inf(before.sy) && !inf(y)
		if (inf(c.sx) || inf(c.sxx)) && fx || (inf(c.sy) || inf(c.syy)) && fy || inf(c.sxy) && fx && fy {
			return eval.ErrFloatOverflow()
		}
		if inf(c.sxx) {
			c.sxx = math.NaN()
		}
		if inf(c.syy) {
			c.syy = math.NaN()
		}
		if inf(c.sxy) {
			c.sxy = math.NaN()
		}
	}
	return nil
}

func (s *regrState) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	y, x := args[0], args[1]
	ys, xs := y.Values().F64, x.Values().F64
	return eachGrouped(y, sel, rows, groups, func(i int, g uint32) error {
		if x.Null(i) {
			return nil
		}
		return s.cells[g].add(ys[y.Row(i)], xs[x.Row(i)])
	})
}

func (s *regrState) Merge(other eval.AggState, into []uint32) error {
	for i, g := range into {
		a, b := &s.cells[g], other.(*regrState).cells[i]
		switch {
		case b.n == 0:
			continue
		case a.n == 0:
			*a = b
			continue
		}
		n := a.n + b.n
		tx, ty := a.sx/a.n-b.sx/b.n, a.sy/a.n-b.sy/b.n
		w := a.n * b.n / n
		*a = regrCell{n, a.sx + b.sx, a.sxx + b.sxx + w*tx*tx, a.sy + b.sy, a.syy + b.syy + w*ty*ty, a.sxy + b.sxy + w*tx*ty}
	}
	return nil
}

func (s *regrState) Result(from, to int, out *vec.Vector) error {
	if s.f == nil {
		r := eval.OutI64(out, to-from)
		for i := range r {
			r[i] = int64(s.cells[from+i].n)
		}
		return nil
	}
	r := eval.OutF64(out, to-from)
	for i := range r {
		v, ok := s.f(&s.cells[from+i])
		if !ok {
			eval.NullOut(out, i, to-from)
			continue
		}
		r[i] = v
	}
	return nil
}
