package library

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The generated tests make a relation, write it down in several encodings and selections, and
// want the same answers (or errors) as from computing each row alone as constants.

type relation struct {
	cols []plan.Column
	data [][]types.Datum // by column, then row
	rows int
}

func (r *relation) col(name string) plan.Expr {
	for _, c := range r.cols {
		if c.Name == name {
			return &plan.Col{ID: c.ID, Name: name, Typ: c.Type}
		}
	}
	panic(name)
}

var testColumns = []struct {
	name string
	typ  types.Type
	gen  func(r *rand.Rand) types.Datum
}{
	{"i2", eval.TInt2, func(r *rand.Rand) types.Datum { return types.NewInt(int64(r.IntN(9) - 4)) }},
	{"i4", eval.TInt4, func(r *rand.Rand) types.Datum {
		return types.NewInt([]int64{0, 1, -1, 3, math.MaxInt32, math.MinInt32}[r.IntN(6)])
	}},
	{"i8", eval.TInt8, func(r *rand.Rand) types.Datum {
		return types.NewInt([]int64{0, 1, -1, 5, math.MaxInt64, math.MinInt64, 1 << 40}[r.IntN(7)])
	}},
	{"f8", eval.TFloat8, func(r *rand.Rand) types.Datum {
		return types.NewFloat([]float64{0, math.Copysign(0, -1), 1.5, -2, math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(7)])
	}},
	{"dec", types.DecimalType(9, 2), func(r *rand.Rand) types.Datum { return types.NewInt(int64(r.IntN(2001) - 1000)) }},
	{"big", types.DecimalType(38, 4), func(r *rand.Rand) types.Datum {
		if r.IntN(4) > 0 {
			return types.NewW128(types.FromInt64(int64(r.IntN(20000) - 10000)))
		}
		return types.NewW128(types.MulInt64(math.MaxInt64, int64(r.IntN(3)+1)<<50))
	}},
	{"num", eval.TNumeric, func(r *rand.Rand) types.Datum {
		d, _ := types.ParseDecimal([]string{"0", "1.50", "-2.5", "NaN", "1e30", "0.001", "10"}[r.IntN(7)])
		return types.NewStr(d.Encode())
	}},
	{"s", eval.TText, func(r *rand.Rand) types.Datum {
		return types.NewStr([]string{"", "a", "abc", "zebra", "forest green", "a_b", "É"}[r.IntN(7)])
	}},
	{"s2", eval.TText, func(r *rand.Rand) types.Datum {
		return types.NewStr([]string{"abc", "a%", "%b%", "z", "10", "x"}[r.IntN(6)])
	}},
	{"b", eval.TBool, func(r *rand.Rand) types.Datum { return types.NewBool(r.IntN(2) == 0) }},
	{"d", eval.TDate, func(r *rand.Rand) types.Datum { return types.NewInt(int64(9000 + r.IntN(10))) }},
	{"ts", eval.TTimestamp, func(r *rand.Rand) types.Datum {
		return types.NewInt(int64(9000+r.IntN(10))*types.MicrosPerDay + int64(r.IntN(2)))
	}},
	{"u", eval.TUUID, func(r *rand.Rand) types.Datum {
		return types.NewW128(types.Int128{Lo: uint64(r.IntN(3)), Hi: int64(r.IntN(3)-1) << 60})
	}},
	{"iv", eval.TInterval, func(r *rand.Rand) types.Datum {
		return types.NewW128(types.IntervalValue{Months: int32(r.IntN(2)), Days: int32(r.IntN(2) * 30)}.W128())
	}},
	{"arr", types.ArrayOf(eval.TInt4), func(r *rand.Rand) types.Datum {
		l := make([]types.Datum, r.IntN(3))
		for i := range l {
			if r.IntN(4) > 0 {
				l[i] = types.NewInt(int64(r.IntN(3)))
			}
		}
		return types.NewList(l)
	}},
}

