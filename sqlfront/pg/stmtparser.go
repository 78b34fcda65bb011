package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// stmtParser parses one statement. After the first error it goes on with placeholders, and the
// error stays in err.
type stmtParser struct {
	text string
	toks []token
	i    int    // next token of the descent by hand
	work []byte // text with the cut clauses blanked
	err  error

	asOf      map[int]*ast.AsOf // by position of the relation's name
	subAsOf   []*subqueryAsOf
	longNames map[int][]string // by position
}

func newParser(s statement) *stmtParser {
	return &stmtParser{text: s.text, toks: s.toks, work: []byte(s.text),
		asOf: map[int]*ast.AsOf{}, longNames: map[int][]string{}}
}

func (p *stmtParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *stmtParser) failAt(pos int, code sqlerr.Code, format string, args ...any) {
	p.fail(sqlerr.New(code, format, args...).At(pos))
}

// peek gives the k-th token from here, an empty one past the end.
func (p *stmtParser) peek(k int) token {
	if p.i+k < len(p.toks) && p.i+k >= 0 {
		return p.toks[p.i+k]
	}
	return token{kind: tokInvalid, pos: len(p.text), end: len(p.text)}
}

func (p *stmtParser) atEnd() bool { return p.i >= len(p.toks) }

// accept takes the words if all are next.
func (p *stmtParser) accept(words ...string) bool {
	if !p.ahead(words...) {
		return false
	}
	p.i += len(words)
	return true
}

func (p *stmtParser) ahead(words ...string) bool {
	for k, w := range words {
		if t := p.peek(k); t.text != w || t.kind != tokWord && t.kind != tokPunct && t.kind != tokOp {
			return false
		}
	}
	return true
}

func (p *stmtParser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.syntaxError()
			return
		}
	}
}

func (p *stmtParser) syntaxError() { p.fail(p.unexpected(p.peek(0))) }

// end requires that nothing follows.
func (p *stmtParser) end() {
	if !p.atEnd() {
		p.syntaxError()
	}
}

// pos is where the next token begins.
func (p *stmtParser) pos() int { return p.peek(0).pos }

// ident takes an identifier; any word will do, as after AS.
func (p *stmtParser) ident() string {
	t := p.peek(0)
	if t.kind != tokWord && t.kind != tokQuoted {
		p.syntaxError()
		return ""
	}
	p.i++
	if t.kind == tokQuoted && t.text == "" {
		p.failAt(t.pos, sqlerr.SyntaxError, "zero-length delimited identifier at or near \"\"\"\"")
	}
	return t.text
}

// name takes an identifier that is not reserved.
func (p *stmtParser) name() string {
	if !p.peek(0).isName() {
		p.syntaxError()
		return ""
	}
	return p.ident()
}

func (p *stmtParser) dotted() ast.Name {
	n := ast.Name{Pos: p.pos(), Parts: []string{p.name()}}
	for p.err == nil && p.accept(".") {
		n.Parts = append(n.Parts, p.ident())
	}
	return n
}

func (p *stmtParser) table() ast.TableName { return ast.TableName{Name: p.dotted()} }

// str takes a string constant and gives its value.
func (p *stmtParser) str() string {
	t := p.peek(0)
	if t.kind != tokString {
		p.syntaxError()
		return ""
	}
	p.i++
	e := p.exprBetween(t.pos, t.end)
	if lit, ok := e.(*ast.Lit); ok {
		return lit.Text
	}
	if p.err == nil {
		p.fail(p.unexpected(t))
	}
	return ""
}

// upTo gives the index of the first token from here that stop accepts, outside parentheses and
// CASE … END; the number of tokens if there is none. An unmatched ")" stops too.
func (p *stmtParser) upTo(stop func(k int) bool) int {
	return p.scanTo(p.i, stop)
}

func (p *stmtParser) scanTo(from int, stop func(k int) bool) int {
	depth := 0
	for k := from; k < len(p.toks); k++ {
		t := p.toks[k]
		if depth == 0 && (t.punct(")") || t.punct("]") || stop(k)) {
			return k
		}
		switch {
		case t.punct("("), t.punct("["), t.is("case"):
			depth++
		case t.punct(")"), t.punct("]"), t.is("end"):
			if depth > 0 {
				depth--
			}
		}
	}
	return len(p.toks)
}

func (p *stmtParser) stopAt(words ...string) func(int) bool {
	return func(k int) bool {
		t := p.toks[k]
		for _, w := range words {
			if t.text == w && (t.kind == tokWord || t.kind == tokPunct) {
				return true
			}
		}
		return false
	}
}

// tokenPos is where token k begins; the text's end past the last.
func (p *stmtParser) tokenPos(k int) int {
	if k < len(p.toks) {
		return p.toks[k].pos
	}
	return len(p.text)
}

// exprTo parses the tokens up to index k as one expression and goes there.
func (p *stmtParser) exprTo(k int) ast.Expr {
	if k <= p.i {
		p.syntaxError()
		return nil
	}
	e := p.exprBetween(p.pos(), p.tokenPos(k))
	p.i = k
	return e
}

// expr parses an expression that ends before one of the words (or the closing parenthesis).
func (p *stmtParser) expr(stops ...string) ast.Expr {
	return p.exprTo(p.upTo(p.stopAt(stops...)))
}

// exprBetween gives a part of the text to the grammar as an expression.
func (p *stmtParser) exprBetween(from, to int) ast.Expr {
	n, c := p.grammar("SELECT ", from, to, "")
	if n == nil {
		return nil
	}
	s := n.GetSelectStmt()
	if s == nil || len(s.TargetList) != 1 || s.FromClause != nil || s.WhereClause != nil || s.Op > 1 ||
		s.SortClause != nil || s.LimitCount != nil || s.GroupClause != nil || s.IntoClause != nil ||
		s.HavingClause != nil || s.TargetList[0].GetResTarget().GetName() != "" {
		p.fail(p.unexpected(p.tokenAt(to)))
		return nil
	}
	return c.expr(s.TargetList[0].GetResTarget().GetVal())
}

// queryTo parses the tokens up to index k as a query.
func (p *stmtParser) queryTo(k int) *ast.Query {
	n, c := p.grammar("", p.pos(), p.tokenPos(k), "")
	if n == nil {
		return nil
	}
	s := n.GetSelectStmt()
	if s == nil {
		p.syntaxError()
		return nil
	}
	p.i = k
	return c.query(s)
}

// typeTo parses the tokens up to index k as a type.
func (p *stmtParser) typeTo(k int) ast.TypeName {
	n, c := p.grammar("SELECT NULL::", p.pos(), p.tokenPos(k), "")
	if n == nil {
		return ast.TypeName{}
	}
	s := n.GetSelectStmt()
	if len(s.GetTargetList()) != 1 || s.TargetList[0].GetResTarget().GetVal().GetTypeCast() == nil {
		p.syntaxError()
		return ast.TypeName{}
	}
	p.i = k
	return c.typeName(s.TargetList[0].GetResTarget().GetVal().GetTypeCast().TypeName)
}
