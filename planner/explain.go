package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/treefmt"
	"github.com/lhsql/lhsql/plan"
)

// ExplainOptions say what EXPLAIN shows.
type ExplainOptions struct {
	Verbose bool // output columns of each node
	Costs   bool // guessed row counts
	Analyze *AnalyzeInfo
	Timing  bool // with Analyze: times (EXPLAIN (TIMING off) hides them)
	// Passes, if set, shows how long planning took, by pass.
	Passes []PassTiming
}

// AnalyzeInfo is what exec measured while the plan ran, by the node that it built from.
type AnalyzeInfo struct {
	Nodes map[plan.Node]*NodeStats
	Total time.Duration
}

// NodeStats is one operator's measurement, summed over workers and loops.
type NodeStats struct {
	Rows    int64
	Batches int64
	Loops   int64 // 0 counts as 1
	Time    time.Duration
	Memory  int64 // peak bytes
	Spilled int64 // bytes written to spill files
	// Extra holds lines that the operator itself words, in order, such as a scan's
	// {"Row Groups", "3/40 (statistics 35, bloom 2)"}.
	Extra []ExtraLine
}

// ExtraLine is one named measurement.
type ExtraLine struct{ Name, Value string }

// ExplainText draws a plan.
func ExplainText(n plan.Node, o ExplainOptions) string {
	x := newExplainer(n, o)
	s := x.tree(x.node(n)).String()
	if len(o.Passes) > 0 {
		var total time.Duration
		for _, p := range o.Passes {
			total += p.Took
		}
		s += fmt.Sprintf("Planning Time: %s ms\n", millis(total))
		if o.Verbose {
			for _, p := range o.Passes {
				s += fmt.Sprintf("  %s: %s ms\n", p.Pass, millis(p.Took))
			}
		}
	}
	if o.Analyze != nil && o.Timing {
		s += fmt.Sprintf("Execution Time: %s ms\n", millis(o.Analyze.Total))
	}
	return s
}

// ExplainJSON gives the same as PostgreSQL's FORMAT JSON: an array of one object.
func ExplainJSON(n plan.Node, o ExplainOptions) (string, error) {
	x := newExplainer(n, o)
	doc := newObject()
	doc.set("Plan", x.json(x.node(n)))
	if len(o.Passes) > 0 {
		var total time.Duration
		passes := newObject()
		for _, p := range o.Passes {
			total += p.Took
			passes.set(p.Pass, float64(p.Took.Microseconds())/1000)
		}
		doc.set("Planning Time", float64(total.Microseconds())/1000)
		doc.set("Passes", passes)
	}
	if o.Analyze != nil && o.Timing {
		doc.set("Execution Time", float64(o.Analyze.Total.Microseconds())/1000)
	}
	b, err := json.MarshalIndent([]any{doc}, "", "  ")
	return string(b), err
}

func millis(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d.Microseconds())/1000) }

type explainer struct {
	o    ExplainOptions
	est  *estimator
	qual map[plan.ColID]string // scan columns, qualified where several scans stand in the plan
}

func newExplainer(n plan.Node, o ExplainOptions) *explainer {
	x := &explainer{o: o, est: newEstimator(n), qual: map[plan.ColID]string{}}
	var scans []*plan.Scan
	plan.Walk(n, func(m plan.Node) {
		if s, ok := m.(*plan.Scan); ok {
			scans = append(scans, s)
		}
	})
	if len(scans) > 1 {
		for _, s := range scans {
			for _, c := range append(append([]plan.ScanColumn(nil), s.Cols...), s.PredCols...) {
				x.qual[c.ID] = scanName(s) + "." + c.Name
			}
		}
		x.inherit(n)
	}
	return x
}

// inherit qualifies columns that are a scan's column under a new identity.
func (x *explainer) inherit(n plan.Node) {
	for _, in := range n.Inputs() {
		x.inherit(in)
	}
	var list []plan.Named
	switch n := n.(type) {
	case *plan.Project:
		list = n.Exprs
	case *plan.Aggregate:
		list = n.Groups
	}
	for _, e := range list {
		c, ok := e.Expr.(*plan.Col)
		if q := x.qual[e.Col.ID]; ok && q == "" && c.Name == e.Col.Name && x.qual[c.ID] != "" {
			x.qual[e.Col.ID] = x.qual[c.ID]
		}
	}
}

