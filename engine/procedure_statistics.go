package engine

import (
	"context"
	"fmt"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// Procedures and statements that count what tables hold, for planners.

var (
	computeStatsProcedure = procedure{
		params:    []string{"table", "snapshot_id", "columns"},
		columns:   []ResultColumn{{Name: "statistics_file", Type: types.T(types.Text)}},
		immediate: true, run: (*Session).computeStats, explain: (*Session).explainStats,
	}
	computePartitionStatsProcedure = procedure{
		params:    []string{"table", "snapshot_id"},
		columns:   []ResultColumn{{Name: "partition_statistics_file", Type: types.T(types.Text)}},
		immediate: true, run: (*Session).computePartitionStats, explain: (*Session).explainPartitionStats,
	}
	// Trino's ALTER TABLE … EXECUTE drop_extended_stats gives no rows.
	dropStatsProcedure = procedure{params: []string{"table"}, immediate: true, run: (*Session).dropStats}
)

// computeStats makes the statistics file of a snapshot: of the branch's head, if none is named.
func (s *Session) computeStats(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	columns, err := a.list("columns")
	if err != nil {
		return nil, err
	}
	path, err := s.countTable(ctx, a, columns)
	if err != nil {
		return nil, err
	}
	if path == "" { // a table without snapshots has no statistics
		return nil, nil
	}
	return [][]types.Datum{{types.NewStr(path)}}, nil
}

// computePartitionStats makes the file of partition statistics of a snapshot.
func (s *Session) computePartitionStats(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	snap, err := s.statsSnapshot(ctx, a)
	if err != nil || snap == nil {
		return nil, err
	}
	var path string
	err = s.rewriting(ctx, a, func(g maintain.Target, env maintain.RewriteEnv) (string, error) {
		p, err := maintain.PlanPartitionStatistics(ctx, g, env, snap)
		if err == nil {
			path, err = p.Run(ctx, "CALL "+a.name)
		}
		return "partition statistics of snapshot " + fmt.Sprint(snap.ID), err
	})
	return [][]types.Datum{{types.NewStr(path)}}, err
}

// statsSnapshot is the snapshot that is to be counted: the one named, or the branch's head; nil if the
// branch has none.
func (s *Session) statsSnapshot(ctx context.Context, a *procedureArgs) (*lake.Snapshot, error) {
	rel, err := a.relation(ctx, s)
	if err != nil {
		return nil, err
	}
	if !a.given("snapshot_id") {
		return rel.Table.Head(rel.Branch)
	}
	id, err := a.number("snapshot_id")
	if err != nil {
		return nil, err
	}
	snap := rel.Table.SnapshotByID(id)
	if snap == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
	}
	return snap, nil
}

func (s *Session) countTable(ctx context.Context, a *procedureArgs, columns []string) (path string, err error) {
	snap, err := s.statsSnapshot(ctx, a)
	if err != nil || snap == nil {
		return "", err
	}
	err = s.rewriting(ctx, a, func(g maintain.Target, env maintain.RewriteEnv) (string, error) {
		p, err := maintain.PlanStatistics(ctx, g, env, snap, columns)
		if err == nil {
			path, err = p.Run(ctx, "CALL "+a.name)
		}
		return "statistics of snapshot " + fmt.Sprint(snap.ID), err
	})
	return path, err
}

// dropStats forgets what was counted.
func (s *Session) dropStats(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	return nil, s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		n, err := maintain.DropStatistics(ctx, g, "CALL "+a.name)
		return plural(n, "statistics file") + " forgotten", err
	})
}

// analyze runs ANALYZE [t [(columns)], …], without names for all tables of the database. Tools send it on
// their own account, after loading and within their blocks: there it says that it does nothing, rather
// than fail.
func (s *Session) analyze(ctx context.Context, c *bind.ProcedureCall, r *Result) error {
	r.verb = "ANALYZE"
	var args []bind.ProcedureArg
	skip := false
	for _, arg := range c.Args {
		if arg.Name != "column" {
			is, err := s.countable(ctx, arg.Constant, r)
			if err != nil {
				return err
			}
			skip = !is
		}
		if !skip {
			args = append(args, arg)
		}
	}
	if len(c.Args) > 0 && len(args) == 0 {
		return nil
	}
	if s.tx.block {
		r.warn("00000", "ANALYZE does nothing inside a transaction block")
		return nil
	}
	list, err := s.tablesNamed(ctx, "analyze", args, r)
	if err != nil {
		return err
	}
	for _, a := range list {
		if _, err := s.countTable(ctx, a, a.columns); err != nil {
			return err
		}
	}
	return nil
}

// countable tells whether a name is that of a table of the lake. Others, views and those of catalogs, have
// nothing to be counted: PostgreSQL says so of views, and so does this.
func (s *Session) countable(ctx context.Context, name bind.Constant, r *Result) (bool, error) {
	parts, ok := s.names().split(name.Value.Str())
	if !ok {
		return false, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", name.Value.Str())
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: parts})
	if isNotFound(err) {
		return false, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Value.Str())
	}
	if err != nil {
		return false, err
	}
	if rel.Table == nil {
		r.warn("01000", "skipping \"%s\" --- cannot analyze non-tables or special system tables", parts[len(parts)-1])
		return false, nil
	}
	return true, nil
}
