package pgfunc

import (
	"fmt"
	"math"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Dates and times: PostgreSQL's chapter 9.9, except extract, date_trunc and to_char.
func registerDatetime() {
	const date, tm, tmz, ts, tz, iv, text = types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval, types.Text
	const i4, f8 = types.Int4, types.Float8
	now := eval.Ask0(func(c *eval.Ctx) (int64, error) { return eval.TransactionTime(c), nil })
	eval.Register(
		eval.Stable("now", nil, eval.TTimestampTZ, now),
		eval.Stable("transaction_timestamp", nil, eval.TTimestampTZ, now),
		eval.Stable("current_timestamp", nil, eval.TTimestampTZ, now),
		eval.Stable("current_timestamp", eval.Sig(i4), eval.TTimestampTZ, eval.Ask1(func(c *eval.Ctx, n int64) (int64, error) { return toPrecision(eval.TransactionTime(c), n) })),
		eval.Stable("statement_timestamp", nil, eval.TTimestampTZ, eval.Ask0(func(c *eval.Ctx) (int64, error) {
			if c == nil || c.StmtStart.IsZero() {
				return eval.TransactionTime(c), nil
			}
			return types.TimestampFromTime(c.StmtStart), nil
		})),
		eval.Volatile("clock_timestamp", nil, eval.TTimestampTZ, eval.Ask0(func(*eval.Ctx) (int64, error) { return time.Now().UnixMicro(), nil })),
		eval.Volatile("timeofday", nil, eval.TText, eval.Ask0(func(c *eval.Ctx) (string, error) {
			return time.Now().In(eval.ZoneOf(c)).Format("Mon Jan 02 15:04:05.000000 2006 MST"), nil
		})),
		eval.Stable("localtimestamp", nil, eval.TTimestamp, eval.Ask0(func(c *eval.Ctx) (int64, error) { return eval.LocalNow(c), nil })),
		eval.Stable("localtimestamp", eval.Sig(i4), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, n int64) (int64, error) { return toPrecision(eval.LocalNow(c), n) })),
		eval.Stable("current_date", nil, eval.TDate, eval.Ask0(func(c *eval.Ctx) (int64, error) {
			days, _ := types.SplitTimestamp(eval.LocalNow(c))
			return days, nil
		})),
		eval.Stable("localtime", nil, eval.TTime, eval.Ask0(func(c *eval.Ctx) (int64, error) { return localTime(c, 6) })),
		eval.Stable("localtime", eval.Sig(i4), eval.TTime, eval.Ask1(localTime)),
		eval.Stable("current_time", nil, eval.TTimeTZ, eval.Ask0(func(c *eval.Ctx) (types.Int128, error) { return currentTime(c, 6) })),
		eval.Stable("current_time", eval.Sig(i4), eval.TTimeTZ, eval.Ask1(currentTime)),

		eval.Immutable("age", eval.Sig(ts, ts), eval.TInterval, eval.Try2(types.Age)),
		eval.Stable("age", eval.Sig(tz, tz), eval.TInterval, eval.Ask2(func(c *eval.Ctx, a, b int64) (types.IntervalValue, error) {
			return types.Age(types.ToLocal(eval.ZoneOf(c), a), types.ToLocal(eval.ZoneOf(c), b))
		})),
		eval.Stable("age", eval.Sig(ts), eval.TInterval, eval.Ask1(func(c *eval.Ctx, b int64) (types.IntervalValue, error) { return types.Age(midnight(c), b) })),
		eval.Stable("age", eval.Sig(tz), eval.TInterval, eval.Ask1(func(c *eval.Ctx, b int64) (types.IntervalValue, error) {
			return types.Age(midnight(c), types.ToLocal(eval.ZoneOf(c), b))
		})),
		eval.Immutable("isfinite", eval.Sig(date), eval.TBool, eval.Fn1(func(d int64) bool { return d != types.DateInfinity && d != types.DateNegInfinity })).NeverFails(),
		eval.Immutable("isfinite", eval.Sig(ts), eval.TBool, eval.Fn1(isFinite)).NeverFails(),
		eval.Immutable("isfinite", eval.Sig(tz), eval.TBool, eval.Fn1(isFinite)).NeverFails(),
		eval.Immutable("isfinite", eval.Sig(iv), eval.TBool, eval.Fn1(func(types.IntervalValue) bool { return true })).NeverFails(),
		eval.Immutable("justify_days", eval.Sig(iv), eval.TInterval, eval.Try1(types.IntervalValue.JustifyDays)),
		eval.Immutable("justify_hours", eval.Sig(iv), eval.TInterval, eval.Try1(types.IntervalValue.JustifyHours)),
		eval.Immutable("justify_interval", eval.Sig(iv), eval.TInterval, eval.Try1(types.IntervalValue.JustifyInterval)),

		eval.Immutable("make_date", eval.Sig(i4, i4, i4), eval.TDate, eval.Try3(makeDate)),
		eval.Immutable("make_time", eval.Sig(i4, i4, f8), eval.TTime, eval.Try3(makeTime)),
		eval.Immutable("make_timestamp", eval.Sig(i4, i4, i4, i4, i4, f8), eval.TTimestamp, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			v, err := makeTimestamp(a)
			return types.NewInt(v), err
		})),
		eval.Stable("make_timestamptz", eval.Sig(i4, i4, i4, i4, i4, f8), eval.TTimestampTZ, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			v, err := makeTimestamp(a)
			return types.NewInt(types.ToUTC(eval.ZoneOf(c), v)), err
		})),
		eval.Stable("make_timestamptz", eval.Sig(i4, i4, i4, i4, i4, f8, text), eval.TTimestampTZ, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			v, err := makeTimestamp(a[:6])
			if err != nil {
				return types.Null, err
			}
			loc, err := types.ArgumentZone(a[6].Str())
			if err != nil {
				return types.Null, err
			}
			return types.NewInt(types.ToUTC(loc, v)), nil
		})),
		eval.Immutable("to_timestamp", eval.Sig(f8), eval.TTimestampTZ, eval.Try1(toTimestamp)),

		eval.Immutable("timezone", eval.Sig(text, ts), eval.TTimestampTZ, eval.Try2(func(zone string, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return 0, err
			}
			return inRange(types.ToUTC(loc, v))
		})),
		eval.Immutable("timezone", eval.Sig(text, tz), eval.TTimestamp, eval.Try2(func(zone string, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return 0, err
			}
			return inRange(types.ToLocal(loc, v))
		})),
		eval.Immutable("timezone", eval.Sig(iv, ts), eval.TTimestampTZ, eval.Try2(func(zone types.IntervalValue, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			east, err := zoneInterval(zone)
			if err != nil {
				return 0, err
			}
			return inRange(v - east)
		})),
		eval.Immutable("timezone", eval.Sig(iv, tz), eval.TTimestamp, eval.Try2(func(zone types.IntervalValue, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			east, err := zoneInterval(zone)
			if err != nil {
				return 0, err
			}
			return inRange(v + east)
		})),
		eval.Stable("timezone", eval.Sig(text, tmz), eval.TTimeTZ, eval.Ask2(func(c *eval.Ctx, zone string, v types.Int128) (types.Int128, error) {
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return v, err
			}
			east, _ := types.ZoneOffset(loc, eval.TransactionTime(c))
			return moveTimeTZ(v, int64(east)), nil
		})),
		eval.Immutable("timezone", eval.Sig(iv, tmz), eval.TTimeTZ, eval.Try2(func(zone types.IntervalValue, v types.Int128) (types.Int128, error) {
			east, err := zoneInterval(zone)
			return moveTimeTZ(v, east/1e6), err
		})),
	)
	registerPrefixes("make_interval", 0, eval.Sig(i4, i4, i4, i4, i4, i4, f8), eval.TInterval, eval.Row(makeInterval))
	for _, t := range []types.Type{eval.TTime, eval.TTimeTZ, eval.TTimestamp, eval.TTimestampTZ} {
		eval.Register(eval.Immutable("overlaps", []types.Type{t, t, t, t}, eval.TBool, typed(overlaps)).CalledOnNull())
		if t.Kind != types.TimeTZ {
			for _, args := range [][]types.Type{{t, eval.TInterval, t, eval.TInterval}, {t, t, t, eval.TInterval}, {t, eval.TInterval, t, t}} {
				eval.Register(eval.Stable("overlaps", args, eval.TBool, typed(overlaps)).CalledOnNull())
			}
		}
	}
}

