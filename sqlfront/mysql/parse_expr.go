package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// MySQL's precedence, from the loosest: OR ||, XOR, AND &&, NOT, comparison and IS, BETWEEN IN
// LIKE REGEXP, |, &, << >>, + -, * / DIV % MOD, ^, unary - ~, !, BINARY COLLATE.

func (p *parser) expr() ast.Expr {
	p.enter()
	defer p.leave()
	e := p.xor()
	if !p.orAhead() {
		return e
	}
	or := &ast.Or{Args: []ast.Expr{e}, Pos: p.pos()}
	p.perhaps++
	defer func() { p.perhaps-- }()
	for p.orAhead() {
		p.i++
		or.Args = append(or.Args, p.xor())
	}
	return or
}

func (p *parser) orAhead() bool {
	return p.peek(0).is("or") || p.peek(0).op("||") && !p.mode.PipesAsConcat
}

func (p *parser) xor() ast.Expr {
	e := p.and()
	for p.peek(0).is("xor") {
		pos := p.next().pos
		e = &ast.Binary{Op: "xor", L: e, R: p.and(), Pos: pos}
	}
	return e
}

func (p *parser) and() ast.Expr {
	e := p.not()
	ahead := func() bool { return p.peek(0).is("and") || p.peek(0).op("&&") }
	if !ahead() {
		return e
	}
	and := &ast.And{Args: []ast.Expr{e}, Pos: p.pos()}
	p.perhaps++
	defer func() { p.perhaps-- }()
	for ahead() {
		p.i++
		and.Args = append(and.Args, p.not())
	}
	return and
}

func (p *parser) not() ast.Expr {
	if !p.peek(0).is("not") || p.mode.HighNotPrecedence {
		return p.comparison()
	}
	p.enter()
	defer p.leave()
	pos := p.next().pos
	return &ast.Not{X: p.not(), Pos: pos}
}

// comparison parses comparisons, which are left-associative, and IS.
func (p *parser) comparison() ast.Expr {
	e := p.predicate()
	for {
		t := p.peek(0)
		switch {
		case t.kind == tokOp && (t.text == "=" || t.text == "<" || t.text == ">" || t.text == "<=" ||
			t.text == ">=" || t.text == "<>" || t.text == "!="):
			p.i++
			op := t.text
			if op == "!=" {
				op = "<>"
			}
			e = p.compareWith(e, op, t.pos)
		case t.op("<=>"):
			p.i++
			e = &ast.IsDistinct{L: e, R: p.predicate(), Negate: true, Pos: t.pos}
		case t.is("is"):
			p.i++
			e = p.is(e, t.pos)
		default:
			return e
		}
	}
}

// compareWith parses the right side of a comparison: a value, or ANY, SOME or ALL of a query.
func (p *parser) compareWith(l ast.Expr, op string, pos int) ast.Expr {
	t := p.peek(0)
	if t.is("any", "some", "all") && p.peek(1).punct("(") {
		p.i++
		q := &ast.Subquery{Kind: 'a', Test: l, Op: op, Pos: pos}
		if t.is("all") {
			q.Kind = 'l'
		}
		p.parens(func() { q.Query = p.query() })
		return q
	}
	return &ast.Binary{Op: op, L: l, R: p.predicate(), Pos: pos}
}

func (p *parser) is(e ast.Expr, pos int) ast.Expr {
	negate := p.accept("not")
	switch {
	case p.accept("null"):
		return &ast.IsNull{X: e, Negate: negate, Pos: pos}
	case p.accept("true"):
		return &ast.IsBool{X: e, Value: 't', Negate: negate, Pos: pos}
	case p.accept("false"):
		return &ast.IsBool{X: e, Value: 'f', Negate: negate, Pos: pos}
	case p.accept("unknown"):
		return &ast.IsBool{X: e, Value: 'u', Negate: negate, Pos: pos}
	case p.accept("distinct", "from"):
		return &ast.IsDistinct{L: e, R: p.predicate(), Negate: negate, Pos: pos}
	}
	p.syntaxError()
	return nil
}

