package bind

// This file binds what becomes of rows whose keys are there already: INSERT … ON CONFLICT, and MySQL's
// ON DUPLICATE KEY UPDATE, INSERT IGNORE and REPLACE. s are the statement's rows, whole and with
// defaults, and k its keys.
//
//	DO NOTHING                 t ⊕ first(k) (s ▷(k) t)
//	DO UPDATE SET a = x        MERGE t USING s ON k: matched → a = x, not matched → insert
//	REPLACE                    t ⊖ (t ⋉(k) s) ⊕ last(k) (s)

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// upserts tells whether an INSERT says what becomes of rows whose keys are there.
func upserts(s *ast.Insert) bool {
	return s.OnConflict != nil || s.OnDuplicate != nil || s.Ignore || s.Replace
}

// upserting is an INSERT whose rows may be there already.
type upserting struct {
	b      *binder
	s      *ast.Insert
	lv     *level // of its WITH clause
	rel    *Relation
	n      *plan.Insert
	rows   []plan.Column // by field
	source plan.Node
	single bool  // the source has one row
	listed []int // the fields that the statement lists
}

// upsert binds the statement whose rows n.Source has.
func (b *binder) upsert(s *ast.Insert, lv *level, rel *Relation, n *plan.Insert, listed []int) plan.Node {
	u := &upserting{b: b, s: s, lv: lv, rel: rel, n: n, rows: n.Source.Columns(), source: n.Source, listed: listed}
	if s.Query == nil {
		u.single = true
	} else if v, ok := s.Query.Body.(*ast.Values); ok && fromValues(s.Query) {
		u.single = len(v.Rows) == 1
	}
	if !s.Ignore {
		u.source = u.valid(u.source)
	}
	switch {
	case s.OnConflict != nil && s.OnConflict.Update:
		keys := u.inferred()
		return u.update(keys[:1], s.OnConflict.Set, s.OnConflict.Where)
	case s.OnConflict != nil:
		return u.nothing(u.inferred())
	case s.Replace:
		return u.replace(u.given())
	case s.OnDuplicate != nil:
		if keys := u.given(); len(keys) > 0 {
			u.inRounds(keys)
			return u.update(keys, s.OnDuplicate, nil)
		}
		return n
	}
	return u.nothing(u.given())
}

// keys are those of the table. Identifier fields that no constraint was declared for count, too: they
// say which rows are the same one.
func (u *upserting) keys() []lake.Key {
	keys := u.rel.Table.Keys()
	if id := u.rel.TableSchema.Identifier; len(id) > 0 && (len(keys) == 0 || !keys[0].Primary) {
		keys = append([]lake.Key{{Name: u.rel.Name + "_pkey", Primary: true, NotEnforced: true, Columns: id}}, keys...)
	}
	return slices.DeleteFunc(keys, func(k lake.Key) bool {
		return slices.ContainsFunc(k.Columns, func(id int) bool { return u.place(id) < 0 })
	})
}

func (u *upserting) place(id int) int {
	return slices.IndexFunc(u.rel.TableSchema.Fields, func(f lake.Field) bool { return f.ID == id })
}

// inferred are the keys that ON CONFLICT names: by their columns, by the constraint, or all.
func (u *upserting) inferred() []lake.Key {
	b, c := u.b, u.s.OnConflict
	keys := u.keys()
	switch {
	case c.Constraint != "":
		for _, k := range keys {
			if k.Name == c.Constraint {
				return []lake.Key{k}
			}
		}
		b.fail(sqlerr.UndefinedObject, c.Pos, "constraint \"%s\" for table \"%s\" does not exist", c.Constraint, u.rel.Name)
	case c.Columns != nil:
		want := map[int]bool{}
		for _, n := range c.Columns {
			want[u.rel.TableSchema.Fields[u.column(n)].ID] = true
		}
		var out []lake.Key
		for _, k := range keys {
			if len(k.Columns) == len(want) && !slices.ContainsFunc(k.Columns, func(id int) bool { return !want[id] }) {
				out = append(out, k)
			}
		}
		if len(out) == 0 {
			b.fail(sqlerr.InvalidColumnReference, c.Pos, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
		}
		return out
	}
	return u.given()
}

func (u *upserting) column(n ast.Name) int {
	if len(n.Parts) == 1 {
		for i := range u.rel.TableSchema.Fields {
			if u.b.d.SameName(u.rel.TableSchema.Fields[i].Name, n.Parts[0]) {
				return i
			}
		}
	}
	u.b.fail(sqlerr.UndefinedColumn, n.Pos, "column \"%s\" does not exist", strings.Join(n.Parts, "."))
	return -1
}

// given are the keys that the statement's rows may share with others: not those of a number that the
// table gives each row.
func (u *upserting) given() []lake.Key {
	return slices.DeleteFunc(u.keys(), func(k lake.Key) bool {
		return slices.ContainsFunc(k.Columns, func(id int) bool {
			i := u.place(id)
			return u.rel.TableSchema.Fields[i].Numbering != nil && !u.n.Given[i]
		})
	})
}

// match compares a key of the target with that of the statement's rows.
func (u *upserting) match(k lake.Key, scan *plan.Scan, rows []plan.Column) plan.Expr {
	op := "="
	if k.NullsNotDistinct {
		op = plan.NotDistinctOp
	}
	var on []plan.Expr
	for n, id := range k.Columns {
		for _, c := range scan.Cols {
			if c.FieldID == id {
				on = append(on, u.b.plainOperator(op, KeyOf(k, n, plan.ColOf(c.Column)), KeyOf(k, n, plan.ColOf(rows[u.place(id)])), -1))
			}
		}
	}
	return plan.AndOf(on...)
}

func (u *upserting) names(keys []lake.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Name)
	}
	return out
}

