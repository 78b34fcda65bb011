package pg

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// stmtParser parses one statement.
type stmtParser struct {
	lakehouse.Parser
	work []byte // Text with the cut clauses blanked

	asOf      map[int]*ast.AsOf // by position of the relation's name
	subAsOf   []*subqueryAsOf
	longNames map[int][]string // by position
	branch    string           // of GRANT … BRANCH b
}

func newParser(s statement) *stmtParser {
	p := &stmtParser{work: []byte(s.text), asOf: map[int]*ast.AsOf{}, longNames: map[int][]string{}}
	p.Cursor = token.Cursor{Text: s.text, Toks: s.toks, Unexpected: p.unexpected}
	p.Dialect = p
	return p
}

// end requires that nothing follows.
func (p *stmtParser) end() {
	if !p.AtEnd() {
		p.SyntaxError()
	}
}

// Str takes a string constant and gives its value.
func (p *stmtParser) Str() string {
	t := p.Peek(0)
	if t.Kind != token.String {
		p.SyntaxError()
	}
	p.At++
	lit, ok := p.exprBetween(t.Pos, t.End).(*ast.Lit)
	if !ok {
		p.Fail(p.unexpected(t))
	}
	return lit.Text
}

// upTo gives the index of the first token from here that stop accepts, outside parentheses and
// CASE … END; the number of tokens if there is none. An unmatched ")" stops too.
func (p *stmtParser) upTo(stop func(k int) bool) int {
	return p.scanTo(p.At, stop)
}

func (p *stmtParser) scanTo(from int, stop func(k int) bool) int {
	depth := 0
	for k := from; k < len(p.Toks); k++ {
		t := p.Toks[k]
		if depth == 0 && (t.Punct(")") || t.Punct("]") || stop(k)) {
			return k
		}
		switch {
		case t.Punct("("), t.Punct("["), t.Is("case"):
			depth++
		case t.Punct(")"), t.Punct("]"), t.Is("end"):
			if depth > 0 {
				depth--
			}
		}
	}
	return len(p.Toks)
}

func (p *stmtParser) stopAt(words ...string) func(int) bool {
	return func(k int) bool {
		t := p.Toks[k]
		for _, w := range words {
			if t.Text == w && (t.Kind == token.Word || t.Kind == token.Punct) {
				return true
			}
		}
		return false
	}
}

// tokenPos is where token k begins; the text's end past the last.
func (p *stmtParser) tokenPos(k int) int {
	if k < len(p.Toks) {
		return p.Toks[k].Pos
	}
	return len(p.Text)
}

// exprTo parses the tokens up to index k as one expression and goes there.
func (p *stmtParser) exprTo(k int) ast.Expr {
	if k <= p.At {
		p.SyntaxError()
	}
	e := p.exprBetween(p.Pos(), p.tokenPos(k))
	p.At = k
	return e
}

// Expr parses an expression that ends before one of the words (or the closing parenthesis).
func (p *stmtParser) Expr(ends ...string) ast.Expr {
	return p.exprTo(p.upTo(p.stopAt(ends...)))
}

// Instant parses the time behind TIMESTAMP; a string alone is the word's literal, which knows
// 'yesterday' and the like.
func (p *stmtParser) Instant() ast.Expr {
	if p.Peek(0).Kind == token.String && p.At+1 == len(p.Toks) {
		p.At--
	}
	return p.Expr()
}

// exprBetween gives a part of the text to the grammar as an expression.
func (p *stmtParser) exprBetween(from, to int) ast.Expr {
	n, c := p.grammar("SELECT ", from, to, "")
	s := n.GetSelectStmt()
	if s == nil || len(s.TargetList) != 1 || s.FromClause != nil || s.WhereClause != nil || s.Op > 1 ||
		s.SortClause != nil || s.LimitCount != nil || s.GroupClause != nil || s.IntoClause != nil ||
		s.HavingClause != nil || s.TargetList[0].GetResTarget().GetName() != "" {
		p.Fail(p.unexpected(p.tokenAt(to)))
	}
	return c.expr(s.TargetList[0].GetResTarget().GetVal())
}

// queryTo parses the tokens up to index k as a query.
func (p *stmtParser) queryTo(k int) *ast.Query {
	n, c := p.grammar("", p.Pos(), p.tokenPos(k), "")
	s := n.GetSelectStmt()
	if s == nil {
		p.SyntaxError()
	}
	p.At = k
	return c.query(s)
}

// typeTo parses the tokens up to index k as a type.
func (p *stmtParser) typeTo(k int) ast.TypeName {
	n, c := p.grammar("SELECT NULL::", p.Pos(), p.tokenPos(k), "")
	s := n.GetSelectStmt()
	if len(s.GetTargetList()) != 1 || s.TargetList[0].GetResTarget().GetVal().GetTypeCast() == nil {
		p.SyntaxError()
	}
	p.At = k
	return c.typeName(s.TargetList[0].GetResTarget().GetVal().GetTypeCast().TypeName)
}
