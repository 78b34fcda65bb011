package engine

import (
	"context"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/types"
)

// The functions that say what this server is and how it is set.
func init() {
	systemFunctions["version"] = func(_ context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
		return types.NewStr("PostgreSQL " + s.engine.serverVersion()), nil
	}
	systemFunctions["pg_show_all_settings"] = showAllSettings
}

// showAllSettings gives the rows of pg_settings as a list.
func showAllSettings(ctx context.Context, s *Session, _ []types.Datum) (types.Datum, error) {
	t, ok := syscat.Table(s.sysHost(ctx, s.catalog), "pg_catalog", "pg_settings")
	if !ok {
		return types.NewList(nil), nil
	}
	var rows []types.Datum
	err := t.Rows(ctx, nil, func(r []types.Datum) error {
		rows = append(rows, types.NewStruct(r))
		return nil
	})
	return types.NewList(rows), err
}
