package exec

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Keys compared where they lie get the numbers that encoded keys get, in whatever vectors both come,
// and equal keys have the hash by which they are spilled in common.
func TestRowTableAgainstEncodedKeys(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	uuid, interval, bpchar, date := types.T(types.UUID), types.T(types.Interval), types.T(types.Bpchar), types.T(types.Date)
	for _, keys := range [][]types.Type{
		{text}, {int4, text}, {int8, int8}, {boolean, float8, date}, {uuid}, {interval, int4}, {bpchar}, {float8}, {text, text, int8},
		{numeric, text}, {int8, types.DecimalType(18, 2)}, {text, numeric, numeric, int4},
	} {
		for _, spread := range []int{2, 40, 3000, 1 << 30} {
			t.Run(fmt.Sprint(keys, spread), func(t *testing.T) {
				rows, encoded := newGroupTable(keys), newGroupTable(keys)
				if !rows.plain {
					t.Fatal("the keys are encoded")
				}
				encoded.plain, encoded.ints = false, false
				hashes := map[uint32]uint64{}
				for range 12 {
					n := 1 + rnd.Intn(3000)
					vs := make([]*vec.Vector, len(keys))
					for i, k := range keys {
						vs[i] = randomKeys(rnd, k, n, spread)
					}
					sel := identity[:n]
					if rnd.Intn(2) == 0 {
						sel = nil
						for i := range n {
							if rnd.Intn(3) > 0 {
								sel = append(sel, uint16(i))
							}
						}
					}
					add := rnd.Intn(4) > 0
					got, want := make([]uint32, len(sel)), make([]uint32, len(sel))
					if err := rows.find(vs, sel, n, got, add); err != nil {
						t.Fatal(err)
					}
					if err := encoded.find(vs, sel, n, want, add); err != nil {
						t.Fatal(err)
					}
					for i, h := range rows.hash(vs, sel, n) {
						if got[i] != want[i] {
							t.Fatalf("row %d has group %d, want %d", sel[i], got[i], want[i])
						}
						if got[i] == noGroup {
							continue
						}
						if before, ok := hashes[got[i]]; ok && before != h {
							t.Fatalf("group %d has two hashes", got[i])
						}
						hashes[got[i]] = h
					}
				}
				for c := range keys {
					for g := range rows.n {
						a, b := rows.keys[c].Vector().Datum(g), encoded.keys[c].Vector().Datum(g)
						if !equalDatum(a, b, keys[c]) {
							t.Fatalf("group %d: column %d is %v, want %v", g, c, a, b)
						}
					}
				}
			})
		}
	}
}

// randomKeys makes a vector of n values of t, some of them NULL, flat, by a dictionary or constant.
func randomKeys(rnd *rand.Rand, t types.Type, n, spread int) *vec.Vector {
	nulls := rnd.Intn(2) == 0
	value := func() types.Datum {
		d := randomDatum(rnd, t, spread, nulls)
		if d.IsNull() {
			return d
		}
		k := int64(rnd.Intn(spread))
		switch t.Kind {
		case types.UUID:
			return types.NewW128(types.Int128{Hi: k % 3, Lo: uint64(k)})
		case types.Interval: // 30 days are a month
			return types.NewW128(types.IntervalValue{Months: int32(k % 3), Days: int32(k%4) * 15}.W128())
		case types.Bpchar: // trailing blanks do not count
			return types.NewStr(fmt.Sprintf("%d%*s", k, k%3, ""))
		case types.Float8:
			switch k % 7 {
			case 0:
				return types.NewFloat(math.NaN())
			case 1:
				return types.NewFloat(math.Copysign(0, float64(k%2)-1))
			}
		}
		return d
	}
	a := vec.NewAppender(t)
	switch rnd.Intn(4) {
	case 0:
		return vec.ConstOf(t, value())
	case 1:
		nulls = false
		size := 1 + rnd.Intn(min(2*n, 2*spread))
		for range size {
			a.AppendDatum(value())
		}
		d := &vec.Vector{Type: t, Enc: vec.Dict, Codes: make([]uint32, n), Dictionary: a.Vector()}
		d.Form = d.Dictionary.Form
		if rnd.Intn(2) == 0 {
			d.Dictionary.DictID = vec.NewDictID()
		}
		for i := range d.Codes {
			d.Codes[i] = uint32(rnd.Intn(size))
		}
		if rnd.Intn(2) == 0 {
			d.Valid = vec.NewBitmap(n, true)
			d.Valid.Clear(rnd.Intn(n))
		}
		return d
	}
	for range n {
		a.AppendDatum(value())
	}
	return a.Vector()
}

// BenchmarkGroupRows groups by an integer and a text of few and of many values.
func BenchmarkGroupRows(b *testing.B) {
	for _, groups := range []int{1000, 1 << 19} {
		for _, encoded := range []bool{false, true} {
			b.Run(fmt.Sprint(groups, encoded), func(b *testing.B) {
				var batches [][]*vec.Vector
				for k := range 256 {
					ints, texts := vec.NewAppender(int8), vec.NewAppender(text)
					for i := range vec.BatchRows {
						x := (k*vec.BatchRows + i) * 2654435761 % groups
						ints.AppendDatum(types.NewInt(int64(x)))
						texts.AppendDatum(types.NewStr(fmt.Sprint("http://example.com/page/", x)))
					}
					batches = append(batches, []*vec.Vector{ints.Vector(), texts.Vector()})
				}
				ids := make([]uint32, vec.BatchRows)
				b.ResetTimer()
				begin := cpuTime()
				for range b.N {
					g := newGroupTable([]types.Type{int8, text})
					g.plain = !encoded
					for range 2 {
						for _, vs := range batches {
							if err := g.find(vs, identity[:vec.BatchRows], vec.BatchRows, ids, true); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
				b.ReportMetric(float64(cpuTime()-begin)/float64(b.N)/float64(2*256*vec.BatchRows), "cpu-ns/row")
			})
		}
	}
}
