package lakehouse

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// SHOW HOLDERS and ERASE are procedures with statements of their own (docs/erasure.md). Which column
// must have which values is not left to a predicate: what is looked for in every byte has to be a
// constant.

// ShowHolders parses SHOW HOLDERS FROM t, … WHERE c = value | c IN (value, …) [WITH (paranoid)].
func (p *Parser) ShowHolders() ast.Stmt {
	s := procedure(p.Pos(), "show_holders")
	p.Expect("show", "holders", "from")
	p.List(func() { s.Args = append(s.Args, tableArg(p.Dotted())) })
	p.erased(s, "with")
	if p.Accept("with") {
		p.Properties(func(name string, value ast.Expr, pos int) {
			if name != "paranoid" {
				p.Refuse(pos, "SHOW HOLDERS has no option %q: it has paranoid", name)
			}
			s.Args = append(s.Args, ast.Arg{Name: name, Expr: value})
		})
	}
	return s
}

// Erase parses ERASE FROM t, … WHERE c = value | c IN (value, …) REASON 'text' [TAGS DROP | TAGS
// REWRITE] [DRY RUN].
func (p *Parser) Erase() ast.Stmt {
	s := procedure(p.Pos(), "erase")
	p.Expect("erase", "from")
	p.List(func() { s.Args = append(s.Args, tableArg(p.Dotted())) })
	p.erased(s, "reason", "tags", "dry")
	for !p.AtEnd() {
		pos := p.Pos()
		add := func(name string, lit *ast.Lit) {
			for _, a := range s.Args {
				if a.Name == name {
					p.SyntaxError()
				}
			}
			lit.Pos = pos
			s.Args = append(s.Args, ast.Arg{Name: name, Expr: lit})
		}
		switch {
		case p.Accept("reason"):
			add("reason", &ast.Lit{Kind: 's', Text: p.Dialect.Str()})
		case p.Accept("tags", "drop"):
			add("tags", &ast.Lit{Kind: 's', Text: "drop"})
		case p.Accept("tags", "rewrite"):
			add("tags", &ast.Lit{Kind: 's', Text: "rewrite"})
		case p.Accept("dry", "run"):
			add("dry_run", &ast.Lit{Kind: 'b', Text: "true"})
		default:
			p.SyntaxErrorHint("Behind the condition stand REASON '…', TAGS DROP or REWRITE, and DRY RUN.")
		}
	}
	return s
}

// erased parses WHERE c = value or c IN (value, …) into the arguments column and value.
func (p *Parser) erased(s *ast.Procedure, ends ...string) {
	where := p.Where(ends...)
	if where == nil {
		p.SyntaxErrorHint("Behind the tables stands WHERE column = value.")
	}
	column, values := ast.Expr(nil), []ast.Expr(nil)
	switch e := where.(type) {
	case *ast.Binary:
		if e.Op == "=" {
			column, values = e.L, []ast.Expr{e.R}
			if _, ok := e.R.(*ast.Ident); ok {
				column, values = e.R, []ast.Expr{e.L}
			}
		}
	case *ast.In:
		if !e.Negate {
			column, values = e.X, e.List
		}
	}
	id, ok := column.(*ast.Ident)
	if !ok || len(values) == 0 {
		p.Refuse(s.Pos, "the condition must be column = value or column IN (value, …): in files only values of one column can be looked for")
	}
	s.Args = append(s.Args, ast.Arg{Name: "column", Expr: id})
	for _, v := range values {
		s.Args = append(s.Args, ast.Arg{Name: "value", Expr: v})
	}
}
