package eval

import (
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// convert computes dst[i] = f(value of row i) for the rows of sel, vals being in's values.
// Dispatch on encoding and selection is outside the loops.
func convert[A, R any](in *vec.Vector, vals []A, sel []uint16, dst []R, f func(A) (R, error)) (err error) {
	if in.Enc == vec.Flat && sel == nil {
		for i := range dst {
			if dst[i], err = f(vals[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return EachRow(sel, len(dst), func(i int) (err error) {
		dst[i], err = f(vals[in.Row(i)])
		return err
	})
}

// convertFree is convert for what cannot fail.
func convertFree[A, R any](in *vec.Vector, vals []A, sel []uint16, dst []R, f func(A) R) {
	switch {
	case in.Enc == vec.Flat && sel == nil:
		vals = vals[:len(dst)]
		for i, v := range vals {
			dst[i] = f(v)
		}
	case in.Enc == vec.Flat:
		for _, i := range sel {
			dst[i] = f(vals[i])
		}
	case sel == nil:
		for i := range dst {
			dst[i] = f(vals[in.Row(i)])
		}
	default:
		for _, i := range sel {
			dst[i] = f(vals[in.Row(int(i))])
		}
	}
}

// castNumber converts among integers, oids, floats, booleans, and from numeric to these.
func castNumber(from, to types.Type) CastFunc {
	switch {
	case from.Kind == types.Numeric:
		return castFromNumeric(to)
	case from.Kind == types.Bool:
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			convertFree(in, in.Values().Bools, sel, OutI64(out, rows), func(b bool) int64 {
				if b {
					return 1
				}
				return 0
			})
			return nil
		}
	case to.Kind == types.Bool:
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			convertFree(in, in.Values().I64, sel, OutBools(out, rows), func(i int64) bool { return i != 0 })
			return nil
		}
	case from.Form() == types.FormF64:
		return castFromFloat(from, to)
	case to.Kind == types.Float8:
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			if in.Enc == vec.Flat && sel == nil {
				dst := OutF64(out, rows)
				for i, x := range in.I64[:rows] {
					dst[i] = float64(x)
				}
				return nil
			}
			convertFree(in, in.Values().I64, sel, OutF64(out, rows), func(i int64) float64 { return float64(i) })
			return nil
		}
	case to.Kind == types.Float4:
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			convertFree(in, in.Values().I64, sel, OutF64(out, rows), func(i int64) float64 { return float64(float32(i)) })
			return nil
		}
	}
	return castInt(from, to)
}

// castInt converts among integers and oids.
func castInt(from, to types.Type) CastFunc {
	fits := func(i int64) bool { return true }
	switch {
	case to.Kind == types.Int2:
		fits = func(i int64) bool { return i == int64(int16(i)) }
	case to.Kind == types.Int4 && from.Kind == types.Int8:
		fits = func(i int64) bool { return i == int64(int32(i)) }
	case to.Kind == types.Int4 && !from.IsInteger():
		// An oid and an integer are the same 32 bits.
		return castBits(func(i int64) int64 { return int64(int32(i)) })
	case !to.IsInteger() && from.Kind == types.Int8:
		fits = func(i int64) bool { return i == int64(uint32(i)) }
	case !to.IsInteger():
		return castBits(func(i int64) int64 { return int64(uint32(i)) })
	}
	kind := to.Kind
	if !to.IsInteger() {
		kind = types.Oid
	}
	return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return convert(in, in.Values().I64, sel, OutI64(out, rows), func(i int64) (int64, error) {
			if !fits(i) {
				return 0, types.ErrIntRange(kind)
			}
			return i, nil
		})
	}
}

func castBits(f func(int64) int64) CastFunc {
	return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		convertFree(in, in.Values().I64, sel, OutI64(out, rows), f)
		return nil
	}
}

// castFromFloat rounds to the nearest integer, halves to even (rint), or narrows.
func castFromFloat(from, to types.Type) CastFunc {
	if to.Form() == types.FormF64 {
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			dst := OutF64(out, rows)
			if to.Kind == types.Float8 {
				convertFree(in, in.Values().F64, sel, dst, func(f float64) float64 { return f })
				return nil
			}
			return convert(in, in.Values().F64, sel, dst, narrowFloat)
		}
	}
	lo, hi := math.MinInt16-0.5, math.MaxInt16+0.5
	switch to.Kind {
	case types.Int4:
		lo, hi = math.MinInt32-0.5, math.MaxInt32+0.5
	case types.Int8:
		lo, hi = math.MinInt64, math.MaxInt64
	}
	return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return convert(in, in.Values().F64, sel, OutI64(out, rows), func(f float64) (int64, error) {
			f = math.RoundToEven(f)
			if !(f >= lo && f < hi) {
				return 0, types.ErrIntRange(to.Kind)
			}
			return int64(f), nil
		})
	}
}

