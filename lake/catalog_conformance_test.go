package lake

import (
	"context"
	"errors"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/fakerest"
)

// Every kind of catalog keeps the contracts of Catalog's faces, whoever opens it. A new kind joins the
// list.
func TestCatalogs(t *testing.T) {
	open := func(t *testing.T, props map[string]string) Catalog {
		c, err := OpenCatalog(context.Background(), "lake", props)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	sqlite := func(t *testing.T, dir string) Catalog {
		return open(t, map[string]string{"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir + "/wh"})
	}
	for _, kind := range []struct {
		name string
		open func(t *testing.T, dir string) Catalog
	}{
		{"SQLite", sqlite},
		{"PostgreSQL", func(t *testing.T, dir string) Catalog {
			return open(t, map[string]string{"uri": postgres(t), "warehouse": dir + "/wh"})
		}},
		{"REST", func(t *testing.T, dir string) Catalog {
			s := fakerest.New()
			s.Transactions, s.Warehouse = true, dir+"/wh"
			srv := httptest.NewServer(s)
			t.Cleanup(srv.Close)
			return open(t, map[string]string{"type": "rest", "uri": srv.URL, "warehouse": dir + "/wh"})
		}},
		{"a transaction", func(t *testing.T, dir string) Catalog { return Begin(sqlite(t, dir)) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			dir := t.TempDir()
			f := &fixture{t: t, ctx: clock.With(context.Background(), &ticks{now: clockStart}), c: kind.open(t, dir), dir: dir, name: Name{Namespace: "a", Table: "t"}}
			_, alone := f.c.(*Transaction)
			f.conformNamespaces()
			f.conformTables(alone)
			f.conformViews()
		})
	}
}

// is tells which of the contract's errors err is.
func is(err error) string {
	var gone *NotFound
	var exists *Exists
	var full *NotEmpty
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &gone):
		return "no " + gone.What
	case errors.As(err, &exists):
		return exists.What + " exists"
	case errors.As(err, &full):
		return "not empty"
	}
	return string(sqlerr.CodeOf(err)) + ": " + err.Error()
}

func (f *fixture) wants(want string, err error) {
	f.t.Helper()
	if got := is(err); got != want {
		f.t.Errorf("%s, want %s", got, want)
	}
}

func (f *fixture) conformNamespaces() {
	c, ctx := f.c, f.ctx
	f.wants("done", c.CreateNamespace(ctx, "a", map[string]string{"owner": "ann", "old": "1"}))
	f.wants("done", c.CreateNamespace(ctx, "a.b", nil))
	f.wants("done", c.CreateNamespace(ctx, "other", nil))
	f.wants("schema exists", c.CreateNamespace(ctx, "a", nil))
	list, err := c.Namespaces(ctx)
	if err != nil || !slices.Equal(list, []string{"a", "a.b", "other"}) {
		f.t.Errorf("namespaces %q, %v", list, err)
	}
	f.wants("done", c.SetNamespaceProperties(ctx, "a", map[string]string{"new": "2"}, []string{"old", "never"}))
	props, err := c.NamespaceProperties(ctx, "a")
	f.must(err)
	maps.DeleteFunc(props, func(k, _ string) bool { return k == "exists" }) // PyIceberg's row of a namespace without others
	if !maps.Equal(props, map[string]string{"owner": "ann", "new": "2"}) {
		f.t.Errorf("properties %v", props)
	}
	_, err = c.NamespaceProperties(ctx, "nowhere")
	f.wants("no schema", err)
	f.wants("no schema", c.SetNamespaceProperties(ctx, "nowhere", map[string]string{"k": "v"}, nil))
	f.wants("no schema", c.DropNamespace(ctx, "nowhere"))
	f.wants("not empty", c.DropNamespace(ctx, "a")) // a.b is in it
	f.wants("done", c.DropNamespace(ctx, "a.b"))
	_, err = c.List(ctx, "nowhere")
	f.wants("no schema", err)
}

// conformTables needs the namespaces a and other. alone: nobody else can commit.
func (f *fixture) conformTables(alone bool) {
	c, ctx := f.c, f.ctx
	named := func(ns, n string) Name { return Name{Namespace: ns, Table: n} }
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}, Properties: map[string]string{"k": "v"}}
	lists := func(ns string, want ...string) {
		f.t.Helper()
		list, err := c.List(ctx, ns)
		var got []string
		for _, n := range list {
			got = append(got, n.Table)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			f.t.Errorf("tables of %s: %q, %v; want %q", ns, got, err, want)
		}
	}
	_, err := c.Load(ctx, f.name)
	f.wants("no table", err)
	_, err = c.Create(ctx, named("nowhere", "t"), spec)
	f.wants("no schema", err)
	made, err := c.Create(ctx, f.name, spec)
	f.must(err)
	_, err = c.Create(ctx, f.name, spec)
	f.wants("table exists", err)
	lists("a", "t")
	f.wants("not empty", c.DropNamespace(ctx, "a"))
	if t := f.load(); t.UUID() != made.UUID() || t.Properties()["k"] != "v" || t.Name.Namespace != "a" || t.Name.Table != "t" {
		f.t.Errorf("loaded as %v", t.Name)
	}

	// A table is there with its first rows or not at all.
	staged, err := c.Stage(ctx, named("a", "ctas"), spec)
	f.must(err)
	lists("a", "t")
	_, err = c.CommitStaged(ctx, staged, Change{Base: staged, Add: []*DataFile{f.fileOf(staged, 2)}})
	f.must(err)
	lists("a", "ctas", "t")
	_, err = c.Stage(ctx, f.name, spec)
	f.wants("table exists", err)
	again := spec
	again.Replace = true
	replaced, err := c.Create(ctx, named("a", "ctas"), again)
	f.must(err)
	// What nobody else has seen (alone) was never there.
	if s := replaced.CurrentSnapshot(); s != nil || !alone && len(replaced.Snapshots()) == 0 {
		f.t.Error("what a table was before it was replaced is no part of its history, or is still current")
	}

	// Commits of one table, by several at once, and of several.
	var all sync.WaitGroup
	writers := 4
	if alone {
		writers = 1
	}
	for range writers {
		d := f.file(1)
		all.Go(func() {
			if _, err := c.Commit(ctx, f.name, Change{Add: []*DataFile{d}}); err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(f.live("main")); n != writers {
		f.t.Errorf("%d of %d appends are there", n, writers)
	}
	_, err = c.Commit(ctx, named("a", "nowhere"), Change{Add: []*DataFile{f.file(1)}})
	f.wants("no table", err)
	both := Change{Edit: func(e *Edit) error { return e.SetProperties(map[string]string{"both": "yes"}) }}
	_, err = c.CommitAll(ctx, []TableChange{{f.name, both}, {named("a", "ctas"), both}})
	f.must(err)
	failing := Change{Edit: func(*Edit) error { return sqlerr.New(sqlerr.InvalidParameterValue, "no") }}
	_, err = c.CommitAll(ctx, []TableChange{{f.name, Change{Edit: func(e *Edit) error { return e.SetProperties(map[string]string{"half": "yes"}) }}}, {named("a", "ctas"), failing}})
	if Outcome(err) != Aborted {
		f.t.Errorf("one of two changes failed: %v", err)
	}
	if p := f.load().Properties(); p["both"] != "yes" || p["half"] != "" {
		f.t.Errorf("properties %v", p)
	}

	// Statistics are the metadata's, and serve the snapshots that come of theirs.
	if !alone {
		before := f.load().CurrentSnapshot()
		named := func(path, ndv string) error {
			_, err := c.Commit(ctx, f.name, Change{Edit: func(e *Edit) error {
				return e.SetStatistics(StatisticsFile{SnapshotID: before.ID, Path: f.load().Location() + "/metadata/" + path, Size: 100, FooterSize: 40,
					Blobs: []StatisticsBlob{{Type: ThetaBlob, SnapshotID: before.ID, Seq: before.Seq, Fields: []int{1}, Properties: map[string]string{"ndv": ndv}}}})
			}})
			return err
		}
		f.must(named("a.stats", "7"))
		f.must(named("b.stats", "8"))
		_, err = c.Commit(ctx, f.name, Change{Add: []*DataFile{f.file(1)}})
		f.must(err)
		t := f.load()
		if list := t.Statistics(); len(list) != 1 || !strings.HasSuffix(list[0].Path, "/b.stats") || list[0].FooterSize != 40 {
			f.t.Errorf("statistics %+v", list)
		}
		if d := t.Distincts(t.CurrentSnapshot()); d[1].Values != 8 || len(d) != 1 {
			f.t.Errorf("counts %+v", d)
		}
		_, err = c.Commit(ctx, f.name, Change{Edit: func(e *Edit) error { return e.RemoveStatistics(before.ID, false) }})
		f.must(err)
		if list := f.load().Statistics(); len(list) != 0 {
			f.t.Errorf("statistics %+v", list)
		}
		for _, path := range []string{"a.parquet", "b.parquet"} {
			_, err = c.Commit(ctx, f.name, Change{Edit: func(e *Edit) error {
				return e.SetPartitionStatistics(StatisticsFile{SnapshotID: before.ID, Path: f.load().Location() + "/metadata/" + path, Size: 70})
			}})
			f.must(err)
		}
		if list := f.load().PartitionStatistics(); len(list) != 1 || !strings.HasSuffix(list[0].Path, "/b.parquet") || list[0].Size != 70 || list[0].SnapshotID != before.ID {
			f.t.Errorf("partition statistics %+v", list)
		}
		_, err = c.Commit(ctx, f.name, Change{Edit: func(e *Edit) error { return e.RemoveStatistics(before.ID, true) }})
		f.must(err)
		if list := f.load().PartitionStatistics(); len(list) != 0 {
			f.t.Errorf("partition statistics %+v", list)
		}
	}

	// Names.
	f.wants("no table", c.Rename(ctx, named("a", "nowhere"), named("a", "u")))
	f.wants("table exists", c.Rename(ctx, f.name, named("a", "ctas")))
	f.wants("done", c.Rename(ctx, f.name, named("other", "moved")))
	lists("a", "ctas")
	lists("other", "moved")
	if t, err := c.Load(ctx, named("other", "moved")); err != nil || t.UUID() != made.UUID() {
		f.t.Errorf("renamed: %v", err)
	}
	f.wants("done", c.Rename(ctx, named("other", "moved"), f.name))
	f.wants("done", c.Drop(ctx, named("a", "ctas"), false))
	f.wants("no table", c.Drop(ctx, named("a", "ctas"), false))
	lists("a", "t")
}

// conformViews needs the table a.t.
func (f *fixture) conformViews() {
	c, ctx := f.c, f.ctx
	named := func(n string) Name { return Name{Namespace: "a", Table: n} }
	spec := func(sql string) ViewSpec {
		return ViewSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}, Representations: map[string]string{"lhsql": sql}, DefaultNamespace: "a",
			Properties: map[string]string{"comment": sql}}
	}
	_, err := c.LoadView(ctx, named("v"))
	f.wants("no view", err)
	_, err = c.LoadView(ctx, f.name) // which is a table's name
	f.wants("no view", err)
	made, err := c.CreateView(ctx, named("v"), spec("select 1 as x"), false)
	f.must(err)
	_, err = c.CreateView(ctx, named("v"), spec("select 2 as x"), false)
	f.wants("view exists", err)
	if _, err := c.CreateView(ctx, f.name, spec("select 2 as x"), false); err == nil {
		f.t.Error("a view has a table's name")
	}
	if _, err := c.Create(ctx, named("v"), TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}); err == nil {
		f.t.Error("a table has a view's name")
	}
	_, err = c.Load(ctx, named("v"))
	f.wants("no table", err)
	_, err = c.CreateView(ctx, named("v"), spec("select 3 as x"), true)
	f.must(err)
	v, err := c.LoadView(ctx, named("v"))
	f.must(err)
	if v.UUID != made.UUID || v.SQL != "select 3 as x" || v.Properties["comment"] != v.SQL || v.DefaultNamespace != "a" || len(v.ColumnNames()) != 1 {
		f.t.Errorf("replaced: %+v", v)
	}
	f.wants("no view", c.RenameView(ctx, named("nowhere"), named("w")))
	f.wants("done", c.RenameView(ctx, named("v"), named("w")))
	list, err := c.Views(ctx, "a")
	if err != nil || len(list) != 1 || list[0].Table != "w" || list[0].Namespace != "a" {
		f.t.Errorf("views %v, %v", list, err)
	}
	f.wants("done", c.DropView(ctx, named("w")))
	f.wants("no view", c.DropView(ctx, named("w")))
	list, err = c.Views(ctx, "a")
	if err != nil || len(list) != 0 {
		f.t.Errorf("views %v, %v", list, err)
	}
}