func makeRelation(r *rand.Rand, rows int) *relation {
	rel := &relation{rows: rows}
	for i, c := range testColumns {
		rel.cols = append(rel.cols, plan.Column{ID: plan.ColID(i + 1), Name: c.name, Type: c.typ})
		vals := make([]types.Datum, rows)
		nulls := r.IntN(3) // none, some, many
		for j := range vals {
			if nulls == 0 || r.IntN(8) >= nulls*2 {
				vals[j] = c.gen(r)
			}
		}
		rel.data = append(rel.data, vals)
	}
	return rel
}

// encode writes column i as a vector.
func (rel *relation) encode(r *rand.Rand, i int, enc vec.Enc) *vec.Vector {
	t := rel.cols[i].Type
	vals := rel.data[i]
	switch enc {
	case vec.Const:
		same := true
		for _, v := range vals {
			same = same && fmt.Sprint(v) == fmt.Sprint(vals[0]) // equal intervals may differ
		}
		if same && rel.rows > 0 {
			if vals[0].IsNull() {
				a := vec.NewAppender(t)
				a.AppendDatum(types.Null)
				v := a.Vector()
				v.Enc = vec.Const
				return v
			}
			v := vec.ConstOf(t, vals[0])
			v.Type = t
			return v
		}
	case vec.Dict:
		a := vec.NewAppender(t)
		v := &vec.Vector{Type: t, Enc: vec.Dict, Codes: make([]uint32, rel.rows)}
		extra := r.IntN(3) // values that no row has
		for range extra {
			a.AppendDatum(testColumns[i].gen(r))
		}
		for j, d := range vals {
			if d.IsNull() {
				if v.Valid == nil {
					v.Valid = vec.NewBitmap(rel.rows, true)
				}
				v.Valid.Clear(j)
				continue
			}
			v.Codes[j] = uint32(a.Len())
			if a.Len() > 0 && r.IntN(2) == 0 { // reuse an equal value if the last one is
				last := a.Vector().Datum(a.Len() - 1)
				if fmt.Sprint(last) == fmt.Sprint(d) {
					v.Codes[j] = uint32(a.Len() - 1)
					continue
				}
			}
			a.AppendDatum(d)
		}
		v.Dictionary = a.Vector()
		v.Form = v.Dictionary.Form
		if r.IntN(2) == 0 {
			v.Dictionary.DictID = vec.NewDictID()
		}
		return v
	}
	a := vec.NewAppender(t)
	for _, d := range vals {
		a.AppendDatum(d)
	}
	return a.Vector()
}

// rowExpr is e with the columns replaced by row i's values.
func (rel *relation) rowExpr(e plan.Expr, i int) plan.Expr {
	return plan.MapExpr(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Col); ok {
			return &plan.Const{Value: rel.data[c.ID-1][i], Typ: c.Typ}
		}
		return x
	})
}

