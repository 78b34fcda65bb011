package mysqlfunc

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// Dates and times of MySQL's dialect: a DATETIME is a timestamp without a zone, a TIME an interval
// of microseconds only (it goes to ±838:59:59). There are no zero dates: what would be one is NULL.
func registerDatetime() {
	const ts, day, iv, text, n, i8, i4 = types.Timestamp, types.Date, types.Interval, types.Text, types.Numeric, types.Int8, types.Int4
	part := func(name string, f func(t int64) int64) eval.Func {
		return eval.Immutable("mysql:"+name, eval.Sig(ts), eval.TInt4, eval.Fn1(f)).NeverFails()
	}
	eval.Register(
		eval.Immutable("mysql:date", eval.Sig(text), eval.TDate, eval.Fn1(textDate)).NeverFails(),
		eval.Immutable("mysql:date", eval.Sig(n), eval.TDate, eval.Fn1(func(d types.Decimal) types.Datum { return dateOf(numberDatetime(d)) })).NeverFails(),
		eval.Immutable("mysql:date", eval.Sig(ts), eval.TDate, eval.Fn1(func(t int64) int64 { d, _ := types.SplitTimestamp(t); return d })).NeverFails(),
		eval.Immutable("mysql:datetime", eval.Sig(text), eval.TTimestamp, eval.Fn1(textDatetime)).NeverFails(),
		eval.Immutable("mysql:datetime_compared", eval.Sig(n), eval.TTimestamp, eval.Fn1(numberCompared)).NeverFails(),
		eval.Immutable("mysql:datetime_compared", eval.Sig(text), eval.TTimestamp, eval.Fn1(datetimeCompared)).NeverFails(),
		eval.Immutable("mysql:datetime", eval.Sig(n), eval.TTimestamp, eval.Fn1(numberDatetime)).NeverFails(),
		eval.Immutable("mysql:time", eval.Sig(iv), eval.TInterval, eval.Fn1(func(v types.IntervalValue) types.IntervalValue { return v })).NeverFails(),
		eval.Immutable("mysql:time", eval.Sig(text), eval.TInterval, eval.Fn1(textTime)).NeverFails(),
		eval.Immutable("mysql:time", eval.Sig(n), eval.TInterval, eval.Fn1(numberTime)).NeverFails(),
		eval.Immutable("mysql:time", eval.Sig(ts), eval.TInterval, eval.Fn1(func(t int64) types.Datum { return timeDatum(microOfDay(t)) })).NeverFails(),
		eval.Immutable("mysql:time_of", eval.Sig(ts), eval.TInterval, eval.Fn1(func(t int64) types.Datum { return timeDatum(microOfDay(t)) })).NeverFails(),
		eval.Immutable("mysql:time_of", eval.Sig(types.Time), eval.TInterval, eval.Fn1(timeDatum)).NeverFails(),
		eval.Stable("mysql:datetime_of", eval.Sig(iv), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, v types.IntervalValue) (int64, error) {
			d, _ := types.SplitTimestamp(eval.LocalNow(c))
			return d*types.MicrosPerDay + v.Micros, nil
		})),
		eval.Immutable("mysql:precision", eval.Sig(ts, i4), eval.TTimestamp, eval.Fn2(roundMicros)).NeverFails(),
		eval.Immutable("mysql:precision", eval.Sig(iv, i4), eval.TInterval, eval.Fn2(func(v types.IntervalValue, p int64) types.Datum { return timeDatum(roundMicros(v.Micros, p)) })).NeverFails(),
		eval.Immutable("mysql:timestamp", eval.Sig(ts), eval.TTimestamp, eval.Fn1(func(t int64) int64 { return t })).NeverFails(),
		eval.Immutable("mysql:timestamp", eval.Sig(ts, iv), eval.TTimestamp, eval.Fn2(func(t int64, v types.IntervalValue) types.Datum { return datetimeDatum(t + v.Micros) })).NeverFails(),

		part("year", func(t int64) int64 { y, _, _ := civil(t); return y }),
		part("month", func(t int64) int64 { _, m, _ := civil(t); return int64(m) }),
		part("day", func(t int64) int64 { _, _, d := civil(t); return int64(d) }),
		part("dayofmonth", func(t int64) int64 { _, _, d := civil(t); return int64(d) }),
		part("quarter", func(t int64) int64 { _, m, _ := civil(t); return int64(m+2) / 3 }),
		part("dayofweek", func(t int64) int64 { return int64(types.Weekday(dayOf(t))) + 1 }),
		part("weekday", func(t int64) int64 { return int64(types.Weekday(dayOf(t))+6) % 7 }),
		part("dayofyear", func(t int64) int64 { return int64(types.DayOfYear(dayOf(t))) }),
		part("weekofyear", func(t int64) int64 { _, w := weekOf(dayOf(t), 3); return w }),
		part("to_days", func(t int64) int64 { return dayOf(t) + daysBefore1970 }),
		eval.Immutable("mysql:to_seconds", eval.Sig(ts), eval.TInt8, eval.Fn1(func(t int64) int64 { return types.FloorDiv(t, 1e6) + daysBefore1970*86400 })).NeverFails(),
		eval.Immutable("mysql:week", eval.Sig(ts, i8), eval.TInt4, eval.Fn2(func(t, mode int64) int64 { _, w := weekOf(dayOf(t), mode); return w })).NeverFails(),
		eval.Immutable("mysql:yearweek", eval.Sig(ts, i8), eval.TInt4, eval.Fn2(yearWeek)).NeverFails(),
		eval.Immutable("mysql:yearweek", eval.Sig(ts), eval.TInt4, eval.Fn1(func(t int64) int64 { return yearWeek(t, 0) })).NeverFails(),
		eval.Immutable("mysql:dayname", eval.Sig(ts), eval.TText, eval.Fn1(func(t int64) string { return time.Weekday(types.Weekday(dayOf(t))).String() })).NeverFails(),
		eval.Immutable("mysql:monthname", eval.Sig(ts), eval.TText, eval.Fn1(func(t int64) string { _, m, _ := civil(t); return time.Month(m).String() })).NeverFails(),
		eval.Immutable("mysql:last_day", eval.Sig(ts), eval.TDate, eval.Fn1(func(t int64) int64 {
			y, m, _ := civil(t)
			return types.DaysFromCivil(y, m, types.DaysInMonth(y, m))
		})).NeverFails(),
		eval.Immutable("mysql:makedate", eval.Sig(i8, i8), eval.TDate, eval.Fn2(makeDateOf)).NeverFails(),
		eval.Immutable("mysql:maketime", eval.Sig(i8, i8, n), eval.TInterval, eval.Fn3(makeTimeOf)).NeverFails(),
		eval.Immutable("mysql:from_days", eval.Sig(i8), eval.TDate, eval.Fn1(func(d int64) types.Datum { return dateDatum(d - daysBefore1970) })).NeverFails(),
		eval.Immutable("mysql:sec_to_time", eval.Sig(n), eval.TInterval, eval.Fn1(func(d types.Decimal) types.Datum { return timeDatum(decimalMicros(d)) })).NeverFails(),
		eval.Immutable("mysql:time_to_sec", eval.Sig(iv), eval.TInt8, eval.Fn1(func(v types.IntervalValue) int64 { return v.Micros / 1e6 })).NeverFails(),
		eval.Immutable("mysql:datediff", eval.Sig(ts, ts), eval.TInt4, eval.Fn2(func(a, b int64) int64 { return dayOf(a) - dayOf(b) })).NeverFails(),
		eval.Immutable("mysql:timediff", eval.Sig(iv, iv), eval.TInterval, eval.Fn2(func(a, b types.IntervalValue) types.Datum { return timeDatum(a.Micros - b.Micros) })).NeverFails(),
		eval.Immutable("mysql:timediff", eval.Sig(ts, ts), eval.TInterval, eval.Fn2(func(a, b int64) types.Datum { return timeDatum(a - b) })).NeverFails(),
		eval.Immutable("mysql:addtime", eval.Sig(iv, iv), eval.TInterval, eval.Fn2(func(a, b types.IntervalValue) types.Datum { return timeDatum(a.Micros + b.Micros) })).NeverFails(),
		eval.Immutable("mysql:addtime", eval.Sig(ts, iv), eval.TTimestamp, eval.Fn2(func(a int64, b types.IntervalValue) types.Datum { return datetimeDatum(a + b.Micros) })).NeverFails(),
		eval.Immutable("mysql:addtime", eval.Sig(text, iv), eval.TText, eval.Fn2(func(s string, b types.IntervalValue) types.Datum { return addTimeText(s, b.Micros) })).NeverFails(),
		eval.Immutable("mysql:subtime", eval.Sig(iv, iv), eval.TInterval, eval.Fn2(func(a, b types.IntervalValue) types.Datum { return timeDatum(a.Micros - b.Micros) })).NeverFails(),
		eval.Immutable("mysql:subtime", eval.Sig(ts, iv), eval.TTimestamp, eval.Fn2(func(a int64, b types.IntervalValue) types.Datum { return datetimeDatum(a - b.Micros) })).NeverFails(),
		eval.Immutable("mysql:subtime", eval.Sig(text, iv), eval.TText, eval.Fn2(func(s string, b types.IntervalValue) types.Datum { return addTimeText(s, -b.Micros) })).NeverFails(),
		eval.Immutable("mysql:timestampdiff", eval.Sig(text, ts, ts), eval.TInt8, eval.Fn3(timestampDiff)).NeverFails(),
		eval.Immutable("mysql:period_add", eval.Sig(i8, i8), eval.TInt8, eval.Fn2(func(p, m int64) int64 { return fromPeriod(toPeriod(p) + m) })).NeverFails(),
		eval.Immutable("mysql:period_diff", eval.Sig(i8, i8), eval.TInt8, eval.Fn2(func(p, q int64) int64 { return toPeriod(p) - toPeriod(q) })).NeverFails(),
		eval.Immutable("mysql:extract", eval.Sig(text, iv), eval.TInt8, eval.Fn2(func(u string, v types.IntervalValue) types.Datum { return extractTime(u, v.Micros) })).NeverFails(),
		eval.Immutable("mysql:extract", eval.Sig(text, ts), eval.TInt8, eval.Fn2(extractDatetime)).NeverFails(),

		eval.Immutable("mysql:date_add", eval.Sig(text, text, text), eval.TText, eval.Fn3(func(s, n, u string) types.Datum { return addText(s, n, u, 1) })).NeverFails(),
		eval.Immutable("mysql:date_add", eval.Sig(ts, text, text), eval.TTimestamp, eval.Fn3(func(t int64, n, u string) types.Datum { return addDatetime(t, n, u, 1) })).NeverFails(),
		eval.Immutable("mysql:date_add", eval.Sig(day, text, text), eval.TDate, eval.Fn3(func(d int64, n, u string) types.Datum { return dateOf(addDatetime(d*types.MicrosPerDay, n, u, 1)) })).NeverFails(),
		eval.Immutable("mysql:date_add", eval.Sig(iv, text, text), eval.TInterval, eval.Fn3(func(v types.IntervalValue, n, u string) types.Datum { return addTimeUnit(v.Micros, n, u, 1) })).NeverFails(),
		eval.Immutable("mysql:date_sub", eval.Sig(text, text, text), eval.TText, eval.Fn3(func(s, n, u string) types.Datum { return addText(s, n, u, -1) })).NeverFails(),
		eval.Immutable("mysql:date_sub", eval.Sig(ts, text, text), eval.TTimestamp, eval.Fn3(func(t int64, n, u string) types.Datum { return addDatetime(t, n, u, -1) })).NeverFails(),
		eval.Immutable("mysql:date_sub", eval.Sig(day, text, text), eval.TDate, eval.Fn3(func(d int64, n, u string) types.Datum { return dateOf(addDatetime(d*types.MicrosPerDay, n, u, -1)) })).NeverFails(),
		eval.Immutable("mysql:date_sub", eval.Sig(iv, text, text), eval.TInterval, eval.Fn3(func(v types.IntervalValue, n, u string) types.Datum { return addTimeUnit(v.Micros, n, u, -1) })).NeverFails(),
		eval.Immutable("mysql:interval", eval.Sig(text, text), eval.TInterval, eval.Fn2(unitInterval)).NeverFails(),

		eval.Stable("mysql:now", eval.Sig(i8), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, p int64) (int64, error) { return cutMicros(eval.LocalNow(c), p), nil })),
		eval.Volatile("mysql:sysdate", eval.Sig(i8), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, p int64) (int64, error) {
			return cutMicros(types.ToLocal(eval.ZoneOf(c), time.Now().UnixMicro()), p), nil
		})),
		eval.Stable("mysql:curdate", nil, eval.TDate, eval.Ask0(func(c *eval.Ctx) (int64, error) { return dayOf(eval.LocalNow(c)), nil })),
		eval.Stable("mysql:curtime", eval.Sig(i8), eval.TInterval, eval.Ask1(func(c *eval.Ctx, p int64) (types.Datum, error) {
			return timeDatum(cutMicros(microOfDay(eval.LocalNow(c)), p)), nil
		})),
		eval.Stable("mysql:utc_timestamp", eval.Sig(i8), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, p int64) (int64, error) { return cutMicros(eval.TransactionTime(c), p), nil })),
		eval.Stable("mysql:utc_date", nil, eval.TDate, eval.Ask0(func(c *eval.Ctx) (int64, error) { return dayOf(eval.TransactionTime(c)), nil })),
		eval.Stable("mysql:utc_time", eval.Sig(i8), eval.TInterval, eval.Ask1(func(c *eval.Ctx, p int64) (types.Datum, error) {
			return timeDatum(cutMicros(microOfDay(eval.TransactionTime(c)), p)), nil
		})),
		eval.Stable("mysql:unix_timestamp", nil, eval.TInt8, eval.Ask0(func(c *eval.Ctx) (int64, error) { return eval.TransactionTime(c) / 1e6, nil })),
		eval.Stable("mysql:unix_timestamp", eval.Sig(ts), eval.TNumeric, eval.Ask1(func(c *eval.Ctx, t int64) (types.Decimal, error) {
			return unixSeconds(types.ToUTC(eval.ZoneOf(c), t)), nil
		})),
		eval.Stable("mysql:unix_timestamp", eval.Sig(types.TimestampTZ), eval.TNumeric, eval.Ask1(func(_ *eval.Ctx, t int64) (types.Decimal, error) { return unixSeconds(t), nil })),
		eval.Stable("mysql:from_unixtime", eval.Sig(n), eval.TTimestamp, eval.Ask1(func(c *eval.Ctx, d types.Decimal) (types.Datum, error) {
			if d.Sign() < 0 || d.Cmp(types.DecimalFromInt64(32536771199)) > 0 {
				return types.Null, nil
			}
			return types.NewInt(types.ToLocal(eval.ZoneOf(c), decimalMicros(d))), nil
		})),
		eval.Immutable("mysql:convert_tz", eval.Sig(ts, text, text), eval.TTimestamp, eval.Ask3(convertTZ)),
	)
	eval.Register(timePart2("hour", func(us int64) int64 { return us / types.MicrosPerHour })...)
	eval.Register(timePart2("minute", func(us int64) int64 { return us / types.MicrosPerMinute % 60 })...)
	eval.Register(timePart2("second", func(us int64) int64 { return us / 1e6 % 60 })...)
	eval.Register(timePart2("microsecond", func(us int64) int64 { return us % 1e6 })...)
}

