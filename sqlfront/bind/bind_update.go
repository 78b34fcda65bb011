package bind

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// targetScan makes the scan of a write's target, with the hidden columns that tell where each
// row lies, and its item.
func (b *binder) targetScan(t *ast.TableName, rel *Relation, lv *level) (*plan.Scan, *item, plan.RowAddress) {
	scan := b.scan(rel, t.Alias.Name)
	it := b.addLeaf(lv, scan, rel.Name, t.Alias, t.Pos)
	it.rel = rel
	if t.Alias.Name == "" {
		it.table, it.qual = "", qualification(rel)
	}
	var a plan.RowAddress
	a.File = b.hiddenColumn(lv, it, scan, "_file", plan.HiddenFile, types.T(types.Text))
	a.Pos = b.hiddenColumn(lv, it, scan, "_pos", plan.HiddenPos, types.T(types.Int8))
	a.SpecID = b.hiddenColumn(lv, it, scan, "_spec_id", plan.HiddenSpecID, types.T(types.Int4))
	if rel.Table.FormatVersion() >= 3 {
		a.RowID = b.hiddenColumn(lv, it, scan, "_row_id", plan.HiddenRowID, types.T(types.Int8))
		a.RowSeq = b.hiddenColumn(lv, it, scan, "_last_updated_sequence_number", plan.HiddenRowSeq, types.T(types.Int8))
	}
	return scan, it, a
}

// writeFrom joins the target with the tables of FROM or USING and filters.
func (b *binder) writeFrom(lv *level, scan *plan.Scan, it *item, list []ast.TableExpr, where ast.Expr) plan.Node {
	// FROM's own items cannot refer to the target.
	it.lateral, it.badLateral = true, true
	lv.items = []*item{it}
	from := b.from(list, lv)
	it.lateral, it.badLateral = false, false
	var n plan.Node = scan
	if from != nil {
		n = &plan.Join{Kind: plan.InnerJoin, Left: scan, Right: from}
	}
	if where != nil {
		lv.kind = inWhere
		n = &plan.Filter{Input: n, Pred: b.condition(lv, where, "WHERE")}
	}
	return n
}

// writeLimit keeps of the rows that a write would take the first ones in an order: MySQL's
// UPDATE|DELETE … ORDER BY … LIMIT n.
//
//	δ(limit n (sort (σp(T))))
func (b *binder) writeLimit(lv *level, n plan.Node, order []ast.Order, limit ast.Expr) plan.Node {
	lv.kind = inOrderBy
	var keys []plan.SortKey
	for _, o := range order {
		x := b.expr(lv, o.Expr)
		b.needOrdering(x.Type(), leftmost(o.Expr))
		keys = append(keys, b.sortKey(x, o))
	}
	if len(keys) > 0 && limit != nil {
		n = &plan.Sort{Input: n, Keys: keys}
	}
	return b.limit(&ast.Query{Limit: limit}, lv).build(n, nil)
}

func (b *binder) update(s *ast.Update) *Bound {
	if s.Ignore {
		b.my().lenient = true
	}
	if steps, targets := b.updates(s); steps != nil {
		return b.several(steps, targets)
	}
	lv := newLevel(nil)
	var with *withState
	if s.With != nil {
		with = b.with(s.With, lv)
	}
	table, assigned := &s.Table, s.Set
	if s.Tables != nil {
		table, assigned = b.assignedTable(s.Tables, s.Set)
	}
	rel := b.target(table)
	n := &plan.Update{Target: b.writeTarget(rel, table.Alias.Name)}
	var it *item
	if s.Tables != nil {
		var w *joinedWrite
		w, n.Source = b.joinedFrom(lv, table, rel, s.Tables, s.Where)
		n.Scan, it, n.Address = w.scan, w.item, w.address
	} else {
		n.Scan, it, n.Address = b.targetScan(table, rel, lv)
		n.Source = b.writeFrom(lv, n.Scan, it, s.From, s.Where)
	}
	n.Source = b.writeLimit(lv, n.Source, s.OrderBy, s.Limit)
	lv.kind = inUpdate
	set := &setList{b: b, lv: lv, rel: rel, it: it, source: &n.Source, inTurn: b.d.HoldMode != nil}
	set.all(assigned)
	n.Values, n.Changed = set.row()
	for i := range n.Values {
		if s.Ignore && n.Changed[i] {
			n.Values[i] = b.lenient(n.Values[i], &rel.TableSchema.Fields[i])
		}
	}
	n.Source = b.withExtras(lv, n.Source)
	if b.env.OnlyChanges && s.Limit == nil && len(s.Returning) == 0 {
		n.Source = b.onlyChanges(lv, rel, n.Source, n.Values, n.Changed, it)
	}
	recomputed(rel, n.Changed)
	if s.Ignore {
		b.ignoring(lv, rel, n, it)
	}
	n.Row = b.rowColumns(rel)
	if len(s.Returning) > 0 {
		old := lv.items
		lv.items = append([]*item{b.rowItem(lv, rel, table.Alias.Name, n.Row)}, old[1:]...)
		n.Returning = b.returning(lv, s.Returning)
	}
	return b.writeBound(n, with, len(s.Returning) > 0)
}

