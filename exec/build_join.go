package exec

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// buildJoin chooses hash or loop: hash where the planner found keys whose equality is equality
// of bytes.
func buildJoin(env, outer *Env, n *plan.Join, need columnSet) ([]vec.Source, error) {
	lc, rc := n.Left.Columns(), n.Right.Columns()
	below := need.with(exprColumns(n))
	left, err := build(n.Left, outer, below)
	if err != nil {
		return nil, err
	}
	right, err := build(n.Right, outer, below)
	if err != nil {
		return nil, err
	}
	var guards []*guardedJoin
	if n.Guard != nil {
		invariant.Check(!n.BuildLeft && (n.Kind == plan.LeftJoin || n.Kind == plan.SingleJoin || n.Kind == plan.MarkJoin),
			"a guard on a join of kind %d that builds its left side: %v", n.Kind, n.BuildLeft)
		if guards, left, err = guardJoin(env, n, left); err != nil {
			return nil, err
		}
	}
	keys, ok := newJoinKeys(exprTypes(n.LeftKeys), exprTypes(n.RightKeys), n.NullSafe)
	loop := n.Method == plan.LoopJoin || len(n.LeftKeys) == 0 || !ok
	// A loop join counts the partners of the rows that stream; only a hash join those of built ones.
	swapped := n.BuildLeft && (n.Kind != plan.SingleJoin || !loop)
	sides := newJoinSides(n.Kind, swapped, columnTypes(lc), columnTypes(rc))
	in, out := right, left
	inCols, outCols := rc, lc
	if sides.swapped {
		in, out, inCols, outCols = left, right, lc, rc
	}
	both := append(append([]plan.Column(nil), lc...), rc...)
	if loop {
		on := joinCondition(n)
		j := &loopJoin{joinSides: sides, env: env, inner: newGather(in), outer: out}
		if on != nil {
			if j.on, err = eval.Compile(on, both); err != nil {
				return nil, err
			}
		}
		return over(guards, j.streams()), nil
	}
	// Keys are hashed on the way in: their columns are kept for others only.
	kept := need.with(condition(n.Rest))
	if sides.mark {
		kept = kept.with(condition(joinCondition(n)))
	}
	sides.innerSkip, sides.outerSkip = kept.skip(inCols), kept.skip(outCols)
	j := &hashJoin{joinSides: sides, env: env, node: n, keys: keys, build: in, probe: out, file: newSpillFile(env)}
	inKeys, outKeys := n.RightKeys, n.LeftKeys
	if sides.swapped {
		inKeys, outKeys = outKeys, inKeys
	}
	if j.buildKeys, err = compileAll(inKeys, inCols); err != nil {
		return nil, err
	}
	if j.probeKeys, err = compileAll(outKeys, outCols); err != nil {
		return nil, err
	}
	if n.Rest != nil {
		if j.rest, err = eval.Compile(n.Rest, both); err != nil {
			return nil, err
		}
	}
	if sides.mark && (n.Rest != nil || len(n.LeftKeys) > 1) {
		if j.on, err = eval.Compile(joinCondition(n), both); err != nil {
			return nil, err
		}
	}
	return over(guards, j.streams()), nil
}

// condition is the columns of a condition, which may be nil.
func condition(e plan.Expr) columnSet {
	s := columnSet{}
	if e != nil {
		s.add(e)
	}
	return s
}

func exprTypes(es []plan.Expr) []types.Type {
	t := make([]types.Type, len(es))
	for i, e := range es {
		t[i] = e.Type()
	}
	return t
}

// joinCondition is a join's whole condition: On, or what the planner split it into.
func joinCondition(n *plan.Join) plan.Expr {
	if n.On != nil || len(n.LeftKeys) == 0 && n.Rest == nil {
		return n.On
	}
	var terms []plan.Expr
	for i, l := range n.LeftKeys {
		r := n.RightKeys[i]
		res, err := eval.ResolveOperator("=", []types.Type{l.Type(), r.Type()})
		if err != nil {
			return n.On
		}
		eq := &plan.Call{Func: res.Func, Typ: res.Ret, Pos: -1, Args: []plan.Expr{castTo(l, res.Args[0]), castTo(r, res.Args[1])}}
		if n.NullSafe == nil || !n.NullSafe[i] {
			terms = append(terms, eq)
			continue
		}
		// l IS NOT DISTINCT FROM r
		bothNull := &plan.And{Args: []plan.Expr{&plan.IsNull{X: l}, &plan.IsNull{X: r}}}
		same := &plan.Coalesce{Args: []plan.Expr{eq, &plan.Const{Value: types.NewBool(false), Typ: types.T(types.Bool)}}, Typ: types.T(types.Bool)}
		terms = append(terms, &plan.Or{Args: []plan.Expr{bothNull, same}})
	}
	if n.Rest != nil {
		terms = append(terms, n.Rest)
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return &plan.And{Args: terms}
}

func castTo(e plan.Expr, t types.Type) plan.Expr {
	if e.Type().Same(t) {
		return e
	}
	return &plan.Cast{X: e, Typ: t, Context: plan.Implicit, Pos: -1}
}
