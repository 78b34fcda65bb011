package dml

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Sink gathers what one write statement does: the files that it wrote and the addresses of rows
// that it changed. Its methods are safe for concurrent use.
type Sink struct {
	table  *lake.Table
	schema *lake.Schema
	fields []lake.Field // of the files: the schema's with their stored types, then lineage
	spec   *lake.PartitionSpec
	opt    fileOptions
	fs     store.FS
	id     string
	sorted int   // sort order id that files claim
	buffer int64 // bytes that one writer may hold
	once   bool
	upsert bool
	next   atomic.Int64

	statement string
	twice     bool // an updated row counts as two

	mu      sync.Mutex
	touched map[string]*roaring64.Bitmap // by data file path: rows acted on
	written []*lake.DataFile
	count   [4]int64 // rows by action
}

// NewSink begins the statement n. buffer is the memory in bytes that each of its writers may
// hold. lineage adds the row lineage columns to data files (v3).
func NewSink(n *plan.Write, buffer int64) (*Sink, error) {
	t := n.Target.Table
	s := &Sink{table: t, schema: n.Target.Schema, spec: specOf(n), fs: t.FS(), id: uuid.NewString(),
		buffer: max(buffer, 8<<20), once: n.Once, upsert: n.Upsert != nil, statement: commandOf(n), twice: n.Upsert != nil && n.Upsert.Twice, touched: map[string]*roaring64.Bitmap{}}
	s.fields = lake.StoredFields(n.Target.Schema.Fields)
	if Lineage(n) {
		s.fields = append(s.fields, lineageFields...)
	}
	var err error
	s.opt, err = readOptions(t, s.schema)
	if n.Rewrite != nil && n.Rewrite.FileBytes > 0 {
		s.opt.target = n.Rewrite.FileBytes
	}
	return s, err
}

// lineageFields are the columns that keep a moved row's identity (Iceberg spec, "Row Lineage").
var lineageFields = []lake.Field{
	{ID: plan.HiddenRowID, Name: "_row_id", Iceberg: "long", Type: types.T(types.Int8)},
	{ID: plan.HiddenRowSeq, Name: "_last_updated_sequence_number", Iceberg: "long", Type: types.T(types.Int8)},
}

// Lineage tells whether the data files of n carry row ids: on v3, when rows move.
func Lineage(n *plan.Write) bool {
	return n.Target.Table.FormatVersion() >= 3 && (n.File != nil || n.Rewrite != nil)
}

// Touch records that row pos of a data file is acted on. first is false when it was before: an
// error for MERGE, no further action for the others.
func (s *Sink) Touch(file string, pos int64) (first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.touched[file]
	if b == nil {
		b = roaring64.New()
		s.touched[file] = b
	}
	if b.CheckedAdd(uint64(pos)) {
		return true, nil
	}
	if s.once {
		err := sqlerr.New(sqlerr.CardinalityViolation, "%s command cannot affect row a second time", s.statement)
		if s.upsert {
			return false, err.WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
		}
		return false, err.WithHint("Ensure that not more than one source row matches any one target row.")
	}
	return false, nil
}

// Touched are the addresses by data file. Only after all workers are done.
func (s *Sink) Touched() map[string]*roaring64.Bitmap { return s.touched }

// Count adds n rows to what an action did; Counted reads it.
func (s *Sink) Count(a plan.RowAction, n int64) {
	s.mu.Lock()
	s.count[a] += n
	s.mu.Unlock()
}
func (s *Sink) Counted(a plan.RowAction) int64 { return s.count[a] }

// Affected is the number in the command tag.
func (s *Sink) Affected() int64 {
	n := s.count[1] + s.count[2] + s.count[3]
	if s.twice {
		n += s.count[plan.ActUpdate]
	}
	return n
}

// commandOf is what errors call n.
func commandOf(n *plan.Write) string {
	if n.Upsert != nil && n.Upsert.Update {
		return "ON CONFLICT DO UPDATE"
	}
	return n.Statement
}

func (s *Sink) wrote(f *lake.DataFile) {
	s.mu.Lock()
	s.written = append(s.written, f)
	s.mu.Unlock()
}

// Written lists all files so far.
func (s *Sink) Written() []*lake.DataFile { return s.written }

// Types are those of the columns that writers take: as values are stored.
func (s *Sink) Types() []types.Type {
	out := make([]types.Type, len(s.fields))
	for i := range s.fields {
		out[i] = s.fields[i].Type
	}
	return out
}

// Sorted tells that rows come in the table's sort order with the id.
func (s *Sink) Sorted(id int) { s.sorted = id }

// Discard removes the written files of a statement that failed for certain. Errors are of no
// use to anyone: what stays behind is an orphan, which maintenance finds.
func (s *Sink) Discard(ctx context.Context) {
	seen := map[string]bool{}
	for _, f := range s.written {
		if !seen[f.Path] {
			seen[f.Path] = true
			s.fs.Remove(ctx, s.table.Resolve(f.Path))
		}
	}
}
