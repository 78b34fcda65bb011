package scan

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// fixture is what testdata/make_fixtures.py says of a Parquet file.
type fixture struct {
	Fields json.RawMessage `json:"fields"`
	Rows   [][]any         `json:"rows"`
}

func readFixture(tb testing.TB, name string) fixture {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		tb.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(b, &f); err != nil {
		tb.Fatal(err)
	}
	return f
}

// tableOf makes a table with the schema in a folder of its own; files are copied there.
func tableOf(tb testing.TB, fields json.RawMessage, extra string, files ...string) (*lake.Table, []*lake.DataFile) {
	tb.Helper()
	dir := tb.TempDir()
	meta := filepath.Join(dir, "metadata")
	os.MkdirAll(meta, 0o755)
	os.MkdirAll(filepath.Join(dir, "data"), 0o755)
	if extra == "" {
		extra = `"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"properties":{}`
	}
	doc := fmt.Sprintf(`{"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":%q,
		"last-sequence-number":10,"last-updated-ms":1700000000000,"last-column-id":100,"next-row-id":1000,
		"schemas":[{"type":"struct","schema-id":0,"fields":%s}],"current-schema-id":0,%s,"last-partition-id":1000,
		"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"refs":{}}`, dir, fields, extra)
	loc := filepath.Join(meta, "v1.metadata.json")
	if err := os.WriteFile(loc, []byte(doc), 0o644); err != nil {
		tb.Fatal(err)
	}
	t, err := lake.OpenPath(context.Background(), loc)
	if err != nil {
		tb.Fatal(err)
	}
	var out []*lake.DataFile
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, addFile(tb, t, filepath.Base(f), b))
	}
	return t, out
}

// addFile puts a data file into a table's folder.
func addFile(tb testing.TB, t *lake.Table, name string, b []byte) *lake.DataFile {
	tb.Helper()
	at := filepath.Join(t.Location(), "data", name)
	if err := os.WriteFile(at, b, 0o644); err != nil {
		tb.Fatal(err)
	}
	return &lake.DataFile{Path: at, Format: "parquet", FileSize: int64(len(b)), DataSeq: 1, RecordCount: -1}
}

// scanOf is a scan of all columns of t's schema over the files.
func scanOf(t *lake.Table, files ...*lake.DataFile) *plan.Scan {
	n := &plan.Scan{Table: t, Snapshot: &lake.Snapshot{}, Schema: t.Schema(), Pruned: true}
	for i, f := range t.Schema().Fields {
		n.Cols = append(n.Cols, plan.ScanColumn{Column: plan.Column{ID: plan.ColID(i + 1), Name: f.Name, Type: f.Type}, FieldID: f.ID})
	}
	for _, f := range files {
		n.Tasks = append(n.Tasks, plan.FileTask{File: f})
	}
	return n
}

// collect runs a scan and gives its rows.
func collect(tb testing.TB, n *plan.Scan, env Env) ([][]types.Datum, ScanStats, error) {
	tb.Helper()
	s, err := Open(context.Background(), n, env)
	if err != nil {
		return nil, ScanStats{}, err
	}
	src := s.Source()
	defer src.Close()
	var rows [][]types.Datum
	for {
		b, err := src.Next(context.Background())
		if err != nil {
			return rows, s.Stats(), err
		}
		if b == nil {
			return rows, s.Stats(), nil
		}
		rows = appendRows(rows, b)
	}
}

