package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// This file finds time-travel clauses by token, parses what they say, blanks them in the text
// that the grammar gets, and remembers which relation each belongs to:
//
//	FROM events FOR SYSTEM_TIME AS OF now() - interval '1 day' AS e JOIN …
//	FROM events                                                AS e JOIN …    asOf[position of events]
//
// A clause only ever stands behind a relation's name or alias or a parenthesis, which keeps it
// apart from what PostgreSQL itself allows: SELECT version AS of, FOR UPDATE, AT TIME ZONE.

// subqueryAsOf is a clause behind a parenthesised query.
type subqueryAsOf struct {
	open, close int // positions of the parentheses
	asOf        *ast.AsOf
	owner       *ast.SubqueryTable
}

// cutTimeTravel cuts every clause from token p.i on.
func (p *stmtParser) cutTimeTravel() {
	save := p.i
	for k := p.i; k < len(p.toks) && p.err == nil; k++ {
		if !p.startsClause(k) {
			continue
		}
		p.i = k
		p.cutClause(k)
		k = max(k, p.i-1)
	}
	p.i = save
}

// startsClause tells whether a time-travel clause starts at token k. The words before decide
// for the spellings that could be something else.
func (p *stmtParser) startsClause(k int) bool {
	save := p.i
	p.i = k
	defer func() { p.i = save }()
	t := p.toks[k]
	if k == 0 || t.kind != tokWord {
		return false
	}
	if t.text == "for" {
		return p.ahead("for", "system_time") || p.ahead("for", "system_version") ||
			p.ahead("for", "timestamp", "as", "of") || p.ahead("for", "version", "as", "of")
	}
	before := p.toks[k-1]
	if !before.isName() && !before.punct(")") {
		return false
	}
	switch t.text {
	case "timestamp", "version", "system_time", "system_version":
		return p.peek(1).is("as") && p.peek(2).is("of") && !p.fromFollows(3)
	case "as":
		if !p.peek(1).is("of") {
			return false
		}
		n := p.peek(2)
		return n.kind == tokString || n.is("timestamp", "version") && !p.peek(3).punct(",") ||
			n.is("system") && p.peek(3).is("time")
	case "at", "before":
		return p.peek(1).punct("(") && p.peek(3).punct("=>")
	}
	return false
}

// fromFollows keeps SELECT a.b version AS of FROM t from being read as a clause; such a list is
// no SQL anyway, but its error should be the grammar's.
func (p *stmtParser) fromFollows(k int) bool {
	return p.peek(k).is("from", "where") || p.peek(k).punct(",")
}

// cutClause parses the clause at token k, blanks it and attaches it.
func (p *stmtParser) cutClause(k int) {
	from := p.pos()
	asOf := p.asOfClause()
	if p.err != nil {
		return
	}
	asOf.Pos = from
	for i := from; i < p.toks[p.i-1].end; i++ {
		p.work[i] = ' '
	}
	p.attach(k, asOf)
}

// asOfClause reads one clause, all spellings.
func (p *stmtParser) asOfClause() *ast.AsOf {
	a := &ast.AsOf{Pos: p.pos()}
	switch {
	case p.accept("at"):
		p.atClause(a, false)
	case p.accept("before"):
		p.atClause(a, true)
	case p.accept("for", "system_time"):
		p.systemTime(a)
	case p.accept("for", "timestamp", "as", "of"), p.accept("timestamp", "as", "of"),
		p.accept("system_time", "as", "of"), p.accept("as", "of", "timestamp"),
		p.accept("as", "of", "system", "time"):
		if p.toks[p.i-1].is("timestamp") {
			// AS OF TIMESTAMP '…': the word is the clause's, and the string may have a zone,
			// which a TIMESTAMP literal would drop; in a longer expression it is the literal's.
			if n := p.peek(1); p.peek(0).kind == tokString && (n.kind == tokOp || n.is("at") && !p.peek(2).punct("(")) {
				p.i--
			}
		}
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.operand()
	case p.accept("for", "system_version", "as", "of"), p.accept("for", "version", "as", "of"),
		p.accept("version", "as", "of"), p.accept("system_version", "as", "of"),
		p.accept("as", "of", "version"), p.accept("as", "of"):
		a.Kind, a.Expr = ast.AsOfVersion, p.operand()
	default:
		p.syntaxError()
	}
	return a
}

