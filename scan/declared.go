package scan

// This file makes values of a declared type of those that are stored for it, where they are not
// the same in memory or may not be in the form that the type's operators expect.

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// decodes tells whether values of t are made of stored ones. A jsonb is stored as text, which only
// our own writers bring into the canonical form that it has in memory.
func decodes(t types.Type) bool {
	switch t.Kind {
	case types.JSONB:
		return true
	case types.Array:
		return decodes(t.Elem())
	case types.Map:
		return decodes(t.Key()) || decodes(t.Elem())
	case types.Struct:
		for _, f := range t.Fields() {
			if decodes(f.Type) {
				return true
			}
		}
	}
	return false
}

// decode is a stored value as one of type t. What another engine wrote beyond the type is shown as
// it is.
func decode(d types.Datum, t types.Type) types.Datum {
	if d.IsNull() || !decodes(t) {
		return d
	}
	switch t.Kind {
	case types.JSONB:
		s, err := types.CanonicalJSON(d.Str())
		if err != nil || s == d.Str() {
			return d
		}
		return types.NewStr(s)
	case types.Array:
		list := append([]types.Datum(nil), d.List()...)
		for i := range list {
			list[i] = decode(list[i], t.Elem())
		}
		return types.NewList(list)
	case types.Map:
		list := append([]types.Datum(nil), d.List()...)
		for i := range list {
			kv := list[i].List()
			list[i] = types.NewStruct([]types.Datum{decode(kv[0], t.Key()), decode(kv[1], t.Elem())})
		}
		return types.NewList(list)
	case types.Struct:
		list := append([]types.Datum(nil), d.List()...)
		for i := range list {
			list[i] = decode(list[i], t.Fields()[i].Type)
		}
		return types.NewStruct(list)
	}
	return d
}

// decodeVector puts the first n rows of v, of the stored type, into a, of the type t.
func decodeVector(a *vec.Appender, v *vec.Vector, t types.Type, n int) *vec.Vector {
	a.Reset()
	for i := range n {
		a.AppendDatum(decode(v.Datum(i), t))
	}
	return a.Vector()
}

// storedField is f as a file has it, where its values are decoded after reading; else f itself.
func storedField(f *lake.Field) *lake.Field {
	if f == nil || !decodes(f.Type) {
		return f
	}
	return &lake.StoredFields([]lake.Field{*f})[0]
}
