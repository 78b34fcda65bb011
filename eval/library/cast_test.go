package library

import (
	"os"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

var castTypes = map[string]types.Type{
	"smallint": eval.TInt2, "integer": eval.TInt4, "bigint": eval.TInt8, "real": eval.TFloat4, "double precision": eval.TFloat8,
	"numeric": eval.TNumeric, "numeric(10,2)": types.DecimalType(10, 2), "numeric(38,4)": types.DecimalType(38, 4),
	"numeric(5,1)": types.DecimalType(5, 1), "numeric(3,3)": types.DecimalType(3, 3),
	"numeric(20,0)": types.DecimalType(20, 0), "numeric(30,10)": types.DecimalType(30, 10),
	"boolean": eval.TBool, "text": eval.TText, "character varying": eval.TVarchar, "character": eval.TBpchar,
	"character(5)": {Kind: types.Bpchar, Prec: 5}, "character(3)": {Kind: types.Bpchar, Prec: 3},
	"character varying(3)": {Kind: types.Varchar, Prec: 3}, "name": eval.TName, `"char"`: eval.TChar,
	"bytea": eval.TBytea, "date": eval.TDate, "time without time zone": eval.TTime, "time with time zone": eval.TTimeTZ,
	"timestamp without time zone": eval.TTimestamp, "timestamp with time zone": eval.TTimestampTZ,
	"interval": eval.TInterval, "uuid": eval.TUUID, "json": eval.TJSON, "jsonb": eval.TJSONB, "oid": eval.TOid,
	"regclass": types.T(types.Regclass), "regtype": types.T(types.Regtype),
	"regproc": types.T(types.Regproc), "xid": types.T(types.Xid),
}

func castType(t *testing.T, name string) types.Type {
	t.Helper()
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		return types.ArrayOf(castType(t, elem))
	}
	ty, ok := castTypes[name]
	if !ok {
		t.Fatalf("no type %q", name)
	}
	return ty
}

func castLines(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	var rows [][]string
	for _, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		f := strings.Split(l, "\t")
		for i := range f {
			f[i] = unescape.Replace(f[i])
		}
		rows = append(rows, f)
	}
	return rows
}

// What explicit casts give in PostgreSQL 15, in the zone of New York; testdata/generate_casts.py
// asked it. Each value is cast in every shape a vector comes in.
func TestCasts(t *testing.T) {
	c := testCtx()
	o := eval.SessionText(c)
	for _, row := range castLines(t, "casts.tsv") {
		from, in, to, want := castType(t, row[0]), row[1], castType(t, row[2]), row[3]
		if row[2] == "xid" {
			continue
		}
		d, err := types.Parse(in, from, o)
		if err != nil {
			t.Fatalf("%s %q: %v", row[0], in, err)
		}
		cast, ok := eval.LookupCast(from, to, plan.Explicit)
		if no := strings.HasPrefix(want, "!42846"); no || !ok {
			if no != !ok {
				t.Errorf("%s → %s: exists %v, want %.80s", row[0], row[2], ok, want)
			}
			continue
		}
		flat := vec.NewAppender(from)
		flat.AppendNull()
		flat.AppendDatum(d)
		flat.AppendDatum(d)
		dense := vec.NewAppender(from)
		dense.AppendDatum(d)
		dense.AppendDatum(d)
		dict := &vec.Vector{Type: from, Form: dense.Vector().Form, Enc: vec.Dict, Codes: []uint32{1, 0, 1}, Dictionary: dense.Vector()}
		for _, shape := range []struct {
			name string
			in   *vec.Vector
			sel  []uint16
			rows int
		}{
			{"flat", dense.Vector(), nil, 2},
			{"selected", flat.Vector(), []uint16{2}, 3},
			{"const", vec.ConstOf(from, d), nil, 3},
			{"dict", dict, []uint16{0, 2}, 3},
		} {
			out := &vec.Vector{Type: to}
			err := cast(c, shape.in, shape.sel, shape.rows, out)
			got := ""
			if err != nil {
				got = "!" + string(sqlerr.CodeOf(err)) + " " + err.Error()
			} else {
				i := 0
				if shape.sel != nil {
					i = int(shape.sel[len(shape.sel)-1])
				}
				if r := out.Datum(i); !r.IsNull() {
					got = types.Format(r, to, o)
				}
			}
			if got != want {
				t.Errorf("%s %q → %s (%s)\n got %.200s\nwant %.200s", row[0], in, row[2], shape.name, got, want)
				break
			}
		}
	}
}

// Which casts exist, and in which contexts.
func TestCastContexts(t *testing.T) {
	for _, row := range castLines(t, "cast_matrix.tsv") {
		from, to := castType(t, row[0]), castType(t, row[1])
		got := "-"
		for _, c := range []struct {
			ctx  plan.CastContext
			name string
		}{{plan.Explicit, "e"}, {plan.Assignment, "a"}, {plan.Implicit, "i"}} {
			if eval.CanCast(from, to, c.ctx) {
				got = c.name
			}
		}
		if got != row[2] {
			t.Errorf("%s → %s: %s, want %s", row[0], row[1], got, row[2])
		}
	}
}

