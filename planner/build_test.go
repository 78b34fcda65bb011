package planner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// LATERAL with LIMIT is planned with row_number; the oracle computes it by name, so that a
// build without window functions can still be tested.
func init() {
	if _, err := eval.ResolveFunction("row_number", nil, false); err != nil {
		eval.Register(eval.Func{Name: "row_number", Ret: types.T(types.Int8), Window: &eval.WindowImpl{}})
	}
}

// builder makes bound plans by hand. Columns are named table.column.
type builder struct {
	t    *testing.T
	last plan.ColID
	cols map[string]plan.Column
	meta map[*lake.Table]*fakeMetadata
}

func newBuilder(t *testing.T) *builder {
	return &builder{t: t, cols: map[string]plan.Column{}, meta: map[*lake.Table]*fakeMetadata{}}
}

func (b *builder) col(name string, t types.Type) plan.Column {
	b.last++
	c := plan.Column{ID: b.last, Name: name[strings.LastIndexByte(name, '.')+1:], Type: t}
	b.cols[name] = c
	return c
}

var icebergOf = map[types.Kind]string{types.Int4: "int", types.Int8: "long", types.Text: "string",
	types.Date: "date", types.Timestamp: "timestamp", types.Float8: "double", types.Bool: "boolean"}

// scan makes a scan of a table: "id int4", "name text!" (! for NOT NULL).
func (b *builder) scan(name string, cols ...string) *plan.Scan {
	s := &plan.Scan{Alias: name, Table: &lake.Table{Name: lake.Name{Table: name}}, Schema: &lake.Schema{}}
	for i, c := range cols {
		n, typ, _ := strings.Cut(c, " ")
		notNull := strings.HasSuffix(typ, "!")
		t, ok := types.FromPGName(strings.TrimSuffix(typ, "!"))
		if !ok {
			b.t.Fatalf("no type %s", typ)
		}
		col := b.col(name+"."+n, t)
		col.NotNull = notNull
		b.cols[name+"."+n] = col
		s.Cols = append(s.Cols, plan.ScanColumn{Column: col, FieldID: i + 1})
		s.Schema.Fields = append(s.Schema.Fields, lake.Field{ID: i + 1, Name: n, Type: t, Iceberg: icebergOf[t.Kind], Required: notNull})
	}
	return s
}

// e reads a column by its name, or makes a literal.
func (b *builder) e(x any) plan.Expr {
	switch x := x.(type) {
	case plan.Expr:
		return x
	case string:
		if c, ok := b.cols[x]; ok {
			return plan.ColOf(c)
		}
		return &plan.Const{Value: types.NewStr(strings.Trim(x, "'")), Typ: types.T(types.Text)}
	case int:
		return &plan.Const{Value: types.NewInt(int64(x)), Typ: types.T(types.Int4)}
	}
	b.t.Fatalf("no expression %v", x)
	return nil
}

func (b *builder) op(l any, op string, r any) plan.Expr {
	x, y := b.e(l), b.e(r)
	f, err := eval.ResolveOperator(op, []types.Type{x.Type(), y.Type()})
	if err != nil {
		b.t.Fatal(err)
	}
	return &plan.Call{Func: f.Func, Args: []plan.Expr{castTo(x, f.Args[0]), castTo(y, f.Args[1])}, Typ: f.Ret, Pos: -1}
}

func (b *builder) and(e ...plan.Expr) plan.Expr { return &plan.And{Args: e} }
func (b *builder) or(e ...plan.Expr) plan.Expr  { return &plan.Or{Args: e} }

func (b *builder) where(in plan.Node, p plan.Expr) *plan.Filter {
	return &plan.Filter{Input: in, Pred: p}
}

func (b *builder) join(kind plan.JoinKind, l, r plan.Node, on plan.Expr) *plan.Join {
	return &plan.Join{Kind: kind, Left: l, Right: r, On: on}
}

// sel projects: "name" passes a column on, name and expression in turn compute one.
func (b *builder) sel(in plan.Node, items ...any) *plan.Project {
	p := &plan.Project{Input: in}
	for i := 0; i < len(items); i++ {
		if n, ok := items[i].(string); ok {
			if c, ok := b.cols[n]; ok {
				p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
				continue
			}
			e := b.e(items[i+1])
			p.Exprs = append(p.Exprs, plan.Named{Col: b.col(n, e.Type()), Expr: e})
			i++
		}
	}
	return p
}

// agg groups by columns; aggs are name, function, argument (nil: *).
func (b *builder) agg(in plan.Node, groups []string, aggs ...any) *plan.Aggregate {
	a := &plan.Aggregate{Input: in}
	for _, g := range groups {
		c := b.cols[g]
		a.Groups = append(a.Groups, plan.Named{Col: c, Expr: plan.ColOf(c)})
	}
	for i := 0; i < len(aggs); i += 3 {
		var args []plan.Expr
		var ts []types.Type
		if aggs[i+2] != nil {
			args = []plan.Expr{b.e(aggs[i+2])}
			ts = []types.Type{args[0].Type()}
		}
		f := &plan.Function{Name: aggs[i+1].(string), Kind: plan.AggregateFunc, Strict: true, Volatility: plan.Immutable}
		ret := types.T(types.Int8)
		if f.Name != "count" {
			ret = ts[0]
		}
		a.Aggs = append(a.Aggs, plan.Agg{Func: f, Args: args, Out: b.col(aggs[i].(string), ret)})
	}
	return a
}

