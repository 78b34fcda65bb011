package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// mergeScope is the MERGE whose RETURNING is bound: what merge_action() reads.
type mergeScope struct{ action plan.Column }

func (b *binder) mergeAction(e *ast.MergeAction) plan.Expr {
	if b.merge == nil {
		b.fail(sqlerr.SyntaxError, e.Pos, "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command")
	}
	return b.col(b.merge.action, e.Pos)
}

func (b *binder) mergeStmt(s *ast.Merge) *Bound {
	lv := newLevel(nil)
	var with *withState
	if s.With != nil {
		with = b.with(s.With, lv)
	}
	rel := b.target(&s.Table)
	m := &plan.Merge{Target: b.writeTarget(rel, s.Table.Alias.Name)}
	source := b.from([]ast.TableExpr{s.Source}, lv)
	sources := lv.items
	var target *item
	m.Scan, target, m.Address = b.targetScan(&s.Table, rel, lv)
	for _, it := range sources {
		if it.relSeen && it.name != "" && b.d.SameName(it.name, target.name) {
			b.failWith(sqlerr.New(sqlerr.DuplicateAlias, "name \"%s\" specified more than once", it.name).
				WithDetail("The name is used both as MERGE target table and data source.").At(it.pos))
		}
	}
	lv.items = append([]*item{target}, sources...)
	lv.in(inJoinOn, func() { m.On = b.condition(lv, s.On, "MERGE ON") })

	b.mergeReachable(s.Arms)
	for i := range s.Arms {
		m.Arms = append(m.Arms, b.mergeArm(lv, rel, target, sources, &s.Arms[i]))
	}
	m.Row = b.rowColumns(rel)
	if len(s.Returning) > 0 {
		m.Action = b.newColumn("merge_action", types.T(types.Text))
		b.merge = &mergeScope{action: m.Action}
		lv.items = append([]*item{b.rowItem(lv, rel, s.Table.Alias.Name, m.Row)}, sources...)
		// RETURNING * gives the source's columns, then the target's (PostgreSQL 17).
		if isStar(s.Returning) {
			lv.items = append(append([]*item(nil), sources...), lv.items[0])
		}
		m.Returning = b.returning(lv, s.Returning)
		b.merge = nil
	}
	m.Source = b.withExtras(lv, source)
	return b.writeBound(m, with, len(s.Returning) > 0)
}

func isStar(items []ast.Item) bool {
	for _, it := range items {
		if st, ok := it.Expr.(*ast.Star); ok && len(st.Qualifier) == 0 {
			return true
		}
	}
	return false
}

