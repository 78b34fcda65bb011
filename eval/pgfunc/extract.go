package pgfunc

import (
	"math"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// unit is a field of a date, time or interval.
type unit uint8

const (
	unitNone unit = iota
	unitMicros
	unitMillis
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitEpoch
	unitJulian
	unitISOYear
	unitDOW
	unitISODOW
	unitDOY
	unitZone
	unitZoneHour
	unitZoneMinute
)

// units are the names that extract and date_trunc know (datetime.c's tables).
var units = map[string]unit{}

func registerExtract() {
	for u, names := range map[unit]string{
		unitMicros: "microseconds microsecond us usec usecs useconds usecond", unitMillis: "milliseconds millisecond ms msec msecs mseconds msecond",
		unitSecond: "second seconds s sec secs", unitMinute: "minute minutes m min mins", unitHour: "hour hours h hr hrs",
		unitDay: "day days d", unitWeek: "week weeks w", unitMonth: "month months mon mons", unitQuarter: "quarter qtr",
		unitYear: "year years y yr yrs", unitDecade: "decade decades dec decs", unitCentury: "century centuries c cent",
		unitMillennium: "millennium millennia mil mils", unitEpoch: "epoch", unitJulian: "julian jd j",
		unitISOYear: "isoyear", unitDOW: "dow", unitISODOW: "isodow", unitDOY: "doy",
		unitZone: "timezone", unitZoneHour: "timezone_hour timezone_h", unitZoneMinute: "timezone_minute timezone_m",
	} {
		for _, n := range strings.Fields(names) {
			units[n] = u
		}
	}
}

func registerExtract2() {
	for _, t := range []types.Type{eval.TDate, eval.TTime, eval.TTimeTZ, eval.TTimestamp, eval.TTimestampTZ, eval.TInterval} {
		f, of := extractOf(t), t
		if t.Kind == types.Date {
			of = eval.TTimestamp // date_part of a date is that of its midnight
		}
		g := extractOf(of)
		part := func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			v := a[1]
			if t.Kind == types.Date {
				m, err := eval.DateTime(v.Int(), 0)
				if err != nil {
					return types.Null, err
				}
				v = types.NewInt(m)
			}
			d, null, err := g(c, a[0].Str(), v)
			if err != nil || null {
				return types.Null, err
			}
			return types.NewFloat(partFloat(units[strings.ToLower(a[0].Str())], of, v, d)), nil
		}
		whole := func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			d, null, err := f(c, a[0].Str(), a[1])
			if err != nil || null {
				return types.Null, err
			}
			return d.Datum(eval.TNumeric)
		}
		args := []types.Type{eval.TText, t}
		var impl any = eval.Row(whole)
		if t.Kind == types.Date || t.Kind == types.Timestamp || t.Kind == types.TimestampTZ {
			impl = extractFields(t.Kind, whole)
		}
		if t.Kind == types.TimestampTZ {
			eval.Register(eval.Stable("extract", args, eval.TNumeric, impl), eval.Stable("date_part", args, eval.TFloat8, eval.Row(part)))
		} else {
			eval.Register(eval.Immutable("extract", args, eval.TNumeric, impl), eval.Immutable("date_part", args, eval.TFloat8, eval.Row(part)))
		}
	}
}

// partFloat is date_part's double of what extract gives. PostgreSQL adds the parts up in
// doubles, which the last digit shows.
func partFloat(u unit, t types.Type, v types.Datum, d types.Decimal) float64 {
	if !d.IsFinite() {
		return d.Float64()
	}
	switch {
	case u == unitSecond || u == unitMillis:
		micros, _ := d.Mul(whole(1e6)).ToInt(types.Int8)
		if u == unitMillis {
			micros /= 1000
			return float64(micros/1e6)*1000 + float64(micros%1e6)/1000
		}
		return float64(micros/1e6) + float64(micros%1e6)/1e6
	case u == unitEpoch && t.Kind == types.TimeTZ:
		w := v.W128()
		return float64(int64(w.Lo))/1e6 + float64(w.Hi)
	case u == unitEpoch && t.Kind == types.Interval:
		i := types.IntervalOf(v.W128())
		f := float64(i.Micros) / 1e6
		f += 365.25 * 86400 * float64(i.Months/12)
		f += 30 * 86400 * float64(i.Months%12)
		return f + 86400*float64(i.Days)
	}
	return d.Float64()
}

