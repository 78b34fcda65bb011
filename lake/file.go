package lake

import "github.com/lhsql/lhsql/types"

// Content tells what a file of a table holds.
type Content uint8

const (
	Data            Content = iota // rows
	PositionDeletes                // rows by data file and position; we write them in format 2
	EqualityDeletes                // rows by values of columns; we apply them and write none
	DeletionVector                 // a position delete whose format is Puffin
)

// DataFile is one data or delete file as a manifest lists it (Iceberg spec, "Manifests").
// Maps are by field id; an absent entry means unknown, never zero. Immutable: shared by the cache.
type DataFile struct {
	Path        string // as the metadata says; Table.Resolve gives where it lies now
	Content     Content
	Format      string // "parquet", "avro", "orc", "puffin"; lower case
	SpecID      int
	Partition   []types.Datum // by the spec's fields, in their result types
	RecordCount int64
	FileSize    int64

	ColumnSizes map[int]int64
	ValueCounts map[int]int64
	NullCounts  map[int]int64
	NaNCounts   map[int]int64
	// Lower and Upper are single-value serialised bounds (spec appendix D). Strings and binary
	// may be truncated; values may be inverted, short or wrong in foreign files: see Bound.
	Lower, Upper map[int][]byte

	SplitOffsets []int64
	SortOrderID  int
	EqualityIDs  []int

	DataSeq    int64 // data sequence number, inherited where the manifest says so
	FileSeq    int64
	SnapshotID int64

	FirstRowID     *int64 // v3
	ReferencedFile string // deletes: the one data file they cover, if known
	ContentOffset  int64  // deletion vectors: blob position in the Puffin file
	ContentSize    int64
	Encrypted      bool // key_metadata present: refused with an error that names the file
}

// Entry is a manifest entry.
type Entry struct {
	Status     EntryStatus
	SnapshotID int64
	File       *DataFile
}

// EntryStatus tells what a snapshot did with the file of an entry (spec, "Manifest Entry Fields").
type EntryStatus uint8

const (
	Existing EntryStatus = 0 // an earlier snapshot added it
	Added    EntryStatus = 1 // this snapshot did
	Deleted  EntryStatus = 2 // this snapshot took it out; its bytes may be there still
)

// Manifest is one entry of a snapshot's manifest list.
type Manifest struct {
	Path            string
	Length          int64
	SpecID          int
	Deletes         bool // holds delete files
	Seq, MinSeq     int64
	AddedSnapshotID int64
	// Counts; -1 unknown (v1).
	AddedFiles, ExistingFiles, DeletedFiles int64
	AddedRows, ExistingRows, DeletedRows    int64
	Partitions                              []FieldSummary // by the spec's fields; nil: unknown
	FirstRowID                              *int64
	Encrypted                               bool
}

// FieldSummary bounds one partition field over a manifest. Lower or Upper nil: unknown.
type FieldSummary struct {
	ContainsNull bool
	ContainsNaN  *bool
	Lower, Upper []byte
}
