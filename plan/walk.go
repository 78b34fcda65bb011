package plan

import "github.com/lhsql/lhsql/internal/invariant"

// Children lists the direct sub-expressions of e. A Subquery's plan is not among them; its
// Test is.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Col, *Const, *Param:
		return nil
	case *Call:
		return e.Args
	case *And:
		return e.Args
	case *Or:
		return e.Args
	case *Not:
		return []Expr{e.X}
	case *IsNull:
		return []Expr{e.X}
	case *Case:
		c := make([]Expr, 0, 2*len(e.Whens)+1)
		for _, w := range e.Whens {
			c = append(c, w.Cond, w.Then)
		}
		if e.Else != nil {
			c = append(c, e.Else)
		}
		return c
	case *Coalesce:
		return e.Args
	case *InList:
		return []Expr{e.X}
	case *Cast:
		return []Expr{e.X}
	case *FieldOf:
		return []Expr{e.X}
	case *Subscript:
		return []Expr{e.X, e.Index}
	case *Slice:
		c := []Expr{e.X}
		if e.Lower != nil {
			c = append(c, e.Lower)
		}
		if e.Upper != nil {
			c = append(c, e.Upper)
		}
		return c
	case *ArrayExpr:
		return e.Elems
	case *RowExpr:
		return e.Elems
	case *Subquery:
		return e.Test
	}
	invariant.Fail("plan.Children of %T", e)
	return nil
}

// WithChildren copies e with other direct sub-expressions, in Children's order.
func WithChildren(e Expr, c []Expr) Expr {
	switch e := e.(type) {
	case *Col, *Const, *Param:
		return e
	case *Call:
		m := *e
		m.Args = c
		return &m
	case *And:
		return &And{Args: c}
	case *Or:
		return &Or{Args: c}
	case *Not:
		return &Not{X: c[0]}
	case *IsNull:
		return &IsNull{X: c[0], Negate: e.Negate}
	case *Case:
		m := &Case{Typ: e.Typ, Whens: make([]When, len(e.Whens))}
		for i := range m.Whens {
			m.Whens[i] = When{Cond: c[2*i], Then: c[2*i+1]}
		}
		if e.Else != nil {
			m.Else = c[len(c)-1]
		}
		return m
	case *Coalesce:
		return &Coalesce{Args: c, Typ: e.Typ}
	case *InList:
		return &InList{X: c[0], List: e.List, Negate: e.Negate}
	case *Cast:
		m := *e
		m.X = c[0]
		return &m
	case *FieldOf:
		m := *e
		m.X = c[0]
		return &m
	case *Subscript:
		return &Subscript{X: c[0], Index: c[1], Typ: e.Typ}
	case *Slice:
		m := &Slice{X: c[0], Depth: e.Depth}
		c = c[1:]
		if e.Lower != nil {
			m.Lower, c = c[0], c[1:]
		}
		if e.Upper != nil {
			m.Upper = c[0]
		}
		return m
	case *ArrayExpr:
		return &ArrayExpr{Elems: c, Typ: e.Typ}
	case *RowExpr:
		return &RowExpr{Elems: c, Typ: e.Typ}
	case *Subquery:
		m := *e
		m.Test = c
		return &m
	}
	invariant.Fail("plan.WithChildren of %T", e)
	return nil
}

// MapExpr rewrites e bottom-up: f sees each node after its children were rewritten. Plans
// inside Subquery are not entered. Shares what does not change.
func MapExpr(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	c := Children(e)
	var d []Expr
	for i, x := range c {
		y := MapExpr(x, f)
		if y != x && d == nil {
			d = append(make([]Expr, 0, len(c)), c[:i]...)
		}
		if d != nil {
			d = append(d, y)
		}
	}
	if d != nil {
		e = WithChildren(e, d)
	}
	return f(e)
}

// WalkExpr calls f on e and below, parents first; f says whether to go deeper.
func WalkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, x := range Children(e) {
		WalkExpr(x, f)
	}
}

// Walk calls f on n and below, parents first, entering the plans of Subquery expressions too.
func Walk(n Node, f func(Node)) {
	f(n)
	NodeExprs(n, func(e Expr) {
		WalkExpr(e, func(x Expr) bool {
			if s, ok := x.(*Subquery); ok {
				Walk(s.Plan, f)
			}
			return true
		})
	})
	for _, in := range n.Inputs() {
		Walk(in, f)
	}
}
