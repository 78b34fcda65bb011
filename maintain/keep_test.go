package maintain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/types"
)

// fixture is a table whose data files are only names of files that are there: what keeps and removes
// files never opens them.
type fixture struct {
	testing.TB
	ctx  context.Context
	cat  lake.Catalog
	dir  string
	name lake.Name
	now  time.Time
	n    int
}

// Now and Sleep make the fixture the clock of its commits, which are a minute apart.
func (f *fixture) Now() time.Time {
	f.now = f.now.Add(time.Minute)
	return f.now
}

func (f *fixture) Sleep(context.Context, time.Duration) error { return nil }

func newFixture(t *testing.T, props map[string]string) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir(), props)
}

func newFixtureIn(t testing.TB, dir string, props map[string]string) *fixture {
	t.Helper()
	f := &fixture{TB: t, dir: dir, name: lake.Name{Namespace: "a", Table: "t"}, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	f.ctx = clock.With(context.Background(), f)
	cat, err := lake.OpenCatalog(f.ctx, "lake", map[string]string{"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "wh")})
	f.must(err)
	t.Cleanup(func() { cat.Close() })
	f.cat = cat
	f.must(cat.CreateNamespace(f.ctx, "a", nil))
	f.create(f.name, "", props)
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) create(n lake.Name, location string, props map[string]string) {
	f.Helper()
	_, err := f.cat.Create(f.ctx, n, lake.TableSpec{Location: location, Properties: props,
		Schema: &lake.Schema{Fields: []lake.Field{{Name: "p", Type: types.T(types.Int8), Iceberg: "long"}}}, PartitionBy: []lake.PartitionBy{{Column: "p", Transform: lake.ParseTransform("identity")}}})
	f.must(err)
}

func (f *fixture) load() *lake.Table {
	f.Helper()
	t, err := f.cat.Load(f.ctx, f.name)
	f.must(err)
	return t
}

func (f *fixture) target() maintain.Target {
	return maintain.Target{Catalog: f.cat, Table: f.load()}
}

// file makes a data file of partition p on disk.
func (f *fixture) file(p int64) *lake.DataFile {
	f.Helper()
	f.n++
	path := filepath.Join(f.load().Location(), "data", fmt.Sprintf("f%d.parquet", f.n))
	f.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f.must(os.WriteFile(path, []byte("PAR1"), 0o644))
	return &lake.DataFile{Path: path, Format: "parquet", RecordCount: 1, FileSize: 4, Partition: []types.Datum{types.NewInt(p)}, SpecID: f.load().DefaultSpec().ID}
}

// commit adds and removes files and gives the new head.
func (f *fixture) commit(add, remove []*lake.DataFile) *lake.Snapshot {
	f.Helper()
	t := f.load()
	c := lake.Change{Base: t, Snapshot: t.CurrentSnapshot(), Add: add, Remove: remove}
	if len(remove) > 0 {
		c.Kind = lake.CopyOnWrite
	}
	t, err := f.cat.Commit(f.ctx, f.name, c)
	f.must(err)
	return t.CurrentSnapshot()
}

func (f *fixture) edit(edit func(*lake.Edit) error) {
	f.Helper()
	_, err := f.cat.Commit(f.ctx, f.name, lake.Change{MovesRefs: true, Edit: edit})
	f.must(err)
}

func (f *fixture) expire(x maintain.Expire) maintain.Expired {
	f.Helper()
	if x.OlderThan == nil {
		later := f.now.Add(time.Hour)
		x.OlderThan = &later
	}
	out, err := maintain.ExpireSnapshots(f.ctx, f.target(), x)
	f.must(err)
	f.must(out.Err)
	f.intact()
	return out
}

// live lists the data files of a snapshot by their base names.
func (f *fixture) live(s *lake.Snapshot) []string {
	f.Helper()
	t := f.load()
	ms, err := t.Manifests(f.ctx, s)
	f.must(err)
	var out []string
	for _, m := range ms {
		es, err := t.Entries(f.ctx, m)
		f.must(err)
		for _, e := range es {
			if e.Status != lake.Deleted {
				out = append(out, filepath.Base(e.File.Path))
			}
		}
	}
	slices.Sort(out)
	return out
}

// intact: every file that a kept snapshot holds is there.
func (f *fixture) intact() {
	f.Helper()
	t := f.load()
	for _, s := range t.Snapshots() {
		for _, base := range f.live(s) {
			if _, err := os.Stat(filepath.Join(t.Location(), "data", base)); err != nil {
				f.Errorf("snapshot %d: %v", s.ID, err)
			}
		}
	}
	for _, r := range t.Refs() {
		if t.SnapshotByID(r.SnapshotID) == nil {
			f.Errorf("%s is at snapshot %d, which is gone", r.Name, r.SnapshotID)
		}
	}
	for _, s := range t.Statistics() {
		if _, err := os.Stat(s.Path); err != nil {
			f.Error(err)
		}
	}
}

func (f *fixture) there(d *lake.DataFile) bool {
	_, err := os.Stat(d.Path)
	return err == nil
}

// age makes all files ten days old by the fixture's clock.
func (f *fixture) age() {
	f.Helper()
	old := f.now.Add(-10 * 24 * time.Hour)
	f.must(filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.Chtimes(p, old, old)
		}
		return err
	}))
}

