package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// explain parses EXPLAIN [ANALYZE] [VERBOSE] | (options) statement.
func (p *stmtParser) explain() ast.Stmt {
	e := &ast.Explain{Pos: p.pos(), Format: "text", Options: map[string]string{}}
	p.expect("explain")
	if p.peek(0).punct("(") && p.optionsAhead() {
		p.i++
		for p.err == nil {
			p.explainOption(e)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	} else {
		if p.accept("analyze") || p.accept("analyse") {
			e.Analyze = true
		}
		if p.accept("verbose") {
			e.Verbose = true
		}
	}
	if p.err == nil {
		e.Stmt = p.statement()
		p.i = len(p.toks)
	}
	return e
}

// optionsAhead tells EXPLAIN (ANALYZE) … from EXPLAIN (SELECT …).
func (p *stmtParser) optionsAhead() bool {
	return !p.peek(1).is("select", "with", "values", "table") && !p.peek(1).punct("(")
}

func (p *stmtParser) explainOption(e *ast.Explain) {
	pos := p.pos()
	name := strings.ToLower(p.ident())
	if name == "analyse" {
		name = "analyze"
	}
	value := ""
	if !p.peek(0).punct(",") && !p.peek(0).punct(")") {
		if p.peek(0).kind == tokString {
			value = strings.ToLower(p.str())
		} else {
			value = strings.ToLower(p.peek(0).text)
			p.i++
		}
	}
	on := func() bool {
		switch value {
		case "", "true", "on", "1":
			return true
		case "false", "off", "0":
			return false
		}
		p.failAt(pos, sqlerr.SyntaxError, "%s requires a Boolean value", name)
		return false
	}
	switch name {
	case "analyze":
		e.Analyze = on()
	case "verbose":
		e.Verbose = on()
	case "costs", "buffers", "timing", "summary", "settings", "wal", "generic_plan", "memory":
		value = map[bool]string{true: "on", false: "off"}[on()]
	case "format":
		switch value {
		case "text", "json", "xml", "yaml":
			e.Format = value
		default:
			p.failAt(pos, sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"format\": \"%s\"", value)
		}
	case "serialize":
	default:
		p.failAt(pos, sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", name)
	}
	e.Options[name] = value
}

// prepare parses PREPARE name [(types)] AS statement.
func (p *stmtParser) prepare() ast.Stmt {
	s := &ast.Prepare{Pos: p.pos()}
	p.expect("prepare")
	s.Name = p.name()
	if p.accept("(") {
		for p.err == nil {
			s.Types = append(s.Types, p.typeTo(p.upTo(p.stopAt(","))))
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	p.expect("as")
	if p.err != nil {
		return s
	}
	switch p.verb() {
	case "select", "insert", "update", "delete", "merge", "values", "table", "(":
	default:
		p.syntaxError()
		return s
	}
	s.Text = p.text[p.pos():]
	s.Stmt = p.statement()
	p.i = len(p.toks)
	return s
}
