package eval

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerOpTime() {
	interval := func(f func(a, b types.IntervalValue) (types.IntervalValue, error)) Kernel { return Try2(f) }
	Register(
		Op("+", Sig(types.Date, types.Int4), TDate, Try2(datePlus)),
		Op("+", Sig(types.Int4, types.Date), TDate, Try2(func(n, d int64) (int64, error) { return datePlus(d, n) })),
		Op("-", Sig(types.Date, types.Int4), TDate, Try2(func(d, n int64) (int64, error) { return datePlus(d, -n) })),
		Op("-", Sig(types.Date, types.Date), TInt4, Try2(dateMinus)),

		Op("+", Sig(types.Date, types.Interval), TTimestamp, Try2(dateInterval)),
		Op("+", Sig(types.Interval, types.Date), TTimestamp, Try2(func(v types.IntervalValue, d int64) (int64, error) {
			return dateInterval(d, v)
		})),
		Op("-", Sig(types.Date, types.Interval), TTimestamp, Try2(func(d int64, v types.IntervalValue) (int64, error) {
			return lessInterval(d, v, dateInterval)
		})),
		Op("+", Sig(types.Date, types.Time), TTimestamp, Try2(DateTime)),
		Op("+", Sig(types.Time, types.Date), TTimestamp, Try2(func(t, d int64) (int64, error) { return DateTime(d, t) })),
		Op("+", Sig(types.Date, types.TimeTZ), TTimestampTZ, Try2(dateTimeTZ)),
		Op("+", Sig(types.TimeTZ, types.Date), TTimestampTZ, Try2(func(t types.Int128, d int64) (int64, error) {
			return dateTimeTZ(d, t)
		})),

		Op("+", Sig(types.Timestamp, types.Interval), TTimestamp, Try2(types.AddInterval)),
		Op("+", Sig(types.Interval, types.Timestamp), TTimestamp, Try2(func(v types.IntervalValue, t int64) (int64, error) {
			return types.AddInterval(t, v)
		})),
		Op("-", Sig(types.Timestamp, types.Interval), TTimestamp, Try2(func(t int64, v types.IntervalValue) (int64, error) {
			return lessInterval(t, v, types.AddInterval)
		})),
		Op("-", Sig(types.Timestamp, types.Timestamp), TInterval, Try2(types.SubTimestamps)),

		Op("+", Sig(types.TimestampTZ, types.Interval), TTimestampTZ, Ask2(tzInterval)).stable(),
		Op("+", Sig(types.Interval, types.TimestampTZ), TTimestampTZ, Ask2(func(c *Ctx, v types.IntervalValue, t int64) (int64, error) {
			return tzInterval(c, t, v)
		})).stable(),
		Op("-", Sig(types.TimestampTZ, types.Interval), TTimestampTZ, Ask2(tzLessInterval)).stable(),
		Op("-", Sig(types.TimestampTZ, types.TimestampTZ), TInterval, Try2(types.SubTimestamps)),

		Op("+", Sig(types.TimestampNS, types.Interval), TTimestampNS, Ask2(nanosInterval(plainInterval))),
		Op("-", Sig(types.TimestampNS, types.Interval), TTimestampNS, Ask2(nanosInterval(plainLess))),
		Op("-", Sig(types.TimestampNS, types.TimestampNS), TInterval, Try2(nanosMinus)),
		Op("+", Sig(types.TimestampTZNS, types.Interval), TTSTZNS, Ask2(nanosInterval(tzInterval))).stable(),
		Op("-", Sig(types.TimestampTZNS, types.Interval), TTSTZNS, Ask2(nanosInterval(tzLessInterval))).stable(),
		Op("-", Sig(types.TimestampTZNS, types.TimestampTZNS), TInterval, Try2(nanosMinus)),

		Op("+", Sig(types.Time, types.Interval), TTime, Fn2(timeInterval)).NeverFails(),
		Op("+", Sig(types.Interval, types.Time), TTime, Fn2(func(v types.IntervalValue, t int64) int64 { return timeInterval(t, v) })).NeverFails(),
		Op("-", Sig(types.Time, types.Interval), TTime, Fn2(func(t int64, v types.IntervalValue) int64 {
			return dayTime(t - v.Micros%types.MicrosPerDay)
		})).NeverFails(),
		Op("-", Sig(types.Time, types.Time), TInterval, Fn2(func(a, b int64) types.IntervalValue {
			return types.IntervalValue{Micros: a - b}
		})).NeverFails(),
		Op("+", Sig(types.TimeTZ, types.Interval), TTimeTZ, Fn2(func(t types.Int128, v types.IntervalValue) types.Int128 {
			return types.Int128{Lo: uint64(timeInterval(int64(t.Lo), v)), Hi: t.Hi}
		})).NeverFails(),
		Op("+", Sig(types.Interval, types.TimeTZ), TTimeTZ, Fn2(func(v types.IntervalValue, t types.Int128) types.Int128 {
			return types.Int128{Lo: uint64(timeInterval(int64(t.Lo), v)), Hi: t.Hi}
		})).NeverFails(),
		Op("-", Sig(types.TimeTZ, types.Interval), TTimeTZ, Fn2(func(t types.Int128, v types.IntervalValue) types.Int128 {
			return types.Int128{Lo: uint64(dayTime(int64(t.Lo) - v.Micros%types.MicrosPerDay)), Hi: t.Hi}
		})).NeverFails(),

		Op("+", Sig(types.Interval, types.Interval), TInterval, interval(types.IntervalValue.Add)),
		Op("-", Sig(types.Interval, types.Interval), TInterval, interval(types.IntervalValue.Sub)),
		Op("-", Sig(types.Interval), TInterval, Try1(types.IntervalValue.Neg)),
		Op("*", Sig(types.Interval, types.Float8), TInterval, Try2(types.IntervalValue.Mul)),
		Op("*", Sig(types.Float8, types.Interval), TInterval, Try2(func(f float64, v types.IntervalValue) (types.IntervalValue, error) {
			return v.Mul(f)
		})),
		Op("/", Sig(types.Interval, types.Float8), TInterval, Try2(types.IntervalValue.Div)),
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

// DateTime is date + time: days since the epoch and microseconds of a day as a timestamp; 22008 beyond its
// range.
func DateTime(d, t int64) (int64, error) {
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
	return DateTime(d, int64(t.Lo)+t.Hi*types.MicrosPerSecond)
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
