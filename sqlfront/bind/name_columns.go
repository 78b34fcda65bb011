package bind

import "github.com/lhsql/lhsql/sqlfront/ast"

// columnName is the name of an output column that has no alias (PostgreSQL's FigureColname).
func columnName(e ast.Expr) string {
	if n, strength := figureName(e); strength > 0 {
		return n
	}
	return "?column?"
}

// figureName gives a name and how good it is: 2 for a name of its own, 1 for a type's or
// construct's, 0 for none.
func figureName(e ast.Expr) (string, int) {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Parts[len(e.Parts)-1], 2
	case *ast.Field:
		if !e.Star {
			return e.Name, 2
		}
	case *ast.Index:
		return figureName(e.X)
	case *ast.Call:
		return e.Name.Parts[len(e.Name.Parts)-1], 2
	case *ast.NullIf:
		return "nullif", 2
	case *ast.Cast:
		if n, s := figureName(e.X); s > 1 {
			return n, s
		}
		return e.Type.Name, 1
	case *ast.Collate:
		return figureName(e.X)
	case *ast.Grouping:
		return "grouping", 2
	case *ast.MergeAction:
		return "merge_action", 2
	case *ast.Subquery:
		switch e.Kind {
		case 'e':
			return "exists", 2
		case 'r':
			return "array", 2
		case 's':
			return queryColumnName(e.Query)
		}
	case *ast.Case:
		if e.Else != nil {
			if n, s := figureName(e.Else); s > 1 {
				return n, s
			}
		}
		return "case", 1
	case *ast.Array:
		return "array", 2
	case *ast.Row:
		return "row", 2
	case *ast.Coalesce:
		return "coalesce", 2
	case *ast.MinMax:
		if e.Greatest {
			return "greatest", 2
		}
		return "least", 2
	}
	return "", 0
}

// queryColumnName is the name of a query's first column.
func queryColumnName(q *ast.Query) (string, int) {
	switch body := q.Body.(type) {
	case *ast.Select:
		if len(body.Items) == 0 {
			return "", 0
		}
		it := body.Items[0]
		if it.Alias != "" {
			return it.Alias, 2
		}
		if _, ok := it.Expr.(*ast.Star); ok {
			return "", 0
		}
		return figureName(it.Expr)
	case *ast.SetOp:
		return queryColumnName(body.Left)
	case *ast.Values:
		return "column1", 2
	}
	return "", 0
}

// leftmost is where an expression begins in the text: a Binary's own position is its
// operator's.
func leftmost(e ast.Expr) int {
	pos := -1
	take := func(p int) {
		if p >= 0 && (pos < 0 || p < pos) {
			pos = p
		}
	}
	for e != nil {
		take(e.Position())
		var next ast.Expr
		switch x := e.(type) {
		case *ast.Binary:
			next = x.L
		case *ast.And:
			next = x.Args[0]
		case *ast.Or:
			next = x.Args[0]
		case *ast.IsNull:
			next = x.X
		case *ast.IsBool:
			next = x.X
		case *ast.IsDistinct:
			next = x.L
		case *ast.Between:
			next = x.X
		case *ast.In:
			next = x.X
		case *ast.Quantified:
			next = x.L
		case *ast.Subquery:
			next = x.Test
		case *ast.Cast:
			next = x.X
		case *ast.Collate:
			next = x.X
		case *ast.Field:
			next = x.X
		case *ast.Index:
			next = x.X
		}
		e = next
	}
	return pos
}

func leftmostCall(c *ast.Call) int { return leftmost(c) }
