package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
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
	save := p.At
	for k := p.At; k < len(p.Toks); k++ {
		if p.Toks[k].Is("timestamp") && k+1 < len(p.Toks) && p.Toks[k+1].Punct("=>") {
			// iceberg('path', timestamp => …): the word can name no argument in PostgreSQL's grammar.
			copy(p.work[p.Toks[k].Pos:], "as_of    ")
		}
		if !p.startsClause(k) {
			continue
		}
		p.At = k
		p.cutClause(k)
		k = max(k, p.At-1)
	}
	p.At = save
}

// startsClause tells whether a time-travel clause starts at token k. The words before decide
// for the spellings that could be something else.
func (p *stmtParser) startsClause(k int) bool {
	save := p.At
	p.At = k
	defer func() { p.At = save }()
	t := p.Toks[k]
	if k == 0 || t.Kind != token.Word {
		return false
	}
	if t.Text == "for" {
		return p.Ahead("for", "system_time") || p.Ahead("for", "system_version") ||
			p.Ahead("for", "timestamp", "as", "of") || p.Ahead("for", "version", "as", "of")
	}
	before := p.Toks[k-1]
	if !before.IsName() && !before.Punct(")") {
		return false
	}
	switch t.Text {
	case "timestamp", "version", "system_time", "system_version":
		return p.Peek(1).Is("as") && p.Peek(2).Is("of") && !p.fromFollows(3)
	case "as":
		if !p.Peek(1).Is("of") {
			return false
		}
		n := p.Peek(2)
		return n.Kind == token.String || n.Is("timestamp", "version") && !p.Peek(3).Punct(",") ||
			n.Is("system") && p.Peek(3).Is("time")
	case "at", "before":
		return p.Peek(1).Punct("(") && p.Peek(3).Punct("=>")
	}
	return false
}

// fromFollows keeps SELECT a.b version AS of FROM t from being read as a clause; such a list is
// no SQL anyway, but its error should be the grammar's.
func (p *stmtParser) fromFollows(k int) bool {
	return p.Peek(k).Is("from", "where") || p.Peek(k).Punct(",")
}

// cutClause parses the clause at token k, blanks it and attaches it.
func (p *stmtParser) cutClause(k int) {
	from := p.Pos()
	asOf := p.AsOf()
	for i := from; i < p.Toks[p.At-1].End; i++ {
		p.work[i] = ' '
	}
	p.attach(k, asOf)
}

// Operand reads the clause's expression. Where it ends is found by token, because an alias or
// a join may follow without any separator: an operand, then as long as an arithmetic operator
// follows, another operand. Then the grammar parses that part.
func (p *stmtParser) Operand() ast.Expr {
	if n := p.Peek(1); p.Peek(-1).Is("timestamp") && p.Peek(0).Kind == token.String && (n.Kind == token.Op || n.Is("at") && !p.Peek(2).Punct("(")) {
		// AS OF TIMESTAMP '…': the word is the clause's, and the string may have a zone, which a
		// TIMESTAMP literal would drop; in a longer expression it is the literal's.
		p.At--
	}
	from := p.At
	for p.skipPrimary(); p.Peek(0).Kind == token.Op; p.skipPrimary() {
		p.At++
	}
	return p.exprBetween(p.Toks[from].Pos, p.Toks[p.At-1].End)
}

// skipPrimary passes a constant, parameter, typed literal, name, call, CASE or parenthesis with
// the casts, subscripts and AT TIME ZONE behind it.
func (p *stmtParser) skipPrimary() {
	for p.Peek(0).Kind == token.Op { // sign
		p.At++
	}
	t := p.Peek(0)
	switch {
	case t.Kind == token.String, t.Kind == token.Number, t.Kind == token.Param:
		p.At++
	case t.Punct("("):
		p.skipParens()
	case t.Is("case"):
		p.At++
		p.At = p.upTo(p.stopAt("end"))
		p.Expect("end")
	case t.Is("cast", "current_timestamp", "current_date", "localtimestamp", "current_time", "localtime", "null", "array"):
		p.At++
		if p.Peek(0).Punct("(") || p.Peek(0).Punct("[") {
			p.skipParens()
		}
	case t.Is("timestamp", "time", "interval", "date", "timestamptz") && p.skipTypedLiteral():
	case t.IsName():
		p.At++
		for p.Accept(".") {
			p.Ident()
		}
		if p.Peek(0).Punct("(") {
			p.skipParens()
		} else if p.Peek(0).Kind == token.String {
			p.At++ // a generic typed literal: mytype '…'
		}
	default:
		p.SyntaxError()
	}
	for {
		switch {
		case p.Accept("::"):
			p.skipType()
		case p.Peek(0).Punct("["):
			p.skipParens()
		case p.Accept("at", "time", "zone"):
			p.skipPrimary()
		case p.Accept("at", "local"):
		default:
			return
		}
	}
}

