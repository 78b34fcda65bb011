package parquet

import (
	"context"
	"sort"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
)

// Ranges nearer than coalesceGap are read as one, as long as what lies between them is no more than
// one part in maxWaste of what is wanted: on object stores a request costs more than a few bytes.
const (
	coalesceGap = 512 << 10
	maxWaste    = 10
)

// Merged ranges are cut here, so that several can be on their way at once.
const maxFetch = 8 << 20

// parallelFetches is how many reads one Fetch has on their way.
const parallelFetches = 8

// Fetch reads what the opened columns will need first, in as few reads as make sense. rows
// tells the row ranges that will be read, for columns with an offset index; nil: all. What it
// does not bring the columns read by themselves later.
func (r *Reader) Fetch(ctx context.Context, f ReaderAt, cols []Column, rows []RowRange) error {
	var wants []want
	for _, c := range cols {
		for _, l := range c.leaves() {
			wants = append(wants, l.firstWant(rows))
		}
	}
	if len(wants) < 2 { // a column's own window does as well
		return nil
	}
	sort.Slice(wants, func(i, j int) bool { return wants[i].off < wants[j].off })
	groups := mergeWants(wants)
	if len(groups) == len(wants) && len(wants) <= 2 {
		return nil
	}
	for i := range groups {
		n := groups[i].end - groups[i].off
		buf, err := grow(r.budget, r.takeBuffer(int(n)), int(n), 0)
		if err != nil {
			return err
		}
		groups[i].buf = buf
	}
	if err := readAll(ctx, f, groups); err != nil {
		return err
	}
	for _, g := range groups {
		r.Stats.BytesRead.Add(g.end - g.off)
		for _, w := range g.wants {
			// The slice's capacity keeps the slack that unpacking kernels want behind it.
			w.l.win.preload(g.buf[w.off-g.off:w.end-g.off], w.off)
		}
		r.lent = append(r.lent, g.buf)
	}
	return nil
}

// RowRange is rows [From, To) of a row group.
type RowRange struct{ From, To int64 }

type want struct {
	l        *leaf
	off, end int64
}

type fetchGroup struct {
	off, end int64
	gaps     int64 // bytes that nobody wants
	buf      []byte
	wants    []want
}

// firstWant is the first window of a leaf: where its pages begin, or the pages of rows.
func (l *leaf) firstWant(rows []RowRange) want {
	off, end := l.chunk.Start(), l.chunk.End()
	if l.index != nil && len(rows) > 0 {
		first := l.index.Find(rows[0].From)
		last := l.index.Find(max(rows[len(rows)-1].To-1, 0))
		if first > 0 && l.chunk.DictOffset <= 0 {
			off = l.index.Pages[first].Off
		}
		p := l.index.Pages[max(last, 0)]
		end = p.Off + p.Size
	}
	return want{l, off, min(end, off+int64(l.r.window))}
}

func mergeWants(wants []want) []fetchGroup {
	var groups []fetchGroup
	for _, w := range wants {
		if n := len(groups); n > 0 {
			g := &groups[n-1]
			gap, size := max(0, w.off-g.end), max(g.end, w.end)-g.off
			if gap <= coalesceGap && (g.gaps+gap)*maxWaste <= size-g.gaps-gap && size <= maxFetch {
				g.end, g.gaps = max(g.end, w.end), g.gaps+gap
				g.wants = append(g.wants, w)
				continue
			}
		}
		groups = append(groups, fetchGroup{off: w.off, end: w.end, wants: []want{w}})
	}
	return groups
}

// readAll reads the groups side by side and waits for all of them.
func readAll(ctx context.Context, f ReaderAt, groups []fetchGroup) error {
	if len(groups) == 1 {
		return f.ReadAt(ctx, groups[0].buf, groups[0].off)
	}
	errs := make([]error, len(groups))
	slots := make(chan struct{}, parallelFetches)
	var wg sync.WaitGroup
	for i := range groups {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			errs[i] = guard.Run(func() error { return f.ReadAt(ctx, groups[i].buf, groups[i].off) })
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// takeBuffer finds a buffer for n bytes among those that were given back.
func (r *Reader) takeBuffer(n int) []byte {
	for i := len(r.free) - 1; i >= 0; i-- {
		if b := r.free[i]; cap(b) >= n {
			r.free = append(r.free[:i], r.free[i+1:]...)
			return b
		}
	}
	if k := len(r.free); k > 0 { // grow one: it is charged already
		b := r.free[k-1]
		r.free = r.free[:k-1]
		return b
	}
	return nil
}

// Reclaim takes back the buffers of earlier Fetches. No column may be between Open and its
// last use with what they brought.
func (r *Reader) Reclaim() {
	r.free = append(r.free, r.lent...)
	r.lent = r.lent[:0]
}
