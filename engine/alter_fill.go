package engine

// This file gives rows that are there the default of a column that ALTER TABLE adds, where the table
// format has no initial default for it: before version 3, or where the default is no constant.

import (
	"context"
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// filledColumns are the columns that actions add and rows must be written for. They are added as
// nullable ones; value tells whether each is to be NOT NULL in the end.
func filledColumns(t *lake.Table, actions []ast.AlterAction, bound []bind.AlterAction) map[string]bool {
	out := map[string]bool{}
	if t.CurrentSnapshot() == nil {
		return out
	}
	for i := range actions {
		c := bound[i].Column
		if actions[i].Op == "set generated" {
			out[actions[i].Column.Parts[0]] = false
			continue
		}
		if actions[i].Op != "add column" || c == nil || len(actions[i].Column.Parts) > 1 {
			continue
		}
		if c.Numbering != nil || bound[i].Generated != nil || bound[i].RowDefault != nil || c.DefaultSQL != "" && (t.FormatVersion() < 3 || c.Default == nil) {
			out[c.Name], c.NotNull = c.NotNull, false
		}
	}
	return out
}

// fill sets added columns to their defaults in all rows of main.
func (s *Session) fill(ctx context.Context, n *ast.AlterTable, rel *bind.Relation, columns map[string]bool) error {
	u := &ast.Update{Table: n.Name, Pos: -1}
	for _, c := range sortedKeys(columns) {
		u.Set = append(u.Set, ast.SetItem{Column: ast.Name{Parts: []string{c}, Pos: -1}, Value: &ast.Default{Pos: -1}, Pos: -1})
	}
	required := false
	for _, not := range columns {
		required = required || not
	}
	if snap := rel.Table.CurrentSnapshot(); required && snap.Summary["total-delete-files"] != "0" {
		// A file of which every row is deleted would stay, and lack a required column.
		return sqlerr.New(sqlerr.FeatureNotSupported, "a column cannot be added NOT NULL to table %s, which has delete files, with a default that rows must be written for", rel.Name).
			WithHint("CALL system.rewrite_data_files first, or add the column and set it NOT NULL later.")
	}
	s.loaded, s.host = nil, nil
	b, err := bind.Bind(s.bindEnv(ctx, nil), Parsed{Stmt: u}, nil)
	if err != nil {
		return err
	}
	if w, ok := b.Plan.(*plan.Update); ok {
		w.WholeFiles = true
	}
	r := &Result{session: s}
	if err := s.runWrite(ctx, b, b.Plan, nil, r); err != nil {
		return err
	}
	for {
		batch, err := r.src.Next(ctx)
		if err != nil {
			r.src.Close()
			return err
		}
		if batch == nil {
			break
		}
	}
	if err := r.src.Close(); err != nil {
		return err
	}
	if !required {
		return nil
	}
	now, err := s.catalogOf(rel.Catalog).Load(ctx, rel.Table.Name)
	if err != nil {
		return err
	}
	if len(now.Refs()) > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column %q cannot be added NOT NULL: rows of other branches have no value", sortedKeys(columns)[0])
	}
	return s.edit(ctx, now, "ALTER TABLE", func(e *lake.Edit) error {
		for _, c := range sortedKeys(columns) {
			if !columns[c] {
				continue
			}
			if err := e.SetRequired([]string{c}, true); err != nil {
				return err
			}
		}
		return nil
	})
}

// placedGenerated is an action's expression over columns, with their ids; nil for none.
func placedGenerated(e *lake.Edit, b *bind.AlterAction, g *lake.Generated) (*lake.Generated, error) {
	if g == nil {
		return nil, nil
	}
	return g.Placed(func(i int) (int, bool) {
		if i >= len(b.GeneratedOf) {
			return 0, false
		}
		f := e.Schema().ByName(b.GeneratedOf[i])
		if f == nil {
			return 0, false
		}
		return f.ID, true
	})
}

// generatesWholly refuses to make a column a generated one where rows of other branches would keep
// values that are not its expression's.
func generatesWholly(t *lake.Table, bound []bind.AlterAction) error {
	for i := range bound {
		if bound[i].Generated == nil {
			continue
		}
		for _, r := range t.Refs() {
			if r.Branch && r.Name != "main" {
				return sqlerr.New(sqlerr.FeatureNotSupported, "a column cannot be made a generated one while table %s has branch %q: its rows there would have no value", t.Name.Table, r.Name)
			}
		}
	}
	return nil
}

// numberFrom lets a column that begins to number its rows begin behind the numbers that are there.
func (s *Session) numberFrom(ctx context.Context, n *ast.AlterTable, rel *bind.Relation, a *ast.AlterAction, b *bind.AlterAction) error {
	if a.Op != "add identity" || b.Numbering == nil || rel.Table.CurrentSnapshot() == nil {
		return nil
	}
	q := &ast.Query{Body: &ast.Select{From: []ast.TableExpr{&n.Name},
		Items: []ast.Item{{Expr: &ast.Call{Name: ast.Name{Parts: []string{"max"}, Pos: -1}, Args: []ast.Arg{{Expr: &ast.Ident{Name: ast.Name{Parts: a.Column.Parts, Pos: -1}}}}, Pos: -1}}}}}
	_, rows, err := s.rowsOf(ctx, q)
	if err != nil || len(rows) != 1 || rows[0][0].IsNull() || rows[0][0].Form() != types.FormI64 {
		return err
	}
	if v := rows[0][0].Int(); v >= b.Numbering.Next && v < math.MaxInt64-b.Numbering.Increment {
		b.Numbering.Next = v + b.Numbering.Increment
	}
	return nil
}
