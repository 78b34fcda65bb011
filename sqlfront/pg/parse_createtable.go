package pg

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
)

// create parses CREATE TABLE, CREATE BRANCH and CREATE TAG; other CREATEs are the grammar's.
func (p *stmtParser) create() (ast.Stmt, bool) {
	save := p.At
	pos := p.Pos()
	p.Expect("create")
	replace := p.Accept("or", "replace")
	if p.Peek(0).Is("branch", "tag") {
		return p.CreateRef(pos, replace), true
	}
	_ = p.Accept("global") || p.Accept("local")
	temp := p.Accept("temporary") || p.Accept("temp")
	_ = p.Accept("unlogged") || p.Accept("external")
	if p.Accept("table") {
		return p.createTable(pos, replace, temp), true
	}
	p.At = save
	return nil, false
}

func (p *stmtParser) createTable(pos int, replace, temp bool) ast.Stmt {
	t := &ast.CreateTable{Pos: pos, Replace: replace, Temp: temp, Props: map[string]ast.Expr{}}
	t.IfNotExists = p.Accept("if", "not", "exists")
	t.Name = p.Table()
	if p.Peek(0).Punct("(") {
		p.tableElements(t)
	}
	if c := lakehouse.NullKey(t, func(a, b string) bool { return a == b }); c != nil {
		p.FailAt(c.Pos, sqlerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", c.Name, t.Name.Parts[len(t.Name.Parts)-1])
	}
	for !p.AtEnd() {
		if p.Accept("as") {
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
	case p.TableClause(t):
	case p.Accept("with"), p.Accept("tblproperties"), p.Accept("options"):
		p.tableProps(t)
	case p.Accept("without", "oids"):
	case p.Accept("on", "commit"):
		switch {
		case p.Accept("preserve", "rows"):
		case p.Accept("delete", "rows"):
			t.OnCommit = "delete rows"
		case p.Accept("drop"):
			t.OnCommit = "drop"
		default:
			p.SyntaxError()
		}
	case p.Ahead("tablespace"), p.Ahead("inherits"), p.Ahead("clustered"), p.Ahead("row", "format"), p.Ahead("stored"):
		p.Refuse(p.Pos(), "CREATE TABLE … %s is not supported", strings.ToUpper(p.Peek(0).Text))
	default:
		p.SyntaxError()
	}
}

func (p *stmtParser) createAs(t *ast.CreateTable) {
	p.cutTimeTravel()
	if p.Peek(0).Is("execute") {
		p.Refuse(p.Pos(), "CREATE TABLE AS EXECUTE is not supported")
	}
	end := len(p.Toks)
	tail := func(words ...string) bool {
		save := p.At
		defer func() { p.At = save }()
		p.At = end - len(words)
		return p.At > save && p.Ahead(words...)
	}
	if tail("with", "no", "data") {
		t.WithNoData, end = true, end-3
	} else if tail("with", "data") {
		end -= 2
	}
	t.As = p.queryTo(end)
	p.At = len(p.Toks)
}

// tableElements parses the parenthesised columns and constraints. With AS the columns may be
// names only: then their Type has no Name.
func (p *stmtParser) tableElements(t *ast.CreateTable) {
	p.Expect("(")
	if p.Accept(")") {
		return
	}
	p.List(func() { p.tableElement(t) })
	p.Expect(")")
}

func (p *stmtParser) tableElement(t *ast.CreateTable) {
	start, name := p.Pos(), ""
	if p.Accept("constraint") {
		name = p.Name()
	}
	switch {
	case p.keyAhead():
		p.addKey(t, p.tableKey(name))
	case p.Ahead("foreign", "key"):
		t.ForeignKeys = append(t.ForeignKeys, p.foreignKey(name))
	case p.Accept("like"):
		like := p.Table()
		t.Like = &like
		for p.Accept("including") || p.Accept("excluding") {
			p.Ident()
		}
	case p.Peek(0).Is("check") && p.Peek(1).Punct("("):
		t.Checks = append(t.Checks, p.Check(name))
	case p.Peek(0).Is("exclude") && !p.Peek(1).IsName():
		p.Refuse(start, "EXCLUDE constraints are not supported")
	default:
		c := p.columnDef()
		for _, k := range c.Keys {
			p.addKey(t, k)
		}
		t.Columns, t.Checks, t.ForeignKeys = append(t.Columns, c), append(t.Checks, c.Checks...), append(t.ForeignKeys, c.ForeignKeys...)
	}
}

// addKey adds a key to a table, which has at most one primary key.
func (p *stmtParser) addKey(t *ast.CreateTable, k ast.Key) {
	if k.Primary && t.Primary() != nil {
		p.FailAt(k.Pos, sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name.Parts[len(t.Name.Parts)-1])
	}
	t.Keys = append(t.Keys, k)
}

// keyAhead tells whether PRIMARY KEY (…) or UNIQUE (…) of a table is next.
func (p *stmtParser) keyAhead() bool {
	return p.Ahead("primary", "key") || p.Ahead("unique", "(") || p.Ahead("unique", "nulls")
}

// tableKey parses PRIMARY KEY (columns) or UNIQUE [NULLS [NOT] DISTINCT] (columns).
func (p *stmtParser) tableKey(name string) ast.Key {
	k := ast.Key{Name: name, Pos: p.Pos()}
	if p.Accept("primary", "key") {
		k.Primary = true
	} else {
		p.Expect("unique")
		p.NullsDistinct(&k)
	}
	if p.Peek(0).Is("using") {
		p.Refuse(k.Pos, "a key cannot be made of an index: there are none")
	}
	k.Columns = p.KeyColumns()
	if p.Accept("include") {
		p.KeyColumns() // what an index would carry
	}
	if p.Accept("with") {
		p.Properties(func(string, ast.Expr, int) {})
	}
	if p.Accept("using", "index", "tablespace") {
		p.Name()
	}
	p.Modes(&k.ConstraintModes, map[bool]string{true: "PRIMARY KEY", false: "UNIQUE"}[k.Primary])
	return k
}

// foreignKey parses FOREIGN KEY (columns) REFERENCES ….
func (p *stmtParser) foreignKey(name string) ast.ForeignKey {
	k := ast.ForeignKey{Name: name, Pos: p.Pos()}
	p.Expect("foreign")
	p.Expect("key")
	k.Columns = p.KeyColumns()
	p.References(&k)
	return k
}

// columnDef parses name type constraints.
func (p *stmtParser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.Pos()}
	c.Name = p.columnName()
	if p.Peek(0).Punct(",") || p.Peek(0).Punct(")") {
		return c
	}
	c.Type = p.Type()
	p.ColumnOptions(&c)
	return c
}

// columnName takes a column's name; PostgreSQL allows there what is not fully reserved.
func (p *stmtParser) columnName() string {
	if t := p.Peek(0); t.Is("authorization", "binary", "concurrently", "cross", "freeze", "full", "inner", "left", "natural", "outer", "right", "verbose") {
		p.SyntaxError()
	}
	return p.Name()
}

// ColumnOptions parses what may follow a column's type, in any order.
func (p *stmtParser) ColumnOptions(c *ast.ColumnDef) {
	for {
		name := ""
		if p.Accept("constraint") {
			name = p.Name()
		}
		if p.Ahead("check", "(") {
			c.Checks = append(c.Checks, p.Check(name))
			continue
		}
		if p.Ahead("unique") || p.Ahead("primary", "key") {
			c.Keys = append(c.Keys, p.ColumnKey(c, name))
			continue
		}
		if p.Ahead("references") {
			k := ast.ForeignKey{Name: name, Pos: p.Pos(), Columns: []ast.Name{{Parts: []string{c.Name}, Pos: c.Pos}}}
			p.References(&k)
			c.ForeignKeys = append(c.ForeignKeys, k)
			continue
		}
		if p.Ahead("generated", "always", "as", "identity") || p.Ahead("generated", "by", "default", "as", "identity") {
			c.Identity = p.identity()
			c.NotNull = true
			continue
		}
		if p.generated(c) {
			continue
		}
		if !p.ColumnOption(c) {
			break
		}
	}
	if kind := serials[c.Type.Name]; kind != "" && c.Type.Array == 0 {
		c.Identity = &ast.Identity{Kind: "default", Start: 1, Increment: 1, Pos: c.Type.Pos}
		c.Type.Name, c.NotNull = kind, true
	}
	if t := p.Peek(0); t.Is("check", "generated", "collate") {
		p.Refuse(t.Pos, "column constraint %s is not supported: Iceberg columns keep NOT NULL, DEFAULT, COMMENT and PRIMARY KEY", strings.ToUpper(t.Text))
	}
}

// generated parses GENERATED ALWAYS AS (expression) STORED; false: it is not next.
func (p *stmtParser) generated(c *ast.ColumnDef) bool {
	byDefault := p.Ahead("generated", "by", "default", "as", "(")
	if !byDefault && !p.Ahead("generated", "always", "as", "(") {
		return false
	}
	pos := p.Pos()
	if byDefault {
		p.FailAt(pos, sqlerr.SyntaxError, "for a generated column, GENERATED ALWAYS must be specified")
	}
	if c.Generated != nil {
		p.FailAt(pos, sqlerr.SyntaxError, "multiple generation clauses specified for column \"%s\"", c.Name)
	}
	p.At += 2
	c.Generated = p.Generated()
	c.Generated.Pos = pos
	p.Expect("stored")
	return true
}

// serials are the types that say how a column is numbered, with those of its values.
var serials = map[string]string{"smallserial": "int2", "serial2": "int2", "serial": "int4", "serial4": "int4", "bigserial": "int8", "serial8": "int8"}

// identity parses GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(options of a sequence)].
func (p *stmtParser) identity() *ast.Identity {
	id := &ast.Identity{Kind: "always", Start: 1, Increment: 1, Pos: p.Pos()}
	p.Expect("generated")
	if p.Accept("by", "default") {
		id.Kind = "default"
	} else {
		p.Expect("always")
	}
	p.Expect("as")
	p.Expect("identity")
	if !p.Accept("(") {
		return id
	}
	for !p.Accept(")") {
		switch {
		case p.Accept("start"):
			p.Accept("with")
			id.Start = p.signed()
		case p.Accept("increment"):
			p.Accept("by")
			if id.Increment = p.signed(); id.Increment < 1 {
				p.Refuse(id.Pos, "an identity column counts up: INCREMENT must be positive")
			}
		case p.Accept("sequence", "name"):
			p.Dotted()
		case p.Accept("no", "minvalue"), p.Accept("no", "maxvalue"), p.Accept("no", "cycle"):
		case p.Accept("minvalue"), p.Accept("maxvalue"), p.Accept("cache"):
			p.signed()
		default:
			p.SyntaxError()
		}
	}
	return id
}

// signed takes an integer.
func (p *stmtParser) signed() int64 {
	text := ""
	if p.Accept("-") {
		text = "-"
	}
	t := p.Take()
	n, err := strconv.ParseInt(text+t.Text, 10, 64)
	if err != nil {
		p.At--
		p.SyntaxError()
	}
	return n
}

// Default parses a default's value. DEFAULT NULL and DEFAULT NOT …: the first word belongs to it.
func (p *stmtParser) Default() ast.Expr {
	from := p.At + 1
	if p.Peek(0).Punct("(") {
		from = p.At
	}
	return p.exprTo(p.scanTo(from, p.stopAt(",", "not", "null", "comment", "primary", "constraint", "check", "unique",
		"references", "generated", "first", "after", "collate")))
}

// Order parses an ORDER BY list that ends before one of the words.
func (p *stmtParser) Order(ends ...string) []ast.Order {
	return p.orderTo(p.upTo(p.stopAt(ends...)))
}

// orderTo parses the tokens up to index k as an ORDER BY list, with or without parentheses.
func (p *stmtParser) orderTo(k int) []ast.Order {
	from, to := p.Pos(), p.tokenPos(k)
	if p.Peek(0).Punct("(") && k > p.At+1 && p.Toks[k-1].Punct(")") && p.openingOf(k-1) == p.At {
		from, to = p.tokenPos(p.At+1), p.tokenPos(k-1)
	}
	n, c := p.grammar("SELECT ORDER BY ", from, to, "")
	p.At = k
	return c.orderBy(n.GetSelectStmt().GetSortClause())
}
