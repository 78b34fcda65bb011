package bind

import (
	"math"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// Constant is a constant expression's value, or the expression where a parameter's value is
// missing.
type Constant struct {
	Value   types.Datum
	Typ     types.Type
	Pending bool
	Expr    plan.Expr
	Pos     int
}

// constant binds an expression that reads no columns and computes it. want Invalid: its own
// type, text where it has none.
func (b *binder) constant(lv *level, e ast.Expr, want types.Type, k kind) Constant {
	x := b.constantExpr(lv, e, k)
	pos := b.posOf(x)
	switch {
	case want.Kind != types.Invalid:
		x = b.coerceArgument(x, want, k.String())
	default:
		x = b.known(x)
	}
	return b.constantValue(x, pos)
}

// constantExpr binds e in a level of its own: it sees no table.
func (b *binder) constantExpr(lv *level, e ast.Expr, k kind) plan.Expr {
	own := newLevel(nil)
	own.kind = k
	if lv != nil {
		own.depth = lv.depth + 1
	}
	x := b.expr(own, e)
	if plan.HasSubquery(x) {
		b.fail(sqlerr.FeatureNotSupported, b.posOf(x), "a subquery is not allowed in %s", k)
	}
	return x
}

// constantValue computes x with the arguments that are known.
func (b *binder) constantValue(x plan.Expr, pos int) Constant {
	c := Constant{Typ: x.Type(), Expr: x, Pos: pos}
	y := plan.MapExpr(x, func(e plan.Expr) plan.Expr {
		p, ok := e.(*plan.Param)
		if !ok {
			return e
		}
		if p.Index > len(b.env.Args) {
			c.Pending = true
			return e
		}
		return &plan.Const{Value: b.env.Args[p.Index-1], Typ: p.Typ}
	})
	if c.Pending {
		return c
	}
	c.Value = b.evaluate(y, pos)
	return c
}

// when evaluates a time-travel clause.
func (b *binder) when(a *ast.AsOf, lv *level) When {
	if a == nil {
		return When{}
	}
	w := When{Set: true, Pos: a.Pos}
	switch a.Kind {
	case ast.AsOfVersion, ast.BeforeVersion:
		b.version(&w, b.versionConstant(lv, a.Expr))
		w.Spec.Before = a.Kind == ast.BeforeVersion
	case ast.AsOfTime, ast.BeforeTime:
		w.Spec.Time = b.instant(&w, lv, a.Expr, a.UnixSeconds)
		w.Spec.Before = a.Kind == ast.BeforeTime
	case ast.AsOfOffset:
		c := b.constant(lv, a.Expr, types.T(types.Float8), inAsOf)
		b.noteParams(c.Expr)
		if w.Pending = c.Pending; !w.Pending {
			b.notNull(c)
			w.Spec.Time = b.now().Add(time.Duration(c.Value.Float() * float64(time.Second)))
		}
	case ast.AllVersions:
		w.Spec.Range = timetravel.AllTime
	case ast.BetweenTime, ast.FromToTime, ast.ContainedIn:
		w.Spec.Range = map[ast.AsOfKind]timetravel.Range{ast.BetweenTime: timetravel.Between,
			ast.FromToTime: timetravel.FromTo, ast.ContainedIn: timetravel.ContainedIn}[a.Kind]
		w.Spec.Time = b.instant(&w, lv, a.Expr, a.UnixSeconds)
		w.Spec.Upper = b.instant(&w, lv, a.Upper, a.UnixSeconds)
	}
	if w.Pending {
		// A range keeps its kind: its columns differ from the table's whatever the bounds.
		w.Spec = timetravel.Spec{Range: w.Spec.Range}
		b.paramPlan = true
	}
	// Also when the values are known now: others may come at the next Execute.
	b.paramPlan = b.paramPlan || b.asOfParams > 0
	return w
}

func (b *binder) now() time.Time {
	if b.env.Eval != nil && !b.env.Eval.Now.IsZero() {
		return b.env.Eval.Now
	}
	return time.Now()
}

func (b *binder) notNull(c Constant) {
	if c.Value.IsNull() {
		b.fail(sqlerr.NullNotAllowed, c.Pos, "a time-travel clause must not be NULL")
	}
}

// instant evaluates an instant: a timestamp (without a zone: the session's), a date (its first
// moment), text, or, where the spelling says so, seconds since the epoch.
func (b *binder) instant(w *When, lv *level, e ast.Expr, unixSeconds bool) time.Time {
	x := b.constantExpr(lv, e, inAsOf)
	b.noteParams(x)
	pos := b.posOf(x)
	t := x.Type()
	switch {
	case t.IsNumber() && unixSeconds:
		c := b.constantValue(b.coerce(x, types.T(types.Float8), plan.Assignment), pos)
		if c.Pending {
			w.Pending = true
			return time.Time{}
		}
		b.notNull(c)
		sec, frac := math.Modf(c.Value.Float())
		return time.Unix(int64(sec), int64(frac*1e9))
	case t.Kind == types.Unknown:
		x = b.coerce(x, types.T(types.TimestampTZ), plan.Implicit)
	case t.Kind == types.TimestampTZ:
	case t.IsString():
		x = b.cast(x, types.T(types.TimestampTZ), pos)
	case t.Kind == types.Date, t.Kind == types.Timestamp, t.Kind == types.TimestampNS, t.Kind == types.TimestampTZNS:
		x = b.coerce(x, types.T(types.TimestampTZ), plan.Implicit)
	default:
		b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "a time-travel clause needs a timestamp, not type %s", typeName(t)).
			WithHint("For a snapshot id write FOR SYSTEM_VERSION AS OF or VERSION AS OF.").At(pos))
	}
	c := b.constantValue(x, pos)
	if c.Pending {
		w.Pending = true
		return time.Time{}
	}
	b.notNull(c)
	return time.UnixMicro(c.Value.Int())
}

