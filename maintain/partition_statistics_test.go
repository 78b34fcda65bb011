package maintain_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// partitionStatistics computes those of the table's head and compares the file, as another reader reads it, with what the
// manifests say. It gives 1 if they went on from earlier ones.
func (h *house) partitionStatistics(table string, log []string) int {
	h.t.Helper()
	snapshots := h.must("SELECT count(*) FROM " + table + ".snapshots")
	if snapshots[0] == "0" {
		return 0
	}
	more := 0
	if slices.ContainsFunc(h.must("EXPLAIN CALL system.compute_partition_stats('"+table+"')"), func(l string) bool { return strings.Contains(l, "From: statistics") }) {
		more = 1
	}
	path := h.must("CALL system.compute_partition_stats('" + table + "')")[0]
	got, _ := h.partitionFile(path)
	var want []string
	for _, r := range h.must("SELECT partition::text, spec_id, record_count, file_count, total_data_file_size_in_bytes, position_delete_record_count, position_delete_file_count, equality_delete_record_count, equality_delete_file_count FROM " + table + ".partitions") {
		part, rest, _ := strings.Cut(r, "|")
		var m map[string]any
		if err := json.Unmarshal([]byte(part), &m); err != nil {
			h.t.Fatal(part, err)
		}
		want = append(want, partitionKey(m)+"|"+rest)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		h.t.Fatalf("partition statistics say\n%s\nnot\n%s\nafter\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(log, ";\n"))
	}
	return more
}

// partitionKey is a partition without its NULLs.
func partitionKey(m map[string]any) string {
	var out []string
	for k, v := range m {
		if v == nil || v == array.NullValueStr {
			continue // what a later spec has, a file of before may lack
		}
		out = append(out, fmt.Sprintf("%s=%v", k, v))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// partitionFile reads a file of partition statistics: partition, spec id and counts, vectors among the files
// of position deletes; and the order of the partitions.
func (h *house) partitionFile(path string) (rows, order []string) {
	h.t.Helper()
	f, err := os.Open(strings.TrimPrefix(path, "file://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	pf, err := file.NewParquetReader(f)
	if err != nil {
		h.t.Fatal(err)
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		h.t.Fatal(err)
	}
	tb, err := fr.ReadTable(h.ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	defer tb.Release()
	tr := array.NewTableReader(tb, 0)
	defer tr.Release()
	members := tb.Schema().Field(0).Type.(*arrow.StructType)
	for tr.Next() {
		rec := tr.RecordBatch()
		part := rec.Column(0).(*array.Struct)
		for i := range int(rec.NumRows()) {
			m := map[string]any{}
			for k := range part.NumField() {
				m[members.Field(k).Name] = part.Field(k).ValueStr(i)
			}
			n := map[string]int64{}
			for k := 1; k < int(rec.NumCols()); k++ {
				switch c := rec.Column(k).(type) {
				case *array.Int32:
					n[rec.ColumnName(k)] = int64(c.Value(i))
				case *array.Int64:
					n[rec.ColumnName(k)] = c.Value(i)
				}
			}
			order = append(order, partitionKey(m))
			rows = append(rows, fmt.Sprintf("%s|%d|%d|%d|%d|%d|%d|%d|%d", partitionKey(m), n["spec_id"], n["data_record_count"], n["data_file_count"], n["total_data_file_size_in_bytes"],
				n["position_delete_record_count"], n["position_delete_file_count"]+n["dv_count"], n["equality_delete_record_count"], n["equality_delete_file_count"]))
		}
	}
	return rows, order
}

// Partition statistics that are not those of the snapshot which they claim are not gone on from, nor kept:
// ones that count something else, ones that are no Parquet file, ones that are gone.
func TestPartitionStatisticsWrong(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
	h.must("INSERT INTO s.t VALUES (1, 'b'), (2, 'a'), (3, NULL)")
	path := h.must("CALL system.compute_partition_stats('s.t')")[0]
	if again := h.must("CALL system.compute_partition_stats('s.t')")[0]; again != path {
		t.Errorf("%s was written again as %s", path, again)
	}
	if rows, order := h.partitionFile(path); len(rows) != 3 || !slices.Equal(order, []string{"", "grp=a", "grp=b"}) {
		t.Errorf("order %q", order)
	}
	h.must("CREATE TABLE s.other (id int, grp text) PARTITIONED BY (grp)")
	h.must("INSERT INTO s.other VALUES (1, 'b'), (2, 'a'), (2, 'a'), (3, NULL)")
	other, err := os.ReadFile(h.must("CALL system.compute_partition_stats('s.other')")[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, now := range [][]byte{other, []byte("PAR1 no PAR1"), nil} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if now != nil {
			if err := os.WriteFile(path, now, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			h.must("INSERT INTO s.t VALUES (4, 'c')")
		}
		h.open() // nobody remembers the file
		h.partitionStatistics("s.t", nil)
		path = h.must("CALL system.compute_partition_stats('s.t')")[0]
	}
	if _, err := ask(h.ctx, h.s, "CREATE TABLE s.flat (id int)"); err != nil {
		t.Fatal(err)
	}
	h.must("INSERT INTO s.flat VALUES (1)")
	if _, err := ask(h.ctx, h.s, "CALL system.compute_partition_stats('s.flat')"); err == nil || !strings.Contains(err.Error(), "has no partitions") {
		t.Error(err)
	}
}
