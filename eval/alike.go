package eval

import (
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// CheckCall states what a kernel believes of its operands: they are of the declared types, and
// the polymorphic ones, whose kernel moves values from one to the other as they lie in memory,
// are of one type and scale with each other and with the result. Overload resolution and the
// casts that it asks for see to it; a plan that breaks it would give a number with its point
// elsewhere.
func CheckCall(f *plan.Function, args []types.Type, ret types.Type) {
	if !invariant.Enabled {
		return
	}
	declared := func(i int) types.Type {
		if f.Variadic && i >= len(f.Args) {
			i = len(f.Args) - 1
		}
		return f.Args[i]
	}
	_, flat := candidate{f: f, args: f.Args}.arrayOperator()
	var elem types.Type
	meet := func(t types.Type, where string) {
		if elem.Kind == types.Invalid {
			elem = t
			return
		}
		invariant.Check(t.Same(elem) && types.Alike(t, elem), "%s of %s is %s where others are %s", where, f.Name, describe(t), describe(elem))
	}
	for i, t := range args {
		if i >= len(f.Args) && !f.Variadic || t.Kind == types.Unknown || t.Kind == types.Invalid {
			continue
		}
		switch d := declared(i); d.Kind {
		case types.Any:
		case types.AnyElement, types.AnyNonArray:
			meet(t, "an operand")
		case types.AnyArray:
			if t.Kind == types.Int2Vector || t.Kind == types.OidVector {
				continue
			}
			invariant.Check(t.Kind == types.Array, "an operand of %s is %s, not an array", f.Name, describe(t))
			if flat {
				t = t.WithDepth(1)
			}
			meet(vec.ListChild(t), "an array operand")
		case types.Struct, types.Map:
		case types.Array:
			invariant.Check(t.Kind == types.Array, "an operand of %s is %s instead of %s", f.Name, describe(t), describe(d))
		default:
			invariant.Check(t.Kind == d.Kind, "an operand of %s is %s instead of %s", f.Name, describe(t), describe(d))
		}
	}
	if funcOf(f).RetFn != nil {
		return // it says itself what it makes of them
	}
	switch f.Ret.Kind {
	case types.AnyElement, types.AnyNonArray:
		meet(ret, "the result")
	case types.AnyArray:
		if elem.Kind != types.Invalid && ret.Kind == types.Array {
			meet(vec.ListChild(ret), "the result")
		}
	}
}

// checkArms states that the values that become one are of one type and form.
func checkArms(what string, t types.Type, arms ...plan.Expr) {
	if !invariant.Enabled {
		return
	}
	for _, a := range arms {
		if a == nil || a.Type().Kind == types.Unknown {
			continue
		}
		invariant.Check(types.Alike(a.Type(), t), "an arm of %s is %s where the whole is %s", what, describe(a.Type()), describe(t))
	}
}

// describe spells a type with the scale that its values have.
func describe(t types.Type) string {
	if t.Kind == types.Numeric && t.Fixed {
		t.Declared = true
	}
	if t.Kind == types.Array {
		return describe(t.Elem()) + "[]"
	}
	return t.String()
}