// nothing leaves out the rows whose keys are there, or stand before them in the statement.
func (u *upserting) nothing(keys []lake.Key) plan.Node {
	b := u.b
	u.n.Upsert = &plan.Upsert{Keys: u.names(keys), Kept: true}
	source := u.source
	if u.s.Ignore {
		source = u.checked(source)
	}
	for _, k := range keys {
		scan := b.scan(u.rel, u.rel.Name)
		source = &plan.Join{Kind: plan.AntiJoin, Left: source, Right: scan, On: u.match(k, scan, u.rows)}
	}
	if len(keys) > 1 && !u.single {
		// Who stands first with one key may be left out for another one: what is left is looked at
		// again, until nothing is.
		u.n.Upsert.Again = true
	}
	u.n.Source = u.first(source, keys, false)
	return u.n
}

// checked leaves out the rows that break a CHECK constraint.
func (u *upserting) checked(n plan.Node) plan.Node {
	for _, c := range u.n.Target.Checks {
		n = &plan.Filter{Input: n, Pred: &plan.Coalesce{Args: []plan.Expr{u.overRow(c), &plan.Const{Value: types.NewBool(true), Typ: types.T(types.Bool)}}, Typ: types.T(types.Bool)}}
	}
	return n
}

// overRow is a CHECK constraint's condition on the statement's rows.
func (u *upserting) overRow(c plan.Check) plan.Expr {
	return plan.MapExpr(c.Pred, func(x plan.Expr) plan.Expr {
		if col, ok := x.(*plan.Col); ok {
			for i := range c.Cols {
				if c.Cols[i].ID == col.ID {
					return plan.ColOf(u.rows[i])
				}
			}
		}
		return x
	})
}

