package library

import (
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func intCol(id int) plan.Expr { return &plan.Col{ID: plan.ColID(id), Name: "c", Typ: eval.TInt4} }

func intLit(i int64) plan.Expr { return &plan.Const{Value: types.NewInt(i), Typ: eval.TInt4} }

func boolLit(v bool) plan.Expr { return &plan.Const{Value: types.NewBool(v), Typ: eval.TBool} }

func TestSimplify(t *testing.T) {
	a := intCol(1)
	lt := call(t, "<", a, intLit(1))
	isFalse := func(e plan.Expr) bool {
		c, ok := e.(*plan.Const)
		return ok && !c.Value.IsNull() && !c.Value.Bool()
	}
	if e := eval.Simplify(nil, &plan.And{Args: []plan.Expr{lt, boolLit(false)}}); !isFalse(e) {
		t.Errorf("a < 1 and false is %T", e)
	}
	if e := eval.Simplify(nil, &plan.And{Args: []plan.Expr{lt, boolLit(true)}}); e != lt {
		t.Errorf("a < 1 and true is %T", e)
	}
	not, ok := eval.Simplify(nil, &plan.Not{X: lt}).(*plan.Call)
	if !ok || not.Func.Name != ">=" {
		t.Errorf("not (a < 1) is %v", not)
	}
	sum := eval.Simplify(nil, call(t, "<", a, call(t, "+", intLit(1), intLit(2))))
	if k, ok := sum.(*plan.Call).Args[1].(*plan.Const); !ok || k.Value.Int() != 3 {
		t.Errorf("1 + 2 is not folded")
	}
	// What fails stays, to fail only when a row reaches it.
	div := call(t, "/", intLit(1), intLit(0))
	if _, ok := eval.Simplify(nil, div).(*plan.Call); !ok {
		t.Errorf("1 / 0 was folded")
	}
	cas := &plan.Case{Whens: []plan.When{{Cond: boolLit(false), Then: div}}, Else: intLit(7), Typ: eval.TInt4}
	if k, ok := eval.Simplify(nil, cas).(*plan.Const); !ok || k.Value.Int() != 7 {
		t.Errorf("the case with a false arm is not 7")
	}
}

func TestVolatility(t *testing.T) {
	zoned := &plan.Const{Value: types.NewInt(0), Typ: eval.TTimestampTZ}
	day := &plan.Const{Value: types.NewInt(0), Typ: eval.TDate}
	for _, c := range []struct {
		e    plan.Expr
		want plan.Volatility
	}{
		{call(t, "+", intLit(1), intLit(2)), plan.Immutable},
		{call(t, "<", day, zoned), plan.Stable},
		{&plan.Cast{X: zoned, Typ: eval.TText}, plan.Stable},
		{&plan.Cast{X: zoned, Typ: eval.TTimeTZ}, plan.Stable},
		{&plan.Cast{X: intLit(1), Typ: eval.TText}, plan.Immutable},
	} {
		if got := eval.VolatilityOf(c.e); got != c.want {
			t.Errorf("%T: got %v, want %v", c.e, got, c.want)
		}
	}
}

func TestDeepExpressionsAreRefused(t *testing.T) {
	e := intCol(1)
	for range 5000 {
		e = call(t, "+", e, intLit(1))
	}
	_, err := eval.Compile(e, []plan.Column{{ID: 1, Type: eval.TInt4}})
	if sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
		t.Errorf("got %v", err)
	}
}

func TestUnknownColumnIsAnError(t *testing.T) {
	if _, err := eval.Compile(intCol(9), nil); err == nil {
		t.Error("a column that the input does not have compiles")
	}
}

// A dictionary's answers last while batches bring the same identity, and values that no row
// has cannot fail.
func TestDictionaryAnswersLast(t *testing.T) {
	cols := []plan.Column{{ID: 1, Name: "s", Type: eval.TText}}
	s := &plan.Col{ID: 1, Name: "s", Typ: eval.TText}
	e := call(t, "=", &plan.Cast{X: s, Typ: eval.TInt4, Context: plan.Explicit}, intLit(10))
	p, err := eval.Compile(e, cols)
	if err != nil {
		t.Fatal(err)
	}
	a := vec.NewAppender(eval.TText)
	for _, x := range []string{"10", "not a number", "11"} {
		a.AppendDatum(types.NewStr(x))
	}
	d := a.Vector()
	d.DictID = vec.NewDictID()
	codes := func(c ...uint32) *vec.Batch {
		return &vec.Batch{Rows: len(c), Cols: []*vec.Vector{{Type: eval.TText, Form: types.FormStr, Enc: vec.Dict, Codes: c, Dictionary: d}}}
	}
	ctx := testCtx()
	for _, c := range []struct {
		codes []uint32
		want  int
	}{{[]uint32{0, 2, 0}, 2}, {[]uint32{2, 2}, 0}, {[]uint32{0}, 1}} {
		sel, err := p.Select(ctx, codes(c.codes...), nil)
		if err != nil || len(sel) != c.want {
			t.Errorf("codes %v: %v, %v", c.codes, sel, err)
		}
	}
	if _, err := p.Select(ctx, codes(0, 1), nil); sqlerr.CodeOf(err) != sqlerr.InvalidTextRepresentation {
		t.Errorf("the bad value's row gives %v", err)
	}
	if sel, err := p.Select(ctx, codes(0, 2), nil); err != nil || len(sel) != 1 {
		t.Errorf("after the error: %v, %v", sel, err)
	}
}

// In steady state the usual programs allocate nothing per batch.
func TestProgramsDoNotAllocate(t *testing.T) {
	for _, dict := range []bool{false, true} {
		cols, b := lineitem(dict)
		p, err := eval.Compile(q6(cols), cols)
		if err != nil {
			t.Fatal(err)
		}
		q, err := eval.Compile(opOf("*", col(cols, "price"), opOf("-", litOf(eval.TInt4, "1"), col(cols, "discount"))), cols)
		if err != nil {
			t.Fatal(err)
		}
		c := testCtx()
		out := make([]uint16, vec.BatchRows)
		run := func() {
			if _, err := p.Select(c, b, out); err != nil {
				t.Fatal(err)
			}
			if _, err := q.Eval(c, b); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n > 2 {
			t.Errorf("dict %v: %v allocations a batch", dict, n)
		}
	}
}
