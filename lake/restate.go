package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// A snapshot may be stated anew: it keeps its id, its place in history, its time and its schema, and lists
// other files in the place of some. That is against what a snapshot is for, so only erasure does it: whoever
// reads as of then must not see what has to be forgotten, and everything else as it was. No update of the REST
// protocol says it, so only a catalog whose metadata files we write can (RestateSnapshots).

// Restatement says what a snapshot is to list instead.
type Restatement struct {
	// Manifests are the paths of those that are written anew, as the list has them. What they say of files
	// that left the table before the snapshot is left out.
	Manifests map[string]bool
	// Instead gives the files that take a live file's place, none if it just goes; goes is false for one
	// that stays.
	Instead func(f *DataFile) (files []*DataFile, goes bool)
	// Before is Instead as of the snapshot's parent, for files that the snapshot itself removed.
	Before func(f *DataFile) (files []*DataFile, goes bool)
	// Keep tells which entries of the summary may stay.
	Keep func(key, value string) bool
}

// Restating writes manifests and lists of snapshots that are stated anew. Those of several snapshots that
// come out the same are written once.
type Restating struct {
	t       *Table
	unique  string
	written []string
	variant map[string]*restatedManifest
	states  map[int64]*restated
}

// restated is what of a snapshot's metadata becomes another.
type restated struct {
	list    string
	summary looseStrings
}

// restatedManifest is a manifest that stands for another; nil manifest: none does.
type restatedManifest struct {
	manifest *Manifest
	counts   map[string]int64 // by what they add to the totals of a snapshot's summary
}

// NewRestating begins with the snapshots of a table's state.
func NewRestating(t *Table) *Restating {
	return &Restating{t: t, unique: uuid.NewString(), variant: map[string]*restatedManifest{}, states: map[int64]*restated{}}
}

// Discard removes what was written and not committed.
func (r *Restating) Discard(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, p := range r.written {
		_ = r.t.FS().Remove(ctx, r.t.Resolve(p)) // an orphan that stays does no harm
	}
}

// Snapshot writes what a snapshot lists from now on.
func (r *Restating) Snapshot(ctx context.Context, s *Snapshot, how Restatement) error {
	old, err := r.t.Manifests(ctx, s)
	if err != nil {
		return err
	}
	p := producer{head: r.t, version: r.t.formatVersion}
	x := &restated{summary: looseStrings{}}
	for k, v := range s.Summary {
		if k == "operation" || how.Keep(k, v) {
			x.summary[k] = v
		}
	}
	for _, m := range old {
		if !how.Manifests[m.Path] {
			p.manifests = append(p.manifests, m)
			continue
		}
		n, err := r.manifest(ctx, s, m, &how)
		if err != nil {
			return err
		}
		if n.manifest != nil {
			p.manifests = append(p.manifests, n.manifest)
		}
		for k, d := range n.counts {
			if v, err := strconv.ParseInt(x.summary[k], 10, 64); err == nil {
				x.summary[k] = strconv.FormatInt(max(v+d, 0), 10)
			}
		}
	}
	if err := p.countUnknown(ctx); err != nil {
		return err
	}
	j := &snapshotJSON{ID: &s.ID, ParentID: s.ParentID, Seq: s.Seq, FirstRowID: s.FirstRowID}
	b, err := encodeManifestList(p.version, j, p.manifests)
	if err != nil {
		return err
	}
	x.list = fmt.Sprintf("%s/snap-%d-1-%s.avro", metadataFolder(&r.t.state), s.ID, r.unique)
	if err := r.create(ctx, x.list, b, "manifest list"); err != nil {
		return err
	}
	r.states[s.ID] = x
	return nil
}

func (r *Restating) create(ctx context.Context, path string, b []byte, what string) error {
	r.written = append(r.written, path)
	if err := r.t.FS().Create(ctx, path, b); err != nil {
		return fileError(err, "write "+what, path)
	}
	return nil
}

