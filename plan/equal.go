package plan

import "github.com/lhsql/lhsql/types"

// EqualExpr tells whether a and b are the same expression, position and names aside. A
// Subquery equals only itself.
func EqualExpr(a, b Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a == b {
		return true
	}
	if !sameHead(a, b) {
		return false
	}
	ca, cb := Children(a), Children(b)
	if len(ca) != len(cb) {
		return false
	}
	for i := range ca {
		if !EqualExpr(ca[i], cb[i]) {
			return false
		}
	}
	return true
}

// sameHead compares two expressions without their children.
func sameHead(a, b Expr) bool {
	switch a := a.(type) {
	case *Col:
		b, ok := b.(*Col)
		return ok && a.ID == b.ID
	case *Const:
		b, ok := b.(*Const)
		return ok && a.Typ.Equal(b.Typ) && EqualDatum(a.Value, b.Value)
	case *Param:
		b, ok := b.(*Param)
		return ok && a.Index == b.Index
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Func == b.Func && a.Typ.Equal(b.Typ)
	case *And:
		_, ok := b.(*And)
		return ok
	case *Or:
		_, ok := b.(*Or)
		return ok
	case *Not:
		_, ok := b.(*Not)
		return ok
	case *IsNull:
		b, ok := b.(*IsNull)
		return ok && a.Negate == b.Negate
	case *Case:
		b, ok := b.(*Case)
		return ok && len(a.Whens) == len(b.Whens) && (a.Else == nil) == (b.Else == nil) && a.Typ.Equal(b.Typ)
	case *Coalesce:
		b, ok := b.(*Coalesce)
		return ok && a.Typ.Equal(b.Typ)
	case *InList:
		b, ok := b.(*InList)
		if !ok || a.Negate != b.Negate || len(a.List) != len(b.List) {
			return false
		}
		for i := range a.List {
			if !EqualDatum(a.List[i], b.List[i]) {
				return false
			}
		}
		return true
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.Typ.Equal(b.Typ) && a.Context == b.Context
	case *FieldOf:
		b, ok := b.(*FieldOf)
		return ok && a.Index == b.Index
	case *Subscript:
		_, ok := b.(*Subscript)
		return ok
	case *Slice:
		b, ok := b.(*Slice)
		return ok && a.Depth == b.Depth && (a.Lower == nil) == (b.Lower == nil) && (a.Upper == nil) == (b.Upper == nil)
	case *ArrayExpr:
		b, ok := b.(*ArrayExpr)
		return ok && a.Typ.Equal(b.Typ)
	case *RowExpr:
		b, ok := b.(*RowExpr)
		return ok && a.Typ.Equal(b.Typ)
	}
	return false
}

// EqualDatum tells whether two values are the same bits: NULL equals NULL, 0.0 differs from
// -0.0. It asks whether two literals are one, not SQL's equality.
func EqualDatum(a, b types.Datum) bool {
	if a.Form() != b.Form() {
		return false
	}
	switch a.Form() {
	case types.FormStr:
		return a.Str() == b.Str()
	case types.FormList, types.FormStruct:
		la, lb := a.List(), b.List()
		if len(la) != len(lb) {
			return false
		}
		for i := range la {
			if !EqualDatum(la[i], lb[i]) {
				return false
			}
		}
		return true
	}
	return a.W128() == b.W128()
}
