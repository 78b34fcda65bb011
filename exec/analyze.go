package exec

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/vec"
)

// Analysis collects what each node of a plan did, for EXPLAIN ANALYZE. A nil *Analysis collects
// nothing. Operators know nothing of it: Build wraps them.
type Analysis struct {
	mu    sync.Mutex
	nodes map[plan.Node]*nodeMeter
}

// NodeStats is what one node did, over all its runs and partitions.
type NodeStats struct {
	Rows, Batches int64
	Time          time.Duration // spent in the node and below, summed over goroutines
	First         time.Duration // until its first batch
	Partitions    int
	Memory        int64 // the most held at once
	Spilled       int64 // bytes written to disk
	Scan          *scan.ScanStats
	Write         *WriteStats
}

type nodeMeter struct {
	rows, batches, time, first atomic.Int64
	parts                      int
	account                    *Account
	spilled                    atomic.Int64
	scan                       *scan.ScanStats
	write                      *WriteStats
}

// NewAnalysis makes an empty one, for one statement.
func NewAnalysis() *Analysis { return &Analysis{nodes: map[plan.Node]*nodeMeter{}} }

// Node tells what n did; ok false: it never ran.
func (a *Analysis) Node(n plan.Node) (s NodeStats, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.nodes[n]
	if m == nil {
		return s, false
	}
	s = NodeStats{Rows: m.rows.Load(), Batches: m.batches.Load(), Time: time.Duration(m.time.Load()),
		First: time.Duration(m.first.Load()), Partitions: m.parts, Spilled: m.spilled.Load(), Scan: m.scan, Write: m.write}
	s.Memory = m.account.Peak()
	return s, true
}

func (a *Analysis) meter(n plan.Node, env *Env) *nodeMeter {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.nodes[n]
	if m == nil {
		m = &nodeMeter{account: NewAccount(env.Account, 0)}
		a.nodes[n] = m
	}
	return m
}

// nodeEnv is env with an account and a spill counter of n's own.
func (a *Analysis) nodeEnv(n plan.Node, env *Env) *Env {
	if a == nil {
		return env
	}
	m := a.meter(n, env)
	own := *env
	own.Account, own.spilled = m.account, &m.spilled
	return &own
}

// wrap meters n's partitions.
func (a *Analysis) wrap(n plan.Node, parts []vec.Source) []vec.Source {
	if a == nil {
		return parts
	}
	a.mu.Lock()
	m := a.nodes[n]
	m.parts = max(m.parts, len(parts))
	a.mu.Unlock()
	out := make([]vec.Source, len(parts))
	for i, p := range parts {
		out[i] = &metered{Source: p, m: m}
	}
	return out
}

// scanned adds what a scan did.
func (a *Analysis) scanned(n plan.Node, s scan.ScanStats) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.nodes[n]; m != nil {
		m.scan = &s
	}
}

type metered struct {
	vec.Source
	m *nodeMeter
}

func (s *metered) Next(ctx context.Context) (*vec.Batch, error) {
	begin := time.Now()
	b, err := s.Source.Next(ctx)
	took := time.Since(begin)
	s.m.time.Add(int64(took))
	if b != nil {
		s.m.first.CompareAndSwap(0, int64(took))
		s.m.batches.Add(1)
		s.m.rows.Add(int64(b.Len()))
	}
	return b, err
}
