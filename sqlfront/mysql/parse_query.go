package mysql

import (
	"math"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// query parses [WITH …] body [ORDER BY …] [LIMIT …] [FOR UPDATE …].
func (p *parser) query() *ast.Query {
	p.enter()
	defer p.leave()
	pos := p.pos()
	with := p.with()
	q := p.setOps(0)
	if q.With != nil && with != nil || p.closed(q) && (with != nil || p.tailAhead()) {
		// A parenthesised query with a tail of its own stays one inside.
		q = &ast.Query{Body: wrapped(q), Pos: q.Pos}
	}
	if with != nil {
		q.With = with
	}
	p.tail(q)
	q.Pos = pos
	return q
}

// closed tells whether q has an ORDER BY, LIMIT or WITH already.
func (p *parser) closed(q *ast.Query) bool {
	return q.OrderBy != nil || q.Limit != nil || q.Offset != nil || q.With != nil
}

func (p *parser) tailAhead() bool { return p.peek(0).is("order", "limit") }

// wrapped makes SELECT * FROM (q).
func wrapped(q *ast.Query) *ast.Select {
	return &ast.Select{Items: []ast.Item{{Expr: &ast.Star{Pos: q.Pos}, Pos: q.Pos}},
		From: []ast.TableExpr{&ast.SubqueryTable{Query: q, Alias: ast.Alias{Name: "q"}, Pos: q.Pos}}, Pos: q.Pos}
}

func (p *parser) with() *ast.With {
	if !p.accept("with") {
		return nil
	}
	w := &ast.With{Recursive: p.accept("recursive")}
	p.list(func() {
		c := ast.CTE{Pos: p.pos(), Name: p.name()}
		if p.ahead("(") {
			c.Columns = p.names()
		}
		p.expect("as")
		p.parens(func() { c.Query = p.query() })
		w.CTEs = append(w.CTEs, c)
	})
	return w
}

// setOps parses UNION and EXCEPT (level 0) and INTERSECT, which binds tighter (level 1).
func (p *parser) setOps(level int) *ast.Query {
	operand := func() *ast.Query {
		if level == 0 {
			return p.setOps(1)
		}
		return p.queryTerm()
	}
	q := operand()
	for {
		t := p.peek(0)
		if level == 0 && !t.is("union", "except") || level == 1 && !t.is("intersect") {
			return q
		}
		p.i++
		op := &ast.SetOp{Op: t.text, Left: q, Pos: t.pos}
		if p.accept("all") {
			op.All = true
		} else {
			p.accept("distinct")
		}
		op.Right = operand()
		q = &ast.Query{Body: op, Pos: q.Pos}
	}
}

// queryTerm parses a SELECT, VALUES, TABLE or a query in parentheses, without what follows.
func (p *parser) queryTerm() *ast.Query {
	p.enter()
	defer p.leave()
	pos := p.pos()
	switch {
	case p.accept("("):
		q := p.query()
		p.expect(")")
		return q
	case p.ahead("select"):
		return &ast.Query{Body: p.selectBody(), Pos: pos}
	case p.accept("values"):
		v := &ast.Values{Pos: pos}
		p.list(func() {
			p.expect("row")
			v.Rows = append(v.Rows, p.exprs())
		})
		return &ast.Query{Body: v, Pos: pos}
	case p.accept("table"):
		t := &ast.TableName{Name: p.dotted()}
		return &ast.Query{Body: &ast.Select{Items: []ast.Item{{Expr: &ast.Star{Pos: pos}, Pos: pos}},
			From: []ast.TableExpr{t}, Pos: pos}, Pos: pos}
	}
	p.syntaxError()
	return nil
}

// tail parses ORDER BY, LIMIT and locking clauses.
func (p *parser) tail(q *ast.Query) {
	if p.accept("order", "by") {
		q.OrderBy = p.orderList()
		if p.ahead("with", "rollup") {
			p.refuse(p.pos(), "ORDER BY … WITH ROLLUP is not supported: write WITH ROLLUP behind GROUP BY")
		}
	}
	p.limit(q)
	if p.ahead("procedure") {
		p.syntaxError()
	}
	p.into()
	for {
		switch {
		case p.accept("for", "update"):
			q.Locking = "update"
		case p.accept("for", "share"), p.accept("lock", "in", "share", "mode"):
			if q.Locking == "" {
				q.Locking = "share"
			}
		default:
			p.into()
			return
		}
		if p.accept("of") {
			p.list(func() { p.dotted() })
		}
		_ = p.accept("nowait") || p.accept("skip", "locked")
	}
}

// into refuses SELECT … INTO.
func (p *parser) into() {
	if t := p.peek(0); t.is("into") {
		if p.peek(1).is("outfile", "dumpfile") {
			p.failAt(t.pos, sqlerr.InsufficientPrivilege, "SELECT … INTO %s is not allowed: queries do not write the server's files", strings.ToUpper(p.peek(1).text))
		}
		p.refuse(t.pos, "SELECT … INTO variables is not supported")
	}
}

func (p *parser) limit(q *ast.Query) {
	if !p.accept("limit") {
		return
	}
	q.Limit = p.limitValue()
	switch {
	case p.accept(","):
		q.Offset, q.Limit = q.Limit, p.limitValue()
	case p.accept("offset"):
		q.Offset = p.limitValue()
	}
}

func (p *parser) limitValue() ast.Expr {
	t := p.peek(0)
	if t.kind == tokNumber {
		if strings.ContainsAny(t.text, ".eE") {
			p.syntaxError()
		}
		p.i++
		if l := strings.TrimLeft(t.text, "0"); len(l) > 19 || len(l) == 19 && l > "9223372036854775807" {
			// LIMIT 18446744073709551615 is MySQL's way to say all.
			return &ast.Lit{Kind: 'i', Text: itoa(math.MaxInt64), Pos: t.pos}
		}
		return number(t)
	}
	if t.kind == tokParam {
		return p.primary()
	}
	p.syntaxError()
	return nil
}

func (p *parser) orderList() []ast.Order {
	var out []ast.Order
	p.list(func() {
		o := ast.Order{Pos: p.pos(), Expr: p.expr()}
		if p.accept("desc") {
			o.Desc = true
		} else {
			p.accept("asc")
		}
		if p.accept("nulls", "first") {
			yes := true
			o.NullsFirst = &yes
		} else if p.accept("nulls", "last") {
			no := false
			o.NullsFirst = &no
		}
		out = append(out, o)
	})
	return out
}

func (p *parser) selectBody() *ast.Select {
	s := &ast.Select{Pos: p.pos()}
	p.expect("select")
	for {
		switch {
		case p.acceptAny("distinct", "distinctrow"):
			s.Distinct = true
			continue
		case p.acceptAny("all", "high_priority", "straight_join", "sql_small_result", "sql_big_result",
			"sql_buffer_result", "sql_no_cache", "sql_cache", "sql_calc_found_rows"):
			continue
		}
		break
	}
	p.beginList()
	p.list(func() { s.Items = append(s.Items, p.item()) })
	p.endList()
	defer func() { p.endSelect(s.From != nil) }()
	p.into()
	if p.accept("from") {
		if !p.accept("dual") {
			s.From = p.tables()
		}
	}
	if p.accept("where") {
		s.Where = p.expr()
	}
	if p.accept("group", "by") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("having") {
		s.Having = p.expr()
	}
	if p.accept("window") {
		p.list(func() {
			w := ast.NamedWindow{Name: p.name()}
			p.expect("as")
			w.Def = p.windowSpec()
			s.Windows = append(s.Windows, w)
		})
	}
	return s
}

// item parses a select list's entry. Without an alias a column is called as it is written.
func (p *parser) item() ast.Item {
	it := ast.Item{Pos: p.pos()}
	if t := p.peek(0); t.op("*") {
		p.i++
		it.Expr = &ast.Star{Pos: t.pos}
		return it
	}
	if q := p.qualifiedStar(); q != nil {
		it.Expr = q
		return it
	}
	start := p.i
	it.Expr = p.expr()
	end := p.lastEnd()
	switch t := p.peek(0); {
	case p.accept("as"):
		if p.peek(0).kind == tokString {
			it.Alias = p.next().value
		} else {
			it.Alias = p.ident()
		}
	case t.kind == tokString:
		it.Alias = p.next().value
	case t.isName() && !t.is("system_time", "system_version"):
		it.Alias = p.ident()
	default:
		it.Alias = p.itemName(it.Expr, start, end)
	}
	return it
}

// itemName is a column's name that has no alias: a column's own, a string's text, else the
// expression as written.
func (p *parser) itemName(e ast.Expr, start, end int) string {
	switch e := e.(type) {
	case *ast.Ident:
		return "" // its own
	case *ast.Lit:
		if e.Kind == 's' && p.toks[start].kind == tokString {
			return strings.TrimLeft(p.toks[start].value, " \t\r\n")
		}
		if e.Kind == '0' {
			return "NULL"
		}
		if e.Kind == 'b' {
			return strings.ToUpper(e.Text)
		}
	}
	return p.text[p.toks[start].pos:end]
}

// qualifiedStar parses t.* and db.t.*.
func (p *parser) qualifiedStar() ast.Expr {
	k := 0
	for (p.peek(k).isName() || k > 0 && p.peek(k).kind == tokWord) && p.peek(k+1).punct(".") {
		k += 2
	}
	if k == 0 || !p.peek(k).op("*") {
		return nil
	}
	s := &ast.Star{Pos: p.pos()}
	for ; k > 0; k -= 2 {
		s.Qualifier = append(s.Qualifier, p.ident())
		p.expect(".")
	}
	p.i++
	return s
}

func (p *parser) groupBy() []ast.GroupItem {
	if p.peek(0).is("rollup", "cube") && p.peek(1).punct("(") {
		k := p.next()
		g := ast.GroupItem{Kind: k.text[0], Pos: k.pos, Exprs: p.exprs()}
		return []ast.GroupItem{g}
	}
	var items []ast.GroupItem
	pos := p.pos()
	p.list(func() {
		at := p.pos()
		e := p.expr()
		_ = p.accept("asc") || p.accept("desc")
		items = append(items, ast.GroupItem{Kind: 'e', Exprs: []ast.Expr{e}, Pos: at})
	})
	if p.accept("with", "rollup") {
		return []ast.GroupItem{{Kind: 'r', Sets: items, Pos: pos}}
	}
	return items
}

func (p *parser) windowSpec() ast.WindowDef {
	w := ast.WindowDef{Inline: true, Pos: p.pos()}
	p.expect("(")
	if p.peek(0).isName() && !p.peek(0).is("partition", "range", "rows", "groups") {
		w.Name = p.ident()
	}
	if p.accept("partition", "by") {
		p.list(func() { w.Partition = append(w.Partition, p.expr()) })
	}
	if p.accept("order", "by") {
		w.Order = p.orderList()
	}
	if t := p.peek(0); t.is("rows", "range", "groups") {
		p.i++
		w.Frame = &ast.Frame{Mode: map[string]byte{"rows": 'r', "range": 'a', "groups": 'g'}[t.text]}
		if p.accept("between") {
			w.Frame.Start = p.bound()
			p.expect("and")
			w.Frame.End = p.bound()
		} else {
			w.Frame.Start, w.Frame.End = p.bound(), ast.Bound{Kind: 'c'}
		}
		if p.ahead("exclude") {
			p.syntaxError()
		}
	}
	p.expect(")")
	return w
}

func (p *parser) bound() ast.Bound {
	switch {
	case p.accept("unbounded", "preceding"):
		return ast.Bound{Kind: 'P'}
	case p.accept("unbounded", "following"):
		return ast.Bound{Kind: 'F'}
	case p.accept("current", "row"):
		return ast.Bound{Kind: 'c'}
	}
	var b ast.Bound
	if p.peek(0).is("interval") {
		pos := p.pos()
		n, unit := p.interval()
		b.Offset = p.call(pos, "interval", n, unit)
	} else {
		b.Offset = p.expr()
	}
	switch {
	case p.accept("preceding"):
		b.Kind = 'p'
	case p.accept("following"):
		b.Kind = 'f'
	default:
		p.syntaxError()
	}
	return b
}
