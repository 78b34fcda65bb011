package plan

// ColSet is a set of columns.
type ColSet map[ColID]struct{}

// SetOf is the set of the columns' IDs.
func SetOf(cols []Column) ColSet {
	s := make(ColSet, len(cols))
	for _, c := range cols {
		s[c.ID] = struct{}{}
	}
	return s
}

// Has tells whether id is in s.
func (s ColSet) Has(id ColID) bool { _, ok := s[id]; return ok }

// Add puts id into s.
func (s ColSet) Add(id ColID) { s[id] = struct{}{} }

// AddAll puts t's members into s.
func (s ColSet) AddAll(t ColSet) {
	for id := range t {
		s[id] = struct{}{}
	}
}

// Union makes a new set of the members of both.
func (s ColSet) Union(t ColSet) ColSet {
	u := make(ColSet, len(s)+len(t))
	u.AddAll(s)
	u.AddAll(t)
	return u
}

// Contains tells whether every member of t is in s.
func (s ColSet) Contains(t ColSet) bool {
	for id := range t {
		if !s.Has(id) {
			return false
		}
	}
	return true
}

// Intersects tells whether s and t share a member.
func (s ColSet) Intersects(t ColSet) bool {
	for id := range t {
		if s.Has(id) {
			return true
		}
	}
	return false
}

// ExprCols is the set of columns that e reads, the free columns of plans inside its
// subqueries included.
func ExprCols(exprs ...Expr) ColSet {
	s := ColSet{}
	for _, e := range exprs {
		addExprCols(s, e)
	}
	return s
}

func addExprCols(s ColSet, e Expr) {
	if e == nil {
		return
	}
	WalkExpr(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Col:
			s.Add(x.ID)
		case *Subquery:
			s.AddAll(Free(x.Plan))
		}
		return true
	})
}

// Free is the set of columns that n's subtree reads and does not make: its references to
// enclosing queries.
func Free(n Node) ColSet {
	used, made := ColSet{}, ColSet{}
	collect(n, used, made)
	for id := range made {
		delete(used, id)
	}
	return used
}

// collect relies on column IDs being unique within the statement: what any node of the
// subtree makes cannot be an outer reference.
func collect(n Node, used, made ColSet) {
	NodeExprs(n, func(e Expr) { addExprCols(used, e) })
	for id := range Made(n) {
		made.Add(id)
	}
	for _, in := range n.Inputs() {
		collect(in, used, made)
	}
}

// Passes tells whether e hands an input column on under its own ID.
func Passes(e Named) bool {
	c, ok := e.Expr.(*Col)
	return ok && c.ID == e.Col.ID
}

// MaxColID is the greatest ID that n's subtree mentions, plans of subqueries included.
func MaxColID(n Node) ColID {
	var max ColID
	see := func(id ColID) {
		if id > max {
			max = id
		}
	}
	Walk(n, func(m Node) {
		for id := range Made(m) {
			see(id)
		}
		for _, c := range m.Columns() {
			see(c.ID)
		}
		NodeExprs(m, func(e Expr) {
			WalkExpr(e, func(x Expr) bool {
				if c, ok := x.(*Col); ok {
					see(c.ID)
				}
				return true
			})
		})
		if w, ok := m.(*With); ok {
			for _, c := range w.CTEs {
				for _, col := range c.Cols {
					see(col.ID)
				}
			}
		}
	})
	return max
}

// IsVolatile tells whether evaluating e twice may differ, so that it must be neither copied,
// moved past other rows' filters, nor dropped into another number of evaluations.
func IsVolatile(e Expr) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Call:
			found = found || x.Func.Volatility == Volatile
		case *Subquery:
			found = found || NodeVolatile(x.Plan)
		}
		return !found
	})
	return found
}

// NodeVolatile tells whether any expression of n's subtree is volatile.
func NodeVolatile(n Node) bool {
	found := false
	Walk(n, func(m Node) {
		NodeExprs(m, func(e Expr) {
			WalkExpr(e, func(x Expr) bool {
				if c, ok := x.(*Call); ok && c.Func.Volatility == Volatile {
					found = true
				}
				return !found
			})
		})
	})
	return found
}

// HasSubquery tells whether e embeds a query.
func HasSubquery(e Expr) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		if _, ok := x.(*Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}
