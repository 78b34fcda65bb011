package exec

import "github.com/lhsql/lhsql/plan"

// A columnSet is a set of columns that somebody reads; nil: all. What a join or sort would copy
// for nobody is left out: such a column leaves as NULLs.
type columnSet map[plan.ColID]bool

// with is the union.
func (s columnSet) with(t columnSet) columnSet {
	if s == nil || t == nil {
		return nil
	}
	u := make(columnSet, len(s)+len(t))
	for c := range s {
		u[c] = true
	}
	for c := range t {
		u[c] = true
	}
	return u
}

// skip tells which of cols are not in the set; nil: all are.
func (s columnSet) skip(cols []plan.Column) []bool {
	if s == nil {
		return nil
	}
	out := make([]bool, len(cols))
	any := false
	for i, c := range cols {
		out[i] = !s[c.ID]
		any = any || out[i]
	}
	if !any {
		return nil
	}
	return out
}

// add notes the columns that e reads.
func (s columnSet) add(e plan.Expr) {
	plan.WalkExpr(e, func(e plan.Expr) bool {
		if c, ok := e.(*plan.Col); ok {
			s[c.ID] = true
		}
		return true
	})
}

// exprColumns is the columns that n's own expressions read.
func exprColumns(n plan.Node) columnSet {
	s := columnSet{}
	plan.NodeExprs(n, s.add)
	return s
}
