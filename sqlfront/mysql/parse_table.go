package mysql

import (
	"strconv"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

func itoa(i int64) string { return strconv.FormatInt(i, 10) }

// tables parses a FROM clause.
func (p *parser) tables() []ast.TableExpr {
	var out []ast.TableExpr
	p.list(func() { out = append(out, p.joined()) })
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
			for !p.ahead("on") && !p.ahead("using") {
				in := p.joinWord()
				if in == nil {
					p.syntaxError()
				}
				in.Left, in.Right = j.Right, p.factor()
				if !p.joinCondition(in) {
					p.syntaxError()
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
	j := &ast.JoinTable{Pos: p.pos(), Kind: "inner"}
	switch {
	case p.accept("join"), p.accept("inner", "join"), p.accept("straight_join"):
	case p.accept("cross", "join"):
		j.Kind = "cross"
	case p.accept("left", "join"), p.accept("left", "outer", "join"):
		j.Kind = "left"
	case p.accept("right", "join"), p.accept("right", "outer", "join"):
		j.Kind = "right"
	case p.accept("full", "join"), p.accept("full", "outer", "join"):
		j.Kind = "full"
	case p.accept("natural"):
		j.Natural = true
		switch {
		case p.accept("left"):
			j.Kind = "left"
			p.accept("outer")
		case p.accept("right"):
			j.Kind = "right"
			p.accept("outer")
		default:
			p.accept("inner")
		}
		p.expect("join")
	default:
		return nil
	}
	return j
}

func (p *parser) joinCondition(j *ast.JoinTable) bool {
	switch {
	case p.accept("on"):
		j.On = p.expr()
	case p.ahead("using"):
		p.i++
		j.Using = p.names()
	default:
		return false
	}
	return true
}

// factor parses one entry of FROM.
func (p *parser) factor() ast.TableExpr {
	p.enter()
	defer p.leave()
	pos := p.pos()
	switch {
	case p.accept("lateral"):
		t := p.derived()
		t.Lateral = true
		return t
	case p.ahead("json_table", "("):
		return p.jsonTable()
	case p.ahead("("):
		if p.subqueryAhead() {
			return p.derived()
		}
		p.expect("(")
		list := p.tables()
		p.expect(")")
		t := list[0]
		for _, r := range list[1:] {
			t = &ast.JoinTable{Kind: "cross", Left: t, Right: r, Pos: pos}
		}
		return t
	}
	n := p.dotted()
	if p.ahead("(") {
		// A function that returns rows: generate_series(1, 10), iceberg('path').
		if c, ok := p.function(n).(*ast.Call); ok {
			f := &ast.FuncTable{Calls: []*ast.Call{c}, Pos: n.Pos}
			f.Alias = p.alias()
			return f
		}
	}
	t := &ast.TableName{Name: n}
	if p.ahead("partition", "(") {
		p.refuse(p.pos(), "PARTITION (…) is not supported: write a condition, which prunes partitions")
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
	t := &ast.SubqueryTable{Pos: p.pos()}
	p.expect("(")
	t.Query = p.query()
	p.expect(")")
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
	switch t := p.peek(0); {
	case p.ahead("as") && !p.peek(1).is("of"):
		p.i++
		if p.peek(0).kind == tokString {
			a.Name = p.next().value
		} else {
			a.Name = p.ident()
		}
	case t.isName() && !p.asOfAhead() && !t.is("use", "force", "ignore", "window", "set", "offset"):
		a.Name = p.ident()
	default:
		return a
	}
	if p.ahead("(") {
		a.Columns = p.names()
	}
	return a
}

// indexHints passes USE|FORCE|IGNORE INDEX|KEY [FOR …] (…): there are no indexes to choose.
func (p *parser) indexHints() {
	for p.peek(0).is("use", "force", "ignore") && p.peek(1).is("index", "key") {
		p.i += 2
		if p.accept("for") {
			_ = p.accept("join") || p.accept("order", "by") || p.accept("group", "by")
		}
		p.expect("(")
		for !p.accept(")") {
			if p.atEnd() {
				p.syntaxError()
			}
			p.i++
		}
		p.accept(",")
	}
}

// jsonTable refuses JSON_TABLE by name.
func (p *parser) jsonTable() ast.TableExpr {
	p.refuse(p.pos(), "JSON_TABLE is not supported")
	return nil
}
