package lakehouse

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// AlterActions parses the actions behind ALTER TABLE t.
func (p *Parser) AlterActions(t *ast.AlterTable) {
	if p.AtEnd() {
		p.SyntaxError()
	}
	p.List(func() {
		pos := p.Pos()
		add := func(a ast.AlterAction) {
			a.Pos = pos
			t.Actions = append(t.Actions, a)
		}
		if !p.Dialect.AlterAction(add) {
			p.alterAction(add)
		}
	})
}

func alterOne(t ast.TableName, pos int, a ast.AlterAction) ast.Stmt {
	a.Pos = pos
	return &ast.AlterTable{Name: t, Pos: pos, Actions: []ast.AlterAction{a}}
}

// AddCheck parses ADD [CONSTRAINT n] CHECK (…), whose name the dialect reads; false: that is not next.
func (p *Parser) AddCheck(name func() string, add func(ast.AlterAction)) bool {
	n := ""
	switch {
	case p.Ahead("add", "check", "("):
		p.At++
	case p.Ahead("add", "constraint") && p.Peek(3).Is("check"):
		p.At += 2
		n = name()
	default:
		return false
	}
	c := p.Check(n)
	add(ast.AlterAction{Op: "add check", Check: &c})
	return true
}

func (p *Parser) alterAction(add func(ast.AlterAction)) {
	switch {
	case p.Accept("add"):
		p.alterAdd(add)
	case p.Accept("drop"):
		p.alterDrop(add)
	case p.Accept("rename", "to"):
		n := p.Dotted()
		add(ast.AlterAction{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1]})
	case p.Accept("rename"):
		p.Accept("column")
		a := ast.AlterAction{Op: "rename column", Column: p.Dotted()}
		p.Expect("to")
		a.NewName = p.Ident()
		add(a)
	case p.Accept("alter"):
		p.Accept("column")
		p.AlterColumn(add)
	case p.Accept("set", "identifier", "fields"):
		add(ast.AlterAction{Op: "set identifier", Keys: p.columnNames()})
	case p.Accept("set", "location"):
		pos := p.Pos()
		add(ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{"location": &ast.Lit{Kind: 's', Text: p.Dialect.Str(), Pos: pos}}})
	case p.Accept("set", "tblproperties"), p.Accept("set", "properties"):
		a := ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{}}
		p.Properties(func(name string, value ast.Expr, _ int) { a.Props[name] = value })
		add(a)
	case p.Accept("unset", "tblproperties"), p.Accept("unset", "properties"):
		a := ast.AlterAction{Op: "unset properties", IfExists: p.Accept("if", "exists")}
		p.Properties(func(name string, _ ast.Expr, _ int) { a.Keys = append(a.Keys, name) })
		add(a)
	case p.Accept("replace", "partition", "field"):
		a := ast.AlterAction{Op: "replace partition field", Field: p.Dialect.Expr("with", ",")}
		p.Expect("with")
		a.NewField = p.Dialect.Expr("as", ",")
		p.fieldName(&a)
		add(a)
	case p.Accept("write"):
		p.alterWrite(add)
	case p.Ahead("create"), p.Ahead("replace"):
		add(p.refAction())
	case p.Accept("execute"):
		a := ast.AlterAction{Op: "execute", Proc: p.procCall()}
		a.Where = p.Where()
		add(a)
	default:
		p.SyntaxError()
	}
}

func (p *Parser) fieldName(a *ast.AlterAction) {
	if p.Accept("as") {
		a.NewName = p.Ident()
	}
}

func (p *Parser) alterAdd(add func(ast.AlterAction)) {
	switch {
	case p.Accept("partition", "field"):
		a := ast.AlterAction{Op: "add partition field", IfNotExists: p.Accept("if", "not", "exists"), Field: p.Dialect.Expr("as", ",")}
		p.fieldName(&a)
		add(a)
		return
	}
	_ = p.Accept("columns") || p.Accept("column")
	p.oneOrList(func() {
		a := p.addColumn()
		add(a)
		for i := range a.Def.Keys {
			add(ast.AlterAction{Op: "add key", Key: &a.Def.Keys[i]})
		}
		for _, k := range a.Def.ForeignKeys {
			AddForeignKey(k, add)
		}
	})
}

// oneOrList calls f for each entry of (…, …), or once.
func (p *Parser) oneOrList(f func()) {
	if p.Ahead("(") {
		p.Parens(func() { p.List(f) })
		return
	}
	f()
}

func (p *Parser) addColumn() ast.AlterAction {
	a := ast.AlterAction{Op: "add column", IfNotExists: p.Accept("if", "not", "exists")}
	a.Column = p.Dotted()
	a.Def = &ast.ColumnDef{Pos: a.Column.Pos, Name: a.Column.Parts[len(a.Column.Parts)-1]}
	a.Def.Type = p.Dialect.Type()
	p.Dialect.ColumnOptions(a.Def)
	if p.ColumnPlace(&a) {
		p.Dialect.ColumnOptions(a.Def)
	}
	return a
}

// ColumnPlace parses FIRST or AFTER c.
func (p *Parser) ColumnPlace(a *ast.AlterAction) bool {
	if p.Accept("first") {
		a.First = true
		return true
	}
	if p.Accept("after") {
		n := p.Dotted()
		a.After = n.Parts[len(n.Parts)-1]
		return true
	}
	return false
}