// daysBefore1970 is TO_DAYS('1970-01-01').
const daysBefore1970 = 719528

func timePart2(name string, f func(us int64) int64) []eval.Func {
	return []eval.Func{
		eval.Immutable("mysql:"+name, eval.Sig(types.Interval), eval.TInt4, eval.Fn1(func(v types.IntervalValue) int64 { return f(max(v.Micros, -v.Micros)) })).NeverFails(),
		eval.Immutable("mysql:"+name, eval.Sig(types.Timestamp), eval.TInt4, eval.Fn1(func(t int64) int64 { return f(microOfDay(t)) })).NeverFails(),
	}
}

func dayOf(t int64) int64 { return types.FloorDiv(t, types.MicrosPerDay) }

func microOfDay(t int64) int64 { return t - dayOf(t)*types.MicrosPerDay }

func civil(t int64) (y int64, m, d int) { return types.CivilFromDays(dayOf(t)) }

// minDay and maxDay are MySQL's range of dates, 0001-01-01 to 9999-12-31.
var minDay, maxDay = types.DaysFromCivil(1, 1, 1), types.DaysFromCivil(9999, 12, 31)

func dateDatum(d int64) types.Datum {
	if d < minDay || d > maxDay {
		return types.Null
	}
	return types.NewInt(d)
}

