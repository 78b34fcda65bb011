package maintain

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// maxRounds is how often groups that lost to other writers are written again.
const maxRounds = 3

// written is a group whose files are written and not committed yet.
type written struct {
	group  *RewriteGroup
	change lake.Change
	err    error
}

// Run does what the plan says. On an error nothing that is not committed stays behind.
func (p *RewritePlan) Run(ctx context.Context, env RewriteEnv) (RewriteResult, error) {
	r := &rewriting{p: p, env: env, table: p.g.Table}
	lost, err := r.round(ctx, p.Groups)
	for n := 0; err == nil && len(lost) > 0 && n < maxRounds; n++ {
		var again []*RewriteGroup
		if again, err = r.anew(ctx, lost); err == nil {
			lost, err = r.round(ctx, again)
		}
	}
	if err != nil {
		return r.result, err
	}
	for _, g := range lost {
		r.result.Failed += len(g.Tasks)
	}
	if p.Left > 0 {
		env.Warn("01000", "%d files of other partitions are left for another call: a plan of all of them takes too much memory", p.Left)
	}
	if n := len(lost); n > 0 {
		env.Warn("01000", "%d of the groups were not rewritten: other writers changed their files each time", n)
	}
	return r.result, nil
}

// rewriting is a run under way.
type rewriting struct {
	p      *RewritePlan
	env    RewriteEnv
	table  *lake.Table // the state that was listed
	result RewriteResult
	failed int // commits
	// keep, if set, is the condition on the rows that are written; the others are left out.
	keep plan.Expr
	// schema is what rows are read and written with; nil: the table's own.
	schema *lake.Schema
}

