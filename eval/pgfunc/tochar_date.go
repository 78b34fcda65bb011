package pgfunc

import (
	"fmt"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerTocharDate() {
	eval.Register(
		eval.Immutable("to_char", eval.Sig(types.Timestamp, types.Text), eval.TText, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return timestampToChar(a, a[0].Int(), nil)
		})),
		eval.Stable("to_char", eval.Sig(types.TimestampTZ, types.Text), eval.TText, eval.Row(func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return timestampToChar(a, types.ToLocal(eval.ZoneOf(c), a[0].Int()), eval.ZoneOf(c))
		})),
		eval.Immutable("to_char", eval.Sig(types.Interval, types.Text), eval.TText, eval.Row(intervalToChar)),
	)
}

// calendar is a point in time or an interval taken apart.
type calendar struct {
	year               int64
	mon, mday          int64
	hour, min, sec, us int64
	yday               int64
	days               int64 // since 1970-01-01
	interval, zoned    bool
	east               int
	zone               string
}

func timestampToChar(a []types.Datum, local int64, zone *time.Location) (types.Datum, error) {
	if a[1].Str() == "" || !isFinite(a[0].Int()) {
		return types.Null, nil
	}
	days, tod := types.SplitTimestamp(local)
	y, m, d := types.CivilFromDays(days)
	t := calendar{year: y, mon: int64(m), mday: int64(d), days: days, yday: int64(types.DayOfYear(days)), zoned: zone != nil}
	t.clock(tod)
	if zone != nil {
		t.east, t.zone = types.ZoneOffset(zone, a[0].Int())
	}
	return t.format(a[1].Str())
}

func (t *calendar) clock(micros int64) {
	t.hour, t.min, t.sec, t.us = micros/3600e6, micros/60e6%60, micros/1e6%60, micros%1e6
}

func intervalToChar(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[1].Str() == "" {
		return types.Null, nil
	}
	v := types.IntervalOf(a[0].W128())
	t := calendar{interval: true, year: int64(v.Months / 12), mon: int64(v.Months % 12), mday: int64(v.Days)}
	t.clock(v.Micros)
	t.yday = (t.year*12+t.mon)*30 + t.mday
	t.days = types.DaysFromCivil(t.year, 1, 1)
	if t.mon >= 1 && t.mon <= 12 {
		t.days = types.DaysFromCivil(t.year, int(t.mon), 1)
	}
	t.days += t.mday - 1
	return t.format(a[1].Str())
}

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
var dayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func (t *calendar) format(template string) (types.Datum, error) {
	var b room.Builder
	for _, n := range dateTemplates.nodes(template) {
		if n.key == "" {
			b.WriteString(n.text)
			continue
		}
		s, err := t.field(n)
		if err != nil {
			return types.Null, err
		}
		b.WriteString(s)
	}
	return types.NewStr(b.String()), nil
}

// adjusted is the year as people count it: 1 BC is 1.
func (t *calendar) adjusted(y int64) int64 {
	if !t.interval && y <= 0 {
		return -(y - 1)
	}
	return y
}

