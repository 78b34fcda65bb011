package exec

import (
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// keyLess orders two rows by keys on columns at.
func keyLess(a, b []types.Datum, keys []plan.SortKey, at []int) int {
	for i, k := range keys {
		x, y := a[at[i]], b[at[i]]
		c := 0
		switch {
		case x.IsNull() && y.IsNull():
		case x.IsNull() || y.IsNull():
			c = 1
			if x.IsNull() == k.NullsFirst {
				c = -1
			}
		default:
			c = types.Compare(x, y, k.Expr.Type())
			if k.Desc {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// TestSort orders random rows by random keys, whole and top-N, against sort.SliceStable.
func TestSort(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	ts := []types.Type{int4, text, float8, numeric, types.DecimalType(12, 2), int8}
	for round := range 60 {
		size := []int{0, 1, 40, 3000, 9000}[rnd.Intn(5)]
		rel := randomRelation(rnd, "c", size, 1+rnd.Intn(2000), ts...)
		// The last column makes the order total, so that one answer is right.
		for i, r := range rel.rows {
			r[len(ts)-1] = types.NewInt(int64(i))
		}
		var keys []plan.SortKey
		var at []int
		for range 1 + rnd.Intn(3) {
			c := rnd.Intn(len(ts) - 1)
			keys = append(keys, plan.SortKey{Expr: col(rel.cols[c]), Desc: rnd.Intn(2) == 0, NullsFirst: rnd.Intn(2) == 0})
			at = append(at, c)
		}
		total := rnd.Intn(3) > 0
		if total {
			keys = append(keys, plan.SortKey{Expr: col(rel.cols[len(ts)-1])})
			at = append(at, len(ts)-1)
		}
		want := append([][]types.Datum(nil), rel.rows...)
		sort.SliceStable(want, func(i, j int) bool { return keyLess(want[i], want[j], keys, at) < 0 })
		limit := int64(-1)
		if rnd.Intn(2) == 0 {
			limit = int64(rnd.Intn(500))
			want = want[:min(int(limit), len(want))]
		}
		for _, m := range someModes(rnd, 3) {
			if !total && m.workers > 1 {
				continue // stable within a partition only
			}
			env := testEnv(m)
			n := &plan.Sort{Input: rel.node(env, rnd, env.workers()), Keys: keys, HasLimit: limit >= 0, Limit: limit}
			got := collect(t, n, env)
			compareRows(t, fmt.Sprintf("seed %d round %d: %d rows by %v limit %d, %v", seed, round, size, at, limit, m), got, want, rel.cols, true)
		}
	}
}

func constant(i int64) plan.Expr { return &plan.Const{Value: types.NewInt(i), Typ: int8} }

// TestLimit covers counts, offsets, ties and refusals.
func TestLimit(t *testing.T) {
	rel := &relation{cols: []plan.Column{column1("a", int4)}}
	for _, x := range []int64{1, 1, 2, 2, 2, 3, 4, 4} {
		rel.rows = append(rel.rows, []types.Datum{types.NewInt(x)})
	}
	null := &plan.Const{Value: types.Null, Typ: int8}
	for _, c := range []struct {
		count, offset plan.Expr
		ties          bool
		want          string
	}{
		{constant(3), nil, false, "1\n1\n2"},
		{constant(3), nil, true, "1\n1\n2\n2\n2"},
		{constant(1), constant(6), true, "4\n4"},
		{constant(2), constant(5), true, "3\n4\n4"},
		{constant(0), nil, true, ""},
		{null, constant(7), false, "4"},
		{nil, null, false, "1\n1\n2\n2\n2\n3\n4\n4"},
		{constant(-1), nil, false, "LIMIT must not be negative"},
		{nil, constant(-1), false, "OFFSET must not be negative"},
	} {
		for _, m := range modes {
			env := testEnv(m)
			n := &plan.Limit{Input: rel.node(env, rand.New(rand.NewSource(1)), 1), Count: c.count, Offset: c.offset,
				WithTies: c.ties, Keys: []plan.SortKey{{Expr: col(rel.cols[0])}}}
			rows, err := tryCollect(n, env)
			got := show(rows, rel.cols, true)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%v: got %q, want %q", c, got, c.want)
			}
		}
	}
}
