package bind

import (
	"sort"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// groupingCall is GROUPING(…): a placeholder column until the grouping sets are known.
type groupingCall struct {
	id   plan.ColID
	args []plan.Expr
	pos  int
}

// maxGroupingSets is PostgreSQL's limit.
const maxGroupingSets = 4096

// groupBy binds GROUP BY into s.groups and, with grouping constructs, s.sets: the cross product
// of its items, each a list of sets of grouping expressions.
func (s *selectState) groupBy(sel *ast.Select) {
	if len(sel.GroupBy) == 0 {
		return
	}
	s.grouped = true
	plain := true
	sets := [][]int{{}}
	for _, g := range sel.GroupBy {
		plain = plain && g.Kind == 'e'
	}
	if !plain {
		s.groupOf = map[int]int{}
	}
	for _, g := range sel.GroupBy {
		item := s.groupItem(g)
		if len(sets)*len(item) > maxGroupingSets {
			s.b.fail(sqlerr.StatementTooComplex, g.Pos, "too many grouping sets present (maximum %d)", maxGroupingSets)
		}
		var next [][]int
		for _, a := range sets {
			for _, c := range item {
				next = append(next, unionInts(a, c))
			}
		}
		sets = next
	}
	if plain || len(s.groups) == 0 && len(sets) == 1 {
		return
	}
	if sel.GroupDistinct {
		sets = distinctSets(sets)
	}
	s.sets = sets
}

// groupItem gives the grouping sets that one item of GROUP BY stands for.
func (s *selectState) groupItem(g ast.GroupItem) [][]int {
	switch g.Kind {
	case 'e':
		return [][]int{s.groupExprs(g.Exprs)}
	case '0':
		return [][]int{{}}
	case 's':
		var out [][]int
		for _, sub := range g.Sets {
			out = append(out, s.groupItem(sub)...)
		}
		return out
	}
	var parts [][]int
	for _, sub := range g.Sets {
		parts = append(parts, flat(s.groupItem(sub)))
	}
	for _, e := range g.Exprs {
		parts = append(parts, s.groupExprs([]ast.Expr{e}))
	}
	var out [][]int
	if g.Kind == 'r' { // ROLLUP(a, b): (a, b), (a), ()
		for n := len(parts); n >= 0; n-- {
			out = append(out, flat(parts[:n]))
		}
		return out
	}
	if len(parts) > 12 {
		s.b.fail(sqlerr.TooManyColumns, g.Pos, "CUBE is limited to 12 elements")
	}
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- { // CUBE: all subsets
		var set []int
		for i, p := range parts {
			if mask>>(len(parts)-1-i)&1 == 1 {
				set = unionInts(set, p)
			}
		}
		out = append(out, set)
	}
	return out
}

func flat(sets [][]int) []int {
	var out []int
	for _, s := range sets {
		out = unionInts(out, s)
	}
	return out
}

func unionInts(a, c []int) []int {
	out := append(make([]int, 0, len(a)+len(c)), a...)
	for _, x := range c {
		if !containsInt(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func distinctSets(sets [][]int) [][]int {
	seen := map[string]bool{}
	var out [][]int
	for _, s := range sets {
		t := append([]int(nil), s...)
		sort.Ints(t)
		key := ""
		for _, i := range t {
			key += strconv.Itoa(i) + ","
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// groupExprs binds grouping expressions and gives their indexes in s.groups. (a, b) in
// parentheses is two of them.
func (s *selectState) groupExprs(list []ast.Expr) []int {
	var out []int
	for _, e := range list {
		if r, ok := e.(*ast.Row); ok && !r.Explicit {
			out = unionInts(out, s.groupExprs(r.Elems))
			continue
		}
		n := len(s.targets)
		i := s.find(e, "GROUP BY")
		s.text(i)
		t := s.targets[i]
		s.targets = s.targets[:n] // what is only grouped by is no output
		s.b.needEquality(t.expr.Type(), leftmost(e))
		s.refuseInGroup(t.expr, t.pos)
		out = unionInts(out, []int{s.targetGroup(i, n, t)})
	}
	return out
}

// targetGroup is the group of target i, which the select list has if i < n.
func (s *selectState) targetGroup(i, n int, t target) int {
	if s.groupOf == nil || i >= n {
		return s.addGroup(t.expr, t.name)
	}
	g, ok := s.groupOf[i]
	if !ok {
		g = len(s.groups)
		s.groups = append(s.groups, t.expr)
		s.groupNames = append(s.groupNames, t.name)
		s.groupOf[i] = g
	}
	return g
}

func (s *selectState) addGroup(x plan.Expr, name string) int {
	for i, g := range s.groups {
		if plan.EqualExpr(g, x) {
			return i
		}
	}
	s.groups = append(s.groups, x)
	s.groupNames = append(s.groupNames, name)
	return len(s.groups) - 1
}

// refuseInGroup refuses a target with aggregates that GROUP BY names by alias or position.
func (s *selectState) refuseInGroup(x plan.Expr, pos int) {
	for id := range plan.ExprCols(x) {
		if c := s.b.cols[id]; c.lv == s.lv {
			switch c.made {
			case byAggregate, byGrouping:
				s.b.refuseAggregate(inGroupBy, pos)
			case byWindow:
				s.b.refuseWindow(inGroupBy, pos)
			}
		}
	}
}

// ---- above the Aggregate: only grouped columns exist ----

// regroup rewrites expressions from the FROM clause's columns to the Aggregate's: a part equal
// to a grouping expression becomes its column; a column that is left over is an error (42803).
type regroup struct {
	s   *selectState
	out []plan.Expr // of s.groups
	agg *plan.Aggregate
	// byCol finds grouping expressions that are plain columns.
	byCol map[plan.ColID]int
}

func (r *regroup) expr(e plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	return r.walk(e, r.s.b.posOf(e))
}

func (r *regroup) walk(e plan.Expr, pos int) plan.Expr {
	b := r.s.b
	if p, ok := b.pos[e]; ok && p >= 0 {
		pos = p
	}
	for i, g := range r.s.groups {
		if plan.EqualExpr(g, e) {
			return r.ref(i, pos)
		}
	}
	switch x := e.(type) {
	case *plan.Col:
		return r.check(x, pos, false)
	case *plan.Subquery:
		return r.subquery(x, pos)
	}
	kids := plan.Children(e)
	var out []plan.Expr
	for i, k := range kids {
		y := r.walk(k, pos)
		if y != k && out == nil {
			out = append(make([]plan.Expr, 0, len(kids)), kids...)
		}
		if out != nil {
			out[i] = y
		}
	}
	if out == nil {
		return e
	}
	return b.mark(plan.WithChildren(e, out), pos)
}

func (r *regroup) ref(i, pos int) plan.Expr {
	if c, ok := r.out[i].(*plan.Col); ok {
		d := *c
		return r.s.b.mark(&d, pos)
	}
	return r.out[i]
}

// subquery rewrites a query inside an expression. There, as in PostgreSQL, only grouping
// expressions that are plain columns are recognised.
func (r *regroup) subquery(x *plan.Subquery, pos int) plan.Expr {
	y := *x
	if len(x.Test) > 0 {
		y.Test = make([]plan.Expr, len(x.Test))
		for i, t := range x.Test {
			y.Test[i] = r.walk(t, pos)
		}
	}
	if plan.Free(x.Plan).Intersects(r.own()) {
		y.Plan = plan.Rewrite(x.Plan, nil, func(e plan.Expr) plan.Expr {
			c, ok := e.(*plan.Col)
			if !ok {
				return e
			}
			if i, ok := r.byCol[c.ID]; ok {
				return r.ref(i, r.s.b.posOf(c))
			}
			return r.check(c, r.s.b.posOf(c), true)
		})
	}
	return r.s.b.mark(&y, pos)
}

// own are the columns of FROM, of this level.
func (r *regroup) own() plan.ColSet {
	set := plan.ColSet{}
	for id, c := range r.s.b.cols {
		if c.lv == r.s.lv && c.made == fromInput {
			set.Add(id)
		}
	}
	return set
}

// check refuses a column of FROM that is not grouped.
func (r *regroup) check(c *plan.Col, pos int, inSubquery bool) plan.Expr {
	i := r.s.b.cols[c.ID]
	if i.lv != r.s.lv || i.made != fromInput && i.made != bySet {
		return c
	}
	if i.made == bySet {
		return c // computed above; its arguments are checked there
	}
	if loose := r.s.b.d.LooseGroups; loose != nil && loose(r.s.b) {
		return r.anyValue(c)
	}
	name := i.Name
	if i.rel != "" {
		name = i.rel + "." + name
	}
	if inSubquery {
		r.s.b.fail(sqlerr.GroupingError, pos, "subquery uses ungrouped column \"%s\" from outer query", name)
	}
	r.s.b.fail(sqlerr.GroupingError, pos, "column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", name)
	return nil
}

// groupKeyColumns adds, for each relation whose whole key is grouped, its other columns: they
// have one value a group (PostgreSQL's functional dependency on a primary key).
func (s *selectState) groupKeyColumns() {
	if len(s.groups) == 0 || s.sets != nil {
		return
	}
	for _, it := range s.lv.items {
		if it.rel == nil || len(it.rel.Key) == 0 {
			continue
		}
		all := true
		for _, k := range it.rel.Key {
			all = all && k < len(it.cols) && s.isGrouped(it.cols[k].col.ID)
		}
		if !all {
			continue
		}
		for _, c := range it.cols {
			s.addGroup(plan.ColOf(c.col), c.name)
		}
	}
}

func (s *selectState) isGrouped(id plan.ColID) bool {
	for _, g := range s.groups {
		if c, ok := g.(*plan.Col); ok && c.ID == id {
			return true
		}
	}
	return false
}

// groupingValue is GROUPING(args): bit by bit, from the Aggregate's GroupingSet column, whose
// bit i is set where group i is not part of the row's set. GROUPING's first argument is its
// highest bit.
func (s *selectState) groupingValue(g *groupingCall, set plan.Column) plan.Expr {
	b := s.b
	int4 := func(i int64) plan.Expr { return &plan.Const{Value: types.NewInt(i), Typ: types.T(types.Int4)} }
	var sum plan.Expr = int4(0)
	for n, a := range g.args {
		i := -1
		for j, x := range s.groups {
			if i < 0 && plan.EqualExpr(x, a) {
				i = j
			}
		}
		if i < 0 {
			b.fail(sqlerr.GroupingError, b.posOf(a), "arguments to GROUPING must be grouping expressions of the associated query level")
		}
		if set.ID == 0 {
			continue
		}
		// CASE WHEN set & (1 << i) <> 0 THEN 1 << k ELSE 0 END
		bit := b.operator("&", plan.ColOf(set), &plan.Const{Value: types.NewInt(1 << i), Typ: types.T(types.Int8)}, g.pos)
		test := b.operator("<>", bit, &plan.Const{Value: types.NewInt(0), Typ: types.T(types.Int8)}, g.pos)
		term := &plan.Case{Whens: []plan.When{{Cond: test, Then: int4(1 << (len(g.args) - 1 - n))}}, Else: int4(0), Typ: types.T(types.Int4)}
		if n == 0 {
			sum = term
		} else {
			sum = b.operator("+", sum, term, g.pos)
		}
	}
	return sum
}
