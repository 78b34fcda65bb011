package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// setCall is a function that returns a set, in a select list; out stands in its place.
type setCall struct {
	call  *plan.Call
	out   plan.Column
	stage int // 1 + the highest stage of a set function among the arguments
}

// build makes the nodes of a SELECT from the bottom up; the package comment shows the order.
func (s *selectState) build() plan.Node {
	b := s.b
	n := b.withExtras(s.lv, s.from)
	if n == nil {
		n = &plan.Values{Rows: [][]plan.Expr{{}}}
	}
	if s.where != nil {
		n = &plan.Filter{Input: n, Pred: s.where}
	}
	grouped := s.grouped || len(s.aggs) > 0 || len(s.groupings) > 0
	below := s.setsInGroups()
	n = s.projectSets(n, func(c *setCall) bool { return below[c] })
	if grouped {
		n = s.aggregate(n)
	} else if s.having != nil {
		n = &plan.Filter{Input: n, Pred: s.having}
	}
	for i := range s.windows {
		if s.windows[i].first {
			n = s.windowNode(n, s.windows[i])
		}
	}
	above := func(c *setCall) bool { return !below[c] }
	late := s.setsAfterDistinct(above)
	if late {
		n = s.distinctFirst(n)
	}
	n = s.projectSets(n, above)

	p := &plan.Project{Input: n}
	cols := make([]plan.Column, len(s.targets))
	junk := false
	for i, t := range s.targets {
		c := b.newColumn(t.name, t.expr.Type())
		if x, ok := t.expr.(*plan.Col); ok {
			in := b.cols[x.ID]
			c.TableOID, c.Attnum = in.TableOID, in.Attnum
		}
		b.carry(c, t.expr)
		cols[i] = c
		junk = junk || t.junk
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: t.expr})
	}
	n = p
	var keys []plan.SortKey
	for _, o := range s.order {
		keys = append(keys, b.sortKey(plan.ColOf(cols[o.target]), o.ast))
	}
	switch {
	case late:
	case len(s.distinctOn) > 0:
		if len(keys) > 0 {
			n = &plan.Sort{Input: n, Keys: keys}
		}
		d := &plan.Distinct{Input: n}
		for _, i := range s.distinctOn {
			d.On = append(d.On, plan.ColOf(cols[i]))
		}
		n = d
	case s.ast.Distinct:
		n = b.distinctRows(n, cols)
	}
	if len(keys) > 0 && !late {
		// After DISTINCT ON once more: Distinct says which row stays, not in what order.
		n = &plan.Sort{Input: n, Keys: keys}
	}
	n = s.limit.build(n, keys)
	if junk {
		out := &plan.Project{Input: n}
		for i, t := range s.targets {
			if !t.junk {
				out.Exprs = append(out.Exprs, plan.Named{Col: cols[i], Expr: plan.ColOf(cols[i])})
			}
		}
		n = out
	}
	return b.castOutputs(n, s.casts)
}

// setsAfterDistinct tells whether the set functions of the select list run behind DISTINCT ON and
// its ORDER BY, as PostgreSQL has it where neither reads one: each row that stays makes all rows of
// its sets.
func (s *selectState) setsAfterDistinct(which func(*setCall) bool) bool {
	if len(s.distinctOn) == 0 || len(s.order) == 0 {
		return false
	}
	sets := plan.ColSet{}
	for _, c := range s.setCalls {
		if which(c) {
			sets.Add(c.out.ID)
		}
	}
	for _, i := range s.distinctOn {
		if plan.ExprCols(s.targets[i].expr).Intersects(sets) {
			return false
		}
	}
	for _, o := range s.order {
		if plan.ExprCols(s.targets[o.target].expr).Intersects(sets) {
			return false
		}
	}
	return len(sets) > 0
}

// distinctFirst sorts n and keeps its distinct rows before the set functions run. The targets that
// it reads become columns.
func (s *selectState) distinctFirst(n plan.Node) plan.Node {
	b := s.b
	p := &plan.Project{Input: n, Exprs: passing(n.Columns())}
	column := func(i int) plan.Expr {
		t := &s.targets[i]
		if _, ok := t.expr.(*plan.Col); !ok {
			c := b.newColumn(t.name, t.expr.Type())
			b.own(c, "", s.lv, byAggregate)
			b.carry(c, t.expr)
			p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: t.expr})
			t.expr = b.mark(plan.ColOf(c), t.pos)
		}
		return t.expr
	}
	var keys []plan.SortKey
	for _, o := range s.order {
		keys = append(keys, b.sortKey(column(o.target), o.ast))
	}
	d := &plan.Distinct{Input: &plan.Sort{Input: p, Keys: keys}}
	for _, i := range s.distinctOn {
		d.On = append(d.On, column(i))
	}
	return &plan.Sort{Input: d, Keys: keys}
}

