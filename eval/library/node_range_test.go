package library

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Comparisons of one column with constants become one test of a range. Whatever the operators, and
// whichever comes first, the conjunction has the rows that each comparison has alone.
func TestFusedComparisons(t *testing.T) {
	ops := []string{"=", "<>", "<", "<=", ">", ">="}
	for _, typ := range []types.Type{eval.TInt4, eval.TInt8, eval.TFloat8, eval.TDate, eval.TTimestamp, eval.TText, eval.TNumeric, types.DecimalType(9, 2), types.DecimalType(38, 4)} {
		t.Run(typ.String(), func(t *testing.T) {
			value := func(i int) types.Datum {
				text := fmt.Sprint(i)
				switch typ.Kind {
				case types.Date:
					text = fmt.Sprintf("2024-01-0%d", i)
				case types.Timestamp:
					text = fmt.Sprintf("2024-01-0%d 10:00:00", i)
				}
				d, err := types.Parse(text, typ, nil)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			const values = 6
			x := vec.NewAppender(typ)
			for i := 1; i <= values; i++ {
				x.AppendDatum(value(i))
			}
			x.AppendDatum(types.Null)
			b := &vec.Batch{Rows: values + 1, Cols: []*vec.Vector{x.Vector()}}
			cols := []plan.Column{{ID: 1, Name: "x", Type: typ}}
			compare := func(op string, k int) plan.Expr {
				return call(t, op, &plan.Col{ID: 1, Name: "x", Typ: typ}, &plan.Const{Value: value(k), Typ: typ})
			}
			selected := func(e plan.Expr) []uint16 {
				p, err := eval.Compile(e, cols)
				if err != nil {
					t.Fatal(err)
				}
				rows, err := p.Select(testCtx(), b, nil)
				if err != nil {
					t.Fatal(err)
				}
				v, err := p.Eval(testCtx(), b)
				if err != nil {
					t.Fatal(err)
				}
				var again []uint16
				for i := range b.Rows {
					if !v.Null(i) && v.Datum(i).Bool() {
						again = append(again, uint16(i))
					}
				}
				if !slices.Equal(rows, again) {
					t.Errorf("%s: selected %v, true are %v", plan.FormatExpr(e), rows, again)
				}
				return slices.Clone(rows)
			}
			for _, o1 := range ops {
				for _, o2 := range ops {
					for _, k := range [][2]int{{2, 4}, {4, 2}, {3, 3}} {
						first, second := compare(o1, k[0]), compare(o2, k[1])
						want := slices.DeleteFunc(selected(first), func(r uint16) bool { return !slices.Contains(selected(second), r) })
						if got := selected(&plan.And{Args: []plan.Expr{first, second}}); !slices.Equal(got, want) {
							t.Errorf("x %s %d AND x %s %d: rows %v, want %v", o1, k[0], o2, k[1], got, want)
						}
					}
				}
			}
		})
	}
}
