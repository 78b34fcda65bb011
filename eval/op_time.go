package eval

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func init() {
	interval := func(f func(a, b types.IntervalValue) (types.IntervalValue, error)) Kernel { return Try2(f) }
	Register(
		op("+", sig(types.Date, types.Int4), tDate, Try2(datePlus)),
		op("+", sig(types.Int4, types.Date), tDate, Try2(func(n, d int64) (int64, error) { return datePlus(d, n) })),
		op("-", sig(types.Date, types.Int4), tDate, Try2(func(d, n int64) (int64, error) { return datePlus(d, -n) })),
		op("-", sig(types.Date, types.Date), tInt4, Try2(dateMinus)),

		op("+", sig(types.Date, types.Interval), tTimestamp, Try2(dateInterval)),
		op("+", sig(types.Interval, types.Date), tTimestamp, Try2(func(v types.IntervalValue, d int64) (int64, error) {
			return dateInterval(d, v)
		})),
		op("-", sig(types.Date, types.Interval), tTimestamp, Try2(func(d int64, v types.IntervalValue) (int64, error) {
			return lessInterval(d, v, dateInterval)
		})),
		op("+", sig(types.Date, types.Time), tTimestamp, Try2(dateTime)),
		op("+", sig(types.Time, types.Date), tTimestamp, Try2(func(t, d int64) (int64, error) { return dateTime(d, t) })),
		op("+", sig(types.Date, types.TimeTZ), tTimestampTZ, Try2(dateTimeTZ)),
		op("+", sig(types.TimeTZ, types.Date), tTimestampTZ, Try2(func(t types.Int128, d int64) (int64, error) {
			return dateTimeTZ(d, t)
		})),

		op("+", sig(types.Timestamp, types.Interval), tTimestamp, Try2(types.AddInterval)),
		op("+", sig(types.Interval, types.Timestamp), tTimestamp, Try2(func(v types.IntervalValue, t int64) (int64, error) {
			return types.AddInterval(t, v)
		})),
		op("-", sig(types.Timestamp, types.Interval), tTimestamp, Try2(func(t int64, v types.IntervalValue) (int64, error) {
			return lessInterval(t, v, types.AddInterval)
		})),
		op("-", sig(types.Timestamp, types.Timestamp), tInterval, Try2(types.SubTimestamps)),

		op("+", sig(types.TimestampTZ, types.Interval), tTimestampTZ, Ask2(tzInterval)).stable(),
		op("+", sig(types.Interval, types.TimestampTZ), tTimestampTZ, Ask2(func(c *Ctx, v types.IntervalValue, t int64) (int64, error) {
			return tzInterval(c, t, v)
		})).stable(),
		op("-", sig(types.TimestampTZ, types.Interval), tTimestampTZ, Ask2(tzLessInterval)).stable(),
		op("-", sig(types.TimestampTZ, types.TimestampTZ), tInterval, Try2(types.SubTimestamps)),

		op("+", sig(types.TimestampNS, types.Interval), tTimestampNS, Ask2(nanosInterval(plainInterval))),
		op("-", sig(types.TimestampNS, types.Interval), tTimestampNS, Ask2(nanosInterval(plainLess))),
		op("-", sig(types.TimestampNS, types.TimestampNS), tInterval, Try2(nanosMinus)),
		op("+", sig(types.TimestampTZNS, types.Interval), tTSTZNS, Ask2(nanosInterval(tzInterval))).stable(),
		op("-", sig(types.TimestampTZNS, types.Interval), tTSTZNS, Ask2(nanosInterval(tzLessInterval))).stable(),
		op("-", sig(types.TimestampTZNS, types.TimestampTZNS), tInterval, Try2(nanosMinus)),

		op("+", sig(types.Time, types.Interval), tTime, Fn2(timeInterval)).total(),
		op("+", sig(types.Interval, types.Time), tTime, Fn2(func(v types.IntervalValue, t int64) int64 { return timeInterval(t, v) })).total(),
		op("-", sig(types.Time, types.Interval), tTime, Fn2(func(t int64, v types.IntervalValue) int64 {
			return dayTime(t - v.Micros%types.MicrosPerDay)
		})).total(),
		op("-", sig(types.Time, types.Time), tInterval, Fn2(func(a, b int64) types.IntervalValue {
			return types.IntervalValue{Micros: a - b}
		})).total(),
		op("+", sig(types.TimeTZ, types.Interval), tTimeTZ, Fn2(func(t types.Int128, v types.IntervalValue) types.Int128 {
			return types.Int128{Lo: uint64(timeInterval(int64(t.Lo), v)), Hi: t.Hi}
		})).total(),
		op("+", sig(types.Interval, types.TimeTZ), tTimeTZ, Fn2(func(v types.IntervalValue, t types.Int128) types.Int128 {
			return types.Int128{Lo: uint64(timeInterval(int64(t.Lo), v)), Hi: t.Hi}
		})).total(),
		op("-", sig(types.TimeTZ, types.Interval), tTimeTZ, Fn2(func(t types.Int128, v types.IntervalValue) types.Int128 {
			return types.Int128{Lo: uint64(dayTime(int64(t.Lo) - v.Micros%types.MicrosPerDay)), Hi: t.Hi}
		})).total(),

		op("+", sig(types.Interval, types.Interval), tInterval, interval(types.IntervalValue.Add)),
		op("-", sig(types.Interval, types.Interval), tInterval, interval(types.IntervalValue.Sub)),
		op("-", sig(types.Interval), tInterval, Try1(types.IntervalValue.Neg)),
		op("*", sig(types.Interval, types.Float8), tInterval, Try2(types.IntervalValue.Mul)),
		op("*", sig(types.Float8, types.Interval), tInterval, Try2(func(f float64, v types.IntervalValue) (types.IntervalValue, error) {
			return v.Mul(f)
		})),
		op("/", sig(types.Interval, types.Float8), tInterval, Try2(types.IntervalValue.Div)),
	)
}

