package exec

import (
	"math"
	"slices"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// newAggregate translates an Aggregate into an aggSpec: which expressions make the columns, and
// which columns each call takes.
func newAggregate(env *Env, n *plan.Aggregate, parts []vec.Source) (vec.Source, error) {
	spec := &aggSpec{env: env, keys: len(n.Groups), sets: n.Sets}
	if n.Sets == nil {
		spec.sets = allKeys(len(n.Groups))
	}
	spec.expect = expectedKeys(n)
	cols := &aggColumns{}
	for _, g := range n.Groups {
		cols.exprs = append(cols.exprs, g.Expr) // not shared: the keys are the first columns
	}
	// Of many grouping sets each round shares the rows among goroutines anew.
	unordered := len(parts) > 1 || len(spec.sets) > setsAtOnce && env.workers() > 1
	for i := range n.Aggs {
		call, serial := newAggCall(&n.Aggs[i], cols, unordered)
		call.shareState(spec.calls)
		spec.calls = append(spec.calls, call)
		spec.serial = spec.serial || serial
	}
	for _, e := range cols.exprs {
		spec.types = append(spec.types, e.Type())
	}
	progs, err := compileAll(cols.exprs, n.Input.Columns())
	if err != nil {
		return nil, err
	}
	if len(spec.sets) > setsAtOnce {
		return newSetWaves(spec, newGather(parts), progs, n.GroupingSet.ID != 0), nil
	}
	if spec.serial {
		parts = []vec.Source{newGather(parts)}
	}
	in := make([]aggInput, len(parts))
	for i, p := range parts {
		c, own := env.evalCtx(), clonePrograms(progs)
		out := make([]*vec.Vector, len(own))
		in[i] = aggInput{src: p, eval: func(b *vec.Batch) ([]*vec.Vector, error) {
			return out, evalAll(c, own, b, out)
		}}
	}
	return newAggregator(spec, in, n.GroupingSet.ID != 0), nil
}

// expectedKeys tells where the values of a lone integer key lie, by the bounds of the files it
// comes from; nil: unknown, or too spread out for the rows there are.
func expectedKeys(n *plan.Aggregate) *keyRange {
	if len(n.Groups) != 1 {
		return nil
	}
	c, ok := n.Groups[0].Expr.(*plan.Col)
	if !ok || !c.Typ.IsInteger() {
		return nil
	}
	s, field := scanOf(n.Input, c.ID)
	if s == nil || !s.Pruned || len(s.Tasks) == 0 {
		return nil
	}
	f, path := s.Schema.ByID(field)
	if f == nil || len(path) != 1 {
		return nil
	}
	r, rows := keyRange{math.MaxInt64, math.MinInt64}, uint64(0)
	for i := range s.Tasks {
		t := s.Tasks[i].File
		lo, ok1 := lake.DecodeBound(f.Type, f.Iceberg, t.Lower[f.ID])
		hi, ok2 := lake.DecodeBound(f.Type, f.Iceberg, t.Upper[f.ID])
		if !ok1 || !ok2 {
			return nil
		}
		r.lo, r.hi = min(r.lo, lo.Int()), max(r.hi, hi.Int())
		rows += uint64(max(t.RecordCount, 0))
	}
	if r.lo > r.hi || uint64(r.hi)-uint64(r.lo) > 4*rows {
		return nil
	}
	return &r
}

// scanOf finds the scan that column id comes from.
func scanOf(n plan.Node, id plan.ColID) (*plan.Scan, int) {
	if s, ok := n.(*plan.Scan); ok {
		for _, c := range s.Cols {
			if c.ID == id {
				return s, c.FieldID
			}
		}
		return nil, 0
	}
	for _, in := range n.Inputs() {
		if s, f := scanOf(in, id); s != nil {
			return s, f
		}
	}
	return nil, 0
}

// shareState finds an earlier call that collects the same: avg(x) needs what sum(x) has.
func (call *aggCall) shareState(earlier []aggCall) {
	if call.collects == "" || call.distinct || call.order != nil {
		return
	}
	for i := range earlier {
		e := &earlier[i]
		if e.base == 0 && e.collects == call.collects && !e.distinct && e.order == nil && e.filter == call.filter && slices.Equal(e.args, call.args) {
			call.base = i + 1
			return
		}
	}
}

// aggColumns collects the expressions to evaluate, equal ones once.
type aggColumns struct{ exprs []plan.Expr }

func (a *aggColumns) column(e plan.Expr) int {
	if eval.VolatilityOf(e) != plan.Volatile {
		for i, x := range a.exprs {
			if plan.EqualExpr(x, e) {
				return i
			}
		}
	}
	a.exprs = append(a.exprs, e)
	return len(a.exprs) - 1
}

// newAggCall places a call's arguments. serial: the result depends on the order of rows, so one
// goroutine must see them all.
func newAggCall(a *plan.Agg, cols *aggColumns, unordered bool) (call aggCall, serial bool) {
	impl := eval.Declaration(a.Func).Agg
	call = aggCall{filter: -1, collects: impl.Collects, ret: a.Out.Type}
	// WITHIN GROUP's sort keys are among the arguments, behind the direct ones.
	args := a.Args
	t := eval.AggCall{Ret: a.Out.Type, Unordered: unordered}
	for _, e := range args {
		call.args = append(call.args, cols.column(e))
		t.Args = append(t.Args, e.Type())
	}
	eval.CheckCall(a.Func, t.Args, t.Ret)
	call.state = func(c *eval.Ctx) (eval.AggState, error) { return impl.New(c, t) }
	call.view = func(base eval.AggState) eval.AggState { return impl.View(base, t) }
	if a.Filter != nil {
		call.filter = cols.column(a.Filter)
	}
	shows := impl.ShowsOrder != nil && impl.ShowsOrder(t.Args)
	call.distinct = a.Distinct && (!impl.IgnoresDuplicates || shows)
	if !impl.Ordered && !impl.WithinGroup && !(shows && len(a.OrderBy) > 0) {
		return call, false
	}
	t.Unordered = false
	keys := a.OrderBy
	if len(keys) == 0 && call.distinct {
		// PostgreSQL finds duplicates by sorting, and array_agg(DISTINCT x) shows it.
		for _, e := range args {
			keys = append(keys, plan.SortKey{Expr: e})
		}
	}
	for _, k := range keys {
		call.order = append(call.order, cols.column(k.Expr))
	}
	call.orderBy = sortColumns(keys)
	return call, true
}
