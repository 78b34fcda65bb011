package exec

import (
	"fmt"
	"testing"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// BenchmarkIntTableFind looks keys up that are dense, and such that are not.
func BenchmarkIntTableFind(b *testing.B) {
	for _, stride := range []int64{1, 1 << 30} {
		b.Run(fmt.Sprint("stride", stride), func(b *testing.B) {
			g := newGroupTable([]types.Type{types.T(types.Int8)})
			const batches = 128
			var vs [batches]*vec.Vector
			for i := range vs {
				vs[i] = vec.Alloc(types.T(types.Int8), types.FormI64, vec.BatchRows)
				for k := range vs[i].I64 {
					vs[i].I64[k] = int64((i*vec.BatchRows+k)*7919%(batches*vec.BatchRows)) * stride
				}
			}
			groups := make([]uint32, vec.BatchRows)
			find := func(add bool) {
				for i := range vs {
					g.findInts(vs[i], identity[:vec.BatchRows], groups, add)
				}
			}
			find(true)
			b.ReportAllocs()
			for b.Loop() {
				find(false)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batches*vec.BatchRows), "ns/row")
		})
	}
}
