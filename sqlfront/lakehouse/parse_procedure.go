package lakehouse

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// Procedures have three spellings (docs/sql.md): CALL system.p(…), ALTER TABLE t EXECUTE p(…),
// and statements of their own. The last name the table by an Ident in the argument "table";
// CALL's callers write it as a string.

// Call parses CALL system.p(arg, name => arg).
func (p *Parser) Call() ast.Stmt {
	s := &ast.Procedure{Pos: p.Pos()}
	p.Expect("call")
	c := p.procCall()
	s.Name, s.Args = c.Name, c.Args
	if !p.Peek(-1).Punct(")") {
		p.SyntaxError()
	}
	return s
}

// procCall parses name(arg, name => arg, …). Procedures and their arguments may bear the names
// of reserved words: optimize, table.
func (p *Parser) procCall() *ast.Call {
	c := &ast.Call{Pos: p.Pos(), Name: ast.Name{Pos: p.Pos(), Parts: []string{p.Ident()}}}
	for p.Accept(".") {
		c.Name.Parts = append(c.Name.Parts, p.Ident())
	}
	if !p.Accept("(") || p.Accept(")") {
		return c
	}
	p.List(func() {
		var a ast.Arg
		if arrow := p.Peek(1).Text; arrow == "=>" || arrow == ":=" {
			a.Name = p.Ident()
			p.At++
		}
		a.Expr = p.Dialect.Expr(",")
		c.Args = append(c.Args, a)
	})
	p.Expect(")")
	return c
}

func tableArg(n ast.Name) ast.Arg {
	return ast.Arg{Name: "table", Expr: &ast.Ident{Name: n}}
}

func procedure(pos int, name string, args ...ast.Arg) *ast.Procedure {
	return &ast.Procedure{Name: ast.Name{Parts: []string{name}, Pos: pos}, Args: args, Pos: pos}
}

// Vacuum parses [TABLE] t, …, the word VACUUM at pos and the dialect's options being gone; full is
// one of them, and becomes an argument.
func (p *Parser) Vacuum(pos int, full bool) ast.Stmt {
	s := procedure(pos, "vacuum")
	if full {
		s.Args = append(s.Args, ast.Arg{Name: "full", Expr: &ast.Lit{Kind: 's', Text: "on", Pos: pos}})
	}
	if p.AtEnd() {
		return s
	}
	p.Accept("table")
	p.List(func() { s.Args = append(s.Args, tableArg(p.Dotted())) })
	return s
}

// Analyze parses [t [(column, …)], …], the word ANALYZE at pos and the dialect's options being gone. Each
// table is an argument, its columns follow it.
func (p *Parser) Analyze(pos int) ast.Stmt {
	s := procedure(pos, "analyze")
	if p.AtEnd() {
		return s
	}
	p.List(func() {
		s.Args = append(s.Args, tableArg(p.Dotted()))
		if !p.Accept("(") {
			return
		}
		p.List(func() {
			s.Args = append(s.Args, ast.Arg{Name: "column", Expr: &ast.Lit{Kind: 's', Text: p.Ident(), Pos: pos}})
		})
		p.Expect(")")
	})
	return s
}

// Optimize parses [TABLE] t [REWRITE DATA USING BIN_PACK|SORT] [WHERE p] [ZORDER BY (a, …)], the word
// OPTIMIZE at pos being gone.
func (p *Parser) Optimize(pos int) ast.Stmt {
	p.Accept("table")
	s := procedure(pos, "optimize", tableArg(p.Dotted()))
	if p.Accept("rewrite", "data") {
		p.Expect("using")
		strategy := p.Peek(0)
		if !strategy.Is("bin_pack", "sort") {
			p.SyntaxError()
		}
		p.At++
		name := strings.ReplaceAll(strategy.Text, "_", "")
		s.Args = append(s.Args, ast.Arg{Name: "strategy", Expr: &ast.Lit{Kind: 's', Text: name, Pos: strategy.Pos}})
	}
	s.Where = p.Where("zorder")
	if p.Accept("zorder") {
		p.Expect("by")
		s.Args = append(s.Args, p.zorder(p.Pos()))
	}
	return s
}

// zorder parses (a, …) or a, … as the sort order zorder(a, …).
func (p *Parser) zorder(pos int) ast.Arg {
	paren := p.Accept("(")
	var cols []string
	p.List(func() {
		parts := p.Dotted().Parts
		for i := range parts {
			parts[i] = `"` + strings.ReplaceAll(parts[i], `"`, `""`) + `"`
		}
		cols = append(cols, strings.Join(parts, "."))
	})
	if paren {
		p.Expect(")")
	}
	return ast.Arg{Name: "sort_order", Expr: &ast.Lit{Kind: 's', Text: "zorder(" + strings.Join(cols, ", ") + ")", Pos: pos}}
}

// RollbackTable parses ROLLBACK TABLE t TO SNAPSHOT n | TO TIMESTAMP e.
func (p *Parser) RollbackTable() ast.Stmt {
	pos := p.Pos()
	p.Expect("rollback", "table")
	table := tableArg(p.Dotted())
	p.Expect("to")
	switch {
	case p.Accept("snapshot"):
		return procedure(pos, "rollback_to_snapshot", table, ast.Arg{Name: "snapshot_id", Expr: p.Dialect.Expr()})
	case p.Accept("timestamp"):
		return procedure(pos, "rollback_to_timestamp", table, ast.Arg{Name: "timestamp", Expr: p.Dialect.Instant()})
	}
	p.SyntaxErrorHint("Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'.")
	return nil
}
