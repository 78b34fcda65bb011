package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// A table here is never one of PostgreSQL's partitioned tables, which own others: its files'
// layout is no matter of the catalogs. What asks for the tables below one gets none.
func registerPartitions() {
	none := eval.SetKernel(func(*eval.Ctx, []types.Datum, func(types.Datum) error) error { return nil })
	tree := types.RecordOf(types.Field{Name: "relid", Type: types.T(types.Regclass)}, types.Field{Name: "parentrelid", Type: types.T(types.Regclass)},
		types.Field{Name: "isleaf", Type: eval.TBool}, types.Field{Name: "level", Type: eval.TInt4})
	eval.Register(
		eval.Stable("pg_partition_tree", eval.Sig(types.Regclass), tree, none),
		eval.Stable("pg_partition_ancestors", eval.Sig(types.Regclass), types.T(types.Regclass), none),
		eval.Stable("pg_partition_root", eval.Sig(types.Regclass), types.T(types.Regclass), asked("pg_partition_root", types.Null)),
		eval.Stable("pg_describe_object", eval.Sig(types.Oid, types.Oid, types.Int4), eval.TText, asked("pg_describe_object", types.Null)),
	)
}
