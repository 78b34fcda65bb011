package pg

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
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
	case p.Ahead("add", "constraint") && p.Peek(3).Is("primary", "unique", "foreign"):
		p.At += 2
		p.addConstraint(p.Name(), add)
	case p.Ahead("add", "primary", "key"), p.Ahead("add", "unique", "("), p.Ahead("add", "unique", "nulls"), p.Ahead("add", "foreign", "key"):
		p.At++
		p.addConstraint("", add)
	case p.Accept("validate", "constraint"):
		add(ast.AlterAction{Op: "validate constraint", NewName: p.Name(), Pos: pos})
	case p.Accept("alter", "constraint"):
		p.Refuse(pos, "ALTER CONSTRAINT is not supported: drop the constraint and add it again")
	case p.Accept("rename", "constraint"):
		a := ast.AlterAction{Op: "rename constraint", Pos: pos, Keys: []string{p.Name()}}
		p.Expect("to")
		a.NewName = p.Name()
		add(a)
	case p.Accept("drop", "constraint"):
		exists := p.Accept("if", "exists")
		a := ast.AlterAction{Op: "drop constraint", NewName: p.Name(), IfExists: exists, Pos: pos}
		a.Cascade = p.Accept("cascade")
		_ = a.Cascade || p.Accept("restrict")
		add(a)
	case w.Is("add") && (object.Is("exclude") || object.Is("constraint") && p.Peek(3).Is("exclude")):
		p.Refuse(object.Pos, "EXCLUDE constraints are not supported")
	case p.Ahead("owner", "to"), w.Is("cluster", "enable", "disable", "attach", "detach", "inherit"):
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

// addConstraint parses a key or foreign key that is added.
func (p *stmtParser) addConstraint(name string, add func(ast.AlterAction)) {
	if p.Ahead("foreign", "key") {
		lakehouse.AddForeignKey(p.foreignKey(name), add)
		return
	}
	lakehouse.AddKey(p.tableKey(name), add)
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
