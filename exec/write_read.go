package exec

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// scanOf reads whole rows of some data files of the target, with their addresses.
func (w *write) scanOf(tasks []plan.FileTask, fields bool, hidden ...int) *plan.Scan {
	t := w.node.Target
	sc := &plan.Scan{Table: t.Table, Snapshot: t.Base, Schema: t.Schema.Stored(), Pruned: true, Tasks: tasks}
	id := plan.ColID(0)
	add := func(name string, ty types.Type, field int) {
		id++
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: plan.Column{ID: id, Name: name, Type: ty}, FieldID: field})
	}
	if fields {
		for i := range t.Schema.Fields {
			f := &t.Schema.Fields[i]
			add(f.Name, f.Stored(), f.ID) // a row that stays is written again as it is
		}
	}
	for _, h := range hidden {
		ty := types.T(types.Int8)
		if h == plan.HiddenFile {
			ty = types.T(types.Text)
		}
		add("hidden", ty, h)
	}
	return sc
}

// deletedBefore gives the rows of f that position deletes and deletion vectors took out: those
// that a scan of positions alone does not give.
func (w *write) deletedBefore(ctx context.Context, f *lake.DataFile) (*roaring64.Bitmap, error) {
	out := roaring64.New()
	t := plan.FileTask{File: f}
	for _, d := range w.tasks[f.Path].Deletes {
		if d.Content != lake.EqualityDeletes {
			t.Deletes = append(t.Deletes, d)
		}
	}
	if len(t.Deletes) == 0 {
		return out, nil
	}
	live := roaring64.New()
	err := w.each(ctx, w.scanOf([]plan.FileTask{t}, false, plan.HiddenPos), func(b *vec.Batch) {
		for _, i := range selection(b) {
			live.Add(uint64(b.Cols[0].Values().I64[b.Cols[0].Row(int(i))]))
		}
	})
	if err != nil {
		return nil, err
	}
	out.AddRange(0, uint64(f.RecordCount))
	out.AndNot(live)
	return out, nil
}

// liveRows counts the rows of tasks that no delete has taken.
func (w *write) liveRows(ctx context.Context, tasks []plan.FileTask) (int64, error) {
	var n int64
	var read []plan.FileTask
	for _, t := range tasks {
		if len(t.Deletes) == 0 {
			n += t.File.RecordCount
		} else {
			read = append(read, plan.FileTask{File: t.File, Deletes: t.Deletes})
		}
	}
	if len(read) == 0 {
		return n, nil
	}
	err := w.each(ctx, w.scanOf(read, false, plan.HiddenPos), func(b *vec.Batch) { n += int64(b.Len()) })
	return n, err
}

// each runs a scan in this goroutine.
func (w *write) each(ctx context.Context, sc *plan.Scan, f func(*vec.Batch)) error {
	return w.batches(ctx, sc, func(b *vec.Batch) error { f(b); return nil })
}

// batches is each for what may fail.
func (w *write) batches(ctx context.Context, sc *plan.Scan, f func(*vec.Batch) error) error {
	one := *w.env
	one.Workers = 1
	parts := buildScan(&one, sc)
	defer closeAll(parts)
	for _, p := range parts {
		for {
			b, err := p.Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := f(b); err != nil {
				return err
			}
		}
	}
	return nil
}
