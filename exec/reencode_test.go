package exec

import (
	"context"
	"testing"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Rows stay, whatever shape they come in, and all shapes come.
func TestReencodedRowsStay(t *testing.T) {
	kinds := []types.Type{types.T(types.Int4), types.T(types.Text), types.T(types.Float8), types.T(types.Bool), types.ArrayOf(types.T(types.Int4))}
	value := func(c, i int) types.Datum {
		switch {
		case i%5 == 4 && c != 0:
			return types.Null
		case c == 0:
			return types.NewInt(7) // a constant
		case c == 1:
			return types.NewStr(string(rune('a' + i%3)))
		case c == 2:
			return types.NewFloat(float64(i))
		case c == 3:
			return types.NewBool(i%2 == 0)
		}
		return types.NewList([]types.Datum{types.NewInt(int64(i)), types.Null})
	}
	const rows = 11
	b := &vec.Batch{Rows: rows, Sel: []uint16{0, 2, 3, 4, 7, 9, 10}}
	for c, typ := range kinds {
		a := vec.NewAppender(typ)
		for i := range rows {
			a.AppendDatum(value(c, i))
		}
		b.Cols = append(b.Cols, a.Vector())
	}
	src := &reencoded{Source: &again{b: b}}
	seen := map[vec.Enc]bool{}
	for range 4 {
		out, err := src.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() != b.Len() || out.Rows == b.Rows {
			t.Fatalf("%d rows of %d, want %d", out.Len(), out.Rows, b.Len())
		}
		for c, typ := range kinds {
			seen[out.Cols[c].Enc] = true
			for k, i := range b.Sel {
				got, want := out.Cols[c].Datum(int(out.Sel[k])), value(c, int(i))
				if out.Cols[c].Null(int(out.Sel[k])) != want.IsNull() || !want.IsNull() && types.Format(got, typ, nil) != types.Format(want, typ, nil) {
					t.Errorf("column %d, row %d: %v, want %v", c, i, got, want)
				}
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("not every encoding came: %v", seen)
	}
}

// again yields a batch for ever.
type again struct{ b *vec.Batch }

func (a *again) Next(context.Context) (*vec.Batch, error) { return a.b, nil }
func (a *again) Close() error                             { return nil }
