package plan

// reshaper copies a node with its own expressions and the columns that come into being at it passed through
// functions: the one list of them that an operator gives. nil functions leave things as they are.
type reshaper struct {
	exprs func(Expr) Expr
	// cols sees every column that the node names as its own; passed: it is an input's, under its own ID.
	cols func(c Column, passed bool) Column
	// look: columns are only looked at, so that lists need no copy.
	look bool
}

func (r *reshaper) expr(e Expr) Expr {
	if e == nil || r.exprs == nil {
		return e
	}
	return r.exprs(e)
}

func (r *reshaper) list(in []Expr) []Expr {
	if in == nil || r.exprs == nil {
		return in
	}
	out := make([]Expr, len(in))
	for i, e := range in {
		out[i] = r.expr(e)
	}
	return out
}

func (r *reshaper) keys(in []SortKey) []SortKey {
	if in == nil || r.exprs == nil {
		return in
	}
	out := append([]SortKey(nil), in...)
	for i := range out {
		out[i].Expr = r.expr(out[i].Expr)
	}
	return out
}

func (r *reshaper) named(in []Named) []Named {
	if in == nil {
		return nil
	}
	if r.look {
		for i := range in {
			r.cols(in[i].Col, Passes(in[i]))
		}
		return in
	}
	out := make([]Named, len(in))
	for i, e := range in {
		c := e.Col
		if r.cols != nil {
			c = r.cols(c, Passes(e))
		}
		out[i] = Named{c, r.expr(e.Expr)}
	}
	return out
}

// column is for one that may be missing, with ID 0.
func (r *reshaper) column(c Column) Column {
	if c.ID == 0 || r.cols == nil {
		return c
	}
	return r.cols(c, false)
}

func (r *reshaper) columns(in []Column) []Column {
	if r.cols == nil {
		return in
	}
	if r.look {
		for i := range in {
			r.cols(in[i], false)
		}
		return in
	}
	out := append([]Column(nil), in...)
	for i := range out {
		out[i] = r.cols(out[i], false)
	}
	return out
}

func (r *reshaper) scanColumns(in []ScanColumn) []ScanColumn {
	if r.cols == nil {
		return in
	}
	if r.look {
		for i := range in {
			r.cols(in[i].Column, false)
		}
		return in
	}
	out := append([]ScanColumn(nil), in...)
	for i := range out {
		out[i].Column = r.cols(out[i].Column, false)
	}
	return out
}

// MapNodeExprs copies n with every expression of its own (not of its inputs) passed through f.
// Nil expressions stay nil.
func MapNodeExprs(n Node, f func(Expr) Expr) Node { return n.reshape(&reshaper{exprs: f}) }

// NodeExprs calls f on every expression of n's own.
func NodeExprs(n Node, f func(Expr)) {
	MapNodeExprs(n, func(e Expr) Expr { f(e); return e })
}

// Made is the set of columns that come into being at n itself.
func Made(n Node) ColSet {
	s := ColSet{}
	n.reshape(&reshaper{look: true, cols: func(c Column, passed bool) Column {
		if !passed {
			s.Add(c.ID)
		}
		return c
	}})
	return s
}
