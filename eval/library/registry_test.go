package library

import (
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func TestOperatorsHavePostgresOIDs(t *testing.T) {
	for _, c := range []struct {
		name string
		l, r types.Type
		oid  uint32
	}{
		{"=", eval.TInt4, eval.TInt4, 96}, {"<", eval.TInt8, eval.TInt4, 418}, {"~~", eval.TText, eval.TText, 1209}, {"+", eval.TNumeric, eval.TNumeric, 1758},
		{"=", types.ArrayOf(eval.TInt4), types.ArrayOf(eval.TInt4), 1070}, {"-", types.Type{}, eval.TInt4, 558}, {"||", eval.TText, eval.TText, 654},
	} {
		f := eval.Operator(c.name, c.l, c.r)
		if f == nil {
			t.Errorf("no operator %s %s %s", c.l, c.name, c.r)
		} else if f.OID != c.oid {
			t.Errorf("%s %s %s has the OID %d, want %d", c.l, c.name, c.r, f.OID, c.oid)
		}
	}
}

// The answers are PostgreSQL 15's.
func TestResolveOperator(t *testing.T) {
	dec := types.DecimalType(15, 2)
	for _, c := range []struct {
		op   string
		args []types.Type
		want string // declared types of the operator, then result; or the error
	}{
		{"+", []types.Type{eval.TInt4, eval.TInt4}, "integer, integer: integer"},
		{"+", []types.Type{eval.TInt2, eval.TInt8}, "smallint, bigint: bigint"},
		{"+", []types.Type{eval.TUnknown, eval.TInt4}, "integer, integer: integer"},
		{"-", []types.Type{eval.TInt4, dec}, "numeric, numeric: numeric"},
		{"*", []types.Type{eval.TFloat8, dec}, "double precision, double precision: double precision"},
		{"=", []types.Type{eval.TInt4, eval.TFloat4}, "double precision, real: boolean"},
		{"=", []types.Type{eval.TVarchar, eval.TUnknown}, "text, text: boolean"},
		{"=", []types.Type{eval.TBpchar, eval.TText}, "text, text: boolean"},
		{"=", []types.Type{eval.TBpchar, eval.TUnknown}, "character, character: boolean"},
		{"<", []types.Type{eval.TDate, eval.TTimestamp}, "date, timestamp without time zone: boolean"},
		{"+", []types.Type{eval.TDate, eval.TUnknown}, "operator is not unique: date + unknown"},
		{"-", []types.Type{eval.TDate, eval.TUnknown}, "date, date: integer"},
		{"+", []types.Type{eval.TTimestamp, eval.TUnknown}, "timestamp without time zone, interval: timestamp without time zone"},
		{"||", []types.Type{eval.TUnknown, eval.TUnknown}, "text, text: text"},
		{"||", []types.Type{eval.TText, eval.TInt4}, "text, anynonarray: text"},
		{"||", []types.Type{types.ArrayOf(eval.TInt4), eval.TInt4}, "anyarray, anyelement: integer[]"},
		{"||", []types.Type{types.ArrayOf(eval.TInt4), types.ArrayOf(eval.TInt4)}, "anyarray, anyarray: integer[]"},
		{"~~", []types.Type{eval.TText, eval.TUnknown}, "text, text: boolean"},
		{"+", []types.Type{eval.TText, eval.TInt4}, "operator does not exist: text + integer"},
		{"+", []types.Type{eval.TUnknown, eval.TUnknown}, "operator is not unique: unknown + unknown"},
		{"=", []types.Type{eval.TText, eval.TInt4}, "operator does not exist: text = integer"},
		{"-", []types.Type{eval.TUnknown}, "operator is not unique: - unknown"},
		{"*", []types.Type{eval.TInterval, eval.TInt4}, "interval, double precision: interval"},
		{"!=", []types.Type{eval.TUUID, eval.TUnknown}, "uuid, uuid: boolean"},
	} {
		r, err := eval.ResolveOperator(c.op, c.args)
		got := ""
		if err != nil {
			got = err.Error()
			if sqlerr.CodeOf(err) == sqlerr.InternalError {
				t.Errorf("%s: error without a code", c.op)
			}
		} else {
			got = eval.SpellAll(r.Func.Args) + ": " + eval.SpellAll([]types.Type{r.Ret})
		}
		if got != c.want {
			t.Errorf("%s over (%s): got %s, want %s", c.op, eval.SpellAll(c.args), got, c.want)
		}
	}
}

func TestNumericResultTypes(t *testing.T) {
	price, disc := types.DecimalType(15, 2), types.DecimalType(15, 2)
	minus, err := eval.ResolveOperator("-", []types.Type{eval.TInt4, disc})
	if err != nil {
		t.Fatal(err)
	}
	if want := types.FixedNumeric(10, 0); !minus.Args[0].Equal(want) {
		t.Errorf("1 becomes %v", minus.Args[0])
	}
	if want := types.FixedNumeric(16, 2); !minus.Ret.Equal(want) {
		t.Errorf("1 - decimal(15,2) is %+v", minus.Ret)
	}
	times, err := eval.ResolveOperator("*", []types.Type{price, minus.Ret})
	if err != nil {
		t.Fatal(err)
	}
	if want := types.FixedNumeric(31, 4); !times.Ret.Equal(want) {
		t.Errorf("the product is %+v", times.Ret)
	}
	div, err := eval.ResolveOperator("/", []types.Type{price, disc})
	if err != nil || div.Ret.Fixed {
		t.Errorf("division gives %+v, %v", div.Ret, err)
	}
}

func TestCommonType(t *testing.T) {
	for _, c := range []struct {
		in   []types.Type
		want string
	}{
		{[]types.Type{eval.TInt4, eval.TInt8}, "bigint"},
		{[]types.Type{eval.TUnknown, eval.TUnknown}, "text"},
		{[]types.Type{eval.TUnknown, eval.TDate}, "date"},
		{[]types.Type{eval.TInt4, eval.TNumeric, eval.TFloat8}, "double precision"},
		{[]types.Type{eval.TDate, eval.TTimestampTZ}, "timestamp with time zone"},
		// As for UNION of varchar and text: text can stand for varchar, so the first type stays.
		{[]types.Type{eval.TVarchar, eval.TText}, "character varying"},
		{[]types.Type{types.DecimalType(5, 2), types.DecimalType(7, 2)}, "numeric"},
		{[]types.Type{types.DecimalType(5, 2), types.DecimalType(5, 2)}, "numeric(5,2)"},
		{[]types.Type{eval.TInt4, eval.TText}, "types integer and text cannot be matched"},
		{[]types.Type{eval.TTimestampNS, eval.TTimestamp}, "timestamp_ns"},
	} {
		got, err := eval.CommonType(c.in)
		s := got.String()
		if err != nil {
			s = err.Error()
		}
		if s != c.want {
			t.Errorf("%s: got %s, want %s", eval.SpellAll(c.in), s, c.want)
		}
	}
	if ty, _ := eval.CommonType([]types.Type{types.DecimalType(5, 2), eval.TInt4}); ty.Fixed {
		t.Errorf("1.50 and 0 keep each its own scale, but got %+v", ty)
	}
}

func TestNegateAndCommute(t *testing.T) {
	lt := eval.Operator("<", eval.TInt8, eval.TInt4)
	if f := eval.Negate(lt); f != eval.Operator(">=", eval.TInt8, eval.TInt4) {
		t.Errorf("not < is %v", f)
	}
	if f := eval.Commute(lt); f != eval.Operator(">", eval.TInt4, eval.TInt8) {
		t.Errorf("< turned round is %v", f)
	}
	if f := eval.Negate(eval.Operator("~~", eval.TText, eval.TText)); f != eval.Operator("!~~", eval.TText, eval.TText) {
		t.Errorf("not ~~ is %v", f)
	}
	r, _ := eval.ResolveOperator("IS DISTINCT FROM", []types.Type{eval.TInt4, eval.TInt4})
	n := eval.Negate(r.Func)
	if n == nil || n.Name != "IS NOT DISTINCT FROM" || eval.Negate(n) != r.Func {
		t.Errorf("not distinct is %v", n)
	}
	if eval.Negate(eval.Operator("+", eval.TInt4, eval.TInt4)) != nil {
		t.Error("+ has a negator")
	}
}
