package pg

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// maxText bounds a text. PostgreSQL's own limit is 1 GB; a syntax tree is many times its text.
const maxText = 64 << 20

// maxTokens bounds the words and signs of one statement. PostgreSQL's parser is C: nobody can stop it,
// and it takes about half a second for a million.
const maxTokens = 4_000_000

func tooDeep(pos int) *sqlerr.Error {
	return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").At(pos).
		WithHint("The statement nests more than %d levels deep; write long chains as lists, for example IN (…) or VALUES.", token.MaxDepth)
}

func checkText(sql string) error {
	if len(sql) > maxText {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "statement text of %d bytes exceeds the limit of %d bytes", len(sql), maxText)
	}
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x00`).At(i)
	}
	if !utf8.ValidString(sql) {
		for i := 0; i < len(sql); {
			r, n := utf8.DecodeRuneInString(sql[i:])
			if r == utf8.RuneError && n == 1 {
				return sqlerr.New(sqlerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x%02x`, sql[i]).At(i)
			}
			i += n
		}
	}
	return nil
}

// chainWords nest without a parenthesis.
var chainWords = token.Set(`not is isnull notnull like ilike similar between in collate at any some
	all operator explain grouping rollup cube sets`)

// statementBounds finds where statements end, at semicolons outside parentheses, and bounds the
// depth of each.
type statementBounds struct {
	depth  token.Depth
	parens int
	tokens int
}

func newBounds() statementBounds {
	return statementBounds{depth: token.Depth{Chains: chainWords}}
}

// add looks at the next token; end: it is a semicolon that ends a statement.
func (s *statementBounds) add(t token.Token) (end bool, err error) {
	switch {
	case t.Punct(";") && s.parens == 0:
		*s = newBounds()
		return true, nil
	case t.Punct("("):
		s.parens++
	case t.Punct(")") && s.parens > 0:
		s.parens--
	}
	if !s.depth.Add(t) {
		return false, tooDeep(t.Pos)
	}
	if s.tokens++; s.tokens > maxTokens {
		return false, sqlerr.New(sqlerr.ProgramLimitExceeded, "the statement has more than %d words and signs", maxTokens).At(t.Pos).
			WithHint("COPY takes rows of any number, and = ANY ($1) an array.")
	}
	return false, nil
}

// CheckDepth tells of a text that nests too deeply what Parse tells, without the memory that
// parsing takes.
func CheckDepth(sql string) error {
	if err := checkText(sql); err != nil {
		return err
	}
	bounds := newBounds()
	for l := (lexer{s: sql}); ; {
		t, ok := l.next()
		if !ok {
			return nil
		}
		if _, err := bounds.add(t); err != nil {
			return err
		}
	}
}
