package mysql

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// insert parses INSERT and REPLACE.
//
//	INSERT [IGNORE] [INTO | OVERWRITE [TABLE]] t [PARTITION (a = 1, b)] [(columns)] VALUES (…), … | query | SET a = 1
//	  [AS new [(columns)]] [ON DUPLICATE KEY UPDATE a = 1, …]
func (p *parser) insert(with *ast.With) ast.Stmt {
	s := &ast.Insert{With: with, Pos: p.Pos()}
	if s.Replace = p.Accept("replace"); !s.Replace {
		p.Expect("insert")
	}
	for p.AcceptAny("low_priority", "delayed", "high_priority") {
	}
	s.Ignore = !s.Replace && p.Accept("ignore")
	if p.Accept("overwrite") {
		s.Overwrite = true
	}
	p.Accept("into")
	p.Accept("table")
	s.Table = p.Table()
	if p.Ahead("partition", "(") {
		s.Partition = p.StaticPartition()
	}
	if p.Ahead("(") && !p.subqueryAhead() {
		p.Expect("(")
		if !p.Ahead(")") {
			p.List(func() { s.Columns = append(s.Columns, p.Dotted()) })
		}
		p.Expect(")")
	}
	switch {
	case p.AcceptAny("values", "value"):
		s.Query = p.insertValues(s)
	case p.Accept("set"):
		row := []ast.Expr{}
		pos := p.Pos()
		p.List(func() {
			s.Columns = append(s.Columns, p.Dotted())
			p.Expect("=")
			row = append(row, p.expr())
		})
		s.Query = &ast.Query{Body: &ast.Values{Rows: [][]ast.Expr{row}, Pos: pos}, Pos: pos}
	case p.Accept("default", "values"):
	default:
		s.Query = p.query()
	}
	p.onDuplicate(s)
	s.Returning = p.returning()
	return s
}

// onDuplicate parses [AS new [(columns)]] ON DUPLICATE KEY UPDATE ….
func (p *parser) onDuplicate(s *ast.Insert) {
	if p.Ahead("as") && p.Peek(1).IsName() {
		p.At++
		s.As = p.Ident()
		if p.Ahead("(") {
			s.AsColumns = p.Names()
		}
	}
	pos := p.Pos()
	if !p.Accept("on", "duplicate", "key", "update") {
		return
	}
	if s.Replace || s.Overwrite {
		p.FailAt(pos, sqlerr.SyntaxError, "ON DUPLICATE KEY UPDATE is for INSERT INTO alone")
	}
	p.duplicate++
	s.OnDuplicate = p.assignments()
	p.duplicate--
	s.Ignore = false // rows that are there are updated
}

// insertValues parses (…), (…) or ROW(…), …. () VALUES () are the defaults.
func (p *parser) insertValues(s *ast.Insert) *ast.Query {
	v := &ast.Values{Pos: p.Pos()}
	p.List(func() {
		p.Accept("row")
		if p.Accept("(", ")") {
			v.Rows = append(v.Rows, nil)
			return
		}
		v.Rows = append(v.Rows, p.exprs())
	})
	if len(v.Rows) == 1 && v.Rows[0] == nil && len(s.Columns) == 0 {
		return nil
	}
	for _, r := range v.Rows {
		if r == nil {
			p.FailAt(v.Pos, sqlerr.SyntaxError, "an empty row of VALUES may only stand alone, without columns")
		}
	}
	return &ast.Query{Body: v, Pos: v.Pos}
}

func (p *parser) returning() []ast.Item {
	if !p.Accept("returning") {
		return nil
	}
	var out []ast.Item
	p.List(func() { out = append(out, p.item()) })
	return out
}

func (p *parser) assignments() []ast.SetItem {
	var out []ast.SetItem
	p.List(func() {
		it := ast.SetItem{Column: p.Dotted()}
		it.Pos = it.Column.Pos
		p.Expect("=")
		it.Value = p.expr()
		out = append(out, it)
	})
	return out
}

// update parses UPDATE of one table or of joined ones.
func (p *parser) update(with *ast.With) ast.Stmt {
	s := &ast.Update{With: with, Pos: p.Pos()}
	p.Expect("update")
	p.Accept("low_priority")
	s.Ignore = p.Accept("ignore")
	tables := p.tables()
	p.Expect("set")
	s.Set = p.assignments()
	p.refuseReadOfAssigned(s.Set)
	s.Where = p.Where()
	if t, ok := tables[0].(*ast.TableName); ok && len(tables) == 1 {
		s.Table = *t
	} else {
		s.Tables = tables
	}
	s.OrderBy, s.Limit = p.orderLimit("UPDATE", s.Tables != nil)
	s.Returning = p.writeReturning(s.Tables)
	return s
}

// writeReturning parses RETURNING, which a write of one table alone may have.
func (p *parser) writeReturning(joined []ast.TableExpr) []ast.Item {
	if joined != nil && p.Ahead("returning") {
		p.Refuse(p.Pos(), "RETURNING of a write over several tables is not supported")
	}
	return p.returning()
}

// orderLimit parses [ORDER BY …] [LIMIT n], which a write of several tables cannot have.
func (p *parser) orderLimit(verb string, joined bool) (order []ast.Order, limit ast.Expr) {
	pos := p.Pos()
	if p.Accept("order", "by") {
		order = p.orderList()
	}
	if p.Accept("limit") {
		limit = p.limitValue()
	}
	switch {
	case joined && order != nil:
		p.FailAt(pos, sqlerr.SyntaxError, "Incorrect usage of %s and ORDER BY", verb)
	case joined && limit != nil:
		p.FailAt(pos, sqlerr.SyntaxError, "Incorrect usage of %s and LIMIT", verb)
	}
	return order, limit
}

// delete parses DELETE FROM t [WHERE], DELETE t, … FROM t JOIN … and DELETE FROM t, … USING t JOIN ….
func (p *parser) delete(with *ast.With) ast.Stmt {
	s := &ast.Delete{With: with, Pos: p.Pos()}
	p.Expect("delete")
	for p.AcceptAny("low_priority", "quick") {
	}
	s.Ignore = p.Accept("ignore")
	from := p.Accept("from")
	s.Table = p.Table()
	star := p.Accept(".", "*")
	for p.Accept(",") {
		s.More = append(s.More, p.Table())
		star = p.Accept(".", "*") || star
	}
	switch {
	case from && (star || s.More != nil || p.Ahead("using")):
		p.Expect("using")
		s.Tables = p.tables()
	case !from:
		p.Expect("from")
		s.Tables = p.tables()
	default:
		s.Table.Alias = p.alias()
	}
	s.Where = p.Where()
	s.OrderBy, s.Limit = p.orderLimit("DELETE", s.Tables != nil)
	s.Returning = p.writeReturning(s.Tables)
	return s
}

func (p *parser) truncate() ast.Stmt {
	s := &ast.Truncate{Pos: p.Pos()}
	p.Expect("truncate")
	p.Accept("table")
	p.List(func() { s.Tables = append(s.Tables, p.Table()) })
	return s
}
