package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// alter parses ALTER TABLE, with MySQL's actions and the lakehouse's, and ALTER BRANCH.
func (p *parser) alter() ast.Stmt {
	pos := p.pos()
	p.expect("alter")
	if p.accept("branch") {
		ref := &ast.RefDef{Branch: true, Name: p.refName()}
		t := p.inTable()
		p.expect("fast", "forward", "to")
		ref.To = p.refName()
		return alterOne(t, pos, ast.AlterAction{Op: "fast forward", Ref: ref, Pos: pos})
	}
	a := &ast.AlterTable{Pos: pos}
	if !p.accept("table") {
		p.syntaxError()
	}
	a.IfExists = p.accept("if", "exists")
	a.Name = ast.TableName{Name: p.dotted()}
	if p.atEnd() {
		p.syntaxError()
	}
	p.list(func() { p.alterAction(a) })
	return a
}

func alterOne(t ast.TableName, pos int, a ast.AlterAction) ast.Stmt {
	return &ast.AlterTable{Name: t, Pos: pos, Actions: []ast.AlterAction{a}}
}

func (p *parser) alterAction(t *ast.AlterTable) {
	pos := p.pos()
	add := func(a ast.AlterAction) {
		a.Pos = pos
		t.Actions = append(t.Actions, a)
	}
	switch {
	case p.accept("add"):
		p.alterAdd(add)
	case p.accept("drop"):
		p.alterDrop(add)
	case p.accept("rename"):
		p.alterRename(add)
	case p.accept("modify"):
		p.accept("column")
		p.redefine(p.dotted(), add)
	case p.accept("change"):
		p.accept("column")
		old := p.dotted()
		name := p.ident()
		if old.Parts[len(old.Parts)-1] != name {
			add(ast.AlterAction{Op: "rename column", Column: old, NewName: name})
		}
		n := old
		n.Parts = append(append([]string(nil), old.Parts[:len(old.Parts)-1]...), name)
		p.redefine(n, add)
	case p.accept("alter"):
		p.accept("column")
		p.alterColumn(p.dotted(), add)
	case p.accept("comment"):
		p.accept("=")
		add(ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{"comment": &ast.Lit{Kind: 's', Text: p.str(), Pos: pos}}})
	case p.accept("set", "identifier", "fields"):
		add(ast.AlterAction{Op: "set identifier", Keys: p.columnNames()})
	case p.accept("set", "tblproperties"), p.accept("set", "properties"):
		a := ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{}}
		p.properties(func(name string, value ast.Expr, _ int) { a.Props[name] = value })
		add(a)
	case p.accept("unset", "tblproperties"), p.accept("unset", "properties"):
		a := ast.AlterAction{Op: "unset properties", IfExists: p.accept("if", "exists")}
		p.properties(func(name string, _ ast.Expr, _ int) { a.Keys = append(a.Keys, name) })
		add(a)
	case p.accept("replace", "partition", "field"):
		a := ast.AlterAction{Op: "replace partition field", Field: p.bits(0)}
		p.expect("with")
		a.NewField = p.bits(0)
		if p.accept("as") {
			a.NewName = p.ident()
		}
		add(a)
	case p.accept("write"):
		p.alterWrite(add)
	case p.ahead("create"), p.ahead("replace"):
		add(p.refAction())
	case p.accept("execute"):
		a := ast.AlterAction{Op: "execute", Proc: p.procCall()}
		a.Where = p.optionalWhere()
		add(a)
	default:
		if w := p.peek(0); w.is("engine", "convert", "order", "auto_increment", "force", "discard", "import", "enable", "disable", "partition", "truncate", "exchange", "analyze", "optimize", "default", "character", "charset", "collate", "algorithm", "lock") {
			p.refuse(pos, "ALTER TABLE … %s is not supported", strings.ToUpper(w.text))
		}
		p.syntaxError()
	}
}

// redefine is MODIFY: the column's type, whether it may be NULL, its default and its comment
// become what is written.
func (p *parser) redefine(c ast.Name, add func(ast.AlterAction)) {
	def := &ast.ColumnDef{Pos: c.Pos, Name: c.Parts[len(c.Parts)-1]}
	def.Type = p.columnType()
	p.columnOptions(def)
	add(ast.AlterAction{Op: "alter type", Column: c, Type: &def.Type})
	op := "drop not null"
	if def.NotNull {
		op = "set not null"
	}
	add(ast.AlterAction{Op: op, Column: c})
	if def.Default != nil {
		add(ast.AlterAction{Op: "set default", Column: c, Default: def.Default})
	}
	if def.Comment != "" {
		add(ast.AlterAction{Op: "comment column", Column: c, Comment: def.Comment})
	}
	a := ast.AlterAction{Op: "move column", Column: c}
	if p.columnPlace(&a) {
		add(a)
	}
}

func (p *parser) columnPlace(a *ast.AlterAction) bool {
	if p.accept("first") {
		a.First = true
		return true
	}
	if p.accept("after") {
		n := p.dotted()
		a.After = n.Parts[len(n.Parts)-1]
		return true
	}
	return false
}