// valid makes sure that all rows could be inserted, those that are not, too.
func (u *upserting) valid(n plan.Node) plan.Node {
	var args []plan.Expr
	var names []string
	for i, f := range u.rel.TableSchema.Fields {
		if f.Required {
			args, names = append(args, plan.ColOf(u.rows[i])), append(names, f.Name)
		}
	}
	for _, c := range u.n.Target.Checks {
		args = append(args, u.overRow(c))
	}
	if len(args) == 0 {
		return n
	}
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	valid := eval.NewRowFunction("valid", ts, types.T(types.Bool), func(_ *eval.Ctx, row []types.Datum) (types.Datum, error) {
		for i, d := range row {
			if i >= len(names) {
				if !d.IsNull() && !d.Bool() {
					return types.Null, sqlerr.New(sqlerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", u.rel.Name, u.n.Target.Checks[i-len(names)].Name)
				}
			} else if d.IsNull() {
				return types.Null, sqlerr.New(sqlerr.NotNullViolation, "null value in column \"%s\" violates not-null constraint", names[i])
			}
		}
		return types.NewBool(true), nil
	})
	valid.Strict = false
	return &plan.Filter{Input: n, Pred: &plan.Call{Func: valid, Args: args, Typ: types.T(types.Bool), Pos: -1}}
}

// first keeps of rows with the same value of a key the one that comes first, or last. A NULL is the
// same as no other.
func (u *upserting) first(n plan.Node, keys []lake.Key, last bool) plan.Node {
	if u.single || len(keys) == 0 {
		return n
	}
	b := u.b
	out := n.Columns()
	n, ord := b.numbered(n, nil, nil)
	var preds []plan.Expr
	one := &plan.Const{Value: types.NewInt(1), Typ: types.T(types.Int8)}
	for _, k := range keys {
		by, null := u.keyExprs(k, u.rows)
		var place plan.Column
		n, place = b.numbered(n, by, []plan.SortKey{{Expr: plan.ColOf(ord), Desc: last}})
		preds = append(preds, plan.OrOf(append(null, b.plainOperator("=", plan.ColOf(place), one, -1))...))
	}
	p := &plan.Project{Input: &plan.Filter{Input: n, Pred: plan.AndOf(preds...)}, Exprs: passing(out)}
	return p
}

// keyExprs are what rows have the same key by, and the conditions under which a row has none.
func (u *upserting) keyExprs(k lake.Key, rows []plan.Column) (by, null []plan.Expr) {
	for n, id := range k.Columns {
		i := u.place(id)
		by = append(by, KeyOf(k, n, plan.ColOf(rows[i])))
		if !k.NullsNotDistinct && !u.rel.TableSchema.Fields[i].Required {
			null = append(null, &plan.IsNull{X: plan.ColOf(rows[i])})
		}
	}
	return by, null
}

// numbered adds a row number to n.
func (b *binder) numbered(n plan.Node, by []plan.Expr, order []plan.SortKey) (plan.Node, plan.Column) {
	rn, err := eval.ResolveFunction("row_number", nil, false)
	b.check(err, -1)
	c := b.newColumn("row_number", rn.Ret)
	return &plan.Window{Input: n, Partition: by, Order: order, Calls: []plan.WindowCall{{Func: rn.Func, Out: c,
		Frame: plan.Frame{Mode: plan.RangeFrame, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}}}}, c
}

// update gives rows that are there other values, and adds the others. A row that several keys find is
// found by the first of them.
func (u *upserting) update(keys []lake.Key, assigned []ast.SetItem, where ast.Expr) plan.Node {
	b := u.b
	m := &plan.Merge{Target: u.n.Target, Statement: "INSERT", Upsert: &plan.Upsert{Keys: u.names(keys), Update: true, Twice: b.d.HoldMode != nil}}
	lv := newLevel(nil)
	lv.ctes = u.lv.ctes
	var target *item
	m.Scan, target, m.Address = b.targetScan(&u.s.Table, u.rel, lv)
	lv.items = append([]*item{target}, u.excluded(lv)...)

	// Which of the keys finds a row: the first that one there has.
	source := u.source
	var found plan.Expr
	var on []plan.Expr
	for i, k := range keys {
		match := u.match(k, m.Scan, u.rows)
		if found != nil {
			match = plan.AndOf(found, match)
		}
		on = append(on, match)
		if i == len(keys)-1 {
			break
		}
		scan := b.scan(u.rel, u.rel.Name)
		mark := b.newColumn("found", types.T(types.Bool))
		b.own(mark, "", lv, fromInput)
		source = &plan.Join{Kind: plan.MarkJoin, Left: source, Right: scan, On: u.match(k, scan, u.rows), Mark: mark}
		none := plan.Expr(&plan.Not{X: &plan.Coalesce{Args: []plan.Expr{plan.ColOf(mark), &plan.Const{Value: types.NewBool(false), Typ: mark.Type}}, Typ: mark.Type}})
		if found == nil {
			found = none
		} else {
			found = plan.AndOf(found, none)
		}
	}
	m.On = plan.OrOf(on...)

	arm := plan.MergeArm{Match: plan.Matched, Do: plan.MergeUpdate}
	lv.in(inUpdate, func() {
		set := &setList{b: b, lv: lv, rel: u.rel, it: target, inTurn: b.d.HoldMode != nil}
		set.all(assigned)
		arm.Values, arm.Changed = set.row()
	})
	if where != nil {
		lv.in(inWhere, func() { arm.Cond = b.condition(lv, where, "WHERE") })
	}
	if b.env.OnlyChanges {
		arm.Cond = u.changes(target, arm.Values, arm.Changed)
	}
	recomputed(u.rel, arm.Changed)
	m.Upsert.Kept = !slices.ContainsFunc(keys, func(k lake.Key) bool {
		return slices.ContainsFunc(k.Columns, func(id int) bool { return arm.Changed[u.place(id)] })
	})
	add := plan.MergeArm{Match: plan.NotMatched, Do: plan.MergeInsert, Changed: u.n.Given}
	for _, c := range u.rows {
		add.Values = append(add.Values, plan.ColOf(c))
	}
	m.Arms = []plan.MergeArm{arm, add}
	m.Row = b.rowColumns(u.rel)
	m.Source = b.withExtras(lv, source)
	return m
}

// changes tells whether a row gets another value; nil where that cannot be told.
func (u *upserting) changes(target *item, values []plan.Expr, changed []bool) plan.Expr {
	var differ []plan.Expr
	for i, x := range values {
		if !changed[i] || u.rel.TableSchema.Fields[i].OnUpdateSQL != "" {
			continue
		}
		old := plan.ColOf(target.cols[i].col)
		if c := classOf(old.Typ); plan.IsVolatile(x) || c == isJSON || c == isOther || !x.Type().Equal(old.Typ) {
			return nil
		}
		differ = append(differ, u.b.plainOperator(plan.NotDistinctOp, old, x, -1))
	}
	if len(differ) == 0 {
		return nil
	}
	return &plan.Not{X: plan.AndOf(differ...)}
}

// excluded are the rows that the statement would have inserted, as its assignments see them.
func (u *upserting) excluded(lv *level) []*item {
	b := u.b
	if u.s.OnConflict != nil {
		return []*item{b.rowItem(lv, u.rel, "excluded", u.rows)}
	}
	values := b.rowItem(lv, u.rel, ast.ValuesName, u.rows)
	values.colSeen = false
	out := []*item{values}
	if u.s.As == "" {
		return out
	}
	as := b.rowItem(lv, u.rel, u.s.As, u.rows)
	as.colSeen = len(u.s.AsColumns) > 0
	if as.colSeen {
		if len(u.s.AsColumns) != len(u.listed) {
			b.fail(sqlerr.InvalidColumnReference, u.s.Pos, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
		}
		var cols []itemCol
		for i, n := range u.s.AsColumns {
			c := as.cols[u.listed[i]]
			c.name = n
			cols = append(cols, c)
		}
		as.cols = cols
	}
	return append(out, as)
}

// inRounds cuts the source into rounds, where the session asks for one: rows of a round have no key in
// common, and of those with one each comes in the round behind the one before it.
func (u *upserting) inRounds(keys []lake.Key) {
	b := u.b
	if b.env.Round == 0 {
		return
	}
	out := u.source.Columns()
	n, ord := b.numbered(u.source, nil, nil)
	round := ord
	if len(keys) == 1 {
		by, _ := u.keyExprs(keys[0], u.rows)
		n, round = b.numbered(n, by, []plan.SortKey{{Expr: plan.ColOf(ord)}})
	}
	most, err := eval.ResolveFunction("max", []types.Type{round.Type}, false)
	b.check(err, -1)
	rounds := b.newColumn("rounds", round.Type)
	b.rounds = &plan.Aggregate{Input: n, Aggs: []plan.Agg{{Func: most.Func, Args: []plan.Expr{plan.ColOf(round)}, Out: rounds}}}
	this := b.plainOperator("=", plan.ColOf(round), &plan.Const{Value: types.NewInt(int64(b.env.Round)), Typ: types.T(types.Int8)}, -1)
	u.source = &plan.Project{Input: &plan.Filter{Input: n, Pred: this}, Exprs: passing(out)}
}

// replace takes the rows away whose keys the statement's rows have, and adds these: of those with the
// same key the last.
func (u *upserting) replace(keys []lake.Key) plan.Node {
	b := u.b
	if len(keys) == 0 {
		return u.n
	}
	lv := newLevel(nil)
	r := &plan.Replace{Target: u.n.Target, Upsert: &plan.Upsert{Keys: u.names(keys), Kept: true}}
	scan, _, address := b.targetScan(&u.s.Table, u.rel, lv)
	r.Address = address
	cte := &plan.CTE{Name: "replacing", Plan: u.first(u.source, keys, true)}
	cte.Cols = cte.Plan.Columns()
	read := func() *plan.CTERef {
		ref := &plan.CTERef{CTE: cte}
		for _, c := range u.rows {
			ref.Cols = append(ref.Cols, b.newColumn(c.Name, c.Type))
		}
		return ref
	}
	match := read()
	var on []plan.Expr
	for _, k := range keys {
		on = append(on, u.match(k, scan, match.Cols))
	}
	r.Gone = &plan.Join{Kind: plan.SemiJoin, Left: scan, Right: match, On: plan.OrOf(on...)}
	r.Rows = read()
	return &plan.With{CTEs: []*plan.CTE{cte}, Body: r}
}

// lenient makes a NULL that a NOT NULL column is given its type's own value, as INSERT IGNORE does.
func (b *binder) lenient(x plan.Expr, f *lake.Field) plan.Expr {
	if !f.Required || f.Numbering != nil {
		return x
	}
	switch t := f.Type; {
	case t.IsNumber():
		c := plan.Expr(&plan.Const{Value: types.NewInt(0), Typ: types.T(types.Int4)})
		return &plan.Coalesce{Args: []plan.Expr{x, b.assign(c, f)}, Typ: f.Type}
	case classOf(t) == isText:
		c := plan.Expr(&plan.Const{Value: types.NewStr(""), Typ: types.T(types.Text)})
		if t.MySQL != nil && t.MySQL.Members != nil {
			return x
		}
		return &plan.Coalesce{Args: []plan.Expr{x, b.assign(c, f)}, Typ: f.Type}
	}
	return x
}
