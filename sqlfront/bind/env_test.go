package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/pg"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// fakeCatalog has a few tables without data, a view or two and a virtual table.
type fakeCatalog struct {
	tables map[string]*lake.Table
	views  map[string]*View
	asked  []TableRef
}

func (c *fakeCatalog) Relation(_ context.Context, ref TableRef) (*Relation, error) {
	c.asked = append(c.asked, ref)
	parts := ref.Parts
	if len(parts) > 1 && parts[0] == "lake" {
		parts = parts[1:]
	}
	if len(parts) > 1 && parts[0] == "public" {
		parts = parts[1:]
	}
	name := strings.Join(parts, ".")
	branch := ""
	if i := strings.Index(name, ".branch_"); i > 0 {
		name, branch = name[:i], name[i+len(".branch_"):]
	}
	if t := c.tables[name]; t != nil {
		if ref.When.Spec.Range != timetravel.NoRange {
			return &Relation{Schema: "public", Name: name, OID: 70, Virtual: history{}}, nil
		}
		return &Relation{Catalog: "lake", Schema: "public", Name: name, OID: 50, Table: t, TableSchema: t.Schema(), Branch: branch}, nil
	}
	if v := c.views[name]; v != nil {
		return &Relation{Catalog: "lake", Schema: "public", Name: name, OID: 60, View: v}, nil
	}
	if name == "sys" {
		return &Relation{Schema: "pg_catalog", Name: "sys", OID: 1259, Virtual: sysTable{}, Key: []int{0}}, nil
	}
	return nil, &lake.NotFound{What: "table", Name: name}
}

func (c *fakeCatalog) FromPath(_ context.Context, path string, w When, _ int) (*Relation, error) {
	if t := c.tables[path]; t != nil {
		return &Relation{Name: path, Table: t, TableSchema: t.Schema()}, nil
	}
	return nil, &lake.NotFound{What: "table", Name: path}
}

type sysTable struct{}

func (sysTable) Name() string { return "sys" }
func (sysTable) Fields() []types.Field {
	return []types.Field{{Name: "oid", Type: types.T(types.Oid)}, {Name: "relname", Type: types.T(types.Name)},
		{Name: "indkey", Type: types.T(types.Int2Vector)}}
}
func (sysTable) Rows(context.Context, map[int]types.Datum, func([]types.Datum) error) error {
	return nil
}

type history struct{}

func (history) Name() string { return "history" }
func (history) Fields() []types.Field {
	return []types.Field{{Name: "a", Type: types.T(types.Int4)}, {Name: "valid_from", Type: types.T(types.TimestampTZ)}}
}
func (history) Rows(context.Context, map[int]types.Datum, func([]types.Datum) error) error {
	return nil
}

type obj = map[string]any

func field(id int, name string, typ any, more ...obj) obj {
	f := obj{"id": id, "name": name, "required": false, "type": typ}
	for _, m := range more {
		for k, v := range m {
			f[k] = v
		}
	}
	return f
}

