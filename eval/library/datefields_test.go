package library

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// extract and date_trunc of batches give what they give of each value as a constant: of every field,
// with NULLs, infinities and years before Christ, by dictionaries and selections, and errors, too.
func TestDateFieldsOfBatches(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	c := testCtx()
	units := []string{"microseconds", "ms", "second", "Minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century",
		"millennium", "epoch", "julian", "isoyear", "dow", "isodow", "doy", "timezone", "timezone_hour", "no field"}
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []types.Type{eval.TDate, eval.TTimestamp, eval.TTimestampTZ} {
		for _, name := range []string{"extract", "date_trunc"} {
			if name == "date_trunc" && typ.Kind == types.Date {
				continue
			}
			for _, unit := range units {
				for _, zone := range []*time.Location{time.UTC, newYork} {
					if zone != time.UTC && typ.Kind != types.TimestampTZ {
						continue
					}
					c.Zone = zone
					column := plan.Column{ID: 1, Name: "v", Type: typ}
					res, err := eval.ResolveFunction(name, []types.Type{eval.TText, typ}, false)
					if err != nil {
						t.Fatal(err)
					}
					call := func(x plan.Expr) plan.Expr {
						return callResolved(res, []plan.Expr{&plan.Const{Value: types.NewStr(unit), Typ: eval.TText}, x})
					}
					for _, dict := range []bool{false, true} {
						b := randomDates(r, typ, dict)
						p, err := eval.Compile(call(plan.ColOf(column)), []plan.Column{column})
						if err != nil {
							t.Fatal(err)
						}
						got, err := p.Eval(c, b)
						sel := b.Sel
						for _, s := range sel {
							q, e := eval.Compile(call(&plan.Const{Value: b.Cols[0].Datum(int(s)), Typ: typ}), nil)
							if e != nil {
								t.Fatal(e)
							}
							want, e := q.Eval(c, &vec.Batch{Rows: 1})
							what := fmt.Sprintf("%s('%s', %s) of %s", name, unit, types.Format(b.Cols[0].Datum(int(s)), typ, nil), typ)
							switch {
							case e != nil && err == nil:
								t.Fatalf("%s: %v alone, no error in a batch", what, e)
							case e != nil && err.Error() != e.Error():
								t.Fatalf("%s: %v in a batch, %v alone", what, err, e)
							case e != nil:
								sel, err = nil, nil
							case err == nil && types.Format(got.Datum(int(s)), res.Ret, nil) != types.Format(want.Datum(0), res.Ret, nil):
								t.Fatalf("%s: %v in a batch, %v alone", what, types.Format(got.Datum(int(s)), res.Ret, nil), types.Format(want.Datum(0), res.Ret, nil))
							}
							if sel == nil {
								break
							}
						}
						if err != nil {
							t.Fatalf("%s('%s') of %s: %v in a batch, of no row alone", name, unit, typ, err)
						}
					}
				}
			}
		}
	}
}

// randomDates makes a batch of one column with a selection.
func randomDates(r *rand.Rand, t types.Type, dict bool) *vec.Batch {
	value := func() types.Datum {
		days := int64(r.IntN(30000) - 5000)
		switch r.IntN(12) {
		case 0:
			days = int64(r.IntN(1_000_000) - 700_000)
		case 1:
			if t.Kind == types.Date {
				return types.NewInt([]int64{types.DateInfinity, types.DateNegInfinity}[r.IntN(2)])
			}
			return types.NewInt([]int64{math.MaxInt64, math.MinInt64}[r.IntN(2)])
		}
		if t.Kind == types.Date {
			return types.NewInt(days)
		}
		return types.NewInt(days*types.MicrosPerDay + r.Int64N(types.MicrosPerDay))
	}
	const n = 300
	a, v := vec.NewAppender(t), (*vec.Vector)(nil)
	if dict {
		for range 50 {
			a.AppendDatum(value())
		}
		v = &vec.Vector{Type: t, Form: types.FormI64, Enc: vec.Dict, Dictionary: a.Vector(), Codes: make([]uint32, n)}
		v.Dictionary.DictID = vec.NewDictID()
		for i := range v.Codes {
			v.Codes[i] = uint32(r.IntN(50))
		}
		if r.IntN(2) == 0 {
			v.Valid = vec.NewBitmap(n, true)
			v.Valid.Clear(r.IntN(n))
		}
	} else {
		for range n {
			if r.IntN(10) == 0 {
				a.AppendNull()
			} else {
				a.AppendDatum(value())
			}
		}
		v = a.Vector()
	}
	b := &vec.Batch{Cols: []*vec.Vector{v}, Rows: n}
	for i := range n {
		if r.IntN(4) > 0 {
			b.Sel = append(b.Sel, uint16(i))
		}
	}
	return b
}

func BenchmarkExtractMinute(b *testing.B) { benchDates(b, "extract", "minute") }
func BenchmarkExtractYear(b *testing.B)   { benchDates(b, "extract", "year") }
func BenchmarkDateTrunc(b *testing.B)     { benchDates(b, "date_trunc", "minute") }

func benchDates(b *testing.B, name, unit string) {
	column := plan.Column{ID: 1, Name: "v", Type: eval.TTimestamp}
	res, err := eval.ResolveFunction(name, []types.Type{eval.TText, column.Type}, false)
	if err != nil {
		b.Fatal(err)
	}
	p, err := eval.Compile(callResolved(res, []plan.Expr{&plan.Const{Value: types.NewStr(unit), Typ: eval.TText}, plan.ColOf(column)}), []plan.Column{column})
	if err != nil {
		b.Fatal(err)
	}
	v := vec.Alloc(column.Type, types.FormI64, vec.BatchRows)
	for i := range v.I64 {
		v.I64[i] = int64(i) * 1_234_567_891
	}
	c, batch := testCtx(), &vec.Batch{Cols: []*vec.Vector{v}, Rows: vec.BatchRows}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Eval(c, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.BatchRows, "ns/row")
}
