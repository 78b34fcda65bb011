package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func primitive(name, iceberg string) Field {
	return Field{Name: name, Iceberg: iceberg, Type: TypeOf(iceberg)}
}

// ticks is a clock that steps on by itself and never waits.
type ticks struct {
	mu  sync.Mutex
	now time.Time
}

func (c *ticks) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Hour)
	return c.now
}
func (c *ticks) Sleep(context.Context, time.Duration) error { return nil }

var clockStart = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

type fixture struct {
	t    *testing.T
	ctx  context.Context
	c    Catalog
	dir  string
	name Name
	n    int
}

func newFixture(t *testing.T, version string, by ...PartitionBy) *fixture {
	t.Helper()
	c, dir := testCatalog(t)
	ctx := clock.With(context.Background(), &ticks{now: clockStart})
	f := &fixture{t: t, ctx: ctx, c: c, dir: dir, name: Name{Namespace: "a", Table: "t"}}
	f.must(c.CreateNamespace(ctx, "a", nil))
	_, err := c.Create(ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long"), primitive("s", "string")}},
		PartitionBy: by, Properties: map[string]string{"format-version": version}})
	f.must(err)
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) {
			f.t.Fatalf("%v (%s)", err, e.Code)
		}
		f.t.Fatal(err)
	}
}

func (f *fixture) load() *Table {
	f.t.Helper()
	t, err := f.c.Load(f.ctx, f.name)
	f.must(err)
	return t
}

func (f *fixture) file(rows int64, part ...types.Datum) *DataFile {
	return f.fileOf(f.load(), rows, part...)
}

// fileOf makes a file for t, which need not exist yet.
func (f *fixture) fileOf(t *Table, rows int64, part ...types.Datum) *DataFile {
	f.n++
	return &DataFile{Path: fmt.Sprintf("%s/wh/a/t/data/f%d.parquet", f.dir, f.n), Format: "parquet", RecordCount: rows, FileSize: 100 * rows,
		Partition: part, SpecID: t.DefaultSpec().ID, ValueCounts: map[int]int64{1: rows}, NullCounts: map[int]int64{1: 0},
		Lower: map[int][]byte{1: EncodeBound(types.NewInt(1), "long")}, Upper: map[int][]byte{1: EncodeBound(types.NewInt(rows), "long")}}
}

func (f *fixture) commit(c Change) (*Table, error) {
	f.t.Helper()
	t, err := f.c.Commit(f.ctx, f.name, c)
	f.verify()
	return t, err
}

// live lists the live files of a branch by the base of their path.
func (f *fixture) live(branch string) map[string]*DataFile {
	f.t.Helper()
	t := f.load()
	r, ok := t.Ref(branch)
	if !ok {
		return nil
	}
	out := map[string]*DataFile{}
	ms, err := t.Manifests(f.ctx, t.SnapshotByID(r.SnapshotID))
	f.must(err)
	for _, m := range ms {
		f.must(live(f.ctx, t, m, func(d *DataFile) { out[filepath.Base(d.Path)] = d }))
	}
	return out
}

func (f *fixture) has(want ...string) {
	f.t.Helper()
	got := f.live("main")
	ok := len(got) == len(want)
	for _, w := range want {
		ok = ok && got[w+".parquet"] != nil
	}
	if !ok {
		var names []string
		for n := range got {
			names = append(names, n)
		}
		f.t.Errorf("live files %v, want %v", names, want)
	}
}

