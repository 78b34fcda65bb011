package lake

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/types"
)

// wideManifest is a manifest of n files with statistics of 20 columns.
func wideManifest(t testing.TB, n int) ([]byte, *Manifest, *PartitionSpec) {
	schema := &Schema{}
	for i := range 20 {
		f := primitive(fmt.Sprintf("c%d", i), "long")
		f.ID = i + 1
		schema.Fields = append(schema.Fields, f)
	}
	spec := &PartitionSpec{ID: 0, Fields: []PartitionField{{FieldID: 1000, SourceIDs: []int{1}, Name: "c0_bucket",
		Transform: ParseTransform("bucket[16]"), Type: types.T(types.Int4), Iceberg: "int"}}}
	entries := make([]manifestEntry, n)
	for k := range entries {
		f := &DataFile{Path: fmt.Sprintf("/warehouse/db/t/data/c0_bucket=%d/%05d-%s.parquet", k%16, k, uuid.NewString()), Format: "parquet",
			Partition: []types.Datum{types.NewInt(int64(k % 16))}, RecordCount: 1000, FileSize: 12345, SplitOffsets: []int64{4},
			ColumnSizes: map[int]int64{}, ValueCounts: map[int]int64{}, NullCounts: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
		for i := range 20 {
			f.ColumnSizes[i+1], f.ValueCounts[i+1], f.NullCounts[i+1] = 100, 1000, 0
			f.Lower[i+1] = EncodeBound(types.NewInt(int64(k)), "long")
			f.Upper[i+1] = EncodeBound(types.NewInt(int64(k+1)), "long")
		}
		entries[k] = manifestEntry{status: Added, snapshot: 1, file: f}
	}
	b, m, err := encodeManifest(2, schema, spec, false, entries)
	if err != nil {
		t.Fatal(err)
	}
	m.Seq = 7
	return b, m, spec
}

// What is written is read, with every member.
func TestManifestRoundTrip(t *testing.T) {
	first := int64(40)
	for version := 1; version <= 3; version++ {
		spec := &PartitionSpec{ID: 3}
		var part []types.Datum
		u := uuid.New()
		for i, c := range []struct {
			iceberg string
			d       types.Datum
		}{
			{"boolean", types.NewBool(true)}, {"int", types.NewInt(-1)}, {"long", types.NewInt(math.MinInt64)}, {"float", types.NewFloat(-0.5)},
			{"double", types.NewFloat(1e300)}, {"string", types.NewStr("")}, {"binary", types.NewStr("\x00")}, {"date", types.NewInt(-1)},
			{"time", types.NewInt(1)}, {"timestamp", types.NewInt(-1)}, {"timestamptz", types.NewInt(1)}, {"timestamp_ns", types.NewInt(1)},
			{"uuid", uuidDatum(u[:])}, {"fixed[3]", types.NewStr("abc")}, {"decimal(9,2)", types.NewInt(-1)},
			{"decimal(38,10)", types.NewW128(types.Int128{Hi: -5, Lo: 7})}, {"decimal(18,0)", types.NewInt(999999999999999999)}, {"int", types.Null},
		} {
			spec.Fields = append(spec.Fields, PartitionField{FieldID: 1000 + i, SourceIDs: []int{1}, Name: fmt.Sprintf("p-%d", i),
				Transform: Transform{Kind: Identity}, Type: TypeOf(c.iceberg), Iceberg: c.iceberg})
			part = append(part, c.d)
		}
		f := &DataFile{Path: "a/é.parquet", Format: "parquet", SpecID: 3, Partition: part, RecordCount: 9, FileSize: 10,
			ColumnSizes: map[int]int64{1: 5}, ValueCounts: map[int]int64{1: 9, 2: 9}, NullCounts: map[int]int64{1: 0}, NaNCounts: map[int]int64{2: 1},
			Lower: map[int][]byte{1: {}, 2: {1}}, Upper: map[int][]byte{1: {2}}, SplitOffsets: []int64{4, 100}, SortOrderID: 2, SnapshotID: 5}
		seq, fileSeq := int64(3), int64(4)
		if version >= 2 {
			f.DataSeq, f.FileSeq, f.EqualityIDs, f.ReferencedFile = 3, 4, []int{1, 2}, "x"
		}
		if version >= 3 {
			f.FirstRowID = &first
		}
		b, m, err := encodeManifest(version, &Schema{}, spec, false, []manifestEntry{{Existing, 5, &seq, &fileSeq, f}, {Deleted, 6, &seq, &fileSeq, f}})
		if err != nil {
			t.Fatal(err)
		}
		es, err := parseManifest(b, m, spec, nil)
		if err != nil || len(es) != 2 || es[0].Status != Existing || es[1].Status != Deleted || es[1].SnapshotID != 6 {
			t.Fatalf("v%d: %v %v", version, es, err)
		}
		if !reflect.DeepEqual(es[0].File, f) {
			t.Errorf("v%d: read\n%+v\nwrote\n%+v", version, es[0].File, f)
		}
		// The list too; a bound of the empty string is there, not missing.
		m.Path, m.Length = "m.avro", 77
		if version < 2 {
			m.MinSeq = 0
		}
		lb, err := encodeManifestList(version, &snapshotJSON{ID: &one}, []*Manifest{m})
		if err != nil {
			t.Fatal(err)
		}
		ms, err := parseManifestList(lb, int64(version-1))
		if err != nil || len(ms) != 1 || !reflect.DeepEqual(ms[0], m) {
			t.Errorf("v%d: list read\n%+v\nwrote\n%+v, %v", version, ms[0], m, err)
		}
		if lo := ms[0].Partitions[5].Lower; lo == nil || len(lo) != 0 {
			t.Errorf("v%d: the empty string's bound: %v", version, lo)
		}
	}
}

// EntriesWith's decoding is the full one's, statistics of other fields aside.
func TestManifestSomeStatistics(t *testing.T) {
	b, m, spec := wideManifest(t, 100)
	all, err := parseManifest(b, m, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := parseManifest(b, m, spec, map[int]bool{3: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		a, s := all[i].File, some[i].File
		if a.Path != s.Path || a.DataSeq != 7 || s.DataSeq != 7 || len(s.Lower) != 1 || !bytes.Equal(s.Lower[3], a.Lower[3]) || s.ValueCounts[3] != 1000 || s.ColumnSizes != nil {
			t.Fatalf("entry %d: %+v", i, s)
		}
	}
}

func BenchmarkManifest100k(b *testing.B) {
	data, m, spec := wideManifest(b, 100_000)
	for name, stats := range map[string]map[int]bool{"all": nil, "two fields": {1: true, 2: true}, "no statistics": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				es, err := parseManifest(data, m, spec, stats)
				if err != nil || len(es) != 100_000 {
					b.Fatal(err)
				}
			}
		})
	}
}

