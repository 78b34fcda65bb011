package lake

import (
	"context"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Entries of snapshot summaries that tie a published change to where it came from, as other
// engines write them.
const (
	stagedWAP        = "wap.id"
	publishedWAP     = "published-wap-id"
	pickedFrom       = "source-snapshot-id"
	replacesWholeKey = "replace-partitions"
)

// Pick is the change that brings main what the snapshot id did, without its history:
//
//	main:  a ── b            main:  a ── b ── x'     x' adds the files that x added
//	        └── x       →            └── x
//
// Where main stands at x's parent it moves to x itself. An append can always be picked; a
// snapshot that replaced whole partitions if these have not changed since; else only the move
// is possible, since deletes name positions in files that may be gone.
func Pick(ctx context.Context, t *Table, id int64) (Change, error) {
	s := t.SnapshotByID(id)
	if s == nil {
		return Change{}, sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
	}
	c := Change{Base: t, Snapshot: t.CurrentSnapshot(), Operation: s.Operation, Summary: map[string]string{pickedFrom: strconv.FormatInt(id, 10)}}
	if w := s.Summary[stagedWAP]; w != "" {
		c.Summary[publishedWAP] = w
	}
	if followsOn(s, t.CurrentSnapshot()) {
		return Change{Base: t, MovesRefs: true, Edit: func(e *Edit) error {
			if err := e.RequireRef("main", s.ParentID); err != nil {
				return err
			}
			return e.MoveBranch("main", id)
		}}, nil
	}
	if err := c.take(ctx, t, s); err != nil {
		return c, err
	}
	c.Edit = func(e *Edit) error { return e.notYetPicked(s) }
	// What is refused for good is no conflict that another try could get over.
	e, err := newEdit(&t.state, t.lastUpdated)
	if err == nil {
		err = c.Edit(e)
	}
	return c, err
}

// followsOn tells whether head is s's parent.
func followsOn(s, head *Snapshot) bool {
	if head == nil || s.ParentID == nil {
		return head == nil && s.ParentID == nil
	}
	return head.ID == *s.ParentID
}

// take gathers the files that s added and removed.
func (c *Change) take(ctx context.Context, t *Table, s *Snapshot) error {
	replaces := s.Operation == "overwrite" && s.Summary[replacesWholeKey] == "true"
	if s.Operation != "append" && !replaces {
		return notPicked(s, "it is no append, and main does not stand at its parent")
	}
	manifests, err := t.Manifests(ctx, s)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		if m.AddedSnapshotID != s.ID {
			continue
		}
		entries, err := t.Entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch {
			case e.SnapshotID != s.ID:
			case e.Status == Added && e.File.Content != Data:
				return notPicked(s, "it adds deletes, and main does not stand at its parent")
			case e.Status == Added:
				f := *e.File
				f.DataSeq, f.FileSeq, f.SnapshotID, f.FirstRowID = 0, 0, 0, nil
				c.Add = append(c.Add, &f)
			case e.Status == Deleted:
				c.Remove = append(c.Remove, e.File)
			}
		}
	}
	if replaces {
		return c.takeOver(ctx, t, s)
	}
	return nil
}

// takeOver checks that the partitions that s replaces are as s found them.
func (c *Change) takeOver(ctx context.Context, t *Table, s *Snapshot) error {
	if s.ParentID != nil && !t.isAncestor(*s.ParentID, t.CurrentSnapshot()) {
		return notPicked(s, "it replaces partitions of a state that main does not descend from")
	}
	added := c.Add
	c.Kind = OverwritePartitions
	c.Summary[replacesWholeKey] = "true"
	c.Conflicts = func(f *DataFile) bool {
		for _, a := range added {
			if samePartition(a, f) {
				return true
			}
		}
		return false
	}
	var parent *Snapshot
	if s.ParentID != nil {
		parent = t.SnapshotByID(*s.ParentID)
	}
	d, err := diff(ctx, t, parent, t, t.CurrentSnapshot())
	if err != nil {
		return err
	}
	for _, f := range append(d.added, d.deletes...) {
		if c.Conflicts(f) {
			return notPicked(s, "the partitions that it replaces have changed since")
		}
	}
	for _, f := range c.Remove {
		if d.removed[fileKey(f)] != nil {
			return notPicked(s, "the partitions that it replaces have changed since")
		}
	}
	return nil
}

