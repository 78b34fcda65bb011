package mysql

import (
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// castType parses CAST's target. Its names are MySQL's, with "mysql " before those whose meaning
// differs from the type of that name in a table.
func (p *parser) castType() ast.TypeName {
	t := ast.TypeName{Pos: p.pos()}
	w := p.next()
	if w.kind != tokWord {
		p.i--
		p.syntaxError()
	}
	switch w.text {
	case "signed", "unsigned":
		t.Name = "mysql " + w.text
		_ = p.accept("integer") || p.accept("int")
	case "char", "character", "nchar", "varchar", "text":
		t.Name = "mysql char"
		t.Mods = p.mods()
		p.charset()
	case "binary", "varbinary":
		t.Name = "mysql binary"
		t.Mods = p.mods()
	case "decimal", "dec", "numeric":
		t.Name = "numeric"
		t.Mods = p.mods()
		if t.Mods == nil {
			t.Mods = []int{10, 0}
		}
	case "double", "real":
		p.accept("precision")
		t.Name = "float8"
	case "float":
		t.Name = "float4"
		if m := p.mods(); len(m) > 0 && m[0] > 24 {
			t.Name = "float8"
		}
	case "datetime", "timestamp":
		t.Name = "mysql datetime"
		t.Mods = p.mods()
	case "time":
		t.Name = "mysql time"
		t.Mods = p.mods()
	case "date", "json":
		t.Name = "mysql " + w.text
	case "year":
		t.Name = "mysql year"
	default:
		p.i--
		p.syntaxError()
	}
	return t
}

// mods parses (n) or (n, m).
func (p *parser) mods() []int {
	if !p.accept("(") {
		return nil
	}
	var out []int
	p.list(func() {
		t := p.next()
		n, err := strconv.Atoi(t.text)
		if t.kind != tokNumber || err != nil {
			p.i--
			p.syntaxError()
		}
		out = append(out, n)
	})
	p.expect(")")
	return out
}

// charset passes CHARACTER SET and COLLATE, whose text is UTF-8 whatever they say.
func (p *parser) charset() {
	for {
		switch {
		case p.accept("character", "set"), p.accept("charset"), p.accept("char", "set"):
			p.accept("=")
			p.stringOrName()
		case p.accept("collate"):
			p.accept("=")
			p.stringOrName()
		case p.accept("ascii"), p.accept("unicode"), p.accept("byte"):
		default:
			return
		}
	}
}

func (p *parser) stringOrName() string {
	if p.peek(0).kind == tokString {
		return p.str()
	}
	return p.ident()
}

// columnType parses a column's type in CREATE and ALTER TABLE: MySQL's names become the Iceberg
// type that holds all their values, Iceberg's own and the nested ones stay.
func (p *parser) columnType() ast.TypeName {
	t := ast.TypeName{Pos: p.pos()}
	w := p.next()
	if w.kind != tokWord {
		p.i--
		p.syntaxError()
	}
	unsigned := func() bool {
		u := false
		for {
			switch {
			case p.accept("unsigned"):
				u = true
			case p.accept("zerofill"):
				u = true
			case p.accept("signed"):
			default:
				return u
			}
		}
	}
	switch w.text {
	case "bool", "boolean":
		t.Name = "bool"
	case "tinyint", "int1":
		m := p.mods()
		t.Name = "int4"
		if !unsigned() && len(m) == 1 && m[0] == 1 {
			t.Name = "bool"
		}
	case "smallint", "int2", "mediumint", "middleint", "int3":
		p.mods()
		t.Name = "int4"
		unsigned()
	case "int", "integer", "int4":
		p.mods()
		t.Name = "int4"
		if unsigned() {
			t.Name = "int8"
		}
	case "bigint", "int8", "long":
		p.mods()
		t.Name = "int8"
		if unsigned() {
			t.Name, t.Mods = "numeric", []int{20, 0}
		}
	case "serial":
		p.refuse(w.pos, "SERIAL is not supported: Iceberg tables have no AUTO_INCREMENT")
	case "decimal", "dec", "numeric", "fixed":
		if w.text == "fixed" && p.ahead("(") && p.peek(2).punct(")") {
			t.Name, t.Mods = "fixed", p.mods()
			break
		}
		t.Name, t.Mods = "numeric", p.mods()
		if t.Mods == nil {
			t.Mods = []int{10, 0}
		}
		unsigned()
	case "float", "float4":
		t.Name = "float4"
		if m := p.mods(); len(m) == 1 && m[0] > 24 {
			t.Name = "float8"
		}
		unsigned()
	case "double", "real", "float8":
		p.accept("precision")
		p.mods()
		t.Name = "float8"
		unsigned()
	case "bit":
		m := p.mods()
		t.Name = "bool"
		if len(m) == 1 && m[0] > 1 {
			t.Name = "bytea"
		}
	case "char", "character", "nchar", "varchar", "nvarchar", "varcharacter", "tinytext", "text", "mediumtext",
		"longtext", "string", "json":
		p.accept("varying")
		p.mods()
		t.Name = "text"
		p.charset()
	case "enum", "set":
		p.parens(func() { p.list(func() { p.str() }) })
		t.Name = "text"
		p.charset()
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bytea":
		p.mods()
		t.Name = "bytea"
	case "date":
		t.Name = "date"
	case "time":
		p.mods()
		t.Name = "time"
	case "datetime", "timestamp_ntz":
		p.mods()
		t.Name = "timestamp"
	case "timestamp", "timestamptz", "timestamp_ltz":
		p.mods()
		t.Name = "timestamptz"
	case "year":
		p.mods()
		t.Name = "int4"
	case "uuid", "timestamp_ns", "timestamptz_ns", "variant":
		t.Name = w.text
	case "struct", "row", "map", "array", "list":
		t = p.nestedType(w)
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "vector":
		p.refuse(w.pos, "type %s is not supported", w.value)
	default:
		p.failAt(w.pos, sqlerr.UndefinedObject, "type \"%s\" does not exist", w.value)
	}
	return t
}

// nestedType parses struct<a: int, b: string>, map<k, v>, array<t> and the same with parentheses.
func (p *parser) nestedType(w token) ast.TypeName {
	p.enter()
	defer p.leave()
	t := ast.TypeName{Pos: w.pos, Name: w.text}
	switch w.text {
	case "row":
		t.Name = "struct"
	case "array":
		t.Name = "list"
	}
	angle := !p.accept("(")
	if angle {
		p.expect("<")
	}
	p.list(func() {
		var a ast.TypeArg
		if t.Name == "struct" {
			a.Name = p.ident()
			p.accept(":")
		}
		a.Type = p.columnType()
		if p.accept("not", "null") {
			a.NotNull = true
		}
		if p.accept("comment") {
			p.str()
		}
		t.Args = append(t.Args, a)
	})
	switch {
	case !angle:
		p.expect(")")
	case p.peek(0).op(">>"):
		// Of >> this type takes the first.
		p.toks[p.i].text = ">"
		p.toks[p.i].pos++
	default:
		p.expect(">")
	}
	if want := map[string]int{"map": 2, "list": 1}[t.Name]; want > 0 && len(t.Args) != want {
		p.failAt(t.Pos, sqlerr.SyntaxError, "type %s takes %d type arguments, not %d", t.Name, want, len(t.Args))
	}
	return t
}