func datetimeDatum(t int64) types.Datum {
	if d := dayOf(t); d < minDay || d > maxDay {
		return types.Null
	}
	return types.NewInt(t)
}

func dateOf(t types.Datum) types.Datum {
	if t.IsNull() {
		return t
	}
	return types.NewInt(dayOf(t.Int()))
}

// maxTime is 838:59:59 in microseconds.
const maxTime = (838*3600 + 59*60 + 59) * 1000000

func timeDatum(us int64) types.Datum {
	us = min(max(us, -maxTime), maxTime)
	return types.NewW128(types.IntervalValue{Micros: us}.W128())
}

// roundMicros and cutMicros bring microseconds to p digits of a second.
func roundMicros(us, p int64) int64 {
	unit := microUnit(p)
	half := unit / 2
	return types.FloorDiv(us+half, unit) * unit
}

func cutMicros(us, p int64) int64 {
	unit := microUnit(p)
	return types.FloorDiv(us, unit) * unit
}

func microUnit(p int64) int64 {
	unit := int64(1000000)
	for ; p > 0 && unit > 1; p-- {
		unit /= 10
	}
	return unit
}

// ---- as numbers and text ----

func dateNumber(d int64) int64 {
	y, m, day := types.CivilFromDays(d)
	return y*10000 + int64(m)*100 + int64(day)
}

