package library

import (
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// FuzzTexts: functions that read a little language of their own (templates, patterns, paths,
// formats) answer or refuse, whatever they are given.
func FuzzTexts(f *testing.F) {
	for _, s := range [][2]string{{"2020-02-29 12:34", "YYYY-MM-DD HH24:MI"}, {"12,345.6-", "99G999D9S"}, {"{\"a\": [1]}", "$.a[*] ? (@ > 1)"},
		{"%1$-10s|%L", "x"}, {"foobar", "(o+)(b)?"}, {"5 GB", "FM999.009th"}, {"a_%b", "#"}, {`\0041\+000061`, "hex"}, {"", ""}} {
		f.Add(s[0], s[1], int64(-485), 12.5)
	}
	f.Fuzz(func(t *testing.T, a, b string, n int64, x float64) {
		if !validTexts(a, b) {
			return // text is UTF-8 without zero bytes
		}
		c := testCtx()
		text := func(s string) plan.Expr { return &plan.Const{Value: types.NewStr(s), Typ: eval.TText} }
		num := func(typ types.Type, d types.Datum) plan.Expr { return &plan.Const{Value: d, Typ: typ} }
		run := func(name string, args ...plan.Expr) {
			ts := make([]types.Type, len(args))
			for i, e := range args {
				ts[i] = e.Type()
			}
			r, err := eval.ResolveFunction(name, ts, false)
			if err != nil {
				t.Fatal(name, err)
			}
			answer(c, callResolved(r, args))
		}
		for _, fn := range []string{"to_date", "to_timestamp", "to_number", "regexp_match", "regexp_replace", "substring", "decode", "format", "split_part",
			"regexp_split_to_array", "regexp_count", "similar_to_escape", "string_to_array", "translate"} {
			switch fn {
			case "regexp_replace", "translate":
				run(fn, text(a), text(b), text(a))
			case "split_part":
				run(fn, text(a), text(b), num(eval.TInt4, types.NewInt(int64(int32(n)))))
			default:
				run(fn, text(a), text(b))
			}
		}
		run("unistr", text(a))
		run("pg_size_bytes", text(a))
		run("to_char", num(eval.TInt8, types.NewInt(n)), text(b))
		run("to_char", num(eval.TFloat8, types.NewFloat(x)), text(b))
		run("to_char", num(eval.TNumeric, types.NewStr(types.DecimalFromFloat64(x).Encode())), text(b))
		run("to_char", num(eval.TTimestamp, types.NewInt(n%8e18)), text(b))
		run("to_char", num(eval.TInterval, types.NewW128(types.IntervalValue{Months: int32(n), Days: int32(n >> 20), Micros: n}.W128())), text(b))
		run("jsonb_path_query_array", num(eval.TJSONB, types.NewStr(`{"a": [1, {"b": "x"}], "c": null}`)), num(eval.TJSONPath, types.NewStr(b)))
		if s, err := types.CanonicalJSON(a); err == nil {
			j := num(eval.TJSONB, types.NewStr(s))
			run("jsonb_path_query_array", j, num(eval.TJSONPath, types.NewStr(b)))
			run("jsonb_pretty", j)
			run("jsonb_extract_path", j, text(b))
			run("jsonb_array_length", j)
		}
	})
}

func validTexts(ss ...string) bool {
	for _, s := range ss {
		for _, r := range s {
			if r == 0xFFFD || r == 0 {
				return false
			}
		}
	}
	return true
}