func TestNestedCasts(t *testing.T) {
	c := testCtx()
	pair := types.StructOf(types.Field{Name: "f1", Type: eval.TInt4}, types.Field{Name: "f2", Type: eval.TText})
	named := types.StructOf(types.Field{Name: "id", Type: eval.TInt8}, types.Field{Name: "price", Type: types.DecimalType(8, 2)})
	m := types.MapOf(eval.TText, eval.TInt4)
	m8 := types.MapOf(eval.TVarchar, eval.TInt8)
	for _, x := range []struct {
		from     types.Type
		text     string
		to       types.Type
		want     string
		wantCode sqlerr.Code
	}{
		{pair, `{"f1": 1, "f2": "2.345"}`, named, `{"id": 1, "price": 2.35}`, ""},
		{pair, `{"f1": null, "f2": null}`, named, `{"id": null, "price": null}`, ""},
		{pair, `{"f1": 1, "f2": "x"}`, named, ``, sqlerr.InvalidTextRepresentation},
		{types.ArrayOf(pair), `{"{\"f1\": 1, \"f2\": \"3\"}",NULL}`, types.ArrayOf(named), `{"{\"id\": 1, \"price\": 3.00}",NULL}`, ""},
		{m, `{"a": 1, "b": null}`, m8, `{"a": 1, "b": null}`, ""},
		{eval.TText, `{"a": 1}`, m, `{"a": 1}`, ""},
		{eval.TText, `{"price": 7, "id": 3}`, named, `{"id": 3, "price": 7.00}`, ""},
		{eval.TJSONB, `{"id": 3, "price": "1.5"}`, named, `{"id": 3, "price": 1.50}`, ""},
		{named, `{"id": 3, "price": 1.5}`, eval.TJSONB, `{"id": 3, "price": 1.50}`, ""},
		{named, `{"id": 3, "price": 1.5}`, eval.TText, `{"id": 3, "price": 1.50}`, ""},
		{types.ArrayOf(types.ArrayOf(eval.TInt4)), `{{1,2},{3}}`, types.ArrayOf(types.ArrayOf(eval.TText)), `{{1,2},{3}}`, ""},
	} {
		d, err := types.Parse(x.text, x.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := eval.CastDatum(c, d, x.from, x.to, plan.Explicit)
		if sqlerr.CodeOf(err) != x.wantCode {
			t.Errorf("%s → %s: %v", x.text, x.to, err)
			continue
		}
		if got := types.Format(r, x.to, nil); err == nil && got != x.want {
			t.Errorf("%s → %s: %s, want %s", x.text, x.to, got, x.want)
		}
	}
}

func BenchmarkCasts(b *testing.B) {
	c := testCtx()
	for _, x := range []struct {
		from, to types.Type
		text     string
	}{
		{eval.TInt4, eval.TFloat8, "123456"},
		{eval.TInt8, types.DecimalType(18, 2), "123456"},
		{types.DecimalType(18, 4), types.DecimalType(18, 2), "123456.7891"},
		{types.DecimalType(18, 2), eval.TFloat8, "123456.78"},
		{eval.TText, eval.TInt4, "123456"},
		{eval.TText, eval.TDate, "2020-01-02"},
		{eval.TText, eval.TTimestamp, "2020-01-02 10:20:30.123456"},
		{eval.TText, types.DecimalType(18, 2), "123456.78"},
		{eval.TInt8, eval.TText, "123456"},
		{eval.TFloat8, eval.TText, "123456.789"},
		{eval.TTimestampTZ, eval.TText, "2020-01-02 10:20:30.123456+00"},
		{eval.TDate, eval.TTimestamp, "2020-01-02"},
	} {
		d, err := types.Parse(x.text, x.from, nil)
		if err != nil {
			b.Fatal(err)
		}
		a := vec.NewAppender(x.from)
		for i := 0; i < vec.BatchRows; i++ {
			a.AppendDatum(d)
		}
		cast, _ := eval.LookupCast(x.from, x.to, plan.Explicit)
		out := &vec.Vector{Type: x.to}
		b.Run(x.from.String()+" to "+x.to.String(), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if err := cast(c, a.Vector(), nil, vec.BatchRows, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.BatchRows, "ns/value")
		})
	}
}

// Elements are cast in chunks; NULLs among them keep their places across chunks.
func TestCastLongArrays(t *testing.T) {
	c := testCtx()
	from, to := types.ArrayOf(eval.TInt4), types.ArrayOf(eval.TText)
	a := vec.NewAppender(from)
	const rows, length = 7, 12000
	for r := 0; r < rows; r++ {
		list := make([]types.Datum, length)
		for i := range list {
			if (r+i)%5 != 0 {
				list[i] = types.NewInt(int64(r*length + i))
			}
		}
		a.AppendDatum(types.NewList(list))
	}
	cast, _ := eval.LookupCast(from, to, plan.Explicit)
	out := &vec.Vector{Type: to}
	if err := cast(c, a.Vector(), []uint16{0, 2, 3, 4, 5, 6}, rows, out); err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{0, 2, 6} {
		before, after := a.Vector().Datum(r).List(), out.Datum(r).List()
		if len(after) != length {
			t.Fatalf("row %d has %d elements", r, len(after))
		}
		for i := range before {
			if before[i].IsNull() != after[i].IsNull() || !before[i].IsNull() && types.Format(before[i], eval.TInt4, nil) != after[i].Str() {
				t.Fatalf("row %d element %d: %v became %v", r, i, before[i], after[i])
			}
		}
	}
}