func scanName(s *plan.Scan) string {
	if s.Alias != "" {
		return s.Alias
	}
	if s.Table != nil {
		return s.Table.Name.Table
	}
	return "?"
}

// expr spells an expression, with columns qualified.
func (x *explainer) expr(e plan.Expr) string {
	return plan.FormatExpr(plan.MapExpr(e, func(e plan.Expr) plan.Expr {
		if c, ok := e.(*plan.Col); ok {
			if q, ok := x.qual[c.ID]; ok {
				return &plan.Col{ID: c.ID, Name: q, Typ: c.Typ}
			}
		}
		return e
	}))
}

func (x *explainer) exprs(list []plan.Expr) string {
	s := make([]string, len(list))
	for i, e := range list {
		s[i] = x.expr(e)
	}
	return strings.Join(s, ", ")
}

// box is one node, described once for both formats.
type box struct {
	typ, head string // JSON's "Node Type"; text's headline
	props     []prop
	inputs    []*box
	node      plan.Node
}

type prop struct {
	name  string
	value any    // JSON
	text  string // text; "" is fmt of value
}

func (b *box) add(name string, value any) { b.props = append(b.props, prop{name, value, ""}) }
func (b *box) addText(name string, value any, t string) {
	b.props = append(b.props, prop{name, value, t})
}

func (b *box) addIf(name, value string) {
	if value != "" {
		b.add(name, value)
	}
}

func (x *explainer) tree(b *box) *treefmt.Node {
	t := &treefmt.Node{Head: b.head + x.numbers(b)}
	for _, p := range b.props {
		text := p.text
		if text == "" {
			text = fmt.Sprint(p.value)
		}
		t.Lines = append(t.Lines, p.name+": "+text)
	}
	for _, in := range b.inputs {
		t.Children = append(t.Children, x.tree(in))
	}
	return t
}

// numbers is the parenthesis after the headline.
func (x *explainer) numbers(b *box) string {
	s := ""
	if x.o.Costs && b.node != nil {
		s += fmt.Sprintf("  (rows=%.0f)", math.Max(1, x.est.of(b.node)))
	}
	if st := x.stats(b.node); st != nil {
		s += "  (actual "
		if x.o.Timing {
			s += "time=" + millis(st.Time) + " "
		}
		s += fmt.Sprintf("rows=%d loops=%d)", st.Rows, max(st.Loops, 1))
	} else if x.o.Analyze != nil && b.node != nil {
		s += "  (never executed)"
	}
	return s
}

func (x *explainer) stats(n plan.Node) *NodeStats {
	if x.o.Analyze == nil || n == nil {
		return nil
	}
	return x.o.Analyze.Nodes[n]
}

func (x *explainer) json(b *box) *object {
	o := newObject()
	o.set("Node Type", b.typ)
	for _, p := range b.props {
		if old, ok := o.values[p.name]; ok { // several of one name: a list
			if list, ok := old.([]any); ok {
				o.set(p.name, append(list, p.value))
			} else {
				o.set(p.name, []any{old, p.value})
			}
			continue
		}
		o.set(p.name, p.value)
	}
	if x.o.Costs && b.node != nil {
		o.set("Plan Rows", math.Round(math.Max(1, x.est.of(b.node))))
	}
	if st := x.stats(b.node); st != nil {
		o.set("Actual Rows", st.Rows)
		o.set("Actual Loops", max(st.Loops, 1))
		if x.o.Timing {
			o.set("Actual Total Time", float64(st.Time.Microseconds())/1000)
		}
	}
	if len(b.inputs) > 0 {
		list := make([]any, len(b.inputs))
		for i, in := range b.inputs {
			list[i] = x.json(in)
		}
		o.set("Plans", list)
	}
	return o
}

// object is a JSON object that keeps the order of its members.
type object struct {
	keys   []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(k string, v any) {
	if _, ok := o.values[k]; !ok {
		o.keys = append(o.keys, k)
	}
	o.values[k] = v
}

// MarshalJSON writes the members in order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		kb, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		vb, err := json.Marshal(o.values[k])
		if err != nil {
			return nil, err
		}
		b.Write(kb)
		b.WriteByte(':')
		b.Write(vb)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
