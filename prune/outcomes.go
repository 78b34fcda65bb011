package prune

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// outcomes is the set of truth values that a boolean expression may take over some rows.
type outcomes uint8

const (
	canTrue outcomes = 1 << iota
	canFalse
	canNull
	anything = canTrue | canFalse | canNull
)

func (o outcomes) verdict() Verdict {
	switch {
	case o&canTrue == 0:
		return None
	case o == canTrue:
		return All
	}
	return Some
}

type maskFn func(Stats) outcomes

func unknownMask(Stats) outcomes { return anything }

// not: true ↔ false, NULL stays.
func (o outcomes) not() outcomes {
	r := o & canNull
	if o&canTrue != 0 {
		r |= canFalse
	}
	if o&canFalse != 0 {
		r |= canTrue
	}
	return r
}

// and lifts Kleene's conjunction: true if both are, false if either is, else NULL.
func (o outcomes) and(p outcomes) outcomes {
	var r outcomes
	if o&p&canTrue != 0 {
		r |= canTrue
	}
	if (o|p)&canFalse != 0 {
		r |= canFalse
	}
	// NULL needs a NULL on one side and no false on the other.
	if o&canNull != 0 && p&(canTrue|canNull) != 0 || p&canNull != 0 && o&(canTrue|canNull) != 0 {
		r |= canNull
	}
	return r
}

// or by De Morgan.
func (o outcomes) or(p outcomes) outcomes { return o.not().and(p.not()).not() }

// bool compiles a boolean expression.
func (c *compiler) bool(e plan.Expr) maskFn {
	switch e := e.(type) {
	case *plan.Const:
		return constMask(e.Value)
	case *plan.And:
		return c.fold(e.Args, canTrue, outcomes.and)
	case *plan.Or:
		return c.fold(e.Args, canFalse, outcomes.or)
	case *plan.Not:
		x := c.bool(e.X)
		return func(s Stats) outcomes { return x(s).not() }
	case *plan.IsNull:
		return c.isNull(e)
	case *plan.InList:
		return c.inList(e)
	case *plan.Coalesce:
		return c.coalesce(e)
	case *plan.Call:
		return c.predicateCall(e)
	case *plan.Col:
		return c.boolColumn(e)
	}
	if v, ok := c.constant(e); ok {
		return constMask(v)
	}
	return unknownMask
}

func constMask(v types.Datum) maskFn {
	o := canNull
	if !v.IsNull() {
		o = canFalse
		if v.Bool() {
			o = canTrue
		}
	}
	return func(Stats) outcomes { return o }
}

func (c *compiler) fold(args []plan.Expr, unit outcomes, op func(outcomes, outcomes) outcomes) maskFn {
	fns := make([]maskFn, len(args))
	for i, a := range args {
		fns[i] = c.bool(a)
	}
	return func(s Stats) outcomes {
		o := unit
		for _, f := range fns {
			o = op(o, f(s))
		}
		return o
	}
}

func (c *compiler) isNull(e *plan.IsNull) maskFn {
	x := c.value(e.X)
	return func(s Stats) outcomes {
		o := canTrue | canFalse
		switch x(s).nulls {
		case never:
			o = canFalse
		case always:
			o = canTrue
		}
		if e.Negate {
			o = o.not()
		}
		return o
	}
}

// coalesce of booleans: where the first is NULL, the next decides.
func (c *compiler) coalesce(e *plan.Coalesce) maskFn {
	fns := make([]maskFn, len(e.Args))
	for i, a := range e.Args {
		fns[i] = c.bool(a)
	}
	return func(s Stats) outcomes {
		o := canNull
		for _, f := range fns {
			if o&canNull == 0 {
				break
			}
			o = o&^canNull | f(s)
		}
		return o
	}
}

// boolColumn is a boolean column as a predicate: its span says which values occur.
func (c *compiler) boolColumn(e *plan.Col) maskFn {
	x := c.value(e)
	return func(s Stats) outcomes {
		v := x(s)
		if v.nulls == always {
			return canNull
		}
		o := canTrue | canFalse
		if !v.lo.IsNull() && v.lo.Bool() {
			o = canTrue
		} else if !v.hi.IsNull() && !v.hi.Bool() {
			o = canFalse
		}
		if v.nulls != never {
			o |= canNull
		}
		return o
	}
}

