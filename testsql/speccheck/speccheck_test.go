package speccheck

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/lhsql/lhsql/driver"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// The tables of the test: partitioned and sorted, with values at which bounds go wrong.
const script = `CREATE SCHEMA public;
CREATE TABLE v2 (id bigint NOT NULL, s text, f double precision, d numeric(25,3), at timestamp, tags text[], b boolean)
  PARTITIONED BY (bucket(2, id), month(at)) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.parquet.page-row-limit' = '100');
ALTER TABLE v2 WRITE ORDERED BY s DESC, id;
INSERT INTO v2 SELECT i, repeat('ü', 20) || i, CASE i % 7 WHEN 0 THEN double precision 'NaN' WHEN 1 THEN NULL ELSE i - 500 END, i * -12345678901234567.001,
  CASE WHEN i % 5 > 0 THEN timestamp '2026-01-01' + (i % 2) * interval '40 days' END, ARRAY['a', NULL, i::text], i % 3 = 0 FROM generate_series(1, 1000) i;
DELETE FROM v2 WHERE id % 10 = 3;
CREATE TABLE v3 (id bigint, s text) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'copy-on-write');
INSERT INTO v3 SELECT i, 'x' || i FROM generate_series(1, 1000) i;
UPDATE v3 SET s = 'changed' WHERE id < 5;
DELETE FROM v3 WHERE id % 10 = 3;
`

// tables runs the script and opens its tables.
func tables(t *testing.T) (v2, v3 *lake.Table) {
	ctx, dir := context.Background(), t.TempDir()
	props := map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), Catalogs: []engine.CatalogConfig{{Name: "lake", Props: props}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	db := sql.OpenDB(driver.Connector(eng, engine.SessionOptions{User: "tester", Database: "lake"}))
	defer db.Close()
	for _, q := range strings.Split(script, ";\n") {
		if _, err := db.ExecContext(ctx, q); err != nil && q != "" {
			t.Fatalf("%s: %v", q, err)
		}
	}
	c, err := lake.OpenCatalog(ctx, "lake", props)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v2, err = c.Load(ctx, lake.Name{Namespace: "public", Table: "v2"}); err != nil {
		t.Fatal(err)
	}
	if v3, err = c.Load(ctx, lake.Name{Namespace: "public", Table: "v3"}); err != nil {
		t.Fatal(err)
	}
	return v2, v3
}