func midnight(c *eval.Ctx) int64 {
	days, _ := types.SplitTimestamp(eval.LocalNow(c))
	return days * types.MicrosPerDay
}

func localTime(c *eval.Ctx, n int64) (int64, error) {
	v, err := toPrecision(eval.LocalNow(c), n)
	_, tod := types.SplitTimestamp(v)
	return tod, err
}

func currentTime(c *eval.Ctx, n int64) (types.Int128, error) {
	tod, err := localTime(c, n)
	east, _ := types.ZoneOffset(eval.ZoneOf(c), eval.TransactionTime(c))
	return types.Int128{Lo: uint64(tod), Hi: int64(-east)}, err
}

// toPrecision rounds to n digits of seconds; more than 6 count as 6.
func toPrecision(micros, n int64) (int64, error) {
	if n < 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "TIMESTAMP(%d) precision must not be negative", n)
	}
	if n >= 6 {
		return micros, nil
	}
	unit := types.Pow10Int64(int(6 - n))
	return types.FloorDiv(micros+unit/2, unit) * unit, nil
}

func isFinite(v int64) bool { return v != types.TimestampInfinity && v != types.TimestampNegInfinity }

func inRange(v int64) (int64, error) {
	if isFinite(v) && !types.TimestampInRange(v) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
	}
	return v, nil
}

