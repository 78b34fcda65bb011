package maintain

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
)

// findings is who holds a value in one state of a table.
type findings struct {
	g       Target
	t       *lake.Table
	m       *matcher
	s       *searching
	holders []Holder

	files     map[string]*heldFile // content files that hold it, by where they lie
	manifests map[string]string    // manifests that hold it themselves, by path as the metadata says; where in them
	snapshots map[int64]string     // and why they have to go
	shown     map[int64]bool       // heads of branches whose rows have it under the table's schema alone
	stats     map[int64][]string   // statistics files that hold it, by snapshot
	log       []string             // metadata files of the log that hold it, as the log says
	orphans   []lake.Object        // that hold it
	fixed     []string             // places that no step reaches: properties, comments, defaults, names
	unread    []string             // objects that could not be looked into
}

// heldFile is a content file that is suspected, or known, to hold the value.
type heldFile struct {
	path      string
	file      lake.DataFile
	kind      lake.HeldKind
	manifests map[string]bool // that list it, as live or not
	live      map[string]bool // that list it as live
	where     []string        // beside values: path, partition, bounds
	cut       string          // bounds that are the beginning of a value
	values    int64
	gone      bool
	bytes     bool  // it holds the value itself
	lacks     []int // fields whose default gives it to the rows
}

// bad tells whether a file holds the value, or its rows have it by default.
func (x *heldFile) bad() bool { return x.bytes || len(x.lacks) > 0 }

// under tells whether rows of the file that have the value are shown by a schema, or hidden in the file.
func (x *heldFile) under(s *lake.Schema) bool { return x != nil && (x.bytes || shows(s, x.lacks)) }

// holds tells whether a file holds the value itself.
func (f *findings) holds(path string) bool {
	x := f.files[f.t.Resolve(path)]
	return x != nil && x.bytes
}

// find looks at a state of the table. paranoid: in every byte of every object that it holds.
func find(ctx context.Context, g Target, m *matcher, s *searching, paranoid bool) (*findings, error) {
	f := &findings{g: g, t: g.Table, m: m, s: s, files: map[string]*heldFile{}, manifests: map[string]string{}, snapshots: map[int64]string{}, stats: map[int64][]string{}, shown: map[int64]bool{}}
	of, err := f.lists(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.entries(ctx, paranoid); err != nil {
		return nil, err
	}
	if err := f.open(ctx, paranoid); err != nil {
		return nil, err
	}
	f.conclude(of)
	if err := f.statistics(ctx); err != nil {
		return nil, err
	}
	if err := f.metadata(ctx); err != nil {
		return nil, err
	}
	return f, f.others(ctx, paranoid)
}

// lists looks at the summaries of snapshots and at manifest lists, and tells which snapshots hold
// each manifest.
func (f *findings) lists(ctx context.Context) (map[string][]int64, error) {
	of := map[string][]int64{}
	for _, s := range f.t.Snapshots() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ms, err := f.t.Manifests(ctx, s)
		if err != nil {
			return nil, err
		}
		list := ""
		for _, m := range ms {
			of[m.Path] = append(of[m.Path], s.ID)
			if where, ok := f.m.summary(m); ok {
				list = "partition summary " + where
			} else if f.m.inPath(m.Path) {
				list = "path of a manifest"
			}
		}
		if list != "" {
			f.hold(Holder{Kind: holderList, Path: f.t.Resolve(s.ManifestList), Where: list, Rows: -1}, []int64{s.ID})
			f.snapshots[s.ID] = "its manifest list holds it"
		}
		for _, k := range sortedKeys(s.Summary) {
			if f.m.inText(k) || f.m.inText(s.Summary[k]) {
				f.hold(Holder{Kind: holderSummary, Path: f.t.MetadataLocation, Where: f.m.redact(k), Rows: -1}, []int64{s.ID})
				f.snapshots[s.ID] = "its summary holds it"
			}
		}
	}
	return of, nil
}

