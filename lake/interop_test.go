package lake

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/types"
)

// pyWrite writes Parquet files with field ids: one row each, of the values on standard input.
const pyWrite = `
import sys, json, datetime, decimal, uuid, pyarrow as pa, pyarrow.parquet as pq
d, table = sys.argv[1], sys.argv[2]
from pyiceberg.catalog import load_catalog
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
t = c.load_table(table)
schema = t.schema().as_arrow()
for name, row in json.loads(sys.argv[3]).items():
    arrays = [pa.array([None if row.get(f.name) is None else eval(row[f.name])], type=f.type) for f in schema]
    import os
    os.makedirs(os.path.dirname(name), exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), name)
    print(name, os.path.getsize(name))
`

// pyRead prints a table's rows under each filter, a line with the filter before them.
const pyRead = `
import sys
from pyiceberg.catalog import load_catalog
d, table = sys.argv[1], sys.argv[2]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
t = c.load_table(table)
for f in sys.argv[3:] or [""]:
    rows = (t.scan(row_filter=f) if f else t.scan()).to_arrow()
    print("#", f, len(rows))
    for r in sorted(str(sorted((k, str(v)) for k, v in r.items() if v is not None)) for r in rows.to_pylist()):
        print(r)
`

// Tables that we create and commit to, with a partition field of every transform and type, are
// read by PyIceberg, also through partition filters; it appends, and we read and go on.
func TestPyIcebergReadsOurCommits(t *testing.T) {
	f := newFixture(t, "2")
	name := Name{Namespace: "a", Table: "all"}
	cols := []struct {
		name, iceberg, transform string
		value                    types.Datum
		python                   string
	}{
		{"b", "boolean", "identity", types.NewBool(true), "True"},
		{"i", "int", "bucket[8]", types.NewInt(-7), "-7"},
		{"l", "long", "truncate[10]", types.NewInt(-7), "-7"},
		{"f", "float", "identity", types.NewFloat(-0.5), "-0.5"},
		{"d", "double", "identity", types.NewFloat(1.25), "1.25"},
		{"n", "decimal(9, 2)", "truncate[50]", types.NewInt(-1065), "decimal.Decimal('-10.65')"},
		{"w", "decimal(38, 3)", "identity", types.NewW128(types.Int128{Hi: -1, Lo: ^uint64(41)}), "decimal.Decimal('-0.042')"},
		{"dt", "date", "month", types.NewInt(-1), "datetime.date(1969,12,31)"},
		{"tm", "time", "identity", types.NewInt(3600e6), "datetime.time(1,0,0)"},
		{"ts", "timestamp", "hour", types.NewInt(-1), "datetime.datetime(1969,12,31,23,59,59,999999)"},
		{"tz", "timestamptz", "day", types.NewInt(86400e6), "datetime.datetime(1970,1,2,tzinfo=datetime.timezone.utc)"},
		{"s", "string", "truncate[2]", types.NewStr("añb"), "'añb'"},
		{"e", "string", "identity", types.NewStr(""), "''"},
		{"u", "uuid", "identity", uuidDatum(uuidOf("f79c3e09-677c-4bbd-a479-3f349cb785e7")), "uuid.UUID('f79c3e09-677c-4bbd-a479-3f349cb785e7').bytes"},
		{"fx", "fixed[2]", "identity", types.NewStr("\x00\xff"), "b'\\x00\\xff'"},
		{"bi", "binary", "bucket[4]", types.NewStr("\x00\x01\x02\x03"), "b'\\x00\\x01\\x02\\x03'"},
		{"y", "timestamp", "year", types.NewInt(-1), "datetime.datetime(1969,12,31,23,59,59,999999)"},
		{"v", "int", "void", types.NewInt(1), "1"},
	}
	spec := TableSpec{Schema: &Schema{}}
	for _, c := range cols {
		spec.Schema.Fields = append(spec.Schema.Fields, primitive(c.name, normalType(c.iceberg)))
		spec.PartitionBy = append(spec.PartitionBy, PartitionBy{Column: c.name, Transform: ParseTransform(c.transform), Name: "p_" + c.name})
	}
	tab, err := f.c.Create(f.ctx, name, spec)
	f.must(err)
	row := map[string]string{}
	var part, nulls []types.Datum
	for i, c := range cols {
		row[c.name] = c.python
		part = append(part, tab.DefaultSpec().Fields[i].Transform.Apply(c.value, TypeOf(normalType(c.iceberg))))
		nulls = append(nulls, types.Null)
	}
	paths := []string{f.dir + "/wh/a/all/data/one.parquet", f.dir + "/wh/a/all/data/two.parquet"}
	rows, _ := json.Marshal(map[string]any{paths[0]: row, paths[1]: map[string]string{}})
	pyiceberg(t, pyWrite, f.dir, "a.all", string(rows))
	var add []*DataFile
	for i, p := range paths {
		st, err := os.Stat(p)
		f.must(err)
		add = append(add, &DataFile{Path: p, Format: "parquet", RecordCount: 1, FileSize: st.Size(), Partition: [][]types.Datum{part, nulls}[i]})
	}
	_, err = f.c.Commit(f.ctx, name, Change{Add: add})
	f.must(err)
	filters := []string{"", "b = true", "i = -7", "l = -7", "f = -0.5", "d = 1.25", "n = -10.65", "dt = '1969-12-31'", "tm = '01:00:00'",
		"ts = '1969-12-31T23:59:59.999999'", "s = 'añb'", "e = ''", "v = 1", "b is null and s is not null or b = true"}
	got := pyiceberg(t, pyRead, append([]string{f.dir, "a.all"}, filters...)...)
	for _, filter := range filters {
		n := 1
		if filter == "" {
			n = 2
		}
		if !strings.Contains(got, fmt.Sprintf("# %s %d\n", filter, n)) {
			t.Errorf("PyIceberg with the filter %q: want %d rows of\n%s", filter, n, got)
		}
	}
	pyiceberg(t, `
import sys, pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo
d = sys.argv[1]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
t = c.load_table("a.t")
t.append(pa.table({"x": [1, 2], "s": ["p", "q"]}))
`, f.dir)
	files := f.live("main")
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	tab = f.load()
	for _, d := range files {
		_, err := f.commit(Change{Base: tab, Snapshot: tab.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{d}})
		f.must(err)
	}
	if out := pyiceberg(t, pyRead, f.dir, "a.t"); strings.TrimSpace(out) != "#  0" {
		t.Errorf("rows after the delete: %s", out)
	}
	pyiceberg(t, `
import sys, pyarrow as pa
from pyiceberg.catalog import load_catalog
d = sys.argv[1]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
t = c.load_table("a.t")
t.append(pa.table({"x": [3], "s": ["r"]}))
with t.update_schema() as u:
    u.add_column("z", __import__("pyiceberg.types").types.LongType())
t.refresh()
assert [s.summary.operation.value for s in t.snapshots()] == ["append", "delete", "append"], t.snapshots()
`, f.dir)
	f.verify()
	if f.load().Schema().ByName("z") == nil || len(f.live("main")) != 1 {
		t.Error("what PyIceberg did on top is not there")
	}
}

