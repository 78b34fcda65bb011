package bind

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// call applies a scalar function by name to bound arguments.
func (b *binder) call(name string, args []plan.Expr, pos int) plan.Expr {
	r, err := b.d.ResolveFunction(name, exprTypes(args), false)
	b.check(err, pos)
	return &plan.Call{Func: r.Func, Args: b.coerceArgs(args, r.Args), Typ: r.Ret, Pos: b.at(pos)}
}

func exprTypes(args []plan.Expr) []types.Type {
	t := make([]types.Type, len(args))
	for i, a := range args {
		t[i] = a.Type()
	}
	return t
}

func (b *binder) coerceArgs(args []plan.Expr, want []types.Type) []plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		t := want[i]
		if t.Kind == types.Unknown || isPseudo(t) {
			// The function takes any type: an untyped literal is text.
			if a.Type().Kind != types.Unknown {
				out[i] = a
				continue
			}
			t = types.T(types.Text)
		}
		out[i] = b.coerce(a, t, plan.Implicit)
	}
	return out
}

func isPseudo(t types.Type) bool {
	switch t.Kind {
	case types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray:
		return true
	}
	return false
}

func (b *binder) quantifiedCall(op *plan.Function, l, array plan.Expr, all bool, pos int) plan.Expr {
	return &plan.Call{Func: eval.Quantify(op, all, array.Type()), Args: []plan.Expr{l, array}, Typ: types.T(types.Bool), Pos: b.at(pos)}
}