// Outside bytes give values or errors, never a panic.

func FuzzManifest(f *testing.F) {
	b, m, spec := wideManifest(f, 3)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parseManifest(b, m, spec, nil) })
}

func FuzzManifestList(f *testing.F) {
	b, err := encodeManifestList(3, &snapshotJSON{ID: &one}, []*Manifest{{Path: "a", Partitions: []FieldSummary{{Lower: []byte{1}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parseManifestList(b, 1) })
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"format-version":2,"location":"/t","schemas":[{"schema-id":0,"fields":[{"id":1,"name":"x","type":{"type":"list","element-id":2,"element":"decimal(9, 2)"},"initial-default":[1]}]}],"current-schema-id":0,"partition-specs":[{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"p","transform":"bucket[4]"}]}],"snapshots":[{"snapshot-id":1,"summary":{"operation":"append"}}],"refs":{"main":{"snapshot-id":1,"type":"branch"}},"properties":{"schema.name-mapping.default":"[]"}}`))
	f.Add([]byte(`{"format-version":1,"schema":{"fields":[{"id":1,"name":"m","type":{"type":"map","key-id":2,"key":"string","value-id":3,"value":{"type":"struct","fields":[]}},"initial-default":{"keys":["a"],"values":[{}]}}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseMetadata(b)
		if err != nil {
			return
		}
		tab := &Table{state: *s}
		tab.NameMapping()
		_ = tab.CurrentSnapshot()
		for _, sch := range s.schemas {
			sch.json()
		}
	})
}

func FuzzView(f *testing.F) {
	f.Add([]byte(`{"format-version":1,"current-version-id":1,"versions":[{"version-id":1,"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}],"schemas":[{"fields":[]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parseView(Name{}, "", b) })
}