func withMicros(whole, micros int64) types.Decimal {
	if micros == 0 {
		return types.DecimalFromInt64(whole)
	}
	if whole < 0 {
		micros = -micros
	}
	// Fourteen digits and six more are beyond 64 bits.
	return types.DecimalFromInt64(whole).Add(types.NewDecimal(micros, 6))
}

func datetimeNumber(t int64) types.Decimal {
	us := microOfDay(t)
	s := us / 1000000
	return withMicros(dateNumber(dayOf(t))*1000000+s/3600*10000+s/60%60*100+s%60, us%1000000)
}

func timeNumber(us int64) types.Decimal {
	a := max(us, -us)
	s := a / 1000000
	n := s/3600*10000 + s/60%60*100 + s%60
	d := withMicros(n, a%1000000)
	if us < 0 {
		return d.Neg()
	}
	return d
}

// MySQLDatetime spells a DATETIME; microseconds show where there are any.
func MySQLDatetime(t int64) string {
	y, m, d := civil(t)
	return fmt.Sprintf("%04d-%02d-%02d ", y, m, d) + clock(microOfDay(t))
}

func clock(us int64) string {
	s := us / 1000000
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
	if f := us % 1000000; f != 0 {
		text += fmt.Sprintf(".%06d", f)
	}
	return text
}

