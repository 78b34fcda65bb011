package dml

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// insert: every row of the source is a new row.
func (l *lowering) insert(n *plan.Insert) (*plan.Write, error) {
	w := &plan.Write{Target: n.Target, Statement: "INSERT", Input: n.Source, Fixed: plan.ActInsert,
		Returning: n.Returning, Overwrite: n.Overwrite, Static: n.Static, Upsert: n.Upsert}
	if n.Overwrite {
		w.Statement = "INSERT OVERWRITE"
	}
	for _, c := range n.Source.Columns() {
		w.Row = append(w.Row, plan.ColOf(c))
	}
	return w, nil
}

// replace: the rows that leave one side go, those of the other come.
//
//	Write[action](π delete (Gone) ∪ π insert (Rows))
func (l *lowering) replace(n *plan.Replace) (*plan.Write, error) {
	cow, err := copyOnWrite(n.Target, "write.merge.mode")
	if err != nil {
		return nil, err
	}
	all := &plan.SetOp{Kind: plan.Union, All: true}
	gone, rows := &plan.Project{Input: n.Gone}, &plan.Project{Input: n.Rows}
	both := func(name string, t types.Type, left, right plan.Expr) plan.Expr {
		if left == nil {
			left = plan.NullOf(t)
		}
		if right == nil {
			right = plan.NullOf(t)
		}
		gone.Exprs = append(gone.Exprs, plan.Named{Col: l.column(name, t), Expr: left})
		rows.Exprs = append(rows.Exprs, plan.Named{Col: l.column(name, t), Expr: right})
		c := l.column(name, t)
		all.Cols = append(all.Cols, c)
		return plan.ColOf(c)
	}
	w := &plan.Write{Target: n.Target, Statement: "REPLACE", Upsert: n.Upsert, CopyOnWrite: cow}
	w.Action = both("action", types.T(types.Int4), constInt(plan.ActDelete), constInt(plan.ActInsert))
	w.File = both("file", n.Address.File.Type, ref(n.Address.File), nil)
	w.Pos = both("pos", n.Address.Pos.Type, ref(n.Address.Pos), nil)
	if n.Address.RowID.ID != 0 {
		w.RowID = both("row_id", n.Address.RowID.Type, nil, nil) // a new row is another one
	}
	for _, c := range n.Rows.Columns() {
		w.Row = append(w.Row, both(c.Name, c.Type, nil, plan.ColOf(c)))
	}
	all.Left, all.Right = gone, rows
	w.Input = all
	return w, nil
}

// delete: every row that leaves the source goes.
func (l *lowering) delete(n *plan.Delete) (*plan.Write, error) {
	cow, err := copyOnWrite(n.Target, "write.delete.mode")
	if err != nil {
		return nil, err
	}
	return &plan.Write{Target: n.Target, Statement: "DELETE", Input: n.Source, Fixed: plan.ActDelete,
		File: ref(n.Address.File), Pos: ref(n.Address.Pos), RowID: ref(n.Address.RowID),
		Returning: n.Returning, CopyOnWrite: cow}, nil
}

// update: every row that leaves the source gets new values.
//
//	Write[update, Row = Values](Source)
//
// RETURNING reads the new row as columns, so a projection makes them where it is there.
func (l *lowering) update(n *plan.Update) (*plan.Write, error) {
	cow, err := copyOnWrite(n.Target, "write.update.mode")
	if err != nil {
		return nil, err
	}
	w := &plan.Write{Target: n.Target, Statement: "UPDATE", Fixed: plan.ActUpdate,
		File: ref(n.Address.File), Pos: ref(n.Address.Pos), RowID: ref(n.Address.RowID),
		Returning: n.Returning, CopyOnWrite: cow || n.WholeFiles, Changed: n.Changed}
	p := &plan.Project{Input: n.Source}
	for _, c := range n.Source.Columns() {
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	g := l.generated(n.Target, n.Row, n.Changed)
	for i := range n.Row {
		p.Exprs = append(p.Exprs, plan.Named{Col: g.given[i], Expr: n.Values[i]})
		w.Row = append(w.Row, plan.ColOf(n.Row[i]))
	}
	w.Input = g.computed(p, func(i int, x plan.Expr) plan.Expr { return x })
	return w, nil
}

// generating puts generated columns on new rows whose other columns are there:
//
//	π row, g(row) (π row (…))
type generating struct {
	list  []plan.Generated // those that are computed
	row   []plan.Column
	given []plan.Column // the row below, where a column that is computed has what it was
}

// generated are the columns that are computed of a row whose changed columns have other values.
func (l *lowering) generated(t plan.WriteTarget, row []plan.Column, changed []bool) *generating {
	g := &generating{row: row, given: append([]plan.Column(nil), row...)}
	for _, c := range t.Generated {
		if changed[c.Field] {
			g.list = append(g.list, c)
			g.given[c.Field] = l.column(row[c.Field].Name, row[c.Field].Type)
		}
	}
	return g
}

// computed adds the columns to n; value says what a row of n gets of the one that is computed for it.
func (g *generating) computed(n *plan.Project, value func(i int, x plan.Expr) plan.Expr) plan.Node {
	if len(g.list) == 0 {
		return n
	}
	p := &plan.Project{Input: n}
	for _, c := range n.Columns() {
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	for _, c := range g.list {
		p.Exprs = append(p.Exprs, plan.Named{Col: g.row[c.Field], Expr: value(c.Field, c.Over(g.row))})
	}
	return p
}
