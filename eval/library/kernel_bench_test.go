package library

import (
	"math/rand/v2"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// lineitem is a batch like TPC-H's: shipdate, discount, quantity, price, tax, comment, mode.
func lineitem(dict bool) ([]plan.Column, *vec.Batch) {
	r := rand.New(rand.NewPCG(1, 2))
	n := vec.BatchRows
	dec := types.DecimalType(15, 2)
	cols := []plan.Column{
		{ID: 1, Name: "shipdate", Type: eval.TDate}, {ID: 2, Name: "discount", Type: dec},
		{ID: 3, Name: "quantity", Type: dec}, {ID: 4, Name: "price", Type: dec}, {ID: 5, Name: "tax", Type: dec},
		{ID: 6, Name: "comment", Type: eval.TText}, {ID: 7, Name: "mode", Type: eval.TText},
		{ID: 8, Name: "key", Type: eval.TInt8}, {ID: 9, Name: "x", Type: eval.TFloat8}, {ID: 10, Name: "commitdate", Type: eval.TDate},
	}
	b := &vec.Batch{Rows: n}
	ints := func(t types.Type, lo, width int) *vec.Vector {
		v := vec.Alloc(t, types.FormI64, n)
		for i := range v.I64 {
			v.I64[i] = int64(lo + r.IntN(width))
		}
		return v
	}
	words := []string{"furiously ", "special ", "requests ", "sleep ", "deposits ", "carefully ", "the "}
	comments := vec.NewAppender(eval.TText)
	for range n {
		s := ""
		for range 5 {
			s += words[r.IntN(len(words))]
		}
		comments.AppendDatum(types.NewStr(s))
	}
	modes := []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	mode := vec.NewAppender(eval.TText)
	md := &vec.Vector{Type: eval.TText, Form: types.FormStr, Enc: vec.Dict, Codes: make([]uint32, n)}
	for _, m := range modes {
		mode.AppendDatum(types.NewStr(m))
	}
	md.Dictionary = mode.Vector()
	md.Dictionary.DictID = vec.NewDictID()
	for i := range md.Codes {
		md.Codes[i] = uint32(r.IntN(len(modes)))
	}
	x := vec.Alloc(eval.TFloat8, types.FormF64, n)
	for i := range x.F64 {
		x.F64[i] = r.Float64()
	}
	date := ints(eval.TDate, 8000, 2500)
	disc, qty := ints(dec, 0, 11), ints(dec, 100, 4901)
	if dict {
		for _, v := range []**vec.Vector{&date, &disc, &qty} {
			*v = asDict(*v)
		}
	}
	b.Cols = []*vec.Vector{date, disc, qty, ints(dec, 90000, 10000000), ints(dec, 0, 9),
		comments.Vector(), md, ints(eval.TInt8, 0, 1<<30), x, ints(eval.TDate, 8000, 2500)}
	return cols, b
}

func asDict(v *vec.Vector) *vec.Vector {
	d := &vec.Vector{Type: v.Type, Form: v.Form, Enc: vec.Dict, Dictionary: vec.Alloc(v.Type, v.Form, 0)}
	at := map[int64]uint32{}
	for _, x := range v.I64 {
		if _, ok := at[x]; !ok {
			at[x] = uint32(len(at))
			d.Dictionary.I64 = append(d.Dictionary.I64, x)
		}
		d.Codes = append(d.Codes, at[x])
	}
	d.Dictionary.DictID = vec.NewDictID()
	return d
}

func col(cols []plan.Column, name string) plan.Expr {
	for _, c := range cols {
		if c.Name == name {
			return &plan.Col{ID: c.ID, Name: name, Typ: c.Type}
		}
	}
	panic(name)
}

func opOf(name string, args ...plan.Expr) plan.Expr {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	r, err := eval.ResolveOperator(name, ts)
	if err != nil {
		panic(err)
	}
	return callResolved(r, args)
}

func litOf(t types.Type, s string) plan.Expr {
	d, err := types.Parse(s, t, nil)
	if err != nil {
		panic(err)
	}
	return &plan.Const{Value: d, Typ: t}
}

func benchSelect(b *testing.B, dict bool, build func(cols []plan.Column) plan.Expr) {
	cols, batch := lineitem(dict)
	p, err := eval.Compile(build(cols), cols)
	if err != nil {
		b.Fatal(err)
	}
	c := testCtx()
	out := make([]uint16, vec.BatchRows)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Select(c, batch, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.BatchRows, "ns/row")
}

func benchEval(b *testing.B, dict bool, build func(cols []plan.Column) plan.Expr) {
	cols, batch := lineitem(dict)
	p, err := eval.Compile(build(cols), cols)
	if err != nil {
		b.Fatal(err)
	}
	c := testCtx()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Eval(c, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.BatchRows, "ns/row")
}

// q6 is TPC-H's query 6: three ranges.
func q6(cols []plan.Column) plan.Expr {
	return &plan.And{Args: []plan.Expr{
		opOf(">=", col(cols, "shipdate"), litOf(eval.TDate, "1994-01-01")),
		opOf("<", col(cols, "shipdate"), opOf("+", litOf(eval.TDate, "1994-01-01"), litOf(eval.TInterval, "1 year"))),
		opOf(">=", col(cols, "discount"), litOf(types.FixedNumeric(2, 2), "0.05")),
		opOf("<=", col(cols, "discount"), litOf(types.FixedNumeric(2, 2), "0.07")),
		opOf("<", col(cols, "quantity"), litOf(eval.TInt4, "24")),
	}}
}

func BenchmarkSelectQ6(b *testing.B)     { benchSelect(b, false, q6) }
func BenchmarkSelectQ6Dict(b *testing.B) { benchSelect(b, true, q6) }
func BenchmarkSelectRangeI64(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr { return opOf("<", col(c, "key"), litOf(eval.TInt8, "500000000")) })
}
func BenchmarkSelectFloats(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr { return opOf("<", col(c, "x"), litOf(eval.TFloat8, "0.5")) })
}
func BenchmarkSelectAnswers(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr { return opOf("~~", col(c, "mode"), litOf(eval.TText, "%AIR%")) })
}
func BenchmarkSelectPairsI64(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr { return opOf("<", col(c, "shipdate"), col(c, "commitdate")) })
}
func BenchmarkSelectIn(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr {
		l := make([]types.Datum, 20)
		for i := range l {
			l[i] = types.NewInt(int64(i * 12345))
		}
		return &plan.InList{X: col(c, "key"), List: l}
	})
}
func BenchmarkLikeParts(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr {
		return opOf("!~~", col(c, "comment"), litOf(eval.TText, "%special%requests%"))
	})
}
func BenchmarkRegexp(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr {
		return opOf("~", col(c, "comment"), litOf(eval.TText, "special.*requests"))
	})
}
func BenchmarkSelectOr(b *testing.B) {
	benchSelect(b, false, func(c []plan.Column) plan.Expr {
		return &plan.Or{Args: []plan.Expr{opOf("<", col(c, "key"), litOf(eval.TInt8, "100000000")), opOf(">", col(c, "tax"), litOf(eval.TInt4, "0"))}}
	})
}
func BenchmarkAddInts(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr { return opOf("+", col(c, "key"), col(c, "key")) })
}

// Q1's price*(1-discount)*(1+tax).
func BenchmarkNumericQ1(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr {
		return opOf("*", opOf("*", col(c, "price"), opOf("-", litOf(eval.TInt4, "1"), col(c, "discount"))),
			opOf("+", litOf(eval.TInt4, "1"), col(c, "tax")))
	})
}
func BenchmarkNumericMul(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr { return opOf("*", col(c, "price"), col(c, "discount")) })
}
func BenchmarkNumericWide(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr {
		return opOf("*", col(c, "price"), litOf(types.DecimalType(18, 0), "999999999999999999"))
	})
}
func BenchmarkNumericDiv(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr { return opOf("/", col(c, "price"), col(c, "quantity")) })
}
func BenchmarkFloatMul(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr { return opOf("*", col(c, "x"), col(c, "x")) })
}
func BenchmarkCase(b *testing.B) {
	benchEval(b, false, func(c []plan.Column) plan.Expr {
		return &plan.Case{Whens: []plan.When{{Cond: opOf("~~", col(c, "mode"), litOf(eval.TText, "AIR%")), Then: col(c, "price")}},
			Else: litOf(types.DecimalType(15, 2), "0.00"), Typ: types.DecimalType(15, 2)}
	})
}
