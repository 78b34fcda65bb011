package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

const lineitemFields = `[
{"id":1,"name":"l_orderkey","required":false,"type":"long"},{"id":2,"name":"l_partkey","required":false,"type":"long"},
{"id":3,"name":"l_suppkey","required":false,"type":"long"},{"id":4,"name":"l_linenumber","required":false,"type":"int"},
{"id":5,"name":"l_quantity","required":false,"type":"decimal(15,2)"},{"id":6,"name":"l_extendedprice","required":false,"type":"decimal(15,2)"},
{"id":7,"name":"l_discount","required":false,"type":"decimal(15,2)"},{"id":8,"name":"l_tax","required":false,"type":"decimal(15,2)"},
{"id":9,"name":"l_returnflag","required":false,"type":"string"},{"id":10,"name":"l_linestatus","required":false,"type":"string"},
{"id":11,"name":"l_shipdate","required":false,"type":"date"},{"id":12,"name":"l_commitdate","required":false,"type":"date"},
{"id":13,"name":"l_receiptdate","required":false,"type":"date"},{"id":14,"name":"l_shipinstruct","required":false,"type":"string"},
{"id":15,"name":"l_shipmode","required":false,"type":"string"},{"id":16,"name":"l_comment","required":false,"type":"string"}]`

// lineitemTable is TPC-H's lineitem at scale 1, as a Parquet file that LHSQL_LINEITEM names.
func lineitemTable(tb testing.TB) (*lake.Table, *lake.DataFile) {
	at := os.Getenv("LHSQL_LINEITEM")
	st, err := os.Stat(at)
	if err != nil {
		tb.Skip(err)
	}
	var fields []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	json.Unmarshal([]byte(lineitemFields), &fields)
	type mapped struct {
		ID    int      `json:"field-id"`
		Names []string `json:"names"`
	}
	var m []mapped
	for _, f := range fields {
		m = append(m, mapped{f.ID, []string{f.Name}})
	}
	b, _ := json.Marshal(m)
	extra := fmt.Sprintf(`"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"properties":{"schema.name-mapping.default":%q}`, b)
	t, _ := tableOf(tb, json.RawMessage(lineitemFields), extra)
	to := filepath.Join(t.Location(), "data", "lineitem.parquet")
	if err := os.Link(at, to); err != nil {
		if err := os.Symlink(at, to); err != nil {
			tb.Fatal(err)
		}
	}
	return t, &lake.DataFile{Path: to, Format: "parquet", FileSize: st.Size(), RecordCount: -1}
}

// col gives the scan's column by name, as an expression.
func col(n *plan.Scan, name string) *plan.Col {
	for _, cs := range [][]plan.ScanColumn{n.Cols, n.PredCols} {
		for _, c := range cs {
			if c.Name == name {
				return &plan.Col{ID: c.ID, Name: c.Name, Typ: c.Type}
			}
		}
	}
	panic("no column " + name)
}

func compare(op string, l plan.Expr, v types.Datum) plan.Expr {
	return &plan.Call{Func: eval.Operator(op, l.Type(), l.Type()), Args: []plan.Expr{l, &plan.Const{Value: v, Typ: l.Type()}},
		Typ: types.T(types.Bool), Pos: -1}
}

// keepCols keeps the named columns as output.
func keepCols(n *plan.Scan, names ...string) {
	var cols []plan.ScanColumn
	for _, name := range names {
		for _, c := range n.Cols {
			if c.Name == name {
				cols = append(cols, c)
			}
		}
	}
	n.Cols = cols
}

// drainParallel reads a scan with workers sources and gives the number of rows.
func drainParallel(tb testing.TB, n *plan.Scan, workers int) int {
	s, err := Open(context.Background(), n, Env{})
	if err != nil {
		tb.Fatal(err)
	}
	rows := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		src := s.Source()
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer src.Close()
			for {
				b, err := src.Next(context.Background())
				if err != nil {
					tb.Error(err)
					return
				}
				if b == nil {
					return
				}
				rows[w] += b.Len()
			}
		}()
	}
	wg.Wait()
	total := 0
	for _, r := range rows {
		total += r
	}
	return total
}

func date(s string) types.Datum {
	d, err := types.Parse(s, types.T(types.Date), nil)
	if err != nil {
		panic(err)
	}
	return d
}

// BenchmarkScanQ1 is the scan of TPC-H Q1: seven columns, a filter that keeps nearly all.
func BenchmarkScanQ1(b *testing.B) {
	t, f := lineitemTable(b)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := scanOf(t, f)
				keepCols(n, "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate")
				n.Pred = compare("<=", col(n, "l_shipdate"), date("1998-09-02"))
				n.Tasks[0].Residual = n.Pred
				n.PredCols = n.Cols[6:]
				n.Cols = n.Cols[:6]
				if rows := drainParallel(b, n, workers); rows < 5_900_000 || rows > 5_930_000 {
					b.Fatal(rows)
				}
			}
		})
	}
}

// BenchmarkScanQ6 is the scan of TPC-H Q6: a filter that keeps 2 %.
func BenchmarkScanQ6(b *testing.B) {
	t, f := lineitemTable(b)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				n := scanOf(t, f)
				keepCols(n, "l_extendedprice", "l_discount", "l_shipdate", "l_quantity")
				day, disc, qty := col(n, "l_shipdate"), col(n, "l_discount"), col(n, "l_quantity")
				n.Pred = &plan.And{Args: []plan.Expr{
					compare(">=", day, date("1994-01-01")), compare("<", day, date("1995-01-01")),
					compare(">=", disc, types.NewInt(5)), compare("<=", disc, types.NewInt(7)), compare("<", qty, types.NewInt(2400))}}
				n.Tasks[0].Residual = n.Pred
				n.PredCols = n.Cols[2:]
				n.Cols = n.Cols[:2]
				if rows := drainParallel(b, n, workers); rows != 114160 {
					b.Fatal(rows)
				}
			}
		})
	}
}

// BenchmarkScanNeedle looks one order up among all columns.
func BenchmarkScanNeedle(b *testing.B) {
	t, f := lineitemTable(b)
	for b.Loop() {
		n := scanOf(t, f)
		n.Pred = compare("=", col(n, "l_orderkey"), types.NewInt(3_000_000))
		n.Tasks[0].Residual = n.Pred
		drainParallel(b, n, 1)
	}
}
