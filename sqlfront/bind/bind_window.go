package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// windowDef is a window of the WINDOW clause, or one that it was derived into; bound at first
// use.
type windowDef struct {
	name  string
	ast   *ast.WindowDef
	bound *windowSpec
}

type windowSpec struct {
	partition []plan.Expr
	order     []plan.SortKey
	frame     plan.Frame
	hasFrame  bool
}

// windowUse is one call over a window. The first use of each (partition, order) makes the node
// for all that share it.
type windowUse struct {
	spec  *windowSpec
	call  plan.WindowCall
	first bool
	group int
}

func (w *windowUse) mapExprs(f func(plan.Expr) plan.Expr) {
	list := func(in []plan.Expr) []plan.Expr {
		out := make([]plan.Expr, len(in))
		for i, e := range in {
			out[i] = f(e)
		}
		return out
	}
	spec := *w.spec
	spec.partition = list(spec.partition)
	spec.order = append([]plan.SortKey(nil), spec.order...)
	for i := range spec.order {
		spec.order[i].Expr = f(spec.order[i].Expr)
	}
	w.spec = &spec
	w.call.Args = list(w.call.Args)
	w.call.Filter = f(w.call.Filter)
	w.call.Frame.Start.Offset = f(w.call.Frame.Start.Offset)
	w.call.Frame.End.Offset = f(w.call.Frame.End.Offset)
}

func (b *binder) nameWindows(lv *level, sel *ast.Select) {
	for i := range sel.Windows {
		w := &sel.Windows[i]
		for _, o := range lv.windows {
			if b.d.SameName(o.name, w.Name) {
				b.fail(sqlerr.WindowingError, w.Def.Pos, "window \"%s\" is already defined", w.Name)
			}
		}
		lv.windows = append(lv.windows, &windowDef{name: w.Name, ast: &w.Def})
	}
}

// unusedWindows binds the windows that no call named, for their errors.
func (b *binder) unusedWindows(lv *level) {
	for i, w := range lv.windows {
		b.namedWindow(lv, i, w.ast.Pos)
	}
}

func (b *binder) findWindow(lv *level, name string, limit, pos int) *windowSpec {
	for i := 0; i < limit; i++ {
		if b.d.SameName(lv.windows[i].name, name) {
			return b.namedWindow(lv, i, pos)
		}
	}
	b.fail(sqlerr.UndefinedObject, pos, "window \"%s\" does not exist", name)
	return nil
}

func (b *binder) namedWindow(lv *level, i, pos int) *windowSpec {
	w := lv.windows[i]
	if w.bound == nil {
		// A window may build on an earlier one only, so this ends.
		w.bound = b.windowSpec(lv, w.ast, i)
	}
	return w.bound
}

// windowSpec binds a window definition; limit: how many of the named windows it may build on.
func (b *binder) windowSpec(lv *level, d *ast.WindowDef, limit int) *windowSpec {
	s := &windowSpec{}
	if d.Name != "" {
		base := b.findWindow(lv, d.Name, limit, d.Pos)
		if !d.Inline {
			return base
		}
		if len(d.Partition) > 0 {
			b.fail(sqlerr.WindowingError, d.Pos, "cannot override PARTITION BY clause of window \"%s\"", d.Name)
		}
		if len(d.Order) > 0 && len(base.order) > 0 {
			b.fail(sqlerr.WindowingError, d.Pos, "cannot override ORDER BY clause of window \"%s\"", d.Name)
		}
		if base.hasFrame {
			e := sqlerr.New(sqlerr.WindowingError, "cannot copy window \"%s\" because it has a frame clause", d.Name).At(d.Pos)
			if len(d.Order) == 0 && d.Frame == nil {
				e.WithHint("Omit the parentheses in this OVER clause.")
			}
			b.failWith(e)
		}
		s.partition, s.order = base.partition, base.order
	}
	sel := lv.sel
	lv.in(inWindowPartition, func() {
		for _, e := range d.Partition {
			x := b.windowExpr(sel, e)
			b.needEquality(x.Type(), b.posOf(x))
			s.partition = append(s.partition, b.key(x))
		}
	})
	lv.in(inWindowOrder, func() {
		for _, o := range d.Order {
			x := b.windowExpr(sel, o.Expr)
			if o.Using == "" {
				b.needOrdering(x.Type(), b.posOf(x))
			}
			s.order = append(s.order, b.sortKey(x, o))
		}
	})
	s.frame = plan.Frame{Mode: plan.RangeFrame, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}
	if d.Frame != nil {
		s.hasFrame = true
		b.frame(lv, d, s)
	}
	return s
}