// MySQLTime spells a TIME of us microseconds.
func MySQLTime(us int64) string {
	if us < 0 {
		return "-" + clock(-us)
	}
	return clock(us)
}

func unixSeconds(us int64) types.Decimal {
	if us < 0 {
		return types.DecimalFromInt64(0)
	}
	return withMicros(us/1000000, us%1000000)
}

func decimalMicros(d types.Decimal) int64 {
	us, err := d.Mul(types.DecimalFromInt64(1000000)).Round(0).ToInt(types.Int8)
	if err != nil {
		return int64(d.Sign()) * maxTime * 2
	}
	return us
}

// ---- reading ----

// dateText reads a date or datetime as MySQL does: any punctuation between the parts, or no
// punctuation and 6, 8, 12 or 14 digits. dateOnly: there is no time in it.
func dateText(s string) (t int64, dateOnly, ok bool) {
	s = strings.TrimSpace(s)
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	var v [7]int64
	switch {
	case n == 0:
		return 0, false, false
	case n >= 5 && (n == len(s) || s[n] == '.' || s[n] == 'T' || s[n] == ' '):
		return packedDate(s, n)
	}
	k, i := 0, 0
	micros := ""
	for ; k < 6; k++ {
		j := i
		for j < len(s) && s[j] >= '0' && s[j] <= '9' && j-i < 4 {
			j++
		}
		if j == i {
			return 0, false, false
		}
		v[k], _ = strconv.ParseInt(s[i:j], 10, 64)
		if k == 0 && j-i <= 2 {
			v[0] = twoDigitYear(v[0])
		}
		i = j
		if i == len(s) {
			k++
			break
		}
		if k == 5 {
			if s[i] == '.' {
				j = i + 1
				for j < len(s) && s[j] >= '0' && s[j] <= '9' {
					j++
				}
				micros, i = s[i+1:j], j
			}
			k++
			break
		}
		switch c := s[i]; {
		case k == 2 && (c == 'T' || c == ' '):
			for i < len(s) && (s[i] == ' ' || s[i] == 'T') {
				i++
			}
		case c == ' ' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
			return 0, false, false
		default:
			i++
			if k > 2 && i == len(s) {
				return 0, false, false
			}
		}
	}
	if k < 3 {
		return 0, false, false
	}
	offset, rest := zoneOffset(s[min(i, len(s)):])
	if !rest {
		return 0, false, false
	}
	_ = offset // an instant with an offset is told apart by the caller's zone; MySQL converts on storage
	return packDatetime(v, micros, k == 3)
}

