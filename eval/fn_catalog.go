package eval

import (
	"math"
	"strings"

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
		Register(stable(fn, sig(types.Oid), tBool, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
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
		Register(stable(name, args, tBool, asked(name, types.NewBool(true))))
	}
	for _, n := range strings.Fields("table schema database function sequence language type tablespace foreign_data_wrapper server any_column parameter") {
		fn := "has_" + n + "_privilege"
		for _, o := range object {
			if n == "parameter" && o == types.Oid {
				continue
			}
			declare(fn, sig(o, types.Text))
			for _, u := range user {
				declare(fn, sig(u, o, types.Text))
			}
		}
	}
	for _, o := range object {
		for _, col := range []types.Kind{types.Text, types.Int2} {
			declare("has_column_privilege", sig(o, col, types.Text))
			for _, u := range user {
				declare("has_column_privilege", sig(u, o, col, types.Text))
			}
		}
	}
	for _, r := range user {
		declare("pg_has_role", sig(r, types.Text))
		for _, u := range user {
			declare("pg_has_role", sig(u, r, types.Text))
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
		Register(stable(fn, sig(args...), ret, asked(fn, types.Null)))
	}
	value := func(fn string, ret types.Type, v types.Datum, args ...types.Kind) {
		Register(stable(fn, sig(args...), ret, asked(fn, v)))
	}
	yes, no, zero, none := types.NewBool(true), types.NewBool(false), types.NewInt(0), types.NewStr("")
	null("obj_description", tText, oid, name)
	null("obj_description", tText, oid)
	null("col_description", tText, oid, i4)
	null("shobj_description", tText, oid, name)
	null("pg_get_viewdef", tText, oid)
	null("pg_get_viewdef", tText, oid, b)
	null("pg_get_viewdef", tText, oid, i4)
	null("pg_get_viewdef", tText, text)
	null("pg_get_viewdef", tText, text, b)
	null("pg_get_constraintdef", tText, oid)
	null("pg_get_constraintdef", tText, oid, b)
	null("pg_get_indexdef", tText, oid)
	null("pg_get_indexdef", tText, oid, i4, b)
	null("pg_get_ruledef", tText, oid)
	null("pg_get_ruledef", tText, oid, b)
	null("pg_get_triggerdef", tText, oid)
	null("pg_get_triggerdef", tText, oid, b)
	null("pg_get_functiondef", tText, oid)
	null("pg_get_function_arguments", tText, oid)
	null("pg_get_function_identity_arguments", tText, oid)
	null("pg_get_function_result", tText, oid)
	null("pg_get_function_arg_default", tText, oid, i4)
	null("pg_get_function_sqlbody", tText, oid)
	null("pg_get_serial_sequence", tText, text, text)
	null("pg_get_partkeydef", tText, oid)
	null("pg_get_partition_constraintdef", tText, oid)
	null("pg_get_statisticsobjdef", tText, oid)
	null("pg_get_statisticsobjdef_columns", tText, oid)
	null("pg_tablespace_location", tText, oid)
	null("pg_sequence_last_value", tInt8, types.Regclass)
	null("pg_relation_filenode", tOid, types.Regclass)
	null("pg_relation_filepath", tText, types.Regclass)
	null("pg_postmaster_start_time", tTimestampTZ)
	null("pg_conf_load_time", tTimestampTZ)
	null("current_query", tText)
	null("inet_client_addr", tText)
	null("inet_client_port", tInt4)
	null("inet_server_addr", tText)
	null("inet_server_port", tInt4)
	null("txid_current_if_assigned", tInt8)
	null("pg_last_xact_replay_timestamp", tTimestampTZ)
	null("pg_stat_get_last_analyze_time", tTimestampTZ, oid)
	// Rows have no transaction ids: xmin is PostgreSQL's "frozen", and so is the current id, so
	// that who compares their ages to learn what changed sees everything as new.
	value("txid_current", tInt8, types.NewInt(frozenXID))
	value("age", tInt4, types.NewInt(math.MaxInt32), types.Xid)
	value("pg_stat_get_numscans", tInt8, zero, oid)
	value("pg_stat_get_live_tuples", tInt8, zero, oid)
	for _, fn := range []string{"pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size"} {
		null(fn, tInt8, types.Regclass)
	}
	null("pg_relation_size", tInt8, types.Regclass, text)
	null("pg_database_size", tInt8, name)
	null("pg_database_size", tInt8, oid)
	null("pg_tablespace_size", tInt8, name)
	null("pg_tablespace_size", tInt8, oid)
	null("pg_column_is_updatable", tBool, types.Regclass, i2, b)
	value("pg_relation_is_updatable", tInt4, types.NewInt(28), types.Regclass, b)
	value("pg_relation_is_publishable", tBool, no, types.Regclass)
	value("pg_is_in_recovery", tBool, no)
	value("pg_is_wal_replay_paused", tBool, no)
	value("pg_my_temp_schema", tOid, zero)
	value("pg_is_other_temp_schema", tBool, no, oid)
	value("row_security_active", tBool, no, oid)
	value("row_security_active", tBool, no, text)
	value("pg_reload_conf", tBool, yes)
	value("pg_blocking_pids", types.ArrayOf(tInt4), types.NewList(nil), i4)
	Register(
		// An expression of the catalogs is its text here.
		stable("pg_get_expr", sig(text, oid), tText, Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) { return a[0], nil })),
		stable("pg_get_expr", sig(text, oid, b), tText, Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) { return a[0], nil })),
		vol("pg_cancel_backend", sig(i4), tBool, asked("pg_cancel_backend", no)),
		vol("pg_terminate_backend", sig(i4), tBool, asked("pg_terminate_backend", no)),
		vol("pg_terminate_backend", sig(i4, i8), tBool, asked("pg_terminate_backend", no)),
		vol("pg_notify", sig(text, text), tVoid, asked("pg_notify", none)),
		vol("pg_stat_clear_snapshot", nil, tVoid, asked("pg_stat_clear_snapshot", none)),
		stable("pg_available_extensions", nil, extension, SetKernel(func(_ *Ctx, _ []types.Datum, yield func(types.Datum) error) error {
			return yield(types.NewStruct([]types.Datum{types.NewStr(Extension.Name), types.NewStr(Extension.Version), types.NewStr(Extension.Comment)}))
		})),
		stable("pg_available_extension_versions", nil, extensionVersion, SetKernel(func(_ *Ctx, _ []types.Datum, yield func(types.Datum) error) error {
			return yield(types.NewStruct([]types.Datum{types.NewStr(Extension.Name), types.NewStr(Extension.Version), yes, yes, no,
				types.NewStr("pg_catalog"), types.Null, types.NewStr(Extension.Comment)}))
		})),
		imm("_pg_expandarray", []types.Type{tAnyArray}, tRecord, SetKernel(expandArray)).returns(func(args []types.Type) (types.Type, error) {
			elem, err := elementType(args)
			return types.StructOf(types.Field{Name: "x", Type: elem}, types.Field{Name: "n", Type: tInt4}), err
		}),
	)
	// Advisory locks: Iceberg has nothing to lock, and one gateway cannot speak for others.
	for _, fn := range []string{"pg_advisory_lock", "pg_advisory_lock_shared", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared",
		"pg_try_advisory_lock", "pg_try_advisory_lock_shared", "pg_try_advisory_xact_lock", "pg_advisory_unlock"} {
		ret := tVoid
		if strings.Contains(fn, "try") || strings.Contains(fn, "unlock") {
			ret = tBool
		}
		for _, args := range [][]types.Type{sig(i8), sig(i4, i4)} {
			Register(vol(fn, args, ret, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
				if s, err := session(c); err == nil {
					if v, ok, err := s.Call(callContext(c), fn, a); ok || err != nil {
						return v, err
					}
				}
				return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "advisory locks are not supported")
			})))
		}
	}
	Register(vol("pg_advisory_unlock_all", nil, tVoid, asked("pg_advisory_unlock_all", none)))
}

