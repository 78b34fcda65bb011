package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// special are the functions whose arguments have a syntax of their own. The name is taken.
var special map[string]func(p *parser, t token) ast.Expr

func init() {
	special = map[string]func(p *parser, t token) ast.Expr{
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
		"merge_action": func(p *parser, t token) ast.Expr {
			p.expect("(", ")")
			return &ast.MergeAction{Pos: t.pos}
		},
	}
}

// castCall parses CAST(x AS type) and, for the lakehouse's types, their names too.
func (p *parser) castCall(t token) ast.Expr {
	c := &ast.Cast{Pos: t.pos}
	p.parens(func() {
		c.X = p.expr()
		if p.accept("at", "time", "zone") {
			p.refuse(t.pos, "CAST … AT TIME ZONE is not supported")
		}
		p.expect("as")
		c.Type = p.castType()
		if p.accept("array") {
			p.refuse(t.pos, "CAST … AS … ARRAY is not supported")
		}
	})
	return c
}

func (p *parser) convertCall(t token) ast.Expr {
	p.expect("(")
	x := p.expr()
	if p.accept("using") {
		n := p.pos()
		cs := strings.ToLower(p.ident())
		p.expect(")")
		return p.call(t.pos, "convert using", x, &ast.Lit{Kind: 's', Text: cs, Pos: n})
	}
	p.expect(",")
	c := &ast.Cast{X: x, Type: p.castType(), Pos: t.pos}
	p.expect(")")
	return c
}

func (p *parser) extract(t token) ast.Expr {
	p.expect("(")
	u := p.unit()
	p.expect("from")
	x := p.expr()
	p.expect(")")
	return p.call(t.pos, "extract", u, x)
}

func (p *parser) trim(t token) ast.Expr {
	p.expect("(")
	name := "trim"
	switch {
	case p.accept("both"):
	case p.accept("leading"):
		name = "ltrim"
	case p.accept("trailing"):
		name = "rtrim"
	default:
		x := p.expr()
		if p.accept("from") {
			s := p.expr()
			p.expect(")")
			return p.call(t.pos, name, s, x)
		}
		p.expect(")")
		return p.call(t.pos, name, x)
	}
	var args []ast.Expr
	if p.accept("from") {
		args = []ast.Expr{p.expr()}
	} else {
		x := p.expr()
		p.expect("from")
		args = []ast.Expr{p.expr(), x}
	}
	p.expect(")")
	return p.call(t.pos, name, args...)
}

func (p *parser) substring(t token) ast.Expr {
	p.expect("(")
	args := []ast.Expr{p.expr()}
	if p.accept("from") {
		args = append(args, p.expr())
		if p.accept("for") {
			args = append(args, p.expr())
		}
	} else {
		for p.accept(",") {
			args = append(args, p.expr())
		}
	}
	p.expect(")")
	return p.call(t.pos, "substring", args...)
}

func (p *parser) position(t token) ast.Expr {
	p.expect("(")
	x := p.bits(0)
	if p.accept(",") {
		y := p.expr()
		p.expect(")")
		return p.call(t.pos, "locate", x, y)
	}
	p.expect("in")
	y := p.expr()
	p.expect(")")
	return p.call(t.pos, "locate", x, y)
}

// groupConcat parses GROUP_CONCAT([DISTINCT] a, b ORDER BY c SEPARATOR 's'): the separator comes
// as an argument of that name.
func (p *parser) groupConcat(t token) ast.Expr {
	c := p.call(t.pos, "group_concat")
	p.expect("(")
	c.Distinct = p.acceptAny("distinct", "distinctrow")
	p.list(func() { c.Args = append(c.Args, ast.Arg{Expr: p.expr()}) })
	if p.accept("order", "by") {
		c.OrderBy = p.orderList()
	}
	if p.accept("separator") {
		pos := p.pos()
		c.Args = append(c.Args, ast.Arg{Name: "separator", Expr: &ast.Lit{Kind: 's', Text: p.str(), Pos: pos}})
	}
	if p.ahead("limit") {
		p.refuse(p.pos(), "LIMIT in GROUP_CONCAT is not supported")
	}
	p.expect(")")
	p.over(c)
	return c
}

