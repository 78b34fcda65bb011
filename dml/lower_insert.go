package dml

import "github.com/lhsql/lhsql/plan"

// insert: every row of the source is a new row.
func (l *lowering) insert(n *plan.Insert) (*plan.Write, error) {
	w := &plan.Write{Target: n.Target, Statement: "INSERT", Input: n.Source, Fixed: plan.ActInsert,
		Returning: n.Returning, Overwrite: n.Overwrite, Static: n.Static}
	if n.Overwrite {
		w.Statement = "INSERT OVERWRITE"
	}
	for _, c := range n.Source.Columns() {
		w.Row = append(w.Row, plan.ColOf(c))
	}
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
	for i, c := range n.Row {
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: n.Values[i]})
		w.Row = append(w.Row, plan.ColOf(c))
	}
	w.Input = p
	return w, nil
}
