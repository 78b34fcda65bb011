package maintain

import (
	"context"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
)

// Rewriting makes few good files of many poor ones: too small, too large, or with too many deletes.
// It is a query with the write sink. The life of one:
//
//	list the head's files, with the deletes that apply      rewrite_plan.go
//	→ choose candidates, pack them into groups by partition
//	→ each group: scan with all deletes applied → order → data files      exec, dml
//	→ commit: new files for old ones, validated from the snapshot that was listed   rewrite_run.go
//	→ groups that lost to another writer are listed and written again, a few times
//
// Promise C6: no ref's rows change. A group goes in whole or not at all; rows in are rows out, or
// the commit is refused; deletes that come meanwhile are applied or end the group, never lost.

// RewriteEnv is how queries of a procedure are planned and run. The engine gives it.
type RewriteEnv struct {
	Planner func(context.Context) *planner.Env
	Exec    *exec.Env // what its parts share; Commit is not used
	Warn    func(code sqlerr.Code, format string, args ...any)
	// PlanMemory is how many bytes the files of a plan may take; 0: any number. A rewrite of more leaves
	// whole partitions for another run.
	PlanMemory int64
}

// RewriteSpec is what a call asks for.
type RewriteSpec struct {
	Strategy  string // "binpack" (the default) or "sort"
	SortOrder string // "": the table's
	Options   map[string]string
	Where     *RewriteWhere // nil: all files
	Branch    string        // "": main
	Statement string        // for the snapshots' summaries
}

// RewriteWhere chooses files: those that may hold rows for which Pred is true.
type RewriteWhere struct {
	Scan *plan.Scan
	Pred plan.Expr
}

// RewriteResult is what was done, or would be.
type RewriteResult struct {
	Rewritten, Added int   // data files
	Bytes            int64 // of the rewritten ones
	Failed           int   // data files that were to be rewritten and were not
	RemovedDeletes   int   // delete files
	Commits          int
}

// Expected is the result of a run that nobody disturbs.
func (p *RewritePlan) Expected() RewriteResult {
	r := RewriteResult{RemovedDeletes: p.Dangling()}
	vectors := map[string]bool{}
	if p.opt.dangling {
		for _, d := range p.held.dangling(p.Groups) {
			vectors[deleteKey(d)] = true
		}
	}
	for _, g := range p.Groups {
		r.Rewritten += len(g.Tasks)
		r.Added += g.Outputs
		r.Bytes += g.Bytes
		for i := range g.Tasks {
			for _, d := range g.Tasks[i].Deletes {
				if d.Content == lake.DeletionVector && !vectors[deleteKey(d)] {
					r.RemovedDeletes++
				}
			}
		}
	}
	return r
}

// OrderText says in which order rows will lie in the new files.
func (p *RewritePlan) OrderText() string {
	if p.order.text == "" {
		return "none"
	}
	return p.order.text
}
