package eval

import (
	"slices"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerOpArray() {
	arrays := []types.Type{TAnyArray, TAnyArray}
	Register(
		Op("@>", arrays, TBool, arrayTest(contains)).NeverFails(),
		Op("<@", arrays, TBool, arrayTest(func(c *Ctx, a, b []types.Datum, at, bt types.Type) bool { return contains(c, b, a, bt, at) })).NeverFails(),
		Op("&&", arrays, TBool, arrayTest(overlap)).NeverFails(),
		Op("||", arrays, TAnyArray, Row(arrayConcat)).CalledOnNull(),
		Op("||", []types.Type{TAnyArray, TAnyElement}, TAnyArray, Row(arrayAppend)).CalledOnNull(),
		Op("||", []types.Type{TAnyElement, TAnyArray}, TAnyArray, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewList(append(append(room.Grow([]types.Datum(nil), 1+len(a[1].List())), a[0]), a[1].List()...)), nil
		})).CalledOnNull(),
	)
}

func arrayTest(f func(c *Ctx, a, b []types.Datum, at, bt types.Type) bool) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		o := OutBools(out, n)
		at, bt := args[0].Type, args[1].Type
		eachRow(sel, n, func(i int) {
			a, ae := leaves(args[0].Datum(i).List(), at)
			b, be := leaves(args[1].Datum(i).List(), bt)
			o[i] = f(c, a, b, ae, be)
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
func contains(c *Ctx, a, b []types.Datum, at, bt types.Type) bool {
	member := amongst(c, a, len(b), at, bt)
	for _, y := range b {
		if y.IsNull() || !member(y) {
			return false
		}
	}
	return true
}

func overlap(c *Ctx, a, b []types.Datum, at, bt types.Type) bool {
	member := amongst(c, a, len(b), at, bt)
	for _, y := range b {
		if !y.IsNull() && member(y) {
			return true
		}
	}
	return false
}

// amongst gives a test for what equals an element of a; it will be asked times times. Elements of
// one type are put in order first where looking through all of them each time would take long.
func amongst(c *Ctx, a []types.Datum, times int, at, bt types.Type) func(types.Datum) bool {
	asked := 0
	live := func() {
		if asked++; asked&63 == 0 {
			c.MustLive()
		}
	}
	if len(a) > 16 && times > 16 && at.Equal(bt) && at.Form() != types.FormStruct {
		sorted := room.Grow([]types.Datum(nil), len(a))
		for _, x := range a {
			if !x.IsNull() {
				sorted = append(sorted, x)
			}
		}
		c.MustLive()
		order := func(x, y types.Datum) int { return types.Compare(x, y, at) }
		slices.SortFunc(sorted, order)
		return func(y types.Datum) bool {
			live()
			_, found := slices.BinarySearchFunc(sorted, y, order)
			return found
		}
	}
	return func(y types.Datum) bool {
		live()
		for _, x := range a {
			if !x.IsNull() && compareTyped(x, at, y, bt) == 0 {
				return true
			}
		}
		return false
	}
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
	return types.NewList(append(room.Grow(l[:len(l):len(l)], len(a[1].List())), a[1].List()...)), nil
}

func arrayAppend(_ *Ctx, a []types.Datum) (types.Datum, error) {
	l := a[0].List()
	return types.NewList(room.Append(l[:len(l):len(l)], a[1])), nil
}
