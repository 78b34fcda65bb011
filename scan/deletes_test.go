package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	pq "github.com/parquet-go/parquet-go"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

type posDelete struct {
	Path string `parquet:"file_path,id(2147483546)"`
	Pos  int64  `parquet:"pos,id(2147483545)"`
}

func writeRows[T any](tb testing.TB, t *lake.Table, name string, rows []T) *lake.DataFile {
	tb.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, pq.Compression(&pq.Zstd))
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	f := addFile(tb, t, name, b.Bytes())
	f.DataSeq = 2
	return f
}

func positionDeletes(tb testing.TB, t *lake.Table, name string, data *lake.DataFile, pos []int64) *lake.DataFile {
	rows := []posDelete{{"some/other/file.parquet", 0}}
	for _, p := range pos {
		rows = append(rows, posDelete{data.Path, p})
	}
	f := writeRows(tb, t, name, rows)
	f.Content = lake.PositionDeletes
	return f
}

// deletionVector writes a Puffin-like file with a blob in its middle.
func deletionVector(tb testing.TB, t *lake.Table, name string, pos []int64, runs bool) *lake.DataFile {
	bm := roaring64.New()
	for _, p := range pos {
		bm.Add(uint64(p))
	}
	if runs {
		bm.RunOptimize()
	}
	var body bytes.Buffer
	body.WriteString("\xd1\xd3\x39\x64")
	if _, err := bm.WriteTo(&body); err != nil {
		tb.Fatal(err)
	}
	blob := binary.BigEndian.AppendUint32(nil, uint32(body.Len()))
	blob = append(blob, body.Bytes()...)
	blob = binary.BigEndian.AppendUint32(blob, crc32.ChecksumIEEE(body.Bytes()))
	f := addFile(tb, t, name, append(append([]byte("PFA1"), blob...), "PFA1 end"...))
	f.Content, f.Format, f.ContentOffset, f.ContentSize = lake.DeletionVector, "puffin", 4, int64(len(blob))
	return f
}

type sortedKey struct {
	K *int64 `parquet:"k,optional,id(1)"`
}
type sortedKeyName struct {
	Name *string `parquet:"name,optional,id(2)"`
	K    *int64  `parquet:"k,optional,id(1)"`
}

func sortedTable(t *testing.T) (*lake.Table, *lake.DataFile, [][]types.Datum) {
	fx := readFixture(t, "sorted")
	tb, files := tableOf(t, fx.Fields, "", "testdata/sorted.parquet")
	rows, _, err := collect(t, scanOf(tb, files[0]), Env{})
	if err != nil {
		t.Fatal(err)
	}
	return tb, files[0], rows
}

func keysOf(rows [][]types.Datum) (k []int64) {
	for _, r := range rows {
		k = append(k, r[0].Int())
	}
	return k
}

func wantKeys(t *testing.T, what string, rows [][]types.Datum, total int, dead func(int64) bool) {
	t.Helper()
	var want []int64
	for k := range int64(total) {
		if !dead(k) {
			want = append(want, k)
		}
	}
	if got := keysOf(rows); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %d rows leave, want %d", what, len(got), len(want))
	}
}

func withDeletes(tb *lake.Table, data *lake.DataFile, d ...*lake.DataFile) *plan.Scan {
	n := scanOf(tb, data)
	n.Tasks[0].Deletes = d
	return n
}