func (f *fixture) orphans(o maintain.Orphans) ([]string, error) {
	f.Helper()
	f.age()
	list, removed, err := maintain.RemoveOrphanFiles(f.ctx, f.target(), o)
	if err == nil {
		f.must(removed.Err)
	}
	f.intact()
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], f.dir+"/wh/")
	}
	return list, err
}

// A file that an expired snapshot deleted may be in an older one that a tag keeps, and one that was
// deleted may have been added again (apache/iceberg#8255, #10982, #13568).
func TestExpireKeepsWhatOthersHold(t *testing.T) {
	f := newFixture(t, nil)
	a, b, c := f.file(1), f.file(2), f.file(3)
	first := f.commit([]*lake.DataFile{a, b, c}, nil)
	f.edit(func(e *lake.Edit) error { return e.SetRef(lake.RefSpec{Name: "kept", Snapshot: &first.ID}) })
	f.commit(nil, []*lake.DataFile{a})
	f.commit(nil, []*lake.DataFile{b})
	again := *b
	f.commit([]*lake.DataFile{&again}, nil)
	d := f.file(4)
	f.commit([]*lake.DataFile{d}, nil)
	f.commit(nil, []*lake.DataFile{d})
	out := f.expire(maintain.Expire{})
	if len(out.Snapshots) != 4 || out.Files[lake.HeldData] != 1 || f.there(d) {
		t.Errorf("expired %v, removed %v", out.Snapshots, out.Files)
	}
	f.edit(func(e *lake.Edit) error { return e.DropRef("kept", false, false) })
	if out := f.expire(maintain.Expire{}); out.Files[lake.HeldData] != 1 || f.there(a) || !f.there(b) || !f.there(c) {
		t.Errorf("after the tag has gone: removed %v", out.Files)
	}
}

// Every branch and tag keeps its head; a branch keeps by its own numbers; a tag goes by its own age
// alone, and main never (seaweedfs#10774, iceberg-go#1842).
func TestExpireKeepsRefs(t *testing.T) {
	f := newFixture(t, nil)
	var snaps []*lake.Snapshot
	for i := range 6 {
		snaps = append(snaps, f.commit([]*lake.DataFile{f.file(int64(i))}, nil))
	}
	three, hour, day := 3, time.Hour, 24*time.Hour
	f.edit(func(e *lake.Edit) error {
		return errors.Join(e.SetRef(lake.RefSpec{Name: "b", Branch: true, Snapshot: &snaps[4].ID, MinSnapshotsToKeep: &three}),
			e.SetRef(lake.RefSpec{Name: "old", Snapshot: &snaps[0].ID}), e.SetRef(lake.RefSpec{Name: "short", Snapshot: &snaps[1].ID, MaxRefAge: &hour}),
			e.SetRef(lake.RefSpec{Name: "long", Snapshot: &snaps[5].ID, MaxRefAge: &day}))
	})
	f.now = f.now.Add(2 * time.Hour)
	out := f.expire(maintain.Expire{})
	if !slices.Equal(out.Refs, []string{"short"}) || !slices.Equal(out.Snapshots, []int64{snaps[1].ID}) {
		t.Errorf("expired %v and %v of %v", out.Refs, out.Snapshots, snaps)
	}
	if len(f.load().Snapshots()) != 5 {
		t.Errorf("%d snapshots are left", len(f.load().Snapshots()))
	}
	_, err := maintain.ExpireSnapshots(f.ctx, f.target(), maintain.Expire{SnapshotIDs: []int64{snaps[0].ID}})
	if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.DependentObjectsExist || !strings.Contains(e.Message, "old") {
		t.Errorf("a tag's head: %v", err)
	}
}

