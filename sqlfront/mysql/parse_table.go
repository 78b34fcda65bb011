package mysql

import (
	"strings"

	"strconv"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

func itoa(i int64) string { return strconv.FormatInt(i, 10) }

// tables parses a FROM clause.
func (p *parser) tables() []ast.TableExpr {
	var out []ast.TableExpr
	p.List(func() { out = append(out, p.joined()) })
	return out
}

// joined parses a table with the joins that follow it.
func (p *parser) joined() ast.TableExpr {
	p.enter()
	defer p.leave()
	left := p.factor()
	for {
		j := p.joinWord()
		if j == nil {
			return left
		}
		j.Left = left
		switch {
		case j.Natural, j.Kind == "cross":
			j.Right = p.factor()
			if j.Kind == "cross" && p.joinCondition(j) {
				j.Kind = "inner"
			}
		case j.Kind == "inner":
			j.Right = p.factor()
			if !p.joinCondition(j) {
				j.Kind = "cross"
			}
		default:
			// a LEFT JOIN b JOIN c ON x ON y: the conditions close the joins from the inside.
			j.Right = p.factor()
			for !p.Ahead("on") && !p.Ahead("using") {
				in := p.joinWord()
				if in == nil {
					p.SyntaxError()
				}
				in.Left, in.Right = j.Right, p.factor()
				if !p.joinCondition(in) {
					p.SyntaxError()
				}
				j.Right = in
			}
			p.joinCondition(j)
		}
		left = j
	}
}

// joinWord parses the words of a join.
func (p *parser) joinWord() *ast.JoinTable {
	j := &ast.JoinTable{Pos: p.Pos(), Kind: "inner"}
	switch {
	case p.Accept("join"), p.Accept("inner", "join"), p.Accept("straight_join"):
	case p.Accept("cross", "join"):
		j.Kind = "cross"
	case p.Accept("left", "join"), p.Accept("left", "outer", "join"):
		j.Kind = "left"
	case p.Accept("right", "join"), p.Accept("right", "outer", "join"):
		j.Kind = "right"
	case p.Accept("full", "join"), p.Accept("full", "outer", "join"):
		j.Kind = "full"
	case p.Accept("natural"):
		j.Natural = true
		switch {
		case p.Accept("left"):
			j.Kind = "left"
			p.Accept("outer")
		case p.Accept("right"):
			j.Kind = "right"
			p.Accept("outer")
		default:
			p.Accept("inner")
		}
		p.Expect("join")
	default:
		return nil
	}
	return j
}

func (p *parser) joinCondition(j *ast.JoinTable) bool {
	switch {
	case p.Accept("on"):
		j.On = p.expr()
	case p.Ahead("using"):
		p.At++
		j.Using = p.Names()
	default:
		return false
	}
	return true
}

// factor parses one entry of FROM.
func (p *parser) factor() ast.TableExpr {
	p.enter()
	defer p.leave()
	pos := p.Pos()
	switch {
	case p.Accept("lateral"):
		t := p.derived()
		t.Lateral = true
		return t
	case p.Ahead("json_table", "("):
		return p.jsonTable()
	case p.Ahead("("):
		if p.subqueryAhead() {
			return p.derived()
		}
		p.Expect("(")
		list := p.tables()
		p.Expect(")")
		t := list[0]
		for _, r := range list[1:] {
			p.enter()
			defer p.leave()
			t = &ast.JoinTable{Kind: "cross", Left: t, Right: r, Pos: pos}
		}
		return t
	}
	n := p.Dotted()
	if p.Ahead("(") {
		// A function that returns rows: generate_series(1, 10), iceberg('path').
		if c, ok := p.function(n).(*ast.Call); ok {
			f := &ast.FuncTable{Calls: []*ast.Call{c}, Pos: n.Pos}
			path := len(n.Parts) == 1 && strings.EqualFold(n.Parts[0], "iceberg")
			if path {
				f.AsOf = p.asOf()
			}
			if f.Alias = p.alias(); path && f.AsOf == nil {
				f.AsOf = p.asOf()
			}
			return f
		}
	}
	t := &ast.TableName{Name: n}
	if p.Ahead("partition", "(") {
		p.Refuse(p.Pos(), "PARTITION (…) is not supported: write a condition, which prunes partitions")
	}
	t.AsOf = p.asOf()
	t.Alias = p.alias()
	if t.AsOf == nil {
		t.AsOf = p.asOf()
	}
	p.indexHints()
	return t
}

func (p *parser) derived() *ast.SubqueryTable {
	t := &ast.SubqueryTable{Pos: p.Pos()}
	p.Expect("(")
	t.Query = p.query()
	p.Expect(")")
	t.AsOf = p.asOf()
	t.Alias = p.alias()
	if t.AsOf == nil {
		t.AsOf = p.asOf()
	}
	return t
}

// alias parses [AS] name [(columns)].
func (p *parser) alias() ast.Alias {
	var a ast.Alias
	switch t := p.Peek(0); {
	case p.Ahead("as") && !p.Peek(1).Is("of"):
		p.At++
		if p.Peek(0).Kind == token.String {
			a.Name = p.Take().Value
		} else {
			a.Name = p.Ident()
		}
	case t.IsName() && !p.asOfAhead() && !t.Is("use", "force", "ignore", "window", "set", "offset"):
		a.Name = p.Ident()
	default:
		return a
	}
	if p.Ahead("(") {
		a.Columns = p.Names()
	}
	return a
}

// indexHints passes USE|FORCE|IGNORE INDEX|KEY [FOR …] (…): there are no indexes to choose.
func (p *parser) indexHints() {
	for p.Peek(0).Is("use", "force", "ignore") && p.Peek(1).Is("index", "key") {
		p.At += 2
		if p.Accept("for") {
			_ = p.Accept("join") || p.Accept("order", "by") || p.Accept("group", "by")
		}
		p.Expect("(")
		for !p.Accept(")") {
			if p.AtEnd() {
				p.SyntaxError()
			}
			p.At++
		}
		if p.Peek(0).Punct(",") && p.Peek(1).Is("use", "force", "ignore") && p.Peek(2).Is("index", "key") {
			p.At++
		}
	}
}
