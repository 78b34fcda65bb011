package lake

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

func (e *Edit) ref(name string) (Ref, bool) {
	for _, r := range e.s.refs {
		if r.Name == name {
			return r, true
		}
	}
	return Ref{}, false
}

func (e *Edit) snapshot(id int64) *Snapshot {
	for _, s := range e.s.snapshots {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// RequireRef makes the commit fail as a conflict if ref is not at id by then; nil: not there.
func (e *Edit) RequireRef(ref string, id *int64) error {
	// What is required is of the table before the edit: where the edit has moved the ref since it was
	// first asked for (CREATE OR REPLACE TABLE starts main anew), what it is now would never hold.
	if !slices.ContainsFunc(e.requires, func(r obj) bool { return r["type"] == "assert-ref-snapshot-id" && r["ref"] == ref }) {
		e.require("assert-ref-snapshot-id", obj{"ref": ref, "snapshot-id": id})
	}
	r, ok := e.ref(ref)
	if (id == nil) == ok || ok && r.SnapshotID != *id {
		return sqlerr.New(sqlerr.SerializationFailure, "%s was changed by another writer", ref)
	}
	return nil
}

// SetRef makes or replaces a branch or tag.
func (e *Edit) SetRef(spec RefSpec) error {
	old, exists := e.ref(spec.Name)
	kind := "tag"
	if spec.Branch {
		kind = "branch"
	}
	switch {
	case exists && spec.IfNotExists:
		return nil
	case exists && !spec.Replace:
		return sqlerr.New(sqlerr.DuplicateObject, "%s %q already exists", kind, spec.Name)
	case exists && old.Branch != spec.Branch:
		return sqlerr.New(sqlerr.WrongObjectType, "%q exists and is no %s", spec.Name, kind)
	case spec.Name == "":
		return sqlerr.New(sqlerr.InvalidName, "a %s needs a name", kind)
	}
	r := Ref{Name: spec.Name, Branch: spec.Branch}
	if exists {
		r = old // what is not given stays
	}
	switch {
	case spec.Snapshot != nil:
		r.SnapshotID = *spec.Snapshot
	default: // a replaced ref moves to main's head as well, as Spark has it
		if e.s.currentSnapshot == nil {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "a %s needs a snapshot, and the table has none yet", kind)
		}
		r.SnapshotID = *e.s.currentSnapshot
	}
	if e.snapshot(r.SnapshotID) == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", r.SnapshotID)
	}
	if spec.MinSnapshotsToKeep != nil {
		r.MinSnapshotsToKeep = spec.MinSnapshotsToKeep
	}
	r.MaxSnapshotAgeMs = millis(spec.MaxSnapshotAge, r.MaxSnapshotAgeMs)
	r.MaxRefAgeMs = millis(spec.MaxRefAge, r.MaxRefAgeMs)
	if !r.Branch && (r.MinSnapshotsToKeep != nil || r.MaxSnapshotAgeMs != nil) {
		return sqlerr.New(sqlerr.InvalidParameterValue, "a tag keeps one snapshot: only the age of the tag itself can be set")
	}
	return e.putRef(r)
}

func millis(d *time.Duration, or *int64) *int64 {
	if d == nil {
		return or
	}
	ms := d.Milliseconds()
	return &ms
}

// MoveBranch puts a branch's head at a snapshot, keeping its retention: rollback, set-current,
// fast-forward (with ancestry checked by the caller's FastForward).
func (e *Edit) MoveBranch(name string, id int64) error {
	if name == "" {
		name = "main"
	}
	r, ok := e.ref(name)
	if !ok && name != "main" || ok && !r.Branch {
		return sqlerr.New(sqlerr.UndefinedObject, "branch %q does not exist", name)
	}
	if e.snapshot(id) == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
	}
	if ok && r.SnapshotID == id {
		return nil
	}
	r.Name, r.Branch, r.SnapshotID = name, true, id
	return e.putRef(r)
}