func openTable(t testing.TB, name string, version int, fields ...obj) *lake.Table {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	meta := obj{"format-version": version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": dir,
		"last-sequence-number": 0, "last-updated-ms": 1700000000000, "last-column-id": 50, "current-schema-id": 0,
		"schemas":         []obj{{"type": "struct", "schema-id": 0, "fields": fields}},
		"default-spec-id": 0, "partition-specs": []obj{{"spec-id": 0, "fields": []obj{}}}, "last-partition-id": 999,
		"default-sort-order-id": 0, "sort-orders": []obj{{"order-id": 0, "fields": []obj{}}}, "properties": obj{}, "next-row-id": 0}
	text, _ := json.Marshal(meta)
	path := filepath.Join(dir, "metadata", "v1.metadata.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	tab, err := lake.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func newFake(t testing.TB) *fakeCatalog {
	list := obj{"type": "list", "element-id": 20, "element": "int", "element-required": false}
	row := obj{"type": "struct", "fields": []obj{field(21, "f", "int"), field(22, "g", "string")}}
	m := obj{"type": "map", "key-id": 23, "key": "string", "value-id": 24, "value": "int", "value-required": false}
	return &fakeCatalog{
		tables: map[string]*lake.Table{
			"t": openTable(t, "t", 2, field(1, "a", "int"), field(2, "b", "string"), field(3, "c", "decimal(10, 2)"),
				field(4, "ts", "timestamptz"), field(5, "arr", list), field(6, "s", row), field(7, "m", m)),
			"u": openTable(t, "u", 2, field(1, "a", "int"), field(2, "x", "string"), field(3, "d", "date")),
			"w": openTable(t, "w", 3, field(1, "k", "long"), field(2, "n", "int", obj{"write-default": 7}), field(3, "v", "string")),
		},
		views: map[string]*View{
			"v":    {SQL: "select a, b from t where a > 1"},
			"loop": {SQL: "select * from loop"},
			"bad":  {SQL: "select nosuch from t"},
		},
	}
}

func newEnv(t testing.TB) *Env {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return &Env{Catalog: newFake(t), Parse: pg.Parse, Eval: &eval.Ctx{Context: context.Background(),
		Now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Zone: zone, DateStyle: "ISO, MDY", IntervalStyle: "postgres",
		ExtraFloatDigits: 1, ByteaOutput: "hex"}}
}

func bindSQL(env *Env, sql string, params ...types.Type) (*Bound, error) {
	p, err := pg.Parse(sql)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return Bind(env, p[0], params)
}

// dump draws a plan: one node a line, columns as name#id.
func dump(n plan.Node) string {
	var b strings.Builder
	dumpNode(&b, n, 0)
	return b.String()
}

func dumpNode(b *strings.Builder, n plan.Node, depth int) {
	in := strings.Repeat("  ", depth)
	line := func(format string, args ...any) { fmt.Fprintf(b, in+format+"\n", args...) }
	e := plan.FormatExpr
	names := func(cols []plan.Column) string {
		var s []string
		for _, c := range cols {
			s = append(s, c.Name)
		}
		return strings.Join(s, ", ")
	}
	named := func(list []plan.Named) string {
		var s []string
		for _, x := range list {
			if c, ok := x.Expr.(*plan.Col); ok && c.Name == x.Col.Name {
				s = append(s, c.Name)
				continue
			}
			s = append(s, x.Col.Name+" := "+e(x.Expr))
		}
		return strings.Join(s, ", ")
	}
	keys := func(list []plan.SortKey) string {
		var s []string
		for _, k := range list {
			x := e(k.Expr)
			if k.Desc {
				x += " DESC"
			}
			if k.NullsFirst != k.Desc {
				x += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
			}
			s = append(s, x)
		}
		return strings.Join(s, ", ")
	}
	exprs := func(list []plan.Expr) string {
		var s []string
		for _, x := range list {
			s = append(s, e(x))
		}
		return strings.Join(s, ", ")
	}
	sub := func(x plan.Expr) {
		plan.WalkExpr(x, func(y plan.Expr) bool {
			if s, ok := y.(*plan.Subquery); ok {
				line("  subquery %d:", s.Kind)
				dumpNode(b, s.Plan, depth+2)
			}
			return true
		})
	}
	kinds := []string{"Inner", "Left", "Right", "Full", "Semi", "Anti", "Single", "Mark"}
	switch n := n.(type) {
	case *plan.Scan:
		line("Scan %s (%s)", n.Table.Name.Table, names(n.Columns()))
	case *plan.Virtual:
		line("Virtual %s (%s)", n.Table.Name(), names(n.Cols))
	case *plan.Values:
		line("Values (%s)", names(n.Cols))
		for _, r := range n.Rows {
			line("  (%s)", exprs(r))
		}
	case *plan.Filter:
		line("Filter %s", e(n.Pred))
	case *plan.Project:
		line("Project %s", named(n.Exprs))
	case *plan.ProjectSet:
		line("ProjectSet %s", named(n.Exprs))
	case *plan.FuncScan:
		line("FuncScan (%s) ordinality=%v", names(n.Cols), n.Ordinality)
		for _, c := range n.Calls {
			line("  %s", e(c))
		}
	case *plan.Join:
		on := ""
		if n.On != nil {
			on = " ON " + e(n.On)
		}
		line("Join %s%s", kinds[n.Kind], on)
	case *plan.Apply:
		on := ""
		if n.On != nil {
			on = " ON " + e(n.On)
		}
		line("Apply %s%s", kinds[n.Kind], on)
	case *plan.Aggregate:
		var a []string
		for _, x := range n.Aggs {
			s := x.Func.Name + "(" + exprs(x.Args) + ")"
			if x.Distinct {
				s = x.Func.Name + "(DISTINCT " + exprs(x.Args) + ")"
			}
			if len(x.OrderBy) > 0 {
				s += " ORDER BY " + keys(x.OrderBy)
			}
			if x.Filter != nil {
				s += " FILTER " + e(x.Filter)
			}
			a = append(a, s)
		}
		line("Aggregate by [%s] sets %v: %s", named(n.Groups), n.Sets, strings.Join(a, "; "))
	case *plan.Window:
		var a []string
		for _, c := range n.Calls {
			a = append(a, c.Func.Name+"("+exprs(c.Args)+")")
		}
		line("Window partition [%s] order [%s]: %s", exprs(n.Partition), keys(n.Order), strings.Join(a, "; "))
	case *plan.Sort:
		line("Sort %s", keys(n.Keys))
	case *plan.Limit:
		s := ""
		if n.Count != nil {
			s += " count " + e(n.Count)
		}
		if n.Offset != nil {
			s += " offset " + e(n.Offset)
		}
		if n.WithTies {
			s += " with ties"
		}
		line("Limit%s", s)
	case *plan.Distinct:
		line("Distinct [%s]", exprs(n.On))
	case *plan.SetOp:
		line("SetOp %s all=%v (%s)", []string{"union", "intersect", "except"}[n.Kind], n.All, names(n.Cols))
	case *plan.With:
		var s []string
		for _, c := range n.CTEs {
			s = append(s, c.Name)
		}
		line("With %s", strings.Join(s, ", "))
	case *plan.CTERef:
		line("CTE %s work=%v", n.CTE.Name, n.Work)
	case *plan.Insert:
		line("Insert %s branch=%q given %v overwrite=%v returning [%s]", n.Target.Alias, n.Target.Branch, n.Given, n.Overwrite, named(n.Returning))
	case *plan.Update:
		line("Update %s set [%s] changed %v returning [%s]", n.Target.Alias, exprs(n.Values), n.Changed, named(n.Returning))
	case *plan.Delete:
		line("Delete %s returning [%s]", n.Target.Alias, named(n.Returning))
	case *plan.Merge:
		line("Merge %s on %s returning [%s]", n.Target.Alias, e(n.On), named(n.Returning))
		for _, a := range n.Arms {
			c := "true"
			if a.Cond != nil {
				c = e(a.Cond)
			}
			line("  arm match=%d if %s do=%d [%s]", a.Match, c, a.Do, exprs(a.Values))
		}
	default:
		line("%T", n)
	}
	plan.NodeExprs(n, sub)
	for _, x := range n.Inputs() {
		dumpNode(b, x, depth+1)
	}
}
