package pgfunc

import (
	"math"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerDatetrunc() {
	const text, ts, tz, iv = types.Text, types.Timestamp, types.TimestampTZ, types.Interval
	eval.Register(
		eval.Immutable("date_trunc", eval.Sig(text, ts), eval.TTimestamp, truncTimestamps(eval.TTimestamp, eval.Try2(func(name string, v int64) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			u, err := truncUnit(name, eval.TTimestamp)
			if err != nil {
				return 0, err
			}
			return truncLocal(u, v)
		}))),
		eval.Stable("date_trunc", eval.Sig(text, tz), eval.TTimestampTZ, truncTimestamps(eval.TTimestampTZ, eval.Ask2(func(c *eval.Ctx, name string, v int64) (int64, error) {
			return truncZoned(name, v, eval.ZoneOf(c))
		}))),
		eval.Stable("date_trunc", eval.Sig(text, tz, text), eval.TTimestampTZ, eval.Try3(func(name string, v int64, zone string) (int64, error) {
			if !isFinite(v) {
				return v, nil
			}
			loc, _, err := types.LoadZone(zone)
			if err != nil {
				return 0, err
			}
			return truncZoned(name, v, loc)
		})),
		eval.Immutable("date_trunc", eval.Sig(text, iv), eval.TInterval, eval.Try2(truncInterval)),
		eval.Immutable("date_bin", eval.Sig(iv, ts, ts), eval.TTimestamp, eval.Try3(dateBin)),
		eval.Immutable("date_bin", eval.Sig(iv, tz, tz), eval.TTimestampTZ, eval.Try3(dateBin)),
	)
}

func truncUnit(name string, t types.Type) (unit, error) {
	u, ok := units[strings.ToLower(name)]
	if !ok || u == unitEpoch {
		return 0, errUnit(name, t, "recognized")
	}
	if u > unitMillennium {
		return 0, errUnit(name, t, "supported")
	}
	return u, nil
}

// truncLocal rounds a wall clock time down to u.
func truncLocal(u unit, micros int64) (int64, error) {
	days, tod := types.SplitTimestamp(micros)
	switch u {
	case unitMicros:
		return micros, nil
	case unitMillis:
		return days*types.MicrosPerDay + tod - tod%1000, nil
	case unitSecond:
		return days*types.MicrosPerDay + tod - tod%1e6, nil
	case unitMinute:
		return days*types.MicrosPerDay + tod - tod%60e6, nil
	case unitHour:
		return days*types.MicrosPerDay + tod - tod%3600e6, nil
	case unitDay:
	case unitWeek:
		days -= int64((types.Weekday(days) + 6) % 7)
	default:
		y, m, _ := types.CivilFromDays(days)
		y, m = truncYear(u, y, m)
		days = types.DaysFromCivil(y, m, 1)
	}
	r := days * types.MicrosPerDay
	if !types.DateInRange(days) || !types.TimestampInRange(r) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
	}
	return r, nil
}

// truncYear gives the year and month in which u begins. Centuries and millennia begin in the
// years 1, 101, …; years are numbered with a year 0 here.
func truncYear(u unit, y int64, m int) (int64, int) {
	switch u {
	case unitMonth:
		return y, m
	case unitQuarter:
		return y, m - (m-1)%3
	case unitDecade:
		if y > 0 {
			return y / 10 * 10, 1
		}
		return -((8 - (y - 1)) / 10) * 10, 1
	case unitCentury:
		if y > 0 {
			return (y+99)/100*100 - 99, 1
		}
		return -((99-(y-1))/100)*100 + 1, 1
	case unitMillennium:
		if y > 0 {
			return (y+999)/1000*1000 - 999, 1
		}
		return -((999-(y-1))/1000)*1000 + 1, 1
	}
	return y, 1
}

// truncZoned rounds an instant down on a zone's wall clock. Below a day the clock's offset
// stays what it is, from a day up it is the one at the start of the unit.
func truncZoned(name string, micros int64, loc *time.Location) (int64, error) {
	if !isFinite(micros) {
		return micros, nil
	}
	u, err := truncUnit(name, eval.TTimestampTZ)
	if err != nil {
		return 0, err
	}
	return truncInstant(u, micros, loc)
}

// truncInstant is truncZoned of a finite instant.
func truncInstant(u unit, micros int64, loc *time.Location) (int64, error) {
	local := types.ToLocal(loc, micros)
	r, err := truncLocal(u, local)
	if err != nil {
		return 0, err
	}
	if u >= unitDay {
		r = types.ToUTC(loc, r)
	} else {
		r -= local - micros
	}
	if !types.TimestampInRange(r) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
	}
	return r, nil
}

func truncInterval(name string, v types.IntervalValue) (types.IntervalValue, error) {
	u, err := truncUnit(name, eval.TInterval)
	if err != nil {
		return v, err
	}
	if u == unitWeek {
		e, _ := sqlerr.As(errUnit(name, eval.TInterval, "supported"))
		return v, e.WithDetail("Months usually have fractional weeks.")
	}
	cut := map[unit]int64{unitMillis: 1000, unitSecond: 1e6, unitMinute: 60e6, unitHour: 3600e6}[u]
	switch {
	case u == unitMicros:
	case cut > 0:
		v.Micros -= v.Micros % cut
	case u == unitDay:
		v.Micros = 0
	default:
		months := map[unit]int32{unitMonth: 1, unitQuarter: 3, unitYear: 12, unitDecade: 120, unitCentury: 1200, unitMillennium: 12000}[u]
		v = types.IntervalValue{Months: v.Months - v.Months%months}
	}
	return v, nil
}

// dateBin rounds down to the start of a stride, counted from an origin.
func dateBin(stride types.IntervalValue, v, origin int64) (int64, error) {
	inf := func(x int64) bool { return x == types.TimestampInfinity || x == types.TimestampNegInfinity }
	switch {
	case inf(v):
		return v, nil
	case inf(origin):
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "origin out of range")
	case stride.Months != 0:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	step := types.MulInt64(int64(stride.Days), types.MicrosPerDay).Add64(stride.Micros)
	if !step.IsInt64() {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "interval out of range")
	}
	s := step.Int64()
	if s <= 0 {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "stride must be greater than zero")
	}
	diff := v - origin
	if (v^origin)&(v^diff) < 0 {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "interval out of range")
	}
	r := diff % s
	if r < 0 {
		r += s
	}
	if diff-r < math.MinInt64/2 && origin < 0 {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
	}
	if res := origin + diff - r; types.TimestampInRange(res) {
		return res, nil
	}
	return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
}
