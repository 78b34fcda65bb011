package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerJsonBuild() {
	jsonb := func(b []byte) (types.Datum, error) {
		s, err := types.CanonicalJSON(room.String(b))
		return types.NewStr(s), err
	}
	text := func(b []byte) (types.Datum, error) { return types.NewStr(room.String(b)), nil }
	for _, j := range []struct {
		t    types.Type
		name string
		done func([]byte) (types.Datum, error)
	}{{eval.TJSON, "json", text}, {eval.TJSONB, "jsonb", jsonb}} {
		done, name := j.done, j.name
		b := name == "jsonb"
		object := typed(func(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			s, err := buildObject(c, name, a, t)
			if err != nil {
				return types.Null, err
			}
			return done(s)
		})
		array := typed(func(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			o := eval.SessionText(c)
			s := []byte{'['}
			for i := range a {
				if i > 0 {
					s = append(room.Grow(s, 16), ", "...)
				}
				s = types.AppendJSON(s, a[i], t[i], o, b)
			}
			return done(append(room.Grow(s, 16), ']'))
		})
		fromText := eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			s, err := objectOfTexts(a)
			if err != nil {
				return types.Null, err
			}
			return done(s)
		})
		eval.Register(
			eval.Stable(name+"_build_object", nil, j.t, object).CalledOnNull(),
			eval.Stable(name+"_build_object", eval.Sig(types.Any), j.t, object).AsVariadic().CalledOnNull(),
			eval.Stable(name+"_build_array", nil, j.t, array).CalledOnNull(),
			eval.Stable(name+"_build_array", eval.Sig(types.Any), j.t, array).AsVariadic().CalledOnNull(),
			eval.Immutable(name+"_object", []types.Type{eval.TTextArray}, j.t, fromText),
			eval.Immutable(name+"_object", []types.Type{eval.TTextArray, eval.TTextArray}, j.t, fromText),
			eval.Stable("to_"+name, []types.Type{eval.TAnyElement}, j.t, typed(func(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
				return done(types.AppendJSON(nil, a[0], t[0], eval.SessionText(c), b))
			})),
		)
	}
	pretty := func(open, shut string) eval.Kernel {
		return typed(func(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			o := eval.SessionText(c)
			if len(a) < 2 || !a[1].Bool() {
				return types.NewStr(room.String(types.AppendJSON(nil, a[0], t[0], o, false))), nil
			}
			s := []byte(open)
			for i, d := range a[0].List() {
				if i > 0 {
					s = append(room.Grow(s, 16), ",\n "...)
				}
				if t[0].Kind == types.Struct {
					f := t[0].Fields()[i]
					s = append(types.AppendJSONString(s, f.Name), ':')
					s = types.AppendJSON(s, d, f.Type, o, false)
				} else {
					s = types.AppendJSON(s, d, t[0].Elem(), o, false)
				}
			}
			return types.NewStr(room.String(room.Text(s, shut))), nil
		})
	}
	eval.Register(
		eval.Stable("row_to_json", []types.Type{eval.TRecord}, eval.TJSON, pretty("{", "}")),
		eval.Stable("row_to_json", []types.Type{eval.TRecord, eval.TBool}, eval.TJSON, pretty("{", "}")),
		eval.Stable("array_to_json", []types.Type{eval.TAnyArray}, eval.TJSON, pretty("[", "]")),
		eval.Stable("array_to_json", []types.Type{eval.TAnyArray, eval.TBool}, eval.TJSON, pretty("[", "]")),
	)
}

func buildObject(c *eval.Ctx, name string, a []types.Datum, t []types.Type) ([]byte, error) {
	if len(a)%2 != 0 {
		return nil, errOddArguments(name)
	}
	o := eval.SessionText(c)
	s := []byte{'{'}
	for i := 0; i < len(a); i += 2 {
		if a[i].IsNull() {
			e := sqlerr.New(sqlerr.InvalidParameterValue, "argument %d cannot be null", i+1).WithHint("Object keys should be text.")
			if name == "jsonb" {
				e = sqlerr.New(sqlerr.InvalidParameterValue, "argument %d: key must not be null", i+1)
			}
			return nil, e
		}
		switch t[i].Kind {
		case types.Array, types.Struct, types.JSON, types.JSONB, types.Variant, types.Map:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
		}
		if i > 0 {
			s = append(room.Grow(s, 16), ", "...)
		}
		s = types.AppendJSONString(s, types.Format(a[i], t[i], o))
		s = append(s, " : "...)
		s = types.AppendJSON(s, a[i+1], t[i+1], o, false)
	}
	return append(room.Grow(s, 16), '}'), nil
}

func errOddArguments(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements").
		WithHint("The arguments of %s_build_object() must consist of alternating keys and values.", name)
}

// objectOfTexts makes an object of an array of keys and values in turn, of one of pairs, or of
// an array each.
func objectOfTexts(a []types.Datum) ([]byte, error) {
	keys, values := a[0].List(), []types.Datum(nil)
	dims := func(d types.Datum) error {
		if ndims(d) > 2 {
			return sqlerr.New(sqlerr.ArraySubscript, "wrong number of array subscripts")
		}
		return nil
	}
	if err := dims(a[0]); err != nil {
		return nil, err
	}
	switch {
	case len(a) == 2:
		values = a[1].List()
		if len(keys) != len(values) {
			return nil, sqlerr.New(sqlerr.ArraySubscript, "mismatched array dimensions")
		}
	case nestedLists(keys):
		var k []types.Datum
		for _, pair := range keys {
			if len(pair.List()) != 2 {
				return nil, sqlerr.New(sqlerr.ArraySubscript, "array must have two columns")
			}
			k, values = room.Append(k, pair.List()[0]), room.Append(values, pair.List()[1])
		}
		keys = k
	default:
		if len(keys)%2 != 0 {
			return nil, sqlerr.New(sqlerr.ArraySubscript, "array must have even number of elements")
		}
		var k []types.Datum
		for i := 0; i < len(keys); i += 2 {
			k, values = room.Append(k, keys[i]), room.Append(values, keys[i+1])
		}
		keys = k
	}
	s := []byte{'{'}
	for i := range keys {
		if keys[i].IsNull() {
			return nil, sqlerr.New(sqlerr.NullNotAllowed, "null value not allowed for object key")
		}
		if i > 0 {
			s = append(room.Grow(s, 16), ", "...)
		}
		s = append(types.AppendJSONString(s, keys[i].Str()), " : "...)
		if values[i].IsNull() {
			s = append(room.Grow(s, 16), "null"...)
		} else {
			s = types.AppendJSONString(s, values[i].Str())
		}
	}
	return append(room.Grow(s, 16), '}'), nil
}
