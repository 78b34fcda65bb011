package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Maps have no type of their own in PostgreSQL; the names are those of Spark and Trino. Their
// signatures take anything and check, because no pseudo-type stands for maps.
func registerMap() {
	mapOf := func(fn string, args []types.Type) error {
		if args[0].Kind != types.Map {
			return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", fn, eval.SpellAll(args))
		}
		return nil
	}
	parts := func(fn string, part int) eval.Func {
		return eval.Immutable(fn, eval.Sig(types.Any), eval.TAnyArray, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			var out []types.Datum
			for _, kv := range a[0].List() {
				out = append(out, kv.List()[part])
			}
			return types.NewList(out), nil
		})).Returning(func(args []types.Type) (types.Type, error) {
			if part == 0 {
				return types.ArrayOf(args[0].Key()), mapOf(fn, args)
			}
			return types.ArrayOf(args[0].Elem()), mapOf(fn, args)
		}).NeverFails()
	}
	eval.Register(
		parts("map_keys", 0),
		parts("map_values", 1),
		eval.Immutable("map_size", eval.Sig(types.Any), eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewInt(int64(len(a[0].List()))), nil
		})).Returning(func(args []types.Type) (types.Type, error) { return eval.TInt4, mapOf("map_size", args) }).NeverFails(),
		eval.Immutable("map_contains_key", eval.Sig(types.Any, types.Any), eval.TBool, typed(func(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			_, found, err := mapGet(a, t)
			return types.NewBool(found), err
		})).Returning(func(args []types.Type) (types.Type, error) { return eval.TBool, mapOf("map_contains_key", args) }),
		// element_at(map, key) and element_at(array, index); a negative index counts from the end.
		eval.Immutable("element_at", eval.Sig(types.Any, types.Any), eval.TAny, typed(func(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			if t[0].Kind == types.Map {
				v, _, err := mapGet(a, t)
				return v, err
			}
			l, i := a[0].List(), a[1].Int()
			if i < 0 {
				i += int64(len(l)) + 1
			}
			if i < 1 || i > int64(len(l)) {
				return types.Null, nil
			}
			return l[i-1], nil
		})).Returning(func(args []types.Type) (types.Type, error) {
			switch {
			case args[0].Kind == types.Map:
				return args[0].Elem(), nil
			case args[0].Kind == types.Array && args[1].IsInteger():
				return args[0].Elem(), nil
			}
			return types.Type{}, sqlerr.New(sqlerr.UndefinedFunction, "function element_at(%s) does not exist", eval.SpellAll(args))
		}),
	)
}

// mapGet finds a key in a map; an integer or numeric key of another type than the map's own is
// compared by value, any other must be of the map's key type.
func mapGet(a []types.Datum, t []types.Type) (types.Datum, bool, error) {
	key, kt := a[1], t[0].Key()
	switch {
	case t[1].Same(kt), t[1].IsInteger() && kt.IsInteger(), t[1].IsString() && kt.IsString():
	case t[1].IsNumber() && kt.Kind == types.Numeric:
		var err error
		if key, err = types.DecimalOf(key, t[1]).Datum(kt); err != nil {
			return types.Null, false, err
		}
	default:
		return types.Null, false, sqlerr.New(sqlerr.DatatypeMismatch, "map key must be of type %s, not type %s", kt, t[1])
	}
	if t[1].Same(kt) {
		var err error
		if key, err = recast(key, t[1], kt); err != nil {
			return types.Null, false, err
		}
	}
	for _, kv := range a[0].List() {
		if m := kv.List(); types.Compare(m[0], key, kt) == 0 {
			return m[1], true, nil
		}
	}
	return types.Null, false, nil
}
