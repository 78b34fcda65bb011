package maintain_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/klauspost/compress/zstd"
	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
	"github.com/twmb/avro/ocf"
)

// commitFile writes a Parquet file of one row and commits it as a delete file.
func (h *house) commitFile(table string, fields []lake.Field, row []types.Datum, change func(*lake.DataFile), summary map[string]string) {
	h.t.Helper()
	h.commitRows(table, fields, [][]types.Datum{row}, change, summary)
}

func (h *house) commitRows(table string, fields []lake.Field, rows [][]types.Datum, change func(*lake.DataFile), summary map[string]string) {
	h.t.Helper()
	t := h.load(table)
	path := t.FilePath("", fmt.Sprintf("planted-%d.parquet", time.Now().UnixNano()))
	out, err := t.FS().CreateStream(h.ctx, t.Resolve(path))
	if err != nil {
		h.t.Fatal(err)
	}
	w, err := parquet.NewWriter(out, fields, parquet.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	b := &vec.Batch{Rows: len(rows)}
	for i, f := range fields {
		a := vec.NewAppender(f.Type)
		for _, row := range rows {
			a.AppendDatum(row[i])
		}
		b.Cols = append(b.Cols, a.Vector())
	}
	err = w.Write(b)
	d, e := w.Close()
	if err = errors.Join(err, e); err == nil {
		err = out.Commit(h.ctx)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	d.Path, d.SpecID = path, t.DefaultSpec().ID
	for range t.DefaultSpec().Fields {
		d.Partition = append(d.Partition, types.Null)
	}
	change(d)
	if _, err := h.catalog().Commit(h.ctx, t.Name, lake.Change{Add: []*lake.DataFile{d}, Summary: summary}); err != nil {
		h.t.Fatal(err)
	}
}

// puffinWith is a Puffin file with a blob that is compressed.
func puffinWith(text string) []byte {
	z, _ := zstd.NewWriter(nil)
	blob := z.EncodeAll([]byte(strings.Repeat("x", 100)+text), nil)
	b := append([]byte("PFA1"), blob...)
	footer, _ := json.Marshal(map[string]any{"blobs": []any{map[string]any{"type": "some-sketch", "fields": []int{1}, "snapshot-id": 1, "sequence-number": 1,
		"offset": 4, "length": len(blob), "compression-codec": "zstd"}}})
	b = append(append(b, "PFA1"...), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(append(b, 0, 0, 0, 0), "PFA1"...)
}

// plant puts a file of a table's that nothing holds, or is held soon, in place; days old.
func (h *house) plant(path string, b []byte, days int) {
	h.t.Helper()
	old := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
	if err := errors.Join(os.WriteFile(path, b, 0o644), os.Chtimes(path, old, old)); err != nil {
		h.t.Fatal(err)
	}
}

// reregister gives a table metadata that no statement can make.
func (h *house) reregister(table string, change func(map[string]any)) {
	h.t.Helper()
	t := h.load(table)
	b, err := os.ReadFile(t.MetadataLocation)
	if err != nil {
		h.t.Fatal(err)
	}
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		h.t.Fatal(err)
	}
	change(doc)
	if b, err = json.Marshal(doc); err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(t.MetadataLocation), "99990-"+strings.TrimPrefix(filepath.Base(t.MetadataLocation), "0000"))
	h.plant(path, b, 0)
	was, _ := os.ReadFile(t.MetadataLocation)
	h.plant(t.MetadataLocation, was, 9) // nothing holds it from now on
	h.must("DROP TABLE " + table)
	h.must("CALL system.register_table('" + table + "', '" + path + "')")
}

// planted are two tables with the token in every place where it can be. What remains is told by rows.
func (h *house) planted() (rows map[string][]string) {
	v2 := "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'"
	// A column that was dropped, and one that took its name.
	h.must("CREATE TABLE s.t (id int, token text, info struct<note text>) TBLPROPERTIES (" + v2 + ")")
	h.must("INSERT INTO s.t VALUES (1, '" + token + "', row('n')), (2, 'keep', row('n'))")
	h.must("ALTER TABLE s.t DROP COLUMN token")
	h.must("ALTER TABLE s.t ADD COLUMN customer text")
	h.must("INSERT INTO s.t (id, info, customer) VALUES (3, row('n'), '" + token + "'), (4, row('n'), 'keep'), (5, row('n'), '" + token + "')")
	h.must("ALTER TABLE s.t RENAME COLUMN customer TO token")
	h.must("ALTER TABLE s.t CREATE TAG before")
	h.must("UPDATE s.t SET token = 'other' WHERE id = 3") // the row of before lies there still
	h.must("DELETE FROM s.t WHERE id = 5")
	h.must("INSERT INTO s.t (id, info, token) VALUES (6, row('n'), '" + token + "'), (7, row('n'), 'zzz')")
	h.must("ALTER TABLE s.t CREATE BRANCH b")
	h.must("INSERT INTO s.t.branch_b (id, info, token) VALUES (8, row('n'), '" + token + "'), (9, row('n'), 'b')")
	t := h.load("s.t")
	f := *t.Schema().ByName("token")
	f.Required = false
	h.commitFile("s.t", []lake.Field{f}, []types.Datum{types.NewStr("nobody-" + token)}, func(d *lake.DataFile) {
		d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{f.ID}
	}, nil)
	h.commitFile("s.t", []lake.Field{f}, []types.Datum{types.NewStr(token)}, func(d *lake.DataFile) {
		d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{f.ID}
	}, map[string]string{"job.note": "erasure of " + token})
	h.must("INSERT INTO s.t (id, info, token) VALUES (10, row('n'), '" + token + "')") // after the delete: it lives
	// A position delete that has the row it deletes.
	data := h.must("SELECT _file FROM s.t WHERE id = 10")[0]
	text, long := types.T(types.Text), types.T(types.Int8)
	h.must("INSERT INTO s.t (id, info, token) VALUES (11, row('n'), '" + token + "')")
	h.commitFile("s.t", []lake.Field{
		{ID: 2147483546, Name: "file_path", Type: text, Iceberg: "string", Required: true},
		{ID: 2147483545, Name: "pos", Type: long, Iceberg: "long", Required: true},
		{ID: 2147483544, Name: "row", Iceberg: "struct", Type: types.StructOf(types.Field{Name: "token", Type: text}),
			Children: []lake.Field{{ID: f.ID, Name: "token", Type: text, Iceberg: "string"}}},
	}, []types.Datum{types.NewStr(data), types.NewInt(0), types.NewStruct([]types.Datum{types.NewStr(token)})}, func(d *lake.DataFile) {
		d.Content = lake.PositionDeletes
	}, nil)
	h.must("INSERT INTO s.t (id, info, token) VALUES (12, row('n'), 'last')")
	t = h.load("s.t")
	stats := filepath.Join(filepath.Dir(t.MetadataLocation), "stats-"+fmt.Sprint(t.CurrentSnapshot().ID)+".puffin")
	h.plant(stats, puffinWith(token), 0)
	h.reregister("s.t", func(doc map[string]any) {
		doc["statistics"] = []any{map[string]any{"snapshot-id": t.CurrentSnapshot().ID, "statistics-path": stats, "file-size-in-bytes": 10, "file-footer-size-in-bytes": 10, "blob-metadata": []any{}}}
	})
	// Orphans: of a writer that died, of an expiry that was cut off, of a metadata file that left the log.
	held, _ := os.ReadFile(data)
	h.plant(filepath.Join(filepath.Dir(data), "dead-writer.parquet"), held, 9)
	ms, err := t.Manifests(h.ctx, t.CurrentSnapshot())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range ms {
		b, _ := os.ReadFile(t.Resolve(m.Path))
		h.plant(filepath.Join(filepath.Dir(t.MetadataLocation), "orphan-"+filepath.Base(m.Path)), b, 9)
	}
	b, _ := os.ReadFile(t.MetadataLocation)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	h.plant(filepath.Join(filepath.Dir(t.MetadataLocation), "00000-orphan.metadata.json.gz"), z.Bytes(), 9)
	h.plant(filepath.Join(filepath.Dir(t.MetadataLocation), "orphan.puffin"), puffinWith(token), 9)
	h.plant(filepath.Join(filepath.Dir(data), "_notes"), []byte("a hidden file: "+token), 9)

	// Partition values and paths; deletion vectors that name such a path.
	h.must("CREATE TABLE s.p (id int, token text) PARTITIONED BY (token) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')")
	h.must("INSERT INTO s.p VALUES (1, '" + token + "'), (2, '" + token + "'), (3, 'keep')")
	h.must("DELETE FROM s.p WHERE id = 2")
	h.must("DELETE FROM s.p WHERE id = 3")
	h.must("INSERT INTO s.p VALUES (4, 'keep'), (5, 'keep')")
	return map[string][]string{
		"SELECT id, token FROM s.t":          {"1|NULL", "2|NULL", "3|other", "4|keep", "7|zzz", "12|last"},
		"SELECT id, token FROM s.t.branch_b": {"1|NULL", "2|NULL", "3|other", "4|keep", "7|zzz", "9|b"},
		"SELECT id, token FROM s.p":          {"4|keep", "5|keep"},
	}
}

// mark is what the judges look for: bounds are cut off after 16 characters.
var mark = token[:12]

// judges look for the token in a lake's files with libraries that are not ours, and in the raw bytes.
func judges(t *testing.T, root string) (where []string) {
	t.Helper()
	found := map[string]bool{}
	err := filepath.Walk(root, func(p string, i os.FileInfo, err error) error {
		if err != nil || i.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		note := func(by string) { found[strings.TrimPrefix(p, root)+": "+by] = true }
		if strings.Contains(p, mark) {
			note("path")
		}
		if bytes.Contains(b, []byte(mark)) {
			note("raw bytes")
		}
		switch {
		case bytes.HasPrefix(b, []byte("PAR1")):
			return arrowValues(b, func(v string) {
				if strings.Contains(v, mark) {
					note("Parquet value")
				}
			})
		case bytes.HasPrefix(b, []byte("Obj\x01")):
			r, err := ocf.NewReader(bytes.NewReader(b))
			if err != nil {
				return err
			}
			for {
				var v any
				if err := r.Decode(&v); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if strings.Contains(fmt.Sprintf("%s", v), mark) { // bounds are bytes
					note("Avro value")
				}
			}
		case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return err
			}
			if b, err = io.ReadAll(z); err != nil {
				return err
			}
			if bytes.Contains(b, []byte(mark)) {
				note("gzip")
			}
		case bytes.HasPrefix(b, []byte("PFA1")):
			if z, _ := zstd.NewReader(nil); len(b) > 8 {
				for i := 4; i < min(len(b), 8); i++ {
					if plain, err := z.DecodeAll(b[i:bytes.Index(b[4:], []byte("PFA1"))+4], nil); err == nil && bytes.Contains(plain, []byte(mark)) {
						note("Puffin blob")
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for w := range found {
		where = append(where, w)
	}
	sort.Strings(where)
	return where
}

// arrowValues gives all values of a Parquet file's byte array columns.
func arrowValues(b []byte, yield func(string)) error {
	r, err := file.NewParquetReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer r.Close()
	for g := range r.NumRowGroups() {
		rg := r.RowGroup(g)
		for c := range rg.NumColumns() {
			col, err := rg.Column(c)
			if err != nil {
				return err
			}
			x, ok := col.(*file.ByteArrayColumnChunkReader)
			if !ok {
				continue
			}
			values := make([]arrow.ByteArray, 1024)
			defs, reps := make([]int16, 1024), make([]int16, 1024)
			for x.HasNext() {
				_, n, err := x.ReadBatch(1024, values, defs, reps)
				if err != nil {
					return err
				}
				for _, v := range values[:n] {
					yield(string(v))
				}
			}
		}
	}
	return nil
}

// SHOW HOLDERS finds the token wherever it can be, and nothing of it is left after ERASE: as others
// read the files, and in no raw byte.
func TestPlanted(t *testing.T) {
	h := newHouse(t)
	rows := h.planted()
	if len(judges(t, filepath.Join(h.dir, "warehouse"))) < 20 {
		t.Fatal("the judges see little")
	}
	kinds := map[string]int{}
	for _, r := range h.must("SHOW HOLDERS FROM s.t, s.p WHERE token = '" + token + "'") {
		p := strings.Split(r, "|")
		kinds[p[1]]++
		if testing.Verbose() {
			t.Log(r)
		}
	}
	for _, k := range []string{"data file", "deleted rows in data file", "equality delete file", "position delete file", "deletion vector file", "manifest bounds",
		"partition value", "manifest list", "snapshot summary", "statistics file", "metadata file", "orphan"} {
		if kinds[k] == 0 {
			t.Errorf("no holder is a %s: %v", k, kinds)
		}
	}
	if kinds["orphan"] < 5 {
		t.Errorf("%d orphans", kinds["orphan"])
	}
	// A tag is named, and nothing has changed.
	before := judges(t, h.dir)
	if _, err := ask(h.ctx, h.s, "ERASE FROM s.p, s.t WHERE token = '"+token+"' REASON 'DSR-1'"); err == nil || !strings.Contains(err.Error(), `tag "before" of table t holds the value`) {
		t.Error(err)
	}
	if after := judges(t, h.dir); len(after) != len(before) {
		t.Error("a refused erasure changed something")
	}
	out := h.eraseToken("s.t, s.p", "TAGS DROP")
	if status(out) != "DONE" {
		t.Error(strings.Join(out, "\n"))
	}
	for q, want := range rows {
		h.want(q, want...)
	}
	if left := judges(t, h.dir); len(left) > 0 {
		t.Errorf("left of it:\n%s", strings.Join(left, "\n"))
	}
	if again := h.must("SHOW HOLDERS FROM s.t, s.p WHERE token = '" + token + "' WITH (paranoid)"); len(again) > 0 {
		t.Errorf("holders are left:\n%s", strings.Join(again, "\n"))
	}
	evidence := h.must("SELECT id, status, hits, record FROM system.erasures")
	if len(evidence) != 1 || !regexp.MustCompile(`^[0-9a-f-]{36}\|DONE\|0\|`).MatchString(evidence[0]) {
		t.Error(evidence)
	}
	id := strings.Split(evidence[0], "|")[0]
	for _, r := range h.must("CALL system.verify_erasure('" + id + "', '" + token + "')") {
		if p := strings.Split(r, "|"); p[2] != "0" || p[3] != "NULL" || p[1] == "0" {
			t.Error(r)
		}
	}
}
