package maintain

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
)

// The order of a value's eight bytes is never against the value's own.
func TestZorderBytesAreOrdered(t *testing.T) {
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	number := func() float64 { return math.Float64frombits(r.Uint64()) }
	dec := types.DecimalType(20, 3)
	kinds := map[types.Type]func() types.Datum{
		types.T(types.Bool):   func() types.Datum { return types.NewBool(r.IntN(2) > 0) },
		types.T(types.Int4):   func() types.Datum { return types.NewInt(int64(int32(r.Uint32()))) },
		types.T(types.Int8):   func() types.Datum { return types.NewInt(int64(r.Uint64())) },
		types.T(types.Date):   func() types.Datum { return types.NewInt(int64(r.IntN(100000) - 50000)) },
		types.T(types.Float8): func() types.Datum { return types.NewFloat(number()) },
		types.T(types.Text): func() types.Datum {
			b := make([]byte, r.IntN(12))
			for i := range b {
				b[i] = "abz"[r.IntN(3)]
			}
			return types.NewStr(string(b))
		},
		dec: func() types.Datum {
			d, err := types.DecimalFromFloat64(math.Trunc((r.Float64()-0.5)*1e15) / 1000).Datum(dec)
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
	}
	for typ, make := range kinds {
		for range 20000 {
			a, b := make(), make()
			if typ.Kind == types.Float8 && (math.IsNaN(a.Float()) || math.IsNaN(b.Float())) {
				continue
			}
			x, y := ordered(a, typ), ordered(b, typ)
			if c := types.Compare(a, b, typ); c < 0 && x > y || c > 0 && x < y || c == 0 && x != y && typ.Kind != types.Float8 {
				t.Fatalf("%v: %v and %v compare as %d, their bytes are %x and %x", typ, types.Format(a, typ, nil), types.Format(b, typ, nil), c, x, y)
			}
		}
	}
	if x, y := ordered(types.NewFloat(math.NaN()), types.T(types.Float8)), ordered(types.NewFloat(math.Inf(1)), types.T(types.Float8)); x <= y {
		t.Error("NaN is not the greatest")
	}
	if ordered(types.Null, types.T(types.Int8)) != 0 {
		t.Error("NULL is not the least")
	}
}

// Bits are taken in turns, the most significant first; each value's share of the key is its own.
func TestZorderInterleaves(t *testing.T) {
	in := []types.Type{types.T(types.Text), types.T(types.Text)}
	got := zorder([]types.Datum{types.NewStr("\xff"), types.NewStr("\x00\x0f")}, in)
	want := append([]byte{0xaa, 0xaa, 0x00, 0x55}, make([]byte, 12)...)
	if !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// A group becomes as many files as come near the target; a small rest is spread over them.
func TestOutputFiles(t *testing.T) {
	o := rewriteOptions{target: 1000, min: 750, max: 1800}
	for bytes, want := range map[int64]int{1: 1, 999: 1, 1000: 1, 1099: 1, 1100: 2, 1751: 2, 2000: 2, 2150: 2, 2800: 3, 10_100: 10, 10_800: 11} {
		if got := o.outputFiles(bytes); got != want {
			t.Errorf("%d bytes become %d files, want %d", bytes, got, want)
		}
	}
}
