package eval

import (
	"testing"

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
		{"abs", []types.Type{tInt4}, false, "integer: integer"},
		{"abs", []types.Type{tUnknown}, false, "double precision: double precision"},
		{"length", []types.Type{tUnknown}, false, "text: integer"},
		{"length", []types.Type{tVarchar}, false, "text: integer"},
		{"round", []types.Type{tInt4}, false, "double precision: double precision"},
		{"round", []types.Type{types.DecimalType(5, 3), tInt4}, false, "numeric, integer: numeric"},
		{"round", []types.Type{tFloat8, tInt4}, false, "function round(double precision, integer) does not exist"},
		{"upper", []types.Type{tInt4}, false, "function upper(integer) does not exist"},
		{"nosuch", nil, false, "function nosuch() does not exist"},
		{"date_trunc", []types.Type{tUnknown, tTimestampTZ}, false, "text, timestamp with time zone: timestamp with time zone"},
		{"date_trunc", []types.Type{tUnknown, tDate}, false, "text, timestamp with time zone: timestamp with time zone"},
		{"concat", []types.Type{tText, tInt4, tUnknown}, false, "text, integer, text: text"},
		{"concat", []types.Type{types.ArrayOf(tInt4)}, true, "integer[]: text"},
		{"array_append", []types.Type{types.ArrayOf(tInt4), tUnknown}, false, "integer[], integer: integer[]"},
		{"array_append", []types.Type{types.ArrayOf(tInt4), tInt8}, false, "bigint[], bigint: bigint[]"},
		{"array_length", []types.Type{tUnknown, tInt4}, false, "could not determine polymorphic type because input has type unknown"},
		{"greatest", []types.Type{tInt4, tFloat8}, false, "double precision, double precision: double precision"},
		{"least", []types.Type{tInt4, tText}, false, "LEAST types integer and text cannot be matched"},
		{"power", []types.Type{tInt4, tInt4}, false, "double precision, double precision: double precision"},
		{"power", []types.Type{types.DecimalType(5, 2), tInt4}, false, "numeric, numeric: numeric"},
		{"sum", []types.Type{tInt4}, false, "integer: bigint"},
		{"max", []types.Type{tVarchar}, false, "text: text"},
		{"count", []types.Type{tInt4}, false, "integer: bigint"},
		{"generate_series", []types.Type{tInt4, tInt8}, false, "bigint, bigint: bigint"},
	} {
		r, err := ResolveFunction(c.name, c.args, c.variadic)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = spellAll(r.Args) + ": " + spell(r.Ret)
		}
		if got != c.want {
			t.Errorf("%s over (%s): got %s, want %s", c.name, spellAll(c.args), got, c.want)
		}
	}
}

func TestVariadicArray(t *testing.T) {
	arr := types.ArrayOf(tInt4)
	r, err := ResolveFunction("concat_ws", []types.Type{tUnknown, arr}, true)
	if err != nil {
		t.Fatal(err)
	}
	list := &plan.Const{Value: types.NewList([]types.Datum{types.NewInt(1), types.Null, types.NewInt(2)}), Typ: arr}
	x := &plan.Const{Value: types.NewStr("x"), Typ: tText}
	if got := answer(testCtx(), callResolved(r, []plan.Expr{x, list})); got != "1x2" {
		t.Errorf("concat_ws('x', variadic {1,NULL,2}) is %s", got)
	}
}