// callExpr binds a function call as written: scalar, aggregate, window or set-returning.
func (b *binder) callExpr(lv *level, c *ast.Call) plan.Expr {
	top := b.fromCall == c
	b.fromCall = nil
	name, ok := b.d.FunctionName(c.Name.Parts)
	if b.d.Call != nil && ok {
		if x := b.d.Call(b, lv, name, c); x != nil {
			return x
		}
	}
	var args []plan.Expr
	named := false
	for _, a := range c.Args {
		args = append(args, b.argument(lv, a.Expr))
		named = named || a.Name != ""
	}
	if named {
		args = b.namedArgs(name, c, args)
	}
	direct := len(args)
	var keys []plan.SortKey
	if c.Within || len(c.OrderBy) > 0 {
		for _, o := range c.OrderBy {
			x := b.expr(lv, o.Expr)
			keys = append(keys, b.sortKey(x, o))
		}
	}
	resolveArgs := args
	if c.Within {
		for _, k := range keys {
			resolveArgs = append(resolveArgs[:len(resolveArgs):len(resolveArgs)], k.Expr)
		}
	}
	var r eval.Resolved
	var err error
	if ok {
		r, err = b.d.ResolveFunction(name, exprTypes(resolveArgs), c.Variadic)
	} else {
		err = sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, typeNames(resolveArgs)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	if err != nil {
		if x := b.castCall(name, c, args); x != nil {
			return x
		}
		if named {
			err = b.noNamedFunction(name, c, args)
		}
		b.check(err, c.Pos)
	}
	switch r.Func.Kind {
	case plan.AggregateFunc:
		return b.aggregateCall(lv, c, r, resolveArgs, direct, keys)
	case plan.WindowFunc:
		b.refuseModifiers(c, r.Func.Name, true)
		if c.Over == nil {
			b.fail(sqlerr.WrongObjectType, c.Pos, "window function %s requires an OVER clause", r.Func.Name)
		}
		return b.windowCall(lv, c, r, args, nil)
	}
	b.refuseModifiers(c, name, false)
	if c.Star {
		b.fail(sqlerr.WrongObjectType, c.Pos, "%s(*) specified, but %s is not an aggregate function", name, name)
	}
	call := &plan.Call{Func: r.Func, Args: b.coerceArgs(args, r.Args), Typ: r.Ret, Pos: b.at(c.Pos)}
	if r.Func.Kind == plan.SetFunc && !top {
		return b.setCall(lv, call, name, c.Pos)
	}
	return call
}

// argument binds a function's argument; a whole table t stands for its row.
func (b *binder) argument(lv *level, e ast.Expr) plan.Expr { return b.expr(lv, e) }

// refuseModifiers refuses what only aggregates may have.
func (b *binder) refuseModifiers(c *ast.Call, name string, window bool) {
	what := ""
	switch {
	case c.Star && window:
		return
	case c.Distinct:
		what = "DISTINCT"
	case c.Within:
		what = "WITHIN GROUP"
	case len(c.OrderBy) > 0:
		what = "ORDER BY"
	case c.Filter != nil && window:
		b.fail(sqlerr.FeatureNotSupported, c.Pos, "FILTER is not implemented for non-aggregate window functions")
	case c.Filter != nil:
		what = "FILTER"
	case c.Over != nil && !window:
		b.fail(sqlerr.WrongObjectType, c.Pos, "OVER specified, but %s is not a window function nor an aggregate function", name)
	case c.IgnoreNulls:
		b.fail(sqlerr.FeatureNotSupported, c.Pos, "IGNORE NULLS is not supported")
	}
	if what != "" && window {
		if what == "DISTINCT" {
			b.fail(sqlerr.FeatureNotSupported, c.Pos, "DISTINCT is not implemented for window functions")
		}
		b.fail(sqlerr.FeatureNotSupported, c.Pos, "aggregate ORDER BY is not implemented for window functions")
	}
	if what != "" {
		b.fail(sqlerr.WrongObjectType, c.Pos, "%s specified, but %s is not an aggregate function", what, name)
	}
}

// castCall reads type(x) as a cast, as PostgreSQL does where no function of the name fits.
func (b *binder) castCall(name string, c *ast.Call, args []plan.Expr) plan.Expr {
	if len(args) != 1 || len(c.Args) != 1 || c.Args[0].Name != "" || c.Star || c.Distinct || c.Over != nil || c.Filter != nil {
		return nil
	}
	t, ok := simpleType(name)
	if !ok {
		return nil
	}
	from := args[0].Type()
	if from.Kind != types.Unknown && !from.Same(t) && !b.d.CanCast(from, t, plan.Explicit) {
		return nil
	}
	return b.cast(args[0], t, c.Pos)
}

// ---- named arguments ----

// parameterNames are the names of functions whose arguments people name. PostgreSQL's catalog
// has few such functions.
var parameterNames = map[string][]string{
	"make_interval":    {"years", "months", "weeks", "days", "hours", "mins", "secs"},
	"make_date":        {"year", "month", "day"},
	"make_time":        {"hour", "min", "sec"},
	"make_timestamp":   {"year", "month", "mday", "hour", "min", "sec"},
	"make_timestamptz": {"year", "month", "mday", "hour", "min", "sec", "timezone"},
	"jsonb_set":        {"jsonb_in", "path", "replacement", "create_if_missing"},
	"jsonb_set_lax":    {"jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"},
	"jsonb_insert":     {"jsonb_in", "path", "replacement", "insert_after"},
	"parse_ident":      {"str", "strict"},
}

func init() {
	for _, f := range []string{"exists", "match", "query", "query_array", "query_first"} {
		parameterNames["jsonb_path_"+f] = []string{"target", "path", "vars", "silent"}
		parameterNames["jsonb_path_"+f+"_tz"] = []string{"target", "path", "vars", "silent"}
	}
}

// parameterDefault is what a parameter that is left out has, where that is no error.
func parameterDefault(function, parameter string) plan.Expr {
	switch {
	case function == "make_interval":
		return &plan.Const{Value: types.NewInt(0), Typ: types.T(types.Int4)}
	case parameter == "vars":
		return &plan.Const{Value: types.NewStr("{}"), Typ: types.T(types.JSONB)}
	case parameter == "create_if_missing":
		return &plan.Const{Value: types.NewBool(true), Typ: types.T(types.Bool)}
	}
	return nil
}

// namedArgs puts named arguments in their places. Ones left out become their default.
func (b *binder) namedArgs(name string, c *ast.Call, args []plan.Expr) []plan.Expr {
	names, ok := parameterNames[name]
	if !ok {
		b.failWith(b.noNamedFunction(name, c, args))
	}
	out := make([]plan.Expr, len(names))
	last := -1
	for i, a := range c.Args {
		at := i
		if a.Name != "" {
			at = slices.Index(names, a.Name)
		}
		if at < 0 || at >= len(out) || out[at] != nil {
			b.failWith(b.noNamedFunction(name, c, args))
		}
		out[at] = args[i]
		last = max(last, at)
	}
	out = out[:last+1]
	for i, x := range out {
		if x == nil {
			if out[i] = parameterDefault(name, names[i]); out[i] == nil {
				b.failWith(b.noNamedFunction(name, c, args))
			}
		}
	}
	return out
}

func (b *binder) noNamedFunction(name string, c *ast.Call, args []plan.Expr) error {
	var parts []string
	for i, a := range c.Args {
		s := typeName(args[i].Type())
		if a.Name != "" {
			s = a.Name + " => " + s
		}
		parts = append(parts, s)
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, strings.Join(parts, ", ")).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.").At(c.Pos)
}

func typeNames(args []plan.Expr) string {
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = typeName(a.Type())
	}
	return strings.Join(s, ", ")
}

// ---- set-returning functions ----

