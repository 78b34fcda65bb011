package engine

// This file adds CHECK constraints to tables that are there.

import (
	"context"
	"slices"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// addChecks adds constraints whose columns are named by their places to the table under edit.
func addChecks(e *lake.Edit, table string, list []bind.AlterCheck) error {
	for _, c := range list {
		check, err := c.Check.Placed(func(i int) (int, bool) {
			if i >= len(c.Fields) {
				return 0, false
			}
			f := e.Schema().ByName(c.Fields[i])
			if f == nil {
				return 0, false
			}
			return f.ID, true
		})
		if err == nil {
			err = e.AddCheck(check)
		}
		if isExists(err) {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", check.Name, table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// likeChecks are a table's constraints for another one of the same columns.
func likeChecks(t *lake.Table) (out []lake.Check) {
	place := map[int]int{}
	for i, f := range t.Schema().Fields {
		place[f.ID] = i
	}
	for _, c := range t.Checks() {
		if text, ok := c.ByPlace(func(id int) (int, bool) { i, ok := place[id]; return i, ok }); ok {
			out = append(out, text)
		}
	}
	return out
}

// likeGenerated is a generated column of t for another table of the same columns.
func likeGenerated(t *lake.Table, g *lake.Generated) *lake.Generated {
	return g.ByPlace(func(id int) (int, bool) {
		i := slices.IndexFunc(t.Schema().Fields, func(f lake.Field) bool { return f.ID == id })
		return i, i >= 0
	})
}

// likeKeys gives a table that is to be like t its keys, under names that the new table's columns have
// no other key for.
func likeKeys(spec *lake.TableSpec, t *lake.Table) {
	fields := t.Schema().Fields
	for _, k := range t.Keys() {
		places := make([]int, 0, len(k.Columns))
		for _, id := range k.Columns {
			places = append(places, slices.IndexFunc(fields, func(f lake.Field) bool { return f.ID == id }))
		}
		if slices.Contains(places, -1) {
			continue
		}
		if k.Columns = places; k.Primary {
			spec.Identifier = nil
			for _, id := range t.Schema().Identifier {
				if f, _ := t.Schema().ByID(id); f != nil {
					spec.Identifier = append(spec.Identifier, f.Name)
				}
			}
		}
		spec.Keys = append(spec.Keys, k)
	}
}

// checksHold makes sure that no row of any branch breaks a constraint that is added.
func (s *Session) checksHold(ctx context.Context, t *lake.Table, actions []bind.AlterAction) (checked bool, err error) {
	for i := range actions {
		for _, c := range actions[i].Checks {
			if c.NotValid {
				continue
			}
			checked = true
			for _, r := range t.Refs() {
				snap := t.SnapshotByID(r.SnapshotID)
				if !r.Branch || snap == nil {
					continue
				}
				broken, err := s.breaks(ctx, t, snap, c)
				if err != nil {
					return false, err
				}
				if broken {
					return false, sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", c.Check.Name, t.Name.Table)
				}
			}
		}
	}
	return checked, nil
}

func (s *Session) breaks(ctx context.Context, t *lake.Table, snap *lake.Snapshot, c bind.AlterCheck) (bool, error) {
	scan := &plan.Scan{Table: t, Snapshot: snap, Schema: t.Schema(), Alias: t.Name.Table}
	pred := plan.MapExpr(c.Pred, func(x plan.Expr) plan.Expr {
		col, ok := x.(*plan.Col)
		if !ok {
			return x
		}
		for i := range c.Cols {
			if c.Cols[i].ID == col.ID && t.Schema().ByName(c.Fields[i]) == nil {
				return plan.NullOf(col.Typ) // a column that the statement adds
			}
		}
		return x
	})
	for i, col := range c.Cols {
		f := t.Schema().ByName(c.Fields[i])
		if f == nil {
			continue
		}
		if !f.Type.Equal(col.Type) {
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "a constraint cannot be added in the statement that changes the type of column %s", strconv.Quote(f.Name))
		}
		scan.Cols = append(scan.Cols, plan.ScanColumn{Column: col, FieldID: f.ID})
	}
	return s.anyRow(ctx, &plan.Filter{Pred: &plan.Not{X: pred}, Input: scan})
}