// zoneInterval reads a zone given as an interval, in microseconds east of Greenwich.
func zoneInterval(v types.IntervalValue) (int64, error) {
	if v.Months != 0 || v.Days != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval time zone \"%s\" must not include months or days",
			types.AppendInterval(nil, v, nil))
	}
	return v.Micros / 1e6 * 1e6, nil
}

// moveTimeTZ shows a time with zone in another zone.
func moveTimeTZ(v types.Int128, east int64) types.Int128 {
	tod := int64(v.Lo) + (v.Hi+east)*1e6
	_, tod = types.SplitTimestamp(tod)
	return types.Int128{Lo: uint64(tod), Hi: -east}
}

func makeDate(y, m, d int64) (int64, error) {
	year := y
	if y < 0 {
		year = y + 1 // 1 BC is the year 0
	}
	bad := sqlerr.New(sqlerr.DatetimeOverflow, "date field value out of range: %d-%02d-%02d", year, m, d)
	if y == 0 || m < 1 || m > 12 || d < 1 || y == math.MinInt32 || int(d) > types.DaysInMonth(year, int(m)) {
		return 0, bad
	}
	days := types.DaysFromCivil(year, int(m), int(d))
	if !types.DateInRange(days) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range: %d-%02d-%02d", y, m, d)
	}
	return days, nil
}

func makeTime(h, m int64, sec float64) (int64, error) {
	micros := math.RoundToEven(sec * 1e6)
	if h < 0 || h > 24 || m < 0 || m > 59 || math.IsNaN(sec) || sec < 0 || micros > 60e6 ||
		h == 24 && (m > 0 || micros > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "time field value out of range: %d:%02d:%s", h, m, printfG02(sec))
	}
	return (h*60+m)*60e6 + int64(micros), nil
}

// printfG02 is C's %02g.
func printfG02(f float64) string {
	s := fmt.Sprintf("%.6g", f)
	if len(s) == 1 {
		s = "0" + s
	}
	return s
}

func makeTimestamp(a []types.Datum) (int64, error) {
	days, err := makeDate(a[0].Int(), a[1].Int(), a[2].Int())
	if err != nil {
		return 0, err
	}
	tod, err := makeTime(a[3].Int(), a[4].Int(), a[5].Float())
	if err != nil {
		return 0, err
	}
	v := days*types.MicrosPerDay + tod
	if days > math.MaxInt64/types.MicrosPerDay-1 || days < math.MinInt64/types.MicrosPerDay+1 || !types.TimestampInRange(v) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range: %d-%02d-%02d %d:%02d:%s",
			a[0].Int(), a[1].Int(), a[2].Int(), a[3].Int(), a[4].Int(), printfG02(a[5].Float()))
	}
	return v, nil
}

