package exec

import (
	"math"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The table numbers keys as a Go map does, whatever their shape and the order they come in.
func TestIntTableAgainstMap(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	shapes := map[string]func(i int) int64{
		"ascending":     func(i int) int64 { return int64(i) },
		"descending":    func(i int) int64 { return -int64(i) },
		"scattered ids": func(int) int64 { return rnd.Int63n(400_000) },
		"every eighth":  func(int) int64 { return rnd.Int63n(60_000) * 8 },
		"sparse":        func(int) int64 { return int64(rnd.Uint64()) },
		"two ends": func(i int) int64 {
			if i%2 == 0 {
				return math.MinInt64 + int64(rnd.Intn(30_000))
			}
			return math.MaxInt64 - int64(rnd.Intn(30_000))
		},
		"from the least":  func(int) int64 { return math.MinInt64 + rnd.Int63n(90_000) },
		"to the greatest": func(int) int64 { return math.MaxInt64 - rnd.Int63n(90_000) },
		"dense with strays": func(i int) int64 {
			if i%1000 == 999 {
				return int64(rnd.Uint64())
			}
			return rnd.Int63n(200_000)
		},
		"growing range": func(i int) int64 { return rnd.Int63n(int64(i)*3 + 1) },
	}
	expect := map[string]*keyRange{"scattered ids": {0, 399_999}, "dense with strays": {0, 199_999}, "every eighth": {-5, 1 << 20}}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			g := newGroupTable([]types.Type{types.T(types.Int8)})
			g.int.expect = expect[name]
			want := map[int64]uint32{}
			groups := make([]uint32, vec.BatchRows)
			v := vec.Alloc(types.T(types.Int8), types.FormI64, vec.BatchRows)
			for i := 0; i < 200_000; i += vec.BatchRows {
				for k := range v.I64 {
					v.I64[k] = shape(i + k)
				}
				if err := g.find([]*vec.Vector{v}, identity[:vec.BatchRows], vec.BatchRows, groups, true); err != nil {
					t.Fatal(err)
				}
				for k, x := range v.I64 {
					if _, ok := want[x]; !ok {
						want[x] = uint32(len(want))
					}
					if groups[k] != want[x] {
						t.Fatalf("key %d at row %d has group %d, want %d", x, i+k, groups[k], want[x])
					}
				}
			}
			for x, id := range want {
				if got := g.int.find(x); got != id {
					t.Fatalf("key %d has group %d in the end, want %d", x, got, id)
				}
				if got := g.keys[0].Vector().I64[id]; got != x {
					t.Fatalf("group %d has key %d, want %d", id, got, x)
				}
			}
			if got := g.int.find(123_456_789_012); got != noGroup {
				t.Fatalf("an unknown key has group %d", got)
			}
		})
	}
}
