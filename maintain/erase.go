package maintain

import (
	"time"

	"github.com/lhsql/lhsql/lake"
)

// Erasure makes a value of a column unfindable: rows that have it leave every branch, and every byte
// that is left of it in old snapshots, delete files, bounds, logs and orphans goes with its file.
// docs/erasure.md is for those who order it and those who audit it; this is how it is done:
//
//	which fields, which bytes?                                     erase_match.go
//	→ find: who holds it, in which files, snapshots, refs?         erase_find.go, erase_search.go
//	→ holds and tags stop it by name, before anything is changed
//	→ rewrite the heads of all branches (copy-on-write)            erase_rewrite.go
//	→ forget the snapshots that hold it, remove their files        erase_run.go
//	  or, with TAGS REWRITE, state them anew without the rows      erase_history.go
//	→ old metadata, statistics, orphans
//	→ verify: decode every object in the table's folders
//	→ evidence                                                     erase_evidence.go
//
// No step relies on what the one before it remembers: each looks at the table as it is and does the
// next thing that is to be done, until there is nothing. So a step that died is repeated by doing the
// same again, and what another writer adds meanwhile is found like everything else. What is remembered
// is only what cannot be seen any more: the files that a commit will let go of (State.Remove), which
// are noted before it.

// EraseSpec is what is to be forgotten.
type EraseSpec struct {
	Column []string // by names, from the top-level column down
	Values []string // as text
	Reason string
	// Tags is "" where tags that hold the value stop the erasure, "drop" where they go, and "rewrite" where
	// they, and all other snapshots that hold it, are rewritten without the rows.
	Tags   string
	DryRun bool
	User   string
}

// Holder is an object, or an entry in one, that holds the value.
type Holder struct {
	Table     string
	Kind      string
	Path      string
	Where     string // in the object
	Rows      int64  // with the value; -1: it does not hold rows
	Refs      []string
	Snapshots []int64
	Until     string // what keeps it, and how long
}

// Kinds of holders.
const (
	holderData       = "data file"
	holderDeleted    = "deleted rows in data file"
	holderOther      = "other column of data file"
	holderEquality   = "equality delete file"
	holderPosition   = "position delete file"
	holderVector     = "deletion vector file"
	holderBounds     = "manifest bounds"
	holderPartition  = "partition value"
	holderPath       = "path"
	holderDefault    = "the column's default" // in a data file's rows, for the file is older than the column
	holderManifest   = "manifest"
	holderList       = "manifest list"
	holderSummary    = "snapshot summary"
	holderStatistics = "statistics file"
	holderMetadata   = "metadata file"
	holderProperty   = "table property"
	holderOrphan     = "orphan"
	holderUnreadable = "cannot be read"
	holderCopy       = "may hold a copy"
)

// Outcomes of an erasure.
const (
	EraseDone    = "DONE"
	ErasePending = "PENDING"
	EraseRunning = "RUNNING"
	EraseFailed  = "FAILED"
)

// EraseStep is a thing that was done, or would be.
type EraseStep struct {
	Table  string
	Step   string
	Count  int64
	Detail string
}

// EraseResult is how an erasure went.
type EraseResult struct {
	ID      string
	Status  string
	Pending []string // why it is not done
	Steps   []EraseStep
	Seq     int64  // of the record
	Hash    string // of the record: who keeps it elsewhere can tell that the last records were cut off
}

// orphanGrace is the age from which on a file that nothing holds is removed, as by RemoveOrphanFiles:
// a younger one may be of a write that has not committed yet.
const orphanGrace = OrphanAge

// eraseRounds is how often what other writers bring meanwhile is erased, too, before that is left to
// another try.
const eraseRounds = 5

// FileEvidence is a file that is gone, or that another stands for.
type FileEvidence struct {
	Path   string `json:"path"` // the value itself is left out
	Kind   string `json:"kind,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
}

// TableEvidence is what was done to one table.
type TableEvidence struct {
	Table     string           `json:"table"`
	Name      [2]string        `json:"name"` // namespace and table
	UUID      string           `json:"uuid"`
	Before    map[string]int64 `json:"heads_before"` // by branch and tag
	After     map[string]int64 `json:"heads_after"`
	Expired   []int64          `json:"snapshots_expired,omitempty"`
	Tags      []string         `json:"tags_dropped,omitempty"`
	Restated  []int64          `json:"snapshots_rewritten,omitempty"`
	Rewritten []FileEvidence   `json:"files_rewritten,omitempty"`
	Added     []FileEvidence   `json:"files_added,omitempty"`
	Removed   []FileEvidence   `json:"files_removed,omitempty"`
	RowsGone  int64            `json:"rows_erased"` // of heads of branches
	// HistoryGone are rows of files that older snapshots show, each once for each set of deletes.
	HistoryGone  int64          `json:"history_rows_erased,omitempty"`
	HistoryAdded []FileEvidence `json:"history_files_added,omitempty"`
	Decoded      int64          `json:"objects_decoded"`
	Hits         int64          `json:"hits"`
	Searched     string         `json:"searched"` // "bytes", or "values" where the value is too short or a number
	Copies       []string       `json:"may_hold_copies,omitempty"`
}

// EraseRecord is the evidence of one erasure, as it stood at the end of a try.
type EraseRecord struct {
	ID      string           `json:"id"`
	Status  string           `json:"status"`
	Pending []string         `json:"pending,omitempty"`
	User    string           `json:"user"`
	Reason  string           `json:"reason"`
	Started time.Time        `json:"started"`
	Ended   time.Time        `json:"ended"`
	Column  []string         `json:"column"`
	Value   string           `json:"value_hmac"` // HMAC-SHA256 under the server's key
	Holds   []string         `json:"holds,omitempty"`
	Tables  []*TableEvidence `json:"tables"`
}

func headsOf(t *lake.Table) map[string]int64 {
	out := map[string]int64{}
	for _, r := range t.Refs() {
		out[r.Name] = r.SnapshotID
	}
	return out
}