// dateAdd parses DATE_ADD(d, INTERVAL n unit) and ADDDATE(d, days).
func (p *parser) dateAdd(t token) ast.Expr {
	name := "date_add"
	if strings.Contains(t.text, "sub") {
		name = "date_sub"
	}
	p.expect("(")
	x := p.expr()
	p.expect(",")
	var n, unit ast.Expr
	if p.peek(0).is("interval") && !p.intervalCall() {
		n, unit = p.interval()
	} else {
		if strings.HasPrefix(t.text, "date_") {
			p.syntaxError()
		}
		n, unit = p.expr(), &ast.Lit{Kind: 's', Text: "day", Pos: t.pos}
	}
	p.expect(")")
	return p.call(t.pos, name, x, n, unit)
}

// unitFirst parses TIMESTAMPADD(unit, n, d) and TIMESTAMPDIFF(unit, a, b).
func (p *parser) unitFirst(t token) ast.Expr {
	p.expect("(")
	args := []ast.Expr{p.unit()}
	for p.accept(",") {
		args = append(args, p.expr())
	}
	p.expect(")")
	if t.text == "timestampadd" {
		if len(args) != 3 {
			p.syntaxError()
		}
		return p.call(t.pos, "date_add", args[2], args[1], args[0])
	}
	return p.call(t.pos, t.text, args...)
}

func (p *parser) getFormat(t token) ast.Expr {
	p.expect("(")
	k := p.next()
	if !k.is("date", "time", "datetime", "timestamp") {
		p.i--
		p.syntaxError()
	}
	p.expect(",")
	x := p.expr()
	p.expect(")")
	return p.call(t.pos, "get_format", &ast.Lit{Kind: 's', Text: k.text, Pos: k.pos}, x)
}

// char parses CHAR(n, … USING charset).
func (p *parser) char(t token) ast.Expr {
	c := p.call(t.pos, "char")
	p.parens(func() {
		p.list(func() { c.Args = append(c.Args, ast.Arg{Expr: p.expr()}) })
		if p.accept("using") {
			c.Name.Parts[0] = "char using"
			if cs := strings.ToLower(p.ident()); cs == "binary" {
				c.Name.Parts[0] = "char"
			}
		}
	})
	return c
}

func (p *parser) grouping(t token) ast.Expr {
	g := &ast.Grouping{Pos: t.pos}
	p.parens(func() { p.list(func() { g.Args = append(g.Args, p.expr()) }) })
	return g
}

// jsonValue parses JSON_VALUE(x, path [RETURNING type] [… ON EMPTY] [… ON ERROR]).
func (p *parser) jsonValue(t token) ast.Expr {
	p.expect("(")
	x := p.expr()
	p.expect(",")
	path := p.expr()
	var e ast.Expr = p.call(t.pos, "json_value", x, path)
	if p.accept("returning") {
		e = &ast.Cast{X: e, Type: p.castType(), Pos: t.pos}
	}
	for p.accept("null", "on", "empty") || p.accept("null", "on", "error") {
	}
	p.expect(")")
	return e
}

func (p *parser) exprs() []ast.Expr {
	var out []ast.Expr
	p.parens(func() { p.list(func() { out = append(out, p.expr()) }) })
	return out
}

func (p *parser) coalesce(t token) ast.Expr { return &ast.Coalesce{Args: p.exprs(), Pos: t.pos} }

func (p *parser) nullIf(t token) ast.Expr {
	a := p.exprs()
	if len(a) != 2 {
		p.i--
		p.syntaxError()
	}
	return &ast.NullIf{L: a[0], R: a[1], Pos: t.pos}
}
