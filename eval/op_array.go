package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func init() {
	arrays := []types.Type{tAnyArray, tAnyArray}
	Register(
		op("@>", arrays, tBool, arrayTest(func(a, b []types.Datum, at, bt types.Type) bool { return contains(a, b, at, bt) })).total(),
		op("<@", arrays, tBool, arrayTest(func(a, b []types.Datum, at, bt types.Type) bool { return contains(b, a, bt, at) })).total(),
		op("&&", arrays, tBool, arrayTest(overlap)).total(),
		op("||", arrays, tAnyArray, Row(arrayConcat)).nonStrict(),
		op("||", []types.Type{tAnyArray, tAnyElement}, tAnyArray, Row(arrayAppend)).nonStrict(),
		op("||", []types.Type{tAnyElement, tAnyArray}, tAnyArray, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewList(append([]types.Datum{a[0]}, a[1].List()...)), nil
		})).nonStrict(),
	)
}

func arrayTest(f func(a, b []types.Datum, at, bt types.Type) bool) Kernel {
	return func(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		o := OutBools(out, n)
		at, bt := args[0].Type, args[1].Type
		eachRow(sel, n, func(i int) {
			a, ae := leaves(args[0].Datum(i).List(), at)
			b, be := leaves(args[1].Datum(i).List(), bt)
			o[i] = f(a, b, ae, be)
		})
		return nil
	}
}

// leaves are an array's innermost elements: containment does not look at dimensions.
func leaves(l []types.Datum, t types.Type) ([]types.Datum, types.Type) {
	elem := vec.ListChild(t)
	if elem.Kind != types.Array {
		return l, elem
	}
	var all []types.Datum
	for _, d := range l {
		if !d.IsNull() {
			all = append(all, d.List()...)
		}
	}
	return leaves(all, elem)
}

// contains tells whether every element of b equals one of a; NULL equals nothing.
func contains(a, b []types.Datum, at, bt types.Type) bool {
	for _, y := range b {
		if y.IsNull() || !member(a, y, at, bt) {
			return false
		}
	}
	return true
}

func overlap(a, b []types.Datum, at, bt types.Type) bool {
	for _, y := range b {
		if !y.IsNull() && member(a, y, at, bt) {
			return true
		}
	}
	return false
}

func member(a []types.Datum, y types.Datum, at, bt types.Type) bool {
	for _, x := range a {
		if !x.IsNull() && compareTyped(x, at, y, bt) == 0 {
			return true
		}
	}
	return false
}

// arrayConcat: a NULL array is as none; both NULL give NULL.
func arrayConcat(_ *Ctx, a []types.Datum) (types.Datum, error) {
	switch {
	case a[0].IsNull():
		return a[1], nil
	case a[1].IsNull():
		return a[0], nil
	}
	l := a[0].List()
	return types.NewList(append(l[:len(l):len(l)], a[1].List()...)), nil
}

func arrayAppend(_ *Ctx, a []types.Datum) (types.Datum, error) {
	l := a[0].List()
	return types.NewList(append(l[:len(l):len(l)], a[1])), nil
}