// testExprs are expressions that between them reach every kind of node.
func testExprs(t *testing.T, rel *relation) map[string]plan.Expr {
	c := rel.col
	opx := func(name string, args ...plan.Expr) plan.Expr { return call(t, name, args...) }
	lit := func(typ types.Type, s string) plan.Expr {
		d, err := types.Parse(s, typ, nil)
		if err != nil {
			t.Fatal(err)
		}
		return &plan.Const{Value: d, Typ: typ}
	}
	and := func(a ...plan.Expr) plan.Expr { return &plan.And{Args: a} }
	or := func(a ...plan.Expr) plan.Expr { return &plan.Or{Args: a} }
	i := func(n string) plan.Expr { return lit(eval.TInt4, n) }
	notZero := func(x plan.Expr) plan.Expr { return opx("<>", x, i("0")) }
	m := map[string]plan.Expr{
		"i4 + i4":              opx("+", c("i4"), c("i2")),
		"i8 * i4":              opx("*", c("i8"), c("i4")),
		"i8 - i8":              opx("-", c("i8"), c("i2")),
		"i4 / i2":              opx("/", c("i4"), c("i2")),
		"guarded i4 / i2":      and(notZero(c("i2")), opx(">", opx("/", c("i4"), c("i2")), i("0"))),
		"guarded by or":        or(opx("=", c("i2"), i("0")), opx(">", opx("/", c("i4"), c("i2")), i("0"))),
		"case i4 / i2":         &plan.Case{Whens: []plan.When{{Cond: notZero(c("i2")), Then: opx("/", c("i4"), c("i2"))}}, Typ: eval.TInt4},
		"f8 + f8":              opx("+", c("f8"), c("f8")),
		"f8 < 1.5":             opx("<", c("f8"), lit(eval.TFloat8, "1.5")),
		"f8 >= 1.5":            opx(">=", c("f8"), lit(eval.TFloat8, "1.5")),
		"f8 <> 0":              opx("<>", c("f8"), lit(eval.TFloat8, "0")),
		"f8 = f8":              opx("=", c("f8"), c("f8")),
		"f8 > NaN":             opx(">=", c("f8"), lit(eval.TFloat8, "NaN")),
		"f8 > Inf":             opx(">", c("f8"), lit(eval.TFloat8, "Infinity")),
		"dec + dec":            opx("+", c("dec"), c("dec")),
		"1 - dec":              opx("-", i("1"), c("dec")),
		"dec * (1 - dec)":      opx("*", c("dec"), opx("-", i("1"), c("dec"))),
		"big * dec":            opx("*", c("big"), c("dec")),
		"big + dec":            opx("+", c("big"), c("dec")),
		"big * big":            opx("*", c("big"), c("big")),
		"-big":                 opx("-", c("big")),
		"num + dec":            opx("+", c("num"), c("dec")),
		"num * num":            opx("*", c("num"), c("num")),
		"dec < num":            opx("<", c("dec"), c("num")),
		"dec <= big":           opx("<=", c("dec"), c("big")),
		"dec between":          and(opx(">=", c("dec"), lit(types.FixedNumeric(3, 2), "0.05")), opx("<=", c("dec"), lit(types.FixedNumeric(5, 3), "7.077"))),
		"big > k":              opx(">", c("big"), lit(types.FixedNumeric(5, 1), "0.5")),
		"big <> k":             opx("<>", c("big"), lit(types.FixedNumeric(5, 5), "0.00005")),
		"num >= k":             opx(">=", c("num"), lit(eval.TNumeric, "1.5")),
		"num < NaN":            opx("<", c("num"), lit(eval.TNumeric, "NaN")),
		"ns + iv":              opx("+", &plan.Cast{X: c("ts"), Typ: eval.TTimestampNS, Context: plan.Explicit}, c("iv")),
		"ns > ts":              opx(">", &plan.Cast{X: c("ts"), Typ: eval.TTimestampNS, Context: plan.Explicit}, c("ts")),
		"ns >= d const":        opx(">=", &plan.Cast{X: c("ts"), Typ: eval.TTimestampNS, Context: plan.Explicit}, lit(eval.TDate, "1994-08-26")),
		"k < i8":               opx("<", i("3"), c("i8")),
		"k >= dec":             opx(">=", lit(types.FixedNumeric(4, 3), "1.505"), c("dec")),
		"k <> f8":              opx("<>", lit(eval.TFloat8, "1.5"), c("f8")),
		"k > s":                opx(">", lit(eval.TText, "b"), c("s")),
		"k <= d":               opx("<=", lit(eval.TTimestamp, "1994-08-26 12:00"), c("d")),
		"k - i8":               opx("-", i("3"), c("i8")),
		"f8 / i2":              opx("/", c("f8"), &plan.Cast{X: c("i2"), Typ: eval.TFloat8}),
		"f8 * f8":              opx("*", c("f8"), lit(eval.TFloat8, "2")),
		"num / dec":            opx("/", c("num"), c("dec")),
		"dec % big":            opx("%", c("dec"), c("big")),
		"i8 = k":               opx("=", c("i8"), lit(eval.TInt8, "5")),
		"i8 < k < i8":          and(opx(">", c("i8"), i("-1")), opx("<", c("i8"), i("6"))),
		"i4 in range":          and(opx(">", c("i4"), i("-1")), opx("<=", c("i4"), i("3")), opx("=", c("s"), lit(eval.TText, "abc"))),
		"i4 < min":             opx("<", c("i4"), lit(eval.TInt8, "-9223372036854775808")),
		"i2 < i4":              opx("<", c("i2"), c("i4")),
		"i2 >= i4":             opx(">=", c("i2"), c("i4")),
		"i2 = dec":             opx("=", c("i2"), c("dec")),
		"s = k":                opx("=", c("s"), lit(eval.TText, "abc")),
		"s < s2":               opx("<", c("s"), c("s2")),
		"s between":            and(opx(">=", c("s"), lit(eval.TText, "a")), opx("<", c("s"), lit(eval.TText, "b"))),
		"s like k":             opx("~~", c("s"), lit(eval.TText, "%b%")),
		"s like general":       opx("~~", c("s"), lit(eval.TText, `a\__`)),
		"s not ilike":          opx("!~~*", c("s"), lit(eval.TText, "é%")),
		"s like s2":            opx("~~", c("s"), c("s2")),
		"s ~ k":                opx("~", c("s"), lit(eval.TText, "^[a-f]")),
		"s || s2":              opx("||", c("s"), c("s2")),
		"s || s":               opx("||", c("s"), lit(eval.TText, "!")),
		"s || i4":              opx("||", c("s"), c("i4")),
		"s in":                 &plan.InList{X: c("s"), List: []types.Datum{types.NewStr("a"), types.NewStr("É")}},
		"s not in null":        &plan.InList{X: c("s"), List: []types.Datum{types.NewStr("a"), types.Null}, Negate: true},
		"i8 in few":            &plan.InList{X: c("i8"), List: []types.Datum{types.NewInt(5), types.NewInt(0)}},
		"i8 in many":           &plan.InList{X: c("i8"), List: []types.Datum{types.NewInt(5), types.NewInt(0), types.NewInt(math.MinInt64), types.NewInt(7), types.NewInt(9), types.NewInt(11)}},
		"f8 in":                &plan.InList{X: c("f8"), List: []types.Datum{types.NewFloat(0), types.NewFloat(math.NaN())}},
		"dec in":               &plan.InList{X: c("dec"), List: []types.Datum{types.NewInt(100), types.NewInt(-250), types.NewInt(7)}},
		"big in":               &plan.InList{X: c("big"), List: []types.Datum{types.NewW128(types.FromInt64(100)), types.Null}},
		"num in":               &plan.InList{X: c("num"), List: []types.Datum{types.NewStr(types.NewDecimal(15, 1).Encode()), types.NewStr(types.DecimalNaN.Encode())}},
		"iv in":                &plan.InList{X: c("iv"), List: []types.Datum{types.NewW128(types.IntervalValue{Days: 30}.W128())}},
		"in ()":                &plan.InList{X: c("i4")},
		"not (a and b)":        &plan.Not{X: and(opx("<", c("i4"), i("2")), c("b"))},
		"not b":                &plan.Not{X: c("b")},
		"b or i4 > 0 or null":  or(c("b"), opx(">", c("i4"), i("0")), &plan.Const{Typ: eval.TBool}),
		"b and i4 > 0":         and(c("b"), opx(">", c("i4"), i("0"))),
		"i4 is null":           &plan.IsNull{X: c("i4")},
		"i4 is not null and b": and(&plan.IsNull{X: c("i4"), Negate: true}, c("b")),
		"coalesce(i4, i2, 7)":  &plan.Coalesce{Args: []plan.Expr{c("i4"), &plan.Cast{X: c("i2"), Typ: eval.TInt4}, i("7")}, Typ: eval.TInt4},
		"coalesce(s, '-')":     &plan.Coalesce{Args: []plan.Expr{c("s"), lit(eval.TText, "-")}, Typ: eval.TText},
		"coalesce(s, '-')='-'": opx("=", &plan.Coalesce{Args: []plan.Expr{c("s"), lit(eval.TText, "-")}, Typ: eval.TText}, lit(eval.TText, "-")),
		"case of texts": &plan.Case{Whens: []plan.When{{Cond: opx("=", c("s"), lit(eval.TText, "a")), Then: c("s2")},
			{Cond: c("b"), Then: opx("||", c("s"), lit(eval.TText, "?"))}}, Else: lit(eval.TText, "none"), Typ: eval.TText},
		"case of numerics": &plan.Case{Whens: []plan.When{{Cond: c("b"), Then: &plan.Cast{X: c("dec"), Typ: eval.TNumeric}}},
			Else: &plan.Cast{X: i("0"), Typ: eval.TNumeric}, Typ: eval.TNumeric},
		"case of decimals": &plan.Case{Whens: []plan.When{{Cond: c("b"), Then: c("big")}},
			Else: lit(types.DecimalType(38, 4), "1.2345"), Typ: types.DecimalType(38, 4)},
		"case of arrays": &plan.Case{Whens: []plan.When{{Cond: c("b"), Then: c("arr")}}, Typ: types.ArrayOf(eval.TInt4)},
		"d < ts":         opx("<", c("d"), c("ts")),
		"d < ts const":   opx("<", c("d"), lit(eval.TTimestamp, "1994-08-26 00:00:00.000001")),
		"d >= ts const":  opx(">=", c("d"), lit(eval.TTimestamp, "1994-08-26")),
		"ts > d const":   opx(">", c("ts"), lit(eval.TDate, "1994-08-26")),
		"d = tstz":       opx(">=", c("d"), lit(eval.TTimestampTZ, "1994-08-26 04:00:00+00")),
		"d + i2":         opx("+", c("d"), &plan.Cast{X: c("i2"), Typ: eval.TInt4}),
		"d + iv":         opx("+", c("d"), c("iv")),
		"ts - ts":        opx("-", c("ts"), lit(eval.TTimestamp, "1994-08-26")),
		"u < u":          opx("<", c("u"), lit(eval.TUUID, "10000000-0000-0000-0000-000000000001")),
		"iv = iv":        opx("=", c("iv"), lit(eval.TInterval, "30 days")),
		"arr @> arr":     opx("@>", c("arr"), lit(types.ArrayOf(eval.TInt4), "{1}")),
		"arr = arr":      opx("=", c("arr"), lit(types.ArrayOf(eval.TInt4), "{1,2}")),
		"arr || i4":      opx("||", c("arr"), c("i4")),
		"arr[i2]":        &plan.Subscript{X: c("arr"), Index: &plan.Cast{X: c("i2"), Typ: eval.TInt4}, Typ: eval.TInt4},
		"arr[1:2]":       &plan.Slice{X: c("arr"), Lower: i("1"), Upper: c("i2")},
		"array[i4, i2]":  &plan.ArrayExpr{Elems: []plan.Expr{c("i4"), &plan.Cast{X: c("i2"), Typ: eval.TInt4}}, Typ: types.ArrayOf(eval.TInt4)},
		"distinct":       opx("IS DISTINCT FROM", c("i4"), c("i2")),
		"not distinct s": opx("IS NOT DISTINCT FROM", c("s"), c("s2")),
		"s::int":         &plan.Cast{X: c("s2"), Typ: eval.TInt4, Context: plan.Explicit},
		"guarded s::int": and(opx("=", c("s2"), lit(eval.TText, "10")), opx("=", &plan.Cast{X: c("s2"), Typ: eval.TInt4, Context: plan.Explicit}, i("10"))),
		"i4::text":       &plan.Cast{X: c("i4"), Typ: eval.TText, Context: plan.Explicit},
		"dec::int":       &plan.Cast{X: c("dec"), Typ: eval.TInt4, Context: plan.Explicit},
		"row field": &plan.FieldOf{X: &plan.RowExpr{Elems: []plan.Expr{c("i4"), c("s")},
			Typ: types.StructOf(types.Field{Name: "f1", Type: eval.TInt4}, types.Field{Name: "f2", Type: eval.TText})}, Index: 1, Typ: eval.TText},
		"constant fails": or(c("b"), opx("=", opx("/", i("1"), i("0")), i("1"))),
	}
	ext, err := eval.ResolveFunction("greatest", []types.Type{eval.TInt8, eval.TInt8}, false)
	if err != nil {
		t.Fatal(err)
	}
	m["greatest"] = callResolved(ext, []plan.Expr{c("i8"), &plan.Const{Value: types.NewInt(3), Typ: eval.TInt8}})
	return m
}

