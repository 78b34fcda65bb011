package bind

// This file binds MySQL's UPDATE and DELETE of several joined tables at once, and those that pass over
// rows which cannot be written (IGNORE).
//
// A statement that writes several tables is one for each of them, over the state before it:
//
//	UPDATE t JOIN u SET t.a = x, u.b = y   →   UPDATE t JOIN u SET t.a = x; UPDATE t JOIN u SET u.b = y

import (
	"slices"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// several binds the steps of a statement. What it does is for the caller to run, step by step; its own
// plan is the first one's.
func (b *binder) several(steps []ast.Stmt, targets []*ast.TableName) *Bound {
	seen := map[lake.Name]bool{}
	var out *Bound
	for i, s := range steps {
		name := b.target(targets[i]).Table.Name
		if seen[name] {
			b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "a statement can write table %s once only", name.Table).
				WithHint("Write two statements, in one transaction.").At(targets[i].Pos))
		}
		seen[name] = true
		if r := b.statement(s); out == nil {
			out = r
		}
	}
	out.Steps = steps
	return out
}

// deletes are the steps of DELETE t, u FROM …; nil where one table is written.
func (b *binder) deletes(s *ast.Delete) (steps []ast.Stmt, targets []*ast.TableName) {
	for _, name := range s.More {
		if len(steps) == 0 {
			one := *s
			one.More = nil
			steps, targets = append(steps, &one), append(targets, b.deleted(&one))
		}
		one := *s
		one.More, one.Table = nil, name
		steps, targets = append(steps, &one), append(targets, b.deleted(&one))
	}
	return steps, targets
}

// deleted is the table among the joined ones that a DELETE names.
func (b *binder) deleted(s *ast.Delete) *ast.TableName {
	t := b.among(s.Tables, callName(&s.Table))
	if t == nil {
		b.fail(sqlerr.UndefinedTable, s.Table.Pos, "Unknown table '%s' in MULTI DELETE", callName(&s.Table))
	}
	return t
}

// updates are the steps of an UPDATE of joined tables; nil where the columns of one are set.
func (b *binder) updates(s *ast.Update) (steps []ast.Stmt, targets []*ast.TableName) {
	if s.Tables == nil {
		return nil, nil
	}
	of := map[*ast.TableName]*ast.Update{}
	for _, it := range s.Set {
		t, _ := b.tableOf(s.Tables, it.Column)
		if of[t] == nil {
			one := *s
			one.Set = nil
			of[t] = &one
			steps, targets = append(steps, &one), append(targets, t)
		}
		of[t].Set = append(of[t].Set, it)
	}
	if len(steps) < 2 {
		return nil, nil
	}
	return steps, targets
}

// ignoring keeps of the rows that an UPDATE IGNORE would write those that may be written: that satisfy
// the CHECK constraints, whose keys no other row has before the statement, and of rows with the same
// new key the first.
func (b *binder) ignoring(lv *level, rel *Relation, n *plan.Update, it *item) {
	n.Source = b.computedOnce(lv, n.Source, n.Values, n.Changed, it)
	u := &upserting{b: b, lv: lv, rel: rel, n: &plan.Insert{Target: n.Target}}
	row := make([]plan.Column, len(n.Values))
	made := &plan.Project{Input: n.Source, Exprs: passing(n.Source.Columns())}
	for i, x := range n.Values {
		if c, ok := x.(*plan.Col); ok {
			row[i] = b.cols[c.ID].Column
			row[i].ID, row[i].Type = c.ID, c.Typ
			continue
		}
		row[i] = b.newColumn(it.cols[i].name, x.Type())
		made.Exprs = append(made.Exprs, plan.Named{Col: row[i], Expr: x})
	}
	computed := &plan.Project{Input: made, Exprs: passing(made.Columns())}
	for _, g := range n.Target.Generated {
		c := b.newColumn(row[g.Field].Name, row[g.Field].Type)
		computed.Exprs = append(computed.Exprs, plan.Named{Col: c, Expr: g.Over(row)})
		row[g.Field] = c
	}
	u.rows = row
	source := u.checked(computed)
	changed := func(id int) bool { return n.Changed[u.place(id)] }
	keys := slices.DeleteFunc(u.keys(), func(k lake.Key) bool { return !slices.ContainsFunc(k.Columns, changed) })
	for _, k := range keys {
		other, _, at := b.targetScan(&ast.TableName{Name: ast.Name{Parts: []string{rel.Name}, Pos: -1}}, rel, newLevel(nil))
		same := plan.AndOf(b.plainOperator("=", plan.ColOf(at.File), plan.ColOf(n.Address.File), -1),
			b.plainOperator("=", plan.ColOf(at.Pos), plan.ColOf(n.Address.Pos), -1))
		source = &plan.Join{Kind: plan.AntiJoin, Left: source, Right: other, On: plan.AndOf(u.match(k, other, u.rows), &plan.Not{X: same})}
	}
	n.Source = u.first(source, keys, false)
}
