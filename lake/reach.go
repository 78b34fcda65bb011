package lake

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/room"
)

// Which files does a table's metadata hold, and why? Everything that removes files asks here, and
// removes a set difference of what is held, by path:
//
//	expiry    held before the commit − held after it
//	orphans   what lies in the table's folders − held
//	PURGE     held − what lies in other tables' folders
//
// A snapshot holds the files that are live in it. That a manifest entry says "deleted" is no reason to
// remove its file, which may be live in another snapshot that is kept, or have been added again; nor
// one to keep it. Ancestry tells nothing either: branches, tags and staged snapshots are no ancestors
// of main.

// HeldKind is what a held file is.
type HeldKind uint8

const (
	HeldData HeldKind = iota
	HeldPositionDeletes
	HeldEqualityDeletes
	HeldDeletionVectors // a Puffin file
	HeldManifest
	HeldManifestList
	HeldStatistics
	HeldPartitionStatistics
	HeldMetadata // the metadata file itself and those of its log
)

var heldNames = [...]string{"data file", "position delete file", "equality delete file", "deletion vector file", "manifest", "manifest list",
	"statistics file", "partition statistics file", "metadata file"}

// String names the kind as it is shown to users.
func (k HeldKind) String() string { return heldNames[k] }

// Content tells whether a file of the kind holds rows or deletes of rows.
func (k HeldKind) Content() bool { return k <= HeldDeletionVectors }

// Held is a file that a table's metadata holds, and why.
type Held struct {
	Path string // where it lies
	Kind HeldKind
	Size int64 // bytes; -1: unknown
	// Snapshot is the first of the walk that holds it; nil for metadata files.
	Snapshot *Snapshot
	// Manifest and Entry are where a content file is listed.
	Manifest *Manifest
	Entry    *Entry
}

// Live tells whether the file is held at all: not if a manifest only says that it was deleted.
func (h *Held) Live() bool { return h.Entry == nil || h.Entry.Status != Deleted }

// Reach is how a walk goes.
type Reach struct {
	// Fields are those whose counts and bounds the entries of content files are to have.
	Fields []int
	// Damaged goes on where a manifest list or a manifest is not there any more: for what only wants
	// to see the table's last files go.
	Damaged bool
}

// Reach calls visit for every file that the snapshots hold: manifest lists and manifests once,
// content files once for each manifest that lists them, also as deleted. What is given to visit is its only until it
// returns. It streams: what it keeps is a reference to each manifest, and the manifests that are
// being read; nothing goes through the caches.
func (t *Table) Reach(ctx context.Context, how Reach, snaps []*Snapshot, visit func(*Held) error) error {
	manifests, err := t.reachManifests(ctx, how, snaps, nil, visit)
	if err != nil {
		return err
	}
	return t.reachFiles(ctx, how, manifests, visit)
}

// ReachAll is Reach from all that the metadata names, with statistics files and the metadata files
// themselves.
func (t *Table) ReachAll(ctx context.Context, how Reach, visit func(*Held) error) error {
	if err := t.Reach(ctx, how, t.snapshots, visit); err != nil {
		return err
	}
	if err := t.reachStatistics(nil, visit); err != nil {
		return err
	}
	for _, f := range t.metadataLog {
		if err := visit(&Held{Path: t.Resolve(f.File), Kind: HeldMetadata, Size: -1}); err != nil {
			return err
		}
	}
	if t.MetadataLocation == "" {
		return nil
	}
	return visit(&Held{Path: Canonical(t.MetadataLocation), Kind: HeldMetadata, Size: int64(len(t.raw))})
}

func (how Reach) pardon(err error, what, loc string) error {
	if err == nil || how.Damaged && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fileError(err, what, loc)
}

// reachedManifest is a manifest with the first snapshot that holds it.
type reachedManifest struct {
	*Manifest
	snapshot *Snapshot
}

// reachManifests visits the manifest lists and manifests of snapshots, but for manifests at places in
// known, and gives the manifests.
func (t *Table) reachManifests(ctx context.Context, how Reach, snaps []*Snapshot, known *locSet, visit func(*Held) error) ([]reachedManifest, error) {
	var out []reachedManifest
	seen := newLocSet()
	err := ahead(ctx, len(snaps), func(ctx context.Context, i int) ([]*Manifest, error) {
		s := snaps[i]
		if s.ManifestList == "" {
			return t.Manifests(ctx, s)
		}
		loc := t.Resolve(s.ManifestList)
		ms, err := t.readList(ctx, s, loc)
		return ms, how.pardon(err, "read manifest list", loc)
	}, func(i int, ms []*Manifest) error {
		s := snaps[i]
		if s.ManifestList != "" {
			if err := visit(&Held{Path: t.Resolve(s.ManifestList), Kind: HeldManifestList, Size: -1, Snapshot: s}); err != nil {
				return err
			}
		}
		for _, m := range ms {
			loc := t.Resolve(m.Path)
			if known.has(loc) {
				continue
			}
			added, err := seen.add(loc)
			if err != nil {
				return err
			}
			if !added {
				continue
			}
			out = append(out, reachedManifest{m, s})
			if err := visit(&Held{Path: loc, Kind: HeldManifest, Size: m.Length, Snapshot: s, Manifest: m}); err != nil {
				return err
			}
		}
		return room.Check()
	})
	return out, err
}

