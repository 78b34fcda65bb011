package plan

// Rewrite rebuilds n bottom-up: every expression passes through fe (nil: unchanged), with the
// plans of its subqueries rewritten first, and every node, its inputs done, through fn (nil:
// unchanged). CTEs are copied, so that the result shares no CTE with n and With.WithInputs,
// which writes to CTEs in place, cannot reach a plan that someone else holds.
func Rewrite(n Node, fn func(Node) Node, fe func(Expr) Expr) Node {
	r := &rewriter{fn: fn, fe: fe, ctes: map[*CTE]*CTE{}}
	return r.node(n)
}

type rewriter struct {
	fn   func(Node) Node
	fe   func(Expr) Expr
	ctes map[*CTE]*CTE
}

func (r *rewriter) node(n Node) Node {
	switch m := n.(type) {
	case *With:
		w := &With{CTEs: make([]*CTE, len(m.CTEs))}
		for i, c := range m.CTEs {
			d := *c
			w.CTEs[i], r.ctes[c] = &d, &d
			d.Plan = r.node(c.Plan)
			if c.Step != nil {
				d.Step = r.node(c.Step)
			}
		}
		w.Body = r.node(m.Body)
		n = w
	case *CTERef:
		d := *m
		if c := r.ctes[m.CTE]; c != nil {
			d.CTE = c
		}
		n = &d
	default:
		if in := n.Inputs(); len(in) > 0 {
			out := make([]Node, len(in))
			for i := range in {
				out[i] = r.node(in[i])
			}
			n = n.WithInputs(out...)
		}
		n = MapNodeExprs(n, r.expr)
	}
	if r.fn != nil {
		n = r.fn(n)
	}
	return n
}

func (r *rewriter) expr(e Expr) Expr {
	return MapExpr(e, func(x Expr) Expr {
		if s, ok := x.(*Subquery); ok {
			t := *s
			t.Plan = r.node(s.Plan)
			x = &t
		}
		if r.fe != nil {
			x = r.fe(x)
		}
		return x
	})
}

// Substitute replaces column references in e by the expressions of m, in plans of subqueries
// too (where they are outer references).
func Substitute(e Expr, m map[ColID]Expr) Expr {
	if e == nil || len(m) == 0 {
		return e
	}
	return MapExpr(e, func(x Expr) Expr {
		switch x := x.(type) {
		case *Col:
			if y, ok := m[x.ID]; ok {
				return y
			}
		case *Subquery:
			if Free(x.Plan).Intersects(keys(m)) {
				t := *x
				t.Plan = SubstituteNode(x.Plan, m)
				return &t
			}
		}
		return x
	})
}

// SubstituteNode replaces column references throughout n's subtree.
func SubstituteNode(n Node, m map[ColID]Expr) Node {
	return Rewrite(n, nil, func(e Expr) Expr {
		if c, ok := e.(*Col); ok {
			if y, ok := m[c.ID]; ok {
				return y
			}
		}
		return e
	})
}

func keys(m map[ColID]Expr) ColSet {
	s := make(ColSet, len(m))
	for id := range m {
		s.Add(id)
	}
	return s
}

// Clone copies n's subtree with fresh IDs for every column that it makes, so that both may
// stand in one statement. It returns the copy and what became of n's output columns.
func Clone(n Node, fresh func() ColID) (Node, map[ColID]ColID) {
	ids := map[ColID]ColID{}
	made := ColSet{}
	Walk(n, func(m Node) {
		for id := range Made(m) {
			made.Add(id)
		}
		if w, ok := m.(*With); ok {
			for _, c := range w.CTEs {
				for _, col := range c.Cols {
					made.Add(col.ID)
				}
			}
		}
	})
	id := func(old ColID) ColID {
		if !made.Has(old) {
			return old
		}
		if ids[old] == 0 {
			ids[old] = fresh()
		}
		return ids[old]
	}
	renew := &reshaper{cols: func(c Column, _ bool) Column {
		c.ID = id(c.ID)
		return c
	}}
	copyNode := func(m Node) Node {
		m = m.reshape(renew)
		switch m := m.(type) {
		case *Scan:
			// Residuals name the old columns; a copy prunes anew.
			m.Pruned, m.Tasks, m.Report, m.RuntimeFilters = false, nil, nil, nil
		case *Virtual:
			m.RuntimeFilters = nil
		case *With:
			for _, c := range m.CTEs {
				c.Cols = renew.columns(c.Cols)
			}
		}
		return m
	}
	c := Rewrite(n, copyNode, func(e Expr) Expr {
		if c, ok := e.(*Col); ok {
			if made.Has(c.ID) {
				return &Col{ID: id(c.ID), Name: c.Name, Typ: c.Typ}
			}
		}
		return e
	})
	out := map[ColID]ColID{}
	for _, col := range n.Columns() {
		out[col.ID] = id(col.ID)
	}
	return c, out
}
