package pgfunc

import (
	"math"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// visibility declares pg_table_is_visible and its like: an object is visible when its name
// needs no schema.
func visibility() {
	for n, catalog := range map[string]string{
		"table": "pg_class", "type": "pg_type", "function": "pg_proc", "operator": "pg_operator",
		"opclass": "pg_opclass", "opfamily": "pg_opfamily", "collation": "pg_collation",
		"conversion": "pg_conversion", "statistics_obj": "pg_statistic_ext", "ts_config": "pg_ts_config",
		"ts_dict": "pg_ts_dict", "ts_parser": "pg_ts_parser", "ts_template": "pg_ts_template",
	} {
		fn := "pg_" + n + "_is_visible"
		eval.Register(eval.Stable(fn, eval.Sig(types.Oid), eval.TBool, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			s, err := session(c)
			if err != nil {
				return types.Null, err
			}
			if v, ok, err := s.Call(callContext(c), fn, a); ok || err != nil {
				return v, err
			}
			name, ok := s.ObjectName(catalog, uint32(a[0].Int()))
			if !ok {
				return types.Null, nil
			}
			return types.NewBool(!qualified(name)), nil
		})))
	}
}

// qualified tells whether a name has a dot outside double quotes.
func qualified(name string) bool {
	quoted := false
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '"':
			quoted = !quoted
		case name[i] == '.' && !quoted:
			return true
		}
	}
	return false
}

// privileges declares has_…_privilege. Access is a matter of the configuration, not of
// grants: whoever sees an object may do with it what the session may, unless the session
// answers otherwise.
func privileges() {
	object := []types.Kind{types.Text, types.Oid}
	user := []types.Kind{types.Name, types.Oid}
	declare := func(name string, args []types.Type) {
		eval.Register(eval.Stable(name, args, eval.TBool, asked(name, types.NewBool(true))))
	}
	for _, n := range strings.Fields("table schema database function sequence language type tablespace foreign_data_wrapper server any_column parameter") {
		fn := "has_" + n + "_privilege"
		for _, o := range object {
			if n == "parameter" && o == types.Oid {
				continue
			}
			declare(fn, eval.Sig(o, types.Text))
			for _, u := range user {
				declare(fn, eval.Sig(u, o, types.Text))
			}
		}
	}
	for _, o := range object {
		for _, col := range []types.Kind{types.Text, types.Int2} {
			declare("has_column_privilege", eval.Sig(o, col, types.Text))
			for _, u := range user {
				declare("has_column_privilege", eval.Sig(u, o, col, types.Text))
			}
		}
	}
	for _, r := range user {
		declare("pg_has_role", eval.Sig(r, types.Text))
		for _, u := range user {
			declare("pg_has_role", eval.Sig(u, r, types.Text))
		}
	}
}

const frozenXID = 2

