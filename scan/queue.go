package scan

import (
	"context"
	"sync"

	"github.com/lhsql/lhsql/scan/parquet"
)

// morsel is a piece of work: row ranges of one row group.
type morsel struct {
	file  *openFile
	group int
	plan  *groupPlan
	rows  []parquet.RowRange // ascending, disjoint
}

// queue hands out morsels. Files are opened by whoever finds no morsel ready, so that many
// small files open side by side; while one is being opened, others that have nothing to do wait.
type queue struct {
	mu      sync.Mutex
	tasks   int
	next    int // task to open next
	opening int // files being opened
	ready   []morsel
	err     error
	changed chan struct{} // closed and replaced whenever ready, opening or err change
}

func (q *queue) init(tasks int) {
	q.tasks, q.changed = tasks, make(chan struct{})
}

func (q *queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// take gives the next morsel, or the next file to open (task ≥ 0), or neither at the end.
func (q *queue) take(ctx context.Context) (m morsel, task int, err error) {
	for {
		q.mu.Lock()
		switch {
		case q.err != nil:
			err = q.err
		case len(q.ready) > 0:
			m, task = q.ready[0], -1
			q.ready = q.ready[1:]
		case q.next < q.tasks:
			task = q.next
			q.next++
			q.opening++
		case q.opening == 0:
			task = -1
		default:
			wait := q.changed
			q.mu.Unlock()
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return morsel{}, -1, ctx.Err()
			}
		}
		q.mu.Unlock()
		return m, task, err
	}
}

// opened ends the opening of a file: its morsels become ready, or its error everybody's.
func (q *queue) opened(ms []morsel, err error) {
	q.mu.Lock()
	q.opening--
	if err != nil && q.err == nil {
		q.err = err
	}
	q.ready = append(q.ready, ms...)
	q.wake()
	q.mu.Unlock()
}

// fail makes an error everybody's.
func (q *queue) fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.wake()
	q.mu.Unlock()
}

// drain closes the files of morsels that nobody will take.
func (q *queue) drain() {
	q.mu.Lock()
	ready := q.ready
	q.ready, q.next = nil, q.tasks
	q.mu.Unlock()
	for _, m := range ready {
		m.file.done()
	}
}
