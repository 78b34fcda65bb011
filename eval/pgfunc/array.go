package pgfunc

import (
	"strings"
	"unsafe"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Arrays: PostgreSQL's chapter 9.19. Arrays count from 1 here; several dimensions are arrays of
// arrays.
func registerArray() {
	aa, ae, i4 := eval.TAnyArray, eval.TAnyElement, eval.TInt4
	eval.Register(
		eval.Immutable("array_length", []types.Type{aa, i4}, eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return dimension(a[0], a[1].Int()), nil
		})).NeverFails(),
		eval.Immutable("array_upper", []types.Type{aa, i4}, eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return dimension(a[0], a[1].Int()), nil
		})).NeverFails(),
		eval.Immutable("array_lower", []types.Type{aa, i4}, eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			if dimension(a[0], a[1].Int()).IsNull() {
				return types.Null, nil
			}
			return types.NewInt(1), nil
		})).NeverFails(),
		eval.Immutable("array_ndims", []types.Type{aa}, eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			if n := ndims(a[0]); n > 0 {
				return types.NewInt(n), nil
			}
			return types.Null, nil
		})).NeverFails(),
		eval.Immutable("array_dims", []types.Type{aa}, eval.TText, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			var b room.Builder
			for n := int64(1); ; n++ {
				d := dimension(a[0], n)
				if d.IsNull() {
					break
				}
				b.WriteString("[1:" + string(types.AppendText(nil, d, eval.TInt8, nil)) + "]")
			}
			if b.Len() == 0 {
				return types.Null, nil
			}
			return types.NewStr(b.String()), nil
		})).NeverFails(),
		eval.Immutable("cardinality", []types.Type{aa}, eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewInt(cardinality(a[0])), nil
		})).NeverFails(),
		eval.Immutable("array_append", []types.Type{aa, ae}, aa, typed(arrayAppendFn)).CalledOnNull(),
		eval.Immutable("array_prepend", []types.Type{ae, aa}, aa, typed(arrayPrependFn)).CalledOnNull(),
		eval.Immutable("array_cat", []types.Type{aa, aa}, aa, typed(arrayCatFn)).CalledOnNull(),
		eval.Immutable("array_position", []types.Type{aa, ae}, eval.TInt4, typed(arrayPosition)).CalledOnNull(),
		eval.Immutable("array_position", []types.Type{aa, ae, i4}, eval.TInt4, typed(arrayPosition)).CalledOnNull(),
		eval.Immutable("array_positions", []types.Type{aa, ae}, types.ArrayOf(eval.TInt4), typed(arrayPositions)).CalledOnNull(),
		eval.Immutable("array_remove", []types.Type{aa, ae}, aa, typed(arrayRemove)).CalledOnNull(),
		eval.Immutable("array_replace", []types.Type{aa, ae, ae}, aa, typed(arrayReplace)).CalledOnNull(),
		eval.Immutable("array_remove_nulls", []types.Type{aa}, aa, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			var out []types.Datum
			for _, d := range a[0].List() {
				if !d.IsNull() {
					out = room.Append(out, d)
				}
			}
			return types.NewList(out), nil
		})).NeverFails(),
		eval.Immutable("trim_array", []types.Type{aa, i4}, aa, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			l, n := a[0].List(), a[1].Int()
			if n < 0 || n > int64(len(l)) {
				return types.Null, sqlerr.New(sqlerr.Code("2202E"), "number of elements to trim must be between 0 and %d", len(l))
			}
			return types.NewList(l[:int64(len(l))-n]), nil
		})),
		eval.Immutable("array_fill", []types.Type{ae, types.ArrayOf(eval.TInt4)}, aa, typed(arrayFill)).CalledOnNull(),
		eval.Stable("array_to_string", []types.Type{aa, eval.TText}, eval.TText, typed(arrayToString)),
		eval.Stable("array_to_string", []types.Type{aa, eval.TText, eval.TText}, eval.TText, typed(arrayToString)).CalledOnNull(),
		eval.Immutable("string_to_array", eval.Sig(types.Text, types.Text), eval.TTextArray, eval.Row(stringToArray)).CalledOnNull(),
		eval.Immutable("string_to_array", eval.Sig(types.Text, types.Text, types.Text), eval.TTextArray, eval.Row(stringToArray)).CalledOnNull(),
		eval.Immutable("string_to_table", eval.Sig(types.Text, types.Text), eval.TText, eval.SetKernel(stringToTable)).CalledOnNull(),
		eval.Immutable("string_to_table", eval.Sig(types.Text, types.Text, types.Text), eval.TText, eval.SetKernel(stringToTable)).CalledOnNull(),
		eval.Immutable("unnest", []types.Type{aa}, ae, eval.SetKernel(unnest)).Returning(elementType),
		eval.Immutable("generate_subscripts", []types.Type{aa, i4}, eval.TInt4, eval.SetKernel(generateSubscripts)),
		eval.Immutable("generate_subscripts", []types.Type{aa, i4, eval.TBool}, eval.TInt4, eval.SetKernel(generateSubscripts)),
	)
}

