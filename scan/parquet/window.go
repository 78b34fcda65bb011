package parquet

import (
	"context"
	"sync/atomic"
)

// windowBytes is how much of a chunk is read at once; smaller chunks are read whole. Where
// memory is short it is less, down to minWindow.
const (
	windowBytes = 4 << 20
	minWindow   = 128 << 10
)

// window reads one chunk's bytes forward through a buffer.
type window struct {
	r     *Reader
	f     ReaderAt
	buf   []byte // file bytes from start on
	start int64
	end   int64 // of the chunk
	own   []byte
}

// IOStats counts what readers did. Readers of several goroutines may share one.
type IOStats struct {
	BytesRead    atomic.Int64
	Decompressed atomic.Int64
	PagesRead    atomic.Int64
	PagesSkipped atomic.Int64
	PagesCached  atomic.Int64 // found decompressed, dictionaries included
}

func (w *window) reset(f ReaderAt, end int64) {
	w.f, w.end, w.buf, w.start = f, end, nil, 0
}

// preload hands bytes read elsewhere (merged with other columns' reads) to the window.
func (w *window) preload(buf []byte, start int64) { w.buf, w.start = buf, start }

// bytes gives n bytes at off. They stay valid until the next call. n ≤ end - off is checked.
func (w *window) bytes(ctx context.Context, off int64, n int) ([]byte, error) {
	if n < 0 || int64(n) > w.end-off {
		return nil, corrupt("a page of %d bytes at %d reaches past its column chunk's end at %d", n, off, w.end)
	}
	if at := off - w.start; at >= 0 && at+int64(n) <= int64(len(w.buf)) {
		return w.buf[at : at+int64(n)], nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	want := int(min(w.end-off, max(int64(w.r.window), int64(n))))
	if w.own == nil {
		w.own = w.r.takeBuffer(want)
	}
	var err error
	// The page's beginning may be here already: it moves to the front, and is not read again.
	var here []byte
	if at := off - w.start; at >= 0 && at < int64(len(w.buf)) {
		here = w.buf[at:]
	}
	if w.own, err = grow(w.r.budget, w.own, want, 0); err != nil {
		return nil, err
	}
	k := copy(w.own, here)
	if err := w.f.ReadAt(ctx, w.own[k:], off+int64(k)); err != nil {
		w.buf = nil
		return nil, err
	}
	w.r.Stats.BytesRead.Add(int64(want - k))
	w.buf, w.start = w.own, off
	return w.buf[:n], nil
}
