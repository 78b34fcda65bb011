package mysql

import (
	"math"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// query parses [WITH …] body [ORDER BY …] [LIMIT …] [FOR UPDATE …].
func (p *parser) query() *ast.Query {
	p.enter()
	defer p.leave()
	p.nest++
	defer func() { p.nest-- }()
	pos := p.Pos()
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
	if s, ok := q.Body.(*ast.Select); ok && q.OrderBy == nil && !s.Distinct {
		q.OrderBy = rollupOrder(s)
	}
	q.Pos = pos
	return q
}

// rollupOrder is the order in which WITH ROLLUP gives its rows: sorted, each group before the row
// that sums it up, which the NULLs in it do not tell.
//
//	GROUP BY a, b WITH ROLLUP   →   … ORDER BY GROUPING(a), a, GROUPING(b), b
func rollupOrder(s *ast.Select) []ast.Order {
	if len(s.GroupBy) != 1 || s.GroupBy[0].Kind != 'r' {
		return nil
	}
	var out []ast.Order
	for _, g := range s.GroupBy[0].Sets {
		e := g.Exprs[0]
		if l, ok := e.(*ast.Lit); ok {
			n, err := strconv.Atoi(l.Text)
			if err != nil || n < 1 || n > len(s.Items) {
				return nil
			}
			e = s.Items[n-1].Expr
		}
		out = append(out, ast.Order{Expr: &ast.Grouping{Args: []ast.Expr{e}, Pos: g.Pos}, Pos: g.Pos}, ast.Order{Expr: e, Pos: g.Pos})
	}
	return out
}

// closed tells whether q has an ORDER BY, LIMIT or WITH already.
func (p *parser) closed(q *ast.Query) bool {
	return q.OrderBy != nil || q.Limit != nil || q.Offset != nil || q.With != nil
}

func (p *parser) tailAhead() bool { return p.Peek(0).Is("order", "limit") }

// wrapped makes SELECT * FROM (q).
func wrapped(q *ast.Query) *ast.Select {
	return &ast.Select{Items: []ast.Item{{Expr: &ast.Star{Pos: q.Pos}, Pos: q.Pos}},
		From: []ast.TableExpr{&ast.SubqueryTable{Query: q, Alias: ast.Alias{Name: "q"}, Pos: q.Pos}}, Pos: q.Pos}
}

func (p *parser) with() *ast.With {
	if !p.Accept("with") {
		return nil
	}
	w := &ast.With{Recursive: p.Accept("recursive")}
	p.List(func() {
		c := ast.CTE{Pos: p.Pos(), Name: p.Name()}
		if p.Ahead("(") {
			c.Columns = p.Names()
		}
		p.Expect("as")
		p.Parens(func() { c.Query = p.query() })
		if w.Recursive {
			limitRecursion(&c)
		}
		w.CTEs = append(w.CTEs, c)
	})
	return w
}

// limitRecursion moves the LIMIT of a recursive query out of it: the recursion ends when nobody asks
// for its rows.
//
//	c AS (a UNION ALL b LIMIT n)   →   c AS (WITH RECURSIVE c AS (a UNION ALL b) SELECT * FROM c LIMIT n)
func limitRecursion(c *ast.CTE) {
	q := c.Query
	if _, union := q.Body.(*ast.SetOp); !union || q.Limit == nil || q.OrderBy != nil || q.With != nil {
		return
	}
	outer := &ast.Query{Limit: q.Limit, Offset: q.Offset, Pos: q.Pos, Body: &ast.Select{Pos: q.Pos,
		Items: []ast.Item{{Expr: &ast.Star{Pos: q.Pos}, Pos: q.Pos}},
		From:  []ast.TableExpr{&ast.TableName{Name: ast.Name{Parts: []string{c.Name}, Pos: c.Pos}}}}}
	q.Limit, q.Offset = nil, nil
	inner := *c
	outer.With = &ast.With{Recursive: true, CTEs: []ast.CTE{inner}}
	c.Query = outer
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
		t := p.Peek(0)
		if level == 0 && !t.Is("union", "except") || level == 1 && !t.Is("intersect") {
			return q
		}
		p.At++
		op := &ast.SetOp{Op: t.Text, Left: q, Pos: t.Pos}
		if p.Accept("all") {
			op.All = true
		} else {
			p.Accept("distinct")
		}
		op.Right = operand()
		q = &ast.Query{Body: op, Pos: q.Pos}
	}
}

// queryTerm parses a SELECT, VALUES, TABLE or a query in parentheses, without what follows.
func (p *parser) queryTerm() *ast.Query {
	p.enter()
	defer p.leave()
	pos := p.Pos()
	switch {
	case p.Accept("("):
		q := p.query()
		p.Expect(")")
		return q
	case p.Ahead("select"):
		return &ast.Query{Body: p.selectBody(), Pos: pos}
	case p.Accept("values"):
		v := &ast.Values{Pos: pos}
		p.List(func() {
			p.Accept("row")
			v.Rows = append(v.Rows, p.exprs())
		})
		return &ast.Query{Body: v, Pos: pos}
	case p.Accept("table"):
		t := &ast.TableName{Name: p.Dotted()}
		return &ast.Query{Body: &ast.Select{Items: []ast.Item{{Expr: &ast.Star{Pos: pos}, Pos: pos}},
			From: []ast.TableExpr{t}, Pos: pos}, Pos: pos}
	}
	p.SyntaxError()
	return nil
}

