package eval

import (
	"context"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Operators on long arrays look whether anybody waits for them.
func TestLongOperatorsStop(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(sqlerr.New(sqlerr.QueryCanceled, "cancelled by the test"))
	c := &Ctx{Context: ctx}
	defer func() {
		if e, ok := recover().(*sqlerr.Error); !ok || e.Code != sqlerr.QueryCanceled {
			t.Errorf("nothing stopped: %v", e)
		}
	}()
	list := make([]types.Datum, 10000)
	contains(c, list, list, TInt4, TInt8)
	amongst(c, list, 1, TInt4, TInt8)(types.NewInt(1))
	for range 64 {
		amongst(c, list, 100, TInt4, TInt4)(types.NewInt(1))
	}
}

// What takes longer than compiling may is left to who evaluates it: compiling does not fail for it.
func TestFoldingEndsQuietly(t *testing.T) {
	list := make([]types.Datum, 10000)
	for i := range list {
		list[i] = types.NewInt(int64(i))
	}
	array := &plan.Const{Value: types.NewList(list), Typ: types.ArrayOf(TInt4)}
	r, err := ResolveOperator("@>", []types.Type{array.Typ, array.Typ})
	if err != nil {
		t.Fatal(err)
	}
	past := &briefly{Context: context.Background(), asked: time.Now().Add(-time.Hour)}
	e := &plan.Call{Func: r.Func, Args: []plan.Expr{array, array}, Typ: r.Ret, Pos: -1}
	if d, ok := (folder{ctx: &Ctx{Context: past}, upTo: plan.Immutable}).compute(e); ok {
		t.Errorf("folded to %v", d)
	}
}
