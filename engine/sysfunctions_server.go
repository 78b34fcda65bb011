package engine

import (
	"context"
	"slices"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// The functions that say what this server is and how it is set.
func init() {
	systemFunctions["version"] = func(_ context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
		return types.NewStr("PostgreSQL " + s.engine.serverVersion()), nil
	}
	systemFunctions["pg_show_all_settings"] = showAllSettings
	systemFunctions["pg_get_functiondef"] = functionDefinition
	systemFunctions["pg_get_function_identity_arguments"] = func(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
		if syscat.Function(uint32(a[0].Int())) == nil {
			return s.ofProcedure(a, syscat.Procedure.IdentityArguments)
		}
		return ofFunction(syscat.IdentityArguments)(ctx, s, a)
	}
	for _, n := range []string{"operator", "opclass", "opfamily", "collation", "conversion"} {
		systemFunctions["pg_"+n+"_is_visible"] = isVisible("pg_" + n)
	}
}

func functionDefinition(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
	if f := syscat.Function(uint32(a[0].Int())); f != nil && f.Kind == plan.AggregateFunc {
		return types.Null, sqlerr.New(sqlerr.WrongObjectType, "%q is an aggregate function", f.Name)
	}
	return ofFunction(syscat.Definition)(ctx, s, a)
}

// ofProcedure asks something of the procedure with an OID; NULL if there is none.
func (s *Session) ofProcedure(a []types.Datum, f func(syscat.Procedure) string) (types.Datum, error) {
	p, ok := syscat.ProcedureOf(s.newHost(s.catalog), uint32(a[0].Int()))
	if !ok {
		return types.Null, nil
	}
	return types.NewStr(f(p)), nil
}

// ofFunction asks something of the function with an OID.
func ofFunction(f func(*plan.Function) string) func(context.Context, *Session, []types.Datum) (types.Datum, error) {
	return func(_ context.Context, _ *Session, a []types.Datum) (types.Datum, error) {
		if fn := syscat.Function(uint32(a[0].Int())); fn != nil {
			return types.NewStr(f(fn)), nil
		}
		return types.Null, nil
	}
}

// isVisible asks of an object whose kind lives in pg_catalog alone: it is visible if it exists.
func isVisible(catalog string) func(context.Context, *Session, []types.Datum) (types.Datum, error) {
	return func(ctx context.Context, s *Session, a []types.Datum) (types.Datum, error) {
		t, ok := syscat.Table(s.sysHost(ctx, s.catalog), "pg_catalog", catalog)
		if !ok {
			return types.Null, nil
		}
		seen := types.Null
		err := t.Rows(ctx, map[int]types.Datum{0: a[0]}, func(r []types.Datum) error {
			if r[0].Int() == a[0].Int() { // oid is the first column
				seen = types.NewBool(true)
			}
			return nil
		})
		return seen, err
	}
}

// showAllSettings gives the rows of pg_settings as a list.
func showAllSettings(ctx context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
	t, ok := syscat.Table(s.sysHost(ctx, s.catalog), "pg_catalog", "pg_settings")
	if !ok {
		return types.NewList(nil), nil
	}
	var rows []types.Datum
	err := t.Rows(ctx, nil, func(r []types.Datum) error {
		rows = append(rows, types.NewStruct(slices.Clone(r)))
		return nil
	})
	return types.NewList(rows), err
}