// skipTypedLiteral passes TIMESTAMP [(n)] [WITH TIME ZONE] '…' [fields of an interval].
func (p *stmtParser) skipTypedLiteral() bool {
	save := p.At
	interval := p.Peek(0).Is("interval")
	p.At++
	if p.Peek(0).Punct("(") {
		p.skipParens()
	}
	_ = p.Accept("with", "time", "zone") || p.Accept("without", "time", "zone")
	if p.Peek(0).Kind != token.String {
		p.At = save
		return false
	}
	p.At++
	if interval && p.Peek(0).Is("year", "month", "day", "hour", "minute", "second") {
		p.At++
		if p.Accept("to") {
			p.At++
		}
	}
	return true
}

func (p *stmtParser) skipType() {
	switch {
	case p.Accept("double", "precision"), p.Accept("character", "varying"), p.Accept("bit", "varying"):
	default:
		p.Dotted()
	}
	if p.Peek(0).Punct("(") {
		p.skipParens()
	}
	_ = p.Accept("with", "time", "zone") || p.Accept("without", "time", "zone")
}

// skipParens passes a balanced parenthesis or bracket.
func (p *stmtParser) skipParens() {
	p.At++
	p.At = p.upTo(func(int) bool { return false })
	if !p.Peek(0).Punct(")") && !p.Peek(0).Punct("]") {
		p.SyntaxError()
	}
	p.At++
}

// attach finds the relation that stands before token k. Going left from the clause:
//
//	name            name alias           name AS alias        name alias (columns)
//	(query)         (query) alias        (query) AS alias (columns)
func (p *stmtParser) attach(k int, a *ast.AsOf) {
	i := k - 1
	if p.work[p.Toks[i].Pos] == ' ' {
		p.TwoClauses(a.Pos)
	}
	if p.Toks[i].Punct(")") {
		open := p.openingOf(i)
		if open < 0 {
			p.Fail(p.unexpected(p.Toks[k]))
		}
		if open == 0 || !p.Toks[open-1].IsName() {
			p.subAsOf = append(p.subAsOf, &subqueryAsOf{open: p.Toks[open].Pos, close: p.Toks[i].Pos, asOf: a})
			return
		}
		i = open - 1 // an alias with columns
		if p.isPathTable(i) {
			p.remember(i, a)
			return
		}
		if !p.hasAliasBefore(i) {
			p.FailAt(a.Pos, sqlerr.SyntaxError, "time travel applies to tables and queries, not to functions")
		}
	}
	start := p.nameStart(i)
	if p.Toks[start-min(start, 1)].Is("as") && start > 0 {
		i = start - 2
	} else if start > 0 && start == i && (p.Toks[start-1].IsName() && !p.Toks[start-1].Is("outer") || p.Toks[start-1].Punct(")")) {
		i = start - 1
	} else {
		p.remember(start, a)
		return
	}
	if i < 0 {
		p.Fail(p.unexpected(p.Toks[k]))
	}
	if p.Toks[i].Punct(")") {
		open := p.openingOf(i)
		if open > 0 && p.isPathTable(open-1) {
			p.remember(open-1, a)
			return
		}
		if open < 0 || open > 0 && p.Toks[open-1].IsName() {
			p.FailAt(a.Pos, sqlerr.SyntaxError, "time travel applies to tables and queries, not to functions")
		}
		p.subAsOf = append(p.subAsOf, &subqueryAsOf{open: p.Toks[open].Pos, close: p.Toks[i].Pos, asOf: a})
		return
	}
	p.remember(p.nameStart(i), a)
}

// isPathTable tells whether token i is the name of iceberg('path'), a table that looks like a function.
func (p *stmtParser) isPathTable(i int) bool {
	return p.Toks[i].IsName() && p.Toks[i].Value == "iceberg" && (i == 0 || !p.Toks[i-1].Punct("."))
}

func (p *stmtParser) remember(start int, a *ast.AsOf) {
	pos := p.Toks[start].Pos
	if p.asOf[pos] != nil {
		p.TwoClauses(a.Pos)
	}
	p.asOf[pos] = a
}

func (p *stmtParser) hasAliasBefore(i int) bool {
	return i > 0 && (p.Toks[i-1].Is("as") || p.Toks[i-1].IsName() || p.Toks[i-1].Punct(")"))
}

// nameStart gives the first token of the dotted name that ends at token i.
func (p *stmtParser) nameStart(i int) int {
	for i >= 2 && p.Toks[i-1].Punct(".") {
		i -= 2
	}
	return i
}

// openingOf gives the token that opens the parenthesis closed at i, -1 if none does.
func (p *stmtParser) openingOf(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch {
		case p.Toks[i].Punct(")"):
			depth++
		case p.Toks[i].Punct("("):
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
		p.FailAt(a.Pos, sqlerr.SyntaxError, "a time-travel clause must follow a table in FROM")
	}
	for _, s := range p.subAsOf {
		if s.owner == nil {
			p.FailAt(s.asOf.Pos, sqlerr.SyntaxError, "a time-travel clause must follow a table or a query in FROM")
		}
	}
}
