package lakehouse

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// TableClause parses one clause behind CREATE TABLE's columns; false: none of these is next.
func (p *Parser) TableClause(t *ast.CreateTable) bool {
	switch {
	case p.Accept("using"):
		if f := p.Peek(0); !p.Accept("iceberg") {
			p.Refuse(f.Pos, "tables are Iceberg tables: write USING iceberg or leave it out")
		}
	case p.Accept("partitioned", "by"), p.Accept("partition", "by"):
		if r := p.Peek(0); r.Is("range", "list", "hash", "key", "linear") && (p.Peek(1).Punct("(") || p.Peek(1).Is("columns", "hash", "key")) {
			p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "PARTITION BY %s is not supported", strings.ToUpper(r.Text)).At(r.Pos).
				WithHint("Write PARTITIONED BY (month(ts), region, bucket(16, id), truncate(4, s))."))
		}
		p.Parens(func() {
			p.List(func() { t.PartitionBy = append(t.PartitionBy, p.Dialect.Expr(",")) })
		})
	case p.Accept("location"):
		p.Accept("=")
		t.Location = p.Dialect.Str()
	case p.Accept("comment"):
		p.Accept("=")
		s := p.Dialect.Str()
		t.Comment = &s
	case p.Accept("sorted", "by"), p.Accept("order", "by"):
		t.SortedBy = p.Dialect.Order("with", "tblproperties", "location", "comment", "as", "using", "partitioned", "partition")
	case p.Accept("like"):
		like := p.Table()
		t.Like = &like
	default:
		return false
	}
	return true
}

// ColumnOption parses one of what may follow a column's type; false: none of these is next.
func (p *Parser) ColumnOption(c *ast.ColumnDef) bool {
	switch {
	case p.Accept("not", "null"):
		c.NotNull = true
	case p.Accept("null"):
		c.Null = true
	case p.Accept("default"):
		from := p.Pos()
		c.Default = p.Dialect.Default()
		c.DefaultSQL, c.DefaultFrom = p.Text[from:p.LastEnd()], from
	case p.Accept("comment"):
		c.Comment = p.Dialect.Str()
	case p.Ahead("primary", "key"):
		c.Keys = append(c.Keys, p.ColumnKey(c, ""))
	default:
		return false
	}
	return true
}

// NestedType parses Spark's struct<a: int, b: string>, map<k, v>, array<t>, list<t> and Trino's
// row(a int), map(k, v), array(t).
func (p *Parser) NestedType() ast.TypeName {
	t := ast.TypeName{Pos: p.Pos(), Name: p.Take().Text}
	switch t.Name {
	case "row":
		t.Name = "struct"
	case "array":
		t.Name = "list"
	}
	angle := !p.Accept("(")
	if angle {
		p.Expect("<")
	}
	p.List(func() {
		var a ast.TypeArg
		if t.Name == "struct" {
			a.Name = p.Ident()
			p.Accept(":")
		}
		a.Type = p.Dialect.Type()
		a.NotNull = p.Accept("not", "null")
		if p.Accept("comment") {
			p.Dialect.Str()
		}
		t.Args = append(t.Args, a)
	})
	p.closeNested(angle)
	if want := map[string]int{"map": 2, "list": 1}[t.Name]; want > 0 && len(t.Args) != want {
		p.FailAt(t.Pos, sqlerr.SyntaxError, "type %s takes %d type arguments, not %d", t.Name, want, len(t.Args))
	}
	return t
}

// closeNested takes ")" or ">"; of ">>", which a lexer has joined, it takes the first.
func (p *Parser) closeNested(angle bool) {
	if next := p.Peek(0); angle && len(next.Text) > 1 && next.Op(next.Text) && next.Text[0] == '>' {
		t := &p.Toks[p.At]
		t.Text, t.Pos = t.Text[1:], t.Pos+1
		return
	}
	p.Expect(map[bool]string{true: ">", false: ")"}[angle])
}

// NullKey finds a column of the primary key that is said to be NULL.
func NullKey(t *ast.CreateTable, same func(a, b string) bool) *ast.ColumnDef {
	key := t.Primary()
	for i := range t.Columns {
		for k := 0; key != nil && k < len(key.Columns); k++ {
			if c := &t.Columns[i]; c.Null && len(key.Columns[k].Parts) == 1 && same(c.Name, key.Columns[k].Parts[0]) {
				return c
			}
		}
	}
	return nil
}

// Generated parses AS (expression) of a generated column.
func (p *Parser) Generated() *ast.Generated {
	g := &ast.Generated{Pos: p.Pos()}
	p.Expect("as")
	p.Expect("(")
	g.From = p.Pos()
	g.Expr = p.Dialect.Expr(")")
	g.SQL = p.Text[g.From:p.LastEnd()]
	p.Expect(")")
	return g
}

// Check parses CHECK (expression) and what may follow it.
func (p *Parser) Check(name string) ast.Check {
	c := ast.Check{Name: name, Pos: p.Pos()}
	p.Expect("check")
	p.Expect("(")
	c.From = p.Pos()
	c.Expr = p.Dialect.Expr(")")
	c.SQL = p.Text[c.From:p.LastEnd()]
	p.Expect(")")
	for {
		switch {
		case p.Accept("not", "enforced"):
			c.NotEnforced = true
		case p.Accept("not", "valid"):
			c.NotValid = true
		case p.Accept("enforced"), p.Accept("no", "inherit"):
		default:
			return c
		}
	}
}
