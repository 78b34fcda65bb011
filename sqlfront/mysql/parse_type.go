package mysql

import (
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// castType parses CAST's target. Its names are MySQL's, with "mysql " before those whose meaning
// differs from the type of that name in a table.
func (p *parser) castType() ast.TypeName {
	t := ast.TypeName{Pos: p.Pos()}
	w := p.Take()
	if w.Kind != token.Word {
		p.At--
		p.SyntaxError()
	}
	switch w.Text {
	case "signed", "unsigned":
		t.Name = "mysql " + w.Text
		_ = p.Accept("integer") || p.Accept("int")
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
		p.Accept("precision")
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
		t.Name = "mysql " + w.Text
	case "year":
		t.Name = "mysql year"
	default:
		p.At--
		p.SyntaxError()
	}
	return t
}

// mods parses (n) or (n, m).
func (p *parser) mods() []int {
	if !p.Accept("(") {
		return nil
	}
	var out []int
	p.List(func() {
		t := p.Take()
		n, err := strconv.Atoi(t.Text)
		if t.Kind != token.Number || err != nil {
			p.At--
			p.SyntaxError()
		}
		out = append(out, n)
	})
	p.Expect(")")
	return out
}

// charset passes CHARACTER SET and COLLATE, whose text is UTF-8 whatever they say.
func (p *parser) charset() {
	for {
		switch {
		case p.Accept("character", "set"), p.Accept("charset"), p.Accept("char", "set"):
			p.Accept("=")
			p.stringOrName()
		case p.Accept("collate"):
			p.Accept("=")
			p.stringOrName()
		case p.Accept("ascii"), p.Accept("unicode"), p.Accept("byte"):
		default:
			return
		}
	}
}

func (p *parser) stringOrName() string {
	if p.Peek(0).Kind == token.String {
		return p.Str()
	}
	return p.Ident()
}

// Type parses a column's type in CREATE and ALTER TABLE: MySQL's names become the Iceberg
// type that holds all their values, Iceberg's own and the nested ones stay.
func (p *parser) Type() ast.TypeName {
	p.enter()
	defer p.leave()
	t := ast.TypeName{Pos: p.Pos()}
	w := p.Take()
	if w.Kind != token.Word {
		p.At--
		p.SyntaxError()
	}
	unsigned := func() bool {
		u := false
		for {
			switch {
			case p.Accept("unsigned"):
				u = true
			case p.Accept("zerofill"):
				u = true
			case p.Accept("signed"):
			default:
				return u
			}
		}
	}
	switch w.Text {
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
		p.Refuse(w.Pos, "SERIAL is not supported: Iceberg tables have no AUTO_INCREMENT")
	case "decimal", "dec", "numeric", "fixed":
		if w.Text == "fixed" && p.Ahead("(") && p.Peek(2).Punct(")") {
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
		p.Accept("precision")
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
		p.Accept("varying")
		p.mods()
		t.Name = "text"
		p.charset()
	case "enum", "set":
		p.Parens(func() { p.List(func() { p.Str() }) })
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
		t.Name = w.Text
	case "struct", "row", "map", "array", "list":
		p.At--
		return p.NestedType()
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "vector":
		p.Refuse(w.Pos, "type %s is not supported", w.Value)
	default:
		p.FailAt(w.Pos, sqlerr.UndefinedObject, "type \"%s\" does not exist", w.Value)
	}
	return t
}
