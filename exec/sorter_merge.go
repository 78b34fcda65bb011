package exec

import (
	"bytes"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// sorted hands out the rows of sorters in order, dense, batch by batch.
type sorted struct {
	sorters []*sorter
	rows    int // of a batch
	left    int // rows still wanted; -1: all
	out     vec.Batch
	cols    []*column

	// In memory: one store and the ids in order.
	store *rowStore
	ids   []uint32

	// On disk.
	runs []*runCursor // a heap, the least first
	apps []*vec.Appender
}

// mergeSorters ends the adding and orders everything. The sorters' memory is freed by close.
func mergeSorters(sorters []*sorter, batchRows int) (*sorted, error) {
	m := &sorted{sorters: sorters, rows: batchRows, left: -1}
	first := sorters[0]
	if first.limit > 0 {
		m.left = first.limit
	}
	m.out.Cols = make([]*vec.Vector, len(first.types))
	m.cols = newColumns(first.types)
	onDisk := false
	for _, s := range sorters {
		onDisk = onDisk || len(s.runs) > 0
	}
	if onDisk {
		return m, m.openRuns()
	}
	err := parallelSort(sorters)
	m.store = first.store
	m.ids = mergeEntries(sorters, m.left)
	m.store.index()
	return m, err
}

// mergeEntries puts the sorters' rows into the first one's store and gives their ids in order.
func mergeEntries(sorters []*sorter, limit int) []uint32 {
	n := 0
	heads := make([]int, len(sorters))
	bases := make([]uint32, len(sorters))
	for i, s := range sorters {
		n += len(s.entries)
		if i > 0 {
			bases[i] = sorters[0].store.adopt(s.store)
		}
	}
	if limit >= 0 {
		n = min(n, limit)
	}
	ids := make([]uint32, 0, n)
	for len(ids) < n {
		best := -1
		for i, s := range sorters {
			if heads[i] == len(s.entries) {
				continue
			}
			if best < 0 || compareEntries(s, s.entries[heads[i]], sorters[best], sorters[best].entries[heads[best]]) < 0 {
				best = i
			}
		}
		ids = append(ids, bases[best]+sorters[best].entries[heads[best]].id)
		heads[best]++
	}
	return ids
}

// next gives the next batch, nil at the end.
func (m *sorted) next() (*vec.Batch, error) {
	n := m.rows
	if m.left >= 0 {
		n = min(n, m.left)
	}
	if m.store != nil {
		n = min(n, len(m.ids))
	}
	if n == 0 {
		return nil, nil
	}
	if m.store == nil {
		return m.nextMerged(n)
	}
	ids := m.ids[:n]
	m.ids = m.ids[n:]
	for c := range m.cols {
		m.out.Cols[c] = m.cols[c].pick(m.store, c, ids, nil, n)
	}
	m.out.Rows = n
	if m.left >= 0 {
		m.left -= n
	}
	return &m.out, nil
}

func (m *sorted) close() {
	for _, s := range m.sorters {
		s.free()
	}
	m.store, m.ids, m.runs = nil, nil, nil
}

// runCursor walks one sorted run on disk.
type runCursor struct {
	order  int // of runs among equals: earlier rows first
	reader spillReader
	types  []types.Type
	blocks []block
	b      *vec.Batch
	at     int
}

func (c *runCursor) key() []byte { return c.b.Cols[len(c.types)-1].Bytes(c.at) }

// advance moves to the next row; false at the end.
func (c *runCursor) advance() (bool, error) {
	c.at++
	for c.b == nil || c.at >= c.b.Rows {
		if len(c.blocks) == 0 {
			return false, nil
		}
		var err error
		if c.b, err = c.reader.read(c.blocks[0], c.types); err != nil {
			return false, err
		}
		c.blocks = c.blocks[1:]
		c.at = 0
	}
	return true, nil
}

func (m *sorted) openRuns() error {
	t := append(append([]types.Type(nil), m.sorters[0].types...), types.T(types.Bytea))
	for _, s := range m.sorters {
		if err := s.spill(); err != nil {
			return err
		}
		for _, r := range s.runs {
			c := &runCursor{order: len(m.runs), reader: spillReader{file: s.file}, types: t, blocks: r, at: -1}
			ok, err := c.advance()
			if err != nil {
				return err
			}
			if ok {
				m.runs = append(m.runs, c)
			}
		}
	}
	for i := len(m.runs)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	for i := range m.cols {
		m.apps = append(m.apps, vec.NewAppender(t[i]))
	}
	return nil
}

func (m *sorted) less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	if c := bytes.Compare(a.key(), b.key()); c != 0 {
		return c < 0
	}
	return a.order < b.order
}

func (m *sorted) sink(i int) {
	for {
		least := i
		for j := 2*i + 1; j <= 2*i+2 && j < len(m.runs); j++ {
			if m.less(j, least) {
				least = j
			}
		}
		if least == i {
			return
		}
		m.runs[i], m.runs[least] = m.runs[least], m.runs[i]
		i = least
	}
}

func (m *sorted) nextMerged(n int) (*vec.Batch, error) {
	for _, a := range m.apps {
		a.Reset()
	}
	k := 0
	for ; k < n && len(m.runs) > 0; k++ {
		c := m.runs[0]
		for i, a := range m.apps {
			a.Append(c.b.Cols[i], c.at)
		}
		more, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !more {
			last := len(m.runs) - 1
			m.runs[0] = m.runs[last]
			m.runs = m.runs[:last]
		}
		m.sink(0)
	}
	if k == 0 {
		return nil, nil
	}
	for i, a := range m.apps {
		m.out.Cols[i] = a.Vector()
	}
	m.out.Rows = k
	if m.left >= 0 {
		m.left -= k
	}
	return &m.out, nil
}
