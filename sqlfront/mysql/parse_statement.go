package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// statement parses the statement from the next token to the end.
func (p *parser) statement() ast.Stmt {
	t := p.Peek(0)
	if (p.queryAhead() || p.Ahead("values", "(")) && !p.writeBehindWith() {
		q := p.query()
		return &ast.QueryStmt{Query: q, Into: p.intoVars, Assigned: p.assigned, CalcFound: p.calcFound && q.Limit != nil}
	}
	if t.Kind != token.Word {
		p.SyntaxError()
	}
	if p.Ahead("show", "holders", "from") {
		return p.ShowHolders()
	}
	if s := p.session(); s != nil {
		return s
	}
	switch t.Text {
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
		return p.Call()
	case "vacuum":
		p.At++
		return p.Vacuum(t.Pos, false)
	case "erase":
		return p.Erase()
	case "optimize":
		p.At++
		_ = p.Accept("no_write_to_binlog") || p.Accept("local")
		return p.Optimize(t.Pos)
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
	p.SyntaxError()
	return nil
}

// writeBehindWith tells WITH … UPDATE|DELETE from WITH … SELECT.
func (p *parser) writeBehindWith() bool {
	if !p.Ahead("with") {
		return false
	}
	depth := 0
	for k := 1; p.At+k < len(p.Toks); k++ {
		switch t := p.Peek(k); {
		case t.Punct("("):
			depth++
		case t.Punct(")"):
			depth--
		case depth == 0 && t.Is("select", "values", "table"):
			return false
		case depth == 0 && t.Is("update", "delete", "insert", "merge"):
			return true
		}
	}
	return false
}

func (p *parser) withWrite() ast.Stmt {
	w := p.with()
	switch {
	case p.Ahead("update"):
		return p.update(w)
	case p.Ahead("delete"):
		return p.delete(w)
	case p.Ahead("insert"):
		return p.insert(w)
	case p.Ahead("merge"):
		return p.merge(w)
	}
	p.SyntaxError()
	return nil
}

// explain parses EXPLAIN [ANALYZE] [FORMAT = x] statement. MySQL's JSON has its plan in an object
// query_block.
func (p *parser) explain() ast.Stmt {
	e := &ast.Explain{Pos: p.Pos(), Format: "text", Options: map[string]string{}}
	p.At++
	if p.Accept("analyze") {
		e.Analyze = true
	}
	_ = p.Accept("extended") || p.Accept("partitions")
	if p.Accept("format") {
		p.Expect("=")
		f := p.stringOrName()
		switch e.Format = strings.ToLower(f); e.Format {
		case "json":
			e.Format = "query_block"
		case "tree", "text":
		case "traditional":
			if e.Analyze {
				p.Refuse(e.Pos, "EXPLAIN ANALYZE with FORMAT=TRADITIONAL is not supported")
			}
		default:
			p.FailAt(e.Pos, sqlerr.InvalidParameterValue, "Unknown EXPLAIN format name: '%s'", f)
		}
	}
	e.Stmt = p.statement()
	return e
}

// renameTable parses RENAME TABLE a TO b.
func (p *parser) renameTable() ast.Stmt {
	pos := p.Pos()
	p.Expect("rename", "table")
	t := &ast.AlterTable{Name: p.Table(), Pos: pos}
	p.Expect("to")
	n := p.Dotted()
	if p.Ahead(",") {
		p.Refuse(p.Pos(), "RENAME TABLE of several tables is not supported: they would not be renamed at once")
	}
	t.Actions = []ast.AlterAction{{Op: "rename", Column: n, NewName: n.Parts[len(n.Parts)-1], Pos: pos}}
	return t
}

func (p *parser) transaction() ast.Stmt {
	if p.Ahead("rollback", "table") {
		return p.RollbackTable()
	}
	t := &ast.Transaction{Pos: p.Pos()}
	switch {
	case p.Accept("begin"):
		p.Accept("work")
		t.Op = "begin"
	case p.Accept("start", "transaction"):
		t.Op, t.Start = "begin", true
		yes, no := true, false
		for !p.AtEnd() {
			switch {
			case p.Accept("read", "only"):
				t.ReadOnly = &yes
			case p.Accept("read", "write"):
				t.ReadOnly = &no
			case p.Accept("with", "consistent", "snapshot"):
				t.Isolation = "repeatable read"
			default:
				p.SyntaxError()
			}
			if !p.Accept(",") {
				break
			}
		}
	case p.Accept("commit"):
		t.Op = "commit"
		p.chain(t)
	case p.Accept("rollback"):
		t.Op = "rollback"
		p.Accept("work")
		if p.Accept("to") {
			p.Accept("savepoint")
			t.Op, t.Name = "rollback to", p.Name()
			break
		}
		p.chain(t)
	case p.Accept("savepoint"):
		t.Op, t.Name = "savepoint", p.Name()
	case p.Accept("release", "savepoint"):
		t.Op, t.Name = "release", p.Name()
	default:
		p.SyntaxError()
	}
	return t
}

// chain parses [WORK] [AND [NO] CHAIN] [[NO] RELEASE].
func (p *parser) chain(t *ast.Transaction) {
	p.Accept("work")
	switch {
	case p.Accept("and", "chain"):
		t.Chain = true
	case p.Accept("and", "no", "chain"):
	}
	_ = p.Accept("no", "release") || p.Accept("release")
}