// verify runs the spec's rules over the written metadata, and has the Iceberg library read it.
func (f *fixture) verify() {
	f.t.Helper()
	t := f.load()
	b, err := os.ReadFile(t.MetadataLocation)
	f.must(err)
	if _, err := table.ParseMetadataBytes(b); err != nil {
		f.t.Errorf("iceberg-go refuses the metadata: %v\n%s", err, b)
	}
	if t.FormatVersion() < 2 {
		return
	}
	for _, s := range t.Snapshots() {
		ms, err := t.Manifests(f.ctx, s)
		f.must(err)
		total, vectors, files := int64(0), map[string]int{}, int64(0)
		for _, m := range ms {
			es, err := t.Entries(f.ctx, m)
			f.must(err)
			var c Manifest
			c.MinSeq = 1 << 62
			for _, e := range es {
				seq := e.File.DataSeq
				c.count(&manifestEntry{status: e.Status, seq: &seq, file: e.File})
				if e.File.DataSeq > m.Seq || e.File.FileSeq > m.Seq || m.Seq > s.Seq {
					f.t.Errorf("%s: sequence numbers %d %d in manifest %d of snapshot %d", e.File.Path, e.File.DataSeq, e.File.FileSeq, m.Seq, s.Seq)
				}
				if e.Status == Added && e.SnapshotID != m.AddedSnapshotID {
					f.t.Errorf("%s: added by %d in a manifest of %d", e.File.Path, e.SnapshotID, m.AddedSnapshotID)
				}
				if e.Status == Deleted {
					continue
				}
				if e.File.Content == DeletionVector {
					vectors[e.File.ReferencedFile]++
				}
				if e.File.Content == Data {
					total += e.File.RecordCount
					files++
					if t.FormatVersion() >= 3 && s.FirstRowID != nil && e.File.FirstRowID == nil {
						f.t.Errorf("%s has no row ids", e.File.Path)
					}
				}
			}
			if c.AddedFiles != m.AddedFiles || c.ExistingFiles != m.ExistingFiles || c.DeletedFiles != m.DeletedFiles ||
				c.AddedRows != m.AddedRows || c.ExistingRows != m.ExistingRows || c.DeletedRows != m.DeletedRows {
				f.t.Errorf("%s: counts %+v, list says %+v", m.Path, c, *m)
			}
			if c.AddedFiles+c.ExistingFiles > 0 && c.MinSeq != m.MinSeq {
				f.t.Errorf("%s: least sequence number %d, list says %d", m.Path, c.MinSeq, m.MinSeq)
			}
		}
		for p, n := range vectors {
			if n > 1 {
				f.t.Errorf("%d deletion vectors for %s", n, p)
			}
		}
		if got := s.Summary["total-records"]; got != fmt.Sprint(total) {
			f.t.Errorf("snapshot %d: total-records %s, files hold %d", s.Seq, got, total)
		}
		if got := s.Summary["total-data-files"]; got != fmt.Sprint(files) {
			f.t.Errorf("snapshot %d: total-data-files %s, there are %d", s.Seq, got, files)
		}
	}
	ids := map[int64]int64{}
	for _, d := range f.live("main") {
		if d.FirstRowID != nil && d.Content == Data {
			for k := range d.RecordCount {
				ids[*d.FirstRowID+k]++
			}
		}
	}
	for id, n := range ids {
		if n > 1 || id >= t.nextRowID {
			f.t.Errorf("row id %d given %d times, next is %d", id, n, t.nextRowID)
		}
	}
}

func isConflict(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Code == sqlerr.SerializationFailure
}

