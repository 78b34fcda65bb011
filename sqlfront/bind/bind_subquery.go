package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// subquery binds a query inside an expression.
func (b *binder) subquery(lv *level, e *ast.Subquery) plan.Expr {
	b.enter(e.Pos)
	defer b.leave()
	s := &plan.Subquery{Pos: b.at(e.Pos)}
	// The left side is of the enclosing query and comes first, for errors in reading order.
	var test []plan.Expr
	if e.Test != nil {
		if r, ok := e.Test.(*ast.Row); ok {
			test = b.elems(lv, r)
		} else {
			test = []plan.Expr{b.expr(lv, e.Test)}
			if r, ok := test[0].(*plan.RowExpr); ok {
				test = r.Elems
			}
		}
	}
	n, outs := b.subplan(e.Query, lv)
	s.Plan = n
	switch e.Kind {
	case 'e':
		s.Kind, s.Typ = plan.ExistsSubquery, types.T(types.Bool)
		return s
	case 's', 'r':
		if len(outs) != 1 {
			b.fail(sqlerr.SyntaxError, e.Pos, "subquery must return only one column")
		}
		t := n.Columns()[0].Type
		s.Kind, s.Typ = plan.ScalarSubquery, t
		if e.Kind == 'r' {
			s.Kind, s.Typ = plan.ArraySubquery, types.ArrayOf(t)
		}
		return s
	}
	if len(test) < len(outs) {
		b.fail(sqlerr.SyntaxError, e.Pos, "subquery has too many columns")
	}
	if len(test) > len(outs) {
		b.fail(sqlerr.SyntaxError, e.Pos, "subquery has too few columns")
	}
	s.Kind, s.Typ = plan.AnySubquery, types.T(types.Bool)
	if e.Kind == 'l' {
		s.Kind = plan.AllSubquery
	}
	return b.compareSubquery(s, e, test)
}

// compareRowQuery binds (a, b) op (SELECT x, y …): the query gives at most one row, and the
// comparison is NULL if it gives none.
//
//	(a, b) = (q)   →   (SELECT (a, b) = (x, y) FROM (q))
func (b *binder) compareRowQuery(lv *level, e *ast.Binary, row *ast.Row, q *ast.Subquery) plan.Expr {
	l := b.elems(lv, row)
	n, outs := b.subplan(q.Query, lv)
	switch {
	case len(outs) > len(l):
		b.fail(sqlerr.SyntaxError, e.Pos, "subquery has too many columns")
	case len(outs) < len(l):
		b.fail(sqlerr.SyntaxError, e.Pos, "subquery has too few columns")
	}
	var r []plan.Expr
	for _, c := range n.Columns() {
		r = append(r, plan.ColOf(c))
	}
	x := b.compareRows(e.Op, l, r, e.Pos)
	return &plan.Subquery{Kind: plan.ScalarSubquery, Typ: x.Type(), Pos: b.at(e.Pos), Plan: &plan.Project{Input: n,
		Exprs: []plan.Named{{Col: b.newColumn("?column?", x.Type()), Expr: x}}}}
}

// compareSubquery settles the operators of test op ANY|ALL (query), casting the query's columns
// where the operator wants other types.
func (b *binder) compareSubquery(s *plan.Subquery, e *ast.Subquery, test []plan.Expr) plan.Expr {
	op := e.Op
	if op == "" {
		op = "="
	}
	if op == "!=" {
		op = "<>"
	}
	if len(test) > 1 && op != "=" && op != "<>" {
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "row comparison %s ANY or ALL of a query is not supported", op).
			WithHint("Write it as EXISTS with a row comparison inside.").At(e.Pos))
	}
	cols := s.Plan.Columns()
	p := &plan.Project{Input: s.Plan}
	cast := false
	for i, x := range test {
		var y plan.Expr = plan.ColOf(cols[i])
		if b.d.Comparands != nil {
			x, y = b.d.Comparands(b, x, y)
		}
		r, err := b.d.ResolveOperator(op, []types.Type{x.Type(), y.Type()})
		b.check(err, e.Pos)
		if r.Ret.Kind != types.Bool {
			b.fail(sqlerr.DatatypeMismatch, e.Pos, "row comparison operator must yield type boolean, not type %s", typeName(r.Ret))
		}
		s.Test = append(s.Test, b.coerce(x, r.Args[0], plan.Implicit))
		s.Ops = append(s.Ops, r.Func)
		y = b.coerce(y, r.Args[1], plan.Implicit)
		out := cols[i]
		if c, plain := y.(*plan.Col); !plain || c.ID != out.ID {
			out = b.newColumn(cols[i].Name, r.Args[1])
			cast = true
		}
		p.Exprs = append(p.Exprs, plan.Named{Col: out, Expr: y})
	}
	if cast {
		s.Plan = p
	}
	return s
}
