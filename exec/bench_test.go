package exec

import (
	"context"
	"fmt"
	"math/rand"
	"syscall"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// replay hands out the same batches over and over, as a scan of cached columns would.
type replay struct {
	batches []*vec.Batch
	at, n   int
}

func (r *replay) Next(context.Context) (*vec.Batch, error) {
	if r.at == r.n {
		return nil, nil
	}
	r.at++
	return r.batches[r.at%len(r.batches)], nil
}
func (r *replay) Close() error { return nil }

// benchTable makes batches of a table: cols builds one column's values for rows from row on.
type benchTable struct {
	cols    []plan.Column
	batches []*vec.Batch
}

func newBenchTable(batches int, types []types.Type, make func(c, row int) int64) *benchTable {
	b := &benchTable{}
	for i, t := range types {
		b.cols = append(b.cols, column1(fmt.Sprint("c", i), t))
	}
	for k := range batches {
		batch := &vec.Batch{Rows: vec.BatchRows}
		for c, t := range types {
			v := vec.Alloc(t, t.Form(), vec.BatchRows)
			for i := range v.I64 {
				v.I64[i] = make(c, k*vec.BatchRows+i)
			}
			batch.Cols = append(batch.Cols, v)
		}
		b.batches = append(b.batches, batch)
	}
	return b
}

func (b *benchTable) node(env *Env, parts, batches int) plan.Node {
	n := &plan.Values{Cols: b.cols}
	replace(env, n, func() []vec.Source {
		out := make([]vec.Source, parts)
		for i := range out {
			k := len(b.batches) * i / parts
			out[i] = &replay{batches: append(append([]*vec.Batch(nil), b.batches[k:]...), b.batches[:k]...), n: batches / parts}
		}
		return out
	})
	return n
}

func runBench(b *testing.B, rows int, make func(env *Env) plan.Node) {
	b.ReportAllocs()
	begin := cpuTime()
	for b.Loop() {
		env := &Env{Ctx: &eval.Ctx{Context: context.Background()}, Workers: 1}
		src, err := Build(make(env), env)
		if err != nil {
			b.Fatal(err)
		}
		for {
			out, err := src.Next(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if out == nil {
				break
			}
		}
		src.Close()
	}
	// Processor time, because other work on the machine is none of ours.
	b.ReportMetric(float64(cpuTime()-begin)/float64(b.N)/float64(rows), "cpu-ns/row")
}

func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

const benchBatches = 500

var benchRows = benchBatches * vec.BatchRows

// BenchmarkGroupCodes is Q1's shape: two dictionary keys, sums and averages of decimals.
func BenchmarkGroupCodes(b *testing.B) {
	dec := types.DecimalType(15, 2)
	t := newBenchTable(16, []types.Type{text, text, dec, dec, dec}, func(c, row int) int64 { return int64(row * 7 % 10000) })
	rnd := rand.New(rand.NewSource(1))
	for k, vals := range [][]string{{"A", "N", "R"}, {"F", "O"}} {
		dict := vec.NewAppender(text)
		for _, v := range vals {
			dict.AppendDatum(types.NewStr(v))
		}
		d := dict.Vector()
		d.DictID = vec.NewDictID()
		for _, batch := range t.batches {
			v := &vec.Vector{Type: text, Form: types.FormStr, Enc: vec.Dict, Dictionary: d, Codes: make([]uint32, vec.BatchRows)}
			for i := range v.Codes {
				v.Codes[i] = uint32(rnd.Intn(len(vals)))
			}
			batch.Cols[k] = v
		}
	}
	groups := []plan.Named{{Col: column1("a", text), Expr: col(t.cols[0])}, {Col: column1("b", text), Expr: col(t.cols[1])}}
	b.Run("count", func(b *testing.B) {
		runBench(b, benchRows, func(env *Env) plan.Node {
			return &plan.Aggregate{Input: t.node(env, 1, benchBatches), Groups: groups, Aggs: []plan.Agg{agg(b, "count")}}
		})
	})
	b.Run("q1", func(b *testing.B) {
		runBench(b, benchRows, func(env *Env) plan.Node {
			x, y, z := col(t.cols[2]), col(t.cols[3]), col(t.cols[4])
			return &plan.Aggregate{Input: t.node(env, 1, benchBatches), Groups: groups, Aggs: []plan.Agg{
				agg(b, "sum", x), agg(b, "sum", y), agg(b, "avg", x), agg(b, "avg", y), agg(b, "avg", z), agg(b, "count")}}
		})
	})
}

// BenchmarkGroupInts groups by integers of few and of many values.
func BenchmarkGroupInts(b *testing.B) {
	for _, groups := range []int64{1000, 1 << 20} {
		b.Run(fmt.Sprint(groups), func(b *testing.B) {
			t := newBenchTable(benchBatches, []types.Type{int8, int8}, func(c, row int) int64 { return int64(row) * 2654435761 % groups * 3 })
			runBench(b, benchRows, func(env *Env) plan.Node {
				return &plan.Aggregate{Input: t.node(env, 1, benchBatches), Groups: []plan.Named{{Col: column1("a", int8), Expr: col(t.cols[0])}},
					Aggs: []plan.Agg{agg(b, "sum", col(t.cols[1]))}}
			})
		})
	}
}

// BenchmarkCountDistinct is count(DISTINCT x) over half a million values.
func BenchmarkCountDistinct(b *testing.B) {
	t := newBenchTable(benchBatches, []types.Type{int8}, func(c, row int) int64 { return int64(row) / 2 * 4 })
	runBench(b, benchRows, func(env *Env) plan.Node {
		a := agg(b, "count", col(t.cols[0]))
		a.Distinct = true
		return &plan.Aggregate{Input: t.node(env, 1, benchBatches), Aggs: []plan.Agg{a}}
	})
}

// BenchmarkJoinProbe probes a table of 128k unique keys, dense and spread out.
func BenchmarkJoinProbe(b *testing.B) {
	for name, stride := range map[string]int64{"dense": 1, "sparse": 1 << 30} {
		b.Run(name, func(b *testing.B) {
			build := newBenchTable(64, []types.Type{int8, int8}, func(c, row int) int64 { return int64(row) * stride })
			probe := newBenchTable(64, []types.Type{int8, int8}, func(c, row int) int64 { return int64(row*7919%(64*vec.BatchRows)) * stride })
			runBench(b, benchRows, func(env *Env) plan.Node {
				return &plan.Aggregate{Aggs: []plan.Agg{agg(b, "sum", col(build.cols[1]))},
					Input: &plan.Join{Method: plan.HashJoin, Left: probe.node(env, 1, benchBatches), Right: build.node(env, 1, 64),
						LeftKeys: []plan.Expr{col(probe.cols[0])}, RightKeys: []plan.Expr{col(build.cols[0])}}}
			})
		})
	}
}

// BenchmarkSort orders a million integers, and finds the first hundred.
func BenchmarkSort(b *testing.B) {
	t := newBenchTable(benchBatches, []types.Type{int8, int8}, func(c, row int) int64 { return int64(uint32(row) * 2654435761) })
	for _, limit := range []int64{0, 100} {
		b.Run(fmt.Sprint("limit", limit), func(b *testing.B) {
			runBench(b, benchRows, func(env *Env) plan.Node {
				return &plan.Sort{Input: t.node(env, 1, benchBatches), Keys: []plan.SortKey{{Expr: col(t.cols[0])}}, HasLimit: limit > 0, Limit: limit}
			})
		})
	}
}

// BenchmarkWindow ranks and sums within partitions of a thousand rows.
func BenchmarkWindow(b *testing.B) {
	t := newBenchTable(100, []types.Type{int8, int8}, func(c, row int) int64 {
		if c == 0 {
			return int64(row / 1000)
		}
		return int64(uint32(row) * 2654435761)
	})
	runBench(b, 100*vec.BatchRows, func(env *Env) plan.Node {
		a := agg(b, "sum", col(t.cols[1]))
		f := plan.Frame{End: plan.FrameBound{Kind: plan.CurrentRow}}
		return &plan.Window{Input: t.node(env, 1, 100), Partition: []plan.Expr{col(t.cols[0])}, Order: []plan.SortKey{{Expr: col(t.cols[1])}},
			Calls: []plan.WindowCall{{Func: a.Func, Args: a.Args, Frame: f, Out: a.Out}}}
	})
}
