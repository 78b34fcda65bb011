package mysql

import (
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// maxText bounds a text; a syntax tree is many times its text.
const maxText = 64 << 20

func checkText(sql string) error {
	if len(sql) > maxText {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "statement text of %d bytes exceeds the limit of %d bytes", len(sql), maxText)
	}
	if !utf8.ValidString(sql) {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, "the statement is not valid UTF-8")
	}
	return nil
}

// chainWords nest without a parenthesis.
var chainWords = token.Set(`not is like regexp rlike sounds member between in collate binary interval xor div mod
	any some all explain describe desc analyze natural`)

func tooDeep(pos int) *sqlerr.Error {
	return sqlerr.New(sqlerr.StatementTooComplex, "the statement nests too deep").At(pos).
		WithHint("Write long chains as lists, for example IN (…) or VALUES.")
}

// CheckDepth tells of a text that nests too deeply what ParseMode tells, without the memory that
// parsing takes. The descent counts its levels besides (enter): of those it needs several for a
// parenthesis.
func CheckDepth(sql string, mode Mode) error {
	if err := checkText(sql); err != nil {
		return err
	}
	depth := token.Depth{Chains: chainWords}
	for l := (lexer{s: sql, mode: mode}); ; {
		switch t := l.next(); {
		case t.Kind == token.End:
			return nil
		case t.Punct(";"):
			depth = token.Depth{Chains: chainWords}
		case !depth.Add(t):
			return tooDeep(t.Pos)
		}
	}
}

// maxDepth bounds how deep expressions and queries may nest.
const maxDepth = 800

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.Fail(tooDeep(p.Pos()))
	}
}

func (p *parser) leave() { p.depth-- }
