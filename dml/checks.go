package dml

// This file lets a write refuse rows that break the table's CHECK constraints: whatever statement
// writes them, new rows leave through Write.Row.

import (
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// checked makes the first value of a new row one that is there only if the row satisfies the
// constraints: its other arguments are the constraints' conditions and the whole row.
func checked(w *plan.Write) {
	list := w.Target.Checks
	if len(list) == 0 || len(w.Row) == 0 || w.Rewrite != nil {
		return
	}
	args := []plan.Expr{w.Row[0]}
	for _, c := range list {
		args = append(args, plan.MapExpr(c.Pred, func(x plan.Expr) plan.Expr {
			if col, ok := x.(*plan.Col); ok {
				for i := range c.Cols {
					if c.Cols[i].ID == col.ID {
						return w.Row[i]
					}
				}
			}
			return x
		}))
	}
	args = append(args, w.Row...)
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	table := w.Target.Table.Name.Table
	f := eval.NewRowFunction("checked", ts, ts[0], func(_ *eval.Ctx, v []types.Datum) (types.Datum, error) {
		for i, c := range list {
			if ok := v[1+i]; !ok.IsNull() && !ok.Bool() {
				return types.Null, sqlerr.New(sqlerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", table, c.Name).
					WithDetail("Failing row contains (%s).", rowText(v[1+len(list):], ts[1+len(list):]))
			}
		}
		return v[0], nil
	})
	f.Strict = false
	w.Row[0] = &plan.Call{Func: f, Args: args, Typ: ts[0], Pos: -1}
}

// rowText shows a row as PostgreSQL's messages do.
func rowText(row []types.Datum, ts []types.Type) string {
	o := &types.TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres"}
	out := make([]string, len(row))
	for i, d := range row {
		if out[i] = "null"; d.IsNull() {
			continue
		}
		s := types.Format(d, ts[i], o)
		if r := []rune(s); len(r) > 64 {
			s = string(r[:64]) + "..."
		}
		out[i] = s
	}
	return strings.Join(out, ", ")
}
