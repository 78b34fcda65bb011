package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// TestPruningSkips: statistics skip row groups, page indexes rows, and what is not wanted is
// not decompressed.
func TestPruningSkips(t *testing.T) {
	tb, data, _ := sortedTable(t)
	n := scanOf(tb, data)
	n.Pred = compare("=", col(n, "k"), types.NewInt(2345))
	n.Tasks[0].Residual = n.Pred
	rows, st, err := collect(t, n, Env{})
	if err != nil || len(rows) != 1 {
		t.Fatal(len(rows), err)
	}
	if st.RowGroups != 5 || st.RowGroupsByStats != 4 || st.Rows != 1000 || st.RowsByIndex < 700 {
		t.Errorf("%+v", st)
	}
	if _, off, _ := collect(t, n, Env{NoPruning: true}); off.RowGroupsByStats != 0 || off.RowsByIndex != 0 || off.Rows != 5000 {
		t.Errorf("pruning is off: %+v", off)
	}
	// All rows of a group satisfy: nothing is tested, nothing refuted.
	n.Pred = compare(">=", col(n, "k"), types.NewInt(0))
	n.Tasks[0].Residual = n.Pred
	keepCols(n, "k")
	if rows, _, err = collect(t, n, Env{}); err != nil || len(rows) != 5000 {
		t.Error(len(rows), err)
	}
}

// TestLateColumns: pages of columns that only leave are passed over where no row is left.
func TestLateColumns(t *testing.T) {
	tb, data, _ := sortedTable(t)
	n := scanOf(tb, data)
	n.Pred = compare("=", col(n, "x"), types.NewFloat(2345.0/8)) // NaNs are not counted: no pruning by bounds
	n.Tasks[0].Residual = n.Pred
	rows, st, err := collect(t, n, Env{BatchRows: 64})
	if err != nil || len(rows) != 1 || rows[0][0].Int() != 2345 {
		t.Fatal(rows, err)
	}
	if st.PagesSkipped == 0 {
		t.Errorf("no page was skipped: %+v", st)
	}
}

type bloomRow struct {
	K int64  `parquet:"k,id(1)"`
	S string `parquet:"s,id(2)"`
}

