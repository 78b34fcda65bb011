package maintain_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// col is a column of a file that Arrow writes; an id of 0 is none.
func col(name string, t arrow.DataType, id int) arrow.Field {
	f := arrow.Field{Name: name, Type: t, Nullable: true}
	if id > 0 {
		f.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(id)})
	}
	return f
}

var (
	i32 = arrow.PrimitiveTypes.Int32
	i64 = arrow.PrimitiveTypes.Int64
	f64 = arrow.PrimitiveTypes.Float64
	str = arrow.BinaryTypes.String
)

// arrowFile writes a Parquet file with Arrow, its rows as JSON, two rows a row group. It gives the path.
func (h *house) arrowFile(path string, cols []arrow.Field, rows string, more ...parquet.WriterProperty) string {
	h.t.Helper()
	path = filepath.Join(h.dir, "warehouse", path)
	schema := arrow.NewSchema(cols, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		h.t.Fatal(err)
	}
	defer rec.Release()
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &b, parquet.NewWriterProperties(append(more, parquet.WithMaxRowGroupLength(2))...), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *house) add(table, source, more string) string {
	return "CALL system.add_files(table => '" + table + "', source_table => '" + source + "'" + more + ")"
}

// refused runs what must fail with a code and a text, and change nothing of a table.
func (h *house) refused(table, sql string, code sqlerr.Code, text string) {
	h.t.Helper()
	before := h.load(table).MetadataLocation
	out, err := ask(h.ctx, h.s, sql)
	if err == nil || sqlerr.CodeOf(err) != code || !strings.Contains(err.Error(), text) {
		h.t.Errorf("%s\n got %v, %v\nwant %s %s", sql, out, err, code, text)
	}
	if after := h.load(table).MetadataLocation; after != before {
		h.t.Errorf("%s changed the table", sql)
	}
}

// wantEither compares a query's rows with and without pruning.
func (h *house) wantEither(sql string, rows ...string) {
	h.t.Helper()
	h.want(sql, rows...)
	h.must("SET lhsql.pruning = off")
	h.want(sql, rows...)
	h.must("SET lhsql.pruning = on")
}

// Files of a Hive-style folder without field ids become a partitioned table's: names find columns, folders
// give the partition, and what the files lack is NULL.
func TestAddFilesHive(t *testing.T) {
	for _, v := range []string{"1", "2", "3"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id bigint, v text, k text) PARTITIONED BY (k) TBLPROPERTIES ('format-version' = '" + v + "')")
		h.must("INSERT INTO s.t VALUES (100, 'mine', 'a')")
		h.arrowFile("hive/k=a/1.parquet", []arrow.Field{col("id", i32, 0), col("v", str, 0)}, `[{"id":1,"v":"x"},{"id":2,"v":null},{"id":3,"v":"z"}]`)
		h.arrowFile("hive/k=b%2Fc d/part-0", []arrow.Field{col("id", i64, 0)}, `[{"id":4}]`)
		h.arrowFile("hive/k=__HIVE_DEFAULT_PARTITION__/1.parquet", []arrow.Field{col("v", str, 0), col("id", i64, 0)}, `[{"id":5,"v":"n"}]`)
		h.arrowFile("hive/k=a/empty.parquet", []arrow.Field{col("id", i32, 0)}, `[]`)
		h.arrowFile("hive/_temporary/9.parquet", []arrow.Field{col("id", str, 0)}, `[{"id":"hidden"}]`)
		h.arrowFile("hive/k=a/.hidden.parquet", []arrow.Field{col("id", str, 0)}, `[{"id":"hidden"}]`)
		folder := filepath.Join(h.dir, "warehouse", "hive")
		rows := []string{"100|mine|a", "1|x|a", "2|NULL|a", "3|z|a", "4|NULL|b/c d", "5|n|NULL"}

		h.want(h.add("s.t", "`parquet`.`"+folder+"`", ", dry_run => true"), "3|3")
		h.want("SELECT count(*) FROM s.t.snapshots", "1")
		h.refused("s.t", h.add("s.t", folder, ", partition_filter => map('k', 'none')"), sqlerr.UndefinedFile, "partition_filter")
		h.want(h.add("s.t", folder, ", partition_filter => map('k', 'a')"), "1|1")
		h.refused("s.t", h.add("s.t", folder, ""), sqlerr.DuplicateFile, folder+"/k=a/1.parquet")
		h.want(h.add("s.t", folder, ", partition_filter => map('k', 'b/c d')"), "1|1")
		h.want(h.add("s.t", "file://"+folder+"/k=__HIVE_DEFAULT_PARTITION__/1.parquet", ""), "1|1")

		h.wantEither("SELECT * FROM s.t", rows...)
		h.wantEither("SELECT id FROM s.t WHERE k = 'a' AND id > 2", "3", "100")
		h.wantEither("SELECT id FROM s.t WHERE k IS NULL", "5")
		h.wantEither("SELECT id FROM s.t WHERE v IS NULL", "2", "4")
		h.wantEither("SELECT min(id), max(id), count(*), count(v) FROM s.t", "1|100|6|4")
		h.want("SELECT record_count, value_counts, null_value_counts FROM s.t.files WHERE file_path LIKE '%/hive/k=a/1.parquet'", `3|{"1": 3, "2": 3}|{"1": 0, "2": 1}`)
		h.want("SELECT operation FROM s.t.snapshots ORDER BY committed_at DESC LIMIT 1", "append")

		// They live as the table's own from now on.
		h.must("ALTER TABLE s.t RENAME COLUMN v TO w")
		h.must("DELETE FROM s.t WHERE id = 2")
		h.must("CALL system.rewrite_data_files('s.t', options => map('rewrite-all', 'true'))")
		h.want("SELECT id, w, k FROM s.t", "100|mine|a", "1|x|a", "3|z|a", "4|NULL|b/c d", "5|n|NULL")
	}
}