// FastForward moves branch to where other is, which must descend from it (C9).
func (e *Edit) FastForward(branch, other string) error {
	to, ok := e.ref(other)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "branch or tag %q does not exist", other)
	}
	from, ok := e.ref(branch)
	if ok && !e.isAncestor(from.SnapshotID, to.SnapshotID) {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%q cannot be fast-forwarded to %q: it has commits that %q does not have", branch, other, other)
	}
	var at *int64
	if ok {
		at = &from.SnapshotID
	}
	if err := e.RequireRef(branch, at); err != nil {
		return err
	}
	return e.MoveBranch(branch, to.SnapshotID)
}

// isAncestor tells whether a is b or one of its ancestors.
func (e *Edit) isAncestor(a, b int64) bool {
	for range len(e.s.snapshots) + 1 {
		if a == b {
			return true
		}
		s := e.snapshot(b)
		if s == nil || s.ParentID == nil {
			return false
		}
		b = *s.ParentID
	}
	return false
}

// DropRef removes a branch or tag; main stays.
func (e *Edit) DropRef(name string, branch, ifExists bool) error {
	kind := "tag"
	if branch {
		kind = "branch"
	}
	r, ok := e.ref(name)
	if !ok && ifExists {
		return nil
	}
	if !ok || r.Branch != branch {
		return sqlerr.New(sqlerr.UndefinedObject, "%s %q does not exist", kind, name)
	}
	if name == "main" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "the branch main cannot be dropped")
	}
	var rest []Ref
	for _, r := range e.s.refs {
		if r.Name != name {
			rest = append(rest, r)
		}
	}
	e.s.refs = rest
	e.update("remove-snapshot-ref", obj{"ref-name": name})
	return e.setRefs()
}

func (e *Edit) putRef(r Ref) error {
	for i := range e.s.refs {
		if e.s.refs[i].Name == r.Name {
			e.s.refs = append(append([]Ref(nil), e.s.refs[:i]...), e.s.refs[i+1:]...)
			break
		}
	}
	e.s.refs = append(e.s.refs, r)
	sort.Slice(e.s.refs, func(i, j int) bool { return e.s.refs[i].Name < e.s.refs[j].Name })
	u := obj{"ref-name": r.Name, "type": r.kind(), "snapshot-id": r.SnapshotID}
	if r.MinSnapshotsToKeep != nil {
		u["min-snapshots-to-keep"] = *r.MinSnapshotsToKeep
	}
	if r.MaxSnapshotAgeMs != nil {
		u["max-snapshot-age-ms"] = *r.MaxSnapshotAgeMs
	}
	if r.MaxRefAgeMs != nil {
		u["max-ref-age-ms"] = *r.MaxRefAgeMs
	}
	e.update("set-snapshot-ref", u)
	if r.Name == "main" {
		id := r.SnapshotID
		e.s.currentSnapshot = &id
		e.s.log = append(e.s.log, LogEntry{Time: e.now, SnapshotID: id})
		if err := e.set("current-snapshot-id", id); err != nil {
			return err
		}
		if err := e.setLog(); err != nil {
			return err
		}
	}
	return e.setRefs()
}

func (r *Ref) kind() string {
	if r.Branch {
		return "branch"
	}
	return "tag"
}

func (e *Edit) setRefs() error {
	m := map[string]refJSON{}
	for _, r := range e.s.refs {
		m[r.Name] = refJSON{SnapshotID: r.SnapshotID, Type: r.kind(), MinSnapshotsToKeep: r.MinSnapshotsToKeep,
			MaxSnapshotAgeMs: r.MaxSnapshotAgeMs, MaxRefAgeMs: r.MaxRefAgeMs}
	}
	return e.set("refs", m)
}

func (e *Edit) setLog() error {
	list := []obj{}
	for _, l := range e.s.log {
		list = append(list, obj{"timestamp-ms": l.Time.UnixMilli(), "snapshot-id": l.SnapshotID})
	}
	return e.set("snapshot-log", list)
}

