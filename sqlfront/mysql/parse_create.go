package mysql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
	"github.com/lhsql/lhsql/sqlfront/token"
	"github.com/lhsql/lhsql/types"
)

// create parses CREATE TABLE, VIEW, DATABASE, BRANCH and TAG.
func (p *parser) create() ast.Stmt {
	pos := p.Pos()
	p.Expect("create")
	replace := p.Accept("or", "replace")
	switch {
	case p.Peek(0).Is("branch", "tag"):
		return p.CreateRef(pos, replace)
	case p.AcceptAny("database", "schema"):
		s := &ast.CreateSchema{Pos: pos, IfNotExists: p.Accept("if", "not", "exists")}
		s.Name = p.Dotted()
		for !p.AtEnd() {
			p.Accept("default")
			n := p.At
			if p.charset(); p.At == n {
				p.SyntaxError()
			}
		}
		return s
	}
	invoker := false
	for p.AcceptAny("algorithm", "sql", "definer") {
		// ALGORITHM = MERGE changes nothing here, and a view is its maker's whatever DEFINER says.
		security := p.Accept("security")
		p.Accept("=")
		invoker = invoker || security && p.Peek(0).Is("invoker")
		p.At++
		if p.Peek(0).Kind == token.Var {
			p.At++
		}
	}
	if p.Accept("view") {
		return p.createView(pos, replace, invoker)
	}
	temp := p.Accept("temporary")
	p.Accept("external")
	if p.Accept("table") {
		return p.createTable(pos, replace, temp)
	}
	if p.Accept("index") {
		return p.createIndex(pos)
	}
	if p.Accept("unique", "index") {
		return p.createUnique(pos)
	}
	if t := p.Peek(0); t.Is("fulltext", "spatial", "trigger", "procedure", "function", "event", "server", "tablespace") {
		p.Refuse(pos, "CREATE %s is not supported", strings.ToUpper(t.Text))
	}
	p.SyntaxError()
	return nil
}

func (p *parser) createView(pos int, replace, invoker bool) ast.Stmt {
	v := &ast.CreateView{Pos: pos, Replace: replace, Invoker: invoker}
	if p.Accept("if", "not", "exists") {
		p.Refuse(pos, "CREATE VIEW IF NOT EXISTS is not supported: write OR REPLACE")
	}
	v.Name = p.Table()
	if p.Ahead("(") {
		v.Columns = p.Names()
	}
	p.Expect("as")
	start := p.Pos()
	v.Query = p.query()
	v.SQL, v.SQLPos = p.Text[start:p.LastEnd()], start
	if p.Accept("with", "check", "option") || p.Accept("with", "cascaded", "check", "option") || p.Accept("with", "local", "check", "option") {
		p.Refuse(pos, "WITH CHECK OPTION is not supported: nothing is written through views")
	}
	return v
}

func (p *parser) createTable(pos int, replace, temp bool) ast.Stmt {
	t := &ast.CreateTable{Pos: pos, Replace: replace, Temp: temp, Props: map[string]ast.Expr{}}
	t.IfNotExists = p.Accept("if", "not", "exists")
	t.Name = p.Table()
	if p.Ahead("(") && !p.subqueryAhead() {
		p.Expect("(")
		if p.Accept("like") {
			like := p.Table()
			t.Like = &like
		} else if !p.Ahead(")") {
			p.List(func() { p.tableElement(t) })
		}
		p.Expect(")")
	}
	if c := lakehouse.NullKey(t, strings.EqualFold); c != nil {
		p.FailAt(c.Pos, sqlerr.InvalidTableDefinition, "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead")
	}
	for !p.AtEnd() {
		p.Accept(",")
		if p.Accept("as") || p.queryAhead() && !p.Ahead("with", "(") {
			t.As = p.query()
			break
		}
		p.tableOption(t)
	}
	return t
}

// tableElement parses a column, PRIMARY KEY (…), or an index, which there are none of.
func (p *parser) tableElement(t *ast.CreateTable) {
	pos := p.Pos()
	name := ""
	if p.Accept("constraint") && !p.Peek(0).Is("primary", "unique", "foreign", "check") {
		name = p.Ident()
	}
	switch {
	case p.keyAhead():
		p.addKey(t, p.tableKey(name))
		return
	case p.Ahead("foreign", "key"):
		t.ForeignKeys = append(t.ForeignKeys, p.foreignKey(name))
		return
	case p.Ahead("check", "("):
		t.Checks = append(t.Checks, p.Check(name))
		return
	case p.Peek(0).Is("fulltext", "spatial"):
		p.Refuse(pos, "%s indexes are not supported", strings.ToUpper(p.Peek(0).Text))
	case p.AcceptAny("key", "index"):
		p.index()
		t.Indexed = true
		return
	}
	c := p.columnDef()
	for _, k := range c.Keys {
		p.addKey(t, k)
	}
	t.Columns, t.Checks, t.ForeignKeys = append(t.Columns, c), append(t.Checks, c.Checks...), append(t.ForeignKeys, c.ForeignKeys...)
}

