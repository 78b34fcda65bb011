package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// MySQL's precedence, from the loosest: OR ||, XOR, AND &&, NOT, comparison and IS, BETWEEN IN
// LIKE REGEXP, |, &, << >>, + -, * / DIV % MOD, ^, unary - ~, !, BINARY COLLATE.

// Expr parses an expression, which ends where it ends.
func (p *parser) Expr(...string) ast.Expr { return p.expr() }

// Operand parses the instant or version of a time-travel clause.
func (p *parser) Operand() ast.Expr { return p.bits(3) }

func (p *parser) Instant() ast.Expr { return p.expr() }

func (p *parser) expr() ast.Expr {
	p.enter()
	defer p.leave()
	e := p.xor()
	if !p.orAhead() {
		return e
	}
	or := &ast.Or{Args: []ast.Expr{e}, Pos: p.Pos()}
	p.perhaps++
	defer func() { p.perhaps-- }()
	for p.orAhead() {
		p.At++
		or.Args = append(or.Args, p.xor())
	}
	return or
}

func (p *parser) orAhead() bool {
	return p.Peek(0).Is("or") || p.Peek(0).Op("||") && !p.mode.PipesAsConcat
}

func (p *parser) xor() ast.Expr {
	e := p.and()
	for p.Peek(0).Is("xor") {
		pos := p.Take().Pos
		e = &ast.Binary{Op: "xor", L: e, R: p.and(), Pos: pos}
	}
	return e
}

func (p *parser) and() ast.Expr {
	e := p.not()
	ahead := func() bool { return p.Peek(0).Is("and") || p.Peek(0).Op("&&") }
	if !ahead() {
		return e
	}
	and := &ast.And{Args: []ast.Expr{e}, Pos: p.Pos()}
	p.perhaps++
	defer func() { p.perhaps-- }()
	for ahead() {
		p.At++
		and.Args = append(and.Args, p.not())
	}
	return and
}

func (p *parser) not() ast.Expr {
	if !p.Peek(0).Is("not") || p.mode.HighNotPrecedence {
		return p.comparison()
	}
	p.enter()
	defer p.leave()
	pos := p.Take().Pos
	return &ast.Not{X: p.not(), Pos: pos}
}

// comparison parses comparisons, which are left-associative, and IS.
func (p *parser) comparison() ast.Expr {
	e := p.predicate()
	for {
		t := p.Peek(0)
		switch {
		case t.Kind == token.Op && (t.Text == "=" || t.Text == "<" || t.Text == ">" || t.Text == "<=" ||
			t.Text == ">=" || t.Text == "<>" || t.Text == "!="):
			p.At++
			op := t.Text
			if op == "!=" {
				op = "<>"
			}
			e = p.compareWith(e, op, t.Pos)
		case t.Op("<=>"):
			p.At++
			e = &ast.IsDistinct{L: e, R: p.predicate(), Negate: true, Pos: t.Pos}
		case t.Is("is"):
			p.At++
			e = p.is(e, t.Pos)
		default:
			return e
		}
	}
}

// compareWith parses the right side of a comparison: a value, or ANY, SOME or ALL of a query.
func (p *parser) compareWith(l ast.Expr, op string, pos int) ast.Expr {
	t := p.Peek(0)
	if t.Is("any", "some", "all") && p.Peek(1).Punct("(") {
		p.At++
		q := &ast.Subquery{Kind: 'a', Test: l, Op: op, Pos: pos}
		if t.Is("all") {
			q.Kind = 'l'
		}
		p.Parens(func() { q.Query = p.query() })
		return q
	}
	return &ast.Binary{Op: op, L: l, R: p.predicate(), Pos: pos}
}

func (p *parser) is(e ast.Expr, pos int) ast.Expr {
	negate := p.Accept("not")
	switch {
	case p.Accept("null"):
		return &ast.IsNull{X: e, Negate: negate, Pos: pos}
	case p.Accept("true"):
		return &ast.IsBool{X: e, Value: 't', Negate: negate, Pos: pos}
	case p.Accept("false"):
		return &ast.IsBool{X: e, Value: 'f', Negate: negate, Pos: pos}
	case p.Accept("unknown"):
		return &ast.IsBool{X: e, Value: 'u', Negate: negate, Pos: pos}
	case p.Accept("distinct", "from"):
		return &ast.IsDistinct{L: e, R: p.predicate(), Negate: negate, Pos: pos}
	}
	p.SyntaxError()
	return nil
}