// entries looks at what manifests say of content files, and chooses those that have to be opened.
func (f *findings) entries(ctx context.Context, paranoid bool) error {
	return f.t.Reach(ctx, lake.Reach{Fields: f.m.ids()}, f.t.Snapshots(), func(h *lake.Held) error {
		if !h.Kind.Content() {
			return nil
		}
		d := h.Entry.File
		equal, excluded := f.m.bound(d)
		part, inPart := f.m.partition(f.t.Spec(d.SpecID), d.Partition)
		inPath := f.m.inPath(d.Path) || f.m.inPath(d.ReferencedFile)
		var where []string
		for _, x := range []struct {
			is         bool
			kind, text string
		}{{equal != "", holderBounds, equal}, {inPart, holderPartition, part}, {inPath, holderPath, ""}} {
			if !x.is {
				continue
			}
			where = append(where, strings.TrimSpace(x.kind+" "+x.text))
			if f.manifests[h.Manifest.Path] == "" {
				f.manifests[h.Manifest.Path] = strings.TrimSpace(x.kind + " " + x.text)
			}
		}
		switch {
		case len(where) > 0 || paranoid:
		case h.Kind == lake.HeldDeletionVectors: // positions, and the path that was looked at
			return nil
		case h.Kind == lake.HeldEqualityDeletes && !slices.ContainsFunc(d.EqualityIDs, func(id int) bool { return f.m.fields[id] != nil }):
			return nil
		case h.Kind == lake.HeldPositionDeletes: // with rows, perhaps, which no bounds tell of
		case excluded:
			return nil
		}
		x := f.files[h.Path]
		if x == nil {
			x = &heldFile{path: h.Path, file: *d, kind: h.Kind, manifests: map[string]bool{}, live: map[string]bool{}}
			x.file.Path = strings.Clone(d.Path)
			f.files[x.path] = x
		}
		x.manifests[h.Manifest.Path] = true
		if x.cut == "" {
			x.cut = f.m.cut(d)
		}
		if h.Live() {
			x.live[h.Manifest.Path] = true
		}
		for _, w := range where {
			if !slices.Contains(x.where, w) {
				x.where = append(x.where, w)
			}
		}
		return nil
	})
}

// open looks into the chosen files.
func (f *findings) open(ctx context.Context, paranoid bool) error {
	list := make([]*heldFile, 0, len(f.files))
	for _, p := range sortedKeys(f.files) {
		list = append(list, f.files[p])
	}
	var mu sync.Mutex
	hits := map[string]objectHits{}
	err := eachAtOnce(ctx, list, func(x *heldFile) {
		// Delete files are small, and may have whole rows.
		h := f.s.object(ctx, x.path, -1, paranoid || x.kind != lake.HeldData, true)
		mu.Lock()
		hits[x.path] = h
		mu.Unlock()
	})
	if err != nil {
		return err
	}
	for _, x := range list {
		h := hits[x.path]
		x.values, x.gone = h.Values, h.Gone
		x.bytes, x.lacks = h.any() || len(x.where) > 0, h.Lacks
		switch {
		case x.gone && len(x.live) == 0:
			if len(x.where) == 0 { // an old manifest says that it was removed, and so it was
				delete(f.files, x.path)
			}
			continue
		case h.Err != nil:
			f.unread = append(f.unread, x.path)
			f.holders = append(f.holders, Holder{Table: f.t.Name.String(), Kind: holderUnreadable, Path: x.path, Where: h.Err.Error(), Rows: -1})
		case x.file.Format != "" && x.file.Format != "parquet" && x.file.Format != "puffin":
			f.unread = append(f.unread, x.path)
			f.holders = append(f.holders, Holder{Table: f.t.Name.String(), Kind: holderUnreadable, Path: x.path, Where: "its format is " + x.file.Format, Rows: -1})
		}
		if x.values == 0 {
			x.where = append(x.where, h.Where...)
		}
		if slices.ContainsFunc(x.where, func(w string) bool { return strings.HasPrefix(w, holderPartition) }) && x.values == 0 && x.kind == lake.HeldData {
			x.values = x.file.RecordCount // of files that were brought in from elsewhere, the partition alone says it
		}
		if x.values == 0 && len(x.lacks) > 0 {
			x.values, x.where = h.Rows, append(x.where, holderDefault)
		}
		if !x.bad() {
			delete(f.files, x.path)
		}
	}
	return nil
}

