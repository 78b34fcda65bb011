package exec

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// clustered holds new rows by partition, on disk when memory is short, until all have come; then
// each partition is sorted alone, where the table wants that, and written as one file after the
// other. Rows come here when the table wants its files sorted or its rows distributed, and those
// of other tables for whose partition no file may be opened any more: rows in no order over 10,000
// partitions would close a file for every few of them.
//
//	stream → buckets by partition ─┐
//	stream → buckets by partition ─┴→ partition → sorter → file
//
// A partition at a time costs less than sorting everything by partition first: keys are shorter,
// and a partition's rows lie near each other.
type clustered struct {
	env   *Env
	types []types.Type
	cols  []plan.Column  // the rows' columns, for order
	order []plan.SortKey // of rows within a partition
	all   bool           // every row is to come here
	limit int64          // bytes that one stream holds

	rows       atomic.Int64
	partitions int

	mu   sync.Mutex
	file *spillFile
	bins []*buckets
}

// buckets are one stream's rows by partition.
type buckets struct {
	of   *clustered
	w    spillWriter
	mem  *memory
	by   map[string]*bucket
	held int64
}

type bucket struct {
	store  *rowStore // nil: no rows in memory
	blocks []block
}

// maxBuckets bounds what one stream holds in memory: more does not make blocks better.
const maxBuckets = 64 << 20

// catch has the rows that out does not take.
func (c *clustered) catch(out *dml.RowWriter) {
	if c.all {
		out.Aside()
	}
	var b *buckets
	out.Late(func(key string, cols []*vec.Vector, sel []uint16, rows int) error {
		if b == nil {
			c.mu.Lock()
			if c.file == nil {
				c.file = newSpillFile(c.env)
			}
			b = &buckets{of: c, w: spillWriter{file: c.file}, mem: newMemory(c.env), by: map[string]*bucket{}}
			c.bins = append(c.bins, b)
			c.mu.Unlock()
		}
		return b.add(key, cols, sel, rows)
	})
}

func (b *buckets) add(key string, cols []*vec.Vector, sel []uint16, rows int) error {
	k := b.by[key]
	if k == nil {
		k = &bucket{}
		b.by[key] = k
	}
	if k.store == nil {
		k.store = newRowStore(b.of.types, nil)
	}
	b.held -= k.store.bytes()
	k.store.append(cols, sel, rows)
	b.of.rows.Add(int64(len(sel)))
	b.held += k.store.bytes()
	if b.held <= b.of.limit && b.mem.grow(b.held) {
		return nil
	}
	return b.flush()
}

// flush writes what memory holds.
func (b *buckets) flush() error {
	for _, k := range b.by {
		if k.store == nil {
			continue
		}
		for i := range k.store.chunks {
			rows := k.store.batch(i)
			at, err := b.w.write(rows.Cols, nil, rows.Rows)
			if err != nil {
				return err
			}
			k.blocks = append(k.blocks, at)
		}
		k.store = nil
	}
	b.held = 0
	b.mem.free()
	return nil
}

// each calls f with a partition's batches and forgets them.
func (b *buckets) each(key string, f func(*vec.Batch) error) error {
	k := b.by[key]
	if k == nil {
		return nil
	}
	r := spillReader{file: b.of.file}
	for _, at := range k.blocks {
		rows, err := r.read(at, b.of.types)
		if err != nil {
			return err
		}
		if err := f(rows); err != nil {
			return err
		}
	}
	if k.store != nil {
		for i := range k.store.chunks {
			if err := f(k.store.batch(i)); err != nil {
				return err
			}
		}
		k.store = nil
	}
	return nil
}

// write writes the partitions, some at a time. Only after all streams are done.
func (c *clustered) write(ctx context.Context, sink *dml.Sink) error {
	seen := map[string]bool{}
	var keys []string
	for _, b := range c.bins {
		for k := range b.by {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	c.partitions = len(keys)
	slices.Sort(keys) // so that runs are alike
	var next atomic.Int64
	return parallel(ctx, min(c.env.workers(), len(keys)), func(ctx context.Context, _ int) error {
		out, err := sink.Writer(ctx)
		if err != nil {
			return err
		}
		defer out.Abort()
		out.Clustered()
		p, err := c.newPartitionWriter(out)
		if err != nil {
			return err
		}
		for {
			i := int(next.Add(1)) - 1
			if i >= len(keys) {
				return out.Close()
			}
			if err := p.write(ctx, keys[i]); err != nil {
				return err
			}
		}
	})
}

// partitionWriter is one goroutine that writes partitions.
type partitionWriter struct {
	c     *clustered
	out   *dml.RowWriter
	ctx   *eval.Ctx
	progs []*eval.Program
	keys  []*vec.Vector
}

func (c *clustered) newPartitionWriter(out *dml.RowWriter) (*partitionWriter, error) {
	p := &partitionWriter{c: c, out: out, ctx: c.env.evalCtx(), keys: make([]*vec.Vector, len(c.order))}
	for _, k := range c.order {
		prog, err := eval.Compile(k.Expr, c.cols)
		if err != nil {
			return nil, err
		}
		p.progs = append(p.progs, prog)
	}
	return p, nil
}

func (p *partitionWriter) write(ctx context.Context, key string) error {
	if len(p.progs) == 0 {
		return p.each(ctx, key, p.out.Write)
	}
	s := newSorter(p.c.env, p.c.types, make([]bool, len(p.c.types)), sortColumns(p.c.order), p.c.file, 0)
	defer s.free()
	err := p.each(ctx, key, func(b *vec.Batch) error {
		if err := evalAll(p.ctx, p.progs, b, p.keys); err != nil {
			return err
		}
		return s.add(b.Cols, p.keys, selection(b), b.Rows)
	})
	if err != nil {
		return err
	}
	rows, err := mergeSorters([]*sorter{s}, p.c.env.batchRows())
	if err != nil {
		return err
	}
	defer rows.close()
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := rows.next()
		if b == nil || err != nil {
			return err
		}
		if err := p.out.Write(b); err != nil {
			return err
		}
	}
}

func (p *partitionWriter) each(ctx context.Context, key string, f func(*vec.Batch) error) error {
	for _, b := range p.c.bins {
		err := b.each(key, func(rows *vec.Batch) error {
			if err := canceled(ctx); err != nil {
				return err
			}
			return f(rows)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *clustered) close() error {
	for _, b := range c.bins {
		b.by = nil
		b.mem.free()
	}
	c.bins = nil
	if c.file == nil {
		return nil
	}
	return c.file.close()
}
