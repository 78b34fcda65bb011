package engine

// This file finds how a numeric without precision is stored: the table format has decimals of a
// fixed scale only.

import (
	"fmt"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// exactField gives the field of a column of CREATE TABLE AS, if it is a numeric without precision,
// the scale that all values of the query's column have, where the query tells it.
func exactField(f lake.Field, n plan.Node, id plan.ColID) lake.Field {
	if f.Type.Kind != types.Numeric || f.Type.Fixed {
		return f
	}
	if s := scaleOfColumn(n, id); s >= 0 && s <= 38 {
		f.Iceberg = fmt.Sprintf("decimal(38,%d)", s)
	}
	return f
}

// noteDefaultDecimal tells of a column whose scale is the default one.
func noteDefaultDecimal(r *Result, f lake.Field) {
	if f.Type.Kind == types.Numeric && !f.Type.Fixed && f.Iceberg == lake.DefaultDecimal {
		r.warn("00000", "column \"%s\" of type numeric is stored as %s: values that do not fit are refused, not rounded", f.Name, f.Iceberg)
	}
}

// scaleOfColumn is how many digits after the point all values of a column of n have at most; -1
// where that is not known.
func scaleOfColumn(n plan.Node, id plan.ColID) int {
	switch n := n.(type) {
	case *plan.Project:
		for _, e := range n.Exprs {
			if e.Col.ID == id {
				return scaleOfExpr(n.Input, e.Expr)
			}
		}
	case *plan.Aggregate:
		for _, g := range n.Groups {
			if g.Col.ID == id {
				return scaleOfExpr(n.Input, g.Expr)
			}
		}
		for _, a := range n.Aggs {
			if a.Out.ID == id {
				switch a.Func.Name {
				case "sum", "min", "max", "any_value":
					return scaleOfExpr(n.Input, a.Args[0])
				}
				return -1
			}
		}
	case *plan.Filter, *plan.Sort, *plan.Limit, *plan.Distinct, *plan.Join:
		for _, in := range n.Inputs() {
			for _, c := range in.Columns() {
				if c.ID == id {
					return scaleOfColumn(in, id)
				}
			}
		}
	}
	for _, c := range n.Columns() {
		if c.ID == id {
			return scaleOfType(c.Type)
		}
	}
	return -1
}

func scaleOfType(t types.Type) int {
	switch {
	case t.IsInteger():
		return 0
	case t.Kind == types.Numeric && t.Fixed:
		return int(t.Scale)
	}
	return -1
}

func scaleOfExpr(n plan.Node, x plan.Expr) int {
	if s := scaleOfType(x.Type()); s >= 0 {
		return s
	}
	both := func(args []plan.Expr, f func(a, b int) int) int {
		a, b := scaleOfExpr(n, args[0]), scaleOfExpr(n, args[1])
		if a < 0 || b < 0 {
			return -1
		}
		return f(a, b)
	}
	switch x := x.(type) {
	case *plan.Const:
		if x.Typ.Kind == types.Numeric && !x.Value.IsNull() {
			if d := types.DecimalOf(x.Value, x.Typ); d.IsFinite() {
				return d.Scale()
			}
		}
	case *plan.Col:
		return scaleOfColumn(n, x.ID)
	case *plan.Cast:
		if x.Typ.Kind == types.Numeric && !x.Typ.Fixed {
			return scaleOfExpr(n, x.X)
		}
	case *plan.Coalesce:
		s := 0
		for _, a := range x.Args {
			k := scaleOfExpr(n, a)
			if k < 0 {
				return -1
			}
			s = max(s, k)
		}
		return s
	case *plan.Call:
		switch x.Func.Name {
		case "+", "-":
			if len(x.Args) == 2 {
				return both(x.Args, func(a, b int) int { return max(a, b) })
			}
			return scaleOfExpr(n, x.Args[0])
		case "*":
			return both(x.Args, func(a, b int) int { return a + b })
		case "%":
			return both(x.Args, func(a, b int) int { return max(a, b) })
		case "abs", "sum":
			return scaleOfExpr(n, x.Args[0])
		}
	}
	return -1
}
