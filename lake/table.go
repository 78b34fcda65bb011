package lake

import (
	"cmp"
	"strings"
	"time"

	"github.com/lhsql/lhsql/types"
)

// Name is a table's name: catalog.namespace.table. Namespace levels are joined by dots.
type Name struct{ Catalog, Namespace, Table string }

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
}

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