// aggregate makes the Aggregate and turns everything above it to its columns.
func (s *selectState) aggregate(n plan.Node) plan.Node {
	b := s.b
	if readsWorkTable(s.from) && len(s.aggs) > 0 {
		b.fail(sqlerr.InvalidRecursion, s.aggPos, "aggregate functions are not allowed in a recursive query's recursive term")
	}
	s.groupKeyColumns()
	agg := &plan.Aggregate{Input: n, Sets: s.sets}
	r := &regroup{s: s, byCol: map[plan.ColID]int{}}
	reps := s.groupKeys()
	for i, g := range s.groups {
		name := s.groupNames[i]
		if rep := reps[i]; rep != nil {
			rep.make(s, r, agg, g, name)
			continue
		}
		c := b.newColumn(name, g.Type())
		if x, ok := g.(*plan.Col); ok {
			in := b.cols[x.ID]
			c.TableOID, c.Attnum = in.TableOID, in.Attnum
			r.byCol[x.ID] = i
		}
		b.own(c, "", s.lv, byAggregate)
		b.carry(c, g)
		r.out = append(r.out, plan.ColOf(c))
		agg.Groups = append(agg.Groups, plan.Named{Col: c, Expr: g})
	}
	for _, a := range s.aggs {
		agg.Aggs = append(agg.Aggs, *a)
	}
	r.agg = agg
	values := map[plan.ColID]plan.Expr{}
	if len(s.groupings) > 0 {
		var set plan.Column
		if s.sets != nil {
			if len(s.groups) > 62 {
				b.fail(sqlerr.TooManyColumns, s.groupings[0].pos, "GROUPING over more than 62 grouping expressions is not supported")
			}
			set = b.newColumn("grouping_set", types.T(types.Int8))
			b.own(set, "", s.lv, byAggregate)
			agg.GroupingSet = set
		}
		for _, g := range s.groupings {
			values[g.id] = s.groupingValue(g, set)
		}
	}
	f := func(e plan.Expr) plan.Expr {
		e = r.expr(e)
		if len(values) > 0 && e != nil {
			e = plan.Substitute(e, values)
		}
		return e
	}
	for i := range s.targets {
		if g, ok := s.groupOf[i]; ok {
			s.targets[i].expr = r.ref(g, s.targets[i].pos)
			continue
		}
		s.targets[i].expr = f(s.targets[i].expr)
	}
	s.having = f(s.having)
	for _, w := range s.windows {
		w.mapExprs(f)
	}
	for _, c := range s.setCalls {
		if !s.setsInGroups()[c] {
			d := *c.call
			d.Args = make([]plan.Expr, len(c.call.Args))
			for i, a := range c.call.Args {
				d.Args[i] = f(a)
			}
			c.call = &d
		}
	}
	if s.having != nil {
		return &plan.Filter{Input: agg, Pred: s.having}
	}
	return agg
}

// readsWorkTable tells whether a FROM clause reads the working table of a recursive query.
func readsWorkTable(n plan.Node) bool {
	switch m := n.(type) {
	case nil:
		return false
	case *plan.CTERef:
		return m.Work
	case *plan.Join, *plan.Apply:
		for _, in := range m.Inputs() {
			if readsWorkTable(in) {
				return true
			}
		}
	}
	return false
}

// setsInGroups are the set functions that GROUP BY reads, so that they run below it.
func (s *selectState) setsInGroups() map[*setCall]bool {
	in := map[*setCall]bool{}
	if len(s.setCalls) == 0 {
		return in
	}
	var need func(e plan.Expr)
	need = func(e plan.Expr) {
		for id := range plan.ExprCols(e) {
			for _, c := range s.setCalls {
				if c.out.ID == id && !in[c] {
					in[c] = true
					for _, a := range c.call.Args {
						need(a)
					}
				}
			}
		}
	}
	for _, g := range s.groups {
		need(g)
	}
	return in
}

// projectSets adds the columns of set functions, stage by stage: those of one stage run in lock
// step, and a set function inside another's arguments is of an earlier stage.
func (s *selectState) projectSets(n plan.Node, which func(*setCall) bool) plan.Node {
	if len(s.setCalls) == 0 {
		return n
	}
	for stage := 1; ; stage++ {
		p := &plan.ProjectSet{Input: n, Exprs: passing(n.Columns())}
		more := false
		for _, c := range s.setCalls {
			if !which(c) {
				continue
			}
			more = more || c.stage > stage
			if c.stage == stage {
				p.Exprs = append(p.Exprs, plan.Named{Col: c.out, Expr: c.call})
			}
		}
		if len(p.Exprs) > len(n.Columns()) {
			n = p
		}
		if !more {
			return n
		}
	}
}
