package lake

import (
	"context"
	"errors"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// StorageKind is what bytes in a table's folders are held for.
type StorageKind uint8

const (
	StorageCurrent  StorageKind = iota // data and deletes of main's head
	StorageRefs                        // of heads of other branches and tags, and not of main's
	StorageHistory                     // of other snapshots alone
	StorageMetadata                    // manifests, manifest lists, statistics, metadata files
	StorageOrphans                     // nothing: what Orphans would find, were it old enough
)

var storageNames = [...]string{"current", "refs", "history", "metadata", "orphans"}

// String names the kind as system.storage shows it.
func (k StorageKind) String() string { return storageNames[k] }

// Storage is how many files and bytes are there for each reason.
type Storage [StorageOrphans + 1]struct{ Files, Bytes int64 }

// Usage tells what a table's folders hold, and for what. Where the folders are shared with other
// tables, orphans cannot be told from their files, and sizes of metadata are not known: shared is true,
// and both are left out.
func Usage(ctx context.Context, c Catalog, t *Table) (out Storage, shared bool, err error) {
	current, refs, history, metadata := newLocSet(), newLocSet(), newLocSet(), newLocSet()
	count := func(k StorageKind, size int64) {
		out[k].Files++
		out[k].Bytes += max(size, 0)
	}
	s := &orphanSearch{t: t}
	err = s.alone(ctx, c)
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Code == sqlerr.DependentObjectsExist {
		shared, err = true, nil
	}
	if err != nil {
		return out, false, err
	}
	// Each file counts for the first reason that it is held for.
	reach := func(k StorageKind, in *locSet, before []*locSet, snaps []*Snapshot) error {
		return t.Reach(ctx, Reach{}, snaps, func(h *Held) error {
			switch {
			case !h.Live():
				return nil
			case !h.Kind.Content():
				_, err := metadata.add(h.Path)
				return err
			}
			for _, b := range before {
				if b.has(h.Path) {
					return nil
				}
			}
			first, err := in.add(h.Path)
			if first && shared {
				count(k, h.Size)
			}
			return err
		})
	}
	main, heads, rest := t.byReason()
	if err := reach(StorageCurrent, current, nil, main); err != nil {
		return out, shared, err
	}
	if err := reach(StorageRefs, refs, []*locSet{current}, heads); err != nil {
		return out, shared, err
	}
	if err := reach(StorageHistory, history, []*locSet{current, refs}, rest); err != nil {
		return out, shared, err
	}
	if shared {
		return out, true, nil
	}
	beside := *t
	beside.snapshots = nil
	if err := beside.ReachAll(ctx, Reach{}, func(h *Held) error { _, err := metadata.add(h.Path); return err }); err != nil {
		return out, false, err
	}
	for _, r := range s.roots {
		err := s.each(ctx, r, func(o Object) error {
			switch {
			case current.has(o.Path):
				count(StorageCurrent, o.Size)
			case refs.has(o.Path):
				count(StorageRefs, o.Size)
			case history.has(o.Path):
				count(StorageHistory, o.Size)
			case metadata.has(o.Path):
				count(StorageMetadata, o.Size)
			default:
				count(StorageOrphans, o.Size)
			}
			return nil
		})
		if err != nil {
			return out, false, err
		}
	}
	return out, false, nil
}

// byReason divides the snapshots: main's head, those of other refs, the others.
func (t *Table) byReason() (main, heads, rest []*Snapshot) {
	of := map[int64]StorageKind{}
	for _, r := range t.refs {
		of[r.SnapshotID] = StorageRefs
	}
	if s := t.CurrentSnapshot(); s != nil {
		of[s.ID] = StorageCurrent
	}
	for _, s := range t.snapshots {
		k, ok := of[s.ID]
		switch {
		case ok && k == StorageCurrent:
			main = append(main, s)
		case ok:
			heads = append(heads, s)
		default:
			rest = append(rest, s)
		}
	}
	return main, heads, rest
}