func TestBloomFilters(t *testing.T) {
	var b bytes.Buffer
	w := pq.NewGenericWriter[bloomRow](&b, pq.BloomFilters(pq.SplitBlockFilter(12, "k"), pq.SplitBlockFilter(12, "s")))
	for i := range int64(2000) {
		w.Write([]bloomRow{{i * 1000, fmt.Sprintf("s%06d", i*1000)}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tb, _ := tableOf(t, []byte(`[{"id":1,"name":"k","required":false,"type":"long"},{"id":2,"name":"s","required":false,"type":"string"}]`), "")
	data := addFile(t, tb, "bloom.parquet", b.Bytes())
	skipped := int64(0)
	for i := range int64(300) {
		k := i*1000 + i%2 // every second value is there
		for _, name := range []string{"k", "s"} {
			n := scanOf(tb, data)
			d := types.NewInt(k)
			if name == "s" {
				d = types.NewStr(fmt.Sprintf("s%06d", k))
			}
			n.Pred = compare("=", col(n, name), d)
			n.Tasks[0].Residual = n.Pred
			rows, st, err := collect(t, n, Env{})
			if err != nil || len(rows) != 1-int(i%2) {
				t.Fatalf("%s = %v: %d rows, %v", name, k, len(rows), err)
			}
			skipped += st.RowGroupsByBloom
		}
	}
	if skipped < 280 {
		t.Errorf("%d of 300 absent values were found absent", skipped)
	}
}

// keys is a KeySet of a few integers.
type keys struct {
	m    map[int64]bool
	null bool
}

func (k *keys) Empty() bool       { return len(k.m) == 0 && !k.null }
func (k *keys) MatchesNull() bool { return k.null }
func (k *keys) MinMax() (lo, hi types.Datum, ok bool) {
	for v := range k.m {
		if !ok || v < lo.Int() {
			lo = types.NewInt(v)
		}
		if !ok || v > hi.Int() {
			hi = types.NewInt(v)
		}
		ok = true
	}
	return
}
func (k *keys) Within(lo, hi types.Datum) bool {
	for v := range k.m {
		if lo.Int() <= v && v <= hi.Int() {
			return true
		}
	}
	return false
}
func (k *keys) Few() (few []int64, ok bool) {
	for v := range k.m {
		few = append(few, v)
	}
	return few, true
}
func (k *keys) Filter(v *vec.Vector, sel []uint16, rows int, out []uint16) []uint16 {
	out = out[:0]
	test := func(i int) {
		if v.Null(i) && k.null || !v.Null(i) && k.m[v.Values().I64[v.Row(i)]] {
			out = append(out, uint16(i))
		}
	}
	if sel == nil {
		for i := range rows {
			test(i)
		}
	}
	for _, i := range sel {
		test(int(i))
	}
	return out
}

func TestRuntimeFilters(t *testing.T) {
	tb, data, _ := sortedTable(t)
	n := scanOf(tb, data)
	f := &plan.RuntimeFilter{Expr: col(n, "k")}
	n.RuntimeFilters = []*plan.RuntimeFilter{f}
	if rows, _, err := collect(t, n, Env{}); err != nil || len(rows) != 5000 {
		t.Fatal("a filter without values:", len(rows), err)
	}
	f.Values = &keys{m: map[int64]bool{3001: true, 3999: true}}
	rows, st, err := collect(t, n, Env{})
	if err != nil || fmt.Sprint(keysOf(rows)) != "[3001 3999]" || st.RowGroupsByFilter != 4 {
		t.Errorf("%v %v %+v", keysOf(rows), err, st)
	}
	f.Values = &keys{}
	if rows, st, err = collect(t, n, Env{}); err != nil || len(rows) != 0 || st.FilesSkipped != 1 {
		t.Errorf("an empty set: %d rows, %v, %+v", len(rows), err, st)
	}
	// Bounds of the manifest, between two keys: the file is not opened.
	bounded := *data
	bound := func(k int64) map[int][]byte {
		return map[int][]byte{1: binary.LittleEndian.AppendUint64(nil, uint64(k))}
	}
	bounded.Lower, bounded.Upper, bounded.NullCounts, bounded.RecordCount = bound(0), bound(4999), map[int]int64{1: 0}, 5000
	n.Tasks[0].File = &bounded
	for _, c := range []struct {
		keys    map[int64]bool
		null    bool
		skipped int64
	}{
		{map[int64]bool{-1: true, 5000: true}, false, 1}, {map[int64]bool{-1: true, 4999: true}, false, 0},
		{map[int64]bool{-1: true, 5000: true}, true, 1},
	} {
		f.Values = &keys{m: c.keys, null: c.null}
		if _, st, err = collect(t, n, Env{}); err != nil || st.FilesSkipped != c.skipped {
			t.Errorf("keys %v: %v, %+v", c.keys, err, st)
		}
	}
	n.Tasks[0].File = data
	f.Values = &keys{m: map[int64]bool{1: true}, null: true}
	if rows, st, err = collect(t, n, Env{}); err != nil || fmt.Sprint(keysOf(rows)) != "[1]" {
		t.Errorf("with NULL: %v, %v, %+v", keysOf(rows), err, st)
	}
}

// TestParallelSources: each row leaves once, whoever reads it.
func TestParallelSources(t *testing.T) {
	fx := readFixture(t, "sorted")
	tb, _ := tableOf(t, fx.Fields, "")
	var files []*lake.DataFile
	_, one, _ := sortedTable(t)
	b := mustRead(t, one.Path)
	for i := range 7 {
		files = append(files, addFile(t, tb, fmt.Sprintf("f%d.parquet", i), b))
	}
	n := scanOf(tb, files...)
	if rows := drainParallel(t, n, 5); rows != 35000 {
		t.Errorf("%d rows", rows)
	}
	// Sources that stop early leave the others their work.
	s, err := Open(context.Background(), n, Env{BatchRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	a, c := s.Source(), s.Source()
	if _, err := a.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	a.Close()
	a.Close()
	total := 0
	for {
		b, err := c.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		total += b.Len()
	}
	c.Close()
	if total != 34000 { // all but the row group that a had begun
		t.Errorf("%d rows are left", total)
	}
}

func TestCancel(t *testing.T) {
	tb, data, _ := sortedTable(t)
	s, err := Open(context.Background(), scanOf(tb, data), Env{})
	if err != nil {
		t.Fatal(err)
	}
	src := s.Source()
	defer src.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := src.Next(ctx); err != context.Canceled {
		t.Error(err)
	}
}

// TestMemoryIsGivenBack: the account is even after a scan, and its end is an error.
func TestMemoryIsGivenBack(t *testing.T) {
	fx := readFixture(t, "nested")
	tb, files := tableOf(t, fx.Fields, "", "testdata/nested.parquet")
	m := &limit{}
	m.left.Store(1 << 30)
	if _, _, err := collect(t, scanOf(tb, files...), Env{Mem: m, Footers: NewFooterCache(0)}); err != nil {
		t.Fatal(err)
	}
	if left := m.left.Load(); left != 1<<30 {
		t.Errorf("%d bytes are still held", 1<<30-left)
	}
	m.left.Store(10 << 10)
	_, _, err := collect(t, scanOf(tb, files...), Env{Mem: m, Footers: NewFooterCache(0)})
	if sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		t.Error(err)
	}
	if left := m.left.Load(); left != 10<<10 {
		t.Errorf("%d bytes are still held after the error", 10<<10-left)
	}
}

// TestRowLineage: inherited from the manifest; NULL where the file is older than lineage.
func TestRowLineage(t *testing.T) {
	tb, data, _ := sortedTable(t)
	n := scanOf(tb, data)
	n.Cols = []plan.ScanColumn{
		{Column: plan.Column{ID: 1, Name: "_row_id", Type: types.T(types.Int8)}, FieldID: plan.HiddenRowID},
		{Column: plan.Column{ID: 2, Name: "_last_updated_sequence_number", Type: types.T(types.Int8)}, FieldID: plan.HiddenRowSeq},
		{Column: plan.Column{ID: 3, Name: "_spec_id", Type: types.T(types.Int4)}, FieldID: plan.HiddenSpecID}}
	rows, _, err := collect(t, n, Env{})
	if err != nil || len(rows) != 5000 || !rows[0][0].IsNull() || !rows[9][1].IsNull() || rows[0][2].Int() != 0 {
		t.Fatal(len(rows), err, rows[0])
	}
	first := int64(700)
	data.FirstRowID, data.DataSeq = &first, 42
	if rows, _, err = collect(t, n, Env{}); err != nil || rows[4999][0].Int() != 5699 || rows[4999][1].Int() != 42 {
		t.Fatal(err, rows[4999])
	}
	own := []lineageRow{{K: 1, ID: ptr(int64(5)), Seq: ptr(int64(3))}, {K: 2}, {K: 3, ID: ptr(int64(6))}}
	f := writeRows(t, tb, "own.parquet", own)
	f.FirstRowID, f.DataSeq = &first, 9
	n.Tasks = []plan.FileTask{{File: f}}
	if rows, _, err = collect(t, n, Env{}); err != nil || fmt.Sprint(keysOf(rows), rows[0][1].Int(), rows[1][1].Int(), rows[2][1].Int()) != "[5 701 6] 3 9 9" {
		t.Fatal(err, rows)
	}
}

type lineageRow struct {
	K   int64  `parquet:"k,id(1)"`
	ID  *int64 `parquet:"_row_id,optional,id(2147483540)"`
	Seq *int64 `parquet:"_last_updated_sequence_number,optional,id(2147483539)"`
}

type legacyLists struct {
	Bare []int32 `parquet:"bare,id(1)"`
	Two  *struct {
		Array []int32 `parquet:"array,id(4)"`
	} `parquet:"two,optional,id(3)"`
}

// TestLegacyLists: lists without the level between, as old writers made them.
func TestLegacyLists(t *testing.T) {
	tb, _ := tableOf(t, []byte(`[{"id":1,"name":"bare","required":false,"type":{"type":"list","element-id":2,"element":"int","element-required":true}},
		{"id":3,"name":"two","required":false,"type":{"type":"list","element-id":4,"element":"int","element-required":true}}]`), "")
	arr := func(v ...int32) *struct {
		Array []int32 `parquet:"array,id(4)"`
	} {
		return &struct {
			Array []int32 `parquet:"array,id(4)"`
		}{v}
	}
	f := writeRows(t, tb, "lists.parquet", []legacyLists{{[]int32{1, 2}, arr(7)}, {nil, nil}, {[]int32{3}, arr()}})
	n := scanOf(tb, f)
	rows, _, err := collect(t, n, Env{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range rows {
		for c := range r {
			got += types.Format(r[c], n.Cols[c].Type, nil)
			if r[c].IsNull() {
				got += "NULL"
			}
			got += " "
		}
	}
	if got != "{1,2} {7} {} NULL {3} {} " {
		t.Errorf("got %q", got)
	}
}

// TestUnreadable: what cannot be read is an error that names the file, not a crash.
func TestUnreadable(t *testing.T) {
	tb, data, _ := sortedTable(t)
	for what, f := range map[string]lake.DataFile{
		"orc":       {Path: data.Path, Format: "orc"},
		"encrypted": {Path: data.Path, Format: "parquet", Encrypted: true},
	} {
		if _, _, err := collect(t, scanOf(tb, &f), Env{}); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
			t.Error(what, err)
		}
	}
	gone := lake.DataFile{Path: data.Path + "x", Format: "parquet"}
	if _, _, err := collect(t, scanOf(tb, &gone), Env{}); sqlerr.CodeOf(err) != sqlerr.IOError {
		t.Error(err)
	}
	junk := addFile(t, tb, "junk.parquet", []byte("this is no Parquet file at all"))
	_, _, err := collect(t, scanOf(tb, junk), Env{})
	if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.DataCorrupted || e.Detail == "" {
		t.Error(err)
	}
	// No ids and no name mapping: a guess by position could be wrong.
	type bare struct {
		K int64 `parquet:"k"`
	}
	f := writeRows(t, tb, "bare.parquet", []bare{{1}})
	if _, _, err := collect(t, scanOf(tb, f), Env{}); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Error(err)
	}
}
