package lake

import "context"

// difference is what lies between two states of a branch, as sets of live files: what came and
// what went. Files that came and went in between leave no trace, nor need they.
type difference struct {
	added   []*DataFile // data files
	deletes []*DataFile // delete files
	removed map[string]*DataFile
}

// fileKey identifies a live file. Several deletion vectors share a Puffin file.
func fileKey(f *DataFile) string {
	if f.Content == DeletionVector {
		return f.Path + "\x00" + f.ReferencedFile
	}
	return f.Path
}

// diff compares the live files of two snapshots, of possibly different metadata. Manifests that
// both list are not read.
func diff(ctx context.Context, base *Table, from *Snapshot, head *Table, to *Snapshot) (*difference, error) {
	d := &difference{removed: map[string]*DataFile{}}
	if from == nil && to == nil || from != nil && to != nil && from.ID == to.ID {
		return d, nil
	}
	before, err := base.Manifests(ctx, from)
	if err != nil {
		return nil, err
	}
	after, err := head.Manifests(ctx, to)
	if err != nil {
		return nil, err
	}
	shared := map[string]bool{}
	for _, m := range before {
		shared[m.Path] = true
	}
	was := map[string]*DataFile{}
	now := map[string]*DataFile{}
	both := map[string]bool{}
	for _, m := range after {
		if shared[m.Path] {
			both[m.Path] = true
			continue
		}
		if err := live(ctx, head, m, func(f *DataFile) { now[fileKey(f)] = f }); err != nil {
			return nil, err
		}
	}
	for _, m := range before {
		if both[m.Path] {
			continue
		}
		if err := live(ctx, base, m, func(f *DataFile) { was[fileKey(f)] = f }); err != nil {
			return nil, err
		}
	}
	for k, f := range now {
		switch {
		case was[k] != nil:
		case f.Content == Data:
			d.added = append(d.added, f)
		default:
			d.deletes = append(d.deletes, f)
		}
	}
	for k, f := range was {
		if now[k] == nil {
			d.removed[k] = f
		}
	}
	return d, nil
}

// updates leaves the deletes that came with data: what updates of either kind write.
func (d *difference) updates() *difference {
	brought := map[int64]bool{}
	for _, f := range d.added {
		brought[f.SnapshotID] = true
	}
	out := &difference{}
	for _, del := range d.deletes {
		if brought[del.SnapshotID] {
			out.deletes = append(out.deletes, del)
		}
	}
	return out
}

func live(ctx context.Context, t *Table, m *Manifest, f func(*DataFile)) error {
	es, err := t.Entries(ctx, m)
	if err != nil {
		return err
	}
	for _, e := range es {
		if e.Status != Deleted {
			f(e.File)
		}
	}
	return nil
}

// pathColumn is the field id of file_path in position delete files (spec, "Reserved Field IDs").
const pathColumn = 2147483546

// mayApply tells whether the delete file d could delete rows of the data file f (spec, "Scan
// Planning").
func mayApply(t *Table, d, f *DataFile) bool {
	switch d.Content {
	case DeletionVector:
		return d.ReferencedFile == f.Path
	case PositionDeletes:
		if d.DataSeq < f.DataSeq {
			return false
		}
		if d.ReferencedFile != "" {
			return d.ReferencedFile == f.Path
		}
		if lo := d.Lower[pathColumn]; lo != nil && f.Path < string(lo) {
			return false
		}
		if hi := d.Upper[pathColumn]; hi != nil && f.Path > string(hi) {
			return false
		}
		return samePartition(d, f)
	case EqualityDeletes:
		return d.DataSeq > f.DataSeq && (unpartitioned(t.Spec(d.SpecID)) || samePartition(d, f))
	}
	return false
}

func unpartitioned(s *PartitionSpec) bool {
	if s == nil {
		return true
	}
	for _, f := range s.Fields {
		if f.Transform.Kind != Void {
			return false
		}
	}
	return true
}

func samePartition(a, b *DataFile) bool {
	if a.SpecID != b.SpecID || len(a.Partition) != len(b.Partition) {
		return false
	}
	for i := range a.Partition {
		x, y := a.Partition[i], b.Partition[i]
		if x.Form() != y.Form() || x.W128() != y.W128() || x.Str() != y.Str() {
			return false
		}
	}
	return true
}
