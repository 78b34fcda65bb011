package exec

import (
	"context"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// sortOp orders its input, or finds the first rows in that order. Each partition is sorted in
// its goroutine; the results are merged as they are read.
type sortOp struct {
	env     *Env
	node    *plan.Sort
	parts   []vec.Source
	keys    []*eval.Program
	cols    []keyColumn
	types   []types.Type
	skip    []bool
	file    *spillFile
	sorters []*sorter
	out     *sorted
}

// maxTopN is the largest limit for which rows beyond it are dropped on the way.
const maxTopN = 1 << 16

func newSort(env *Env, n *plan.Sort, parts []vec.Source, skip []bool) (*sortOp, error) {
	in := n.Input.Columns()
	s := &sortOp{env: env, node: n, parts: parts, types: columnTypes(in), skip: skip, file: newSpillFile(env)}
	for _, k := range n.Keys {
		p, err := eval.Compile(k.Expr, in)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, p)
	}
	s.cols = sortColumns(n.Keys)
	return s, nil
}

// sortColumns gives the key encoding of ORDER BY items.
func sortColumns(keys []plan.SortKey) []keyColumn {
	cols := make([]keyColumn, len(keys))
	for i, k := range keys {
		cols[i] = equalKey(k.Expr.Type())
		cols[i].desc = k.Desc
		if !k.NullsFirst {
			cols[i].nulls = 2
		}
	}
	return cols
}

func (s *sortOp) run(ctx context.Context) error {
	limit := 0
	if s.node.HasLimit && s.node.Limit <= maxTopN {
		limit = int(s.node.Limit)
	}
	s.sorters = make([]*sorter, len(s.parts))
	for i := range s.sorters {
		s.sorters[i] = newSorter(s.env, s.types, s.skip, s.cols, s.file, limit)
	}
	err := parallel(ctx, len(s.parts), func(ctx context.Context, i int) error {
		c, progs := s.env.evalCtx(), clonePrograms(s.keys)
		keys := make([]*vec.Vector, len(progs))
		for {
			b, err := s.parts[i].Next(ctx)
			if b == nil || err != nil {
				return err
			}
			if err := canceled(ctx); err != nil {
				return err
			}
			if b.Len() == 0 {
				continue
			}
			if err := evalAll(c, progs, b, keys); err != nil {
				return err
			}
			if err := s.sorters[i].add(b.Cols, keys, selection(b), b.Rows); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	s.out, err = mergeSorters(s.sorters, s.env.batchRows())
	if err == nil && s.node.HasLimit && s.node.Limit < math.MaxInt32 {
		s.out.left = int(s.node.Limit)
	}
	return err
}

func (s *sortOp) Next(ctx context.Context) (*vec.Batch, error) {
	if s.node.HasLimit && s.node.Limit <= 0 {
		return nil, nil
	}
	if s.out == nil {
		if err := s.run(ctx); err != nil {
			return nil, err
		}
	}
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	return s.out.next()
}

func (s *sortOp) Close() error {
	err := closeAll(s.parts)
	for _, t := range s.sorters {
		t.free()
	}
	s.sorters = nil
	if e := s.file.close(); err == nil {
		err = e
	}
	return err
}

// parallelSort sorts each sorter's entries in a goroutine.
func parallelSort(sorters []*sorter) error {
	return parallel(context.Background(), len(sorters), func(_ context.Context, i int) error {
		sorters[i].sort()
		return nil
	})
}
