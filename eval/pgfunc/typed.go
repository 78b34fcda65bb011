package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// typed makes a Kernel of a function that must know its arguments' types: of polymorphic ones,
// and of those that turn values into text. Without nonStrict() no argument is NULL.
func typed(f func(c *eval.Ctx, a []types.Datum, t []types.Type, ret types.Type) (types.Datum, error)) eval.Kernel {
	return func(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		row := make([]types.Datum, len(args))
		ts := make([]types.Type, len(args))
		for j, a := range args {
			ts[j] = a.Type
			if a.Enc == vec.Const {
				row[j] = a.Datum(0)
			}
		}
		ret := out.Type
		return eval.PutDatums(out, sel, n, func(i int) (types.Datum, error) {
			for j, a := range args {
				if a.Enc != vec.Const {
					row[j] = a.Datum(i)
				}
			}
			return f(c, row, ts, ret)
		})
	}
}

// recast makes a value of one numeric type one of another: they differ in scale and form.
// Arrays convert element by element; other types stay.
func recast(d types.Datum, from, to types.Type) (types.Datum, error) {
	switch {
	case d.IsNull() || from.Equal(to):
		return d, nil
	case from.Kind == types.Numeric && to.Kind == types.Numeric:
		return types.DecimalOf(d, from).Datum(to)
	case from.Kind == types.Array && to.Kind == types.Array:
		list := make([]types.Datum, len(d.List()))
		for i, e := range d.List() {
			var err error
			if list[i], err = recast(e, from.Elem(), to.Elem()); err != nil {
				return types.Null, err
			}
		}
		return types.NewList(list), nil
	}
	return d, nil
}

// registerPrefixes declares one strict overload for each number of arguments from min to all of
// args: functions with optional arguments. The implementation sees NULLs for missing ones.
func registerPrefixes(name string, min int, args []types.Type, ret types.Type, impl any) {
	for n := min; n <= len(args); n++ {
		var padded any
		switch f := impl.(type) {
		case eval.Row:
			padded = eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) { return f(c, padArgs(a, len(args))) })
		case eval.SetKernel:
			padded = eval.SetKernel(func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
				return f(c, padArgs(a, len(args)), yield)
			})
		}
		eval.Register(eval.Immutable(name, args[:n:n], ret, padded))
	}
}

func padArgs(a []types.Datum, n int) []types.Datum {
	if len(a) >= n {
		return a
	}
	return append(a[:len(a):len(a)], make([]types.Datum, n-len(a))...)
}
