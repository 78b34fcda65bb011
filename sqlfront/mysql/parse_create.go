package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// create parses CREATE TABLE, VIEW, DATABASE, BRANCH and TAG.
func (p *parser) create() ast.Stmt {
	pos := p.pos()
	p.expect("create")
	replace := p.accept("or", "replace")
	switch {
	case p.peek(0).is("branch", "tag"):
		return p.createRef(pos, replace)
	case p.acceptAny("database", "schema"):
		s := &ast.CreateSchema{Pos: pos, IfNotExists: p.accept("if", "not", "exists")}
		s.Name = p.dotted()
		for !p.atEnd() {
			p.accept("default")
			n := p.i
			if p.charset(); p.i == n {
				p.syntaxError()
			}
		}
		return s
	}
	for p.acceptAny("algorithm", "sql", "definer") {
		// ALGORITHM = MERGE, SQL SECURITY INVOKER and DEFINER = user change nothing here.
		p.accept("security")
		p.accept("=")
		p.i++
		if p.peek(0).kind == tokVar {
			p.i++
		}
	}
	if p.accept("view") {
		return p.createView(pos, replace)
	}
	temp := p.accept("temporary")
	p.accept("external")
	if p.accept("table") {
		return p.createTable(pos, replace, temp)
	}
	if t := p.peek(0); t.is("index", "unique", "fulltext", "spatial", "trigger", "procedure", "function", "event", "user", "role", "server", "tablespace") {
		p.refuse(pos, "CREATE %s is not supported", strings.ToUpper(t.text))
	}
	p.syntaxError()
	return nil
}

func (p *parser) createView(pos int, replace bool) ast.Stmt {
	v := &ast.CreateView{Pos: pos, Replace: replace}
	if p.accept("if", "not", "exists") {
		p.refuse(pos, "CREATE VIEW IF NOT EXISTS is not supported: write OR REPLACE")
	}
	v.Name = ast.TableName{Name: p.dotted()}
	if p.ahead("(") {
		v.Columns = p.names()
	}
	p.expect("as")
	start := p.pos()
	v.Query = p.query()
	v.SQL = p.text[start:p.lastEnd()]
	if p.accept("with", "check", "option") || p.accept("with", "cascaded", "check", "option") || p.accept("with", "local", "check", "option") {
		p.refuse(pos, "WITH CHECK OPTION is not supported: nothing is written through views")
	}
	return v
}

func (p *parser) createTable(pos int, replace, temp bool) ast.Stmt {
	t := &ast.CreateTable{Pos: pos, Replace: replace, Temp: temp, Props: map[string]ast.Expr{}}
	t.IfNotExists = p.accept("if", "not", "exists")
	t.Name = ast.TableName{Name: p.dotted()}
	if p.ahead("(") && !p.subqueryAhead() {
		p.expect("(")
		if p.accept("like") {
			like := ast.TableName{Name: p.dotted()}
			t.Like = &like
		} else if !p.ahead(")") {
			p.list(func() { p.tableElement(t) })
		}
		p.expect(")")
	}
	for !p.atEnd() {
		p.accept(",")
		if p.accept("as") || p.queryAhead() {
			t.As = p.query()
			break
		}
		p.tableOption(t)
	}
	return t
}

// tableElement parses a column, PRIMARY KEY (…), or an index, which there are none of.
func (p *parser) tableElement(t *ast.CreateTable) {
	pos := p.pos()
	if p.accept("constraint") && !p.peek(0).is("primary", "unique", "foreign", "check") {
		p.ident()
	}
	switch {
	case p.accept("primary", "key"):
		p.indexType()
		if len(t.PrimaryKey) > 0 {
			p.failAt(pos, sqlerr.InvalidTableDefinition, "Multiple primary key defined")
		}
		p.parens(func() {
			p.list(func() {
				t.PrimaryKey = append(t.PrimaryKey, p.ident())
				_ = p.accept("asc") || p.accept("desc")
			})
		})
		p.indexType()
		return
	case p.peek(0).is("unique", "foreign", "check", "fulltext", "spatial"):
		p.refuse(pos, "%s constraints are not supported: Iceberg tables keep NOT NULL and PRIMARY KEY (identifier fields)", strings.ToUpper(p.peek(0).text))
	case p.peek(0).is("key", "index"):
		p.refuse(pos, "indexes are not supported: partition the table and sort its rows instead")
	}
	c := p.columnDef()
	if c.PrimaryKey {
		t.PrimaryKey = append(t.PrimaryKey, c.Name)
	}
	t.Columns = append(t.Columns, c)
}

func (p *parser) indexType() {
	if p.accept("using") {
		p.ident()
	}
	p.accept("not", "enforced")
}

func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos(), Name: p.ident()}
	c.Type = p.columnType()
	p.columnOptions(&c)
	return c
}

