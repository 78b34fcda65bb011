package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// CastFunc converts the rows sel of in (none of them NULL) into out, whose Type is set: a
// strict Kernel of one argument.
type CastFunc func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error

// assignmentTo lists pg_cast's assignment casts by source, on top of the implicit ones. The
// nanosecond timestamps stand where the microsecond ones do.
var assignmentTo = map[types.Kind][]types.Kind{
	types.Int8:      {types.Int2, types.Int4},
	types.Int4:      {types.Int2},
	types.Float4:    {types.Int2, types.Int4, types.Int8, types.Numeric},
	types.Float8:    {types.Int2, types.Int4, types.Int8, types.Float4, types.Numeric},
	types.Numeric:   {types.Int2, types.Int4, types.Int8},
	types.Oid:       {types.Int4, types.Int8},
	types.Date:      {types.TimestampNS, types.TimestampTZNS},
	types.Timestamp: {types.Date, types.Time, types.TimestampNS, types.TimestampTZNS},
	types.TimestampTZ: {types.Date, types.Time, types.TimeTZ, types.Timestamp,
		types.TimestampNS, types.TimestampTZNS},
	types.TimestampNS:   {types.Date, types.Time},
	types.TimestampTZNS: {types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampNS},
	types.Interval:      {types.Time},
	types.TimeTZ:        {types.Time},
	types.JSON:          {types.JSONB, types.Struct, types.Map},
	types.JSONB:         {types.JSON, types.Struct, types.Map},
	types.Struct:        {types.JSON, types.JSONB},
	types.Map:           {types.JSON, types.JSONB},
	types.Text:          {types.Char},
	types.Varchar:       {types.Char},
	types.Bpchar:        {types.Char},
}

// explicitTo lists the casts that must be written out, those through text aside.
var explicitTo = map[types.Kind][]types.Kind{
	types.Int4: {types.Bool, types.Char},
	types.Bool: {types.Int4},
	types.Char: {types.Int4},
	types.JSONB: {types.Bool, types.Numeric, types.Int2, types.Int4, types.Int8, types.Float4,
		types.Float8},
}

func isReg(k types.Kind) bool {
	switch k {
	case types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return true
	}
	return false
}

// isStringTarget tells the types that everything can be assigned to as text. "char" is not of
// the string category: it has only the casts that pg_cast lists.
func isStringTarget(k types.Kind) bool {
	return k == types.Text || k == types.Varchar || k == types.Bpchar || k == types.Name
}

// castContext is the least context in which from may become to; ok is false when there is no
// such cast.
func castContext(from, to types.Type) (ctx plan.CastContext, ok bool) {
	if to.Form() == types.FormNone && to.Kind != types.Void || from.Kind == types.Void && !isStringTarget(to.Kind) {
		return 0, false
	}
	if from.Kind == types.Unknown {
		return plan.Implicit, true
	}
	switch {
	case from.Kind == types.Array && to.Kind == types.Array:
		return castContext(from.Elem(), to.Elem())
	case from.Kind == types.Map && to.Kind == types.Map:
		k, ok1 := castContext(from.Key(), to.Key())
		v, ok2 := castContext(from.Elem(), to.Elem())
		return max(k, v), ok1 && ok2
	case from.Kind == types.Struct && to.Kind == types.Struct:
		return structCastContext(from, to)
	case from.Kind == types.Int2Vector && to.Kind == types.Array && to.Elem().Kind == types.Int2,
		from.Kind == types.OidVector && to.Kind == types.Array && to.Elem().Kind == types.Oid:
		return plan.Implicit, true
	case (from.Kind == types.Int2Vector || from.Kind == types.OidVector) && to.Kind == types.Array:
		// Both are arrays of one dimension, and cast to others as their elements do.
		return castContext(vec.ListChild(from), to.Elem())
	case from.Kind == to.Kind:
		return plan.Implicit, true
	case from.Kind == types.Variant && to.Kind != types.JSONB:
		return castContext(types.T(types.JSONB), to)
	case to.Kind == types.Variant && from.Kind != types.JSONB:
		if variantScalar(from.Kind) {
			return plan.Explicit, true
		}
		return castContext(from, types.T(types.JSONB))
	}
	for _, k := range implicitTo[from.Kind] {
		if k == to.Kind {
			return plan.Implicit, true
		}
	}
	for _, k := range assignmentTo[from.Kind] {
		if k == to.Kind {
			return plan.Assignment, true
		}
	}
	switch {
	case isReg(from.Kind) && (to.Kind == types.Int4 || to.Kind == types.Int8):
		return plan.Assignment, true
	case isStringTarget(to.Kind):
		return plan.Assignment, true
	}
	for _, k := range explicitTo[from.Kind] {
		if k == to.Kind {
			return plan.Explicit, true
		}
	}
	return plan.Explicit, isStringTarget(from.Kind)
}