// mergeReachable refuses an arm behind an unconditional one of its kind.
func (b *binder) mergeReachable(arms []ast.MergeArm) {
	done := map[byte]bool{}
	for _, a := range arms {
		if done[a.Match] {
			b.fail(sqlerr.SyntaxError, a.Pos, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
		done[a.Match] = a.Cond == nil
	}
}

// show makes items visible, or visible to messages only.
func show(visible bool, items ...*item) {
	for _, it := range items {
		if visible == it.hidden {
			it.hidden = !visible
			it.relSeen, it.savedRel = it.savedRel, it.relSeen
			it.colSeen, it.savedCol = it.savedCol, it.colSeen
		}
	}
}

func (b *binder) mergeArm(lv *level, rel *Relation, target *item, sources []*item, a *ast.MergeArm) plan.MergeArm {
	arm := plan.MergeArm{}
	switch a.Match {
	case 'm':
		arm.Match = plan.Matched
	case 't':
		arm.Match = plan.NotMatched
		show(false, target)
		defer show(true, target)
	case 's':
		arm.Match = plan.NotMatchedBySource
		show(false, sources...)
		defer show(true, sources...)
	}
	if a.Cond != nil {
		lv.in(inMergeWhen, func() { arm.Cond = b.condition(lv, a.Cond, "WHEN") })
	}
	switch a.Action {
	case "update":
		if a.Match == 't' {
			b.fail(sqlerr.SyntaxError, a.Pos, "WHEN NOT MATCHED [BY TARGET] can only INSERT or DO NOTHING")
		}
		arm.Do = plan.MergeUpdate
		lv.in(inUpdate, func() {
			set := &setList{b: b, lv: lv, rel: rel, it: target}
			if a.Star {
				set.star(sources, a.Pos)
			} else {
				set.all(a.Set)
			}
			arm.Values, arm.Changed = set.row()
			recomputed(rel, arm.Changed)
		})
	case "delete":
		if a.Match == 't' {
			b.fail(sqlerr.SyntaxError, a.Pos, "WHEN NOT MATCHED [BY TARGET] can only INSERT or DO NOTHING")
		}
		arm.Do = plan.MergeDelete
	case "insert":
		if a.Match != 't' {
			b.fail(sqlerr.SyntaxError, a.Pos, "only WHEN NOT MATCHED [BY TARGET] can INSERT")
		}
		arm.Do = plan.MergeInsert
		lv.in(inInsert, func() { arm.Values, arm.Changed = b.mergeInsert(lv, rel, target, sources, a) })
	}
	return arm
}

// star is UPDATE SET *: every column from the source's column of the same name.
func (l *setList) star(sources []*item, pos int) {
	fields := l.rel.TableSchema.Fields
	l.values = make([]plan.Expr, len(fields))
	for i := range fields {
		if fields[i].Generated != nil {
			continue
		}
		l.values[i] = l.b.assign(l.b.sourceColumn(sources, fields[i].Name, pos), &fields[i])
	}
}

// sourceColumn finds the source's column for * in MERGE.
func (b *binder) sourceColumn(sources []*item, name string, pos int) plan.Expr {
	var found []plan.Column
	for _, it := range sources {
		if it.colSeen {
			if c, n := it.column(b.d, name); n > 0 {
				found = append(found, c.col)
			}
		}
	}
	switch len(found) {
	case 0:
		b.failWith(sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist in the source of MERGE", name).
			WithHint("* takes every column of the target from the source. Name the columns to take fewer.").At(pos))
	case 1:
	default:
		b.fail(sqlerr.AmbiguousColumn, pos, "column reference \"%s\" is ambiguous", name)
	}
	return b.col(found[0], pos)
}

func (b *binder) mergeInsert(lv *level, rel *Relation, target *item, sources []*item, a *ast.MergeArm) ([]plan.Expr, []bool) {
	fields := rel.TableSchema.Fields
	values, given := make([]plan.Expr, len(fields)), make([]bool, len(fields))
	switch {
	case a.Star:
		for i := range fields {
			if fields[i].Generated != nil {
				continue
			}
			values[i], given[i] = b.assign(b.sourceColumn(sources, fields[i].Name, a.Pos), &fields[i]), true
		}
	case a.Default:
	default:
		// INSERT (t.a, …), as some write it: the target's name in front means nothing.
		names := append([]ast.Name(nil), a.Columns...)
		for i, n := range names {
			if len(n.Parts) == 2 && b.d.SameName(n.Parts[0], target.name) {
				names[i].Parts = n.Parts[1:]
			}
		}
		columns := b.insertColumns(rel, names, given)
		b.checkCount(len(a.Values), columns, len(names) > 0, func(i int) int {
			return leftmost(a.Values[min(i, len(a.Values)-1)])
		}, names)
		for i, e := range a.Values {
			f := columns[i]
			if fields[f].Generated != nil {
				if _, ok := e.(*ast.Default); !ok {
					b.refuseGenerated(rel, &fields[f], leftmost(e))
				}
				continue
			}
			if _, ok := e.(*ast.Default); ok && fields[f].RowDefault != nil {
				continue
			}
			values[f], given[f] = b.assigned(lv, e, &fields[f]), true
		}
	}
	missing := make([]bool, len(fields))
	for i := range fields {
		if values[i] == nil {
			values[i], missing[i] = b.defaultOf(&fields[i]), fields[i].RowDefault != nil
		}
	}
	b.inlineRowDefaults(rel, values, missing)
	return values, given
}
