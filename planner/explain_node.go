package planner

import (
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/plan"
)

// node describes n and what is below it.
func (x *explainer) node(n plan.Node) *box {
	b := &box{node: n}
	x.describe(b, n)
	if x.o.Verbose {
		x.output(b, n)
	}
	if st := x.stats(n); st != nil {
		if st.Memory > 0 {
			b.addText("Memory", st.Memory, BytesText(st.Memory))
		}
		if st.Spilled > 0 {
			b.addText("Spilled", st.Spilled, BytesText(st.Spilled))
		}
		for _, l := range st.Extra {
			b.add(l.Name, l.Value)
		}
	}
	if w, ok := n.(*plan.With); ok {
		x.with(b, w)
		return b
	}
	for _, in := range n.Inputs() {
		b.inputs = append(b.inputs, x.node(in))
	}
	return b
}

func (b *box) is(typ string) { b.typ, b.head = typ, typ }

func (x *explainer) output(b *box, n plan.Node) {
	var names []string
	for _, c := range n.Columns() {
		names = append(names, x.expr(plan.ColOf(c)))
	}
	b.addText("Output", names, strings.Join(names, ", "))
}

// describe names the operator and lists what matters about it.
func (x *explainer) describe(b *box, n plan.Node) {
	switch n := n.(type) {
	case *plan.Scan:
		x.scan(b, n)
	case *plan.Virtual:
		b.typ, b.head = "Virtual Table Scan", "Scan on "+n.Table.Name()
		b.add("Relation Name", n.Table.Name())
		b.props = b.props[:0]
		if n.Alias != "" && n.Alias != n.Table.Name() {
			b.head += " " + n.Alias
		}
	case *plan.Values:
		x.values(b, n)
	case *plan.Filter:
		b.is("Filter")
		b.add("Filter", x.expr(n.Pred))
	case *plan.Project:
		b.is("Project")
		b.addIf("Exprs", x.named(n.Exprs))
	case *plan.ProjectSet:
		b.is("ProjectSet")
		if n.Outer {
			b.is("ProjectSet Left Join")
		}
		b.addIf("Exprs", x.named(n.Exprs))
	case *plan.FuncScan:
		b.is("Function Scan")
		var calls []string
		for _, c := range n.Calls {
			calls = append(calls, x.expr(c))
		}
		b.add("Function Call", strings.Join(calls, ", "))
	case *plan.Join:
		x.join(b, n)
	case *plan.Apply:
		b.is("Apply " + strings.TrimSpace(joinNames[n.Kind]))
		if n.Guard != nil {
			b.add("Guard", x.expr(n.Guard))
		}
		if n.On != nil {
			b.add("Join Filter", x.expr(n.On))
		}
	case *plan.Aggregate:
		x.aggregate(b, n)
	case *plan.Window:
		b.is("WindowAgg")
		if len(n.Partition) > 0 {
			b.add("Partition By", x.exprs(n.Partition))
		}
		if len(n.Order) > 0 {
			b.add("Order By", x.keys(n.Order))
		}
		var calls []string
		for _, c := range n.Calls {
			calls = append(calls, c.Func.Name+"("+x.exprs(c.Args)+")")
		}
		b.add("Calls", strings.Join(calls, ", "))
	case *plan.Sample:
		b.is("Sample")
		method := "bernoulli"
		if n.Blocks {
			method = "system"
		}
		text := method + " (" + x.expr(n.Percent) + ")"
		if n.Seed != nil {
			text += " REPEATABLE (" + x.expr(n.Seed) + ")"
		}
		b.add("Sampling", text)
	case *plan.Sort:
		b.is("Sort")
		if n.HasLimit {
			b.is("Top-N Sort")
		}
		b.add("Sort Key", x.keys(n.Keys))
		if n.HasLimit {
			b.add("Limit", n.Limit)
		}
	case *plan.Limit:
		b.is("Limit")
		if n.Count != nil {
			b.add("Count", x.expr(n.Count))
		}
		if n.Offset != nil {
			b.add("Offset", x.expr(n.Offset))
		}
		if n.WithTies {
			b.add("With Ties", true)
		}
	case *plan.Distinct:
		b.is("Unique")
		if n.On != nil {
			b.add("On", x.exprs(n.On))
		}
	case *plan.SetOp:
		name := [...]string{"Union", "Intersect", "Except"}[n.Kind]
		switch {
		case n.All && n.Kind == plan.Union:
			b.is("Append")
		case n.All:
			b.is(name + " All")
		default:
			b.is(name)
		}
	case *plan.Write:
		x.write(b, n)
	case *plan.With:
		b.is("With")
	case *plan.CTERef:
		b.typ, b.head = "CTE Scan", "CTE Scan on "+n.CTE.Name
		if n.Work {
			b.typ, b.head = "WorkTable Scan", "WorkTable Scan on "+n.CTE.Name
		}
	default:
		s := fmt.Sprintf("%T", n)
		b.is(s[strings.LastIndexByte(s, '.')+1:])
	}
}

