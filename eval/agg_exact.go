package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// exactSum adds integers and numerics of many groups without ever rounding or wrapping. Whole
// numbers (scaled ones too) add up in 128 bits; what does not fit, and numerics that have each
// a scale of their own, go to decimals.
type exactSum struct {
	scale   int // of the scaled sums
	cells   []sumCell
	decimal []types.Decimal // nil until the first one comes
}

type sumCell struct {
	sum types.Int128
	n   int64
}

func (s *exactSum) grow(n int) {
	s.cells = grow(s.cells, n)
	if s.decimal != nil {
		s.decimal = grow(s.decimal, n)
	}
}

func (s *exactSum) bytes() int64 { return int64(cap(s.cells))*24 + int64(cap(s.decimal))*32 }

func (s *exactSum) addDecimal(g uint32, d types.Decimal) {
	if s.decimal == nil {
		s.decimal = make([]types.Decimal, len(s.cells))
	}
	s.decimal[g] = s.decimal[g].Add(d)
}

func (s *exactSum) addWide(g uint32, w types.Int128) {
	r, ok := s.cells[g].sum.AddOK(w)
	if !ok {
		s.addDecimal(g, types.DecimalFromInt128(s.cells[g].sum, s.scale))
		r = w
	}
	s.cells[g].sum = r
}

// total is the sum of group g, of the largest scale among its values.
func (s *exactSum) total(g int) types.Decimal {
	c := &s.cells[g]
	if s.decimal == nil {
		return types.DecimalFromInt128(c.sum, s.scale)
	}
	if c.sum.Sign() == 0 && s.scale == 0 {
		return s.decimal[g]
	}
	return s.decimal[g].Add(types.DecimalFromInt128(c.sum, s.scale))
}

func (s *exactSum) merge(o *exactSum, into []uint32) {
	for i, g := range into {
		s.addWide(g, o.cells[i].sum)
		s.cells[g].n += o.cells[i].n
		if o.decimal != nil {
			s.addDecimal(g, o.decimal[i])
		}
	}
}

// update adds the values of v, an integer or numeric vector in any form.
func (s *exactSum) update(v *vec.Vector, sel []uint16, rows int, groups []uint32) error {
	f := v.Values()
	if f.Form == types.FormStr || f.Type.Kind == types.Numeric && int(f.Type.Scale) != s.scale {
		return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			s.addDecimal(g, decimalAt(v, i))
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
		s.addWide(0, sum)
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
			c.sum = c.sum.Add64(x) // 2⁶⁴ values would be needed to overflow
			c.n++
		}
	case v.Enc == vec.Flat && v.Valid == nil:
		for k, i := range sel {
			c := &cells[groups[k]]
			c.sum = c.sum.Add64(vals[i])
			c.n++
		}
	default:
		eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
			c := &cells[g]
			c.sum = c.sum.Add64(vals[v.Row(i)])
			c.n++
			return nil
		})
	}
}
