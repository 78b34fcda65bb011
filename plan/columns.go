package plan

// This file implements Node for every operator: which columns leave, which inputs enter.

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
func (n *Virtual) Columns() []Column { return n.Cols }
func (n *Values) Columns() []Column  { return n.Cols }
func (n *Filter) Columns() []Column  { return n.Input.Columns() }
func (n *Project) Columns() []Column { return named(n.Exprs) }
func (n *ProjectSet) Columns() []Column {
	cols := named(n.Exprs)
	if n.Ordinal.ID != 0 {
		cols = append(cols, n.Ordinal)
	}
	return cols
}
func (n *FuncScan) Columns() []Column { return n.Cols }
func (n *Join) Columns() []Column     { return joinColumns(n.Kind, n.Left, n.Right, n.Mark) }
func (n *Apply) Columns() []Column    { return joinColumns(n.Kind, n.Left, n.Right, n.Mark) }
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
func (n *Sort) Columns() []Column     { return n.Input.Columns() }
func (n *Limit) Columns() []Column    { return n.Input.Columns() }
func (n *Distinct) Columns() []Column { return n.Input.Columns() }
func (n *SetOp) Columns() []Column    { return n.Cols }
func (n *With) Columns() []Column     { return n.Body.Columns() }
func (n *CTERef) Columns() []Column   { return n.Cols }

func (n *Scan) Inputs() []Node       { return nil }
func (n *Virtual) Inputs() []Node    { return nil }
func (n *Values) Inputs() []Node     { return nil }
func (n *FuncScan) Inputs() []Node   { return nil }
func (n *CTERef) Inputs() []Node     { return nil }
func (n *Filter) Inputs() []Node     { return []Node{n.Input} }
func (n *Project) Inputs() []Node    { return []Node{n.Input} }
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }
func (n *Join) Inputs() []Node       { return []Node{n.Left, n.Right} }
func (n *Apply) Inputs() []Node      { return []Node{n.Left, n.Right} }
func (n *Aggregate) Inputs() []Node  { return []Node{n.Input} }
func (n *Window) Inputs() []Node     { return []Node{n.Input} }
func (n *Sort) Inputs() []Node       { return []Node{n.Input} }
func (n *Limit) Inputs() []Node      { return []Node{n.Input} }
func (n *Distinct) Inputs() []Node   { return []Node{n.Input} }
func (n *SetOp) Inputs() []Node      { return []Node{n.Left, n.Right} }

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

func (n *Scan) WithInputs(...Node) Node     { return n }
func (n *Virtual) WithInputs(...Node) Node  { return n }
func (n *Values) WithInputs(...Node) Node   { return n }
func (n *FuncScan) WithInputs(...Node) Node { return n }
func (n *CTERef) WithInputs(...Node) Node   { return n }
func (n *Filter) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Project) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *ProjectSet) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Join) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}
func (n *Apply) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
}
func (n *Aggregate) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Window) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Sort) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Limit) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *Distinct) WithInputs(in ...Node) Node {
	m := *n
	m.Input = in[0]
	return &m
}
func (n *SetOp) WithInputs(in ...Node) Node {
	m := *n
	m.Left, m.Right = in[0], in[1]
	return &m
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

func (*Scan) node()       {}
func (*Virtual) node()    {}
func (*Values) node()     {}
func (*Filter) node()     {}
func (*Project) node()    {}
func (*ProjectSet) node() {}
func (*FuncScan) node()   {}
func (*Join) node()       {}
func (*Apply) node()      {}
func (*Aggregate) node()  {}
func (*Window) node()     {}
func (*Sort) node()       {}
func (*Limit) node()      {}
func (*Distinct) node()   {}
func (*SetOp) node()      {}
func (*With) node()       {}
func (*CTERef) node()     {}
