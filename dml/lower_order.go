package dml

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// ordered puts a sort below a write whose table asks for one and has no partitions:
//
//	Write(R)  →  Write(Sort[sort fields](R))
//
// Where there are partitions, the rows need no order among them: the write sorts each partition
// alone (Clustering).
func ordered(w *plan.Write) {
	if Sorts(w) {
		w.Input = &plan.Sort{Input: w.Input, Keys: orderKeys(w, w.Row)}
	}
}

// Sorts tells whether the table's order is made by a sort below the write.
func Sorts(w *plan.Write) bool {
	return len(w.Row) > 0 && !partitioned(w) && len(orderKeys(w, w.Row)) > 0
}

func partitioned(w *plan.Write) bool {
	spec := specOf(w)
	return spec != nil && len(spec.Fields) > 0
}

// specOf is the partition spec of the files that w writes.
func specOf(w *plan.Write) *lake.PartitionSpec {
	if w.Rewrite != nil {
		return w.Target.Table.Spec(w.Rewrite.SpecID)
	}
	return w.Target.Table.DefaultSpec()
}

// Clustering tells whether the new rows of w are to be gathered by partition before they are
// written (all), and in which order the rows of a partition lie: keys over columns of the row. The
// table's sort order asks for both, write.distribution-mode hash or range for the first.
func Clustering(w *plan.Write) (cols []plan.Column, keys []plan.SortKey, all bool) {
	t := w.Target.Table
	if len(w.Row) == 0 || !partitioned(w) || w.Rewrite != nil && !w.Rewrite.Gather {
		return nil, nil, false
	}
	row := make([]plan.Expr, len(w.Target.Schema.Fields))
	for i := range row {
		f := &w.Target.Schema.Fields[i]
		cols = append(cols, plan.Column{ID: plan.ColID(i + 1), Name: f.Name, Type: f.Stored()})
		row[i] = plan.ColOf(cols[i])
	}
	if Lineage(w) {
		for i, f := range lineageFields {
			cols = append(cols, plan.Column{ID: plan.ColID(len(row) + i + 1), Name: f.Name, Type: f.Type})
		}
	}
	if w.Rewrite != nil {
		return cols, w.Rewrite.Order, w.Rewrite.Gather
	}
	mode := strings.ToLower(t.Properties()["write.distribution-mode"])
	keys = orderKeys(w, row)
	return cols, keys, len(keys) > 0 || mode == "hash" || mode == "range"
}

// orderKeys is the table's sort order over the expressions of a row; nil where there is none, or
// one of a later format: then rows go as they come.
func orderKeys(w *plan.Write, row []plan.Expr) []plan.SortKey {
	return OrderKeys(w.Target.Table.DefaultSortOrder(), w.Target.Schema, row)
}

// OrderKeys is a sort order of a table's over the expressions of a row, one for each field of
// schema; nil where there is none, or one that cannot be computed.
func OrderKeys(order *lake.SortOrder, schema *lake.Schema, row []plan.Expr) []plan.SortKey {
	if order == nil {
		return nil
	}
	var keys []plan.SortKey
	for _, f := range order.Fields {
		if len(f.SourceIDs) != 1 {
			return nil
		}
		e := Transformed(schema, row, f.SourceIDs[0], f.Transform)
		if e == nil || !lake.OrderedAsStored(e.Type()) {
			return nil
		}
		keys = append(keys, plan.SortKey{Expr: e, Desc: f.Desc, NullsFirst: f.NullsFirst})
	}
	return keys
}

// Transformed is a transform of the row's field with the id; nil where it cannot be computed.
func Transformed(schema *lake.Schema, row []plan.Expr, id int, t lake.Transform) plan.Expr {
	if t.Kind == lake.Void || t.Kind == lake.UnknownTransform {
		return nil
	}
	f, path := schema.ByID(id)
	if f == nil {
		return nil
	}
	fields := schema.Fields
	var x plan.Expr
	for _, step := range path {
		for i := range fields {
			if fields[i].ID != step {
				continue
			}
			if x == nil {
				x = row[i]
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
	src := f.Stored()
	if !src.Same(f.Type) && !lake.OrderedAsStored(f.Type) {
		return nil
	}
	ret, _ := t.Result(src, f.Iceberg)
	fn := eval.NewRowFunction(t.String(), []types.Type{f.Type}, ret, func(_ *eval.Ctx, args []types.Datum) (types.Datum, error) {
		return t.Apply(args[0], src), nil
	})
	return &plan.Call{Func: fn, Args: []plan.Expr{x}, Typ: ret, Pos: -1}
}
