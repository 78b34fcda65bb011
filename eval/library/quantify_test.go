package library

import (
	"context"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// TestQuantify: x op ANY and ALL over arrays have SQL's three values: an empty array decides, a
// NULL element is an open question, a NULL array is no answer.
func TestQuantify(t *testing.T) {
	int4 := types.T(types.Int4)
	arr := types.ArrayOf(int4)
	list := func(v ...any) types.Datum {
		d := []types.Datum{}
		for _, x := range v {
			if x == nil {
				d = append(d, types.Null)
			} else {
				d = append(d, types.NewInt(int64(x.(int))))
			}
		}
		return types.NewList(d)
	}
	for _, c := range []struct {
		op   string
		all  bool
		x    types.Datum
		arr  types.Datum
		want string
	}{
		{"=", false, types.NewInt(2), list(1, 2, nil), "t"},
		{"=", false, types.NewInt(3), list(1, 2), "f"},
		{"=", false, types.NewInt(3), list(1, nil), "null"},
		{"=", false, types.NewInt(3), list(), "f"},
		{"=", false, types.Null, list(), "f"},
		{"=", false, types.Null, list(1), "null"},
		{"=", false, types.NewInt(3), types.Null, "null"},
		{"<>", true, types.NewInt(3), list(1, 2), "t"},
		{"<>", true, types.NewInt(2), list(1, 2, nil), "f"},
		{"<>", true, types.NewInt(3), list(1, nil), "null"},
		{"<", true, types.NewInt(0), list(), "t"},
		{">", false, types.NewInt(5), list(9, 4), "t"},
	} {
		r, err := eval.ResolveOperator(c.op, []types.Type{int4, int4})
		if err != nil {
			t.Fatal(err)
		}
		e := &plan.Call{Func: eval.Quantify(r.Func, c.all, arr), Typ: types.T(types.Bool),
			Args: []plan.Expr{&plan.Const{Value: c.x, Typ: int4}, &plan.Const{Value: c.arr, Typ: arr}}}
		v, err := eval.EvalConst(&eval.Ctx{Context: context.Background(), Zone: time.UTC}, e)
		if err != nil {
			t.Fatal(err)
		}
		got := "null"
		if !v.IsNull() {
			got = map[bool]string{true: "t", false: "f"}[v.Bool()]
		}
		if got != c.want {
			t.Errorf("%v %s (all=%v) %v: got %s, want %s", c.x, c.op, c.all, c.arr, got, c.want)
		}
		if op, all, ok := eval.Quantified(e.Func); !ok || op != r.Func || all != c.all {
			t.Errorf("Quantified does not know %s", e.Func.Name)
		}
	}
}

// TestTimePrecision: values as PostgreSQL 15 gives them.
func TestTimePrecision(t *testing.T) {
	for _, c := range []struct {
		typ  types.Kind
		in   string
		p    int64
		want string
	}{
		{types.Timestamp, "2020-01-01 00:00:00.5", 0, "2020-01-01 00:00:01"},
		{types.Timestamp, "1999-12-31 23:59:58.5", 0, "1999-12-31 23:59:58"},
		{types.Timestamp, "2020-01-01 00:00:00.123456", 3, "2020-01-01 00:00:00.123"},
		{types.Timestamp, "infinity", 0, "infinity"},
		{types.Time, "10:00:00.55", 1, "10:00:00.6"},
		{types.Interval, "-1.25 seconds", 1, "-00:00:01.3"},
	} {
		typ := types.T(c.typ)
		o := &types.TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres"}
		v, err := types.Parse(c.in, typ, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := eval.ResolveFunction(typ.PGName(), []types.Type{typ, types.T(types.Int4)}, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := eval.EvalConst(&eval.Ctx{Context: context.Background(), Zone: time.UTC}, &plan.Call{Func: r.Func, Typ: r.Ret,
			Args: []plan.Expr{&plan.Const{Value: v, Typ: typ}, &plan.Const{Value: types.NewInt(c.p), Typ: types.T(types.Int4)}}})
		if err != nil {
			t.Fatal(err)
		}
		if s := types.Format(got, typ, o); s != c.want {
			t.Errorf("%s(%d) of %s: got %s, want %s", typ, c.p, c.in, s, c.want)
		}
	}
}
