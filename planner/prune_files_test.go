package planner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// file makes a data file with int bounds of field 1.
func file(path string, lo, hi, rows int64) *lake.DataFile {
	return &lake.DataFile{Path: path, RecordCount: rows, FileSize: 100, NullCounts: map[int]int64{1: 0},
		Lower: map[int][]byte{1: lake.EncodeBound(types.NewInt(lo), "int")},
		Upper: map[int][]byte{1: lake.EncodeBound(types.NewInt(hi), "int")}}
}

func onlyScan(t *testing.T, n plan.Node) *plan.Scan {
	t.Helper()
	var scan *plan.Scan
	plan.Walk(n, func(m plan.Node) {
		if s, ok := m.(*plan.Scan); ok {
			scan = s
		}
	})
	if scan == nil {
		t.Fatal("no scan:\n", ExplainText(n, ExplainOptions{}))
	}
	return scan
}

// Files are skipped by partition, then by bounds; where every row is proven nothing is left to
// test; pruning off reads everything and tests everything.
func TestPruneFiles(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4", "ts timestamp")
	m := b.files(s)
	m.specs = append(m.specs, &lake.PartitionSpec{ID: 1, Fields: []lake.PartitionField{{FieldID: 1000, SourceIDs: []int{2}, Transform: lake.Transform{Kind: lake.Month}}}})
	m.manifests = nil
	var files []*lake.DataFile
	for i, month := range []int64{612, 612, 612, 613} { // January 2021 three times, February
		f := file(fmt.Sprint("f", i), int64(i)*10, int64(i)*10+9, 5)
		f.SpecID, f.Partition = 1, []types.Datum{types.NewInt(month)}
		files = append(files, f)
	}
	m.add(false, files...)
	jan, err := types.Parse("2021-01-31", types.T(types.Date), nil)
	if err != nil {
		t.Fatal(err)
	}
	date := &plan.Cast{X: b.e("s.ts"), Typ: types.T(types.Date), Context: plan.Explicit}
	p := b.and(b.op(date, "<=", &plan.Const{Value: jan, Typ: types.T(types.Date)}), b.op("s.a", ">=", 15))
	n := b.plan(b.env(), b.where(s, p))
	expect(t, ExplainText(n, ExplainOptions{}), `
		Scan on s
		  Snapshot: 7
		  Filter: ((a >= 15) AND ((ts)::date <= '2021-01-31'::date))
		  Files: 2/4 (partition 1, bounds 1), 1 proven
		  Manifests: 1/1
		  Bytes: 200 B of 400 B`)
	scan := onlyScan(t, n)
	if got := plan.FormatExpr(scan.Tasks[0].Residual); got != "(a >= 15)" {
		t.Error("residual of f1:", got)
	}
	if scan.Tasks[1].Residual != nil {
		t.Error("f2 is not proven:", plan.FormatExpr(scan.Tasks[1].Residual))
	}
	env := b.env()
	env.PruningOff = true
	if scan = onlyScan(t, b.plan(env, b.where(s, p))); len(scan.Tasks) != 4 || scan.Tasks[3].Residual == nil {
		t.Error("pruning off must keep all files and test all rows")
	}
}

// A format that we cannot read is refused by name, unless the file need not be read.
func TestRefuseFormats(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4")
	bad := file("s3://x/old.avro", 1, 5, 5)
	bad.Format = "avro"
	b.files(s, file("new.parquet", 10, 20, 5), bad)
	if _, err := Plan(b.env(), s); err == nil || !strings.Contains(err.Error(), "s3://x/old.avro") || sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Error(err)
	}
	if _, err := Plan(b.env(), b.where(s, b.op("s.a", ">", 7))); err != nil {
		t.Error(err)
	}
	bad.Format, bad.Encrypted = "parquet", true
	if _, err := Plan(b.env(), s); err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Error(err)
	}
	b.meta[s.Table].err = errors.New("no such bucket")
	if _, err := Plan(b.env(), s); sqlerr.CodeOf(err) != sqlerr.IOError {
		t.Error(err)
	}
}

