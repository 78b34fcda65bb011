package prune

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// What is pruned must be what no row satisfies, and what is proven must be what every row
// satisfies: over random data of every type, with statistics that are true, missing, wide,
// truncated or inverted, random predicates, and session zones with all sorts of clock changes.
// The oracle evaluates the predicate row by row.

type column struct {
	plan.ScanColumn
	iceberg string
	value   func(*rand.Rand) types.Datum
	parts   []lake.Transform
}

const day = 86_400_000_000

func testColumns() []column {
	near := func(r *rand.Rand, span int64) int64 { return r.Int63n(2*span+1) - span }
	dates := func(r *rand.Rand) int64 {
		switch r.Intn(3) {
		case 0:
			return near(r, 3)
		case 1:
			return 18000 + near(r, 400)
		}
		return near(r, 30000)
	}
	micros := func(r *rand.Rand) int64 {
		if r.Intn(3) == 0 { // midnights and hours, where ranges begin and end
			return dates(r)*day + near(r, 2) + int64(r.Intn(4))*day/4
		}
		return dates(r)*day + r.Int63n(day)
	}
	floats := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.Inf(1), math.Inf(-1), math.NaN(), 1e10}
	words := []string{"", "a", "ab", "abc", "abcdefghijklmnopqrstuvwxyz", "b", "ba", "é", "éa", "zz", "\U0010ffff", "a%", "A"}
	var cols []column
	add := func(name string, t types.Type, iceberg string, v func(*rand.Rand) types.Datum, parts ...lake.Transform) {
		id := len(cols) + 1
		cols = append(cols, column{plan.ScanColumn{Column: plan.Column{ID: plan.ColID(id), Name: name, Type: t}, FieldID: id}, iceberg, v, parts})
	}
	identity, bucket := lake.Transform{Kind: lake.Identity}, lake.Transform{Kind: lake.Bucket, Param: 3}
	years := []lake.Transform{identity, {Kind: lake.Year}, {Kind: lake.Month}, {Kind: lake.Day}, {Kind: lake.Void}}
	hours := append(append([]lake.Transform(nil), years...), lake.Transform{Kind: lake.Hour})
	trunc := func(n int) lake.Transform { return lake.Transform{Kind: lake.Truncate, Param: n} }
	add("i4", types.T(types.Int4), "int", func(r *rand.Rand) types.Datum { return types.NewInt(near(r, 20)) }, identity, bucket, trunc(10))
	add("i8", types.T(types.Int8), "long", func(r *rand.Rand) types.Datum {
		return types.NewInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, near(r, 100)}[r.Intn(6)])
	}, identity, bucket, trunc(7))
	add("f4", types.T(types.Float4), "float", func(r *rand.Rand) types.Datum { return types.NewFloat(float64(float32(floats[r.Intn(len(floats))]))) }, identity)
	add("f8", types.T(types.Float8), "double", func(r *rand.Rand) types.Datum { return types.NewFloat(floats[r.Intn(len(floats))]) }, identity)
	add("d", types.DecimalType(10, 2), "decimal(10,2)", func(r *rand.Rand) types.Datum { return types.NewInt(near(r, 500)) }, identity, bucket, trunc(50))
	add("w", types.DecimalType(38, 4), "decimal(38,4)", func(r *rand.Rand) types.Datum {
		return types.NewW128(types.FromInt64(near(r, 50000)))
	}, identity, bucket, trunc(1000))
	add("t", types.T(types.Text), "string", func(r *rand.Rand) types.Datum { return types.NewStr(words[r.Intn(len(words))]) }, identity, bucket, trunc(2))
	add("b", types.T(types.Bytea), "binary", func(r *rand.Rand) types.Datum {
		return types.NewStr([]string{"", "\x00", "\xff", "\xff\xff", "ab", "abc"}[r.Intn(6)])
	}, identity, bucket, trunc(2))
	add("day", types.T(types.Date), "date", func(r *rand.Rand) types.Datum { return types.NewInt(dates(r)) }, append([]lake.Transform{bucket}, years...)...)
	add("ts", types.T(types.Timestamp), "timestamp", func(r *rand.Rand) types.Datum { return types.NewInt(micros(r)) }, append([]lake.Transform{bucket}, hours...)...)
	add("tz", types.T(types.TimestampTZ), "timestamptz", func(r *rand.Rand) types.Datum { return types.NewInt(micros(r)) }, append([]lake.Transform{bucket}, hours...)...)
	add("tn", types.T(types.TimestampNS), "timestamp_ns", func(r *rand.Rand) types.Datum { return types.NewInt(micros(r)*1000 + r.Int63n(3)) }, hours...)
	add("time", types.T(types.Time), "time", func(r *rand.Rand) types.Datum { return types.NewInt(r.Int63n(day)) }, identity, bucket)
	add("bool", types.T(types.Bool), "boolean", func(r *rand.Rand) types.Datum { return types.NewBool(r.Intn(2) == 0) }, identity)
	add("u", types.T(types.UUID), "uuid", func(r *rand.Rand) types.Datum {
		return types.NewW128(types.Int128{Hi: near(r, 1), Lo: uint64(near(r, 1))})
	}, identity, bucket)
	return cols
}

