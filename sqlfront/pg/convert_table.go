package pg

import (
	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

func (c *conv) tables(in []*pgquery.Node) []ast.TableExpr {
	if len(in) == 0 {
		return nil
	}
	out := make([]ast.TableExpr, len(in))
	for i, n := range in {
		out[i] = c.table(n)
	}
	return out
}

// table translates an item of FROM.
func (c *conv) table(n *pgquery.Node) ast.TableExpr {
	switch n := n.GetNode().(type) {
	case *pgquery.Node_RangeVar:
		t := c.relation(n.RangeVar)
		return &t
	case *pgquery.Node_RangeSubselect:
		s := n.RangeSubselect
		t := &ast.SubqueryTable{Lateral: s.Lateral, Alias: c.alias(s.Alias)}
		t.Query = c.queryNode(s.Subquery)
		t.Pos = t.Query.Pos
		c.p.takeSubqueryAsOf(t)
		return t
	case *pgquery.Node_RangeFunction:
		return c.rangeFunction(n.RangeFunction)
	case *pgquery.Node_JoinExpr:
		return c.join(n.JoinExpr)
	case *pgquery.Node_RangeTableSample:
		return c.sample(n.RangeTableSample)
	case *pgquery.Node_RangeTableFunc:
		c.refuse(c.pos(n.RangeTableFunc.Location), "XMLTABLE is not supported")
	case *pgquery.Node_JsonTable:
		c.refuse(c.pos(n.JsonTable.Location), "JSON_TABLE is not supported; use jsonb_array_elements or jsonb_to_recordset")
	default:
		c.refuse(-1, "this kind of table is not supported (%s)", typeLabel(n))
	}
	return &ast.TableName{}
}

// relation translates a table's name, with the time-travel clause that stood behind it.
func (c *conv) relation(n *pgquery.RangeVar) ast.TableName {
	var t ast.TableName
	if n == nil {
		return t
	}
	t.Pos = c.pos(n.Location)
	for _, part := range []string{n.Catalogname, n.Schemaname, n.Relname} {
		if part != "" {
			t.Parts = append(t.Parts, part)
		}
	}
	if long, ok := c.p.longNames[t.Pos]; ok {
		t.Parts = long
	}
	t.Alias = c.alias(n.Alias)
	if a, ok := c.p.asOf[t.Pos]; ok {
		t.AsOf = a
		delete(c.p.asOf, t.Pos)
	}
	return t
}

func (c *conv) alias(n *pgquery.Alias) ast.Alias {
	if n == nil {
		return ast.Alias{}
	}
	return ast.Alias{Name: n.Aliasname, Columns: stringList(n.Colnames)}
}

func (c *conv) rangeFunction(n *pgquery.RangeFunction) ast.TableExpr {
	t := &ast.FuncTable{Ordinality: n.Ordinality, Lateral: n.Lateral, Alias: c.alias(n.Alias), Pos: -1}
	defs := func(in []*pgquery.Node) (out []ast.ColDef) {
		for _, d := range in {
			def := d.GetColumnDef()
			out = append(out, ast.ColDef{Name: def.GetColname(), Type: c.typeName(def.GetTypeName())})
		}
		return out
	}
	for _, f := range n.Functions {
		pair := f.GetList().GetItems()
		if len(pair) == 0 {
			continue
		}
		switch e := c.expr(pair[0]).(type) {
		case *ast.Call:
			t.Calls = append(t.Calls, e)
		case *ast.Coalesce, *ast.MinMax, *ast.NullIf, *ast.Cast:
			c.refuse(e.Position(), "this expression is not supported in FROM")
		case nil:
		default:
			c.refuse(e.Position(), "this expression is not supported in FROM")
		}
		if d := pair[len(pair)-1].GetList().GetItems(); len(pair) > 1 && len(d) > 0 && len(t.Calls) > 0 {
			if t.CallDefs == nil {
				t.CallDefs = map[*ast.Call][]ast.ColDef{}
			}
			t.CallDefs[t.Calls[len(t.Calls)-1]] = defs(d)
		}
	}
	t.Alias.ColDefs = defs(n.Coldeflist)
	if len(t.Calls) > 0 {
		t.Pos = t.Calls[0].Pos
		if a, ok := c.p.asOf[t.Pos]; ok {
			t.AsOf = a
			delete(c.p.asOf, t.Pos)
		}
	}
	return t
}

func (c *conv) join(n *pgquery.JoinExpr) ast.TableExpr {
	j := &ast.JoinTable{Natural: n.IsNatural, Left: c.table(n.Larg), Right: c.table(n.Rarg),
		On: c.expr(n.Quals), Using: stringList(n.UsingClause), Alias: c.alias(n.Alias)}
	j.UsingAlias = n.JoinUsingAlias.GetAliasname()
	switch n.Jointype {
	case pgquery.JoinType_JOIN_LEFT:
		j.Kind = "left"
	case pgquery.JoinType_JOIN_RIGHT:
		j.Kind = "right"
	case pgquery.JoinType_JOIN_FULL:
		j.Kind = "full"
	default:
		j.Kind = "inner"
		if j.On == nil && j.Using == nil && !j.Natural {
			j.Kind = "cross"
		}
	}
	j.Pos = tablePos(j.Right)
	return j
}

func tablePos(t ast.TableExpr) int {
	switch t := t.(type) {
	case *ast.TableName:
		return t.Pos
	case *ast.SubqueryTable:
		return t.Pos
	case *ast.FuncTable:
		return t.Pos
	case *ast.JoinTable:
		return tablePos(t.Left)
	}
	return -1
}

func (c *conv) sample(n *pgquery.RangeTableSample) ast.TableExpr {
	t, ok := c.table(n.Relation).(*ast.TableName)
	if !ok {
		c.refuse(c.pos(n.Location), "TABLESAMPLE clause can only be applied to tables")
		return &ast.TableName{}
	}
	method := stringList(n.Method)
	t.Sample = &ast.Sample{Args: c.exprs(n.Args), Repeatable: c.expr(n.Repeatable)}
	if len(method) > 0 {
		t.Sample.Method = method[len(method)-1]
	}
	return t
}