func (p *stmtParser) systemTime(a *ast.AsOf) {
	switch {
	case p.accept("as", "of"):
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.operand()
	case p.accept("between"):
		a.Kind, a.Expr = ast.BetweenTime, p.operand()
		p.expect("and")
		a.Upper = p.operand()
	case p.accept("from"):
		a.Kind, a.Expr = ast.FromToTime, p.operand()
		p.expect("to")
		a.Upper = p.operand()
	case p.accept("contained", "in"):
		p.expect("(")
		a.Kind, a.Expr = ast.ContainedIn, p.expr(",")
		p.expect(",")
		a.Upper = p.expr()
		p.expect(")")
	case p.accept("all"):
		a.Kind = ast.AllVersions
	default:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "%s", p.unexpected(p.peek(0)).Error()).At(p.pos()).
			WithHint("After FOR SYSTEM_TIME comes AS OF e, BETWEEN a AND b, FROM a TO b, CONTAINED IN (a, b) or ALL."))
	}
}

// atClause reads (TIMESTAMP => e) and its like, DuckDB's and Snowflake's.
func (p *stmtParser) atClause(a *ast.AsOf, before bool) {
	p.expect("(")
	word := p.peek(0)
	p.i++
	p.expect("=>")
	if p.err != nil {
		return
	}
	a.Expr = p.expr()
	p.expect(")")
	switch {
	case word.is("timestamp"):
		a.Kind, a.UnixSeconds = ast.AsOfTime, true
		if before {
			a.Kind = ast.BeforeTime
		}
	case word.is("offset") && !before:
		a.Kind = ast.AsOfOffset
	case word.is("version", "snapshot", "statement", "branch", "tag"):
		a.Kind = ast.AsOfVersion
		if before {
			a.Kind = ast.BeforeVersion
		}
	default:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", p.text[word.pos:word.end]).At(word.pos).
			WithHint("Write AT (TIMESTAMP => e), AT (VERSION => n), AT (OFFSET => seconds), BEFORE (TIMESTAMP => e) or BEFORE (STATEMENT => n)."))
	}
}

// operand reads the clause's expression. Where it ends is found by token, because an alias or
// a join may follow without any separator: an operand, then as long as an arithmetic operator
// follows, another operand. Then the grammar parses that part.
func (p *stmtParser) operand() ast.Expr {
	from := p.i
	for p.err == nil {
		p.skipPrimary()
		if p.peek(0).kind != tokOp {
			break
		}
		p.i++
	}
	if p.err != nil || p.i == from {
		p.syntaxError()
		return nil
	}
	return p.exprBetween(p.toks[from].pos, p.toks[p.i-1].end)
}

// skipPrimary passes a constant, parameter, typed literal, name, call, CASE or parenthesis with
// the casts, subscripts and AT TIME ZONE behind it.
func (p *stmtParser) skipPrimary() {
	for p.peek(0).kind == tokOp { // sign
		p.i++
	}
	t := p.peek(0)
	switch {
	case t.kind == tokString, t.kind == tokNumber, t.kind == tokParam:
		p.i++
	case t.punct("("):
		p.skipParens()
	case t.is("case"):
		p.i++
		p.i = p.upTo(p.stopAt("end"))
		p.expect("end")
	case t.is("cast", "current_timestamp", "current_date", "localtimestamp", "current_time", "localtime", "null", "array"):
		p.i++
		if p.peek(0).punct("(") || p.peek(0).punct("[") {
			p.skipParens()
		}
	case t.is("timestamp", "time", "interval", "date", "timestamptz") && p.skipTypedLiteral():
	case t.isName():
		p.i++
		for p.accept(".") {
			p.ident()
		}
		if p.peek(0).punct("(") {
			p.skipParens()
		} else if p.peek(0).kind == tokString {
			p.i++ // a generic typed literal: mytype '…'
		}
	default:
		p.syntaxError()
		return
	}
	for p.err == nil {
		switch {
		case p.accept("::"):
			p.skipType()
		case p.peek(0).punct("["):
			p.skipParens()
		case p.accept("at", "time", "zone"):
			p.skipPrimary()
		case p.accept("at", "local"):
		default:
			return
		}
	}
}

// skipTypedLiteral passes TIMESTAMP [(n)] [WITH TIME ZONE] '…' [fields of an interval].
func (p *stmtParser) skipTypedLiteral() bool {
	save := p.i
	interval := p.peek(0).is("interval")
	p.i++
	if p.peek(0).punct("(") {
		p.skipParens()
	}
	_ = p.accept("with", "time", "zone") || p.accept("without", "time", "zone")
	if p.peek(0).kind != tokString {
		p.i = save
		return false
	}
	p.i++
	if interval && p.peek(0).is("year", "month", "day", "hour", "minute", "second") {
		p.i++
		if p.accept("to") {
			p.i++
		}
	}
	return true
}