// elementType is what unnest gives: a nested array's innermost elements.
func elementType(args []types.Type) (types.Type, error) {
	t := args[0]
	switch t.Kind {
	case types.Int2Vector:
		return eval.TInt2, nil
	case types.OidVector:
		return eval.TOid, nil
	}
	for t.Kind == types.Array {
		t = t.Elem()
	}
	return t, nil
}

// nested tells whether an array's elements are arrays.
func nestedLists(l []types.Datum) bool {
	return len(l) > 0 && l[0].Form() == types.FormList
}

// dimension is the length of the n-th dimension, NULL when there is none.
func dimension(a types.Datum, n int64) types.Datum {
	l := a.List()
	for ; n > 1 && nestedLists(l); n-- {
		l = l[0].List()
	}
	if n != 1 || len(l) == 0 {
		return types.Null
	}
	return types.NewInt(int64(len(l)))
}

func ndims(a types.Datum) int64 {
	if len(a.List()) == 0 {
		return 0
	}
	if nestedLists(a.List()) {
		return 1 + ndims(a.List()[0])
	}
	return 1
}

func cardinality(a types.Datum) int64 {
	l := a.List()
	if !nestedLists(l) {
		return int64(len(l))
	}
	n := int64(0)
	for _, e := range l {
		n += cardinality(e)
	}
	return n
}

// join makes one array of parts, with the element form of the result.
func joinArrays(ret types.Type, parts ...typedValue) (types.Datum, error) {
	var out []types.Datum
	for _, p := range parts {
		list, elem := p.v.List(), p.t.Elem()
		if p.single {
			list, elem = []types.Datum{p.v}, p.t
		}
		for _, e := range list {
			r, err := recast(e, elem, ret.Elem())
			if err != nil {
				return types.Null, err
			}
			out = room.Append(out, r)
		}
	}
	return types.NewList(out), nil
}

type typedValue struct {
	v      types.Datum
	t      types.Type
	single bool
}

func arrayAppendFn(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	return joinArrays(ret, typedValue{v: a[0], t: t[0]}, typedValue{v: a[1], t: t[1], single: true})
}

func arrayPrependFn(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	return joinArrays(ret, typedValue{v: a[0], t: t[0], single: true}, typedValue{v: a[1], t: t[1]})
}

func arrayCatFn(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	if a[0].IsNull() && a[1].IsNull() {
		return types.Null, nil
	}
	return joinArrays(ret, typedValue{v: a[0], t: t[0]}, typedValue{v: a[1], t: t[1]})
}

// sameElement gives a test for elements not distinct from x.
func sameElement(array types.Type, x types.Datum, xt types.Type) (func(types.Datum) bool, error) {
	elem := array.Elem()
	x, err := recast(x, xt, elem)
	return func(d types.Datum) bool {
		if d.IsNull() || x.IsNull() {
			return d.IsNull() && x.IsNull()
		}
		return types.Compare(d, x, elem) == 0
	}, err
}

func oneDimension(a types.Datum, what string) error {
	if nestedLists(a.List()) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s multidimensional arrays is not supported", what)
	}
	return nil
}

func arrayPosition(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	if err := oneDimension(a[0], "searching for elements in"); err != nil {
		return types.Null, err
	}
	from := int64(1)
	if len(a) > 2 {
		if a[2].IsNull() {
			return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "initial position must not be null")
		}
		from = max(a[2].Int(), 1)
	}
	same, err := sameElement(t[0], a[1], t[1])
	if err != nil {
		return types.Null, err
	}
	l := a[0].List()
	for i := from - 1; i < int64(len(l)); i++ {
		if same(l[i]) {
			return types.NewInt(i + 1), nil
		}
	}
	return types.Null, nil
}

func arrayPositions(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	if err := oneDimension(a[0], "searching for elements in"); err != nil {
		return types.Null, err
	}
	same, err := sameElement(t[0], a[1], t[1])
	var out []types.Datum
	for i, d := range a[0].List() {
		if same(d) {
			out = room.Append(out, types.NewInt(int64(i+1)))
		}
	}
	return types.NewList(out), err
}

