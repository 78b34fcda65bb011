package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// alter parses ALTER TABLE, ALTER VIEW and ALTER BRANCH; other ALTERs are the grammar's.
func (p *stmtParser) alter() (ast.Stmt, bool) {
	pos := p.pos()
	view := p.ahead("alter", "view")
	switch {
	case p.ahead("alter", "branch"):
		return p.fastForward(pos), true
	case view, p.ahead("alter", "table"):
		p.i += 2
	default:
		return nil, false
	}
	a := &ast.AlterTable{Pos: pos, View: view}
	a.IfExists = p.accept("if", "exists")
	p.accept("only")
	a.Name = p.table()
	if p.err == nil && p.atEnd() {
		p.syntaxError()
	}
	for p.err == nil {
		p.alterAction(a)
		if !p.accept(",") {
			break
		}
	}
	return a, true
}

func (p *stmtParser) alterAction(t *ast.AlterTable) {
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
	case p.accept("alter"), p.accept("change"), p.accept("modify"):
		p.accept("column")
		p.alterColumn(p.dotted(), add)
	case p.accept("set"):
		p.alterSet(add)
	case p.accept("unset", "tblproperties"), p.accept("unset", "properties"):
		a := ast.AlterAction{Op: "unset properties", IfExists: p.accept("if", "exists")}
		p.props(func(name string, _ ast.Expr, _ int) { a.Keys = append(a.Keys, name) })
		add(a)
	case p.accept("reset"):
		a := ast.AlterAction{Op: "unset properties"}
		p.props(func(name string, _ ast.Expr, _ int) { a.Keys = append(a.Keys, name) })
		add(a)
	case p.accept("replace", "partition", "field"):
		a := ast.AlterAction{Op: "replace partition field", Field: p.expr("with", ",")}
		p.expect("with")
		a.NewField = p.expr("as", ",")
		if p.accept("as") {
			a.NewName = p.ident()
		}
		add(a)
	case p.accept("write"):
		p.alterWrite(add)
	case p.ahead("create"), p.ahead("replace"):
		add(p.refAction())
	case p.accept("execute"):
		add(p.executeAction())
	case p.ahead("owner", "to"), p.ahead("cluster"), p.ahead("enable"), p.ahead("disable"), p.ahead("attach"), p.ahead("detach"), p.ahead("inherit"), p.ahead("validate"):
		p.failAt(pos, sqlerr.FeatureNotSupported, "ALTER TABLE … %s is not supported", strings.ToUpper(p.peek(0).text))
	default:
		p.syntaxError()
	}
}

func (p *stmtParser) alterAdd(add func(ast.AlterAction)) {
	switch {
	case p.accept("partition", "field"):
		a := ast.AlterAction{Op: "add partition field", IfNotExists: p.accept("if", "not", "exists"), Field: p.expr("as", ",")}
		if p.accept("as") {
			a.NewName = p.ident()
		}
		add(a)
		return
	case p.accept("primary", "key"):
		add(ast.AlterAction{Op: "set identifier", Keys: p.nameList()})
		p.accept("not", "enforced")
		return
	case p.peek(0).is("constraint", "unique", "check", "foreign", "exclude"):
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "constraints are not supported: Iceberg tables keep NOT NULL and identifier fields (SET IDENTIFIER FIELDS a, b)")
		return
	case (p.peek(0).is("column", "columns")) && p.peek(1).punct("("), p.peek(0).punct("("):
		if !p.accept("(") {
			p.i++
			p.expect("(")
		}
		for p.err == nil {
			add(p.addColumn())
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
		return
	}
	_ = p.accept("columns") || p.accept("column")
	add(p.addColumn())
}

func (p *stmtParser) addColumn() ast.AlterAction {
	a := ast.AlterAction{Op: "add column", IfNotExists: p.accept("if", "not", "exists")}
	a.Column = p.dotted()
	def := &ast.ColumnDef{Pos: a.Column.Pos, Name: a.Column.Parts[len(a.Column.Parts)-1]}
	if p.err == nil {
		def.Type = p.typeSpec()
		p.columnConstraints(def)
	}
	a.Def = def
	p.columnPlace(&a)
	if a.First || a.After != "" {
		p.columnConstraints(def)
	}
	if def.PrimaryKey {
		p.failAt(def.Pos, sqlerr.FeatureNotSupported, "a new column cannot be a primary key; write SET IDENTIFIER FIELDS after adding it")
	}
	return a
}