func (b *builder) exists(p plan.Node) plan.Expr {
	return &plan.Subquery{Kind: plan.ExistsSubquery, Plan: p, Typ: types.T(types.Bool)}
}

func (b *builder) in(x any, p plan.Node) plan.Expr {
	e := b.e(x)
	f, err := eval.ResolveOperator("=", []types.Type{e.Type(), p.Columns()[0].Type})
	if err != nil {
		b.t.Fatal(err)
	}
	return &plan.Subquery{Kind: plan.AnySubquery, Plan: p, Test: []plan.Expr{e}, Ops: []*plan.Function{f.Func}, Typ: types.T(types.Bool)}
}

func (b *builder) scalar(p plan.Node) plan.Expr {
	return &plan.Subquery{Kind: plan.ScalarSubquery, Plan: p, Typ: p.Columns()[0].Type}
}

func not(e plan.Expr) plan.Expr { return &plan.Not{X: e} }

// env makes an Env that sees the builder's tables.
func (b *builder) env() *Env {
	return &Env{Context: context.Background(), Verify: true,
		Eval:     &eval.Ctx{Context: context.Background(), Zone: time.UTC, DateStyle: "ISO, MDY"},
		metadata: func(t *lake.Table) tableMetadata { return b.meta[t] }}
}

// run applies the named passes (all if none) and draws the result.
func (b *builder) run(n plan.Node, passes ...string) string {
	b.t.Helper()
	return ExplainText(b.plan(b.env(), n, passes...), ExplainOptions{})
}

func (b *builder) plan(env *Env, n plan.Node, passes ...string) plan.Node {
	b.t.Helper()
	if len(passes) > 0 {
		env.Disable = map[string]bool{}
		for _, p := range Passes {
			env.Disable[p.Name] = true
		}
		for _, p := range passes {
			if !env.Disable[p] {
				b.t.Fatalf("no pass %s", p)
			}
			delete(env.Disable, p)
		}
	}
	m, err := Plan(env, n)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// expect compares a drawn plan with lines that may be indented as the test is.
func expect(t *testing.T, got, want string) {
	t.Helper()
	lines := strings.Split(strings.Trim(want, "\n\t "), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(strings.TrimLeft(l, "\t"), "|"), " ")
	}
	if w := strings.Join(lines, "\n"); strings.TrimSpace(got) != strings.TrimSpace(w) {
		t.Errorf("plan is\n%s\nnot\n%s", got, w)
	}
}

// fakeMetadata is a table's manifests in memory.
type fakeMetadata struct {
	specs     []*lake.PartitionSpec
	manifests []*lake.Manifest
	entries   map[*lake.Manifest][]lake.Entry
	err       error
}

func (f *fakeMetadata) Manifests(context.Context, *lake.Snapshot) ([]*lake.Manifest, error) {
	return f.manifests, f.err
}
func (f *fakeMetadata) Entries(_ context.Context, m *lake.Manifest) ([]lake.Entry, error) {
	return f.entries[m], f.err
}
func (f *fakeMetadata) FormatVersion() int { return 3 }
func (f *fakeMetadata) Spec(id int) *lake.PartitionSpec {
	for _, s := range f.specs {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// files gives a scan's table data files, in one manifest.
func (b *builder) files(s *plan.Scan, files ...*lake.DataFile) *fakeMetadata {
	s.Snapshot = &lake.Snapshot{ID: 7}
	f := &fakeMetadata{entries: map[*lake.Manifest][]lake.Entry{}, specs: []*lake.PartitionSpec{{ID: 0}}}
	f.add(false, files...)
	b.meta[s.Table] = f
	return f
}

func (f *fakeMetadata) add(deletes bool, files ...*lake.DataFile) *lake.Manifest {
	m := &lake.Manifest{Path: "m", Deletes: deletes, AddedFiles: int64(len(files)), ExistingFiles: 0}
	for _, x := range files {
		if x.Format == "" {
			x.Format = "parquet"
		}
		m.SpecID = x.SpecID
		f.entries[m] = append(f.entries[m], lake.Entry{Status: lake.Added, File: x})
	}
	f.manifests = append(f.manifests, m)
	return m
}

// sized gives a table one file of so many rows, with int bounds of its columns from 1.
func (b *builder) sized(s *plan.Scan, rows int64, highs ...int64) *plan.Scan {
	d := &lake.DataFile{Path: s.Alias + ".parquet", RecordCount: rows, FileSize: rows * 10,
		NullCounts: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
	for i, h := range highs {
		f := s.Schema.Fields[i]
		d.NullCounts[f.ID] = 0
		d.Lower[f.ID] = lake.EncodeBound(types.NewInt(1), f.Iceberg)
		d.Upper[f.ID] = lake.EncodeBound(types.NewInt(h), f.Iceberg)
	}
	b.files(s, d)
	return s
}
