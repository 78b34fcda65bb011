package pg

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// statement parses the statement from token p.i to the end. By hand what the grammar lacks;
// EXPLAIN and PREPARE too, because what they hold may be such a statement.
func (p *stmtParser) statement() ast.Stmt {
	if p.AtEnd() {
		p.SyntaxError()
	}
	if s, ok := p.byHand(); ok {
		p.end()
		p.checkAttached()
		return s
	}
	p.cutTimeTravel()
	p.cutBranch()
	switch p.verb() {
	case "insert":
		return p.insert()
	case "merge":
		s := p.merge()
		p.end()
		p.checkAttached()
		return s
	}
	n, c := p.grammar("", p.Pos(), len(p.Text), "")
	s := c.stmt(n)
	p.checkAttached()
	return s
}

// byHand parses statements that are not queries and that the grammar does not take or takes
// too narrowly.
func (p *stmtParser) byHand() (ast.Stmt, bool) {
	t := p.Peek(0)
	if t.Kind != token.Word {
		return nil, false
	}
	switch t.Text {
	case "explain", "describe", "desc":
		if t.Text == "explain" {
			return p.explain(), true
		}
	case "prepare":
		if !p.Peek(1).Is("transaction") {
			return p.prepare(), true
		}
	case "create":
		return p.create()
	case "alter":
		return p.alter()
	case "drop":
		return p.drop()
	case "call":
		return p.Call(), true
	case "vacuum":
		return p.vacuum(), true
	case "analyze", "analyse":
		return p.analyze(), true
	case "optimize":
		p.At++
		return p.Optimize(t.Pos), true
	case "show":
		if p.Ahead("show", "holders", "from") {
			return p.ShowHolders(), true
		}
	case "erase":
		return p.Erase(), true
	case "rollback":
		if p.Peek(1).Is("table") {
			return p.RollbackTable(), true
		}
	}
	return nil, false
}

// verb is the first word behind WITH's list: what the statement does.
func (p *stmtParser) verb() string {
	if !p.Peek(0).Is("with") {
		return p.Peek(0).Text
	}
	k := p.upTo(p.stopAt("select", "insert", "update", "delete", "merge", "values", "table"))
	if k < len(p.Toks) {
		return p.Toks[k].Text
	}
	return ""
}

// vacuum parses VACUUM [FULL] [FREEZE] [VERBOSE] [ANALYZE] | (options) [t, …].
func (p *stmtParser) vacuum() ast.Stmt {
	pos := p.Take().Pos
	full := false
	if p.Ahead("(") {
		first := p.At
		p.skipParens()
		for _, t := range p.Toks[first:p.At] {
			full = full || t.Is("full")
		}
	}
	for {
		if p.Ahead("full") {
			full = true
		}
		if !p.AcceptAny("full", "freeze", "verbose", "analyze", "analyse") {
			break
		}
	}
	return p.Vacuum(pos, full)
}

// analyze parses ANALYZE [VERBOSE] | (options) [t [(column, …)], …].
func (p *stmtParser) analyze() ast.Stmt {
	pos := p.Take().Pos
	if p.Ahead("(") {
		p.skipParens()
	}
	p.Accept("verbose")
	return p.Analyze(pos)
}

// drop parses DROP BRANCH|TAG … IN TABLE t, and DROP TABLE … PURGE by cutting the word; other
// DROPs are the grammar's.
func (p *stmtParser) drop() (ast.Stmt, bool) {
	pos := p.Pos()
	last, before := p.Toks[len(p.Toks)-1], p.Toks[max(len(p.Toks)-2, 0)]
	switch {
	case p.Ahead("drop", "branch"), p.Ahead("drop", "tag"):
		p.At++
		return p.DropRef(pos), true
	case p.Ahead("drop", "table") && len(p.Toks) > p.At+3 && last.Is("purge") && !before.Is("exists", "table") && !before.Punct(","):
		n, c := p.grammar("", pos, last.Pos, "")
		p.At = len(p.Toks)
		d, ok := c.stmt(n).(*ast.Drop)
		if !ok {
			return &ast.Empty{}, true
		}
		d.Purge = true
		return d, true
	}
	return nil, false
}
