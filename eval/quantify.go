package eval

import (
	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// quantified remembers the functions that Quantify made, so that equal calls are equal.
var quantified = cache.Shared[quantifiedKey, *plan.Function]("quantified comparisons", 1<<20)

type quantifiedKey struct {
	op  *plan.Function
	all bool
	arr string
}

// quantifiedImpl ties a quantified comparison to its operator, for Quantified.
type quantifiedImpl struct {
	op  *plan.Function
	all bool
}

// Quantify makes the function of (x, array) that is `x op ANY (array)`, or ALL. op gives a
// boolean; array is an array, int2vector or oidvector type whose innermost elements are op's
// right operand.
func Quantify(op *plan.Function, all bool, array types.Type) *plan.Function {
	key := quantifiedKey{op, all, array.String()}
	if f, ok := quantified.Find(key); ok && f.Args[1].Equal(array) {
		return f
	}
	invariant.Check(op.Ret.Kind == types.Bool && len(op.Args) == 2, "Quantify of %s", op.Name)
	name := op.Name + " ANY"
	if all {
		name = op.Name + " ALL"
	}
	d := &Func{Name: name, Operator: true, Args: []types.Type{op.Args[0], array}, Ret: types.T(types.Bool),
		NonStrict: true, Volatility: op.Volatility, Kernel: quantifyKernel(op, all), quantified: &quantifiedImpl{op, all}}
	f := &plan.Function{Name: name, Operator: true, Args: d.Args, Ret: d.Ret, Volatility: op.Volatility, Impl: d}
	quantified.Put(key, f, 512)
	return f
}

// Quantified tells whether f is a quantified comparison, and of what.
func Quantified(f *plan.Function) (op *plan.Function, all, ok bool) {
	d, ok := f.Impl.(*Func)
	if !ok || d.quantified == nil {
		return nil, false, false
	}
	return d.quantified.op, d.quantified.all, true
}

// quantifyKernel compares each row's x with all elements of its array at once: it lays the pairs
// out as two long vectors, at most vec.MaxBatchRows at a time, and folds the operator's answers
// by row.
func quantifyKernel(op *plan.Function, all bool) Kernel {
	kernel := funcOf(op).Kernel
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		res := OutBools(out, n)
		q := &quantifyRun{c: c, op: op, kernel: kernel, all: all, out: out, res: res, n: n,
			left: vec.NewAppender(args[0].Type)}
		return EachRow(sel, n, func(i int) error {
			res[i] = all
			if args[1].Null(i) {
				NullOut(out, i, n)
				return nil
			}
			q.row = i
			if err := q.elements(args[0], args[1].Values(), args[1].Row(i)); err != nil {
				return err
			}
			return q.flush()
		})
	}
}

type quantifyRun struct {
	c           *Ctx
	op          *plan.Function
	kernel      Kernel
	all         bool
	out         *vec.Vector
	res         []bool
	n, row      int
	left, right *vec.Appender
	unknown     bool // a comparison of this row was NULL
	decided     bool
}

// elements adds the pairs of the list in row r of v, into nested arrays.
func (q *quantifyRun) elements(x, v *vec.Vector, r int) error {
	for e := int(v.Offsets[r]); e < int(v.Offsets[r+1]) && !q.decided; e++ {
		child := v.Child
		if child.Type.Kind == types.Array {
			if child.Null(e) {
				q.unknown = true
				continue
			}
			if err := q.elements(x, child.Values(), child.Row(e)); err != nil {
				return err
			}
			continue
		}
		if q.right == nil {
			q.right = vec.NewAppender(child.Type)
		}
		q.left.Append(x, q.row)
		q.right.Append(child, e)
		if q.left.Len() == vec.BatchRows {
			if err := q.compare(); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare runs the operator over the pairs gathered and folds them into the row's answer.
func (q *quantifyRun) compare() error {
	n := q.left.Len()
	if n == 0 {
		return nil
	}
	l, r := q.left.Vector(), q.right.Vector()
	var sel []uint16
	if q.op.Strict {
		sel = make([]uint16, 0, n)
		for i := 0; i < n; i++ {
			if l.Null(i) || r.Null(i) {
				q.unknown = true
			} else {
				sel = append(sel, uint16(i))
			}
		}
	}
	if sel == nil || len(sel) > 0 {
		got := &vec.Vector{Type: types.T(types.Bool)}
		if err := q.kernel(q.c, []*vec.Vector{l, r}, sel, n, got); err != nil {
			return err
		}
		_ = EachRow(sel, n, func(i int) error {
			switch {
			case got.Null(i):
				q.unknown = true
			case got.Values().Bools[got.Row(i)] != q.all:
				q.decided = true // ANY met a true, ALL a false
			}
			return nil
		})
	}
	q.left.Reset()
	q.right.Reset()
	return nil
}

func (q *quantifyRun) flush() error {
	if err := q.compare(); err != nil {
		return err
	}
	switch {
	case q.decided:
		q.res[q.row] = !q.all
	case q.unknown:
		NullOut(q.out, q.row, q.n)
	}
	q.unknown, q.decided = false, false
	return nil
}
