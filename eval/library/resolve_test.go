package library

import (
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// The answers are PostgreSQL 15's.
func TestResolveFunction(t *testing.T) {
	for _, c := range []struct {
		name     string
		args     []types.Type
		variadic bool
		want     string // what the arguments become, then the result; or the error
	}{
		{"abs", []types.Type{eval.TInt4}, false, "integer: integer"},
		{"abs", []types.Type{eval.TUnknown}, false, "double precision: double precision"},
		{"length", []types.Type{eval.TUnknown}, false, "text: integer"},
		{"length", []types.Type{eval.TVarchar}, false, "text: integer"},
		{"round", []types.Type{eval.TInt4}, false, "double precision: double precision"},
		{"round", []types.Type{types.DecimalType(5, 3), eval.TInt4}, false, "numeric, integer: numeric"},
		{"round", []types.Type{eval.TFloat8, eval.TInt4}, false, "function round(double precision, integer) does not exist"},
		{"upper", []types.Type{eval.TInt4}, false, "function upper(integer) does not exist"},
		{"nosuch", nil, false, "function nosuch() does not exist"},
		{"date_trunc", []types.Type{eval.TUnknown, eval.TTimestampTZ}, false, "text, timestamp with time zone: timestamp with time zone"},
		{"date_trunc", []types.Type{eval.TUnknown, eval.TDate}, false, "text, timestamp with time zone: timestamp with time zone"},
		{"concat", []types.Type{eval.TText, eval.TInt4, eval.TUnknown}, false, "text, integer, text: text"},
		{"concat", []types.Type{types.ArrayOf(eval.TInt4)}, true, "integer[]: text"},
		{"array_append", []types.Type{types.ArrayOf(eval.TInt4), eval.TUnknown}, false, "integer[], integer: integer[]"},
		{"array_append", []types.Type{types.ArrayOf(eval.TInt4), eval.TInt8}, false, "bigint[], bigint: bigint[]"},
		{"array_length", []types.Type{eval.TUnknown, eval.TInt4}, false, "could not determine polymorphic type because input has type unknown"},
		{"greatest", []types.Type{eval.TInt4, eval.TFloat8}, false, "double precision, double precision: double precision"},
		{"least", []types.Type{eval.TInt4, eval.TText}, false, "LEAST types integer and text cannot be matched"},
		{"power", []types.Type{eval.TInt4, eval.TInt4}, false, "double precision, double precision: double precision"},
		{"power", []types.Type{types.DecimalType(5, 2), eval.TInt4}, false, "numeric, numeric: numeric"},
		{"sum", []types.Type{eval.TInt4}, false, "integer: bigint"},
		{"max", []types.Type{eval.TVarchar}, false, "text: text"},
		{"count", []types.Type{eval.TInt4}, false, "integer: bigint"},
		{"generate_series", []types.Type{eval.TInt4, eval.TInt8}, false, "bigint, bigint: bigint"},
	} {
		r, err := eval.ResolveFunction(c.name, c.args, c.variadic)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = eval.SpellAll(r.Args) + ": " + eval.SpellAll([]types.Type{r.Ret})
		}
		if got != c.want {
			t.Errorf("%s over (%s): got %s, want %s", c.name, eval.SpellAll(c.args), got, c.want)
		}
	}
}

func TestVariadicArray(t *testing.T) {
	arr := types.ArrayOf(eval.TInt4)
	r, err := eval.ResolveFunction("concat_ws", []types.Type{eval.TUnknown, arr}, true)
	if err != nil {
		t.Fatal(err)
	}
	list := &plan.Const{Value: types.NewList([]types.Datum{types.NewInt(1), types.Null, types.NewInt(2)}), Typ: arr}
	x := &plan.Const{Value: types.NewStr("x"), Typ: eval.TText}
	if got := answer(testCtx(), callResolved(r, []plan.Expr{x, list})); got != "1x2" {
		t.Errorf("concat_ws('x', variadic {1,NULL,2}) is %s", got)
	}
}