// predicate parses IN, BETWEEN, LIKE, REGEXP, SOUNDS LIKE and MEMBER OF.
func (p *parser) predicate() ast.Expr {
	e := p.bits(0)
	negate := p.peek(0).is("not") && p.peek(1).is("in", "between", "like", "regexp", "rlike")
	if negate {
		p.i++
	}
	pos := p.pos()
	not := func(x ast.Expr) ast.Expr {
		if negate {
			return &ast.Not{X: x, Pos: pos}
		}
		return x
	}
	switch {
	case p.accept("in"):
		return p.in(e, negate, pos)
	case p.accept("between"):
		lo := p.bits(0)
		p.expect("and")
		return &ast.Between{X: e, Lo: lo, Hi: p.predicate(), Negate: negate, Pos: pos}
	case p.accept("like"):
		c := p.call(pos, "like", e, p.bits(0))
		if p.accept("escape") {
			c.Args = append(c.Args, ast.Arg{Expr: p.primary()})
		}
		return not(c)
	case p.accept("regexp"), p.accept("rlike"):
		return not(p.call(pos, "regexp_like", e, p.bits(0)))
	case p.accept("sounds", "like"):
		return &ast.Binary{Op: "=", L: p.call(pos, "soundex", e), R: p.call(pos, "soundex", p.bits(0)), Pos: pos}
	case p.accept("member", "of"):
		var list ast.Expr
		p.parens(func() { list = p.expr() })
		return p.call(pos, "member of", e, list)
	}
	return e
}

func (p *parser) in(e ast.Expr, negate bool, pos int) ast.Expr {
	p.expect("(")
	if p.queryAhead() {
		q := &ast.Subquery{Kind: 'a', Test: e, Op: "=", Query: p.query(), Pos: pos}
		p.expect(")")
		if negate {
			return &ast.Not{X: q, Pos: pos}
		}
		return q
	}
	in := &ast.In{X: e, Negate: negate, Pos: pos}
	p.list(func() { in.List = append(in.List, p.expr()) })
	p.expect(")")
	return in
}

// levels are the binary operators that bind tighter than comparisons, from the loosest.
var levels = [][]string{{"|"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "div", "%", "mod"}, {"^"}}

// bits parses arithmetic and bit operators of levels[n] and tighter ones.
func (p *parser) bits(n int) ast.Expr {
	if n == len(levels) {
		return p.unary()
	}
	e := p.bits(n + 1)
	for {
		op := ""
		t := p.peek(0)
		for _, o := range levels[n] {
			if t.text == o && (t.kind == tokOp || t.kind == tokWord) {
				op = o
			}
		}
		if op == "" {
			return e
		}
		p.i++
		if op == "%" {
			op = "mod"
		}
		if (op == "+" || op == "-") && p.peek(0).is("interval") && !p.intervalCall() {
			e = p.addInterval(e, op, t.pos)
			continue
		}
		e = &ast.Binary{Op: op, L: e, R: p.bits(n + 1), Pos: t.pos}
	}
}

// intervalCall tells INTERVAL(a, b, …), the function, from INTERVAL (a) unit.
func (p *parser) intervalCall() bool {
	if !p.peek(1).punct("(") {
		return false
	}
	depth := 0
	for k := 1; p.i+k < len(p.toks); k++ {
		switch t := p.peek(k); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			if depth--; depth == 0 {
				return false
			}
		case t.punct(",") && depth == 1:
			return true
		}
	}
	return false
}

// addInterval parses INTERVAL n unit behind + or -.
func (p *parser) addInterval(e ast.Expr, op string, pos int) ast.Expr {
	name := "date_add"
	if op == "-" {
		name = "date_sub"
	}
	n, unit := p.interval()
	return p.call(pos, name, e, n, unit)
}

var intervalUnits = wordSet(`microsecond second minute hour day week month quarter year second_microsecond
	minute_microsecond minute_second hour_microsecond hour_second hour_minute day_microsecond day_second
	day_minute day_hour year_month`)

// interval parses INTERVAL n unit.
func (p *parser) interval() (n, unit ast.Expr) {
	p.expect("interval")
	n = p.expr()
	return n, p.unit()
}

func (p *parser) unit() ast.Expr {
	t := p.peek(0)
	u := strings.TrimPrefix(t.text, "sql_tsi_")
	if t.kind != tokWord || !intervalUnits[u] {
		p.syntaxError()
	}
	p.i++
	return &ast.Lit{Kind: 's', Text: u, Pos: t.pos}
}

func (p *parser) unary() ast.Expr {
	t := p.peek(0)
	switch {
	case t.op("-"), t.op("+"), t.op("~"):
		p.enter()
		defer p.leave()
		p.i++
		x := p.unary()
		if t.text == "+" {
			return x
		}
		return &ast.Unary{Op: t.text, X: x, Pos: t.pos}
	case t.op("!"), t.is("not") && p.mode.HighNotPrecedence:
		p.enter()
		defer p.leave()
		p.i++
		return &ast.Not{X: p.unary(), Pos: t.pos}
	case t.is("binary") && !p.peek(1).punct(".") && !p.peek(1).punct(",") && !p.peek(1).punct(")"):
		p.enter()
		defer p.leave()
		p.i++
		return &ast.Collate{X: p.unary(), Name: ast.Name{Parts: []string{"binary"}, Pos: t.pos}, Pos: t.pos}
	}
	return p.postfix(p.primary())
}