func TestAppendsAndReplaces(t *testing.T) {
	for _, v := range []string{"1", "2", "3"} {
		t.Run("v"+v, func(t *testing.T) {
			f := newFixture(t, v)
			_, err := f.commit(Change{Add: []*DataFile{f.file(3), f.file(2)}, Statement: "INSERT", User: "ann",
				Inputs: []Input{{Name{"lake", "a", "u"}, 7}}})
			f.must(err)
			_, err = f.commit(Change{Add: []*DataFile{f.file(4)}})
			f.must(err)
			f.has("f1", "f2", "f3")
			tab := f.load()
			files := f.live("main")
			_, err = f.commit(Change{Base: tab, Snapshot: tab.CurrentSnapshot(), Kind: CopyOnWrite,
				Add: []*DataFile{f.file(2)}, Remove: []*DataFile{files["f1.parquet"]}, Balance: &Balance{Read: 3, Deleted: 1}})
			f.must(err)
			f.has("f2", "f3", "f4")
			tab = f.load()
			s := tab.CurrentSnapshot()
			if s.Operation != "overwrite" || s.Summary["deleted-data-files"] != "1" || s.Summary["total-records"] != "8" {
				t.Errorf("summary %v", s.Summary)
			}
			if first := tab.Snapshots()[0].Summary; first["lhsql.statement"] != "INSERT" || first["lhsql.user"] != "ann" ||
				first["lhsql.inputs"] != "lake.a.u@7" || first["lhsql.commit-uuid"] == "" {
				t.Errorf("provenance %v", first)
			}
			if n := len(tab.MetadataLog()); n != 3 {
				t.Errorf("%d earlier metadata files", n)
			}
			// Every snapshot stays readable.
			for i, want := range []int{2, 3, 3} {
				ms, err := tab.Manifests(f.ctx, tab.Snapshots()[i])
				f.must(err)
				n := 0
				for _, m := range ms {
					f.must(live(f.ctx, tab, m, func(*DataFile) { n++ }))
				}
				if n != want {
					t.Errorf("snapshot %d has %d files, want %d", i, n, want)
				}
			}
		})
	}
}

// Times come from the injected clock, so that history can be made.
func TestInjectedClock(t *testing.T) {
	f := newFixture(t, "2")
	_, err := f.commit(Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	if s := f.load().CurrentSnapshot(); s.Time.Year() != 2024 {
		t.Errorf("committed at %v", s.Time)
	}
}

// Two appends race: the loser goes again on the new head and both are there.
func TestLostRaceIsRetried(t *testing.T) {
	for _, step := range []string{"load", "validate", "manifests", "list", "metadata", "swap"} {
		f := newFixture(t, "2")
		a, b := f.file(1), f.file(2)
		once := false
		ctx := WithYield(f.ctx, func(s string) error {
			if s == step && !once {
				once = true
				_, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{b}})
				return err
			}
			return nil
		})
		_, err := f.c.Commit(ctx, f.name, Change{Add: []*DataFile{a}})
		f.must(err)
		f.verify()
		f.has("f1", "f2")
		// What the lost try wrote is gone: two snapshots, two lists.
		lists, _ := filepath.Glob(f.dir + "/wh/a/t/metadata/snap-*")
		metas, _ := filepath.Glob(f.dir + "/wh/a/t/metadata/*.metadata.json")
		if len(lists) != 2 || len(metas) != 3 {
			t.Errorf("%s: %d lists, %d metadata files", step, len(lists), len(metas))
		}
	}
}

// A commit whose answer is lost is found again by its metadata file or its UUID.
func TestUnknownIsResolved(t *testing.T) {
	f := newFixture(t, "2")
	a, b := f.file(1), f.file(2)
	ctx := WithYield(f.ctx, func(s string) error {
		if s == "swapped" { // another writer goes on from our commit, then the answer is lost
			if _, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{b}}); err != nil {
				return err
			}
			return errors.New("connection reset")
		}
		return nil
	})
	_, err := f.c.Commit(ctx, f.name, Change{Add: []*DataFile{a}})
	f.must(err)
	f.has("f1", "f2")
}

// Where the catalog's answer is lost and nothing is seen, the outcome is unknown and no file
// of the commit is removed.
func TestUnknownStaysUnknown(t *testing.T) {
	f := newFixture(t, "2")
	a := f.file(1)
	c := f.c.(*sqlCatalog)
	g := commitEngine{pointers: lossy{c}, load: c.loadAt}
	name := f.name
	name.Catalog = "lake"
	_, err := g.commit(f.ctx, []TableChange{{name, Change{Add: []*DataFile{a}}}})
	var e *sqlerr.Error
	if Outcome(err) != Unknown || !errors.As(err, &e) || e.Code != sqlerr.TransactionUnknown {
		t.Errorf("%v", err)
	}
	if lists, _ := filepath.Glob(f.dir + "/wh/a/t/metadata/snap-*"); len(lists) != 1 {
		t.Errorf("%d lists are left", len(lists))
	}
	f.has()
}

