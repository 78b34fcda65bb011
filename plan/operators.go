package plan

// This file implements Node for every operator that gives rows: which columns leave, which inputs enter, and,
// by reshape, which expressions and new columns it has. What walks plans needs to know no more of an operator.

// named are the columns of expressions.
func named(n []Named) []Column {
	c := make([]Column, len(n))
	for i := range n {
		c[i] = n[i].Col
	}
	return c
}

func concat(a, b []Column) []Column {
	return append(append(make([]Column, 0, len(a)+len(b)), a...), b...)
}

func nullable(c []Column) []Column {
	d := append([]Column(nil), c...)
	for i := range d {
		d[i].NotNull = false
	}
	return d
}

func joinColumns(kind JoinKind, l, r Node, mark Column) []Column {
	switch kind {
	case SemiJoin, AntiJoin:
		return l.Columns()
	case MarkJoin:
		return concat(l.Columns(), []Column{mark})
	case LeftJoin, SingleJoin:
		return concat(l.Columns(), nullable(r.Columns()))
	case RightJoin:
		return concat(nullable(l.Columns()), r.Columns())
	case FullJoin:
		return concat(nullable(l.Columns()), nullable(r.Columns()))
	}
	return concat(l.Columns(), r.Columns())
}

func (n *Scan) Columns() []Column {
	c := make([]Column, len(n.Cols))
	for i := range n.Cols {
		c[i] = n.Cols[i].Column
	}
	return c
}
func (n *Scan) Inputs() []Node          { return nil }
func (n *Scan) WithInputs(...Node) Node { return n }
func (n *Scan) reshape(r *reshaper) Node {
	m := *n
	m.Pred, m.Cols, m.PredCols = r.expr(n.Pred), r.scanColumns(n.Cols), r.scanColumns(n.PredCols)
	return &m
}

func (n *Virtual) Columns() []Column       { return n.Cols }
func (n *Virtual) Inputs() []Node          { return nil }
func (n *Virtual) WithInputs(...Node) Node { return n }
func (n *Virtual) reshape(r *reshaper) Node {
	m := *n
	m.Pred, m.Cols = r.expr(n.Pred), r.columns(n.Cols)
	return &m
}

func (n *Values) Columns() []Column       { return n.Cols }
func (n *Values) Inputs() []Node          { return nil }
func (n *Values) WithInputs(...Node) Node { return n }
func (n *Values) reshape(r *reshaper) Node {
	m := *n
	m.Cols = r.columns(n.Cols)
	if r.exprs == nil {
		return &m
	}
	m.Rows = make([][]Expr, len(n.Rows))
	for i, row := range n.Rows {
		m.Rows[i] = r.list(row)
	}
	return &m
}

func (n *FuncScan) Columns() []Column       { return n.Cols }
func (n *FuncScan) Inputs() []Node          { return nil }
func (n *FuncScan) WithInputs(...Node) Node { return n }
func (n *FuncScan) reshape(r *reshaper) Node {
	m := *n
	m.Cols = r.columns(n.Cols)
	m.Calls = make([]*Call, len(n.Calls))
	for i, c := range n.Calls {
		d := *c
		d.Args = r.list(c.Args)
		m.Calls[i] = &d
	}
	return &m
}

func (n *Filter) Columns() []Column { return n.Input.Columns() }
func (n *Filter) Inputs() []Node    { return []Node{n.Input} }
func (n *Filter) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Filter) reshape(r *reshaper) Node { return &Filter{Input: n.Input, Pred: r.expr(n.Pred)} }

func (n *Project) Columns() []Column { return named(n.Exprs) }
func (n *Project) Inputs() []Node    { return []Node{n.Input} }
func (n *Project) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Project) reshape(r *reshaper) Node {
	return &Project{Input: n.Input, Exprs: r.named(n.Exprs)}
}

func (n *ProjectSet) Columns() []Column {
	cols := named(n.Exprs)
	if n.Ordinal.ID != 0 {
		cols = append(cols, n.Ordinal)
	}
	return cols
}
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }
func (n *ProjectSet) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *ProjectSet) reshape(r *reshaper) Node {
	m := *n
	m.Exprs, m.Ordinal = r.named(n.Exprs), r.column(n.Ordinal)
	return &m
}

func (n *Join) Columns() []Column { return joinColumns(n.Kind, n.Left, n.Right, n.Mark) }
func (n *Join) Inputs() []Node    { return []Node{n.Left, n.Right} }
func (n *Join) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}
func (n *Join) reshape(r *reshaper) Node {
	m := *n
	m.On, m.Rest, m.Guard = r.expr(n.On), r.expr(n.Rest), r.expr(n.Guard)
	m.LeftKeys, m.RightKeys = r.list(n.LeftKeys), r.list(n.RightKeys)
	if n.Kind == MarkJoin {
		m.Mark = r.column(n.Mark)
	}
	return &m
}

func (n *Apply) Columns() []Column { return joinColumns(n.Kind, n.Left, n.Right, n.Mark) }
func (n *Apply) Inputs() []Node    { return []Node{n.Left, n.Right} }
func (n *Apply) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}
func (n *Apply) reshape(r *reshaper) Node {
	m := *n
	m.On, m.Guard = r.expr(n.On), r.expr(n.Guard)
	if n.Kind == MarkJoin {
		m.Mark = r.column(n.Mark)
	}
	return &m
}

