package mysql

import (
	"slices"
	"sort"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// MySQL evaluates a select list from left to right, so what a later item reads of @v is what an
// earlier one has assigned to it in the same row:
//
//	SELECT @d := a + 1, @d * 2 FROM t   →   SELECT a + 1, (a + 1) * 2 FROM t
//
// That much can be said without variables that change from row to row. What cannot is refused:
// reading @v before it is assigned, which carries a value over from the row before (@n := @n + 1),
// and assigning it in some branches only.

// assigning is what the select list being parsed has assigned.
type assigning struct {
	outer   *assigning
	now     map[string]ast.Expr // what a variable is at this place
	cost    map[string]int      // how many tokens its value is
	read    map[string]bool     // read before it was assigned
	carried int                 // where one is assigned after that; -1: nowhere
	spent   int                 // tokens of values that were read
	closed  bool                // the list is over: FROM, WHERE … follow
}

// maxAssigned bounds what values of variables grow to that are made of each other.
const maxAssigned = 20_000

func (p *parser) beginList() {
	p.list1 = &assigning{outer: p.list1, now: map[string]ast.Expr{}, cost: map[string]int{}, read: map[string]bool{}, carried: -1}
}

// endList says that FROM and the rest follow.
func (p *parser) endList() { p.list1.closed = true }

// endSelect ends the SELECT. A single row can carry nothing over.
func (p *parser) endSelect(hasFrom bool) {
	if p.list1.carried >= 0 && hasFrom {
		p.Refuse(p.list1.carried, "a variable that carries a value from row to row is not supported: use a window function such as ROW_NUMBER() or SUM() OVER")
	}
	p.list1 = p.list1.outer
}

// assign parses what follows @name :=.
func (p *parser) assign(v *ast.Variable) ast.Expr {
	l := p.list1
	if l == nil || l.closed || v.Scope != "user" {
		p.Refuse(v.Pos, "variables can be assigned in a select list only")
	}
	if p.perhaps > 0 {
		p.Refuse(v.Pos, "a variable that is assigned in some rows only is not supported")
	}
	shown := ast.Assigned{Name: v.Name, Column: -1}
	if p.column >= 0 && p.Toks[p.itemAt].Pos == v.Pos {
		shown.Column = p.column
	}
	p.At++
	from, spent := p.At, l.spent
	x := p.expr()
	if l.read[v.Name] && l.now[v.Name] == nil && l.carried < 0 {
		l.carried = v.Pos
	}
	l.now[v.Name], l.cost[v.Name] = x, p.At-from+l.spent-spent
	// The last assignment counts.
	p.assigned = append(slices.DeleteFunc(p.assigned, func(a ast.Assigned) bool { return a.Name == v.Name }), shown)
	return x
}

// readVariable gives what @name is at this place.
func (p *parser) readVariable(v *ast.Variable) ast.Expr {
	for l := p.list1; l != nil; l = l.outer {
		x := l.now[v.Name]
		switch {
		case x != nil && l == p.list1 && !l.closed:
			if l.spent += l.cost[v.Name]; l.spent > maxAssigned {
				p.FailAt(v.Pos, sqlerr.StatementTooComplex, "the variables of this statement are made of too many others")
			}
			return x
		case x != nil:
			p.Refuse(v.Pos, "@%s is assigned in a select list that this place does not belong to", v.Name)
		}
		l.read[v.Name] = true
	}
	return v
}

// branches follows the branches of CASE and IF, of which one is taken.
type branches struct {
	p      *parser
	before map[string]ast.Expr
	taken  []map[string]ast.Expr
	pos    int
}

func (p *parser) branches() *branches {
	b := &branches{p: p, pos: p.Pos()}
	if p.list1 != nil {
		b.before = copyExprs(p.list1.now)
	}
	return b
}

func copyExprs(m map[string]ast.Expr) map[string]ast.Expr {
	c := make(map[string]ast.Expr, len(m))
	for k, x := range m {
		c[k] = x
	}
	return c
}

// next ends a branch.
func (b *branches) next() {
	if l := b.p.list1; l != nil {
		b.taken = append(b.taken, l.now)
		l.now = copyExprs(b.before)
	}
}

// end joins the branches: what a variable is then depends on the branch, as choose spells it.
func (b *branches) end(choose func(values []ast.Expr) ast.Expr) {
	l := b.p.list1
	if l == nil {
		return
	}
	changed := map[string]bool{}
	for _, m := range b.taken {
		for k, x := range m {
			if b.before[k] != x {
				changed[k] = true
			}
		}
	}
	names := make([]string, 0, len(changed))
	for k := range changed {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		values := make([]ast.Expr, len(b.taken))
		cost := 0
		for i, m := range b.taken {
			if values[i] = m[k]; values[i] == nil {
				b.p.Refuse(b.pos, "@%s is assigned in some branches only, which is not supported", k)
			}
			cost += l.cost[k]
		}
		l.now[k], l.cost[k] = choose(values), cost+b.p.At
	}
}
