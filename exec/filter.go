package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/vec"
)

// filter passes the rows for which a predicate is true, by selection.
type filter struct {
	in   vec.Source
	c    *eval.Ctx
	pred *eval.Program
	sel  []uint16
	out  vec.Batch
	err  error // of a row behind those that left
}

func (f *filter) Next(ctx context.Context) (*vec.Batch, error) {
	if f.err != nil {
		return nil, f.err
	}
	for {
		b, err := f.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if err = f.choose(b); err != nil && len(f.sel) == 0 {
			return nil, err
		}
		f.err = err
		if len(f.sel) == 0 {
			continue
		}
		f.out = vec.Batch{Cols: b.Cols, Sel: f.sel, Rows: b.Rows}
		if len(f.sel) == b.Rows {
			f.out.Sel = nil
		}
		return &f.out, nil
	}
}

// choose selects the rows of b up to the first at which the predicate fails.
func (f *filter) choose(b *vec.Batch) (err error) {
	if f.sel, err = f.pred.Select(f.c, b, f.sel); err == nil {
		return nil
	}
	var sel []uint16
	f.sel, err = untilFailure(b, err, func(part *vec.Batch) ([]uint16, error) {
		var e error
		sel, e = f.pred.Select(f.c, part, sel)
		return sel, e
	})
	return err
}

// untilFailure gives what try makes of b's rows before the first at which it fails, and the
// failure, where values cause it; err is what it fails with for all of b. Where these rows are
// enough, as for a LIMIT or EXISTS, nobody asks for more, and the statement does not fail:
// PostgreSQL would not have come to that row.
func untilFailure(b *vec.Batch, err error, try func(*vec.Batch) ([]uint16, error)) (made []uint16, _ error) {
	if !ofData(err) {
		return nil, err
	}
	rows := b.Sel
	if rows == nil {
		rows = make([]uint16, b.Rows)
		for i := range rows {
			rows[i] = uint16(i)
		}
	}
	part := *b
	good, bad := 0, len(rows) // so many are fine, so many are not
	for good+1 < bad {
		mid := (good + bad) / 2
		part.Sel = rows[:mid]
		if sel, e := try(&part); e == nil {
			good = mid
			made = append(made[:0], sel...)
		} else {
			bad, err = mid, e
		}
	}
	return made, err
}

// ofData tells an error that a row's values cause (class 22).
func ofData(err error) bool {
	code := sqlerr.CodeOf(err)
	return len(code) == 5 && code[:2] == "22"
}

func (f *filter) Close() error { return f.in.Close() }