type lossy struct{ pointers }

func (lossy) move(context.Context, []pointerMove) error { return fmt.Errorf("%w: reset", errUnknown) }

// The validation matrix: what a concurrent writer did between the statement's snapshot and its
// commit decides whether it may go on.
func TestValidationMatrix(t *testing.T) {
	part := PartitionBy{Column: "s", Transform: Transform{Kind: Identity}}
	p, q := types.NewStr("p"), types.NewStr("q")
	never := func(*DataFile) bool { return false }
	pos := func(f *fixture, of *DataFile) *DataFile {
		d := f.file(1, of.Partition...)
		d.Content, d.ReferencedFile = PositionDeletes, of.Path
		return d
	}
	eq := func(f *fixture, part types.Datum) *DataFile {
		d := f.file(1, part)
		d.Content, d.EqualityIDs = EqualityDeletes, []int{1}
		return d
	}
	type do func(f *fixture, f1 *DataFile) Change // the concurrent change; f1 is live in partition p, f2 in q
	add := func(part types.Datum) do {
		return func(f *fixture, _ *DataFile) Change { return Change{Add: []*DataFile{f.file(1, part)}} }
	}
	del := func(f *fixture, f1 *DataFile) Change { return Change{Add: []*DataFile{pos(f, f1)}} }
	rewrite := func(f *fixture, f1 *DataFile) Change {
		return Change{Kind: Compaction, Add: []*DataFile{f.file(f1.RecordCount, p)}, Remove: []*DataFile{f1}}
	}
	delEq := func(part types.Datum) do {
		return func(f *fixture, _ *DataFile) Change { return Change{Add: []*DataFile{eq(f, part)}} }
	}
	inP := func(d *DataFile) bool { return d.Partition[0].Str() == "p" }
	cow := func(f *fixture, f1 *DataFile) Change {
		return Change{Kind: CopyOnWrite, Add: []*DataFile{f.file(2, p)}, Remove: []*DataFile{f1}, Conflicts: inP}
	}
	mor := func(kind Kind) do {
		return func(f *fixture, f1 *DataFile) Change {
			return Change{Kind: kind, Add: []*DataFile{pos(f, f1)}, Conflicts: inP}
		}
	}
	move := func(f *fixture, f1 *DataFile) Change { // to where the other statement does not look
		return Change{Kind: MergeOnReadUpdate, Add: []*DataFile{pos(f, f1), f.file(1, q)}}
	}
	over := func(f *fixture, f1 *DataFile) Change {
		return Change{Kind: OverwritePartitions, Add: []*DataFile{f.file(9, p)}, Remove: []*DataFile{f1}, Conflicts: inP}
	}
	for name, c := range map[string]struct {
		mine, other            do
		serializable, snapshot bool // may it commit?
	}{
		"insert, insert":             {add(p), add(p), true, true},
		"insert, delete":             {add(p), del, true, true},
		"cow, insert elsewhere":      {cow, add(q), true, true},
		"cow, insert here":           {cow, add(p), false, true},
		"cow, delete of its file":    {cow, del, false, false},
		"cow, rewrite of its file":   {cow, rewrite, false, false},
		"cow, cow":                   {cow, cow, false, false},
		"cow, equality delete here":  {cow, delEq(p), false, false},
		"cow, equality delete there": {cow, delEq(q), true, true},
		"mor delete, insert here":    {mor(MergeOnReadDelete), add(p), false, true},
		"mor delete, insert there":   {mor(MergeOnReadDelete), add(q), true, true},
		"mor delete, delete":         {mor(MergeOnReadDelete), del, true, true},
		"mor delete, rewrite":        {mor(MergeOnReadDelete), rewrite, false, false},
		"mor delete, update":         {mor(MergeOnReadDelete), move, false, false},
		"mor delete, equality there": {mor(MergeOnReadDelete), delEq(q), true, true},
		"several, delete":            {mor(Several), del, false, false},
		"several, insert there":      {mor(Several), add(q), true, true},
		"mor update, delete":         {mor(MergeOnReadUpdate), del, false, false},
		"mor update, update":         {mor(MergeOnReadUpdate), mor(MergeOnReadUpdate), false, false},
		"mor update, equality here":  {mor(MergeOnReadUpdate), delEq(p), false, false},
		"mor update, equality there": {mor(MergeOnReadUpdate), delEq(q), true, true},
		"compaction, insert":         {rewrite, add(p), true, true},
		"compaction, delete":         {rewrite, del, false, false},
		"compaction, compaction":     {rewrite, rewrite, false, false},
		"overwrite, insert here":     {over, add(p), false, true},
		"overwrite, insert there":    {over, add(q), true, true},
		"overwrite, delete":          {over, del, false, false},
		"overwrite, rewrite":         {over, rewrite, false, false},
	} {
		for level, may := range map[Isolation]bool{Serializable: c.serializable, SnapshotIsolation: c.snapshot} {
			f := newFixture(t, "2", part)
			_, err := f.commit(Change{Add: []*DataFile{f.file(3, p), f.file(2, q)}})
			f.must(err)
			base := f.load()
			f1 := f.live("main")["f1.parquet"]
			mine := c.mine(f, f1)
			mine.Base, mine.Snapshot, mine.Isolation = base, base.CurrentSnapshot(), level
			other := c.other(f, f1)
			other.Base, other.Snapshot, other.Conflicts = base, base.CurrentSnapshot(), never
			_, err = f.commit(other)
			f.must(err)
			before := f.load().MetadataLocation
			_, err = f.commit(mine)
			if may && err != nil || !may && !isConflict(err) {
				t.Errorf("%s at level %d: %v", name, level, err)
			}
			if err != nil && f.load().MetadataLocation != before {
				t.Errorf("%s: a refused commit moved the table", name)
			}
		}
	}
}

