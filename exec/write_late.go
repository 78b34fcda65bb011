package exec

import (
	"context"
	"sync"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// lateRows holds the rows of partitions that came when a writer had as many files open as it
// may. They are sorted by partition, on disk when memory is short, and written at the end:
// without it rows in no order over 10,000 partitions would close a file for every few of them.
//
//	rows → writer, while its partition has a file or one may be opened
//	     → sorter by partition → one file after the other
type lateRows struct {
	env     *Env
	types   []types.Type
	mu      sync.Mutex
	file    *spillFile
	sorters []*sorter
}

var partitionKey = types.T(types.Bytea)

// catch has the rows that out does not take; each writer's go into a sorter of its own.
func (l *lateRows) catch(out *dml.RowWriter) {
	var s *sorter
	out.Late(func(cols []*vec.Vector, keys *vec.Vector, sel []uint16, rows int) error {
		if s == nil {
			l.mu.Lock()
			if l.file == nil {
				l.file = newSpillFile(l.env)
			}
			s = newSorter(l.env, l.types, make([]bool, len(l.types)), []keyColumn{equalKey(partitionKey)}, l.file, 0)
			l.sorters = append(l.sorters, s)
			l.mu.Unlock()
		}
		return s.add(cols, []*vec.Vector{keys}, sel, rows)
	})
}

// write writes them. Only after all writers are done.
func (l *lateRows) write(ctx context.Context, sink *dml.Sink) error {
	if len(l.sorters) == 0 {
		return nil
	}
	rows, err := mergeSorters(l.sorters, l.env.batchRows())
	if err != nil {
		return err
	}
	out, err := sink.Writer(ctx)
	if err != nil {
		return err
	}
	defer out.Abort()
	out.Clustered()
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := rows.next()
		if err != nil {
			return err
		}
		if b == nil {
			return out.Close()
		}
		if err := out.Write(b); err != nil {
			return err
		}
	}
}

func (l *lateRows) close() error {
	for _, s := range l.sorters {
		s.free()
	}
	l.sorters = nil
	if l.file == nil {
		return nil
	}
	return l.file.close()
}
