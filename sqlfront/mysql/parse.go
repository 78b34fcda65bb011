// Package mysql answers: what syntax tree does this MySQL text stand for?
//
// In: a text of any number of statements and the parts of sql_mode that change how text is read.
// Out: one ast.Parsed per statement, or an error with SQLSTATE and byte position. The grammar is
// descended into by hand: the one that go-mysql-server brings keeps no positions and has no
// ROLLUP, GROUPING, ANY, ALL and ROW, and the lakehouse's clauses (time travel, MERGE, branches)
// stand in the middle of MySQL's own. Operators and functions whose meaning is MySQL's arrive
// under MySQL's names (mod, div, xor, regexp_like …) for bind's dialect to give them a meaning.
// The package refuses to know what names mean.
package mysql

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// Mode is what of sql_mode changes the meaning of text.
type Mode struct {
	ANSIQuotes         bool // "x" is an identifier
	PipesAsConcat      bool // || concatenates
	NoBackslashEscapes bool
	HighNotPrecedence  bool // NOT binds like !
}

// Parse is ParseMode with MySQL's default mode.
func Parse(sql string) ([]ast.Parsed, error) { return ParseMode(sql, Mode{}) }

// maxText bounds a text; a syntax tree is many times its text.
const maxText = 64 << 20

// ParseMode parses every statement of sql. Positions within a statement count from its own Text;
// an error's position counts from sql's start. A text without any statement gives one ast.Empty.
func ParseMode(sql string, mode Mode) ([]ast.Parsed, error) {
	if len(sql) > maxText {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "statement text of %d bytes exceeds the limit of %d bytes", len(sql), maxText)
	}
	if !utf8.ValidString(sql) {
		return nil, sqlerr.New(sqlerr.CharacterNotInRepertoire, "the statement is not valid UTF-8")
	}
	var out []ast.Parsed
	for _, s := range split(sql, mode) {
		p := newParser(s, mode)
		stmt := p.run()
		if p.err != nil {
			if p.err.Pos >= 0 {
				p.err.Pos += s.offset
			}
			return nil, p.err
		}
		out = append(out, ast.Parsed{Stmt: stmt, Text: s.text, Offset: s.offset, NumParams: p.params})
	}
	if len(out) == 0 {
		out = []ast.Parsed{{Stmt: &ast.Empty{}}}
	}
	return out, nil
}

// statement is one statement's text and tokens; token positions count from its start.
type statement struct {
	text   string
	offset int
	toks   []token
}

// split cuts sql at semicolons.
func split(sql string, mode Mode) []statement {
	var out []statement
	var toks []token
	flush := func() {
		if len(toks) > 0 {
			from, to := toks[0].pos, toks[len(toks)-1].end
			for i := range toks {
				toks[i].pos -= from
				toks[i].end -= from
			}
			out = append(out, statement{text: sql[from:to], offset: from, toks: toks})
		}
		toks = nil
	}
	l := lexer{s: sql, mode: mode}
	for {
		t := l.next()
		switch {
		case t.kind == tokEnd:
			flush()
			return out
		case t.punct(";"):
			flush()
		default:
			toks = append(toks, t)
		}
	}
}

// parser parses one statement. After the first error it goes on with placeholders, and the
// error stays in err.
type parser struct {
	text   string
	toks   []token
	i      int
	mode   Mode
	err    *sqlerr.Error
	params int
	depth  int
	// list1 is what the innermost SELECT has assigned; perhaps counts the operands around this
	// place that may not be evaluated.
	list1   *assigning
	perhaps int
}

func newParser(s statement, mode Mode) *parser {
	return &parser{text: s.text, toks: s.toks, mode: mode}
}

// run parses the whole statement. Inside, a failure unwinds by panic, as nearly every function
// here can fail and none could go on.
func (p *parser) run() (s ast.Stmt) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			p.err, s = f.err, &ast.Empty{}
		}
	}()
	s = p.statement()
	if !p.atEnd() {
		p.syntaxError()
	}
	return s
}

