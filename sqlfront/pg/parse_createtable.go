package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// create parses CREATE TABLE, CREATE BRANCH and CREATE TAG; other CREATEs are the grammar's.
func (p *stmtParser) create() (ast.Stmt, bool) {
	save := p.i
	pos := p.pos()
	p.expect("create")
	replace := p.accept("or", "replace")
	if p.peek(0).is("branch", "tag") {
		return p.createRef(pos, replace), true
	}
	_ = p.accept("global") || p.accept("local")
	temp := p.accept("temporary") || p.accept("temp")
	_ = p.accept("unlogged") || p.accept("external")
	if p.accept("table") {
		return p.createTable(pos, replace, temp), true
	}
	p.i = save
	return nil, false
}

func (p *stmtParser) createTable(pos int, replace, temp bool) ast.Stmt {
	t := &ast.CreateTable{Pos: pos, Replace: replace, Temp: temp, Props: map[string]ast.Expr{}}
	t.IfNotExists = p.accept("if", "not", "exists")
	t.Name = p.table()
	if p.peek(0).punct("(") {
		p.tableElements(t)
	}
	for p.err == nil && !p.atEnd() {
		if p.accept("as") {
			p.createAs(t)
			break
		}
		p.tableClause(t)
	}
	return t
}

// tableClause parses one clause behind the columns, in any order.
func (p *stmtParser) tableClause(t *ast.CreateTable) {
	switch {
	case p.accept("using"):
		if f := p.peek(0); !p.accept("iceberg") {
			p.failAt(f.pos, sqlerr.FeatureNotSupported, "tables are Iceberg tables: write USING iceberg or leave it out")
		}
	case p.accept("partitioned", "by"), p.accept("partition", "by"):
		if r := p.peek(0); r.is("range", "list", "hash") && p.peek(1).punct("(") {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "PARTITION BY %s is not supported", strings.ToUpper(r.text)).At(r.pos).
				WithHint("Write PARTITIONED BY (month(ts), region, bucket(16, id), truncate(4, s))."))
			return
		}
		t.PartitionBy = append(t.PartitionBy, p.exprList()...)
	case p.accept("with"), p.accept("tblproperties"), p.accept("options"):
		p.tableProps(t)
	case p.accept("location"):
		t.Location = p.str()
	case p.accept("comment"):
		p.accept("=")
		s := p.str()
		t.Comment = &s
	case p.accept("sorted", "by"), p.accept("order", "by"):
		t.SortedBy = p.orderTo(p.orderEnd())
	case p.accept("like"):
		like := p.table()
		t.Like = &like
	case p.accept("without", "oids"):
	case p.accept("on", "commit"):
		switch {
		case p.accept("preserve", "rows"):
		case p.accept("delete", "rows"):
			t.OnCommit = "delete rows"
		case p.accept("drop"):
			t.OnCommit = "drop"
		default:
			p.syntaxError()
		}
	case p.ahead("tablespace"), p.ahead("inherits"), p.ahead("clustered"), p.ahead("row", "format"), p.ahead("stored"):
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "CREATE TABLE … %s is not supported", strings.ToUpper(p.peek(0).text))
	default:
		p.syntaxError()
	}
}

func (p *stmtParser) createAs(t *ast.CreateTable) {
	p.cutTimeTravel()
	if p.peek(0).is("execute") {
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "CREATE TABLE AS EXECUTE is not supported")
		return
	}
	end := len(p.toks)
	tail := func(words ...string) bool {
		save := p.i
		defer func() { p.i = save }()
		p.i = end - len(words)
		return p.i > save && p.ahead(words...)
	}
	if tail("with", "no", "data") {
		t.WithNoData, end = true, end-3
	} else if tail("with", "data") {
		end -= 2
	}
	t.As = p.queryTo(end)
	p.i = len(p.toks)
}

