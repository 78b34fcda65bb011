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
	runs   []*runCursor // a heap, the least first
	apps   []*vec.Appender
	long   varying
	reader spillReader
	mem    *memory
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
	m.rows = wideRows(m.rows, m.store.bytes(), m.store.n)
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
	m.mem.free()
	m.store, m.ids, m.runs = nil, nil, nil
}

// runCursor walks one sorted run on disk.
type runCursor struct {
	order  int // of runs among equals: earlier rows first
	reader *spillReader
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

// A run that is being merged takes about mergeBytes: its block as it is read, and its vectors.
const mergeBytes = 2 * flushBytes

// minMerge is how many runs are merged at once however little memory there is.
const minMerge = 8

// openRuns starts the merge of what lies on disk. Where there are more runs than memory has room
// for their blocks, the first of them are merged to longer ones before.
func (m *sorted) openRuns() error {
	var runs [][]block
	for _, s := range m.sorters {
		if err := s.spill(); err != nil {
			return err
		}
		runs = append(runs, s.runs...)
		s.runs = nil
	}
	first := m.sorters[0]
	m.reader.file = first.file
	t := append(append([]types.Type(nil), first.types...), types.T(types.Bytea))
	for i := range t {
		m.apps = append(m.apps, vec.NewAppender(t[i]))
	}
	m.long = varyingOf(t)
	m.mem = newMemory(first.env)
	for len(runs) > minMerge && !m.mem.grow(int64(len(runs))*mergeBytes) {
		k := minMerge
		for k < len(runs) && m.mem.grow(int64(k+minMerge)*mergeBytes) {
			k += minMerge
		}
		// Neighbours, and the results in their places: equal rows keep their order.
		var longer [][]block
		for ; len(runs) > 0; runs = runs[min(k, len(runs)):] {
			if err := m.heap(runs[:min(k, len(runs))], t); err != nil {
				return err
			}
			run, err := m.mergeRuns(t)
			if err != nil {
				return err
			}
			longer = append(longer, run)
		}
		runs = longer
		m.mem.shrink(0)
	}
	err := m.heap(runs, t)
	m.apps, m.long = m.apps[:len(first.types)], varyingOf(first.types)
	return err
}

// heap opens cursors on runs, which are in the order of their rows' arrival.
func (m *sorted) heap(runs [][]block, t []types.Type) error {
	m.runs = m.runs[:0]
	for _, r := range runs {
		c := &runCursor{order: len(m.runs), reader: &m.reader, types: t, blocks: r, at: -1}
		ok, err := c.advance()
		if err != nil {
			return err
		}
		if ok {
			m.runs = append(m.runs, c)
		}
	}
	for i := len(m.runs)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return nil
}

// mergeRuns writes the rows of the open runs, with their keys, as one.
func (m *sorted) mergeRuns(t []types.Type) (run []block, err error) {
	w := &m.sorters[0].w
	cols := make([]*vec.Vector, len(t))
	for {
		n, err := m.take(flushRows, flushBytes)
		if n == 0 || err != nil {
			return run, err
		}
		for i, a := range m.apps {
			cols[i] = a.Vector()
		}
		b, err := w.write(cols, nil, n)
		if err != nil {
			return nil, err
		}
		run = append(run, b)
	}
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

// take moves up to n rows, or as many as fill bytes, from the open runs to apps.
func (m *sorted) take(n int, bytes int64) (k int, err error) {
	for _, a := range m.apps {
		a.Reset()
	}
	for ; k < n && len(m.runs) > 0; k++ {
		if k&15 == 15 && m.long.bytes(m.apps) >= bytes {
			break
		}
		c := m.runs[0]
		for i, a := range m.apps {
			a.Append(c.b.Cols[i], c.at)
		}
		more, err := c.advance()
		if err != nil {
			return 0, err
		}
		if !more {
			last := len(m.runs) - 1
			m.runs[0] = m.runs[last]
			m.runs = m.runs[:last]
		}
		m.sink(0)
	}
	return k, nil
}

func (m *sorted) nextMerged(n int) (*vec.Batch, error) {
	k, err := m.take(n, wideBatch)
	if k == 0 || err != nil {
		return nil, err
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
