// Package speccheck answers one question: does a table's metadata keep the rules of the Iceberg
// spec that a writer can break? It reads what lies in the files and knows nothing of who wrote
// them or how. Tests hold every table against it that they write.
package speccheck

import (
	"context"
	"fmt"
	"sort"
	"strconv"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// Table checks every snapshot that a table knows, and the metadata itself: sequence numbers,
// counts, partitions, one deletion vector a file, totals, row ids; and what manifests say of each
// data and delete file against what another Parquet reader finds in it.
func Table(ctx context.Context, t *lake.Table) error {
	if err := checkMetadata(t); err != nil {
		return err
	}
	c := &checker{table: t, fields: fieldsOf(t)}
	for _, s := range t.Snapshots() {
		if err := c.checkSnapshot(ctx, s); err != nil {
			return fmt.Errorf("snapshot %d (%s): %w", s.ID, s.Summary["lhsql.statement"], err)
		}
	}
	return nil
}

// checker is a table under check.
type checker struct {
	table  *lake.Table
	fields map[int]*lake.Field // of all its schemas, at any depth; the latest type of each
}

// fieldsOf finds fields by id, those that were dropped and those that the spec reserves too.
func fieldsOf(t *lake.Table) map[int]*lake.Field {
	out := map[int]*lake.Field{}
	var walk func(list []lake.Field)
	walk = func(list []lake.Field) {
		for i := range list {
			out[list[i].ID] = &list[i]
			walk(list[i].Children)
		}
	}
	for _, s := range t.Schemas() {
		walk(s.Fields)
	}
	walk(t.Schema().Fields)
	walk([]lake.Field{
		{ID: deletePath, Name: "file_path", Iceberg: "string", Type: types.T(types.Text)},
		{ID: deletePos, Name: "pos", Iceberg: "long", Type: types.T(types.Int8)},
		{ID: rowID, Name: "_row_id", Iceberg: "long", Type: types.T(types.Int8)},
		{ID: rowSequence, Name: "_last_updated_sequence_number", Iceberg: "long", Type: types.T(types.Int8)},
	})
	return out
}

// Catalog checks every table of a catalog.
func Catalog(ctx context.Context, c lake.Catalog) error {
	namespaces, err := c.Namespaces(ctx)
	if err != nil {
		return err
	}
	for _, ns := range namespaces {
		names, err := c.List(ctx, ns)
		if err != nil {
			return err
		}
		for _, n := range names {
			t, err := c.Load(ctx, n)
			if err == nil {
				err = Table(ctx, t)
			}
			if err != nil {
				return fmt.Errorf("table %s: %w", n, err)
			}
		}
	}
	return nil
}

// checkMetadata: ids are unique and what is current exists, refs lead to snapshots, the logs are
// in order, and each snapshot has a sequence number and a time of its own.
func checkMetadata(t *lake.Table) error {
	if t.Schema() == nil || t.DefaultSpec() == nil || t.UUID() == "" && t.FormatVersion() > 1 {
		return fmt.Errorf("the current schema, spec or the UUID is missing")
	}
	fields := map[int]string{}
	if err := uniqueIDs(t.Schema().Fields, fields); err != nil {
		return err
	}
	for _, id := range t.Schema().Identifier {
		if f, _ := t.Schema().ByID(id); f == nil || !f.Required {
			return fmt.Errorf("identifier field %d is missing or may be NULL", id)
		}
	}
	for _, sp := range t.Specs() {
		seen := map[string]bool{}
		for _, f := range sp.Fields {
			if seen[f.Name] || f.FieldID < 1000 {
				return fmt.Errorf("spec %d: field %q, id %d", sp.ID, f.Name, f.FieldID)
			}
			seen[f.Name] = true
		}
	}
	ids, seqs := map[int64]bool{}, map[int64]bool{}
	for _, s := range t.Snapshots() {
		if ids[s.ID] || seqs[s.Seq] && t.FormatVersion() > 1 && s.Seq > 0 || s.Seq >= lake.LineageSequence(t) && t.FormatVersion() > 1 {
			return fmt.Errorf("snapshot %d: its id or sequence number %d is given twice, or lies beyond the last", s.ID, s.Seq)
		}
		ids[s.ID], seqs[s.Seq] = true, true
		if s.SchemaID != nil && t.SchemaByID(*s.SchemaID) == nil {
			return fmt.Errorf("snapshot %d: schema %d is missing", s.ID, *s.SchemaID)
		}
		if t.FormatVersion() >= 3 && s.FirstRowID != nil && (s.AddedRows == nil || *s.FirstRowID+*s.AddedRows > lake.LineageRowID(t)) {
			return fmt.Errorf("snapshot %d: row ids from %d lie beyond the next one, %d", s.ID, *s.FirstRowID, lake.LineageRowID(t))
		}
	}
	for _, r := range t.Refs() {
		if !ids[r.SnapshotID] {
			return fmt.Errorf("%s leads to snapshot %d, which is missing", r.Name, r.SnapshotID)
		}
	}
	log := t.SnapshotLog()
	for i := range log {
		if i > 0 && log[i].Time.Before(log[i-1].Time) {
			return fmt.Errorf("the snapshot log goes back in time at %d", i)
		}
	}
	if main, ok := t.Ref("main"); ok && len(log) > 0 && log[len(log)-1].SnapshotID != main.SnapshotID {
		return fmt.Errorf("the snapshot log ends with %d, main is at %d", log[len(log)-1].SnapshotID, main.SnapshotID)
	}
	return nil
}

func uniqueIDs(list []lake.Field, seen map[int]string) error {
	names := map[string]bool{}
	for i := range list {
		f := &list[i]
		if other, twice := seen[f.ID]; twice || names[f.Name] || f.ID <= 0 {
			return fmt.Errorf("field %q has the id %d, of %q", f.Name, f.ID, other)
		}
		seen[f.ID], names[f.Name] = f.Name, true
		if err := uniqueIDs(f.Children, seen); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkSnapshot(ctx context.Context, s *lake.Snapshot) error {
	t := c.table
	if s.ParentID != nil {
		// Snapshots of format 1 have no sequence numbers; those that an upgrade leaves read as 0.
		if p := t.SnapshotByID(*s.ParentID); p != nil && p.Seq >= s.Seq && (p.Seq > 0 || s.Seq > 0) {
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
	positions, equal := int64(0), int64(0)
	vectors := map[string]bool{}
	for _, d := range deletes {
		if d.Content == lake.EqualityDeletes {
			equal += d.RecordCount
			continue
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
	totals := map[string]int64{"total-data-files": int64(len(data)), "total-delete-files": int64(len(deletes)), "total-records": rows,
		"total-position-deletes": positions, "total-equality-deletes": equal}
	for key, want := range totals {
		if got := s.Summary[key]; got != strconv.FormatInt(want, 10) {
			return fmt.Errorf("%s is %s, there are %d", key, got, want)
		}
	}
	if err := checkRowIDs(t, s, data); err != nil {
		return err
	}
	for _, f := range data {
		if err := c.checkData(ctx, f); err != nil {
			return err
		}
	}
	return c.checkDeletes(ctx, files, deletes)
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
	if err := checkSummaries(t, m, live); err != nil {
		return nil, err
	}
	if m.Seq > s.Seq || m.MinSeq > m.Seq || least >= 0 && m.MinSeq > least {
		return nil, fmt.Errorf("sequence numbers %d to %d, the least live one is %d", m.MinSeq, m.Seq, least)
	}
	return live, nil
}

// checkSummaries: the bounds of a manifest's partitions, by which readers skip it, hold those of
// its live files.
func checkSummaries(t *lake.Table, m *lake.Manifest, live []*lake.DataFile) error {
	spec := t.Spec(m.SpecID)
	if m.Partitions == nil || len(m.Partitions) != len(spec.Fields) {
		if len(spec.Fields) > 0 {
			return fmt.Errorf("%d partition summaries for %d fields", len(m.Partitions), len(spec.Fields))
		}
		return nil
	}
	for i, p := range m.Partitions {
		f := spec.Fields[i]
		lo, ok := lake.DecodeBound(f.Type, f.Iceberg, p.Lower)
		hi, ok2 := lake.DecodeBound(f.Type, f.Iceberg, p.Upper)
		for _, d := range live {
			v := d.Partition[i]
			switch {
			case v.IsNull() && !p.ContainsNull:
				return fmt.Errorf("partition field %q of %s is NULL, and the manifest says there is none", f.Name, d.Path)
			case v.IsNull() || !ok || !ok2 || p.ContainsNaN != nil && *p.ContainsNaN:
			case types.Compare(v, lo, f.Type) < 0 || types.Compare(v, hi, f.Type) > 0:
				return fmt.Errorf("partition field %q of %s lies outside the manifest's bounds", f.Name, d.Path)
			}
		}
	}
	return nil
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