// manifest writes the one that stands for m in s.
func (r *Restating) manifest(ctx context.Context, s *Snapshot, m *Manifest, how *Restatement) (*restatedManifest, error) {
	spec := r.t.Spec(m.SpecID)
	if spec == nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "snapshot %d has manifests of partition spec %d, which the table does not have", s.ID, m.SpecID)
	}
	es, err := r.t.Entries(ctx, m)
	if err != nil {
		return nil, err
	}
	// Readers of what a range of snapshots has added look into every manifest that one of them has added,
	// for entries that do. So only in the snapshot that added it does a manifest say so.
	own := m.AddedSnapshotID == s.ID
	var out []manifestEntry
	n := &restatedManifest{counts: map[string]int64{}}
	name := &strings.Builder{} // of the variant: who says the same is the same
	fmt.Fprintf(name, "%s %v", m.Path, own)
	if m.FirstRowID != nil { // the lists of before an upgrade have none for it
		fmt.Fprintf(name, "@%d", *m.FirstRowID)
	}
	for i := range es {
		e := es[i]
		instead := how.Instead
		if e.Status == Deleted {
			if !own || e.SnapshotID != s.ID {
				continue // it is history
			}
			instead = how.Before
		}
		files, goes := instead(e.File)
		if !goes {
			files = []*DataFile{e.File}
		} else {
			n.count(&e, -1, []*DataFile{e.File})
			n.count(&e, 1, files)
			fmt.Fprintf(name, " %d:", i)
		}
		for _, f := range files {
			c := e
			if goes {
				fmt.Fprintf(name, "%q", f.Path)
				g := *f
				// The rows are as old as they were, and keep the ids that they have in the file.
				g.DataSeq, g.FileSeq, g.FirstRowID = e.File.DataSeq, e.File.FileSeq, e.File.FirstRowID
				c.File = &g
			}
			entry := existing(c)
			if own {
				entry.status = e.Status
			}
			out = append(out, entry)
		}
	}
	if have := r.variant[name.String()]; have != nil {
		return have, nil
	}
	r.variant[name.String()] = n
	if len(out) == 0 {
		return n, nil
	}
	b, x, err := encodeManifest(r.t.formatVersion, r.t.Schema(), spec, m.Deletes, out)
	if err != nil {
		return nil, err
	}
	x.Path = fmt.Sprintf("%s/%s-m%d.avro", metadataFolder(&r.t.state), r.unique, len(r.written))
	x.Length = int64(len(b))
	x.AddedSnapshotID, x.Seq, x.MinSeq, x.FirstRowID = m.AddedSnapshotID, m.Seq, min(x.MinSeq, m.Seq), m.FirstRowID
	n.manifest = x
	return n, r.create(ctx, x.Path, b, "manifest")
}

// count notes what files change in the counts of a snapshot's summary.
func (n *restatedManifest) count(e *Entry, sign int64, files []*DataFile) {
	c := sumFiles(files)
	add := func(key string, v int64) { n.counts[key] += sign * v }
	kind := ""
	switch e.Status {
	case Added:
		kind = "added"
	case Deleted:
		kind = "deleted"
	}
	if kind != "" {
		add(kind+"-data-files", c.data)
		add(kind+"-records", c.records)
		if kind == "deleted" {
			kind = "removed"
		}
		add(kind+"-files-size", c.size)
		add(kind+"-delete-files", c.deletes)
		add(kind+"-position-delete-files", c.posFiles)
		add(kind+"-dvs", c.vectors)
		add(kind+"-equality-delete-files", c.eqFiles)
		add(kind+"-position-deletes", c.positions)
		add(kind+"-equality-deletes", c.equalities)
	}
	if e.Status == Deleted {
		return
	}
	add("total-data-files", c.data)
	add("total-delete-files", c.deletes)
	add("total-records", c.records)
	add("total-files-size", c.size)
	add("total-position-deletes", c.positions)
	add("total-equality-deletes", c.equalities)
}

// RestateSnapshots puts what r has written in the place of what the snapshots listed. Snapshots that are
// gone meanwhile are passed over.
func (e *Edit) RestateSnapshots(r *Restating) (err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(e.doc["snapshots"], &list); err != nil {
		return err
	}
	for i, raw := range list {
		var item map[string]json.RawMessage // members that are not known stay
		if err := json.Unmarshal(raw, &item); err != nil {
			return err
		}
		var id int64
		if err := json.Unmarshal(bytes.TrimSpace(item["snapshot-id"]), &id); err != nil {
			return err
		}
		x := r.states[id]
		if x == nil {
			continue
		}
		delete(item, "manifests")
		if item["manifest-list"], err = json.Marshal(x.list); err != nil {
			return err
		}
		if item["summary"], err = json.Marshal(x.summary); err != nil {
			return err
		}
		list[i] = objectText(item)
	}
	e.s.snapshots = slices.Clone(e.s.snapshots)
	var ids []int64
	for i, s := range e.s.snapshots {
		x := r.states[s.ID]
		if x == nil {
			continue
		}
		c := *s
		c.ManifestList, c.Manifests, c.Summary = x.list, nil, maps.Clone(x.summary)
		e.s.snapshots[i] = &c
		ids = append(ids, s.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	e.update(restateUpdate, obj{"snapshot-ids": ids})
	return e.set("snapshots", list)
}

// restateUpdate is no update of the REST protocol: a server refuses it.
const restateUpdate = "lhsql-restate-snapshots"