// Extension is the one that every database of PostgreSQL has, which tools look for in
// pg_extension; there are none to install.
var Extension = struct{ Name, Version, Comment string }{"plpgsql", "1.0", "PL/pgSQL procedural language"}

// extension is a row of pg_available_extensions(), extensionVersion one of
// pg_available_extension_versions().
var extension = types.StructOf(
	types.Field{Name: "name", Type: tName}, types.Field{Name: "default_version", Type: tText}, types.Field{Name: "comment", Type: tText})

var extensionVersion = types.StructOf(
	types.Field{Name: "name", Type: tName}, types.Field{Name: "version", Type: tText},
	types.Field{Name: "superuser", Type: tBool}, types.Field{Name: "trusted", Type: tBool},
	types.Field{Name: "relocatable", Type: tBool}, types.Field{Name: "schema", Type: tName},
	types.Field{Name: "requires", Type: types.ArrayOf(tName)}, types.Field{Name: "comment", Type: tText})

// expandArray is information_schema._pg_expandarray: elements with their numbers.
func expandArray(_ *Ctx, a []types.Datum, yield func(types.Datum) error) error {
	for i, d := range a[0].List() {
		if err := yield(types.NewStruct([]types.Datum{d, types.NewInt(int64(i + 1))})); err != nil {
			return err
		}
	}
	return nil
}
