package lake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/fakerest"
)

// commitPath is one way to write to a catalog.
type commitPath struct {
	name string
	// run does it, once.
	run func(f *fixture) error
	// did counts how often the catalog has it.
	did func(f *fixture, s *fakerest.Server) int
	// blind: who asks cannot tell himself from another who did the same, so that done twice is done.
	blind bool
}

func restPaths() []commitPath {
	n := func(name string) Name { return Name{Namespace: "a", Table: name} }
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long"), primitive("s", "string")}}}
	other := TableSpec{Schema: &Schema{Fields: []Field{primitive("y", "date")}}, Replace: true}
	commit := func(c func(f *fixture, t *Table) Change) func(*fixture) error {
		return func(f *fixture) error {
			t := f.load()
			ch := c(f, t)
			ch.Base = t
			_, err := f.c.Commit(f.ctx, f.name, ch)
			return err
		}
	}
	edit := func(e func(*Edit) error) func(*fixture) error {
		return commit(func(*fixture, *Table) Change { return Change{Edit: e} })
	}
	table := func(s *fakerest.Server, name string, is func(*fakerest.Table) bool) int {
		if t := s.Tables["a."+name]; t != nil && is(t) {
			return 1
		}
		return 0
	}
	files := func(table, file string) func(*fixture, *fakerest.Server) int {
		return func(f *fixture, _ *fakerest.Server) int { return f.snapshotsAdding(n(table), file) }
	}
	view := func(sql string) ViewSpec {
		return ViewSpec{Schema: spec.Schema, Representations: map[string]string{"lhsql": sql}, DefaultNamespace: "a"}
	}
	versions := func(name string, more int) func(*fixture, *fakerest.Server) int {
		return func(_ *fixture, s *fakerest.Server) int {
			if v := s.Views["a."+name]; v != nil {
				return len(v.Versions()) - more
			}
			return 0
		}
	}
	return []commitPath{
		{name: "append", run: commit(func(f *fixture, t *Table) Change { return Change{Add: []*DataFile{f.fileOf(t, 2)}} }), did: files("t", "f2")},
		{name: "replace files", run: commit(func(f *fixture, t *Table) Change {
			return Change{Snapshot: t.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{f.live("main")["f1.parquet"]}, Add: []*DataFile{f.fileOf(t, 2)}}
		}), did: files("t", "f2")},
		{name: "write to a branch", run: commit(func(f *fixture, t *Table) Change { return Change{Branch: "b", Add: []*DataFile{f.fileOf(t, 2)}} }), did: files("t", "f2")},
		{name: "stage a snapshot", run: commit(func(f *fixture, t *Table) Change {
			return Change{StageOnly: true, Add: []*DataFile{f.fileOf(t, 2)}}
		}), did: files("t", "f2")},
		{name: "set a property", blind: true, run: edit(func(e *Edit) error { return e.SetProperties(map[string]string{"p": "q"}) }),
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return t.Meta.Properties()["p"] == "q" })
			}},
		{name: "remove a property", blind: true, run: edit(func(e *Edit) error { return e.RemoveProperties([]string{"old"}) }),
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return t.Meta.Properties()["old"] == "" })
			}},
		{name: "add a column", run: edit(func(e *Edit) error { return e.AddColumn([]string{"z"}, primitive("", "int"), Where{}) }),
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return len(t.Meta.CurrentSchema().Fields()) == 3 })
			}},
		{name: "add a partition field", run: edit(func(e *Edit) error {
			return e.AddPartitionField(PartitionBy{Column: "s", Transform: Transform{Kind: Identity}})
		}), did: func(_ *fixture, s *fakerest.Server) int {
			return table(s, "t", func(t *fakerest.Table) bool { spec := t.Meta.PartitionSpec(); return spec.NumFields() == 1 })
		}},
		{name: "make a tag", run: edit(func(e *Edit) error { return e.SetRef(RefSpec{Name: "g"}) }),
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return t.Meta.SnapshotByName("g") != nil })
			}},
		{name: "drop a branch", run: edit(func(e *Edit) error { return e.DropRef("b", true, false) }),
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return t.Meta.SnapshotByName("b") == nil })
			}},
		{name: "create", run: func(f *fixture) error { _, err := f.c.Create(f.ctx, n("made"), spec); return err },
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "made", func(*fakerest.Table) bool { return true })
			}},
		{name: "create with rows", run: func(f *fixture) error { return f.makeWithRows(n("made"), spec) }, did: files("made", "f2")},
		{name: "replace", run: func(f *fixture) error { _, err := f.c.Create(f.ctx, f.name, other); return err },
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "t", func(t *fakerest.Table) bool { return t.Meta.CurrentSchema().Field(0).Name == "y" })
			}},
		{name: "replace with rows", run: func(f *fixture) error { return f.makeWithRows(f.name, other) }, did: files("t", "f2")},
		{name: "several tables", run: func(f *fixture) error {
			u, err := f.c.Load(f.ctx, n("u"))
			f.must(err)
			t := f.load()
			_, err = f.c.CommitAll(f.ctx, []TableChange{{f.name, Change{Base: t, Add: []*DataFile{f.fileOf(t, 2)}}},
				{n("u"), Change{Base: u, Edit: func(e *Edit) error { return e.SetProperties(map[string]string{"p": "q"}) }}}})
			return err
		}, did: func(f *fixture, s *fakerest.Server) int {
			both := f.snapshotsAdding(f.name, "f2")
			if table(s, "u", func(t *fakerest.Table) bool { return t.Meta.Properties()["p"] == "q" }) != both {
				f.t.Error("one of two tables was changed")
			}
			return both
		}},
		{name: "transaction of several statements", run: func(f *fixture) error {
			tx := Begin(f.c)
			for range 2 {
				t, err := tx.Load(f.ctx, f.name)
				f.must(err)
				d := f.fileOf(t, 1)
				f.must(t.FS().Create(f.ctx, d.Path, []byte("rows")))
				_, err = tx.Commit(f.ctx, f.name, Change{Base: t, Add: []*DataFile{d}})
				f.must(err)
			}
			_, err := tx.Publish(f.ctx)
			return err
		}, did: files("t", "f3")},
		{name: "drop", run: func(f *fixture) error { return f.c.Drop(f.ctx, n("u"), false) },
			did: func(_ *fixture, s *fakerest.Server) int {
				return 1 - table(s, "u", func(*fakerest.Table) bool { return true })
			}},
		{name: "rename", run: func(f *fixture) error { return f.c.Rename(f.ctx, n("u"), n("w")) },
			did: func(_ *fixture, s *fakerest.Server) int {
				return table(s, "w", func(*fakerest.Table) bool { return true })
			}},
		{name: "create view", run: func(f *fixture) error {
			_, err := f.c.CreateView(f.ctx, n("fresh"), view("select 2"), false)
			return err
		}, did: versions("fresh", 0)},
		{name: "create or replace view", run: func(f *fixture) error {
			_, err := f.c.CreateView(f.ctx, n("fresh"), view("select 2"), true)
			return err
		}, did: versions("fresh", 0)},
		{name: "replace view", run: func(f *fixture) error { _, err := f.c.CreateView(f.ctx, n("v"), view("select 2"), true); return err }, did: versions("v", 1)},
		{name: "drop view", run: func(f *fixture) error { return f.c.DropView(f.ctx, n("v")) },
			did: func(_ *fixture, s *fakerest.Server) int {
				if s.Views["a.v"] == nil {
					return 1
				}
				return 0
			}},
		{name: "rename view", run: func(f *fixture) error { return f.c.RenameView(f.ctx, n("v"), n("w")) }, did: versions("w", 0)},
		{name: "create schema", blind: true, run: func(f *fixture) error { return f.c.CreateNamespace(f.ctx, "b", nil) },
			did: func(_ *fixture, s *fakerest.Server) int { return len(s.Namespaces) - 2 }},
		{name: "drop schema", run: func(f *fixture) error { return f.c.DropNamespace(f.ctx, "empty") },
			did: func(_ *fixture, s *fakerest.Server) int { return 2 - len(s.Namespaces) }},
		{name: "set a schema's property", blind: true, run: func(f *fixture) error {
			return f.c.SetNamespaceProperties(f.ctx, "a", map[string]string{"p": "q"}, []string{"old"})
		}, did: func(_ *fixture, s *fakerest.Server) int {
			if s.Namespaces["a"]["p"] == "q" {
				return 1
			}
			return 0
		}},
	}
}

