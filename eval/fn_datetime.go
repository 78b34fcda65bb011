package eval

import (
	"fmt"
	"math"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Dates and times: PostgreSQL's chapter 9.9, except extract, date_trunc and to_char.
func init() {
	const date, tm, tmz, ts, tz, iv, text = types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval, types.Text
	const i4, f8 = types.Int4, types.Float8
	now := Ask0(func(c *Ctx) (int64, error) { return transactionTime(c), nil })
	Register(
		stable("now", nil, tTimestampTZ, now),
		stable("transaction_timestamp", nil, tTimestampTZ, now),
		stable("current_timestamp", nil, tTimestampTZ, now),
		stable("current_timestamp", sig(i4), tTimestampTZ, Ask1(func(c *Ctx, n int64) (int64, error) { return toPrecision(transactionTime(c), n) })),
		stable("statement_timestamp", nil, tTimestampTZ, Ask0(func(c *Ctx) (int64, error) {
			if c == nil || c.StmtStart.IsZero() {
				return transactionTime(c), nil
			}
			return types.TimestampFromTime(c.StmtStart), nil
		})),
		vol("clock_timestamp", nil, tTimestampTZ, Ask0(func(*Ctx) (int64, error) { return time.Now().UnixMicro(), nil })),
		vol("timeofday", nil, tText, Ask0(func(c *Ctx) (string, error) {
			return time.Now().In(zoneOf(c)).Format("Mon Jan 02 15:04:05.000000 2006 MST"), nil
		})),
		stable("localtimestamp", nil, tTimestamp, Ask0(func(c *Ctx) (int64, error) { return localNow(c), nil })),
		stable("localtimestamp", sig(i4), tTimestamp, Ask1(func(c *Ctx, n int64) (int64, error) { return toPrecision(localNow(c), n) })),
		stable("current_date", nil, tDate, Ask0(func(c *Ctx) (int64, error) {
			days, _ := types.SplitTimestamp(localNow(c))
			return days, nil
		})),
		stable("localtime", nil, tTime, Ask0(func(c *Ctx) (int64, error) { return localTime(c, 6) })),
		stable("localtime", sig(i4), tTime, Ask1(localTime)),
		stable("current_time", nil, tTimeTZ, Ask0(func(c *Ctx) (types.Int128, error) { return currentTime(c, 6) })),
		stable("current_time", sig(i4), tTimeTZ, Ask1(currentTime)),

		imm("age", sig(ts, ts), tInterval, Try2(types.Age)),
		stable("age", sig(tz, tz), tInterval, Ask2(func(c *Ctx, a, b int64) (types.IntervalValue, error) {
			return types.Age(types.ToLocal(zoneOf(c), a), types.ToLocal(zoneOf(c), b))
		})),
		stable("age", sig(ts), tInterval, Ask1(func(c *Ctx, b int64) (types.IntervalValue, error) { return types.Age(midnight(c), b) })),
		stable("age", sig(tz), tInterval, Ask1(func(c *Ctx, b int64) (types.IntervalValue, error) {
			return types.Age(midnight(c), types.ToLocal(zoneOf(c), b))
		})),
		imm("isfinite", sig(date), tBool, Fn1(func(d int64) bool { return d != types.DateInfinity && d != types.DateNegInfinity })).total(),
		imm("isfinite", sig(ts), tBool, Fn1(isFinite)).total(),
		imm("isfinite", sig(tz), tBool, Fn1(isFinite)).total(),
		imm("isfinite", sig(iv), tBool, Fn1(func(types.IntervalValue) bool { return true })).total(),
		imm("justify_days", sig(iv), tInterval, Try1(types.IntervalValue.JustifyDays)),
		imm("justify_hours", sig(iv), tInterval, Try1(types.IntervalValue.JustifyHours)),
		imm("justify_interval", sig(iv), tInterval, Try1(types.IntervalValue.JustifyInterval)),

		imm("make_date", sig(i4, i4, i4), tDate, Try3(makeDate)),
		imm("make_time", sig(i4, i4, f8), tTime, Try3(makeTime)),
		imm("make_timestamp", sig(i4, i4, i4, i4, i4, f8), tTimestamp, Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			v, err := makeTimestamp(a)
			return types.NewInt(v), err
		})),
		stable("make_timestamptz", sig(i4, i4, i4, i4, i4, f8), tTimestampTZ, Row(func(c *Ctx, a []types.Datum) (types.Datum, error) {
			v, err := makeTimestamp(a)
			return types.NewInt(types.ToUTC(zoneOf(c), v)), err
		})),
		stable("make_timestamptz", sig(i4, i4, i4, i4, i4, f8, text), tTimestampTZ, Row(func(_ *Ctx, a []types.Datum) (types.Datum, error) {
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
		imm("to_timestamp", sig(f8), tTimestampTZ, Try1(toTimestamp)),

		imm("timezone", sig(text, ts), tTimestampTZ, Try2(func(zone string, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return 0, err
			}
			return inRange(types.ToUTC(loc, v))
		})),
		imm("timezone", sig(text, tz), tTimestamp, Try2(func(zone string, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return 0, err
			}
			return inRange(types.ToLocal(loc, v))
		})),
		imm("timezone", sig(iv, ts), tTimestampTZ, Try2(func(zone types.IntervalValue, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			east, err := zoneInterval(zone)
			if err != nil {
				return 0, err
			}
			return inRange(v - east)
		})),
		imm("timezone", sig(iv, tz), tTimestamp, Try2(func(zone types.IntervalValue, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			east, err := zoneInterval(zone)
			if err != nil {
				return 0, err
			}
			return inRange(v + east)
		})),
		stable("timezone", sig(text, tmz), tTimeTZ, Ask2(func(c *Ctx, zone string, v types.Int128) (types.Int128, error) {
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return v, err
			}
			east, _ := types.ZoneOffset(loc, transactionTime(c))
			return moveTimeTZ(v, int64(east)), nil
		})),
		imm("timezone", sig(iv, tmz), tTimeTZ, Try2(func(zone types.IntervalValue, v types.Int128) (types.Int128, error) {
			east, err := zoneInterval(zone)
			return moveTimeTZ(v, east/1e6), err
		})),
	)
	registerPrefixes("make_interval", 0, sig(i4, i4, i4, i4, i4, i4, f8), tInterval, Row(makeInterval))
	for _, t := range []types.Type{tTime, tTimeTZ, tTimestamp, tTimestampTZ} {
		Register(imm("overlaps", []types.Type{t, t, t, t}, tBool, typed(overlaps)).nonStrict())
		if t.Kind != types.TimeTZ {
			for _, args := range [][]types.Type{{t, tInterval, t, tInterval}, {t, t, t, tInterval}, {t, tInterval, t, t}} {
				Register(stable("overlaps", args, tBool, typed(overlaps)).nonStrict())
			}
		}
	}
}

func midnight(c *Ctx) int64 {
	days, _ := types.SplitTimestamp(localNow(c))
	return days * types.MicrosPerDay
}

func localTime(c *Ctx, n int64) (int64, error) {
	v, err := toPrecision(localNow(c), n)
	_, tod := types.SplitTimestamp(v)
	return tod, err
}

func currentTime(c *Ctx, n int64) (types.Int128, error) {
	tod, err := localTime(c, n)
	east, _ := types.ZoneOffset(zoneOf(c), transactionTime(c))
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
func makeInterval(_ *Ctx, a []types.Datum) (types.Datum, error) {
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
func overlaps(c *Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
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
			end, err = types.AddIntervalTZ(start, v, zoneOf(c))
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
