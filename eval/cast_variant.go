package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// variantScalar tells the types whose values a variant has as such, and JSON has not, or not all.
func variantScalar(k types.Kind) bool {
	switch k {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric,
		types.Date, types.Time, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS,
		types.Bytea, types.UUID:
		return true
	}
	return false
}

func registerCastVariant() {
	Register(Immutable("variant_typeof", Sig(types.Variant), TText, Fn1(types.VariantType)))
}

// castFromVariant casts as the jsonb that the variant shows as.
func castFromVariant(to types.Type, ctx plan.CastContext) CastFunc {
	jsonb := types.T(types.JSONB)
	asJSON := func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return PutDatums(out, sel, rows, live(c, func(i int) (types.Datum, error) {
			return types.NewStr(types.VariantJSON(string(in.Bytes(i)))), nil
		}))
	}
	if to.Kind == types.JSONB {
		return asJSON
	}
	return through(asJSON, jsonb, castFunc(jsonb, to, ctx))
}

// castToVariant makes variants: of a type that variants have as such, else of its jsonb.
func castToVariant(from types.Type, ctx plan.CastContext) CastFunc {
	if variantScalar(from.Kind) {
		return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			return PutDatums(out, sel, rows, func(i int) (types.Datum, error) {
				s, err := types.VariantOf(in.Datum(i), from)
				return types.NewStr(s), err
			})
		}
	}
	of := func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		o := SessionText(c)
		return PutDatums(out, sel, rows, live(c, func(i int) (types.Datum, error) { return types.Parse(string(in.Bytes(i)), out.Type, o) }))
	}
	if from.IsString() || from.Kind == types.JSONB || from.Kind == types.JSON {
		return of
	}
	jsonb := types.T(types.JSONB)
	return through(castFunc(from, jsonb, ctx), jsonb, of)
}

// through casts in two steps.
func through(first CastFunc, mid types.Type, second CastFunc) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		v := &vec.Vector{Type: mid}
		if err := first(c, in, sel, rows, v); err != nil {
			return err
		}
		return second(c, v, sel, rows, out)
	}
}
