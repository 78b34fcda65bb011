package lake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/types"
)

var one = int64(1)

// Fields that a file must have are not taken for zero where it lacks them: the error names the field.
// The schema at the head of an Avro file is plain text; another field id of the same length is a
// field that is lost.
func TestRequiredAvroFields(t *testing.T) {
	spec := &PartitionSpec{ID: 1, Fields: []PartitionField{{FieldID: 1000, SourceIDs: []int{1}, Name: "p", Transform: Transform{Kind: Identity}, Type: TypeOf("long"), Iceberg: "long"}}}
	seq := int64(2)
	entries := func(deletes bool) []manifestEntry {
		f := &DataFile{Path: "a.parquet", Format: "parquet", SpecID: 1, Partition: []types.Datum{types.NewInt(1)}, RecordCount: 9, FileSize: 10, DataSeq: 2, FileSeq: 2}
		g := *f
		if deletes {
			f.Content, f.EqualityIDs = EqualityDeletes, []int{1}
			g.Content, g.Format, g.ReferencedFile, g.ContentOffset, g.ContentSize = DeletionVector, "puffin", "b.parquet", 4, 40
		}
		g.Path = "b"
		return []manifestEntry{{Existing, 5, &seq, &seq, f}, {Added, 5, nil, nil, &g}}
	}
	for _, deletes := range []bool{false, true} {
		b, m, err := encodeManifest(3, &Schema{}, spec, deletes, entries(deletes))
		if err != nil {
			t.Fatal(err)
		}
		m.Seq = 7
		if _, err := parseManifest(b, m, spec, nil); err != nil {
			t.Fatal(err)
		}
		required := map[string]int{"status": 0, "data_file": 2, "sequence_number": 3, "content": 134, "file_path": 100,
			"file_format": 101, "partition": 102, "record_count": 103, "file_size_in_bytes": 104}
		if deletes {
			for name, id := range map[string]int{"equality_ids": 135, "referenced_data_file": 143, "content_offset": 144, "content_size_in_bytes": 145} {
				required[name] = id
			}
		}
		for name, id := range required {
			_, err := parseManifest(loseField(t, b, id), m, spec, nil)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("deletes %v, without %s: %v", deletes, name, err)
			}
		}
		// What the list says of the manifest.
		for what, spoil := range map[string]func(*Manifest){
			"content":  func(m *Manifest) { m.Deletes = !m.Deletes },
			"files":    func(m *Manifest) { m.AddedFiles++ },
			"rows":     func(m *Manifest) { m.ExistingRows-- },
			"existing": func(m *Manifest) { m.ExistingFiles = 0 },
		} {
			other := *m
			spoil(&other)
			if _, err := parseManifest(b, &other, spec, nil); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("another %s in the list: %v", what, err)
			}
		}
		for _, path := range []string{"a.parquet", "b.parquet"} {
			bad := spoilRow(t, b, path)
			if bad == nil {
				continue
			}
			if _, err := parseManifest(bad, m, spec, nil); err == nil || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("a path that is no UTF-8: %v", err)
			}
		}
	}

	list := []*Manifest{{Path: "m.avro", Length: 5, SpecID: 1, Deletes: true, Seq: 3, MinSeq: 2, AddedSnapshotID: 9, AddedFiles: 1, AddedRows: 4}}
	b, err := encodeManifestList(2, &snapshotJSON{ID: &one}, list)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range listFields {
		if name == "" || slices.Contains([]string{"partitions", "key_metadata", "first_row_id"}, name) {
			continue
		}
		if _, err := parseManifestList(loseField(t, b, 500+i), 3); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a list without %s: %v", name, err)
		}
	}
	// Two fields of one id.
	if _, err := parseManifestList(bytes.Replace(b, []byte(`"field-id":517`), []byte(`"field-id":502`), 1), 3); err == nil || !strings.Contains(err.Error(), "one field id") {
		t.Errorf("two fields of one id: %v", err)
	}
}

// loseField gives a file whose schema has no field of the id.
func loseField(t *testing.T, b []byte, id int) []byte {
	t.Helper()
	for _, end := range []string{",", "}"} {
		old := fmt.Sprintf(`"field-id":%d%s`, id, end)
		lost := fmt.Sprintf(`"field-ix":%d%s`, id, end)
		if bytes.Contains(b, []byte(old)) {
			return bytes.Replace(b, []byte(old), []byte(lost), 1)
		}
	}
	t.Fatalf("no field has the id %d", id)
	return nil
}

