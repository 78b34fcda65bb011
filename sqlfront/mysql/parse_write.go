package mysql

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

const mergeHint = "Write MERGE INTO t USING (SELECT …) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET … WHEN NOT MATCHED THEN INSERT …."

// insert parses INSERT and REPLACE.
//
//	INSERT [INTO | OVERWRITE [TABLE]] t [PARTITION (a = 1, b)] [(columns)] VALUES (…), … | query | SET a = 1
func (p *parser) insert(with *ast.With) ast.Stmt {
	s := &ast.Insert{With: with, Pos: p.pos()}
	if p.peek(0).is("replace") {
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "REPLACE is not supported: Iceberg tables have no unique keys to replace by").
			At(s.Pos).WithHint(mergeHint))
	}
	p.expect("insert")
	for p.acceptAny("low_priority", "delayed", "high_priority") {
	}
	if t := p.peek(0); t.is("ignore") {
		p.refuse(t.pos, "INSERT IGNORE is not supported: rows that do not fit are an error")
	}
	if p.accept("overwrite") {
		s.Overwrite = true
	}
	p.accept("into")
	p.accept("table")
	s.Table = ast.TableName{Name: p.dotted()}
	if p.ahead("partition", "(") {
		s.Partition = p.staticPartition()
	}
	if p.ahead("(") && !p.subqueryAhead() {
		p.expect("(")
		if !p.ahead(")") {
			p.list(func() { s.Columns = append(s.Columns, p.dotted()) })
		}
		p.expect(")")
	}
	switch {
	case p.acceptAny("values", "value"):
		s.Query = p.insertValues(s)
	case p.accept("set"):
		row := []ast.Expr{}
		pos := p.pos()
		p.list(func() {
			s.Columns = append(s.Columns, p.dotted())
			p.expect("=")
			row = append(row, p.expr())
		})
		s.Query = &ast.Query{Body: &ast.Values{Rows: [][]ast.Expr{row}, Pos: pos}, Pos: pos}
	case p.accept("default", "values"):
	default:
		s.Query = p.query()
	}
	if t := p.peek(0); p.ahead("on", "duplicate", "key", "update") {
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "ON DUPLICATE KEY UPDATE is not supported: Iceberg tables have no unique keys").
			At(t.pos).WithHint(mergeHint))
	}
	s.Returning = p.returning()
	return s
}

// insertValues parses (…), (…) or ROW(…), …. () VALUES () are the defaults.
func (p *parser) insertValues(s *ast.Insert) *ast.Query {
	v := &ast.Values{Pos: p.pos()}
	p.list(func() {
		p.accept("row")
		if p.accept("(", ")") {
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
			p.failAt(v.Pos, sqlerr.SyntaxError, "an empty row of VALUES may only stand alone, without columns")
		}
	}
	return &ast.Query{Body: v, Pos: v.Pos}
}

func (p *parser) staticPartition() []ast.SetItem {
	var out []ast.SetItem
	p.expect("partition", "(")
	p.list(func() {
		item := ast.SetItem{Column: p.dotted()}
		item.Pos = item.Column.Pos
		if p.accept("=") {
			item.Value = p.expr()
		}
		out = append(out, item)
	})
	p.expect(")")
	return out
}

func (p *parser) returning() []ast.Item {
	if !p.accept("returning") {
		return nil
	}
	var out []ast.Item
	p.list(func() { out = append(out, p.item()) })
	return out
}

func (p *parser) assignments() []ast.SetItem {
	var out []ast.SetItem
	p.list(func() {
		it := ast.SetItem{Column: p.dotted()}
		it.Pos = it.Column.Pos
		p.expect("=")
		it.Value = p.expr()
		out = append(out, it)
	})
	return out
}

// update parses UPDATE of one table, and of the first of several joined ones.
func (p *parser) update(with *ast.With) ast.Stmt {
	s := &ast.Update{With: with, Pos: p.pos()}
	p.expect("update")
	p.acceptAny("low_priority")
	if t := p.peek(0); t.is("ignore") {
		p.refuse(t.pos, "UPDATE IGNORE is not supported")
	}
	tables := p.tables()
	p.expect("set")
	s.Set = p.assignments()
	p.refuseReadOfAssigned(s.Set)
	if p.accept("where") {
		s.Where = p.expr()
	}
	p.noOrderLimit("UPDATE")
	target, ok := tables[0].(*ast.TableName)
	if ok && len(tables) == 1 {
		s.Table = *target
	} else {
		p.joinedUpdate(s, tables)
	}
	s.Returning = p.returning()
	return s
}

// joinedUpdate turns UPDATE a JOIN b ON c SET a.x = … into UPDATE a SET x = … FROM b WHERE c. All
// assignments must be to one table.
func (p *parser) joinedUpdate(s *ast.Update, tables []ast.TableExpr) {
	name := ""
	for _, it := range s.Set {
		if len(it.Column.Parts) < 2 {
			p.refuse(it.Pos, "an UPDATE of several tables must say whose column it sets: t.%s", it.Column.Parts[0])
		}
		n := it.Column.Parts[len(it.Column.Parts)-2]
		if name != "" && n != name {
			p.refuse(it.Pos, "an UPDATE can write one table only")
		}
		name = n
	}
	target, rest, on := p.extract1(tables, name, s.Pos)
	s.Table = *target
	s.From = rest
	s.Where = andOf(append(on, s.Where)...)
}

// extract1 takes the table called name out of the inner joins in tables, and gives the rest and
// the join conditions.
func (p *parser) extract1(tables []ast.TableExpr, name string, pos int) (target *ast.TableName, rest []ast.TableExpr, on []ast.Expr) {
	var flatten func(t ast.TableExpr)
	flatten = func(t ast.TableExpr) {
		switch t := t.(type) {
		case *ast.JoinTable:
			if t.Natural || t.Using != nil || t.Kind != "inner" && t.Kind != "cross" {
				if mentions(t, name) {
					p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "a write over an outer, NATURAL or USING join is not supported").
						At(pos).WithHint("Write an inner join with ON, or MERGE."))
				}
				rest = append(rest, t)
				return
			}
			flatten(t.Left)
			flatten(t.Right)
			if t.On != nil {
				on = append(on, t.On)
			}
		case *ast.TableName:
			if callName(t) == name && target == nil {
				target = t
				return
			}
			rest = append(rest, t)
		default:
			rest = append(rest, t)
		}
	}
	for _, t := range tables {
		flatten(t)
	}
	if target == nil {
		p.failAt(pos, sqlerr.UndefinedTable, "Unknown table '%s' in MULTI UPDATE or DELETE", name)
	}
	return target, rest, on
}

