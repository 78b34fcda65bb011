package exec

import (
	"context"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// iterate computes a recursive CTE: the base, then the step over the rows of the last round
// until a round adds none. With UNION, rows seen before do not count.
func (s *cteStore) iterate(ctx context.Context) error {
	t := columnTypes(s.cte.Cols)
	r := &rounds{store: s, types: t, mem: newMemory(s.env)}
	defer r.mem.free()
	if s.cte.Distinct {
		r.seen = newGroupTable(t)
	}
	work, err := r.run(ctx, s.cte.Plan, s.env)
	for err == nil && work.n > 0 {
		env := *s.env
		env.Analyze = nil // a meter per round would say nothing
		env.work = map[*plan.CTE]*rowStore{s.cte: work}
		for c, w := range s.env.work {
			env.work[c] = w
		}
		// Each round is a run of its own: what a join told a scan last time does not hold.
		work, err = r.run(ctx, rebind(s.cte.Step, nil), &env)
	}
	if err != nil {
		return err
	}
	return s.rows.flush(false)
}

type rounds struct {
	store *cteStore
	types []types.Type
	seen  *groupTable
	mem   *memory
	ids   []uint32
}

// run computes one round and gives its new rows.
func (r *rounds) run(ctx context.Context, n plan.Node, env *Env) (*rowStore, error) {
	src, err := Build(n, env)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	work := newRowStore(r.types, nil)
	for {
		b, err := src.Next(ctx)
		if b == nil || err != nil {
			return work, err
		}
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		if b, err = r.fresh(b); err != nil {
			return nil, err
		}
		if b.Len() == 0 {
			continue
		}
		work.appendBatch(b)
		if err := r.store.rows.append(b); err != nil {
			return nil, err
		}
		held := work.bytes()
		if r.seen != nil {
			held += r.seen.bytesHeld()
		}
		if err := r.mem.must(held); err != nil {
			return nil, err
		}
	}
}

// fresh drops the rows that were seen before.
func (r *rounds) fresh(b *vec.Batch) (*vec.Batch, error) {
	if r.seen == nil || b.Len() == 0 {
		return b, nil
	}
	sel := selection(b)
	r.ids = grown(r.ids, len(sel))
	next := uint32(r.seen.n)
	if err := r.seen.find(b.Cols, sel, b.Rows, r.ids, true); err != nil {
		return nil, err
	}
	keep := make([]uint16, 0, len(sel))
	for i, id := range r.ids[:len(sel)] {
		if id == next {
			next++
			keep = append(keep, sel[i])
		}
	}
	return &vec.Batch{Cols: b.Cols, Sel: keep, Rows: b.Rows}, nil
}

// workTable reads the previous round's rows.
type workTable struct {
	rows *rowStore
	at   int
}

func (w *workTable) Next(context.Context) (*vec.Batch, error) {
	if w.at == len(w.rows.chunks) {
		return nil, nil
	}
	w.at++
	return w.rows.batch(w.at - 1), nil
}

func (w *workTable) Close() error { return nil }