// postfix parses COLLATE, the JSON arrows and, in PIPES_AS_CONCAT mode, ||.
func (p *parser) postfix(e ast.Expr) ast.Expr {
	for {
		t := p.peek(0)
		switch {
		case t.is("collate"):
			p.i++
			n := p.peek(0)
			name := n.value
			if n.kind == tokString {
				name = p.str()
			} else {
				name = p.ident()
			}
			e = &ast.Collate{X: e, Name: ast.Name{Parts: []string{strings.ToLower(name)}, Pos: n.pos}, Pos: t.pos}
		case t.op("->"), t.op("->>"):
			p.i++
			path := p.primary()
			e = p.call(t.pos, "json_extract", e, path)
			if t.text == "->>" {
				e = p.call(t.pos, "json_unquote", e)
			}
		case t.op("||") && p.mode.PipesAsConcat:
			p.i++
			e = p.call(t.pos, "concat", e, p.unary())
		default:
			return e
		}
	}
}

func (p *parser) call(pos int, name string, args ...ast.Expr) *ast.Call {
	c := &ast.Call{Name: ast.Name{Parts: []string{name}, Pos: pos}, Pos: pos}
	for _, a := range args {
		c.Args = append(c.Args, ast.Arg{Expr: a})
	}
	return c
}

func (p *parser) primary() ast.Expr {
	t := p.peek(0)
	switch t.kind {
	case tokNumber:
		p.i++
		return number(t)
	case tokString:
		return &ast.Lit{Kind: 's', Text: p.str(), Pos: t.pos}
	case tokHex:
		p.i++
		return &ast.Lit{Kind: 'h', Text: t.value, Pos: t.pos}
	case tokParam:
		p.i++
		p.params++
		return &ast.Param{Index: p.params, Pos: t.pos}
	case tokVar:
		return p.variable()
	case tokPunct:
		if t.text == "(" {
			return p.parenthesised()
		}
		if t.text == "{" {
			return p.odbc()
		}
	case tokQuoted:
		return p.nameOrCall()
	case tokWord:
		return p.word(t)
	}
	p.syntaxError()
	return nil
}

func number(t token) ast.Expr {
	switch {
	case strings.ContainsAny(t.text, "eE"):
		return &ast.Lit{Kind: 'f', Text: t.text, Pos: t.pos}
	case strings.Contains(t.text, "."):
		return &ast.Lit{Kind: 'n', Text: t.text, Pos: t.pos}
	}
	return &ast.Lit{Kind: 'i', Text: t.text, Pos: t.pos}
}

// variable parses @x and @@scope.x.
func (p *parser) variable() ast.Expr {
	t := p.next()
	v := &ast.Variable{Scope: "user", Name: strings.ToLower(t.value), Pos: t.pos}
	if t.text == "@@" {
		v.Scope = ""
		if scope, name, ok := strings.Cut(v.Name, "."); ok && (scope == "session" || scope == "global" || scope == "local" || scope == "persist") {
			if v.Scope, v.Name = scope, name; scope == "local" {
				v.Scope = "session"
			}
		}
	}
	if p.peek(0).op(":=") {
		return p.assign(v)
	}
	if v.Scope == "user" {
		return p.readVariable(v)
	}
	return v
}

// parenthesised parses (expr), (a, b) and (SELECT …).
func (p *parser) parenthesised() ast.Expr {
	p.enter()
	defer p.leave()
	pos := p.pos()
	if p.subqueryAhead() {
		p.expect("(")
		q := &ast.Subquery{Kind: 's', Query: p.query(), Pos: pos}
		p.expect(")")
		return q
	}
	p.expect("(")
	e := p.expr()
	if !p.ahead(",") {
		p.expect(")")
		return e
	}
	row := &ast.Row{Elems: []ast.Expr{e}, Pos: pos}
	for p.accept(",") {
		row.Elems = append(row.Elems, p.expr())
	}
	p.expect(")")
	return row
}