func (p *stmtParser) skipType() {
	switch {
	case p.accept("double", "precision"), p.accept("character", "varying"), p.accept("bit", "varying"):
	default:
		p.dotted()
	}
	if p.peek(0).punct("(") {
		p.skipParens()
	}
	_ = p.accept("with", "time", "zone") || p.accept("without", "time", "zone")
}

// skipParens passes a balanced parenthesis or bracket.
func (p *stmtParser) skipParens() {
	p.i++
	p.i = p.upTo(func(int) bool { return false })
	if !p.peek(0).punct(")") && !p.peek(0).punct("]") {
		p.syntaxError()
		return
	}
	p.i++
}

// attach finds the relation that stands before token k. Going left from the clause:
//
//	name            name alias           name AS alias        name alias (columns)
//	(query)         (query) alias        (query) AS alias (columns)
func (p *stmtParser) attach(k int, a *ast.AsOf) {
	i := k - 1
	if p.work[p.toks[i].pos] == ' ' {
		p.failAt(a.Pos, sqlerr.SyntaxError, "a table cannot have two time-travel clauses")
		return
	}
	if p.toks[i].punct(")") {
		open := p.openingOf(i)
		if open < 0 {
			p.fail(p.unexpected(p.toks[k]))
			return
		}
		if open == 0 || !p.toks[open-1].isName() {
			p.subAsOf = append(p.subAsOf, &subqueryAsOf{open: p.toks[open].pos, close: p.toks[i].pos, asOf: a})
			return
		}
		i = open - 1 // an alias with columns
		if !p.hasAliasBefore(i) {
			p.failAt(a.Pos, sqlerr.SyntaxError, "time travel applies to tables and queries, not to functions")
			return
		}
	}
	start := p.nameStart(i)
	if p.toks[start-min(start, 1)].is("as") && start > 0 {
		i = start - 2
	} else if start > 0 && start == i && (p.toks[start-1].isName() && !p.toks[start-1].is("outer") || p.toks[start-1].punct(")")) {
		i = start - 1
	} else {
		p.remember(start, a)
		return
	}
	if i < 0 {
		p.fail(p.unexpected(p.toks[k]))
		return
	}
	if p.toks[i].punct(")") {
		open := p.openingOf(i)
		if open < 0 || open > 0 && p.toks[open-1].isName() {
			p.failAt(a.Pos, sqlerr.SyntaxError, "time travel applies to tables and queries, not to functions")
			return
		}
		p.subAsOf = append(p.subAsOf, &subqueryAsOf{open: p.toks[open].pos, close: p.toks[i].pos, asOf: a})
		return
	}
	p.remember(p.nameStart(i), a)
}

func (p *stmtParser) remember(start int, a *ast.AsOf) {
	pos := p.toks[start].pos
	if p.asOf[pos] != nil {
		p.failAt(a.Pos, sqlerr.SyntaxError, "a table cannot have two time-travel clauses")
		return
	}
	p.asOf[pos] = a
}

func (p *stmtParser) hasAliasBefore(i int) bool {
	return i > 0 && (p.toks[i-1].is("as") || p.toks[i-1].isName() || p.toks[i-1].punct(")"))
}

// nameStart gives the first token of the dotted name that ends at token i.
func (p *stmtParser) nameStart(i int) int {
	for i >= 2 && p.toks[i-1].punct(".") {
		i -= 2
	}
	return i
}

// openingOf gives the token that opens the parenthesis closed at i, -1 if none does.
func (p *stmtParser) openingOf(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch {
		case p.toks[i].punct(")"):
			depth++
		case p.toks[i].punct("("):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// takeSubqueryAsOf gives t the clause behind its parentheses. Inner queries are translated
// before the query around them, so the outermost one inside the parentheses comes last and takes
// the clause over.
func (p *stmtParser) takeSubqueryAsOf(t *ast.SubqueryTable) {
	for _, s := range p.subAsOf {
		if t.Pos > s.open && t.Pos < s.close {
			if s.owner != nil {
				s.owner.AsOf = nil
			}
			s.owner, t.AsOf = t, s.asOf
			return
		}
	}
}

// checkAttached refuses a clause that no relation took.
func (p *stmtParser) checkAttached() {
	for _, a := range p.asOf {
		p.failAt(a.Pos, sqlerr.SyntaxError, "a time-travel clause must follow a table in FROM")
	}
	for _, s := range p.subAsOf {
		if s.owner == nil {
			p.failAt(s.asOf.Pos, sqlerr.SyntaxError, "a time-travel clause must follow a table or a query in FROM")
		}
	}
}
