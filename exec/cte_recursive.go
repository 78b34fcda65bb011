package exec

import (
	"context"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// recursion makes the rows of a recursive CTE as they are asked for: the base's, then the step's
// over the rows of the last round, until a round has none. With UNION, rows seen before do not
// count. Who takes ten rows of an endless recursion gets them.
type recursion struct {
	env   *Env
	cte   *plan.CTE
	types []types.Type
	seen  *groupTable
	mem   *memory
	ids   []uint32

	src        vec.Source // the round under way; nil between rounds
	work, next *rowBuffer // the rows of the round before, and of this one
}

func newRecursion(env *Env, cte *plan.CTE) *recursion {
	r := &recursion{env: env, cte: cte, types: columnTypes(cte.Cols), mem: newMemory(env)}
	if cte.Distinct {
		r.seen = newGroupTable(r.types)
	}
	return r
}

func (r *recursion) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		if r.src == nil {
			more, err := r.begin()
			if !more || err != nil {
				return nil, err
			}
		}
		b, err := r.src.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			err := r.src.Close()
			r.src = nil
			if err != nil {
				return nil, err
			}
			continue
		}
		if b, err = r.fresh(b); err != nil {
			return nil, err
		}
		if b.Len() == 0 {
			continue
		}
		if err := r.next.append(b); err != nil {
			return nil, err
		}
		if r.seen != nil {
			if err := r.mem.must(r.seen.bytesHeld()); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
}

// begin starts the next round, if there is one.
func (r *recursion) begin() (bool, error) {
	round, env := r.cte.Plan, r.env
	if r.next != nil {
		if r.next.rows == 0 {
			return false, nil
		}
		if err := r.next.flush(false); err != nil {
			return false, err
		}
		if err := r.work.close(); err != nil {
			return false, err
		}
		r.work, r.next = r.next, nil
		inner := *r.env
		inner.Analyze = nil // a meter per round would say nothing
		inner.work = map[*plan.CTE]*rowBuffer{r.cte: r.work}
		for c, w := range r.env.work {
			inner.work[c] = w
		}
		// Each round is a run of its own: what a join told a scan last time does not hold.
		round, env = rebind(r.cte.Step, nil), &inner
	}
	r.next = newRowBuffer(r.env, r.types)
	var err error
	r.src, err = Build(round, env)
	return err == nil, err
}

func (r *recursion) Close() error {
	var err error
	if r.src != nil {
		err = r.src.Close()
		r.src = nil
	}
	for _, b := range []*rowBuffer{r.work, r.next} {
		if e := b.close(); err == nil {
			err = e
		}
	}
	r.mem.free()
	return err
}

// fresh drops the rows that were seen before.
func (r *recursion) fresh(b *vec.Batch) (*vec.Batch, error) {
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

// streams tells whether the rows of a recursive CTE go straight to their only reader: n refers to
// it once, and not from where it would be read again, an Apply's right side or another step.
func streams(n *plan.With, c *plan.CTE) bool {
	refs, again := 0, false
	var walk func(n plan.Node, repeated bool)
	walk = func(n plan.Node, repeated bool) {
		switch m := n.(type) {
		case *plan.CTERef:
			if m.CTE == c && !m.Work {
				refs++
				again = again || repeated
			}
		case *plan.Apply:
			walk(m.Left, repeated)
			walk(m.Right, true)
			return
		case *plan.With:
			for _, d := range m.CTEs {
				walk(d.Plan, true)
				if d.Step != nil {
					walk(d.Step, true)
				}
			}
			walk(m.Body, repeated)
			return
		}
		for _, in := range n.Inputs() {
			walk(in, repeated)
		}
	}
	walk(n, false)
	return c.Step != nil && refs == 1 && !again
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