// predicate parses IN, BETWEEN, LIKE, REGEXP, SOUNDS LIKE and MEMBER OF.
func (p *parser) predicate() ast.Expr {
	e := p.bits(0)
	negate := p.Peek(0).Is("not") && p.Peek(1).Is("in", "between", "like", "regexp", "rlike")
	if negate {
		p.At++
	}
	pos := p.Pos()
	not := func(x ast.Expr) ast.Expr {
		if negate {
			return &ast.Not{X: x, Pos: pos}
		}
		return x
	}
	switch {
	case p.Accept("in"):
		return p.in(e, negate, pos)
	case p.Accept("between"):
		p.enter()
		defer p.leave()
		lo := p.bits(0)
		p.Expect("and")
		return &ast.Between{X: e, Lo: lo, Hi: p.predicate(), Negate: negate, Pos: pos}
	case p.Accept("like"):
		c := p.call(pos, "like", e, p.bits(0))
		if p.Accept("escape") {
			c.Args = append(c.Args, ast.Arg{Expr: p.primary()})
		}
		return not(c)
	case p.Accept("regexp"), p.Accept("rlike"):
		return not(p.call(pos, "regexp_like", e, p.bits(0)))
	case p.Accept("sounds", "like"):
		return &ast.Binary{Op: "=", L: p.call(pos, "soundex", e), R: p.call(pos, "soundex", p.bits(0)), Pos: pos}
	case p.Accept("member", "of"):
		var list ast.Expr
		p.Parens(func() { list = p.expr() })
		return p.call(pos, "member of", e, list)
	}
	return e
}

func (p *parser) in(e ast.Expr, negate bool, pos int) ast.Expr {
	p.Expect("(")
	if p.queryAhead() {
		q := &ast.Subquery{Kind: 'a', Test: e, Op: "=", Query: p.query(), Pos: pos}
		p.Expect(")")
		if negate {
			return &ast.Not{X: q, Pos: pos}
		}
		return q
	}
	in := &ast.In{X: e, Negate: negate, Pos: pos}
	p.List(func() { in.List = append(in.List, p.expr()) })
	p.Expect(")")
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
		t := p.Peek(0)
		for _, o := range levels[n] {
			if t.Text == o && (t.Kind == token.Op || t.Kind == token.Word) {
				op = o
			}
		}
		if op == "" {
			return e
		}
		p.At++
		if op == "%" {
			op = "mod"
		}
		if (op == "+" || op == "-") && p.Peek(0).Is("interval") && !p.intervalCall() {
			e = p.addInterval(e, op, t.Pos)
			continue
		}
		e = &ast.Binary{Op: op, L: e, R: p.bits(n + 1), Pos: t.Pos}
	}
}