func (b *binder) setCall(lv *level, call *plan.Call, name string, pos int) plan.Expr {
	switch {
	case lv.kind == inFromFunction:
		b.fail(sqlerr.FeatureNotSupported, pos, "set-returning functions must appear at top level of FROM")
	case lv.sel == nil || !lv.kind.allowsSets():
		place := lv.kind.String()
		switch lv.kind {
		case inWindowPartition, inWindowOrder, inFrameRows, inFrameRange, inFrameGroups:
			place = "window definitions"
		}
		b.refuseSet(place, false, pos)
	}
	s := lv.sel
	c := &setCall{call: call, stage: 1}
	for _, o := range s.setCalls {
		if plan.EqualExpr(o.call, call) && !anyVolatile(call) {
			return b.col(o.out, pos)
		}
	}
	for id := range plan.ExprCols(call.Args...) {
		for _, o := range s.setCalls {
			if o.out.ID == id {
				c.stage = max(c.stage, o.stage+1)
			}
		}
	}
	c.out = b.newColumn(name, call.Typ)
	b.own(c.out, "", lv, bySet)
	b.pos[call] = pos
	s.setCalls = append(s.setCalls, c)
	return b.col(c.out, pos)
}

// ---- aggregates ----

// ownerLevel finds the query level that an aggregate over these expressions belongs to: the
// innermost one whose columns it reads, or the present one if it reads none (SQL:2011 10.9).
// nested is the level of the innermost aggregate inside.
func (b *binder) ownerLevel(lv *level, exprs []plan.Expr) (owner *level, inner, window *plan.Column) {
	for id := range plan.ExprCols(exprs...) {
		c := b.cols[id]
		if c.lv == nil || c.lv.depth > lv.depth {
			continue // of a query inside the arguments
		}
		if owner == nil || c.lv.depth > owner.depth {
			owner = c.lv
		}
	}
	if owner == nil {
		owner = lv
	}
	for id := range plan.ExprCols(exprs...) {
		c := b.cols[id]
		if c.lv != owner {
			continue
		}
		switch c.made {
		case byAggregate, byGrouping:
			inner = &c.Column
		case byWindow:
			window = &c.Column
		}
	}
	return owner, inner, window
}

func (b *binder) aggregateCall(lv *level, c *ast.Call, r eval.Resolved, args []plan.Expr, direct int, keys []plan.SortKey) plan.Expr {
	name := r.Func.Name
	decl := eval.Declaration(r.Func)
	within := decl.Agg != nil && decl.Agg.WithinGroup
	switch {
	case within && !c.Within:
		if c.Over != nil {
			b.fail(sqlerr.FeatureNotSupported, c.Pos, "OVER is not supported for ordered-set aggregate %s", name)
		}
		b.fail(sqlerr.WrongObjectType, c.Pos, "WITHIN GROUP is required for ordered-set aggregate %s", name)
	case !within && c.Within:
		b.fail(sqlerr.WrongObjectType, c.Pos, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name)
	case c.IgnoreNulls:
		b.fail(sqlerr.FeatureNotSupported, c.Pos, "IGNORE NULLS is not supported")
	}
	if len(c.Args) == 0 && !c.Star && !c.Within {
		b.fail(sqlerr.WrongObjectType, c.Pos, "%s(*) must be used to call a parameterless aggregate function", name)
	}
	args = b.coerceArgs(args, r.Args)
	if c.Within {
		for i := range keys {
			keys[i].Expr = args[direct+i]
		}
	}
	for i := range keys {
		keys[i].Expr = b.known(keys[i].Expr)
		b.needOrdering(keys[i].Expr.Type(), b.posOf(keys[i].Expr))
	}
	var filter plan.Expr
	if c.Filter != nil {
		lv.in(inFilter, func() { filter = b.condition(lv, c.Filter, "FILTER") })
	}
	if c.Over != nil {
		if c.Distinct {
			b.fail(sqlerr.FeatureNotSupported, c.Pos, "DISTINCT is not implemented for window functions")
		}
		if len(c.OrderBy) > 0 {
			b.fail(sqlerr.FeatureNotSupported, c.Pos, "aggregate ORDER BY is not implemented for window functions")
		}
		r.Args = exprTypes(args)
		return b.windowCall(lv, c, r, args, filter)
	}
	all := append([]plan.Expr(nil), args...)
	for _, k := range keys {
		all = append(all, k.Expr)
	}
	if filter != nil {
		all = append(all, filter)
	}
	owner, inner, window := b.ownerLevel(lv, all)
	if inner != nil {
		b.fail(sqlerr.GroupingError, b.posIn(all, inner.ID), "aggregate function calls cannot be nested")
	}
	if window != nil {
		b.fail(sqlerr.GroupingError, b.posIn(all, window.ID), "aggregate function calls cannot contain window function calls")
	}
	if lv.sel != nil {
		for id := range plan.ExprCols(all...) {
			if i := b.cols[id]; i.made == bySet && i.lv == lv {
				b.refuseSetInCall("aggregate", b.posIn(all, id))
			}
		}
	}
	if owner.sel == nil || !owner.kind.allowsAggregates() {
		b.refuseAggregate(owner.kind, c.Pos)
	}
	if c.Distinct {
		for _, a := range args {
			b.needEquality(a.Type(), b.posOf(a))
		}
		for _, k := range keys {
			if !c.Within && !containsExpr(args, k.Expr) {
				b.fail(sqlerr.InvalidColumnReference, b.posOf(k.Expr), "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
			}
		}
	}
	agg := &plan.Agg{Func: r.Func, Args: args, Distinct: c.Distinct, Filter: filter, OrderBy: keys}
	for _, o := range owner.sel.aggs {
		if sameAgg(o, agg) && !anyVolatile(all...) {
			return b.col(o.Out, c.Pos)
		}
	}
	if len(owner.sel.aggs) == 0 {
		owner.sel.aggPos = c.Pos
	}
	agg.Out = b.newColumn(name, r.Ret)
	b.own(agg.Out, "", owner, byAggregate)
	owner.sel.aggs = append(owner.sel.aggs, agg)
	return b.col(agg.Out, c.Pos)
}

// posIn is where the column id is referred to in list.
func (b *binder) posIn(list []plan.Expr, id plan.ColID) int {
	pos := -1
	for _, e := range list {
		plan.WalkExpr(e, func(x plan.Expr) bool {
			if c, ok := x.(*plan.Col); ok && c.ID == id && pos < 0 {
				pos = b.posOf(c)
			}
			return pos < 0
		})
	}
	return pos
}

func (b *binder) refuseSetInCall(what string, pos int) {
	b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "%s function calls cannot contain set-returning function calls", what).
		WithHint("You might be able to move the set-returning function into a LATERAL FROM item.").At(pos))
}

