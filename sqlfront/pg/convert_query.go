package pg

import (
	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// queryNode translates a query inside a statement; anything but a SELECT is refused.
func (c *conv) queryNode(n *pgquery.Node) *ast.Query {
	if s := n.GetSelectStmt(); s != nil {
		return c.query(s)
	}
	c.refuse(-1, "only a query may stand here, not %s", typeLabel(n.GetNode()))
	return &ast.Query{Body: &ast.Select{}}
}

// query translates a SELECT, VALUES or set operation with what surrounds it.
func (c *conv) query(s *pgquery.SelectStmt) *ast.Query {
	q := &ast.Query{With: c.with(s.WithClause), Pos: -1}
	switch {
	case s.Op > pgquery.SetOperation_SETOP_NONE:
		op := &ast.SetOp{All: s.All, Left: c.query(s.Larg), Right: c.query(s.Rarg), Pos: -1}
		switch s.Op {
		case pgquery.SetOperation_SETOP_INTERSECT:
			op.Op = "intersect"
		case pgquery.SetOperation_SETOP_EXCEPT:
			op.Op = "except"
		default:
			op.Op = "union"
		}
		op.Pos = op.Right.Pos
		q.Pos = op.Left.Pos
		q.Body = op
	case len(s.ValuesLists) > 0:
		v := &ast.Values{Rows: make([][]ast.Expr, len(s.ValuesLists)), Pos: -1}
		for i, row := range s.ValuesLists {
			v.Rows[i] = c.exprs(row.GetList().GetItems())
		}
		if len(v.Rows[0]) > 0 {
			v.Pos = v.Rows[0][0].Position()
		}
		q.Pos = v.Pos
		q.Body = v
	default:
		sel := c.selectBody(s)
		q.Pos = sel.Pos
		q.Body = sel
	}
	if q.With != nil && len(q.With.CTEs) > 0 {
		q.Pos = q.With.CTEs[0].Pos
	}
	q.OrderBy = c.orderBy(s.SortClause)
	q.Offset = c.expr(s.LimitOffset)
	if !s.LimitCount.GetAConst().GetIsnull() { // LIMIT ALL
		q.Limit = c.expr(s.LimitCount)
	}
	q.WithTies = s.LimitOption == pgquery.LimitOption_LIMIT_OPTION_WITH_TIES
	for _, l := range s.LockingClause {
		q.Locking = strongerLock(q.Locking, l.GetLockingClause().GetStrength())
	}
	return q
}

func strongerLock(have string, s pgquery.LockClauseStrength) string {
	order := []string{"", "key share", "share", "no key update", "update"}
	rank := map[pgquery.LockClauseStrength]int{
		pgquery.LockClauseStrength_LCS_FORKEYSHARE: 1, pgquery.LockClauseStrength_LCS_FORSHARE: 2,
		pgquery.LockClauseStrength_LCS_FORNOKEYUPDATE: 3, pgquery.LockClauseStrength_LCS_FORUPDATE: 4}[s]
	for i, o := range order {
		if o == have && i > rank {
			return have
		}
	}
	return order[rank]
}

func (c *conv) selectBody(s *pgquery.SelectStmt) *ast.Select {
	sel := &ast.Select{
		Items:         c.items(s.TargetList),
		Into:          s.IntoClause != nil,
		From:          c.tables(s.FromClause),
		Where:         c.expr(s.WhereClause),
		GroupDistinct: s.GroupDistinct,
		Having:        c.expr(s.HavingClause),
		Pos:           -1,
	}
	if len(sel.Items) > 0 {
		sel.Pos = sel.Items[0].Pos
	}
	for _, d := range s.DistinctClause {
		if d == nil || d.Node == nil { // DISTINCT is a list of one nothing
			sel.Distinct = true
		} else {
			sel.DistinctOn = append(sel.DistinctOn, c.expr(d))
		}
	}
	for _, g := range s.GroupClause {
		sel.GroupBy = append(sel.GroupBy, c.groupItem(g))
	}
	for _, w := range s.WindowClause {
		def := w.GetWindowDef()
		sel.Windows = append(sel.Windows, ast.NamedWindow{Name: def.GetName(), Def: *c.windowDef(def, false)})
	}
	return sel
}

func (c *conv) groupItem(n *pgquery.Node) ast.GroupItem {
	set := n.GetGroupingSet()
	if set == nil {
		e := c.expr(n)
		return ast.GroupItem{Kind: 'e', Exprs: []ast.Expr{e}, Pos: e.Position()}
	}
	item := ast.GroupItem{Pos: c.pos(set.Location)}
	switch set.Kind {
	case pgquery.GroupingSetKind_GROUPING_SET_ROLLUP:
		item.Kind = 'r'
	case pgquery.GroupingSetKind_GROUPING_SET_CUBE:
		item.Kind = 'c'
	case pgquery.GroupingSetKind_GROUPING_SET_SETS:
		item.Kind = 's'
	default:
		item.Kind = '0'
	}
	for _, m := range set.Content {
		item.Sets = append(item.Sets, c.groupItem(m))
	}
	return item
}

// items translates a target list or RETURNING.
func (c *conv) items(in []*pgquery.Node) []ast.Item {
	if len(in) == 0 {
		return nil
	}
	out := make([]ast.Item, len(in))
	for i, n := range in {
		t := n.GetResTarget()
		out[i] = ast.Item{Expr: c.expr(t.GetVal()), Alias: t.GetName(), Pos: c.pos(t.GetLocation())}
	}
	return out
}

func (c *conv) with(w *pgquery.WithClause) *ast.With {
	if w == nil {
		return nil
	}
	out := &ast.With{Recursive: w.Recursive}
	for _, n := range w.Ctes {
		e := n.GetCommonTableExpr()
		cte := ast.CTE{Name: e.Ctename, Columns: stringList(e.Aliascolnames), Pos: c.pos(e.Location)}
		switch e.Ctematerialized {
		case pgquery.CTEMaterialize_CTEMaterializeAlways:
			yes := true
			cte.Materialized = &yes
		case pgquery.CTEMaterialize_CTEMaterializeNever:
			no := false
			cte.Materialized = &no
		}
		if e.SearchClause != nil {
			c.refuse(c.pos(e.SearchClause.Location), "SEARCH in a recursive query is not supported")
		}
		if e.CycleClause != nil {
			c.refuse(c.pos(e.CycleClause.Location), "CYCLE in a recursive query is not supported")
		}
		if s := e.Ctequery.GetSelectStmt(); s != nil {
			cte.Query = c.query(s)
		} else {
			cte.Stmt = c.stmt(e.Ctequery)
		}
		out.CTEs = append(out.CTEs, cte)
	}
	return out
}