func (f *fixture) vector(of *DataFile, rows int64) *DataFile {
	f.n++
	return &DataFile{Path: fmt.Sprintf("%s/wh/a/t/data/dv%d.puffin", f.dir, f.n), Format: "puffin", Content: DeletionVector,
		RecordCount: rows, FileSize: 100, ReferencedFile: of.Path, ContentOffset: 4, ContentSize: 40, SpecID: of.SpecID, Partition: of.Partition}
}

// One deletion vector a file: the old one is folded in or the commit is refused; a vector goes
// with its data file.
func TestDeletionVectors(t *testing.T) {
	f := newFixture(t, "3")
	_, err := f.commit(Change{Add: []*DataFile{f.file(5), f.file(5)}})
	f.must(err)
	base := f.load()
	files := f.live("main")
	f1 := files["f1.parquet"]
	change := func(c Change) error {
		c.Base, c.Snapshot, c.Conflicts = base, base.CurrentSnapshot(), func(*DataFile) bool { return false }
		_, err := f.commit(c)
		return err
	}
	f.must(change(Change{Kind: MergeOnReadDelete, Add: []*DataFile{f.vector(f1, 1)}, Balance: &Balance{Deleted: 1, Deletes: true}}))
	if err := change(Change{Kind: MergeOnReadDelete, Add: []*DataFile{f.vector(f1, 1)}}); !isConflict(err) {
		t.Errorf("a second vector: %v", err)
	}
	base = f.load()
	if err := change(Change{Kind: MergeOnReadDelete, Add: []*DataFile{f.vector(f1, 2)}}); !isConflict(err) {
		t.Errorf("a vector without the old one: %v", err)
	}
	var old *DataFile
	for _, d := range f.live("main") {
		if d.Content == DeletionVector {
			old = d
		}
	}
	f.must(change(Change{Kind: MergeOnReadDelete, Add: []*DataFile{f.vector(f1, 3)}, Remove: []*DataFile{old}, Balance: &Balance{Deleted: 2, Deletes: true}}))
	base = f.load()
	f.must(change(Change{Kind: CopyOnWrite, Add: []*DataFile{f.file(2)}, Remove: []*DataFile{f1}, Balance: &Balance{Read: 2}}))
	for _, d := range f.live("main") {
		if d.Content == DeletionVector {
			t.Errorf("vector %s outlived its file", d.Path)
		}
	}
	pos := f.file(1)
	pos.Content, pos.ReferencedFile = PositionDeletes, f1.Path
	if err := change(Change{Add: []*DataFile{pos}}); err == nil {
		t.Error("a position delete file went into a v3 table")
	}
}

