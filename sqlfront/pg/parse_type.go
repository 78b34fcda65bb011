package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// typeSpec parses a column's type: PostgreSQL's by the grammar, and nested ones by hand in
// Spark's spelling struct<a: int, b: string>, map<k, v>, array<t>, list<t>, and Trino's row(a
// int), map(k, v), array(t). Any of them may be followed by [].
func (p *stmtParser) typeSpec() ast.TypeName {
	t := p.peek(0)
	opens := func(k int) bool { return p.peek(k).punct("(") || p.peek(k).kind == tokOp && p.peek(k).text[0] == '<' }
	if t.is("struct", "row", "map", "array", "list") && opens(1) {
		return p.nestedType()
	}
	from := p.i
	if p.accept("interval") {
		for p.peek(0).is("year", "month", "day", "hour", "minute", "second", "to") {
			p.i++
		}
		if p.peek(0).punct("(") {
			p.skipParens()
		}
	} else {
		p.skipType()
	}
	for p.err == nil && (p.peek(0).punct("[") || p.peek(0).is("array")) {
		if p.accept("array") {
			if p.peek(0).punct("[") {
				p.skipParens()
			}
		} else {
			p.skipParens()
		}
	}
	if p.err != nil {
		return ast.TypeName{}
	}
	end := p.i
	p.i = from
	n, c := p.grammar("SELECT NULL::", p.toks[from].pos, p.toks[end-1].end, "")
	p.i = end
	cast := n.GetSelectStmt().GetTargetList()
	if len(cast) != 1 || cast[0].GetResTarget().GetVal().GetTypeCast() == nil {
		if p.err == nil {
			p.i = from
			p.syntaxError()
		}
		return ast.TypeName{}
	}
	return c.typeName(cast[0].GetResTarget().GetVal().GetTypeCast().TypeName)
}

func (p *stmtParser) nestedType() ast.TypeName {
	t := ast.TypeName{Pos: p.pos(), Name: p.ident()}
	switch t.Name {
	case "row":
		t.Name = "struct"
	case "array":
		t.Name = "list"
	}
	angle := p.openNested()
	for p.err == nil {
		var a ast.TypeArg
		if t.Name == "struct" {
			a.Name = p.ident()
			p.accept(":")
		}
		a.Type = p.typeSpec()
		if p.accept("not", "null") {
			a.NotNull = true
		}
		if p.accept("comment") {
			p.str()
		}
		t.Args = append(t.Args, a)
		if !p.accept(",") {
			break
		}
	}
	p.closeNested(angle)
	want := map[string]int{"map": 2, "list": 1}[t.Name]
	if p.err == nil && want > 0 && len(t.Args) != want {
		p.failAt(t.Pos, sqlerr.SyntaxError, "type %s takes %d type arguments, not %d", t.Name, want, len(t.Args))
	}
	for p.err == nil && p.accept("[", "]") {
		t.Array++
	}
	return t
}

// openNested takes "(" or "<"; the lexer may have joined "<" with nothing that can follow it.
func (p *stmtParser) openNested() (angle bool) {
	if p.accept("(") {
		return false
	}
	p.expect("<")
	return true
}

// closeNested takes ")" or ">"; of ">>" it takes the first.
func (p *stmtParser) closeNested(angle bool) {
	if !angle {
		p.expect(")")
		return
	}
	if t := p.peek(0); t.kind != tokOp || t.text[0] != '>' {
		p.syntaxError()
		return
	}
	t := &p.toks[p.i]
	if len(t.text) == 1 {
		p.i++
		return
	}
	t.text, t.pos = t.text[1:], t.pos+1
}