// subqueryAhead tells whether a parenthesis opens a query: behind any more of them stands
// SELECT, WITH, VALUES or TABLE.
func (p *parser) subqueryAhead() bool {
	k := 0
	for p.peek(k).punct("(") {
		k++
	}
	if !queryWord(p.peek(k), p.peek(k+1)) {
		return false
	}
	if k <= 1 {
		return true
	}
	// ((SELECT 1) + 1) is an expression, ((SELECT 1) UNION SELECT 2) a query: the token behind
	// the innermost query's parenthesis tells.
	depth := 0
	for j := k - 1; p.i+j < len(p.toks); j++ {
		switch t := p.peek(j); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			if depth--; depth == 0 {
				n := p.peek(j + 1)
				return n.punct(")") || n.is("union", "except", "intersect", "order", "limit")
			}
		}
	}
	return true
}

func queryWord(t, after token) bool {
	return t.is("select", "with") || t.is("values") && after.is("row") || t.is("table") && after.isName()
}

// queryAhead tells whether a query starts here.
func (p *parser) queryAhead() bool {
	if p.peek(0).punct("(") {
		return p.subqueryAhead()
	}
	return queryWord(p.peek(0), p.peek(1))
}

// odbc parses {d '…'}, {t '…'}, {ts '…'} and {fn f(…)}.
func (p *parser) odbc() ast.Expr {
	pos := p.pos()
	p.expect("{")
	word := strings.ToLower(p.ident())
	var e ast.Expr
	switch word {
	case "d":
		e = p.typed("date", pos)
	case "t":
		e = p.typed("time", pos)
	case "ts":
		e = p.typed("datetime", pos)
	case "fn":
		e = p.expr()
	default:
		p.syntaxError()
	}
	p.expect("}")
	return e
}

// typed parses the string of DATE '…', TIME '…', TIMESTAMP '…'.
func (p *parser) typed(name string, pos int) ast.Expr {
	x := &ast.Lit{Kind: 's', Pos: p.pos()}
	x.Text = p.str()
	return p.call(pos, "literal "+name, x)
}

// word parses what starts with a word: constants, special forms, calls and names.
func (p *parser) word(t token) ast.Expr {
	opens := p.peek(1).punct("(")
	str := p.peek(1).kind == tokString
	switch t.text {
	case "null":
		p.i++
		return &ast.Lit{Kind: '0', Pos: t.pos}
	case "true", "false":
		p.i++
		return &ast.Lit{Kind: 'b', Text: t.text, Pos: t.pos}
	case "date", "time", "timestamp":
		if str {
			p.i++
			if t.text == "timestamp" {
				return p.typed("datetime", t.pos)
			}
			return p.typed(t.text, t.pos)
		}
	case "case":
		return p.caseExpr()
	case "exists":
		if opens {
			p.i++
			q := &ast.Subquery{Kind: 'e', Pos: t.pos}
			p.parens(func() { q.Query = p.query() })
			return q
		}
	case "interval":
		if p.intervalCall() {
			break
		}
		// INTERVAL n unit + date
		n, unit := p.interval()
		p.expect("+")
		return p.call(t.pos, "date_add", p.bits(4), n, unit)
	case "row":
		if opens {
			p.i++
			r := &ast.Row{Pos: t.pos, Explicit: true}
			p.parens(func() { p.list(func() { r.Elems = append(r.Elems, p.expr()) }) })
			return r
		}
	case "default":
		p.i++
		if p.accept("(") {
			p.refuse(t.pos, "DEFAULT(column) is not supported")
		}
		return &ast.Default{Pos: t.pos}
	case "match":
		if opens {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "MATCH … AGAINST is not supported: tables have no full-text indexes").At(t.pos).
				WithHint("Use LIKE or REGEXP_LIKE."))
		}
	}
	if f, ok := special[t.text]; ok && opens {
		p.i++
		return f(p, t)
	}
	switch t.text {
	case "current_timestamp", "now", "localtime", "localtimestamp", "current_date", "curdate", "current_time",
		"curtime", "utc_date", "utc_time", "utc_timestamp", "current_user":
		if opens || t.text != "now" && t.text != "curdate" && t.text != "curtime" {
			p.i++
			c := p.call(t.pos, t.text)
			if p.accept("(") && !p.accept(")") {
				c.Args = []ast.Arg{{Expr: p.expr()}}
				p.expect(")")
			}
			return c
		}
	}
	if strings.HasPrefix(t.text, "_") && (str || p.peek(1).kind == tokHex) {
		if e := p.introduced(t); e != nil {
			return e
		}
	}
	return p.nameOrCall()
}

