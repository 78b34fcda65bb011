package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerWinValue() {
	any1, any2, any3 := eval.Sig(types.AnyElement), eval.Sig(types.AnyElement, types.Int4), eval.Sig(types.AnyElement, types.Int4, types.AnyElement)
	lag, lead := &eval.WindowImpl{Eval: winOffset(-1)}, &eval.WindowImpl{Eval: winOffset(1)}
	for _, args := range [][]types.Type{any1, any2, any3} {
		eval.Register(
			eval.Immutable("lag", args, eval.TAnyElement, lag).Returning(sameType).CalledOnNull(),
			eval.Immutable("lead", args, eval.TAnyElement, lead).Returning(sameType).CalledOnNull(),
		)
	}
	eval.Register(
		eval.Immutable("first_value", any1, eval.TAnyElement, &eval.WindowImpl{Eval: winFrameValue(func(_ int, frame [][2]int) (int, error) {
			return frameRow(frame, 0), nil
		})}).Returning(sameType).CalledOnNull(),
		eval.Immutable("last_value", any1, eval.TAnyElement, &eval.WindowImpl{Eval: winFrameValue(func(_ int, frame [][2]int) (int, error) {
			for k := len(frame) - 1; k >= 0; k-- {
				if frame[k][0] < frame[k][1] {
					return frame[k][1] - 1, nil
				}
			}
			return -1, nil
		})}).Returning(sameType).CalledOnNull(),
		eval.Immutable("nth_value", any2, eval.TAnyElement, &eval.WindowImpl{Eval: winNthValue}).Returning(sameType).CalledOnNull(),
	)
}

// gatherRows fills out with the rows of v that pick names; -1 is NULL.
func gatherRows(out, v *vec.Vector, n int, pick func(i int) (int, error)) error {
	a := vec.NewAppender(out.Type)
	for i := 0; i < n; i++ {
		r, err := pick(i)
		if err != nil {
			return err
		}
		if r < 0 {
			a.AppendNull()
		} else {
			a.Append(v, r)
		}
	}
	t := out.Type
	*out = *a.Vector()
	out.Type = t
	return nil
}

// winOffset is lag (direction -1) and lead (1): a row of the partition, whatever the frame.
func winOffset(direction int64) func(*eval.Ctx, eval.WindowPartition, []*vec.Vector, *vec.Vector) error {
	return func(_ *eval.Ctx, p eval.WindowPartition, args []*vec.Vector, out *vec.Vector) error {
		n := p.Rows()
		a := vec.NewAppender(out.Type)
		for i := 0; i < n; i++ {
			by := int64(1)
			if len(args) > 1 {
				if args[1].Null(i) {
					a.AppendNull()
					continue
				}
				by = args[1].Values().I64[args[1].Row(i)]
			}
			r := int64(i) + direction*by
			switch {
			case r >= 0 && r < int64(n):
				a.Append(args[0], int(r))
			case len(args) > 2:
				a.Append(args[2], i)
			default:
				a.AppendNull()
			}
		}
		t := out.Type
		*out = *a.Vector()
		out.Type = t
		return nil
	}
}

// frameRow is row k (from 0) of a frame, -1 when the frame is shorter.
func frameRow(frame [][2]int, k int) int {
	for _, f := range frame {
		if n := f[1] - f[0]; k < n {
			return f[0] + k
		} else if n > 0 {
			k -= n
		}
	}
	return -1
}

func winFrameValue(pick func(i int, frame [][2]int) (int, error)) func(*eval.Ctx, eval.WindowPartition, []*vec.Vector, *vec.Vector) error {
	return func(_ *eval.Ctx, p eval.WindowPartition, args []*vec.Vector, out *vec.Vector) error {
		return gatherRows(out, args[0], p.Rows(), func(i int) (int, error) { return pick(i, p.Frame(i)) })
	}
}

func winNthValue(c *eval.Ctx, p eval.WindowPartition, args []*vec.Vector, out *vec.Vector) error {
	return winFrameValue(func(i int, frame [][2]int) (int, error) {
		if args[1].Null(i) {
			return -1, nil
		}
		k := args[1].Values().I64[args[1].Row(i)]
		if k <= 0 {
			return 0, sqlerr.New("22016", "argument of nth_value must be greater than zero")
		}
		return frameRow(frame, int(k-1)), nil
	})(c, p, args, out)
}
