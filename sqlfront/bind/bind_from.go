package bind

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// from binds a FROM list into lv and gives the node that makes its rows; nil for an empty list.
func (b *binder) from(list []ast.TableExpr, lv *level) plan.Node {
	var n plan.Node
	for _, t := range list {
		mark := len(b.refs)
		start := len(lv.items)
		m, items := b.tableExpr(t, lv)
		b.checkDuplicates(lv.items[:start], items)
		// Later items see this one only if they are LATERAL.
		for _, it := range items {
			it.lateral, it.badLateral = true, false
		}
		lv.items = append(lv.items[:start:start], items...)
		if n == nil {
			n = m
		} else {
			n = b.join(plan.InnerJoin, n, m, nil, mark)
		}
	}
	for _, it := range lv.items {
		it.lateral = false
	}
	return n
}

func (b *binder) checkDuplicates(old, items []*item) {
	for _, it := range items {
		if it.name == "" || !it.relSeen {
			continue
		}
		for _, o := range old {
			if o.relSeen && b.d.SameName(o.name, it.name) && !(len(o.qual) > 0 && len(it.qual) > 0 && strings.Join(o.qual, ".") != strings.Join(it.qual, ".")) {
				b.fail(sqlerr.DuplicateAlias, it.pos, "table name \"%s\" specified more than once", it.name)
			}
		}
	}
}

// join combines two bound sides. The right side may read the left's columns (LATERAL): the
// column references made since mark tell.
func (b *binder) join(k plan.JoinKind, l, r plan.Node, on plan.Expr, mark int) plan.Node {
	left := plan.SetOf(l.Columns())
	right := plan.Free(r)
	for _, id := range b.refs[mark:] {
		if left.Has(id) && right.Has(id) {
			return &plan.Apply{Kind: k, Left: l, Right: r, On: on}
		}
	}
	return &plan.Join{Kind: k, Left: l, Right: r, On: on}
}

// tableExpr binds one FROM entry; the items are what it adds to the namespace.
func (b *binder) tableExpr(t ast.TableExpr, lv *level) (plan.Node, []*item) {
	switch t := t.(type) {
	case *ast.TableName:
		n, it := b.tableName(t, lv)
		return n, []*item{it}
	case *ast.SubqueryTable:
		n, it := b.subqueryTable(t, lv)
		return n, []*item{it}
	case *ast.FuncTable:
		n, it := b.funcTable(t, lv)
		return n, []*item{it}
	case *ast.JSONTable:
		n, it := b.jsonTable(t, lv)
		return n, []*item{it}
	case *ast.JoinTable:
		b.enter(t.Pos)
		defer b.leave()
		return b.joinTable(t, lv)
	}
	invariant.Fail("bind: FROM item %T", t)
	return nil, nil
}

// addLeaf makes a FROM item of a node whose columns already have the item's names.
func (b *binder) addLeaf(lv *level, n plan.Node, name string, al ast.Alias, pos int) *item {
	it := &item{name: name, node: n, pos: pos, relSeen: true, colSeen: true}
	if al.Name != "" {
		it.name, it.table = al.Name, name
	}
	cols := n.Columns()
	if len(al.Columns) > len(cols) {
		b.fail(sqlerr.InvalidColumnReference, pos, "table \"%s\" has %d columns available but %d columns specified",
			it.name, len(cols), len(al.Columns))
	}
	for i, c := range cols {
		n := c.Name
		if i < len(al.Columns) {
			n = al.Columns[i]
		}
		c.Name = n
		b.own(c, it.name, lv, fromInput)
		it.cols = append(it.cols, itemCol{name: n, col: c})
	}
	if lv.leaves == nil {
		lv.leaves = map[plan.Node]bool{}
	}
	lv.leaves[n] = true
	return it
}

// ---- tables ----

