// Package pg answers: what syntax tree does this PostgreSQL text stand for?
//
// In: a text of any number of statements. Out: one ast.Parsed per statement, or an error with
// PostgreSQL's code, message and byte position. The grammar is PostgreSQL's own (libpg_query,
// called through C) plus the lakehouse's: time travel, partitioned tables, branches and tags,
// procedures, MERGE's stars (docs/sql.md). Clauses that PostgreSQL's grammar lacks are found by
// token. Those inside queries are cut out (blanked, so that positions stay) and attached to the
// tree by location; statements that it lacks are descended into by hand (sqlfront/lakehouse), with
// every expression and query inside them given back to the grammar. The package refuses to know what names mean.
package pg

import (
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// Parse parses every statement of sql. Positions within a statement count from its own Text;
// an error's position counts from sql's start. A text without any statement gives one
// ast.Empty; an empty statement between others gives nothing, as in PostgreSQL.
func Parse(sql string) ([]ast.Parsed, error) {
	if err := checkText(sql); err != nil {
		return nil, err
	}
	stmts, err := split(sql)
	if err != nil {
		return nil, err
	}
	if len(stmts) == 0 {
		return []ast.Parsed{{Stmt: &ast.Empty{}}}, nil
	}
	out := make([]ast.Parsed, len(stmts))
	for i, s := range stmts {
		p, err := parseStatement(s)
		if err != nil {
			if e, ok := sqlerr.As(err); ok && e.Pos >= 0 {
				e.Pos += s.offset
			}
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// statement is one statement's text and tokens; token positions count from its start.
type statement struct {
	text   string
	offset int
	toks   []token.Token
}

// split cuts sql at semicolons outside parentheses and bounds each statement's depth.
func split(sql string) ([]statement, error) {
	var out []statement
	var toks []token.Token
	bounds := newBounds()
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
	l := lexer{s: sql}
	for {
		t, ok := l.next()
		if !ok {
			flush()
			return out, nil
		}
		end, err := bounds.add(t)
		if err != nil {
			return nil, err
		}
		if end {
			flush()
			continue
		}
		toks = append(toks, t)
	}
}

// parseStatement chooses who parses: by hand what PostgreSQL's grammar lacks, the grammar all else.
func parseStatement(s statement) (ast.Parsed, error) {
	n, err := countParams(s.toks)
	if err != nil {
		return ast.Parsed{}, err
	}
	stmt, err := token.Run(newParser(s).statement)
	if err != nil {
		return ast.Parsed{}, err
	}
	if prep, ok := stmt.(*ast.Prepare); ok {
		prep.NumParams, n = n, 0
	}
	return ast.Parsed{Stmt: stmt, Text: s.text, Offset: s.offset, NumParams: n}, nil
}

func countParams(toks []token.Token) (int, error) {
	most := 0
	for _, t := range toks {
		if t.Kind != token.Param {
			continue
		}
		n, err := strconv.Atoi(t.Text[1:])
		if err != nil || n > 65535 {
			return 0, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter %s", t.Text).At(t.Pos)
		}
		most = max(most, n)
	}
	return most, nil
}
