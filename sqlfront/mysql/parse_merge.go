package mysql

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// merge parses MERGE INTO t USING s ON c WHEN … THEN ….
func (p *parser) merge(with *ast.With) ast.Stmt {
	m := &ast.Merge{With: with, Pos: p.pos()}
	p.expect("merge", "into")
	m.Table = ast.TableName{Name: p.dotted()}
	m.Table.Alias = p.alias()
	p.expect("using")
	m.Source = p.mergeSource()
	p.expect("on")
	m.On = p.expr()
	if !p.ahead("when") {
		p.syntaxError()
	}
	for p.ahead("when") {
		m.Arms = append(m.Arms, p.mergeArm())
	}
	m.Returning = p.returning()
	return m
}

// mergeSource is a table, a query, or a join, whose last ON is MERGE's.
func (p *parser) mergeSource() ast.TableExpr {
	left := p.factor()
	for {
		j := p.joinWord()
		if j == nil {
			return left
		}
		j.Left, j.Right = left, p.factor()
		if j.Kind == "cross" || j.Natural {
			left = j
			continue
		}
		if !p.joinCondition(j) {
			p.syntaxError()
		}
		left = j
	}
}

func (p *parser) mergeArm() ast.MergeArm {
	arm := ast.MergeArm{Match: 'm', Pos: p.pos()}
	p.expect("when")
	if p.accept("not") {
		arm.Match = 't'
		p.expect("matched")
		if p.accept("by") {
			if p.accept("source") {
				arm.Match = 's'
			} else {
				p.expect("target")
			}
		}
	} else {
		p.expect("matched")
	}
	if p.accept("and") {
		arm.Cond = p.expr()
	}
	p.expect("then")
	switch {
	case p.accept("do", "nothing"):
		arm.Action = "nothing"
	case arm.Match != 't' && p.accept("delete"):
		arm.Action = "delete"
	case arm.Match != 't' && p.accept("update"):
		arm.Action = "update"
		p.expect("set")
		if arm.Star = p.accept("*"); !arm.Star {
			arm.Set = p.assignments()
		}
	case arm.Match == 't' && p.accept("insert"):
		arm.Action = "insert"
		p.mergeInsert(&arm)
	default:
		p.syntaxError()
	}
	return arm
}

func (p *parser) mergeInsert(arm *ast.MergeArm) {
	if arm.Star = p.accept("*"); arm.Star {
		return
	}
	if p.ahead("(") {
		p.parens(func() { p.list(func() { arm.Columns = append(arm.Columns, p.dotted()) }) })
	}
	if p.accept("default", "values") {
		arm.Default = true
		return
	}
	if !p.acceptAny("values", "value") {
		p.syntaxError()
	}
	arm.Values = p.exprs()
}
