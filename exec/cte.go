package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// cteStore holds the rows of a CTE, computed once by whoever reads it first.
type cteStore struct {
	env *Env
	cte *plan.CTE
	// stream: a recursive CTE with one reader is computed as it is read.
	stream bool
	ready  once
	rows   *rowBuffer
	// err is of a row behind those in rows: who needs no more than these does not meet it.
	err error
}

func (s *cteStore) prepare(ctx context.Context) error {
	return s.ready.do(ctx, func() error {
		s.rows = newRowBuffer(s.env, columnTypes(s.cte.Cols))
		if s.cte.Step != nil {
			src := newRecursion(s.env, s.cte)
			if err := s.rows.fill(ctx, src); err != nil {
				src.Close()
				return err
			}
			return src.Close()
		}
		src, err := Build(s.cte.Plan, s.env)
		if err != nil {
			return err
		}
		defer src.Close()
		if err = s.rows.fill(ctx, src); ofData(err) {
			s.err = err
			err = s.rows.flush(false)
		}
		return err
	})
}

// cteRef is one partition of a reference to a CTE: chunks are taken by whoever is free.
type cteRef struct {
	store *cteStore
	next  *atomic.Int64
	// taken is set by the one partition that reads a CTE with an error behind its rows: another would
	// come to the error while the rows before it are still being handed on.
	taken *atomic.Bool
	mine  bool
}

func cteParts(env *Env, s *cteStore) []vec.Source {
	next, taken := new(atomic.Int64), new(atomic.Bool)
	out := make([]vec.Source, env.workers())
	for i := range out {
		out[i] = &cteRef{store: s, next: next, taken: taken}
	}
	return out
}

func (r *cteRef) Next(ctx context.Context) (*vec.Batch, error) {
	if err := r.store.prepare(ctx); err != nil {
		return nil, err
	}
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if r.store.err != nil && !r.mine {
		if r.mine = r.taken.CompareAndSwap(false, true); !r.mine {
			return nil, nil
		}
	}
	k := int(r.next.Add(1)) - 1
	if k >= len(r.store.rows.chunks) {
		return nil, r.store.err
	}
	return r.store.rows.chunk(k)
}

func (r *cteRef) Close() error { return nil } // the With owns the store

// with closes the stores of its CTEs after its body.
type with struct {
	body   vec.Source
	stores []*cteStore
}

func (w *with) Next(ctx context.Context) (*vec.Batch, error) { return w.body.Next(ctx) }

func (w *with) Close() error {
	err := w.body.Close()
	for _, s := range w.stores {
		if s.rows != nil {
			if e := s.rows.close(); err == nil {
				err = e
			}
		}
	}
	return err
}

func buildWith(env *Env, n *plan.With) (vec.Source, error) {
	inner := *env
	inner.stores = make(map[*plan.CTE]*cteStore, len(env.stores)+len(n.CTEs))
	for k, v := range env.stores {
		inner.stores[k] = v
	}
	w := &with{}
	for _, c := range n.CTEs {
		s := &cteStore{env: &inner, cte: c, stream: streams(n, c)}
		inner.stores[c] = s
		w.stores = append(w.stores, s)
	}
	var err error
	w.body, err = Build(n.Body, &inner)
	return w, err
}
