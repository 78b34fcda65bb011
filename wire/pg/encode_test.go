package pg

import (
	"bytes"
	"math"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
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

// A list of lists of different lengths is no array: its binary form would promise values that do not come.
func TestListsWithoutBinaryForm(t *testing.T) {
	list := func(d ...types.Datum) types.Datum { return types.NewList(d) }
	one, two := types.NewInt(1), types.NewInt(2)
	typ := types.ArrayOf(types.ArrayOf(types.T(types.Int4)))
	for _, c := range []struct {
		d    types.Datum
		good bool
	}{
		{list(list(one, two), list(two, one)), true},
		{list(list(one, two), list(one)), false},
		{list(list(one), list(one, two)), false},
		{list(list(one), types.Null), false},
		{list(types.Null, list(one)), false},
		{list(), true},
	} {
		a := vec.NewAppender(typ)
		a.AppendDatum(c.d)
		b := &vec.Batch{Rows: 1, Cols: []*vec.Vector{a.Vector()}}
		_, err := binaryRow(nil, b, 0, []encoder{binaryEncoder(typ, nil)})
		if (err == nil) != c.good || err != nil && sqlerr.CodeOf(err) != sqlerr.ArraySubscript {
			t.Errorf("%s: %v", types.Format(c.d, typ, nil), err)
		}
	}
}