// addKey adds a key to a table, which has at most one primary key.
func (p *parser) addKey(t *ast.CreateTable, k ast.Key) {
	if k.Primary && t.Primary() != nil {
		p.FailAt(k.Pos, sqlerr.InvalidTableDefinition, "Multiple primary key defined")
	}
	t.Keys = append(t.Keys, k)
}

// keyAhead tells whether PRIMARY KEY or UNIQUE [KEY] of a table is next.
func (p *parser) keyAhead() bool { return p.Ahead("primary", "key") || p.Ahead("unique") }

// tableKey parses PRIMARY KEY [USING …] (columns) or UNIQUE [KEY | INDEX] [name] [USING …] (columns).
func (p *parser) tableKey(name string) ast.Key {
	k := ast.Key{Name: name, Pos: p.Pos()}
	if p.Accept("primary", "key") {
		k.Primary = true
	} else {
		p.Expect("unique")
		_ = p.Accept("key") || p.Accept("index")
	}
	if !p.Ahead("(") && !p.Ahead("using") {
		if n := p.Ident(); k.Name == "" {
			k.Name = n
		}
	}
	p.usingType()
	p.uniqueColumns(&k)
	p.indexOptions()
	p.Modes(&k.ConstraintModes, "UNIQUE")
	return k
}

// uniqueColumns parses the columns of a key, some of which by their first n letters or bytes: c (n).
func (p *parser) uniqueColumns(k *ast.Key) {
	p.Parens(func() {
		p.List(func() {
			if p.Ahead("(") {
				p.Refuse(p.Pos(), "a key of expressions is not supported")
			}
			k.Columns = append(k.Columns, p.Dotted())
			n := 0
			if p.Accept("(") {
				t := p.Take()
				var err error
				if n, err = strconv.Atoi(t.Text); err != nil || n < 1 {
					p.At--
					p.SyntaxError()
				}
				p.Expect(")")
			}
			k.Prefixes = append(k.Prefixes, n)
			_ = p.Accept("asc") || p.Accept("desc")
		})
	})
	if !slices.ContainsFunc(k.Prefixes, func(n int) bool { return n > 0 }) {
		k.Prefixes = nil
	}
}

// foreignKey parses FOREIGN KEY [name] (columns) REFERENCES ….
func (p *parser) foreignKey(name string) ast.ForeignKey {
	k := ast.ForeignKey{Name: name, Pos: p.Pos()}
	p.Expect("foreign")
	p.Expect("key")
	if !p.Ahead("(") {
		if n := p.Ident(); k.Name == "" {
			k.Name = n
		}
	}
	k.Columns = p.KeyColumns()
	p.References(&k)
	return k
}

func (p *parser) usingType() {
	if p.Accept("using") {
		p.Ident()
	}
}

func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.Pos(), Name: p.Ident()}
	if t := p.Peek(0); p.Accept("serial") {
		c.Type = ast.TypeName{Pos: t.Pos, MySQL: &types.MySQLType{Name: "bigint", Unsigned: true}}
		c.Identity, c.NotNull = &ast.Identity{Kind: "auto_increment", Start: 1, Increment: 1, Pos: t.Pos}, true
	} else {
		c.Type = p.Type()
	}
	p.ColumnOptions(&c)
	return c
}