func (t *calendar) field(n formatNode) (string, error) {
	// padded is %0*d: width characters, one more for a sign, none in fill mode.
	padded := func(v int64, width int) string {
		if n.fill {
			width = 0
		} else if v < 0 {
			width++
		}
		return ordinal(eval.ZeroPadded(v, width), n.ordinal)
	}
	name := func(s string, width int) string {
		switch {
		case n.key == strings.ToUpper(n.key):
			s = strings.ToUpper(s)
		case n.key == strings.ToLower(n.key):
			s = strings.ToLower(s)
		}
		if n.fill || n.local {
			return s
		}
		return fmt.Sprintf("%-*s", width, s)
	}
	cased := func(upper, lower string) string {
		if n.key == strings.ToUpper(n.key) {
			return upper
		}
		return lower
	}
	key := strings.ToUpper(n.key)
	if t.interval {
		switch key {
		case "TZ", "TZH", "TZM", "OF", "AD", "BC", "A.D.", "B.C.", "MONTH", "MON", "DAY", "DY", "D", "ID":
			return "", sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
				WithHint("Intervals are not tied to specific calendar dates.")
		}
	}
	switch key {
	case "A.M.", "P.M.":
		if t.hour%24 >= 12 {
			return cased("P.M.", "p.m."), nil
		}
		return cased("A.M.", "a.m."), nil
	case "AM", "PM":
		if t.hour%24 >= 12 {
			return cased("PM", "pm"), nil
		}
		return cased("AM", "am"), nil
	case "A.D.", "B.C.":
		if t.year <= 0 {
			return cased("B.C.", "b.c."), nil
		}
		return cased("A.D.", "a.d."), nil
	case "AD", "BC":
		if t.year <= 0 {
			return cased("BC", "bc"), nil
		}
		return cased("AD", "ad"), nil
	case "HH", "HH12":
		h := t.hour % 12
		if h == 0 {
			h = 12
		}
		return padded(h, 2), nil
	case "HH24":
		return padded(t.hour, 2), nil
	case "MI":
		return padded(t.min, 2), nil
	case "SS":
		return padded(t.sec, 2), nil
	case "MS":
		return ordinal(fmt.Sprintf("%03d", t.us/1000), n.ordinal), nil
	case "US":
		return ordinal(fmt.Sprintf("%06d", t.us), n.ordinal), nil
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		digits := int(key[2] - '0')
		return ordinal(fmt.Sprintf("%0*d", digits, t.us/types.Pow10Int64(6-digits)), n.ordinal), nil
	case "SSSS", "SSSSS":
		return ordinal(fmt.Sprint(t.hour*3600+t.min*60+t.sec), n.ordinal), nil
	case "TZ":
		return cased(strings.ToUpper(t.zone), strings.ToLower(t.zone)), nil
	case "TZH":
		return zoneSign(t.east) + fmt.Sprintf("%02d", abs(t.east)/3600), nil
	case "TZM":
		return fmt.Sprintf("%02d", abs(t.east)/60%60), nil
	case "OF":
		s := zoneSign(t.east)
		if n.fill {
			s += fmt.Sprint(abs(t.east) / 3600)
		} else {
			s += fmt.Sprintf("%02d", abs(t.east)/3600)
		}
		if m := abs(t.east) / 60 % 60; m != 0 {
			s += fmt.Sprintf(":%02d", m)
		}
		return s, nil
	case "MONTH":
		return name(monthNames[t.mon-1], 9), nil
	case "MON":
		return name(monthNames[t.mon-1][:3], 0), nil
	case "MM":
		return padded(t.mon, 2), nil
	case "DAY":
		return name(dayNames[types.Weekday(t.days)], 9), nil
	case "DY":
		return name(dayNames[types.Weekday(t.days)][:3], 0), nil
	case "DDD":
		return padded(t.yday, 3), nil
	case "IDDD":
		y, _ := types.ISOWeek(t.days)
		return padded(t.days-types.ISOWeekStart(y, 1)+1, 3), nil
	case "DD":
		return padded(t.mday, 2), nil
	case "D":
		return ordinal(fmt.Sprint(types.Weekday(t.days)+1), n.ordinal), nil
	case "ID":
		return ordinal(fmt.Sprint((types.Weekday(t.days)+6)%7+1), n.ordinal), nil
	case "WW":
		return padded((t.yday-1)/7+1, 2), nil
	case "IW":
		_, w := types.ISOWeek(t.days)
		return padded(int64(w), 2), nil
	case "Q":
		if t.mon == 0 {
			return "", nil
		}
		return ordinal(fmt.Sprint((t.mon-1)/3+1), n.ordinal), nil
	case "CC":
		c := t.year / 100
		switch {
		case t.interval:
		case t.year > 0:
			c = (t.year-1)/100 + 1
		default:
			c = t.year/100 - 1
		}
		return padded(c, 2), nil
	case "Y,YYY":
		y := t.adjusted(t.year)
		return ordinal(fmt.Sprintf("%d,%03d", y/1000, y%1000), n.ordinal), nil
	case "YYYY", "YYY", "YY", "Y", "IYYY", "IYY", "IY", "I":
		y := t.year
		width := len(key)
		if key[0] == 'I' {
			y, _ = types.ISOWeek(t.days)
		}
		y = t.adjusted(y)
		if width < 4 {
			y %= types.Pow10Int64(width)
		}
		return padded(y, width), nil
	case "RM":
		m := t.mon
		if t.interval {
			// Negative months count down from XII; whole years have an XII, or an I when negative.
			switch {
			case m == 0 && t.year == 0:
				return "", nil
			case m < 0:
				m += 13
			case m == 0 && t.year < 0:
				m = 1
			case m == 0:
				m = 12
			}
		}
		return name(romanMonths[m-1], 4), nil
	case "W":
		return ordinal(fmt.Sprint((t.mday-1)/7+1), n.ordinal), nil
	case "J":
		return ordinal(fmt.Sprint(t.days+julianOffset), n.ordinal), nil
	}
	return "", nil // FX
}

func zoneSign(east int) string {
	if east < 0 {
		return "-"
	}
	return "+"
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}
