package pg

import (
	"errors"
	"strings"
	"unicode/utf8"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// grammar runs PostgreSQL's grammar over prefix + work[from:to] + suffix, where work is the
// statement's text with the cut clauses blanked. Locations in the tree are shifted by conv. An
// error behind the part is one at the token that follows it in the statement: the part ended
// too early.
func (p *stmtParser) grammar(prefix string, from, to int, suffix string) (*pgquery.Node, *conv) {
	part := string(p.work[from:to])
	for {
		text := prefix + part + suffix
		res, err := pgquery.Parse(text)
		if err == nil {
			if len(res.Stmts) != 1 {
				p.Fail(p.unexpected(p.tokenAt(to)))
			}
			return res.Stmts[0].Stmt, &conv{p: p, shift: from - len(prefix), from: from, to: to}
		}
		var pe *parser.Error
		if !errors.As(err, &pe) {
			// The message decoder bounds recursion by itself.
			p.Fail(tooDeep(-1))
		}
		pos := -1
		if pe.Cursorpos > 0 {
			pos = byteOffset(text, pe.Cursorpos-1)
		}
		if strings.HasPrefix(pe.Message, "improper qualified name") && pos >= len(prefix) {
			if cut, ok := p.cutLongName(part, pos-len(prefix), from); ok {
				part = cut
				continue
			}
		}
		p.Fail(p.grammarError(pe.Message, pos, len(prefix), from, to))
	}
}

func byteOffset(s string, chars int) int {
	i := 0
	for ; chars > 0 && i < len(s); chars-- {
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return i
}

// grammarError makes the user's error of libpg_query's, whose SQLSTATE is not handed over.
func (p *stmtParser) grammarError(msg string, pos, prefix, from, to int) *sqlerr.Error {
	code := sqlerr.SyntaxError
	switch {
	case strings.Contains(msg, "not yet implemented"), strings.Contains(msg, "not implemented"),
		strings.Contains(msg, "not supported"), strings.Contains(msg, "is not yet supported"):
		code = sqlerr.FeatureNotSupported
	case strings.HasPrefix(msg, "frame start"), strings.HasPrefix(msg, "frame end"):
		code = sqlerr.WindowingError
	case strings.Contains(msg, "memory exhausted"), strings.Contains(msg, "stack depth limit"):
		return tooDeep(-1)
	}
	switch {
	case pos < 0:
		return p.hint(sqlerr.New(code, "%s", msg))
	case pos < prefix:
		return p.hint(sqlerr.New(code, "%s", msg).At(from))
	case pos-prefix >= to-from && (strings.HasPrefix(msg, "syntax error at") || strings.HasPrefix(msg, "unterminated")):
		return p.unexpected(p.tokenAt(to))
	}
	return p.hint(sqlerr.New(code, "%s", msg).At(min(pos-prefix, to-from) + from))
}

// tokenAt gives the first token at or behind a position; past the end an empty one.
func (p *stmtParser) tokenAt(pos int) token.Token {
	for _, t := range p.Toks {
		if t.Pos >= pos {
			return t
		}
	}
	return token.Token{Pos: len(p.Text), End: len(p.Text)}
}

// unexpected is the syntax error at t.
func (p *stmtParser) unexpected(t token.Token) *sqlerr.Error {
	if t.Kind == token.Quoted && t.Value == "" {
		return sqlerr.New(sqlerr.SyntaxError, "zero-length delimited identifier at or near \"\"\"\"").At(t.Pos)
	}
	if t.Pos >= len(p.Text) {
		return p.hint(sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(len(p.Text)))
	}
	return p.hint(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", p.Text[t.Pos:t.End]).At(t.Pos))
}

// cutLongName replaces the dotted name at part[i:] that has more than PostgreSQL's three parts
// (catalog.a.b.table.snapshots) by a quoted name as long, whose parts relation() restores.
func (p *stmtParser) cutLongName(part string, i, from int) (string, bool) {
	l := lexer{s: part, i: i}
	var parts []string
	end := i
	for {
		t, ok := l.next()
		if !ok || t.Kind != token.Word && t.Kind != token.Quoted {
			return "", false
		}
		parts = append(parts, t.Value)
		end = t.End
		if t, ok = l.next(); !ok || !t.Punct(".") {
			break
		}
	}
	if len(parts) < 4 {
		return "", false
	}
	p.longNames[from+i] = parts
	return part[:i] + `"` + strings.Repeat("_", end-i-2) + `"` + part[end:], true
}