// Field ids find columns where a file has them, and bounds of the footer prune as the table's own do.
func TestAddFilesByID(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id bigint NOT NULL, d double precision, v text, n numeric(20,2), at timestamp, m int)")
	cols := []arrow.Field{col("id", i64, 1), col("d", f64, 2), col("v", str, 3), col("n", &arrow.Decimal128Type{Precision: 10, Scale: 2}, 4), col("at", arrow.FixedWidthTypes.Timestamp_ms, 5)}
	cols[4].Type = &arrow.TimestampType{Unit: arrow.Millisecond}
	for i := range 4 {
		h.arrowFile(fmt.Sprintf("own/%d.parquet", i), cols, fmt.Sprintf(`[{"id":%d0,"d":%d.5,"v":"v%d-and-much-more-than-sixteen","n":"-%d.25","at":"2026-01-0%d 00:00:00"},{"id":%d1,"d":0,"v":null,"n":null,"at":null},{"id":%d2}]`, i, i, i, i, i+1, i, i))
	}
	h.want(h.add("s.t", filepath.Join(h.dir, "warehouse/own"), ""), "4|1")
	if h.load("s.t").NameMapping() != nil {
		t.Error("a table got a name mapping for files with field ids")
	}
	for q, want := range map[string][]string{
		"SELECT id FROM s.t WHERE id BETWEEN 20 AND 21":                {"20", "21"},
		"SELECT id FROM s.t WHERE d > 2.4":                             {"20", "30"},
		"SELECT id FROM s.t WHERE v = 'v1-and-much-more-than-sixteen'": {"10"},
		"SELECT id FROM s.t WHERE n < -2":                              {"20", "30"},
		"SELECT id FROM s.t WHERE at >= '2026-01-03'":                  {"20", "30"},
		"SELECT id FROM s.t WHERE n IS NULL AND id < 10":               {"1", "2"},
		"SELECT count(*), min(id), max(n), max(at) FROM s.t":           {"12|0|0.25|2026-01-04 00:00:00"},
		"SELECT count(m) FROM s.t WHERE m IS NULL":                     {"0"},
	} {
		if strings.Contains(q, "max(n)") {
			want = []string{"12|0|-0.25|2026-01-04 00:00:00"}
		}
		h.wantEither(q, want...)
	}
	if plan := strings.Join(h.must("EXPLAIN SELECT * FROM s.t WHERE id = 20"), "\n"); !strings.Contains(plan, "1/4") {
		t.Errorf("bounds do not prune:\n%s", plan)
	}
	h.want("SELECT DISTINCT upper_bounds IS NULL FROM s.t.files", "f")
}

