package token

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// Cursor walks over the tokens of one statement. A failure unwinds to Run by panic, as nearly
// every function of a descent can fail and none could go on.
type Cursor struct {
	Text string
	Toks []Token
	At   int // the next token
	// Unexpected is the dialect's error for a token that may not stand where it stands, or for an
	// identifier without letters.
	Unexpected func(t Token) *sqlerr.Error
}

type failure struct{ err *sqlerr.Error }

// Run gives what parse gives, or the error by which it failed.
func Run[T any](parse func() T) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	return parse(), nil
}

// Fail ends the parse with err; who called the parser gets it as its result.
func (c *Cursor) Fail(err *sqlerr.Error) { panic(failure{err}) }

// FailAt is Fail of a new error at a byte of the text.
func (c *Cursor) FailAt(pos int, code sqlerr.Code, format string, args ...any) {
	c.Fail(sqlerr.New(code, format, args...).At(pos))
}

// Refuse refuses what is well-formed and not served.
func (c *Cursor) Refuse(pos int, format string, args ...any) {
	c.FailAt(pos, sqlerr.FeatureNotSupported, format, args...)
}

// SyntaxError refuses the next token.
func (c *Cursor) SyntaxError() { c.Fail(c.Unexpected(c.Peek(0))) }

// SyntaxErrorHint refuses the next token and says what would do.
func (c *Cursor) SyntaxErrorHint(hint string) {
	c.Fail(c.Unexpected(c.Peek(0)).WithHint("%s", hint))
}

// Peek gives the k-th token from here, one of kind End outside the statement.
func (c *Cursor) Peek(k int) Token {
	if i := c.At + k; i >= 0 && i < len(c.Toks) {
		return c.Toks[i]
	}
	return Token{Pos: len(c.Text), End: len(c.Text)}
}

// AtEnd tells whether all tokens are taken.
func (c *Cursor) AtEnd() bool { return c.At >= len(c.Toks) }

// Pos is where the next token begins.
func (c *Cursor) Pos() int { return c.Peek(0).Pos }

// LastEnd is where the token before the next one ends.
func (c *Cursor) LastEnd() int { return c.Toks[c.At-1].End }

// Take takes the next token; at the end it takes one of kind End.
func (c *Cursor) Take() Token {
	t := c.Peek(0)
	c.At++
	return t
}

// Ahead tells whether these words or signs are next.
func (c *Cursor) Ahead(words ...string) bool {
	for k, w := range words {
		if t := c.Peek(k); t.Text != w || t.Kind != Word && t.Kind != Punct && t.Kind != Op {
			return false
		}
	}
	return true
}

// Accept takes the words if all are next.
func (c *Cursor) Accept(words ...string) bool {
	if !c.Ahead(words...) {
		return false
	}
	c.At += len(words)
	return true
}

// AcceptAny takes one of the words if one is next.
func (c *Cursor) AcceptAny(words ...string) bool {
	for _, w := range words {
		if c.Accept(w) {
			return true
		}
	}
	return false
}

// Expect takes words, or refuses the first token that is another.
func (c *Cursor) Expect(words ...string) {
	for _, w := range words {
		if !c.Accept(w) {
			c.SyntaxError()
		}
	}
}

// Ident takes an identifier; any word will do, as behind AS or a dot.
func (c *Cursor) Ident() string {
	t := c.Peek(0)
	if t.Kind != Word && t.Kind != Quoted {
		c.SyntaxError()
	}
	c.At++
	if t.Value == "" {
		c.Fail(c.Unexpected(t))
	}
	return t.Value
}

// Name takes an identifier that is not reserved.
func (c *Cursor) Name() string {
	if !c.Peek(0).IsName() {
		c.SyntaxError()
	}
	return c.Ident()
}

// Dotted takes a name of one or more parts; t.* is no name.
func (c *Cursor) Dotted() ast.Name {
	n := ast.Name{Pos: c.Pos(), Parts: []string{c.Name()}}
	for c.Ahead(".") && !c.Peek(1).Op("*") {
		c.At++
		n.Parts = append(n.Parts, c.Ident())
	}
	return n
}

// Table takes a table's name.
func (c *Cursor) Table() ast.TableName { return ast.TableName{Name: c.Dotted()} }

// Parens has f take what stands in parentheses.
func (c *Cursor) Parens(f func()) {
	c.Expect("(")
	f()
	c.Expect(")")
}

// List calls f for each entry of a comma-separated list.
func (c *Cursor) List(f func()) {
	f()
	for c.Accept(",") {
		f()
	}
}

// Names takes (a, b, c).
func (c *Cursor) Names() []string {
	var out []string
	c.Parens(func() { c.List(func() { out = append(out, c.Ident()) }) })
	return out
}
