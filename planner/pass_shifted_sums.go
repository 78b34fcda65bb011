package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// shiftedSums computes many sums of one integer moved by constants from its sum and count:
//
//	γ(g; sum(x+1), sum(x+2), sum(x+3))
//	  →  π(g, CASE WHEN lo+1 <= hi+1 THEN s + 1·n END, …)(γ(g; s: sum(x::int8), n: count(x), lo: min(x), hi: max(x)))
//
// s is a numeric, so that nothing is lost on the way, and what comes of it is cast to the sum's own
// type, which fails where the sum itself would. The comparison is there for its operands: x+1 is out of
// range for some row if it is so for the least or the greatest. Where no row counts it is NULL, as is a
// sum of nothing. Fewer sums of one x than shiftsWorth cost less as they are.
func shiftedSums(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		if a, ok := n.(*plan.Aggregate); ok {
			return env.shiftedSums(a), nil
		}
		return n, nil
	})
}

// shiftsWorth is from how many sums on their four parts cost less.
const shiftsWorth = 4

// shifted is sum(x op by) with an optional filter.
type shifted struct {
	x      plan.Expr
	call   *plan.Call
	at     int // x's place among the call's arguments
	by     *plan.Const
	filter plan.Expr
	base   *shiftBase
}

// shiftBase is what the sums of one x share.
type shiftBase struct {
	first             *shifted
	sums              int
	sum, n, low, high plan.Agg
}

func (env *Env) shiftedSums(a *plan.Aggregate) plan.Node {
	var bases []*shiftBase
	sums := make([]*shifted, len(a.Aggs))
	for i := range a.Aggs {
		s := shiftedSum(&a.Aggs[i])
		if s == nil {
			continue
		}
		sums[i] = s
		for _, b := range bases {
			if plan.EqualExpr(b.first.x, s.x) && plan.EqualExpr(b.first.filter, s.filter) {
				s.base = b
			}
		}
		if s.base == nil {
			s.base = &shiftBase{first: s}
			bases = append(bases, s.base)
		}
		s.base.sums++
	}
	m := *a
	m.Aggs = nil
	changed := false
	for _, b := range bases {
		if b.sums < shiftsWorth {
			continue
		}
		if !env.addShiftBase(b) {
			return a
		}
		m.Aggs = append(m.Aggs, b.sum, b.n, b.low, b.high)
		changed = true
	}
	if !changed {
		return a
	}
	shown := map[plan.ColID]plan.Expr{}
	for i, g := range a.Aggs {
		s := sums[i]
		if s == nil || s.base.sums < shiftsWorth {
			m.Aggs = append(m.Aggs, g)
			continue
		}
		e, ok := s.fromBase(g.Out.Type)
		if !ok {
			return a
		}
		shown[g.Out.ID] = e
	}
	return showing(a, &m, shown)
}

// showing gives the columns of a over n, which has them but for those that shown computes.
func showing(a *plan.Aggregate, n plan.Node, shown map[plan.ColID]plan.Expr) plan.Node {
	p := &plan.Project{Input: n}
	for _, c := range a.Columns() {
		e := shown[c.ID]
		if e == nil {
			e = plan.ColOf(c)
		}
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: e})
	}
	return p
}

// shiftedSum takes a sum of an integer and a constant apart; nil: g is none.
func shiftedSum(g *plan.Agg) *shifted {
	if g.Func.Name != "sum" || g.Distinct || len(g.OrderBy) > 0 || len(g.Args) != 1 || plan.IsVolatile(g.Args[0]) {
		return nil
	}
	e := g.Args[0]
	if !e.Type().IsInteger() || !plan.IsOp(e, "+") && !plan.IsOp(e, "-") {
		return nil
	}
	r, err := eval.ResolveFunction("sum", []types.Type{e.Type()}, false)
	if err != nil || r.Func != g.Func || !r.Ret.Equal(g.Out.Type) {
		return nil // another dialect's
	}
	s := &shifted{call: e.(*plan.Call), filter: g.Filter}
	for at := range s.call.Args {
		by, ok := s.call.Args[1-at].(*plan.Const)
		if ok && !by.Value.IsNull() && by.Typ.IsInteger() && (at == 0 || s.call.Func.Name == "+") {
			s.at, s.by, s.x = at, by, s.call.Args[at]
		}
	}
	if s.x == nil || !s.x.Type().IsInteger() {
		return nil
	}
	if _, ok := s.x.(*plan.Const); ok {
		return nil
	}
	return s
}

func (env *Env) addShiftBase(b *shiftBase) bool {
	x, bigint := b.first.x, types.T(types.Int8)
	wide := x
	if x.Type().Kind != types.Int8 {
		wide = &plan.Cast{X: x, Typ: bigint, Context: plan.Implicit, Pos: -1}
	}
	for _, p := range []struct {
		to   *plan.Agg
		name string
		arg  plan.Expr
	}{{&b.sum, "sum", wide}, {&b.n, "count", x}, {&b.low, "min", x}, {&b.high, "max", x}} {
		r, err := eval.ResolveFunction(p.name, []types.Type{p.arg.Type()}, false)
		if err != nil {
			return false
		}
		*p.to = plan.Agg{Func: r.Func, Args: []plan.Expr{p.arg}, Filter: b.first.filter, Out: env.column(p.name, r.Ret)}
	}
	return b.low.Out.Type.Equal(x.Type()) && b.high.Out.Type.Equal(x.Type())
}

// fromBase is the sum, of type t, from its parts.
func (s *shifted) fromBase(t types.Type) (plan.Expr, bool) {
	moved := func(x plan.Column) plan.Expr {
		args := []plan.Expr{s.by, s.by}
		args[s.at] = plan.ColOf(x)
		c := *s.call
		c.Args = args
		return &c
	}
	inRange, ok := combined("<=", moved(s.base.low.Out), moved(s.base.high.Out))
	if !ok {
		return nil, false
	}
	by, err := types.DecimalFromInt64(s.by.Value.Int()).Datum(eval.TNumeric)
	if err != nil {
		return nil, false
	}
	n := &plan.Cast{X: plan.ColOf(s.base.n.Out), Typ: eval.TNumeric, Context: plan.Implicit, Pos: -1}
	all, ok := combined("*", &plan.Const{Value: by, Typ: eval.TNumeric}, n)
	if !ok {
		return nil, false
	}
	sum, ok := combined(s.call.Func.Name, plan.ColOf(s.base.sum.Out), all)
	if !ok {
		return nil, false
	}
	if t.Kind != types.Numeric {
		sum = &plan.Cast{X: sum, Typ: t, Context: plan.Assignment, Pos: -1}
	}
	return &plan.Case{Whens: []plan.When{{Cond: inRange, Then: sum}}, Typ: t}, true
}