func errDateRange() error { return sqlerr.New(sqlerr.DatetimeOverflow, "date out of range") }

func datePlus(d, n int64) (int64, error) {
	if isInfinite(types.Date, d) {
		return d, nil
	}
	if r := d + n; types.DateInRange(r) {
		return r, nil
	}
	return 0, errDateRange()
}

func dateMinus(a, b int64) (int64, error) {
	if isInfinite(types.Date, a) || isInfinite(types.Date, b) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "cannot subtract infinite dates")
	}
	return a - b, nil
}

// dateStart is a date's first microsecond.
func dateStart(d int64) (int64, error) {
	if isInfinite(types.Date, d) {
		if d > 0 {
			return types.TimestampInfinity, nil
		}
		return types.TimestampNegInfinity, nil
	}
	if d < 1<<27 && d > -1<<27 {
		if m := d * types.MicrosPerDay; types.TimestampInRange(m) {
			return m, nil
		}
	}
	return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range for timestamp")
}

func dateInterval(d int64, v types.IntervalValue) (int64, error) {
	m, err := dateStart(d)
	if err != nil {
		return 0, err
	}
	return types.AddInterval(m, v)
}

// lessInterval is t - v as t + (-v), member by member.
func lessInterval(t int64, v types.IntervalValue, plus func(int64, types.IntervalValue) (int64, error)) (int64, error) {
	n, err := v.Neg()
	if err != nil {
		return 0, err
	}
	return plus(t, n)
}

func dateTime(d, t int64) (int64, error) {
	m, err := dateStart(d)
	if err != nil || isInfinite(types.Timestamp, m) {
		return m, err
	}
	if m += t; types.TimestampInRange(m) {
		return m, nil
	}
	return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
}

func dateTimeTZ(d int64, t types.Int128) (int64, error) {
	return dateTime(d, int64(t.Lo)+t.Hi*types.MicrosPerSecond)
}

func tzInterval(c *Ctx, t int64, v types.IntervalValue) (int64, error) {
	return types.AddIntervalTZ(t, v, c.Zone)
}

func tzLessInterval(c *Ctx, t int64, v types.IntervalValue) (int64, error) {
	n, err := v.Neg()
	if err != nil {
		return 0, err
	}
	return types.AddIntervalTZ(t, n, c.Zone)
}

func plainInterval(_ *Ctx, t int64, v types.IntervalValue) (int64, error) {
	return types.AddInterval(t, v)
}

func plainLess(_ *Ctx, t int64, v types.IntervalValue) (int64, error) {
	return lessInterval(t, v, types.AddInterval)
}

// nanosInterval lifts timestamp ± interval to nanoseconds: an interval has none of its own.
func nanosInterval(f func(*Ctx, int64, types.IntervalValue) (int64, error)) func(*Ctx, int64, types.IntervalValue) (int64, error) {
	return func(c *Ctx, t int64, v types.IntervalValue) (int64, error) {
		if isInfinite(types.TimestampNS, t) {
			return t, nil
		}
		m := types.FloorDiv(t, 1000)
		rest := t - m*1000
		r, err := f(c, m, v)
		if err != nil {
			return 0, err
		}
		n, ok := types.MicrosToNanos(r)
		if !ok {
			return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
		}
		return n + rest, nil
	}
}

// nanosMinus is a - b in whole microseconds.
func nanosMinus(a, b int64) (types.IntervalValue, error) {
	if isInfinite(types.TimestampNS, a) || isInfinite(types.TimestampNS, b) {
		return types.SubTimestamps(a, b)
	}
	// The difference of nanoseconds may overflow; that of microseconds cannot.
	am, bm := types.FloorDiv(a, 1000), types.FloorDiv(b, 1000)
	d := am - bm
	if a-am*1000 < b-bm*1000 && d > 0 {
		d--
	} else if a-am*1000 > b-bm*1000 && d < 0 {
		d++
	}
	return types.IntervalValue{Micros: d}.JustifyHours()
}

func dayTime(m int64) int64 {
	if m %= types.MicrosPerDay; m < 0 {
		m += types.MicrosPerDay
	}
	return m
}

// timeInterval goes around the clock; months and days do not count.
func timeInterval(t int64, v types.IntervalValue) int64 {
	return dayTime(t + v.Micros%types.MicrosPerDay)
}