// windowExpr binds an item of PARTITION BY or ORDER BY in a window: an expression, never a
// position or an output's name (SQL99).
func (b *binder) windowExpr(sel *selectState, e ast.Expr) plan.Expr {
	x := b.expr(sel.lv, e)
	if x.Type().Kind == types.Unknown {
		x = b.coerce(x, types.T(types.Text), plan.Implicit)
	}
	return x
}

var boundKinds = map[byte]plan.BoundKind{'P': plan.UnboundedPreceding, 'p': plan.OffsetPreceding,
	'c': plan.CurrentRow, 'f': plan.OffsetFollowing, 'F': plan.UnboundedFollowing}

func (b *binder) frame(lv *level, d *ast.WindowDef, s *windowSpec) {
	f := d.Frame
	pos := d.Pos
	start, end := boundKinds[f.Start.Kind], boundKinds[f.End.Kind]
	switch {
	case start == plan.UnboundedFollowing:
		b.fail(sqlerr.WindowingError, pos, "frame start cannot be UNBOUNDED FOLLOWING")
	case end == plan.UnboundedPreceding:
		b.fail(sqlerr.WindowingError, pos, "frame end cannot be UNBOUNDED PRECEDING")
	case start == plan.CurrentRow && end == plan.OffsetPreceding:
		b.fail(sqlerr.WindowingError, pos, "frame starting from current row cannot have preceding rows")
	case start == plan.OffsetFollowing && end == plan.OffsetPreceding:
		b.fail(sqlerr.WindowingError, pos, "frame starting from following row cannot have preceding rows")
	case start == plan.OffsetFollowing && end == plan.CurrentRow:
		b.fail(sqlerr.WindowingError, pos, "frame starting from following row cannot end with current row")
	}
	offsets := start == plan.OffsetPreceding || start == plan.OffsetFollowing || end == plan.OffsetPreceding || end == plan.OffsetFollowing
	modes := map[byte]plan.FrameMode{'r': plan.RowsFrame, 'a': plan.RangeFrame, 'g': plan.GroupsFrame}
	excl := map[byte]plan.FrameExclusion{0: plan.ExcludeNoOthers, 'c': plan.ExcludeCurrentRow, 'g': plan.ExcludeGroup, 't': plan.ExcludeTies}
	s.frame = plan.Frame{Mode: modes[f.Mode], Exclude: excl[f.Exclude], Start: plan.FrameBound{Kind: start}, End: plan.FrameBound{Kind: end}}
	switch {
	case s.frame.Mode == plan.GroupsFrame && len(s.order) == 0:
		b.fail(sqlerr.WindowingError, pos, "GROUPS mode requires an ORDER BY clause")
	case s.frame.Mode == plan.RangeFrame && offsets && len(s.order) != 1:
		b.fail(sqlerr.WindowingError, pos, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	s.frame.Start.Offset = b.frameOffset(lv, f.Start.Offset, s)
	s.frame.End.Offset = b.frameOffset(lv, f.End.Offset, s)
}

// frameOffset binds n of n PRECEDING. In RANGE mode its type follows the sort column's.
func (b *binder) frameOffset(lv *level, e ast.Expr, s *windowSpec) plan.Expr {
	if e == nil {
		return nil
	}
	k := map[plan.FrameMode]kind{plan.RowsFrame: inFrameRows, plan.RangeFrame: inFrameRange, plan.GroupsFrame: inFrameGroups}[s.frame.Mode]
	name := map[plan.FrameMode]string{plan.RowsFrame: "ROWS", plan.RangeFrame: "RANGE", plan.GroupsFrame: "GROUPS"}[s.frame.Mode]
	var x plan.Expr
	lv.in(k, func() { x = b.expr(lv, e) })
	pos := b.posOf(x)
	if s.frame.Mode == plan.RangeFrame {
		x = b.rangeOffset(x, s.order[0].Expr, pos)
	} else {
		x = b.coerceArgument(x, types.T(types.Int8), name)
	}
	for id := range plan.ExprCols(x) {
		if b.cols[id].lv == lv {
			b.fail(sqlerr.InvalidColumnReference, pos, "argument of %s must not contain variables", name)
		}
	}
	return x
}

// rangeOffset gives the offset of a RANGE frame the type that is added to the sort column:
// bigint for integers, interval for times, the column's own type for other numbers.
func (b *binder) rangeOffset(x, key plan.Expr, pos int) plan.Expr {
	t := key.Type()
	var want types.Type
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8:
		want = types.T(types.Int8)
		if x.Type().Kind == types.Unknown {
			want = types.T(t.Kind) // for the message of a bad literal
		}
	case types.Float4, types.Float8:
		want = types.T(types.Float8)
	case types.Numeric:
		want = types.T(types.Numeric)
	case types.Date, types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ, types.Interval, types.TimestampNS, types.TimestampTZNS:
		want = types.T(types.Interval)
	default:
		b.fail(sqlerr.FeatureNotSupported, pos, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", typeName(t))
	}
	if x.Type().Kind != types.Unknown && !b.d.CanCast(x.Type(), want, plan.Implicit) && !x.Type().Same(want) {
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
			typeName(t), typeName(x.Type())).WithHint("Cast the offset value to an appropriate type.").At(pos))
	}
	x = b.coerce(x, want, plan.Implicit)
	if want.IsInteger() && want.Kind != types.Int8 {
		x = b.coerce(x, types.T(types.Int8), plan.Implicit)
	}
	return x
}

