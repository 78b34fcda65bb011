package plan

import "github.com/lhsql/lhsql/types"

// True and False are the boolean constants; NullOf is the NULL of a type.
func True() *Const { return &Const{Value: types.NewBool(true), Typ: types.T(types.Bool)} }

// False is the constant predicate that keeps no row.
func False() *Const { return &Const{Value: types.NewBool(false), Typ: types.T(types.Bool)} }

// NullOf is the constant NULL of type t.
func NullOf(t types.Type) *Const { return &Const{Typ: t} }

// IsTrue tells whether e is the constant TRUE; a nil predicate is TRUE.
func IsTrue(e Expr) bool {
	if e == nil {
		return true
	}
	c, ok := e.(*Const)
	return ok && c.Typ.Kind == types.Bool && !c.Value.IsNull() && c.Value.Bool()
}

// IsFalseOrNull tells whether e is the constant FALSE or NULL: as a predicate it keeps no row.
func IsFalseOrNull(e Expr) bool {
	c, ok := e.(*Const)
	return ok && (c.Value.IsNull() || c.Typ.Kind == types.Bool && !c.Value.Bool())
}

// Conjuncts splits a predicate into the terms that must all be true. nil: none.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if a, ok := e.(*And); ok {
		var out []Expr
		for _, x := range a.Args {
			out = append(out, Conjuncts(x)...)
		}
		return out
	}
	if IsTrue(e) {
		return nil
	}
	return []Expr{e}
}

// Disjuncts splits e into the terms of which one must be true.
func Disjuncts(e Expr) []Expr {
	if o, ok := e.(*Or); ok {
		var out []Expr
		for _, x := range o.Args {
			out = append(out, Disjuncts(x)...)
		}
		return out
	}
	return []Expr{e}
}

// AndOf is the conjunction of terms, nil ones left out; nil when nothing is left.
func AndOf(terms ...Expr) Expr {
	var out []Expr
	for _, t := range terms {
		out = append(out, Conjuncts(t)...)
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return &And{Args: out}
}

// OrOf is the disjunction of terms; FALSE of none.
func OrOf(terms ...Expr) Expr {
	var out []Expr
	for _, t := range terms {
		out = append(out, Disjuncts(t)...)
	}
	switch len(out) {
	case 0:
		return False()
	case 1:
		return out[0]
	}
	return &Or{Args: out}
}

// ColOf reads column c.
func ColOf(c Column) *Col { return &Col{ID: c.ID, Name: c.Name, Typ: c.Type} }

// NotDistinctOp is the name of the operator of AsNotDistinct.
const NotDistinctOp = "IS NOT DISTINCT FROM"

// AsNotDistinct takes a IS NOT DISTINCT FROM b apart: TRUE or FALSE, never NULL, and a key
// that joins can hash on.
func AsNotDistinct(e Expr) (a, b Expr, ok bool) {
	if !IsOp(e, NotDistinctOp) {
		return nil, nil, false
	}
	c := e.(*Call)
	return c.Args[0], c.Args[1], true
}

// IsOp tells whether e is a call of the binary operator named op.
func IsOp(e Expr, op string) bool {
	c, ok := e.(*Call)
	return ok && c.Func.Operator && c.Func.Name == op && len(c.Args) == 2
}