// live gives the current files of a content.
func live(t *testing.T, table *lake.Table, content lake.Content) (out []*lake.DataFile) {
	ctx := context.Background()
	list, err := table.Manifests(ctx, table.CurrentSnapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		entries, err := table.Entries(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Status != lake.Deleted && e.File.Content == content {
				out = append(out, e.File)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no file of content %d", content)
	}
	return out
}

// A false claim about a data file, whichever, is found.
func TestFalseClaims(t *testing.T) {
	v2, _ := tables(t)
	ctx := context.Background()
	if err := Table(ctx, v2); err != nil {
		t.Fatal(err)
	}
	long := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	count := func(m *map[int]int64, id int, by int64) {
		*m = maps.Clone(*m)
		(*m)[id] += by
	}
	bound := func(m *map[int][]byte, id int, b []byte) {
		if (*m)[id] == nil {
			t.Errorf("field %d has no bound", id)
		}
		*m = maps.Clone(*m)
		(*m)[id] = b
	}
	const id, s, f, d, at, elem, b = 1, 2, 3, 4, 5, 8, 7
	for what, change := range map[string]func(d *lake.DataFile){
		"rows":              func(x *lake.DataFile) { x.RecordCount++ },
		"size":              func(x *lake.DataFile) { x.FileSize-- },
		"split":             func(x *lake.DataFile) { x.SplitOffsets = []int64{5} },
		"values":            func(x *lake.DataFile) { count(&x.ValueCounts, id, 1) },
		"values of a list":  func(x *lake.DataFile) { count(&x.ValueCounts, elem, -1) },
		"NULLs":             func(x *lake.DataFile) { count(&x.NullCounts, f, -1) },
		"NULLs of a list":   func(x *lake.DataFile) { count(&x.NullCounts, elem, 1) },
		"NaNs":              func(x *lake.DataFile) { count(&x.NaNCounts, f, 1) },
		"column size":       func(x *lake.DataFile) { count(&x.ColumnSizes, s, 1) },
		"lower number":      func(x *lake.DataFile) { bound(&x.Lower, id, long(999)) },
		"upper number":      func(x *lake.DataFile) { bound(&x.Upper, id, long(2)) },
		"width of a bound":  func(x *lake.DataFile) { bound(&x.Upper, id, long(2)[:7]) },
		"upper text, cut":   func(x *lake.DataFile) { bound(&x.Upper, s, []byte(strings.Repeat("ü", 16))) },
		"lower text":        func(x *lake.DataFile) { bound(&x.Lower, s, []byte("ý")) },
		"NaN as a bound":    func(x *lake.DataFile) { bound(&x.Lower, f, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}) },
		"upper float":       func(x *lake.DataFile) { bound(&x.Upper, f, long(0)) },
		"sign of a decimal": func(x *lake.DataFile) { bound(&x.Lower, d, []byte{1}) },
		"upper decimal":     func(x *lake.DataFile) { bound(&x.Upper, d, []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) },
		"lower bool":        func(x *lake.DataFile) { bound(&x.Lower, b, []byte{1}) },
		"order of rows":     func(x *lake.DataFile) { x.SortOrderID = 7 },
		"partition":         func(x *lake.DataFile) { x.Partition = []types.Datum{x.Partition[0], types.NewInt(3)} },
		"NULL partition":    func(x *lake.DataFile) { x.Partition = []types.Datum{types.Null, x.Partition[1]} },
		"partitions swapped": func(x *lake.DataFile) {
			x.Partition = []types.Datum{types.NewInt(1 - x.Partition[0].Int()), x.Partition[1]}
		},
	} {
		c := &checker{table: v2, fields: fieldsOf(v2)}
		for _, file := range live(t, v2, lake.Data) {
			x := *file
			change(&x)
			if err := c.checkData(ctx, &x); err == nil {
				t.Errorf("%s: not found in %s", what, x.Path)
			}
			if file.SortOrderID == 0 {
				t.Errorf("%s claims no order", file.Path)
			}
		}
	}
	// Rows in the order of s DESC, id are not in that of id.
	c := &checker{table: v2, fields: fieldsOf(v2)}
	file := live(t, v2, lake.Data)[0]
	got, err := read(ctx, v2, file.Path, c.fields, map[int]bool{id: true, s: true, at: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.checkSorted(&lake.SortOrder{Fields: []lake.SortField{{SourceIDs: []int{id}, Transform: lake.Transform{Kind: lake.Identity}}}}, got); err == nil {
		t.Error("rows out of order were not found")
	}
}

// A false claim about a delete file, whichever, is found.
func TestFalseDeletes(t *testing.T) {
	v2, v3 := tables(t)
	ctx := context.Background()
	for _, table := range []*lake.Table{v2, v3} {
		if err := Table(ctx, table); err != nil {
			t.Fatal(err)
		}
		content := lake.PositionDeletes
		if table == v3 {
			content = lake.DeletionVector
		}
		files := map[string]*lake.DataFile{}
		for _, f := range live(t, table, lake.Data) {
			files[f.Path] = f
		}
		for what, change := range map[string]func(d *lake.DataFile){
			"rows":            func(x *lake.DataFile) { x.RecordCount++ },
			"size":            func(x *lake.DataFile) { x.FileSize++ },
			"sequence number": func(x *lake.DataFile) { x.DataSeq = 0 },
			"the other file":  func(x *lake.DataFile) { x.ReferencedFile = "elsewhere" },
			"partition": func(x *lake.DataFile) {
				if table == v3 {
					x.ContentOffset++
				} else {
					x.Partition = []types.Datum{types.Null, types.Null}
				}
			},
		} {
			c := &checker{table: table, fields: fieldsOf(table)}
			for _, d := range live(t, table, content) {
				x := *d
				change(&x)
				if err := c.checkDeletes(ctx, files, []*lake.DataFile{&x}); err == nil {
					t.Errorf("%s: not found in %s", what, x.Path)
				}
			}
		}
		c := &checker{table: table, fields: fieldsOf(table)}
		d := live(t, table, content)[0]
		if err := c.checkDeletes(ctx, files, []*lake.DataFile{d, d}); content == lake.PositionDeletes && err == nil {
			t.Error("rows that are deleted twice were not found")
		}
		short := map[string]*lake.DataFile{}
		for path, f := range files {
			x := *f
			x.RecordCount = 3
			short[path] = &x
		}
		if err := c.checkDeletes(ctx, short, live(t, table, content)); err == nil {
			t.Error("deletes beyond the end of files were not found")
		}
	}
}

// Pages are told apart by the files' page index, and a value beyond the bounds of one is found.
func TestFalsePageIndex(t *testing.T) {
	v2, _ := tables(t)
	c := &checker{table: v2, fields: fieldsOf(v2)}
	several := false
	for _, f := range live(t, v2, lake.Data) {
		r, err := file.OpenParquetFile(strings.TrimPrefix(v2.Resolve(f.Path), "file://"), false)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for k := range r.MetaData().Schema.NumColumns() {
			d := r.MetaData().Schema.Column(k)
			l := &leaf{field: c.fields[int(d.SchemaNode().FieldID())]}
			l.order = orderOf(l.field.Iceberg)
			p, err := newPages(r, 0, k)
			if err != nil {
				t.Fatal(err)
			}
			if p.index == nil && l.order == floats {
				continue // a NaN forbids it
			}
			if p.index == nil {
				t.Fatalf("%s has no column index", d.Path())
			}
			col, err := r.RowGroup(0).Column(k)
			if err != nil {
				t.Fatal(err)
			}
			row := int64(-1)
			err = l.each(col, func(v value, rep int16) {
				if rep == 0 {
					row++
				}
				p.at(row).add(l.order, v)
			})
			if err == nil {
				err = p.check(l, d)
			}
			if err != nil {
				t.Fatalf("%s: %v", d.Path(), err)
			}
			several = several || len(p.found) > 1
			for i := range p.found {
				was := p.found[i]
				p.found[i].add(l.order, value{null: true})
				if p.check(l, d) == nil {
					t.Errorf("%s, page %d: one NULL more was not found", d.Path(), i)
				}
				if p.found[i] = was; was.some && l.order != ints {
					p.found[i].add(l.order, value{f: 1e9, b: bytes.Repeat([]byte{0xff}, 80)})
					if p.check(l, d) == nil {
						t.Errorf("%s, page %d: a value beyond its bounds was not found", d.Path(), i)
					}
				}
				p.found[i] = was
			}
		}
	}
	if !several {
		t.Error("no file has two pages")
	}
}
