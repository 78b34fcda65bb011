package lake

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/fakerest"
	"github.com/lhsql/lhsql/types"
)

func restFixture(t *testing.T) (*fixture, *fakerest.Server) {
	s := fakerest.New()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	s.Warehouse = dir + "/wh"
	ctx := clock.With(context.Background(), &ticks{now: clockStart})
	c, err := OpenCatalog(ctx, "rest", map[string]string{"type": "rest", "uri": srv.URL, "warehouse": s.Warehouse})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &fixture{t: t, ctx: ctx, c: c, dir: dir, name: Name{Namespace: "a", Table: "t"}}, s
}

// A REST catalog takes our updates: create, append, replace, DDL, refs; lost races are retried
// and lost answers resolved.
func TestRESTCatalog(t *testing.T) {
	f, s := restFixture(t)
	var missing *NotFound
	if _, err := f.c.Load(f.ctx, f.name); !errors.As(err, &missing) {
		t.Errorf("a missing table: %v", err)
	}
	f.must(f.c.CreateNamespace(f.ctx, "a", map[string]string{"k": "v"}))
	_, err := f.c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long"), primitive("s", "string")}},
		PartitionBy: []PartitionBy{{Column: "s", Transform: Transform{Kind: Identity}}}, SortBy: []SortBy{{Column: "x", Transform: Transform{Kind: Identity}}},
		Properties: map[string]string{"k": "v"}})
	f.must(err)
	p := types.NewStr("p")
	commit := func(c Change) error { _, err := f.c.Commit(f.ctx, f.name, c); return err }
	f.must(commit(Change{Add: []*DataFile{f.file(3, p)}}))
	s.Break(&fakerest.Fault{Answer: "409"})
	f.must(commit(Change{Add: []*DataFile{f.file(4, p)}}))
	s.Break(&fakerest.Fault{Answer: "503", Applied: true})
	f.must(commit(Change{Add: []*DataFile{f.file(5, p)}}))
	f.has("f1", "f2", "f3")
	s.Break(&fakerest.Fault{Answer: "503", Times: 100})
	if err := commit(Change{Add: []*DataFile{f.file(5, p)}}); Outcome(err) != Unknown {
		t.Errorf("a lost answer: %v", err)
	}
	s.Break(nil)
	base := f.load()
	f.must(commit(Change{Base: base, Snapshot: base.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{f.live("main")["f1.parquet"]}}))
	if err := commit(Change{Base: base, Snapshot: base.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{{Path: f.dir + "/wh/a/t/data/f1.parquet", Partition: []types.Datum{p}}}}); !isConflict(err) {
		t.Errorf("a file removed twice: %v", err)
	}
	f.must(commit(Change{Base: f.load(), Edit: func(e *Edit) error {
		for _, err := range []error{
			e.AddColumn([]string{"z"}, primitive("", "timestamp"), Where{First: true}),
			e.AddPartitionField(PartitionBy{Column: "z", Transform: Transform{Kind: Day}}),
			e.SetSortOrder([]SortBy{{Column: "z", Transform: Transform{Kind: Identity}, Desc: true}}),
			e.SetRef(RefSpec{Name: "b", Branch: true}),
			e.SetProperties(map[string]string{"l": "m"}), e.RemoveProperties([]string{"k"}),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}}))
	tab := f.load()
	if tab.Schema().Fields[0].Name != "z" || len(tab.DefaultSpec().Fields) != 2 || !tab.DefaultSortOrder().Fields[0].Desc ||
		tab.Properties()["l"] != "m" || tab.Properties()["k"] != "" {
		t.Errorf("after DDL: %+v", tab.state)
	}
	f.must(commit(Change{Branch: "b", Add: []*DataFile{f.file(1, p, types.Null)}}))
	f.has("f2", "f3")
	if n := len(f.live("b")); n != 3 {
		t.Errorf("%d files on b", n)
	}
	list, err := f.c.List(f.ctx, "a")
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	f.must(f.c.Drop(f.ctx, f.name, false))
}

