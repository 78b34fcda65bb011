package lake

import (
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// state is what the metadata file says, in our own types. Slices are in the file's order.
type state struct {
	uuid            string
	formatVersion   int
	location        string // as the metadata says; Resolve maps paths of a moved table
	lastUpdated     time.Time
	lastSeq         int64
	lastColumnID    int
	nextRowID       int64
	schemas         []*Schema
	currentSchemaID int
	specs           []*PartitionSpec
	defaultSpecID   int
	lastPartitionID int
	sortOrders      []*SortOrder
	defaultSortID   int
	properties      map[string]string
	snapshots       []*Snapshot
	currentSnapshot *int64
	refs            []Ref
	log             []LogEntry
	metadataLog     []MetadataLogEntry
	statistics      []StatisticsFile
	// partitionStatistics are files of the other kind (spec, "Partition Statistics").
	partitionStatistics []StatisticsFile
	raw                 []byte      // the document itself: a commit edits it and keeps what it does not know
	read                []*Snapshot // as the document has them, whatever an Edit has made of snapshots
}

// FirstReservedID is the first of the field ids that no table's own column has (spec, "Reserved Field
// IDs").
const FirstReservedID = 2147483447

// UUID is the table's identity, whatever its name: a table that was dropped and made anew has another.
func (t *Table) UUID() string { return t.uuid }

// FormatVersion is the spec's version that the metadata is written in: 1, 2 or 3.
func (t *Table) FormatVersion() int { return t.formatVersion }

// Location is the folder that the table's files lie in, unless properties say otherwise.
func (t *Table) Location() string { return t.location }

// LastUpdated is the instant of the last commit, by the clock of who made it.
func (t *Table) LastUpdated() time.Time { return t.lastUpdated }

// LastColumnID is the highest field id that any schema has ever had, so that none is given twice.
func (t *Table) LastColumnID() int { return t.lastColumnID }

// Schemas are all that a snapshot may have been written with.
func (t *Table) Schemas() []*Schema { return t.schemas }

// Specs are all partition specs that files may be of.
func (t *Table) Specs() []*PartitionSpec { return t.specs }

// SortOrders are all that files may claim.
func (t *Table) SortOrders() []*SortOrder { return t.sortOrders }

// Properties are the table's. The map is shared: it must not be changed.
func (t *Table) Properties() map[string]string { return t.properties }

// Snapshots are all that are kept, in the order of the metadata, which is no order of ancestry.
func (t *Table) Snapshots() []*Snapshot { return t.snapshots }

// Refs are the branches and tags, main among them once the table has a snapshot.
func (t *Table) Refs() []Ref { return t.refs }

// SnapshotLog says which snapshot main stood at from which instant on: what AS OF an instant asks.
func (t *Table) SnapshotLog() []LogEntry { return t.log }

// MetadataLog names the metadata files of before.
func (t *Table) MetadataLog() []MetadataLogEntry { return t.metadataLog }

// Statistics and PartitionStatistics are the files of statistics that the metadata names.
func (t *Table) Statistics() []StatisticsFile          { return t.statistics }
func (t *Table) PartitionStatistics() []StatisticsFile { return t.partitionStatistics }

// Schema is the current schema.
func (t *Table) Schema() *Schema { return t.SchemaByID(t.currentSchemaID) }

// SchemaByID is nil when there is no such schema.
func (t *Table) SchemaByID(id int) *Schema {
	for _, s := range t.schemas {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// SnapshotSchema is the schema that s was written with; the current one where s does not say.
func (t *Table) SnapshotSchema(s *Snapshot) *Schema {
	if s != nil && s.SchemaID != nil {
		if sch := t.SchemaByID(*s.SchemaID); sch != nil {
			return sch
		}
	}
	return t.Schema()
}

// Spec is the partition spec with the id, or nil.
func (t *Table) Spec(id int) *PartitionSpec {
	for _, s := range t.specs {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// DefaultSpec is the partition spec that writers use.
func (t *Table) DefaultSpec() *PartitionSpec { return t.Spec(t.defaultSpecID) }

// DefaultSortOrder is nil when the table is unsorted.
func (t *Table) DefaultSortOrder() *SortOrder {
	for _, s := range t.sortOrders {
		if s.ID == t.defaultSortID && len(s.Fields) > 0 {
			return s
		}
	}
	return nil
}

// SnapshotByID is nil when the table has no such snapshot (never had, or expired).
func (t *Table) SnapshotByID(id int64) *Snapshot {
	for _, s := range t.snapshots {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// CurrentSnapshot is main's head, nil for a table without data.
func (t *Table) CurrentSnapshot() *Snapshot {
	if t.currentSnapshot == nil {
		return nil
	}
	return t.SnapshotByID(*t.currentSnapshot)
}

// Ref finds a branch or tag by name.
func (t *Table) Ref(name string) (Ref, bool) {
	for _, r := range t.refs {
		if r.Name == name {
			return r, true
		}
	}
	return Ref{}, false
}

// MetadataBytes is the size of the table's metadata document, which each commit writes anew.
func (t *Table) MetadataBytes() int64 { return int64(len(t.raw)) }

// Head is the snapshot that a branch is at; "" is main, nil: it has none yet.
func (t *Table) Head(branch string) (*Snapshot, error) {
	if branch == "" || branch == "main" {
		return t.CurrentSnapshot(), nil
	}
	r, ok := t.Ref(branch)
	switch {
	case !ok:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "table %s has no branch %q", t.Name.Table, branch)
	case !r.Branch:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is a tag: tags cannot be written", branch)
	}
	return t.SnapshotByID(r.SnapshotID), nil
}

// MappedField is an item of a name mapping (spec, "Column Projection").
type MappedField struct {
	ID     int // -1: none
	Names  []string
	Fields []MappedField
}
