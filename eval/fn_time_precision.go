package eval

import "github.com/lhsql/lhsql/types"

// This file rounds times to the precision of timestamp(p) and its kin. The types do not carry
// it, so bind calls these functions, which PostgreSQL has under the types' own names.

func init() {
	with := func(t types.Type) []types.Type { return []types.Type{t, tInt4} }
	whole := func(f func(v, unit int64) int64) Row {
		return func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewInt(f(a[0].Int(), precisionUnit(a[1].Int()))), nil
		}
	}
	instant := whole(func(v, unit int64) int64 {
		if v == types.TimestampInfinity || v == types.TimestampNegInfinity {
			return v
		}
		// Halves go away from 2000-01-01, PostgreSQL's epoch.
		const epoch = 946684800_000_000
		return epoch + roundTo(v-epoch, unit)
	})
	Register(
		imm("timestamp", with(tTimestamp), tTimestamp, instant),
		imm("timestamptz", with(tTimestampTZ), tTimestampTZ, instant),
		imm("time", with(types.T(types.Time)), types.T(types.Time), whole(roundTo)),
		imm("timetz", with(types.T(types.TimeTZ)), types.T(types.TimeTZ), Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			w := a[0].W128()
			w.Lo = uint64(roundTo(int64(w.Lo), precisionUnit(a[1].Int())))
			return types.NewW128(w), nil
		})),
		imm("interval", with(types.T(types.Interval)), types.T(types.Interval), Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			iv := types.IntervalOf(a[0].W128())
			iv.Micros = roundTo(iv.Micros, precisionUnit(a[1].Int()))
			return types.NewW128(iv.W128()), nil
		})),
	)
}

// precisionUnit is the microseconds of one unit at p digits after the second.
func precisionUnit(p int64) int64 {
	return types.Pow10Int64(int(6 - min(max(p, 0), 6)))
}

// roundTo rounds to a multiple of unit, halves away from zero.
func roundTo(v, unit int64) int64 {
	half := unit / 2
	if v >= 0 {
		return (v + half) / unit * unit
	}
	return -((-v + half) / unit * unit)
}