// ColumnOptions parses what may follow a column's type, in any order.
func (p *parser) ColumnOptions(c *ast.ColumnDef) {
	for {
		t := p.Peek(0)
		switch {
		case p.ColumnOption(c):
		case p.Ahead("unique"):
			c.Keys = append(c.Keys, p.ColumnKey(c, ""))
			p.Accept("key")
		case p.Accept("primary"), p.Accept("key"):
			c.NotNull = true
			c.Keys = append(c.Keys, ast.Key{Primary: true, Pos: t.Pos, Columns: []ast.Name{{Parts: []string{c.Name}, Pos: c.Pos}}})
		case p.Ahead("references"):
			k := ast.ForeignKey{Pos: t.Pos, Columns: []ast.Name{{Parts: []string{c.Name}, Pos: c.Pos}}}
			p.References(&k)
			c.ForeignKeys = append(c.ForeignKeys, k)
		case p.Ahead("character", "set"), p.Ahead("charset"), p.Ahead("collate"):
			collate(c, p.charset())
		case p.Ahead("check", "("):
			c.Checks = append(c.Checks, p.Check(""))
		case p.Ahead("constraint") && p.Peek(2).Is("check"):
			p.At++
			c.Checks = append(c.Checks, p.Check(p.Ident()))
		case p.Ahead("generated", "always", "as", "("), p.Ahead("as", "("):
			_ = p.Accept("generated", "always")
			c.Generated = p.Generated()
			c.Generated.Pos = t.Pos
			c.Generated.Virtual = !p.Accept("stored") && !p.Accept("persistent")
			_ = c.Generated.Virtual && p.Accept("virtual")
		case p.Accept("auto_increment"):
			c.Identity = &ast.Identity{Kind: "auto_increment", Start: 1, Increment: 1, Pos: t.Pos}
			c.NotNull = true
		case p.Ahead("on", "update"):
			p.At += 2
			from := p.Pos()
			if w := p.Take(); !w.Is("current_timestamp", "now", "localtime", "localtimestamp") {
				p.At--
				p.SyntaxError()
			}
			p.mods0()
			c.OnUpdateSQL = p.Text[from:p.LastEnd()]
		case t.Is("check", "generated", "on", "virtual", "stored") ||
			t.Is("as") && p.Peek(1).Punct("("):
			p.Refuse(t.Pos, "column option %s is not supported: Iceberg columns keep NOT NULL, DEFAULT, COMMENT and PRIMARY KEY", strings.ToUpper(t.Text))
		default:
			return
		}
	}
}

// mods0 passes (), or a precision in brackets.
func (p *parser) mods0() {
	if p.Peek(0).Punct("(") && p.Peek(1).Punct(")") {
		p.At += 2
		return
	}
	p.mods()
}

// collate gives a text's column a collation.
func collate(c *ast.ColumnDef, name string) {
	if m := c.Type.MySQL; m != nil && name != "" {
		switch m.Name {
		case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
			m.Collation = name
		}
	}
}

// Default parses a default's value.
func (p *parser) Default() ast.Expr { return p.bits(0) }

// tableOption parses one option behind the columns. What tells MySQL how to store a table has no
// meaning here and is passed over.
func (p *parser) tableOption(t *ast.CreateTable) {
	p.Accept("default")
	w := p.Peek(0)
	switch {
	case p.TableClause(t):
	case p.Accept("with"), p.Accept("tblproperties"), p.Accept("options"):
		p.Properties(func(name string, value ast.Expr, pos int) { p.SetProperty(t.Props, name, value, pos) })
	case p.Ahead("character", "set"), p.Ahead("charset"), p.Ahead("collate"):
		name := p.charset()
		for i := range t.Columns {
			if m := t.Columns[i].Type.MySQL; m != nil && m.Collation == "" {
				collate(&t.Columns[i], name)
			}
		}
	case w.Is("engine"):
		p.At++
		p.Accept("=")
		p.stringOrName()
	case w.Is("row_format", "auto_increment", "avg_row_length", "checksum", "compression", "delay_key_write",
		"key_block_size", "max_rows", "min_rows", "pack_keys", "stats_auto_recalc", "stats_persistent", "stats_sample_pages", "encryption"):
		p.At++
		p.Accept("=")
		p.At++
	default:
		p.SyntaxError()
	}
}

// drop parses DROP TABLE, VIEW, DATABASE, BRANCH and TAG.
func (p *parser) drop() ast.Stmt {
	pos := p.Pos()
	p.Expect("drop")
	if p.Peek(0).Is("branch", "tag") {
		return p.DropRef(pos)
	}
	if p.Accept("index") {
		return p.dropIndex(pos)
	}
	d := &ast.Drop{Pos: pos}
	d.Temp = p.Accept("temporary")
	switch {
	case p.Accept("table"), p.Accept("tables"):
		d.Kind = "table"
	case p.Accept("view"):
		d.Kind = "view"
	case p.AcceptAny("database", "schema"):
		// A database is dropped with what it holds.
		d.Kind, d.Cascade = "schema", true
	default:
		p.SyntaxError()
	}
	d.IfExists = p.Accept("if", "exists")
	p.List(func() { d.Names = append(d.Names, p.Dotted()) })
	switch {
	case p.Accept("cascade"):
		d.Cascade = true
	case p.Accept("purge"):
		d.Purge = true
	default:
		if p.Accept("restrict") {
			d.Cascade = false
		}
	}
	return d
}
