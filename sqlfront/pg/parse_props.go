package pg

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// props parses (name = value, 'name' = value, name value, flag) and calls set for each; without
// the parentheses it ends at the statement's end.
func (p *stmtParser) props(set func(name string, value ast.Expr, pos int)) {
	parens := p.accept("(")
	if parens && p.accept(")") {
		return
	}
	for p.err == nil {
		pos := p.pos()
		name := p.propName()
		var value ast.Expr = &ast.Lit{Kind: 'b', Text: "true", Pos: pos}
		p.accept("=")
		if !p.peek(0).punct(",") && !p.peek(0).punct(")") && !p.atEnd() {
			value = p.expr(",")
		}
		set(name, value, pos)
		if !p.accept(",") {
			break
		}
	}
	if parens {
		p.expect(")")
	}
}

// propName is 'write.format.default' or write.format.default or format_version.
func (p *stmtParser) propName() string {
	if p.peek(0).kind == tokString {
		return p.str()
	}
	parts := []string{p.ident()}
	for p.err == nil && (p.accept(".") || p.peek(0).kind == tokOp && p.peek(0).text == "-" && p.accept("-")) {
		sep := p.toks[p.i-1].text
		parts = append(parts, sep, p.ident())
	}
	return strings.Join(parts, "")
}

// tableProps puts WITH (…) and TBLPROPERTIES (…) into t; Trino's partitioning, sorted_by and
// location become what the clauses of those names say.
func (p *stmtParser) tableProps(t *ast.CreateTable) {
	if !p.peek(0).punct("(") {
		p.syntaxError()
		return
	}
	p.props(func(name string, value ast.Expr, pos int) {
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
		default:
			if _, twice := t.Props[name]; twice {
				p.failAt(pos, sqlerr.SyntaxError, "property \"%s\" is given twice", name)
			}
			t.Props[name] = value
		}
	})
}

func (p *stmtParser) stringValue(e ast.Expr, pos int) string {
	if l, ok := e.(*ast.Lit); ok && l.Kind == 's' {
		return l.Text
	}
	p.failAt(pos, sqlerr.InvalidParameterValue, "a string constant is expected here")
	return ""
}

// stringArray reads ARRAY['…', …].
func (p *stmtParser) stringArray(e ast.Expr, pos int) []string {
	a, ok := e.(*ast.Array)
	if !ok {
		p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "an array of strings is expected here").At(pos).
			WithHint("For example: partitioning = ARRAY['month(ts)', 'bucket(id, 16)']."))
		return nil
	}
	out := make([]string, len(a.Elems))
	for i, x := range a.Elems {
		out[i] = p.stringValue(x, pos)
	}
	return out
}

// within runs parse over a text of its own that stands in a string constant at pos.
func (p *stmtParser) within(text string, pos int, parse func(q *stmtParser)) {
	if p.err != nil {
		return
	}
	stmts, err := split(text)
	if err == nil && len(stmts) != 1 {
		err = sqlerr.New(sqlerr.SyntaxError, "invalid value \"%s\"", text)
	}
	if err == nil {
		q := newParser(stmts[0])
		parse(q)
		err = q.err
	}
	if e, ok := sqlerr.As(err); ok {
		e.Pos = pos
		p.fail(e)
	}
}

func (p *stmtParser) transformList(e ast.Expr, pos int) []ast.Expr {
	var out []ast.Expr
	for _, s := range p.stringArray(e, pos) {
		p.within(s, pos, func(q *stmtParser) {
			out = append(out, q.exprTo(len(q.toks)))
		})
	}
	return out
}

func (p *stmtParser) sortList(e ast.Expr, pos int) []ast.Order {
	var out []ast.Order
	for _, s := range p.stringArray(e, pos) {
		p.within(s, pos, func(q *stmtParser) {
			out = append(out, q.orderTo(len(q.toks))...)
		})
	}
	return out
}