// catalogFunctions declares what tools ask of a catalog's objects. The session answers; without
// an answer it is NULL, as for an object that is not there, or what a system without the
// feature would say.
func catalogFunctions() {
	const text, name, oid, i2, i4, i8, b = types.Text, types.Name, types.Oid, types.Int2, types.Int4, types.Int8, types.Bool
	null := func(fn string, ret types.Type, args ...types.Kind) {
		eval.Register(eval.Stable(fn, eval.Sig(args...), ret, asked(fn, types.Null)))
	}
	value := func(fn string, ret types.Type, v types.Datum, args ...types.Kind) {
		eval.Register(eval.Stable(fn, eval.Sig(args...), ret, asked(fn, v)))
	}
	yes, no, zero, none := types.NewBool(true), types.NewBool(false), types.NewInt(0), types.NewStr("")
	null("obj_description", eval.TText, oid, name)
	null("obj_description", eval.TText, oid)
	null("col_description", eval.TText, oid, i4)
	null("shobj_description", eval.TText, oid, name)
	null("pg_get_viewdef", eval.TText, oid)
	null("pg_get_viewdef", eval.TText, oid, b)
	null("pg_get_viewdef", eval.TText, oid, i4)
	null("pg_get_viewdef", eval.TText, text)
	null("pg_get_viewdef", eval.TText, text, b)
	null("pg_get_constraintdef", eval.TText, oid)
	null("pg_get_constraintdef", eval.TText, oid, b)
	null("pg_get_indexdef", eval.TText, oid)
	null("pg_get_indexdef", eval.TText, oid, i4, b)
	null("pg_get_ruledef", eval.TText, oid)
	null("pg_get_ruledef", eval.TText, oid, b)
	null("pg_get_triggerdef", eval.TText, oid)
	null("pg_get_triggerdef", eval.TText, oid, b)
	null("pg_get_functiondef", eval.TText, oid)
	null("pg_get_function_arguments", eval.TText, oid)
	null("pg_get_function_identity_arguments", eval.TText, oid)
	null("pg_get_function_result", eval.TText, oid)
	null("pg_get_function_arg_default", eval.TText, oid, i4)
	null("pg_get_function_sqlbody", eval.TText, oid)
	null("pg_get_serial_sequence", eval.TText, text, text)
	null("pg_get_partkeydef", eval.TText, oid)
	null("pg_get_partition_constraintdef", eval.TText, oid)
	null("pg_get_statisticsobjdef", eval.TText, oid)
	null("pg_get_statisticsobjdef_columns", eval.TText, oid)
	null("pg_tablespace_location", eval.TText, oid)
	null("pg_sequence_last_value", eval.TInt8, types.Regclass)
	null("pg_relation_filenode", eval.TOid, types.Regclass)
	null("pg_relation_filepath", eval.TText, types.Regclass)
	null("pg_postmaster_start_time", eval.TTimestampTZ)
	null("pg_conf_load_time", eval.TTimestampTZ)
	null("current_query", eval.TText)
	null("inet_client_addr", eval.TText)
	null("inet_client_port", eval.TInt4)
	null("inet_server_addr", eval.TText)
	null("inet_server_port", eval.TInt4)
	null("txid_current_if_assigned", eval.TInt8)
	null("pg_last_xact_replay_timestamp", eval.TTimestampTZ)
	null("pg_stat_get_last_analyze_time", eval.TTimestampTZ, oid)
	// Rows have no transaction ids: xmin is PostgreSQL's "frozen", and so is the current id, so
	// that who compares their ages to learn what changed sees everything as new.
	value("txid_current", eval.TInt8, types.NewInt(frozenXID))
	value("age", eval.TInt4, types.NewInt(math.MaxInt32), types.Xid)
	value("pg_stat_get_numscans", eval.TInt8, zero, oid)
	value("pg_stat_get_live_tuples", eval.TInt8, zero, oid)
	for _, fn := range []string{"pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size"} {
		null(fn, eval.TInt8, types.Regclass)
	}
	null("pg_relation_size", eval.TInt8, types.Regclass, text)
	null("pg_database_size", eval.TInt8, name)
	null("pg_database_size", eval.TInt8, oid)
	null("pg_tablespace_size", eval.TInt8, name)
	null("pg_tablespace_size", eval.TInt8, oid)
	null("pg_column_is_updatable", eval.TBool, types.Regclass, i2, b)
	value("pg_relation_is_updatable", eval.TInt4, types.NewInt(28), types.Regclass, b)
	value("pg_relation_is_publishable", eval.TBool, no, types.Regclass)
	value("pg_is_in_recovery", eval.TBool, no)
	value("pg_is_wal_replay_paused", eval.TBool, no)
	value("pg_my_temp_schema", eval.TOid, zero)
	value("pg_is_other_temp_schema", eval.TBool, no, oid)
	value("row_security_active", eval.TBool, no, oid)
	value("row_security_active", eval.TBool, no, text)
	value("pg_reload_conf", eval.TBool, yes)
	value("pg_blocking_pids", types.ArrayOf(eval.TInt4), types.NewList(nil), i4)
	eval.Register(
		// An expression of the catalogs is its text here.
		eval.Stable("pg_get_expr", eval.Sig(text, oid), eval.TText, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) { return a[0], nil })),
		eval.Stable("pg_get_expr", eval.Sig(text, oid, b), eval.TText, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) { return a[0], nil })),
		eval.Volatile("pg_cancel_backend", eval.Sig(i4), eval.TBool, asked("pg_cancel_backend", no)),
		eval.Volatile("pg_terminate_backend", eval.Sig(i4), eval.TBool, asked("pg_terminate_backend", no)),
		eval.Volatile("pg_terminate_backend", eval.Sig(i4, i8), eval.TBool, asked("pg_terminate_backend", no)),
		eval.Volatile("pg_notify", eval.Sig(text, text), eval.TVoid, asked("pg_notify", none)),
		eval.Volatile("pg_stat_clear_snapshot", nil, eval.TVoid, asked("pg_stat_clear_snapshot", none)),
		eval.Stable("pg_available_extensions", nil, extension, eval.SetKernel(func(_ *eval.Ctx, _ []types.Datum, yield func(types.Datum) error) error {
			return yield(types.NewStruct([]types.Datum{types.NewStr(Extension.Name), types.NewStr(Extension.Version), types.NewStr(Extension.Comment)}))
		})),
		eval.Stable("pg_available_extension_versions", nil, extensionVersion, eval.SetKernel(func(_ *eval.Ctx, _ []types.Datum, yield func(types.Datum) error) error {
			return yield(types.NewStruct([]types.Datum{types.NewStr(Extension.Name), types.NewStr(Extension.Version), yes, yes, no,
				types.NewStr("pg_catalog"), types.Null, types.NewStr(Extension.Comment)}))
		})),
		eval.Immutable("_pg_expandarray", []types.Type{eval.TAnyArray}, eval.TRecord, eval.SetKernel(expandArray)).Returning(func(args []types.Type) (types.Type, error) {
			elem, err := elementType(args)
			return types.RecordOf(types.Field{Name: "x", Type: elem}, types.Field{Name: "n", Type: eval.TInt4}), err
		}),
	)
	// Advisory locks: Iceberg has nothing to lock, and one gateway cannot speak for others.
	for _, fn := range []string{"pg_advisory_lock", "pg_advisory_lock_shared", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared",
		"pg_try_advisory_lock", "pg_try_advisory_lock_shared", "pg_try_advisory_xact_lock", "pg_advisory_unlock"} {
		ret := eval.TVoid
		if strings.Contains(fn, "try") || strings.Contains(fn, "unlock") {
			ret = eval.TBool
		}
		for _, args := range [][]types.Type{eval.Sig(i8), eval.Sig(i4, i4)} {
			eval.Register(eval.Volatile(fn, args, ret, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
				if s, err := session(c); err == nil {
					if v, ok, err := s.Call(callContext(c), fn, a); ok || err != nil {
						return v, err
					}
				}
				return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "advisory locks are not supported")
			})))
		}
	}
	eval.Register(eval.Volatile("pg_advisory_unlock_all", nil, eval.TVoid, asked("pg_advisory_unlock_all", none)))
}

