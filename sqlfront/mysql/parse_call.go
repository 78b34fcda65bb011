package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// special are the functions whose arguments have a syntax of their own. The name is taken.
var special map[string]func(p *parser, t token.Token) ast.Expr

func init() {
	special = map[string]func(p *parser, t token.Token) ast.Expr{
		"cast":         (*parser).castCall,
		"convert":      (*parser).convertCall,
		"extract":      (*parser).extract,
		"trim":         (*parser).trim,
		"substring":    (*parser).substring,
		"substr":       (*parser).substring,
		"mid":          (*parser).substring,
		"position":     (*parser).position,
		"group_concat": (*parser).groupConcat,
		"date_add":     (*parser).dateAdd,
		"date_sub":     (*parser).dateAdd,
		"adddate":      (*parser).dateAdd,
		"subdate":      (*parser).dateAdd,
		"timestampadd": (*parser).unitFirst, "timestampdiff": (*parser).unitFirst,
		"get_format": (*parser).getFormat,
		"char":       (*parser).char,
		"grouping":   (*parser).grouping,
		"json_value": (*parser).jsonValue,
		"coalesce":   (*parser).coalesce,
		"nullif":     (*parser).nullIf,
		"merge_action": func(p *parser, t token.Token) ast.Expr {
			p.Expect("(", ")")
			return &ast.MergeAction{Pos: t.Pos}
		},
	}
}

// castCall parses CAST(x AS type) and, for the lakehouse's types, their names too.
func (p *parser) castCall(t token.Token) ast.Expr {
	c := &ast.Cast{Pos: t.Pos}
	p.Parens(func() {
		c.X = p.expr()
		if p.Accept("at", "time", "zone") {
			p.Refuse(t.Pos, "CAST … AT TIME ZONE is not supported")
		}
		p.Expect("as")
		c.Type = p.castType()
		if p.Accept("array") {
			p.Refuse(t.Pos, "CAST … AS … ARRAY is not supported")
		}
	})
	return c
}

func (p *parser) convertCall(t token.Token) ast.Expr {
	p.Expect("(")
	x := p.expr()
	if p.Accept("using") {
		n := p.Pos()
		cs := strings.ToLower(p.Ident())
		p.Expect(")")
		return p.call(t.Pos, "convert using", x, &ast.Lit{Kind: 's', Text: cs, Pos: n})
	}
	p.Expect(",")
	c := &ast.Cast{X: x, Type: p.castType(), Pos: t.Pos}
	p.Expect(")")
	return c
}

func (p *parser) extract(t token.Token) ast.Expr {
	p.Expect("(")
	u := p.unit()
	p.Expect("from")
	x := p.expr()
	p.Expect(")")
	return p.call(t.Pos, "extract", u, x)
}

func (p *parser) trim(t token.Token) ast.Expr {
	p.Expect("(")
	name := "trim"
	switch {
	case p.Accept("both"):
	case p.Accept("leading"):
		name = "ltrim"
	case p.Accept("trailing"):
		name = "rtrim"
	default:
		x := p.expr()
		if p.Accept("from") {
			s := p.expr()
			p.Expect(")")
			return p.call(t.Pos, name, s, x)
		}
		p.Expect(")")
		return p.call(t.Pos, name, x)
	}
	var args []ast.Expr
	if p.Accept("from") {
		args = []ast.Expr{p.expr()}
	} else {
		x := p.expr()
		p.Expect("from")
		args = []ast.Expr{p.expr(), x}
	}
	p.Expect(")")
	return p.call(t.Pos, name, args...)
}

func (p *parser) substring(t token.Token) ast.Expr {
	p.Expect("(")
	args := []ast.Expr{p.expr()}
	if p.Accept("from") {
		args = append(args, p.expr())
		if p.Accept("for") {
			args = append(args, p.expr())
		}
	} else {
		for p.Accept(",") {
			args = append(args, p.expr())
		}
	}
	p.Expect(")")
	return p.call(t.Pos, "substring", args...)
}

func (p *parser) position(t token.Token) ast.Expr {
	p.Expect("(")
	x := p.bits(0)
	if p.Accept(",") {
		y := p.expr()
		p.Expect(")")
		return p.call(t.Pos, "locate", x, y)
	}
	p.Expect("in")
	y := p.expr()
	p.Expect(")")
	return p.call(t.Pos, "locate", x, y)
}

// groupConcat parses GROUP_CONCAT([DISTINCT] a, b ORDER BY c SEPARATOR 's'): the separator comes
// as an argument of that name.
func (p *parser) groupConcat(t token.Token) ast.Expr {
	c := p.call(t.Pos, "group_concat")
	p.Expect("(")
	c.Distinct = p.AcceptAny("distinct", "distinctrow")
	p.List(func() { c.Args = append(c.Args, ast.Arg{Expr: p.expr()}) })
	if p.Accept("order", "by") {
		c.OrderBy = p.orderList()
	}
	if p.Accept("separator") {
		pos := p.Pos()
		c.Args = append(c.Args, ast.Arg{Name: "separator", Expr: &ast.Lit{Kind: 's', Text: p.Str(), Pos: pos}})
	}
	if p.Ahead("limit") {
		p.Refuse(p.Pos(), "LIMIT in GROUP_CONCAT is not supported")
	}
	p.Expect(")")
	p.over(c)
	return c
}

