package eval

import "github.com/lhsql/lhsql/types"

// A table here is never one of PostgreSQL's partitioned tables, which own others: its files'
// layout is no matter of the catalogs. What asks for the tables below one gets none.
func init() {
	none := SetKernel(func(*Ctx, []types.Datum, func(types.Datum) error) error { return nil })
	tree := types.StructOf(types.Field{Name: "relid", Type: types.T(types.Regclass)}, types.Field{Name: "parentrelid", Type: types.T(types.Regclass)},
		types.Field{Name: "isleaf", Type: tBool}, types.Field{Name: "level", Type: tInt4})
	Register(
		stable("pg_partition_tree", sig(types.Regclass), tree, none),
		stable("pg_partition_ancestors", sig(types.Regclass), types.T(types.Regclass), none),
		stable("pg_partition_root", sig(types.Regclass), types.T(types.Regclass), asked("pg_partition_root", types.Null)),
		stable("pg_describe_object", sig(types.Oid, types.Oid, types.Int4), tText, asked("pg_describe_object", types.Null)),
	)
}
