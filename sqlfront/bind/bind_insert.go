package bind

import (
	"slices"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// insert binds INSERT and INSERT OVERWRITE.
func (b *binder) insert(s *ast.Insert) *Bound {
	if s.Ignore {
		b.my().lenient = true
	}
	lv := newLevel(nil)
	var with *withState
	if s.With != nil {
		with = b.with(s.With, lv)
	}
	rel := b.target(&s.Table)
	n := &plan.Insert{Target: b.writeTarget(rel, s.Table.Alias.Name), Overwrite: s.Overwrite}
	fields := rel.TableSchema.Fields
	values := make([]plan.Expr, len(fields))
	n.Given = make([]bool, len(fields))
	for _, p := range s.Partition {
		if p.Value == nil {
			continue // PARTITION (column): the rows say which
		}
		i := b.fieldIndex(rel, p.Column.Parts[len(p.Column.Parts)-1], p.Pos)
		if fields[i].Generated != nil {
			b.refuseGenerated(rel, &fields[i], p.Pos)
		}
		x := b.assign(b.constantExpr(lv, p.Value, inConstant), &fields[i])
		values[i], n.Given[i] = x, true
		n.Static = append(n.Static, plan.StaticPartition{FieldID: fields[i].ID, Value: x})
	}

	columns := b.insertColumns(rel, s.Columns, n.Given)
	source := b.insertSource(s, lv, rel, columns, len(s.Columns) > 0)
	for i, c := range source.Columns()[:len(source.Columns())-len(b.isDefault)] {
		f := columns[i]
		if fields[f].Generated != nil {
			b.explicitGenerated(s, rel, &fields[f])
			continue
		}
		values[f], n.Given[f] = plan.ColOf(c), true
		if s.Ignore {
			values[f] = b.lenient(values[f], &fields[f])
		}
		if !fromValues(s.Query) && b.holds(c.Type, fields[f].Type) {
			values[f] = b.hold(values[f], &fields[f])
		}
		if fields[f].Numbering != nil {
			if b.explicitNumber(s, fields, &fields[f]); s.Overriding == "user" {
				values[f] = nil
			}
			values[f] = b.rowNumber(values[f], &fields[f])
		}
	}
	p := &plan.Project{Input: source}
	for i := range fields {
		if values[i] == nil {
			values[i] = b.defaultOf(&fields[i])
		}
		c := b.newColumn(fields[i].Name, fields[i].Type)
		c.TableOID, c.Attnum = rel.OID, rel.attnum(i)
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: values[i]})
	}
	for i := range fields {
		if flag, ok := b.isDefault[i]; ok {
			p.Exprs = append(p.Exprs, plan.Named{Col: flag, Expr: plan.ColOf(flag)})
		}
	}
	n.Source = b.computed(n.Target, b.withRowDefaults(rel, p, n.Given, b.isDefault))
	b.isDefault = nil
	var write plan.Node = n
	if upserts(s) {
		write = b.upsert(s, lv, rel, n, columns)
	}
	if len(s.Returning) > 0 {
		rlv := newLevel(nil)
		rlv.ctes = lv.ctes
		rows, list := n.Source.Columns(), &n.Returning
		switch w := write.(type) {
		case *plan.Merge:
			rows, list = w.Row, &w.Returning
		case *plan.With:
			b.fail(sqlerr.FeatureNotSupported, s.Pos, "REPLACE … RETURNING is not supported")
		}
		rlv.items = []*item{b.rowItem(rlv, rel, s.Table.Alias.Name, rows)}
		*list = b.returning(rlv, s.Returning)
	}
	return b.writeBound(write, with, len(s.Returning) > 0)
}

// writeBound puts a WITH clause above a write statement: its CTEs may be read anywhere below.
func (b *binder) writeBound(n plan.Node, with *withState, returns bool) *Bound {
	r := &Bound{Plan: with.wrap(n)}
	if returns {
		r.Columns = n.Columns()
	}
	return r
}

// insertColumns are the indexes of the fields that an INSERT's source gives, in its order.
// taken are those that something else gives.
func (b *binder) insertColumns(rel *Relation, names []ast.Name, taken []bool) []int {
	var out []int
	if len(names) == 0 {
		for i := range rel.TableSchema.Fields {
			if !taken[i] {
				out = append(out, i)
			}
		}
		return out
	}
	for _, n := range names {
		if len(n.Parts) > 1 {
			b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "INSERT into a field of a struct is not supported").
				WithHint("Give the whole struct, with ROW(...).").At(n.Pos))
		}
		i := b.fieldIndex(rel, n.Parts[0], n.Pos)
		if containsInt(out, i) || taken[i] {
			b.fail(sqlerr.DuplicateColumn, n.Pos, "column \"%s\" specified more than once", n.Parts[0])
		}
		out = append(out, i)
	}
	return out
}

