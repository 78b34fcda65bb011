package engine

import (
	"context"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// analyzedCommit is how EXPLAIN ANALYZE of st, in which b found the tables, commits what it writes:
// it runs the statement, as PostgreSQL does, and only a ROLLBACK takes that back. nil for queries.
func (s *Session) analyzedCommit(n *ast.Explain, b *bind.Bound, st ast.Stmt) (exec.Commit, error) {
	switch st.(type) {
	case *ast.QueryStmt:
		return nil, nil
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN ANALYZE of this statement is not supported").
			WithHint("EXPLAIN without ANALYZE shows its plan.").At(n.Pos)
	}
	if err := s.mayWrite("EXPLAIN ANALYZE"); err != nil && !writesTemporary(b) {
		return nil, err
	}
	return func(ctx context.Context, w *plan.Write, ch lake.Change, wrote exec.Wrote) error {
		if err := s.keysHold(ctx, w, &ch, wrote); err != nil {
			return err
		}
		todo, err := s.foreignHold(ctx, w, &ch, wrote)
		if err != nil {
			return err
		}
		ch.Inputs = inputs(b, w)
		return s.atOnce(ctx, &Result{session: s}, func() error {
			for _, do := range todo {
				if err := do(); err != nil {
					return err
				}
			}
			return s.commit(ctx, w.Target.Table.Name, ch)
		})
	}, nil
}
