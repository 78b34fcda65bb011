package mysql

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// asOfAhead tells whether a time-travel clause starts here.
func (p *parser) asOfAhead() bool {
	switch t := p.Peek(0); {
	case t.Is("for"):
		return p.Peek(1).Is("system_time", "system_version") ||
			p.Peek(1).Is("timestamp", "version") && p.Peek(2).Is("as")
	case t.Is("timestamp", "version", "system_time", "system_version"):
		return p.Peek(1).Is("as") && p.Peek(2).Is("of")
	case t.Is("as"):
		return p.Peek(1).Is("of")
	case t.Is("at", "before"):
		return p.Peek(1).Punct("(") && p.Peek(3).Op("=>")
	}
	return false
}

// asOf parses a time-travel clause; nil where there is none.
func (p *parser) asOf() *ast.AsOf {
	if !p.asOfAhead() {
		return nil
	}
	a := p.AsOf()
	if p.asOfAhead() {
		p.TwoClauses(p.Pos())
	}
	return a
}
