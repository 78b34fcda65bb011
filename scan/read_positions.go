package scan

import (
	"context"
	"sort"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/vec"
)

// ReadPositions reads all that a position delete file or a deletion vector of t deletes: data
// file and position, in the file's own order.
func ReadPositions(ctx context.Context, t *lake.Table, df *lake.DataFile, env Env, yield func(file string, pos int64) error) (err error) {
	s, err := Open(ctx, &plan.Scan{Table: t, Schema: t.Schema(), Pruned: true}, env)
	if err != nil {
		return err
	}
	held := parquet.NewBudget(env.Mem)
	defer held.Close()
	defer func() { err = atFile(err, df.Path) }()
	defer guard(df.Path, &err)
	if df.Content == lake.DeletionVector || df.Format == "puffin" {
		set := &posSet{}
		if err := s.loadVector(ctx, df, set, held); err != nil {
			return err
		}
		return set.each(func(pos int64) error { return yield(df.ReferencedFile, pos) })
	}
	return s.readDeleteRows(ctx, df, positionFields, func(cols []*vec.Vector, n int) error {
		paths, pos := cols[0], cols[1]
		for i := range n {
			if paths.Null(i) || pos.Null(i) {
				return sqlerr.New(sqlerr.DataCorrupted, "a position delete is NULL")
			}
			if err := yield(string(paths.Bytes(i)), pos.I64[pos.Row(i)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// each calls f with the positions in s, ascending.
func (s *posSet) each(f func(pos int64) error) error {
	highs := make([]int64, 0, len(s.chunks))
	for hi := range s.chunks {
		highs = append(highs, hi)
	}
	sort.Slice(highs, func(i, j int) bool { return highs[i] < highs[j] })
	for _, hi := range highs {
		c := s.chunks[hi]
		for _, low := range c.low {
			if err := f(hi<<16 | int64(low)); err != nil {
				return err
			}
		}
		for low := 0; c.bits != nil && low < 1<<16; low++ {
			if c.bits[low>>6]&(1<<(low&63)) == 0 {
				continue
			}
			if err := f(hi<<16 | int64(low)); err != nil {
				return err
			}
		}
	}
	return nil
}