// narrowFloat is float8 to float4.
func narrowFloat(f float64) (float64, error) {
	r := float64(float32(f))
	if math.IsInf(r, 0) && !math.IsInf(f, 0) {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
	}
	if r == 0 && f != 0 {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
	}
	return r, nil
}

// castFromNumeric converts numerics of any form to integers and floats.
func castFromNumeric(to types.Type) CastFunc {
	return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		f := in.Values()
		if to.Form() == types.FormF64 {
			dst := OutF64(out, rows)
			if f.Form == types.FormI64 && to.Kind == types.Float8 {
				scale := int(f.Type.Scale)
				return convert(in, f.I64, sel, dst, func(i int64) (float64, error) {
					return types.NewDecimal(i, scale).Float64(), nil
				})
			}
			return EachRow(sel, rows, func(i int) (err error) {
				d := DecimalAt(in, i)
				if to.Kind == types.Float4 {
					dst[i], err = d.ToFloat32()
				} else {
					dst[i], err = d.ToFloat64()
				}
				return err
			})
		}
		dst := OutI64(out, rows)
		return EachRow(sel, rows, func(i int) (err error) {
			dst[i], err = DecimalAt(in, i).ToInt(to.Kind)
			return err
		})
	}
}

// castToNumeric converts integers, floats and numerics to numeric, with or without a scale.
func castToNumeric(from, to types.Type) CastFunc {
	scale, fromScale := int(to.Scale), 0
	if from.Kind == types.Numeric {
		fromScale = int(from.Scale)
	}
	decimal := decimalReader(from)
	slow := func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return PutDatums(out, sel, rows, func(i int) (types.Datum, error) { return decimal(in, i).Datum(to) })
	}
	if !to.Fixed {
		return func(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			OutStr(out, rows)
			return EachRow(sel, rows, func(i int) error {
				at := uint32(len(out.Data))
				out.Data = decimal(in, i).AppendEncoded(out.Data)
				out.Views[i] = vec.View{Off: at, Len: uint32(len(out.Data)) - at}
				return nil
			})
		}
	}
	if from.Form() == types.FormF64 || from.Kind == types.Numeric && !from.Fixed {
		return slow
	}
	limit := int64(math.MaxInt64)
	if to.Declared && to.Prec <= 18 {
		limit = types.Pow10Int64(int(to.Prec)) - 1
	}
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		f := in.Values()
		if f.Form != types.FormI64 || scale-fromScale > 18 || fromScale-scale > 18 {
			return slow(c, in, sel, rows, out)
		}
		dst := OutI64(out, rows)
		var err error
		if scale >= fromScale {
			// Scaling up cannot pass the limit unnoticed: the bound is checked before it.
			up := types.Pow10Int64(scale - fromScale)
			bound := limit / up
			err = convert(in, f.I64, sel, dst, func(i int64) (int64, error) {
				if i > bound || i < -bound {
					return 0, types.ErrFieldOverflow(to)
				}
				return i * up, nil
			})
		} else {
			down := types.Pow10Int64(fromScale - scale)
			half := down / 2
			err = convert(in, f.I64, sel, dst, func(i int64) (int64, error) {
				q, r := i/down, i%down
				if r >= half {
					q++
				} else if r <= -half {
					q--
				}
				if q > limit || q < -limit {
					return 0, types.ErrFieldOverflow(to)
				}
				return q, nil
			})
		}
		if err != nil {
			// Either the value does not fit, which the slow way says again, or only the form
			// was too narrow.
			return slow(c, in, sel, rows, out)
		}
		return nil
	}
}

// decimalReader reads a row of an integer, float or numeric vector.
func decimalReader(from types.Type) func(v *vec.Vector, i int) types.Decimal {
	switch {
	case from.Kind == types.Numeric:
		return DecimalAt
	case from.Kind == types.Float4:
		return func(v *vec.Vector, i int) types.Decimal { return types.DecimalFromFloat32(v.Values().F64[v.Row(i)]) }
	case from.Kind == types.Float8:
		return func(v *vec.Vector, i int) types.Decimal { return types.DecimalFromFloat64(v.Values().F64[v.Row(i)]) }
	}
	return func(v *vec.Vector, i int) types.Decimal { return types.DecimalFromInt64(v.Values().I64[v.Row(i)]) }
}