type row []types.Datum // by column

// world is one table's worth of random rows in files, with the metadata a writer might leave.
type world struct {
	r      *rand.Rand
	cols   []column
	schema *lake.Schema
	layout *Layout
	spec   *lake.PartitionSpec
	ctx    *eval.Ctx
}

func newWorld(r *rand.Rand) *world {
	w := &world{r: r, cols: testColumns(), schema: &lake.Schema{}}
	var sc []plan.ScanColumn
	for _, c := range w.cols {
		w.schema.Fields = append(w.schema.Fields, lake.Field{ID: c.FieldID, Name: c.Name, Type: c.Type, Iceberg: c.iceberg})
		sc = append(sc, c.ScanColumn)
	}
	w.layout = NewLayout(sc, w.schema)
	w.spec = &lake.PartitionSpec{ID: 1}
	for i := 0; i < 1+r.Intn(2); i++ {
		c := w.cols[r.Intn(len(w.cols))]
		w.spec.Fields = append(w.spec.Fields, lake.PartitionField{FieldID: 1000 + i, SourceIDs: []int{c.FieldID},
			Name: fmt.Sprint("p", i), Transform: c.parts[r.Intn(len(c.parts))]})
	}
	zones := []string{"UTC", "America/New_York", "Asia/Kolkata", "Europe/Lisbon", "Pacific/Apia", "America/Juneau"}
	zone, err := time.LoadLocation(zones[r.Intn(len(zones))])
	if err != nil {
		zone = time.UTC
	}
	w.ctx = &eval.Ctx{Zone: zone, Now: time.Unix(1_600_000_000, 0), DateStyle: "ISO, MDY"}
	return w
}

func (w *world) row(narrow []types.Datum) row {
	out := make(row, len(w.cols))
	for i, c := range w.cols {
		switch {
		case w.r.Intn(6) == 0:
		case narrow != nil && w.r.Intn(2) == 0: // files are often of few values
			out[i] = narrow[i]
		default:
			out[i] = c.value(w.r)
		}
	}
	return out
}

// files groups rows by partition, as a writer does.
func (w *world) files() map[string][]row {
	files := map[string][]row{}
	var narrow []types.Datum
	if w.r.Intn(2) == 0 {
		narrow = w.row(nil)
	}
	for i := 0; i < 4+w.r.Intn(12); i++ {
		x := w.row(narrow)
		key := ""
		for _, v := range w.tuple(x) {
			key += fmt.Sprintf("%v|%v|%v;", v.Form(), v.W128(), v.Str())
		}
		files[key] = append(files[key], x)
	}
	return files
}

func (w *world) tuple(x row) []types.Datum {
	var out []types.Datum
	for _, f := range w.spec.Fields {
		c := w.cols[f.SourceIDs[0]-1]
		out = append(out, f.Transform.Apply(x[c.FieldID-1], c.Type))
	}
	return out
}

