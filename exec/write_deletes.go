package exec

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// mergeOnRead writes deletes for the touched rows.
func (w *write) mergeOnRead(ctx context.Context, ch *lake.Change) error {
	files, _, err := w.touchedFiles()
	if err != nil {
		return err
	}
	s := w.sink
	ch.Kind = lake.MergeOnReadDelete
	if s.Counted(plan.ActUpdate)+s.Counted(plan.ActInsert) > 0 {
		ch.Kind = lake.MergeOnReadUpdate
	}
	if len(files) == 0 {
		return nil
	}
	for p := range files {
		ch.References = append(ch.References, p)
	}
	if w.node.Target.Table.FormatVersion() < 3 {
		_, err = s.PositionDeletes(ctx, files)
		w.balanceDeletes(ch, 0)
		return err
	}
	var before int64 // rows that were deleted, which the new vectors hold, too
	_, err = s.DeletionVectors(ctx, files, func(ctx context.Context, f *lake.DataFile) (*roaring64.Bitmap, error) {
		b, err := w.deletedBefore(ctx, f)
		if err == nil {
			before += int64(b.GetCardinality())
		}
		return b, err
	})
	if err != nil {
		return err
	}
	// What the new vectors hold in full goes.
	for p := range files {
		for _, d := range w.tasks[p].Deletes {
			if d.Content == lake.DeletionVector || d.Content == lake.PositionDeletes && d.ReferencedFile == p {
				ch.Remove = append(ch.Remove, d)
			}
		}
	}
	w.balanceDeletes(ch, before)
	return nil
}

// balanceDeletes has the commit check that the delete files hold what was touched, and what was
// deleted before: by delete files that go, and by those of other data files, too, that stay. Files
// that went whole do not add up that simply.
func (w *write) balanceDeletes(ch *lake.Change, before int64) {
	for _, d := range ch.Remove {
		if d.Content == lake.Data {
			return
		}
		before -= d.RecordCount
	}
	s := w.sink
	ch.Balance = &lake.Balance{Deletes: true, Deleted: before + s.Counted(plan.ActUpdate) + s.Counted(plan.ActDelete), Inserted: s.Counted(plan.ActInsert) + s.Counted(plan.ActUpdate)}
}