func (p *Parser) alterDrop(add func(ast.AlterAction)) {
	switch {
	case p.Accept("partition", "field"):
		add(ast.AlterAction{Op: "drop partition field", IfExists: p.Accept("if", "exists"), Field: p.Dialect.Expr(",")})
		return
	case p.Accept("identifier", "fields"):
		a := ast.AlterAction{Op: "drop identifier"}
		if !p.AtEnd() && !p.Ahead(",") {
			a.Keys = p.columnNames()
		}
		add(a)
		return
	case p.Peek(0).Is("branch", "tag") && (p.Peek(1).IsName() || p.Peek(1).Kind == token.String || p.Peek(1).Is("if")):
		kind := p.Ident()
		exists := p.Accept("if", "exists")
		add(ast.AlterAction{Op: "drop " + kind, Ref: &ast.RefDef{Name: p.refName(), Branch: kind == "branch", IfExists: exists}})
		return
	}
	_ = p.Accept("columns") || p.Accept("column")
	exists := p.Accept("if", "exists")
	var drops []ast.AlterAction
	p.oneOrList(func() {
		drops = append(drops, ast.AlterAction{Op: "drop column", Column: p.Dotted(), IfExists: exists})
	})
	cascade := p.Accept("cascade")
	_ = cascade || p.Accept("restrict")
	for _, a := range drops {
		a.Cascade = cascade
		add(a)
	}
}

// AlterColumn parses a column's name and what becomes of it.
func (p *Parser) AlterColumn(add func(ast.AlterAction)) {
	a := ast.AlterAction{Column: p.Dotted()}
	switch {
	case p.Accept("type"), p.Accept("set", "data", "type"):
		t := p.Dialect.Type()
		a.Op, a.Type = "alter type", &t
		if p.Accept("using") {
			a.Using = p.Dialect.Expr(",")
		}
	case p.Accept("set", "not", "null"):
		a.Op = "set not null"
	case p.Accept("drop", "not", "null"):
		a.Op = "drop not null"
	case p.Accept("set", "default"):
		from := p.Pos()
		a.Op, a.Default = "set default", p.Dialect.Default()
		a.DefaultSQL, a.DefaultFrom = p.Text[from:p.LastEnd()], from
	case p.Accept("drop", "default"):
		a.Op = "drop default"
	case p.Ahead("add", "generated"):
		p.At++
		def := &ast.ColumnDef{}
		p.Dialect.ColumnOptions(def)
		if def.Identity == nil {
			p.SyntaxError()
		}
		a.Op, a.Identity = "add identity", def.Identity
	case p.Accept("drop", "expression"):
		a.Op, a.IfExists = "drop expression", p.Accept("if", "exists")
	case p.Accept("drop", "identity"):
		a.Op, a.IfExists = "drop identity", p.Accept("if", "exists")
	case p.Accept("comment"):
		a.Op, a.Comment = "comment column", p.Dialect.Str()
	case p.ColumnPlace(&a):
		a.Op = "move column"
	default:
		p.SyntaxError()
	}
	add(a)
}

// alterWrite parses WRITE [LOCALLY] ORDERED BY … | UNORDERED | DISTRIBUTED BY PARTITION [LOCALLY ORDERED BY …].
func (p *Parser) alterWrite(add func(ast.AlterAction)) {
	distributed := p.Accept("distributed", "by", "partition")
	if distributed {
		add(ast.AlterAction{Op: "write distributed"})
		if !p.Ahead("locally") && !p.Ahead("ordered") && !p.Ahead("unordered") {
			return
		}
	}
	local := p.Accept("locally")
	switch {
	case p.Accept("ordered", "by"):
		// The list takes the rest: its commas are its own.
		add(ast.AlterAction{Op: "write ordered", Local: local || distributed, Order: p.Dialect.Order()})
	case !local && p.Accept("unordered"):
		add(ast.AlterAction{Op: "write unordered"})
	default:
		p.SyntaxError()
	}
}

// Properties parses (name = value, 'name' = value, name value, flag) and calls set for each;
// without the parentheses it ends at the statement's end.
func (p *Parser) Properties(set func(name string, value ast.Expr, pos int)) {
	parens := p.Accept("(")
	if parens && p.Accept(")") {
		return
	}
	p.List(func() {
		pos := p.Pos()
		name := p.propertyName()
		var value ast.Expr = &ast.Lit{Kind: 'b', Text: "true", Pos: pos}
		p.Accept("=")
		if !p.Ahead(",") && !p.Ahead(")") && !p.AtEnd() {
			value = p.Dialect.Expr(",")
		}
		set(name, value, pos)
	})
	if parens {
		p.Expect(")")
	}
}

// SetProperty puts a property into m, once.
func (p *Parser) SetProperty(m map[string]ast.Expr, name string, value ast.Expr, pos int) {
	if _, twice := m[name]; twice {
		p.FailAt(pos, sqlerr.SyntaxError, "property \"%s\" is given twice", name)
	}
	m[name] = value
}

// propertyName is 'write.format.default' or write.format.default or format_version.
func (p *Parser) propertyName() string {
	if p.Peek(0).Kind == token.String {
		return p.Dialect.Str()
	}
	name := p.Ident()
	for p.Ahead(".") || p.Ahead("-") {
		name += p.Take().Text + p.Ident()
	}
	return name
}
