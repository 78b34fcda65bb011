package planner

import (
	"fmt"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// metadataAggregates answers count, min and max from manifests for the files where metadata
// proves the answer, and scans the others:
//
//	γ(; count(*), min(a))(Scan files A ∪ B)  →  π(count' + |A|, least(min', min A))(γ(…)(Scan B))
//
// A file's metadata is proof if no deletes apply to it, every row satisfies the predicate, and
// for each aggregate the numbers are there and exact. Bounds of strings may be truncated;
// bounds of floats leave out NaN and do not tell -0.0 from 0.0.
func metadataAggregates(env *Env, n plan.Node) (plan.Node, error) {
	if env.PruningOff {
		return n, nil
	}
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		if a, ok := n.(*plan.Aggregate); ok {
			return env.metadataAggregate(a), nil
		}
		return n, nil
	})
}

func (env *Env) metadataAggregate(a *plan.Aggregate) plan.Node {
	if len(a.Groups) > 0 || a.Sets != nil || len(a.Aggs) == 0 {
		return a
	}
	scan, rename := throughProjects(a.Input)
	if scan == nil || !scan.Pruned || len(scan.Tasks) == 0 {
		return a
	}
	parts := make([]*metaAgg, len(a.Aggs))
	for i, g := range a.Aggs {
		parts[i] = metaAggOf(g, scan, rename)
		// What a column of a file without field ids is, only the file tells (pruneFiles).
		if parts[i] == nil || parts[i].field != nil && scan.Table.NameMapping() != nil {
			return a
		}
	}
	var rest []plan.FileTask
	answered := 0
	for _, t := range scan.Tasks {
		if len(t.Deletes) > 0 || t.Residual != nil || !provesAll(parts, t.File) {
			rest = append(rest, t)
			continue
		}
		answered++
		for _, p := range parts {
			p.add(t.File)
		}
	}
	if answered == 0 {
		return a
	}
	if len(rest) == 0 {
		v := &plan.Values{From: fmt.Sprintf("metadata of %s (%d files)", scan.Table.Name, answered), Rows: [][]plan.Expr{nil}}
		for i, g := range a.Aggs {
			v.Cols = append(v.Cols, g.Out)
			v.Rows[0] = append(v.Rows[0], parts[i].constant(g.Out.Type))
		}
		return v
	}
	s := *scan
	report := *scan.Report
	report.FromMetadata = answered
	s.Tasks, s.Report = rest, &report
	m := *a
	m.Input = replaceScan(a.Input, &s)
	m.Aggs = append([]plan.Agg(nil), a.Aggs...)
	p := &plan.Project{Input: &m}
	for i, g := range a.Aggs {
		m.Aggs[i].Out.ID = env.fresh()
		e := parts[i].combine(plan.ColOf(m.Aggs[i].Out), g.Out.Type)
		if e == nil {
			return a
		}
		p.Exprs = append(p.Exprs, plan.Named{Col: g.Out, Expr: e})
	}
	return p
}

// throughProjects finds the Scan below projections that only hand columns on.
func throughProjects(n plan.Node) (*plan.Scan, map[plan.ColID]plan.ColID) {
	rename := map[plan.ColID]plan.ColID{}
	for {
		switch m := n.(type) {
		case *plan.Scan:
			return m, rename
		case *plan.Project:
			for _, e := range m.Exprs {
				if c, ok := e.Expr.(*plan.Col); ok {
					rename[e.Col.ID] = c.ID
				}
			}
			n = m.Input
		default:
			return nil, nil
		}
	}
}

func replaceScan(n plan.Node, s *plan.Scan) plan.Node {
	if _, ok := n.(*plan.Scan); ok {
		return s
	}
	return n.WithInputs(replaceScan(n.Inputs()[0], s))
}

// metaAgg is one aggregate over metadata: what it needs, and what it has so far.
type metaAgg struct {
	kind    string // "count", "min", "max"
	field   *lake.Field
	typ     types.Type
	minmax  *plan.Function
	n       int64
	extreme types.Datum
}

