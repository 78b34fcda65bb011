package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// writeBins copies runs of data files, each into files of its own: what lay near each other stays
// so, and bounds stay as narrow as they were.
//
//	bin → scan, deletes applied → data files
//	bin → scan, deletes applied → data files
func (w *write) writeBins(ctx context.Context, bins [][]plan.FileTask) error {
	var next atomic.Int64
	return parallel(ctx, len(w.in), func(ctx context.Context, _ int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(bins) {
				return nil
			}
			if err := w.writeBin(ctx, bins[i]); err != nil {
				return err
			}
		}
	})
}

func (w *write) writeBin(ctx context.Context, bin []plan.FileTask) error {
	var hidden []int
	if dml.Lineage(w.node) {
		hidden = []int{plan.HiddenRowID, plan.HiddenRowSeq}
	}
	out, err := w.sink.Writer(ctx)
	if err != nil {
		return err
	}
	defer out.Abort()
	err = w.batches(ctx, w.scanOf(bin, true, hidden...), func(b *vec.Batch) error {
		if err := canceled(ctx); err != nil {
			return err
		}
		w.sink.Count(plan.ActInsert, int64(b.Len()))
		return out.Write(b)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// compaction describes a rewrite: the new files stand for the old ones, and no row came or went.
// Where nothing was deleted, the rows are counted by what the manifests say, and not by what was
// read.
func (w *write) compaction(ch *lake.Change) *lake.Change {
	n := w.node
	r := n.Rewrite
	ch.Kind, ch.KeepSeq, ch.Operation = lake.Compaction, r.KeepSeq, "replace"
	ch.Add = w.sink.Written()
	rows, known := int64(0), true
	gone := map[*lake.DataFile]bool{}
	drop := func(d *lake.DataFile) {
		if !gone[d] {
			gone[d] = true
			ch.Remove = append(ch.Remove, d)
		}
	}
	for _, t := range r.Tasks {
		drop(t.File)
		rows += t.File.RecordCount
		known = known && len(t.Deletes) == 0 && t.File.RecordCount >= 0
		for _, d := range t.Deletes {
			if d.Content == lake.DeletionVector {
				drop(d)
			}
		}
	}
	for _, d := range r.Drop {
		drop(d)
	}
	if !known {
		rows = w.sink.Counted(plan.ActInsert)
	}
	ch.Balance = &lake.Balance{Read: rows}
	if r.KeepSeq && n.Target.Base != nil {
		for _, f := range ch.Add {
			f.DataSeq = n.Target.Base.Seq
		}
	}
	return ch
}
