package lakehouse

// This file parses PRIMARY KEY, UNIQUE and FOREIGN KEY constraints as both dialects have them.

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// ColumnKey parses PRIMARY KEY or UNIQUE behind a column.
func (p *Parser) ColumnKey(c *ast.ColumnDef, name string) ast.Key {
	k := ast.Key{Name: name, Pos: p.Pos(), Columns: []ast.Name{{Parts: []string{c.Name}, Pos: c.Pos}}}
	if p.Accept("primary", "key") {
		k.Primary, c.NotNull = true, true
	} else {
		p.Expect("unique")
		p.NullsDistinct(&k)
	}
	p.Modes(&k.ConstraintModes, "UNIQUE")
	return k
}

// NullsDistinct parses NULLS [NOT] DISTINCT, which may be missing.
func (p *Parser) NullsDistinct(k *ast.Key) {
	if p.Accept("nulls", "not", "distinct") {
		k.NullsNotDistinct = true
	} else {
		p.Accept("nulls", "distinct")
	}
}

// KeyColumns parses the columns of a key, in parentheses.
func (p *Parser) KeyColumns() []ast.Name {
	var out []ast.Name
	p.Parens(func() { p.List(func() { out = append(out, p.Dotted()) }) })
	return out
}

// Modes parses what may stand behind a constraint: [NOT] DEFERRABLE, INITIALLY …, [NOT] ENFORCED,
// NOT VALID. what names the constraint in errors.
func (p *Parser) Modes(m *ast.ConstraintModes, what string) {
	for {
		switch pos := p.Pos(); {
		case p.Accept("not", "deferrable"), p.Accept("initially", "immediate"), p.Accept("enforced"):
		case p.Accept("deferrable"):
			m.Deferrable = true
		case p.Accept("initially", "deferred"):
			m.Deferrable, m.Deferred = true, true
		case p.Accept("not", "enforced"):
			m.NotEnforced = true
		case p.Accept("not", "valid"):
			if m.NotValid = true; what != "FOREIGN KEY" {
				p.FailAt(pos, sqlerr.FeatureNotSupported, "%s constraints cannot be marked NOT VALID", what)
			}
		default:
			return
		}
	}
}

// References parses REFERENCES t [(columns)] and what may follow it.
func (p *Parser) References(k *ast.ForeignKey) {
	p.Expect("references")
	k.Table = p.Dotted()
	if p.Ahead("(") {
		k.References = p.KeyColumns()
	}
	for {
		switch pos := p.Pos(); {
		case p.Accept("match", "full"):
			k.MatchFull = true
		case p.Accept("match", "partial"):
			p.FailAt(pos, sqlerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented")
		case p.Accept("match", "simple"):
		case p.Accept("on", "delete"):
			k.OnDelete = p.referentialAction()
		case p.Accept("on", "update"):
			k.OnUpdate = p.referentialAction()
		default:
			p.Modes(&k.ConstraintModes, "FOREIGN KEY")
			return
		}
	}
}

func (p *Parser) referentialAction() string {
	switch pos := p.Pos(); {
	case p.Accept("no", "action"):
	case p.Accept("restrict"):
		return "restrict"
	case p.Accept("cascade"):
		return "cascade"
	case p.Accept("set", "null"):
		if p.Ahead("(") {
			p.FailAt(pos, sqlerr.FeatureNotSupported, "ON DELETE SET NULL with a list of columns is not supported")
		}
		return "set null"
	case p.Accept("set", "default"):
		p.FailAt(pos, sqlerr.FeatureNotSupported, "SET DEFAULT is not supported as a referential action")
	default:
		p.SyntaxError()
	}
	return ""
}

// AddKey adds a key to a table; the primary key's columns become NOT NULL first.
func AddKey(k ast.Key, add func(ast.AlterAction)) {
	if k.Primary {
		for _, c := range k.Columns {
			add(ast.AlterAction{Op: "set not null", Column: c})
		}
	}
	add(ast.AlterAction{Op: "add key", Key: &k})
}

// AddForeignKey adds a foreign key to a table.
func AddForeignKey(k ast.ForeignKey, add func(ast.AlterAction)) {
	add(ast.AlterAction{Op: "add foreign key", ForeignKey: &k})
}
