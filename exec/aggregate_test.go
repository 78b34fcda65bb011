package exec

import (
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/lhsql/lhsql/eval"
	_ "github.com/lhsql/lhsql/eval/library"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

func aggregate(t testing.TB, name string, args []plan.Expr) (*plan.Function, types.Type) {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	r, err := eval.ResolveFunction(name, ts, false)
	if err != nil {
		t.Fatal(err)
	}
	return r.Func, r.Ret
}

func agg(t testing.TB, name string, args ...plan.Expr) plan.Agg {
	f, ret := aggregate(t, name, args)
	return plan.Agg{Func: f, Args: args, Out: column1(name, ret)}
}

// naiveGroups groups rows by some columns; order of groups is that of appearance.
func naiveGroups(rows [][]types.Datum, cols []plan.Column, by []int) (groups [][][]types.Datum) {
	at := map[string]int{}
	for _, r := range rows {
		k := ""
		for _, c := range by {
			k += "|NULL"
			if !r[c].IsNull() {
				k += types.Format(r[c], cols[c].Type, nil)
			}
		}
		g, ok := at[k]
		if !ok {
			g = len(groups)
			at[k] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], r)
	}
	return groups
}

func notNull(rows [][]types.Datum, c int) (out []types.Datum) {
	for _, r := range rows {
		if !r[c].IsNull() {
			out = append(out, r[c])
		}
	}
	return out
}

func distinctOf(ds []types.Datum, t types.Type) (out []types.Datum) {
	ds = append([]types.Datum(nil), ds...)
	sort.SliceStable(ds, func(i, j int) bool { return types.Compare(ds[i], ds[j], t) < 0 })
	for _, d := range ds {
		if len(out) == 0 || types.Compare(out[len(out)-1], d, t) != 0 {
			out = append(out, d)
		}
	}
	return out
}

// TestAggregates groups random rows by keys of every table path, with grouping sets, DISTINCT,
// FILTER and ordered aggregates, against plain loops.
func TestAggregates(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	shapes := [][]types.Type{nil, {int4}, {text}, {int4, text}, {boolean, text}, {types.DecimalType(10, 2)}, {numeric, float8}}
	for _, keys := range shapes {
		for _, size := range [][2]int{{0, 1}, {50, 4}, {2000, 7}, {4000, 3000}} {
			rel := randomRelation(rnd, "c", size[0], size[1], append(append([]types.Type(nil), keys...), int4, text, boolean)...)
			x, s, f := len(keys), len(keys)+1, len(keys)+2
			cx, cs, cf := col(rel.cols[x]), col(rel.cols[s]), col(rel.cols[f])
			aggs := []plan.Agg{agg(t, "count"), agg(t, "sum", cx), agg(t, "min", cs), agg(t, "count", cx), agg(t, "count", cs), agg(t, "array_agg", cx), agg(t, "array_agg", cs)}
			aggs[1].Filter = cf
			aggs[3].Distinct = true
			aggs[4].Distinct, aggs[4].Filter = true, cf
			aggs[5].OrderBy = []plan.SortKey{{Expr: cx, Desc: true, NullsFirst: true}}
			aggs[6].Distinct = true
			for _, plainOnly := range []bool{true, false} {
				use := aggs
				if plainOnly {
					use = aggs[:5] // without ordered ones the partitions aggregate in parallel
				}
				sets := [][]int{nil}
				all := make([]int, len(keys))
				for i := range all {
					all[i] = i
				}
				sets[0] = all
				n := plan.Aggregate{Aggs: use}
				for i := range keys {
					n.Groups = append(n.Groups, plan.Named{Col: column1(fmt.Sprint("g", i), keys[i]), Expr: col(rel.cols[i])})
				}
				if len(keys) == 2 {
					sets = [][]int{{0, 1}, {1}, {}}
					n.Sets = sets
					n.GroupingSet = column1("grouping", int8)
				}
				var want [][]types.Datum
				for _, set := range sets {
					groups := naiveGroups(rel.rows, rel.cols, set)
					if len(set) == 0 && len(groups) == 0 {
						groups = [][][]types.Datum{nil}
					}
					for _, g := range groups {
						want = append(want, naiveAggregates(rel, g, keys, set, x, s, f, len(use), n.GroupingSet.ID != 0))
					}
				}
				for _, m := range someModes(rnd, 3) {
					env := testEnv(m)
					nn := n
					nn.Input = rel.node(env, rnd, env.workers())
					got, err := tryCollect(&nn, env)
					what := fmt.Sprintf("seed %d: keys %v, size %v, plain %v, %v", seed, keys, size, plainOnly, m)
					if err != nil {
						t.Fatalf("%s: %v%s", what, err, unwrapAll(err))
					}
					compareRows(t, what, got, want, nn.Columns(), false)
				}
			}
		}
	}
}