func TestEncodingsAgree(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	defer func() {
		if t.Failed() {
			t.Logf("LHSQL_SEED=%d", seed)
		}
	}()
	c := testCtx()
	programs := map[string]*eval.Program{}
	for round := range 60 {
		rel := makeRelation(r, []int{1, 3, 64, 65, 200}[r.IntN(5)])
		if r.IntN(6) == 0 { // all rows alike, so that every column can be Const
			for i := range rel.data {
				for j := range rel.data[i] {
					rel.data[i][j] = rel.data[i][0]
				}
			}
		}
		b := &vec.Batch{Rows: rel.rows}
		mode := r.IntN(4)
		for i := range rel.cols {
			enc := vec.Enc(r.IntN(3))
			if mode < 3 {
				enc = vec.Enc(mode)
			}
			b.Cols = append(b.Cols, rel.encode(r, i, enc))
		}
		if r.IntN(2) == 0 {
			b.Sel = []uint16{}
			p := r.IntN(4)
			for i := range rel.rows {
				if r.IntN(4) <= p {
					b.Sel = append(b.Sel, uint16(i))
				}
			}
		}
		for name, e := range testExprs(t, rel) {
			p := programs[name]
			if p == nil {
				var err error
				if p, err = eval.Compile(e, rel.cols); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				programs[name] = p
			}
			checkProgram(t, c, fmt.Sprintf("round %d: %s", round, name), p, e, rel, b)
			if t.Failed() {
				return
			}
		}
	}
}

