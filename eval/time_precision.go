package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// This file rounds times to the precision of timestamp(p) and its kin: as functions, which
// PostgreSQL has under the types' own names, and behind casts to such types.

func registerTimePrecision() {
	round := func(t types.Type) Func {
		return Immutable(t.PGName(), []types.Type{t, TInt4}, t, Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			return types.RoundSeconds(a[0], t.WithSecondDigits(int(max(a[1].Int(), 0)))), nil
		}))
	}
	Register(round(TTimestamp), round(TTimestampTZ), round(types.T(types.Time)), round(types.T(types.TimeTZ)), round(types.T(types.Interval)))
}

// rounded is the cast f with its results rounded to p digits after the second, as t says.
func rounded(f CastFunc, t types.Type, p int) CastFunc {
	if p >= 6 {
		return f
	}
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		if err := f(c, in, sel, rows, out); err != nil {
			return err
		}
		return EachRow(sel, rows, func(i int) error {
			if t.Form() == types.FormI64 {
				out.I64[i] = types.RoundSeconds(types.NewInt(out.I64[i]), t).Int()
			} else {
				out.W128[i] = types.RoundSeconds(types.NewW128(out.W128[i]), t).W128()
			}
			return nil
		})
	}
}
