package scan

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
)

// filter is one conjunct of the predicate, compiled for one source.
type filter struct {
	prog  *eval.Program
	slots []int // the columns that it reads
}

// filterFor compiles a conjunct once per source: a Program belongs to one goroutine.
func (r *source) filterFor(e plan.Expr) (*filter, error) {
	if f, ok := r.compiled[e]; ok {
		return f, nil
	}
	prog, err := eval.Compile(e, r.s.in)
	if err != nil {
		return nil, err
	}
	f := &filter{prog: prog}
	seen := map[plan.ColID]bool{}
	plan.WalkExpr(e, func(x plan.Expr) bool {
		if c, ok := x.(*plan.Col); ok && !seen[c.ID] {
			seen[c.ID] = true
			for i := range r.s.cols {
				if r.s.cols[i].ID == c.ID {
					f.slots = append(f.slots, i)
				}
			}
		}
		return true
	})
	r.compiled[e] = f
	return f, nil
}