// spoilRow makes a string in a file's rows no UTF-8; nil where it is not there. The file is written
// anew without compression.
func spoilRow(t *testing.T, b []byte, text string) []byte {
	t.Helper()
	f, err := openAvro(b)
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal([]byte(f.meta["avro.schema"]), &schema); err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{}
	for k, v := range f.meta {
		if !strings.HasPrefix(k, "avro.") {
			meta[k] = v
		}
	}
	w, err := newAvroWriter(schema, meta)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = f.rows(func(r *avroBuf) error {
		was := r.b
		r.skip(f.schema, 0)
		row := was[:len(was)-len(r.b)]
		n += bytes.Count(row, []byte(text))
		w.block.b = append(w.block.b, bytes.ReplaceAll(row, []byte(text), append([]byte{0xff}, text[1:]...))...)
		return w.endRow()
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return out
}

// A metadata file without what its format version requires is refused, and so is one that says two
// things of one.
func TestRequiredMetadata(t *testing.T) {
	whole := `{"format-version": 3, "table-uuid": "u", "location": "/t", "last-sequence-number": 1, "last-updated-ms": 1, "last-column-id": 3,
		"schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": false, "type": "int"}, {"id": 2, "name": "b", "required": false, "type": {"type": "list", "element-id": 3, "element": "int", "element-required": false}}]}],
		"current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0, "last-partition-id": 999,
		"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "next-row-id": 0,
		"current-snapshot-id": 7, "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1, "sequence-number": 1, "manifest-list": "m"}],
		"refs": {"main": {"snapshot-id": 7, "type": "branch"}}}`
	if _, err := parseMetadata([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(whole), &doc); err != nil {
		t.Fatal(err)
	}
	optional := []string{"refs", "snapshots", "current-snapshot-id"}
	for key := range doc {
		if slices.Contains(optional, key) {
			continue
		}
		less := map[string]any{}
		for k, v := range doc {
			if k != key {
				less[k] = v
			}
		}
		b, _ := json.Marshal(less)
		if _, err := parseMetadata(b); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("without %s: %v", key, err)
		}
	}
	for _, x := range [][3]string{
		{`"main": {"snapshot-id": 7`, `"main": {"snapshot-id": 8`, "main is at 8"},
		{`"current-snapshot-id": 7`, `"current-snapshot-id": 8`, "main is at 7"},
		{`[{"snapshot-id": 7`, `[{"snapshot-id": 9`, "no snapshot with the current id 7"},
		{`[{"snapshot-id": 7`, `[{"snapshot-ix": 7`, "snapshot-id"},
		{`"timestamp-ms": 1`, `"timestamp-mx": 1`, "timestamp-ms"},
		{`"id": 2`, `"id": 1`, "one field id, 1"},
		{`"element-id": 3`, `"element-id": 1`, "one field id, 1"},
		{`"element-id": 3`, `"element-ix": 3`, "field id"},
		{`"id": 2`, `"ix": 2`, `"b" lacks`},
		{`"name": "b"`, `"name": "a"`, "two columns are called a"},
		{`"default-spec-id": 0`, `"default-spec-id": 4`, "default id 4"},
		{`"location": "/t"`, "\"location\": \"/\xff\"", "UTF-8"},
	} {
		if !strings.Contains(whole, x[0]) {
			t.Fatalf("%s is not there", x[0])
		}
		if _, err := parseMetadata([]byte(strings.Replace(whole, x[0], x[1], 1))); err == nil || !strings.Contains(err.Error(), x[2]) {
			t.Errorf("%s: %v, want %s", x[1], err, x[2])
		}
	}
	// The branch main says what is current where the document does not.
	s, err := parseMetadata([]byte(strings.Replace(whole, `"current-snapshot-id": 7,`, "", 1)))
	if err != nil || s.currentSnapshot == nil || *s.currentSnapshot != 7 {
		t.Errorf("without current-snapshot-id: %v, %v", s, err)
	}
}

// Once a table has moved on, nothing is kept of the state before: its metadata file and its manifest
// list, which are as long as the history.
func TestNothingKeptOfPassedVersions(t *testing.T) {
	f := newFixture(t, "2")
	known := f.c.(*sqlCatalog).store.known
	var sizes []int64
	for range 40 {
		table, err := f.c.Commit(f.ctx, f.name, Change{Base: f.load(), Add: []*DataFile{f.file(1)}})
		f.must(err)
		_, err = table.Manifests(f.ctx, f.load().CurrentSnapshot())
		f.must(err)
		sizes = append(sizes, known.Used())
	}
	// If each state were kept, with all that came before it, the bytes would grow with the square.
	if first, last := sizes[9], sizes[39]; last > 5*first {
		t.Errorf("after 10 commits %d bytes are kept, after 40 %d", first, last)
	}
}

// A type that is not known makes the column's type unknown, however deep it stands: its table opens, and
// only reading that column is refused.
func TestUnknownTypesWithin(t *testing.T) {
	for _, text := range []string{`"hologram"`, `{"type":"list","element-id":2,"element":"hologram","element-required":true}`,
		`{"type":"map","key-id":2,"key":"string","value-id":3,"value":{"type":"list","element-id":4,"element":"hologram"}}`,
		`{"type":"struct","fields":[{"id":2,"name":"a","required":false,"type":"int"},{"id":3,"name":"b","required":false,"type":"hologram"}]}`, `{"type":"tree"}`} {
		var f Field
		if err := f.setType([]byte(text), 0); err != nil || f.Type.Kind != types.Invalid || f.Unreadable() == "" {
			t.Errorf("%s: %v, type %v, unreadable %q", text, err, f.Type, f.Unreadable())
		}
	}
}

// Spark's add_files puts manifests of format 1 into tables of later formats. Their files are data, and as old as
// the commit that added them: equality deletes of before do not apply to them.
func TestManifestOfFormat1(t *testing.T) {
	spec := &PartitionSpec{}
	f := &DataFile{Path: "a.parquet", Format: "parquet", RecordCount: 9, FileSize: 10}
	b, m, err := encodeManifest(1, &Schema{}, spec, false, []manifestEntry{{Added, 5, nil, nil, f}})
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []int64{0, 7} {
		m.Seq = seq
		es, err := parseManifest(b, m, spec, nil)
		if err != nil || es[0].File.DataSeq != seq || es[0].File.FileSeq != seq || es[0].File.Content != Data {
			t.Errorf("%+v, %v", es, err)
		}
	}
	m.Deletes = true
	if _, err := parseManifest(b, m, spec, nil); err == nil {
		t.Error("a manifest of format 1 was taken for one of deletes")
	}
	old := *f
	b, m, err = encodeManifest(1, &Schema{}, spec, false, []manifestEntry{{Existing, 5, nil, nil, &old}})
	if err != nil {
		t.Fatal(err)
	}
	m.Seq = 7
	if _, err := parseManifest(b, m, spec, nil); err == nil || !strings.Contains(err.Error(), "sequence_number") {
		t.Errorf("an old file took the number of a new commit: %v", err)
	}
}