func (b *binder) tableName(t *ast.TableName, lv *level) (plan.Node, *item) {
	if w := b.joined; w != nil && w.table == t {
		return b.targetAmong(w, lv)
	}
	if len(t.Parts) == 1 && t.AsOf == nil {
		if e := b.findCTE(lv, t.Parts[0]); e != nil {
			b.noSample(t, nil)
			n := b.cteNode(e)
			return n, b.addLeaf(lv, n, t.Parts[0], t.Alias, t.Pos)
		}
	}
	w := b.when(t.AsOf, lv)
	rel := b.relation(lv, t.Parts, w, t.Pos)
	var n plan.Node
	b.pinned(w, func() { n = b.relationNode(rel, t.Alias.Name, t.Pos) })
	it := b.addLeaf(lv, n, rel.Name, t.Alias, t.Pos)
	it.rel = rel
	if t.Alias.Name == "" {
		it.name, it.table = rel.Name, ""
		if it.name == "" {
			it.name = t.Parts[len(t.Parts)-1]
		}
		it.qual = qualification(rel)
		for _, c := range it.cols {
			b.own(c.col, it.name, lv, fromInput)
		}
	}
	if t.Sample != nil {
		n = b.sample(t, lv, n, it)
	}
	return n, it
}

// noSample refuses TABLESAMPLE of what is no table, as PostgreSQL does.
func (b *binder) noSample(t *ast.TableName, rel *Relation) {
	if t.Sample != nil && (rel == nil || rel.Table == nil) {
		b.fail(sqlerr.WrongObjectType, t.Pos, "TABLESAMPLE clause can only be applied to tables and materialized views")
	}
}

// sample keeps some of a table's rows, before anything else of the query sees them.
func (b *binder) sample(t *ast.TableName, lv *level, n plan.Node, it *item) plan.Node {
	scan, ok := n.(*plan.Scan)
	if !ok {
		b.noSample(t, nil)
	}
	s := &plan.Sample{Input: n, Blocks: t.Sample.Method == "system"}
	if !s.Blocks && t.Sample.Method != "bernoulli" {
		b.fail(sqlerr.UndefinedObject, t.Pos, "tablesample method %s does not exist", t.Sample.Method)
	}
	if len(t.Sample.Args) != 1 {
		b.fail(sqlerr.InvalidTablesampleArgument, t.Pos, "tablesample method %s requires 1 argument, not %d", t.Sample.Method, len(t.Sample.Args))
	}
	number := func(e ast.Expr, what string) plan.Expr {
		if e == nil {
			return nil
		}
		var x plan.Expr
		lv.in(inLimit, func() { x = b.expr(lv, e) })
		pos := b.posOf(x)
		if plan.HasSubquery(x) || len(plan.ExprCols(x)) > 0 {
			b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "%s with columns or subqueries is not supported", what).At(pos))
		}
		return b.coerceArgument(x, types.T(types.Float8), what)
	}
	s.Percent, s.Seed = number(t.Sample.Args[0], "TABLESAMPLE"), number(t.Sample.Repeatable, "REPEATABLE")
	s.File = b.hiddenColumn(lv, it, scan, "_file", plan.HiddenFile, types.T(types.Text))
	s.Pos = b.hiddenColumn(lv, it, scan, "_pos", plan.HiddenPos, types.T(types.Int8))
	return s
}

func qualification(rel *Relation) []string {
	switch {
	case rel.Catalog != "":
		return []string{rel.Catalog, rel.Schema}
	case rel.Schema != "":
		return []string{rel.Schema}
	}
	return nil
}

// relation resolves a name and notes the use.
func (b *binder) relation(lv *level, parts []string, w When, pos int) *Relation {
	if !w.Set {
		w = b.pin
	}
	ref := TableRef{Parts: parts, When: w, NewCol: b.newColID, SearchPath: b.searchPath(), Depth: len(b.viewStack)}
	rel, err := b.env.Catalog.Relation(b.ctx, ref)
	if len(parts) == 1 {
		err = b.laterCTE(err, lv, parts[0])
	}
	b.checkRelation(err, strings.Join(parts, "."), pos)
	b.use(rel, false)
	return rel
}

// pinned runs f with tables that have no clause of their own read as w says: those of a view
// or subquery that a time-travel clause follows.
func (b *binder) pinned(w When, f func()) {
	old := b.pin
	if w.Set {
		b.pin = w
	}
	f()
	b.pin = old
}

func (b *binder) use(rel *Relation, write bool) {
	b.noteUse(rel, write)
	if rel.Table != nil {
		b.tables = append(b.tables, TableUse{Relation: rel, Write: write})
		return
	}
	// A view may be replaced, and a computed table holds the state that it was opened in.
	b.paramPlan = true
}

