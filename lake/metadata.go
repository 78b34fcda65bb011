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

func (t *Table) UUID() string                    { return t.uuid }
func (t *Table) FormatVersion() int              { return t.formatVersion }
func (t *Table) Location() string                { return t.location }
func (t *Table) LastUpdated() time.Time          { return t.lastUpdated }
func (t *Table) LastColumnID() int               { return t.lastColumnID } // of any schema, ever
func (t *Table) Schemas() []*Schema              { return t.schemas }
func (t *Table) Specs() []*PartitionSpec         { return t.specs }
func (t *Table) SortOrders() []*SortOrder        { return t.sortOrders }
func (t *Table) Properties() map[string]string   { return t.properties }
func (t *Table) Snapshots() []*Snapshot          { return t.snapshots }
func (t *Table) Refs() []Ref                     { return t.refs }
func (t *Table) SnapshotLog() []LogEntry         { return t.log }
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

// Spec is the partition spec with the id, or nil; DefaultSpec the one that writers use.
func (t *Table) Spec(id int) *PartitionSpec {
	for _, s := range t.specs {
		if s.ID == id {
			return s
		}
	}
	return nil
}
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
