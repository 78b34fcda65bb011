package eval

import (
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func TestOperatorsHavePostgresOIDs(t *testing.T) {
	for _, c := range []struct {
		name string
		l, r types.Type
		oid  uint32
	}{
		{"=", tInt4, tInt4, 96}, {"<", tInt8, tInt4, 418}, {"~~", tText, tText, 1209}, {"+", tNumeric, tNumeric, 1758},
		{"=", types.ArrayOf(tInt4), types.ArrayOf(tInt4), 1070}, {"-", types.Type{}, tInt4, 558}, {"||", tText, tText, 654},
	} {
		f := Operator(c.name, c.l, c.r)
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
		{"+", []types.Type{tInt4, tInt4}, "integer, integer: integer"},
		{"+", []types.Type{tInt2, tInt8}, "smallint, bigint: bigint"},
		{"+", []types.Type{tUnknown, tInt4}, "integer, integer: integer"},
		{"-", []types.Type{tInt4, dec}, "numeric, numeric: numeric"},
		{"*", []types.Type{tFloat8, dec}, "double precision, double precision: double precision"},
		{"=", []types.Type{tInt4, tFloat4}, "double precision, real: boolean"},
		{"=", []types.Type{tVarchar, tUnknown}, "text, text: boolean"},
		{"=", []types.Type{tBpchar, tText}, "text, text: boolean"},
		{"=", []types.Type{tBpchar, tUnknown}, "character, character: boolean"},
		{"<", []types.Type{tDate, tTimestamp}, "date, timestamp without time zone: boolean"},
		{"+", []types.Type{tDate, tUnknown}, "operator is not unique: date + unknown"},
		{"-", []types.Type{tDate, tUnknown}, "date, date: integer"},
		{"+", []types.Type{tTimestamp, tUnknown}, "timestamp without time zone, interval: timestamp without time zone"},
		{"||", []types.Type{tUnknown, tUnknown}, "text, text: text"},
		{"||", []types.Type{tText, tInt4}, "text, anynonarray: text"},
		{"||", []types.Type{types.ArrayOf(tInt4), tInt4}, "anyarray, anyelement: integer[]"},
		{"||", []types.Type{types.ArrayOf(tInt4), types.ArrayOf(tInt4)}, "anyarray, anyarray: integer[]"},
		{"~~", []types.Type{tText, tUnknown}, "text, text: boolean"},
		{"+", []types.Type{tText, tInt4}, "operator does not exist: text + integer"},
		{"+", []types.Type{tUnknown, tUnknown}, "operator is not unique: unknown + unknown"},
		{"=", []types.Type{tText, tInt4}, "operator does not exist: text = integer"},
		{"-", []types.Type{tUnknown}, "operator is not unique: - unknown"},
		{"*", []types.Type{tInterval, tInt4}, "interval, double precision: interval"},
		{"!=", []types.Type{tUUID, tUnknown}, "uuid, uuid: boolean"},
	} {
		r, err := ResolveOperator(c.op, c.args)
		got := ""
		if err != nil {
			got = err.Error()
			if sqlerr.CodeOf(err) == sqlerr.InternalError {
				t.Errorf("%s: error without a code", c.op)
			}
		} else {
			got = spellAll(r.Func.Args) + ": " + spell(r.Ret)
		}
		if got != c.want {
			t.Errorf("%s over (%s): got %s, want %s", c.op, spellAll(c.args), got, c.want)
		}
	}
}

func TestNumericResultTypes(t *testing.T) {
	price, disc := types.DecimalType(15, 2), types.DecimalType(15, 2)
	minus, err := ResolveOperator("-", []types.Type{tInt4, disc})
	if err != nil {
		t.Fatal(err)
	}
	if want := types.FixedNumeric(10, 0); !minus.Args[0].Equal(want) {
		t.Errorf("1 becomes %v", minus.Args[0])
	}
	if want := types.FixedNumeric(16, 2); !minus.Ret.Equal(want) {
		t.Errorf("1 - decimal(15,2) is %+v", minus.Ret)
	}
	times, err := ResolveOperator("*", []types.Type{price, minus.Ret})
	if err != nil {
		t.Fatal(err)
	}
	if want := types.FixedNumeric(31, 4); !times.Ret.Equal(want) {
		t.Errorf("the product is %+v", times.Ret)
	}
	div, err := ResolveOperator("/", []types.Type{price, disc})
	if err != nil || div.Ret.Fixed {
		t.Errorf("division gives %+v, %v", div.Ret, err)
	}
}

func TestCommonType(t *testing.T) {
	for _, c := range []struct {
		in   []types.Type
		want string
	}{
		{[]types.Type{tInt4, tInt8}, "bigint"},
		{[]types.Type{tUnknown, tUnknown}, "text"},
		{[]types.Type{tUnknown, tDate}, "date"},
		{[]types.Type{tInt4, tNumeric, tFloat8}, "double precision"},
		{[]types.Type{tDate, tTimestampTZ}, "timestamp with time zone"},
		// As for UNION of varchar and text: text can stand for varchar, so the first type stays.
		{[]types.Type{tVarchar, tText}, "character varying"},
		{[]types.Type{types.DecimalType(5, 2), types.DecimalType(7, 2)}, "numeric"},
		{[]types.Type{types.DecimalType(5, 2), types.DecimalType(5, 2)}, "numeric(5,2)"},
		{[]types.Type{tInt4, tText}, "types integer and text cannot be matched"},
		{[]types.Type{tTimestampNS, tTimestamp}, "timestamp_ns"},
	} {
		got, err := CommonType(c.in)
		s := got.String()
		if err != nil {
			s = err.Error()
		}
		if s != c.want {
			t.Errorf("%s: got %s, want %s", spellAll(c.in), s, c.want)
		}
	}
	if ty, _ := CommonType([]types.Type{types.DecimalType(5, 2), tInt4}); ty.Fixed {
		t.Errorf("1.50 and 0 keep each its own scale, but got %+v", ty)
	}
}

func TestNegateAndCommute(t *testing.T) {
	lt := Operator("<", tInt8, tInt4)
	if f := Negate(lt); f != Operator(">=", tInt8, tInt4) {
		t.Errorf("not < is %v", f)
	}
	if f := Commute(lt); f != Operator(">", tInt4, tInt8) {
		t.Errorf("< turned round is %v", f)
	}
	if f := Negate(Operator("~~", tText, tText)); f != Operator("!~~", tText, tText) {
		t.Errorf("not ~~ is %v", f)
	}
	r, _ := ResolveOperator("IS DISTINCT FROM", []types.Type{tInt4, tInt4})
	n := Negate(r.Func)
	if n == nil || n.Name != "IS NOT DISTINCT FROM" || Negate(n) != r.Func {
		t.Errorf("not distinct is %v", n)
	}
	if Negate(Operator("+", tInt4, tInt4)) != nil {
		t.Error("+ has a negator")
	}
}