// relationNode makes the node that reads a relation.
func (b *binder) relationNode(rel *Relation, alias string, pos int) plan.Node {
	switch {
	case rel.Table != nil:
		return b.scan(rel, alias)
	case rel.Virtual != nil:
		v := &plan.Virtual{Table: rel.Virtual, Alias: alias}
		for i, f := range rel.Virtual.Fields() {
			c := b.newColumn(f.Name, f.Type)
			c.TableOID, c.Attnum = rel.OID, rel.attnum(i)
			v.Cols = append(v.Cols, c)
			v.Index = append(v.Index, i)
		}
		b.noteColumns(rel, v.Cols)
		return v
	case rel.View != nil:
		b.views = append(b.views, rel)
		return b.view(rel, pos)
	}
	invariant.Check(rel.Plan != nil, "bind: relation %s without content", rel.Name)
	b.noteColumns(rel, rel.Plan.Columns())
	return rel.Plan
}

func (r *Relation) attnum(i int) int16 {
	if i < len(r.Attnums) {
		return r.Attnums[i]
	}
	return int16(i + 1)
}

func (b *binder) scan(rel *Relation, alias string) *plan.Scan {
	s := &plan.Scan{Table: rel.Table, Snapshot: rel.Snapshot, Schema: rel.TableSchema, Alias: alias}
	for i := range rel.TableSchema.Fields {
		f := &rel.TableSchema.Fields[i]
		c := b.newColumn(f.Name, f.Type)
		c.NotNull = f.Required
		c.TableOID, c.Attnum = rel.OID, rel.attnum(i)
		s.Cols = append(s.Cols, plan.ScanColumn{Column: c, FieldID: f.ID})
		if b.d.Key != nil && f.Type.MySQL != nil && f.Type.MySQL.Collation != "" {
			b.my().ofColumn[c.ID] = f.Type.MySQL.Collation
		}
	}
	if u := b.useOf[rel]; u != nil {
		for i := range s.Cols {
			b.columnsOf[s.Cols[i].ID] = columnOf{use: u, at: i}
		}
	}
	return s
}

// ---- views ----

func (b *binder) searchPath() []string {
	if len(b.viewPaths) == 0 {
		return nil
	}
	return b.viewPaths[len(b.viewPaths)-1]
}

func (b *binder) refuseHistory(w When, what string) {
	if w.Spec.History() {
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "the history of the rows of %s is not supported", what).
			WithHint("Ask for the history of a table.").At(w.Pos))
	}
}

// view binds a view's query in a scope of its own: it sees nothing of the query around it.
func (b *binder) view(rel *Relation, pos int) plan.Node {
	b.refuseHistory(b.pin, "a view")
	name := rel.Schema + "." + rel.Name
	limit := b.env.MaxViewDepth
	if limit == 0 {
		limit = 64
	}
	for _, v := range b.viewStack {
		if v == name {
			b.fail(sqlerr.InvalidRecursion, pos, "infinite recursion detected in view \"%s\"", rel.Name)
		}
	}
	if len(b.viewStack) >= limit {
		b.fail(sqlerr.StatementTooComplex, pos, "views are nested too deeply (limit %d)", limit)
	}
	if b.env.Parse == nil {
		b.fail(sqlerr.FeatureNotSupported, pos, "views cannot be read here")
	}
	parse, dialect := b.env.Parse, b.d
	if b.env.ViewDialect != nil {
		parse, dialect = b.env.ViewDialect(rel.View.Dialect)
	}
	parsed, err := parse(rel.View.SQL)
	if err == nil && len(parsed) != 1 {
		err = sqlerr.New(sqlerr.DataCorrupted, "the text of view \"%s\" is not one query", rel.Name)
	}
	var q *ast.Query
	if err == nil {
		s, ok := parsed[0].Stmt.(*ast.QueryStmt)
		if !ok {
			err = sqlerr.New(sqlerr.DataCorrupted, "the text of view \"%s\" is not a query", rel.Name)
		} else if parsed[0].NumParams > 0 {
			err = sqlerr.New(sqlerr.UndefinedParameter, "the text of view \"%s\" has parameters", rel.Name)
		} else {
			q = s.Query
		}
	}
	if err != nil {
		if e, ok := sqlerr.As(err); ok {
			f := *e
			f.Pos = -1
			b.failWith(f.WithDetail("In the text of view \"%s\".", rel.Name).At(pos))
		}
		b.failWith(err)
	}

	b.viewStack = append(b.viewStack, name)
	b.viewPaths = append(b.viewPaths, rel.View.SearchPath)
	b.viewUses = append(b.viewUses, b.useOf[rel])
	b.inView++
	outer := b.d
	b.d = dialect
	n, outs := b.subplan(q, nil)
	b.d = outer
	b.inView--
	b.viewPaths = b.viewPaths[:len(b.viewPaths)-1]
	b.viewUses = b.viewUses[:len(b.viewUses)-1]
	b.viewStack = b.viewStack[:len(b.viewStack)-1]

	if len(rel.View.Columns) > 0 && len(rel.View.Columns) != len(outs) {
		b.fail(sqlerr.InvalidTableDefinition, pos, "view \"%s\" has %d columns but its query now has %d", rel.Name, len(rel.View.Columns), len(outs))
	}
	p := &plan.Project{Input: n}
	for i, c := range n.Columns() {
		name := outs[i].name
		if i < len(rel.View.Columns) {
			name = rel.View.Columns[i]
		}
		out := b.newColumn(name, c.Type)
		out.TableOID, out.Attnum = rel.OID, rel.attnum(i)
		p.Exprs = append(p.Exprs, plan.Named{Col: out, Expr: plan.ColOf(c)})
	}
	b.noteColumns(rel, p.Columns())
	return p
}

