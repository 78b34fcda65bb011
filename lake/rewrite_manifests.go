package lake

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// ManifestRewrite says how manifests are to be written anew: sorted by partition, so that a query of
// some partitions reads few of them, and of the table's target size.
type ManifestRewrite struct {
	Branch string // "" is main
	Spec   *int   // manifests of this partition spec only; nil: of each, apart
	// SortBy are names of partition fields; nil: all, in the spec's order.
	SortBy []string
	// Memory is about how many bytes of entries are held at a time; 0: 64 MB. Less means that
	// manifests are read more often.
	Memory int64
	// Only are the paths of the manifests that are written anew, however well they are; nil: those
	// that are not well. The new ones say nothing of files that are not live any more.
	Only   map[string]bool
	DryRun bool // nothing is written: the result only counts
}

// NewManifests are manifests that list the same live files as those whose place they take.
type NewManifests struct {
	Remove, Add []*Manifest
	Count       int // of Add, also where nothing was written
	written     []string
}

// Discard removes the new manifests, which were not committed.
func (n *NewManifests) Discard(ctx context.Context, t *Table) {
	ctx = context.WithoutCancel(ctx)
	for _, p := range n.written {
		_ = t.FS().Remove(ctx, p) // an orphan that stays does no harm
	}
}

// RewriteManifests writes the live entries of a snapshot's manifests into new ones. The snapshot need
// not be the head by the time of the commit: as long as the old manifests are in the head's list, the
// new ones can take their place. Manifests that are well as they are stay, and those that cannot be
// written (encrypted, or of a transform that is not known).
func RewriteManifests(ctx context.Context, t *Table, snap *Snapshot, how ManifestRewrite) (out *NewManifests, err error) {
	out = &NewManifests{}
	defer func() {
		if err != nil {
			out.Discard(ctx, t)
		}
	}()
	all, err := t.Manifests(ctx, snap)
	if err != nil {
		return out, err
	}
	groups := map[[2]int][]*Manifest{}
	for _, m := range all {
		if !m.Encrypted && (how.Spec == nil || m.SpecID == *how.Spec) && (how.Only == nil || how.Only[m.Path]) {
			k := [2]int{m.SpecID, manifestKind(m)}
			groups[k] = append(groups[k], m)
		}
	}
	if how.Spec != nil && t.Spec(*how.Spec) == nil {
		return out, sqlerr.New(sqlerr.UndefinedObject, "table %s has no partition spec %d", t.Name.Table, *how.Spec)
	}
	keys := make([][2]int, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	id := uuid.NewString()
	for _, k := range keys {
		spec := t.Spec(k[0])
		if spec == nil {
			return out, sqlerr.New(sqlerr.DataCorrupted, "snapshot %d has manifests of partition spec %d, which the table does not have", snap.ID, k[0])
		}
		if _, err := manifestSchema(t.formatVersion, spec); err != nil {
			continue
		}
		r := &reclustering{t: t, how: how, spec: spec, deletes: k[1] == 1, old: groups[k], out: out, commit: id}
		if err := r.run(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// reclustering is the work on manifests of one spec and kind.
type reclustering struct {
	t       *Table
	how     ManifestRewrite
	spec    *PartitionSpec
	deletes bool
	old     []*Manifest
	out     *NewManifests
	commit  string

	order []int         // positions of the fields that sort
	files []clusterFile // live entries: in the order of the old manifests, then sorted
	entry int64         // bytes of an entry in memory, on the mean
	bins  [][]int32     // by old manifest and entry: its new manifest; -1: it is not live
}

// clusterFile is where a live entry is.
type clusterFile struct {
	manifest, entry int32
	key             []types.Datum
}

func (r *reclustering) run(ctx context.Context) error {
	if err := r.sortFields(); err != nil {
		return err
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	n, err := r.count()
	if err != nil {
		return err
	}
	if r.how.Only == nil && len(r.old) <= n && r.clustered() {
		return nil
	}
	slices.SortStableFunc(r.files, r.compare)
	r.out.Remove = append(r.out.Remove, r.old...)
	if len(r.files) == 0 {
		return nil
	}
	starts := make([]int, n+1) // of the new manifests, in files
	for i := range starts {
		starts[i] = i * len(r.files) / n
	}
	r.out.Count += n
	if r.how.DryRun {
		return nil
	}
	for i := range n {
		for _, f := range r.files[starts[i]:starts[i+1]] {
			r.bins[f.manifest][f.entry] = int32(i)
		}
	}
	memory := r.how.Memory
	if memory <= 0 {
		memory = 64 << 20
	}
	for i := 0; i < n; {
		k := i + 1
		for k < n && int64(starts[k+1]-starts[i])*r.entry <= memory {
			k++
		}
		if err := r.write(ctx, i, k); err != nil {
			return err
		}
		i = k
	}
	return nil
}

// count is how many manifests there should be. A manifest's schema takes as much as dozens of entries:
// many small manifests say more of their number than of what they list.
func (r *reclustering) count() (int, error) {
	empty, _, err := encodeManifest(r.t.formatVersion, r.t.Schema(), r.spec, r.deletes, nil)
	if err != nil {
		return 0, err
	}
	size := int64(0)
	for _, m := range r.old {
		size += max(m.Length-int64(len(empty)), 0)
	}
	target := max(int64(intProperty(r.t.properties, "commit.manifest.target-size-bytes", 8<<20))-int64(len(empty)), 1)
	n := int((size + target - 1) / target)
	return max(min(n, len(r.files)), (len(r.files)+maxManifestEntries-1)/maxManifestEntries, 1), nil
}

func (r *reclustering) sortFields() error {
	for i, f := range r.spec.Fields {
		if r.how.SortBy == nil && f.Transform.Kind != Void {
			r.order = append(r.order, i)
		}
	}
	for _, name := range r.how.SortBy {
		i := slices.IndexFunc(r.spec.Fields, func(f PartitionField) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range r.spec.Fields {
				names = append(names, f.Name)
			}
			return sqlerr.New(sqlerr.UndefinedColumn, "%q is no field of partition spec %d", name, r.spec.ID).
				WithHint("Its fields are: %v.", names)
		}
		r.order = append(r.order, i)
	}
	return nil
}

// compare orders files by partition; NULL first.
func (r *reclustering) compare(a, b clusterFile) int {
	for i, k := range r.order {
		x, y := a.key[i], b.key[i]
		switch {
		case x.IsNull() && y.IsNull():
		case x.IsNull():
			return -1
		case y.IsNull():
			return 1
		default:
			if c := types.Compare(x, y, r.spec.Fields[k].Type); c != 0 {
				return c
			}
		}
	}
	return 0
}

// read finds the live entries and their partitions.
func (r *reclustering) read(ctx context.Context) error {
	r.bins = make([][]int32, len(r.old))
	var bytes, count int64
	load := func(ctx context.Context, i int) ([]Entry, error) {
		_, loc, err := r.t.readable(r.old[i])
		if err != nil {
			return nil, err
		}
		// The first is read whole to know how large its entries are.
		stats := wantedStats(nil)
		if i == 0 {
			stats = nil
		}
		es, err := r.t.readEntries(ctx, r.old[i], r.spec, loc, stats)
		if err != nil {
			err = fileError(err, "read manifest", loc)
		}
		return es, err
	}
	err := ahead(ctx, len(r.old), load, func(i int, es []Entry) error {
		if i == 0 {
			bytes, count = entriesSize(es), int64(len(es))
		}
		if err := room.Take(len(es) * (4 + 32 + 40*len(r.order))); err != nil {
			return err
		}
		r.bins[i] = make([]int32, len(es))
		for k := range es {
			r.bins[i][k] = -1
			if es[k].Status == Deleted {
				continue
			}
			f := clusterFile{manifest: int32(i), entry: int32(k)}
			for _, o := range r.order {
				f.key = append(f.key, es[k].File.Partition[o])
			}
			r.files = append(r.files, f)
		}
		return nil
	})
	r.entry = bytes/max(count, 1) + 1
	return err
}

// clustered tells whether the old manifests follow each other by partition already, none of them
// without live files, so that writing them anew would win nothing.
func (r *reclustering) clustered() bool {
	type span struct{ lo, hi clusterFile }
	spans := make([]*span, len(r.old))
	for _, f := range r.files {
		switch s := spans[f.manifest]; {
		case s == nil:
			spans[f.manifest] = &span{f, f}
		case r.compare(f, s.lo) < 0:
			s.lo = f
		case r.compare(f, s.hi) > 0:
			s.hi = f
		}
	}
	if slices.Contains(spans, nil) {
		return false
	}
	slices.SortFunc(spans, func(a, b *span) int { return cmp.Or(r.compare(a.lo, b.lo), r.compare(a.hi, b.hi)) })
	for i := 1; i < len(spans); i++ {
		if r.compare(spans[i-1].hi, spans[i].lo) > 0 {
			return false
		}
	}
	return true
}

// write writes the new manifests from first to before end, in one reading of the old ones.
func (r *reclustering) write(ctx context.Context, first, end int) error {
	var need []int
	for i, bins := range r.bins {
		if slices.ContainsFunc(bins, func(b int32) bool { return b >= int32(first) && b < int32(end) }) {
			need = append(need, i)
		}
	}
	type placed struct {
		key   []types.Datum
		entry manifestEntry
	}
	parts := make([][]placed, end-first)
	for _, i := range need { // one at a time: they come with all their statistics
		m := r.old[i]
		_, loc, err := r.t.readable(m)
		if err != nil {
			return err
		}
		es, err := r.t.readEntries(ctx, m, r.spec, loc, nil)
		if err != nil {
			return fileError(err, "read manifest", loc)
		}
		for k, b := range r.bins[i] {
			if b < int32(first) || b >= int32(end) {
				continue
			}
			var key []types.Datum
			for _, o := range r.order {
				key = append(key, es[k].File.Partition[o])
			}
			e := es[k]
			e.File = e.File.alone()
			parts[b-int32(first)] = append(parts[b-int32(first)], placed{key, existing(e)})
		}
		if err := room.Check(); err != nil {
			return err
		}
	}
	for i, list := range parts {
		parts[i] = nil // what is written need not be held
		slices.SortStableFunc(list, func(a, b placed) int { return r.compare(clusterFile{key: a.key}, clusterFile{key: b.key}) })
		entries := make([]manifestEntry, len(list))
		for i := range list {
			entries[i] = list[i].entry
		}
		b, m, err := encodeManifest(r.t.formatVersion, r.t.Schema(), r.spec, r.deletes, entries)
		if err != nil {
			return err
		}
		m.Path = fmt.Sprintf("%s/%s-m%d.avro", metadataFolder(&r.t.state), r.commit, len(r.out.written))
		m.Length = int64(len(b))
		if err := yield(ctx, "manifests"); err != nil {
			return err
		}
		r.out.written = append(r.out.written, m.Path)
		if err := r.t.FS().Create(ctx, m.Path, b); err != nil {
			return fileError(err, "write manifest", m.Path)
		}
		r.out.Add = append(r.out.Add, m)
	}
	return nil
}

// alone is a copy of a file that shares nothing with the other files of its manifest, which are decoded
// into memory together: one of them holds all.
func (f *DataFile) alone() *DataFile {
	c := *f
	c.Partition = slices.Clone(f.Partition)
	c.Lower, c.Upper = cloneBounds(f.Lower), cloneBounds(f.Upper)
	return &c
}

func cloneBounds(m map[int][]byte) map[int][]byte {
	if m == nil {
		return nil
	}
	out := make(map[int][]byte, len(m))
	for id, v := range m {
		out[id] = slices.Clone(v)
	}
	return out
}

// swapManifests puts the new manifests in the place of the old ones, which must be in the head's list.
func (p *producer) swapManifests(old []*Manifest) error {
	gone := map[string]bool{}
	var before, after int64
	for _, m := range p.c.Manifests.Remove {
		gone[m.Path] = true
	}
	for _, m := range p.c.Manifests.Add {
		c := *m
		c.AddedSnapshotID, c.Seq, c.MinSeq = p.id, p.seq, min(m.MinSeq, p.seq)
		p.manifests = append(p.manifests, &c)
		after += m.ExistingFiles
		p.processed += m.ExistingFiles
		p.created++
	}
	known := true // lists of format 1 may not count
	for _, m := range old {
		if !gone[m.Path] {
			p.manifests = append(p.manifests, m)
			p.kept++
			continue
		}
		delete(gone, m.Path)
		known = known && m.AddedFiles >= 0 && m.ExistingFiles >= 0
		before += m.AddedFiles + m.ExistingFiles
		p.replaced++
	}
	for path := range gone {
		return conflict("another transaction replaced manifest %s", path)
	}
	if known && before != after {
		return fmt.Errorf("the new manifests list %d files, the old ones %d", after, before)
	}
	return nil
}