// conclude tells which snapshots hold it by the files that hold it.
func (f *findings) conclude(of map[string][]int64) {
	// The beginning of a value may be that of many. As the bound of a file that holds the value it is
	// this one's.
	for _, x := range f.files {
		for m := range x.manifests {
			if x.cut != "" && f.manifests[m] == "" {
				f.manifests[m] = x.cut
			}
		}
	}
	for _, p := range sortedKeys(f.manifests) {
		kind, where := splitWhere(f.manifests[p])
		f.hold(Holder{Kind: kind, Path: f.t.Resolve(p), Where: where, Rows: -1}, of[p])
		for _, id := range of[p] {
			f.because(id, "a manifest of it holds it")
		}
	}
	heads := map[int64]bool{} // of branches, which are read with the table's schema, not with their own
	for _, r := range f.t.Refs() {
		heads[r.SnapshotID] = heads[r.SnapshotID] || r.Branch
	}
	for _, p := range sortedKeys(f.files) {
		x := f.files[p]
		var ids []int64
		for m := range x.live {
			for _, id := range of[m] {
				switch {
				case x.under(f.t.SnapshotSchema(f.t.SnapshotByID(id))):
					f.because(id, "files of it hold it")
				case heads[id] && x.under(f.t.Schema()):
					f.shown[id] = true
				default:
					continue
				}
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 && !x.bytes {
			continue
		}
		if x.gone {
			continue
		}
		slices.Sort(ids)
		rest := slices.DeleteFunc(slices.Clone(x.where), func(w string) bool { return strings.HasPrefix(w, holderBounds) && x.values > 0 })
		h := Holder{Path: x.path, Where: strings.Join(rest, ", "), Rows: -1}
		switch x.kind {
		case lake.HeldData:
			h.Kind, h.Rows = holderData, x.values
			if x.values == 0 {
				h.Kind = holderOther
				if len(x.where) > 0 && strings.HasPrefix(x.where[0], holderPath) {
					h.Kind = holderPath
				} else if len(x.where) > 0 && strings.HasPrefix(x.where[0], holderBounds) {
					h.Kind = holderData
				}
			}
		case lake.HeldEqualityDeletes:
			h.Kind, h.Rows = holderEquality, x.values
		case lake.HeldPositionDeletes:
			h.Kind, h.Rows = holderPosition, x.values
		default:
			h.Kind = holderVector
		}
		f.hold(h, slices.Compact(ids))
	}
}

// splitWhere parts what holds it from where that is.
func splitWhere(text string) (kind, where string) {
	for _, k := range []string{holderPartition, holderPath, holderBounds} {
		if rest, ok := strings.CutPrefix(text, k); ok {
			return k, strings.TrimLeft(rest, ": ")
		}
	}
	return holderBounds, text
}

// in tells whether a branch or tag leads to the value.
func (f *findings) in(r lake.Ref) bool {
	return f.snapshots[r.SnapshotID] != "" || r.Branch && f.shown[r.SnapshotID]
}

func (f *findings) because(id int64, why string) {
	if f.snapshots[id] == "" {
		f.snapshots[id] = why
	}
}

// hold notes a holder with the snapshots that hold it.
func (f *findings) hold(h Holder, ids []int64) {
	h.Table, h.Snapshots = f.t.Name.String(), ids
	h.Refs, h.Until = f.until(ids)
	f.holders = append(f.holders, h)
}

// until names the refs whose heads are among the snapshots, and says what keeps them.
func (f *findings) until(ids []int64) (refs []string, until string) {
	in := map[int64]bool{}
	for _, id := range ids {
		in[id] = true
	}
	var keep []string
	for _, r := range f.t.Refs() {
		if !in[r.SnapshotID] {
			continue
		}
		refs = append(refs, r.Name)
		text := "branch " + r.Name + ", until it is rewritten"
		if !r.Branch {
			text = "tag " + r.Name + ", until it is dropped"
			if r.MaxRefAgeMs != nil {
				if s := f.t.SnapshotByID(r.SnapshotID); s != nil {
					text = "tag " + r.Name + ", until " + s.Time.Add(milliseconds(*r.MaxRefAgeMs)).UTC().Format(time.RFC3339)
				}
			}
		}
		if why := f.t.Properties()[holdProperty+r.Name]; why != "" {
			text += " (hold: " + why + ")"
		}
		keep = append(keep, text)
	}
	if len(refs) == 0 && len(ids) > 0 {
		age, err := durationOf(f.t.Properties(), "history.expire.max-snapshot-age-ms", 5*24*time.Hour)
		last := time.Time{}
		for _, id := range ids {
			if s := f.t.SnapshotByID(id); s != nil && s.Time.After(last) {
				last = s.Time
			}
		}
		keep = append(keep, "history, until snapshots are expired")
		if err == nil {
			keep[0] = "history, until snapshots are expired after " + last.Add(age).UTC().Format(time.RFC3339)
		}
	}
	return refs, strings.Join(keep, "; ")
}

// holdProperty begins the name of the table property that holds a branch or tag; its value is why.
const holdProperty = "lhsql.hold."

// statistics looks into statistics files.
func (f *findings) statistics(ctx context.Context) error {
	for i, list := range [][]lake.StatisticsFile{f.t.Statistics(), f.t.PartitionStatistics()} {
		for _, x := range list {
			h := f.s.object(ctx, f.t.Resolve(x.Path), -1, true, true)
			if err := ctx.Err(); err != nil {
				return err
			}
			switch {
			case h.any() || f.m.inPath(x.Path):
				f.stats[x.SnapshotID] = append(f.stats[x.SnapshotID], f.t.Resolve(x.Path))
				f.hold(Holder{Kind: holderStatistics, Path: f.t.Resolve(x.Path), Where: strings.Join(h.Where, ", "), Rows: -1}, []int64{x.SnapshotID})
			case h.Err != nil && !h.Gone && i == 0:
				f.unread = append(f.unread, f.t.Resolve(x.Path))
			}
		}
	}
	return nil
}

// metadata looks into the metadata files of the log, and at what no step changes in the present one.
func (f *findings) metadata(ctx context.Context) error {
	t := f.t
	for _, l := range t.MetadataLog() {
		h := f.s.object(ctx, t.Resolve(l.File), -1, true, true)
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.any() || f.m.inPath(l.File) {
			f.log = append(f.log, l.File)
			f.holders = append(f.holders, Holder{Table: t.Name.String(), Kind: holderMetadata, Path: t.Resolve(l.File), Where: strings.Join(h.Where, ", "), Rows: -1,
				Until: "the metadata log, until write.metadata.previous-versions-max newer ones are there"})
		}
	}
	fixed := func(where string) {
		f.fixed = append(f.fixed, where)
		f.holders = append(f.holders, Holder{Table: t.Name.String(), Kind: holderProperty, Path: lake.Canonical(t.MetadataLocation), Where: where, Rows: -1,
			Until: "the table, until it is altered"})
	}
	for _, k := range sortedKeys(t.Properties()) {
		if f.m.inText(k) || f.m.inText(t.Properties()[k]) {
			fixed("property " + f.m.redact(k))
		}
	}
	for _, r := range t.Refs() {
		if f.m.inText(r.Name) {
			fixed("the name of a branch or tag")
		}
	}
	for _, s := range t.Schemas() {
		if f.inFields(s.Fields) {
			fixed(fmt.Sprintf("a name, comment or default of schema %d", s.ID))
		}
	}
	if f.m.inPath(t.Location()) {
		fixed("the table's location")
	}
	return nil
}

func (f *findings) inFields(fields []lake.Field) bool {
	for i := range fields {
		x := &fields[i]
		in := f.m.inText(x.Name) || f.m.inText(x.Doc) || f.inFields(x.Children)
		for _, d := range []*types.Datum{x.InitialDefault, x.WriteDefault} {
			in = in || d != nil && !d.IsNull() && x.Type.Form() == types.FormStr && f.m.inText(d.Str())
		}
		if in {
			return true
		}
	}
	return false
}

// others looks into objects in the table's folders that nothing holds, and, paranoid, into manifests
// and lists of those that it holds.
func (f *findings) others(ctx context.Context, paranoid bool) error {
	var list []lake.Object
	kept := map[string]bool{}
	err := lake.Lying(ctx, f.g.Catalog, f.t, func(o lake.Object, held bool) error {
		if !held || paranoid {
			list = append(list, o)
		}
		if held && paranoid {
			kept[o.Path] = true
		}
		return room.Check()
	})
	if err != nil {
		return err
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	var mu sync.Mutex
	hits := map[string]objectHits{}
	err = eachAtOnce(ctx, list, func(o lake.Object) {
		h := f.s.object(ctx, o.Path, -1, true, true)
		mu.Lock()
		hits[o.Path] = h
		mu.Unlock()
	})
	if err != nil {
		return err
	}
	reported := map[string]bool{}
	for _, h := range f.holders {
		reported[h.Path] = true
	}
	for _, o := range list {
		h := hits[o.Path]
		named := f.m.inPath(o.Path)
		if h.Cut != "" && !kept[o.Path] {
			h.Where = append(slices.Clip(h.Where), h.Cut)
		}
		if o.Partial && h.Err != nil && !h.Gone {
			// A write that died has left it: it may hold anything, and nobody will ever read it.
			h.Where = append(slices.Clip(h.Where), "cannot be looked into: its write did not end")
		}
		switch {
		case h.Gone || !h.any() && !named:
			if h.Err != nil && !h.Gone && h.Kind != "" && !kept[o.Path] {
				f.unread = append(f.unread, o.Path)
			}
			continue
		case kept[o.Path]:
			if !reported[o.Path] && o.Path != lake.Canonical(f.t.MetadataLocation) {
				f.holders = append(f.holders, Holder{Table: f.t.Name.String(), Kind: holderManifest, Path: o.Path, Where: strings.Join(h.Where, ", "), Rows: -1, Until: "the snapshots that list it"})
			}
			continue
		}
		f.orphans = append(f.orphans, o)
		rows := int64(-1)
		if h.Kind == "parquet" {
			rows = h.Values
		}
		f.holders = append(f.holders, Holder{Table: f.t.Name.String(), Kind: holderOrphan, Path: o.Path, Where: strings.Join(h.Where, ", "), Rows: rows,
			Until: "nothing: remove_orphan_files removes it after " + o.Modified.Add(DefaultOrphanAge).UTC().Format(time.RFC3339)})
	}
	return nil
}

// splitRows tells of each data file that holds rows in which refs they are deleted: a holder of deleted
// rows alone is called so.
func (f *findings) splitRows(ctx context.Context, env RewriteEnv) error {
	cond, err := f.m.condition(f.t.Schema())
	if err != nil || cond.pred == nil {
		return err
	}
	live := map[string]int64{}
	seen := map[int64]bool{}
	for _, r := range f.t.Refs() {
		snap := f.t.SnapshotByID(r.SnapshotID)
		if snap == nil || seen[snap.ID] || !f.in(r) {
			continue
		}
		seen[snap.ID] = true
		tasks, err := tasksOf(ctx, env, filesOf(f.t, snap, f.t.Schema()))
		if err != nil {
			return err
		}
		for i := range tasks {
			p := f.t.Resolve(tasks[i].File.Path)
			if x := f.files[p]; x == nil || x.values == 0 {
				continue
			}
			n, err := f.liveRows(ctx, env, snap, tasks[i:i+1], cond)
			if err != nil {
				return err
			}
			live[p] = max(live[p], n)
		}
	}
	for i := range f.holders {
		h := &f.holders[i]
		x := f.files[h.Path]
		if h.Kind != holderData || x == nil || x.values == 0 {
			continue
		}
		switch n := live[h.Path]; {
		case len(h.Refs) == 0:
		case n == 0:
			h.Kind = holderDeleted
		case n < x.values:
			h.Where = strings.TrimPrefix(fmt.Sprintf("%s, %d of the rows are deleted", h.Where, x.values-n), ", ")
		}
	}
	return nil
}

// liveRows counts the rows of tasks that match and are not deleted.
func (f *findings) liveRows(ctx context.Context, env RewriteEnv, snap *lake.Snapshot, tasks []plan.FileTask, cond condition) (n int64, err error) {
	list := slices.Clone(tasks)
	for i := range list {
		list[i].Residual = cond.pred
	}
	s, err := scan.Open(ctx, &plan.Scan{Table: f.t, Snapshot: snap, Schema: cond.schema, Alias: f.t.Name.Table, Pruned: true, Tasks: list,
		Cols: cond.reads, Pred: cond.pred}, env.Exec.Scan)
	if err != nil {
		return 0, err
	}
	src := s.Source()
	defer func() {
		if e := src.Close(); err == nil {
			err = e
		}
	}()
	for {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return n, err
		}
		n += int64(b.Len())
	}
}

// CopiesIn tells whether a table was written from rows of another, as the summaries of its snapshots
// say; nil: none says so.
func CopiesIn(t *lake.Table, from lake.Name) *Holder {
	var h *Holder
	for _, s := range t.Snapshots() {
		for _, in := range strings.Split(s.Summary["lhsql.inputs"], ",") {
			name, at, ok := strings.Cut(in, "@")
			if !ok || name != from.String() {
				continue
			}
			if h == nil {
				h = &Holder{Table: t.Name.String(), Kind: holderCopy, Path: t.Location(), Rows: -1}
			}
			h.Where = "written from " + name + " at snapshot " + at
			h.Snapshots = append(h.Snapshots, s.ID)
		}
	}
	return h
}