// predicateCall knows comparisons and prefix matches.
func (c *compiler) predicateCall(e *plan.Call) maskFn {
	if len(e.Args) == 2 && e.Func.Operator {
		switch e.Func.Name {
		case "=", "<>", "<", "<=", ">", ">=":
			if r, ok := e.Args[0].(*plan.RowExpr); ok {
				if q, ok := e.Args[1].(*plan.RowExpr); ok && len(r.Elems) == len(q.Elems) {
					return c.compareRows(e.Func.Name, r.Elems, q.Elems)
				}
			}
			return c.compare(e.Func.Name, e.Args[0], e.Args[1])
		case plan.NotDistinctOp:
			return c.notDistinct(e.Args[0], e.Args[1])
		case "IS DISTINCT FROM":
			f := c.notDistinct(e.Args[0], e.Args[1])
			return func(s Stats) outcomes { return f(s).not() }
		case "~~", "^@":
			return c.prefix(e, e.Func.Name == "^@")
		case "!~~":
			f := c.prefix(e, false)
			return func(s Stats) outcomes { return f(s).not() }
		}
	}
	if len(e.Args) == 2 && e.Func.Name == "starts_with" {
		return c.prefix(e, true)
	}
	if v, ok := c.constant(e); ok {
		return constMask(v)
	}
	return unknownMask
}

// compare is the one truth table of comparisons. Over spans A = [a, a'] and B = [b, b'], A's
// value may be less than B's unless a ≥ b', greater unless a' ≤ b, equal if they overlap.
func (c *compiler) compare(op string, x, y plan.Expr) maskFn {
	cmp := comparer(x.Type(), y.Type())
	if cmp == nil {
		return unknownMask
	}
	fx, fy := c.value(x), c.value(y)
	member := c.membership(op, x, y)
	return func(s Stats) outcomes {
		a, b := fx(s), fy(s)
		if a.nulls == always || b.nulls == always {
			return canNull
		}
		less := a.lo.IsNull() || b.hi.IsNull() || cmp(a.lo, b.hi) < 0
		greater := a.hi.IsNull() || b.lo.IsNull() || cmp(a.hi, b.lo) > 0
		equal := (a.lo.IsNull() || b.hi.IsNull() || cmp(a.lo, b.hi) <= 0) &&
			(a.hi.IsNull() || b.lo.IsNull() || cmp(a.hi, b.lo) >= 0)
		if equal && member != nil && !member(s) {
			equal = false
		}
		o := outcomesOf(op, less, equal, greater)
		if o == 0 { // bounds and members contradict each other: they prove nothing
			o = canTrue | canFalse
		}
		if a.nulls != never || b.nulls != never {
			o |= canNull
		}
		return o
	}
}

// notDistinct is = where NULL equals NULL: never NULL itself.
func (c *compiler) notDistinct(x, y plan.Expr) maskFn {
	eq := c.compare("=", x, y)
	fx, fy := c.value(x), c.value(y)
	return func(s Stats) outcomes {
		a, b := fx(s).nulls, fy(s).nulls
		switch {
		case a == always && b == always:
			return canTrue
		case a == always && b == never, a == never && b == always:
			return canFalse
		}
		o := eq(s) &^ canNull
		if a != never || b != never {
			o |= canFalse
		}
		if a != never && b != never {
			o |= canTrue
		}
		return o
	}
}

func outcomesOf(op string, less, equal, greater bool) outcomes {
	var t, f bool
	switch op {
	case "=":
		t, f = equal, less || greater
	case "<>":
		t, f = less || greater, equal
	case "<":
		t, f = less, equal || greater
	case "<=":
		t, f = less || equal, greater
	case ">":
		t, f = greater, less || equal
	case ">=":
		t, f = greater || equal, less
	}
	var o outcomes
	if t {
		o |= canTrue
	}
	if f {
		o |= canFalse
	}
	return o
}