// onlyChanges keeps the rows that an UPDATE gives other values, which are those that MySQL counts
// and writes:
//
//	UPDATE t SET a = x, b = y WHERE p   →   … WHERE p AND (a IS DISTINCT FROM x OR b IS DISTINCT FROM y)
//
// What is computed is so once, below the filter, and values become the columns that hold it. A value
// whose type has no equality, or that is another each time, changes each row, and so does a generated
// column that is set to DEFAULT.
func (b *binder) onlyChanges(lv *level, rel *Relation, source plan.Node, values []plan.Expr, changed []bool, it *item) plan.Node {
	var differ []plan.Expr
	for i, x := range values {
		if !changed[i] {
			continue
		}
		old := plan.ColOf(it.cols[i].col)
		if c := classOf(old.Typ); rel.TableSchema.Fields[i].Generated != nil || plan.IsVolatile(x) || c == isJSON || c == isOther || !x.Type().Equal(old.Typ) {
			return source
		}
	}
	source = b.computedOnce(lv, source, values, changed, it)
	for i, x := range values {
		if changed[i] {
			differ = append(differ, b.plainOperator("IS DISTINCT FROM", plan.ColOf(it.cols[i].col), x, 0))
		}
	}
	if len(differ) == 0 {
		return source
	}
	return &plan.Filter{Input: source, Pred: plan.OrOf(differ...)}
}

// computedOnce computes what an UPDATE sets in a projection, whose columns become the values.
func (b *binder) computedOnce(lv *level, source plan.Node, values []plan.Expr, changed []bool, it *item) plan.Node {
	made := &plan.Project{Input: source, Exprs: passing(source.Columns())}
	below := len(made.Exprs)
	for i, x := range values {
		if !changed[i] {
			continue
		}
		switch x.(type) {
		case *plan.Const, *plan.Col, *plan.Param:
		default:
			col := b.newColumn(it.cols[i].name, x.Type())
			b.own(col, "", lv, fromInput)
			made.Exprs = append(made.Exprs, plan.Named{Col: col, Expr: x})
			values[i] = plan.ColOf(col)
		}
	}
	if len(made.Exprs) == below {
		return source
	}
	return made
}

func (b *binder) rowColumns(rel *Relation) []plan.Column {
	var out []plan.Column
	for i, f := range rel.TableSchema.Fields {
		c := b.newColumn(f.Name, f.Type)
		c.TableOID, c.Attnum = rel.OID, rel.attnum(i)
		out = append(out, c)
	}
	return out
}

func (b *binder) delete(s *ast.Delete) *Bound {
	if steps, targets := b.deletes(s); steps != nil {
		return b.several(steps, targets)
	}
	lv := newLevel(nil)
	var with *withState
	if s.With != nil {
		with = b.with(s.With, lv)
	}
	table := &s.Table
	if s.Tables != nil {
		table = b.deleted(s)
	}
	rel := b.target(table)
	if s.Ignore && len(rel.Table.References()) > 0 {
		b.fail(sqlerr.FeatureNotSupported, s.Pos, "DELETE IGNORE of a table that foreign keys reference is not supported")
	}
	n := &plan.Delete{Target: b.writeTarget(rel, table.Alias.Name)}
	if s.Tables != nil {
		var w *joinedWrite
		w, n.Source = b.joinedFrom(lv, table, rel, s.Tables, s.Where)
		n.Scan, n.Address = w.scan, w.address
	} else {
		var it *item
		n.Scan, it, n.Address = b.targetScan(table, rel, lv)
		n.Source = b.writeFrom(lv, n.Scan, it, s.Using, s.Where)
	}
	n.Source = b.writeLimit(lv, n.Source, s.OrderBy, s.Limit)
	if len(s.Returning) > 0 {
		n.Returning = b.returning(lv, s.Returning)
	}
	n.Source = b.withExtras(lv, n.Source)
	return b.writeBound(n, with, len(s.Returning) > 0)
}

