package mysqlfunc

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// duration is what INTERVAL n unit adds: months, and microseconds.
type duration struct{ months, micros int64 }

// unitParts says what the numbers of a unit's text count, in microseconds or months.
var unitParts = map[string]struct {
	months int64
	micros []int64
}{
	"microsecond": {micros: []int64{1}}, "second": {micros: []int64{1e6}}, "minute": {micros: []int64{60e6}},
	"hour": {micros: []int64{3600e6}}, "day": {micros: []int64{86400e6}}, "week": {micros: []int64{7 * 86400e6}},
	"month": {months: 1}, "quarter": {months: 3}, "year": {months: 12}, "year_month": {months: 1},
	"second_microsecond": {micros: []int64{1e6, 1}},
	"minute_microsecond": {micros: []int64{60e6, 1e6, 1}},
	"minute_second":      {micros: []int64{60e6, 1e6}},
	"hour_microsecond":   {micros: []int64{3600e6, 60e6, 1e6, 1}},
	"hour_second":        {micros: []int64{3600e6, 60e6, 1e6}},
	"hour_minute":        {micros: []int64{3600e6, 60e6}},
	"day_microsecond":    {micros: []int64{86400e6, 3600e6, 60e6, 1e6, 1}},
	"day_second":         {micros: []int64{86400e6, 3600e6, 60e6, 1e6}},
	"day_minute":         {micros: []int64{86400e6, 3600e6, 60e6}},
	"day_hour":           {micros: []int64{86400e6, 3600e6}},
}

// readInterval reads the text of INTERVAL n unit.
func readInterval(n, unit string, sign int64) (d duration, ok bool) {
	u := unitParts[unit]
	const most = 1 << 40
	switch {
	case unit == "second":
		us := prefixDecimal(n).Mul(types.DecimalFromInt64(1000000)).Round(0)
		v, err := us.ToInt(types.Int8)
		if err != nil || v > most*1e6 || v < -most*1e6 {
			return d, false
		}
		d.micros = v
	case unit == "year_month":
		v, neg, _ := intervalNumbers(n, 2)
		d.months = v[0]*12 + v[1]
		if neg {
			d.months = -d.months
		}
	case strings.Contains(unit, "_"):
		v, neg, last := intervalNumbers(n, len(u.micros))
		if strings.HasSuffix(unit, "microsecond") && len(last) < 6 {
			for k := len(last); k < 6; k++ {
				v[len(v)-1] *= 10
			}
		}
		for i, m := range u.micros {
			if v[i] > most*1e6/m {
				return d, false
			}
			d.micros += v[i] * m
		}
		if neg {
			d.micros = -d.micros
		}
	default:
		v := prefixInt(n)
		if v > most*1e6 || v < -most*1e6 {
			return d, false
		}
		if u.months > 0 {
			if v > most || v < -most {
				return d, false
			}
			d.months = v * u.months
			break
		}
		if m := u.micros[0]; v > most*1e6/m || v < -most*1e6/m {
			return d, false
		}
		d.micros = v * u.micros[0]
	}
	d.months, d.micros = d.months*sign, d.micros*sign
	return d, true
}

// intervalNumbers reads the numbers in s; where there are fewer than n they are the last ones.
func intervalNumbers(s string, n int) (v []int64, neg bool, last string) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "-") {
		neg, s = true, s[1:]
	}
	for i := 0; i < len(s) && len(v) < n; {
		if !isDigit(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		last = s[i:j]
		x, _ := strconv.ParseInt(last, 10, 64)
		v = append(v, x)
		i = j
	}
	for len(v) < n {
		v = append([]int64{0}, v...)
	}
	return v, neg, last
}

func addDatetime(t int64, n, unit string, sign int64) types.Datum {
	d, ok := readInterval(n, unit, sign)
	if !ok {
		return types.Null
	}
	if d.months != 0 {
		if d.months > 12*10000 || d.months < -12*10000 {
			return types.Null
		}
		t += (types.AddMonths(dayOf(t), d.months) - dayOf(t)) * types.MicrosPerDay
	}
	return datetimeDatum(t + d.micros)
}

// dateUnit tells whether a unit leaves a date a date.
func dateUnit(unit string) bool {
	switch unit {
	case "day", "week", "month", "quarter", "year", "year_month":
		return true
	}
	return false
}

