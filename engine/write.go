package engine

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// planStatement plans a query or a write statement.
func (s *Session) planStatement(env *planner.Env, n plan.Node) (plan.Node, error) {
	return planner.Plan(env, n)
}

var errNoWrites = sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported yet")

func (s *Session) write(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	return errNoWrites
}
func (s *Session) define(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	return errNoWrites
}
func (s *Session) procedure(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	return errNoWrites
}
func (s *Session) copyFrom(ctx context.Context, st *Stmt, in vec.Source, r *Result) error {
	return errNoWrites
}
