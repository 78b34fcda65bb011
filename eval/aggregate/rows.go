package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// eachGrouped calls f(i, g) for every row of sel (nil: all) where v (nil: any) is not NULL, g
// being the row's group.
func eachGrouped(v *vec.Vector, sel []uint16, rows int, groups []uint32, f func(i int, g uint32) error) error {
	n := rows
	if sel != nil {
		n = len(sel)
	}
	for k := 0; k < n; k++ {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v != nil && v.Null(i) {
			continue
		}
		g := uint32(0)
		if groups != nil {
			g = groups[k]
		}
		if err := f(i, g); err != nil {
			return err
		}
	}
	return nil
}

// grow lengthens s to n zero values at least, with room for more.
func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]T, n, n+n/2)
	copy(t, s)
	return t
}

// agg makes an AggImpl of a constructor.
func agg(f func(call eval.AggCall) eval.AggState) *eval.AggImpl {
	return &eval.AggImpl{New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) { return f(call), nil }}
}

// sameType is the RetFn of functions whose result has their first argument's type.
func sameType(args []types.Type) (types.Type, error) { return args[0], nil }

// putResults fills out with value(g) of groups [from, to), in whatever form.
func putResults(from, to int, out *vec.Vector, value func(g int) (types.Datum, error)) error {
	return eval.PutDatums(out, nil, to-from, func(i int) (types.Datum, error) { return value(from + i) })
}