// What cannot be the table's rows is refused by file, column and types, and nothing is changed.
func TestAddFilesRefused(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id bigint NOT NULL, a int, s struct<x int>, l int[])")
	one := func(cols []arrow.Field, rows string, more ...parquet.WriterProperty) string {
		os.RemoveAll(filepath.Join(h.dir, "warehouse", "bad"))
		return h.add("s.t", h.arrowFile("bad/f.parquet", cols, rows, more...), "")
	}
	id := col("id", i64, 0)
	for _, c := range []struct {
		cols []arrow.Field
		rows string
		code sqlerr.Code
		text string
	}{
		{[]arrow.Field{id, col("a", i64, 0)}, `[{"id":1,"a":2}]`, sqlerr.DatatypeMismatch, `column "a" of file ` + h.dir + `/warehouse/bad/f.parquet is long, the table's is int`},
		{[]arrow.Field{id, col("a", str, 0)}, `[{"id":1,"a":"2"}]`, sqlerr.DatatypeMismatch, "is string, the table's is int"},
		{[]arrow.Field{id, col("a", arrow.FixedWidthTypes.Timestamp_us, 0)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, "is timestamptz, the table's is int"},
		{[]arrow.Field{id, col("s", i32, 0)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, "is int, the table's is struct"},
		{[]arrow.Field{id, col("s", arrow.StructOf(col("x", str, 0)), 0)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, `column "s.x"`},
		{[]arrow.Field{id, col("l", arrow.ListOf(str), 0)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, `column "l.element"`},
		{[]arrow.Field{col("a", i32, 0)}, `[{"a":1}]`, sqlerr.NotNullViolation, `lacks column "id"`},
		{[]arrow.Field{id}, `[{"id":1},{"id":null}]`, sqlerr.NotNullViolation, `column "id" of file ` + h.dir + `/warehouse/bad/f.parquet holds NULL`},
		{[]arrow.Field{id, col("z", i32, 0)}, `[{"id":1}]`, sqlerr.UndefinedColumn, `column "z"`},
		{[]arrow.Field{id, col("ID", i32, 0)}, `[{"id":1}]`, sqlerr.UndefinedColumn, `column "ID"`},
		{[]arrow.Field{col("id", i64, 2)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, `has field id 2, which is column "a"`},
		{[]arrow.Field{col("id", i64, 77)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, `has field id 77, the table's column of that name has 1`},
		{[]arrow.Field{col("id", i64, 1), col("a", i32, 0)}, `[{"id":1}]`, sqlerr.DatatypeMismatch, `has no field id`},
		{[]arrow.Field{col("id", i64, 1), col("_row_id", i64, 2147483540)}, `[{"id":1}]`, sqlerr.UndefinedColumn, `"_row_id"`},
	} {
		h.refused("s.t", one(c.cols, c.rows), c.code, c.text)
	}
	h.refused("s.t", one([]arrow.Field{id}, `[{"id":1}]`, parquet.WithStats(false)), sqlerr.NotNullViolation, "may hold NULL")

	// A damaged file, beside one that is not.
	h.arrowFile("bad/good.parquet", []arrow.Field{id}, `[{"id":1}]`)
	bad := h.arrowFile("bad/f.parquet", []arrow.Field{id, col("a", i32, 0)}, `[{"id":1,"a":1},{"id":2,"a":2},{"id":3,"a":3}]`)
	whole, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	folder := h.add("s.t", filepath.Dir(bad), "")
	for _, cut := range []int{0, 3, 11, len(whole) / 2, len(whole) - 1} {
		h.plant(bad, whole[:cut], 0)
		_, err := ask(h.ctx, h.s, folder)
		if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.DataCorrupted || !strings.Contains(e.Message+e.Detail, bad) {
			t.Errorf("a file cut to %d bytes of %d: %v", cut, len(whole), err)
		}
	}
	footer := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	h.plant(bad, append(append([]byte{}, whole[:4]...), whole[footer:]...), 0) // the columns' pages are gone
	h.refused("s.t", folder, sqlerr.DataCorrupted, "does not lie in it")
	for i := footer; i < len(whole); i++ { // a byte that is wrong is an error of the file, or harmless
		b := bytes.Clone(whole)
		b[i] ^= 0xff
		h.plant(bad, b, 0)
		_, err := ask(h.ctx, h.s, h.add("s.t", bad, ", dry_run => true"))
		if err != nil && sqlerr.CodeOf(err) == sqlerr.InternalError {
			t.Errorf("byte %d of %d: %v", i, len(whole), err)
		}
	}
	h.plant(bad, whole, 0)
	h.want("SELECT count(*) FROM s.t", "0")

	// Places, spellings, and tables whose rules a footer cannot tell of.
	elsewhere := filepath.Join(t.TempDir(), "f.parquet")
	h.plant(elsewhere, whole, 0)
	h.refused("s.t", h.add("s.t", elsewhere, ""), sqlerr.InsufficientPrivilege, "outside of the places")
	h.refused("s.t", h.add("s.t", filepath.Dir(elsewhere), ""), sqlerr.InsufficientPrivilege, "outside of the places")
	h.refused("s.t", h.add("s.t", filepath.Join(h.dir, "warehouse/nowhere"), ""), sqlerr.UndefinedFile, "there is no file or folder")
	h.refused("s.t", h.add("s.t", "s.other", ""), sqlerr.InvalidParameterValue, "is no path")
	h.refused("s.t", h.add("s.t", "`orc`.`/x`", ""), sqlerr.FeatureNotSupported, "orc")
	h.refused("s.t", "BEGIN; "+h.add("s.t", bad, ""), sqlerr.ActiveTransaction, "transaction block")
	h.must("ROLLBACK")
	h.refused("s.t", h.add("s.t", bad, ", partition_filter => map('a', '1')"), sqlerr.InvalidParameterValue, "not partitioned")
	h.must("CREATE TABLE s.b (id bigint, a int) PARTITIONED BY (bucket(4, id))")
	h.refused("s.b", h.add("s.b", bad, ""), sqlerr.FeatureNotSupported, "bucket")
	h.must("CREATE TABLE s.c (id bigint, a int CHECK (a > 1))")
	h.refused("s.c", h.add("s.c", bad, ""), sqlerr.FeatureNotSupported, "check constraint")

	// Folders that contradict the file, or say what nobody would read.
	h.must("CREATE TABLE s.p (id bigint, a int) PARTITIONED BY (a)")
	h.refused("s.p", h.add("s.p", h.arrowFile("q/f.parquet", []arrow.Field{id}, `[{"id":1}]`), ""), sqlerr.InvalidParameterValue, "no folder of file")
	h.refused("s.p", h.add("s.p", h.arrowFile("q/a=x/f.parquet", []arrow.Field{id}, `[{"id":1}]`), ""), sqlerr.InvalidTextRepresentation, "names no integer")
	h.refused("s.p", h.add("s.p", h.arrowFile("q/a=1/f.parquet", []arrow.Field{id, col("a", i32, 0)}, `[{"id":1,"a":2}]`), ""), sqlerr.InvalidParameterValue, "its statistics do not show")
	h.refused("s.t", h.add("s.t", h.arrowFile("q/a=2/f.parquet", []arrow.Field{id}, `[{"id":1}]`), ""), sqlerr.InvalidParameterValue, "it would be lost")
	h.want(h.add("s.p", h.arrowFile("q/a=7/f.parquet", []arrow.Field{id, col("a", i32, 0)}, `[{"id":1,"a":7}]`), ""), "1|1")
	h.wantEither("SELECT * FROM s.p WHERE a = 7", "1|7")
}

// Of two that add the same file at a time one is told that the table has it; other writers do no harm,
// but for one who changes what names mean.
func TestAddFilesBeside(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id bigint, v text)")
	path := h.arrowFile("in/f.parquet", []arrow.Field{col("id", i64, 0), col("v", str, 0)}, `[{"id":1,"v":"x"}]`)
	call := h.add("s.t", path, "")
	if _, err := h.during(call, "swap", func() { h.as(h.other, call) }); sqlerr.CodeOf(err) != sqlerr.DuplicateFile {
		t.Errorf("the second of two: %v", err)
	}
	h.want("SELECT * FROM s.t", "1|x")
	h.want(h.add("s.t", path, ", check_duplicate_files => false"), "1|1")
	h.want("SELECT * FROM s.t", "1|x", "1|x")

	h.must("DELETE FROM s.t")
	if _, err := h.during(call, "swap", func() { h.as(h.other, "INSERT INTO s.t VALUES (2, 'y')") }); err != nil {
		t.Error(err)
	}
	h.want("SELECT * FROM s.t", "1|x", "2|y")

	h.must("CREATE TABLE s.u (id bigint, v text)")
	_, err := h.during(h.add("s.u", path, ""), "swap", func() { h.as(h.other, "ALTER TABLE s.u RENAME COLUMN v TO w") })
	if sqlerr.CodeOf(err) != sqlerr.UndefinedColumn {
		t.Errorf("a column that was renamed meanwhile: %v", err)
	}
	h.want("SELECT count(*) FROM s.u", "0")
}

// An expiry removes files that were added as it removes all others: those that no kept snapshot holds.
func TestAddFilesExpire(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id bigint)")
	path := h.arrowFile("in/f.parquet", []arrow.Field{col("id", i64, 0)}, `[{"id":1}]`)
	h.must(h.add("s.t", path, ""))
	h.must("CALL system.expire_snapshots('s.t', older_than => '2100-01-01')")
	h.want("SELECT * FROM s.t", "1")
	h.must("DELETE FROM s.t")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	h.must("CALL system.expire_snapshots('s.t', older_than => '2100-01-01')")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