// zoneOffset reads +hh:mm and Z; ok also for an empty text.
func zoneOffset(s string) (us int64, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	h, e1 := strconv.Atoi(s[1:3])
	m, e2 := strconv.Atoi(s[4:6])
	return int64(h*60+m) * types.MicrosPerMinute, e1 == nil && e2 == nil && h <= 14 && m < 60
}

func twoDigitYear(y int64) int64 {
	if y < 70 {
		return 2000 + y
	}
	return 1900 + y
}

func packedDate(s string, n int) (int64, bool, bool) {
	digits, micros := s[:n], ""
	if n < len(s) {
		if s[n] != '.' {
			return 0, false, false
		}
		micros = s[n+1:]
		for i := 0; i < len(micros); i++ {
			if !isDigit(micros[i]) {
				return 0, false, false
			}
		}
	}
	var v [7]int64
	year := 2
	if n == 8 || n == 14 {
		year = 4
	}
	if n != 6 && n != 8 && n != 12 && n != 14 {
		return 0, false, false
	}
	v[0], _ = strconv.ParseInt(digits[:year], 10, 64)
	if year == 2 {
		v[0] = twoDigitYear(v[0])
	}
	k := 1
	for i := year; i+2 <= n; i += 2 {
		v[k], _ = strconv.ParseInt(digits[i:i+2], 10, 64)
		k++
	}
	return packDatetime(v, micros, k == 3)
}

func packDatetime(v [7]int64, micros string, dateOnly bool) (int64, bool, bool) {
	if v[0] < 1 || v[0] > 9999 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > int64(types.DaysInMonth(v[0], int(v[1]))) ||
		v[3] > 23 || v[4] > 59 || v[5] > 59 {
		return 0, false, false
	}
	t := types.DaysFromCivil(v[0], int(v[1]), int(v[2]))*types.MicrosPerDay + (v[3]*3600+v[4]*60+v[5])*1000000
	return t + fractionMicros(micros), dateOnly, true
}

// fractionMicros reads the digits behind a second's point, rounding the seventh.
func fractionMicros(s string) int64 {
	if s == "" {
		return 0
	}
	up := int64(0)
	if len(s) > 6 {
		if s[6] >= '5' {
			up = 1
		}
		s = s[:6]
	}
	n, _ := strconv.ParseInt(s+strings.Repeat("0", 6-len(s)), 10, 64)
	return n + up
}

func textDatetime(s string) types.Datum {
	t, _, ok := dateText(s)
	if !ok {
		return types.Null
	}
	return types.NewInt(t)
}

// datetimeCompared is a text that is compared with dates: one that is none is the zero date, which
// is before them all and equal to none.
func datetimeCompared(s string) int64 {
	if t, _, ok := dateText(s); ok {
		return t
	}
	return (minDay - 1) * types.MicrosPerDay
}