// A server that cannot commit several tables at once is asked for none of them.
func TestRESTSeveralTables(t *testing.T) {
	f, _ := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	other := Name{Namespace: "a", Table: "u"}
	for _, n := range []Name{f.name, other} {
		_, err := f.c.Create(f.ctx, n, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
		f.must(err)
	}
	_, err := f.c.CommitAll(f.ctx, []TableChange{{f.name, Change{Add: []*DataFile{f.file(1)}}}, {other, Change{Add: []*DataFile{f.file(1)}}}})
	if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.FeatureNotSupported || Outcome(err) != Aborted {
		t.Errorf("several tables: %v", err)
	}
	f.has()
}

// A table is made with its first rows in one commit.
func TestRESTCreateWithRows(t *testing.T) {
	f, _ := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	tab, err := f.c.Stage(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	_, err = f.c.CommitStaged(f.ctx, tab, Change{Base: tab, Add: []*DataFile{f.fileOf(tab, 3)}})
	f.must(err)
	f.has("f1")
}

// Credentials that the server gives with a table open its objects, and nothing else does.
func TestRESTVendedCredentials(t *testing.T) {
	f, s := restFixture(t)
	bucket := &bucketServer{objects: map[string][]byte{}, parts: map[string]map[int][]byte{}, users: []string{"admin", "vended"}}
	h := httptest.NewServer(bucket)
	defer h.Close()
	open := func(props map[string]string) Catalog {
		props["type"], props["uri"] = "rest", f.c.Properties()["uri"]
		c, err := OpenCatalog(f.ctx, "rest", props)
		f.must(err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	f.must(f.c.CreateNamespace(f.ctx, "a", map[string]string{"location": "s3://b/a"}))
	admin := open(map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "admin", "s3.secret-access-key": "s", "s3.region": "us-east-1"})
	tab, err := admin.Stage(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	_, err = admin.CommitStaged(f.ctx, tab, Change{Base: tab, Add: []*DataFile{f.fileOf(tab, 3)}})
	f.must(err)

	read := func(c Catalog) error {
		tab, err := c.Load(f.ctx, f.name)
		f.must(err)
		_, err = tab.Manifests(f.ctx, tab.CurrentSnapshot())
		return err
	}
	c := open(map[string]string{})
	s.Config = map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "nobody", "s3.secret-access-key": "s", "client.region": "us-east-1"}
	if err := read(c); err == nil {
		t.Error("objects were read without their credentials")
	}
	s.Config["s3.access-key-id"] = "vended"
	f.must(read(c))
	_, err = c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(4)}})
	f.must(err)

	// Those that are for a place come before what the configuration says, and the most specific one
	// before the others; those for another kind of store are none of ours.
	credential := func(prefix, user string) any {
		return map[string]any{"prefix": prefix, "config": map[string]string{"s3.access-key-id": user, "s3.secret-access-key": "s"}}
	}
	s.Config["s3.access-key-id"] = "nobody"
	for _, v := range []struct {
		credentials []any
		works       bool
	}{
		{[]any{credential("s3", "vended")}, true},
		{[]any{credential("s3://b/", "nobody"), credential("s3://b/a/", "vended")}, true},
		{[]any{credential("s3a://b/a/", "vended"), credential("s3", "nobody")}, true},
		{[]any{credential("s3://b/", "vended"), credential("s3://b/a/", "nobody")}, false},
		{[]any{credential("s3://other/", "vended")}, false},
		{[]any{credential("gs://b/", "vended")}, false},
	} {
		s.Credentials = v.credentials
		if err := read(open(map[string]string{})); (err == nil) != v.works {
			t.Errorf("%v: %v", v.credentials, err)
		}
	}
}

// A view that is replaced keeps its UUID and its versions, whoever reads meanwhile finds it, and a table
// of the name is none.
func TestRESTViewIsReplaced(t *testing.T) {
	f, s := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	n := Name{Namespace: "a", Table: "v"}
	spec := func(sql string, columns ...string) ViewSpec {
		v := ViewSpec{Schema: &Schema{}, Representations: map[string]string{"lhsql": sql}, DefaultNamespace: "a"}
		for _, c := range columns {
			v.Schema.Fields = append(v.Schema.Fields, primitive(c, "int"))
		}
		return v
	}
	first, err := f.c.CreateView(f.ctx, n, spec("select 1 as x", "x"), false)
	f.must(err)
	// The same columns, others, and the first ones again.
	for i, v := range []ViewSpec{spec("select 2 as x", "x"), spec("select 3 as y, 4 as z", "y", "z"), spec("select 5 as x", "x")} {
		v.Properties = map[string]string{"comment": v.Representations["lhsql"]}
		now, err := f.c.CreateView(f.ctx, n, v, true)
		f.must(err)
		if now.UUID != first.UUID || now.SQL != v.Representations["lhsql"] || now.Properties["comment"] != now.SQL || len(now.ColumnNames()) != len(v.Schema.Fields) {
			t.Errorf("replaced: %+v", now)
		}
		if got := len(s.Views["a.v"].Versions()); got != i+2 {
			t.Errorf("%d versions after %d replacements", got, i+1)
		}
	}
	var exists *Exists
	if _, err := f.c.CreateView(f.ctx, n, spec("select 6 as x", "x"), false); !errors.As(err, &exists) {
		t.Errorf("made twice: %v", err)
	}
	_, err = f.c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	if _, err := f.c.CreateView(f.ctx, f.name, spec("select 7 as x", "x"), true); !errors.As(err, &exists) || exists.What != "table" {
		t.Errorf("a table is replaced by a view: %v", err)
	}
}
