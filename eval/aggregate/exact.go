package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// exactSum adds integers and numerics of many groups without ever rounding or wrapping. Whole
// numbers (scaled ones too) add up in 64 bits, then in 128; what does not fit, and numerics that
// have each a scale of their own, go to decimals. A group's sum is that of its three parts.
type exactSum struct {
	scale   int // of the scaled sums
	cells   []sumCell
	wide    []types.Int128  // nil until the first one comes
	decimal []types.Decimal // nil until the first one comes
}

type sumCell struct{ sum, n int64 }

func (s *exactSum) grow(n int) {
	s.cells = grow(s.cells, n)
	if s.wide != nil {
		s.wide = grow(s.wide, n)
	}
	if s.decimal != nil {
		s.decimal = grow(s.decimal, n)
	}
}

func (s *exactSum) bytes() int64 {
	return int64(cap(s.cells))*16 + int64(cap(s.wide))*16 + int64(cap(s.decimal))*32
}

func (s *exactSum) addDecimal(g uint32, d types.Decimal) {
	if s.decimal == nil {
		s.decimal = make([]types.Decimal, len(s.cells))
	}
	s.decimal[g] = s.decimal[g].Add(d)
}

func (s *exactSum) addWide(g uint32, w types.Int128) {
	if s.wide == nil {
		s.wide = make([]types.Int128, len(s.cells))
	}
	r, ok := s.wide[g].AddOK(w)
	if !ok {
		s.addDecimal(g, types.DecimalFromInt128(s.wide[g], s.scale))
		r = w
	}
	s.wide[g] = r
}

// carry makes x the group's 64-bit sum and moves the former, to which x cannot be added, on.
func (s *exactSum) carry(g uint32, x int64) {
	c := &s.cells[g]
	s.addWide(g, types.FromInt64(c.sum))
	c.sum = x
}

// overflows tells whether r = a + b wrapped.
func overflows(a, b, r int64) bool { return (a^r)&(b^r) < 0 }

func (s *exactSum) add64(g uint32, x int64) {
	c := &s.cells[g]
	if r := c.sum + x; overflows(c.sum, x, r) {
		s.carry(g, x)
	} else {
		c.sum = r
	}
}

// whole is the sum of group g without decimals.
func (s *exactSum) whole(g int) types.Decimal {
	w := types.FromInt64(s.cells[g].sum)
	if s.wide == nil {
		return types.NewDecimal(s.cells[g].sum, s.scale)
	}
	if r, ok := s.wide[g].AddOK(w); ok {
		return types.DecimalFromInt128(r, s.scale)
	}
	return types.DecimalFromInt128(s.wide[g], s.scale).Add(types.DecimalFromInt128(w, s.scale))
}

// total is the sum of group g, of the largest scale among its values.
func (s *exactSum) total(g int) types.Decimal {
	w := s.whole(g)
	if s.decimal == nil {
		return w
	}
	if w.Sign() == 0 && s.scale == 0 {
		return s.decimal[g]
	}
	return s.decimal[g].Add(w)
}

func (s *exactSum) merge(o *exactSum, into []uint32) {
	for i, g := range into {
		s.add64(g, o.cells[i].sum)
		s.cells[g].n += o.cells[i].n
	}
	if o.wide != nil {
		for i, g := range into {
			s.addWide(g, o.wide[i])
		}
	}
	if o.decimal != nil {
		for i, g := range into {
			s.addDecimal(g, o.decimal[i])
		}
	}
}

// update adds the values of v, an integer or numeric vector in any form.
func (s *exactSum) update(v *vec.Vector, sel []uint16, rows int, groups []uint32) error {
	f := v.Values()
	if f.Form == types.FormStr || f.Type.Kind == types.Numeric && int(f.Type.Scale) != s.scale {
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			s.addDecimal(g, eval.DecimalAt(v, i))
			s.cells[g].n++
			return nil
		})
	}
	if f.Form == types.FormW128 {
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			s.addWide(g, f.W128[v.Row(i)])
			s.cells[g].n++
			return nil
		})
	}
	if groups == nil {
		sum, n := sumInt64(v, f.I64, sel, rows)
		if sum.Hi == int64(sum.Lo)>>63 {
			s.add64(0, int64(sum.Lo))
		} else {
			s.addWide(0, sum)
		}
		s.cells[0].n += n
		return nil
	}
	s.addGrouped(v, f.I64, sel, rows, groups)
	return nil
}

// sumInt64 adds int64 values in two halves, neither of which can overflow within a batch:
// v = (v >> 32)·2³² + (v & 0xffffffff).
func sumInt64(v *vec.Vector, vals []int64, sel []uint16, rows int) (types.Int128, int64) {
	var hi, lo, n int64
	switch {
	case v.Enc == vec.Flat && v.Valid == nil && sel == nil:
		for _, x := range vals[:rows] {
			hi += x >> 32
			lo += x & 0xffffffff
		}
		n = int64(rows)
	case v.Enc == vec.Flat && v.Valid == nil:
		for _, i := range sel {
			x := vals[i]
			hi += x >> 32
			lo += x & 0xffffffff
		}
		n = int64(len(sel))
	case v.Enc == vec.Const:
		if v.Null(0) {
			return types.Int128{}, 0
		}
		n = int64(rows)
		if sel != nil {
			n = int64(len(sel))
		}
		return types.MulInt64(vals[0], n), n
	default:
		eachGrouped(v, sel, rows, nil, func(i int, _ uint32) error {
			x := vals[v.Row(i)]
			hi += x >> 32
			lo += x & 0xffffffff
			n++
			return nil
		})
	}
	return types.MulInt64(hi, 1<<32).Add64(lo), n
}

func (s *exactSum) addGrouped(v *vec.Vector, vals []int64, sel []uint16, rows int, groups []uint32) {
	cells := s.cells
	switch {
	case v.Enc == vec.Flat && v.Valid == nil && sel == nil:
		groups = groups[:rows]
		for i, x := range vals[:rows] {
			c := &cells[groups[i]]
			c.n++
			if r := c.sum + x; overflows(c.sum, x, r) {
				s.carry(groups[i], x)
			} else {
				c.sum = r
			}
		}
	case v.Enc == vec.Flat && v.Valid == nil:
		groups = groups[:len(sel)]
		for k, i := range sel {
			x := vals[i]
			c := &cells[groups[k]]
			c.n++
			if r := c.sum + x; overflows(c.sum, x, r) {
				s.carry(groups[k], x)
			} else {
				c.sum = r
			}
		}
	default:
		eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			s.cells[g].n++
			s.add64(g, vals[v.Row(i)])
			return nil
		})
	}
}

// putTotals writes the sums of groups [from, to) as whole numbers where out's type shows them so
// and all fit; false: the slow way is needed.
func (s *exactSum) putTotals(from, to int, out *vec.Vector) bool {
	t := out.Type
	if s.wide != nil || s.decimal != nil || t.Kind != types.Int8 && !(t.Kind == types.Numeric && t.Fixed && int(t.Scale) == s.scale) {
		return false
	}
	sums := eval.OutI64(out, to-from)
	for i, c := range s.cells[from:to] {
		sums[i] = c.sum
		if c.n == 0 {
			eval.NullOut(out, i, to-from)
		}
	}
	return true
}
