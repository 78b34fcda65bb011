package engine

import (
	"context"

	"github.com/lhsql/lhsql/engine/syscat"
)

// systemTable finds a table of the dialect's own catalogs.
func (s *Session) systemTable(ctx context.Context, catalog, schema, table string) (*syscat.Virtual, bool) {
	if s.mysql() {
		if !mysqlSystem(schema) {
			return nil, false
		}
		return syscat.MySQLTable(mysqlHost{s}, schema, table)
	}
	return syscat.Table(s.sysHost(ctx, catalog), schema, table)
}