// tail parses ORDER BY, LIMIT and locking clauses.
func (p *parser) tail(q *ast.Query) {
	if p.Accept("order", "by") {
		q.OrderBy = p.orderList()
		if p.Ahead("with", "rollup") {
			p.Refuse(p.Pos(), "ORDER BY … WITH ROLLUP is not supported: write WITH ROLLUP behind GROUP BY")
		}
	}
	p.limit(q)
	if p.Ahead("procedure") {
		p.SyntaxError()
	}
	p.into()
	for {
		switch {
		case p.Accept("for", "update"):
			q.Locking = "update"
		case p.Accept("for", "share"), p.Accept("lock", "in", "share", "mode"):
			if q.Locking == "" {
				q.Locking = "share"
			}
		default:
			p.into()
			return
		}
		if p.Accept("of") {
			p.List(func() { p.Dotted() })
		}
		_ = p.Accept("nowait") || p.Accept("skip", "locked")
	}
}

// into takes INTO @a, @b of the outermost query.
func (p *parser) into() {
	if t := p.Peek(0); t.Is("into") {
		if p.Peek(1).Is("outfile", "dumpfile") {
			p.noFiles(t.Pos, "INTO "+strings.ToUpper(p.Peek(1).Text))
		}
		if p.nest != 1 || p.intoVars != nil {
			p.SyntaxError()
		}
		p.At++
		p.List(func() {
			v := p.Peek(0)
			if v.Kind != token.Var || v.Text != "@" {
				p.SyntaxError()
			}
			p.At++
			p.intoVars = append(p.intoVars, strings.ToLower(v.Value))
		})
	}
}

func (p *parser) limit(q *ast.Query) {
	if !p.Accept("limit") {
		return
	}
	q.Limit = p.limitValue()
	switch {
	case p.Accept(","):
		q.Offset, q.Limit = q.Limit, p.limitValue()
	case p.Accept("offset"):
		q.Offset = p.limitValue()
	}
}

func (p *parser) limitValue() ast.Expr {
	t := p.Peek(0)
	if t.Kind == token.Number {
		if strings.ContainsAny(t.Text, ".eE") {
			p.SyntaxError()
		}
		p.At++
		if l := strings.TrimLeft(t.Text, "0"); len(l) > 19 || len(l) == 19 && l > "9223372036854775807" {
			// LIMIT 18446744073709551615 is MySQL's way to say all.
			return &ast.Lit{Kind: 'i', Text: itoa(math.MaxInt64), Pos: t.Pos}
		}
		return number(t)
	}
	if t.Kind == token.Param {
		return p.primary()
	}
	p.SyntaxError()
	return nil
}

// Order parses an ORDER BY list, which among other clauses stands in parentheses.
func (p *parser) Order(ends ...string) (out []ast.Order) {
	if len(ends) == 0 {
		return p.orderList()
	}
	p.Parens(func() { out = p.orderList() })
	return out
}

func (p *parser) orderList() []ast.Order {
	var out []ast.Order
	p.List(func() {
		o := ast.Order{Pos: p.Pos(), Expr: p.expr()}
		if p.Accept("desc") {
			o.Desc = true
		} else {
			p.Accept("asc")
		}
		if p.Accept("nulls", "first") {
			yes := true
			o.NullsFirst = &yes
		} else if p.Accept("nulls", "last") {
			no := false
			o.NullsFirst = &no
		}
		out = append(out, o)
	})
	return out
}

func (p *parser) selectBody() *ast.Select {
	s := &ast.Select{Pos: p.Pos()}
	p.Expect("select")
	first := p.nest == 1 && !p.listed && p.Toks[0].Is("select")
	p.listed = true
	for {
		switch {
		case p.AcceptAny("distinct", "distinctrow"):
			s.Distinct = true
			continue
		case p.AcceptAny("all", "high_priority", "straight_join", "sql_small_result", "sql_big_result",
			"sql_buffer_result", "sql_no_cache", "sql_cache"):
			continue
		case p.Accept("sql_calc_found_rows"):
			p.calcFound = p.calcFound || first
			continue
		}
		break
	}
	p.beginList()
	at, column := p.itemAt, p.column
	p.column = -1
	known := first
	p.List(func() {
		if p.itemAt = p.At; known {
			p.column = len(s.Items)
		}
		it := p.item()
		if _, star := it.Expr.(*ast.Star); star {
			known, p.column = false, -1
		}
		s.Items = append(s.Items, it)
	})
	p.itemAt, p.column = at, column
	p.endList()
	defer func() { p.endSelect(s.From != nil) }()
	p.into()
	if p.Accept("from") {
		if !p.Accept("dual") {
			s.From = p.tables()
		}
	}
	if p.Accept("where") {
		s.Where = p.expr()
	}
	if p.Accept("group", "by") {
		s.GroupBy = p.groupBy()
	}
	if p.Accept("having") {
		s.Having = p.expr()
	}
	if p.Accept("window") {
		p.List(func() {
			w := ast.NamedWindow{Name: p.Name()}
			p.Expect("as")
			w.Def = p.windowSpec()
			s.Windows = append(s.Windows, w)
		})
	}
	return s
}

