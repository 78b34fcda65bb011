package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// tableProps puts WITH (…) and TBLPROPERTIES (…) into t; Trino's partitioning, sorted_by and
// location become what the clauses of those names say. So do partitioned_by, sort_order and
// identity, with which pg_class.reloptions tells pg_dump of what PostgreSQL's tables lack.
func (p *stmtParser) tableProps(t *ast.CreateTable) {
	if !p.Ahead("(") {
		p.SyntaxError()
	}
	p.Properties(func(name string, value ast.Expr, pos int) {
		switch strings.ToLower(name) {
		case "partitioning":
			t.PartitionBy = append(t.PartitionBy, p.transformList(value, pos)...)
		case "sorted_by":
			t.SortedBy = append(t.SortedBy, p.sortList(value, pos)...)
		case "location":
			t.Location = p.stringValue(value, pos)
		case "comment":
			s := p.stringValue(value, pos)
			t.Comment = &s
		case "partitioned_by":
			p.within(p.stringValue(value, pos), pos, func(q *stmtParser) {
				q.Parens(func() {
					q.List(func() { t.PartitionBy = append(t.PartitionBy, q.Dialect.Expr(",")) })
				})
			})
		case "sort_order":
			p.within(p.stringValue(value, pos), pos, func(q *stmtParser) {
				t.SortedBy = append(t.SortedBy, q.orderTo(len(q.Toks))...)
			})
		case "identity":
			p.within(p.stringValue(value, pos), pos, func(q *stmtParser) { q.identities(t, pos) })
		case "current-snapshot-id": // what it was in the table that pg_dump read
		default:
			p.SetProperty(t.Props, name, value, pos)
		}
	})
}

// identities parses (column GENERATED … AS IDENTITY (…), …) into t's columns.
func (p *stmtParser) identities(t *ast.CreateTable, pos int) {
	p.Parens(func() {
		p.List(func() {
			name := p.columnName()
			id := p.identity()
			id.Pos = pos
			for i := range t.Columns {
				if c := &t.Columns[i]; c.Name == name {
					c.Identity, c.NotNull = id, true
					return
				}
			}
			p.Fail(sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" named in identity does not exist", name).At(pos))
		})
	})
}

func (p *stmtParser) stringValue(e ast.Expr, pos int) string {
	if l, ok := e.(*ast.Lit); ok && l.Kind == 's' {
		return l.Text
	}
	p.FailAt(pos, sqlerr.InvalidParameterValue, "a string constant is expected here")
	return ""
}

// stringArray reads ARRAY['…', …].
func (p *stmtParser) stringArray(e ast.Expr, pos int) []string {
	a, ok := e.(*ast.Array)
	if !ok {
		p.Fail(sqlerr.New(sqlerr.InvalidParameterValue, "an array of strings is expected here").At(pos).
			WithHint("For example: partitioning = ARRAY['month(ts)', 'bucket(id, 16)']."))
	}
	out := make([]string, len(a.Elems))
	for i, x := range a.Elems {
		out[i] = p.stringValue(x, pos)
	}
	return out
}

// within runs parse over a text of its own that stands in a string constant at pos.
func (p *stmtParser) within(text string, pos int, parse func(q *stmtParser)) {
	stmts, err := split(text)
	if err == nil && len(stmts) != 1 {
		err = sqlerr.New(sqlerr.SyntaxError, "invalid value \"%s\"", text)
	}
	if err == nil {
		_, err = token.Run(func() bool {
			parse(newParser(stmts[0]))
			return true
		})
	}
	if e, ok := sqlerr.As(err); ok {
		e.Pos = pos
		p.Fail(e)
	}
}

func (p *stmtParser) transformList(e ast.Expr, pos int) []ast.Expr {
	var out []ast.Expr
	for _, s := range p.stringArray(e, pos) {
		p.within(s, pos, func(q *stmtParser) {
			out = append(out, q.exprTo(len(q.Toks)))
		})
	}
	return out
}

func (p *stmtParser) sortList(e ast.Expr, pos int) []ast.Order {
	var out []ast.Order
	for _, s := range p.stringArray(e, pos) {
		p.within(s, pos, func(q *stmtParser) {
			out = append(out, q.orderTo(len(q.Toks))...)
		})
	}
	return out
}