// A statement whose rows do not add up is not committed.
func TestBalance(t *testing.T) {
	f := newFixture(t, "2")
	_, err := f.commit(Change{Add: []*DataFile{f.file(3)}, Balance: &Balance{Inserted: 4}})
	if err == nil || !strings.Contains(err.Error(), "nothing was committed") {
		t.Errorf("%v", err)
	}
	if f.load().CurrentSnapshot() != nil {
		t.Error("it was committed")
	}
}

// Small manifests are merged once there are as many as the property says; entries keep their
// sequence numbers, row ids and snapshots.
func TestManifestMerge(t *testing.T) {
	for _, v := range []string{"1", "2", "3"} {
		f := newFixture(t, v)
		_, err := f.commit(Change{Edit: func(e *Edit) error {
			return e.SetProperties(map[string]string{"commit.manifest.min-count-to-merge": "4"})
		}})
		f.must(err)
		for range 6 {
			_, err := f.commit(Change{Add: []*DataFile{f.file(2)}})
			f.must(err)
		}
		tab := f.load()
		ms, err := tab.Manifests(f.ctx, tab.CurrentSnapshot())
		f.must(err)
		if len(ms) != 3 {
			t.Errorf("v%s: %d manifests", v, len(ms))
		}
		for i, s := range tab.Snapshots() {
			d := f.live("main")[fmt.Sprintf("f%d.parquet", i+1)]
			if d == nil || d.SnapshotID != s.ID || v != "1" && d.DataSeq != int64(i+1) {
				t.Errorf("v%s: file %d: %+v", v, i+1, d)
			}
		}
	}
}

// A table that grows up from v1 to v3 keeps its files and gets row ids at the first v3 commit.
func TestUpgrades(t *testing.T) {
	f := newFixture(t, "1")
	up := func(v int) {
		_, err := f.commit(Change{Edit: func(e *Edit) error { return e.UpgradeFormat(v) }})
		f.must(err)
	}
	_, err := f.commit(Change{Add: []*DataFile{f.file(3)}})
	f.must(err)
	up(2)
	_, err = f.commit(Change{Add: []*DataFile{f.file(4)}})
	f.must(err)
	up(3)
	_, err = f.commit(Change{Add: []*DataFile{f.file(5)}})
	f.must(err)
	f.has("f1", "f2", "f3")
	if next := f.load().nextRowID; next != 12 {
		t.Errorf("next row id %d", next)
	}
	if _, err := f.commit(Change{Edit: func(e *Edit) error { return e.UpgradeFormat(2) }}); err == nil {
		t.Error("the format was lowered")
	}
}

