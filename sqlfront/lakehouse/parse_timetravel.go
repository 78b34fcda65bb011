package lakehouse

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// AsOf parses a time-travel clause, all spellings. Whether one starts here the dialect knows, as
// its own words may look like one.
func (p *Parser) AsOf() *ast.AsOf {
	a := &ast.AsOf{Pos: p.Pos()}
	switch {
	case p.Accept("at"):
		p.atClause(a, false)
	case p.Accept("before"):
		p.atClause(a, true)
	case p.Accept("for", "system_time"):
		p.systemTime(a)
	case p.Accept("for", "timestamp", "as", "of"), p.Accept("timestamp", "as", "of"),
		p.Accept("system_time", "as", "of"), p.Accept("as", "of", "timestamp"),
		p.Accept("as", "of", "system", "time"):
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.Dialect.Operand()
	case p.Accept("for", "system_version", "as", "of"), p.Accept("for", "version", "as", "of"),
		p.Accept("version", "as", "of"), p.Accept("system_version", "as", "of"),
		p.Accept("as", "of", "version"), p.Accept("as", "of"):
		a.Kind, a.Expr = ast.AsOfVersion, p.Dialect.Operand()
	default:
		p.SyntaxError()
	}
	return a
}

func (p *Parser) systemTime(a *ast.AsOf) {
	switch {
	case p.Accept("as", "of"):
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.Dialect.Operand()
	case p.Accept("between"):
		a.Kind, a.Expr = ast.BetweenTime, p.Dialect.Operand()
		p.Expect("and")
		a.Upper = p.Dialect.Operand()
	case p.Accept("from"):
		a.Kind, a.Expr = ast.FromToTime, p.Dialect.Operand()
		p.Expect("to")
		a.Upper = p.Dialect.Operand()
	case p.Accept("contained", "in"):
		p.Expect("(")
		a.Kind, a.Expr = ast.ContainedIn, p.Dialect.Expr(",")
		p.Expect(",")
		a.Upper = p.Dialect.Expr()
		p.Expect(")")
	case p.Accept("all"):
		a.Kind = ast.AllVersions
	default:
		p.SyntaxErrorHint("After FOR SYSTEM_TIME comes AS OF e, BETWEEN a AND b, FROM a TO b, CONTAINED IN (a, b) or ALL.")
	}
}

// atClause parses (TIMESTAMP => e) and its like, DuckDB's and Snowflake's.
func (p *Parser) atClause(a *ast.AsOf, before bool) {
	p.Expect("(")
	word := p.Take()
	p.Expect("=>")
	a.Expr = p.Dialect.Expr()
	p.Expect(")")
	switch {
	case word.Is("timestamp"):
		a.Kind, a.UnixSeconds = ast.AsOfTime, true
		if before {
			a.Kind = ast.BeforeTime
		}
	case word.Is("offset") && !before:
		a.Kind = ast.AsOfOffset
	case word.Is("version", "snapshot", "statement", "branch", "tag"):
		a.Kind = ast.AsOfVersion
		if before {
			a.Kind = ast.BeforeVersion
		}
	default:
		p.Fail(p.Unexpected(word).WithHint("Write AT (TIMESTAMP => e), AT (VERSION => n), AT (OFFSET => seconds), BEFORE (TIMESTAMP => e) or BEFORE (STATEMENT => n)."))
	}
}

// TwoClauses refuses a second time-travel clause at pos.
func (p *Parser) TwoClauses(pos int) {
	p.FailAt(pos, sqlerr.SyntaxError, "a table cannot have two time-travel clauses")
}
