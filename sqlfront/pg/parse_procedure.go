package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// Procedures have three spellings (docs/sql.md): CALL system.p(…), ALTER TABLE t EXECUTE p(…),
// and statements of their own. The last name the table by an Ident in the argument "table";
// CALL's callers write it as a string.

func (p *stmtParser) call() ast.Stmt {
	s := &ast.Procedure{Pos: p.pos()}
	p.expect("call")
	c := p.procCall()
	s.Name, s.Args = c.Name, c.Args
	if p.err == nil && !p.toks[p.i-1].punct(")") {
		p.syntaxError() // CALL needs the parentheses
	}
	return s
}

// procCall parses name(arg, name => arg, …). By hand, because the procedures' argument "table"
// is a reserved word to the grammar.
func (p *stmtParser) procCall() *ast.Call {
	c := &ast.Call{Pos: p.pos(), Name: p.dotted()}
	if !p.accept("(") || p.accept(")") {
		return c
	}
	for p.err == nil {
		var a ast.Arg
		if p.peek(1).punct("=>") || p.peek(1).punct(":=") {
			a.Name = p.ident()
			p.i++
		}
		a.Expr = p.expr(",")
		c.Args = append(c.Args, a)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return c
}

// executeAction parses procedure[(args)] [WHERE p] behind EXECUTE.
func (p *stmtParser) executeAction() ast.AlterAction {
	a := ast.AlterAction{Op: "execute", Proc: p.procCall()}
	a.Where = p.optionalWhere()
	return a
}

func (p *stmtParser) optionalWhere() ast.Expr {
	if p.err == nil && p.accept("where") {
		return p.exprTo(len(p.toks))
	}
	return nil
}

func tableArg(n ast.Name) ast.Arg {
	return ast.Arg{Name: "table", Expr: &ast.Ident{Name: n}}
}

func (p *stmtParser) procedure(pos int, name string, args ...ast.Arg) *ast.Procedure {
	return &ast.Procedure{Name: ast.Name{Parts: []string{name}, Pos: pos}, Args: args, Pos: pos}
}

// vacuum parses VACUUM [FULL] [FREEZE] [VERBOSE] [ANALYZE] | (options) [t, …].
func (p *stmtParser) vacuum() ast.Stmt {
	s := p.procedure(p.pos(), "vacuum")
	p.expect("vacuum")
	if p.peek(0).punct("(") {
		p.skipParens()
	}
	for p.accept("full") || p.accept("freeze") || p.accept("verbose") || p.accept("analyze") || p.accept("analyse") {
	}
	if p.err != nil || p.atEnd() {
		return s
	}
	p.accept("table")
	for p.err == nil {
		s.Args = append(s.Args, tableArg(p.dotted()))
		if !p.accept(",") {
			break
		}
	}
	return s
}

// optimize parses OPTIMIZE [TABLE] t [REWRITE DATA USING BIN_PACK] [WHERE p].
func (p *stmtParser) optimize() ast.Stmt {
	s := p.procedure(p.pos(), "optimize")
	p.expect("optimize")
	p.accept("table")
	s.Args = []ast.Arg{tableArg(p.dotted())}
	if p.accept("rewrite", "data") {
		p.expect("using")
		strategy := p.peek(0)
		if !strategy.is("bin_pack", "sort") {
			p.syntaxError()
			return s
		}
		p.i++
		name := strings.ReplaceAll(strategy.text, "_", "")
		s.Args = append(s.Args, ast.Arg{Name: "strategy", Expr: &ast.Lit{Kind: 's', Text: name, Pos: strategy.pos}})
	}
	s.Where = p.optionalWhere()
	return s
}

// rollbackTable parses ROLLBACK TABLE t TO SNAPSHOT n | TO TIMESTAMP e.
func (p *stmtParser) rollbackTable() ast.Stmt {
	pos := p.pos()
	p.expect("rollback", "table")
	table := tableArg(p.dotted())
	p.expect("to")
	switch {
	case p.accept("snapshot"):
		return p.procedure(pos, "rollback_to_snapshot", table, ast.Arg{Name: "snapshot_id", Expr: p.exprTo(len(p.toks))})
	case p.peek(0).is("timestamp"):
		if p.peek(1).kind != tokString || p.i+2 != len(p.toks) {
			p.i++
		}
		return p.procedure(pos, "rollback_to_timestamp", table, ast.Arg{Name: "timestamp", Expr: p.exprTo(len(p.toks))})
	}
	p.fail(sqlerr.New(sqlerr.SyntaxError, "%s", p.unexpected(p.peek(0)).Error()).At(p.pos()).
		WithHint("Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'."))
	return &ast.Empty{}
}
