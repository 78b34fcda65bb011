package exec

import (
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func integer(i int64) plan.Expr { return &plan.Const{Value: types.NewInt(i), Typ: int4} }

// TestRecursive counts to ten, with UNION ALL and with UNION over a cycle.
func TestRecursive(t *testing.T) {
	for _, distinct := range []bool{false, true} {
		for _, m := range modes {
			env := testEnv(m)
			n, w, out := column1("n", int4), column1("w", int4), column1("out", int4)
			cte := &plan.CTE{Name: "t", Distinct: distinct, Cols: []plan.Column{n}}
			cte.Plan = &plan.Values{Cols: []plan.Column{n}, Rows: [][]plan.Expr{{integer(1)}}}
			work := &plan.CTERef{CTE: cte, Work: true, Cols: []plan.Column{w}}
			next := op(t, "+", col(w), integer(1))
			if distinct { // … 9, 10, 0, 1: seen
				next = op(t, "%", next, integer(11))
			} else {
				work := work
				cte.Step = &plan.Project{Input: &plan.Filter{Input: work, Pred: op(t, "<", col(w), integer(10))},
					Exprs: []plan.Named{{Col: column1("s", int4), Expr: next}}}
			}
			if distinct {
				cte.Step = &plan.Project{Input: work, Exprs: []plan.Named{{Col: column1("s", int4), Expr: next}}}
			}
			q := &plan.With{CTEs: []*plan.CTE{cte}, Body: &plan.CTERef{CTE: cte, Cols: []plan.Column{out}}}
			want := "1 10 2 3 4 5 6 7 8 9"
			if distinct {
				want = "0 " + want
			}
			got := strings.ReplaceAll(show(collect(t, q, env), q.Columns(), false), "\n", " ")
			if got != want {
				t.Errorf("distinct %v, %v: got %s", distinct, m, got)
			}
		}
	}
}

// TestApply runs every kind of Apply against the same join.
func TestApply(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	l := randomRelation(rnd, "l", 120, 9, int4, text)
	r := randomRelation(rnd, "r", 60, 9, int4, int8)
	for name, kind := range joinKinds {
		if kind == plan.RightJoin || kind == plan.FullJoin || kind == plan.SingleJoin {
			continue
		}
		want, _ := naiveJoin(kind, l, r, func(a, b []types.Datum) tri {
			if compareTri(a[0], b[0], int4, false) == yes {
				return yes
			}
			return no
		})
		for _, m := range modes {
			env := testEnv(m)
			right := &plan.Filter{Input: r.node(env, rnd, 1), Pred: op(t, "=", col(r.cols[0]), col(l.cols[0]))}
			n := &plan.Apply{Kind: kind, Left: l.node(env, rnd, env.workers()), Right: right, Mark: column1("mark", boolean)}
			compareRows(t, fmt.Sprint(name, " ", m), collect(t, n, env), want, n.Columns(), false)
		}
	}
}

// TestProjectSet expands sets in lock step.
func TestProjectSet(t *testing.T) {
	res, err := eval.ResolveFunction("generate_series", []types.Type{int4, int4}, false)
	if err != nil {
		t.Skip("generate_series is not there")
	}
	rel := &relation{cols: []plan.Column{column1("a", int4)}}
	for i := range int64(5) {
		rel.rows = append(rel.rows, []types.Datum{types.NewInt(i)})
	}
	a := col(rel.cols[0])
	for _, m := range modes {
		env := testEnv(m)
		n := &plan.ProjectSet{Input: rel.node(env, rand.New(rand.NewSource(1)), 1), Exprs: []plan.Named{
			{Col: column1("a", int4), Expr: a},
			{Col: column1("s", int4), Expr: &plan.Call{Func: res.Func, Args: []plan.Expr{integer(1), a}, Typ: int4}},
			{Col: column1("u", int4), Expr: &plan.Call{Func: res.Func, Args: []plan.Expr{integer(4), a}, Typ: int4}},
		}}
		want := "1|1|NULL 2|1|NULL 2|2|NULL 3|1|NULL 3|2|NULL 3|3|NULL 4|1|4 4|2|NULL 4|3|NULL 4|4|NULL"
		if got := strings.ReplaceAll(show(collect(t, n, env), n.Columns(), true), "\n", " "); got != want {
			t.Errorf("%v: got %s", m, got)
		}
		fs := &plan.FuncScan{Ordinality: true, Calls: []*plan.Call{
			{Func: res.Func, Args: []plan.Expr{integer(5), integer(7)}, Typ: int4},
			{Func: res.Func, Args: []plan.Expr{integer(1), integer(2)}, Typ: int4}},
			Cols: []plan.Column{column1("x", int4), column1("y", int4), column1("ord", int8)}}
		if got := strings.ReplaceAll(show(collect(t, fs, env), fs.Columns(), true), "\n", " "); got != "5|1|1 6|2|2 7|NULL|3" {
			t.Errorf("%v: got %s", m, got)
		}
	}
}

// TestDistinctOn keeps the first row of each key, over sorted and unsorted inputs.
func TestDistinctOn(t *testing.T) {
	rnd := rand.New(rand.NewSource(9))
	rel := randomRelation(rnd, "c", 500, 12, int4, int8)
	for i, r := range rel.rows {
		r[1] = types.NewInt(int64(i))
	}
	want := make([][]types.Datum, 0)
	for _, g := range naiveGroups(rel.rows, rel.cols, []int{0}) {
		want = append(want, g[0])
	}
	for _, m := range modes {
		for _, sorted := range []bool{false, true} {
			env := testEnv(m)
			in := rel.node(env, rnd, 1)
			if sorted {
				in = &plan.Sort{Input: in, Keys: []plan.SortKey{{Expr: col(rel.cols[0]), Desc: true}, {Expr: col(rel.cols[1])}}}
			}
			n := &plan.Distinct{Input: in, On: []plan.Expr{col(rel.cols[0])}}
			compareRows(t, fmt.Sprint(sorted, m), collect(t, n, env), want, rel.cols, false)
		}
	}
}

// endless never ends; broken panics; both count goroutines that forget to end.
type endless struct{ b vec.Batch }

func (e *endless) Next(ctx context.Context) (*vec.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.b = vec.Batch{Cols: []*vec.Vector{vec.ConstOf(int4, types.NewInt(1))}, Rows: 10}
	return &e.b, nil
}
func (e *endless) Close() error { return nil }

type broken struct{ endless }

func (*broken) Next(context.Context) (*vec.Batch, error) {
	invariant.Fail("broken on purpose")
	return nil, nil
}

func TestCancelAndPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, bad := range []bool{false, true} {
		env := testEnv(mode{0, 3, false})
		c := column1("a", int4)
		in := &plan.Values{Cols: []plan.Column{c}}
		replace(env, in, func() []vec.Source {
			if bad {
				return []vec.Source{&endless{}, &broken{}, &endless{}}
			}
			return []vec.Source{&endless{}, &endless{}, &endless{}}
		})
		count := agg(t, "count")
		for _, n := range []plan.Node{
			&plan.Aggregate{Input: in, Aggs: []plan.Agg{count}},
			&plan.Sort{Input: in, Keys: []plan.SortKey{{Expr: col(c)}}, HasLimit: true, Limit: 5},
			&plan.Join{Left: &plan.Values{Cols: []plan.Column{column1("b", int4)}, Rows: [][]plan.Expr{{integer(1)}}}, Right: in,
				Method: plan.HashJoin, LeftKeys: []plan.Expr{integer(1)}, RightKeys: []plan.Expr{&plan.Const{Value: types.NewInt(2), Typ: int4}}, BuildLeft: true},
			in,
		} {
			src, err := Build(n, env)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			for err == nil {
				var b *vec.Batch
				if b, err = src.Next(ctx); b == nil && err == nil {
					t.Fatalf("%T ended", n)
				}
			}
			cancel()
			if bad && sqlerr.CodeOf(err) != sqlerr.InternalError {
				t.Errorf("%T: %v", n, err)
			}
			if err := src.Close(); err != nil {
				t.Error(err)
			}
			if env.Account.Used() != 0 {
				t.Errorf("%T: %d bytes left", n, env.Account.Used())
			}
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 100 {
			t.Fatalf("%d goroutines are left", runtime.NumGoroutine()-before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestOutOfMemory: what cannot spill fails alone, with 53200.
func TestOutOfMemory(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	rel := randomRelation(rnd, "c", 120000, 20000, int4, text)
	env := testEnv(mode{0, 1, false})
	env.Account = NewAccount(nil, 100<<10)
	a := agg(t, "array_agg", col(rel.cols[1]))
	n := &plan.Aggregate{Input: rel.node(env, rnd, 1), Aggs: []plan.Agg{a}}
	_, err := tryCollect(n, env)
	if sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		t.Fatalf("error %v", err)
	}
	if env.Account.Used() != 0 {
		t.Fatalf("%d bytes left", env.Account.Used())
	}
}
