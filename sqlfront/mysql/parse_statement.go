package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// statement parses the statement from the next token to the end.
func (p *parser) statement() ast.Stmt {
	t := p.peek(0)
	if p.queryAhead() && !p.writeBehindWith() {
		return &ast.QueryStmt{Query: p.query()}
	}
	if t.kind != tokWord {
		p.syntaxError()
	}
	switch t.text {
	case "with":
		return p.withWrite()
	case "explain", "describe", "desc":
		return p.explain()
	case "create":
		return p.create()
	case "alter":
		return p.alter()
	case "drop":
		return p.drop()
	case "rename":
		return p.renameTable()
	case "merge":
		return p.merge(nil)
	case "call":
		return p.callProcedure()
	case "vacuum":
		return p.vacuum()
	case "optimize":
		return p.optimize()
	case "analyze":
		return p.analyze()
	case "begin", "start", "commit", "rollback", "savepoint", "release":
		return p.transaction()
	case "insert", "replace":
		return p.insert(nil)
	case "update":
		return p.update(nil)
	case "delete":
		return p.delete(nil)
	case "truncate":
		return p.truncate()
	}
	p.syntaxError()
	return nil
}

// writeBehindWith tells WITH … UPDATE|DELETE from WITH … SELECT.
func (p *parser) writeBehindWith() bool {
	if !p.ahead("with") {
		return false
	}
	depth := 0
	for k := 1; p.i+k < len(p.toks); k++ {
		switch t := p.peek(k); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case depth == 0 && t.is("select", "values", "table"):
			return false
		case depth == 0 && t.is("update", "delete", "insert", "merge"):
			return true
		}
	}
	return false
}

func (p *parser) withWrite() ast.Stmt {
	w := p.with()
	switch {
	case p.ahead("update"):
		return p.update(w)
	case p.ahead("delete"):
		return p.delete(w)
	case p.ahead("insert"):
		return p.insert(w)
	case p.ahead("merge"):
		return p.merge(w)
	}
	p.syntaxError()
	return nil
}

// explain parses EXPLAIN [ANALYZE] [FORMAT = x] statement.
func (p *parser) explain() ast.Stmt {
	e := &ast.Explain{Pos: p.pos(), Format: "text", Options: map[string]string{}}
	p.i++
	if p.accept("analyze") {
		e.Analyze = true
	}
	_ = p.accept("extended") || p.accept("partitions")
	if p.accept("format") {
		p.expect("=")
		f := p.stringOrName()
		switch strings.ToLower(f) {
		case "json":
			e.Format = "json"
		case "tree", "traditional", "text":
		default:
			p.failAt(e.Pos, sqlerr.InvalidParameterValue, "Unknown EXPLAIN format name: '%s'", f)
		}
	}
	e.Stmt = p.statement()
	return e
}

// analyze parses ANALYZE TABLE t, …: the statistics are in the tables' own metadata.
func (p *parser) analyze() ast.Stmt {
	n := &ast.Noop{Tag: "ANALYZE", Pos: p.pos()}
	p.expect("analyze")
	_ = p.accept("no_write_to_binlog") || p.accept("local")
	p.expect("table")
	p.list(func() { p.dotted() })
	return n
}

// renameTable parses RENAME TABLE a TO b.
func (p *parser) renameTable() ast.Stmt {
	pos := p.pos()
	p.expect("rename", "table")
	t := ast.TableName{Name: p.dotted()}
	p.expect("to")
	n := p.dotted()
	if p.ahead(",") {
		p.refuse(p.pos(), "RENAME TABLE of several tables is not supported: they would not be renamed at once")
	}
	return alterOne(t, pos, ast.AlterAction{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1], Pos: pos})
}

func (p *parser) transaction() ast.Stmt {
	if p.ahead("rollback", "table") {
		return p.rollbackTable()
	}
	t := &ast.Transaction{Pos: p.pos()}
	switch {
	case p.accept("begin"):
		p.accept("work")
		t.Op = "begin"
	case p.accept("start", "transaction"):
		t.Op, t.Start = "begin", true
		yes, no := true, false
		for !p.atEnd() {
			switch {
			case p.accept("read", "only"):
				t.ReadOnly = &yes
			case p.accept("read", "write"):
				t.ReadOnly = &no
			case p.accept("with", "consistent", "snapshot"):
				t.Isolation = "repeatable read"
			default:
				p.syntaxError()
			}
			if !p.accept(",") {
				break
			}
		}
	case p.accept("commit"):
		t.Op = "commit"
		p.chain(t)
	case p.accept("rollback"):
		t.Op = "rollback"
		p.accept("work")
		if p.accept("to") {
			p.accept("savepoint")
			t.Op, t.Name = "rollback to", p.name()
			break
		}
		p.chain(t)
	case p.accept("savepoint"):
		t.Op, t.Name = "savepoint", p.name()
	case p.accept("release", "savepoint"):
		t.Op, t.Name = "release", p.name()
	default:
		p.syntaxError()
	}
	return t
}

// chain parses [WORK] [AND [NO] CHAIN] [[NO] RELEASE].
func (p *parser) chain(t *ast.Transaction) {
	p.accept("work")
	switch {
	case p.accept("and", "chain"):
		t.Chain = true
	case p.accept("and", "no", "chain"):
	}
	_ = p.accept("no", "release") || p.accept("release")
}