// addText adds to a text that is a date or datetime, and gives a text again.
func addText(s, n, unit string, sign int64) types.Datum {
	t, dateOnly, ok := dateText(s)
	if !ok {
		return types.Null
	}
	r := addDatetime(t, n, unit, sign)
	if r.IsNull() {
		return r
	}
	text := MySQLDatetime(r.Int())
	if dateOnly && dateUnit(unit) {
		text = text[:10]
	}
	return types.NewStr(text)
}

func addTimeUnit(us int64, n, unit string, sign int64) types.Datum {
	d, ok := readInterval(n, unit, sign)
	if !ok || d.months != 0 {
		return types.Null
	}
	return timeDatum(us + d.micros)
}

// addTimeText is ADDTIME of a text: a time or a datetime.
func addTimeText(s string, us int64) types.Datum {
	if t, _, ok := dateText(s); ok && IsDatetimeText(s) {
		r := datetimeDatum(t + us)
		if r.IsNull() {
			return r
		}
		return types.NewStr(MySQLDatetime(r.Int()))
	}
	t := textTime(s)
	if t.IsNull() {
		return t
	}
	sum := types.IntervalOf(t.W128()).Micros + us
	return types.NewStr(MySQLTime(min(max(sum, -maxTime), maxTime)))
}

// unitInterval is INTERVAL n unit as the offset of a window frame.
func unitInterval(n, unit string) types.Datum {
	d, ok := readInterval(n, unit, 1)
	if !ok || d.months > 1<<30 || d.months < -1<<30 {
		return types.Null
	}
	v := types.IntervalValue{Months: int32(d.months), Micros: d.micros}
	if d.micros%types.MicrosPerDay == 0 && d.micros/types.MicrosPerDay < 1<<30 {
		v.Days, v.Micros = int32(d.micros/types.MicrosPerDay), 0
	}
	return types.NewW128(v.W128())
}

func timestampDiff(unit string, a, b int64) types.Datum {
	u, ok := unitParts[unit]
	if !ok {
		return types.Null
	}
	if u.months == 0 {
		return types.NewInt((b - a) / u.micros[0])
	}
	neg := b < a
	if neg {
		a, b = b, a
	}
	y1, m1, d1 := civil(a)
	y2, m2, d2 := civil(b)
	months := (y2-y1)*12 + int64(m2-m1)
	if d2 < d1 || d2 == d1 && microOfDay(b) < microOfDay(a) {
		months--
	}
	months /= u.months
	if neg {
		months = -months
	}
	return types.NewInt(months)
}

// extractTime and extractDatetime are EXTRACT's composite units (and the plain ones).
func extractTime(unit string, us int64) types.Datum {
	a := max(us, -us)
	h, m, s, f := a/3600000000, a/60000000%60, a/1000000%60, a%1000000
	v, ok := map[string]int64{"hour": h, "minute": m, "second": s, "microsecond": f,
		"hour_minute": h*100 + m, "hour_second": h*10000 + m*100 + s, "minute_second": m*100 + s,
		"hour_microsecond":   (h*10000+m*100+s)*1000000 + f,
		"minute_microsecond": (m*100+s)*1000000 + f, "second_microsecond": s*1000000 + f,
		"day": 0, "day_hour": h, "day_minute": h*100 + m, "day_second": h*10000 + m*100 + s,
		"day_microsecond": (h*10000+m*100+s)*1000000 + f}[unit]
	if !ok {
		return types.Null
	}
	if us < 0 {
		v = -v
	}
	return types.NewInt(v)
}

func extractDatetime(unit string, t int64) types.Datum {
	y, m, d := civil(t)
	us := microOfDay(t)
	switch unit {
	case "year":
		return types.NewInt(y)
	case "quarter":
		return types.NewInt(int64(m+2) / 3)
	case "month":
		return types.NewInt(int64(m))
	case "week":
		_, w := weekOf(dayOf(t), 0)
		return types.NewInt(w)
	case "day":
		return types.NewInt(int64(d))
	case "year_month":
		return types.NewInt(y*100 + int64(m))
	}
	v := extractTime(unit, us)
	if v.IsNull() || !strings.HasPrefix(unit, "day_") {
		return v
	}
	scale := map[string]int64{"day_hour": 100, "day_minute": 10000, "day_second": 1000000, "day_microsecond": 1e12}[unit]
	return types.NewInt(int64(d)*scale + v.Int())
}
