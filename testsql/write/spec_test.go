package write

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/lhsql/lhsql/lake"
)

// checkSpec holds a table's metadata against the rules of the Iceberg spec that a writer can
// break: sequence numbers, counts, one deletion vector a file, totals, row ids. It reads what
// lies in the files, by nothing that the writer remembers.
func checkSpec(ctx context.Context, dir string, n lake.Name) error {
	c, err := lake.OpenCatalog(ctx, "lake", map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")})
	if err != nil {
		return err
	}
	defer c.Close()
	t, err := c.Load(ctx, n)
	if err != nil {
		return err
	}
	for _, s := range t.Snapshots() {
		if err := checkSnapshot(ctx, t, s); err != nil {
			return fmt.Errorf("snapshot %d (%s): %w", s.ID, s.Summary["lhsql.statement"], err)
		}
	}
	return nil
}

func checkSnapshot(ctx context.Context, t *lake.Table, s *lake.Snapshot) error {
	if s.ParentID != nil {
		if p := t.SnapshotByID(*s.ParentID); p != nil && p.Seq >= s.Seq {
			return fmt.Errorf("sequence number %d after the parent's %d", s.Seq, p.Seq)
		}
	}
	manifests, err := t.Manifests(ctx, s)
	if err != nil {
		return err
	}
	var data, deletes []*lake.DataFile
	for _, m := range manifests {
		live, err := checkManifest(ctx, t, s, m)
		if err != nil {
			return fmt.Errorf("manifest %s: %w", m.Path, err)
		}
		if m.Deletes {
			deletes = append(deletes, live...)
		} else {
			data = append(data, live...)
		}
	}
	files := map[string]*lake.DataFile{}
	rows := int64(0)
	for _, f := range data {
		if files[f.Path] != nil {
			return fmt.Errorf("%s is live twice", f.Path)
		}
		files[f.Path] = f
		rows += f.RecordCount
	}
	positions := int64(0)
	vectors := map[string]bool{}
	for _, d := range deletes {
		if d.Content == lake.EqualityDeletes {
			return fmt.Errorf("%s is an equality delete, which we do not write", d.Path)
		}
		positions += d.RecordCount
		if d.Content != lake.DeletionVector {
			continue
		}
		f := files[d.ReferencedFile]
		switch {
		case vectors[d.ReferencedFile]:
			return fmt.Errorf("%s has two deletion vectors", d.ReferencedFile)
		case f == nil:
			return fmt.Errorf("the deletion vector of %s outlived it", d.ReferencedFile)
		case d.RecordCount > f.RecordCount || d.RecordCount == 0:
			return fmt.Errorf("%s has %d rows and %d deleted", f.Path, f.RecordCount, d.RecordCount)
		case d.DataSeq < f.DataSeq:
			return fmt.Errorf("the deletion vector of %s is older than it", f.Path)
		}
		vectors[d.ReferencedFile] = true
	}
	for key, want := range map[string]int64{"total-data-files": int64(len(data)), "total-delete-files": int64(len(deletes)), "total-records": rows, "total-position-deletes": positions} {
		if got := s.Summary[key]; got != strconv.FormatInt(want, 10) {
			return fmt.Errorf("%s is %s, there are %d", key, got, want)
		}
	}
	return checkRowIDs(t, s, data)
}

// checkManifest holds a manifest's entry in the list against its entries and gives the live files.
func checkManifest(ctx context.Context, t *lake.Table, s *lake.Snapshot, m *lake.Manifest) ([]*lake.DataFile, error) {
	entries, err := t.Entries(ctx, m)
	if err != nil {
		return nil, err
	}
	var files, rows [3]int64
	var live []*lake.DataFile
	least := int64(-1)
	for _, e := range entries {
		files[e.Status]++
		rows[e.Status] += e.File.RecordCount
		if len(e.File.Partition) != len(t.Spec(m.SpecID).Fields) {
			return nil, fmt.Errorf("%s has %d partition values", e.File.Path, len(e.File.Partition))
		}
		if e.Status == lake.Deleted {
			continue
		}
		live = append(live, e.File)
		if least < 0 || e.File.DataSeq < least {
			least = e.File.DataSeq
		}
		if e.Status == lake.Added && t.FormatVersion() > 1 && (e.SnapshotID != m.AddedSnapshotID || e.File.DataSeq > m.Seq) {
			return nil, fmt.Errorf("%s was added by %d with sequence number %d", e.File.Path, e.SnapshotID, e.File.DataSeq)
		}
	}
	if want := [3]int64{m.ExistingFiles, m.AddedFiles, m.DeletedFiles}; files != want {
		return nil, fmt.Errorf("lists %v files existing, added and deleted, has %v", want, files)
	}
	if want := [3]int64{m.ExistingRows, m.AddedRows, m.DeletedRows}; rows != want {
		return nil, fmt.Errorf("lists %v rows existing, added and deleted, has %v", want, rows)
	}
	if m.Seq > s.Seq || m.MinSeq > m.Seq || least >= 0 && m.MinSeq > least {
		return nil, fmt.Errorf("sequence numbers %d to %d, the least live one is %d", m.MinSeq, m.Seq, least)
	}
	return live, nil
}

// checkRowIDs: in format 3 the row ids that files give by position do not overlap.
func checkRowIDs(t *lake.Table, s *lake.Snapshot, data []*lake.DataFile) error {
	if s.FirstRowID == nil {
		return nil
	}
	sort.Slice(data, func(i, k int) bool {
		return data[i].FirstRowID != nil && data[k].FirstRowID != nil && *data[i].FirstRowID < *data[k].FirstRowID
	})
	next := int64(0)
	for _, f := range data {
		if f.FirstRowID == nil {
			return fmt.Errorf("%s has no first row id", f.Path)
		}
		if *f.FirstRowID < next || *f.FirstRowID+f.RecordCount > lake.LineageRowID(t) {
			return fmt.Errorf("%s has row ids from %d, given already; the next is %d", f.Path, *f.FirstRowID, lake.LineageRowID(t))
		}
		next = *f.FirstRowID + f.RecordCount
	}
	return nil
}