// insertSource binds what is inserted, giving one column for each of columns (or for the first
// few of them, where the statement lists none).
func (b *binder) insertSource(s *ast.Insert, lv *level, rel *Relation, columns []int, explicit bool) plan.Node {
	fields := rel.TableSchema.Fields
	if s.Query == nil {
		return &plan.Values{Rows: [][]plan.Expr{{}}}
	}
	if fromValues(s.Query) {
		return b.insertValues(s.Query.Body.(*ast.Values), lv, fields, columns, explicit, s.Columns)
	}
	q := b.query(s.Query, lv, false)
	outs := q.outputs()
	b.checkCount(len(outs), columns, explicit, func(i int) int {
		if i < len(outs) {
			return outs[i].pos
		}
		return s.Pos
	}, s.Columns)
	for i, o := range outs {
		f := &fields[columns[i]]
		if o.typ.Kind != types.Unknown && !o.typ.Same(f.Type) && !b.d.CanCast(o.typ, f.Type, plan.Assignment) {
			b.refuseAssign(f, o.typ, o.pos)
		}
		if b.holds(o.typ, f.Type) {
			q.coerce(i, eval.Held(o.typ, f.Type), plan.Assignment) // insert holds them
		} else {
			q.coerce(i, f.Type, plan.Assignment)
		}
	}
	return q.build()
}

// fromValues tells whether an INSERT's source is VALUES alone.
func fromValues(q *ast.Query) bool {
	if q == nil {
		return false
	}
	_, ok := q.Body.(*ast.Values)
	return ok && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil && q.With == nil
}

// checkCount compares the number of expressions with the target columns.
func (b *binder) checkCount(n int, columns []int, explicit bool, pos func(i int) int, names []ast.Name) {
	if n > len(columns) {
		b.fail(sqlerr.SyntaxError, pos(len(columns)), "INSERT has more expressions than target columns")
	}
	if n < len(columns) && explicit {
		at := pos(n)
		if n < len(names) {
			at = names[n].Pos
		}
		b.fail(sqlerr.SyntaxError, at, "INSERT has more target columns than expressions")
	}
}

// insertValues binds VALUES row by row straight to the target's types, so that untyped literals
// of different rows need nothing in common, and DEFAULT is allowed.
func (b *binder) insertValues(v *ast.Values, lv *level, fields []lake.Field, columns []int, explicit bool, names []ast.Name) plan.Node {
	vlv := newLevel(lv)
	vlv.kind = inInsert
	if len(v.Rows) > 1 {
		vlv.kind = inValues
	}
	width := len(v.Rows[0])
	out := &plan.Values{}
	for _, row := range v.Rows {
		if len(row) != width {
			b.fail(sqlerr.SyntaxError, leftmost(row[0]), "VALUES lists must all be the same length")
		}
		b.checkCount(len(row), columns, explicit, func(i int) int { return leftmost(row[min(i, len(row)-1)]) }, names)
		exprs := make([]plan.Expr, len(row))
		for i, e := range row {
			exprs[i] = b.assigned(vlv, e, &fields[columns[i]])
		}
		out.Rows = append(out.Rows, exprs)
	}
	for i := 0; i < width; i++ {
		f := &fields[columns[i]]
		out.Cols = append(out.Cols, b.newColumn(f.Name, f.Type))
	}
	for i := range fields { // in the fields' order, as insert reads them
		at := slices.Index(columns, i)
		if fields[i].RowDefault == nil || at < 0 || at >= width {
			continue
		}
		some := false
		for k, row := range v.Rows {
			_, is := row[at].(*ast.Default)
			some = some || is
			out.Rows[k] = append(out.Rows[k], &plan.Const{Value: types.NewBool(is), Typ: types.T(types.Bool)})
		}
		if !some {
			for k := range out.Rows {
				out.Rows[k] = out.Rows[k][:len(out.Rows[k])-1]
			}
			continue
		}
		if b.isDefault == nil {
			b.isDefault = map[int]plan.Column{}
		}
		b.isDefault[i] = b.newColumn("is_default", types.T(types.Bool))
		out.Cols = append(out.Cols, b.isDefault[i])
	}
	return out
}

// assigned binds an expression that becomes a field's value; DEFAULT is its write default.
func (b *binder) assigned(lv *level, e ast.Expr, f *lake.Field) plan.Expr {
	if _, ok := e.(*ast.Default); ok {
		return b.defaultOf(f)
	}
	if r, ok := e.(*ast.Row); ok && f.Type.Kind == types.Struct {
		return b.assignedRow(lv, r, f)
	}
	return b.assign(b.expr(lv, e), f)
}

