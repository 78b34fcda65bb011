package exec

import (
	"context"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A rowBuffer keeps all rows of a relation in order, as chunks to be read again and again: in
// memory, and what does not fit on disk. Filled by one goroutine, then read by any number.
type rowBuffer struct {
	types  []types.Type
	mem    *memory
	file   *spillFile
	w      spillWriter
	store  *rowStore
	chunks []bufferChunk
	rows   int
}

type bufferChunk struct {
	b    *vec.Batch // nil: on disk
	at   block
	rows int
}

func newRowBuffer(env *Env, t []types.Type) *rowBuffer {
	f := newSpillFile(env)
	return &rowBuffer{types: t, mem: newMemory(env).share(1, 2), file: f, w: spillWriter{file: f}, store: newRowStore(t, nil)}
}

func (r *rowBuffer) append(b *vec.Batch) error {
	r.store.appendBatch(b)
	r.rows += b.Len()
	held := r.store.bytes()
	if r.mem.grow(held) || r.store.n < flushRows && held < flushBytes {
		return nil
	}
	return r.flush(true)
}

// flush closes the chunks under way, moving them to disk if they must.
func (r *rowBuffer) flush(disk bool) error {
	for i := range r.store.chunks {
		b := r.store.batch(i)
		c := bufferChunk{b: b, rows: b.Rows}
		if disk {
			var err error
			if c.at, err = r.w.write(b.Cols, nil, b.Rows); err != nil {
				return err
			}
			c.b = nil
		}
		r.chunks = append(r.chunks, c)
	}
	if disk {
		r.mem.shrink(0)
	}
	r.store = newRowStore(r.types, nil)
	return nil
}

// fill reads src to its end.
func (r *rowBuffer) fill(ctx context.Context, src vec.Source) error {
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return r.flush(false)
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		if b.Len() > 0 {
			if err := r.append(b); err != nil {
				return err
			}
		}
	}
}

// chunk gives chunk i.
func (r *rowBuffer) chunk(i int) (*vec.Batch, error) {
	c := r.chunks[i]
	if c.b != nil {
		return c.b, nil
	}
	rd := spillReader{file: r.file}
	return rd.read(c.at, r.types)
}

func (r *rowBuffer) close() error {
	if r == nil {
		return nil
	}
	r.mem.free()
	r.chunks, r.store = nil, newRowStore(r.types, nil)
	return r.file.close()
}
