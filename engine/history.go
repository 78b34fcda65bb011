package engine

import (
	"context"
	"sync"
	"time"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// dataFiles lets virtual tables about a table's past read its data files. The statement is reached
// through the context, since a virtual table's rows are computed by whoever runs it.
type dataFiles struct{}

var _ timetravel.DataFiles = dataFiles{}

type runnerKey struct{}

// runner is what runs a statement: its session, and the memory of its queries within queries.
type runner struct {
	s      *Session
	began  time.Time
	cancel context.CancelCauseFunc
	once   sync.Once
	x      *exec.Env

	mu       sync.Mutex
	accounts []*exec.Account // of all that the statement runs
}

// withRunner lets what runs under the context ask queries of its own.
func withRunner(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, runnerKey{}, &runner{s: s, began: time.Now()})
}

// runnerIn is the runner of a context, nil where there is none.
func runnerIn(ctx context.Context) *runner {
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(runnerKey{}).(*runner)
	return r
}

func runnerOf(ctx context.Context) *runner {
	r := ctx.Value(runnerKey{}).(*runner)
	r.once.Do(func() { r.x = r.s.execEnv(r.s.evalCtx(ctx)) })
	return r
}

// HoldRows counts what a virtual table keeps of the rows that it has read.
func (dataFiles) HoldRows(ctx context.Context, bytes int64) error {
	return runnerOf(ctx).x.Account.Grow(bytes)
}

// ReadRows reads all rows of a snapshot as a query would, deletes applied.
func (dataFiles) ReadRows(ctx context.Context, t *lake.Table, snap *lake.Snapshot, schema *lake.Schema, yield func([]types.Datum) error) error {
	run := runnerOf(ctx)
	sc := &plan.Scan{Table: t, Snapshot: snap, Schema: schema, Alias: t.Name.Table}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: plan.Column{ID: plan.ColID(i + 1), Name: f.Name, Type: f.Type}, FieldID: f.ID})
	}
	n, err := planner.Plan(run.s.plannerEnv(ctx, run.x.Ctx, nil), sc)
	if err != nil {
		return err
	}
	src, err := exec.Build(n, run.x)
	if err != nil {
		return err
	}
	defer src.Close()
	row := make([]types.Datum, len(sc.Cols))
	for {
		b, err := src.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		for k := range b.Len() {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			for j, v := range b.Cols {
				row[j] = v.Datum(i)
			}
			if err := yield(row); err != nil {
				return err
			}
		}
	}
}

// ReadPositions reads a file of position deletes.
func (dataFiles) ReadPositions(ctx context.Context, t *lake.Table, f *lake.DataFile, yield func(file string, pos int64) error) error {
	run := runnerOf(ctx)
	env := run.x.Scan
	if env.Mem == nil && run.x.Account != nil {
		env.Mem = run.x.Account
	}
	return scan.ReadPositions(ctx, t, f, env, yield)
}