// addSnapshot adds a snapshot without moving a ref.
func (e *Edit) addSnapshot(j *snapshotJSON) error {
	e.s.snapshots = append(e.s.snapshots, j.snapshot())
	e.update("add-snapshot", obj{"snapshot": j})
	if err := e.appendTo("snapshots", j); err != nil {
		return err
	}
	if e.s.formatVersion >= 2 {
		e.s.lastSeq = j.Seq
		if err := e.set("last-sequence-number", j.Seq); err != nil {
			return err
		}
	}
	if j.FirstRowID != nil {
		e.s.nextRowID = *j.FirstRowID + *j.AddedRows
		return e.set("next-row-id", e.s.nextRowID)
	}
	return nil
}

// RemoveSnapshots forgets snapshots; files are the caller's to remove. Heads of refs stay.
func (e *Edit) RemoveSnapshots(ids []int64) error {
	gone := map[int64]bool{}
	for _, id := range ids {
		for _, r := range e.s.refs {
			if r.SnapshotID == id {
				return sqlerr.New(sqlerr.DependentObjectsExist, "snapshot %d is the head of %s %q", id, r.kind(), r.Name)
			}
		}
		gone[id] = true
	}
	if len(gone) == 0 {
		return nil
	}
	goes := func(id int64) bool { return gone[id] }
	if err := e.filterDoc("snapshots", "snapshot-id", goes); err != nil {
		return err
	}
	// A catalog that is sent updates forgets these files by itself.
	for _, key := range []string{tableStatistics, partitionStatistics} {
		if _, err := e.forgetStatistics(key, goes); err != nil {
			return err
		}
	}
	var rest []*Snapshot
	for _, s := range e.s.snapshots {
		if !gone[s.ID] {
			rest = append(rest, s)
		}
	}
	e.s.snapshots = rest
	// The log must not lead to snapshots that are gone: what came before the newest gone one
	// is no unbroken history any more (spec, "Table Metadata Fields", snapshot-log).
	var log []LogEntry
	for _, l := range e.s.log {
		if gone[l.SnapshotID] {
			log = nil
			continue
		}
		log = append(log, l)
	}
	e.s.log = log
	e.update("remove-snapshots", obj{"snapshot-ids": ids})
	return e.setLog()
}

// RemoveSchemas forgets schemas that no kept snapshot was written with; the current one stays.
func (e *Edit) RemoveSchemas(ids []int) error {
	gone := map[int]bool{}
	for _, id := range ids {
		if id == e.s.currentSchemaID {
			return sqlerr.New(sqlerr.DependentObjectsExist, "schema %d is the table's current one", id)
		}
		gone[id] = true
	}
	if len(gone) == 0 {
		return nil
	}
	e.s.schemas = slices.DeleteFunc(e.s.schemas, func(s *Schema) bool { return gone[s.ID] })
	e.update("remove-schemas", obj{"schema-ids": ids})
	return e.filterDoc("schemas", "schema-id", func(id int64) bool { return gone[int(id)] })
}

// RemoveSpecs forgets partition specs that no manifest of a kept snapshot has; the default one stays.
func (e *Edit) RemoveSpecs(ids []int) error {
	gone := map[int]bool{}
	for _, id := range ids {
		if id == e.s.defaultSpecID {
			return sqlerr.New(sqlerr.DependentObjectsExist, "partition spec %d is the table's default", id)
		}
		gone[id] = true
	}
	if len(gone) == 0 {
		return nil
	}
	e.s.specs = slices.DeleteFunc(e.s.specs, func(s *PartitionSpec) bool { return gone[s.ID] })
	e.update("remove-partition-specs", obj{"spec-ids": ids})
	return e.filterDoc("partition-specs", "spec-id", func(id int64) bool { return gone[int(id)] })
}

func intProperty(props map[string]string, key string, or int) int {
	if v, err := strconv.Atoi(props[key]); err == nil {
		return v
	}
	return or
}
