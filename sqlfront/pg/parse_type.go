package pg

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// Type parses a column's type: PostgreSQL's by the grammar, and nested ones by hand in
// Spark's spelling struct<a: int, b: string>, map<k, v>, array<t>, list<t>, and Trino's row(a
// int), map(k, v), array(t). Any of them may be followed by [].
func (p *stmtParser) Type() ast.TypeName {
	t := p.Peek(0)
	opens := func(k int) bool {
		return p.Peek(k).Punct("(") || p.Peek(k).Kind == token.Op && p.Peek(k).Text[0] == '<'
	}
	if t.Is("struct", "row", "map", "array", "list") && opens(1) {
		n := p.NestedType()
		for p.Accept("[", "]") {
			n.Array++
		}
		return n
	}
	from := p.At
	if p.Accept("interval") {
		for p.Peek(0).Is("year", "month", "day", "hour", "minute", "second", "to") {
			p.At++
		}
		if p.Peek(0).Punct("(") {
			p.skipParens()
		}
	} else {
		p.skipType()
	}
	for p.Ahead("[") || p.Ahead("array") {
		if p.Accept("array") {
			if p.Peek(0).Punct("[") {
				p.skipParens()
			}
		} else {
			p.skipParens()
		}
	}
	end := p.At
	p.At = from
	n, c := p.grammar("SELECT NULL::", p.Toks[from].Pos, p.Toks[end-1].End, "")
	p.At = end
	cast := n.GetSelectStmt().GetTargetList()
	if len(cast) != 1 || cast[0].GetResTarget().GetVal().GetTypeCast() == nil {
		p.At = from
		p.SyntaxError()
	}
	return c.typeName(cast[0].GetResTarget().GetVal().GetTypeCast().TypeName)
}
