package bind

import (
	"errors"
	"reflect"
	"slices"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// cteEntry is a WITH item that names can find.
type cteEntry struct {
	name string
	ast  *ast.CTE
	cte  *plan.CTE
	outs []output
	// lv is the level that the item was bound in, for binding it anew where NOT MATERIALIZED
	// asks for a copy at each use.
	lv      *level
	perUse  bool
	working bool // its recursive term is being bound
	reach   int  // how many WITH items its longest chain of references passes, itself included
}

// maxChain bounds how long a chain of WITH items may be that read each other (54001): each level
// becomes one of the plan.
const maxChain = 500

type withState struct{ entries []*cteEntry }

// withQuery is a query under its WITH.
type withQuery struct {
	query
	b    *binder
	with *withState
}

func (w *withQuery) build() plan.Node { return w.with.wrap(w.query.build()) }

// wrap puts the CTEs above n that something reads. One that nothing reads is not run, as in
// PostgreSQL.
func (w *withState) wrap(n plan.Node) plan.Node {
	if w == nil {
		return n
	}
	read := map[*plan.CTE]bool{}
	note := func(n plan.Node) {
		plan.Walk(n, func(m plan.Node) {
			if r, ok := m.(*plan.CTERef); ok {
				read[r.CTE] = true
			}
		})
	}
	note(n)
	var ctes []*plan.CTE
	for i := len(w.entries) - 1; i >= 0; i-- {
		e := w.entries[i]
		if e.perUse || !read[e.cte] {
			continue
		}
		note(e.cte.Plan)
		if e.cte.Step != nil {
			note(e.cte.Step)
		}
		ctes = append(ctes, e.cte)
	}
	slices.Reverse(ctes)
	if len(ctes) == 0 {
		return n
	}
	return &plan.With{CTEs: ctes, Body: n}
}

// with binds the items of a WITH clause into lv, each seeing those before it.
func (b *binder) with(w *ast.With, lv *level) *withState {
	seen := map[string]bool{}
	for i := range w.CTEs {
		c := &w.CTEs[i]
		if seen[c.Name] {
			b.fail(sqlerr.DuplicateAlias, c.Pos, "WITH query name \"%s\" specified more than once", c.Name)
		}
		seen[c.Name] = true
		if c.Stmt != nil {
			b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "data-modifying statements in WITH are not supported").
				WithHint("Run the write first with RETURNING, or use MERGE.").At(c.Pos))
		}
	}
	s := &withState{}
	for _, c := range w.CTEs {
		lv.later = append(lv.later, c.Name)
	}
	for _, i := range b.cteOrder(w) {
		c := &w.CTEs[i]
		var e *cteEntry
		if w.Recursive && mentions(c.Query, c.Name) {
			var inner *withState
			if e, inner = b.recursiveCTE(c, lv); inner != nil {
				s.entries = append(s.entries, inner.entries...) // both terms may read them
			}
		} else {
			e = b.plainCTE(c, lv)
		}
		s.entries = append(s.entries, e)
		lv.ctes = append(lv.ctes, e)
	}
	return s
}

// cteOrder is the order in which to bind: as written, or, under RECURSIVE, where an item may
// also read a later one, each after those that it reads.
func (b *binder) cteOrder(w *ast.With) []int {
	n := len(w.CTEs)
	order := make([]int, 0, n)
	if !w.Recursive {
		for i := 0; i < n; i++ {
			order = append(order, i)
		}
		return order
	}
	state := make([]int, n) // 1: in progress, 2: done
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		b.enter(w.CTEs[i].Pos)
		defer b.leave()
		names := namesIn(w.CTEs[i].Query)
		for j := range w.CTEs {
			if j == i || state[j] == 2 || !names[w.CTEs[j].Name] || !mentions(w.CTEs[i].Query, w.CTEs[j].Name) {
				continue
			}
			if state[j] == 1 {
				b.fail(sqlerr.FeatureNotSupported, w.CTEs[j].Pos, "mutual recursion between WITH items is not implemented")
			}
			visit(j)
		}
		state[i] = 2
		order = append(order, i)
	}
	for i := 0; i < n; i++ {
		if state[i] == 0 {
			visit(i)
		}
	}
	return order
}

func (b *binder) plainCTE(c *ast.CTE, lv *level) *cteEntry {
	e := &cteEntry{name: c.Name, ast: c, cte: &plan.CTE{Name: c.Name}}
	e.perUse = c.Materialized != nil && !*c.Materialized
	e.cte.Materialized = c.Materialized != nil && *c.Materialized
	e.lv = &level{parent: lv.parent, depth: lv.depth, later: lv.later, ctes: lv.ctes[:len(lv.ctes):len(lv.ctes)]}
	above := b.reach
	b.reach = 0
	n, outs := b.subplan(c.Query, e.lv)
	if e.reach = b.reach + 1; e.reach > maxChain {
		b.failWith(sqlerr.New(sqlerr.StatementTooComplex, "statement is nested too deeply").
			WithHint("A chain of WITH items that read each other can have at most %d.", maxChain).At(c.Pos))
	}
	b.reach = above
	e.cte.Plan, e.outs = n, b.renameCTE(c, outs)
	e.cte.Cols = cteColumns(n, e.outs)
	return e
}