// numberCompared is a number that is compared with dates. One that is none is before them all, or
// behind them where it has more digits than they.
func numberCompared(d types.Decimal) int64 {
	if t := numberDatetime(d); !t.IsNull() {
		return t.Int()
	}
	if d.Cmp(types.DecimalFromInt64(99991231235959)) > 0 {
		return (maxDay + 1) * types.MicrosPerDay
	}
	return (minDay - 1) * types.MicrosPerDay
}

func textDate(s string) types.Datum { return dateOf(textDatetime(s)) }

// numberDatetime reads YYYYMMDD or YYYYMMDDhhmmss with a fraction.
func numberDatetime(d types.Decimal) types.Datum {
	whole := d.Trunc(0)
	i, err := whole.ToInt(types.Int8)
	if err != nil || i < 101 {
		return types.Null
	}
	digits := strconv.FormatInt(i, 10)
	switch n := len(digits); {
	case n < 6:
		digits = strings.Repeat("0", 6-n) + digits
	case n == 7:
		digits = "0" + digits
	case n > 8 && n < 12:
		digits = strings.Repeat("0", 12-n) + digits
	case n == 13:
		digits = "0" + digits
	}
	t, _, ok := packedDate(digits, len(digits))
	if !ok {
		return types.Null
	}
	frac := d.Sub(whole)
	return types.NewInt(t + decimalMicros(frac))
}

// IsDatetimeText tells a date or datetime from a time: two signs between digits before the space,
// or fourteen digits.
func IsDatetimeText(s string) bool {
	s = strings.TrimSpace(s)
	day, clock, both := strings.Cut(s, " ")
	if !both {
		day, clock, both = strings.Cut(s, "T")
	}
	signs, digits := 0, 0
	for i := 0; i < len(day); i++ {
		if isDigit(day[i]) {
			digits++
		} else if i > 0 {
			signs++
		}
	}
	if signs == 0 && digits >= 14 {
		return true
	}
	return signs == 2 && (both && clock != "" || strings.Count(day, "-") == 2 && day[0] != '-')
}

// textTime reads [-][d ]hh:mm:ss[.f], hh:mm, hhmmss, or the time of a datetime.
func textTime(s string) types.Datum {
	s = strings.TrimSpace(s)
	neg := strings.HasPrefix(s, "-")
	u := strings.TrimPrefix(s, "-")
	if IsDatetimeText(s) {
		if t, _, ok := dateText(s); ok {
			return timeDatum(microOfDay(t))
		}
		return types.Null
	}
	var days int64
	if d, rest, ok := strings.Cut(u, " "); ok {
		n, err := strconv.ParseInt(d, 10, 32)
		if err != nil {
			return types.Null
		}
		days, u = n, strings.TrimSpace(rest)
	}
	clock, frac, _ := strings.Cut(u, ".")
	for i := 0; i < len(frac); i++ {
		if !isDigit(frac[i]) {
			frac = frac[:i]
			break
		}
	}
	parts := strings.Split(clock, ":")
	var v [3]int64
	read := func(i int, t string) bool {
		n, err := strconv.ParseInt(t, 10, 32)
		v[i] = n
		return err == nil && n >= 0
	}
	switch {
	case len(parts) > 3:
		return types.Null
	case len(parts) == 1 && days == 0:
		n, err := strconv.ParseInt(clock, 10, 64)
		if err != nil {
			return types.Null
		}
		v[0], v[1], v[2] = n/10000, n/100%100, n%100
	default:
		for i, t := range parts {
			if !read(i, t) {
				return types.Null
			}
		}
	}
	if v[1] > 59 || v[2] > 59 {
		return types.Null
	}
	us := ((days*24+v[0])*3600+v[1]*60+v[2])*1000000 + fractionMicros(frac)
	if neg {
		us = -us
	}
	return timeDatum(us)
}

func numberTime(d types.Decimal) types.Datum {
	a := d.Abs()
	whole := a.Trunc(0)
	i, err := whole.ToInt(types.Int8)
	if err != nil {
		return types.Null
	}
	if i > 8385959 {
		t := numberDatetime(d)
		if t.IsNull() {
			return t
		}
		return timeDatum(microOfDay(t.Int()))
	}
	h, m, s := i/10000, i/100%100, i%100
	if m > 59 || s > 59 {
		return types.Null
	}
	us := (h*3600+m*60+s)*1000000 + decimalMicros(a.Sub(whole))
	if d.Sign() < 0 {
		us = -us
	}
	return timeDatum(us)
}