// field is what extract gives: a number, or NULL.
type field func(c *eval.Ctx, name string, v types.Datum) (d types.Decimal, null bool, err error)

func extractOf(t types.Type) field {
	return func(c *eval.Ctx, name string, v types.Datum) (types.Decimal, bool, error) {
		u, ok := units[strings.ToLower(name)]
		if !ok {
			return types.Decimal{}, false, errUnit(name, t, "recognized")
		}
		var d types.Decimal
		supported := true
		null := false
		switch t.Kind {
		case types.Date:
			days := v.Int()
			switch {
			case u <= unitHour || u >= unitZone:
				supported = false
			case days == types.DateInfinity:
				d, null, _ = infiniteField(u, types.TimestampInfinity)
			case days == types.DateNegInfinity:
				d, null, _ = infiniteField(u, types.TimestampNegInfinity)
			default:
				d, supported = dateField(u, days)
			}
		case types.Timestamp, types.TimestampTZ:
			if d, null, ok = infiniteField(u, v.Int()); !ok {
				east := 0
				local := v.Int()
				if t.Kind == types.TimestampTZ {
					east, _ = types.ZoneOffset(eval.ZoneOf(c), v.Int())
					local = types.ToLocal(eval.ZoneOf(c), v.Int())
				}
				d, supported = timestampField(u, local, v.Int(), east, t.Kind == types.TimestampTZ)
			}
		case types.Time:
			d, supported = timeField(u, v.Int(), 0, false)
		case types.TimeTZ:
			w := v.W128()
			d, supported = timeField(u, int64(w.Lo), -int(w.Hi), true)
		case types.Interval:
			d, supported = intervalField(u, types.IntervalOf(v.W128()))
		}
		if !supported {
			return d, false, errUnit(name, t, "supported")
		}
		return d, null, nil
	}
}

func errUnit(name string, t types.Type, what string) error {
	code := sqlerr.FeatureNotSupported
	if what == "recognized" {
		code = sqlerr.InvalidParameterValue
	}
	return sqlerr.New(code, "unit \"%s\" not %s for type %s", strings.ToLower(name), what, t)
}

// infiniteField is a field of an infinite date or timestamp (ok): fields that grow without end
// are infinite, those that go round NULL.
func infiniteField(u unit, v int64) (d types.Decimal, null, ok bool) {
	d = types.DecimalInf
	switch v {
	case types.TimestampInfinity:
	case types.TimestampNegInfinity:
		d = types.DecimalNegInf
	default:
		return d, false, false
	}
	switch u {
	case unitYear, unitDecade, unitCentury, unitMillennium, unitJulian, unitISOYear, unitEpoch:
		return d, false, true
	}
	return types.Decimal{}, true, true
}

func whole(i int64) types.Decimal { return types.DecimalFromInt64(i) }

// julianOffset is the Julian day of 1970-01-01.
const julianOffset = 2440588

func century(y int64) int64 {
	if y > 0 {
		return (y + 99) / 100
	}
	return -((99 - (y - 1)) / 100)
}

func millennium(y int64) int64 {
	if y > 0 {
		return (y + 999) / 1000
	}
	return -((999 - (y - 1)) / 1000)
}

func decade(y int64) int64 {
	if y >= 0 {
		return y / 10
	}
	return -((8 - (y - 1)) / 10)
}

// bcYear numbers years as people do: there is no year 0.
func bcYear(y int64) int64 {
	if y > 0 {
		return y
	}
	return y - 1
}

