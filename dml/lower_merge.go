package dml

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// merge lowers MERGE to a join whose kind follows the arms:
//
//	only MATCHED                     target ⋈ source
//	NOT MATCHED too                  target ⟖ source     (every source row stays)
//	NOT MATCHED BY SOURCE too        target ⟕ source     (every target row stays)
//	both                             target ⟗ source
//
// Above it a projection computes which arm acts (the first whose match and condition hold),
// then one computes the new row by arm; rows that no arm acts on are dropped. Whether a side
// is there is told by columns that are never NULL in it: the target's _file, and a constant
// that is added to the source. The source's own columns may all be NULL.
func (l *lowering) merge(n *plan.Merge) (*plan.Write, error) {
	cow, err := copyOnWrite(n.Target, "write.merge.mode")
	if err != nil {
		return nil, err
	}
	there := l.column("source_row", types.T(types.Bool))
	source := &plan.Project{Input: n.Source}
	for _, c := range n.Source.Columns() {
		source.Exprs = append(source.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	source.Exprs = append(source.Exprs, plan.Named{Col: there, Expr: &plan.Const{Value: types.NewBool(true), Typ: there.Type}})

	join := &plan.Join{Kind: mergeJoin(n.Arms), Left: n.Scan, Right: source, On: n.On}
	present := func(c plan.Column, yes bool) plan.Expr { return &plan.IsNull{X: plan.ColOf(c), Negate: yes} }
	match := func(m plan.MergeMatch) plan.Expr {
		switch m {
		case plan.NotMatched:
			return present(n.Address.File, false)
		case plan.NotMatchedBySource:
			return present(there, false)
		}
		return allTrue(present(n.Address.File, true), present(there, true))
	}

	// Which arm: its number from 1, 0 for none.
	arm := l.column("arm", types.T(types.Int4))
	which := &plan.Case{Typ: arm.Type, Else: number(0)}
	for i, a := range n.Arms {
		which.Whens = append(which.Whens, plan.When{Cond: allTrue(match(a.Match), a.Cond), Then: number(i + 1)})
	}
	chosen := &plan.Project{Input: join}
	for _, c := range join.Columns() {
		chosen.Exprs = append(chosen.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	chosen.Exprs = append(chosen.Exprs, plan.Named{Col: arm, Expr: which})

	var acting []types.Datum
	for i, a := range n.Arms {
		if a.Do != plan.MergeNothing {
			acting = append(acting, types.NewInt(int64(i+1)))
		}
	}
	kept := &plan.Filter{Input: chosen, Pred: &plan.InList{X: plan.ColOf(arm), List: acting}}

	action := l.column("action", types.T(types.Int4))
	rows := &plan.Project{Input: kept}
	for _, c := range kept.Columns() {
		rows.Exprs = append(rows.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	byArm := func(t types.Type, value func(a *plan.MergeArm) plan.Expr) plan.Expr {
		c := &plan.Case{Typ: t}
		for i := range n.Arms {
			if v := value(&n.Arms[i]); v != nil {
				c.Whens = append(c.Whens, plan.When{Cond: &plan.InList{X: plan.ColOf(arm), List: []types.Datum{types.NewInt(int64(i + 1))}}, Then: v})
			}
		}
		if len(c.Whens) == 0 {
			return &plan.Const{Typ: t}
		}
		return c
	}
	rows.Exprs = append(rows.Exprs, plan.Named{Col: action, Expr: byArm(action.Type, func(a *plan.MergeArm) plan.Expr {
		return constInt(map[plan.MergeDo]plan.RowAction{plan.MergeInsert: plan.ActInsert, plan.MergeUpdate: plan.ActUpdate, plan.MergeDelete: plan.ActDelete}[a.Do])
	})})
	old := oldRow(n)
	w := &plan.Write{Target: n.Target, Statement: "MERGE", Input: rows, Action: plan.ColOf(action),
		File: ref(n.Address.File), Pos: ref(n.Address.Pos), RowID: ref(n.Address.RowID),
		Returning: n.Returning, Once: true, CopyOnWrite: cow, Changed: changedBy(n.Arms), Upsert: n.Upsert}
	if n.Statement != "" {
		w.Statement = n.Statement
	}
	g := l.generated(n.Target, n.Row, computedBy(n))
	for i, c := range n.Row {
		rows.Exprs = append(rows.Exprs, plan.Named{Col: g.given[i], Expr: byArm(c.Type, func(a *plan.MergeArm) plan.Expr {
			switch a.Do {
			case plan.MergeInsert, plan.MergeUpdate:
				return a.Values[i]
			case plan.MergeDelete:
				return old[i] // RETURNING shows what went
			}
			return nil
		})})
		w.Row = append(w.Row, plan.ColOf(c))
	}
	if n.Action.ID != 0 {
		rows.Exprs = append(rows.Exprs, plan.Named{Col: n.Action, Expr: byArm(n.Action.Type, func(a *plan.MergeArm) plan.Expr {
			name := map[plan.MergeDo]string{plan.MergeInsert: "INSERT", plan.MergeUpdate: "UPDATE", plan.MergeDelete: "DELETE"}[a.Do]
			if name == "" {
				return nil
			}
			return &plan.Const{Value: types.NewStr(name), Typ: n.Action.Type}
		})})
	}
	// What an arm deletes or leaves as it is, is not computed again.
	w.Input = g.computed(rows, func(i int, x plan.Expr) plan.Expr {
		var arms []types.Datum
		for k, a := range n.Arms {
			if a.Do == plan.MergeInsert || a.Do == plan.MergeUpdate && a.Changed[i] {
				arms = append(arms, types.NewInt(int64(k+1)))
			}
		}
		return &plan.Case{Typ: n.Row[i].Type, Whens: []plan.When{{Cond: &plan.InList{X: plan.ColOf(arm), List: arms}, Then: x}}, Else: plan.ColOf(g.given[i])}
	})
	return w, nil
}

// computedBy are the generated columns that an arm computes.
func computedBy(n *plan.Merge) []bool {
	out := make([]bool, len(n.Row))
	for _, c := range n.Target.Generated {
		for _, a := range n.Arms {
			out[c.Field] = out[c.Field] || a.Do == plan.MergeInsert || a.Do == plan.MergeUpdate && a.Changed[c.Field]
		}
	}
	return out
}

func number(i int) plan.Expr {
	return &plan.Const{Value: types.NewInt(int64(i)), Typ: types.T(types.Int4)}
}

func mergeJoin(arms []plan.MergeArm) plan.JoinKind {
	source, target := false, false
	for _, a := range arms {
		source = source || a.Match == plan.NotMatched
		target = target || a.Match == plan.NotMatchedBySource
	}
	switch {
	case source && target:
		return plan.FullJoin
	case source:
		return plan.RightJoin
	case target:
		return plan.LeftJoin
	}
	return plan.InnerJoin
}

// oldRow reads the target's row as the scan has it, by field.
func oldRow(n *plan.Merge) []plan.Expr {
	out := make([]plan.Expr, len(n.Target.Schema.Fields))
	for i := range n.Target.Schema.Fields {
		out[i] = &plan.Const{Typ: n.Target.Schema.Fields[i].Type}
		for _, c := range n.Scan.Cols {
			if c.FieldID == n.Target.Schema.Fields[i].ID {
				out[i] = plan.ColOf(c.Column)
			}
		}
	}
	return out
}

// changedBy are the fields that arms may give other values; nil where one inserts.
func changedBy(arms []plan.MergeArm) []bool {
	var out []bool
	for _, a := range arms {
		switch a.Do {
		case plan.MergeInsert:
			return nil
		case plan.MergeUpdate:
			if out == nil {
				out = make([]bool, len(a.Changed))
			}
			for i, c := range a.Changed {
				out[i] = out[i] || c
			}
		}
	}
	return out
}
