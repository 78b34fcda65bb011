package eval

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// castDatetime finds the cast between two date, time, timestamp or interval types; nil when it
// is none of these. Everything goes through microseconds of a timestamp or of a day:
//
//	timestamp_ns → timestamp → date | time,   timestamptz → (zone) → timestamp → …
func castDatetime(from, to types.Kind) CastFunc {
	switch {
	case from == types.Interval && to == types.Time:
		return castOne(func(_ *Ctx, w types.Int128) (int64, error) {
			us := types.IntervalOf(w).Micros
			return us - types.FloorDiv(us, types.MicrosPerDay)*types.MicrosPerDay, nil
		})
	case from == types.Time && to == types.Interval:
		return castOne(func(_ *Ctx, us int64) (types.Int128, error) {
			return types.IntervalValue{Micros: us}.W128(), nil
		})
	case from == types.TimeTZ && to == types.Time:
		return castOne(func(_ *Ctx, w types.Int128) (int64, error) { return int64(w.Lo), nil })
	case from == types.Time && to == types.TimeTZ:
		return castOne(func(c *Ctx, us int64) (types.Int128, error) {
			days, _ := types.SplitTimestamp(types.ToLocal(c.Zone, c.Now.UnixMicro()))
			east := types.LocalOffset(c.Zone, days*types.MicrosPerDay+us)
			return types.Int128{Lo: uint64(us), Hi: int64(-east)}, nil
		})
	case from == types.Date && isTimestamp(to):
		return castOne(func(c *Ctx, days int64) (int64, error) { return dateToTimestamp(c, days, to) })
	case isTimestamp(from) && isTimestamp(to):
		return castOne(func(c *Ctx, v int64) (int64, error) {
			us, err := convertZone(c, toMicros(v, from), isZoned(from), isZoned(to))
			if err != nil {
				return 0, err
			}
			if isNanoKind(from) && isNanoKind(to) {
				// The nanoseconds within the microsecond survive.
				r, err := fromMicros(us, to)
				if infinite(us) {
					return r, err
				}
				return r + (v - toMicros(v, from)*1000), err
			}
			return fromMicros(us, to)
		})
	case isTimestamp(from) && to == types.Date:
		return castOne(func(c *Ctx, v int64) (int64, error) {
			switch us := localMicros(c, v, from); us {
			case types.TimestampInfinity:
				return types.DateInfinity, nil
			case types.TimestampNegInfinity:
				return types.DateNegInfinity, nil
			default:
				days, _ := types.SplitTimestamp(us)
				return days, nil
			}
		})
	case isTimestamp(from) && to == types.Time:
		return castTimestampToTime(from)
	case isTimestamp(from) && to == types.TimeTZ:
		return castTimestampToTimeTZ(from)
	}
	return nil
}

// castOne lifts a conversion of single values. Both forms are int64 or Int128.
func castOne[A, R any](f func(c *Ctx, a A) (R, error)) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		get := reader[A](in)
		return put(out, sel, rows, func(i int) (R, error) { return f(c, get(i)) })
	}
}

func isTimestamp(k types.Kind) bool {
	return k == types.Timestamp || k == types.TimestampTZ || isNanoKind(k)
}
func isNanoKind(k types.Kind) bool { return k == types.TimestampNS || k == types.TimestampTZNS }
func isZoned(k types.Kind) bool    { return k == types.TimestampTZ || k == types.TimestampTZNS }
func infinite(us int64) bool {
	return us == types.TimestampInfinity || us == types.TimestampNegInfinity
}

func errTimestampOutOfRange() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
}

func toMicros(v int64, k types.Kind) int64 {
	if isNanoKind(k) {
		return types.NanosToMicros(v)
	}
	return v
}

func fromMicros(us int64, k types.Kind) (int64, error) {
	if !isNanoKind(k) {
		return us, nil
	}
	v, ok := types.MicrosToNanos(us)
	if !ok {
		return 0, errTimestampOutOfRange()
	}
	return v, nil
}

// convertZone turns wall clock time into an instant or back.
func convertZone(c *Ctx, us int64, from, to bool) (int64, error) {
	if from == to || infinite(us) {
		return us, nil
	}
	if from {
		us = types.ToLocal(c.Zone, us)
	} else {
		us = types.ToUTC(c.Zone, us)
	}
	if !types.TimestampInRange(us) {
		return 0, errTimestampOutOfRange()
	}
	return us, nil
}

// localMicros is the wall clock time of a timestamp of kind k.
func localMicros(c *Ctx, v int64, k types.Kind) int64 {
	us := toMicros(v, k)
	if isZoned(k) {
		return types.ToLocal(c.Zone, us)
	}
	return us
}

func dateToTimestamp(c *Ctx, days int64, to types.Kind) (int64, error) {
	switch days {
	case types.DateInfinity:
		return types.TimestampInfinity, nil
	case types.DateNegInfinity:
		return types.TimestampNegInfinity, nil
	}
	w := types.MulInt64(days, types.MicrosPerDay)
	us := w.Int64()
	if !w.IsInt64() || !types.TimestampInRange(us) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range for timestamp")
	}
	us, err := convertZone(c, us, false, isZoned(to))
	if err != nil {
		return 0, err
	}
	return fromMicros(us, to)
}

// castTimestampToTime gives the time of day; an infinite timestamp has none: NULL.
func castTimestampToTime(from types.Kind) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		dst, f := OutI64(out, rows), in.Values()
		return EachRow(sel, rows, func(i int) error {
			us := localMicros(c, f.I64[in.Row(i)], from)
			if infinite(us) {
				NullOut(out, i, rows)
				return nil
			}
			_, dst[i] = types.SplitTimestamp(us)
			return nil
		})
	}
}

func castTimestampToTimeTZ(from types.Kind) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		dst, f := OutW128(out, rows), in.Values()
		return EachRow(sel, rows, func(i int) error {
			us := toMicros(f.I64[in.Row(i)], from)
			if infinite(us) {
				NullOut(out, i, rows)
				return nil
			}
			east := 0
			if isZoned(from) {
				east, _ = types.ZoneOffset(c.Zone, us)
			}
			_, tod := types.SplitTimestamp(us + int64(east)*types.MicrosPerSecond)
			dst[i] = types.Int128{Lo: uint64(tod), Hi: int64(-east)}
			return nil
		})
	}
}