// addWindow registers a call over a window; the same call twice is one.
func (s *selectState) addWindow(spec *windowSpec, call plan.WindowCall, name string) plan.Column {
	b := s.b
	group := len(s.windows)
	first := true
	for _, w := range s.windows {
		if !sameWindow(w.spec, spec) {
			continue
		}
		group, first = w.group, false
		if sameCall(w.call, call) {
			return w.call.Out
		}
	}
	call.Out = b.newColumn(name, call.Out.Type)
	b.own(call.Out, "", s.lv, byWindow)
	s.windows = append(s.windows, &windowUse{spec: spec, call: call, first: first, group: group})
	return call.Out
}

func sameExprs(a, c []plan.Expr) bool {
	if len(a) != len(c) {
		return false
	}
	for i := range a {
		if !plan.EqualExpr(a[i], c[i]) {
			return false
		}
	}
	return true
}

func sameKeys(a, c []plan.SortKey) bool {
	if len(a) != len(c) {
		return false
	}
	for i := range a {
		if a[i].Desc != c[i].Desc || a[i].NullsFirst != c[i].NullsFirst || !plan.EqualExpr(a[i].Expr, c[i].Expr) {
			return false
		}
	}
	return true
}

func anyVolatile(list ...plan.Expr) bool {
	for _, e := range list {
		if e != nil && plan.IsVolatile(e) {
			return true
		}
	}
	return false
}

func sameWindow(a, c *windowSpec) bool {
	return a == c || sameExprs(a.partition, c.partition) && sameKeys(a.order, c.order) && !anyVolatile(a.partition...)
}

func sameCall(a, c plan.WindowCall) bool {
	return a.Func == c.Func && sameExprs(a.Args, c.Args) && plan.EqualExpr(a.Filter, c.Filter) &&
		a.Frame.Mode == c.Frame.Mode && a.Frame.Exclude == c.Frame.Exclude &&
		sameBound(a.Frame.Start, c.Frame.Start) && sameBound(a.Frame.End, c.Frame.End) && !anyVolatile(a.Args...)
}

func sameBound(a, c plan.FrameBound) bool {
	return a.Kind == c.Kind && plan.EqualExpr(a.Offset, c.Offset)
}

// windowNode makes the node for all calls of w's group.
func (s *selectState) windowNode(n plan.Node, w *windowUse) plan.Node {
	node := &plan.Window{Input: n, Partition: w.spec.partition, Order: w.spec.order}
	late := &lateValues{b: s.b}
	for _, o := range s.windows {
		if o.group == w.group {
			call := o.call
			call.Frame.Start.Offset = late.of(call.Frame.Start.Offset)
			call.Frame.End.Offset = late.of(call.Frame.End.Offset)
			node.Calls = append(node.Calls, call)
		}
	}
	return late.above(node)
}
