package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// explain parses EXPLAIN [ANALYZE] [VERBOSE] | (options) statement.
func (p *stmtParser) explain() ast.Stmt {
	e := &ast.Explain{Pos: p.Pos(), Format: "text", Options: map[string]string{}}
	p.Expect("explain")
	if p.Peek(0).Punct("(") && p.optionsAhead() {
		p.At++
		p.List(func() { p.explainOption(e) })
		p.Expect(")")
	} else {
		if p.Accept("analyze") || p.Accept("analyse") {
			e.Analyze = true
		}
		if p.Accept("verbose") {
			e.Verbose = true
		}
	}
	e.Stmt = p.statement()
	p.At = len(p.Toks)
	return e
}

// optionsAhead tells EXPLAIN (ANALYZE) … from EXPLAIN (SELECT …).
func (p *stmtParser) optionsAhead() bool {
	return !p.Peek(1).Is("select", "with", "values", "table") && !p.Peek(1).Punct("(")
}

func (p *stmtParser) explainOption(e *ast.Explain) {
	pos := p.Pos()
	name := strings.ToLower(p.Ident())
	if name == "analyse" {
		name = "analyze"
	}
	value := ""
	if !p.Peek(0).Punct(",") && !p.Peek(0).Punct(")") {
		if p.Peek(0).Kind == token.String {
			value = strings.ToLower(p.Str())
		} else {
			value = strings.ToLower(p.Peek(0).Text)
			p.At++
		}
	}
	on := func() bool {
		switch value {
		case "", "true", "on", "1":
			return true
		case "false", "off", "0":
			return false
		}
		p.FailAt(pos, sqlerr.SyntaxError, "%s requires a Boolean value", name)
		return false
	}
	switch name {
	case "analyze":
		e.Analyze = on()
	case "verbose":
		e.Verbose = on()
	case "costs", "buffers", "timing", "summary", "settings", "wal", "generic_plan", "memory", "passes":
		value = map[bool]string{true: "on", false: "off"}[on()]
	case "format":
		switch value {
		case "text", "json", "xml", "yaml":
			e.Format = value
		default:
			p.FailAt(pos, sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"format\": \"%s\"", value)
		}
	case "serialize":
	default:
		p.FailAt(pos, sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", name)
	}
	e.Options[name] = value
}

// prepare parses PREPARE name [(types)] AS statement.
func (p *stmtParser) prepare() ast.Stmt {
	s := &ast.Prepare{Pos: p.Pos()}
	p.Expect("prepare")
	s.Name = p.Name()
	if p.Ahead("(") {
		p.Parens(func() {
			p.List(func() { s.Types = append(s.Types, p.typeTo(p.upTo(p.stopAt(",")))) })
		})
	}
	p.Expect("as")
	switch p.verb() {
	case "select", "insert", "update", "delete", "merge", "values", "table", "(":
	default:
		p.SyntaxError()
	}
	s.Text = p.Text[p.Pos():]
	s.Stmt = p.statement()
	p.At = len(p.Toks)
	return s
}
