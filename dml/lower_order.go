package dml

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// ordered puts a sort below a write whose table asks for one:
//
//	Write(R)  →  Write(Sort[partition values, sort fields](R))
//
// The partition comes first, so that each file is written from its begin to its end and one
// file is open at a time; within a partition the rows are in the table's order. Without a sort
// order, write.distribution-mode hash or range asks for the partitions alone.
func ordered(w *plan.Write) {
	t := w.Target.Table
	order := t.DefaultSortOrder()
	mode := strings.ToLower(t.Properties()["write.distribution-mode"])
	if len(w.Row) == 0 || order == nil && mode != "hash" && mode != "range" {
		return
	}
	var keys []plan.SortKey
	if spec := t.DefaultSpec(); spec != nil {
		for _, f := range spec.Fields {
			if len(f.SourceIDs) != 1 {
				continue
			}
			if e := transformed(w, f.SourceIDs[0], f.Transform); e != nil {
				keys = append(keys, plan.SortKey{Expr: e, NullsFirst: true})
			}
		}
	}
	if order != nil {
		for _, f := range order.Fields {
			if len(f.SourceIDs) != 1 {
				return // an order of a later format: rows go as they come
			}
			e := transformed(w, f.SourceIDs[0], f.Transform)
			if e == nil {
				return
			}
			keys = append(keys, plan.SortKey{Expr: e, Desc: f.Desc, NullsFirst: f.NullsFirst})
		}
	}
	if len(keys) > 0 {
		w.Input = &plan.Sort{Input: w.Input, Keys: keys}
	}
}

// transformed is a transform of the new row's field; nil where it cannot be computed.
func transformed(w *plan.Write, id int, t lake.Transform) plan.Expr {
	if t.Kind == lake.Void || t.Kind == lake.UnknownTransform {
		return nil
	}
	f, path := w.Target.Schema.ByID(id)
	if f == nil {
		return nil
	}
	fields := w.Target.Schema.Fields
	var x plan.Expr
	for _, step := range path {
		for i := range fields {
			if fields[i].ID != step {
				continue
			}
			if x == nil {
				x = w.Row[i]
			} else {
				x = &plan.FieldOf{X: x, Index: i, Typ: fields[i].Type}
			}
			fields = fields[i].Children
			break
		}
	}
	if x == nil || t.Kind == lake.Identity {
		return x
	}
	ret, _ := t.Result(f.Type, f.Iceberg)
	src := f.Type
	fn := eval.NewRowFunction(t.String(), []types.Type{src}, ret, func(_ *eval.Ctx, args []types.Datum) (types.Datum, error) {
		return t.Apply(args[0], src), nil
	})
	return &plan.Call{Func: fn, Args: []plan.Expr{x}, Typ: ret, Pos: -1}
}
