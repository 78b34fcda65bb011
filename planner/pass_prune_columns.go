package planner

import "github.com/lhsql/lhsql/plan"

// pruneColumns drops every column that nobody reads, down to the scans. A scan's columns that
// only its predicate reads become PredCols: decoded to test rows, and not handed on.
func pruneColumns(env *Env, n plan.Node) (plan.Node, error) {
	return env.needed(n, plan.SetOf(n.Columns())), nil
}

// needed gives n with at least the columns of req among its own.
func (env *Env) needed(n plan.Node, req plan.ColSet) plan.Node {
	env.alive()
	switch n := n.(type) {
	case *plan.Scan:
		return scanColumns(n, req)
	case *plan.Virtual:
		return virtualColumns(n, req)
	case *plan.Values:
		return valuesColumns(n, req)
	case *plan.Project:
		return env.projectColumns(n, req)
	case *plan.Aggregate:
		m := *n
		m.Aggs = nil
		for _, a := range n.Aggs {
			if req.Has(a.Out.ID) {
				m.Aggs = append(m.Aggs, a)
			}
		}
		if !req.Has(n.GroupingSet.ID) {
			m.GroupingSet = plan.Column{}
		}
		m.Input = env.needed(n.Input, ownCols(&m))
		return &m
	case *plan.Window:
		m := *n
		m.Calls = nil
		for _, c := range n.Calls {
			if req.Has(c.Out.ID) {
				m.Calls = append(m.Calls, c)
			}
		}
		if len(m.Calls) == 0 {
			return env.needed(n.Input, req)
		}
		m.Input = env.needed(n.Input, req.Union(ownCols(&m)))
		return &m
	case *plan.ProjectSet:
		return env.projectSetColumns(n, req)
	case *plan.Join:
		all := req.Union(ownCols(n))
		return n.WithInputs(env.needed(n.Left, all), env.needed(n.Right, all))
	case *plan.Apply:
		all := req.Union(ownCols(n))
		all.AddAll(plan.Free(n.Right))
		return n.WithInputs(env.needed(n.Left, all), env.needed(n.Right, all))
	case *plan.Write:
		return n.WithInputs(env.needed(n.Input, ownCols(n)))
	case *plan.Filter, *plan.Sort, *plan.Limit:
		return n.WithInputs(env.needed(n.Inputs()[0], req.Union(ownCols(n))))
	case *plan.Distinct:
		if n.On != nil {
			return n.WithInputs(env.needed(n.Input, req.Union(ownCols(n))))
		}
	case *plan.SetOp:
		if n.Kind == plan.Union && n.All {
			return env.unionColumns(n, req)
		}
	}
	m, _ := env.mapInputs(n, func(x plan.Node) (plan.Node, error) {
		return withColumns(env.needed(x, plan.SetOf(x.Columns())), x.Columns()), nil
	})
	return m
}

// ownCols are the columns that n's own expressions read.
func ownCols(n plan.Node) plan.ColSet {
	s := plan.ColSet{}
	plan.NodeExprs(n, func(e plan.Expr) { s.AddAll(plan.ExprCols(e)) })
	return s
}

func scanColumns(n *plan.Scan, req plan.ColSet) plan.Node {
	m := *n
	m.Cols, m.PredCols = nil, nil
	pred := plan.ExprCols(n.Pred)
	for _, c := range append(append([]plan.ScanColumn(nil), n.Cols...), n.PredCols...) {
		switch {
		case req.Has(c.ID):
			m.Cols = append(m.Cols, c)
		case pred.Has(c.ID):
			m.PredCols = append(m.PredCols, c)
		}
	}
	return &m
}

func virtualColumns(n *plan.Virtual, req plan.ColSet) plan.Node {
	m := *n
	m.Cols, m.Index = nil, nil
	pred := plan.ExprCols(n.Pred)
	for i, c := range n.Cols {
		if req.Has(c.ID) || pred.Has(c.ID) {
			m.Cols, m.Index = append(m.Cols, c), append(m.Index, n.Index[i])
		}
	}
	return &m
}

func valuesColumns(n *plan.Values, req plan.ColSet) plan.Node {
	var keep []int
	for i, c := range n.Cols {
		if req.Has(c.ID) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(n.Cols) {
		return n
	}
	m := &plan.Values{Rows: make([][]plan.Expr, len(n.Rows))}
	for _, i := range keep {
		m.Cols = append(m.Cols, n.Cols[i])
	}
	for r, row := range n.Rows {
		m.Rows[r] = make([]plan.Expr, len(keep))
		for j, i := range keep {
			m.Rows[r][j] = row[i]
		}
	}
	return m
}

func (env *Env) projectColumns(n *plan.Project, req plan.ColSet) plan.Node {
	m := &plan.Project{}
	for _, e := range n.Exprs {
		if req.Has(e.Col.ID) || plan.IsVolatile(e.Expr) {
			m.Exprs = append(m.Exprs, e)
		}
	}
	m.Input = env.needed(n.Input, ownCols(m))
	return m
}

// unionColumns drops the same positions from both sides of UNION ALL, which compares nothing.
func (env *Env) unionColumns(n *plan.SetOp, req plan.ColSet) plan.Node {
	m := *n
	m.Cols = nil
	var l, r []plan.Column
	lc, rc := n.Left.Columns(), n.Right.Columns()
	for i, c := range n.Cols {
		if req.Has(c.ID) {
			m.Cols, l, r = append(m.Cols, c), append(l, lc[i]), append(r, rc[i])
		}
	}
	m.Left = withColumns(env.needed(n.Left, plan.SetOf(l)), l)
	m.Right = withColumns(env.needed(n.Right, plan.SetOf(r)), r)
	return &m
}

// projectSetColumns keeps all sets: each decides how many rows there are.
func (env *Env) projectSetColumns(n *plan.ProjectSet, req plan.ColSet) plan.Node {
	m := *n
	m.Exprs = nil
	for _, e := range n.Exprs {
		if req.Has(e.Col.ID) || isSetCall(e.Expr) || plan.IsVolatile(e.Expr) {
			m.Exprs = append(m.Exprs, e)
		}
	}
	if !req.Has(n.Ordinal.ID) {
		m.Ordinal = plan.Column{}
	}
	m.Input = env.needed(n.Input, ownCols(&m))
	return &m
}
