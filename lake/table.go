package lake

import (
	"cmp"
	"strings"
	"time"

	"github.com/lhsql/lhsql/types"
)

// Name is a table's name: catalog.namespace.table. Namespace levels are joined by dots.
type Name struct{ Catalog, Namespace, Table string }

// String is the name with dots between its parts, without quotes: for messages, not for SQL.
func (n Name) String() string {
	s := n.Table
	if n.Namespace != "" {
		s = n.Namespace + "." + s
	}
	if n.Catalog != "" {
		s = n.Catalog + "." + s
	}
	return s
}

// Compare orders names: by catalog, namespace and table.
func (n Name) Compare(o Name) int {
	return cmp.Or(strings.Compare(n.Catalog, o.Catalog), strings.Compare(n.Namespace, o.Namespace), strings.Compare(n.Table, o.Table))
}

// Snapshot is one state of a table.
type Snapshot struct {
	ID           int64
	ParentID     *int64
	Seq          int64
	Time         time.Time // commit time, ms precision
	ManifestList string    // "" for v1 snapshots that list Manifests
	Manifests    []string
	SchemaID     *int
	Operation    string // append, replace, overwrite, delete
	Summary      map[string]string
	FirstRowID   *int64
	AddedRows    *int64
}

// Ref is a branch or tag.
type Ref struct {
	Name       string
	SnapshotID int64
	Branch     bool
	// Retention; nil: the table's default.
	MinSnapshotsToKeep            *int
	MaxSnapshotAgeMs, MaxRefAgeMs *int64
}

// LogEntry is an item of the snapshot log: from Time on, main was SnapshotID.
type LogEntry struct {
	Time       time.Time
	SnapshotID int64
}

// MetadataLogEntry is an earlier metadata file.
type MetadataLogEntry struct {
	Time time.Time
	File string
}

// StatisticsFile is a file of statistics of one snapshot (spec, "Table Statistics").
type StatisticsFile struct {
	SnapshotID int64
	Path       string // as the metadata says
	Size       int64  // bytes
	FooterSize int64  // bytes; 0 of a file of partition statistics, which is no Puffin file
	// Blobs are what a Puffin file holds, as the metadata repeats it, so that nobody need open the
	// file; of partition statistics none.
	Blobs []StatisticsBlob
}

// StatisticsBlob is a blob of a statistics file (spec, "Blob metadata").
type StatisticsBlob struct {
	Type       string            `json:"type"`
	SnapshotID int64             `json:"snapshot-id"` // that it was computed from
	Seq        int64             `json:"sequence-number"`
	Fields     []int             `json:"fields"`
	Properties map[string]string `json:"properties,omitempty"`
}

// ThetaBlob is the type of a blob that holds a theta sketch of one column's values; its property ndv is
// the number of different ones that comes of it.
const ThetaBlob = "apache-datasketches-theta-v1"

// Column is what a table's column looks like to SQL, in order of the schema.
type Column = types.Field

// Table is one table at one metadata file: immutable, safe to share. A later state is another
// Table. Accessors are in metadata.go.
type Table struct {
	Name             Name
	MetadataLocation string
	state
	place   *place
	pointer string // MetadataLocation as the catalog spells it
	staged  *Edit  // what a staged table is to become; nil for tables that exist
	over    *Table // of a table that a transaction changed: the committed state below
}
