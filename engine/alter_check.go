package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
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
			written, err := inAllFiles(ctx, t, snap, f, a.Column.Parts[1:])
			if err != nil {
				return false, err
			}
			if !written {
				return false, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" cannot be set NOT NULL: files of before it was added remain, with nothing but deleted rows in them", strings.Join(a.Column.Parts, ".")).
					WithDetail("Readers refuse a file that lacks a required column.").
					WithHint("CALL system.rewrite_data_files(table => '%s', options => map('rewrite-all', 'true')), then again.", t.Name.Namespace+"."+t.Name.Table)
			}
		}
	}
	return checked, nil
}

// inAllFiles tells whether each file of the snapshot has the column, or its member at path, as far as
// manifests tell. The rows of one that lacks it hold NULL, so that a file without it stands there only if
// all its rows are deleted.
func inAllFiles(ctx context.Context, t *lake.Table, snap *lake.Snapshot, f *lake.Field, path []string) (bool, error) {
	if snap.Summary["total-delete-files"] == "0" {
		return true, nil
	}
	for _, p := range path {
		for i := range f.Children {
			if f.Children[i].Name == p {
				f = &f.Children[i]
				break
			}
		}
	}
	if f.InitialDefault != nil {
		return true, nil
	}
	for len(f.Children) > 0 { // counts are of leaves
		f = &f.Children[0]
	}
	list, err := t.Manifests(ctx, snap)
	if err != nil {
		return false, err
	}
	for _, m := range list {
		if m.Deletes {
			continue
		}
		entries, err := t.EntriesWith(ctx, m, []int{f.ID})
		if err != nil {
			return false, err
		}
		for i := range entries {
			if e := &entries[i]; e.Status != lake.Deleted && e.File.RecordCount > 0 {
				if _, ok := e.File.ValueCounts[f.ID]; !ok {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// valuesFit makes sure that the columns which an ALTER TABLE gives another type that is stored alike
// hold no value, on any branch, that the type does not have: one that is too long or out of range is
// that error, and one that the type has in another form would have to be written anew.
func (s *Session) valuesFit(ctx context.Context, t *lake.Table, actions []ast.AlterAction, bound []bind.AlterAction) (checked bool, err error) {
	for i := range actions {
		a := &actions[i]
		if a.Op != "alter type" || len(a.Column.Parts) != 1 {
			continue
		}
		f, to := t.Schema().ByName(a.Column.Parts[0]), bound[i].Type
		if f == nil || eval.SameValues(f.Type, to) && to.MySQL == nil {
			continue
		}
		if next, err := lake.FieldOf(f.Name, to, false); err != nil || next.Iceberg != f.Iceberg {
			continue // wider, or refused
		}
		checked = true
		stored, from := f.Stored(), f.Type
		cast := plan.Assignment
		if a.Using != nil {
			cast = plan.Explicit
		}
		changes := eval.NewRowFunction("changes", []types.Type{stored}, types.T(types.Bool), func(c *eval.Ctx, args []types.Datum) (types.Datum, error) {
			d, err := eval.Decode(args[0], from, stored)
			switch {
			case err != nil:
			case to.MySQL != nil:
				d, err = eval.HoldValue(c, f.Name, d, from, to)
			default:
				d, err = eval.CastDatum(c, d, from, to, cast)
			}
			if err == nil {
				d, err = eval.Encode(d, to, stored, f.Name)
			}
			if err != nil {
				return types.Null, err
			}
			return types.NewBool(d.Form() != args[0].Form() || types.Compare(d, args[0], stored) != 0), nil
		})
		found, err := s.anyOnBranches(ctx, t, f.ID, func(c *plan.Col) plan.Expr {
			return &plan.Call{Func: changes, Args: []plan.Expr{c}, Typ: types.T(types.Bool), Pos: -1}
		})
		if err != nil {
			return false, err
		}
		if found {
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" cannot be changed to type %s: rows would have to be written anew", f.Name, to).
				WithHint("Add a column of the type, UPDATE it, drop this one and rename.")
		}
	}
	return checked, nil
}

// anyOnBranches tells whether a row of any branch satisfies a predicate of one column, as stored.
func (s *Session) anyOnBranches(ctx context.Context, t *lake.Table, id int, pred func(*plan.Col) plan.Expr) (bool, error) {
	schema := t.Schema().Stored()
	f, _ := schema.ByID(id)
	for _, r := range t.Refs() {
		snap := t.SnapshotByID(r.SnapshotID)
		if !r.Branch || snap == nil {
			continue
		}
		col := plan.ScanColumn{Column: plan.Column{ID: 1, Name: f.Name, Type: f.Type}, FieldID: f.ID}
		found, err := s.anyRow(ctx, &plan.Filter{Pred: pred(plan.ColOf(col.Column)),
			Input: &plan.Scan{Table: t, Snapshot: snap, Schema: schema, Alias: t.Name.Table, Cols: []plan.ScanColumn{col}}})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
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
	return s.anyRow(ctx, &plan.Filter{Pred: pred, Input: &plan.Scan{Table: t, Snapshot: snap, Schema: t.Schema(), Alias: t.Name.Table, Cols: []plan.ScanColumn{col}}})
}

// anyRow tells whether n has a row.
func (s *Session) anyRow(ctx context.Context, n plan.Node) (bool, error) {
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
