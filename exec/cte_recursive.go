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
	defer func() { work.close() }()
	for err == nil && work.rows > 0 {
		env := *s.env
		env.Analyze = nil // a meter per round would say nothing
		env.work = map[*plan.CTE]*rowBuffer{s.cte: work}
		for c, w := range s.env.work {
			env.work[c] = w
		}
		// Each round is a run of its own: what a join told a scan last time does not hold.
		var next *rowBuffer
		next, err = r.run(ctx, rebind(s.cte.Step, nil), &env)
		work.close()
		work = next
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

// run computes one round and gives its new rows, which the caller closes.
func (r *rounds) run(ctx context.Context, n plan.Node, env *Env) (work *rowBuffer, err error) {
	src, err := Build(n, env)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	work = newRowBuffer(r.store.env, r.types)
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return work, err
		}
		if b == nil {
			return work, work.flush(false)
		}
		if err := canceled(ctx); err != nil {
			return work, err
		}
		if b, err = r.fresh(b); err != nil {
			return work, err
		}
		if b.Len() == 0 {
			continue
		}
		if err := work.append(b); err != nil {
			return work, err
		}
		if err := r.store.rows.append(b); err != nil {
			return work, err
		}
		if r.seen == nil {
			continue
		}
		if err := r.mem.must(r.seen.bytesHeld()); err != nil {
			return work, err
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
	rows *rowBuffer
	at   int
}

func (w *workTable) Next(context.Context) (*vec.Batch, error) {
	if w.at == len(w.rows.chunks) {
		return nil, nil
	}
	w.at++
	return w.rows.chunk(w.at - 1)
}

func (w *workTable) Close() error { return nil }