func (b *binder) renameCTE(c *ast.CTE, outs []output) []output {
	if len(c.Columns) > len(outs) {
		b.fail(sqlerr.InvalidColumnReference, c.Pos, "WITH query \"%s\" has %d columns available but %d columns specified",
			c.Name, len(outs), len(c.Columns))
	}
	outs = append([]output(nil), outs...)
	for i, n := range c.Columns {
		outs[i].name = n
	}
	return outs
}

func cteColumns(n plan.Node, outs []output) []plan.Column {
	cols := append([]plan.Column(nil), n.Columns()...)
	for i := range outs {
		cols[i].Name = outs[i].name
	}
	return cols
}

// recursiveCTE binds base UNION [ALL] step, where step reads c itself. The items of a WITH of its own
// come back beside it.
func (b *binder) recursiveCTE(c *ast.CTE, lv *level) (*cteEntry, *withState) {
	op, ok := c.Query.Body.(*ast.SetOp)
	if !ok || op.Op != "union" {
		b.fail(sqlerr.InvalidRecursion, c.Pos, "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.Name)
	}
	b.checkRecursion(c, op)
	e := &cteEntry{name: c.Name, ast: c, cte: &plan.CTE{Name: c.Name, Distinct: !op.All}, lv: lv, working: true}

	inner := &level{parent: lv.parent, depth: lv.depth, ctes: lv.ctes[:len(lv.ctes):len(lv.ctes)]}
	var with *withState
	if c.Query.With != nil {
		with = b.with(c.Query.With, inner)
	}
	base := b.query(op.Left, inner, true)
	var first []types.Type // the types of the first term, before their precision is dropped
	for i, o := range base.outputs() {
		t := looseType(o.typ)
		first = append(first, o.typ)
		if b.d.RecursiveType != nil {
			t = b.d.RecursiveType(t)
		}
		if !t.Equal(o.typ) {
			base.coerce(i, t, plan.Implicit)
		}
	}
	e.outs = b.renameCTE(c, base.outputs())
	e.cte.Plan = base.build()
	e.cte.Cols = cteColumns(e.cte.Plan, e.outs)

	inner.ctes = append(inner.ctes, e)
	step := b.query(op.Right, inner, false)
	if n, m := len(e.outs), len(step.outputs()); n != m {
		b.fail(sqlerr.SyntaxError, op.Right.Pos, "each UNION query must have the same number of columns")
	}
	for i, o := range step.outputs() {
		want := e.outs[i].typ
		t, err := b.d.CommonType("UNION", []types.Type{want, o.typ})
		b.check(err, o.pos)
		overall, err := b.d.CommonType("UNION", []types.Type{first[i], o.typ})
		b.check(err, o.pos)
		fixed := first[i].Kind == types.Numeric && first[i].Declared || (first[i].Kind == types.Varchar || first[i].Kind == types.Bpchar) && first[i].Prec > 0
		if (looseType(t).Kind != want.Kind || fixed && first[i].String() != overall.String()) && b.d.RecursiveType == nil {
			b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				c.Name, i+1, first[i], overall).
				WithHint("Cast the output of the non-recursive term to the correct type.").At(e.outs[i].pos))
		}
		step.coerce(i, want, plan.Implicit)
		if e.cte.Distinct {
			b.needEquality(want, o.pos)
		}
	}
	e.cte.Step = step.build()
	e.working = false
	return e, with
}

// looseType drops precision: a recursive term's numeric grows its scale from round to round.
func looseType(t types.Type) types.Type {
	switch t.Kind {
	case types.Numeric, types.Varchar, types.Bpchar:
		return types.T(t.Kind)
	}
	return t
}

// checkRecursion is PostgreSQL's checkWellFormedRecursion: where the self-reference stands.
func (b *binder) checkRecursion(c *ast.CTE, op *ast.SetOp) {
	q := c.Query
	if len(q.OrderBy) > 0 {
		b.fail(sqlerr.FeatureNotSupported, leftmost(q.OrderBy[0].Expr), "ORDER BY in a recursive query is not implemented")
	}
	if q.Offset != nil {
		b.fail(sqlerr.FeatureNotSupported, leftmost(q.Offset), "OFFSET in a recursive query is not implemented")
	}
	if q.Limit != nil {
		b.fail(sqlerr.FeatureNotSupported, leftmost(q.Limit), "LIMIT in a recursive query is not implemented")
	}
	for _, h := range findMentions(op.Left, c.Name) {
		b.fail(sqlerr.InvalidRecursion, h.pos, "recursive reference to query \"%s\" must not appear within its non-recursive term", c.Name)
	}
	hits := findMentions(op.Right, c.Name)
	for i, h := range hits {
		if h.within != "" {
			b.fail(sqlerr.InvalidRecursion, h.pos, "recursive reference to query \"%s\" must not appear within %s", c.Name, h.within)
		}
		if i > 0 {
			b.fail(sqlerr.InvalidRecursion, h.pos, "recursive reference to query \"%s\" must not appear more than once", c.Name)
		}
	}
}