// Snapshots that no ref leads to, such as staged ones, stay while they are young.
func TestExpireStaged(t *testing.T) {
	f := newFixture(t, nil)
	f.commit([]*lake.DataFile{f.file(1)}, nil)
	_, err := f.cat.Commit(f.ctx, f.name, lake.Change{Base: f.load(), Add: []*lake.DataFile{f.file(2)}, StageOnly: true})
	f.must(err)
	longAgo := f.now.Add(-time.Hour)
	if out := f.expire(maintain.Expire{OlderThan: &longAgo}); len(out.Snapshots) != 0 {
		t.Errorf("a young staged snapshot went: %v", out.Snapshots)
	}
	if out := f.expire(maintain.Expire{}); len(out.Snapshots) != 1 || out.Files[lake.HeldData] != 1 {
		t.Errorf("an old staged snapshot: %v, %v", out.Snapshots, out.Files)
	}
}

// Properties that cannot be read are no permission; gc.enabled = false forbids.
func TestExpireRefuses(t *testing.T) {
	for _, props := range []map[string]string{{"gc.enabled": "false"}, {"history.expire.max-snapshot-age-ms": "a day"}, {"history.expire.min-snapshots-to-keep": "-1"}} {
		f := newFixture(t, props)
		f.commit([]*lake.DataFile{f.file(1)}, nil)
		f.commit([]*lake.DataFile{f.file(1)}, nil)
		if _, err := maintain.ExpireSnapshots(f.ctx, f.target(), maintain.Expire{}); err == nil || len(f.load().Snapshots()) != 2 {
			t.Errorf("%v: %v", props, err)
		}
	}
}

// A table that has another name is not expired: the other may hold what this one forgets.
func TestExpireOfTwoNames(t *testing.T) {
	f := newFixture(t, nil)
	f.commit([]*lake.DataFile{f.file(1)}, nil)
	other := lake.Name{Namespace: "a", Table: "other"}
	_, err := f.cat.Register(f.ctx, other, f.load().MetadataLocation)
	f.must(err)
	f.commit([]*lake.DataFile{f.file(2)}, nil)
	_, err = maintain.ExpireSnapshots(f.ctx, f.target(), maintain.Expire{})
	if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.DependentObjectsExist || !strings.Contains(e.Message, "a.other") {
		t.Errorf("%v", err)
	}
	f.must(f.cat.Drop(f.ctx, other, false))
	f.expire(maintain.Expire{})
}

// What was expired leaves nothing behind and takes nothing that is held, whatever step is the last; what
// a crash leaves, orphan removal finds.
func TestExpireCrash(t *testing.T) {
	crash := errors.New("crash")
	for last := 0; ; last++ {
		f := newFixture(t, nil)
		var files []*lake.DataFile
		for i := range 4 {
			files = append(files, f.file(int64(i)))
			f.commit(files[i:], nil)
		}
		f.commit(nil, files[:2])
		later := f.now.Add(time.Hour)
		steps := 0
		ctx := lake.WithYield(f.ctx, func(string) error {
			if steps++; steps > last {
				return crash
			}
			return nil
		})
		out, err := maintain.ExpireSnapshots(ctx, f.target(), maintain.Expire{OlderThan: &later, Concurrent: 1})
		f.intact()
		if err == nil && out.Err == nil {
			if last < 10 {
				t.Errorf("only %d steps", last)
			}
			return
		}
		f.expire(maintain.Expire{})
		if _, err := f.orphans(maintain.Orphans{}); err != nil {
			t.Fatal(err)
		}
		f.whole()
	}
}

