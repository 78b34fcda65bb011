// Package planner answers: what is the best equivalent plan?
//
// In: a bound plan and the arguments of one execution. Out: a plan that exec can build: no
// parameters, no embedded subqueries, filters where they are cheapest, joins ordered with
// their methods chosen, scans with the files that they must read. One ordered list of passes,
// each a rewrite that keeps the meaning. It refuses to know SQL text, bytes of data files, and
// how anything runs.
package planner

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Env is what planning may know of the statement. One per Plan call.
type Env struct {
	Context context.Context
	Eval    *eval.Ctx
	Params  []types.Datum   // $1 …, of the types that the Params say
	Disable map[string]bool // passes to leave out, by name: lhsql.disable_passes
	// PruningOff is lhsql.pruning = off: read every file, and answer nothing from metadata.
	PruningOff bool
	Workers    int
	// Verify checks column bindings after each pass; always on in invariants builds.
	Verify bool
	// Trace, if set, sees each pass that changed the plan.
	Trace func(pass string, before, after plan.Node, took time.Duration)
	// Timings collects how long each pass took, for EXPLAIN (SUMMARY).
	Timings []PassTiming

	last  plan.ColID // greatest column ID in use
	cards *estimator
	// metadata stands in for a table's own metadata, in tests.
	metadata func(*lake.Table) tableMetadata
}

// PassTiming is one pass's duration.
type PassTiming struct {
	Pass string
	Took time.Duration
}

// Pass is one rewrite of the whole plan.
type Pass struct {
	Name string
	Run  func(*Env, plan.Node) (plan.Node, error)
	// Required passes cannot be disabled: without them exec has nothing to run.
	Required bool
}

// Passes is the planner. Order matters: what stands above makes what is below possible.
var Passes = []Pass{
	{Name: "lower_writes", Run: lowerWrites, Required: true},
	{Name: "parameters", Run: substituteParams, Required: true},
	{Name: "fold", Run: foldConstants},
	{Name: "simplify", Run: simplifyPredicates},
	{Name: "inline_ctes", Run: inlineCTEs},
	{Name: "unnest_subqueries", Run: unnestSubqueries, Required: true},
	{Name: "decorrelate", Run: decorrelate},
	{Name: "merge_projects", Run: mergeProjects},
	{Name: "dependent_keys", Run: dependentKeys},
	{Name: "fixed_sums", Run: fixedSums},
	{Name: "shifted_sums", Run: shiftedSums},
	{Name: "guards", Run: placeGuards, Required: true},
	{Name: "outer_to_inner", Run: outerToInner},
	{Name: "factor_predicates", Run: factorPredicates},
	{Name: "push_filters", Run: pushFilters},
	{Name: "lift_projects", Run: liftProjects, Required: true},
	{Name: "simplify_again", Run: simplifyPredicates},
	{Name: "prune_columns", Run: pruneColumns},
	{Name: "prune_files", Run: pruneFiles, Required: true},
	{Name: "write_files", Run: writeFiles},
	{Name: "metadata_aggregates", Run: metadataAggregates},
	{Name: "order_joins", Run: orderJoins},
	{Name: "choose_joins", Run: chooseJoins, Required: true},
	{Name: "runtime_filters", Run: runtimeFilters},
	{Name: "top_n", Run: fuseTopN},
	{Name: "push_limits", Run: pushLimits},
}

// Plan runs the passes over a bound plan, which it leaves as it is.
func Plan(env *Env, n plan.Node) (plan.Node, error) {
	if env.Context == nil {
		env.Context = context.Background()
	}
	want := n.Columns()
	env.last = plan.MaxColID(n)
	n = plan.Rewrite(n, nil, nil) // our own CTEs: the bound plan is planned again at each execution
	if err := env.verify("bind", n, want); err != nil {
		return nil, err
	}
	for _, p := range Passes {
		var err error
		if n, err = env.run(p, n, want); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// run is the one place through which every pass goes.
func (env *Env) run(p Pass, n plan.Node, want []plan.Column) (plan.Node, error) {
	if err := env.Context.Err(); err != nil {
		return nil, sqlerr.Wrap(err, sqlerr.QueryCanceled, "planning")
	}
	if env.Disable[p.Name] && !p.Required {
		return n, nil
	}
	start := time.Now()
	m, err := env.pass(p, n)
	if err != nil {
		return nil, err
	}
	m = withColumns(m, want)
	took := time.Since(start)
	env.Timings = append(env.Timings, PassTiming{p.Name, took})
	if err := env.verify(p.Name, m, want); err != nil {
		return nil, err
	}
	if env.Trace != nil && m != n {
		env.Trace(p.Name, n, m, took)
	}
	return m, nil
}

// stopped ends a pass that would take long when nobody waits for it any more.
type stopped struct{ err error }

// alive is called where passes may take long: in recursions whose work grows faster than the
// plan. It does not return when the statement has ended.
func (env *Env) alive() {
	if err := env.Context.Err(); err != nil {
		panic(stopped{err})
	}
}

func (env *Env) pass(p Pass, n plan.Node) (m plan.Node, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			m, err = nil, sqlerr.Wrap(r.err, sqlerr.QueryCanceled, "planning")
		default:
			panic(r)
		}
	}()
	return p.Run(env, n)
}

// verify fails on a plan whose columns do not add up: our mistake, never the user's.
func (env *Env) verify(pass string, n plan.Node, want []plan.Column) error {
	if !env.Verify && !invariant.Enabled {
		return nil
	}
	if err := plan.Verify(n); err != nil {
		invariant.Fail("after pass %s: %v\n%s", pass, err, ExplainText(n, ExplainOptions{}))
	}
	got := n.Columns()
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i].ID == want[i].ID
	}
	invariant.Check(same, "after pass %s the columns are %v, not %v", pass, got, want)
	return nil
}

// fresh gives a column ID that the statement does not use yet.
func (env *Env) fresh() plan.ColID {
	env.last++
	return env.last
}

// column makes a fresh column.
func (env *Env) column(name string, t types.Type) plan.Column {
	return plan.Column{ID: env.fresh(), Name: name, Type: t}
}