// ---- subqueries ----

func (b *binder) subqueryTable(t *ast.SubqueryTable, lv *level) (plan.Node, *item) {
	w := b.when(t.AsOf, lv)
	b.refuseHistory(w, "a subquery")
	old := lv.lateralActive
	lv.lateralActive = t.Lateral
	var n plan.Node
	var outs []output
	b.pinned(w, func() { n, outs = b.subplan(t.Query, lv) })
	lv.lateralActive = old
	// The outputs get IDs of their own only where a name changes; the rest is a view on them.
	cols := n.Columns()
	for i := range outs {
		outs[i].typ = cols[i].Type
	}
	it := b.addLeaf(lv, n, "", t.Alias, t.Pos)
	it.table = ""
	for i := range it.cols {
		if i >= len(t.Alias.Columns) {
			it.cols[i].name = outs[i].name
			it.cols[i].col.Name = outs[i].name
		}
	}
	return n, it
}

// ---- functions in FROM ----

func (b *binder) funcTable(t *ast.FuncTable, lv *level) (plan.Node, *item) {
	if rel := b.pathTable(t, lv); rel != nil {
		n := b.relationNode(rel, t.Alias.Name, t.Pos)
		it := b.addLeaf(lv, n, rel.Name, t.Alias, t.Pos)
		it.rel = rel
		if t.Alias.Name == "" {
			it.table = ""
		}
		return n, it
	}
	fs := &plan.FuncScan{Ordinality: t.Ordinality}
	old, oldKind := lv.lateralActive, lv.kind
	// Functions in FROM may always refer to what stands to their left.
	lv.lateralActive, lv.kind = true, inFromFunction
	name := t.Calls[0].Name.Parts[len(t.Calls[0].Name.Parts)-1]
	single := -1 // the one scalar function's column
	for _, c := range spreadUnnest(t.Calls) {
		call := b.tableFunction(lv, c)
		fname := c.Name.Parts[len(c.Name.Parts)-1]
		defs := t.CallDefs[c]
		if len(t.Calls) == 1 && len(defs) == 0 {
			defs = t.Alias.ColDefs
		}
		fields := b.functionFields(call, fname, defs, t, leftmostCall(c))
		if len(t.Calls) == 1 && len(fields) == 1 && call.Typ.Kind != types.Struct {
			single = len(fs.Cols)
			if t.Alias.Name != "" {
				fields[0].Name = t.Alias.Name
			}
		}
		fs.Calls = append(fs.Calls, call)
		for _, f := range fields {
			fs.Cols = append(fs.Cols, b.newColumn(f.Name, f.Type))
		}
	}
	lv.lateralActive, lv.kind = old, oldKind
	if t.Ordinality {
		c := b.newColumn("ordinality", types.T(types.Int8))
		c.NotNull = true
		fs.Cols = append(fs.Cols, c)
	}
	al := t.Alias
	if al.Name == "" {
		al.Name = name
	}
	it := b.addLeaf(lv, fs, name, al, t.Pos)
	it.table = ""
	it.scalar = single >= 0 && !t.Ordinality
	return fs, it
}

