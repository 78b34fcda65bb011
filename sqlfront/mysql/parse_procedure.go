package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// callProcedure parses CALL system.p(arg, name => arg).
func (p *parser) callProcedure() ast.Stmt {
	s := &ast.Procedure{Pos: p.pos()}
	p.expect("call")
	c := p.procCall()
	s.Name, s.Args = c.Name, c.Args
	if !p.toks[p.i-1].punct(")") {
		p.syntaxError()
	}
	return s
}

// procCall parses name(arg, name => arg, …); an argument may bear a reserved word's name.
func (p *parser) procCall() *ast.Call {
	n := ast.Name{Pos: p.pos(), Parts: []string{p.ident()}}
	for p.accept(".") {
		n.Parts = append(n.Parts, p.ident())
	}
	c := &ast.Call{Pos: n.Pos, Name: n}
	if !p.accept("(") || p.accept(")") {
		return c
	}
	p.list(func() {
		var a ast.Arg
		if p.peek(1).op("=>") || p.peek(1).op(":=") {
			a.Name = p.ident()
			p.i++
		}
		a.Expr = p.expr()
		c.Args = append(c.Args, a)
	})
	p.expect(")")
	return c
}

func (p *parser) optionalWhere() ast.Expr {
	if p.accept("where") {
		return p.expr()
	}
	return nil
}

func tableArg(n ast.Name) ast.Arg {
	return ast.Arg{Name: "table", Expr: &ast.Ident{Name: n}}
}

func procedure(pos int, name string, args ...ast.Arg) *ast.Procedure {
	return &ast.Procedure{Name: ast.Name{Parts: []string{name}, Pos: pos}, Args: args, Pos: pos}
}

// vacuum parses VACUUM [TABLE] t, ….
func (p *parser) vacuum() ast.Stmt {
	s := procedure(p.pos(), "vacuum")
	p.expect("vacuum")
	p.accept("table")
	if !p.atEnd() {
		p.list(func() { s.Args = append(s.Args, tableArg(p.dotted())) })
	}
	return s
}

// optimize parses OPTIMIZE [TABLE] t [REWRITE DATA USING BIN_PACK] [WHERE p].
func (p *parser) optimize() ast.Stmt {
	s := procedure(p.pos(), "optimize")
	p.expect("optimize")
	_ = p.accept("no_write_to_binlog") || p.accept("local")
	p.accept("table")
	s.Args = []ast.Arg{tableArg(p.dotted())}
	if p.accept("rewrite", "data") {
		p.expect("using")
		strategy := p.peek(0)
		if !strategy.is("bin_pack", "sort") {
			p.syntaxError()
		}
		p.i++
		s.Args = append(s.Args, ast.Arg{Name: "strategy", Expr: &ast.Lit{Kind: 's', Text: strings.ReplaceAll(strategy.text, "_", ""), Pos: strategy.pos}})
	}
	s.Where = p.optionalWhere()
	return s
}

// rollbackTable parses ROLLBACK TABLE t TO SNAPSHOT n | TO TIMESTAMP e.
func (p *parser) rollbackTable() ast.Stmt {
	pos := p.pos()
	p.expect("rollback", "table")
	table := tableArg(p.dotted())
	p.expect("to")
	switch {
	case p.accept("snapshot"):
		return procedure(pos, "rollback_to_snapshot", table, ast.Arg{Name: "snapshot_id", Expr: p.expr()})
	case p.accept("timestamp"):
		return procedure(pos, "rollback_to_timestamp", table, ast.Arg{Name: "timestamp", Expr: p.expr()})
	}
	p.fail(sqlerr.New(sqlerr.SyntaxError, "ROLLBACK TABLE needs a snapshot or a time").At(p.pos()).
		WithHint("Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'."))
	return nil
}