func (n *Aggregate) Columns() []Column {
	c := named(n.Groups)
	if n.Sets != nil {
		c = nullable(c)
	}
	for i := range n.Aggs {
		c = append(c, n.Aggs[i].Out)
	}
	if n.GroupingSet.ID != 0 {
		c = append(c, n.GroupingSet)
	}
	return c
}
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }
func (n *Aggregate) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Aggregate) reshape(r *reshaper) Node {
	m := *n
	m.Groups = r.named(n.Groups)
	m.Aggs = append([]Agg(nil), n.Aggs...)
	for i := range m.Aggs {
		a := &m.Aggs[i]
		a.Args, a.Filter, a.OrderBy, a.Out = r.list(a.Args), r.expr(a.Filter), r.keys(a.OrderBy), r.column(a.Out)
	}
	m.GroupingSet = r.column(n.GroupingSet)
	return &m
}

// Columns collects those of a chain of windows at once: of a thousand different ones, each asking the
// next for its own, the plan would not be done.
func (n *Window) Columns() []Column {
	chain := []*Window{n}
	more := len(n.Calls)
	in := n.Input
	for {
		w, ok := in.(*Window)
		if !ok {
			break
		}
		chain, more, in = append(chain, w), more+len(w.Calls), w.Input
	}
	base := in.Columns()
	c := append(make([]Column, 0, len(base)+more), base...)
	for i := len(chain) - 1; i >= 0; i-- {
		for k := range chain[i].Calls {
			c = append(c, chain[i].Calls[k].Out)
		}
	}
	return c
}
func (n *Window) Inputs() []Node { return []Node{n.Input} }
func (n *Window) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Window) reshape(r *reshaper) Node {
	m := *n
	m.Partition, m.Order = r.list(n.Partition), r.keys(n.Order)
	m.Calls = append([]WindowCall(nil), n.Calls...)
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Args, c.Filter, c.Out = r.list(c.Args), r.expr(c.Filter), r.column(c.Out)
		c.Frame.Start.Offset, c.Frame.End.Offset = r.expr(c.Frame.Start.Offset), r.expr(c.Frame.End.Offset)
	}
	return &m
}

func (n *Sample) Columns() []Column { return n.Input.Columns() }
func (n *Sample) Inputs() []Node    { return []Node{n.Input} }
func (n *Sample) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Sample) reshape(r *reshaper) Node {
	m := *n
	m.Percent, m.Seed = r.expr(n.Percent), r.expr(n.Seed)
	return &m
}

func (n *Sort) Columns() []Column { return n.Input.Columns() }
func (n *Sort) Inputs() []Node    { return []Node{n.Input} }
func (n *Sort) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Sort) reshape(r *reshaper) Node {
	m := *n
	m.Keys = r.keys(n.Keys)
	return &m
}

func (n *Limit) Columns() []Column { return n.Input.Columns() }
func (n *Limit) Inputs() []Node    { return []Node{n.Input} }
func (n *Limit) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Limit) reshape(r *reshaper) Node {
	m := *n
	m.Count, m.Offset, m.Keys = r.expr(n.Count), r.expr(n.Offset), r.keys(n.Keys)
	return &m
}

func (n *Distinct) Columns() []Column { return n.Input.Columns() }
func (n *Distinct) Inputs() []Node    { return []Node{n.Input} }
func (n *Distinct) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Distinct) reshape(r *reshaper) Node {
	m := *n
	m.On = r.list(n.On)
	return &m
}

func (n *SetOp) Columns() []Column { return n.Cols }
func (n *SetOp) Inputs() []Node    { return []Node{n.Left, n.Right} }
func (n *SetOp) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}
func (n *SetOp) reshape(r *reshaper) Node {
	m := *n
	m.Cols = r.columns(n.Cols)
	return &m
}

func (n *With) Columns() []Column { return n.Body.Columns() }

// Inputs of With are each CTE's Plan and Step (where present) in order, then Body.
func (n *With) Inputs() []Node {
	var in []Node
	for _, c := range n.CTEs {
		in = append(in, c.Plan)
		if c.Step != nil {
			in = append(in, c.Step)
		}
	}
	return append(in, n.Body)
}

// WithInputs of With updates the CTEs in place, because CTERef nodes point to them: a With and
// its CTEs belong to one plan.
func (n *With) WithInputs(in ...Node) Node {
	m := *n
	for _, c := range m.CTEs {
		c.Plan, in = in[0], in[1:]
		if c.Step != nil {
			c.Step, in = in[0], in[1:]
		}
	}
	m.Body = in[0]
	return &m
}
func (n *With) reshape(*reshaper) Node { return n }

func (n *CTERef) Columns() []Column       { return n.Cols }
func (n *CTERef) Inputs() []Node          { return nil }
func (n *CTERef) WithInputs(...Node) Node { return n }
func (n *CTERef) reshape(r *reshaper) Node {
	m := *n
	m.Cols = r.columns(n.Cols)
	return &m
}