// makeInterval adds years, months, weeks, days, hours, minutes, seconds; missing ones are 0.
func makeInterval(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	at := func(i int) int64 {
		if a[i].IsNull() {
			return 0
		}
		return a[i].Int()
	}
	months := at(0)*12 + at(1)
	days := at(2)*7 + at(3)
	secs := 0.0
	if !a[6].IsNull() {
		secs = a[6].Float()
	}
	micros := math.RoundToEven(secs * 1e6)
	whole := (at(4)*60 + at(5)) * 60e6
	if math.IsNaN(micros) || math.Abs(micros)+math.Abs(float64(whole)) > math.MaxInt64/2 ||
		months != int64(int32(months)) || days != int64(int32(days)) {
		return types.Null, sqlerr.New(sqlerr.DatetimeOverflow, "interval out of range")
	}
	return types.NewW128(types.IntervalValue{Months: int32(months), Days: int32(days), Micros: whole + int64(micros)}.W128()), nil
}

// toTimestamp reads seconds since the epoch.
func toTimestamp(secs float64) (int64, error) {
	switch {
	case math.IsNaN(secs):
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp cannot be NaN")
	case math.IsInf(secs, 1):
		return types.TimestampInfinity, nil
	case math.IsInf(secs, -1):
		return types.TimestampNegInfinity, nil
	}
	bad := func() error {
		return sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range: \"%s\"", types.AppendFloat(nil, secs, 64, 1))
	}
	if math.Abs(secs) > 1e14 {
		return 0, bad()
	}
	// PostgreSQL counts from 2000-01-01, and that is where rounding happens.
	const epoch2000 = 946684800
	v := int64(math.RoundToEven((secs-epoch2000)*1e6)) + epoch2000*1e6
	if !types.TimestampInRange(v) {
		return 0, bad()
	}
	return v, nil
}

// overlaps is (a, b) OVERLAPS (c, d), where b and d are ends or lengths. A NULL end still
// overlaps for certain where the other bounds decide it.
func overlaps(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	ends := make([]types.Datum, 4)
	copy(ends, a)
	for i := 1; i < 4; i += 2 {
		if t[i].Kind != types.Interval || a[i].IsNull() || a[i-1].IsNull() {
			continue
		}
		v := types.IntervalOf(a[i].W128())
		var err error
		start, end := a[i-1].Int(), int64(0)
		switch t[0].Kind {
		case types.Time:
			_, end = types.SplitTimestamp(start + v.Micros)
		case types.TimestampTZ:
			end, err = types.AddIntervalTZ(start, v, eval.ZoneOf(c))
		default:
			end, err = types.AddInterval(start, v)
		}
		if err != nil {
			return types.Null, err
		}
		ends[i] = types.NewInt(end)
	}
	less := func(x, y types.Datum) bool { return types.Compare(x, y, t[0]) < 0 }
	// Each period starts at its earlier bound; a NULL bound is put last.
	order := func(s, e types.Datum) (types.Datum, types.Datum) {
		if s.IsNull() || !e.IsNull() && less(e, s) {
			return e, s
		}
		return s, e
	}
	s1, e1 := order(ends[0], ends[1])
	s2, e2 := order(ends[2], ends[3])
	if s1.IsNull() || s2.IsNull() {
		return types.Null, nil
	}
	within := func(start, end, otherEnd types.Datum) types.Datum {
		switch {
		case end.IsNull():
			return types.Null
		case less(start, end):
			return types.NewBool(true)
		case otherEnd.IsNull():
			return types.Null
		}
		return types.NewBool(false)
	}
	switch {
	case less(s2, s1):
		return within(s1, e2, e1), nil
	case less(s1, s2):
		return within(s2, e1, e2), nil
	}
	if e1.IsNull() || e2.IsNull() {
		return types.Null, nil
	}
	return types.NewBool(true), nil
}