func checkProgram(t *testing.T, c *eval.Ctx, name string, p *eval.Program, e plan.Expr, rel *relation, b *vec.Batch) {
	t.Helper()
	var want []string
	var errs = map[string]bool{}
	rows := []int{}
	_ = eval.EachRow(b.Sel, b.Rows, func(i int) error {
		s := answer(c, rel.rowExpr(e, i))
		if len(s) > 5 && s[:5] == "ERROR" {
			errs[s] = true
		}
		want, rows = append(want, s), append(rows, i)
		return nil
	})
	v, err := p.Eval(c, b)
	if err != nil {
		if !errs[fmt.Sprintf("ERROR %s %s", codeOf(err), err)] {
			t.Errorf("%s: unexpected error %v", name, err)
		}
	} else if len(errs) > 0 {
		t.Errorf("%s: no error, but %v", name, errs)
	} else {
		for k, i := range rows {
			got := "NULL"
			if !v.Null(i) {
				d := v.Datum(i)
				got = string(eval.AppendAsText(nil, d, v.Type, eval.SessionText(c)))
			}
			if got != want[k] {
				t.Errorf("%s: row %d: got %s, want %s (enc %d form %d, sel %v)", name, i, got, want[k], v.Enc, v.Form, b.Sel != nil)
				return
			}
		}
	}
	if e.Type().Kind != types.Bool {
		return
	}
	sel, err := p.Select(c, b, nil)
	if err != nil {
		if !errs[fmt.Sprintf("ERROR %s %s", codeOf(err), err)] {
			t.Errorf("%s: Select: unexpected error %v", name, err)
		}
		return
	}
	// Select may pass over an error that a NULL before it makes irrelevant; it must not find
	// other rows.
	k := 0
	for j, i := range rows {
		in := k < len(sel) && int(sel[k]) == i
		if in {
			k++
		}
		if wantIn := want[j] == "true"; in != wantIn {
			t.Errorf("%s: Select: row %d is in: %v, but its value is %s", name, i, in, want[j])
			return
		}
	}
	if k != len(sel) {
		t.Errorf("%s: Select gave rows that do not exist: %v", name, sel)
	}
}