// Extension is the one that every database of PostgreSQL has, which tools look for in
// pg_extension; there are none to install.
var Extension = struct{ Name, Version, Comment string }{"plpgsql", "1.0", "PL/pgSQL procedural language"}

// extension is a row of pg_available_extensions(), extensionVersion one of
// pg_available_extension_versions().
var extension = types.RecordOf(
	types.Field{Name: "name", Type: eval.TName}, types.Field{Name: "default_version", Type: eval.TText}, types.Field{Name: "comment", Type: eval.TText})

var extensionVersion = types.RecordOf(
	types.Field{Name: "name", Type: eval.TName}, types.Field{Name: "version", Type: eval.TText},
	types.Field{Name: "superuser", Type: eval.TBool}, types.Field{Name: "trusted", Type: eval.TBool},
	types.Field{Name: "relocatable", Type: eval.TBool}, types.Field{Name: "schema", Type: eval.TName},
	types.Field{Name: "requires", Type: types.ArrayOf(eval.TName)}, types.Field{Name: "comment", Type: eval.TText})

// expandArray is information_schema._pg_expandarray: elements with their numbers.
func expandArray(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	for i, d := range a[0].List() {
		if err := yield(types.NewStruct([]types.Datum{d, types.NewInt(int64(i + 1))})); err != nil {
			return err
		}
	}
	return nil
}