// setList gathers the assignments of an UPDATE or of a MERGE arm.
type setList struct {
	b   *binder
	lv  *level
	rel *Relation
	it  *item // the target's old row
	// source is what SET (a, b) = (SELECT …) joins its query to; nil: not supported here.
	source *plan.Node

	values []plan.Expr // by field; nil: not assigned
	nested map[int][]nestedSet
	// inTurn: an assignment reads what those before it have set (MySQL), and a column may be set again.
	inTurn bool
	again  map[int]bool // generated columns that are set to DEFAULT: they are computed anew
}

// nestedSet is SET s.f.g = v.
type nestedSet struct {
	path  []string
	value plan.Expr
	pos   int
}

func (l *setList) all(items []ast.SetItem) {
	l.values = make([]plan.Expr, len(l.rel.TableSchema.Fields))
	l.nested = map[int][]nestedSet{}
	for i := range items {
		s := &items[i]
		if len(s.Columns) == 0 {
			l.one(s.Column, s.Value, func(f *lake.Field) plan.Expr { return l.b.assigned(l.lv, s.Value, f) })
			continue
		}
		l.several(s)
	}
}

// several is SET (a, b) = (x, y), = ROW(x, y) or = (SELECT x, y …).
func (l *setList) several(s *ast.SetItem) {
	b := l.b
	if r, ok := s.Value.(*ast.Row); ok {
		if len(r.Elems) != len(s.Columns) {
			b.fail(sqlerr.SyntaxError, s.Pos, "number of columns does not match number of values")
		}
		for i, c := range s.Columns {
			l.one(c, r.Elems[i], func(f *lake.Field) plan.Expr { return b.assigned(l.lv, r.Elems[i], f) })
		}
		return
	}
	q, ok := s.Value.(*ast.Subquery)
	if !ok || q.Kind != 's' {
		if len(s.Columns) == 1 {
			l.one(s.Columns[0], s.Value, func(f *lake.Field) plan.Expr { return b.assigned(l.lv, s.Value, f) })
			return
		}
		b.fail(sqlerr.FeatureNotSupported, leftmost(s.Value), "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
	}
	if l.source == nil {
		b.fail(sqlerr.FeatureNotSupported, q.Pos, "a query for several columns is not supported here")
	}
	sub, outs := b.subplan(q.Query, l.lv)
	if len(outs) != len(s.Columns) {
		b.fail(sqlerr.SyntaxError, q.Pos, "number of columns does not match number of values")
	}
	// One row of the query for each row that is updated; none gives NULLs.
	l.lv.leaves[sub] = true
	*l.source = &plan.Apply{Kind: plan.SingleJoin, Left: *l.source, Right: sub}
	for i, c := range s.Columns {
		col := sub.Columns()[i]
		l.one(c, q, func(f *lake.Field) plan.Expr { return b.assign(b.mark(plan.ColOf(col), outs[i].pos), f) })
	}
}

// one assigns what is given to a column or to a field inside it.
func (l *setList) one(n ast.Name, given ast.Expr, value func(f *lake.Field) plan.Expr) {
	b := l.b
	parts := n.Parts
	fields := l.rel.TableSchema.Fields
	// SET t.a = …, as Spark writes MERGE: the target's name in front means nothing, unless there
	// is a column of that name.
	if len(parts) > 1 && b.d.SameName(parts[0], l.it.name) && !hasField(b.d, fields, parts[0]) {
		parts = parts[1:]
	}
	i := b.fieldIndex(l.rel, parts[0], n.Pos)
	if l.values[i] != nil && !l.inTurn || len(parts) == 1 && len(l.nested[i]) > 0 {
		b.fail(sqlerr.SyntaxError, n.Pos, "multiple assignments to same column \"%s\"", fields[i].Name)
	}
	if len(parts) == 1 {
		if fields[i].Generated != nil {
			l.regenerated(i, given, n.Pos)
			return
		}
		if _, ok := given.(*ast.Default); ok && fields[i].RowDefault != nil {
			old := make([]plan.Expr, len(fields))
			for k := range old {
				old[k] = plan.ColOf(l.it.cols[k].col)
			}
			value = func(*lake.Field) plan.Expr { return b.rowDefaultOf(l.rel, i, old) }
		}
		l.values[i] = l.turned(value(&fields[i]), n.Pos)
		if c, ok := l.values[i].(*plan.Call); fields[i].Numbering != nil && fields[i].Numbering.Kind == "always" && (!ok || c.Func.Name != "number") {
			b.failWith(sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", fields[i].Name).
				WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", fields[i].Name).At(n.Pos))
		}
		return
	}
	f := &fields[i]
	for _, p := range parts[1:] {
		f = l.child(f, p, n.Pos)
	}
	for _, o := range l.nested[i] {
		a, c := strings.Join(o.path, "."), strings.Join(parts[1:], ".")
		if a == c || strings.HasPrefix(a, c+".") || strings.HasPrefix(c, a+".") {
			b.fail(sqlerr.SyntaxError, n.Pos, "multiple assignments to same column \"%s\"", strings.Join(parts, "."))
		}
	}
	l.nested[i] = append(l.nested[i], nestedSet{path: parts[1:], value: value(f), pos: n.Pos})
}

// turned is x, which reads the columns that have been set by then as what they are set to.
func (l *setList) turned(x plan.Expr, pos int) plan.Expr {
	if !l.inTurn {
		return x
	}
	return plan.MapExpr(x, func(y plan.Expr) plan.Expr {
		c, ok := y.(*plan.Col)
		if !ok {
			return y
		}
		for i, set := range l.values {
			if set == nil || l.it.cols[i].col.ID != c.ID {
				continue
			}
			if plan.IsVolatile(set) {
				l.b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "an assignment reads column '%s', which an earlier one of the same UPDATE sets to another value for each read", l.it.cols[i].name).
					WithHint("Make two statements.").At(pos))
			}
			return set
		}
		return y
	})
}