// intervalCall tells INTERVAL(a, b, …), the function, from INTERVAL (a) unit.
func (p *parser) intervalCall() bool {
	if !p.Peek(1).Punct("(") {
		return false
	}
	depth := 0
	for k := 1; p.At+k < len(p.Toks); k++ {
		switch t := p.Peek(k); {
		case t.Punct("("):
			depth++
		case t.Punct(")"):
			if depth--; depth == 0 {
				return false
			}
		case t.Punct(",") && depth == 1:
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

var intervalUnits = token.Set(`microsecond second minute hour day week month quarter year second_microsecond
	minute_microsecond minute_second hour_microsecond hour_second hour_minute day_microsecond day_second
	day_minute day_hour year_month`)

// interval parses INTERVAL n unit.
func (p *parser) interval() (n, unit ast.Expr) {
	p.Expect("interval")
	n = p.expr()
	return n, p.unit()
}

func (p *parser) unit() ast.Expr {
	t := p.Peek(0)
	u := strings.TrimPrefix(t.Text, "sql_tsi_")
	if t.Kind != token.Word || !intervalUnits[u] {
		p.SyntaxError()
	}
	p.At++
	return &ast.Lit{Kind: 's', Text: u, Pos: t.Pos}
}

func (p *parser) unary() ast.Expr {
	t := p.Peek(0)
	switch {
	case t.Op("-"), t.Op("+"), t.Op("~"):
		p.enter()
		defer p.leave()
		p.At++
		x := p.unary()
		if t.Text == "+" {
			return x
		}
		return &ast.Unary{Op: t.Text, X: x, Pos: t.Pos}
	case t.Op("!"), t.Is("not") && p.mode.HighNotPrecedence:
		p.enter()
		defer p.leave()
		p.At++
		return &ast.Not{X: p.unary(), Pos: t.Pos}
	case t.Is("binary") && !p.Peek(1).Punct(".") && !p.Peek(1).Punct(",") && !p.Peek(1).Punct(")"):
		p.enter()
		defer p.leave()
		p.At++
		return &ast.Collate{X: p.unary(), Name: ast.Name{Parts: []string{"binary"}, Pos: t.Pos}, Pos: t.Pos}
	}
	return p.postfix(p.primary())
}

// postfix parses COLLATE, the JSON arrows and, in PIPES_AS_CONCAT mode, ||.
func (p *parser) postfix(e ast.Expr) ast.Expr {
	for {
		t := p.Peek(0)
		switch {
		case t.Is("collate"):
			p.At++
			n := p.Peek(0)
			var name string
			if n.Kind == token.String {
				name = p.Str()
			} else {
				name = p.Ident()
			}
			e = &ast.Collate{X: e, Name: ast.Name{Parts: []string{strings.ToLower(name)}, Pos: n.Pos}, Pos: t.Pos}
		case t.Op("->"), t.Op("->>"):
			p.At++
			path := p.primary()
			e = p.call(t.Pos, "json_extract", e, path)
			if t.Text == "->>" {
				e = p.call(t.Pos, "json_unquote", e)
			}
		case t.Op("||") && p.mode.PipesAsConcat:
			p.At++
			e = p.call(t.Pos, "concat", e, p.unary())
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
	t := p.Peek(0)
	switch t.Kind {
	case token.Number:
		p.At++
		return number(t)
	case token.String:
		return &ast.Lit{Kind: 's', Text: p.Str(), Pos: t.Pos}
	case token.Hex:
		p.At++
		return &ast.Lit{Kind: 'h', Text: t.Value, Pos: t.Pos}
	case token.Param:
		p.At++
		p.params++
		return &ast.Param{Index: p.params, Pos: t.Pos}
	case token.Var:
		return p.variable()
	case token.Punct:
		if t.Text == "(" {
			return p.parenthesised()
		}
		if t.Text == "{" {
			return p.odbc()
		}
	case token.Quoted:
		return p.nameOrCall()
	case token.Word:
		return p.word(t)
	}
	p.SyntaxError()
	return nil
}

func number(t token.Token) ast.Expr {
	switch {
	case strings.ContainsAny(t.Text, "eE"):
		return &ast.Lit{Kind: 'f', Text: t.Text, Pos: t.Pos}
	case strings.Contains(t.Text, "."):
		return &ast.Lit{Kind: 'n', Text: t.Text, Pos: t.Pos}
	}
	return &ast.Lit{Kind: 'i', Text: t.Text, Pos: t.Pos}
}

// variable parses @x and @@scope.x.
func (p *parser) variable() ast.Expr {
	t := p.Take()
	v := &ast.Variable{Scope: "user", Name: strings.ToLower(t.Value), Pos: t.Pos}
	if t.Text == "@@" {
		v.Scope = ""
		if scope, name, ok := strings.Cut(v.Name, "."); ok && (scope == "session" || scope == "global" || scope == "local" || scope == "persist") {
			if v.Scope, v.Name = scope, name; scope == "local" {
				v.Scope = "session"
			}
		}
	}
	if p.Peek(0).Op(":=") {
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
	pos := p.Pos()
	if p.subqueryAhead() {
		p.Expect("(")
		q := &ast.Subquery{Kind: 's', Query: p.query(), Pos: pos}
		p.Expect(")")
		return q
	}
	p.Expect("(")
	e := p.expr()
	if !p.Ahead(",") {
		p.Expect(")")
		return e
	}
	row := &ast.Row{Elems: []ast.Expr{e}, Pos: pos}
	for p.Accept(",") {
		row.Elems = append(row.Elems, p.expr())
	}
	p.Expect(")")
	return row
}

// subqueryAhead tells whether a parenthesis opens a query: behind any more of them stands
// SELECT, WITH, VALUES or TABLE.
func (p *parser) subqueryAhead() bool {
	k := 0
	for p.Peek(k).Punct("(") {
		k++
	}
	if !queryWord(p.Peek(k), p.Peek(k+1)) {
		return false
	}
	if k <= 1 {
		return true
	}
	// ((SELECT 1) + 1) is an expression, ((SELECT 1) UNION SELECT 2) a query: the token behind
	// the innermost query's parenthesis tells.
	depth := 0
	for j := k - 1; p.At+j < len(p.Toks); j++ {
		switch t := p.Peek(j); {
		case t.Punct("("):
			depth++
		case t.Punct(")"):
			if depth--; depth == 0 {
				n := p.Peek(j + 1)
				return n.Punct(")") || n.Is("union", "except", "intersect", "order", "limit")
			}
		}
	}
	return true
}

func queryWord(t, after token.Token) bool {
	return t.Is("select", "with") || t.Is("values") && after.Is("row") || t.Is("table") && after.IsName()
}

// queryAhead tells whether a query starts here.
func (p *parser) queryAhead() bool {
	if p.Peek(0).Punct("(") {
		return p.subqueryAhead()
	}
	return queryWord(p.Peek(0), p.Peek(1))
}

// odbc parses {d '…'}, {t '…'}, {ts '…'} and {fn f(…)}.
func (p *parser) odbc() ast.Expr {
	pos := p.Pos()
	p.Expect("{")
	word := strings.ToLower(p.Ident())
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
		p.SyntaxError()
	}
	p.Expect("}")
	return e
}

// typed parses the string of DATE '…', TIME '…', TIMESTAMP '…'.
func (p *parser) typed(name string, pos int) ast.Expr {
	x := &ast.Lit{Kind: 's', Pos: p.Pos()}
	x.Text = p.Str()
	return p.call(pos, "literal "+name, x)
}

// word parses what starts with a word: constants, special forms, calls and names.
func (p *parser) word(t token.Token) ast.Expr {
	opens := p.Peek(1).Punct("(")
	str := p.Peek(1).Kind == token.String
	switch t.Text {
	case "null":
		p.At++
		return &ast.Lit{Kind: '0', Pos: t.Pos}
	case "true", "false":
		p.At++
		return &ast.Lit{Kind: 'b', Text: t.Text, Pos: t.Pos}
	case "date", "time", "timestamp":
		if str {
			p.At++
			if t.Text == "timestamp" {
				return p.typed("datetime", t.Pos)
			}
			return p.typed(t.Text, t.Pos)
		}
	case "values", "value":
		if opens && p.duplicate > 0 {
			p.At++
			id := &ast.Ident{Name: ast.Name{Parts: []string{ast.ValuesName}, Pos: t.Pos}}
			p.Parens(func() {
				n := p.Dotted()
				id.Parts = append(id.Parts, n.Parts[len(n.Parts)-1])
			})
			return id
		}
	case "case":
		return p.caseExpr()
	case "exists":
		if opens {
			p.At++
			q := &ast.Subquery{Kind: 'e', Pos: t.Pos}
			p.Parens(func() { q.Query = p.query() })
			return q
		}
	case "interval":
		if p.intervalCall() {
			break
		}
		// INTERVAL n unit + date
		n, unit := p.interval()
		p.Expect("+")
		return p.call(t.Pos, "date_add", p.bits(4), n, unit)
	case "row":
		if opens {
			p.At++
			r := &ast.Row{Pos: t.Pos, Explicit: true}
			p.Parens(func() { p.List(func() { r.Elems = append(r.Elems, p.expr()) }) })
			return r
		}
	case "default":
		p.At++
		if p.Accept("(") {
			p.Refuse(t.Pos, "DEFAULT(column) is not supported")
		}
		return &ast.Default{Pos: t.Pos}
	case "match":
		if opens {
			p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "MATCH … AGAINST is not supported: tables have no full-text indexes").At(t.Pos).
				WithHint("Use LIKE or REGEXP_LIKE."))
		}
	}
	if f, ok := special[t.Text]; ok && opens {
		p.At++
		return f(p, t)
	}
	switch t.Text {
	case "current_timestamp", "now", "localtime", "localtimestamp", "current_date", "curdate", "current_time",
		"curtime", "utc_date", "utc_time", "utc_timestamp", "current_user":
		if opens || t.Text != "now" && t.Text != "curdate" && t.Text != "curtime" {
			p.At++
			c := p.call(t.Pos, t.Text)
			if p.Accept("(") && !p.Accept(")") {
				c.Args = []ast.Arg{{Expr: p.expr()}}
				p.Expect(")")
			}
			return c
		}
	}
	if strings.HasPrefix(t.Text, "_") && (str || p.Peek(1).Kind == token.Hex) {
		if e := p.introduced(t); e != nil {
			return e
		}
	}
	return p.nameOrCall()
}

// introduced parses _charset'…'.
func (p *parser) introduced(t token.Token) ast.Expr {
	switch t.Text {
	case "_utf8mb4", "_utf8", "_utf8mb3", "_latin1", "_ascii", "_binary", "_ucs2", "_utf16", "_utf32":
	default:
		return nil
	}
	p.At++
	n := p.Take()
	l := &ast.Lit{Kind: 's', Text: n.Value, Pos: t.Pos}
	switch t.Text {
	case "_binary":
		l.Kind = 'h'
	case "_latin1":
		if n.Kind == token.Hex {
			// One byte a character.
			r := make([]rune, len(n.Value))
			for i := 0; i < len(n.Value); i++ {
				r[i] = rune(n.Value[i])
			}
			l.Text = string(r)
		}
	case "_ucs2", "_utf16", "_utf32":
		p.Refuse(t.Pos, "character set %s is not supported: text is UTF-8", t.Text[1:])
	}
	return l
}

func (p *parser) caseExpr() ast.Expr {
	p.enter()
	defer p.leave()
	c := &ast.Case{Pos: p.Pos()}
	p.Expect("case")
	if !p.Ahead("when") {
		c.Operand = p.expr()
	}
	b := p.branches()
	for p.Accept("when") {
		p.perhaps += min(len(c.Whens), 1) // later conditions are tested only if the first fails
		w := ast.When{Cond: p.expr()}
		p.perhaps -= min(len(c.Whens), 1)
		p.Expect("then")
		w.Then = p.expr()
		b.next()
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.SyntaxError()
	}
	if p.Accept("else") {
		c.Else = p.expr()
	}
	b.next()
	p.Expect("end")
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
var callable = token.Set(`if left right insert replace repeat mod char values database schema user rank
	dense_rank row_number cume_dist percent_rank ntile lag lead first_value last_value nth_value interval
	truncate convert format position substring year month day hour minute second week date time timestamp
	grouping password ascii`)

// nameOrCall parses a column or a function call.
func (p *parser) nameOrCall() ast.Expr {
	t := p.Peek(0)
	if p.Peek(1).Punct("(") && (t.IsName() || t.Kind == token.Word && callable[t.Text]) {
		p.At++
		return p.function(ast.Name{Parts: []string{strings.ToLower(t.Value)}, Pos: t.Pos})
	}
	n := p.Dotted()
	if p.Ahead("(") && len(n.Parts) > 1 {
		return p.function(n)
	}
	return &ast.Ident{Name: n}
}

// function parses a call's arguments and what may follow.
func (p *parser) function(n ast.Name) ast.Expr {
	p.enter()
	defer p.leave()
	c := &ast.Call{Name: n, Pos: n.Pos}
	p.Expect("(")
	var b *branches // of IF
	switch {
	case p.Accept("*"):
		c.Star = true
	case p.Ahead(")"):
	default:
		if p.AcceptAny("distinct", "distinctrow") {
			c.Distinct = true
		} else {
			p.Accept("all")
		}
		lazy := len(n.Parts) == 1 && n.Parts[0] == "ifnull"
		p.List(func() {
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
			if p.Peek(1).Op("=>") && (p.Peek(0).Kind == token.Word || p.Peek(0).Kind == token.Quoted) {
				a.Name = p.Ident()
				p.At++
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
	p.Expect(")")
	p.over(c)
	return c
}

// over parses the OVER clause, with the IGNORE NULLS that may stand before it.
func (p *parser) over(c *ast.Call) {
	if p.Accept("from", "first") {
	} else if p.Ahead("from", "last") {
		p.Refuse(p.Pos(), "FROM LAST is not supported")
	}
	if p.Accept("respect", "nulls") {
	} else if p.Accept("ignore", "nulls") {
		c.IgnoreNulls = true
	}
	if !p.Accept("over") {
		return
	}
	if !p.Ahead("(") {
		pos := p.Pos()
		c.Over = &ast.WindowDef{Name: p.Name(), Pos: pos}
		return
	}
	w := p.windowSpec()
	c.Over = &w
}
