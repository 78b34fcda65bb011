package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/vec"
)

// setsAtOnce is how many grouping sets are worked on side by side. Each takes some memory however
// few groups it has, more when it spills: of the thousands that CUBE makes, not all can be open.
const setsAtOnce = 16

// setWaves computes many grouping sets, a few at a time, each time over the same evaluated rows,
// which lie in memory or on disk.
type setWaves struct {
	spec  *aggSpec
	src   vec.Source
	c     *eval.Ctx
	progs []*eval.Program
	mask  bool

	rows *rowBuffer
	done int // sets that are computed or under way
	now  *aggregator
}

func newSetWaves(spec *aggSpec, src vec.Source, progs []*eval.Program, mask bool) *setWaves {
	return &setWaves{spec: spec, src: src, c: spec.env.evalCtx(), progs: progs, mask: mask}
}

func (w *setWaves) fill(ctx context.Context) error {
	w.rows = newRowBuffer(w.spec.env, w.spec.types)
	cols := make([]*vec.Vector, len(w.progs))
	for {
		b, err := w.src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return w.rows.flush(false)
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		if err := evalAll(w.c, w.progs, b, cols); err != nil {
			return err
		}
		if err := w.rows.append(&vec.Batch{Cols: cols, Sel: b.Sel, Rows: b.Rows}); err != nil {
			return err
		}
	}
}

// wave makes the aggregator of the next sets.
func (w *setWaves) wave() *aggregator {
	spec := *w.spec
	n := min(setsAtOnce, len(w.spec.sets)-w.done)
	spec.sets = w.spec.sets[w.done : w.done+n]
	w.done += n
	parts := w.spec.env.workers()
	if spec.serial || len(w.rows.chunks) < parts {
		parts = 1
	}
	next := new(atomic.Int64)
	in := make([]aggInput, parts)
	for i := range in {
		in[i] = aggInput{src: &bufferPart{rows: w.rows, next: next}, eval: func(b *vec.Batch) ([]*vec.Vector, error) { return b.Cols, nil }}
	}
	return newAggregator(&spec, in, w.mask)
}

func (w *setWaves) Next(ctx context.Context) (*vec.Batch, error) {
	if w.rows == nil {
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if w.now == nil {
			if w.done == len(w.spec.sets) {
				return nil, nil
			}
			w.now = w.wave()
		}
		b, err := w.now.Next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		if err := w.now.Close(); err != nil {
			return nil, err
		}
		w.now = nil
	}
}

func (w *setWaves) Close() error {
	err := w.src.Close()
	if w.now != nil {
		if e := w.now.Close(); err == nil {
			err = e
		}
	}
	if e := w.rows.close(); err == nil {
		err = e
	}
	return err
}

// bufferPart is one of the partitions that share a buffer's rows: chunks go to whoever is free.
type bufferPart struct {
	rows *rowBuffer
	next *atomic.Int64
}

func (p *bufferPart) Next(ctx context.Context) (*vec.Batch, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	k := int(p.next.Add(1)) - 1
	if k >= len(p.rows.chunks) {
		return nil, nil
	}
	return p.rows.chunk(k)
}

func (p *bufferPart) Close() error { return nil } // who made the buffer closes it