func (f *fixture) makeWithRows(n Name, spec TableSpec) error {
	t, err := f.c.Stage(f.ctx, n, spec)
	f.must(err)
	d := f.fileOf(t, 3)
	d.Path = t.Location() + "/data/" + filepath.Base(d.Path)
	_, err = f.c.CommitStaged(f.ctx, t, Change{Base: t, Add: []*DataFile{d}})
	return err
}

// snapshotsAdding counts the snapshots of a table that added a file.
func (f *fixture) snapshotsAdding(n Name, file string) int {
	t, err := f.c.Load(f.ctx, n)
	if gone, err := missing(err); gone || err != nil {
		f.must(err)
		return 0
	}
	count := 0
	for _, s := range t.Snapshots() {
		ms, err := t.Manifests(f.ctx, s)
		f.must(err) // what a landed commit holds is there
		for _, m := range ms {
			es, err := t.Entries(f.ctx, m)
			f.must(err)
			for _, e := range es {
				if e.Status == Added && e.SnapshotID == s.ID && filepath.Base(e.File.Path) == file+".parquet" {
					count++
				}
			}
		}
	}
	return count
}

// unheld are the files of the warehouse that no snapshot of a table holds.
func (f *fixture) unheld(s *fakerest.Server) []string {
	held := map[string]bool{}
	for name := range s.Tables {
		ns, tab, _ := strings.Cut(name, ".")
		t, err := f.c.Load(f.ctx, Name{Namespace: ns, Table: tab})
		f.must(err)
		for _, s := range t.Snapshots() {
			held[s.ManifestList] = true
			ms, err := t.Manifests(f.ctx, s)
			f.must(err)
			for _, m := range ms {
				held[m.Path] = true
				f.must(live(f.ctx, t, m, func(d *DataFile) { held[d.Path] = true }))
			}
		}
	}
	var out []string
	f.must(filepath.WalkDir(f.dir+"/wh", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !held[p] {
			out = append(out, p)
		}
		return err
	}))
	return out
}