// versionConstant evaluates a version: an integer is a snapshot id, a string a ref first.
func (b *binder) versionConstant(lv *level, e ast.Expr) Constant {
	x := b.constantExpr(lv, e, inAsOf)
	b.noteParams(x)
	pos := b.posOf(x)
	switch t := x.Type(); {
	case t.IsInteger():
		x = b.coerce(x, types.T(types.Int8), plan.Implicit)
	case t.Kind == types.Unknown:
		x = b.coerce(x, types.T(types.Text), plan.Implicit)
	case t.IsString():
	default:
		b.fail(sqlerr.DatatypeMismatch, pos, "a version is a snapshot id or the name of a branch or tag, not of type %s", typeName(t))
	}
	return b.constantValue(x, pos)
}

func (b *binder) version(w *When, c Constant) {
	if c.Pending {
		w.Pending = true
		return
	}
	b.notNull(c)
	if c.Typ.IsInteger() {
		w.Spec.Snapshot, w.Spec.Version = c.Value.Int(), true
		return
	}
	w.Spec.Ref = c.Value.Str()
}

// noteParams remembers that the plan hangs on a parameter's value.
func (b *binder) noteParams(x plan.Expr) {
	plan.WalkExpr(x, func(e plan.Expr) bool {
		if _, ok := e.(*plan.Param); ok {
			b.asOfParams++
		}
		return true
	})
}

// pathWhen reads the named arguments of iceberg('path', version => …, timestamp => …).
func (b *binder) pathWhen(lv *level, a ast.Arg, w When) When {
	w.Set, w.Pos = true, leftmost(a.Expr)
	switch a.Name {
	case "version", "snapshot_id", "snapshot", "ref", "branch", "tag":
		b.version(&w, b.versionConstant(lv, a.Expr))
	case "timestamp", "as_of":
		w.Spec.Time = b.instant(&w, lv, a.Expr, true)
	default:
		b.failWith(sqlerr.New(sqlerr.UndefinedFunction, "iceberg() has no argument \"%s\"", a.Name).
			WithHint("It takes a path, and version => or timestamp =>.").At(leftmost(a.Expr)))
	}
	if w.Pending || b.asOfParams > 0 {
		b.paramPlan = true
	}
	return w
}
