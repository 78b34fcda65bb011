package eval

import (
	"unsafe"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Fn…, Try… and Ask… make a Kernel of a Go function on single values: Fn1 of one that cannot
// fail, Try1 of one that returns an error too, Ask1 of one that also gets the Ctx; the number
// is how many SQL arguments it has. The functions must be called for strict functions only:
// no argument is NULL. Argument and result types may be
//
//	bool, int64 (every integer, date, time, timestamp, oid), int32, int, float64, types.Int128,
//	types.IntervalValue, types.Decimal (any numeric), string and []byte (every string and
//	bytes type; arguments are valid only during the call), types.Datum (any type; a result may
//	be types.Null), []types.Datum (arrays, maps, structs; a nil result is an empty list).

// Fn1 adapts a function of one argument that cannot fail.
func Fn1[A, R any](f func(A) R) Kernel {
	return Ask1(func(_ *Ctx, a A) (R, error) { return f(a), nil })
}

// Fn2 is Fn1 for two.
func Fn2[A, B, R any](f func(A, B) R) Kernel {
	return Ask2(func(_ *Ctx, a A, b B) (R, error) { return f(a, b), nil })
}

// Fn3 is Fn1 for three.
func Fn3[A, B, D, R any](f func(A, B, D) R) Kernel {
	return Ask3(func(_ *Ctx, a A, b B, d D) (R, error) { return f(a, b, d), nil })
}

// Fn4 is Fn1 for four.
func Fn4[A, B, D, E, R any](f func(A, B, D, E) R) Kernel {
	return Ask4(func(_ *Ctx, a A, b B, d D, e E) (R, error) { return f(a, b, d, e), nil })
}

// Try1 adapts a function of one argument that may fail.
func Try1[A, R any](f func(A) (R, error)) Kernel {
	return Ask1(func(_ *Ctx, a A) (R, error) { return f(a) })
}

// Try2 is Try1 for two.
func Try2[A, B, R any](f func(A, B) (R, error)) Kernel {
	return Ask2(func(_ *Ctx, a A, b B) (R, error) { return f(a, b) })
}

// Try3 is Try1 for three.
func Try3[A, B, D, R any](f func(A, B, D) (R, error)) Kernel {
	return Ask3(func(_ *Ctx, a A, b B, d D) (R, error) { return f(a, b, d) })
}

// Try4 is Try1 for four.
func Try4[A, B, D, E, R any](f func(A, B, D, E) (R, error)) Kernel {
	return Ask4(func(_ *Ctx, a A, b B, d D, e E) (R, error) { return f(a, b, d, e) })
}

// Ask0 adapts a function without arguments that asks the statement's Ctx, such as now().
func Ask0[R any](f func(*Ctx) (R, error)) Kernel {
	return func(c *Ctx, _ []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return put(out, sel, n, func(int) (R, error) { return f(c) })
	}
}

// Ask1 is Ask0 for one argument.
func Ask1[A, R any](f func(*Ctx, A) (R, error)) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		a := reader[A](args[0])
		return put(out, sel, n, live(c, func(i int) (R, error) { return f(c, a(i)) }))
	}
}

// Ask2 is Ask0 for two.
func Ask2[A, B, R any](f func(*Ctx, A, B) (R, error)) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		a, b := reader[A](args[0]), reader[B](args[1])
		return put(out, sel, n, live(c, func(i int) (R, error) { return f(c, a(i), b(i)) }))
	}
}

// Ask3 is Ask0 for three.
func Ask3[A, B, D, R any](f func(*Ctx, A, B, D) (R, error)) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		a, b, d := reader[A](args[0]), reader[B](args[1]), reader[D](args[2])
		return put(out, sel, n, live(c, func(i int) (R, error) { return f(c, a(i), b(i), d(i)) }))
	}
}

// Ask4 is Ask0 for four.
func Ask4[A, B, D, E, R any](f func(*Ctx, A, B, D, E) (R, error)) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		a, b, d, e := reader[A](args[0]), reader[B](args[1]), reader[D](args[2]), reader[E](args[3])
		return put(out, sel, n, live(c, func(i int) (R, error) { return f(c, a(i), b(i), d(i), e(i)) }))
	}
}

// live is f that looks now and then whether anybody waits for its values: each may take long.
func live[R any](c *Ctx, f func(i int) (R, error)) func(i int) (R, error) {
	return func(i int) (r R, err error) {
		if i&15 == 0 {
			if err := c.Alive(); err != nil {
				return r, err
			}
		}
		return f(i)
	}
}