// introduced parses _charset'…'.
func (p *parser) introduced(t token) ast.Expr {
	switch t.text {
	case "_utf8mb4", "_utf8", "_utf8mb3", "_latin1", "_ascii", "_binary", "_ucs2", "_utf16", "_utf32":
	default:
		return nil
	}
	p.i++
	n := p.next()
	l := &ast.Lit{Kind: 's', Text: n.value, Pos: t.pos}
	switch t.text {
	case "_binary":
		l.Kind = 'h'
	case "_latin1":
		if n.kind == tokHex {
			// One byte a character.
			r := make([]rune, len(n.value))
			for i := 0; i < len(n.value); i++ {
				r[i] = rune(n.value[i])
			}
			l.Text = string(r)
		}
	case "_ucs2", "_utf16", "_utf32":
		p.refuse(t.pos, "character set %s is not supported: text is UTF-8", t.text[1:])
	}
	return l
}

func (p *parser) caseExpr() ast.Expr {
	p.enter()
	defer p.leave()
	c := &ast.Case{Pos: p.pos()}
	p.expect("case")
	if !p.ahead("when") {
		c.Operand = p.expr()
	}
	b := p.branches()
	for p.accept("when") {
		p.perhaps += min(len(c.Whens), 1) // later conditions are tested only if the first fails
		w := ast.When{Cond: p.expr()}
		p.perhaps -= min(len(c.Whens), 1)
		p.expect("then")
		w.Then = p.expr()
		b.next()
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.syntaxError()
	}
	if p.accept("else") {
		c.Else = p.expr()
	}
	b.next()
	p.expect("end")
	b.end(func(values []ast.Expr) ast.Expr {
		x := &ast.Case{Operand: c.Operand, Pos: c.Pos}
		for i, w := range c.Whens {
			x.Whens = append(x.Whens, ast.When{Cond: w.Cond, Then: values[i]})
		}
		x.Else = values[len(c.Whens)]
		return x
	})
	return c
}

// callable are reserved words that are functions' names.
var callable = wordSet(`if left right insert replace repeat mod char values database schema user rank
	dense_rank row_number cume_dist percent_rank ntile lag lead first_value last_value nth_value interval
	truncate convert format position substring year month day hour minute second week date time timestamp
	grouping password ascii`)

// nameOrCall parses a column or a function call.
func (p *parser) nameOrCall() ast.Expr {
	t := p.peek(0)
	if p.peek(1).punct("(") && (t.isName() || t.kind == tokWord && callable[t.text]) {
		p.i++
		return p.function(ast.Name{Parts: []string{strings.ToLower(t.value)}, Pos: t.pos})
	}
	n := p.dotted()
	if p.ahead("(") && len(n.Parts) > 1 {
		return p.function(n)
	}
	return &ast.Ident{Name: n}
}

// function parses a call's arguments and what may follow.
func (p *parser) function(n ast.Name) ast.Expr {
	p.enter()
	defer p.leave()
	c := &ast.Call{Name: n, Pos: n.Pos}
	p.expect("(")
	var b *branches // of IF
	switch {
	case p.accept("*"):
		c.Star = true
	case p.ahead(")"):
	default:
		if p.acceptAny("distinct", "distinctrow") {
			c.Distinct = true
		} else {
			p.accept("all")
		}
		lazy := len(n.Parts) == 1 && n.Parts[0] == "ifnull"
		p.list(func() {
			if lazy && len(c.Args) == 1 {
				p.perhaps++
				defer func() { p.perhaps-- }()
			}
			if len(c.Args) == 1 && len(n.Parts) == 1 && n.Parts[0] == "if" {
				b = p.branches()
			}
			if b != nil {
				defer b.next()
			}
			var a ast.Arg
			if p.peek(1).op("=>") && (p.peek(0).kind == tokWord || p.peek(0).kind == tokQuoted) {
				a.Name = p.ident()
				p.i++
			}
			a.Expr = p.expr()
			c.Args = append(c.Args, a)
		})
	}
	if b != nil && len(b.taken) == 2 {
		b.end(func(values []ast.Expr) ast.Expr {
			return &ast.Call{Name: n, Args: []ast.Arg{c.Args[0], {Expr: values[0]}, {Expr: values[1]}}, Pos: n.Pos}
		})
	}
	p.expect(")")
	p.over(c)
	return c
}

// over parses the OVER clause, with the IGNORE NULLS that may stand before it.
func (p *parser) over(c *ast.Call) {
	if p.accept("from", "first") {
	} else if p.ahead("from", "last") {
		p.refuse(p.pos(), "FROM LAST is not supported")
	}
	if p.accept("respect", "nulls") {
	} else if p.accept("ignore", "nulls") {
		c.IgnoreNulls = true
	}
	if !p.accept("over") {
		return
	}
	if !p.ahead("(") {
		pos := p.pos()
		c.Over = &ast.WindowDef{Name: p.name(), Pos: pos}
		return
	}
	w := p.windowSpec()
	c.Over = &w
}
