package pg

import (
	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// stmt translates a whole statement that the grammar took.
func (c *conv) stmt(n *pgquery.Node) ast.Stmt {
	switch n := n.GetNode().(type) {
	case *pgquery.Node_SelectStmt:
		if into := takeInto(n.SelectStmt); into != nil {
			return &ast.CreateTable{Name: c.relation(into.Rel), Temp: into.Rel.GetRelpersistence() == "t", As: c.query(n.SelectStmt), Pos: c.from}
		}
		return &ast.QueryStmt{Query: c.query(n.SelectStmt)}
	case *pgquery.Node_InsertStmt:
		return c.insert(n.InsertStmt)
	case *pgquery.Node_UpdateStmt:
		u := n.UpdateStmt
		return &ast.Update{With: c.with(u.WithClause), Table: c.relation(u.Relation), Set: c.setItems(u.TargetList),
			From: c.tables(u.FromClause), Where: c.expr(u.WhereClause), Returning: c.items(u.ReturningList), Pos: c.from}
	case *pgquery.Node_DeleteStmt:
		d := n.DeleteStmt
		return &ast.Delete{With: c.with(d.WithClause), Table: c.relation(d.Relation), Using: c.tables(d.UsingClause),
			Where: c.expr(d.WhereClause), Returning: c.items(d.ReturningList), Pos: c.from}
	case *pgquery.Node_MergeStmt:
		// Only inside WITH: elsewhere parse_merge.go takes it.
		c.refuse(c.from, "MERGE inside WITH is not supported")
	case *pgquery.Node_TruncateStmt:
		t := &ast.Truncate{Pos: c.from}
		for _, r := range n.TruncateStmt.Relations {
			t.Tables = append(t.Tables, c.relation(r.GetRangeVar()))
		}
		return t
	case *pgquery.Node_CopyStmt:
		return c.copy(n.CopyStmt)
	default:
		return c.utility(n)
	}
	return &ast.Empty{}
}

func (c *conv) insert(n *pgquery.InsertStmt) *ast.Insert {
	s := &ast.Insert{With: c.with(n.WithClause), Table: c.relation(n.Relation), Columns: c.insertColumns(n.Cols),
		OnConflict: c.onConflict(n.OnConflictClause), Pos: c.from}
	switch n.Override {
	case pgquery.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		s.Overriding = "system"
	case pgquery.OverridingKind_OVERRIDING_USER_VALUE:
		s.Overriding = "user"
	}
	if n.SelectStmt != nil {
		s.Query = c.queryNode(n.SelectStmt)
	}
	s.Returning = c.items(n.ReturningList)
	return s
}

func (c *conv) onConflict(n *pgquery.OnConflictClause) *ast.OnConflict {
	if n == nil {
		return nil
	}
	o := &ast.OnConflict{Update: n.Action == pgquery.OnConflictAction_ONCONFLICT_UPDATE, Pos: c.pos(n.Location)}
	if in := n.Infer; in != nil {
		o.Constraint = in.Conname
		if in.WhereClause != nil {
			c.refuse(o.Pos, "ON CONFLICT (…) WHERE is not supported: there are no unique indexes of some rows")
		}
		for _, x := range in.IndexElems {
			e := x.GetIndexElem()
			if e.GetName() == "" {
				c.refuse(o.Pos, "ON CONFLICT with an expression is not supported: there are no unique indexes of expressions")
			}
			o.Columns = append(o.Columns, ast.Name{Parts: []string{e.GetName()}, Pos: o.Pos})
		}
	}
	if o.Update && n.Infer == nil {
		c.p.FailAt(o.Pos, sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name")
	}
	o.Set = c.setItems(n.TargetList)
	o.Where = c.expr(n.WhereClause)
	return o
}

func (c *conv) insertColumns(in []*pgquery.Node) []ast.Name {
	var out []ast.Name
	for _, n := range in {
		out = append(out, c.targetName(n.GetResTarget()))
	}
	return out
}

// targetName is a column to write, s.f for a nested field.
func (c *conv) targetName(t *pgquery.ResTarget) ast.Name {
	name := ast.Name{Parts: []string{t.GetName()}, Pos: c.pos(t.GetLocation())}
	for _, ind := range t.GetIndirection() {
		if ind.GetString_() == nil {
			c.refuse(name.Pos, "assigning to an array element is not supported")
			return name
		}
		name.Parts = append(name.Parts, ind.GetString_().GetSval())
	}
	return name
}

// takeInto takes the INTO of a statement out of it, which stands in its first SELECT: SELECT … INTO t
// is CREATE TABLE t AS SELECT ….
func takeInto(s *pgquery.SelectStmt) *pgquery.IntoClause {
	for s.Larg != nil {
		s = s.Larg
	}
	into := s.IntoClause
	s.IntoClause = nil
	return into
}

// setItems translates SET. (a, b) = row comes as one MultiAssignRef per column, which share
// their source; they become one item again.
func (c *conv) setItems(in []*pgquery.Node) []ast.SetItem {
	var out []ast.SetItem
	for i := 0; i < len(in); i++ {
		t := in[i].GetResTarget()
		multi := t.GetVal().GetMultiAssignRef()
		if multi == nil {
			name := c.targetName(t)
			out = append(out, ast.SetItem{Column: name, Value: c.expr(t.GetVal()), Pos: name.Pos})
			continue
		}
		item := ast.SetItem{Pos: c.pos(t.GetLocation())}
		for k := 0; k < int(multi.Ncolumns) && i+k < len(in); k++ {
			item.Columns = append(item.Columns, c.targetName(in[i+k].GetResTarget()))
		}
		item.Value = c.expr(multi.Source)
		if len(item.Columns) == 1 {
			item.Column = item.Columns[0]
		}
		i += max(int(multi.Ncolumns), 1) - 1
		out = append(out, item)
	}
	return out
}

func (c *conv) copy(n *pgquery.CopyStmt) ast.Stmt {
	s := &ast.Copy{Columns: stringList(n.Attlist), From: n.IsFrom, Stdin: n.Filename == "" && !n.IsProgram,
		Options: map[string]string{}, Pos: c.from}
	if n.Relation != nil {
		t := c.relation(n.Relation)
		s.Table = &t
	}
	if n.Query != nil {
		s.Query = c.queryNode(n.Query)
	}
	if n.IsProgram {
		c.p.FailAt(c.from, sqlerr.InsufficientPrivilege, "COPY to or from an external program is not allowed")
	}
	for _, o := range n.Options {
		def := o.GetDefElem()
		if _, twice := s.Options[def.GetDefname()]; twice {
			c.p.FailAt(c.pos(def.GetLocation()), sqlerr.SyntaxError, "conflicting or redundant options")
		}
		s.Options[def.GetDefname()] = c.optionValue(def.GetArg())
	}
	s.Where = c.expr(n.WhereClause)
	return s
}

// optionValue spells an option's value; a list with commas, an absent value as "".
func (c *conv) optionValue(n *pgquery.Node) string {
	switch v := n.GetNode().(type) {
	case *pgquery.Node_String_:
		return v.String_.GetSval()
	case *pgquery.Node_Boolean:
		return map[bool]string{true: "true", false: "false"}[v.Boolean.GetBoolval()]
	case *pgquery.Node_Integer:
		return itoa(int64(v.Integer.GetIval()))
	case *pgquery.Node_Float:
		return v.Float.GetFval()
	case *pgquery.Node_AStar:
		return "*"
	case *pgquery.Node_TypeName:
		return c.typeName(v.TypeName).Name
	case *pgquery.Node_List:
		out := ""
		for i, m := range v.List.Items {
			if i > 0 {
				out += ","
			}
			out += c.optionValue(m)
		}
		return out
	}
	return ""
}