func notPicked(s *Snapshot, why string) error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "snapshot %d cannot be cherry-picked: %s", s.ID, why)
}

// isAncestor tells whether the snapshot id is s or one of its ancestors.
func (t *Table) isAncestor(id int64, s *Snapshot) bool {
	for range len(t.snapshots) + 1 {
		if s == nil || s.ID == id {
			return s != nil
		}
		if s.ParentID == nil {
			return false
		}
		s = t.SnapshotByID(*s.ParentID)
	}
	return false
}

// Ancestors lists a snapshot and those before it, newest first, as far as they are known.
func (t *Table) Ancestors(s *Snapshot) []*Snapshot {
	var out []*Snapshot
	at := len(t.snapshots)
	for s != nil && len(out) <= len(t.snapshots) {
		out = append(out, s)
		if s.ParentID == nil {
			break
		}
		s, at = t.snapshotBefore(*s.ParentID, at)
	}
	return out
}

// snapshotBefore finds a snapshot and its place in the list, first among those before the place at: a
// parent mostly stands just there, and a history may be long.
func (t *Table) snapshotBefore(id int64, at int) (*Snapshot, int) {
	for i := at - 1; i >= 0; i-- {
		if t.snapshots[i].ID == id {
			return t.snapshots[i], i
		}
	}
	for i := at; i < len(t.snapshots); i++ {
		if t.snapshots[i].ID == id {
			return t.snapshots[i], i
		}
	}
	return nil, 0
}

// notYetPicked refuses what main has already: by itself, by a pick, or by the id that its
// writer gave it to be published under.
func (e *Edit) notYetPicked(s *Snapshot) error {
	t := e.Table()
	wap, id := s.Summary[stagedWAP], strconv.FormatInt(s.ID, 10)
	for _, a := range t.Ancestors(t.CurrentSnapshot()) {
		switch {
		case a.ID == s.ID:
			return notPicked(s, "main has it already")
		case a.Summary[pickedFrom] == id:
			return notPicked(s, "snapshot "+strconv.FormatInt(a.ID, 10)+" of main was picked from it already")
		case wap != "" && (a.Summary[stagedWAP] == wap || a.Summary[publishedWAP] == wap):
			return notPicked(s, "changes with the WAP id "+strconv.Quote(wap)+" are published already")
		}
	}
	return nil
}

// StagedAs finds the one snapshot that was staged under a WAP id and waits for publication.
func (t *Table) StagedAs(wap string) (*Snapshot, error) {
	var found *Snapshot
	for _, s := range t.snapshots {
		if s.Summary[stagedWAP] != wap || wap == "" {
			continue
		}
		if found != nil {
			return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "several snapshots have the WAP id %q: %d, %d", wap, found.ID, s.ID).
				WithHint("cherrypick_snapshot takes them one by one.")
		}
		found = s
	}
	if found == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "no snapshot has the WAP id %q", wap)
	}
	return found, nil
}

// RollBack moves main back to one of its ancestors.
func (e *Edit) RollBack(id int64) error {
	if e.snapshot(id) == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
	}
	if t := e.Table(); !t.isAncestor(id, t.CurrentSnapshot()) {
		return sqlerr.New(sqlerr.UndefinedObject, "snapshot %d is not an ancestor of the table's current state", id).
			WithHint("set_current_snapshot moves to any snapshot.")
	}
	return e.MoveMain(id)
}

// MoveMain puts main at a snapshot, from where it stands now.
func (e *Edit) MoveMain(id int64) error {
	if r, ok := e.ref("main"); ok {
		if err := e.RequireRef("main", &r.SnapshotID); err != nil {
			return err
		}
	}
	return e.MoveBranch("main", id)
}