// whole: the table's folder holds what the table's metadata names, and nothing else.
func (f *fixture) whole() {
	f.Helper()
	t := f.load()
	held := map[string]bool{}
	f.must(t.ReachAll(f.ctx, lake.Reach{}, func(h *lake.Held) error {
		if h.Live() {
			held[h.Path] = true
		}
		return nil
	}))
	f.must(filepath.WalkDir(t.Location(), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !held[p] {
			f.Errorf("nothing holds %s", p)
		}
		delete(held, p)
		return err
	}))
	for p := range held {
		f.Errorf("%s is held and gone", p)
	}
}

// What is no orphan: a statistics file (trino#19965, amoro#1959), a file of a sibling whose path begins
// alike (apache/iceberg#17448), a file that is young, hidden folders, the hint of the version. What is:
// a file that nothing names, one that was half written, an old metadata file.
func TestOrphans(t *testing.T) {
	f := newFixture(t, map[string]string{"write.metadata.previous-versions-max": "1"})
	f.create(lake.Name{Namespace: "a", Table: "t2"}, f.load().Location()+"2", nil)
	a := f.file(1)
	s := f.commit([]*lake.DataFile{a}, nil)
	f.commit([]*lake.DataFile{f.file(2)}, nil)
	f.commit([]*lake.DataFile{f.file(3)}, nil)
	dir := f.load().Location()
	write := func(name string) string {
		p := filepath.Join(dir, name)
		f.must(os.MkdirAll(filepath.Dir(p), 0o755))
		f.must(os.WriteFile(p, []byte("x"), 0o644))
		return p
	}
	f.withStatistics(s.ID, write("metadata/stats.puffin"))
	write("data/orphan.parquet")
	write("data/.lhsql-tmp-1")
	write("_hidden/x.parquet")
	write("metadata/version-hint.text")
	f.must(os.WriteFile(dir+"2/data.parquet", []byte("x"), 0o644))
	for _, dry := range []bool{true, false} {
		list, err := f.orphans(maintain.Orphans{DryRun: dry})
		f.must(err)
		var rest []string
		for _, p := range list {
			if !strings.HasSuffix(p, ".metadata.json") {
				rest = append(rest, p)
			}
		}
		if want := []string{"a/t/data/.lhsql-tmp-1", "a/t/data/orphan.parquet"}; !slices.Equal(rest, want) || len(list)-len(rest) != 2 {
			t.Errorf("dry %v: %v", dry, list)
		}
	}
	if list, err := f.orphans(maintain.Orphans{}); err != nil || len(list) != 0 {
		t.Errorf("again: %v, %v", list, err)
	}
	young := write("data/young.parquet")
	if _, _, err := maintain.RemoveOrphanFiles(f.ctx, f.target(), maintain.Orphans{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
	yesterday := f.now.Add(-23 * time.Hour)
	if _, _, err := maintain.RemoveOrphanFiles(f.ctx, f.target(), maintain.Orphans{OlderThan: &yesterday}); err == nil {
		t.Error("files of today were taken for orphans")
	}
}

// withStatistics registers a statistics file, by writing the metadata file anew.
func (f *fixture) withStatistics(snapshot int64, path string) {
	f.Helper()
	loc := f.load().MetadataLocation
	b, err := os.ReadFile(loc)
	f.must(err)
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	f.must(d.Decode(&doc))
	doc["statistics"] = []any{map[string]any{"snapshot-id": snapshot, "statistics-path": path, "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": []any{}}}
	b, err = json.Marshal(doc)
	f.must(err)
	f.must(os.Remove(loc)) // another file, so that nobody takes it for the one that was read
	f.must(os.WriteFile(loc, b, 0o644))
}

// Orphans are not looked for where it cannot be told whose files are whose: another table in the
// folder or around it (amoro#4292, apache/iceberg#12278), metadata that is another's, another format.
func TestOrphansOfOthers(t *testing.T) {
	for name, make := range map[string]func(f *fixture, dir string){
		"nested": func(f *fixture, dir string) { f.create(lake.Name{Namespace: "a", Table: "u"}, dir+"/data/u", nil) },
		"around": func(f *fixture, dir string) {
			f.create(lake.Name{Namespace: "a", Table: "u"}, filepath.Dir(dir)+"/x", map[string]string{"write.data.path": filepath.Dir(dir)})
		},
		"foreign metadata": func(f *fixture, dir string) {
			f.must(os.WriteFile(dir+"/metadata/00000-x.metadata.json", []byte(`{"format-version": 2, "table-uuid": "00000000-0000-0000-0000-000000000001"}`), 0o644))
		},
		"a view": func(f *fixture, dir string) {
			f.must(os.MkdirAll(dir+"/v/metadata", 0o755))
			f.must(os.WriteFile(dir+"/v/metadata/00000-x.metadata.json", []byte(`{"view-uuid": "00000000-0000-0000-0000-000000000001"}`), 0o644))
		},
		"delta": func(f *fixture, dir string) {
			f.must(os.MkdirAll(dir+"/_delta_log", 0o755))
			f.must(os.WriteFile(dir+"/_delta_log/0.json", nil, 0o644))
		},
		"kept": func(f *fixture, dir string) {
			f.edit(func(e *lake.Edit) error { return e.SetProperties(map[string]string{"gc.enabled": "false"}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.commit([]*lake.DataFile{f.file(1)}, nil)
			orphan := f.file(2)
			make(f, f.load().Location())
			if list, err := f.orphans(maintain.Orphans{}); err == nil || !f.there(orphan) {
				t.Errorf("removed %v", list)
			} else {
				t.Log(err)
			}
		})
	}
}

// Others write metadata files that are not whole from the start: a young one is no reason to refuse, an old one is.
func TestOrphansBesideHalfWrittenMetadata(t *testing.T) {
	f := newFixture(t, nil)
	f.commit([]*lake.DataFile{f.file(1)}, nil)
	f.file(2)
	f.age()
	half := f.load().Location() + "/metadata/00009-x.metadata.json"
	f.must(os.WriteFile(half, []byte(`{"format-ver`), 0o644))
	f.must(os.Chtimes(half, f.now, f.now))
	list, _, err := maintain.RemoveOrphanFiles(f.ctx, f.target(), maintain.Orphans{DryRun: true})
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := f.orphans(maintain.Orphans{}); err == nil {
		t.Errorf("removed %v", list)
	}
}

// A table whose metadata names its folder by a link: what is held by the one name is held by the other.
func TestOrphansBehindLinks(t *testing.T) {
	f := newFixture(t, nil)
	loc := f.load().Location()
	link := f.dir + "/wh/link"
	f.must(os.Symlink(filepath.Dir(loc), link))
	d := f.file(1)
	linked := *d
	linked.Path = link + "/t/data/" + filepath.Base(d.Path)
	f.commit([]*lake.DataFile{&linked}, nil)
	if list, err := f.orphans(maintain.Orphans{}); err != nil || len(list) != 0 || !f.there(d) {
		t.Errorf("removed %v, %v", list, err)
	}
}

// What was committed while orphans were looked for is held: the metadata is read again before
// anything is removed.
func TestOrphansBesideCommit(t *testing.T) {
	f := newFixture(t, nil)
	f.commit([]*lake.DataFile{f.file(1)}, nil)
	late := f.file(2)
	g := f.target() // read before the commit
	f.commit([]*lake.DataFile{late}, nil)
	f.age()
	list, _, err := maintain.RemoveOrphanFiles(f.ctx, g, maintain.Orphans{})
	if err != nil || !f.there(late) {
		t.Errorf("removed %v, %v", list, err)
	}
	f.intact()
}

// Manifests are clustered by partition, beside writers: an append is kept, a rewrite that lost its
// manifests is planned again.
func TestRewriteManifests(t *testing.T) {
	f := newFixture(t, map[string]string{"commit.manifest-merge.enabled": "false"})
	var files []*lake.DataFile
	for i := range 12 {
		files = append(files, f.file(int64(i%3)), f.file(int64(i%3)))
		f.commit(files[2*i:], nil)
	}
	f.commit(nil, files[5:6])
	old, err := f.load().Manifests(f.ctx, f.load().CurrentSnapshot())
	f.must(err)
	f.edit(func(e *lake.Edit) error { // room for some more files than the two that each has
		return e.SetProperties(map[string]string{"commit.manifest.target-size-bytes": strconv.FormatInt(old[0].Length+400, 10)})
	})
	before := f.live(f.load().CurrentSnapshot())
	dry, err := maintain.RewriteManifests(f.ctx, f.target(), lake.ManifestRewrite{DryRun: true})
	f.must(err)
	n := 0
	ctx := lake.WithYield(f.ctx, func(step string) error {
		switch n++; {
		case step == "load" && n < 40:
			before = append(before, "f25.parquet")
			n = 40
			f.commit([]*lake.DataFile{f.file(7)}, nil)
		case step == "load" && n < 80:
			n = 80
			before = slices.DeleteFunc(before, func(s string) bool { return s == "f1.parquet" })
			f.commit(nil, files[:1])
		}
		return nil
	})
	done, err := maintain.RewriteManifests(ctx, f.target(), lake.ManifestRewrite{})
	f.must(err)
	t.Logf("dry: %+v; %+v", dry, done)
	slices.Sort(before)
	head := f.load().CurrentSnapshot()
	if got := f.live(head); !slices.Equal(got, before) {
		t.Errorf("live files %v, want %v", got, before)
	}
	if done.Replaced < 12 || done.Added != dry.Added || done.Added < 2 || head.Operation != "replace" {
		t.Errorf("%d manifests were replaced by %d, operation %s", done.Replaced, done.Added, head.Operation)
	}
	last := int64(-1)
	ms, err := f.load().Manifests(f.ctx, head)
	f.must(err)
	for _, m := range ms[:done.Added] {
		es, err := f.load().Entries(f.ctx, m)
		f.must(err)
		for _, e := range es {
			if p := e.File.Partition[0].Int(); p < last {
				t.Errorf("%s of partition %d comes after %d", e.File.Path, p, last)
			} else {
				last = p
			}
		}
	}
	// With two of them merged and clustered there is nothing more to do once the late one is in.
	_, err = maintain.RewriteManifests(f.ctx, f.target(), lake.ManifestRewrite{})
	f.must(err)
	if r, err := maintain.RewriteManifests(f.ctx, f.target(), lake.ManifestRewrite{}); r.Replaced != 0 || r.Added != 0 || err != nil {
		t.Errorf("again: %+v, %v", r, err)
	}
	f.whole()
}

// A tag that comes while an expiry is under way keeps its snapshot; an append is kept, whole. At each
// step of the expiry's commit in turn.
func TestExpireBesideOthers(t *testing.T) {
	for at := 1; ; at++ {
		f := newFixture(t, nil)
		a := f.file(1)
		first := f.commit([]*lake.DataFile{a}, nil)
		f.commit(nil, []*lake.DataFile{a})
		f.commit([]*lake.DataFile{f.file(2)}, nil)
		later := f.now.Add(time.Hour)
		n, step := 0, ""
		var tagged bool
		ctx := lake.WithYield(f.ctx, func(s string) error {
			if n++; n == at {
				step = s
				_, err := f.cat.Commit(f.ctx, f.name, lake.Change{MovesRefs: true, Edit: func(e *lake.Edit) error {
					return e.SetRef(lake.RefSpec{Name: "late", Snapshot: &first.ID})
				}})
				tagged = err == nil
				f.commit([]*lake.DataFile{f.file(3)}, nil)
			}
			return nil
		})
		out, err := maintain.ExpireSnapshots(ctx, f.target(), maintain.Expire{OlderThan: &later, Concurrent: 1})
		if err != nil || out.Err != nil {
			t.Fatalf("at %q: %v, %v", step, err, out.Err)
		}
		f.intact()
		if tagged != f.there(a) || tagged != (f.load().SnapshotByID(first.ID) != nil) {
			t.Errorf("at %q: the tag was made: %v; its file is there: %v", step, tagged, f.there(a))
		}
		if step == "" {
			if at < 5 {
				t.Errorf("only %d steps", at)
			}
			return
		}
	}
}
