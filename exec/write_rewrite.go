package exec

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// rewrite replaces every touched file by its untouched rows.
func (w *write) rewrite(ctx context.Context, ch *lake.Change, dropped int64) error {
	_, tasks, err := w.touchedFiles()
	if err != nil {
		return err
	}
	s := w.sink
	changed := s.Counted(plan.ActUpdate) + s.Counted(plan.ActDelete) - dropped
	read := int64(0)
	if len(tasks) > 0 {
		if read, err = w.copyUntouched(ctx, tasks); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		ch.Remove = append(ch.Remove, t.File)
		for _, d := range t.Deletes {
			if d.Content == lake.DeletionVector || d.ReferencedFile == t.File.Path {
				ch.Remove = append(ch.Remove, d)
			}
		}
	}
	ch.Balance = &lake.Balance{Read: read + dropped, Deleted: changed + dropped, Inserted: s.Counted(plan.ActInsert) + s.Counted(plan.ActUpdate)}
	return nil
}

// copyUntouched writes the live rows of tasks that were not acted on and gives the number of
// live rows that it saw.
func (w *write) copyUntouched(ctx context.Context, tasks []plan.FileTask) (int64, error) {
	hidden := []int{plan.HiddenFile, plan.HiddenPos}
	lineage := dml.Lineage(w.node)
	if lineage {
		hidden = append([]int{plan.HiddenRowID, plan.HiddenRowSeq}, hidden...)
	}
	parts := buildScan(w.env, w.scanOf(tasks, true, hidden...))
	defer closeAll(parts)
	counts := make([]int64, len(parts))
	err := parallel(ctx, len(parts), func(ctx context.Context, i int) error {
		out, err := w.sink.Writer(ctx)
		if err != nil {
			return err
		}
		defer out.Abort()
		out.Unsorted()
		var sel []uint16
		for {
			b, err := parts[i].Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				return out.Close()
			}
			k := len(b.Cols) - 2
			file, pos := b.Cols[k], b.Cols[k+1]
			sel = sel[:0]
			var last string
			var touched *roaring64.Bitmap
			for _, r := range selection(b) {
				if f := file.Bytes(int(r)); touched == nil || string(f) != last {
					last = string(f)
					touched = w.sink.Touched()[last]
				}
				counts[i]++
				if !touched.Contains(uint64(pos.Values().I64[pos.Row(int(r))])) {
					sel = append(sel, r)
				}
			}
			if len(sel) == 0 {
				continue // an empty selection may be nil, which means all rows
			}
			cols := b.Cols[:k]
			if lineage {
				cols = append([]*vec.Vector(nil), cols...)
				cols[k-2] = provisional(cols[k-2], b, w.node.Target.Table, lake.LineageRowID)
				cols[k-1] = provisional(cols[k-1], b, w.node.Target.Table, lake.LineageSequence)
			}
			if err := out.Write(&vec.Batch{Cols: cols, Rows: b.Rows, Sel: sel}); err != nil {
				return err
			}
		}
	})
	var n int64
	for _, c := range counts {
		n += c
	}
	return n, err
}

// provisional forgets what only a transaction's own snapshots have given rows: their ids or
// sequence numbers. The commit gives others, and a NULL takes them.
func provisional(v *vec.Vector, b *vec.Batch, t *lake.Table, limit func(*lake.Table) int64) *vec.Vector {
	if t.Over() == nil {
		return v
	}
	first := limit(t.Over())
	a := vec.NewAppender(v.Type)
	at := 0
	for _, i := range selection(b) {
		for ; at < int(i); at++ {
			a.AppendNull() // not a row
		}
		at++
		if v.Null(int(i)) || v.Values().I64[v.Row(int(i))] >= first {
			a.AppendNull()
		} else {
			a.AppendDatum(v.Datum(int(i)))
		}
	}
	for ; at < b.Rows; at++ {
		a.AppendNull()
	}
	return a.Vector()
}
