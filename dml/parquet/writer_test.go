package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

var utcText = &types.TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaOutput: "hex"}

// everyType has a column of each type that can be written, nested ones included.
func everyType() []lake.Field {
	id := 0
	prim := func(name, ice string, required bool) lake.Field {
		id++
		return lake.Field{ID: id, Name: name, Iceberg: ice, Type: lake.TypeOf(ice), Required: required}
	}
	list := func(name string, e lake.Field) lake.Field {
		id++
		return lake.Field{ID: id, Name: name, Iceberg: "list", Type: types.ArrayOf(e.Type), Children: []lake.Field{e}}
	}
	structOf := func(name string, m ...lake.Field) lake.Field {
		id++
		f := lake.Field{ID: id, Name: name, Iceberg: "struct", Children: m}
		var tf []types.Field
		for _, c := range m {
			tf = append(tf, types.Field{Name: c.Name, Type: c.Type})
		}
		f.Type = types.StructOf(tf...)
		return f
	}
	mapOf := func(name string, k, v lake.Field) lake.Field {
		id++
		return lake.Field{ID: id, Name: name, Iceberg: "map", Type: types.MapOf(k.Type, v.Type), Children: []lake.Field{k, v}}
	}
	return []lake.Field{
		prim("i", "int", true), prim("l", "long", false), prim("b", "boolean", false), prim("f", "float", false),
		prim("d", "double", false), prim("s", "string", false), prim("dt", "date", false), prim("t", "time", false),
		prim("ts", "timestamp", false), prim("tz", "timestamptz", false), prim("d9", "decimal(9,2)", false),
		prim("d18", "decimal(18,4)", false), prim("d38", "decimal(38,10)", false), prim("u", "uuid", false),
		prim("x", "binary", false), prim("fx", "fixed[3]", false),
		list("li", prim("element", "int", false)),
		structOf("st", prim("a", "int", false), prim("b", "string", true)),
		mapOf("m", prim("key", "string", true), prim("value", "double", false)),
		list("ls", structOf("element", prim("p", "long", false), list("q", prim("element", "string", false)))),
	}
}

func randomDatum(r *rand.Rand, f *lake.Field) types.Datum {
	if !f.Required && r.Intn(6) == 0 {
		return types.Null
	}
	str := func() string {
		return strings.Repeat(string(rune('a'+r.Intn(5))), r.Intn(9)) + []string{"", "é", "zz"}[r.Intn(3)]
	}
	switch f.Iceberg {
	case "int":
		return types.NewInt(int64(int32(r.Uint32())) >> r.Intn(32))
	case "date":
		return types.NewInt(int64(r.Intn(40000) - 20000))
	case "long":
		return types.NewInt(int64(r.Uint64()) >> r.Intn(64))
	case "time":
		return types.NewInt(r.Int63n(86400_000_000))
	case "timestamp", "timestamptz":
		return types.NewInt(r.Int63n(4e15) - 2e15)
	case "boolean":
		return types.NewBool(r.Intn(2) == 0)
	case "float":
		return types.NewFloat(float64(float32(r.NormFloat64())))
	case "double":
		return types.NewFloat([]float64{r.NormFloat64(), 0, math.Copysign(0, -1), math.Inf(1)}[r.Intn(4)])
	case "string":
		return types.NewStr(str())
	case "binary":
		return types.NewStr(string([]byte{0xff, byte(r.Intn(256)), 0}[:r.Intn(4)]))
	case "fixed[3]":
		return types.NewStr(string([]byte{byte(r.Intn(256)), 0, 0xfe}))
	case "uuid":
		return types.NewW128(types.Int128{Hi: int64(r.Uint64()), Lo: r.Uint64()})
	case "decimal(9,2)":
		return types.NewInt(r.Int63n(2e9-2) - 1e9 + 1)
	case "decimal(18,4)":
		return types.NewInt(r.Int63n(2e18-2) - 1e18 + 1)
	case "decimal(38,10)":
		return types.NewW128(types.Int128{Hi: r.Int63n(1<<60) - 1<<59, Lo: r.Uint64()})
	case "list":
		n := r.Intn(4)
		l := make([]types.Datum, n)
		for i := range l {
			l[i] = randomDatum(r, &f.Children[0])
		}
		return types.NewList(l)
	case "struct":
		l := make([]types.Datum, len(f.Children))
		for i := range l {
			l[i] = randomDatum(r, &f.Children[i])
		}
		return types.NewStruct(l)
	case "map":
		n := r.Intn(3)
		l := make([]types.Datum, n)
		for i := range l {
			l[i] = types.NewStruct([]types.Datum{types.NewStr(fmt.Sprint("k", i)), randomDatum(r, &f.Children[1])})
		}
		return types.NewList(l)
	}
	panic(f.Iceberg)
}