// spreadUnnest makes ROWS FROM of unnest with several arrays.
func spreadUnnest(calls []*ast.Call) []*ast.Call {
	if len(calls) != 1 || len(calls[0].Args) < 2 || calls[0].Name.Parts[len(calls[0].Name.Parts)-1] != "unnest" {
		return calls
	}
	var out []*ast.Call
	for _, a := range calls[0].Args {
		c := *calls[0]
		c.Args = []ast.Arg{a}
		out = append(out, &c)
	}
	return out
}

// tableFunction binds a call that makes rows. What the binder turned into something else than
// a call (current_date, a cast) is passed through a one-element unnest.
func (b *binder) tableFunction(lv *level, c *ast.Call) *plan.Call {
	var x plan.Expr
	b.fromCall = c
	x = b.expr(lv, c)
	b.fromCall = nil
	if call, ok := x.(*plan.Call); ok {
		if call.Func.Kind != plan.SetFunc && call.Typ.Kind == types.Unknown {
			b.fail(sqlerr.InvalidRecursion, c.Pos, "function in FROM has no type")
		}
		return call
	}
	arr := &plan.ArrayExpr{Elems: []plan.Expr{x}, Typ: types.ArrayOf(x.Type())}
	return b.call("unnest", []plan.Expr{arr}, c.Pos).(*plan.Call)
}

func (b *binder) functionFields(call *plan.Call, name string, defs []ast.ColDef, t *ast.FuncTable, pos int) []types.Field {
	record := call.Typ.Kind == types.Struct && len(call.Typ.Fields()) == 0
	if len(defs) > 0 && call.Typ.IsRecord() && call.Typ.Same(exprType(call.Args)) {
		return b.definedFields(call, defs, pos)
	}
	if len(defs) > 0 && !record {
		b.fail(sqlerr.SyntaxError, pos, "a column definition list is only allowed for functions returning \"record\"")
	}
	if record {
		if len(defs) == 0 {
			b.fail(sqlerr.SyntaxError, pos, "a column definition list is required for functions returning \"record\"")
		}
		var fields []types.Field
		for _, d := range defs {
			fields = append(fields, types.Field{Name: d.Name, Type: b.typeOf(&d.Type)})
		}
		call.Typ = types.RecordOf(fields...)
		return fields
	}
	if call.Typ.Kind == types.Struct {
		return append([]types.Field(nil), call.Typ.Fields()...)
	}
	return []types.Field{{Name: name, Type: call.Typ}}
}

// exprType is the type of the first argument, which some functions give back.
func exprType(args []plan.Expr) types.Type {
	if len(args) == 0 {
		return types.Type{}
	}
	return args[0].Type()
}

// definedFields names the members of a row that the function was given as an example
// (json_populate_record(row(…), …) AS t(a int)), whose types must be the example's.
func (b *binder) definedFields(call *plan.Call, defs []ast.ColDef, pos int) []types.Field {
	was := call.Typ.Fields()
	fields := make([]types.Field, len(defs))
	for i, d := range defs {
		fields[i] = types.Field{Name: d.Name, Type: b.typeOf(&d.Type)}
	}
	for i := range fields {
		if len(fields) != len(was) || !fields[i].Type.Same(was[i].Type) {
			b.fail(sqlerr.DatatypeMismatch, pos, "function return row and query-specified return row do not match")
		}
	}
	return fields
}

// pathTable resolves iceberg('path') in FROM.
func (b *binder) pathTable(t *ast.FuncTable, lv *level) *Relation {
	c := t.Calls[0]
	if len(t.Calls) != 1 || len(c.Name.Parts) != 1 || c.Name.Parts[0] != "iceberg" || len(c.Args) == 0 {
		return nil
	}
	path := b.constant(lv, c.Args[0].Expr, types.T(types.Text), inConstant)
	if path.Pending {
		b.fail(sqlerr.FeatureNotSupported, leftmost(c.Args[0].Expr), "the path of iceberg() must be a constant")
	}
	w := b.when(t.AsOf, lv)
	for _, a := range c.Args[1:] {
		if w.Set {
			b.fail(sqlerr.SyntaxError, leftmost(a.Expr), "a table cannot have two time-travel clauses")
			break
		}
		w = b.pathWhen(lv, a, w)
	}
	rel, err := b.env.Catalog.FromPath(b.ctx, path.Value.Str(), w, len(b.viewStack))
	b.checkRelation(err, path.Value.Str(), c.Pos)
	b.use(rel, false)
	return rel
}