// reader gives row i of v as a T.
func reader[T any](v *vec.Vector) func(i int) T {
	f := v.Values()
	var z T
	var read any
	switch any(z).(type) {
	case bool:
		read = func(i int) bool { return f.Bools[v.Row(i)] }
	case int64:
		read = func(i int) int64 { return f.I64[v.Row(i)] }
	case int32:
		read = func(i int) int32 { return int32(f.I64[v.Row(i)]) }
	case int:
		read = func(i int) int { return int(f.I64[v.Row(i)]) }
	case float64:
		read = func(i int) float64 { return f.F64[v.Row(i)] }
	case types.Int128:
		read = func(i int) types.Int128 { return f.W128[v.Row(i)] }
	case types.IntervalValue:
		read = func(i int) types.IntervalValue { return types.IntervalOf(f.W128[v.Row(i)]) }
	case types.Decimal:
		read = func(i int) types.Decimal { return DecimalAt(v, i) }
	case string:
		read = func(i int) string {
			b := v.Bytes(i)
			return unsafe.String(unsafe.SliceData(b), len(b))
		}
	case []byte:
		read = v.Bytes
	case types.Datum:
		read = v.Datum
	case []types.Datum:
		read = func(i int) []types.Datum { return v.Datum(i).List() }
	default:
		invariant.Fail("no reader of %T", z)
	}
	return read.(func(int) T)
}

// put fills out with value(i) for the rows of sel.
func put[R any](out *vec.Vector, sel []uint16, n int, value func(i int) (R, error)) error {
	var z R
	var write any
	switch any(z).(type) {
	case bool:
		o := OutBools(out, n)
		write = func(i int, r bool) { o[i] = r }
	case int64:
		o := OutI64(out, n)
		write = func(i int, r int64) { o[i] = r }
	case int32:
		o := OutI64(out, n)
		write = func(i int, r int32) { o[i] = int64(r) }
	case int:
		o := OutI64(out, n)
		write = func(i int, r int) { o[i] = int64(r) }
	case float64:
		o := OutF64(out, n)
		write = func(i int, r float64) { o[i] = r }
	case types.Int128:
		o := OutW128(out, n)
		write = func(i int, r types.Int128) { o[i] = r }
	case types.IntervalValue:
		o := OutW128(out, n)
		write = func(i int, r types.IntervalValue) { o[i] = r.W128() }
	case string:
		OutStr(out, n)
		write = func(i int, r string) { PutStr(out, i, r) }
	case []byte:
		OutStr(out, n)
		write = func(i int, r []byte) { PutBytes(out, i, r) }
	case types.Decimal:
		return PutDatums(out, sel, n, func(i int) (types.Datum, error) {
			r, err := value(i)
			if err != nil {
				return types.Null, err
			}
			return any(r).(types.Decimal).Datum(out.Type)
		})
	case types.Datum:
		return PutDatums(out, sel, n, any(value).(func(int) (types.Datum, error)))
	case []types.Datum:
		return PutDatums(out, sel, n, func(i int) (types.Datum, error) {
			r, err := value(i)
			if err != nil {
				return types.Null, err
			}
			if out.Type.Form() == types.FormStruct {
				return types.NewStruct(any(r).([]types.Datum)), nil
			}
			return types.NewList(any(r).([]types.Datum)), nil
		})
	default:
		invariant.Fail("no writer of %T", z)
	}
	w := write.(func(int, R))
	return EachRow(sel, n, func(i int) error {
		r, err := value(i)
		if err != nil {
			return err
		}
		w(i, r)
		return nil
	})
}

// DecimalAt is row i of a Numeric vector of any form.
func DecimalAt(v *vec.Vector, i int) types.Decimal {
	f := v.Values()
	r := v.Row(i)
	switch f.Form {
	case types.FormI64:
		return types.DecimalOf(types.NewInt(f.I64[r]), f.Type)
	case types.FormW128:
		return types.DecimalOf(types.NewW128(f.W128[r]), f.Type)
	}
	w := f.Views[r]
	b := f.Data[w.Off : w.Off+w.Len]
	return types.DecimalOf(types.NewStr(unsafe.String(unsafe.SliceData(b), len(b))), f.Type)
}
