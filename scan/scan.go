// Package scan answers: how do the needed bytes of a table's files become batches?
//
// In: a plan.Scan whose Tasks the planner has filled. Out: vec.Sources, as many as there are
// goroutines, which share the work by row groups. The scan owns its predicate: rows that leave
// satisfy it, and no deleted row ever leaves. It refuses to know how tasks were found, and what
// happens to its batches.
//
// The way of a row group (source.go): statistics, Bloom filters and page indexes say what need
// not be read; deletes by position mark rows; the predicate's columns are read, conjunct by
// conjunct, and narrow the selection; equality deletes narrow it further; the other columns are
// read only where rows are left, whole pages passed over unread. The Parquet layer is
// scan/parquet.
package scan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/prune"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/vec"
)

// Memory is the account that the scan charges its buffers to. Reserve fails with SQLSTATE
// 53200 when there is no more. Safe for concurrent use.
type Memory = parquet.Memory

// Env is what a scan may know of its surroundings. The zero Env works.
type Env struct {
	// NewCtx makes the evaluation context of one goroutine; nil: a plain one in UTC.
	NewCtx func(context.Context) *eval.Ctx
	// Mem is charged for buffers, deletes and dictionaries; nil: a limit of defaultMemory.
	Mem Memory
	// Windows is about how many bytes of files one source has in memory at a time; 0: no matter.
	Windows int64
	// BatchRows is the usual length of a batch; 0: vec.BatchRows.
	BatchRows int
	// NoPruning reads everything and tests every row; answers must not change.
	NoPruning bool
	// Footers caches footers; nil: those of this scan alone.
	Footers *FooterCache
	// Pages caches decompressed pages; nil: none.
	Pages *parquet.PageCache
	// Done, if set, hears of each data file that has been read to its end, from any goroutine.
	Done func(*lake.DataFile)
}

// ownFooters is the size of the cache of a scan that was given none.
const ownFooters = 8 << 20

// defaultMemory bounds a scan that nobody gave an account.
const defaultMemory = 4 << 30

// Scanner is one running scan.
type Scanner struct {
	node  *plan.Scan
	env   Env
	slots []slot // Cols, PredCols, then columns that only equality deletes need
	cols  []plan.ScanColumn
	in    []plan.Column // what predicates are compiled over: Cols and PredCols

	queue   queue
	deletes deleteCache
	io      parquet.IOStats
	count   counters

	layout *prune.Layout // for filters at run time
	byName bool          // files may lack field ids, by which counts and bounds go

	mu         sync.Mutex
	specs      map[int]*prune.SpecLayout
	predicates map[plan.Expr]*prune.Predicate
	pruneCtx   *eval.Ctx
	sources    int // handed out and not closed
}

// slot is one column that sources can read: what it means, not yet where a file has it.
type slot struct {
	plan.ScanColumn
	field *lake.Field // as a file has it; nil: hidden
	// decode: the slot's values are made of the stored ones.
	decode bool
	// inner is the path of field ids below field down to the value that an equality delete
	// compares; empty: the field itself.
	inner []int
}

// Open prepares a scan. It reads no data: the first work is done by Sources.
func Open(ctx context.Context, n *plan.Scan, env Env) (*Scanner, error) {
	invariant.Check(n.Pruned || n.Snapshot == nil, "scan of %s whose files were not planned", n.Table.Name)
	if env.BatchRows <= 0 || env.BatchRows > vec.MaxBatchRows {
		env.BatchRows = vec.BatchRows
	}
	if env.Mem == nil {
		env.Mem = &limit{left: atomicInt(defaultMemory)}
	}
	if env.Footers == nil {
		env.Footers = NewFooterCache(ownFooters)
	}
	if env.NewCtx == nil {
		env.NewCtx = func(ctx context.Context) *eval.Ctx { return &eval.Ctx{Context: ctx} }
	}
	s := &Scanner{node: n, env: env, predicates: map[plan.Expr]*prune.Predicate{}, pruneCtx: env.NewCtx(ctx)}
	s.cols = append(append(s.cols, n.Cols...), n.PredCols...)
	for _, c := range s.cols {
		sl := slot{ScanColumn: c}
		if !hidden(c.FieldID) {
			f, path := n.Schema.ByID(c.FieldID)
			invariant.Check(f != nil && len(path) == 1, "scan of column %s, which is no column of schema %d", c.Name, n.Schema.ID)
			sl.field, sl.decode = storedField(f), eval.Decodes(f.Type) && !f.Type.Equal(f.Stored())
		}
		s.slots = append(s.slots, sl)
		s.in = append(s.in, c.Column)
	}
	if len(n.RuntimeFilters) > 0 {
		s.layout, s.byName, s.specs = prune.NewLayout(s.cols, n.Schema), n.Table.NameMapping() != nil, map[int]*prune.SpecLayout{}
	}
	s.deletes.init(s)
	if err := s.addEqualitySlots(); err != nil {
		return nil, err
	}
	s.queue.init(len(n.Tasks))
	return s, nil
}

// Source gives another reader of the scan, for one goroutine. Each row leaves from exactly one
// of them.
func (s *Scanner) Source() vec.Source {
	s.mu.Lock()
	s.sources++
	s.mu.Unlock()
	return newSource(s)
}

// closed is called by each source once.
func (s *Scanner) closed() {
	s.mu.Lock()
	s.sources--
	last := s.sources == 0
	s.mu.Unlock()
	if last {
		s.queue.drain()
		s.deletes.close()
	}
}

// predicate compiles a conjunct for pruning, once.
func (s *Scanner) predicate(e plan.Expr) *prune.Predicate {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.predicates[e]
	if !ok {
		p = prune.Compile(e, s.cols, s.pruneCtx)
		s.predicates[e] = p
	}
	return p
}

// limit is the Memory of a scan without an account.
type limit struct{ left atomic.Int64 }

func atomicInt(n int64) (a atomic.Int64) {
	a.Store(n)
	return
}

func (l *limit) Reserve(n int64) error {
	if l.left.Add(-n) < 0 {
		l.left.Add(n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("A scan needs %d bytes more than it may have.", n)
	}
	return nil
}

func (l *limit) Release(n int64) { l.left.Add(n) }