// mention is a place in a query that names a CTE.
type mention struct {
	pos    int
	within string // "a subquery", "an outer join", "INTERSECT", "EXCEPT", or ""
}

func mentions(q *ast.Query, name string) bool { return len(findMentions(q, name)) > 0 }

// namesIn are all names without a qualifier that q reads from, those that something hides included.
func namesIn(q *ast.Query) map[string]bool {
	names := map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if v.IsNil() {
				return
			}
			if n, ok := v.Interface().(*ast.TableName); ok {
				if len(n.Parts) == 1 {
					names[n.Parts[0]] = true
				}
				return
			}
			walk(v.Elem())
		case reflect.Slice:
			for i := 0; i < v.Len(); i++ {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := 0; i < v.NumField(); i++ {
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(q))
	return names
}

// findMentions looks for FROM items called name. It walks the syntax tree by reflection: the
// tree has some sixty types, and only a handful matter here.
func findMentions(q *ast.Query, name string) []mention {
	var found []mention
	var walk func(v reflect.Value, within string)
	fields := func(v reflect.Value, within string) {
		for i := 0; i < v.NumField(); i++ {
			walk(v.Field(i), within)
		}
	}
	walk = func(v reflect.Value, within string) {
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem(), within)
			}
		case reflect.Slice:
			for i := 0; i < v.Len(); i++ {
				walk(v.Index(i), within)
			}
		case reflect.Struct:
			fields(v, within)
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			switch n := v.Interface().(type) {
			case *ast.TableName:
				if len(n.Parts) == 1 && n.Parts[0] == name {
					found = append(found, mention{n.Pos, within})
				}
			case *ast.Query:
				if n.With != nil {
					for _, c := range n.With.CTEs {
						if c.Name == name {
							return // hidden by an inner item of that name
						}
					}
				}
				fields(v.Elem(), within)
			case *ast.Subquery:
				walk(reflect.ValueOf(n.Test), within)
				fields(v.Elem(), "a subquery")
			case *ast.SetOp:
				l, r := within, within
				switch n.Op {
				case "intersect":
					l, r = "INTERSECT", "INTERSECT"
				case "except":
					r = "EXCEPT"
				}
				walk(reflect.ValueOf(n.Left), l)
				walk(reflect.ValueOf(n.Right), r)
			case *ast.JoinTable:
				l, r := within, within
				if n.Kind == "left" || n.Kind == "full" {
					r = "an outer join"
				}
				if n.Kind == "right" || n.Kind == "full" {
					l = "an outer join"
				}
				walk(reflect.ValueOf(n.Left), l)
				walk(reflect.ValueOf(n.Right), r)
				if n.On != nil {
					walk(reflect.ValueOf(n.On), within)
				}
			default:
				walk(v.Elem(), within)
			}
		}
	}
	walk(reflect.ValueOf(q), "")
	return found
}

// findCTE finds a WITH item by name.
func (b *binder) findCTE(lv *level, name string) *cteEntry {
	for l := lv; l != nil; l = l.parent {
		for i := len(l.ctes) - 1; i >= 0; i-- {
			if b.d.SameName(l.ctes[i].name, name) {
				b.reach = max(b.reach, l.ctes[i].reach)
				return l.ctes[i]
			}
			if i&1023 == 1023 {
				b.alive()
			}
		}
	}
	return nil
}

// laterCTE explains a name that is no relation and is a WITH item further on.
func (b *binder) laterCTE(err error, lv *level, name string) error {
	var missing *lake.NotFound
	if !errors.As(err, &missing) {
		return err
	}
	for l := lv; l != nil; l = l.parent {
		for _, n := range l.later {
			if b.d.SameName(n, name) {
				return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name).
					WithDetail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", name).
					WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
			}
		}
	}
	return err
}

// cteNode reads a WITH item.
func (b *binder) cteNode(e *cteEntry) plan.Node {
	if e.perUse {
		n, _ := b.subplan(e.ast.Query, e.lv)
		p := &plan.Project{Input: n}
		for i, c := range n.Columns() {
			out := b.newColumn(e.outs[i].name, c.Type)
			p.Exprs = append(p.Exprs, plan.Named{Col: out, Expr: plan.ColOf(c)})
		}
		return p
	}
	r := &plan.CTERef{CTE: e.cte, Work: e.working}
	for i, c := range e.cte.Cols {
		out := b.newColumn(e.outs[i].name, c.Type)
		out.NotNull = c.NotNull && e.cte.Step == nil && !e.working
		out.TableOID, out.Attnum = e.outs[i].tableOID, e.outs[i].attnum
		r.Cols = append(r.Cols, out)
	}
	return r
}
