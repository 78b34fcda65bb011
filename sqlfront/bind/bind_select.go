package bind

import (
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// target is one column of a select list, or one that ORDER BY or DISTINCT ON added (junk).
type target struct {
	expr plan.Expr
	name string
	pos  int
	junk bool
}

// sortItem is an ORDER BY entry: which target, and how.
type sortItem struct {
	target int
	ast    ast.Order
}

// selectState is a SELECT that is bound and not built.
type selectState struct {
	junk int // targets that are no outputs
	b    *binder
	lv   *level
	ast  *ast.Select

	from       plan.Node
	targets    []target
	where      plan.Expr
	having     plan.Expr
	groups     []plan.Expr // distinct grouping expressions
	groupNames []string
	// groupOf is the group that a target is, by its index. With grouping sets two targets of one
	// expression are two groups: SELECT a x, a y … GROUP BY x, ROLLUP (y).
	groupOf    map[int]int
	sets       [][]int
	grouped    bool // GROUP BY or HAVING present, or an aggregate found
	order      []sortItem
	distinctOn []int // targets
	limit      *limitState

	aggs      []*plan.Agg
	groupings []*groupingCall
	windows   []*windowUse
	setCalls  []*setCall
	aggPos    int      // where the first aggregate stands
	casts     []castTo // types asked for after DISTINCT or sorting fixed the outputs' own
}

// selectQuery binds a SELECT in PostgreSQL's order (transformSelectStmt).
func (b *binder) selectQuery(q *ast.Query, sel *ast.Select, lv *level) query {
	s := &selectState{b: b, lv: lv, ast: sel}
	lv.sel = s
	if sel.Into {
		b.fail(sqlerr.SyntaxError, sel.Pos, "SELECT ... INTO is not allowed here")
	}
	b.nameWindows(lv, sel)
	s.from = b.from(sel.From, lv)

	lv.kind = inSelect
	for i := range sel.Items {
		s.targets = append(s.targets, b.item(lv, &sel.Items[i])...)
	}
	if b.d.Output != nil {
		for i := range s.targets {
			s.targets[i].expr = b.d.Output(b, s.targets[i].expr)
		}
	}
	if sel.Where != nil {
		lv.kind = inWhere
		s.where = b.condition(lv, sel.Where, "WHERE")
	}
	if sel.Having != nil {
		lv.kind = inHaving
		s.having = b.condition(lv, sel.Having, "HAVING")
		s.grouped = !b.d.HavingFilters
	}
	lv.kind = inOrderBy
	for _, o := range q.OrderBy {
		s.orderBy(o)
	}
	lv.kind = inGroupBy
	s.groupBy(sel)
	lv.kind = inDistinctOn
	s.distinct(sel)
	lv.kind = inLimit
	s.limit = b.limit(q, lv)
	b.unusedWindows(lv)
	lv.kind = inNothing
	return s
}

// item binds one entry of a select list, which * and (row).* make several of.
func (b *binder) item(lv *level, it *ast.Item) []target {
	switch e := it.Expr.(type) {
	case *ast.Star:
		return b.star(lv, e)
	case *ast.Field:
		if e.Star {
			return b.expand(b.expr(lv, e.X), e.Pos)
		}
	}
	x := b.expr(lv, it.Expr)
	name := it.Alias
	if name == "" {
		name = columnName(it.Expr)
	}
	return []target{{expr: x, name: name, pos: b.posOf(x)}}
}

// ---- outputs ----

func (s *selectState) outputs() []output {
	var out []output
	for _, t := range s.targets {
		if t.junk {
			continue
		}
		o := output{name: t.name, typ: t.expr.Type(), pos: t.pos}
		if c, ok := t.expr.(*plan.Col); ok {
			i := s.b.cols[c.ID]
			o.tableOID, o.attnum = i.TableOID, i.Attnum
		}
		out = append(out, o)
	}
	for _, c := range s.casts {
		out[c.i].typ = c.t
	}
	return out
}

// visible gives the index of the i-th output among the targets.
func (s *selectState) visible(i int) int {
	for t := range s.targets {
		if !s.targets[t].junk {
			if i == 0 {
				return t
			}
			i--
		}
	}
	return -1
}

func (s *selectState) coerce(i int, t types.Type, ctx plan.CastContext) {
	x := &s.targets[s.visible(i)]
	from := x.expr.Type()
	if from.Equal(t) {
		return
	}
	// DISTINCT and ORDER BY work on the type that the query itself gives. An untyped literal
	// has none, so it simply becomes one of the wanted type.
	fixed := s.ast.Distinct || len(s.ast.DistinctOn) > 0 || len(s.order) > 0
	if fixed && from.Kind != types.Unknown {
		s.casts = append(s.casts, castTo{i, t, ctx})
		return
	}
	x.expr = s.b.coerce(x.expr, t, ctx)
}

// ---- ORDER BY, GROUP BY, DISTINCT ON: finding the target that is meant ----

// ordinal reads an integer literal as a position in a list of n outputs.
func (b *binder) ordinal(e ast.Expr, clause string, n int) (int, bool) {
	l, ok := e.(*ast.Lit)
	if !ok {
		return 0, false
	}
	if l.Kind != 'i' && b.d.ConstantOrder {
		return 0, false
	}
	if l.Kind != 'i' {
		b.fail(sqlerr.SyntaxError, l.Pos, "non-integer constant in %s", clause)
	}
	i, err := strconv.Atoi(l.Text)
	if err != nil || i < 1 || i > n {
		b.fail(sqlerr.InvalidColumnReference, l.Pos, "%s position %s is not in select list", clause, l.Text)
	}
	return i - 1, true
}

// find finds the target that an entry of ORDER BY, GROUP BY or DISTINCT ON means, adding a junk
// one if it is none of the select list (findTargetlistEntrySQL92).
func (s *selectState) find(e ast.Expr, clause string) int {
	b := s.b
	if id, ok := e.(*ast.Ident); ok && len(id.Parts) == 1 {
		name := id.Parts[0]
		// In GROUP BY a column of FROM comes before an output's name (SQL92 against SQL99), in
		// MySQL as in PostgreSQL.
		if clause == "GROUP BY" && s.fromHas(name) {
			name = ""
		}
		found := -1
		for i, t := range s.targets {
			if name == "" || t.junk || !b.d.SameName(t.name, name) {
				continue
			}
			if found >= 0 && !plan.EqualExpr(s.targets[found].expr, t.expr) {
				b.fail(sqlerr.AmbiguousColumn, id.Pos, "%s \"%s\" is ambiguous", clause, name)
			}
			if found < 0 {
				found = i
			}
		}
		if found >= 0 {
			return found
		}
	}
	n := 0
	for _, t := range s.targets {
		if !t.junk {
			n++
		}
	}
	if i, ok := b.ordinal(e, clause, n); ok {
		return s.visible(i)
	}
	return s.findOrAdd(b.expr(s.lv, e))
}

// maxTargets bounds the columns that a query sorts and groups by beside its outputs (PostgreSQL
// bounds all of them; a table here may have more).
const maxTargets = 1664

// findOrAdd finds a target equal to x, or adds x as junk.
func (s *selectState) findOrAdd(x plan.Expr) int {
	for i, t := range s.targets {
		if plan.EqualExpr(t.expr, x) {
			return i
		}
	}
	if s.junk++; s.junk == maxTargets+1 {
		s.b.fail(sqlerr.TooManyColumns, s.b.posOf(x), "target lists can have at most %d entries", maxTargets)
	}
	name := "?column?"
	if c, ok := x.(*plan.Col); ok {
		name = c.Name
	}
	s.targets = append(s.targets, target{expr: x, name: name, pos: s.b.posOf(x), junk: true})
	return len(s.targets) - 1
}

func (s *selectState) fromHas(name string) bool {
	for _, it := range s.lv.items {
		if it.colSeen {
			if _, n := it.column(s.b.d, name); n > 0 {
				return true
			}
		}
	}
	return false
}

// text makes an untyped literal that is sorted or grouped by a text.
func (s *selectState) text(i int) {
	t := &s.targets[i]
	if t.expr.Type().Kind == types.Unknown {
		t.expr = s.b.coerce(t.expr, types.T(types.Text), plan.Implicit)
	}
}

func (s *selectState) orderBy(o ast.Order) {
	i := s.find(o.Expr, "ORDER BY")
	s.text(i)
	for _, k := range s.order {
		if k.target == i {
			return // a second sort by the same column changes nothing
		}
	}
	if o.Using == "" {
		s.b.needOrdering(s.targets[i].expr.Type(), leftmost(o.Expr))
	}
	s.order = append(s.order, sortItem{i, o})
}

// sortKey gives an ORDER BY entry its direction.
func (b *binder) sortKey(x plan.Expr, o ast.Order) plan.SortKey {
	k := plan.SortKey{Expr: b.key(x), Desc: o.Desc}
	switch o.Using {
	case "":
	case "<":
	case ">":
		k.Desc = true
	default:
		b.failWith(sqlerr.New(sqlerr.WrongObjectType, "operator %s is not a valid ordering operator", o.Using).
			WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.").At(o.Pos))
	}
	k.NullsFirst = b.d.NullsFirst(k.Desc)
	if o.NullsFirst != nil {
		k.NullsFirst = *o.NullsFirst
	}
	return k
}

func (s *selectState) distinct(sel *ast.Select) {
	b := s.b
	if len(sel.DistinctOn) > 0 {
		at := map[int]int{}
		for _, e := range sel.DistinctOn {
			i := s.find(e, "DISTINCT ON")
			at[i] = leftmost(e)
			s.text(i)
			b.needEquality(s.targets[i].expr.Type(), s.targets[i].pos)
			if !containsInt(s.distinctOn, i) {
				s.distinctOn = append(s.distinctOn, i)
			}
		}
		// The first rows by ORDER BY can only be told if it begins with these expressions, in
		// any order.
		for n, k := range s.order {
			if n >= len(s.distinctOn) {
				break
			}
			if !containsInt(s.distinctOn, k.target) {
				b.fail(sqlerr.InvalidColumnReference, at[s.missingDistinct()],
					"SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
			}
		}
		return
	}
	if !sel.Distinct {
		return
	}
	for _, k := range s.order {
		if t := s.targets[k.target]; t.junk {
			b.fail(sqlerr.InvalidColumnReference, t.pos, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
		}
	}
	for i := range s.targets {
		s.text(i)
		b.needEquality(s.targets[i].expr.Type(), s.targets[i].pos)
	}
}

// missingDistinct is the first DISTINCT ON expression that ORDER BY does not begin with.
func (s *selectState) missingDistinct() int {
	for _, d := range s.distinctOn {
		found := false
		for n, k := range s.order {
			found = found || n < len(s.distinctOn) && k.target == d
		}
		if !found {
			return d
		}
	}
	return s.distinctOn[0]
}

func containsInt(list []int, x int) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// needEquality and needOrdering refuse types whose values cannot be told apart or sorted.
func (b *binder) needEquality(t types.Type, pos int) {
	if u, ok := incomparable(t, false); ok {
		b.fail(sqlerr.UndefinedFunction, pos, "could not identify an equality operator for type %s", typeName(u))
	}
}

func (b *binder) needOrdering(t types.Type, pos int) {
	if u, ok := incomparable(t, true); ok {
		b.failWith(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", typeName(u)).
			WithHint("Use an explicit ordering operator or modify the query.").At(pos))
	}
}

func incomparable(t types.Type, ordering bool) (types.Type, bool) {
	switch t.Kind {
	case types.JSON:
		return t, true
	case types.Xid:
		return t, ordering
	case types.Array:
		_, bad := incomparable(t.Elem(), ordering)
		return t, bad
	case types.Map:
		return t, ordering
	}
	return t, false
}