func (p *parser) alterAdd(add func(ast.AlterAction)) {
	switch {
	case p.accept("partition", "field"):
		a := ast.AlterAction{Op: "add partition field", IfNotExists: p.accept("if", "not", "exists"), Field: p.bits(0)}
		if p.accept("as") {
			a.NewName = p.ident()
		}
		add(a)
		return
	case p.accept("primary", "key"):
		add(ast.AlterAction{Op: "set identifier", Keys: p.names()})
		return
	case p.peek(0).is("constraint", "unique", "check", "foreign", "fulltext", "spatial", "index", "key"):
		p.refuse(p.pos(), "constraints and indexes are not supported: Iceberg tables keep NOT NULL and identifier fields (SET IDENTIFIER FIELDS a, b)")
	}
	_ = p.accept("columns") || p.accept("column")
	one := func() {
		a := ast.AlterAction{Op: "add column", IfNotExists: p.accept("if", "not", "exists")}
		a.Column = p.dotted()
		a.Def = &ast.ColumnDef{Pos: a.Column.Pos, Name: a.Column.Parts[len(a.Column.Parts)-1]}
		a.Def.Type = p.columnType()
		p.columnOptions(a.Def)
		p.columnPlace(&a)
		if a.Def.PrimaryKey {
			p.refuse(a.Def.Pos, "a new column cannot be a primary key; write SET IDENTIFIER FIELDS after adding it")
		}
		add(a)
	}
	if p.ahead("(") {
		p.parens(func() { p.list(one) })
		return
	}
	one()
}

func (p *parser) alterDrop(add func(ast.AlterAction)) {
	switch {
	case p.accept("partition", "field"):
		add(ast.AlterAction{Op: "drop partition field", IfExists: p.accept("if", "exists"), Field: p.bits(0)})
		return
	case p.accept("identifier", "fields"), p.accept("primary", "key"):
		a := ast.AlterAction{Op: "drop identifier"}
		if !p.atEnd() && !p.ahead(",") {
			a.Keys = p.columnNames()
		}
		add(a)
		return
	case p.peek(0).is("branch", "tag") && (p.peek(1).isName() || p.peek(1).kind == tokString || p.peek(1).is("if")):
		kind := p.ident()
		exists := p.accept("if", "exists")
		add(ast.AlterAction{Op: "drop " + kind, Ref: &ast.RefDef{Name: p.refName(), Branch: kind == "branch", IfExists: exists}})
		return
	case p.peek(0).is("constraint", "index", "key", "foreign", "check"):
		p.refuse(p.pos(), "Iceberg tables have no named constraints and no indexes")
	}
	_ = p.accept("columns") || p.accept("column")
	exists := p.accept("if", "exists")
	add(ast.AlterAction{Op: "drop column", Column: p.dotted(), IfExists: exists})
	_ = p.accept("cascade") || p.accept("restrict")
}

// columnNames parses a, s.b, … as dotted strings, with or without parentheses.
func (p *parser) columnNames() []string {
	var out []string
	parens := p.accept("(")
	p.list(func() { out = append(out, strings.Join(p.dotted().Parts, ".")) })
	if parens {
		p.expect(")")
	}
	return out
}

func (p *parser) alterRename(add func(ast.AlterAction)) {
	switch {
	case p.peek(0).is("index", "key"):
		p.refuse(p.pos(), "indexes are not supported")
	case p.accept("column"):
		a := ast.AlterAction{Op: "rename column", Column: p.dotted()}
		p.expect("to")
		a.NewName = p.ident()
		add(a)
	default:
		_ = p.accept("to") || p.accept("as")
		n := p.dotted()
		add(ast.AlterAction{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1]})
	}
}

func (p *parser) alterColumn(c ast.Name, add func(ast.AlterAction)) {
	a := ast.AlterAction{Column: c}
	switch {
	case p.accept("type"), p.accept("set", "data", "type"):
		t := p.columnType()
		a.Op, a.Type = "alter type", &t
	case p.accept("set", "not", "null"):
		a.Op = "set not null"
	case p.accept("drop", "not", "null"):
		a.Op = "drop not null"
	case p.accept("set", "default"):
		a.Op, a.Default = "set default", p.bits(0)
	case p.accept("drop", "default"):
		a.Op = "drop default"
	case p.accept("comment"):
		a.Op, a.Comment = "comment column", p.str()
	case p.columnPlace(&a):
		a.Op = "move column"
	default:
		p.syntaxError()
	}
	add(a)
}

// alterWrite parses WRITE [LOCALLY] ORDERED BY … | UNORDERED | DISTRIBUTED BY PARTITION [LOCALLY ORDERED BY …].
func (p *parser) alterWrite(add func(ast.AlterAction)) {
	distributed := p.accept("distributed", "by", "partition")
	if distributed {
		add(ast.AlterAction{Op: "write distributed"})
		if !p.ahead("locally") && !p.ahead("ordered") && !p.ahead("unordered") {
			return
		}
	}
	local := p.accept("locally")
	switch {
	case p.accept("ordered", "by"):
		add(ast.AlterAction{Op: "write ordered", Local: local || distributed, Order: p.orderList()})
	case !local && p.accept("unordered"):
		add(ast.AlterAction{Op: "write unordered"})
	default:
		p.syntaxError()
	}
}
