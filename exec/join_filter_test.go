package exec

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// TestRuntimeFilter: what a join hands to its probe side's scans lets every partner through, and
// of the others few or none.
func TestRuntimeFilter(t *testing.T) {
	rnd := rand.New(rand.NewSource(4))
	for _, spread := range []int{100, 1 << 40} {
		build := &relation{cols: []plan.Column{column1("b", int8)}}
		keys := map[int64]bool{}
		for range 3000 {
			x := rnd.Int63n(int64(spread)) / 7 * 7
			keys[x] = true
			build.rows = append(build.rows, []types.Datum{types.NewInt(x)})
		}
		build.rows = append(build.rows, []types.Datum{types.Null})
		probe := &relation{cols: []plan.Column{column1("p", int8)}}
		env := testEnv(mode{0, 2, false})
		j := &plan.Join{Kind: plan.InnerJoin, Method: plan.HashJoin, Left: probe.node(env, rnd, 1), Right: build.node(env, rnd, 2),
			LeftKeys: []plan.Expr{col(probe.cols[0])}, RightKeys: []plan.Expr{col(build.cols[0])},
			Filters: []*plan.RuntimeFilter{{Expr: col(probe.cols[0])}}}
		collect(t, j, env)
		k, ok := j.Filters[0].Values.(scan.KeySet)
		if !ok || k.Empty() || k.MatchesNull() {
			t.Fatalf("spread %d: no keys: %v", spread, j.Filters[0].Values)
		}
		a := vec.NewAppender(int8)
		for x := range keys {
			a.AppendDatum(types.NewInt(x))
		}
		n := a.Len()
		a.AppendNull()
		others := 5000
		for range others {
			a.AppendDatum(types.NewInt(rnd.Int63n(int64(spread))/7*7 + 3))
		}
		out := k.Filter(a.Vector(), nil, a.Len(), make([]uint16, a.Len()))
		if len(out) < n || out[n-1] != uint16(n-1) {
			t.Fatalf("spread %d: %d of %d keys pass", spread, len(out), n)
		}
		if wrong := len(out) - n; wrong > others/20 {
			t.Errorf("spread %d: %d of %d others pass", spread, wrong, others)
		}
		for _, r := range out {
			if int(r) == n {
				t.Error("NULL passes")
			}
		}
	}
}

// TestRuntimeFilterWithheld: a join that keeps probe rows without a partner hands out nothing.
func TestRuntimeFilterWithheld(t *testing.T) {
	rnd := rand.New(rand.NewSource(4))
	l, r := randomRelation(rnd, "l", 10, 5, int4), randomRelation(rnd, "r", 10, 5, int4)
	for name, kind := range joinKinds {
		env := testEnv(mode{0, 1, false})
		j := &plan.Join{Kind: kind, Method: plan.HashJoin, Left: l.node(env, rnd, 1), Right: r.node(env, rnd, 1), Mark: column1("m", boolean),
			LeftKeys: []plan.Expr{col(l.cols[0])}, RightKeys: []plan.Expr{col(r.cols[0])},
			Filters: []*plan.RuntimeFilter{{Expr: col(l.cols[0])}}}
		_, _ = tryCollect(j, env)
		may := kind == plan.InnerJoin || kind == plan.RightJoin || kind == plan.SemiJoin
		if got := j.Filters[0].Values != nil; got != may {
			t.Errorf("%s: filter set: %v", name, got)
		}
	}
}

// TestAnalyze counts rows, memory and what went to disk by node.
func TestAnalyze(t *testing.T) {
	rnd := rand.New(rand.NewSource(4))
	rel := randomRelation(rnd, "c", 5000, 3000, int4, text)
	env := testEnv(mode{0, 2, true})
	env.Analyze = NewAnalysis()
	s := &plan.Sort{Input: rel.node(env, rnd, 2), Keys: []plan.SortKey{{Expr: col(rel.cols[1])}}}
	collect(t, s, env)
	st, ok := env.Analyze.Node(s)
	if !ok || st.Rows != 5000 || st.Spilled == 0 || st.Partitions != 1 {
		t.Errorf("%+v", st)
	}
	if _, ok := env.Analyze.Node(&plan.Sort{}); ok {
		t.Error("a node that never ran")
	}
}

// TestKeysWithin: no key between bounds is missed, and those that are exact find none where none is.
func TestKeysWithin(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	for range 300 {
		spread := int64(1) << rnd.Intn(40)
		var keys []int64
		for range 1 + rnd.Intn(200) {
			keys = append(keys, rnd.Int63n(2*spread)-spread)
		}
		side := &buildRows{ints: [][]int64{keys}, lo: []int64{slices.Min(keys)}, hi: []int64{slices.Max(keys)}, valid: true}
		k := newIntKeys([]*buildRows{side}, 0, true)
		for range 200 {
			lo := rnd.Int63n(4*spread) - 2*spread
			hi := lo + rnd.Int63n(spread+1)
			if rnd.Intn(3) == 0 {
				lo = keys[rnd.Intn(len(keys))] + int64(rnd.Intn(3)-1)
				hi = lo + int64(rnd.Intn(3))
			}
			want := slices.ContainsFunc(keys, func(x int64) bool { return lo <= x && x <= hi })
			got := k.Within(types.NewInt(lo), types.NewInt(hi))
			if want && !got || got && !want && k.few != nil {
				t.Fatalf("seed %d: keys %v between %d and %d: %v", seed, keys, lo, hi, got)
			}
		}
	}
}