// assignedRow binds ROW(…) member by member, so that NULL and untyped literals take the types of
// the members that they become.
func (b *binder) assignedRow(lv *level, r *ast.Row, f *lake.Field) plan.Expr {
	var elems []plan.Expr
	for _, e := range r.Elems {
		if n, ok := e.(*ast.Row); ok && len(elems) < len(f.Children) && f.Children[len(elems)].Type.Kind == types.Struct {
			elems = append(elems, b.assignedRow(lv, n, &f.Children[len(elems)]))
			continue
		}
		elems = append(elems, b.rowElems(lv, e)...)
	}
	if len(elems) != len(f.Children) {
		return b.assign(b.rowOfExprs(elems), f)
	}
	for i, x := range elems {
		elems[i] = b.assign(x, &f.Children[i])
	}
	return &plan.RowExpr{Elems: elems, Typ: f.Type}
}

// assign converts x to a field's type as assignments do (42804 where there is no such cast).
func (b *binder) assign(x plan.Expr, f *lake.Field) plan.Expr {
	from := x.Type()
	if from.Kind != types.Unknown && !from.Same(f.Type) && !b.canCast(x, f.Type, plan.Assignment) {
		b.refuseAssign(f, from, b.posOf(x))
	}
	if !b.holds(from, f.Type) {
		return b.coerce(x, f.Type, plan.Assignment)
	}
	return b.hold(b.coerce(x, eval.Held(from, f.Type), plan.Assignment), f)
}

// holds tells whether a value that becomes one of a column's goes through hold: where the type is
// MySQL's, or the statement is, which has other errors and may clip. A column of the same type holds
// all values of one.
func (b *binder) holds(from, t types.Type) bool {
	switch {
	case t.MySQL != nil:
		return from.MySQL == nil || from.Spell() != t.Spell()
	case from.MySQL == nil && (from.Equal(t) || from.IsInteger() && t.IsInteger() && from.Kind <= t.Kind):
		return false
	}
	return b.d.HoldMode != nil && (t.IsInteger() || t.Kind == types.Numeric || t.Kind == types.Varchar && t.Prec > 0 || t.Kind == types.Float4)
}

// hold makes x, of a type that eval.Held gives, one of the values that f's type has.
func (b *binder) hold(x plan.Expr, f *lake.Field) plan.Expr {
	mode := eval.HoldStandard
	if b.d.HoldMode != nil {
		mode = b.d.HoldMode(b)
	}
	c, isConst := x.(*plan.Const)
	if isConst && c.Value.IsNull() {
		return &plan.Const{Typ: f.Type}
	}
	key := holdKey{f.ID, f.Name, x.Type().Kind}
	fn := b.holders[key]
	if fn == nil {
		fn = eval.Holder(f.Name, x.Type(), f.Type, mode)
		if b.holders == nil {
			b.holders = map[holdKey]*plan.Function{}
		}
		b.holders[key] = fn
	}
	y := &plan.Call{Func: fn, Args: []plan.Expr{x}, Typ: f.Type, Pos: b.at(b.posOf(x))}
	if isConst && mode != eval.HoldLenient {
		return b.mark(&plan.Const{Value: b.evaluate(y, b.posOf(x)), Typ: f.Type}, b.posOf(x))
	}
	return b.mark(y, b.posOf(x))
}

// holdKey is a column and the kind of what is written to it.
type holdKey struct {
	id   int
	name string
	from types.Kind
}

func (b *binder) refuseAssign(f *lake.Field, from types.Type, pos int) {
	b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s", f.Name, typeName(f.Type), typeName(from)).
		WithHint("You will need to rewrite or cast the expression.").At(pos))
}

// rowItem is the target as RETURNING sees it.
func (b *binder) rowItem(lv *level, rel *Relation, alias string, cols []plan.Column) *item {
	it := &item{name: rel.Name, qual: qualification(rel), relSeen: true, colSeen: true}
	if alias != "" {
		it.name, it.table, it.qual = alias, rel.Name, nil
	}
	b.noteColumns(rel, cols)
	for _, c := range cols {
		b.own(c, it.name, lv, fromInput)
		it.cols = append(it.cols, itemCol{name: c.Name, col: c})
	}
	return it
}

// returning binds a RETURNING list.
func (b *binder) returning(lv *level, items []ast.Item) []plan.Named {
	lv.kind = inReturning
	var out []plan.Named
	for i := range items {
		for _, t := range b.item(lv, &items[i]) {
			x := b.known(t.expr)
			c := b.newColumn(t.name, x.Type())
			if col, ok := x.(*plan.Col); ok {
				in := b.cols[col.ID]
				c.TableOID, c.Attnum = in.TableOID, in.Attnum
			}
			out = append(out, plan.Named{Col: c, Expr: x})
		}
	}
	return out
}