func arrayRemove(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	if err := oneDimension(a[0], "removing elements from"); err != nil {
		return types.Null, err
	}
	same, err := sameElement(t[0], a[1], t[1])
	if err != nil {
		return types.Null, err
	}
	var out []types.Datum
	for _, d := range a[0].List() {
		if !same(d) {
			out = room.Append(out, d)
		}
	}
	return recast(types.NewList(out), t[0], ret)
}

func arrayReplace(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	same, err := sameElement(t[0], a[1], t[1])
	if err != nil {
		return types.Null, err
	}
	by, err := recast(a[2], t[2], ret.Elem())
	if err != nil {
		return types.Null, err
	}
	out := make([]types.Datum, len(a[0].List()))
	for i, d := range a[0].List() {
		if same(d) {
			out[i] = by
		} else if out[i], err = recast(d, t[0].Elem(), ret.Elem()); err != nil {
			return types.Null, err
		}
	}
	return types.NewList(out), nil
}

func arrayFill(_ *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error) {
	if a[1].IsNull() {
		return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "dimension array or low bound array cannot be null")
	}
	dims := a[1].List()
	if len(dims) > 1 {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "array_fill of several dimensions is not supported")
	}
	if len(dims) == 0 {
		return types.NewList(nil), nil
	}
	if dims[0].IsNull() {
		return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "dimension values cannot be null")
	}
	n := dims[0].Int()
	if n < 0 || n > 1<<27 {
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", 1<<27)
	}
	if err := checkList(int(n)); err != nil {
		return types.Null, err
	}
	v, err := recast(a[0], t[0], ret.Elem())
	if err != nil {
		return types.Null, err
	}
	if v.Form() == types.FormStr {
		if err := vec.CheckBytes(int(n) * len(v.Str())); err != nil {
			return types.Null, err
		}
	}
	out := room.Grow([]types.Datum(nil), int(n))[:n]
	for i := range out {
		out[i] = v
	}
	return types.NewList(out), nil
}

func arrayToString(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return types.Null, nil
	}
	null := types.Null
	if len(a) > 2 {
		null = a[2]
	}
	elem := eval.TInt8
	switch t[0].Kind {
	case types.Array:
		elem, _ = elementType(t[:1])
	}
	o := eval.SessionText(c)
	var b []byte
	first := true
	var walk func(l []types.Datum)
	walk = func(l []types.Datum) {
		for _, d := range l {
			switch {
			case d.Form() == types.FormList && elem.Kind != types.Map:
				walk(d.List())
				continue
			case d.IsNull() && null.IsNull():
				continue
			}
			if !first {
				b = room.Text(b, a[1].Str())
			}
			first = false
			if b = room.Grow(b, 64); d.IsNull() {
				b = room.Text(b, null.Str())
			} else {
				b = types.AppendText(b, d, elem, o)
			}
		}
	}
	walk(a[0].List())
	return types.NewStr(room.String(b)), nil
}

// splitText cuts s at sep: a NULL sep into characters, an empty one not at all.
func splitText(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	s := a[0].Str()
	n := 0
	part := func(p string) error {
		if n++; n%lookEvery == 0 {
			if err := c.Alive(); err != nil {
				return err
			}
		}
		if len(a) > 2 && !a[2].IsNull() && a[2].Str() == p {
			return yield(types.Null)
		}
		return yield(types.NewStr(p))
	}
	switch {
	case s == "":
		return nil
	case a[1].IsNull():
		for _, r := range s {
			if err := part(string(r)); err != nil {
				return err
			}
		}
		return nil
	case a[1].Str() == "":
		return part(s)
	}
	for {
		before, after, found := strings.Cut(s, a[1].Str())
		if err := part(before); err != nil || !found {
			return err
		}
		s = after
	}
}

func stringToArray(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	var out []types.Datum
	err := splitText(c, a, func(d types.Datum) error {
		out = room.Append(out, d)
		return checkList(len(out))
	})
	return types.NewList(out), err
}

// checkList fails when a list of n elements, as a datum, would take more memory than there is.
func checkList(n int) error { return vec.CheckBytes(n * int(unsafe.Sizeof(types.Datum{}))) }

func stringToTable(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	if a[0].IsNull() {
		return nil
	}
	return splitText(c, a, yield)
}

func unnest(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	for _, d := range a[0].List() {
		var err error
		if d.Form() == types.FormList && nestedLists(a[0].List()) {
			err = unnest(c, []types.Datum{d}, yield)
		} else {
			err = yield(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func generateSubscripts(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	n := dimension(a[0], a[1].Int())
	if n.IsNull() {
		return nil
	}
	down := len(a) > 2 && a[2].Bool()
	for i := int64(1); i <= n.Int(); i++ {
		v := i
		if down {
			v = n.Int() + 1 - i
		}
		if err := yield(types.NewInt(v)); err != nil {
			return err
		}
	}
	return nil
}