// A metadata document's unknown members survive our edits.
func TestUnknownMembersSurvive(t *testing.T) {
	f := newFixture(t, "2")
	tab := f.load()
	var doc map[string]json.RawMessage
	f.must(json.Unmarshal(tab.raw, &doc))
	doc["x-ours"] = json.RawMessage(`{"deep":[1,2]}`)
	b, err := json.Marshal(doc)
	f.must(err)
	f.must(os.WriteFile(tab.MetadataLocation, b, 0o644))
	_, err = f.commit(Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	f.must(json.Unmarshal(f.load().raw, &doc))
	if string(doc["x-ours"]) != `{"deep":[1,2]}` {
		t.Errorf("%s", doc["x-ours"])
	}
}

// Several tables commit in one step, or none.
func TestCommitAll(t *testing.T) {
	f := newFixture(t, "2")
	u := Name{Namespace: "a", Table: "u"}
	_, err := f.c.Create(f.ctx, u, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	a, b := f.file(1), f.file(2)
	b.Path = strings.Replace(b.Path, "/a/t/", "/a/u/", 1)
	_, err = f.c.CommitAll(f.ctx, []TableChange{{f.name, Change{Add: []*DataFile{a}}}, {u, Change{Add: []*DataFile{b}}}})
	f.must(err)
	f.has("f1")
	base := f.load()
	bad := Change{Base: base, Kind: CopyOnWrite, Remove: []*DataFile{f.file(9)}}
	_, err = f.c.CommitAll(f.ctx, []TableChange{{u, Change{Add: []*DataFile{f.file(3)}}}, {f.name, bad}})
	if !isConflict(err) {
		t.Errorf("%v", err)
	}
	tu, err := f.c.Load(f.ctx, u)
	f.must(err)
	if len(tu.Snapshots()) != 1 {
		t.Error("half of a commit took place")
	}
}

// Concurrent writers in one process: every append is there once.
func TestConcurrentAppends(t *testing.T) {
	f := newFixture(t, "2")
	_, err := f.commit(Change{Edit: func(e *Edit) error {
		return e.SetProperties(map[string]string{"commit.retry.num-retries": "100"})
	}})
	f.must(err)
	var files []*DataFile
	for range 12 {
		files = append(files, f.file(1))
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(files))
	for _, d := range files {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{d}})
			errs <- err
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	f.verify()
	if n := len(f.live("main")); n != len(files) {
		t.Errorf("%d files, want %d", n, len(files))
	}
}

// With write.metadata.delete-after-commit.enabled the metadata files that leave the log are removed,
// but for one that another name stands for.
func TestMetadataExpires(t *testing.T) {
	for _, on := range []bool{false, true} {
		f := newFixture(t, "2")
		other := Name{Namespace: "a", Table: "other"}
		_, err := f.c.Register(f.ctx, other, f.load().MetadataLocation)
		f.must(err)
		first := f.load().MetadataLocation
		_, err = f.commit(Change{Edit: func(e *Edit) error {
			return e.SetProperties(map[string]string{"write.metadata.delete-after-commit.enabled": fmt.Sprint(on), "write.metadata.previous-versions-max": "2"})
		}})
		f.must(err)
		for range 6 {
			_, err := f.commit(Change{Add: []*DataFile{f.file(1)}})
			f.must(err)
		}
		now := f.load()
		if n := len(now.metadataLog); n != 2 {
			t.Errorf("%d files in the log", n)
		}
		files, _ := filepath.Glob(f.dir + "/wh/a/t/metadata/*.metadata.json")
		want := 8
		if on {
			want = 4 // this one, two in the log, and the other name's
		}
		if len(files) != want {
			t.Errorf("delete-after-commit %v: %d metadata files, want %d", on, len(files), want)
		}
		if held, err := f.c.Load(f.ctx, other); err != nil || held.MetadataLocation != first {
			t.Errorf("the other name: %v", err)
		}
		for _, l := range now.metadataLog {
			if _, err := now.FS().ReadAll(f.ctx, l.File); err != nil {
				t.Error(err)
			}
		}
	}
}
