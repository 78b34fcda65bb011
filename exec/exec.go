// Package exec answers: how does a plan run?
//
// In: a plan.Node, whose columns get their positions here. Out: a vec.Source. Build (build.go)
// is one switch; each operator has a file. It refuses to know what is best (planner), what an
// expression's value is (eval), and how files become batches (scan).
//
// Parallelism is morsel-driven. A node builds into partitions: sources that share the work of
// one relation, each for one goroutine. Filters, projections and the probe sides of joins keep
// the partitions of their input; operators that must see everything (aggregate, sort, build
// sides, gather) run one goroutine per partition, own it and wait for it. Partitions of one
// node are always pulled by different goroutines or to the end one after the other, so none may
// wait for another to advance.
//
// Nothing happens in Build: the first Next opens scans and runs build sides, in an order that
// lets a join hand its keys to the scans of its probe side.
package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Env is what a statement runs with. The zero values of all but Ctx are usable.
type Env struct {
	Ctx       *eval.Ctx // copied for every goroutine
	Workers   int       // partitions of a scan; 0: 1
	Reencode  bool      // operators hand on batches in other shapes, for tests
	BatchRows int       // rows of the batches that operators make; 0: vec.BatchRows
	Account   *Account  // nil: no limit
	SpillDir  string    // "": the system's
	Scan      scan.Env
	Analyze   *Analysis // nil: off
	// Commit publishes a write statement's change; nil: the statement may not write.
	Commit Commit
	// Written is the number of rows that the write statement affected, set before its commit.
	Written int64

	// stores holds what the CTEs in scope have computed, by the CTE's identity.
	stores map[*plan.CTE]*cteStore
	// work holds the previous round's rows of recursive CTEs under way.
	work map[*plan.CTE]*rowBuffer
	// spilled counts the bytes that one node's operator writes to disk; nil: nobody asks.
	spilled *atomic.Int64
	// source lets tests put sources where a node stands; nil: it gives none.
	source func(plan.Node) []vec.Source
}

func (e *Env) batchRows() int {
	if e.BatchRows <= 0 || e.BatchRows > vec.MaxBatchRows {
		return vec.BatchRows
	}
	return e.BatchRows
}

func (e *Env) workers() int { return max(1, e.Workers) }

// evalCtx is a Ctx for one goroutine.
func (e *Env) evalCtx() *eval.Ctx {
	c := *e.Ctx
	return &c
}

// rerun is e for a copied part of a plan that runs many times, each time briefly: in one
// goroutine, and without a meter per copy.
func (e *Env) rerun() *Env {
	c := *e
	c.Workers, c.Analyze = 1, nil
	return &c
}

func columnTypes(cols []plan.Column) []types.Type {
	t := make([]types.Type, len(cols))
	for i := range cols {
		t[i] = cols[i].Type
	}
	return t
}

// compileAll compiles expressions over the same input.
func compileAll(exprs []plan.Expr, in []plan.Column) ([]*eval.Program, error) {
	p := make([]*eval.Program, len(exprs))
	for i, e := range exprs {
		var err error
		if p[i], err = eval.Compile(e, in); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func clonePrograms(p []*eval.Program) []*eval.Program {
	c := make([]*eval.Program, len(p))
	for i := range p {
		if p[i] != nil {
			c[i] = p[i].Clone()
		}
	}
	return c
}

// evalAll evaluates programs over b into out.
func evalAll(c *eval.Ctx, progs []*eval.Program, b *vec.Batch, out []*vec.Vector) error {
	for i, p := range progs {
		v, err := p.Eval(c, b)
		if err != nil {
			return err
		}
		if out[i], err = conform(v, p.Expr().Type()); err != nil {
			return err
		}
	}
	return nil
}

// identity holds 0, 1, 2 …: the selection of all rows, where an explicit one is needed.
var identity = func() []uint16 {
	s := make([]uint16, vec.MaxBatchRows)
	for i := range s {
		s[i] = uint16(i)
	}
	return s
}()

// selection is b.Sel made explicit.
func selection(b *vec.Batch) []uint16 {
	if b.Sel != nil {
		return b.Sel
	}
	return identity[:b.Rows]
}

func closeAll(sources []vec.Source) error {
	var first error
	for _, s := range sources {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// canceled is ctx's error as operators report it at batch boundaries.
func canceled(ctx context.Context) error { return context.Cause(ctx) }

// scanEnv is what a scan gets of e.
func (e *Env) scanEnv() scan.Env {
	s := e.Scan
	if s.NewCtx == nil {
		s.NewCtx = func(context.Context) *eval.Ctx { return e.evalCtx() }
	}
	if s.Mem == nil && e.Account != nil {
		s.Mem = e.Account
	}
	if s.BatchRows == 0 {
		s.BatchRows = e.BatchRows
	}
	return s
}
