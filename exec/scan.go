package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/vec"
)

// scanShared is what the partitions of a table scan share. It opens at the first Next, so that
// joins above have set their run-time filters.
type scanShared struct {
	env     *Env
	node    *plan.Scan
	ready   once
	scanner *scan.Scanner
	using   atomic.Int32
}

// smallScan is how many rows one goroutine reads faster than several start.
const smallScan = 20_000

// buildScan makes the partitions of a scan.
func buildScan(env *Env, n *plan.Scan) []vec.Source {
	parts := env.workers()
	if n.Pruned && n.Report != nil && n.Report.Rows < smallScan {
		parts = 1
	}
	if n.Snapshot == nil && n.Files == nil || n.Pruned && len(n.Tasks) == 0 {
		return []vec.Source{empty{}}
	}
	s := &scanShared{env: env, node: n}
	s.using.Store(int32(parts))
	out := make([]vec.Source, parts)
	for i := range out {
		out[i] = &scanSource{shared: s}
	}
	return out
}

type scanSource struct {
	shared *scanShared
	src    vec.Source
	closed bool
}

func (s *scanSource) Next(ctx context.Context) (*vec.Batch, error) {
	if s.src == nil {
		sh := s.shared
		err := sh.ready.do(ctx, func() (err error) {
			sh.scanner, err = scan.Open(ctx, sh.node, sh.env.scanEnv())
			return err
		})
		if err != nil {
			return nil, err
		}
		s.src = sh.scanner.Source()
	}
	return s.src.Next(ctx)
}

func (s *scanSource) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.src != nil {
		err = s.src.Close()
	}
	if s.shared.using.Add(-1) == 0 && s.shared.scanner != nil {
		s.shared.env.Analyze.scanned(s.shared.node, s.shared.scanner.Stats())
	}
	return err
}

// empty is the relation without rows.
type empty struct{}

func (empty) Next(context.Context) (*vec.Batch, error) { return nil, nil }
func (empty) Close() error                             { return nil }
