package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// NewRowFunction makes a strict, immutable function outside the table, for rewrites that need
// one which no SQL can name: a partition transform with its width inside.
func NewRowFunction(name string, args []types.Type, ret types.Type, f Row) *plan.Function {
	d := Immutable(name, args, ret, f)
	d.Kernel = RowKernel(f)
	return &plan.Function{Name: name, Args: args, Ret: ret, Strict: true, Volatility: plan.Immutable, Impl: &d}
}
