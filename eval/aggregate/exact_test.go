package aggregate

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Sums of the largest integers there are stay exact, in one state and merged from two.
func init() { Register() }

func TestExactSumOfHugeIntegers(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	const groups = 7
	want := make([]*big.Int, groups)
	for i := range want {
		want[i] = new(big.Int)
	}
	states := [2]*sumState{newSum(eval.AggCall{Args: []types.Type{eval.TInt8}}).(*sumState), newSum(eval.AggCall{Args: []types.Type{eval.TInt8}}).(*sumState)}
	for round := range 40 {
		v := vec.Alloc(eval.TInt8, types.FormI64, 500)
		gs := make([]uint32, 500)
		for i := range v.I64 {
			switch rnd.Intn(4) {
			case 0:
				v.I64[i] = math.MaxInt64 - rnd.Int63n(3)
			case 1:
				v.I64[i] = math.MinInt64 + rnd.Int63n(3)
			default:
				v.I64[i] = rnd.Int63()
			}
			gs[i] = uint32(rnd.Intn(groups))
		}
		var sel []uint16
		if round%2 == 1 { // half of them, by selection
			for i := 0; i < 500; i += 2 {
				sel = append(sel, uint16(i))
			}
		}
		s := states[round/2%2]
		s.Grow(groups)
		if err := s.Update([]*vec.Vector{v}, sel, 500, gs); err != nil {
			t.Fatal(err)
		}
		if sel == nil {
			for i, x := range v.I64 {
				want[gs[i]].Add(want[gs[i]], big.NewInt(x))
			}
		}
		for k, i := range sel {
			want[gs[k]].Add(want[gs[k]], big.NewInt(v.I64[i]))
		}
	}
	into := make([]uint32, groups)
	for i := range into {
		into[i] = uint32(i)
	}
	if err := states[0].Merge(states[1], into); err != nil {
		t.Fatal(err)
	}
	out := vec.Vector{Type: eval.TNumeric}
	if err := states[0].Result(0, groups, &out); err != nil {
		t.Fatal(err)
	}
	for g := range groups {
		if got := types.Format(out.Datum(g), eval.TNumeric, nil); got != want[g].String() {
			t.Errorf("group %d: %s, want %s", g, got, want[g])
		}
	}
}

// Where rows come in no order, max and min of values that are equal and look different are the same
// whatever order they came in.
func TestExtremesWithoutOrder(t *testing.T) {
	for _, x := range []struct {
		typ  types.Type
		vals []string
	}{{eval.TNumeric, []string{"2", "2.0", "2.00"}}, {eval.TInterval, []string{"1 day", "24:00:00"}}, {eval.TFloat8, []string{"0", "-0"}}, {types.ArrayOf(eval.TNumeric), []string{"{2}", "{2.0}"}}} {
		for _, name := range []string{"max", "min"} {
			r, err := eval.ResolveFunction(name, []types.Type{x.typ}, false)
			if err != nil {
				t.Fatal(err)
			}
			var seen string
			for first := range x.vals {
				var states []eval.AggState
				for k := range x.vals { // each value by another goroutine
					d, err := types.Parse(x.vals[(first+k)%len(x.vals)], x.typ, nil)
					if err != nil {
						t.Fatal(err)
					}
					s, err := eval.Declaration(r.Func).Agg.New(&eval.Ctx{}, eval.AggCall{Args: []types.Type{x.typ}, Ret: r.Ret, Unordered: true})
					if err != nil {
						t.Fatal(err)
					}
					s.Grow(1)
					if err := s.Update([]*vec.Vector{vec.ConstOf(x.typ, d)}, nil, 1, nil); err != nil {
						t.Fatal(err)
					}
					states = append(states, s)
				}
				for _, s := range states[1:] {
					if err := states[0].Merge(s, []uint32{0}); err != nil {
						t.Fatal(err)
					}
				}
				out := &vec.Vector{Type: r.Ret}
				if err := states[0].Result(0, 1, out); err != nil {
					t.Fatal(err)
				}
				got := types.Format(out.Datum(0), r.Ret, nil)
				if seen != "" && got != seen {
					t.Errorf("%s of %s is %s, and from another order %s", name, x.typ, got, seen)
				}
				seen = got
			}
		}
	}
}