// ---- joins ----

func (b *binder) joinTable(t *ast.JoinTable, lv *level) (plan.Node, []*item) {
	kinds := map[string]plan.JoinKind{"inner": plan.InnerJoin, "cross": plan.InnerJoin,
		"left": plan.LeftJoin, "right": plan.RightJoin, "full": plan.FullJoin}
	k := kinds[t.Kind]
	start := len(lv.items)
	before := lv.items

	l, lItems := b.tableExpr(t.Left, lv)
	// The right side may refer to the left laterally, if the join's kind lets it.
	mark := len(b.refs)
	lv.items = append(lv.items[:start:start], lItems...)
	for _, it := range lItems {
		it.lateral = true
		it.badLateral = k == plan.RightJoin || k == plan.FullJoin
	}
	r, rItems := b.tableExpr(t.Right, lv)
	for _, it := range lItems {
		it.lateral, it.badLateral = false, false
	}
	b.checkDuplicates(lItems, rItems)

	j := &joinState{b: b, lv: lv, kind: k, l: l, r: r}
	using := t.Using
	if t.Natural {
		using = b.naturalColumns(lItems, rItems)
	}
	for _, name := range using {
		j.addUsing(name, lItems, rItems, t.Pos)
	}
	on := plan.AndOf(j.conds...)
	if len(j.conds) == 0 {
		on = nil
	}
	if t.On != nil {
		// ON sees the two sides and nothing else of this FROM.
		lv.items = append(append([]*item(nil), lItems...), rItems...)
		lv.in(inJoinOn, func() { on = b.condition(lv, t.On, "JOIN/ON") })
	}
	lv.items = before
	n := b.join(k, l, r, on, mark)
	if k == plan.LeftJoin || k == plan.FullJoin {
		setNullable(rItems)
	}
	if k == plan.RightJoin || k == plan.FullJoin {
		setNullable(lItems)
	}
	if b.d.UsingInOrder {
		return j.finishInOrder(n, t, lItems, rItems)
	}
	return j.finish(n, t, lItems, rItems)
}

// finishInOrder is finish in MySQL's order: first the table that keeps all its rows, the right one of
// a RIGHT JOIN. The merged columns are in its order, then come its others, then the other table's.
func (j *joinState) finishInOrder(n plan.Node, t *ast.JoinTable, l, r []*item) (plan.Node, []*item) {
	if len(j.merged) == 0 {
		return j.finish(n, t, l, r)
	}
	first, second := l, r
	of := func(m mergedCol) plan.ColID { return m.l.ID }
	if j.kind == plan.RightJoin {
		first, second = r, l
		of = func(m mergedCol) plan.ColID { return m.r.ID }
	}
	place := map[plan.ColID]int{}
	for _, it := range first {
		for _, c := range it.cols {
			place[c.col.ID] = len(place)
		}
	}
	slices.SortStableFunc(j.merged, func(a, c mergedCol) int { return place[of(a)] - place[of(c)] })
	return j.finish(n, t, first, second)
}

func setNullable(items []*item) {
	for _, it := range items {
		it.nullable = true
	}
}

// naturalColumns are the names that both sides have, in the left's order.
func (b *binder) naturalColumns(l, r []*item) []string {
	var out []string
	for _, it := range l {
		if !it.colSeen {
			continue
		}
		for _, c := range it.cols {
			if c.system {
				continue
			}
			for _, o := range r {
				if o.colSeen {
					if _, n := o.column(b.d, c.name); n > 0 {
						out = append(out, c.name)
						break
					}
				}
			}
		}
	}
	return out
}

// joinState gathers the merged columns of USING and NATURAL.
type joinState struct {
	b      *binder
	lv     *level
	kind   plan.JoinKind
	l, r   plan.Node
	conds  []plan.Expr
	merged []mergedCol
}

type mergedCol struct {
	name string
	l, r plan.Column
	expr plan.Expr // of the merged column; a *plan.Col where one side serves
}

