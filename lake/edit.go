package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Edit changes a table's metadata step by step: it edits the document, so that what this
// program does not know stays as it is, and records the updates and requirements that a REST
// catalog is sent instead.
//
// The methods check the spec's rules and return user's errors; after one the Edit is dead.
type Edit struct {
	s        *state
	doc      map[string]json.RawMessage
	updates  []obj
	requires []obj
	now      time.Time
	created  bool

	schema  *Schema        // a changed schema that is not flushed yet
	spec    *PartitionSpec // likewise
	expired []string       // metadata files that have left the log
	forgot  bool           // ForgetMetadata has changed the log
	renamed map[int]bool   // field ids whose names the name mapping must learn
	// redeclare: properties that declare columns' types were changed.
	redeclare bool
}

func newEdit(s *state, now time.Time) (*Edit, error) {
	e := &Edit{s: s.clone(), now: now, renamed: map[int]bool{}}
	var ok bool
	if e.doc, ok = topLevel(s.raw); !ok {
		if err := json.Unmarshal(s.raw, &e.doc); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// topLevel takes an object apart whose text is valid JSON, as a document is that was read, without a look at
// what its members hold: a table's history may be long. They share the text's memory: nobody may write to
// them. ok false: it is no object, or a name has escapes.
func topLevel(text []byte) (doc map[string]json.RawMessage, ok bool) {
	doc = map[string]json.RawMessage{}
	depth, from := 0, 0 // of the member under way
	name, named := "", false
	add := func(to int) {
		if named {
			doc[name] = bytes.TrimSpace(text[from:to:to])
		}
		named = false
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := i + 1
			for {
				n := bytes.IndexByte(text[end:], '"')
				if n < 0 {
					return nil, false
				}
				end += n
				slashes := 0
				for text[end-1-slashes] == '\\' {
					slashes++
				}
				if slashes%2 == 0 {
					break
				}
				end++
			}
			if depth == 1 && !named {
				if name = string(text[i+1 : end]); strings.Contains(name, `\`) {
					return nil, false
				}
			}
			i = end
		case '{', '[':
			depth++
		case ':':
			if depth == 1 && !named {
				named, from = true, i+1
			}
		case ',':
			if depth == 1 {
				add(i)
			}
		case '}', ']':
			if depth == 1 {
				add(i)
			}
			depth--
		}
	}
	return doc, len(text) > 0 && bytes.TrimSpace(text)[0] == '{' && depth == 0
}

// clone copies the state so deep as an Edit changes it. Schemas, specs and snapshots are
// replaced, never changed.
func (s *state) clone() *state {
	c := *s
	c.schemas = append([]*Schema(nil), s.schemas...)
	c.specs = append([]*PartitionSpec(nil), s.specs...)
	c.sortOrders = append([]*SortOrder(nil), s.sortOrders...)
	c.snapshots = append([]*Snapshot(nil), s.snapshots...)
	c.refs = append([]Ref(nil), s.refs...)
	c.log = append([]LogEntry(nil), s.log...)
	c.metadataLog = append([]MetadataLogEntry(nil), s.metadataLog...)
	c.properties = make(map[string]string, len(s.properties))
	for k, v := range s.properties {
		c.properties[k] = v
	}
	return &c
}

// Table gives the metadata as it stands in the Edit, without files.
func (e *Edit) Table() *Table { return &Table{state: *e.s} }

// Edited is the table as an Edit of it has made it so far, with files: for reading what the edit is
// about to give up.
func (t *Table) Edited(e *Edit) *Table {
	c := *t
	c.state = *e.s.clone()
	return &c
}

// Try gives the table as it would be after an edit. Nothing is written.
func (t *Table) Try(ctx context.Context, edit func(*Edit) error) (*Table, error) {
	e, err := newEdit(&t.state, nextInstant(ctx, t))
	if err != nil {
		return nil, metadataError(err, t.MetadataLocation)
	}
	if err := edit(e); err != nil {
		return nil, err
	}
	if err := e.flush(); err != nil {
		return nil, err
	}
	return t.Edited(e), nil
}

func (e *Edit) set(key string, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		e.doc[key] = raw
	}
	return err
}

// appendTo adds an item to an array of the document. The array stays as it is written: it may be as long as
// the table's history.
func (e *Edit) appendTo(key string, item any) error {
	raw, err := json.Marshal(item)
	if err != nil {
		return err
	}
	old := bytes.TrimSpace(e.doc[key])
	if len(old) == 0 || string(old) == "null" {
		old = []byte("[]")
	}
	head, ok := bytes.CutSuffix(old, []byte{']'})
	if !ok || old[0] != '[' {
		return fmt.Errorf("%s is no array", key)
	}
	list := slices.Grow(slices.Clone(head), len(raw)+2)
	if len(bytes.TrimSpace(head)) > 1 {
		list = append(list, ',')
	}
	e.doc[key] = append(append(list, raw...), ']')
	return nil
}

func (e *Edit) update(action string, rest obj) {
	u := obj{"action": action}
	for k, v := range rest {
		u[k] = v
	}
	e.updates = append(e.updates, u)
}

func (e *Edit) require(kind string, rest obj) {
	r := obj{"type": kind}
	for k, v := range rest {
		r[k] = v
	}
	e.requires = append(e.requires, r)
}

// SetProperties sets table properties; "format-version" upgrades the format.
func (e *Edit) SetProperties(props map[string]string) error {
	set := map[string]string{}
	for k, v := range props {
		if k == "format-version" {
			if err := e.upgradeText(v); err != nil {
				return err
			}
			continue
		}
		if err := checkProperty(k); err != nil {
			return err
		}
		set[k] = v
		e.s.properties[k] = v
		e.redeclare = e.redeclare || strings.HasPrefix(k, declaredPrefix)
	}
	if len(set) == 0 {
		return nil
	}
	e.update("set-properties", obj{"updates": set})
	return e.set("properties", e.s.properties)
}

// checkProperty refuses names that other engines reserve: they would look like metadata.
func checkProperty(k string) error {
	switch k {
	case "uuid", "snapshot-count", "current-snapshot-summary", "current-snapshot-id", "current-snapshot-timestamp-ms",
		"current-schema", "default-partition-spec", "default-sort-order":
		return sqlerr.New(sqlerr.InvalidParameterValue, "%q is reserved and cannot be set as a table property", k)
	}
	return nil
}

// RemoveProperties unsets table properties; those that are not set do not matter.
func (e *Edit) RemoveProperties(keys []string) error {
	var gone []string
	for _, k := range keys {
		if _, ok := e.s.properties[k]; ok {
			gone = append(gone, k)
			delete(e.s.properties, k)
			e.redeclare = e.redeclare || strings.HasPrefix(k, declaredPrefix)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	e.update("remove-properties", obj{"removals": gone})
	return e.set("properties", e.s.properties)
}

func (e *Edit) upgradeText(v string) error {
	switch strings.TrimSpace(v) {
	case "1":
		return e.UpgradeFormat(1)
	case "2":
		return e.UpgradeFormat(2)
	case "3":
		return e.UpgradeFormat(3)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "format version %q is not 1, 2 or 3", v)
}

// UpgradeFormat raises the format version. It cannot be lowered.
func (e *Edit) UpgradeFormat(v int) error {
	if v == e.s.formatVersion {
		return nil
	}
	if v < e.s.formatVersion || v > maxFormatVersion {
		return sqlerr.New(sqlerr.InvalidParameterValue, "a table of format version %d cannot become version %d", e.s.formatVersion, v)
	}
	if e.s.formatVersion == 1 {
		if err := e.fromV1(); err != nil {
			return err
		}
	}
	if v >= 3 && e.s.formatVersion < 3 {
		e.s.nextRowID = 0
		if err := e.set("next-row-id", 0); err != nil {
			return err
		}
	}
	e.s.formatVersion = v
	e.update("upgrade-format-version", obj{"format-version": v})
	return e.set("format-version", v)
}

// fromV1 gives the document what v2 requires and v1 left out, and drops what v1 alone has.
func (e *Edit) fromV1() error {
	if e.s.uuid == "" {
		e.s.uuid = uuid.NewString()
	}
	fill := obj{"table-uuid": e.s.uuid, "last-sequence-number": 0, "schemas": schemasJSON(e.s.schemas),
		"current-schema-id": e.s.currentSchemaID, "partition-specs": specsJSON(e.s.specs), "default-spec-id": e.s.defaultSpecID,
		"last-partition-id": e.s.lastPartitionID, "last-column-id": e.s.lastColumnID}
	if len(e.s.sortOrders) == 0 {
		e.s.sortOrders = []*SortOrder{{}}
		fill["sort-orders"] = sortOrdersJSON(e.s.sortOrders)
		fill["default-sort-order-id"] = 0
	}
	for k, v := range fill {
		if err := e.set(k, v); err != nil {
			return err
		}
	}
	delete(e.doc, "schema")
	delete(e.doc, "partition-spec")
	return nil
}

func schemasJSON(list []*Schema) []*schemaJSON {
	var out []*schemaJSON
	for _, s := range list {
		out = append(out, s.json())
	}
	return out
}

func specsJSON(list []*PartitionSpec) []specJSON {
	var out []specJSON
	for _, s := range list {
		out = append(out, specJSON{SpecID: s.ID, Fields: specFieldsJSON(s)})
	}
	return out
}

func sortOrdersJSON(list []*SortOrder) []sortOrderJSON {
	var out []sortOrderJSON
	for _, s := range list {
		out = append(out, s.json())
	}
	return out
}

func (o *SortOrder) json() sortOrderJSON {
	j := sortOrderJSON{OrderID: o.ID, Fields: []sortFieldJSON{}}
	for _, f := range o.Fields {
		sf := sortFieldJSON{Transform: f.Transform.String(), Direction: "asc", NullOrder: "nulls-last"}
		if f.Desc {
			sf.Direction = "desc"
		}
		if f.NullsFirst {
			sf.NullOrder = "nulls-first"
		}
		if len(f.SourceIDs) == 1 {
			sf.SourceID = &f.SourceIDs[0]
		} else {
			sf.SourceIDs = f.SourceIDs
		}
		j.Fields = append(j.Fields, sf)
	}
	return j
}

// SetLocation moves where new files go. Files that exist stay where they are. A commit refuses a place
// that the table may not use (mayMove).
func (e *Edit) SetLocation(loc string) error {
	loc = strings.TrimSpace(loc)
	if loc == "" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "a table's location cannot be empty")
	}
	loc = strings.TrimRight(absolute(loc), "/")
	if loc == e.s.location {
		return nil
	}
	e.s.location = loc
	e.update("set-location", obj{"location": loc})
	return e.set("location", loc)
}

// changed tells whether anything was edited.
func (e *Edit) changed() bool { return len(e.updates) > 0 || e.forgot }

// document finishes the edit: the metadata file's text. previous is the metadata file that it
// follows ("" for a new table), of the time was.
func (e *Edit) document(previous string, was time.Time) ([]byte, error) {
	if err := e.flush(); err != nil {
		return nil, err
	}
	e.s.lastUpdated = e.now
	if err := e.set("last-updated-ms", e.now.UnixMilli()); err != nil {
		return nil, err
	}
	if previous != "" {
		if err := e.logMetadata(previous, was); err != nil {
			return nil, err
		}
	}
	return objectText(e.doc), nil
}

// objectText is an object of these members. They are JSON already, which json.Marshal would check and
// compact once more.
func objectText(doc map[string]json.RawMessage) []byte {
	n := 2
	for k, v := range doc {
		n += len(k) + len(v) + 4
	}
	b := append(make([]byte, 0, n), '{')
	for i, k := range slices.Sorted(maps.Keys(doc)) {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(k)
		b = append(append(b, name...), ':')
		b = append(b, doc[k]...)
	}
	return append(b, '}')
}

// ForgetMetadata takes files of earlier states out of the metadata log; they are the caller's to
// remove. A catalog that is sent updates keeps a log of its own, which no update changes.
func (e *Edit) ForgetMetadata(gone func(file string) bool) {
	n := len(e.s.metadataLog)
	e.s.metadataLog = slices.DeleteFunc(slices.Clone(e.s.metadataLog), func(l MetadataLogEntry) bool { return gone(l.File) })
	e.forgot = e.forgot || len(e.s.metadataLog) < n
}

func (e *Edit) logMetadata(previous string, was time.Time) error {
	e.s.metadataLog = append(e.s.metadataLog, MetadataLogEntry{Time: was, File: previous})
	keep := max(intProperty(e.s.properties, "write.metadata.previous-versions-max", 100), 1)
	if n := len(e.s.metadataLog); n > keep {
		for _, l := range e.s.metadataLog[:n-keep] {
			e.expired = append(e.expired, l.File)
		}
		e.s.metadataLog = e.s.metadataLog[n-keep:]
	}
	list := []obj{}
	for _, l := range e.s.metadataLog {
		list = append(list, obj{"timestamp-ms": l.Time.UnixMilli(), "metadata-file": l.File})
	}
	return e.set("metadata-log", list)
}

// flush writes pending schema and partition changes into the document.
func (e *Edit) flush() error {
	if err := e.flushSchema(); err != nil {
		return err
	}
	if e.redeclare {
		e.s.declareAll()
		e.redeclare = false
	}
	return e.flushSpec()
}

// filterDoc removes the items with ids that are gone from an array of the document; id is the name of
// their id.
func (e *Edit) filterDoc(key, id string, gone func(int64) bool) error {
	raw, ok := e.doc[key]
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	rest := []json.RawMessage{}
	for _, item := range list {
		var s map[string]json.RawMessage
		if err := json.Unmarshal(item, &s); err != nil {
			return err
		}
		var n int64
		if err := json.Unmarshal(s[id], &n); err != nil {
			return err
		}
		if !gone(n) {
			rest = append(rest, item)
		}
	}
	return e.set(key, rest)
}
