package pg

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// maxText bounds a text. PostgreSQL's own limit is 1 GB; a syntax tree is many times its text.
const maxText = 64 << 20

// maxDepth bounds how deep a syntax tree may nest. libpg_query builds and serialises the tree
// by recursion on the C stack, which cannot grow: at overflow the process would die. The tree's
// depth is bounded before C sees the text, by counting tokens that may add a level.
const maxDepth = 2400

func tooDeep(pos int) *sqlerr.Error {
	return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").At(pos).
		WithHint("The statement nests more than %d levels deep; write long chains as lists, for example IN (…) or VALUES.", maxDepth)
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

// depthGauge bounds the depth of the tree that the tokens seen so far can make. A chain such
// as 1+1+1 nests one level per operator without any parenthesis; a comma or AND or OR (which
// the grammar flattens) starts a new chain. Set operations and joins nest across commas: they
// raise the base of their parenthesis.
type depthGauge struct {
	depth int      // of the innermost chain
	base  int      // where chains of the current parenthesis or CASE start
	outer [][2]int // base and depth of the enclosing ones
	paren bool     // the last token was "("
}

var chainWords = token.Set(`not is isnull notnull like ilike similar between in collate at any some
	all operator explain grouping rollup cube sets`)

func (g *depthGauge) add(t token.Token) bool {
	if g.paren && t.Is("select", "with", "values") {
		// A query in parentheses nests four nodes, not one.
		g.base += 3
		g.depth = g.base
	}
	g.paren = t.Punct("(")
	switch {
	case t.Punct("("), t.Punct("["), t.Is("case"):
		g.outer = append(g.outer, [2]int{g.base, g.depth + 1})
		g.depth++
		g.base = g.depth
	case t.Punct(")"), t.Punct("]"), t.Is("end"):
		if n := len(g.outer) - 1; n >= 0 {
			g.base, g.depth = g.outer[n][0], g.outer[n][1]
			g.outer = g.outer[:n]
		}
	case t.Punct(","), t.Is("and", "or"):
		g.depth = g.base
	case t.Is("union", "intersect", "except", "join"):
		g.base++
		g.depth = max(g.depth, g.base)
	case t.Kind == token.Op, t.Punct("::"), t.Punct("."), t.Kind == token.Word && chainWords[t.Text]:
		g.depth++
	}
	return g.depth <= maxDepth
}

// statementBounds finds where statements end, at semicolons outside parentheses, and bounds the
// depth of each.
type statementBounds struct {
	gauge  depthGauge
	parens int
}

// add looks at the next token; end: it is a semicolon that ends a statement.
func (s *statementBounds) add(t token.Token) (end bool, err error) {
	switch {
	case t.Punct(";") && s.parens == 0:
		*s = statementBounds{}
		return true, nil
	case t.Punct("("):
		s.parens++
	case t.Punct(")") && s.parens > 0:
		s.parens--
	}
	if !s.gauge.add(t) {
		return false, tooDeep(t.Pos)
	}
	return false, nil
}

// CheckDepth tells of a text that nests too deeply what Parse tells, without the memory that
// parsing takes.
func CheckDepth(sql string) error {
	if err := checkText(sql); err != nil {
		return err
	}
	var bounds statementBounds
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