func callName(t *ast.TableName) string {
	if t.Alias.Name != "" {
		return t.Alias.Name
	}
	return t.Parts[len(t.Parts)-1]
}

func mentions(t ast.TableExpr, name string) bool {
	switch t := t.(type) {
	case *ast.JoinTable:
		return mentions(t.Left, name) || mentions(t.Right, name)
	case *ast.TableName:
		return callName(t) == name
	}
	return false
}

func andOf(list ...ast.Expr) ast.Expr {
	var args []ast.Expr
	for _, e := range list {
		if e != nil {
			args = append(args, e)
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return &ast.And{Args: args, Pos: args[0].Position()}
}

// noOrderLimit refuses ORDER BY and LIMIT of a write: which rows it takes would hang on order.
func (p *parser) noOrderLimit(verb string) {
	if t := p.peek(0); t.is("order", "limit") {
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s with ORDER BY or LIMIT is not supported", verb).At(t.pos).
			WithHint("Name the rows by a condition."))
	}
}

// delete parses DELETE FROM t [WHERE], DELETE t FROM t JOIN … and DELETE FROM t USING t JOIN ….
func (p *parser) delete(with *ast.With) ast.Stmt {
	s := &ast.Delete{With: with, Pos: p.pos()}
	p.expect("delete")
	for p.acceptAny("low_priority", "quick") {
	}
	if t := p.peek(0); t.is("ignore") {
		p.refuse(t.pos, "DELETE IGNORE is not supported")
	}
	target := func() string {
		n := p.dotted()
		p.accept(".", "*")
		if p.ahead(",") {
			p.refuse(n.Pos, "a DELETE can write one table only")
		}
		return n.Parts[len(n.Parts)-1]
	}
	if !p.accept("from") {
		name := target()
		p.expect("from")
		p.joinedDelete(s, name, p.tables())
	} else {
		mark := p.i
		name := p.dotted()
		if p.accept(".", "*") || p.ahead("using") {
			p.i = mark
			_ = name
			n := target()
			p.expect("using")
			p.joinedDelete(s, n, p.tables())
		} else {
			s.Table = ast.TableName{Name: name}
			s.Table.Alias = p.alias()
			if p.ahead(",") {
				p.refuse(s.Pos, "a DELETE can write one table only")
			}
		}
	}
	if p.accept("where") {
		w := p.expr()
		s.Where = andOf(s.Where, w)
	}
	p.noOrderLimit("DELETE")
	s.Returning = p.returning()
	return s
}

func (p *parser) joinedDelete(s *ast.Delete, name string, tables []ast.TableExpr) {
	t, rest, on := p.extract1(tables, name, s.Pos)
	s.Table, s.Using, s.Where = *t, rest, andOf(on...)
}

func (p *parser) truncate() ast.Stmt {
	s := &ast.Truncate{Pos: p.pos()}
	p.expect("truncate")
	p.accept("table")
	p.list(func() { s.Tables = append(s.Tables, ast.TableName{Name: p.dotted()}) })
	return s
}
