package pgfunc

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// What clients ask of indexes. Identifier fields show as the columns of a B-tree, so an index
// has the properties that PostgreSQL gives a B-tree.
func registerIndex() {
	eval.Register(
		eval.Stable("pg_indexam_has_property", eval.Sig(types.Oid, types.Text), eval.TBool, property(func(a []types.Datum) string {
			if a[0].Int() != btree {
				return "" // heap is no access method of indexes
			}
			return "+can_order +can_unique +can_multi_col +can_exclude +can_include"
		})),
		eval.Stable("pg_index_has_property", eval.Sig(types.Regclass, types.Text), eval.TBool, property(func([]types.Datum) string {
			return "+clusterable +index_scan +bitmap_scan +backward_scan"
		})),
		eval.Stable("pg_index_column_has_property", eval.Sig(types.Regclass, types.Int4, types.Text), eval.TBool, property(func([]types.Datum) string {
			return "+asc -desc -nulls_first +nulls_last +orderable -distance_orderable +returnable +search_array +search_nulls"
		})),
	)
}

const btree = 403

// property answers from a list of +true and -false properties; another is NULL.
func property(list func([]types.Datum) string) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		want := strings.ToLower(a[len(a)-1].Str())
		for _, p := range strings.Fields(list(a)) {
			if p[1:] == want {
				return types.NewBool(p[0] == '+'), nil
			}
		}
		return types.Null, nil
	}
}
