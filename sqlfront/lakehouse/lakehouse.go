// Package lakehouse answers: what do the statements and clauses say that neither dialect's own
// grammar has? Time travel, MERGE's arms, branches and tags, partition fields and write orders of
// ALTER TABLE, procedures, tables' properties (docs/sql.md).
//
// In: a cursor over a statement's tokens, and a Dialect for what stands inside: expressions,
// types, strings. Out: parts of the syntax tree. The package refuses to know which dialect it
// stands in: what is one dialect's own, that dialect takes before it asks here.
package lakehouse

import (
	"math"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// Dialect is the language around the lakehouse's clauses. Each method parses from the cursor and
// fails through it.
type Dialect interface {
	// Str parses a string constant.
	Str() string
	// Expr parses an expression. It ends before one of the words or signs, an unmatched closing
	// parenthesis, or the statement's end; a dialect that sees where expressions end may ignore them.
	Expr(ends ...string) ast.Expr
	// Operand parses an expression behind which an alias may follow without any separator.
	Operand() ast.Expr
	// Instant parses the time behind the word TIMESTAMP, which is taken: the word may be a literal's.
	Instant() ast.Expr
	// Default parses the value behind DEFAULT, which other column options may follow.
	Default() ast.Expr
	// Order parses an ORDER BY list, with or without parentheses, that ends like Expr.
	Order(ends ...string) []ast.Order
	// Type parses a column's type.
	Type() ast.TypeName
	// ColumnOptions parses what may follow a column's type.
	ColumnOptions(c *ast.ColumnDef)
	// AlterAction parses an action of ALTER TABLE that is the dialect's own; false: none is next.
	AlterAction(add func(ast.AlterAction)) bool
	// MergeSet and MergeInsert parse what follows MERGE's UPDATE SET and INSERT.
	MergeSet() []ast.SetItem
	MergeInsert(arm *ast.MergeArm)
}

// Parser is the descent; a dialect's parser embeds it.
type Parser struct {
	token.Cursor
	Dialect Dialect
}

// integer parses an integer constant.
func (p *Parser) integer() int64 {
	t := p.Peek(0)
	n, err := strconv.ParseInt(t.Text, 10, 64)
	if t.Kind != token.Number || err != nil {
		p.SyntaxError()
	}
	p.At++
	return n
}

// duration parses n DAYS|HOURS|MINUTES|SECONDS into milliseconds.
func (p *Parser) duration() *int64 {
	pos := p.Pos()
	n := p.integer()
	unit := map[string]int64{"day": 86400e3, "days": 86400e3, "hour": 3600e3, "hours": 3600e3,
		"minute": 60e3, "minutes": 60e3, "second": 1e3, "seconds": 1e3}[p.Peek(0).Text]
	if unit == 0 || p.Peek(0).Kind != token.Word {
		p.SyntaxErrorHint("A retention is a number of DAYS, HOURS or MINUTES.")
	}
	p.At++
	if n > math.MaxInt64/unit {
		p.FailAt(pos, sqlerr.NumericOutOfRange, "retention is out of range")
	}
	n *= unit
	return &n
}

// columnNames parses a, s.b, … as dotted strings, with or without parentheses.
func (p *Parser) columnNames() []string {
	var out []string
	names := func() { p.List(func() { out = append(out, strings.Join(p.Dotted().Parts, ".")) }) }
	if p.Ahead("(") {
		p.Parens(names)
	} else {
		names()
	}
	return out
}

// Where parses WHERE p; nil where there is none.
func (p *Parser) Where(ends ...string) ast.Expr {
	if p.Accept("where") {
		return p.Dialect.Expr(ends...)
	}
	return nil
}