func naiveAggregates(rel *relation, g [][]types.Datum, keys []types.Type, set []int, x, s, f, calls int, mask bool) []types.Datum {
	row := make([]types.Datum, len(keys))
	bits := int64(1)<<len(keys) - 1
	for _, k := range set {
		row[k] = g[0][k]
		bits &^= 1 << k
	}
	var pass [][]types.Datum
	for _, r := range g {
		if !r[f].IsNull() && r[f].Bool() {
			pass = append(pass, r)
		}
	}
	sum, xs := types.Null, notNull(pass, x)
	if len(xs) > 0 {
		n := int64(0)
		for _, d := range xs {
			n += d.Int()
		}
		sum = types.NewInt(n)
	}
	least := types.Null
	if all := distinctOf(notNull(g, s), text); len(all) > 0 {
		least = all[0]
	}
	row = append(row, types.NewInt(int64(len(g))), sum, least,
		types.NewInt(int64(len(distinctOf(notNull(g, x), int4)))), types.NewInt(int64(len(distinctOf(notNull(pass, s), text)))))
	if calls > 5 {
		a, b := types.Null, types.Null
		if len(g) > 0 {
			var l []types.Datum
			for _, r := range g {
				l = append(l, r[x])
			}
			sort.SliceStable(l, func(i, j int) bool {
				if l[i].IsNull() || l[j].IsNull() {
					return l[i].IsNull() && !l[j].IsNull()
				}
				return l[i].Int() > l[j].Int()
			})
			a = types.NewList(l)
			d := distinctOf(notNull(g, s), text)
			if len(notNull(g, s)) < len(g) {
				d = append(d, types.Null)
			}
			b = types.NewList(d)
		}
		row = append(row, a, b)
	}
	if mask {
		row = append(row, types.NewInt(bits))
	}
	return row
}

// TestSetOperations compares UNION, INTERSECT and EXCEPT, ALL and not, with counting.
func TestSetOperations(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	for _, size := range [][2]int{{60, 3}, {1500, 40}, {0, 2}} {
		l := randomRelation(rnd, "l", size[0], size[1], int4, text)
		r := randomRelation(rnd, "r", size[0]*2/3, size[1], int4, text)
		count := map[string][2]int{}
		rows := map[string][]types.Datum{}
		for side, rel := range []*relation{l, r} {
			for _, row := range rel.rows {
				k := show([][]types.Datum{row}, rel.cols, true)
				c := count[k]
				c[side]++
				count[k] = c
				rows[k] = row
			}
		}
		for _, kind := range []plan.SetOpKind{plan.Union, plan.Intersect, plan.Except} {
			for _, all := range []bool{false, true} {
				var want [][]types.Datum
				for k, c := range count {
					n := c[0] + c[1]
					switch kind {
					case plan.Intersect:
						n = min(c[0], c[1])
					case plan.Except:
						n = max(0, c[0]-c[1])
						if !all && c[1] > 0 {
							n = 0
						}
					}
					if !all {
						n = min(n, 1)
					}
					for range n {
						want = append(want, rows[k])
					}
				}
				for _, m := range someModes(rnd, 3) {
					env := testEnv(m)
					n := &plan.SetOp{Kind: kind, All: all, Left: l.node(env, rnd, env.workers()), Right: r.node(env, rnd, 1),
						Cols: []plan.Column{column1("a", int4), column1("b", text)}}
					compareRows(t, fmt.Sprintf("seed %d: kind %d all %v size %v %v", seed, kind, all, size, m), collect(t, n, env), want, n.Cols, false)
				}
			}
		}
	}
}