// writeFile writes n random rows and gives the file and the rows.
func writeFile(t *testing.T, fields []lake.Field, n int, seed int64, opt Options) ([]byte, [][]types.Datum, *lake.DataFile) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var out bytes.Buffer
	w, err := NewWriter(&out, fields, opt)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]types.Datum
	for len(rows) < n {
		k := min(1+r.Intn(700), n-len(rows))
		b := &vec.Batch{Rows: k}
		apps := make([]*vec.Appender, len(fields))
		for j := range fields {
			apps[j] = vec.NewAppender(fields[j].Type)
		}
		for range k {
			row := make([]types.Datum, len(fields))
			for j := range fields {
				row[j] = randomDatum(r, &fields[j])
				apps[j].AppendDatum(row[j])
			}
			rows = append(rows, row)
		}
		for _, a := range apps {
			b.Cols = append(b.Cols, a.Vector())
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	f, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rows, f
}

// TestCounts: what the manifest entry says is what the rows are.
func TestCounts(t *testing.T) {
	fields := everyType()
	data, rows, f := writeFile(t, fields, 5000, 1, Options{RowGroupRows: 1500, PageRows: 100})
	if f.RecordCount != 5000 || f.FileSize != int64(len(data)) || len(f.SplitOffsets) < 3 {
		t.Fatalf("%d records, %d bytes of %d, %d row groups", f.RecordCount, f.FileSize, len(data), len(f.SplitOffsets))
	}
	for j, fl := range fields {
		if len(fl.Children) > 0 {
			continue
		}
		nulls := int64(0)
		var lo, hi types.Datum
		for _, r := range rows {
			if r[j].IsNull() {
				nulls++
				continue
			}
			if lo.IsNull() || types.Compare(r[j], lo, fl.Type) < 0 {
				lo = r[j]
			}
			if hi.IsNull() || types.Compare(r[j], hi, fl.Type) > 0 {
				hi = r[j]
			}
		}
		if f.NullCounts[fl.ID] != nulls || f.ValueCounts[fl.ID] != 5000 {
			t.Errorf("%s: %d nulls of %d, not %d of 5000", fl.Name, f.NullCounts[fl.ID], f.ValueCounts[fl.ID], nulls)
		}
		gl, ok1 := lake.DecodeBound(fl.Type, fl.Iceberg, f.Lower[fl.ID])
		gh, ok2 := lake.DecodeBound(fl.Type, fl.Iceberg, f.Upper[fl.ID])
		if !ok1 || !ok2 || types.Compare(gl, lo, fl.Type) > 0 || types.Compare(gh, hi, fl.Type) < 0 {
			t.Errorf("%s: bounds %v %v do not hold %v %v", fl.Name, gl, gh, lo, hi)
		}
	}
}

// TestOtherReader: parquet-go opens the file, its indexes and its Bloom filters.
func TestOtherReader(t *testing.T) {
	fields := everyType()
	data, rows, _ := writeFile(t, fields, 3000, 2, Options{RowGroupRows: 1000, PageRows: 200, Bloom: map[int]float64{6: 0.01}})
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != 3000 {
		t.Fatalf("%d rows", f.NumRows())
	}
	at := 0
	for _, rg := range f.RowGroups() {
		mine := rows[at : at+int(rg.NumRows())]
		at += len(mine)
		c := rg.ColumnChunks()[5]
		b := c.BloomFilter()
		if b == nil {
			t.Fatal("no Bloom filter")
		}
		for _, r := range mine {
			if r[5].IsNull() {
				continue
			}
			if ok, err := b.Check(pq.ByteArrayValue([]byte(r[5].Str()))); !ok || err != nil {
				t.Fatalf("the filter lacks %q: %v", r[5].Str(), err)
			}
		}
		ci, err := c.ColumnIndex()
		if err != nil || ci.NumPages() < 2 {
			t.Fatalf("column index: %v", err)
		}
	}
}

// TestArrowReads: pyarrow reads every value of every codec as it was written.
func TestArrowReads(t *testing.T) {
	py := os.Getenv("LHSQL_PYTHON")
	if py == "" {
		t.Skip("LHSQL_PYTHON names no Python with pyarrow")
	}
	fields := everyType()
	for codec, name := range []string{"zstd", "uncompressed", "snappy", "gzip", "brotli", "lz4_raw"} {
		seed := int64(100 + codec)
		data, rows, _ := writeFile(t, fields, 4000, seed, Options{Codec: Codec(codec), RowGroupRows: 1700, PageRows: 300})
		file := filepath.Join(t.TempDir(), "f.parquet")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(py, "testdata/dump.py", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		got := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
		if len(got) != len(rows) {
			t.Fatalf("%s: %d rows, not %d", name, len(got), len(rows))
		}
		for i, r := range rows {
			var w []string
			for j, d := range r {
				w = append(w, dump(d, &fields[j]))
			}
			if want := strings.Join(w, "|"); got[i] != want {
				t.Fatalf("%s, seed %d, row %d:\n got %s\nwant %s", name, seed, i, got[i], want)
			}
		}
	}
}

// dump is a value as testdata/dump.py prints it.
func dump(d types.Datum, f *lake.Field) string {
	if d.IsNull() {
		return "None"
	}
	switch f.Iceberg {
	case "float", "double":
		return fmt.Sprintf("%016x", math.Float64bits(d.Float()))
	case "binary", "fixed[3]":
		return fmt.Sprintf("%x", d.Str())
	case "list":
		var out []string
		for _, x := range d.List() {
			out = append(out, dump(x, &f.Children[0]))
		}
		return "[" + strings.Join(out, ",") + "]"
	case "struct":
		var out []string
		for i, x := range d.List() {
			out = append(out, dump(x, &f.Children[i]))
		}
		return "{" + strings.Join(out, ",") + "}"
	case "map":
		var out []string
		for _, x := range d.List() {
			out = append(out, dump(x.List()[0], &f.Children[0])+":"+dump(x.List()[1], &f.Children[1]))
		}
		return "<" + strings.Join(out, ",") + ">"
	case "boolean":
		return map[bool]string{true: "True", false: "False"}[d.Bool()]
	case "int", "long", "date", "time", "timestamp", "timestamptz":
		return fmt.Sprint(d.Int())
	}
	return types.Format(d, f.Type, utcText)
}
