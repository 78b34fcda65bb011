package pg

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// statement parses the statement from token p.i to the end. By hand what the grammar lacks;
// EXPLAIN and PREPARE too, because what they hold may be such a statement.
func (p *stmtParser) statement() ast.Stmt {
	if p.atEnd() {
		p.syntaxError()
		return &ast.Empty{}
	}
	if s, ok := p.byHand(); ok {
		p.end()
		p.checkAttached()
		return s
	}
	p.cutTimeTravel()
	if p.err != nil {
		return &ast.Empty{}
	}
	switch p.verb() {
	case "insert":
		return p.insert()
	case "merge":
		s := p.merge()
		p.end()
		p.checkAttached()
		return s
	}
	n, c := p.grammar("", p.pos(), len(p.text), "")
	if n == nil {
		return &ast.Empty{}
	}
	s := c.stmt(n)
	p.checkAttached()
	return s
}

// byHand parses statements that are not queries and that the grammar does not take or takes
// too narrowly.
func (p *stmtParser) byHand() (ast.Stmt, bool) {
	t := p.peek(0)
	if t.kind != tokWord {
		return nil, false
	}
	switch t.text {
	case "explain", "describe", "desc":
		if t.text == "explain" {
			return p.explain(), true
		}
	case "prepare":
		if !p.peek(1).is("transaction") {
			return p.prepare(), true
		}
	case "create":
		return p.create()
	case "alter":
		return p.alter()
	case "drop":
		return p.drop()
	case "call":
		return p.call(), true
	case "vacuum":
		return p.vacuum(), true
	case "optimize":
		return p.optimize(), true
	case "rollback":
		if p.peek(1).is("table") {
			return p.rollbackTable(), true
		}
	}
	return nil, false
}

// verb is the first word behind WITH's list: what the statement does.
func (p *stmtParser) verb() string {
	if !p.peek(0).is("with") {
		return p.peek(0).text
	}
	k := p.upTo(p.stopAt("select", "insert", "update", "delete", "merge", "values", "table"))
	if k < len(p.toks) {
		return p.toks[k].text
	}
	return ""
}
