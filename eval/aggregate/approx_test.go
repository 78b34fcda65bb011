package aggregate

import (
	"math"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func TestApproxCountDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 100, 128, 129, 1000, 30000} {
		s := &hyperLogLog{typ: eval.TInt8}
		s.Grow(1)
		o := &hyperLogLog{typ: eval.TInt8}
		o.Grow(1)
		v := vec.NewAppender(eval.TInt8)
		for i := 0; i < n; i++ {
			v.AppendDatum(types.NewInt(int64(i) * 7))
		}
		for _, st := range []*hyperLogLog{s, o} {
			if err := st.Update([]*vec.Vector{v.Vector()}, nil, n, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Merge(o, []uint32{0}); err != nil {
			t.Fatal(err)
		}
		got := s.groups[0].estimate()
		if off := math.Abs(float64(got) - float64(n)); off > 0.06*float64(n) || n <= 128 && off != 0 {
			t.Errorf("%d distinct values are estimated as %d", n, got)
		}
	}
}

func BenchmarkSumInt64(b *testing.B) {
	vals := make([]int64, vec.BatchRows)
	for i := range vals {
		vals[i] = int64(i) * 1e9
	}
	v := []*vec.Vector{{Type: eval.TInt8, Form: types.FormI64, I64: vals}}
	groups := make([]uint32, vec.BatchRows)
	for i := range groups {
		groups[i] = uint32(i % 100)
	}
	for _, g := range []struct {
		name   string
		groups []uint32
	}{{"ungrouped", nil}, {"grouped", groups}} {
		b.Run(g.name, func(b *testing.B) {
			s := newSum(eval.AggCall{Args: []types.Type{eval.TInt8}, Ret: eval.TNumeric})
			s.Grow(100)
			b.SetBytes(vec.BatchRows * 8)
			for i := 0; i < b.N; i++ {
				if err := s.Update(v, nil, vec.BatchRows, g.groups); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