func appendRows(rows [][]types.Datum, b *vec.Batch) [][]types.Datum {
	for k := 0; k < b.Len(); k++ {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		row := make([]types.Datum, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = v.Datum(i)
			if v.Type.Kind == types.Numeric && v.Form == types.FormI64 && v.Type.Form() == types.FormW128 && !row[c].IsNull() {
				row[c] = types.NewW128(types.Int128{Lo: uint64(row[c].Int()), Hi: row[c].Int() >> 63})
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// matches compares a value with what the fixture has for it.
func matches(want any, d types.Datum, t types.Type) bool {
	if want == nil || d.IsNull() {
		return want == nil && d.IsNull()
	}
	switch t.Kind {
	case types.Bool:
		return want == d.Bool()
	case types.Float4, types.Float8:
		if s, ok := want.(string); ok {
			f, _ := strconv.ParseFloat(s, 64)
			return math.IsNaN(f) && math.IsNaN(d.Float()) || f == d.Float()
		}
		return math.Float64bits(want.(float64)) == math.Float64bits(d.Float())
	case types.Array, types.Struct, types.Map:
		return matchesList(want.([]any), d.List(), t)
	case types.Variant: // as jsonb, and its types
		w := want.([]any)
		return w[0] == types.VariantJSON(d.Str()) && w[1] == types.VariantType(d.Str())
	case types.Bytea:
		return want == hex.EncodeToString([]byte(d.Str()))
	}
	return want == types.Format(d, t, nil)
}

func matchesList(want []any, list []types.Datum, t types.Type) bool {
	if len(want) != len(list) {
		return false
	}
	for i := range want {
		et := t.Elem()
		switch t.Kind {
		case types.Struct:
			et = t.Fields()[i].Type
		case types.Map:
			et = vec.ListChild(t)
		}
		if !matches(want[i], list[i], et) {
			return false
		}
	}
	return true
}

func checkRows(tb testing.TB, fx fixture, n *plan.Scan, rows [][]types.Datum) {
	tb.Helper()
	if len(rows) != len(fx.Rows) {
		tb.Fatalf("%d rows, want %d", len(rows), len(fx.Rows))
	}
	bad := 0
	for i := range rows {
		for c := range rows[i] {
			if t := n.Cols[c].Type; !matches(fx.Rows[i][c], rows[i][c], t) {
				if bad++; bad < 8 {
					got := fmt.Sprint(rows[i][c])
					if t.Kind == types.Variant && !rows[i][c].IsNull() {
						got = types.VariantType(rows[i][c].Str())
					}
					if t.Kind != types.Struct && t.Kind != types.Array && t.Kind != types.Map {
						got += " " + types.Format(rows[i][c], t, nil)
					}
					tb.Errorf("row %d, %s: got %s, want %v", i, n.Cols[c].Name, got, fx.Rows[i][c])
				}
			}
		}
	}
}

func fixtureNames(tb testing.TB) (names []string) {
	files, _ := filepath.Glob("testdata/*.parquet")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".parquet"))
	}
	if len(names) == 0 {
		tb.Fatal("no fixtures")
	}
	return names
}

// TestFixtures reads every encoding, codec, page version and nesting that pyarrow writes, with
// batches of several lengths.
func TestFixtures(t *testing.T) {
	for _, name := range fixtureNames(t) {
		t.Run(name, func(t *testing.T) {
			fx := readFixture(t, name)
			tb, files := tableOf(t, fx.Fields, "", "testdata/"+name+".parquet")
			for _, batch := range []int{1, 7, 64, 2048} {
				n := scanOf(tb, files...)
				rows, _, err := collect(t, n, Env{BatchRows: batch})
				if err != nil {
					t.Fatal(err)
				}
				checkRows(t, fx, n, rows)
				if t.Failed() {
					t.Fatalf("with batches of %d", batch)
				}
			}
		})
	}
}

func newTestBudget() *parquet.Budget { return parquet.NewBudget(nil) }

func mustRead(tb testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestFixturesWithHoles lets only some rows leave, so that columns of every encoding and
// nesting skip: within pages, over pages, by indexes and without.
func TestFixturesWithHoles(t *testing.T) {
	seed := testseed.Of(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for _, name := range fixtureNames(t) {
		fx := readFixture(t, name)
		tb, files := tableOf(t, fx.Fields, "", "testdata/"+name+".parquet")
		for trial := range 12 {
			n := scanOf(tb, files...)
			pos := plan.ScanColumn{Column: plan.Column{ID: 1000, Name: "_pos", Type: types.T(types.Int8)}, FieldID: plan.HiddenPos}
			n.PredCols = []plan.ScanColumn{pos}
			keep := map[int64]bool{}
			list := &plan.InList{X: &plan.Col{ID: 1000, Name: "_pos", Typ: pos.Type}}
			for range rnd.IntN(6) {
				at := rnd.Int64N(int64(len(fx.Rows)))
				for p := at; p < min(at+1+rnd.Int64N(90), int64(len(fx.Rows))); p += 1 + rnd.Int64N(4) {
					keep[p] = true
				}
			}
			want := fixture{}
			for p := range fx.Rows {
				if keep[int64(p)] {
					list.List = append(list.List, types.NewInt(int64(p)))
					want.Rows = append(want.Rows, fx.Rows[p])
				}
			}
			if len(list.List) == 0 {
				continue
			}
			n.Pred = list
			n.Tasks[0].Residual = list
			rows, _, err := collect(t, n, Env{BatchRows: []int{1, 8, 65, 512}[trial%4]})
			if err != nil {
				t.Fatal(name, err)
			}
			checkRows(t, want, n, rows)
			if t.Failed() {
				t.Fatalf("%s, trial %d", name, trial)
			}
		}
	}
}