// round writes and commits groups and gives those that lost to another writer.
func (r *rewriting) round(ctx context.Context, groups []*RewriteGroup) (lost []*RewriteGroup, err error) {
	p := r.p
	for _, g := range groups {
		p.g.Job.Plan(int64(len(g.Tasks)), g.Bytes)
	}
	batch := max(1, len(groups))
	if p.opt.partial {
		// As many commits as may be, each of as many groups.
		batch = max(1, (len(groups)+p.opt.maxCommits-1)/p.opt.maxCommits)
	}
	for from := 0; from == 0 || from < len(groups); from += batch {
		some := groups[from:min(from+batch, len(groups))]
		p.g.Job.Phase("rewrite")
		done, err := r.write(ctx, some)
		if err != nil {
			r.discard(ctx, done)
			return nil, err
		}
		p.g.Job.Phase("commit")
		gone, err := r.commit(ctx, done)
		lost = append(lost, gone...)
		if err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// write writes the files of groups, some groups at a time. Without partial progress the first
// failure ends all; with it a group that fails is reported.
func (r *rewriting) write(ctx context.Context, groups []*RewriteGroup) ([]*written, error) {
	p := r.p
	workers := max(1, r.env.Exec.Workers)
	at := max(1, min(p.opt.concurrent, workers, len(groups)))
	out := make([]*written, len(groups))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg   sync.WaitGroup
		next = make(chan int)
	)
	for range at {
		wg.Go(func() {
			for i := range next {
				w := &written{group: groups[i]}
				w.err = guard.Run(func() (err error) {
					w.change, err = r.writeGroup(ctx, groups[i], max(1, workers/at), at)
					return err
				})
				out[i] = w
				if w.err != nil && !p.opt.partial {
					cancel(w.err)
				}
			}
		})
	}
	for i := range groups {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	err := context.Cause(ctx)
	var done []*written
	for _, w := range out {
		switch {
		case w == nil:
		case w.err == nil:
			done = append(done, w)
		case err == nil: // partial progress
			r.result.Failed += len(w.group.Tasks)
			r.env.Warn(sqlerr.CodeOf(w.err), "%d files were not rewritten: %v", len(w.group.Tasks), w.err)
		}
	}
	return done, err
}

// writeGroup writes the files that stand for a group's.
func (r *rewriting) writeGroup(ctx context.Context, g *RewriteGroup, workers, share int) (lake.Change, error) {
	p, t := r.p, r.table
	s := t.Schema()
	if r.schema != nil {
		s = r.schema
	}
	s = s.Stored() // rows are moved as they are
	cols, row := row(s)
	scan := &plan.Scan{Table: t, Snapshot: p.snapshot, Schema: s, Alias: t.Name.Table, Pruned: true, Tasks: g.Tasks}
	for i := range cols {
		scan.Cols = append(scan.Cols, plan.ScanColumn{Column: cols[i], FieldID: s.Fields[i].ID})
	}
	w := &plan.Write{Target: plan.WriteTarget{Table: t, Branch: p.spec.Branch, Base: p.snapshot, Schema: s, Alias: t.Name.Table},
		Statement: p.spec.Statement, Fixed: plan.ActInsert, Row: row}
	c := &plan.Compaction{Tasks: g.Tasks, SpecID: p.opt.specID, FileBytes: p.opt.writeMax(), Order: p.order.keys, OrderID: p.order.claim,
		KeepSeq: p.opt.startingSeq && t.FormatVersion() >= 2, Share: share}
	w.Rewrite = c
	if dml.Lineage(w) {
		hidden := func(id int, name string) plan.Expr {
			col := plan.Column{ID: plan.ColID(len(scan.Cols) + 1), Name: name, Type: types.T(types.Int8)}
			scan.Cols = append(scan.Cols, plan.ScanColumn{Column: col, FieldID: id})
			return plan.ColOf(col)
		}
		w.RowID, w.RowSeq = hidden(plan.HiddenRowID, "_row_id"), hidden(plan.HiddenRowSeq, "_last_updated_sequence_number")
	}
	w.Input = scan
	if r.keep != nil {
		w.Input = &plan.Filter{Input: scan, Pred: r.keep}
	}
	c.Gather = g.mixed && partitions(t.Spec(p.opt.specID))
	switch {
	case c.Gather: // sorted by partition
	case len(c.Order) > 0:
		w.Input = &plan.Sort{Input: w.Input, Keys: c.Order}
		c.FileBytes = p.opt.splitSize(g.Bytes)
	case r.keep != nil:
		workers = 1 // in the order that rows lie in
	default:
		c.Bins = bins(g.Tasks, g.Bytes, g.Outputs)
	}
	env := *r.env.Exec
	env.Workers = workers
	env.Scan.Done = func(f *lake.DataFile) { p.g.Job.Done(1, f.FileSize) }
	var change lake.Change
	env.Commit = func(_ context.Context, _ *plan.Write, ch lake.Change, _ exec.Wrote) error {
		change = ch
		return nil
	}
	src, err := exec.Build(w, &env)
	if err != nil {
		return change, err
	}
	_, err = src.Next(ctx)
	return change, errors.Join(err, src.Close())
}

func partitions(s *lake.PartitionSpec) bool {
	return s != nil && slices.ContainsFunc(s.Fields, func(f lake.PartitionField) bool { return f.Transform.Kind != lake.Void })
}

// bins cuts tasks into n runs of about as many bytes.
func bins(tasks []plan.FileTask, bytes int64, n int) [][]plan.FileTask {
	var out [][]plan.FileTask
	from, done := 0, int64(0)
	for i := range tasks {
		done += tasks[i].File.FileSize
		// The run ends where the middle of the next file would lie beyond its share.
		share := float64(bytes) / float64(n) * float64(len(out)+1)
		if i+1 == len(tasks) || len(out)+1 < n && float64(done)+float64(tasks[i+1].File.FileSize)/2 > share {
			out = append(out, tasks[from:i+1])
			from = i + 1
		}
	}
	return out
}

// discard removes the files of groups that are not committed and never will be.
func (r *rewriting) discard(ctx context.Context, done []*written) {
	ctx = context.WithoutCancel(ctx)
	for _, w := range done {
		for _, f := range w.change.Add {
			_ = r.table.FS().Remove(ctx, r.table.Resolve(f.Path)) // what stays is an orphan
		}
	}
}

// commit publishes groups in one snapshot, without those that have lost to another writer meanwhile,
// which it gives. A failure that is no conflict is an error; with partial progress too many are.
func (r *rewriting) commit(ctx context.Context, done []*written) (lost []*RewriteGroup, err error) {
	drops := map[*lake.DataFile]bool{} // deletes that cannot be dropped after all
	for try := 0; ; try++ {
		ch, dropped := r.join(done, drops)
		if len(ch.Add)+len(ch.Remove) == 0 {
			return lost, nil
		}
		_, err := r.p.g.commit(ctx, ch)
		switch {
		case err == nil:
			r.committed(done, dropped, &ch)
			return lost, nil
		case lake.Outcome(err) == lake.Unknown:
			return lost, err // nothing that was written may go
		case sqlerr.CodeOf(err) != sqlerr.SerializationFailure || ctx.Err() != nil:
			r.discard(ctx, done)
			return lost, r.failure(ctx, done, err)
		}
		gone, e := r.lost(ctx, &ch)
		if e != nil {
			r.discard(ctx, done)
			return lost, e
		}
		var rest []*written
		some := false
		for _, w := range done {
			if slices.ContainsFunc(w.change.Remove, func(f *lake.DataFile) bool { return gone[f] }) {
				lost = append(lost, w.group)
				r.discard(ctx, []*written{w})
				some = true
			} else {
				rest = append(rest, w)
			}
		}
		for _, d := range dropped {
			if gone[d] && !drops[d] {
				drops[d], some = true, true
			}
		}
		if !some || try >= maxRounds {
			// It cannot be told by what they lost: all of them did.
			for _, w := range rest {
				lost = append(lost, w.group)
			}
			r.discard(ctx, rest)
			return lost, nil
		}
		done = rest
	}
}

// failure reports a commit that failed and will not be tried again.
func (r *rewriting) failure(ctx context.Context, done []*written, err error) error {
	if !r.p.opt.partial || ctx.Err() != nil {
		return err
	}
	if r.failed++; r.failed > r.p.opt.maxFailed {
		return err
	}
	for _, w := range done {
		r.result.Failed += len(w.group.Tasks)
	}
	r.env.Warn(sqlerr.CodeOf(err), "a commit failed: %v", err)
	return nil
}

// join makes one change of those of the groups, and adds the delete files that nothing is left for.
func (r *rewriting) join(done []*written, without map[*lake.DataFile]bool) (ch lake.Change, dropped []*lake.DataFile) {
	p := r.p
	ch = lake.Change{Base: r.table, Snapshot: p.snapshot, Branch: p.spec.Branch, Kind: lake.Compaction, Operation: "replace",
		KeepSeq: p.opt.startingSeq && r.table.FormatVersion() >= 2, Statement: p.spec.Statement, Balance: &lake.Balance{}}
	var groups []*RewriteGroup
	gone := map[string]bool{}
	for _, w := range done {
		groups = append(groups, w.group)
		ch.Add = append(ch.Add, w.change.Add...)
		ch.Remove = append(ch.Remove, w.change.Remove...)
		ch.Balance.Read += w.change.Balance.Read
		for _, f := range w.change.Remove {
			if f.Content != lake.Data {
				gone[deleteKey(f)] = true
			}
		}
	}
	if p.opt.dangling {
		for _, d := range p.held.dangling(groups) {
			if !gone[deleteKey(d)] && !without[d] {
				dropped = append(dropped, d)
			}
		}
		ch.Remove = append(ch.Remove, dropped...)
	}
	return ch, dropped
}

// committed notes what a commit did.
func (r *rewriting) committed(done []*written, dropped []*lake.DataFile, ch *lake.Change) {
	var groups []*RewriteGroup
	for _, w := range done {
		groups = append(groups, w.group)
		r.result.Rewritten += len(w.group.Tasks)
		r.result.Bytes += w.group.Bytes
	}
	r.result.Added += len(ch.Add)
	for _, f := range ch.Remove {
		if f.Content != lake.Data {
			r.result.RemovedDeletes++
			dropped = append(dropped, f)
		}
	}
	r.result.Commits++
	r.p.held.done(groups, dropped)
}

// lost asks what of a refused change another writer has taken.
func (r *rewriting) lost(ctx context.Context, ch *lake.Change) (map[*lake.DataFile]bool, error) {
	now, err := r.p.g.reload(ctx)
	if err != nil {
		return nil, err
	}
	return ch.Lost(ctx, now)
}

// anew lists the table again and gives the lost groups what is left of them, with the deletes that
// apply now.
func (r *rewriting) anew(ctx context.Context, lost []*RewriteGroup) ([]*RewriteGroup, error) {
	p := r.p
	t, err := p.g.reload(ctx)
	if err != nil {
		return nil, err
	}
	if t.UUID() != r.table.UUID() {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "table %s was dropped and made anew", t.Name.Table)
	}
	if !p.opt.specGiven {
		p.opt.specID = t.DefaultSpec().ID
	}
	if t.Spec(p.opt.specID) == nil {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "another transaction changed the partitioning of table %s", t.Name.Table)
	}
	if p.order, err = p.orderAgain(t); err != nil {
		return nil, err
	}
	if err := writable(t, p.opt.specID); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, g := range lost {
		for i := range g.Tasks {
			wanted[g.Tasks[i].File.Path] = true
		}
	}
	s, err := listSome(ctx, r.env, t, p.spec.Branch, nil, 0, func(_ *state, task *plan.FileTask) bool { return wanted[task.File.Path] })
	if err != nil {
		return nil, err
	}
	r.table, p.snapshot = t, s.snapshot
	if err := p.use(ctx, s); err != nil {
		return nil, err
	}
	live := map[string]plan.FileTask{}
	for _, task := range s.tasks {
		live[task.File.Path] = task
	}
	var out []*RewriteGroup
	for _, g := range lost {
		var tasks []plan.FileTask
		bytes := int64(0)
		for i := range g.Tasks {
			if task, ok := live[g.Tasks[i].File.Path]; ok {
				tasks, bytes = append(tasks, task), bytes+task.File.FileSize
			}
		}
		if len(tasks) > 0 && p.worthwhile(tasks, bytes) {
			out = append(out, p.newGroup(tasks, bytes))
		}
	}
	return out, nil
}

// orderAgain is the order of rows on another state of the table.
func (p *RewritePlan) orderAgain(t *lake.Table) (rewriteOrder, error) {
	if p.spec.SortOrder != "" {
		return parseOrder(t, p.spec.SortOrder)
	}
	return tableOrder(t), nil
}
