package pg

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// alter parses ALTER TABLE, ALTER VIEW and ALTER BRANCH; other ALTERs are the grammar's.
func (p *stmtParser) alter() (ast.Stmt, bool) {
	pos := p.Pos()
	view := p.Ahead("alter", "view")
	switch {
	case p.Accept("alter", "branch"):
		return p.FastForward(pos), true
	case p.Accept("alter", "view"), p.Accept("alter", "table"):
	default:
		return nil, false
	}
	a := &ast.AlterTable{Pos: pos, View: view}
	a.IfExists = p.Accept("if", "exists")
	p.Accept("only")
	a.Name = p.Table()
	if p.Accept("owner", "to") {
		o := &ast.SetOwner{Kind: "table", Name: a.Name.Name, IfExists: a.IfExists, To: p.roleWord(), Pos: pos}
		if view {
			o.Kind = "view"
		}
		if !p.AtEnd() {
			p.SyntaxError()
		}
		return o, true
	}
	p.AlterActions(a)
	return a, true
}

// AlterAction parses the actions that are PostgreSQL's own, or Trino's.
func (p *stmtParser) AlterAction(add func(ast.AlterAction)) bool {
	pos, object := p.Pos(), p.Peek(1)
	if p.AddCheck(p.Name, add) {
		return true
	}
	switch w := p.Peek(0); {
	case p.Ahead("add", "constraint") && p.Peek(3).Is("primary") && p.Peek(4).Is("key"):
		p.At += 2
		p.Name() // the key's name is made of the table's
		p.Expect("primary")
		p.Expect("key")
		keys := p.Names()
		for _, k := range keys {
			add(ast.AlterAction{Op: "set not null", Column: ast.Name{Parts: []string{k}, Pos: pos}})
		}
		add(ast.AlterAction{Op: "set identifier", Keys: keys})
	case p.Accept("drop", "constraint"):
		exists := p.Accept("if", "exists")
		add(ast.AlterAction{Op: "drop constraint", NewName: p.Name(), IfExists: exists, Pos: pos})
		_ = p.Accept("cascade") || p.Accept("restrict")
	case w.Is("add") && object.Is("constraint", "unique", "check", "foreign", "exclude"):
		p.Refuse(object.Pos, "constraints are not supported: Iceberg tables keep NOT NULL and identifier fields (SET IDENTIFIER FIELDS a, b)")
	case w.Is("rename") && object.Is("constraint"):
		p.Refuse(object.Pos, "Iceberg tables have no named constraints")
	case p.Ahead("owner", "to"), w.Is("cluster", "enable", "disable", "attach", "detach", "inherit", "validate"):
		p.Refuse(pos, "ALTER TABLE … %s is not supported", strings.ToUpper(w.Text))
	case p.Accept("change"), p.Accept("modify"):
		p.Accept("column")
		p.AlterColumn(add)
	case p.Accept("set", "schema"):
		add(ast.AlterAction{Op: "set schema", NewName: strings.Join(p.Dotted().Parts, ".")})
	case p.Accept("set", "tblproperties"), p.Accept("set", "properties"), p.Ahead("set", "(") && p.Accept("set"):
		p.alterProperties(add)
	case p.Accept("reset"):
		a := ast.AlterAction{Op: "unset properties"}
		p.Properties(func(name string, _ ast.Expr, _ int) { a.Keys = append(a.Keys, name) })
		add(a)
	default:
		return false
	}
	return true
}

// alterProperties parses the properties behind SET; Trino's partitioning and sorted_by become
// what the clauses of those names say.
func (p *stmtParser) alterProperties(add func(ast.AlterAction)) {
	props := map[string]ast.Expr{}
	p.Properties(func(name string, value ast.Expr, pos int) {
		switch strings.ToLower(name) {
		case "partitioning":
			add(ast.AlterAction{Op: "set partitioning", Fields: p.transformList(value, pos)})
		case "sorted_by":
			if order := p.sortList(value, pos); len(order) > 0 {
				add(ast.AlterAction{Op: "write ordered", Order: order})
			} else {
				add(ast.AlterAction{Op: "write unordered"})
			}
		default:
			props[name] = value
		}
	})
	if len(props) > 0 {
		add(ast.AlterAction{Op: "set properties", Props: props})
	}
}