// dateAdd parses DATE_ADD(d, INTERVAL n unit) and ADDDATE(d, days).
func (p *parser) dateAdd(t token.Token) ast.Expr {
	name := "date_add"
	if strings.Contains(t.Text, "sub") {
		name = "date_sub"
	}
	p.Expect("(")
	x := p.expr()
	p.Expect(",")
	var n, unit ast.Expr
	if p.Peek(0).Is("interval") && !p.intervalCall() {
		n, unit = p.interval()
	} else {
		if strings.HasPrefix(t.Text, "date_") {
			p.SyntaxError()
		}
		n, unit = p.expr(), &ast.Lit{Kind: 's', Text: "day", Pos: t.Pos}
	}
	p.Expect(")")
	return p.call(t.Pos, name, x, n, unit)
}

// unitFirst parses TIMESTAMPADD(unit, n, d) and TIMESTAMPDIFF(unit, a, b).
func (p *parser) unitFirst(t token.Token) ast.Expr {
	p.Expect("(")
	args := []ast.Expr{p.unit()}
	for p.Accept(",") {
		args = append(args, p.expr())
	}
	p.Expect(")")
	if t.Text == "timestampadd" {
		if len(args) != 3 {
			p.SyntaxError()
		}
		return p.call(t.Pos, "date_add", args[2], args[1], args[0])
	}
	return p.call(t.Pos, t.Text, args...)
}

func (p *parser) getFormat(t token.Token) ast.Expr {
	p.Expect("(")
	k := p.Take()
	if !k.Is("date", "time", "datetime", "timestamp") {
		p.At--
		p.SyntaxError()
	}
	p.Expect(",")
	x := p.expr()
	p.Expect(")")
	return p.call(t.Pos, "get_format", &ast.Lit{Kind: 's', Text: k.Text, Pos: k.Pos}, x)
}

// char parses CHAR(n, … USING charset).
func (p *parser) char(t token.Token) ast.Expr {
	c := p.call(t.Pos, "char")
	p.Parens(func() {
		p.List(func() { c.Args = append(c.Args, ast.Arg{Expr: p.expr()}) })
		if p.Accept("using") {
			c.Name.Parts[0] = "char using"
			if cs := strings.ToLower(p.Ident()); cs == "binary" {
				c.Name.Parts[0] = "char"
			}
		}
	})
	return c
}

func (p *parser) grouping(t token.Token) ast.Expr {
	g := &ast.Grouping{Pos: t.Pos}
	p.Parens(func() { p.List(func() { g.Args = append(g.Args, p.expr()) }) })
	return g
}

// jsonValue parses JSON_VALUE(x, path [RETURNING type] [… ON EMPTY] [… ON ERROR]).
func (p *parser) jsonValue(t token.Token) ast.Expr {
	p.Expect("(")
	x := p.expr()
	p.Expect(",")
	path := p.expr()
	var e ast.Expr = p.call(t.Pos, "json_value", x, path)
	if p.Accept("returning") {
		e = &ast.Cast{X: e, Type: p.castType(), Pos: t.Pos}
	}
	for p.Accept("null", "on", "empty") || p.Accept("null", "on", "error") {
	}
	if p.Accept("default") {
		e = p.defaultOnEmpty(t.Pos, x, path, e)
	}
	for p.Accept("null", "on", "error") {
	}
	p.Expect(")")
	return e
}

// defaultOnEmpty is JSON_VALUE(x, path … DEFAULT d ON EMPTY): d where the path leads nowhere.
//
//	CASE WHEN x IS NULL THEN NULL WHEN JSON_CONTAINS_PATH(x, 'one', path) THEN value ELSE d END
func (p *parser) defaultOnEmpty(pos int, x, path, value ast.Expr) ast.Expr {
	d := p.bits(0)
	p.Expect("on", "empty")
	one := &ast.Lit{Kind: 's', Text: "one", Pos: pos}
	return &ast.Case{Pos: pos, Else: d, Whens: []ast.When{
		{Cond: &ast.IsNull{X: x, Pos: pos}, Then: &ast.Lit{Kind: '0', Pos: pos}},
		{Cond: p.call(pos, "json_contains_path", x, one, path), Then: value}}}
}

func (p *parser) exprs() []ast.Expr {
	var out []ast.Expr
	p.Parens(func() { p.List(func() { out = append(out, p.expr()) }) })
	return out
}

func (p *parser) coalesce(t token.Token) ast.Expr { return &ast.Coalesce{Args: p.exprs(), Pos: t.Pos} }

func (p *parser) nullIf(t token.Token) ast.Expr {
	a := p.exprs()
	if len(a) != 2 {
		p.At--
		p.SyntaxError()
	}
	return &ast.NullIf{L: a[0], R: a[1], Pos: t.Pos}
}
