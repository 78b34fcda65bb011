package mysql

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// merge parses MERGE INTO t USING s ON c WHEN … THEN ….
func (p *parser) merge(with *ast.With) ast.Stmt {
	m := &ast.Merge{With: with, Pos: p.Pos()}
	p.Expect("merge", "into")
	m.Table = p.Table()
	m.Table.Alias = p.alias()
	p.Expect("using")
	m.Source = p.mergeSource()
	p.Expect("on")
	m.On = p.expr()
	m.Arms = p.MergeArms()
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
			p.SyntaxError()
		}
		left = j
	}
}

func (p *parser) MergeSet() []ast.SetItem { return p.assignments() }

func (p *parser) MergeInsert(arm *ast.MergeArm) {
	if p.Ahead("(") {
		p.Parens(func() { p.List(func() { arm.Columns = append(arm.Columns, p.Dotted()) }) })
	}
	if p.Accept("default", "values") {
		arm.Default = true
		return
	}
	if !p.AcceptAny("values", "value") {
		p.SyntaxError()
	}
	arm.Values = p.exprs()
}
