package exec

import (
	"math/rand/v2"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// Build makes the source of n's rows. Nothing runs before its first Next; Close ends whatever
// runs and frees everything, at any time.
func Build(n plan.Node, env *Env) (vec.Source, error) {
	parts, err := build(n, env, nil)
	if err != nil {
		return nil, err
	}
	return newGather(parts), nil
}

// build makes the partitions of n, at least one. need are the columns that somebody reads; nil:
// all. Columns get their positions here: an expression is compiled over its input's Columns.
func build(n plan.Node, env *Env, need columnSet) ([]vec.Source, error) {
	if env.source != nil {
		if parts := env.source(n); parts != nil {
			return parts, nil
		}
	}
	outer := env
	env = env.Analyze.nodeEnv(n, env)
	parts, err := buildNode(n, env, outer, need)
	if err != nil {
		return nil, err
	}
	if env.Reencode {
		for i := range parts {
			parts[i] = &reencoded{Source: parts[i]}
		}
	}
	return env.Analyze.wrap(n, parts), nil
}

// buildNode is the switch: one line, or one function, per operator. env is the node's own, outer
// that of its inputs.
func buildNode(n plan.Node, env, outer *Env, need columnSet) ([]vec.Source, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return buildScan(env, n), nil
	case *plan.Virtual:
		return one(&virtual{env: env, node: n}), nil
	case *plan.Values:
		return one(newValues(env, n)), nil
	case *plan.FuncScan:
		return one(newFuncScan(env, n)), nil
	case *plan.Write:
		return buildWrite(env, outer, n)
	case *plan.Filter:
		return buildFilter(env, outer, n, need)
	case *plan.Project:
		return buildProject(env, outer, n)
	case *plan.ProjectSet:
		in, err := build(n.Input, outer, exprColumns(n))
		if err != nil {
			return nil, err
		}
		return each(in, func(src vec.Source) (vec.Source, error) { return newProjectSet(env, n, src) })
	case *plan.Join:
		return buildJoin(env, outer, n, need)
	case *plan.Apply:
		left, err := build(n.Left, outer, nil)
		if err != nil {
			return nil, err
		}
		return each(left, func(src vec.Source) (vec.Source, error) { return newApply(env, n, src) })
	case *plan.Aggregate:
		in, err := build(n.Input, outer, exprColumns(n))
		if err != nil {
			return nil, err
		}
		return single(newAggregate(env, n, in))
	case *plan.Window:
		in, err := build(n.Input, outer, need.with(exprColumns(n)))
		if err != nil {
			return nil, err
		}
		return single(newWindow(env, n, in))
	case *plan.Sample:
		in, err := build(n.Input, outer, nil)
		if err != nil {
			return nil, err
		}
		seed := rand.Uint64()
		return each(in, func(src vec.Source) (vec.Source, error) { return newSample(env, n, src, seed), nil })
	case *plan.Sort:
		need = need.with(exprColumns(n))
		in, err := build(n.Input, outer, need)
		if err != nil {
			return nil, err
		}
		return single(newSort(env, n, in, need.skip(n.Input.Columns())))
	case *plan.Limit:
		in, err := buildSerial(n.Input, outer, need.with(exprColumns(n)))
		if err != nil {
			return nil, err
		}
		return single(newLimit(env, n, in))
	case *plan.Distinct:
		return buildDistinct(env, outer, n)
	case *plan.SetOp:
		return buildSetOp(env, outer, n)
	case *plan.With:
		return single(buildWith(outer, n))
	case *plan.CTERef:
		if n.Work {
			work := env.work[n.CTE]
			invariant.Check(work != nil, "the working table of %s outside of its step", n.CTE.Name)
			return one(&workTable{rows: work}), nil
		}
		store := env.stores[n.CTE]
		invariant.Check(store != nil, "a reference to CTE %s outside of its With", n.CTE.Name)
		if store.stream {
			return one(newRecursion(store.env, n.CTE)), nil
		}
		return cteParts(env, store), nil
	}
	invariant.Fail("exec.Build of %T", n)
	return nil, nil
}

func one(s vec.Source) []vec.Source { return []vec.Source{s} }

// single is one for constructors that may fail.
func single[S vec.Source](s S, err error) ([]vec.Source, error) {
	if err != nil {
		return nil, err
	}
	return one(s), nil
}

// each puts an operator on every partition.
func each(in []vec.Source, f func(vec.Source) (vec.Source, error)) ([]vec.Source, error) {
	out := make([]vec.Source, len(in))
	for i, src := range in {
		var err error
		if out[i], err = f(src); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// buildSerial makes n's rows one source.
func buildSerial(n plan.Node, env *Env, need columnSet) (vec.Source, error) {
	parts, err := build(n, env, need)
	if err != nil {
		return nil, err
	}
	return newGather(parts), nil
}

func buildFilter(env, outer *Env, n *plan.Filter, need columnSet) ([]vec.Source, error) {
	in, err := build(n.Input, outer, need.with(exprColumns(n)))
	if err != nil {
		return nil, err
	}
	pred, err := eval.Compile(n.Pred, n.Input.Columns())
	if err != nil {
		return nil, err
	}
	return each(in, func(src vec.Source) (vec.Source, error) {
		return &filter{in: src, c: env.evalCtx(), pred: pred.Clone()}, nil
	})
}

func buildProject(env, outer *Env, n *plan.Project) ([]vec.Source, error) {
	in, err := build(n.Input, outer, exprColumns(n))
	if err != nil {
		return nil, err
	}
	exprs := make([]plan.Expr, len(n.Exprs))
	for i := range n.Exprs {
		exprs[i] = n.Exprs[i].Expr
	}
	progs, err := compileAll(exprs, n.Input.Columns())
	if err != nil {
		return nil, err
	}
	return each(in, func(src vec.Source) (vec.Source, error) {
		return newProject(src, env.evalCtx(), clonePrograms(progs)), nil
	})
}

func buildDistinct(env, outer *Env, n *plan.Distinct) ([]vec.Source, error) {
	if n.On != nil {
		in, err := buildSerial(n.Input, outer, nil)
		if err != nil {
			return nil, err
		}
		return single(newDistinctOn(env, n, in))
	}
	in, err := build(n.Input, outer, nil)
	if err != nil {
		return nil, err
	}
	return one(distinctRows(env, columnTypes(n.Input.Columns()), in)), nil
}

func buildSetOp(env, outer *Env, n *plan.SetOp) ([]vec.Source, error) {
	left, err := build(n.Left, outer, nil)
	if err != nil {
		return nil, err
	}
	right, err := build(n.Right, outer, nil)
	if err != nil {
		return nil, err
	}
	if n.Kind == plan.Union && n.All {
		return unionAll(left, right), nil
	}
	return one(newSetOp(env, n, left, right)), nil
}