// tableElements parses the parenthesised columns and constraints. With AS the columns may be
// names only: then their Type has no Name.
func (p *stmtParser) tableElements(t *ast.CreateTable) {
	p.expect("(")
	if p.accept(")") {
		return
	}
	for p.err == nil {
		p.tableElement(t)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

func (p *stmtParser) tableElement(t *ast.CreateTable) {
	start := p.pos()
	if p.peek(0).is("constraint") {
		p.i++
		p.name()
	}
	switch {
	case p.accept("primary", "key"):
		if len(t.PrimaryKey) > 0 {
			p.failAt(start, sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name.Parts[len(t.Name.Parts)-1])
		}
		t.PrimaryKey = p.nameList()
		p.accept("not", "enforced")
	case p.accept("like"):
		like := p.table()
		t.Like = &like
		for p.accept("including") || p.accept("excluding") {
			p.ident()
		}
	case p.peek(0).is("unique", "check", "foreign", "exclude") && !p.peek(1).isName():
		p.failAt(start, sqlerr.FeatureNotSupported, "%s constraints are not supported: Iceberg tables keep NOT NULL and PRIMARY KEY (identifier fields)", strings.ToUpper(p.peek(0).text))
	default:
		c := p.columnDef()
		if c.PrimaryKey {
			t.PrimaryKey = append(t.PrimaryKey, c.Name)
		}
		t.Columns = append(t.Columns, c)
	}
}

// columnDef parses name type constraints.
func (p *stmtParser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos()}
	c.Name = p.columnName()
	if p.err != nil || p.peek(0).punct(",") || p.peek(0).punct(")") {
		return c
	}
	c.Type = p.typeSpec()
	p.columnConstraints(&c)
	return c
}

// columnName takes a column's name; PostgreSQL allows there what is not fully reserved.
func (p *stmtParser) columnName() string {
	if t := p.peek(0); t.is("authorization", "binary", "concurrently", "cross", "freeze", "full", "inner", "left", "natural", "outer", "right", "verbose") {
		p.syntaxError()
		return ""
	}
	return p.name()
}

// columnConstraints parses what may follow a column's type, in any order.
func (p *stmtParser) columnConstraints(c *ast.ColumnDef) {
	stops := p.stopAt(",", "not", "null", "comment", "primary", "constraint", "check", "unique", "references", "generated", "first", "after", "collate")
	for p.err == nil {
		if p.accept("constraint") {
			p.name()
		}
		t := p.peek(0)
		switch {
		case p.accept("not", "null"):
			c.NotNull = true
		case p.accept("null"):
		case p.accept("default"):
			// DEFAULT NULL and DEFAULT NOT …: the first word belongs to the value.
			c.Default = p.exprTo(p.scanTo(p.i+1, stops))
		case p.accept("comment"):
			c.Comment = p.str()
		case p.accept("primary", "key"):
			c.PrimaryKey, c.NotNull = true, true
			p.accept("not", "enforced")
		case t.is("check", "unique", "references", "generated", "collate"):
			p.failAt(t.pos, sqlerr.FeatureNotSupported, "column constraint %s is not supported: Iceberg columns keep NOT NULL, DEFAULT, COMMENT and PRIMARY KEY", strings.ToUpper(t.text))
		default:
			return
		}
	}
}

// nameList parses (a, b, c).
func (p *stmtParser) nameList() []string {
	var out []string
	p.expect("(")
	for p.err == nil {
		out = append(out, p.ident())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// exprList parses (e, e, …).
func (p *stmtParser) exprList() []ast.Expr {
	var out []ast.Expr
	p.expect("(")
	for p.err == nil {
		out = append(out, p.expr(","))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// orderEnd is where an ORDER BY list ends among table clauses.
func (p *stmtParser) orderEnd() int {
	return p.upTo(p.stopAt("with", "tblproperties", "location", "comment", "as", "using", "partitioned", "partition"))
}

// orderTo parses the tokens up to index k as an ORDER BY list, with or without parentheses.
func (p *stmtParser) orderTo(k int) []ast.Order {
	from, to := p.pos(), p.tokenPos(k)
	if p.peek(0).punct("(") && k > p.i+1 && p.toks[k-1].punct(")") && p.openingOf(k-1) == p.i {
		from, to = p.tokenPos(p.i+1), p.tokenPos(k-1)
	}
	n, c := p.grammar("SELECT ORDER BY ", from, to, "")
	if n == nil {
		return nil
	}
	p.i = k
	return c.orderBy(n.GetSelectStmt().GetSortClause())
}
