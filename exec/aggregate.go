package exec

import (
	"context"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// aggregator groups the rows of its partitions and hands out one row per group: the keys, then
// one column per call, then, for grouping sets, the mask. Every partition fills tables of its
// own; they are merged when all have ended.
type aggregator struct {
	spec  *aggSpec
	parts []aggInput
	mask  bool
	emit  func(b *vec.Batch) *vec.Batch // nil: as it is

	file  *spillFile
	began bool
	// tables to hand out, the last first; a table above another holds one of its partitions.
	stack []*aggTable
	next  []int // per table on the stack: the partition to work on next
	pos   int   // in the table on top
	out   vec.Batch
	res   []*vec.Vector
	done  bool
}

// aggInput is one partition and how to make the spec's columns of its batches. eval is for one
// goroutine, and its vectors are valid until its next call.
type aggInput struct {
	src  vec.Source
	eval func(b *vec.Batch) ([]*vec.Vector, error)
}

func newAggregator(spec *aggSpec, parts []aggInput, mask bool) *aggregator {
	a := &aggregator{spec: spec, parts: parts, mask: mask, file: newSpillFile(spec.env)}
	for _, c := range spec.calls {
		_ = c
		a.res = append(a.res, nil)
	}
	return a
}

func (a *aggregator) sources() []vec.Source {
	s := make([]vec.Source, len(a.parts))
	for i := range a.parts {
		s[i] = a.parts[i].src
	}
	return s
}

// run reads everything and merges.
func (a *aggregator) run(ctx context.Context) error {
	n := len(a.parts)
	tables := make([][]*aggTable, n)
	err := parallel(ctx, n, func(ctx context.Context, i int) error {
		var err error
		tables[i], err = a.fill(ctx, a.parts[i])
		return err
	})
	// Whatever happened, what the tables hold is given back by Close.
	for i := n - 1; i >= 0; i-- {
		for _, t := range tables[i] {
			if t != nil {
				a.stack = append(a.stack, t)
			}
		}
	}
	if err != nil {
		return err
	}
	// Table k of every partition goes into table k of the first.
	sets := len(a.spec.sets)
	for i := 1; i < n; i++ {
		for k := range sets {
			if err := canceled(ctx); err != nil {
				return err
			}
			if err := tables[0][k].merge(tables[i][k]); err != nil {
				return err
			}
			tables[i][k].free()
		}
	}
	a.stack = a.stack[:0]
	for k := sets - 1; k >= 0; k-- {
		a.stack = append(a.stack, tables[0][k])
	}
	a.next = make([]int, len(a.stack))
	for _, t := range a.stack {
		for _, p := range t.spilled {
			if err := p.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill reads one partition into tables, one per grouping set.
func (a *aggregator) fill(ctx context.Context, in aggInput) ([]*aggTable, error) {
	c := a.spec.env.evalCtx()
	tables := make([]*aggTable, len(a.spec.sets))
	for k, set := range a.spec.sets {
		var err error
		if tables[k], err = newAggTable(a.spec, set, c, 0, a.file); err != nil {
			return tables, err
		}
	}
	for {
		b, err := in.src.Next(ctx)
		if b == nil || err != nil {
			return tables, err
		}
		if err := canceled(ctx); err != nil {
			return tables, err
		}
		if b.Len() == 0 {
			continue
		}
		cols, err := in.eval(b)
		if err != nil {
			return tables, err
		}
		sel := selection(b)
		for k, t := range tables {
			if k&15 == 15 { // thousands of grouping sets take seconds for one batch
				if err := canceled(ctx); err != nil {
					return tables, err
				}
			}
			if err := t.add(cols, sel, b.Rows); err != nil {
				return tables, err
			}
		}
	}
}

func (a *aggregator) Next(ctx context.Context) (*vec.Batch, error) {
	if a.done {
		return nil, nil
	}
	if !a.began {
		a.began = true
		if err := a.run(ctx); err != nil {
			return nil, err
		}
	}
	for len(a.stack) > 0 {
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		top := len(a.stack) - 1
		t := a.stack[top]
		if t.spilled != nil && a.next[top] < fanout {
			if err := a.descend(ctx, t); err != nil {
				return nil, err
			}
			continue
		}
		if a.pos == 0 {
			if err := t.finish(); err != nil {
				return nil, err
			}
		}
		if a.pos < t.groups.n {
			return a.rows(t)
		}
		t.free()
		a.stack, a.next, a.pos = a.stack[:top], a.next[:top], 0
	}
	a.done = true
	return nil, nil
}

// descend works through t's next spilled partition: rows of groups that t has go there, the rest
// make a table on top of it.
func (a *aggregator) descend(ctx context.Context, t *aggTable) error {
	top := len(a.stack) - 1
	k := a.next[top]
	a.next[top]++
	child, err := newAggTable(a.spec, t.set, t.c, t.level+1, a.file)
	if err != nil {
		return err
	}
	for _, p := range t.spilled {
		err := p.each(k, func(b *vec.Batch) error {
			if err := canceled(ctx); err != nil {
				return err
			}
			rest, err := t.absorb(b)
			if err != nil {
				return err
			}
			return child.add(b.Cols, rest, b.Rows)
		})
		if err != nil {
			child.free()
			return err
		}
	}
	if child.groups.n == 0 {
		child.free()
		return nil
	}
	for _, p := range child.spilled {
		if err := p.finish(); err != nil {
			child.free()
			return err
		}
	}
	a.stack, a.next = append(a.stack, child), append(a.next, 0)
	return nil
}

// rows hands out groups from pos on.
func (a *aggregator) rows(t *aggTable) (*vec.Batch, error) {
	// Whole words of the validity bitmaps: the step is a multiple of 64 but for tiny batches.
	from := a.pos
	to := min(from+t.outRows(a.spec.env.batchRows()), t.groups.n)
	a.pos = to
	cols := a.out.Cols[:0]
	at := make([]*vec.Vector, a.spec.keys)
	for i, k := range t.set {
		at[k] = denseRows(t.groups.keys[i].Vector(), from, to)
	}
	for k, v := range at {
		if v == nil {
			v = vec.ConstOf(a.spec.types[k], types.Null)
		}
		cols = append(cols, v)
	}
	for i := range t.states {
		out := a.res[i]
		if out == nil {
			out = &vec.Vector{}
			a.res[i] = out
		}
		out.Type = a.spec.calls[i].ret
		out.Form, out.Enc, out.Valid = out.Type.Form(), vec.Flat, nil
		if err := t.states[i].Result(from, to, out); err != nil {
			return nil, err
		}
		cols = append(cols, out)
	}
	if a.mask {
		bits := int64(1)<<a.spec.keys - 1
		for _, k := range t.set {
			bits &^= 1 << k
		}
		cols = append(cols, vec.ConstOf(gidType, types.NewInt(bits)))
	}
	a.out = vec.Batch{Cols: cols, Rows: to - from}
	if a.emit != nil {
		return a.emit(&a.out), nil
	}
	return &a.out, nil
}

func (a *aggregator) Close() error {
	a.done = true
	err := closeAll(a.sources())
	for _, t := range a.stack {
		t.free()
	}
	a.stack = nil
	if e := a.file.close(); err == nil {
		err = e
	}
	return err
}