func (p *stmtParser) columnPlace(a *ast.AlterAction) bool {
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

func (p *stmtParser) alterDrop(add func(ast.AlterAction)) {
	switch {
	case p.accept("partition", "field"):
		add(ast.AlterAction{Op: "drop partition field", IfExists: p.accept("if", "exists"), Field: p.expr(",")})
		return
	case p.accept("identifier", "fields"):
		add(ast.AlterAction{Op: "drop identifier", Keys: p.columnNames()})
		return
	case p.peek(0).is("branch", "tag") && (p.peek(1).isName() || p.peek(1).kind == tokString):
		kind := p.ident()
		exists := p.accept("if", "exists")
		add(ast.AlterAction{Op: "drop " + kind, Ref: &ast.RefDef{Name: p.refName(), Branch: kind == "branch", IfExists: exists}})
		return
	case p.peek(0).is("constraint"):
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "Iceberg tables have no named constraints; write DROP IDENTIFIER FIELDS or ALTER COLUMN c DROP NOT NULL")
		return
	}
	_ = p.accept("columns") || p.accept("column")
	exists := p.accept("if", "exists")
	if p.accept("(") {
		for p.err == nil {
			add(ast.AlterAction{Op: "drop column", Column: p.dotted(), IfExists: exists})
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
		return
	}
	add(ast.AlterAction{Op: "drop column", Column: p.dotted(), IfExists: exists})
	_ = p.accept("cascade") || p.accept("restrict")
}

// columnNames parses a, s.b, … as dotted strings, with or without parentheses.
func (p *stmtParser) columnNames() []string {
	var out []string
	parens := p.accept("(")
	for p.err == nil {
		out = append(out, strings.Join(p.dotted().Parts, "."))
		if !p.accept(",") {
			break
		}
	}
	if parens {
		p.expect(")")
	}
	return out
}

func (p *stmtParser) alterRename(add func(ast.AlterAction)) {
	if p.accept("to") {
		n := p.dotted()
		add(ast.AlterAction{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1]})
		return
	}
	if p.peek(0).is("constraint") {
		p.failAt(p.pos(), sqlerr.FeatureNotSupported, "Iceberg tables have no named constraints")
		return
	}
	p.accept("column")
	a := ast.AlterAction{Op: "rename column", Column: p.dotted()}
	p.expect("to")
	a.NewName = p.ident()
	add(a)
}

func (p *stmtParser) alterColumn(c ast.Name, add func(ast.AlterAction)) {
	a := ast.AlterAction{Column: c}
	switch {
	case p.accept("type"), p.accept("set", "data", "type"):
		t := p.typeSpec()
		a.Op, a.Type = "alter type", &t
		if p.peek(0).is("using") {
			p.failAt(p.pos(), sqlerr.FeatureNotSupported, "ALTER COLUMN … TYPE … USING is not supported: Iceberg widens types without rewriting data")
		}
	case p.accept("set", "not", "null"):
		a.Op = "set not null"
	case p.accept("drop", "not", "null"):
		a.Op = "drop not null"
	case p.accept("set", "default"):
		a.Op, a.Default = "set default", p.expr(",")
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

func (p *stmtParser) alterSet(add func(ast.AlterAction)) {
	switch {
	case p.accept("schema"):
		add(ast.AlterAction{Op: "set schema", NewName: strings.Join(p.dotted().Parts, ".")})
	case p.accept("identifier", "fields"):
		add(ast.AlterAction{Op: "set identifier", Keys: p.columnNames()})
	case p.accept("location"):
		pos := p.pos()
		add(ast.AlterAction{Op: "set properties", Props: map[string]ast.Expr{"location": &ast.Lit{Kind: 's', Text: p.str(), Pos: pos}}})
	case p.accept("tblproperties"), p.accept("properties"), p.peek(0).punct("("):
		props := map[string]ast.Expr{}
		p.props(func(name string, value ast.Expr, pos int) {
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
	default:
		p.syntaxError()
	}
}

// alterWrite parses WRITE [LOCALLY] ORDERED BY … | UNORDERED | DISTRIBUTED BY PARTITION [LOCALLY ORDERED BY …].
func (p *stmtParser) alterWrite(add func(ast.AlterAction)) {
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
		// The list takes the rest: its commas are its own.
		add(ast.AlterAction{Op: "write ordered", Local: local || distributed, Order: p.orderTo(len(p.toks))})
	case !local && p.accept("unordered"):
		add(ast.AlterAction{Op: "write unordered"})
	default:
		p.syntaxError()
	}
}