type failure struct{ err *sqlerr.Error }

func (p *parser) fail(e *sqlerr.Error) { panic(failure{e}) }

func (p *parser) failAt(pos int, code sqlerr.Code, format string, args ...any) {
	p.fail(sqlerr.New(code, format, args...).At(pos))
}

func (p *parser) refuse(pos int, format string, args ...any) {
	p.failAt(pos, sqlerr.FeatureNotSupported, format, args...)
}

// syntaxError refuses the next token in MySQL's words.
func (p *parser) syntaxError() {
	t := p.peek(0)
	near := ""
	if t.pos < len(p.text) {
		near = p.text[t.pos:]
		if len(near) > 80 {
			n := 80
			for n > 0 && !utf8.RuneStart(near[n]) {
				n--
			}
			near = near[:n]
		}
	}
	p.failAt(t.pos, sqlerr.SyntaxError, "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d",
		near, 1+strings.Count(p.text[:t.pos], "\n"))
}

// peek gives the k-th token from here, an empty one past the end.
func (p *parser) peek(k int) token {
	if i := p.i + k; i >= 0 && i < len(p.toks) {
		return p.toks[i]
	}
	return token{pos: len(p.text), end: len(p.text)}
}

func (p *parser) atEnd() bool { return p.i >= len(p.toks) }
func (p *parser) pos() int    { return p.peek(0).pos }

// lastEnd is where the token before this one ends.
func (p *parser) lastEnd() int { return p.toks[p.i-1].end }

func (p *parser) next() token {
	t := p.peek(0)
	p.i++
	return t
}

// ahead tells whether these words or signs are next.
func (p *parser) ahead(words ...string) bool {
	for k, w := range words {
		if t := p.peek(k); t.text != w || t.kind != tokWord && t.kind != tokPunct && t.kind != tokOp {
			return false
		}
	}
	return true
}

// accept takes the words if all are next.
func (p *parser) accept(words ...string) bool {
	if !p.ahead(words...) {
		return false
	}
	p.i += len(words)
	return true
}

func (p *parser) acceptAny(words ...string) bool {
	for _, w := range words {
		if p.accept(w) {
			return true
		}
	}
	return false
}

func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.syntaxError()
		}
	}
}

// maxDepth bounds how deep expressions and queries may nest.
const maxDepth = 800

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.failAt(p.pos(), sqlerr.StatementTooComplex, "the statement nests more than %d levels deep", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// ident takes any identifier; behind a dot reserved words are names too.
func (p *parser) ident() string {
	t := p.peek(0)
	if t.kind != tokWord && t.kind != tokQuoted {
		p.syntaxError()
	}
	p.i++
	if t.value == "" {
		p.failAt(t.pos, sqlerr.InvalidName, "Incorrect identifier name ''")
	}
	return t.value
}

// name takes an identifier that is not reserved.
func (p *parser) name() string {
	if !p.peek(0).isName() {
		p.syntaxError()
	}
	return p.ident()
}

func (p *parser) dotted() ast.Name {
	n := ast.Name{Pos: p.pos(), Parts: []string{p.name()}}
	for p.ahead(".") && (p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted) {
		p.i++
		n.Parts = append(n.Parts, p.ident())
	}
	return n
}

// str takes a string constant; adjacent ones are one.
func (p *parser) str() string {
	if p.peek(0).kind != tokString {
		p.syntaxError()
	}
	s := p.next().value
	for p.peek(0).kind == tokString {
		s += p.next().value
	}
	return s
}

func (p *parser) parens(f func()) {
	p.expect("(")
	f()
	p.expect(")")
}

// list calls f for each entry of a comma-separated list.
func (p *parser) list(f func()) {
	f()
	for p.accept(",") {
		f()
	}
}

func (p *parser) names() []string {
	var out []string
	p.parens(func() { p.list(func() { out = append(out, p.ident()) }) })
	return out
}
