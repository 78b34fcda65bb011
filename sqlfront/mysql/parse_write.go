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
	s := &ast.Insert{With: with, Pos: p.Pos()}
	if p.Peek(0).Is("replace") {
		p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "REPLACE is not supported: Iceberg tables have no unique keys to replace by").
			At(s.Pos).WithHint(mergeHint))
	}
	p.Expect("insert")
	for p.AcceptAny("low_priority", "delayed", "high_priority") {
	}
	if t := p.Peek(0); t.Is("ignore") {
		p.Refuse(t.Pos, "INSERT IGNORE is not supported: rows that do not fit are an error")
	}
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
	if t := p.Peek(0); p.Ahead("on", "duplicate", "key", "update") {
		p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "ON DUPLICATE KEY UPDATE is not supported: Iceberg tables have no unique keys").
			At(t.Pos).WithHint(mergeHint))
	}
	s.Returning = p.returning()
	return s
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

// update parses UPDATE of one table, and of the first of several joined ones.
func (p *parser) update(with *ast.With) ast.Stmt {
	s := &ast.Update{With: with, Pos: p.Pos()}
	p.Expect("update")
	p.AcceptAny("low_priority")
	if t := p.Peek(0); t.Is("ignore") {
		p.Refuse(t.Pos, "UPDATE IGNORE is not supported")
	}
	tables := p.tables()
	p.Expect("set")
	s.Set = p.assignments()
	p.refuseReadOfAssigned(s.Set)
	if p.Accept("where") {
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
			p.Refuse(it.Pos, "an UPDATE of several tables must say whose column it sets: t.%s", it.Column.Parts[0])
		}
		n := it.Column.Parts[len(it.Column.Parts)-2]
		if name != "" && n != name {
			p.Refuse(it.Pos, "an UPDATE can write one table only")
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
					p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "a write over an outer, NATURAL or USING join is not supported").
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
		p.FailAt(pos, sqlerr.UndefinedTable, "Unknown table '%s' in MULTI UPDATE or DELETE", name)
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
	if t := p.Peek(0); t.Is("order", "limit") {
		p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s with ORDER BY or LIMIT is not supported", verb).At(t.Pos).
			WithHint("Name the rows by a condition."))
	}
}

// delete parses DELETE FROM t [WHERE], DELETE t FROM t JOIN … and DELETE FROM t USING t JOIN ….
func (p *parser) delete(with *ast.With) ast.Stmt {
	s := &ast.Delete{With: with, Pos: p.Pos()}
	p.Expect("delete")
	for p.AcceptAny("low_priority", "quick") {
	}
	if t := p.Peek(0); t.Is("ignore") {
		p.Refuse(t.Pos, "DELETE IGNORE is not supported")
	}
	target := func() string {
		n := p.Dotted()
		p.Accept(".", "*")
		if p.Ahead(",") {
			p.Refuse(n.Pos, "a DELETE can write one table only")
		}
		return n.Parts[len(n.Parts)-1]
	}
	if !p.Accept("from") {
		name := target()
		p.Expect("from")
		p.joinedDelete(s, name, p.tables())
	} else {
		mark := p.At
		name := p.Dotted()
		if p.Accept(".", "*") || p.Ahead("using") {
			p.At = mark
			_ = name
			n := target()
			p.Expect("using")
			p.joinedDelete(s, n, p.tables())
		} else {
			s.Table = ast.TableName{Name: name}
			s.Table.Alias = p.alias()
			if p.Ahead(",") {
				p.Refuse(s.Pos, "a DELETE can write one table only")
			}
		}
	}
	if p.Accept("where") {
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
	s := &ast.Truncate{Pos: p.Pos()}
	p.Expect("truncate")
	p.Accept("table")
	p.List(func() { s.Tables = append(s.Tables, p.Table()) })
	return s
}