func (j *joinState) addUsing(name string, l, r []*item, pos int) {
	b := j.b
	for _, m := range j.merged {
		if b.d.SameName(m.name, name) {
			b.fail(sqlerr.DuplicateColumn, pos, "column name \"%s\" appears more than once in USING clause", name)
		}
	}
	lc := b.usingColumn(name, l, "left", pos)
	rc := b.usingColumn(name, r, "right", pos)
	t, err := b.d.CommonType("JOIN/USING", []types.Type{lc.Type, rc.Type})
	b.check(err, pos)
	le, re := b.col(lc, pos), b.col(rc, pos)
	j.conds = append(j.conds, b.operator("=", le, re, pos))
	m := mergedCol{name: name, l: lc, r: rc}
	cast := func(e plan.Expr) plan.Expr { return b.coerce(e, t, plan.Implicit) }
	switch {
	case j.kind == plan.FullJoin:
		m.expr = &plan.Coalesce{Args: []plan.Expr{cast(le), cast(re)}, Typ: t}
	case j.kind == plan.RightJoin:
		m.expr = cast(re)
	default:
		m.expr = cast(le)
		// Of an inner join's two equal columns take the one that needs no cast.
		if j.kind == plan.InnerJoin && m.expr != plan.Expr(le) && rc.Type.Equal(t) {
			m.expr = re
		}
	}
	j.merged = append(j.merged, m)
}

func (b *binder) usingColumn(name string, items []*item, side string, pos int) plan.Column {
	var found plan.Column
	n := 0
	for _, it := range items {
		if it.colSeen {
			if c, k := it.column(b.d, name); k > 0 {
				found, n = c.col, n+k
			}
		}
	}
	switch {
	case n == 0:
		b.fail(sqlerr.UndefinedColumn, pos, "column \"%s\" specified in USING clause does not exist in %s table", name, side)
	case n > 1:
		b.fail(sqlerr.AmbiguousColumn, pos, "common column name \"%s\" appears more than once in %s table", name, side)
	}
	return found
}

// finish makes the join's own item. It holds the columns; the sides keep their names for
// qualified references, unless the join has an alias, which hides them.
func (j *joinState) finish(n plan.Node, t *ast.JoinTable, l, r []*item) (plan.Node, []*item) {
	b := j.b
	all := &item{node: nil, colSeen: true, pos: t.Pos}
	used := plan.ColSet{}
	var computed []plan.Named
	usingItem := &item{name: t.UsingAlias, relSeen: true, pos: t.Pos}
	for _, m := range j.merged {
		used.Add(m.l.ID)
		used.Add(m.r.ID)
		var col plan.Column
		if c, ok := m.expr.(*plan.Col); ok {
			col = b.cols[c.ID].Column
		} else {
			// Computed once, as a column, so that grouping by it works like by any other.
			col = b.newColumn(m.name, m.expr.Type())
			b.own(col, "", j.lv, fromInput)
			computed = append(computed, plan.Named{Col: col, Expr: m.expr})
		}
		all.cols = append(all.cols, itemCol{name: m.name, col: col})
	}
	usingItem.cols = append(usingItem.cols, all.cols...)
	if len(computed) > 0 {
		n = &plan.Project{Input: n, Exprs: append(passing(n.Columns()), computed...)}
	}
	for _, side := range [][]*item{l, r} {
		for _, it := range side {
			if !it.colSeen {
				continue
			}
			for _, c := range it.cols {
				if !used.Has(c.col.ID) {
					all.cols = append(all.cols, c)
				}
			}
		}
	}
	if t.Alias.Name != "" {
		all.name, all.relSeen = t.Alias.Name, true
		if len(t.Alias.Columns) > len(all.cols) {
			b.fail(sqlerr.InvalidColumnReference, t.Pos, "table \"%s\" has %d columns available but %d columns specified",
				all.name, len(all.cols), len(t.Alias.Columns))
		}
		for i, name := range t.Alias.Columns {
			all.cols[i].name = name
		}
		return n, []*item{all}
	}
	var items []*item
	for _, side := range [][]*item{l, r} {
		for _, it := range side {
			it.colSeen = false
			if it.relSeen {
				items = append(items, it)
			}
		}
	}
	if t.UsingAlias != "" {
		b.checkDuplicates(items, []*item{usingItem})
		items = append(items, usingItem)
	}
	return n, append(items, all)
}
