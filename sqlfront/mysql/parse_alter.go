package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
)

// alter parses ALTER TABLE and ALTER BRANCH.
func (p *parser) alter() ast.Stmt {
	pos := p.Pos()
	p.Expect("alter")
	if p.Accept("branch") {
		return p.FastForward(pos)
	}
	p.Expect("table")
	a := &ast.AlterTable{Pos: pos}
	a.IfExists = p.Accept("if", "exists")
	a.Name = p.Table()
	p.AlterActions(a)
	return p.effective(a)
}

// AlterAction parses the actions that are MySQL's own.
func (p *parser) AlterAction(add func(ast.AlterAction)) bool {
	pos, object := p.Pos(), p.Peek(1)
	if p.alterWithout(add) || p.AddCheck(p.Ident, add) {
		return true
	}
	switch w := p.Peek(0); {
	case p.Accept("drop", "constraint"), p.Accept("drop", "check"), p.Accept("drop", "foreign", "key"):
		add(ast.AlterAction{Op: "drop constraint", NewName: p.Ident(), Pos: pos})
	case w.Is("add") && object.Is("fulltext", "spatial"):
		p.Refuse(object.Pos, "%s indexes are not supported", strings.ToUpper(object.Text))
	case p.Ahead("add", "constraint") && p.Peek(2).Is("primary", "unique", "foreign"):
		p.At += 2
		p.addConstraint("", add)
	case p.Ahead("add", "constraint") && p.Peek(3).Is("primary", "unique", "foreign"):
		p.At += 2
		p.addConstraint(p.Ident(), add)
	case p.Ahead("add", "primary", "key"), p.Ahead("add", "unique"), p.Ahead("add", "foreign", "key"):
		p.At++
		p.addConstraint("", add)
	case w.Is("order", "auto_increment", "discard", "import", "partition", "truncate", "exchange", "analyze", "optimize"):
		p.Refuse(pos, "ALTER TABLE … %s is not supported", strings.ToUpper(w.Text))
	case p.Accept("drop", "primary", "key"):
		add(ast.AlterAction{Op: "drop primary key", Pos: pos})
	case w.Is("rename") && !object.Is("column", "to"):
		p.At++
		p.Accept("as")
		n := p.Dotted()
		add(ast.AlterAction{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1]})
	case p.Accept("modify"):
		p.Accept("column")
		p.redefine(p.Dotted(), add)
	case p.Accept("change"):
		p.Accept("column")
		old := p.Dotted()
		name := p.Ident()
		if old.Parts[len(old.Parts)-1] != name {
			add(ast.AlterAction{Op: "rename column", Column: old, NewName: name})
		}
		n := old
		n.Parts = append(append([]string(nil), old.Parts[:len(old.Parts)-1]...), name)
		p.redefine(n, add)
	case p.Accept("comment"):
		p.Accept("=")
		add(ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{"comment": &ast.Lit{Kind: 's', Text: p.Str(), Pos: pos}}})
	default:
		return false
	}
	return true
}

// addConstraint parses a key or foreign key that is added.
func (p *parser) addConstraint(name string, add func(ast.AlterAction)) {
	if p.Ahead("foreign", "key") {
		lakehouse.AddForeignKey(p.foreignKey(name), add)
		return
	}
	lakehouse.AddKey(p.tableKey(name), add)
}

// redefine is MODIFY: the column's type, whether it may be NULL, its default and its comment
// become what is written.
func (p *parser) redefine(c ast.Name, add func(ast.AlterAction)) {
	def := &ast.ColumnDef{Pos: c.Pos, Name: c.Parts[len(c.Parts)-1]}
	def.Type = p.Type()
	p.ColumnOptions(def)
	add(ast.AlterAction{Op: "alter type", Column: c, Type: &def.Type})
	op := "drop not null"
	if def.NotNull {
		op = "set not null"
	}
	add(ast.AlterAction{Op: op, Column: c})
	if def.Generated != nil {
		add(ast.AlterAction{Op: "set generated", Column: c, Generated: def.Generated})
	} else {
		add(ast.AlterAction{Op: "drop expression", Column: c, IfExists: true})
	}
	if def.Default != nil {
		add(ast.AlterAction{Op: "set default", Column: c, Default: def.Default, DefaultSQL: def.DefaultSQL, DefaultFrom: def.DefaultFrom})
	} else {
		add(ast.AlterAction{Op: "drop default", Column: c})
	}
	add(ast.AlterAction{Op: "on update", Column: c, OnUpdateSQL: def.OnUpdateSQL})
	if def.Identity != nil {
		add(ast.AlterAction{Op: "add identity", Column: c, Identity: def.Identity})
	}
	for _, k := range def.Keys {
		lakehouse.AddKey(k, add)
	}
	if def.Comment != "" {
		add(ast.AlterAction{Op: "comment column", Column: c, Comment: def.Comment})
	}
	a := ast.AlterAction{Op: "move column", Column: c}
	if p.ColumnPlace(&a) {
		add(a)
	}
}
