package library

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// sample is the table of testdata/aggregate_rows.tsv.
type sample struct {
	types map[string]types.Type
	cols  map[string][]types.Datum
	rows  int
}

func loadSample(t *testing.T) *sample {
	t.Helper()
	kinds := map[string]types.Type{"int2": eval.TInt2, "int4": eval.TInt4, "int8": eval.TInt8, "float4": eval.TFloat4,
		"float8": eval.TFloat8, "numeric": eval.TNumeric, "numeric(10,2)": types.DecimalType(10, 2),
		"numeric(38,3)": types.DecimalType(38, 3), "bool": eval.TBool, "text": eval.TText, "date": eval.TDate,
		"timestamp": eval.TTimestamp, "timestamptz": eval.TTimestampTZ, "interval": eval.TInterval, "time": eval.TTime,
		"int4[]": types.ArrayOf(eval.TInt4), "jsonb": eval.TJSONB, "bpchar": eval.TBpchar, "bytea": eval.TBytea}
	lines := castLines(t, "aggregate_rows.tsv")
	s := &sample{types: map[string]types.Type{}, cols: map[string][]types.Datum{}, rows: len(lines) - 1}
	for j, head := range lines[0] {
		name, kind, _ := strings.Cut(head, " ")
		ty, ok := kinds[kind]
		if !ok {
			t.Fatalf("no type %q", kind)
		}
		s.types[name] = ty
		for _, l := range lines[1:] {
			d := types.Null
			if l[j] != `\N` {
				var err error
				if d, err = types.Parse(l[j], ty, nil); err != nil {
					t.Fatal(err)
				}
			}
			s.cols[name] = append(s.cols[name], d)
		}
	}
	return s
}

// aggTry is one aggregate over columns of the sample.
type aggTry struct {
	impl *eval.AggImpl
	call eval.AggCall
	args [][]types.Datum // by argument, by row
}