func containsExpr(list []plan.Expr, x plan.Expr) bool {
	for _, y := range list {
		if plan.EqualExpr(x, y) {
			return true
		}
	}
	return false
}

func sameAgg(a, c *plan.Agg) bool {
	return a.Func == c.Func && a.Distinct == c.Distinct && sameExprs(a.Args, c.Args) &&
		plan.EqualExpr(a.Filter, c.Filter) && sameKeys(a.OrderBy, c.OrderBy)
}

// grouping binds GROUPING(…) as a placeholder; groupingValue makes it when the sets are known.
func (b *binder) grouping(lv *level, e *ast.Grouping) plan.Expr {
	if len(e.Args) > 31 {
		b.fail(sqlerr.TooManyColumns, e.Pos, "GROUPING must have fewer than 32 arguments")
	}
	var args []plan.Expr
	for _, a := range e.Args {
		args = append(args, b.expr(lv, a))
	}
	owner, inner, _ := b.ownerLevel(lv, args)
	if inner != nil {
		b.fail(sqlerr.GroupingError, e.Pos, "aggregate function calls cannot be nested")
	}
	if owner.sel == nil || !owner.kind.allowsAggregates() {
		b.fail(sqlerr.GroupingError, e.Pos, "grouping operations are not allowed in %s", owner.kind)
	}
	c := b.newColumn("grouping", types.T(types.Int4))
	b.own(c, "", owner, byGrouping)
	owner.sel.groupings = append(owner.sel.groupings, &groupingCall{id: c.ID, args: args, pos: e.Pos})
	return b.col(c, e.Pos)
}

// ---- window functions ----

func (b *binder) windowCall(lv *level, c *ast.Call, r eval.Resolved, args []plan.Expr, filter plan.Expr) plan.Expr {
	if lv.sel == nil || !lv.kind.allowsWindows() {
		b.refuseWindow(lv.kind, c.Pos)
	}
	args = b.coerceArgs(args, r.Args)
	for id := range plan.ExprCols(append(append([]plan.Expr(nil), args...), filterList(filter)...)...) {
		switch i := b.cols[id]; {
		case i.lv == lv && i.made == byWindow:
			b.fail(sqlerr.WindowingError, c.Pos, "window function calls cannot be nested")
		case i.lv == lv && i.made == bySet:
			b.refuseSetInCall("window", b.posIn(args, i.ID))
		}
	}
	spec := b.windowSpec(lv, c.Over, len(lv.windows))
	out := lv.sel.addWindow(spec, plan.WindowCall{Func: r.Func, Args: args, Filter: filter, Frame: spec.frame,
		Out: plan.Column{Type: r.Ret}}, r.Func.Name)
	return b.col(out, c.Pos)
}

func filterList(f plan.Expr) []plan.Expr {
	if f == nil {
		return nil
	}
	return []plan.Expr{f}
}