// describe makes a data file's metadata: true of the rows, or damaged in a way that proves
// nothing.
func (w *world) describe(rows []row) *lake.DataFile {
	f := &lake.DataFile{Path: "f", RecordCount: int64(len(rows)), Partition: w.tuple(rows[0]), SpecID: 1,
		NullCounts: map[int]int64{}, NaNCounts: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
	for i, c := range w.cols {
		var nulls, nans int64
		lo, hi := types.Null, types.Null
		for _, x := range rows {
			v := x[i]
			switch {
			case v.IsNull():
				nulls++
			case isNaN(v):
				nans++
			default:
				if lo.IsNull() || types.Compare(v, lo, c.Type) < 0 {
					lo = v
				}
				if hi.IsNull() || types.Compare(v, hi, c.Type) > 0 {
					hi = v
				}
			}
		}
		if w.r.Intn(4) > 0 {
			f.NullCounts[c.FieldID] = nulls
		}
		if w.r.Intn(3) > 0 && (c.Type.Kind == types.Float4 || c.Type.Kind == types.Float8) {
			f.NaNCounts[c.FieldID] = nans
		}
		lower, upper := lake.EncodeBound(lo, c.iceberg), lake.EncodeBound(hi, c.iceberg)
		if c.iceberg == "string" || c.iceberg == "binary" {
			if w.r.Intn(2) == 0 && lower != nil {
				width := w.r.Intn(3)
				lower = []byte(lake.Transform{Kind: lake.Truncate, Param: width + 1}.Apply(lo, c.Type).Str())
				if s, ok := lake.TruncateUpper(hi.Str(), width+1, c.iceberg == "string"); ok {
					upper = []byte(s)
				} else {
					upper = nil
				}
			}
		}
		switch w.r.Intn(12) {
		case 0: // missing
			lower, upper = nil, nil
		case 1:
			lower = nil
		case 2:
			upper = nil
		case 3: // inverted
			if lower != nil && upper != nil && types.Compare(lo, hi, c.Type) < 0 {
				lower, upper = upper, lower
			}
		case 4: // short
			if len(lower) == 8 {
				lower = lower[:3]
			}
		case 5: // a float writer that lets NaN into bounds
			if c.iceberg == "double" && nans > 0 {
				upper = lake.EncodeBound(types.NewFloat(math.NaN()), c.iceberg)
			}
		}
		if lower != nil {
			f.Lower[c.FieldID] = lower
		}
		if upper != nil {
			f.Upper[c.FieldID] = upper
		}
	}
	return f
}

// ---- random predicates ----

func op(name string, a, b plan.Expr) plan.Expr {
	r, err := eval.ResolveOperator(name, []types.Type{a.Type(), b.Type()})
	if err != nil {
		return nil
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{cast(a, r.Args[0]), cast(b, r.Args[1])}, Typ: r.Ret, Pos: -1}
}

func call(name string, args ...plan.Expr) plan.Expr {
	var ts []types.Type
	for _, a := range args {
		ts = append(ts, a.Type())
	}
	r, err := eval.ResolveFunction(name, ts, false)
	if err != nil {
		return nil
	}
	c := make([]plan.Expr, len(args))
	for i := range args {
		c[i] = cast(args[i], r.Args[i])
	}
	return &plan.Call{Func: r.Func, Args: c, Typ: r.Ret, Pos: -1}
}

func cast(e plan.Expr, t types.Type) plan.Expr {
	if e.Type().Same(t) {
		return e
	}
	return &plan.Cast{X: e, Typ: t, Context: plan.Explicit, Pos: -1}
}

func text(s string) plan.Expr { return &plan.Const{Value: types.NewStr(s), Typ: types.T(types.Text)} }

func (w *world) constant(c column) plan.Expr {
	v := c.value(w.r)
	if w.r.Intn(15) == 0 {
		v = types.Null
	}
	return &plan.Const{Value: v, Typ: c.Type}
}

var comparisons = []string{"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}

func (w *world) predicate(depth int) plan.Expr {
	for {
		if e := w.try(depth); e != nil {
			return e
		}
	}
}

func (w *world) try(depth int) plan.Expr {
	r := w.r
	if depth > 0 && r.Intn(2) == 0 {
		a, b := w.predicate(depth-1), w.predicate(depth-1)
		switch r.Intn(5) {
		case 0, 1:
			return &plan.And{Args: []plan.Expr{a, b}}
		case 2:
			return &plan.Or{Args: []plan.Expr{a, b}}
		case 3:
			return &plan.Coalesce{Args: []plan.Expr{a, plan.False()}, Typ: types.T(types.Bool)}
		}
		return &plan.Not{X: a}
	}
	c := w.cols[r.Intn(len(w.cols))]
	col := plan.ColOf(c.Column)
	cmp := comparisons[r.Intn(len(comparisons))]
	switch r.Intn(9) {
	case 0:
		return &plan.IsNull{X: col, Negate: r.Intn(2) == 0}
	case 1:
		list := &plan.InList{X: col, Negate: r.Intn(3) == 0}
		for i := 0; i < 1+r.Intn(3); i++ {
			list.List = append(list.List, w.constant(c).(*plan.Const).Value)
		}
		return list
	case 2:
		if c.Type.Kind == types.Bool {
			return col
		}
		d := w.cols[r.Intn(len(w.cols))]
		return op(cmp, col, plan.ColOf(d.Column))
	case 3:
		if c.Type.Kind == types.Text {
			pat := c.value(r).Str() + []string{"%", "", "_", "%x"}[r.Intn(4)]
			return op([]string{"~~", "!~~"}[r.Intn(2)], col, text(pat))
		}
	case 4, 5:
		return w.function(c, col, cmp)
	case 6:
		return op(cmp, w.constant(c), col)
	}
	return op(cmp, col, w.constant(c))
}

// function compares a function of a column that keeps its order, or does not.
func (w *world) function(c column, col plan.Expr, cmp string) plan.Expr {
	r := w.r
	konst := func(e plan.Expr) plan.Expr { // the same function of another value, for a constant that hits
		if e == nil {
			return nil
		}
		k := plan.Substitute(e, map[plan.ColID]plan.Expr{c.ID: &plan.Const{Value: c.value(r), Typ: c.Type}})
		v, err := eval.EvalConst(w.ctx, k)
		if err != nil {
			return nil
		}
		return op(cmp, e, &plan.Const{Value: v, Typ: e.Type()})
	}
	switch c.Type.Kind {
	case types.Int4, types.Int8:
		to := []types.Type{types.T(types.Int8), types.T(types.Float8), types.T(types.Int2), types.DecimalType(12, 1)}[r.Intn(4)]
		switch r.Intn(4) {
		case 0:
			return konst(cast(col, to))
		case 1:
			return konst(op("-", &plan.Const{Value: types.NewInt(5), Typ: types.T(types.Int4)}, col))
		case 2:
			return konst(op([]string{"+", "-", "*", "%"}[r.Intn(4)], col, &plan.Const{Value: types.NewInt(3), Typ: types.T(types.Int4)}))
		}
		return konst(call("abs", col))
	case types.Float4, types.Float8:
		return konst(cast(col, []types.Type{types.T(types.Float4), types.T(types.Float8), types.T(types.Int4)}[r.Intn(3)]))
	case types.Numeric:
		if r.Intn(2) == 0 {
			return konst(call([]string{"floor", "ceil", "abs"}[r.Intn(3)], col))
		}
		return konst(cast(col, types.T(types.Int8)))
	case types.Text:
		n := &plan.Const{Value: types.NewInt(int64(r.Intn(3))), Typ: types.T(types.Int4)}
		if r.Intn(2) == 0 {
			return konst(call("upper", col))
		}
		return konst(call("left", col, n))
	case types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS:
		switch r.Intn(4) {
		case 0:
			return konst(cast(col, types.T([]types.Kind{types.Date, types.Timestamp, types.TimestampTZ}[r.Intn(3)])))
		case 1:
			return konst(call("date_trunc", text([]string{"hour", "day", "week", "month", "year"}[r.Intn(5)]), col))
		case 2:
			return konst(call([]string{"extract", "date_part"}[r.Intn(2)], text([]string{"year", "month", "epoch"}[r.Intn(3)]), col))
		}
		i := types.IntervalValue{Months: int32(r.Intn(3) - 1), Days: int32(r.Intn(3)), Micros: r.Int63n(day)}
		return konst(op([]string{"+", "-"}[r.Intn(2)], col, &plan.Const{Value: types.NewW128(i.W128()), Typ: types.T(types.Interval)}))
	}
	return nil
}

// truth evaluates p for one row: 1 true, 0 not true, -1 an error.
func (w *world) truth(p plan.Expr, x row) int {
	m := map[plan.ColID]plan.Expr{}
	for i, c := range w.cols {
		m[c.ID] = &plan.Const{Value: x[i], Typ: c.Type}
	}
	v, err := eval.EvalConst(w.ctx, plan.Substitute(p, m))
	switch {
	case err != nil:
		return -1
	case !v.IsNull() && v.Bool():
		return 1
	}
	return 0
}

func TestSoundness(t *testing.T) {
	seed := int64(testseed.Of(t))
	r := rand.New(rand.NewSource(seed))
	rounds := 500
	if testing.Short() {
		rounds = 100
	}
	counts := map[Verdict]int{}
	for round := 0; round < rounds; round++ {
		w := newWorld(r)
		spec := NewSpecLayout(w.spec, w.layout)
		var cols []plan.ScanColumn
		for _, c := range w.cols {
			cols = append(cols, c.ScanColumn)
		}
		files := w.files()
		var preds []plan.Expr
		for i := 0; i < 6; i++ {
			preds = append(preds, w.predicate(2))
		}
		man := &lake.Manifest{SpecID: 1}
		var all []row
		var tuples [][]types.Datum
		for _, rows := range files {
			f := w.describe(rows)
			all = append(all, rows...)
			tuples = append(tuples, f.Partition)
			for _, p := range preds {
				c := Compile(p, cols, w.ctx)
				for _, s := range []*FileStats{
					{File: f, Layout: w.layout},
					{File: f, Layout: w.layout, Partition: &PartitionStats{spec, f.Partition}, NoBounds: true},
					{File: f, Layout: w.layout, Partition: &PartitionStats{spec, f.Partition}},
				} {
					v, rest := c.Residual(s)
					counts[v]++
					w.check(t, seed, p, v, rest, rows)
				}
			}
		}
		man.Partitions = w.summaries(tuples)
		for _, p := range preds {
			c := Compile(p, cols, w.ctx)
			w.check(t, seed, p, c.Test(&ManifestStats{Manifest: man, Spec: spec}), p, all)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("verdicts: some %d, none %d, all %d", counts[Some], counts[None], counts[All])
	if counts[None] == 0 || counts[All] == 0 {
		t.Error("nothing was ever pruned or proven: the test tests nothing")
	}
}

func (w *world) check(t *testing.T, seed int64, p plan.Expr, v Verdict, rest plan.Expr, rows []row) {
	t.Helper()
	for _, x := range rows {
		got := w.truth(p, x)
		if v == None && got == 1 || v == All && got == 0 {
			t.Errorf("seed %d: %s is said to hold for %s of the rows, but is %d for %v (zone %v, partition %v)",
				seed, plan.FormatExpr(p), v, got, w.show(x), w.ctx.Zone, w.spec.Fields)
			return
		}
		if v == Some && got >= 0 {
			if r := w.truth(rest, x); rest != nil && r >= 0 && r != got {
				t.Errorf("seed %d: residual %s of %s is %d, not %d, for %v", seed, plan.FormatExpr(rest), plan.FormatExpr(p), r, got, w.show(x))
				return
			}
		}
	}
}

func (w *world) show(x row) string {
	s := ""
	for i, c := range w.cols {
		s += c.Name + "=" + plan.FormatConst(x[i], c.Type) + " "
	}
	return s
}

// summaries is a manifest's view of its files' partition tuples.
func (w *world) summaries(tuples [][]types.Datum) []lake.FieldSummary {
	var out []lake.FieldSummary
	for i, f := range w.spec.Fields {
		c := w.cols[f.SourceIDs[0]-1]
		typ, iceberg := f.Transform.Result(c.Type, c.iceberg)
		var s lake.FieldSummary
		nan := false
		lo, hi := types.Null, types.Null
		for _, tup := range tuples {
			v := tup[i]
			switch {
			case v.IsNull():
				s.ContainsNull = true
			case isNaN(v):
				nan = true
			default:
				if lo.IsNull() || types.Compare(v, lo, typ) < 0 {
					lo = v
				}
				if hi.IsNull() || types.Compare(v, hi, typ) > 0 {
					hi = v
				}
			}
		}
		if w.r.Intn(2) == 0 {
			s.ContainsNaN = &nan
		}
		s.Lower, s.Upper = lake.EncodeBound(lo, iceberg), lake.EncodeBound(hi, iceberg)
		out = append(out, s)
	}
	return out
}

// The cases that a random test meets too rarely, each with the reason why it is so.
func TestVerdicts(t *testing.T) {
	w := newWorld(rand.New(rand.NewSource(1)))
	w.ctx.Zone = time.UTC
	byName := map[string]column{}
	var cols []plan.ScanColumn
	for _, c := range w.cols {
		byName[c.Name] = c
		cols = append(cols, c.ScanColumn)
	}
	col := func(n string) plan.Expr { return plan.ColOf(byName[n].Column) }
	i := func(v int64) plan.Expr { return &plan.Const{Value: types.NewInt(v), Typ: types.T(types.Int4)} }
	f := func(v float64) plan.Expr { return &plan.Const{Value: types.NewFloat(v), Typ: types.T(types.Float8)} }
	for _, c := range []struct {
		why    string
		pred   plan.Expr
		name   string
		lo, hi types.Datum
		nulls  int64 // -1 unknown
		nans   int64
		want   Verdict
	}{
		{"below the bounds", op("<", col("i4"), i(5)), "i4", types.NewInt(5), types.NewInt(9), 0, -1, None},
		{"inside the bounds", op("<", col("i4"), i(7)), "i4", types.NewInt(5), types.NewInt(9), 0, -1, Some},
		{"every row", op("<", col("i4"), i(10)), "i4", types.NewInt(5), types.NewInt(9), 0, -1, All},
		{"a missing null count is not zero", op("<", col("i4"), i(10)), "i4", types.NewInt(5), types.NewInt(9), -1, -1, Some},
		{"NULLs are not less", op("<", col("i4"), i(10)), "i4", types.NewInt(5), types.NewInt(9), 1, -1, Some},
		{"all NULL", op("=", col("i4"), i(10)), "i4", types.Null, types.Null, 10, -1, None},
		{"inverted bounds prove nothing", op("<", col("i4"), i(5)), "i4", types.NewInt(9), types.NewInt(5), 0, -1, Some},
		{"one bound is enough", op("<", col("i4"), i(5)), "i4", types.NewInt(5), types.Null, -1, -1, None},
		{"NaN is greater than all", op(">", col("f8"), f(100)), "f8", types.NewFloat(0), types.NewFloat(9), 0, -1, Some},
		{"no NaN", op(">", col("f8"), f(100)), "f8", types.NewFloat(0), types.NewFloat(9), 0, 0, None},
		{"minus zero is zero", op("=", col("f8"), f(0)), "f8", types.NewFloat(math.Copysign(0, -1)), types.NewFloat(math.Copysign(0, -1)), 0, 0, All},
		{"a NaN bound proves nothing", op("<", col("f8"), f(0)), "f8", types.NewFloat(math.NaN()), types.NewFloat(9), 0, 0, Some},
		{"a prefix of all", op("~~", col("t"), text("ab%")), "t", types.NewStr("ab"), types.NewStr("abz"), 0, -1, All},
		{"a prefix of none", op("~~", col("t"), text("ac%")), "t", types.NewStr("ab"), types.NewStr("abz"), 0, -1, None},
		{"a cast to date", op("<", cast(col("ts"), types.T(types.Date)), &plan.Const{Value: types.NewInt(1), Typ: types.T(types.Date)}), "ts", types.NewInt(day), types.NewInt(2 * day), 0, -1, None},
	} {
		s := fixedStats{byName[c.name].ID, c.lo, c.hi, c.nulls, c.nans}
		if got := Compile(c.pred, cols, w.ctx).Test(s); got != c.want {
			t.Errorf("%s: %s is %v, not %v", c.why, plan.FormatExpr(c.pred), got, c.want)
		}
	}
	if got := Compile(nil, cols, w.ctx).Test(fixedStats{}); got != All {
		t.Error("no predicate is", got)
	}
}

type fixedStats struct {
	id          plan.ColID
	lo, hi      types.Datum
	nulls, nans int64
}

func (s fixedStats) Rows() (int64, bool)                                { return 10, true }
func (s fixedStats) Nulls(plan.ColID) (int64, bool)                     { return s.nulls, s.nulls >= 0 }
func (s fixedStats) NaNs(plan.ColID) (int64, bool)                      { return s.nans, s.nans >= 0 }
func (s fixedStats) Bounds(plan.ColID) (types.Datum, types.Datum, bool) { return s.lo, s.hi, true }

func BenchmarkFileVerdict(b *testing.B) {
	w := newWorld(rand.New(rand.NewSource(1)))
	var cols []plan.ScanColumn
	for _, c := range w.cols {
		cols = append(cols, c.ScanColumn)
	}
	var rows []row
	for i := 0; i < 10; i++ {
		rows = append(rows, w.row(nil))
	}
	s := &FileStats{File: w.describe(rows), Layout: w.layout}
	ts := plan.ColOf(w.cols[9].Column)
	p := Compile(&plan.And{Args: []plan.Expr{
		op("<", plan.ColOf(w.cols[0].Column), &plan.Const{Value: types.NewInt(50), Typ: types.T(types.Int4)}),
		op(">=", cast(ts, types.T(types.Date)), &plan.Const{Value: types.NewInt(-50000), Typ: types.T(types.Date)}),
	}}, cols, w.ctx)
	b.ReportAllocs()
	for b.Loop() {
		p.Test(s)
	}
}
