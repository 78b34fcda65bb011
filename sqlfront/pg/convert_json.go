package pg

import (
	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// json translates SQL/JSON constructors into the functions that compute them, where there is
// one that means the same; what has no such function is refused.
func (c *conv) json(n any) (ast.Expr, bool) {
	call := func(pos int, name string, args ...ast.Expr) *ast.Call {
		e := &ast.Call{Name: ast.Name{Parts: []string{name}, Pos: pos}, Pos: pos}
		for _, a := range args {
			e.Args = append(e.Args, ast.Arg{Expr: a})
		}
		return e
	}
	returning := func(e ast.Expr, out *pgquery.JsonOutput) ast.Expr {
		if out == nil || out.TypeName == nil || len(out.TypeName.Names) == 0 {
			return e
		}
		return &ast.Cast{X: e, Type: c.typeName(out.TypeName), Pos: e.Position()}
	}
	value := func(v *pgquery.JsonValueExpr) ast.Expr { return c.expr(v.GetRawExpr()) }
	nullLit := &ast.Lit{Kind: '0', Pos: -1}

	switch n := n.(type) {
	case *pgquery.Node_JsonObjectConstructor:
		j := n.JsonObjectConstructor
		pos := c.pos(j.Location)
		if j.AbsentOnNull && len(j.Exprs) > 0 || j.Unique {
			c.refuse(pos, "JSON_OBJECT with ABSENT ON NULL or UNIQUE KEYS is not supported")
			return nullLit, true
		}
		var args []ast.Expr
		for _, e := range j.Exprs {
			kv := e.GetJsonKeyValue()
			args = append(args, c.expr(kv.GetKey()), value(kv.GetValue()))
		}
		return returning(call(pos, "json_build_object", args...), j.Output), true
	case *pgquery.Node_JsonArrayConstructor:
		j := n.JsonArrayConstructor
		pos := c.pos(j.Location)
		if j.AbsentOnNull && len(j.Exprs) > 0 {
			// ABSENT ON NULL is the default of JSON_ARRAY: NULLs leave before the array is built.
			var elems []ast.Expr
			for _, e := range j.Exprs {
				elems = append(elems, call(pos, "to_json", value(e.GetJsonValueExpr())))
			}
			arr := call(pos, "array_remove_nulls", &ast.Array{Elems: elems, Pos: pos})
			return returning(call(pos, "array_to_json", arr), j.Output), true
		}
		var args []ast.Expr
		for _, e := range j.Exprs {
			args = append(args, value(e.GetJsonValueExpr()))
		}
		return returning(call(pos, "json_build_array", args...), j.Output), true
	case *pgquery.Node_JsonScalarExpr:
		j := n.JsonScalarExpr
		return returning(call(c.pos(j.Location), "to_json", c.expr(j.Expr)), j.Output), true
	case *pgquery.Node_JsonParseExpr:
		j := n.JsonParseExpr
		pos := c.pos(j.Location)
		if j.UniqueKeys {
			c.refuse(pos, "JSON() with UNIQUE KEYS is not supported")
			return nullLit, true
		}
		return &ast.Cast{X: value(j.Expr), Type: ast.TypeName{Name: "json", Pos: pos}, Pos: pos}, true
	case *pgquery.Node_JsonSerializeExpr:
		j := n.JsonSerializeExpr
		pos := c.pos(j.Location)
		e := ast.Expr(&ast.Cast{X: value(j.Expr), Type: ast.TypeName{Name: "text", Pos: pos}, Pos: pos})
		return returning(e, j.Output), true
	case *pgquery.Node_JsonIsPredicate:
		j := n.JsonIsPredicate
		pos := c.pos(j.Location)
		kind := map[pgquery.JsonValueType]string{pgquery.JsonValueType_JS_TYPE_OBJECT: "object",
			pgquery.JsonValueType_JS_TYPE_ARRAY: "array", pgquery.JsonValueType_JS_TYPE_SCALAR: "scalar"}[j.ItemType]
		return call(pos, "is_json", c.expr(j.Expr), &ast.Lit{Kind: 's', Text: kind, Pos: pos},
			&ast.Lit{Kind: 'b', Text: map[bool]string{true: "true", false: "false"}[j.UniqueKeys], Pos: pos}), true
	case *pgquery.Node_JsonFuncExpr:
		c.refuse(c.pos(n.JsonFuncExpr.Location), "JSON_EXISTS, JSON_VALUE and JSON_QUERY are not supported; use jsonb_path_exists, jsonb_path_query_first or ->>")
		return nullLit, true
	case *pgquery.Node_JsonObjectAgg, *pgquery.Node_JsonArrayAgg, *pgquery.Node_JsonArrayQueryConstructor:
		c.refuse(-1, "JSON_OBJECTAGG and JSON_ARRAYAGG are not supported; use json_object_agg or json_agg")
		return nullLit, true
	}
	return nil, false
}
