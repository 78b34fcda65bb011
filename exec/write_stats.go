package exec

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// WriteStats is what a write did, for EXPLAIN ANALYZE.
type WriteStats struct {
	DataFiles, DeleteFiles int
	Bytes                  int64 // of both
	// Gathered are the rows that waited for all others before they were written, by partition.
	Gathered   int64
	Partitions int // of them
}

// wrote adds what n wrote.
func (a *Analysis) wrote(n plan.Node, files []*lake.DataFile, late *clustered) {
	if a == nil {
		return
	}
	s := &WriteStats{}
	for _, f := range files {
		s.Bytes += f.FileSize
		if f.Content == lake.Data {
			s.DataFiles++
		} else {
			s.DeleteFiles++
		}
	}
	if late != nil {
		s.Gathered, s.Partitions = late.rows.Load(), late.partitions
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.nodes[n]; m != nil {
		m.write = s
	}
}