func metaAggOf(g plan.Agg, scan *plan.Scan, rename map[plan.ColID]plan.ColID) *metaAgg {
	name := g.Func.Name
	if g.Filter != nil || g.Distinct && name == "count" {
		return nil
	}
	if name == "count" && len(g.Args) == 0 {
		return &metaAgg{kind: "count"}
	}
	if len(g.Args) != 1 || name != "count" && name != "min" && name != "max" {
		return nil
	}
	if k, ok := g.Args[0].(*plan.Const); ok && name == "count" && !k.Value.IsNull() {
		return &metaAgg{kind: "count"}
	}
	c, ok := g.Args[0].(*plan.Col)
	if !ok {
		return nil
	}
	id := c.ID
	for to, ok := rename[id]; ok; to, ok = rename[id] {
		if to == id {
			break
		}
		id = to
	}
	for _, sc := range scan.Cols {
		if sc.ID != id {
			continue
		}
		f, path := scan.Schema.ByID(sc.FieldID)
		if f == nil || len(path) != 1 {
			return nil
		}
		if name != "count" && !exactBounds(f.Type) || !g.Out.Type.Same(f.Type) && name != "count" {
			return nil
		}
		return &metaAgg{kind: name, field: f, typ: f.Type, minmax: g.Func}
	}
	return nil
}

// exactBounds tells whether the bounds of a type are values that occur.
func exactBounds(t types.Type) bool {
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8, types.Date, types.Time, types.Timestamp, types.TimestampTZ,
		types.TimestampNS, types.TimestampTZNS, types.Bool:
		return true
	case types.Numeric:
		return t.Fixed
	case types.Float4, types.Float8:
		return true // with more conditions: proves
	}
	return false
}

func provesAll(parts []*metaAgg, f *lake.DataFile) bool {
	if f.RecordCount < 0 {
		return false
	}
	for _, p := range parts {
		if !p.proves(f) {
			return false
		}
	}
	return true
}

func (p *metaAgg) proves(f *lake.DataFile) bool {
	if p.field == nil {
		return true
	}
	nulls, ok := f.NullCounts[p.field.ID]
	if ok && (nulls < 0 || nulls > f.RecordCount) {
		return false
	}
	if p.kind == "count" {
		return ok
	}
	if ok && nulls == f.RecordCount {
		return true
	}
	lo, ok1 := p.bound(f.Lower)
	hi, ok2 := p.bound(f.Upper)
	if !ok1 || !ok2 || types.Compare(lo, hi, p.typ) > 0 {
		return false
	}
	if k := p.typ.Kind; k == types.Float4 || k == types.Float8 {
		n, ok := f.NaNCounts[p.field.ID]
		return ok && n == 0 && lo.Float() != 0 && hi.Float() != 0
	}
	return true
}

func (p *metaAgg) bound(m map[int][]byte) (types.Datum, bool) {
	b, ok := m[p.field.ID]
	if !ok {
		return types.Null, false
	}
	return lake.DecodeBound(p.typ, p.field.Iceberg, b)
}

func (p *metaAgg) add(f *lake.DataFile) {
	p.n += f.RecordCount
	if p.field == nil {
		return
	}
	nulls, known := f.NullCounts[p.field.ID]
	if p.kind == "count" {
		p.n -= nulls
		return
	}
	if known && nulls == f.RecordCount {
		return
	}
	b := f.Lower
	if p.kind == "max" {
		b = f.Upper
	}
	v, _ := p.bound(b)
	if p.extreme.IsNull() {
		p.extreme = v
		return
	}
	if c := types.Compare(v, p.extreme, p.typ); p.kind == "min" && c < 0 || p.kind == "max" && c > 0 {
		p.extreme = v
	}
}

func (p *metaAgg) constant(t types.Type) *plan.Const {
	if p.kind == "count" {
		return &plan.Const{Value: types.NewInt(p.n), Typ: t}
	}
	return &plan.Const{Value: p.extreme, Typ: t}
}

// combine joins what metadata says with the aggregate over the scanned rest; nil if it cannot.
func (p *metaAgg) combine(rest plan.Expr, t types.Type) plan.Expr {
	k := p.constant(t)
	if p.kind == "count" {
		f := eval.Operator("+", t, t)
		if f == nil {
			return nil
		}
		return &plan.Call{Func: f, Args: []plan.Expr{rest, k}, Typ: t, Pos: -1}
	}
	if k.Value.IsNull() {
		return rest
	}
	op := "<"
	if p.kind == "max" {
		op = ">"
	}
	r, err := eval.ResolveOperator(op, []types.Type{t, t})
	if err != nil {
		return nil
	}
	better := &plan.Call{Func: r.Func, Args: []plan.Expr{castTo(k, r.Args[0]), castTo(rest, r.Args[1])}, Typ: types.T(types.Bool), Pos: -1}
	return &plan.Case{Typ: t, Else: rest, Whens: []plan.When{
		{Cond: &plan.IsNull{X: rest}, Then: k}, {Cond: better, Then: k}}}
}
