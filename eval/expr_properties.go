package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// VolatilityOf is the least constant of what e is made of.
func VolatilityOf(e plan.Expr) plan.Volatility {
	v := plan.Immutable
	plan.WalkExpr(e, func(x plan.Expr) bool {
		v = min(v, ownVolatility(x))
		return v != plan.Volatile
	})
	return v
}

// ownVolatility is that of e's own step, its operands aside.
func ownVolatility(e plan.Expr) plan.Volatility {
	switch e := e.(type) {
	case *plan.Call:
		return e.Func.Volatility
	case *plan.Cast:
		return castVolatility(e.X.Type(), e.Typ)
	case *plan.Param:
		return plan.Stable
	case *plan.Subquery:
		return plan.Volatile
	}
	return plan.Immutable
}

// castVolatility: what goes through text that the session's settings shape, or through its time
// zone or its names, is stable.
func castVolatility(from, to types.Type) plan.Volatility {
	if from.Kind == types.Array && to.Kind == types.Array {
		return castVolatility(from.Elem(), to.Elem())
	}
	if textual(from) && textual(to) {
		return plan.Immutable
	}
	if textual(from) && dependsOnSession(to) || textual(to) && dependsOnSession(from) {
		return plan.Stable
	}
	if zoned(from) != zoned(to) && category(from) == 'D' && category(to) == 'D' {
		return plan.Stable
	}
	if to.Kind == types.TimeTZ && from.Kind != types.TimeTZ {
		return plan.Stable // an instant's time of day is the session's zone's
	}
	return plan.Immutable
}

func textual(t types.Type) bool {
	return t.IsString() || t.Kind == types.JSON || t.Kind == types.JSONB || t.Kind == types.Variant
}

func zoned(t types.Type) bool {
	return t.Kind == types.TimestampTZ || t.Kind == types.TimestampTZNS || t.Kind == types.TimeTZ
}

func dependsOnSession(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Numeric, types.UUID, types.Oid, types.Xid:
		return false
	}
	return !textual(t)
}

// CannotFail tells whether no value can make e raise an error.
func CannotFail(e plan.Expr) bool {
	ok := true
	plan.WalkExpr(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			ok = ok && funcOf(x.Func).Total
		case *plan.Cast:
			from, to := x.X.Type(), x.Typ
			ok = ok && (relabels(from, to) || widens(from, to))
		case *plan.Subquery:
			ok = false
		}
		return ok
	})
	return ok
}

// widens tells whether every value of from is one of to.
func widens(from, to types.Type) bool {
	rank := func(t types.Type) int {
		switch t.Kind {
		case types.Int2:
			return 1
		case types.Int4:
			return 2
		case types.Int8:
			return 3
		case types.Numeric:
			if !t.Fixed {
				return 4
			}
		}
		return 0
	}
	return rank(from) > 0 && rank(to) >= rank(from)
}
