package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/types"
)

// runPlan takes a bound plan to running operators: plan, build, and the Result pulls.
func (s *Session) runPlan(ctx context.Context, n plan.Node, args []types.Datum, r *Result) error {
	c := s.evalCtx(ctx)
	c.Warn = r.warn
	n, err := planner.Plan(s.plannerEnv(ctx, c, args), n)
	if err != nil {
		return err
	}
	x := s.execEnv(c)
	if ofCatalogs(n) {
		x.Workers = 1
	}
	src, err := exec.Build(n, x)
	if err != nil {
		return err
	}
	r.src = src
	return nil
}

// ofCatalogs tells that a plan reads system catalogs and constants alone: too little for a second
// worker to be worth waking.
func ofCatalogs(n plan.Node) bool {
	inputs := n.Inputs()
	if len(inputs) == 0 {
		switch n := n.(type) {
		case *plan.Virtual:
			_, ok := n.Table.(plan.SizedTable)
			return ok
		case *plan.Values:
			return true
		}
		return false
	}
	for _, in := range inputs {
		if !ofCatalogs(in) {
			return false
		}
	}
	return true
}

// evalCtx is what expressions of a statement that starts now may know.
func (s *Session) evalCtx(ctx context.Context) *eval.Ctx {
	o := s.TextOptions()
	now := s.engine.cfg.Clock()
	c := &eval.Ctx{Context: ctx, Now: now, StmtStart: now, Zone: o.Zone, DateStyle: o.DateStyle,
		IntervalStyle: o.IntervalStyle, ExtraFloatDigits: o.ExtraFloatDigits, ByteaOutput: o.ByteaOutput,
		Session: systemSession{s}}
	// In MySQL it is the statement's in either case.
	if s.tx.block && s.MySQL() == nil {
		c.Now = s.tx.start // now() is the transaction's start
	}
	return c
}

func (s *Session) plannerEnv(ctx context.Context, c *eval.Ctx, args []types.Datum) *planner.Env {
	env := &planner.Env{Context: ctx, Eval: c, Params: args, Workers: s.workers(), PruningOff: !s.settings.bool("lhsql.pruning")}
	if v, _ := s.settings.get("lhsql.disable_passes"); v != "" {
		env.Disable = map[string]bool{}
		for _, p := range strings.Split(v, ",") {
			env.Disable[strings.TrimSpace(p)] = true
		}
		if env.Disable["all"] {
			for _, p := range planner.Passes { // those that are required run all the same
				env.Disable[p.Name] = true
			}
		}
	}
	if !s.settings.bool("lhsql.runtime_filters") {
		if env.Disable == nil {
			env.Disable = map[string]bool{}
		}
		env.Disable["runtime_filters"] = true
	}
	return env
}

func (s *Session) workers() int {
	if n := s.settings.int("lhsql.workers"); n > 0 {
		return int(n)
	}
	return s.engine.cfg.Workers
}

// execEnv is what a statement runs with: its share of memory, workers, and the scan's switches.
func (s *Session) execEnv(c *eval.Ctx) *exec.Env {
	limit := s.settings.int("lhsql.query_memory") << 10
	if limit == 0 {
		// One query alone may not take all: others must be able to start.
		limit = queryShare(s.engine.cfg.MemoryLimit) / 2
	}
	acct := exec.NewAccount(s.engine.account, limit)
	if disk := s.settings.int("temp_file_limit"); disk >= 0 {
		acct.LimitDisk(disk << 10)
	}
	runnerIn(c.Context).owns(acct)
	c.Grow = acct.Grow
	return &exec.Env{Ctx: c, Workers: s.workers(), Reencode: s.settings.bool("lhsql.reencode"), BatchRows: int(s.settings.int("lhsql.batch_rows")),
		Account: acct, SpillDir: s.engine.cfg.TempDir, Scan: s.scanEnv(c, acct)}
}