// TestPositionDeletes: rows at the positions that a delete file names for this data file never
// leave, whatever is skipped; those of other files do not matter.
func TestPositionDeletes(t *testing.T) {
	tb, data, rows := sortedTable(t)
	dead := map[int64]bool{0: true, 63: true, 64: true, 999: true, 1000: true, 4999: true}
	for p := int64(2000); p < 3000; p++ { // a whole row group
		dead[p] = true
	}
	var pos []int64
	for p := range dead {
		pos = append(pos, p)
	}
	d := positionDeletes(t, tb, "pos.parquet", data, pos) // unsorted: to be tolerated
	for _, batch := range []int{1, 3, 100, 2048} {
		got, st, err := collect(t, withDeletes(tb, data, d), Env{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		wantKeys(t, "position deletes", got, len(rows), func(k int64) bool { return dead[k] })
		if st.PositionDeleted != int64(len(dead)) || st.DeleteFiles != 1 {
			t.Errorf("stats: %+v", st)
		}
	}
}

// TestDeletionVectors: arrays, bitmaps and runs, and every way to damage the blob is an error.
func TestDeletionVectors(t *testing.T) {
	tb, data, rows := sortedTable(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	sets := map[string][]int64{"few": {0, 5, 4999}, "far": {7, 1 << 20, 1 << 33}}
	for p := int64(0); p < 5000; p++ {
		if p > 100 && p < 4900 {
			sets["run"] = append(sets["run"], p)
		}
		if rnd.IntN(20) > 0 {
			sets["most"] = append(sets["most"], p)
		}
	}
	for name, pos := range sets {
		dead := map[int64]bool{}
		for _, p := range pos {
			dead[p] = true
		}
		for _, runs := range []bool{false, true} {
			d := deletionVector(t, tb, fmt.Sprintf("%s%v.puffin", name, runs), pos, runs)
			got, _, err := collect(t, withDeletes(tb, data, d), Env{})
			if err != nil {
				t.Fatal(name, err)
			}
			wantKeys(t, name, got, len(rows), func(k int64) bool { return dead[k] })
		}
	}
	good := deletionVector(t, tb, "good.puffin", sets["run"][:100], false)
	b, _ := os.ReadFile(good.Path)
	for at := 4; at < 4+int(good.ContentSize); at++ {
		bad := append([]byte(nil), b...)
		bad[at] ^= 1
		f := addFile(t, tb, "bad.puffin", bad)
		f.Content, f.Format, f.ContentOffset, f.ContentSize = good.Content, good.Format, good.ContentOffset, good.ContentSize
		if _, _, err := collect(t, withDeletes(tb, data, f), Env{}); sqlerr.CodeOf(err) != sqlerr.DataCorrupted {
			t.Fatalf("a bit flipped at %d: %v", at, err)
		}
	}
}

// TestRoaringGarbage: no bytes make the decoder panic, checksum or not.
func TestRoaringGarbage(t *testing.T) {
	bm := roaring64.New()
	bm.AddRange(100, 9000)
	bm.Add(1 << 40)
	bm.RunOptimize()
	for p := uint64(70000); p < 140000; p += 3 {
		bm.Add(p)
	}
	good, _ := bm.ToBytes()
	if err := (&posSet{}).readRoaring(good, newTestBudget()); err != nil {
		t.Fatal(err)
	}
	seed := testseed.Of(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		b := append([]byte(nil), good...)
		for range 1 + rnd.IntN(4) {
			b[rnd.IntN(min(len(b), 200))] = byte(rnd.IntN(256))
		}
		(&posSet{}).readRoaring(b[:rnd.IntN(len(b)+1)], newTestBudget())
	}
}

func ptr[T any](v T) *T { return &v }

// TestEqualityDeletes: one and several fields, NULL keys, a field that is not projected, and
// together with position deletes.
func TestEqualityDeletes(t *testing.T) {
	tb, data, rows := sortedTable(t)
	var one []sortedKey
	for k := int64(10); k < 20; k++ {
		one = append(one, sortedKey{&k})
	}
	one = append(one, sortedKey{nil}, sortedKey{ptr(int64(-1))})
	d1 := writeRows(t, tb, "eq1.parquet", one)
	d1.Content, d1.EqualityIDs = lake.EqualityDeletes, []int{1}
	name := func(k int64) *string { s := rows[k][1].Str(); return &s }
	two := []sortedKeyName{{name(100), ptr(int64(100))}, {name(101), ptr(int64(999))}, {nil, ptr(int64(102))}, {name(4500), ptr(int64(4500))}}
	d2 := writeRows(t, tb, "eq2.parquet", two)
	d2.Content, d2.EqualityIDs = lake.EqualityDeletes, []int{1, 2}
	d3 := positionDeletes(t, tb, "pos.parquet", data, []int64{12, 1234})
	dead := func(k int64) bool { return k >= 10 && k < 20 || k == 100 || k == 4500 || k == 1234 }
	got, st, err := collect(t, withDeletes(tb, data, d1, d2, d3), Env{})
	if err != nil {
		t.Fatal(err)
	}
	wantKeys(t, "all columns", got, len(rows), dead)
	if st.EqualityDeletes != 11 || st.PositionDeleted != 2 || st.DeleteFiles != 3 {
		t.Errorf("stats: %+v", st)
	}
	n := withDeletes(tb, data, d1, d2, d3)
	keepCols(n, "x")
	if got, _, err = collect(t, n, Env{BatchRows: 50}); err != nil {
		t.Fatal(err)
	}
	for i := range got { // x is k / 8
		got[i][0] = types.NewInt(int64(got[i][0].Float() * 8))
	}
	wantKeys(t, "keys not projected", got, len(rows), dead)
	n = withDeletes(tb, data, d1, d2, d3)
	n.Cols = nil
	if got, _, err = collect(t, n, Env{}); err != nil || len(got) != 5000-13 {
		t.Errorf("no columns: %d rows, %v", len(got), err)
	}
}

type nestedKey struct {
	P *struct {
		A *int32 `parquet:"a,optional,id(3)"`
	} `parquet:"p,optional,id(2)"`
}

// TestNestedEqualityDelete compares a struct's member; a NULL struct has a NULL member.
func TestNestedEqualityDelete(t *testing.T) {
	fx := readFixture(t, "nested")
	tb, files := tableOf(t, fx.Fields, "", "testdata/nested.parquet")
	rows, _, err := collect(t, scanOf(tb, files...), Env{})
	if err != nil {
		t.Fatal(err)
	}
	member := func(r []types.Datum) types.Datum {
		if r[1].IsNull() {
			return types.Null
		}
		return r[1].List()[0]
	}
	var keys []nestedKey
	dead := map[int64]bool{}
	for a := int32(0); a < 40; a++ {
		k := nestedKey{}
		k.P = &struct {
			A *int32 `parquet:"a,optional,id(3)"`
		}{&a}
		keys = append(keys, k)
		dead[int64(a)] = true
	}
	for _, null := range []bool{false, true} {
		if null {
			keys = append(keys, nestedKey{})
		}
		d := writeRows(t, tb, fmt.Sprintf("eq%v.parquet", null), keys)
		d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{3}
		n := withDeletes(tb, files[0], d)
		keepCols(n, "id")
		got, _, err := collect(t, n, Env{})
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for _, r := range rows {
			m := member(r)
			if m.IsNull() && null || !m.IsNull() && dead[m.Int()] {
				continue
			}
			want = append(want, r[0].Int())
		}
		if fmt.Sprint(keysOf(got)) != fmt.Sprint(want) {
			t.Errorf("null %v: got %d rows, want %d", null, len(got), len(want))
		}
	}
}

// TestDroppedEqualityField: the compared column is in an older schema only.
func TestDroppedEqualityField(t *testing.T) {
	_, data, rows := sortedTable(t)
	extra := `"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"properties":{}`
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "metadata"), 0o755)
	os.MkdirAll(filepath.Join(dir, "data"), 0o755)
	doc := fmt.Sprintf(`{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":%q,
		"last-sequence-number":10,"last-updated-ms":1700000000000,"last-column-id":100,
		"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"k","required":true,"type":"long"},{"id":3,"name":"x","required":false,"type":"double"}]},
		{"type":"struct","schema-id":1,"fields":[{"id":3,"name":"x","required":false,"type":"double"}]}],"current-schema-id":1,%s,"last-partition-id":1000,
		"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"refs":{}}`, dir, extra)
	loc := filepath.Join(dir, "metadata", "v1.metadata.json")
	os.WriteFile(loc, []byte(doc), 0o644)
	tb, err := lake.OpenPath(context.Background(), loc)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(data.Path)
	f := addFile(t, tb, "data.parquet", b)
	d := writeRows(t, tb, "eq.parquet", []sortedKey{{ptr(int64(8))}, {ptr(int64(4000))}})
	d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{1}
	got, _, err := collect(t, withDeletes(tb, f, d), Env{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(rows)-2 || got[8][0].Float() != 9.0/8 {
		t.Errorf("%d rows", len(got))
	}
}

// TestScanAgainstModel: random predicates, deletes, projections and batch lengths, pruning on
// and off, against filtering the rows one by one.
func TestScanAgainstModel(t *testing.T) {
	seed := testseed.Of(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	tb, data, rows := sortedTable(t)
	for trial := range 150 {
		n := scanOf(tb, data)
		n.Cols = append(n.Cols, plan.ScanColumn{Column: plan.Column{ID: 50, Name: "_pos", Type: types.T(types.Int8)}, FieldID: plan.HiddenPos},
			plan.ScanColumn{Column: plan.Column{ID: 51, Name: "_file", Type: types.T(types.Text)}, FieldID: plan.HiddenFile})
		dead := map[int64]bool{}
		for range rnd.IntN(3) {
			from := rnd.Int64N(5000)
			for p := from; p < from+rnd.Int64N(800) && p < 5000; p += 1 + rnd.Int64N(3) {
				dead[p] = true
			}
		}
		var pos []int64
		for p := range dead {
			pos = append(pos, p)
		}
		sort.Slice(pos, func(i, j int) bool { return pos[i] < pos[j] })
		if len(pos) > 0 {
			n.Tasks[0].Deletes = []*lake.DataFile{positionDeletes(t, tb, fmt.Sprintf("p%d.parquet", trial), data, pos)}
		}
		lo, hi, x := rnd.Int64N(5200)-100, rnd.Int64N(5200)-100, rnd.Float64()*700
		name := rows[rnd.IntN(len(rows))][1]
		k, nm, xc, pc := col(n, "k"), col(n, "name"), col(n, "x"), col(n, "_pos")
		terms := []plan.Expr{compare(">=", k, types.NewInt(lo)), compare("<", k, types.NewInt(hi)), compare("<=", nm, name), compare("=", nm, name),
			compare(">", xc, types.NewFloat(x)), compare("<", pc, types.NewInt(hi)), &plan.InList{X: k, List: []types.Datum{types.NewInt(lo), types.NewInt(hi), types.NewInt(17)}}}
		tests := []func(r []types.Datum, p int64) bool{
			func(r []types.Datum, _ int64) bool { return r[0].Int() >= lo }, func(r []types.Datum, _ int64) bool { return r[0].Int() < hi },
			func(r []types.Datum, _ int64) bool { return r[1].Str() <= name.Str() }, func(r []types.Datum, _ int64) bool { return r[1].Str() == name.Str() },
			func(r []types.Datum, _ int64) bool { return r[2].Float() > x }, func(_ []types.Datum, p int64) bool { return p < hi },
			func(r []types.Datum, _ int64) bool { v := r[0].Int(); return v == lo || v == hi || v == 17 }}
		var args []plan.Expr
		var on []int
		for i := range terms {
			if rnd.IntN(3) == 0 {
				args, on = append(args, terms[i]), append(on, i)
			}
		}
		if len(args) > 0 {
			n.Pred = &plan.And{Args: args}
			n.Tasks[0].Residual = n.Pred
		}
		n.PredCols = n.Cols[:2]
		keep := []string{"_pos", "x", "_file"}[:1+rnd.IntN(3)]
		all := n.Cols
		n.PredCols = all
		n.Cols = nil
		for _, kname := range keep {
			for i, c := range all {
				if c.Name == kname {
					n.Cols = append(n.Cols, c)
					n.PredCols = append(append([]plan.ScanColumn(nil), n.PredCols[:i]...), all[i+1:]...)
					all = n.PredCols
					break
				}
			}
		}
		var want []int64
		for p, r := range rows {
			ok := !dead[int64(p)]
			for _, i := range on {
				ok = ok && tests[i](r, int64(p))
			}
			if ok {
				want = append(want, int64(p))
			}
		}
		env := Env{BatchRows: []int{1, 10, 333, 2048}[rnd.IntN(4)], NoPruning: rnd.IntN(2) == 0}
		got, st, err := collect(t, n, env)
		if err != nil {
			t.Fatal(err)
		}
		var have []int64
		for _, r := range got {
			have = append(have, r[0].Int())
			if len(keep) > 1 && r[1].Float() != float64(r[0].Int())/8 {
				t.Fatalf("trial %d: x of row %d is %v", trial, r[0].Int(), r[1].Float())
			}
			if len(keep) > 2 && r[2].Str() != data.Path {
				t.Fatalf("trial %d: _file is %q", trial, r[2].Str())
			}
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			t.Fatalf("trial %d (terms %v, pruning %v, batch %d): %d rows, want %d; %+v", trial, on, !env.NoPruning, env.BatchRows, len(have), len(want), st)
		}
	}
}

// What a scan holds does not grow with the files that it has read: a table may have a deletion
// vector, a file of position deletes and one of equality deletes beside each of its data files.
func TestDeletesOfFilesThatAreDone(t *testing.T) {
	tb, data, _ := sortedTable(t)
	var pos []int64
	for p := int64(0); p < 5000; p += 2 {
		pos = append(pos, p)
	}
	pos = pos[:len(pos):len(pos)]
	peak := func(files int) int64 {
		n := scanOf(tb)
		for i := range files {
			one := *data
			dv := deletionVector(t, tb, fmt.Sprintf("%d.dv", i), pos, false)
			eq := writeRows(t, tb, fmt.Sprintf("%d.eq", i), []sortedKey{{ptr(int64(1))}})
			eq.Content, eq.EqualityIDs = lake.EqualityDeletes, []int{1}
			n.Tasks = append(n.Tasks, plan.FileTask{File: &one, Deletes: []*lake.DataFile{dv, eq, positionDeletes(t, tb, fmt.Sprintf("%d.pos", i), data, pos)}})
		}
		m := &peaks{}
		rows, _, err := collect(t, n, Env{Mem: m, Footers: NewFooterCache(0)})
		if err != nil || len(rows) != files*(5000-len(pos)-1) {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if m.now != 0 {
			t.Errorf("%d bytes are still held", m.now)
		}
		return m.most
	}
	if few, many := peak(3), peak(30); many > 2*few {
		t.Errorf("three files take %d bytes, thirty %d", few, many)
	}
}

// peaks is a Memory without limits that knows the most that was held; for one goroutine.
type peaks struct{ now, most int64 }

func (p *peaks) Reserve(n int64) error {
	p.now += n
	p.most = max(p.most, p.now)
	return nil
}
func (p *peaks) Release(n int64) { p.now -= n }
