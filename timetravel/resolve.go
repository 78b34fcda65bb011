package timetravel

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Resolve finds the snapshot that spec asks for and the schema to read it in (R5). A branch's
// head is read in the table's schema; everything else in the snapshot's own. A nil snapshot
// without error is a branch that has no data yet.
func Resolve(t *lake.Table, spec Spec) (*lake.Snapshot, *lake.Schema, error) {
	if spec.Range != NoRange {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "a span of time is no single state of table %s", t.Name.Table)
	}
	s, head, err := find(t, spec)
	if err != nil {
		return nil, nil, err
	}
	if head {
		return s, t.Schema(), nil
	}
	return s, t.SnapshotSchema(s), nil
}

// find gives the snapshot, and whether it is a branch's head as such.
func find(t *lake.Table, spec Spec) (s *lake.Snapshot, head bool, err error) {
	switch {
	case !spec.Time.IsZero():
		s, err = atTime(t, spec)
		return s, false, err
	case spec.Ref != "":
		s, head, err = version(t, spec.Ref)
	case spec.Snapshot != 0 || spec.Version:
		s, err = byID(t, spec.Snapshot)
	case spec.Tag != "":
		r, ok := t.Ref(spec.Tag)
		if !ok || r.Branch {
			return nil, false, noRef(t, "tag", spec.Tag, func(r lake.Ref) bool { return !r.Branch })
		}
		s, err = byID(t, r.SnapshotID)
	case spec.Branch != "" && spec.Branch != "main":
		r, ok := t.Ref(spec.Branch)
		if !ok {
			return nil, false, noRef(t, "branch", spec.Branch, func(r lake.Ref) bool { return r.Branch })
		}
		s, err = byID(t, r.SnapshotID)
		head = r.Branch
	default:
		s, head = t.CurrentSnapshot(), true
		if r, ok := t.Ref("main"); ok && s == nil {
			s, err = byID(t, r.SnapshotID)
		}
	}
	if err == nil && spec.Before {
		s, err = parent(t, s)
		head = false
	}
	return s, head, err
}

// version is a string after VERSION: a ref first, a snapshot id if no ref bears the name.
func version(t *lake.Table, text string) (*lake.Snapshot, bool, error) {
	if r, ok := t.Ref(text); ok {
		s, err := byID(t, r.SnapshotID)
		return s, r.Branch, err
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		s, err := byID(t, id)
		return s, false, err
	}
	return nil, false, noRef(t, "branch or tag", text, func(lake.Ref) bool { return true })
}

func noRef(t *lake.Table, what, name string, like func(lake.Ref) bool) error {
	var names []string
	for _, r := range t.Refs() {
		if like(r) {
			names = append(names, strconv.Quote(r.Name))
		}
	}
	sort.Strings(names)
	e := sqlerr.New(sqlerr.UndefinedObject, "table %s has no %s %q", t.Name.Table, what, name)
	if len(names) == 0 {
		return e.WithHint("It has none.")
	}
	return e.WithHint("It has %s.", strings.Join(names, ", "))
}

func byID(t *lake.Table, id int64) (*lake.Snapshot, error) {
	if s := t.SnapshotByID(id); s != nil {
		return s, nil
	}
	for _, l := range t.SnapshotLog() {
		if l.SnapshotID == id {
			return nil, sqlerr.New(sqlerr.SnapshotTooOld, "snapshot %d of table %s has expired", id, t.Name.Table).WithHint("%s", kept(t))
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "table %s has no snapshot %d", t.Name.Table, id).WithHint("%s", kept(t))
}

// kept says which snapshots there are.
func kept(t *lake.Table) string {
	list := t.Snapshots()
	if len(list) == 0 {
		return "The table has no snapshots."
	}
	var ids []string
	for i := len(list) - 1; i >= 0 && len(ids) < 5; i-- {
		ids = append(ids, strconv.FormatInt(list[i].ID, 10))
	}
	return "It has " + strconv.Itoa(len(list)) + " snapshots, the newest: " + strings.Join(ids, ", ") + "; see the metadata table " + t.Name.Table + "$snapshots."
}

func parent(t *lake.Table, s *lake.Snapshot) (*lake.Snapshot, error) {
	if s == nil || s.ParentID == nil {
		return nil, sqlerr.New(sqlerr.SnapshotTooOld, "table %s has no state before its first snapshot", t.Name.Table)
	}
	return byID(t, *s.ParentID)
}

// atTime finds the state at an instant. Of main it asks the snapshot log, which knows of
// rollbacks; of another branch it walks back from the head. Commits on other refs are not seen.
func atTime(t *lake.Table, spec Spec) (*lake.Snapshot, error) {
	if spec.Tag != "" || spec.Ref != "" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a tag has no history: give either the tag or the instant")
	}
	// Snapshots are stamped in milliseconds; an instant within one sees it.
	visible := func(at time.Time) bool {
		if spec.Before {
			return at.Before(spec.Time)
		}
		return !at.After(spec.Time)
	}
	if (spec.Branch == "" || spec.Branch == "main") && len(t.SnapshotLog()) > 0 {
		return mainAt(t, spec, visible)
	}
	head, _, err := find(t, Spec{Branch: spec.Branch})
	if err != nil {
		return nil, err
	}
	var first *lake.Snapshot
	for s := head; s != nil; {
		if visible(s.Time) {
			return s, nil
		}
		first = s
		if s.ParentID == nil {
			break
		}
		s = t.SnapshotByID(*s.ParentID)
	}
	if first == nil {
		return nil, sqlerr.New(sqlerr.SnapshotTooOld, "table %s has no snapshots", t.Name.Table)
	}
	return nil, tooEarly(t, spec, first.Time)
}

func mainAt(t *lake.Table, spec Spec, visible func(time.Time) bool) (*lake.Snapshot, error) {
	var hit *lake.LogEntry
	log := t.SnapshotLog()
	earliest := log[0].Time
	for i := range log {
		if visible(log[i].Time) && (hit == nil || !log[i].Time.Before(hit.Time)) {
			hit = &log[i]
		}
		if log[i].Time.Before(earliest) {
			earliest = log[i].Time
		}
	}
	if hit == nil {
		return nil, tooEarly(t, spec, earliest)
	}
	return byID(t, hit.SnapshotID)
}

func tooEarly(t *lake.Table, spec Spec, earliest time.Time) error {
	return sqlerr.New(sqlerr.SnapshotTooOld, "table %s had no snapshot yet at %s", t.Name.Table, spec.Time.UTC().Format(time.RFC3339Nano)).
		WithHint("Its earliest known instant is %s.", earliest.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}