// The spec's rules for which deletes apply to which file.
func TestMatchDeletes(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4")
	spec := &lake.PartitionSpec{ID: 1, Fields: []lake.PartitionField{{FieldID: 1000, SourceIDs: []int{1}, Transform: lake.Transform{Kind: lake.Identity}}}}
	data := func(path string, seq, part int64) *lake.DataFile {
		f := file(path, part, part, 5)
		f.DataSeq, f.SpecID, f.Partition = seq, 1, []types.Datum{types.NewInt(part)}
		return f
	}
	del := func(path string, c lake.Content, seq int64, part int64) *lake.DataFile {
		d := data(path, seq, part)
		d.Content, d.Lower, d.Upper = c, nil, nil
		if c == lake.DeletionVector {
			d.Format = "puffin"
		}
		return d
	}
	m := b.files(s)
	m.specs = append(m.specs, spec)
	m.manifests = nil
	m.add(false, data("a1", 1, 1), data("a3", 3, 1), data("b1", 1, 2), data("v1", 1, 3))
	pos := del("pos2", lake.PositionDeletes, 2, 1)
	bounded := del("bounded", lake.PositionDeletes, 3, 1)
	bounded.Lower = map[int][]byte{filePathField: []byte("a3")}
	bounded.Upper = map[int][]byte{filePathField: []byte("a3")}
	named := del("named", lake.PositionDeletes, 9, 3)
	named.ReferencedFile = "v1"
	dv := del("dv", lake.DeletionVector, 1, 3)
	dv.ReferencedFile = "v1"
	global := &lake.DataFile{Path: "global", Content: lake.EqualityDeletes, DataSeq: 3, SpecID: 0}
	m.add(true, pos, bounded, named, dv, del("eq1", lake.EqualityDeletes, 1, 1), del("eq2", lake.EqualityDeletes, 2, 2))
	m.add(true, global)
	want := map[string]string{"a1": "pos2 global", "a3": "bounded", "b1": "eq2 global", "v1": "dv global"}
	for _, task := range onlyScan(t, b.plan(b.env(), s)).Tasks {
		var got []string
		for _, d := range task.Deletes {
			got = append(got, d.Path)
		}
		if strings.Join(got, " ") != want[task.File.Path] {
			t.Errorf("%s: %v, not %s", task.File.Path, got, want[task.File.Path])
		}
	}
	// A filter that skips delete manifests by partition must not skip the global ones.
	scan := onlyScan(t, b.plan(b.env(), b.where(s, b.op("s.a", "=", 2))))
	if len(scan.Tasks) != 1 || len(scan.Tasks[0].Deletes) != 2 {
		t.Error(scan.Tasks)
	}
}

// count, min and max come from metadata where nothing can falsify it; the rest is scanned.
func TestMetadataAggregates(t *testing.T) {
	b := newBuilder(t)
	s := b.scan("s", "a int4", "t text")
	m := b.files(s, file("f1", 1, 9, 10), file("f2", 20, 29, 5))
	count := func() plan.Node { return b.agg(s, nil, "n", "count", nil, "lo", "min", "s.a", "hi", "max", "s.a") }
	n := b.plan(b.env(), count())
	v, ok := n.(*plan.Values)
	if !ok || len(v.Rows) != 1 || plan.FormatExprs(v.Rows[0]) != "15, 1, 29" {
		t.Fatal(ExplainText(n, ExplainOptions{}))
	}
	// A file with deletes is scanned, the other one is not.
	f3 := file("f3", 100, 200, 7)
	m.add(false, f3)
	m.add(true, &lake.DataFile{Path: "d", Content: lake.PositionDeletes, ReferencedFile: "f3", Format: "parquet"})
	n = b.plan(b.env(), count())
	if scan := onlyScan(t, n); len(scan.Tasks) != 1 || scan.Tasks[0].File != f3 || scan.Report.FromMetadata != 2 {
		t.Error(ExplainText(n, ExplainOptions{}))
	}
	// A predicate that is not proven for a file, strings, missing counts: scan.
	for _, n := range []plan.Node{
		b.agg(b.where(s, b.op("s.a", "<>", 25)), nil, "n", "count", nil),
		b.agg(s, nil, "x", "max", "s.t"),
		b.agg(s, nil, "x", "count", "s.t"),
	} {
		if got := ExplainText(b.plan(b.env(), n), ExplainOptions{}); !strings.Contains(got, "Scan on s") {
			t.Error(got)
		}
	}
	env := b.env()
	env.PruningOff = true
	if scan := onlyScan(t, b.plan(env, count())); len(scan.Tasks) != 3 {
		t.Error("pruning off answers nothing from metadata")
	}
}