func uuidOf(s string) []byte {
	u := uuid.MustParse(s)
	return u[:]
}

// Schema, partition and ref changes that we make are read by PyIceberg.
func TestPyIcebergReadsOurDDL(t *testing.T) {
	f := newFixture(t, "2", PartitionBy{Column: "s", Transform: Transform{Kind: Identity}})
	_, err := f.commit(Change{Add: []*DataFile{f.file(1, types.NewStr("p"))}})
	f.must(err)
	base := f.load()
	_, err = f.commit(Change{Base: base, Edit: func(e *Edit) error {
		st := Field{Iceberg: "struct", Children: []Field{primitive("a", "int"), {Name: "l", Iceberg: "list", Children: []Field{primitive("element", "string")}}}}
		for _, err := range []error{
			e.AddColumn([]string{"st"}, st, Where{First: true}),
			e.AddColumn([]string{"st", "b"}, primitive("", "decimal(9,2)"), Where{After: "a"}),
			e.AddColumn([]string{"at"}, primitive("", "timestamp"), Where{}),
			e.ChangeType([]string{"st", "a"}, Field{Iceberg: "long", Type: TypeOf("long")}),
			e.RenameColumn([]string{"x"}, "xx"),
			e.SetDoc([]string{"xx"}, "the x"),
			e.AddPartitionField(PartitionBy{Column: "at", Transform: Transform{Kind: Month}}),
			e.DropPartitionField("s"),
			e.SetSortOrder([]SortBy{{Column: "xx", Transform: Transform{Kind: Identity}, Desc: true}}),
			e.SetProperties(map[string]string{"k": "v"}),
			e.SetRef(RefSpec{Name: "b", Branch: true}),
			e.SetRef(RefSpec{Name: "t", MaxRefAge: ptr(time.Hour)}),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}})
	f.must(err)
	got := pyiceberg(t, `
import sys
from pyiceberg.catalog import load_catalog
d = sys.argv[1]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
t = c.load_table("a.t")
print(t.schema()); print(t.spec()); print(t.sort_order()); print(t.properties); print({k: r.snapshot_ref_type.value for k, r in sorted(t.refs().items())})
print(len(t.schemas()), len(t.specs()), t.metadata.last_column_id, t.metadata.last_partition_id)
`, f.dir)
	want := `table {
  4: st: optional struct<5: a: optional long, 7: b: optional decimal(9, 2), 6: l: optional list<string>>
  1: xx: optional long (the x)
  2: s: optional string
  9: at: optional timestamp
}
[
  1001: at_month: month(9)
]
[
  1 DESC NULLS LAST
]
{'k': 'v'}
{'b': 'branch', 'main': 'branch', 't': 'tag'}
2 2 9 1001
`
	want = strings.NewReplacer("4: st", "3: st", "5: a", "4: a", "7: b", "7: b", "6: l", "5: l", "9: at", "8: at", "month(9)", "month(8)", "2 2 9", "2 2 8").Replace(want)
	if got != want {
		t.Errorf("PyIceberg sees\n%s\nwant\n%s", got, want)
	}
	// Later edits: a dropped column, another drop refused, an edit on an old base refused.
	_, err = f.commit(Change{Base: base, Edit: func(e *Edit) error { return e.DropColumn([]string{"s"}) }})
	if !isConflict(err) {
		t.Errorf("an ALTER on an old state: %v", err)
	}
	for what, edit := range map[string]func(*Edit) error{
		"drop of a partition source": func(e *Edit) error { return e.DropColumn([]string{"at"}) },
		"drop of a sort source":      func(e *Edit) error { return e.DropColumn([]string{"xx"}) },
		"narrowing":                  func(e *Edit) error { return e.ChangeType([]string{"xx"}, Field{Iceberg: "int", Type: TypeOf("int")}) },
		"duplicate":                  func(e *Edit) error { return e.AddColumn([]string{"s"}, primitive("", "int"), Where{}) },
		"rename onto another":        func(e *Edit) error { return e.RenameColumn([]string{"s"}, "xx") },
		"missing":                    func(e *Edit) error { return e.DropColumn([]string{"nope"}) },
		"missing parent":             func(e *Edit) error { return e.AddColumn([]string{"nope", "a"}, primitive("", "int"), Where{}) },
		"member of no struct":        func(e *Edit) error { return e.AddColumn([]string{"s", "a"}, primitive("", "int"), Where{}) },
		"default in v2": func(e *Edit) error {
			d := types.NewInt(1)
			return e.SetDefault([]string{"xx"}, &d, "")
		},
		"v3 type in v2": func(e *Edit) error { return e.AddColumn([]string{"v"}, primitive("", "variant"), Where{}) },
		"not null, no default": func(e *Edit) error {
			r := primitive("", "int")
			r.Required = true
			return e.AddColumn([]string{"r"}, r, Where{})
		},
		"wrong transform": func(e *Edit) error {
			return e.AddPartitionField(PartitionBy{Column: "s", Transform: Transform{Kind: Day}})
		},
		"same field twice": func(e *Edit) error {
			return e.AddPartitionField(PartitionBy{Column: "at", Transform: Transform{Kind: Month}})
		},
		"branch again":      func(e *Edit) error { return e.SetRef(RefSpec{Name: "b", Branch: true}) },
		"tag as branch":     func(e *Edit) error { return e.SetRef(RefSpec{Name: "t", Branch: true, Replace: true}) },
		"drop of main":      func(e *Edit) error { return e.DropRef("main", true, false) },
		"unknown snapshot":  func(e *Edit) error { return e.MoveBranch("b", 1) },
		"reserved property": func(e *Edit) error { return e.SetProperties(map[string]string{"uuid": "x"}) },
	} {
		before := f.load().MetadataLocation
		if _, err := f.commit(Change{Edit: edit}); err == nil {
			t.Errorf("%s was taken", what)
		}
		if f.load().MetadataLocation != before {
			t.Errorf("%s moved the table", what)
		}
	}
	_, err = f.commit(Change{Edit: func(e *Edit) error { return e.DropColumn([]string{"s"}) }})
	f.must(err)
	// An old spec comes back under its id.
	_, err = f.commit(Change{Edit: func(e *Edit) error { return e.SetPartitioning(nil) }})
	f.must(err)
	_, err = f.commit(Change{Edit: func(e *Edit) error {
		return e.SetPartitioning([]PartitionBy{{Column: "at", Transform: Transform{Kind: Month}}})
	}})
	f.must(err)
	if tab := f.load(); tab.DefaultSpec().ID != 1 || tab.DefaultSpec().Fields[0].FieldID != 1001 {
		t.Errorf("spec %+v", tab.DefaultSpec())
	}
}

func ptr[T any](v T) *T { return &v }

// Branches are written apart from main, fast-forwarded, and moved back; retention stays.
func TestBranches(t *testing.T) {
	f := newFixture(t, "2")
	_, err := f.commit(Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	keep := 7
	_, err = f.commit(Change{Edit: func(e *Edit) error {
		return e.SetRef(RefSpec{Name: "b", Branch: true, MinSnapshotsToKeep: &keep})
	}})
	f.must(err)
	_, err = f.commit(Change{Branch: "b", Add: []*DataFile{f.file(2)}})
	f.must(err)
	f.has("f1")
	if n := len(f.live("b")); n != 2 {
		t.Errorf("branch has %d files", n)
	}
	if _, err := f.commit(Change{Branch: "nope", Add: []*DataFile{f.file(2)}}); err == nil {
		t.Error("a branch that does not exist was written")
	}
	forward := Change{Edit: func(e *Edit) error { return e.FastForward("main", "b") }}
	_, err = f.commit(forward)
	f.must(err)
	f.has("f1", "f2")
	_, err = f.commit(Change{Add: []*DataFile{f.file(3)}})
	f.must(err)
	_, err = f.commit(Change{Branch: "b", Add: []*DataFile{f.file(4)}})
	f.must(err)
	if _, err := f.commit(forward); err == nil {
		t.Error("a diverged branch was fast-forwarded")
	}
	tab := f.load()
	if r, _ := tab.Ref("b"); r.MinSnapshotsToKeep == nil || *r.MinSnapshotsToKeep != 7 {
		t.Errorf("retention %+v", r)
	}
	first := tab.Snapshots()[0].ID
	_, err = f.commit(Change{Edit: func(e *Edit) error { return e.MoveBranch("main", first) }})
	f.must(err)
	f.has("f1")
	if n := len(f.load().SnapshotLog()); n != 4 {
		t.Errorf("snapshot log of %d", n)
	}
	_, err = f.commit(Change{StageOnly: true, Add: []*DataFile{f.file(5)}})
	f.must(err)
	f.has("f1")
	_, err = f.commit(Change{Edit: func(e *Edit) error { return e.DropRef("b", true, false) }})
	f.must(err)
	if f.live("b") != nil {
		t.Error("the branch is still there")
	}
}

// CREATE TABLE AS commits table and rows at once; OR REPLACE keeps the history; DROP … PURGE
// leaves no file.
func TestStageReplaceDrop(t *testing.T) {
	f := newFixture(t, "2")
	u := Name{Namespace: "a", Table: "u"}
	staged, err := f.c.Stage(f.ctx, u, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	var missing *NotFound
	if _, err := f.c.Load(f.ctx, u); err == nil || !asNotFound(err, &missing) {
		t.Errorf("a staged table is there: %v", err)
	}
	d := f.file(4)
	d.Path = staged.Location() + "/data/x.parquet"
	f.must(staged.FS().Create(f.ctx, d.Path, []byte("x")))
	tab, err := f.c.CommitStaged(f.ctx, staged, Change{Add: []*DataFile{d}, Statement: "CREATE TABLE AS"})
	f.must(err)
	if tab.CurrentSnapshot().Summary["total-records"] != "4" {
		t.Errorf("%v", tab.CurrentSnapshot().Summary)
	}
	if _, err := f.c.CommitStaged(f.ctx, staged, Change{}); err == nil {
		t.Error("a table was made twice")
	}
	if _, err := f.c.Create(f.ctx, u, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}); err == nil {
		t.Error("a table was made twice")
	}
	re, err := f.c.Create(f.ctx, u, TableSpec{Schema: &Schema{Fields: []Field{primitive("y", "string")}}, Replace: true,
		PartitionBy: []PartitionBy{{Column: "y", Transform: Transform{Kind: Identity}}}})
	f.must(err)
	if re.CurrentSnapshot() != nil || len(re.Snapshots()) != 1 || re.Schema().Fields[0].ID != 2 || re.UUID() != tab.UUID() || len(re.DefaultSpec().Fields) != 1 {
		t.Errorf("replaced: %+v", re.state)
	}
	pyiceberg(t, pyRead, f.dir, "a.u")
	v := Name{Namespace: "a", Table: "w"}
	f.must(f.c.Rename(f.ctx, u, v))
	f.must(f.c.Drop(f.ctx, v, true))
	left := 0
	f.must(store.LocalFS{}.List(f.ctx, f.dir+"/wh/a/u", func(o store.Object) error { left++; t.Log(o.Path); return nil }))
	if left != 0 {
		t.Errorf("%d files are left", left)
	}
}

func asNotFound(err error, to **NotFound) bool {
	e, ok := err.(*NotFound)
	*to = e
	return ok
}

// Views live beside tables; neither is taken for the other.
func TestViews(t *testing.T) {
	f := newFixture(t, "2")
	v := Name{Namespace: "a", Table: "v"}
	spec := ViewSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}, Representations: map[string]string{"lhsql": "SELECT x FROM t"},
		DefaultNamespace: "a", DefaultCatalog: "lake", Properties: map[string]string{"comment": "c"}}
	_, err := f.c.CreateView(f.ctx, v, spec, false)
	f.must(err)
	if _, err := f.c.CreateView(f.ctx, v, spec, false); err == nil {
		t.Error("a view was made twice")
	}
	spec.Representations["lhsql"] = "SELECT x + 1 AS x FROM t"
	got, err := f.c.CreateView(f.ctx, v, spec, true)
	f.must(err)
	if got.SQL != spec.Representations["lhsql"] || got.VersionID != 2 || fmt.Sprint(got.ColumnNames()) != "[x]" || got.DefaultNamespace != "a" {
		t.Errorf("%+v", got)
	}
	if _, err := f.c.Load(f.ctx, v); err == nil {
		t.Error("a view was loaded as a table")
	}
	if _, err := f.c.Create(f.ctx, v, TableSpec{Schema: spec.Schema}); err == nil {
		t.Error("a table took a view's name")
	}
	list, err := f.c.List(f.ctx, "a")
	f.must(err)
	views, err := f.c.Views(f.ctx, "a")
	f.must(err)
	if len(list) != 1 || len(views) != 1 {
		t.Errorf("tables %v, views %v", list, views)
	}
	f.must(f.c.RenameView(f.ctx, v, Name{Namespace: "a", Table: "w"}))
	f.must(f.c.DropView(f.ctx, Name{Namespace: "a", Table: "w"}))
	if err := f.c.DropView(f.ctx, v); err == nil {
		t.Error("a view was dropped twice")
	}
}
