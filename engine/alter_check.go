package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// noNulls makes sure that the columns which an ALTER TABLE sets NOT NULL hold no NULL on any
// branch, since branches are read with the table's schema. checked: it looked, and the commit must
// find the branches as they are, since a row that comes meanwhile was not seen.
func (s *Session) noNulls(ctx context.Context, t *lake.Table, actions []ast.AlterAction) (checked bool, err error) {
	for i := range actions {
		a := &actions[i]
		if a.Op != "set not null" {
			continue
		}
		f := t.Schema().ByName(a.Column.Parts[0])
		if f == nil || f.Required && len(a.Column.Parts) == 1 {
			continue // added by an action before this one, or NOT NULL already
		}
		checked = true
		for _, r := range t.Refs() {
			snap := t.SnapshotByID(r.SnapshotID)
			if !r.Branch || snap == nil {
				continue
			}
			found, err := s.hasNull(ctx, t, snap, f, a.Column.Parts[1:])
			if err != nil {
				return false, err
			}
			if found {
				where := ""
				if r.Name != "main" {
					where = " on branch " + r.Name
				}
				return false, sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null values%s", strings.Join(a.Column.Parts, "."), t.Name.Table, where)
			}
		}
	}
	return checked, nil
}

// hasNull looks for a row in which the column, or its member at path, is NULL. A member of a
// NULL struct counts as there.
func (s *Session) hasNull(ctx context.Context, t *lake.Table, snap *lake.Snapshot, f *lake.Field, path []string) (bool, error) {
	col := plan.ScanColumn{Column: plan.Column{ID: 1, Name: f.Name, Type: f.Type}, FieldID: f.ID}
	var x plan.Expr = plan.ColOf(col.Column)
	var guards []plan.Expr
	for _, p := range path {
		k := -1
		for i := range f.Children {
			if f.Children[i].Name == p {
				k = i
			}
		}
		if k < 0 || f.Iceberg != "struct" {
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "NOT NULL of %q inside a list or map cannot be checked", p)
		}
		guards = append(guards, &plan.IsNull{X: x, Negate: true})
		f = &f.Children[k]
		x = &plan.FieldOf{X: x, Index: k, Typ: f.Type}
	}
	pred := plan.Expr(&plan.IsNull{X: x})
	if len(guards) > 0 {
		pred = &plan.And{Args: append(guards, pred)}
	}
	var n plan.Node = &plan.Filter{Pred: pred, Input: &plan.Scan{Table: t, Snapshot: snap, Schema: t.Schema(), Alias: t.Name.Table, Cols: []plan.ScanColumn{col}}}
	n = &plan.Limit{Input: n, Count: &plan.Const{Value: types.NewInt(1), Typ: types.T(types.Int8)}}
	c := s.evalCtx(ctx)
	n, err := planner.Plan(s.plannerEnv(ctx, c, nil), n)
	if err != nil {
		return false, err
	}
	src, err := exec.Build(n, s.execEnv(c))
	if err != nil {
		return false, err
	}
	defer src.Close()
	for {
		b, err := src.Next(ctx)
		if b == nil || err != nil {
			return false, err
		}
		if b.Len() > 0 {
			return true, nil
		}
	}
}
