package mysql

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
	"github.com/lhsql/lhsql/types"
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

// charset passes CHARACTER SET, for text is UTF-8 whatever it says, and gives what COLLATE names; ""
// nothing.
func (p *parser) charset() (collation string) {
	for {
		switch {
		case p.Accept("character", "set"), p.Accept("charset"), p.Accept("char", "set"):
			p.Accept("=")
			p.stringOrName()
		case p.Accept("collate"):
			p.Accept("=")
			collation = strings.ToLower(p.stringOrName())
		case p.Accept("binary"):
			collation = "utf8mb4_bin"
		case p.Accept("ascii"), p.Accept("unicode"), p.Accept("byte"):
		default:
			return collation
		}
	}
}

// declaredNames are MySQL's types with their synonyms.
var declaredNames = map[string]string{
	"tinyint": "tinyint", "int1": "tinyint", "smallint": "smallint", "int2": "smallint",
	"mediumint": "mediumint", "middleint": "mediumint", "int3": "mediumint", "int": "int", "integer": "int", "int4": "int",
	"bigint": "bigint", "int8": "bigint", "long": "bigint", "decimal": "decimal", "dec": "decimal", "numeric": "decimal",
	"float": "float", "float4": "float", "double": "double", "real": "double", "float8": "double", "bit": "bit",
	"char": "char", "character": "char", "nchar": "char", "varchar": "varchar", "nvarchar": "varchar", "varcharacter": "varchar",
	"tinytext": "tinytext", "text": "text", "mediumtext": "mediumtext", "longtext": "longtext", "json": "json",
	"time": "time", "datetime": "datetime", "timestamp": "timestamp", "year": "year",
}

// declared parses what follows a type's name and says the type in MySQL's terms.
func (p *parser) declared(t *ast.TypeName, name string) {
	m := &types.MySQLType{Name: name}
	t.MySQL = m
	switch {
	case name == "double":
		p.Accept("precision")
	case name == "char" && p.Accept("varying"):
		m.Name = "varchar"
	}
	t.Mods = p.mods()
	switch m.Name {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double":
		for loop := true; loop; {
			switch {
			case p.Accept("unsigned"), p.Accept("zerofill"):
				m.Unsigned = true
			case p.Accept("signed"):
			default:
				loop = false
			}
		}
		if m.Name == "float" && len(t.Mods) == 1 && t.Mods[0] > 24 {
			m.Name = "double"
		}
		if m.Unsigned && m.Name == "tinyint" {
			t.Mods = nil // TINYINT(1) UNSIGNED is no boolean to clients
		}
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json":
		if m.Name == "varchar" && t.Mods == nil {
			p.SyntaxError()
		}
		if m.Collation = p.charset(); m.Name == "json" {
			m.Collation = ""
		}
		if m.Name != "char" && m.Name != "varchar" {
			t.Mods = nil
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
	switch w.Text {
	case "bool", "boolean":
		t.Name = "bool"
	case "serial":
		p.Refuse(w.Pos, "SERIAL is not supported: Iceberg tables have no AUTO_INCREMENT")
	case "fixed":
		if p.Ahead("(") && p.Peek(2).Punct(")") {
			t.Name, t.Mods = "fixed", p.mods()
			break
		}
		p.declared(&t, "decimal")
	case "enum", "set":
		t.MySQL = &types.MySQLType{Name: w.Text, Members: []string{}}
		p.Parens(func() {
			p.List(func() { t.MySQL.Members = append(t.MySQL.Members, strings.TrimRight(p.Str(), " ")) })
		})
		t.MySQL.Collation = p.charset()
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		t.MySQL, t.Mods = &types.MySQLType{Name: w.Text}, p.mods()
		if w.Text == "varbinary" && t.Mods == nil {
			p.SyntaxError()
		}
	case "bytea", "date":
		t.Name = w.Text
	case "string":
		t.Name = "text"
		p.charset()
	case "timestamp_ntz":
		t.Name = "timestamp"
	case "timestamptz", "timestamp_ltz":
		t.Name = "timestamptz"
	case "uuid", "timestamp_ns", "timestamptz_ns", "variant":
		t.Name = w.Text
	case "struct", "row", "map", "array", "list":
		p.At--
		return p.NestedType()
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "vector":
		p.Refuse(w.Pos, "type %s is not supported", w.Value)
	default:
		name, ok := declaredNames[w.Text]
		if !ok {
			p.FailAt(w.Pos, sqlerr.UndefinedObject, "type \"%s\" does not exist", w.Value)
		}
		p.declared(&t, name)
	}
	return t
}