func (a *aggTry) state(t *testing.T, c *eval.Ctx) eval.AggState {
	s, err := a.impl.New(c, a.call)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vectors are rows of the arguments; as dictionary codes when dict.
func (a *aggTry) vectors(rows []int, dict bool) []*vec.Vector {
	vs := make([]*vec.Vector, len(a.args))
	for j := range vs {
		b := vec.NewAppender(a.call.Args[j])
		var codes []uint32
		valid := vec.NewBitmap(len(rows), true)
		for k, i := range rows {
			d := a.args[j][i]
			if dict && d.IsNull() {
				valid.Clear(k)
				codes = append(codes, 0)
				continue
			}
			codes = append(codes, uint32(b.Len()))
			b.AppendDatum(d)
		}
		vs[j] = b.Vector()
		if dict {
			vs[j] = &vec.Vector{Type: a.call.Args[j], Form: vs[j].Form, Enc: vec.Dict, Codes: codes, Dictionary: b.Vector(), Valid: valid}
		}
	}
	return vs
}

// Aggregates give what PostgreSQL 15 gives, however rows are grouped into batches, encoded,
// selected and merged; testdata/generate_aggregates.py asked it.
func TestAggregates(t *testing.T) {
	c, s := testCtx(), loadSample(t)
	o := eval.SessionText(c)
	for _, row := range castLines(t, "aggregates.tsv") {
		name, direct, cols, want := row[0], row[1], row[2], row[3:]
		var argTypes []types.Type
		var data [][]types.Datum
		if direct != "" {
			ty := eval.TFloat8
			if strings.HasPrefix(direct, "{") {
				ty = types.ArrayOf(eval.TFloat8)
			}
			d, err := types.Parse(direct, ty, nil)
			if err != nil {
				t.Fatal(err)
			}
			argTypes = append(argTypes, ty)
			same := make([]types.Datum, s.rows)
			for i := range same {
				same[i] = d
			}
			data = append(data, same)
		}
		if cols != "" {
			for _, col := range strings.Split(cols, ",") {
				argTypes = append(argTypes, s.types[col])
				data = append(data, s.cols[col])
			}
		}
		r, err := eval.ResolveFunction(name, argTypes, false)
		if err != nil {
			t.Errorf("%s(%s): %v", name, cols, err)
			continue
		}
		a := &aggTry{impl: eval.Declaration(r.Func).Agg, call: eval.AggCall{Args: argTypes, Ret: r.Ret}, args: data}
		key := data
		if a.impl.WithinGroup {
			key = data[len(data)-1:]
		}
		order := make([]int, s.rows)
		for i := range order {
			order[i] = i
		}
		if a.impl.WithinGroup {
			ty := argTypes[len(argTypes)-1]
			sort.SliceStable(order, func(x, y int) bool {
				d, e := key[0][order[x]], key[0][order[y]]
				if d.IsNull() || e.IsNull() {
					return !d.IsNull() && e.IsNull()
				}
				return types.Compare(d, e, ty) < 0
			})
		}
		check := func(mode string, g int, d types.Datum) {
			got := "NULL"
			if !d.IsNull() {
				got = types.Format(d, r.Ret, o)
			}
			if got == want[g] || nearly(got, want[g]) && r.Ret.Form() == types.FormF64 {
				return
			}
			t.Errorf("%s(%s %s) %s, group %d\n got %.300s\nwant %.300s", name, direct, cols, mode, g, got, want[g])
		}
		group := func(i int) uint32 { return uint32(s.cols["g"][i].Int()) }
		for _, mode := range []string{"whole", "small batches", "dictionaries", "merged"} {
			if mode == "merged" && a.impl.Ordered {
				continue
			}
			step := s.rows
			if mode != "whole" {
				step = 17
			}
			states := []eval.AggState{a.state(t, c)}
			states[0].Grow(6)
			for lo := 0; lo < s.rows; lo += step {
				rows := order[lo:min(lo+step, s.rows)]
				st := states[0]
				if mode == "merged" {
					st = a.state(t, c)
					st.Grow(6)
					states = append(states, st)
				}
				var sel []uint16
				var groups []uint32
				for k, i := range rows {
					groups = append(groups, group(i))
					sel = append(sel, uint16(k))
				}
				if mode != "small batches" {
					sel = nil
				}
				if err := st.Update(a.vectors(rows, mode == "dictionaries"), sel, len(rows), groups); err != nil {
					t.Fatal(err)
				}
			}
			for _, o := range states[1:] {
				if err := states[0].Merge(o, []uint32{0, 1, 2, 3, 4, 5}); err != nil {
					t.Fatal(err)
				}
			}
			out := &vec.Vector{Type: r.Ret}
			if err := states[0].Result(0, 6, out); err != nil {
				t.Fatal(err)
			}
			for g := 0; g < 6; g++ {
				check(mode, g, out.Datum(g))
			}
			last := &vec.Vector{Type: r.Ret}
			if err := states[0].Result(5, 6, last); err != nil {
				t.Fatal(err)
			}
			check(mode+" tail", 5, last.Datum(0))
			if states[0].Bytes() <= 0 {
				t.Errorf("%s holds %d bytes", name, states[0].Bytes())
			}
		}
		// All rows in one group, without a group vector.
		skip := (name == "sum" || name == "avg" || name == "stddev" || name == "variance") && (cols == "f8" || cols == "n")
		var rows []int
		for _, i := range order {
			if !(skip && group(i) == 4) {
				rows = append(rows, i)
			}
		}
		for _, dict := range []bool{false, true} {
			st := a.state(t, c)
			st.Grow(1)
			if err := st.Update(a.vectors(rows, dict), nil, len(rows), nil); err != nil {
				t.Fatal(err)
			}
			out := &vec.Vector{Type: r.Ret}
			if err := st.Result(0, 1, out); err != nil {
				t.Fatal(err)
			}
			check("ungrouped", 6, out.Datum(0))
		}
	}
}

// nearly: floats added in another order differ in the last digits.
func nearly(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-6*math.Max(math.Abs(x), math.Abs(y))
}

// A sum beyond 64 and beyond 128 bits stays exact.
func TestSumsNeverWrap(t *testing.T) {
	c := testCtx()
	for _, x := range []struct {
		typ   types.Type
		value string
		n     int
		want  string
	}{
		{eval.TInt8, "9223372036854775807", 1000, "9223372036854775807000"},
		{eval.TInt8, "-9223372036854775808", 1000, "-9223372036854775808000"},
		{types.DecimalType(18, 2), "9999999999999999.99", 5000, "49999999999999999950.00"},
		{types.DecimalType(38, 0), "99999999999999999999999999999999999999", 100, "9999999999999999999999999999999999999900"},
	} {
		r, err := eval.ResolveFunction("sum", []types.Type{x.typ}, false)
		if err != nil {
			t.Fatal(err)
		}
		d, err := types.Parse(x.value, x.typ, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := vec.NewAppender(x.typ)
		for i := 0; i < x.n; i++ {
			a.AppendDatum(d)
		}
		for _, v := range []*vec.Vector{a.Vector(), vec.ConstOf(x.typ, d)} {
			for _, groups := range [][]uint32{nil, make([]uint32, x.n)} {
				s, _ := eval.Declaration(r.Func).Agg.New(c, eval.AggCall{Args: []types.Type{x.typ}, Ret: r.Ret})
				s.Grow(1)
				if err := s.Update([]*vec.Vector{v}, nil, x.n, groups); err != nil {
					t.Fatal(err)
				}
				out := &vec.Vector{Type: r.Ret}
				if err := s.Result(0, 1, out); err != nil {
					t.Fatal(err)
				}
				if got := types.Format(out.Datum(0), r.Ret, nil); got != x.want {
					t.Errorf("sum of %d times %s is %s, want %s", x.n, x.value, got, x.want)
				}
			}
		}
	}
}
