package vec

import (
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/types"
)

// Alloc makes a Flat vector of rows zero values without NULLs. FormList gets one zero offset
// per row and an empty child; FormStruct gets a zero vector per member.
func Alloc(t types.Type, form types.Form, rows int) *Vector {
	v := &Vector{Type: t, Form: form}
	switch form {
	case types.FormBool:
		v.Bools = make([]bool, rows)
	case types.FormI64:
		v.I64 = make([]int64, rows)
	case types.FormF64:
		v.F64 = make([]float64, rows)
	case types.FormW128:
		v.W128 = make([]types.Int128, rows)
	case types.FormStr:
		v.Views = make([]View, rows)
	case types.FormList:
		v.Offsets = make([]uint32, rows+1)
		c := ListChild(t)
		v.Child = Alloc(c, c.Form(), 0)
	case types.FormStruct:
		f := t.Fields()
		v.Children = make([]*Vector, len(f))
		for i := range f {
			v.Children[i] = Alloc(f[i].Type, f[i].Type.Form(), rows)
		}
	}
	return v
}

// ListChild is the type of the values that a list-form type's Child holds: an Array's element,
// a Map's {key, value} struct, int2 or oid for the catalog's vector types.
func ListChild(t types.Type) types.Type {
	switch t.Kind {
	case types.Array:
		return t.Elem()
	case types.Map:
		return types.StructOf(types.Field{Name: "key", Type: t.Key()}, types.Field{Name: "value", Type: t.Elem()})
	case types.Int2Vector:
		return types.T(types.Int2)
	case types.OidVector:
		return types.T(types.Oid)
	}
	invariant.Fail("vec.ListChild of %s", t)
	return types.Type{}
}

// ConstOf makes a Const vector of one value.
func ConstOf(t types.Type, d types.Datum) *Vector {
	a := NewAppender(t)
	a.AppendDatum(d)
	v := a.Vector()
	v.Enc = Const
	return v
}

// Datum is row i as a single value; strings are copied.
func (v *Vector) Datum(i int) types.Datum {
	if v.Null(i) {
		return types.Null
	}
	return v.Values().value(v.Row(i))
}

// value is physical row r of a Flat or Const vector, which is not NULL.
func (v *Vector) value(r int) types.Datum {
	switch v.Form {
	case types.FormBool:
		return types.NewBool(v.Bools[r])
	case types.FormI64:
		return types.NewInt(v.I64[r])
	case types.FormF64:
		return types.NewFloat(v.F64[r])
	case types.FormW128:
		return types.NewW128(v.W128[r])
	case types.FormStr:
		w := v.Views[r]
		return types.NewStr(string(v.Data[w.Off : w.Off+w.Len]))
	case types.FormList:
		lo, hi := int(v.Offsets[r]), int(v.Offsets[r+1])
		l := make([]types.Datum, hi-lo)
		for j := range l {
			l[j] = v.Child.Datum(lo + j)
		}
		return types.NewList(l)
	case types.FormStruct:
		l := make([]types.Datum, len(v.Children))
		for j, c := range v.Children {
			l[j] = c.Datum(r)
		}
		return types.NewStruct(l)
	}
	return types.Null
}

// Flatten copies the rows sel (nil: all) of v into a dense Flat vector.
func Flatten(v *Vector, sel []uint16, rows int) *Vector {
	a := NewAppender(v.Type)
	a.AppendSel(v, sel, rows)
	return a.Vector()
}
