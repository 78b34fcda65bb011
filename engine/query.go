package engine

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Query runs one statement and calls yield with each row; a convenience for embedding. args are
// values of the inferred parameter types (Stmt.Params). Rows are copies.
func (s *Session) Query(ctx context.Context, sql string, args []types.Datum, yield func([]types.Datum) error) error {
	defer s.EndImplicit(ctx)
	list, err := s.Parse(sql)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return sqlerr.New(sqlerr.SyntaxError, "one statement is expected, not %d", len(list))
	}
	st, err := s.Prepare(ctx, list[0], nil)
	if err != nil {
		return err
	}
	r, err := st.Execute(ctx, args)
	if err != nil {
		return err
	}
	if yield == nil {
		yield = func([]types.Datum) error { return nil }
	}
	return r.Each(ctx, yield)
}

// Each calls yield with every row that is left of r, as copies, until it fails; then it closes r.
func (r *Result) Each(ctx context.Context, yield func([]types.Datum) error) error {
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return r.Close()
		}
		for k := 0; k < b.Len(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			row := make([]types.Datum, len(b.Cols))
			for j, v := range b.Cols {
				row[j] = v.Datum(i)
			}
			if err := yield(row); err != nil {
				return err
			}
		}
	}
}
