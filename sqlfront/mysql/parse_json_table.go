package mysql

import (
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// jsonTable parses JSON_TABLE(doc, path COLUMNS (…)) [AS] alias.
func (p *parser) jsonTable() ast.TableExpr {
	t := &ast.JSONTable{Pos: p.Pos()}
	p.Expect("json_table", "(")
	t.Doc = p.expr()
	p.Expect(",")
	t.Path = p.Str()
	t.Columns = p.jsonColumns()
	p.Expect(")")
	if t.Alias = p.alias(); t.Alias.Name == "" {
		p.FailAt(t.Pos, sqlerr.SyntaxError, "Every table function must have an alias")
	}
	return t
}

func (p *parser) jsonColumns() []ast.JSONColumn {
	p.enter()
	defer p.leave()
	var out []ast.JSONColumn
	p.Expect("columns")
	p.Parens(func() { p.List(func() { out = append(out, p.jsonColumn()) }) })
	return out
}

func (p *parser) jsonColumn() ast.JSONColumn {
	c := ast.JSONColumn{Pos: p.Pos(), Kind: "path"}
	if p.Ahead("nested") && (p.Peek(1).Is("path") || p.Peek(1).Kind == token.String) {
		p.At++
		p.Accept("path")
		c.Kind, c.Path, c.Nested = "nested", p.Str(), p.jsonColumns()
		return c
	}
	c.Name = p.Ident()
	if p.Accept("for", "ordinality") {
		c.Kind = "ordinal"
		return c
	}
	p.jsonColumnType(&c)
	if p.Accept("exists") {
		c.Kind = "exists"
	}
	p.Expect("path")
	c.Path = p.Str()
	if c.Kind == "path" {
		p.jsonElses(&c)
	}
	return c
}

// jsonColumnType parses a column's type. A table's JSON is text and its CHAR has no length; these
// columns have both.
func (p *parser) jsonColumnType(c *ast.JSONColumn) {
	w, n := p.Peek(0), p.Peek(2)
	open := p.Peek(1).Punct("(")
	c.Type = p.Type()
	switch {
	case w.Is("json"):
		c.Type.Name = "jsonb"
	case open && w.Is("char", "character", "nchar", "varchar", "nvarchar", "varcharacter"):
		c.Chars, _ = strconv.Atoi(n.Text)
	}
}

// jsonElses parses [NULL | DEFAULT 'json' | ERROR ON EMPTY] [… ON ERROR].
func (p *parser) jsonElses(c *ast.JSONColumn) {
	empty, failed := false, false
	for p.Ahead("null") || p.Ahead("default") || p.Ahead("error") {
		var e ast.JSONElse
		switch {
		case p.Accept("null"):
		case p.Accept("error"):
			e.Error = true
		default:
			p.Expect("default")
			e.Default = &ast.Lit{Kind: 's', Pos: p.Pos()}
			if n := p.Peek(0); n.Kind == token.Number {
				p.At++
				e.Default.Text = n.Text
				break
			}
			e.Default.Text = p.Str()
		}
		p.Expect("on")
		switch {
		case !empty && !failed && p.Accept("empty"):
			c.OnEmpty, empty = e, true
		case !failed && p.Accept("error"):
			c.OnError, failed = e, true
		default:
			p.SyntaxError()
		}
	}
}