// item parses a select list's entry. Without an alias a column is called as it is written.
func (p *parser) item() ast.Item {
	it := ast.Item{Pos: p.Pos()}
	if t := p.Peek(0); t.Op("*") {
		p.At++
		it.Expr = &ast.Star{Pos: t.Pos}
		return it
	}
	if q := p.qualifiedStar(); q != nil {
		it.Expr = q
		return it
	}
	start := p.At
	it.Expr = p.expr()
	end := p.LastEnd()
	switch t := p.Peek(0); {
	case p.Accept("as"):
		if p.Peek(0).Kind == token.String {
			it.Alias = p.Take().Value
		} else {
			it.Alias = p.Ident()
		}
	case t.Kind == token.String:
		it.Alias = p.Take().Value
	case t.IsName() && !t.Is("system_time", "system_version"):
		it.Alias = p.Ident()
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
		if e.Kind == 's' && p.Toks[start].Kind == token.String {
			return strings.TrimLeft(p.Toks[start].Value, " \t\r\n")
		}
		if e.Kind == '0' {
			return "NULL"
		}
		if e.Kind == 'b' {
			return strings.ToUpper(e.Text)
		}
	}
	return p.Text[p.Toks[start].Pos:end]
}

// qualifiedStar parses t.* and db.t.*.
func (p *parser) qualifiedStar() ast.Expr {
	k := 0
	for (p.Peek(k).IsName() || k > 0 && p.Peek(k).Kind == token.Word) && p.Peek(k+1).Punct(".") {
		k += 2
	}
	if k == 0 || !p.Peek(k).Op("*") {
		return nil
	}
	s := &ast.Star{Pos: p.Pos()}
	for ; k > 0; k -= 2 {
		s.Qualifier = append(s.Qualifier, p.Ident())
		p.Expect(".")
	}
	p.At++
	return s
}

func (p *parser) groupBy() []ast.GroupItem {
	if p.Peek(0).Is("rollup", "cube") && p.Peek(1).Punct("(") {
		k := p.Take()
		g := ast.GroupItem{Kind: k.Text[0], Pos: k.Pos, Exprs: p.exprs()}
		return []ast.GroupItem{g}
	}
	var items []ast.GroupItem
	pos := p.Pos()
	p.List(func() {
		at := p.Pos()
		e := p.expr()
		_ = p.Accept("asc") || p.Accept("desc")
		items = append(items, ast.GroupItem{Kind: 'e', Exprs: []ast.Expr{e}, Pos: at})
	})
	if p.Accept("with", "rollup") {
		return []ast.GroupItem{{Kind: 'r', Sets: items, Pos: pos}}
	}
	return items
}

func (p *parser) windowSpec() ast.WindowDef {
	w := ast.WindowDef{Inline: true, Pos: p.Pos()}
	p.Expect("(")
	if p.Peek(0).IsName() && !p.Peek(0).Is("partition", "range", "rows", "groups") {
		w.Name = p.Ident()
	}
	if p.Accept("partition", "by") {
		p.List(func() { w.Partition = append(w.Partition, p.expr()) })
	}
	if p.Accept("order", "by") {
		w.Order = p.orderList()
	}
	if t := p.Peek(0); t.Is("rows", "range", "groups") {
		p.At++
		w.Frame = &ast.Frame{Mode: map[string]byte{"rows": 'r', "range": 'a', "groups": 'g'}[t.Text]}
		if p.Accept("between") {
			w.Frame.Start = p.bound()
			p.Expect("and")
			w.Frame.End = p.bound()
		} else {
			w.Frame.Start, w.Frame.End = p.bound(), ast.Bound{Kind: 'c'}
		}
		if p.Ahead("exclude") {
			p.SyntaxError()
		}
	}
	p.Expect(")")
	return w
}

func (p *parser) bound() ast.Bound {
	switch {
	case p.Accept("unbounded", "preceding"):
		return ast.Bound{Kind: 'P'}
	case p.Accept("unbounded", "following"):
		return ast.Bound{Kind: 'F'}
	case p.Accept("current", "row"):
		return ast.Bound{Kind: 'c'}
	}
	var b ast.Bound
	if p.Peek(0).Is("interval") {
		pos := p.Pos()
		n, unit := p.interval()
		b.Offset = p.call(pos, "interval", n, unit)
	} else {
		b.Offset = p.expr()
	}
	switch {
	case p.Accept("preceding"):
		b.Kind = 'p'
	case p.Accept("following"):
		b.Kind = 'f'
	default:
		p.SyntaxError()
	}
	return b
}
