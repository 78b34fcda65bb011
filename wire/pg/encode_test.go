package pg

import (
	"bytes"
	"math"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
)

// The short way from a scaled integer to numeric's binary form gives what the long way over the
// text gives.
func TestAppendNumeric64(t *testing.T) {
	seed := int64(testseed.Of(t))
	r := rand.New(rand.NewSource(seed))
	values := []int64{0, 1, -1, 9, 10, 9999, 10000, 10001, -10000, 100000000, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	for range 2000 {
		values = append(values, r.Int63()>>r.Intn(63), -r.Int63()>>r.Intn(63), int64(r.Intn(1000))*int64(math.Pow10(r.Intn(16))))
	}
	for _, v := range values {
		for scale := range 19 {
			got := appendNumeric64(nil, v, scale)
			text := string(types.AppendDecimal64(nil, v, scale))
			if want := appendNumeric(nil, text); !bytes.Equal(got, want) {
				t.Fatalf("%s: got %x, want %x", text, got, want)
			}
			if back, ok := numericText(got); !ok || types.Format(mustParse(t, back), types.T(types.Numeric), nil) != text {
				t.Fatalf("%s came back as %s", text, back)
			}
		}
	}
}

func mustParse(t *testing.T, s string) types.Datum {
	t.Helper()
	d, err := types.Parse(s, types.T(types.Numeric), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func BenchmarkAppendNumeric64(b *testing.B) {
	buf := make([]byte, 0, 64)
	for i := 0; b.Loop(); i++ {
		buf = appendNumeric64(buf[:0], int64(i)*7919, 2)
	}
}
