// Package mysql answers: what syntax tree does this MySQL text stand for?
//
// In: a text of any number of statements and the parts of sql_mode that change how text is read.
// Out: one ast.Parsed per statement, or an error with SQLSTATE and byte position. The grammar is
// descended into by hand: the one that go-mysql-server brings keeps no positions and has no
// ROLLUP, GROUPING, ANY, ALL and ROW, and the lakehouse's clauses (time travel, MERGE, branches)
// stand in the middle of MySQL's own (sqlfront/lakehouse parses them). Operators and functions
// whose meaning is MySQL's arrive under MySQL's names (mod, div, xor, regexp_like …) for bind's
// dialect to give them a meaning. The package refuses to know what names mean.
package mysql

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
	"github.com/lhsql/lhsql/sqlfront/token"
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

// ParseMode parses every statement of sql. Positions within a statement count from its own Text;
// an error's position counts from sql's start. A text without any statement gives one ast.Empty.
func ParseMode(sql string, mode Mode) ([]ast.Parsed, error) {
	if err := checkText(sql); err != nil {
		return nil, err
	}
	stmts, err := split(sql, mode)
	if err != nil {
		return nil, err
	}
	var out []ast.Parsed
	for _, s := range stmts {
		p := newParser(s, mode)
		stmt, err := token.Run(p.whole)
		if err != nil {
			if e, ok := sqlerr.As(err); ok && e.Pos >= 0 {
				e.Pos += s.offset
			}
			return nil, err
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
	toks   []token.Token
}

// split cuts sql at semicolons and bounds each statement's depth.
func split(sql string, mode Mode) ([]statement, error) {
	var out []statement
	var toks []token.Token
	flush := func() {
		if len(toks) > 0 {
			from, to := toks[0].Pos, toks[len(toks)-1].End
			for i := range toks {
				toks[i].Pos -= from
				toks[i].End -= from
			}
			out = append(out, statement{text: sql[from:to], offset: from, toks: toks})
		}
		toks = nil
	}
	l := lexer{s: sql, mode: mode}
	depth := token.Depth{Chains: chainWords}
	for {
		t := l.next()
		switch {
		case t.Kind == token.End:
			flush()
			return out, nil
		case t.Punct(";"):
			depth = token.Depth{Chains: chainWords}
			flush()
		case !depth.Add(t):
			return nil, tooDeep(t.Pos)
		default:
			toks = append(toks, t)
		}
	}
}

// Piece is one statement's text within a text, and where it begins.
type Piece struct {
	Text   string
	Offset int
}

// Cut splits a text at semicolons. What it makes of a statement that does not parse is its text, too.
func Cut(sql string, mode Mode) []Piece {
	var out []Piece
	from, to := -1, 0
	for l := (lexer{s: sql, mode: mode}); ; {
		t := l.next()
		if end := t.Kind == token.End; end || t.Punct(";") {
			if from >= 0 {
				out = room.Append(out, Piece{sql[from:to], from})
			}
			if from = -1; end {
				return out
			}
			continue
		}
		if from < 0 {
			from = t.Pos
		}
		to = t.End
	}
}

// parser parses one statement.
type parser struct {
	lakehouse.Parser
	mode   Mode
	params int
	depth  int
	// list1 is what the innermost SELECT has assigned; perhaps counts the operands around this
	// place that may not be evaluated.
	list1   *assigning
	perhaps int
	// duplicate is above 0 inside of ON DUPLICATE KEY UPDATE, where VALUES(c) is a value.
	duplicate int
	// What the outermost query does beside giving rows, and which entry of its first select list is
	// being read: itemAt is where it begins, column which of the result's it is, -1 if that is not known.
	nest           int
	listed         bool
	itemAt, column int
	intoVars       []string
	assigned       []ast.Assigned
	calcFound      bool
}

func newParser(s statement, mode Mode) *parser {
	p := &parser{mode: mode, column: -1}
	p.Cursor = token.Cursor{Text: s.text, Toks: s.toks, Unexpected: p.unexpected}
	p.Dialect = p
	return p
}

// whole parses the whole statement.
func (p *parser) whole() ast.Stmt {
	s := p.statement()
	if !p.AtEnd() {
		p.SyntaxError()
	}
	return s
}

// unexpected is the syntax error at t in MySQL's words.
func (p *parser) unexpected(t token.Token) *sqlerr.Error {
	if t.Kind == token.Quoted && t.Value == "" {
		return sqlerr.New(sqlerr.InvalidName, "Incorrect identifier name ''").At(t.Pos)
	}
	near := ""
	if t.Pos < len(p.Text) {
		near = p.Text[t.Pos:]
		if len(near) > 80 {
			n := 80
			for n > 0 && !utf8.RuneStart(near[n]) {
				n--
			}
			near = near[:n]
		}
	}
	return sqlerr.New(sqlerr.SyntaxError, "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d",
		near, 1+strings.Count(p.Text[:t.Pos], "\n")).At(t.Pos)
}

// Str takes a string constant; adjacent ones are one.
func (p *parser) Str() string {
	if p.Peek(0).Kind != token.String {
		p.SyntaxError()
	}
	s := p.Take().Value
	for p.Peek(0).Kind == token.String {
		s += p.Take().Value
	}
	return s
}
