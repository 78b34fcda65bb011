package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// AggCall is one resolved call of an aggregate.
type AggCall struct {
	Args []types.Type
	Ret  types.Type
	// Unordered: rows come in no order, as when several goroutines share them. A state whose
	// result would show the order then chooses by the values alone.
	Unordered bool
}

// AggImpl makes states of an aggregate.
type AggImpl struct {
	// New makes the state for the argument and result types of call, which the binder resolved.
	New func(c *Ctx, call AggCall) (AggState, error)
	// Ordered: the result depends on input order (array_agg, string_agg), so ORDER BY in the
	// call matters; for others the planner may drop it.
	Ordered bool
	// WithinGroup: ordered-set or hypothetical-set aggregate (percentile_cont, mode, rank): the
	// sort keys' values arrive as arguments after the direct ones, already sorted.
	WithinGroup bool
	// ShowsOrder: with these arguments the order of rows, and DISTINCT, show in the result, though
	// little: which of several equal values max gives. nil: never.
	ShowsOrder func(args []types.Type) bool
	// IgnoresDuplicates: DISTINCT changes nothing (min, max, bool_and, bool_or).
	IgnoresDuplicates bool
	// Collects names what the states gather, where other aggregates gather the same of the same
	// arguments (sum and avg); View then shows call's result from such a state, base. A view's
	// only methods with an effect are Result and Bytes. "": nothing is shared.
	Collects string
	View     func(base AggState, call AggCall) AggState
}

// AggState holds one aggregate's values of many groups, dense from 0. It sees only rows that
// pass FILTER and DISTINCT. Not safe for concurrent use; parallel workers merge.
type AggState interface {
	// Grow makes room for groups [0, n); new groups are empty.
	Grow(n int)
	// Update folds the rows sel (nil: all rows) of args into groups: row sel[i] (or i) belongs
	// to group groups[i]. A nil groups means that every row belongs to group 0.
	Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error
	// Merge folds other's group i, whose rows came later, into group into[i]. other is a state of the
	// same call and is not used again. Not called for Ordered aggregates with more than one partial input.
	Merge(other AggState, into []uint32) error
	// Result writes groups [from, to) to rows 0… of out, which has Type set.
	Result(from, to int, out *vec.Vector) error
	// Bytes is the memory held, for the query's account.
	Bytes() int64
}
