package types

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// copyFields reads a line of COPY's text format.
func copyFields(line string) []string {
	f := strings.Split(line, "\t")
	r := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\b`, "\b", `\f`, "\f", `\v`, "\v")
	for i := range f {
		f[i] = r.Replace(f[i])
	}
	return f
}

func readLines(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		rows = append(rows, copyFields(l))
	}
	return rows
}

func outcome(s string, err error) string {
	if err != nil {
		return "!" + string(sqlerr.CodeOf(err)) + " " + err.Error()
	}
	return s
}

var typeNames = map[string]Type{
	"smallint": T(Int2), "integer": T(Int4), "bigint": T(Int8), "oid": T(Oid), "real": T(Float4),
	"double precision": T(Float8), "numeric": T(Numeric), "numeric(10,2)": DecimalType(10, 2),
	"numeric(3,3)": DecimalType(3, 3), "numeric(5,0)": DecimalType(5, 0), "boolean": T(Bool), "uuid": T(UUID), "bytea": T(Bytea), "json": T(JSON),
	"jsonb": T(JSONB), "integer[]": ArrayOf(T(Int4)), "text[]": ArrayOf(T(Text)),
	"numeric[]": ArrayOf(T(Numeric)), "timestamp without time zone[]": ArrayOf(T(Timestamp)),
	"character varying(3)": {Kind: Varchar, Prec: 3}, "character(3)": {Kind: Bpchar, Prec: 3},
	"name": T(Name), `"char"`: T(Char), "time without time zone": T(Time),
	"time with time zone": T(TimeTZ), "timestamp with time zone": T(TimestampTZ),
	"timestamp without time zone": T(Timestamp), "date": T(Date), "interval": T(Interval),
}

// What PostgreSQL 15 accepts, refuses and prints; testdata/generate.py asked it.
func TestTextInputOutput(t *testing.T) {
	for _, row := range readLines(t, "text_io.tsv") {
		settings, typ, in, want := row[0], row[1], row[2], row[3]
		o := &TextOptions{ExtraFloatDigits: 1, Zone: time.UTC}
		for _, kv := range strings.Split(settings, ";") {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "extra_float_digits":
				o.ExtraFloatDigits, _ = strconv.Atoi(v)
			case "bytea_output":
				o.ByteaOutput = v
			case "timezone":
				var err error
				if o.Zone, _, err = LoadZone(v); err != nil {
					t.Fatal(err)
				}
			case "datestyle":
				o.DateStyle = v
			case "intervalstyle":
				o.IntervalStyle = v
			}
		}
		ty, ok := typeNames[typ]
		if !ok {
			t.Fatalf("no type %q", typ)
		}
		got := ""
		var err error
		var d Datum
		if ty.Kind == Varchar || ty.Kind == Bpchar {
			var s string
			s, err = FitLength(in, ty, true)
			d = NewStr(s)
		} else {
			d, err = Parse(in, ty, o)
		}
		if err == nil {
			got = Format(d, ty, o)
			if ty.Kind == Bool {
				got = map[string]string{"t": "1", "f": "0"}[got]
			}
			// What we print we read back as the same value.
			if o.ExtraFloatDigits > 0 && !(strings.HasPrefix(o.DateStyle, "SQL") || strings.HasPrefix(o.DateStyle, "Postgres") || o.DateStyle == "German") && ty.Kind != Bool {
				back, err := Parse(got, ty, o)
				if err != nil || Compare(d, back, ty) != 0 {
					t.Errorf("%s %s %q → %q does not read back: %v", settings, typ, in, got, err)
				}
			}
		}
		if got := outcome(got, err); got != want {
			t.Errorf("%s %s %q\n got %s\nwant %s", settings, typ, in, got, want)
		}
	}
}

func TestDecimalArithmetic(t *testing.T) {
	for _, row := range readLines(t, "decimal.tsv") {
		op, want := row[0], row[3]
		a, err := ParseDecimal(row[1])
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseDecimal(row[2])
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(row[2])
		var r Decimal
		text := ""
		switch op {
		case "+":
			r = a.Add(b)
		case "-":
			r = a.Sub(b)
		case "*":
			r = a.Mul(b)
		case "/":
			r, err = a.Div(b)
		case "%":
			r, err = a.Mod(b)
		case "div":
			r, err = a.Quo(b)
		case "cmp":
			text = strconv.Itoa(sign(a.Cmp(b)))
		case "round":
			r = a.Round(n)
		case "trunc":
			r = a.Trunc(n)
		case "sqrt":
			r, err = a.Sqrt()
		case "ln":
			r, err = a.Ln()
		case "exp":
			r, err = a.Exp()
		case "log":
			r, err = b.Log(a)
		case "power":
			r, err = a.Pow(b)
		case "ceil":
			r = a.Ceil()
		case "floor":
			r = a.Floor()
		case "trim_scale":
			r = a.TrimScale()
		case "abs":
			r = a.Abs()
		case "int8", "int4", "float8", "float4":
			ty := map[string]Type{"int8": T(Int8), "int4": T(Int4), "float8": T(Float8), "float4": T(Float4)}[op]
			var d Datum
			d, err = a.Datum(ty)
			if err == nil {
				text = Format(d, ty, nil)
			}
		}
		if text == "" && err == nil {
			var d Datum
			if d, err = r.Datum(T(Numeric)); err == nil {
				text = Format(d, T(Numeric), nil)
				if back := DecodeDecimal([]byte(r.Encode())); back.String() != r.String() {
					t.Errorf("%s encodes as %s", r, back)
				}
			}
		}
		if got := outcome(text, err); got != want {
			t.Errorf("%s(%s, %s)\n got %.300s\nwant %.300s", op, row[1], row[2], got, want)
		}
	}
}

func TestKeysAgreeWithCompare(t *testing.T) {
	cases := []struct {
		t     Type
		texts []string
	}{
		{T(Numeric), []string{"1", "1.0", "1.00", "10", "0", "-0.0", "NaN", "Infinity", "12345678901234567890.10", "12345678901234567890.1"}},
		{T(Float8), []string{"0", "-0", "NaN", "1"}},
		{T(Interval), []string{"1 month", "30 days", "720 hours", "31 days"}},
		{T(JSONB), []string{`{"a": 1}`, `{"a": 1.0}`, `[]`, `1`, `"1"`, `{"a":1,"b":2}`}},
		{ArrayOf(T(Int4)), []string{"{}", "{1}", "{NULL}", "{1,NULL}"}},
		{T(Bpchar), []string{"a", "a  ", "b"}},
		{DecimalType(10, 2), []string{"1", "1.00", "2"}},
		{DecimalType(38, 2), []string{"1", "1.00", "2"}},
	}
	for _, c := range cases {
		for _, x := range c.texts {
			for _, y := range c.texts {
				a, err1 := Parse(x, c.t, nil)
				b, err2 := Parse(y, c.t, nil)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				same := string(AppendKey(nil, a, c.t)) == string(AppendKey(nil, b, c.t))
				if same != (Compare(a, b, c.t) == 0) {
					t.Errorf("%s: %s and %s: keys equal %v, compare %d", c.t, x, y, same, Compare(a, b, c.t))
				}
			}
		}
	}
}

func TestInt128(t *testing.T) {
	vals := []Int128{{}, FromInt64(1), FromInt64(-1), FromInt64(math.MaxInt64), FromInt64(math.MinInt64), MaxInt128, MinInt128, {Lo: 5, Hi: 7}, {Lo: 5, Hi: -7}, MulInt64(1e18, 1e18)}
	for _, a := range vals {
		if a.String() != a.Big().String() {
			t.Errorf("%s prints as %s", a.Big(), a)
		}
		for _, b := range vals {
			x, y := a.Big(), b.Big()
			check := func(op string, r Int128, ok bool, want string, fits bool) {
				if ok != fits || ok && r.String() != want {
					t.Errorf("%s %s %s = %s %v, want %s %v", a, op, b, r, ok, want, fits)
				}
			}
			z := a.Big().Add(x, y)
			_, fits := Int128FromBig(z)
			r, ok := a.AddOK(b)
			check("+", r, ok, z.String(), fits)
			x = a.Big()
			z = a.Big().Sub(x, y)
			_, fits = Int128FromBig(z)
			r, ok = a.SubOK(b)
			check("-", r, ok, z.String(), fits)
			z = a.Big().Mul(x, y)
			_, fits = Int128FromBig(z)
			r, ok = a.Mul(b)
			check("*", r, ok, z.String(), fits)
			if b.Sign() != 0 && !(a == MinInt128 && b == FromInt64(-1)) {
				q, m := a.QuoRem(b)
				bq, bm := a.Big().QuoRem(x, y, b.Big())
				if q.String() != bq.String() || m.String() != bm.String() {
					t.Errorf("%s / %s = %s rem %s, want %s rem %s", a, b, q, m, bq, bm)
				}
			}
			if a.Cmp(b) != a.Big().Cmp(b.Big()) {
				t.Errorf("cmp %s %s", a, b)
			}
		}
	}
}