// membership asks Stats that know members whether column = constant can be at all.
func (c *compiler) membership(op string, x, y plan.Expr) func(Stats) bool {
	if op != "=" && op != "<>" {
		return nil
	}
	x, y = plan.WithoutLength(x), plan.WithoutLength(y)
	col, ok := x.(*plan.Col)
	v, isConst := c.constant(y)
	if !ok || !isConst {
		if col, ok = y.(*plan.Col); !ok {
			return nil
		}
		if v, isConst = c.constant(x); !isConst {
			return nil
		}
	}
	// The constant must have the column's own type: 1.0::numeric is no member of a bigint's
	// Bloom filter, though it may equal one.
	if v.IsNull() || !x.Type().Equal(y.Type()) && !(x.Type().IsInteger() && y.Type().IsInteger()) &&
		!(plainText(x.Type()) && plainText(y.Type())) {
		return nil
	}
	// Zero and NaN have several bit patterns; hashes tell them apart where = does not.
	if k := col.Typ.Kind; k == types.Float4 || k == types.Float8 || !lake.OrderedAsStored(col.Typ) {
		return nil
	}
	return func(s Stats) bool {
		m, ok := s.(Membership)
		return !ok || m.MayContain(col.ID, v)
	}
}

func plainText(t types.Type) bool { return t.Kind == types.Text || t.Kind == types.Varchar }

// compareRows is PostgreSQL's row comparison, lexicographic: (a,b) < (c,d) is
// a < c OR (a = c AND b < d).
func (c *compiler) compareRows(op string, x, y []plan.Expr) maskFn {
	if len(x) == 1 {
		return c.compare(op, x[0], y[0])
	}
	eq, rest := c.compare("=", x[0], y[0]), c.compareRows(op, x[1:], y[1:])
	switch op {
	case "=":
		return func(s Stats) outcomes { return eq(s).and(rest(s)) }
	case "<>":
		return func(s Stats) outcomes { return eq(s).not().or(rest(s)) }
	}
	first := c.compare(op[:1], x[0], y[0])
	return func(s Stats) outcomes { return first(s).or(eq(s).and(rest(s))) }
}

func (c *compiler) inList(e *plan.InList) maskFn {
	cmp := comparer(e.X.Type(), e.X.Type())
	if cmp == nil {
		return unknownMask
	}
	x := c.value(e.X)
	col, _ := plan.WithoutLength(e.X).(*plan.Col)
	if col != nil && (col.Typ.Kind == types.Float4 || col.Typ.Kind == types.Float8 || !lake.OrderedAsStored(col.Typ)) {
		col = nil
	}
	hasNull := false
	var list []types.Datum
	for _, d := range e.List {
		if d.IsNull() {
			hasNull = true
		} else {
			list = append(list, d)
		}
	}
	return func(s Stats) outcomes {
		a := x(s)
		o := inOutcomes(a, list, cmp, func(d types.Datum) bool {
			m, ok := s.(Membership)
			return col == nil || !ok || m.MayContain(col.ID, d)
		})
		if hasNull && o&canFalse != 0 { // not found among the others, and NULL might be it
			o = o&^canFalse | canNull
		}
		if e.Negate {
			o = o.not()
		}
		return o
	}
}

func inOutcomes(a span, list []types.Datum, cmp func(a, b types.Datum) int, may func(types.Datum) bool) outcomes {
	if a.nulls == always {
		return canNull
	}
	o := canFalse
	single := !a.lo.IsNull() && !a.hi.IsNull() && cmp(a.lo, a.hi) == 0
	for _, d := range list {
		if !a.lo.IsNull() && cmp(d, a.lo) < 0 || !a.hi.IsNull() && cmp(d, a.hi) > 0 || !may(d) {
			continue
		}
		o |= canTrue
		if single { // the only value there is, is in the list
			o = canTrue
			break
		}
	}
	if a.nulls != never {
		o |= canNull
	}
	return o
}