// structCastContext: member by member, whatever the names; a row has as many values as the
// type that it becomes has members.
func structCastContext(from, to types.Type) (plan.CastContext, bool) {
	f, t := from.Fields(), to.Fields()
	if len(f) != len(t) {
		return 0, false
	}
	ctx := plan.Implicit
	for i := range f {
		c, ok := castContext(f[i].Type, t[i].Type)
		if !ok {
			return 0, false
		}
		ctx = max(ctx, c)
	}
	return ctx, true
}

// CanCast tells whether from may become to in the given context (pg_cast and the casts
// through text).
func CanCast(from, to types.Type, ctx plan.CastContext) bool {
	need, ok := castContext(from, to)
	return ok && need <= ctx
}

// LookupCast finds the function that turns values of from into values of to, parameters such
// as length and precision included; ok is false when ctx does not allow it. Not asked for
// types whose values are the same in memory, but works for them too.
func LookupCast(from, to types.Type, ctx plan.CastContext) (CastFunc, bool) {
	if !CanCast(from, to, ctx) {
		return nil, false
	}
	return castFunc(from, to, ctx), true
}

// castFunc picks the function for a cast that exists. What types.Parse reads has the type's
// precision already.
func castFunc(from, to types.Type, ctx plan.CastContext) CastFunc {
	if p, ok := to.SecondDigits(); ok {
		return rounded(castFunc(from, to.Bare(), ctx), to, p)
	}
	switch {
	case from.Kind == types.Variant && to.Kind == types.Variant:
		return castSame(from, to)
	case from.Kind == types.Variant:
		return castFromVariant(to, ctx)
	case to.Kind == types.Variant:
		return castToVariant(from, ctx)
	case from.Kind == types.Unknown:
		return castFromText(from, to)
	case to.Kind == types.Varchar || to.Kind == types.Bpchar || to.Kind == types.Text ||
		to.Kind == types.Name || to.Kind == types.Char:
		return castToString(from, to, ctx)
	case from.IsString():
		if from.Kind == types.Char && to.Kind == types.Int4 {
			return castCharToInt
		}
		return castFromText(from, to)
	case from.Kind == types.Array && to.Kind == types.Array, from.Kind == types.Map && to.Kind == types.Map,
		from.Kind == types.Int2Vector, from.Kind == types.OidVector:
		return castList(vec.ListChild(from), vec.ListChild(to), ctx)
	case from.Kind == types.Struct && to.Kind == types.Struct:
		return castStruct(from, to, ctx)
	case from.Kind == types.JSON || from.Kind == types.JSONB || to.Kind == types.JSON || to.Kind == types.JSONB:
		return castJSON(from, to)
	case to.Kind == types.Numeric:
		return castToNumeric(from, to)
	case isNumberLike(from) && isNumberLike(to):
		return castNumber(from, to)
	}
	if f := castDatetime(from.Kind, to.Kind); f != nil {
		return f
	}
	return castSame(from, to)
}

func isNumberLike(t types.Type) bool {
	return t.IsNumber() || t.Kind == types.Oid || t.Kind == types.Bool || isReg(t.Kind)
}

// castSame copies: the values of both types are the same, or a bytea must have a length.
func castSame(from, to types.Type) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return PutDatums(out, sel, rows, func(i int) (types.Datum, error) {
			d := in.Datum(i)
			if to.Kind == types.Bytea && to.Prec > 0 && len(d.Str()) != int(to.Prec) {
				return types.Parse(types.Format(d, types.T(types.Bytea), nil), to, nil)
			}
			return d, nil
		})
	}
}

// CastDatum casts one value.
func CastDatum(c *Ctx, d types.Datum, from, to types.Type, ctx plan.CastContext) (types.Datum, error) {
	if d.IsNull() {
		return types.Null, nil
	}
	f, ok := LookupCast(from, to, ctx)
	if !ok {
		return types.Null, errCannotCast(from, to)
	}
	in, out := vec.ConstOf(from, d), &vec.Vector{Type: to}
	in.Enc = vec.Flat
	if err := f(c, in, nil, 1, out); err != nil {
		return types.Null, err
	}
	return out.Datum(0), nil
}
