package mysql

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// asOfAhead tells whether a time-travel clause starts here.
func (p *parser) asOfAhead() bool {
	switch t := p.peek(0); t.text {
	case "for":
		return t.kind == tokWord && (p.peek(1).is("system_time", "system_version") ||
			p.peek(1).is("timestamp", "version") && p.peek(2).is("as"))
	case "timestamp", "version", "system_time", "system_version":
		return t.kind == tokWord && p.peek(1).is("as") && p.peek(2).is("of")
	case "as":
		return t.kind == tokWord && p.peek(1).is("of")
	case "at", "before":
		return t.kind == tokWord && p.peek(1).punct("(") && p.peek(3).op("=>")
	}
	return false
}

// asOf parses a time-travel clause, all spellings; nil where there is none.
func (p *parser) asOf() *ast.AsOf {
	if !p.asOfAhead() {
		return nil
	}
	a := &ast.AsOf{Pos: p.pos()}
	switch {
	case p.accept("at"):
		p.atClause(a, false)
	case p.accept("before"):
		p.atClause(a, true)
	case p.accept("for", "system_time"):
		p.systemTime(a)
	case p.accept("for", "timestamp", "as", "of"), p.accept("timestamp", "as", "of"),
		p.accept("system_time", "as", "of"), p.accept("as", "of", "timestamp"),
		p.accept("as", "of", "system", "time"):
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.asOfOperand()
	case p.accept("for", "system_version", "as", "of"), p.accept("for", "version", "as", "of"),
		p.accept("version", "as", "of"), p.accept("system_version", "as", "of"),
		p.accept("as", "of", "version"), p.accept("as", "of"):
		a.Kind, a.Expr = ast.AsOfVersion, p.asOfOperand()
	default:
		p.syntaxError()
	}
	if p.asOfAhead() {
		p.failAt(p.pos(), sqlerr.SyntaxError, "a table cannot have two time-travel clauses")
	}
	return a
}

// asOfOperand parses the instant or version: an alias may follow without any separator.
func (p *parser) asOfOperand() ast.Expr { return p.bits(3) }

func (p *parser) systemTime(a *ast.AsOf) {
	switch {
	case p.accept("as", "of"):
		a.Kind, a.UnixSeconds, a.Expr = ast.AsOfTime, true, p.asOfOperand()
	case p.accept("between"):
		a.Kind, a.Expr = ast.BetweenTime, p.asOfOperand()
		p.expect("and")
		a.Upper = p.asOfOperand()
	case p.accept("from"):
		a.Kind, a.Expr = ast.FromToTime, p.asOfOperand()
		p.expect("to")
		a.Upper = p.asOfOperand()
	case p.accept("contained", "in"):
		p.expect("(")
		a.Kind, a.Expr = ast.ContainedIn, p.expr()
		p.expect(",")
		a.Upper = p.expr()
		p.expect(")")
	case p.accept("all"):
		a.Kind = ast.AllVersions
	default:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error in a time-travel clause").At(p.pos()).
			WithHint("After FOR SYSTEM_TIME comes AS OF e, BETWEEN a AND b, FROM a TO b, CONTAINED IN (a, b) or ALL."))
	}
}

// atClause parses (TIMESTAMP => e) and its like.
func (p *parser) atClause(a *ast.AsOf, before bool) {
	p.expect("(")
	word := p.next()
	p.expect("=>")
	a.Expr = p.expr()
	p.expect(")")
	switch {
	case word.is("timestamp"):
		a.Kind, a.UnixSeconds = ast.AsOfTime, true
		if before {
			a.Kind = ast.BeforeTime
		}
	case word.is("offset") && !before:
		a.Kind = ast.AsOfOffset
	case word.is("version", "snapshot", "statement", "branch", "tag"):
		a.Kind = ast.AsOfVersion
		if before {
			a.Kind = ast.BeforeVersion
		}
	default:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error in a time-travel clause").At(word.pos).
			WithHint("Write AT (TIMESTAMP => e), AT (VERSION => n), AT (OFFSET => seconds), BEFORE (TIMESTAMP => e) or BEFORE (STATEMENT => n)."))
	}
}
