package plan

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// FormatExpr spells e for EXPLAIN, as PostgreSQL's EXPLAIN does: operators in parentheses,
// constants with their type where it is not plain.
func FormatExpr(e Expr) string {
	f := formatter{}
	f.expr(e)
	return f.b.String()
}

// FormatExprs spells a list, comma-separated.
func FormatExprs(list []Expr) string {
	s := make([]string, len(list))
	for i, e := range list {
		s[i] = FormatExpr(e)
	}
	return strings.Join(s, ", ")
}

type formatter struct{ b strings.Builder }

func (f *formatter) str(s string) { f.b.WriteString(s) }

func (f *formatter) list(open, sep, end string, list []Expr) {
	f.str(open)
	for i, e := range list {
		if i > 0 {
			f.str(sep)
		}
		f.expr(e)
	}
	f.str(end)
}

func (f *formatter) expr(e Expr) {
	switch e := e.(type) {
	case nil:
		f.str("true")
	case *Col:
		if e.Name == "" {
			f.str("#" + strconv.Itoa(int(e.ID)))
			return
		}
		f.str(e.Name)
	case *Const:
		f.str(FormatConst(e.Value, e.Typ))
	case *Param:
		f.str("$" + strconv.Itoa(e.Index))
	case *Call:
		f.call(e)
	case *And:
		f.list("(", " AND ", ")", e.Args)
	case *Or:
		f.list("(", " OR ", ")", e.Args)
	case *Not:
		f.list("(NOT ", "", ")", []Expr{e.X})
	case *IsNull:
		end := " IS NULL)"
		if e.Negate {
			end = " IS NOT NULL)"
		}
		f.list("(", "", end, []Expr{e.X})
	case *Case:
		f.str("CASE")
		for _, w := range e.Whens {
			f.str(" WHEN ")
			f.expr(w.Cond)
			f.str(" THEN ")
			f.expr(w.Then)
		}
		if e.Else != nil {
			f.str(" ELSE ")
			f.expr(e.Else)
		}
		f.str(" END")
	case *Coalesce:
		f.list("COALESCE(", ", ", ")", e.Args)
	case *InList:
		f.inList(e)
	case *Cast:
		f.list("(", "", ")::"+e.Typ.String(), []Expr{e.X})
	case *FieldOf:
		name := strconv.Itoa(e.Index)
		if m := e.X.Type().Fields(); e.Index >= 0 && e.Index < len(m) {
			name = m[e.Index].Name
		}
		f.list("(", "", ")."+name, []Expr{e.X})
	case *Subscript:
		f.expr(e.X)
		f.list("[", "", "]", []Expr{e.Index})
	case *Slice:
		f.expr(e.X)
		f.str("[")
		if e.Lower != nil {
			f.expr(e.Lower)
		}
		f.str(":")
		if e.Upper != nil {
			f.expr(e.Upper)
		}
		f.str("]")
	case *ArrayExpr:
		f.list("ARRAY[", ", ", "]", e.Elems)
	case *RowExpr:
		f.list("ROW(", ", ", ")", e.Elems)
	case *Subquery:
		f.str("(SubPlan)")
	default:
		f.str("?")
	}
}

func (f *formatter) call(e *Call) {
	switch {
	case e.Func.Operator && len(e.Args) == 2:
		f.list("(", " "+e.Func.Name+" ", ")", e.Args)
	case e.Func.Operator && len(e.Args) == 1:
		f.list("("+e.Func.Name+" ", "", ")", e.Args)
	default:
		f.list(e.Func.Name+"(", ", ", ")", e.Args)
	}
}

// inListShown bounds how many members of an IN list EXPLAIN prints.
const inListShown = 20

func (f *formatter) inList(e *InList) {
	f.str("(")
	f.expr(e.X)
	if e.Negate {
		f.str(" <> ALL (")
	} else {
		f.str(" = ANY (")
	}
	for i, d := range e.List {
		if i > 0 {
			f.str(", ")
		}
		if i == inListShown {
			f.str("… " + strconv.Itoa(len(e.List)-i) + " more")
			break
		}
		f.str(FormatConst(d, e.X.Type()))
	}
	f.str("))")
}

// FormatConst spells a literal.
func FormatConst(d types.Datum, t types.Type) string {
	if d.IsNull() {
		return "NULL"
	}
	switch t.Kind {
	case types.Bool:
		if d.Bool() {
			return "true"
		}
		return "false"
	case types.Int2, types.Int4, types.Int8, types.Numeric, types.Float4, types.Float8:
		return types.Format(d, t, nil)
	case types.Text, types.Unknown:
		return quote(types.Format(d, t, nil)) + "::text"
	}
	return quote(types.Format(d, t, nil)) + "::" + t.String()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
