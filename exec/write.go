package exec

import (
	"context"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// Commit publishes what a Write did; the engine gives it. On a certain failure the files
// written are removed, under lake.Unknown they stay.
type Commit func(ctx context.Context, w *plan.Write, ch lake.Change, wrote Wrote) error

// Wrote tells which rows of a Change are new, and which are gone.
type Wrote struct {
	// New are the data files whose rows the statement has made: those that it inserted or updated.
	New []*lake.DataFile
	// Gone tells whether the statement took the row at a position of a data file of the base away,
	// by deleting or updating it; nil: it took none.
	Gone func(file string, pos int64) bool
	// GoneFrom are the data files that it took rows from.
	GoneFrom map[string]bool
	// Inserted, Updated and Deleted count rows.
	Inserted, Updated, Deleted int64
}

// outcome tells what was written, of which the first fresh files have new rows.
func (w *write) outcome(ch *lake.Change, fresh int) Wrote {
	s := w.sink
	out := Wrote{Inserted: s.Counted(plan.ActInsert), Updated: s.Counted(plan.ActUpdate), Deleted: s.Counted(plan.ActDelete)}
	for _, f := range s.Written()[:fresh] {
		if f.Content == lake.Data {
			out.New = append(out.New, f)
		}
	}
	touched := s.Touched()
	whole := map[string]bool{} // files that go with all their rows
	for _, f := range ch.Remove {
		if f.Content == lake.Data && touched[f.Path] == nil {
			whole[f.Path] = true
		}
	}
	if len(whole)+len(touched) > 0 {
		out.GoneFrom = whole
		for f := range touched {
			out.GoneFrom[f] = true
		}
		out.Gone = func(file string, pos int64) bool {
			t := touched[file]
			return t == nil && whole[file] || t != nil && t.Contains(uint64(pos))
		}
	}
	return out
}

// write runs a write statement: its input to the end, then the rewriting of touched files or
// the writing of deletes, then the commit. RETURNING's rows leave after the commit, so that
// nobody sees rows that were not written.
//
//	input partitions → action, address → Sink.Touch
//	                 → new rows        → Sink's data files
//	touched files    → rewritten without the touched rows (copy-on-write), or
//	                 → position deletes (v2), deletion vectors (v3)
type write struct {
	env  *Env
	node *plan.Write
	in   []vec.Source

	sink    *dml.Sink
	tasks   map[string]*plan.FileTask // of the target's scan, by data file path
	bufs    []*rowBuffer
	buf, at int
	ran     bool
	late    *clustered // nil: rows come in order already
}

// writeShare is the part of a query's memory limit that buffers of open files may hold.
const writeShare = 4

func buildWrite(env, outer *Env, n *plan.Write) ([]vec.Source, error) {
	if n.Rewrite != nil && len(n.Rewrite.Bins) > 0 {
		// One writer for each goroutine; what they read they open themselves.
		return one(&write{env: env, node: n, in: make([]vec.Source, min(env.workers(), len(n.Rewrite.Bins)))}), nil
	}
	in, err := build(n.Input, outer, exprColumns(n))
	if err != nil {
		return nil, err
	}
	return one(&write{env: env, node: n, in: in}), nil
}

func (w *write) Next(ctx context.Context) (*vec.Batch, error) {
	if !w.ran {
		w.ran = true
		if err := w.run(ctx); err != nil {
			return nil, err
		}
	}
	for w.buf < len(w.bufs) {
		if b := w.bufs[w.buf]; w.at < len(b.chunks) {
			w.at++
			return b.chunk(w.at - 1)
		}
		w.buf, w.at = w.buf+1, 0
	}
	return nil, nil
}

func (w *write) Close() error {
	err := closeAll(w.in)
	for _, b := range w.bufs { // some may be missing after an error
		if e := b.close(); err == nil {
			err = e
		}
	}
	return err
}

func (w *write) run(ctx context.Context) (err error) {
	buffer := int64(256 << 20)
	if w.env.Account != nil && w.env.Account.hard > 0 {
		buffer = min(buffer, w.env.Account.hard/writeShare)
	}
	if r := w.node.Rewrite; r != nil && r.Share > 1 {
		buffer /= int64(r.Share)
	}
	if w.sink, err = dml.NewSink(w.node, buffer/int64(len(w.in))); err != nil {
		return err
	}
	committed := false
	defer func() {
		// What fails after the commit leaves the files to those who read them.
		if err != nil && !committed && lake.Outcome(err) != lake.Unknown {
			w.sink.Discard(context.WithoutCancel(ctx))
		}
	}()
	w.findTasks()
	// A sort below is the table's, or one that the statement asked for.
	_, sorted := w.node.Input.(*plan.Sort)
	late := &clustered{env: w.env, types: w.sink.Types(), limit: min(maxBuckets, buffer/int64(2*len(w.in)))}
	late.cols, late.order, late.all = dml.Clustering(w.node)
	if r := w.node.Rewrite; r != nil {
		w.sink.Sorted(r.OrderID)
	} else if len(late.order) > 0 || sorted && dml.Sorts(w.node) {
		w.sink.Sorted(w.node.Target.Table.DefaultSortOrder().ID)
	}
	if late.all || !sorted {
		w.late = late
		defer func() {
			if e := late.close(); err == nil {
				err = e
			}
		}()
	}
	if w.node.Returning != nil {
		w.bufs = make([]*rowBuffer, len(w.in))
	}
	if r := w.node.Rewrite; r != nil && len(r.Bins) > 0 {
		err = w.writeBins(ctx, r.Bins)
	} else {
		err = w.writeStreams(ctx)
	}
	if err == nil && w.late != nil {
		err = w.late.write(ctx, w.sink)
	}
	if err != nil {
		return err
	}
	fresh := len(w.sink.Written()) // what change writes are copies and deletes
	ch, err := w.change(ctx)
	if err != nil {
		return err
	}
	w.env.Written = w.sink.Affected()
	w.env.Analyze.wrote(w.node, w.sink.Written(), w.late)
	if ch == nil && !w.node.Target.Table.Staged() {
		return nil // nothing was done, so there is nothing to commit
	}
	if ch == nil {
		ch = &lake.Change{} // CREATE TABLE AS without rows makes the table
	}
	err = w.env.Commit(ctx, w.node, *ch, w.outcome(ch, fresh))
	committed = err == nil
	return err
}

// writeStreams writes what comes from the input.
func (w *write) writeStreams(ctx context.Context) error {
	return parallel(ctx, len(w.in), func(ctx context.Context, i int) error {
		s, err := newWriteStream(ctx, w, i)
		if err != nil {
			return err
		}
		return s.run(ctx)
	})
}

// findTasks finds the target's scan below, which knows the data files and their deletes.
func (w *write) findTasks() {
	w.tasks = map[string]*plan.FileTask{}
	plan.Walk(w.node.Input, func(n plan.Node) {
		s, ok := n.(*plan.Scan)
		if !ok || s.Table.UUID() != w.node.Target.Table.UUID() || !readsAddress(s) {
			return
		}
		for i := range s.Tasks {
			w.tasks[s.Tasks[i].File.Path] = &s.Tasks[i]
		}
	})
}

func readsAddress(s *plan.Scan) bool {
	for _, c := range s.Cols {
		if c.FieldID == plan.HiddenFile {
			return true
		}
	}
	return false
}