// restFaultFixture has a table t with a file and a branch b, a table u, a view v and an empty schema.
func restFaultFixture(t *testing.T) (*fixture, *fakerest.Server) {
	f, s := restFixture(t)
	f.c.(*restCatalog).store.Volatile = true // two thousand times
	s.Transactions = true
	f.must(f.c.CreateNamespace(f.ctx, "a", map[string]string{"old": "1"}))
	f.must(f.c.CreateNamespace(f.ctx, "empty", nil))
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long"), primitive("s", "string")}}, Properties: map[string]string{"old": "1"}}
	for _, n := range []string{"t", "u"} {
		_, err := f.c.Create(f.ctx, Name{Namespace: "a", Table: n}, spec)
		f.must(err)
	}
	_, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	_, err = f.c.Commit(f.ctx, f.name, Change{Edit: func(e *Edit) error { return e.SetRef(RefSpec{Name: "b", Branch: true}) }})
	f.must(err)
	_, err = f.c.CreateView(f.ctx, Name{Namespace: "a", Table: "v"}, ViewSpec{Schema: spec.Schema, Representations: map[string]string{"lhsql": "select 1"}}, false)
	f.must(err)
	return f, s
}

// Whatever a catalog, or what stands between, answers to a write, and whether it has done it or not:
// the write is there once or not at all, what is reported is true, nothing that is there lost a
// file, and where it is known that nothing happened, nothing is left.
func TestRESTFaults(t *testing.T) {
	answers := map[string]fakerest.Fault{"503 with Retry-After": {Answer: "503", RetryAfter: "1", Times: 2}, "429 with Retry-After": {Answer: "429", RetryAfter: "1", Times: 2},
		"429": {Answer: "429", Times: 2}, "503 for long": {Answer: "503", RetryAfter: "3600"}}
	for _, a := range []string{"400", "401", "403", "404", "408", "409", "412", "419", "422", "500", "502", "503", "504", "reset", "closed", "cut", "garbage", "silent", "moved", "twice"} {
		answers[a] = fakerest.Fault{Answer: a}
	}
	for _, p := range restPaths() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, a := range slices.Sorted(maps.Keys(answers)) {
				for _, applied := range []bool{false, true} {
					// Nobody can look for a moment, or at all.
					for _, deaf := range []int{0, 2, 1000} {
						if a == "twice" && applied || deaf > 0 && !slices.Contains([]string{"409", "404", "503", "reset", "twice"}, a) {
							continue
						}
						fault := answers[a]
						fault.Applied, fault.Deaf = applied, deaf
						t.Run(fmt.Sprintf("%s applied %v deaf %d", a, applied, deaf), func(t *testing.T) { restFault(t, &p, fault) })
					}
				}
			}
		})
	}
}

func restFault(t *testing.T, p *commitPath, fault fakerest.Fault) {
	f, s := restFaultFixture(t)
	deaf := fault.Deaf >= 1000
	if fault.Answer == "silent" {
		f.c.(*restCatalog).quiet.Store(int64(300 * time.Millisecond))
	}
	s.Break(&fault)
	err := p.run(f)
	if s.Happened() == 0 {
		t.Fatal("the fault did not happen")
	}
	s.Break(nil)
	did := p.did(f, s)
	applied := fault.Applied || fault.Answer == "twice"
	if did > 1 || applied && did == 0 {
		t.Errorf("it was done %d times: %v", did, err)
	}
	code := sqlerr.CodeOf(err)
	var exists *Exists
	var gone *NotFound
	switch Outcome(err) {
	case Committed:
		if did != 1 {
			t.Error("it is reported as done and is not")
		}
	case Aborted:
		if did != 0 {
			t.Errorf("it is done and reported as not done: %v (%s)", err, code)
		}
		if code == "" && !errors.As(err, &exists) && !errors.As(err, &gone) {
			t.Errorf("an error without a code: %v", err)
		}
	case Unknown:
		// It must not be said lightly.
		if applied && !deaf {
			t.Errorf("it is done, and it could be known: %v", err)
		}
		if !applied && !deaf && slices.Contains([]string{"400", "403", "404", "409", "412", "422", "429"}, fault.Answer) {
			t.Errorf("it is not done, and it could be known: %v", err)
		}
		if code != sqlerr.TransactionUnknown {
			t.Errorf("%v has the code %s", err, code)
		}
	}
	if left := f.unheld(s); Outcome(err) != Unknown && len(left) > 0 {
		t.Errorf("%v, and these files are left: %q", err, left)
	}
	// Life goes on.
	_, err = f.c.Load(context.Background(), f.name)
	f.must(err)
}