// columnOptions parses what may follow a column's type, in any order.
func (p *parser) columnOptions(c *ast.ColumnDef) {
	for {
		t := p.peek(0)
		switch {
		case p.accept("not", "null"):
			c.NotNull = true
		case p.accept("null"):
		case p.accept("default"):
			c.Default = p.bits(0)
		case p.accept("comment"):
			c.Comment = p.str()
		case p.accept("primary", "key"), p.accept("primary"):
			c.PrimaryKey, c.NotNull = true, true
		case p.ahead("character", "set"), p.ahead("charset"), p.ahead("collate"):
			p.charset()
		case t.is("auto_increment", "unique", "key", "references", "check", "generated", "on", "virtual", "stored") ||
			t.is("as") && p.peek(1).punct("("):
			p.refuse(t.pos, "column option %s is not supported: Iceberg columns keep NOT NULL, DEFAULT, COMMENT and PRIMARY KEY", strings.ToUpper(t.text))
		default:
			return
		}
	}
}

// tableOption parses one option behind the columns. What tells MySQL how to store a table has no
// meaning here and is passed over.
func (p *parser) tableOption(t *ast.CreateTable) {
	p.accept("default")
	w := p.peek(0)
	switch {
	case p.accept("using"):
		if f := p.peek(0); !p.accept("iceberg") {
			p.refuse(f.pos, "tables are Iceberg tables: write USING iceberg or leave it out")
		}
	case p.accept("partitioned", "by"), p.accept("partition", "by"):
		if r := p.peek(0); r.is("range", "list", "hash", "key", "linear") && (p.peek(1).punct("(") || p.peek(1).is("columns", "hash", "key")) {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "PARTITION BY %s is not supported", strings.ToUpper(r.text)).At(r.pos).
				WithHint("Write PARTITIONED BY (month(ts), region, bucket(16, id), truncate(4, s))."))
		}
		t.PartitionBy = append(t.PartitionBy, p.exprs()...)
	case p.accept("with"), p.accept("tblproperties"), p.accept("options"):
		p.properties(func(name string, value ast.Expr, pos int) {
			if _, twice := t.Props[name]; twice {
				p.failAt(pos, sqlerr.SyntaxError, "property \"%s\" is given twice", name)
			}
			t.Props[name] = value
		})
	case p.accept("location"):
		p.accept("=")
		t.Location = p.str()
	case p.accept("comment"):
		p.accept("=")
		s := p.str()
		t.Comment = &s
	case p.accept("sorted", "by"), p.accept("order", "by"):
		p.parens(func() { t.SortedBy = p.orderList() })
	case p.accept("like"):
		like := ast.TableName{Name: p.dotted()}
		t.Like = &like
	case p.ahead("character", "set"), p.ahead("charset"), p.ahead("collate"):
		p.charset()
	case w.is("engine"):
		p.i++
		p.accept("=")
		p.stringOrName()
	case w.is("row_format", "auto_increment", "avg_row_length", "checksum", "compression", "delay_key_write",
		"key_block_size", "max_rows", "min_rows", "pack_keys", "stats_auto_recalc", "stats_persistent", "stats_sample_pages", "encryption"):
		p.i++
		p.accept("=")
		p.i++
	default:
		p.syntaxError()
	}
}

// properties parses ('name' = value, name.of.it = value, …).
func (p *parser) properties(set func(name string, value ast.Expr, pos int)) {
	p.expect("(")
	if p.accept(")") {
		return
	}
	p.list(func() {
		pos := p.pos()
		name := ""
		if p.peek(0).kind == tokString {
			name = p.str()
		} else {
			name = p.ident()
			for {
				t := p.peek(0)
				if !t.punct(".") && !t.op("-") {
					break
				}
				p.i++
				name += t.text + p.ident()
			}
		}
		var value ast.Expr = &ast.Lit{Kind: 'b', Text: "true", Pos: pos}
		p.accept("=")
		if !p.ahead(",") && !p.ahead(")") {
			value = p.expr()
		}
		set(name, value, pos)
	})
	p.expect(")")
}

// drop parses DROP TABLE, VIEW, DATABASE, BRANCH and TAG.
func (p *parser) drop() ast.Stmt {
	pos := p.pos()
	p.expect("drop")
	if p.peek(0).is("branch", "tag") {
		kind := p.ident()
		ref := &ast.RefDef{Branch: kind == "branch", IfExists: p.accept("if", "exists")}
		ref.Name = p.refName()
		return alterOne(p.inTable(), pos, ast.AlterAction{Op: "drop " + kind, Ref: ref, Pos: pos})
	}
	d := &ast.Drop{Pos: pos}
	p.accept("temporary")
	switch {
	case p.accept("table"), p.accept("tables"):
		d.Kind = "table"
	case p.accept("view"):
		d.Kind = "view"
	case p.acceptAny("database", "schema"):
		d.Kind = "schema"
	default:
		p.syntaxError()
	}
	d.IfExists = p.accept("if", "exists")
	p.list(func() { d.Names = append(d.Names, p.dotted()) })
	switch {
	case p.accept("cascade"):
		d.Cascade = true
	case p.accept("purge"):
		d.Purge = true
	default:
		p.accept("restrict")
	}
	return d
}
