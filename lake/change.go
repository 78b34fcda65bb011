package lake

import (
	"context"
	"time"
)

// Change is what one statement does to one table, committed as one atomic step: rows (Add,
// Remove), metadata (Edit), or both.
//
// How a write statement uses it: load the table, pin a snapshot, scan, write data and delete
// files under Table.Location()/data, then
//
//	t, err := catalog.Commit(ctx, name, lake.Change{
//		Base: table, Snapshot: snapshot, Kind: lake.CopyOnWrite,
//		Add: written, Remove: replaced, Conflicts: mayMatch, Statement: "DELETE",
//	})
//
// On error ask Outcome(err): unless it is Unknown nothing happened and the files written may be
// removed; under Unknown nothing may be.
type Change struct {
	// Base is the table state that the statement read; nil only for a blind Append or Edit.
	Base *Table
	// Snapshot is what the scan of the target read on Branch: validation looks at all that
	// differs from it at commit. nil: the branch had no snapshot.
	Snapshot *Snapshot
	Branch   string // "" is main. A branch that does not exist is an error; Edit can create it.

	Kind      Kind
	Isolation Isolation
	// Conflicts tells whether a file could hold rows that the statement's read predicate
	// matches (for delete files: could delete such rows), from partition and bounds. nil: every
	// file could. For OverwritePartitions: whether the file is in a replaced partition.
	Conflicts func(*DataFile) bool

	// Add are new files: data files, position deletes, equality deletes, deletion vectors, as
	// Content says. SpecID and Partition must be set, and ReferencedFile for deletion vectors.
	Add []*DataFile
	// Remove are live files to drop, as Entries gave them. A deletion vector that a new one
	// replaces must be among them, and position delete files that were folded in whole.
	Remove []*DataFile
	// References are data files that added delete files cover, where ReferencedFile does not say.
	References []string
	// KeepSeq writes DataSeq of added data files as given: compaction. Else they get the
	// sequence number of the commit.
	KeepSeq bool

	// Manifests replaces manifests by others that list the same files. There are no Add and Remove
	// beside it, and the operation is "replace".
	Manifests *NewManifests

	// Edit changes metadata. It runs on each attempt, on the head's metadata, before files are
	// applied; it must not keep the Edit.
	Edit func(*Edit) error
	// MovesRefs says that Edit makes, moves or drops branches or tags: in a transaction, rows
	// cannot be written beside it, since it names snapshots of before.
	MovesRefs bool

	// Still says that no branch may have moved, come or gone since Base: Edit depends on what the
	// statement has seen of the rows.
	Still bool

	// Recheck, if set, looks at what others have added to the branch since Snapshot, before each
	// try: rows that two writers may not both add. own are the data files that the change adds; added
	// are live in parent, head's snapshot of the branch.
	Recheck func(ctx context.Context, head *Table, parent *Snapshot, own, added []*DataFile) error

	// Looks are tables that the change depends on and does not write.
	Looks []Look
	looks []Look // at this table, where the change does nothing else

	// Balance, if set, is checked before the commit (C10).
	Balance *Balance

	// Provenance, for the snapshot's summary.
	Statement string // "INSERT", "MERGE", …
	User      string
	Inputs    []Input
	Summary   map[string]string // further entries
	// Operation overrides the snapshot's operation ("replace" for compaction).
	Operation string
	// StageOnly adds the snapshot without moving a ref (write-audit-publish).
	StageOnly bool
}

// Kind is a statement's row in the validation matrix.
type Kind uint8

const (
	// Append adds data files and conflicts with nothing.
	Append Kind = iota
	// CopyOnWrite replaces data files: they must be live still and without new deletes.
	CopyOnWrite
	// MergeOnReadDelete adds deletes: the data files that they cover must be live still, and
	// their rows not updated.
	MergeOnReadDelete
	// MergeOnReadUpdate adds deletes and data: also, no new deletes on the covered files, nor
	// any that Conflicts.
	MergeOnReadUpdate
	// Compaction replaces files without changing rows.
	Compaction
	// OverwritePartitions replaces what Conflicts tells: no new deletes or removals there.
	OverwritePartitions
	// Several is what statements of a transaction block did together: all of the above that
	// guards replaced files and files with new deletes. Also of one DELETE, since the block may
	// have put elsewhere what it deleted.
	Several
)

// Isolation is the level that Change is validated at.
type Isolation uint8

const (
	// Serializable also refuses when new data Conflicts.
	Serializable      Isolation = iota
	SnapshotIsolation           // lets new data of others pass that a predicate of ours would have matched
)

// Balance is the count of rows of a statement: the rows read from the removed data files (live
// ones), minus the deleted, plus the inserted, must be the rows in the added data files (C10).
// With Deletes set, the deleted rows must also be the increase of positions in delete files.
type Balance struct {
	Read, Deleted, Inserted int64
	Deletes                 bool
}

// Input is a table that a statement read.
type Input struct {
	Table    Name
	Snapshot int64
}

// TableChange is a change of one of several tables.
type TableChange struct {
	Name   Name
	Change Change
}

// TableSpec describes a table to be made. Columns are named by path ("s.f" for members).
type TableSpec struct {
	Schema      *Schema // ids are given anew; Identifier is ignored
	Identifier  []string
	PartitionBy []PartitionBy
	SortBy      []SortBy
	Checks      []Check           // with columns as "{#i}", by their place in Schema
	Keys        []Key             // with columns by their place in Schema
	ForeignKeys []ForeignKey      // likewise
	Properties  map[string]string // "format-version" is 1, 2 or 3; 2 if not given
	Location    string            // "": the catalog's convention
	// Replace keeps an existing table's history and gives it this schema and no rows (CREATE OR
	// REPLACE TABLE).
	Replace bool
}

// PartitionBy is a partition field by column path; an empty Name is given by convention.
type PartitionBy struct {
	Column    string
	Transform Transform
	Name      string
}

// SortBy is a sort field by column path.
type SortBy struct {
	Column     string
	Transform  Transform
	Desc       bool
	NullsFirst bool
}

// RefSpec is a branch or tag to be made or replaced.
type RefSpec struct {
	Name     string
	Branch   bool
	Snapshot *int64 // nil: main's head
	// Retention; nil: the table's default, or what the replaced ref had.
	MinSnapshotsToKeep        *int
	MaxSnapshotAge, MaxRefAge *time.Duration
	Replace, IfNotExists      bool
}