func dateField(u unit, days int64) (types.Decimal, bool) {
	y, m, d := types.CivilFromDays(days)
	switch u {
	case unitDay:
		return whole(int64(d)), true
	case unitMonth:
		return whole(int64(m)), true
	case unitQuarter:
		return whole(int64((m-1)/3 + 1)), true
	case unitWeek:
		_, w := types.ISOWeek(days)
		return whole(int64(w)), true
	case unitYear:
		return whole(bcYear(y)), true
	case unitDecade:
		return whole(decade(y)), true
	case unitCentury:
		return whole(century(y)), true
	case unitMillennium:
		return whole(millennium(y)), true
	case unitJulian:
		return whole(days + julianOffset), true
	case unitISOYear:
		iso, _ := types.ISOWeek(days)
		return whole(bcYear(iso)), true
	case unitDOW:
		return whole(int64(types.Weekday(days))), true
	case unitISODOW:
		return whole(int64((types.Weekday(days)+6)%7 + 1)), true
	case unitDOY:
		return whole(int64(types.DayOfYear(days))), true
	case unitEpoch:
		return whole(days * 86400), true
	}
	return types.Decimal{}, false
}

// clockField is a field of the time of day.
func clockField(u unit, micros int64) (types.Decimal, bool) {
	switch u {
	case unitMicros:
		return whole(micros % 60e6), true
	case unitMillis:
		return types.NewDecimal(micros%60e6, 3), true
	case unitSecond:
		return types.NewDecimal(micros%60e6, 6), true
	case unitMinute:
		return whole(micros / 60e6 % 60), true
	case unitHour:
		return whole(micros / 3600e6), true
	}
	return types.Decimal{}, false
}

func zoneField(u unit, east int) (types.Decimal, bool) {
	switch u {
	case unitZone:
		return whole(int64(east)), true
	case unitZoneHour:
		return whole(int64(east / 3600)), true
	case unitZoneMinute:
		return whole(int64(east / 60 % 60)), true
	}
	return types.Decimal{}, false
}

func timestampField(u unit, local, micros int64, east int, zoned bool) (types.Decimal, bool) {
	days, tod := types.SplitTimestamp(local)
	switch {
	case u == unitEpoch:
		return types.NewDecimal(micros, 6), true
	case u == unitJulian:
		frac, err := whole(tod).Div(whole(types.MicrosPerDay))
		return whole(days + julianOffset).Add(frac), err == nil
	case u >= unitZone:
		if !zoned {
			return types.Decimal{}, false
		}
		return zoneField(u, east)
	case u <= unitHour:
		return clockField(u, tod)
	}
	return dateField(u, days)
}

func timeField(u unit, micros int64, east int, zoned bool) (types.Decimal, bool) {
	switch {
	case u == unitEpoch:
		return types.NewDecimal(micros-int64(east)*1e6, 6), true
	case u >= unitZone && zoned:
		return zoneField(u, east)
	case u <= unitHour:
		return clockField(u, micros)
	}
	return types.Decimal{}, false
}

func intervalField(u unit, v types.IntervalValue) (types.Decimal, bool) {
	years, months := int64(v.Months/12), int64(v.Months%12)
	switch u {
	case unitMicros, unitMillis, unitSecond, unitMinute, unitHour:
		return clockField(u, v.Micros)
	case unitDay:
		return whole(int64(v.Days)), true
	case unitMonth:
		return whole(months), true
	case unitQuarter:
		return whole(months/3 + 1), true
	case unitYear:
		return whole(years), true
	case unitDecade:
		return whole(years / 10), true
	case unitCentury:
		return whole(years / 100), true
	case unitMillennium:
		return whole(years / 1000), true
	case unitEpoch:
		// A year is 365.25 days: count in quarters of a day.
		secs := (1461*years + 120*months + 4*int64(v.Days)) * (86400 / 4)
		if secs > math.MaxInt64/1000000 || secs < math.MinInt64/1000000 {
			return types.NewDecimal(0, 6).Add(whole(secs)).Add(types.NewDecimal(v.Micros, 6)), true
		}
		return types.NewDecimal(v.Micros, 6).Add(types.NewDecimal(secs*1e6, 6)), true
	}
	return types.Decimal{}, false
}