func makeDateOf(y, n int64) types.Datum {
	if n < 1 || y < 0 || y > 9999 || n > 4000000 {
		return types.Null
	}
	if y < 100 {
		y = twoDigitYear(y)
	}
	return dateDatum(types.DaysFromCivil(y, 1, 1) + n - 1)
}

func makeTimeOf(h, m int64, s types.Decimal) types.Datum {
	us := decimalMicros(s)
	if m < 0 || m > 59 || us < 0 || us >= 60*1000000 {
		return types.Null
	}
	neg := h < 0
	h = min(max(h, -h), 10000)
	t := (h*3600+m*60)*1000000 + us
	if neg {
		t = -t
	}
	return timeDatum(t)
}

// ---- weeks ----

// weekOf numbers a day's week in the eight modes: bit 0 weeks start on Monday, bit 1 a week
// belongs to the year that most of it lies in, bit 2 the first week is the first that starts in
// the year (of modes with Sunday, turned round).
func weekOf(day, mode int64) (year, week int64) {
	monday, ofYear, first := mode&1 != 0, mode&2 != 0, mode&4 != 0
	if !monday {
		first = !first
	}
	year, m, d := types.CivilFromDays(day)
	start := types.DaysFromCivil(year, 1, 1)
	weekdayOf := func(x int64) int64 {
		w := int64(types.Weekday(x))
		if monday {
			w = (w + 6) % 7
		}
		return w
	}
	length := func(y int64) int64 {
		if types.IsLeap(y) {
			return 366
		}
		return 365
	}
	wd := weekdayOf(start)
	late := func() bool { return first && wd != 0 || !first && wd >= 4 }
	if m == 1 && int64(d) <= 7-wd {
		if !ofYear && late() {
			return year, 0
		}
		ofYear = true
		year--
		days := length(year)
		start -= days
		wd = (wd + 53*7 - days) % 7
	}
	var days int64
	if late() {
		days = day - (start + 7 - wd)
	} else {
		days = day - (start - wd)
	}
	if ofYear && days >= 52*7 {
		wd = (wd + length(year)) % 7
		if !late() {
			return year + 1, 1
		}
	}
	return year, days/7 + 1
}

func yearWeek(t, mode int64) int64 {
	y, w := weekOf(dayOf(t), mode|2)
	return y*100 + w
}

func toPeriod(p int64) int64 {
	if p == 0 {
		return 0
	}
	y := p / 100
	if y < 70 {
		y += 2000
	} else if y < 100 {
		y += 1900
	}
	return y*12 + p%100 - 1
}

func fromPeriod(m int64) int64 { return m/12*100 + m%12 + 1 }

// ---- zones ----

func convertTZ(c *eval.Ctx, t int64, from, to string) (types.Datum, error) {
	a, ok := mysqlZone(c, from)
	b, ok2 := mysqlZone(c, to)
	if !ok || !ok2 {
		return types.Null, nil
	}
	// Beyond the range of TIMESTAMP nothing is converted.
	utc := types.ToUTC(a, t)
	if utc < 1_000_000 || utc >= lastTimestamp {
		return types.NewInt(t), nil
	}
	return datetimeDatum(types.ToLocal(b, utc)), nil
}

// lastTimestamp is where the seconds of UNIX_TIMESTAMP end: after 3001-01-18 23:59:59.
const lastTimestamp = 32536771200 * 1_000_000

func mysqlZone(c *eval.Ctx, name string) (*time.Location, bool) {
	switch strings.ToUpper(name) {
	case "SYSTEM":
		return eval.ZoneOf(c), true
	case "UTC", "GMT":
		return time.UTC, true
	}
	if name != "" && (name[0] == '+' || name[0] == '-') {
		text := name
		if len(text) == 5 {
			text = text[:1] + "0" + text[1:]
		}
		us, ok := zoneOffset(text)
		if !ok {
			return nil, false
		}
		if name[0] == '-' {
			us = -us
		}
		return time.FixedZone(name, int(us/1000000)), true
	}
	return types.NamedZone(name)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
