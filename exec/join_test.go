package exec

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// tri is a three-valued boolean.
type tri int

const (
	no tri = iota
	unknown
	yes
)

func and(a, b tri) tri { return min(a, b) }

func compareTri(a, b types.Datum, t types.Type, safe bool) tri {
	switch {
	case safe && a.IsNull() && b.IsNull():
		return yes
	case safe && (a.IsNull() || b.IsNull()):
		return no
	case a.IsNull() || b.IsNull():
		return unknown
	case types.Compare(a, b, t) == 0:
		return yes
	}
	return no
}

// naiveJoin is the definition: every pair is tested.
func naiveJoin(kind plan.JoinKind, l, r *relation, on func(a, b []types.Datum) tri) (out [][]types.Datum, tooMany bool) {
	nulls := func(n int) []types.Datum { return make([]types.Datum, n) }
	join := func(a, b []types.Datum) { out = append(out, append(append([]types.Datum(nil), a...), b...)) }
	seen := make([]bool, len(r.rows))
	for _, a := range l.rows {
		best, count := no, 0
		for i, b := range r.rows {
			v := on(a, b)
			best = max(best, v)
			if v == yes {
				count++
				seen[i] = true
				switch kind {
				case plan.InnerJoin, plan.LeftJoin, plan.RightJoin, plan.FullJoin, plan.SingleJoin:
					join(a, b)
				}
			}
		}
		switch kind {
		case plan.LeftJoin, plan.FullJoin, plan.SingleJoin:
			if count == 0 {
				join(a, nulls(len(r.cols)))
			}
			tooMany = tooMany || kind == plan.SingleJoin && count > 1
		case plan.SemiJoin:
			if count > 0 {
				out = append(out, a)
			}
		case plan.AntiJoin:
			if count == 0 {
				out = append(out, a)
			}
		case plan.MarkJoin:
			mark := types.NewBool(best == yes)
			if best == unknown {
				mark = types.Null
			}
			join(a, []types.Datum{mark})
		}
	}
	if kind == plan.RightJoin || kind == plan.FullJoin {
		for i, b := range r.rows {
			if !seen[i] {
				join(nulls(len(l.cols)), b)
			}
		}
	}
	return out, tooMany
}

var joinKinds = map[string]plan.JoinKind{"inner": plan.InnerJoin, "left": plan.LeftJoin, "right": plan.RightJoin,
	"full": plan.FullJoin, "semi": plan.SemiJoin, "anti": plan.AntiJoin, "single": plan.SingleJoin, "mark": plan.MarkJoin}

// TestJoins runs every kind of join over random relations with NULLs and duplicates, by every
// method, against the definition.
func TestJoins(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	dec := types.DecimalType(10, 2)
	wide := types.FixedNumeric(30, 4)
	shapes := []struct {
		name string
		l, r []types.Type // keys
		safe []bool
	}{
		{"int", []types.Type{int4}, []types.Type{int8}, nil},
		{"int is not distinct", []types.Type{int4}, []types.Type{int4}, []bool{true}},
		{"ints", []types.Type{int4, int8}, []types.Type{int4, int8}, nil},
		{"text", []types.Type{text}, []types.Type{text}, nil},
		{"int and text", []types.Type{int4, text}, []types.Type{int4, text}, []bool{false, true}},
		{"numeric", []types.Type{dec}, []types.Type{wide}, nil},
		{"numeric without scale", []types.Type{numeric}, []types.Type{dec}, nil},
		{"float", []types.Type{float8}, []types.Type{float8}, nil},
		{"none", nil, nil, nil},
	}
	for _, sh := range shapes {
		for _, sizes := range [][3]int{{60, 50, 9}, {300, 700, 300}, {40, 0, 5}, {0, 40, 5}, {900, 30, 1000}} {
			for _, rest := range []bool{false, true} {
				if sh.l == nil && sizes[0]*sizes[1] > 30000 {
					continue
				}
				l := randomRelation(rnd, "l", sizes[0], sizes[2], append(append([]types.Type(nil), sh.l...), int4, text)...)
				r := randomRelation(rnd, "r", sizes[1], sizes[2], append(append([]types.Type(nil), sh.r...), int4, float8)...)
				k := len(sh.l)
				j := plan.Join{NullSafe: sh.safe, Mark: column1("mark", boolean)}
				for i := range k {
					j.LeftKeys = append(j.LeftKeys, col(l.cols[i]))
					j.RightKeys = append(j.RightKeys, col(r.cols[i]))
				}
				if rest {
					j.Rest = op(t, "<", col(l.cols[k]), col(r.cols[k]))
				}
				on := func(a, b []types.Datum) tri {
					v := yes
					for i := range k {
						safe := sh.safe != nil && sh.safe[i]
						if sh.l[i].Kind == types.Numeric && !a[i].IsNull() && !b[i].IsNull() {
							if types.DecimalOf(a[i], sh.l[i]).Cmp(types.DecimalOf(b[i], sh.r[i])) != 0 {
								v = no
							}
							continue
						}
						v = and(v, compareTri(a[i], b[i], sh.l[i], safe))
					}
					if rest {
						c := unknown
						if !a[k].IsNull() && !b[k].IsNull() {
							c = no
							if a[k].Int() < b[k].Int() {
								c = yes
							}
						}
						v = and(v, c)
					}
					return v
				}
				for name, kind := range joinKinds {
					want, tooMany := naiveJoin(kind, l, r, on)
					for _, m := range someModes(rnd, 2) {
						for _, method := range []plan.JoinMethod{plan.HashJoin, plan.LoopJoin} {
							if method == plan.LoopJoin && (len(l.rows)*len(r.rows) > 30000 || m.batch == 3) {
								continue
							}
							for _, buildLeft := range []bool{false, true} {
								env := testEnv(m)
								n := j
								n.Kind, n.Method, n.BuildLeft = kind, method, buildLeft
								n.Left, n.Right = l.node(env, rnd, env.workers()), r.node(env, rnd, 1+rnd.Intn(env.workers()))
								what := fmt.Sprintf("seed %d: %s join on %s, sizes %v, rest %v, method %d, build left %v, %v",
									seed, name, sh.name, sizes, rest, method, buildLeft, m)
								got, err := tryCollect(&n, env)
								if tooMany {
									if err == nil || err.Error() != "more than one row returned by a subquery used as an expression" {
										t.Fatalf("%s: error %v", what, err)
									}
									continue
								}
								if err != nil {
									t.Fatalf("%s: %v %s", what, err, unwrapAll(err))
								}
								compareRows(t, what, got, want, n.Columns(), false)
								// The same with few columns wanted: the others are not copied.
								env = testEnv(m)
								n.Left, n.Right = l.node(env, rnd, env.workers()), r.node(env, rnd, 1)
								p := &plan.Project{Input: &n}
								part := make([][]types.Datum, len(want))
								for i, c := range n.Columns() {
									if rnd.Intn(3) > 0 {
										continue
									}
									p.Exprs = append(p.Exprs, plan.Named{Col: column1("p", c.Type), Expr: col(c)})
									for k := range part {
										part[k] = append(part[k], want[k][i])
									}
								}
								compareRows(t, what+", projected", collect(t, p, env), part, p.Columns(), false)
							}
						}
					}
				}
			}
		}
	}
}
