package exec

import (
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// windowPart is one partition: rows [from, to) of the buffer, and its peer groups.
type windowPart struct {
	w        *window
	from, to int
	group    []int // per row, which of starts its group is
	starts   []int // of each peer group, relative to from; then the number of rows
}

// partition describes partition p; peer is the first of its peer groups and moves on.
func (w *window) partition(p int, peer *int) *windowPart {
	b := &w.buf
	part := &windowPart{w: w, from: b.parts[p], to: b.parts[p+1]}
	part.group = make([]int, part.to-part.from)
	for ; b.peers[*peer] < part.to; *peer++ {
		start := b.peers[*peer] - part.from
		end := min(b.peers[*peer+1], part.to) - part.from
		for i := start; i < end; i++ {
			part.group[i] = len(part.starts)
		}
		part.starts = append(part.starts, start)
	}
	part.starts = append(part.starts, part.to-part.from)
	return part
}

// boundOffset is a frame bound's offset: constant over the query.
type boundOffset struct {
	expr  plan.Expr // nil: the bound has none
	value types.Datum
	rows  int // of ROWS and GROUPS
	// RANGE over kinds whose arithmetic eval has: key ± offset and the key in that type.
	moved, key *eval.Program
	typ        types.Type
	known      bool
}

func (w *window) newOffset(mode plan.FrameMode, b plan.FrameBound) (boundOffset, error) {
	o := boundOffset{}
	if b.Kind != plan.OffsetPreceding && b.Kind != plan.OffsetFollowing {
		return o, nil
	}
	o.expr = b.Offset
	if mode != plan.RangeFrame || len(w.node.Order) != 1 {
		return o, nil
	}
	key := w.node.Order[0].Expr.Type()
	switch {
	case key.IsNumber():
		return o, nil
	}
	// Times: the operators do the arithmetic. A date moved by an interval is a timestamp.
	name := "-"
	if (b.Kind == plan.OffsetFollowing) != w.node.Order[0].Desc {
		name = "+"
	}
	f := eval.Operator(name, types.T(key.Kind), types.T(b.Offset.Type().Kind))
	if f == nil {
		return o, sqlerr.New(sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s", key, b.Offset.Type())
	}
	col := plan.Column{ID: 1, Type: key}
	ref := &plan.Col{ID: 1, Typ: key}
	o.typ = f.Ret
	var err error
	if o.moved, err = eval.Compile(&plan.Call{Func: f, Args: []plan.Expr{ref, b.Offset}, Typ: f.Ret, Pos: -1}, []plan.Column{col}); err != nil {
		return o, err
	}
	var same plan.Expr = ref
	if !key.Same(f.Ret) {
		same = &plan.Cast{X: ref, Typ: f.Ret, Context: plan.Implicit, Pos: -1}
	}
	o.key, err = eval.Compile(same, []plan.Column{col})
	return o, err
}

// resolve computes and checks the offset once.
func (o *boundOffset) resolve(w *window, mode plan.FrameMode, end bool) error {
	if o.expr == nil || o.known {
		return nil
	}
	o.known = true
	var err error
	if o.value, err = eval.EvalConst(w.c, o.expr); err != nil {
		return err
	}
	which := "starting"
	if end {
		which = "ending"
	}
	if o.value.IsNull() {
		return sqlerr.New(sqlerr.NullNotAllowed, "frame %s offset must not be null", which)
	}
	if mode != plan.RangeFrame {
		n := o.value.Int()
		if n < 0 {
			return sqlerr.New("22013", "frame %s offset must not be negative", which)
		}
		o.rows = int(min(n, math.MaxInt32))
		return nil
	}
	if negative(o.value, o.expr.Type()) {
		return sqlerr.New("22013", "invalid preceding or following size in window function")
	}
	return nil
}

func negative(d types.Datum, t types.Type) bool {
	switch {
	case t.IsInteger():
		return d.Int() < 0
	case t.Kind == types.Float4 || t.Kind == types.Float8:
		return d.Float() < 0 || d.Float() != d.Float()
	case t.Kind == types.Numeric:
		x := types.DecimalOf(d, t)
		return x.Sign() < 0 || x.IsNaN()
	case t.Kind == types.Interval:
		return wideKey(t, d.W128()).Cmp(wideKey(t, types.Int128{})) < 0
	}
	return false
}

// windowFrames is what eval may ask of a partition: eval.WindowPartition.
type windowFrames struct {
	*windowPart
	frame      plan.Frame
	start, end []int // per row, before EXCLUDE; start ≤ end
}

var _ eval.WindowPartition = (*windowFrames)(nil)

func (f *windowFrames) Rows() int { return f.to - f.from }

func (f *windowFrames) Peers(i int) (from, to int) {
	g := f.group[i]
	return f.starts[g], f.starts[g+1]
}

// Frame splits [start, end) around what EXCLUDE takes out.
func (f *windowFrames) Frame(i int) [][2]int {
	s, e := f.start[i], f.end[i]
	p, q := f.Peers(i)
	var parts [][2]int
	add := func(a, b int) {
		if a, b = max(a, s), min(b, e); a < b {
			parts = append(parts, [2]int{a, b})
		}
	}
	switch f.frame.Exclude {
	case plan.ExcludeNoOthers:
		add(s, e)
	case plan.ExcludeCurrentRow:
		add(s, i)
		add(i+1, e)
	case plan.ExcludeGroup:
		add(s, p)
		add(q, e)
	case plan.ExcludeTies:
		add(s, p)
		add(i, i+1)
		add(q, e)
	}
	return parts
}

// frames computes the frame of every row of a partition.
func (w *window) frames(call *windowCall, p *windowPart) (*windowFrames, error) {
	f := &windowFrames{windowPart: p, frame: call.plan.Frame}
	n := p.to - p.from
	if err := call.start.resolve(w, f.frame.Mode, false); err != nil {
		return nil, err
	}
	if err := call.end.resolve(w, f.frame.Mode, true); err != nil {
		return nil, err
	}
	var err error
	if f.start, err = w.bounds(p, f.frame.Mode, f.frame.Start, &call.start, false); err != nil {
		return nil, err
	}
	if f.end, err = w.bounds(p, f.frame.Mode, f.frame.End, &call.end, true); err != nil {
		return nil, err
	}
	for i := range n {
		f.start[i] = min(max(f.start[i], 0), n)
		f.end[i] = max(min(f.end[i], n), f.start[i])
	}
	return f, nil
}

// bounds gives, per row, where the frame begins, or (end) where it ends, exclusively.
func (w *window) bounds(p *windowPart, mode plan.FrameMode, b plan.FrameBound, o *boundOffset, end bool) ([]int, error) {
	n := p.to - p.from
	at := make([]int, n)
	switch {
	case b.Kind == plan.UnboundedPreceding:
		return at, nil
	case b.Kind == plan.UnboundedFollowing:
		for i := range at {
			at[i] = n
		}
		return at, nil
	case mode == plan.RangeFrame && b.Kind != plan.CurrentRow:
		return at, w.rangeBounds(p, b.Kind == plan.OffsetFollowing, o, end, at)
	}
	step := o.rows
	if b.Kind == plan.CurrentRow {
		step = 0
	} else if b.Kind == plan.OffsetPreceding {
		step = -step
	}
	plus := 0
	if end {
		plus = 1
	}
	for i := range at {
		if mode == plan.RowsFrame {
			at[i] = i + step + plus
			continue
		}
		// RANGE CURRENT ROW is the peer group; GROUPS counts them.
		g := p.group[i] + step + plus
		at[i] = p.starts[min(max(g, 0), len(p.starts)-1)]
	}
	return at, nil
}

// rangeBounds finds bounds by the value of the only ORDER BY key: the first row not before
// (start), or the first row after (end), the row's key moved by the offset. Both move forward
// with the rows. NULL keys are peers of one another and of nothing else.
func (w *window) rangeBounds(p *windowPart, following bool, o *boundOffset, end bool, at []int) error {
	n := p.to - p.from
	order := w.node.Order[0]
	keyCol := w.keyCols[len(w.keyCols)-1]
	v := denseRows(w.buf.cols[keyCol].Vector(), p.from, p.to)
	// The rows whose key is not NULL lie together.
	lo, hi := 0, n
	for lo < n && v.Null(lo) {
		lo++
	}
	for hi > lo && v.Null(hi-1) {
		hi--
	}
	for i := 0; i < lo; i++ {
		at[i] = 0
		if end {
			at[i] = lo
		}
	}
	for i := hi; i < n; i++ {
		at[i] = hi
		if end {
			at[i] = n
		}
	}
	if lo == hi {
		return nil
	}
	cmp, err := w.rangeCompare(v, n, following != order.Desc, o)
	if err != nil {
		return err
	}
	j := lo
	for i := lo; i < hi; i++ {
		for j < hi {
			c := cmp(j, i) // of key j to row i's bound
			if order.Desc {
				c = -c
			}
			if c > 0 || c == 0 && !end {
				break
			}
			j++
		}
		at[i] = j
	}
	return nil
}

// rangeCompare gives the comparison of row j's key with row i's key moved up or down.
func (w *window) rangeCompare(v *vec.Vector, n int, up bool, o *boundOffset) (func(j, i int) int, error) {
	t := w.node.Order[0].Expr.Type()
	switch {
	case t.IsInteger():
		off := offsetInt(o.value, o.expr.Type())
		return func(j, i int) int {
			x := types.FromInt64(v.I64[i])
			if up {
				x = x.Add(off)
			} else {
				x = x.Sub(off)
			}
			return types.FromInt64(v.I64[j]).Cmp(x)
		}, nil
	case t.Kind == types.Float4 || t.Kind == types.Float8:
		off := o.value.Float()
		f8 := types.T(types.Float8)
		return func(j, i int) int {
			x := v.F64[i]
			if up {
				x += off
			} else {
				x -= off
			}
			return types.Compare(types.NewFloat(v.F64[j]), types.NewFloat(x), f8)
		}, nil
	case t.Kind == types.Numeric:
		off := types.DecimalOf(o.value, o.expr.Type())
		if !up {
			off = off.Neg()
		}
		return func(j, i int) int {
			return types.DecimalOf(v.Datum(j), v.Type).Cmp(types.DecimalOf(v.Datum(i), v.Type).Add(off))
		}, nil
	}
	moved, err := evalWhole(w.c, o.moved, v, n)
	if err != nil {
		return nil, err
	}
	keys, err := evalWhole(w.c, o.key, v, n)
	if err != nil {
		return nil, err
	}
	return func(j, i int) int { return types.Compare(keys.Datum(j), moved.Datum(i), o.typ) }, nil
}

func offsetInt(d types.Datum, t types.Type) types.Int128 {
	if t.Kind == types.Numeric {
		w, _ := types.DecimalOf(d, t).Trunc(0).Int128()
		return w
	}
	return types.FromInt64(d.Int())
}

// evalWhole evaluates a program of one column over more rows than a batch may have.
func evalWhole(c *eval.Ctx, p *eval.Program, v *vec.Vector, n int) (*vec.Vector, error) {
	out := vec.NewAppender(p.Expr().Type())
	const step = 1 << 15
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		r, err := p.Eval(c, &vec.Batch{Cols: []*vec.Vector{rowsOf(v, from, to)}, Rows: to - from})
		if err != nil {
			return nil, err
		}
		out.AppendSel(r, nil, to-from)
	}
	return out.Vector(), nil
}