// regenerated takes DEFAULT for a generated column and refuses everything else.
func (l *setList) regenerated(i int, given ast.Expr, pos int) {
	f := &l.rel.TableSchema.Fields[i]
	if _, ok := given.(*ast.Default); ok {
		if l.again == nil {
			l.again = map[int]bool{}
		}
		l.again[i] = true
		return
	}
	if l.b.d.HoldMode != nil {
		l.b.refuseGenerated(l.rel, f, pos)
	}
	l.b.failWith(sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", f.Name).
		WithDetail("Column \"%s\" is a generated column.", f.Name).At(pos))
}

func hasField(d *Dialect, fields []lake.Field, name string) bool {
	for i := range fields {
		if d.SameName(fields[i].Name, name) {
			return true
		}
	}
	return false
}

func (l *setList) child(f *lake.Field, name string, pos int) *lake.Field {
	if f.Type.Kind != types.Struct {
		l.b.fail(sqlerr.DatatypeMismatch, pos, "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type",
			name, f.Name, typeName(f.Type))
	}
	for i := range f.Children {
		if l.b.d.SameName(f.Children[i].Name, name) {
			return &f.Children[i]
		}
	}
	l.b.fail(sqlerr.UndefinedColumn, pos, "cannot assign to field \"%s\" of column \"%s\" because there is no such column in data type %s",
		name, f.Name, typeName(f.Type))
	return nil
}

// row is the whole new row.
func (l *setList) row() (values []plan.Expr, changed []bool) {
	fields := l.rel.TableSchema.Fields
	values, changed = make([]plan.Expr, len(fields)), make([]bool, len(fields))
	for i := range fields {
		old := plan.ColOf(l.it.cols[i].col)
		switch {
		case l.values[i] != nil:
			values[i], changed[i] = l.values[i], true
		case len(l.nested[i]) > 0:
			values[i], changed[i] = l.rebuild(old, fields[i].Type, l.nested[i]), true
		case fields[i].OnUpdateSQL != "":
			values[i], changed[i] = l.b.keptExpr(fields[i].OnUpdateSQL, &fields[i], "ON UPDATE"), true
		default:
			values[i], changed[i] = old, l.again[i]
		}
	}
	return values, changed
}

// rebuild makes a struct anew with some members replaced. A NULL struct becomes one whose other
// members are NULL, as in PostgreSQL.
func (l *setList) rebuild(old plan.Expr, t types.Type, sets []nestedSet) plan.Expr {
	row := &plan.RowExpr{Typ: t}
	for i, f := range t.Fields() {
		var member plan.Expr = &plan.FieldOf{X: old, Index: i, Typ: f.Type}
		var deeper []nestedSet
		for _, s := range sets {
			if !l.b.d.SameName(s.path[0], f.Name) {
				continue
			}
			if len(s.path) == 1 {
				member = s.value
				deeper = nil
				break
			}
			deeper = append(deeper, nestedSet{path: s.path[1:], value: s.value, pos: s.pos})
		}
		if len(deeper) > 0 {
			member = l.rebuild(member, f.Type, deeper)
		}
		row.Elems = append(row.Elems, member)
	}
	return row
}