// reachFiles visits the content files that manifests list.
func (t *Table) reachFiles(ctx context.Context, how Reach, manifests []reachedManifest, visit func(*Held) error) error {
	stats := wantedStats(how.Fields)
	return ahead(ctx, len(manifests), func(ctx context.Context, i int) ([]Entry, error) {
		m := manifests[i].Manifest
		spec, loc, err := t.readable(m)
		if err != nil {
			return nil, err
		}
		es, err := t.readEntries(ctx, m, spec, loc, stats)
		return es, how.pardon(err, "read manifest", loc)
	}, func(i int, es []Entry) error {
		m := manifests[i]
		for k := range es {
			f := es[k].File
			h := Held{Path: t.Resolve(f.Path), Kind: heldKind(f), Size: f.FileSize, Snapshot: m.snapshot, Manifest: m.Manifest, Entry: &es[k]}
			if err := visit(&h); err != nil {
				return err
			}
		}
		return nil
	})
}

// reachStatistics visits the statistics files of snapshots; nil: all.
func (t *Table) reachStatistics(of map[int64]bool, visit func(*Held) error) error {
	for i, list := range [...][]StatisticsFile{t.statistics, t.partitionStatistics} {
		for _, f := range list {
			if of != nil && !of[f.SnapshotID] {
				continue
			}
			kind := HeldStatistics + HeldKind(i)
			if err := visit(&Held{Path: t.Resolve(f.Path), Kind: kind, Size: f.Size, Snapshot: t.SnapshotByID(f.SnapshotID)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func heldKind(f *DataFile) HeldKind {
	switch f.Content {
	case PositionDeletes:
		return HeldPositionDeletes
	case EqualityDeletes:
		return HeldEqualityDeletes
	case DeletionVector:
		return HeldDeletionVectors
	}
	return HeldData
}

// Released calls visit once for every file that the snapshots gone of a table's state before hold and
// that its state after, as a whole, does not: content first, then manifests and manifest lists, so that
// what is cut off can be gone on with. Metadata files are not among them. It holds sixteen bytes for
// each file that may be released, and no path.
func Released(ctx context.Context, before *Table, gone []*Snapshot, after *Table, visit func(*Held) error) error {
	unseen := func(*Held) error { return nil }
	kept := newLocSet() // manifests, lists and statistics files that stay
	keep := func(h *Held) error { _, err := kept.add(h.Path); return err }
	stay, err := after.reachManifests(ctx, Reach{}, after.snapshots, nil, keep)
	if err != nil {
		return err
	}
	if err := after.reachStatistics(nil, keep); err != nil {
		return err
	}
	var lists []Held
	once := newLocSet()
	err = before.eachGone(gone, kept, once, func(h *Held) error { lists = append(lists, *h); return nil })
	if err != nil {
		return err
	}
	leave, err := before.reachManifests(ctx, Reach{}, gone, kept, unseen)
	if err != nil {
		return err
	}
	may := newLocSet()
	if err := before.reachFiles(ctx, Reach{}, leave, func(h *Held) error { _, err := may.add(h.Path); return err }); err != nil {
		return err
	}
	if may.len() > 0 {
		err := after.reachFiles(ctx, Reach{}, stay, func(h *Held) error {
			if h.Live() {
				may.remove(h.Path)
			}
			if may.len() == 0 {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			return err
		}
	}
	if may.len() > 0 {
		err := before.reachFiles(ctx, Reach{}, leave, func(h *Held) error {
			if !may.remove(h.Path) {
				return nil
			}
			return visit(h)
		})
		if err != nil {
			return err
		}
	}
	for _, m := range leave {
		if err := visit(&Held{Path: before.Resolve(m.Path), Kind: HeldManifest, Size: m.Length, Snapshot: m.snapshot, Manifest: m.Manifest}); err != nil {
			return err
		}
	}
	for i := range lists {
		if err := visit(&lists[i]); err != nil {
			return err
		}
	}
	return nil
}

// eachGone visits the manifest lists and statistics files of snapshots that are not among kept.
func (t *Table) eachGone(gone []*Snapshot, kept, once *locSet, visit func(*Held) error) error {
	first := func(h *Held) error {
		if kept.has(h.Path) {
			return nil
		}
		added, err := once.add(h.Path)
		if err != nil || !added {
			return err
		}
		return visit(h)
	}
	ids := map[int64]bool{}
	for _, s := range gone {
		ids[s.ID] = true
		if s.ManifestList == "" {
			continue
		}
		if err := first(&Held{Path: t.Resolve(s.ManifestList), Kind: HeldManifestList, Size: -1, Snapshot: s}); err != nil {
			return err
		}
	}
	return t.reachStatistics(ids, first)
}

// errStop ends a walk that has found what it was for.
var errStop = stop{}

type stop struct{}

func (stop) Error() string { return "the walk is over" }

// walkAhead is how many files a walk reads at a time: on an object store each takes a round trip.
const walkAhead = 8

// ahead loads the items 0 to n-1, some of them at a time, and gives each to use in their order.
func ahead[T any](ctx context.Context, n int, load func(context.Context, int) (T, error), use func(int, T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		v   T
		err error
	}
	results := make(chan chan result, walkAhead-1)
	started := make(chan struct{})
	go func() { // hands out the work; it ends with the last item or with the walk
		defer close(started)
		defer close(results)
		for i := range n {
			r := make(chan result, 1)
			select {
			case results <- r:
			case <-ctx.Done():
				return
			}
			go func() {
				var v T
				err := guard.Run(func() (err error) { v, err = load(ctx, i); return err })
				r <- result{v, err}
			}()
		}
	}()
	defer func() {
		cancel()
		<-started
		for r := range results { // whoever still reads does so no longer when the walk returns
			<-r
		}
	}()
	for i := range n {
		r, ok := <-results
		if !ok {
			return ctx.Err()
		}
		got := <-r
		if got.err == nil {
			got.err = ctx.Err()
		}
		if got.err == nil {
			got.err = use(i, got.v)
		}
		if got.err != nil {
			return got.err
		}
	}
	return nil
}
