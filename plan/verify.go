package plan

import (
	"fmt"

	"github.com/lhsql/lhsql/types"
)

// Verify checks the bindings of a plan: every column that an expression reads is made by the
// node's inputs or, in the right side of an Apply or the plan of a Subquery, by the enclosing
// query; no column is made twice; predicates are boolean. It returns what is wrong, nil if
// nothing is.
func Verify(n Node) error {
	v := &verifier{seen: map[ColID]string{}, ctes: map[*CTE]bool{}}
	return v.node(n, ColSet{})
}

type verifier struct {
	seen map[ColID]string
	ctes map[*CTE]bool
}

func (v *verifier) node(n Node, outer ColSet) error {
	for id := range Made(n) {
		if id == 0 {
			return fmt.Errorf("%T makes a column without an ID", n)
		}
		if by, ok := v.seen[id]; ok {
			return fmt.Errorf("column %d is made by %s and again by %T", id, by, n)
		}
		v.seen[id] = fmt.Sprintf("%T", n)
	}
	switch n := n.(type) {
	case *With:
		for _, c := range n.CTEs {
			if err := v.node(c.Plan, outer); err != nil {
				return err
			}
			if a, b := len(c.Plan.Columns()), len(c.Cols); a != b {
				return fmt.Errorf("CTE %s declares %d columns and its plan makes %d", c.Name, b, a)
			}
			v.ctes[c] = true
			if c.Step != nil {
				if err := v.node(c.Step, outer); err != nil {
					return err
				}
				if a, b := len(c.Step.Columns()), len(c.Cols); a != b {
					return fmt.Errorf("CTE %s declares %d columns and its step makes %d", c.Name, b, a)
				}
				for i, s := range c.Step.Columns() {
					if !types.Alike(s.Type, c.Cols[i].Type) {
						return fmt.Errorf("CTE %s declares %s and its step makes %s", c.Name, c.Cols[i].Type, s.Type)
					}
				}
			}
		}
		return v.node(n.Body, outer)
	case *Apply:
		if err := v.node(n.Left, outer); err != nil {
			return err
		}
		if err := v.node(n.Right, outer.Union(SetOf(n.Left.Columns()))); err != nil {
			return err
		}
	default:
		for _, in := range n.Inputs() {
			if err := v.node(in, outer); err != nil {
				return err
			}
		}
	}
	switch n.(type) {
	case *Insert, *Update, *Delete, *Merge:
		return nil // dml lowers them, and checks what it makes
	}
	return v.own(n, outer)
}

// own checks the expressions of n itself.
func (v *verifier) own(n Node, outer ColSet) error {
	have := ColSet{}
	have.AddAll(outer)
	for _, in := range n.Inputs() {
		have.AddAll(SetOf(in.Columns()))
	}
	switch n := n.(type) {
	case *Scan:
		have.AddAll(Made(n))
		for i, t := range n.Tasks {
			if err := v.expr(t.Residual, have); err != nil {
				return fmt.Errorf("residual of task %d: %w", i, err)
			}
		}
		for _, f := range n.RuntimeFilters {
			if err := v.expr(f.Expr, have); err != nil {
				return fmt.Errorf("runtime filter: %w", err)
			}
		}
	case *Virtual:
		have.AddAll(Made(n))
		for _, f := range n.RuntimeFilters {
			if err := v.expr(f.Expr, have); err != nil {
				return fmt.Errorf("runtime filter: %w", err)
			}
		}
	case *SetOp:
		l, r := n.Left.Columns(), n.Right.Columns()
		if len(l) != len(n.Cols) || len(r) != len(n.Cols) {
			return fmt.Errorf("set operation of %d and %d columns makes %d", len(l), len(r), len(n.Cols))
		}
		for i, c := range n.Cols {
			if !types.Alike(l[i].Type, c.Type) || !types.Alike(r[i].Type, c.Type) {
				return fmt.Errorf("set operation makes %s of %s and %s", c.Type, l[i].Type, r[i].Type)
			}
		}
	case *CTERef:
		if !v.ctes[n.CTE] {
			return fmt.Errorf("reference to CTE %s out of its scope", n.CTE.Name)
		}
		if len(n.Cols) != len(n.CTE.Cols) {
			return fmt.Errorf("reference to CTE %s has %d columns of %d", n.CTE.Name, len(n.Cols), len(n.CTE.Cols))
		}
	case *Values:
		for _, r := range n.Rows {
			if len(r) != len(n.Cols) {
				return fmt.Errorf("a row of %d values for %d columns", len(r), len(n.Cols))
			}
			for i, e := range r {
				if !types.Alike(e.Type(), n.Cols[i].Type) {
					return fmt.Errorf("a value of type %s in a column of type %s", e.Type(), n.Cols[i].Type)
				}
			}
		}
	case *Join:
		if len(n.LeftKeys) != len(n.RightKeys) || len(n.NullSafe) != 0 && len(n.NullSafe) != len(n.LeftKeys) {
			return fmt.Errorf("join keys of different number")
		}
		l, r := SetOf(n.Left.Columns()).Union(outer), SetOf(n.Right.Columns()).Union(outer)
		for i := range n.LeftKeys {
			if err := v.expr(n.LeftKeys[i], l); err != nil {
				return fmt.Errorf("left key: %w", err)
			}
			if err := v.expr(n.RightKeys[i], r); err != nil {
				return fmt.Errorf("right key: %w", err)
			}
		}
	}
	var err error
	NodeExprs(n, func(e Expr) {
		if err == nil {
			err = v.expr(e, have)
		}
	})
	if err != nil {
		return fmt.Errorf("%T: %w", n, err)
	}
	for _, p := range predicates(n) {
		if p != nil && p.Type().Kind != types.Bool {
			return fmt.Errorf("%T: predicate of type %s", n, p.Type())
		}
	}
	return nil
}

func predicates(n Node) []Expr {
	switch n := n.(type) {
	case *Scan:
		return []Expr{n.Pred}
	case *Filter:
		return []Expr{n.Pred}
	case *Join:
		return []Expr{n.On, n.Rest, n.Guard}
	case *Apply:
		return []Expr{n.On, n.Guard}
	}
	return nil
}

func (v *verifier) expr(e Expr, have ColSet) error {
	var err error
	WalkExpr(e, func(x Expr) bool {
		if err != nil {
			return false
		}
		switch x := x.(type) {
		case *Col:
			if !have.Has(x.ID) {
				err = fmt.Errorf("column %q (%d) is read and no input makes it", x.Name, x.ID)
			}
		case *Subquery:
			err = v.node(x.Plan, have)
		}
		return err == nil
	})
	return err
}