func (x *explainer) named(list []plan.Named) string {
	var s []string
	for _, e := range list {
		t := x.expr(e.Expr)
		if c, ok := e.Expr.(*plan.Col); !ok || c.Name != e.Col.Name {
			t += " AS " + e.Col.Name
		}
		s = append(s, t)
	}
	return strings.Join(s, ", ")
}

func (x *explainer) keys(keys []plan.SortKey) string {
	s := make([]string, len(keys))
	for i, k := range keys {
		s[i] = x.expr(k.Expr)
		if k.Desc {
			s[i] += " DESC"
		}
		if k.NullsFirst != k.Desc { // PostgreSQL's default: NULLs are largest
			s[i] += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
	}
	return strings.Join(s, ", ")
}

func (x *explainer) scan(b *box, n *plan.Scan) {
	name := ""
	if n.Table != nil {
		name = n.Table.Name.Table
		if n.Table.Name.Namespace != "" {
			name = n.Table.Name.Namespace + "." + name
		}
	}
	b.typ, b.head = "Iceberg Scan", "Scan on "+name
	if n.Alias != "" && (n.Table == nil || n.Alias != n.Table.Name.Table) {
		b.head += " " + n.Alias
	}
	if n.Snapshot != nil && n.Table != nil && n.Table.CurrentSnapshot() != n.Snapshot {
		b.add("Snapshot", n.Snapshot.ID)
	}
	var cols []string
	for _, c := range n.Cols {
		cols = append(cols, c.Name)
	}
	for _, c := range n.PredCols {
		cols = append(cols, c.Name+" (filter only)")
	}
	if x.o.Verbose && len(cols) > 0 {
		b.addText("Columns", cols, strings.Join(cols, ", "))
	}
	if n.Pred != nil {
		b.add("Filter", x.expr(n.Pred))
	}
	for _, f := range n.RuntimeFilters {
		b.add("Runtime Filter", x.expr(f.Expr))
	}
	if r := n.Report; r != nil && n.Pruned {
		b.pruning(n, r)
	}
}

// pruning says what was skipped and why.
func (b *box) pruning(n *plan.Scan, r *plan.PruneReport) {
	text := fmt.Sprintf("%d/%d", len(n.Tasks), r.Files)
	var why []string
	for _, w := range []struct {
		name string
		n    int
	}{{"partition", r.SkippedByPartition}, {"bounds", r.SkippedByBounds}, {"metadata", r.FromMetadata}} {
		if w.n > 0 {
			why = append(why, fmt.Sprintf("%s %d", w.name, w.n))
		}
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	if r.Off {
		text += " (pruning off)"
	}
	proven := 0
	for _, t := range n.Tasks {
		if t.Residual == nil && n.Pred != nil {
			proven++
		}
	}
	if proven > 0 {
		text += fmt.Sprintf(", %d proven", proven)
	}
	o := newObject()
	o.set("Read", len(n.Tasks))
	o.set("Total", r.Files)
	o.set("Skipped By Partition", r.SkippedByPartition)
	o.set("Skipped By Bounds", r.SkippedByBounds)
	o.set("From Metadata", r.FromMetadata)
	o.set("Proven", proven)
	b.addText("Files", o, text)
	if r.Manifests > 0 {
		m := newObject()
		m.set("Read", r.Manifests-r.ManifestsSkipped)
		m.set("Total", r.Manifests)
		b.addText("Manifests", m, fmt.Sprintf("%d/%d", r.Manifests-r.ManifestsSkipped, r.Manifests))
	}
	if r.DeleteFiles > 0 {
		b.add("Delete Files", r.DeleteFiles)
	}
	if r.Bytes > 0 {
		m := newObject()
		m.set("Read At Most", r.Bytes-r.BytesSkipped)
		m.set("Total", r.Bytes)
		b.addText("Bytes", m, BytesText(r.Bytes-r.BytesSkipped)+" of "+BytesText(r.Bytes))
	}
}

// BytesText is a number of bytes as EXPLAIN says it.
func BytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/unit, 0
	for f >= unit && i < 4 {
		f, i = f/unit, i+1
	}
	return fmt.Sprintf("%.1f %s", f, [...]string{"kB", "MB", "GB", "TB", "PB"}[i])
}

func (x *explainer) values(b *box, n *plan.Values) {
	switch {
	case n.From != "":
		b.typ, b.head = "Metadata", "Result from "+n.From
	case len(n.Rows) == 1:
		b.is("Result")
	case len(n.Rows) == 0:
		b.is("Result")
		b.add("One-Time Filter", "false")
	default:
		b.is("Values Scan")
		b.add("Rows", len(n.Rows))
	}
}

var joinNames = [...]string{
	plan.InnerJoin: "Join", plan.LeftJoin: "Left Join", plan.RightJoin: "Right Join",
	plan.FullJoin: "Full Join", plan.SemiJoin: "Semi Join", plan.AntiJoin: "Anti Join",
	plan.SingleJoin: "Single Join", plan.MarkJoin: "Mark Join",
}

func (x *explainer) join(b *box, n *plan.Join) {
	method := [...]string{plan.AutoJoin: "", plan.HashJoin: "Hash ", plan.LoopJoin: "Nested Loop "}[n.Method]
	b.is(method + joinNames[n.Kind])
	if n.Method == plan.AutoJoin {
		if n.On != nil {
			b.add("Join Cond", x.expr(n.On))
		}
		return
	}
	var conds []string
	for i := range n.LeftKeys {
		op := " = "
		if n.NullSafe[i] {
			op = " IS NOT DISTINCT FROM "
		}
		conds = append(conds, "("+x.expr(n.LeftKeys[i])+op+x.expr(n.RightKeys[i])+")")
	}
	if len(conds) > 0 {
		b.add("Hash Cond", strings.Join(conds, " AND "))
	}
	if n.Rest != nil {
		b.add("Join Filter", x.expr(n.Rest))
	}
	if n.Guard != nil {
		b.add("Guard", x.expr(n.Guard))
	}
	if n.BuildLeft {
		b.add("Build", "left")
	}
}

func (x *explainer) aggregate(b *box, n *plan.Aggregate) {
	b.is("Aggregate")
	if len(n.Groups) > 0 {
		b.is("HashAggregate")
		var keys []plan.Expr
		for _, g := range n.Groups {
			keys = append(keys, g.Expr)
		}
		if n.Sets == nil {
			b.add("Group Key", x.exprs(keys))
		}
		for _, s := range n.Sets {
			var set []plan.Expr
			for _, i := range s {
				set = append(set, keys[i])
			}
			b.add("Grouping Set", "("+x.exprs(set)+")")
		}
	}
	var aggs []string
	for _, a := range n.Aggs {
		s := a.Func.Name + "("
		if a.Distinct {
			s += "DISTINCT "
		}
		if len(a.Args) == 0 {
			s += "*"
		}
		s += x.exprs(a.Args)
		if len(a.OrderBy) > 0 {
			s += " ORDER BY " + x.keys(a.OrderBy)
		}
		s += ")"
		if a.Filter != nil {
			s += " FILTER (WHERE " + x.expr(a.Filter) + ")"
		}
		aggs = append(aggs, s)
	}
	b.addIf("Aggregates", strings.Join(aggs, ", "))
}

// with draws each CTE as a named child before the body.
func (x *explainer) with(b *box, n *plan.With) {
	for _, c := range n.CTEs {
		in := x.node(c.Plan)
		in.head = "CTE " + c.Name + ": " + in.head
		b.inputs = append(b.inputs, in)
		if c.Step != nil {
			step := x.node(c.Step)
			step.head = "CTE " + c.Name + " step: " + step.head
			b.inputs = append(b.inputs, step)
		}
	}
	b.inputs = append(b.inputs, x.node(n.Body))
}
