package mysqlfunc

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
)

func registerDateformat() {
	const ts, iv, text, n = types.Timestamp, types.Interval, types.Text, types.Numeric
	eval.Register(
		eval.Immutable("mysql:date_format", eval.Sig(ts, text), eval.TText, eval.Fn2(dateFormat)).NeverFails(),
		eval.Immutable("mysql:time_format", eval.Sig(iv, text), eval.TText, eval.Fn2(func(v types.IntervalValue, f string) types.Datum { return timeFormat(v.Micros, f) })).NeverFails(),
		eval.Stable("mysql:from_unixtime", eval.Sig(n, text), eval.TText, eval.Ask2(func(c *eval.Ctx, d types.Decimal, f string) (types.Datum, error) {
			if d.Sign() < 0 {
				return types.Null, nil
			}
			return dateFormat(types.ToLocal(eval.ZoneOf(c), decimalMicros(d)), f), nil
		})),
		eval.Immutable("mysql:str_to_datetime", eval.Sig(text, text), eval.TTimestamp, eval.Fn2(func(s, f string) types.Datum {
			t, _, ok := strToDate(s, f)
			if !ok {
				return types.Null
			}
			return datetimeDatum(t)
		})).NeverFails(),
		eval.Immutable("mysql:str_to_day", eval.Sig(text, text), eval.TDate, eval.Fn2(func(s, f string) types.Datum {
			t, _, ok := strToDate(s, f)
			if !ok {
				return types.Null
			}
			return dateOf(datetimeDatum(t))
		})).NeverFails(),
		eval.Immutable("mysql:str_to_time", eval.Sig(text, text), eval.TInterval, eval.Fn2(func(s, f string) types.Datum {
			t, timeOnly, ok := strToDate(s, f)
			if !ok || !timeOnly {
				return types.Null
			}
			return timeDatum(t)
		})).NeverFails(),
		eval.Immutable("mysql:get_format", eval.Sig(text, text), eval.TText, eval.Fn2(getFormat)).NeverFails(),
	)
}

func dateFormat(t int64, format string) types.Datum {
	var b room.Builder
	y, m, d := civil(t)
	day := dayOf(t)
	weekday := time.Weekday(types.Weekday(day))
	us := microOfDay(t)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case 'a':
			b.WriteString(weekday.String()[:3])
		case 'W':
			b.WriteString(weekday.String())
		case 'b':
			b.WriteString(time.Month(m).String()[:3])
		case 'M':
			b.WriteString(time.Month(m).String())
		case 'c':
			b.WriteString(eval.ZeroPadded(int64(m), 0))
		case 'm':
			b.WriteString(eval.ZeroPadded(int64(m), 2))
		case 'D':
			fmt.Fprintf(&b, "%d%s", d, ordinalSuffix(d))
		case 'd':
			b.WriteString(eval.ZeroPadded(int64(d), 2))
		case 'e':
			b.WriteString(eval.ZeroPadded(int64(d), 0))
		case 'j':
			b.WriteString(eval.ZeroPadded(int64(types.DayOfYear(day)), 3))
		case 'Y':
			b.WriteString(eval.ZeroPadded(int64(y), 4))
		case 'y':
			b.WriteString(eval.ZeroPadded(int64(y%100), 2))
		case 'w':
			b.WriteString(eval.ZeroPadded(int64(weekday), 0))
		case 'U', 'u', 'V', 'v':
			mode := map[byte]int64{'U': 0, 'u': 1, 'V': 2, 'v': 3}[c]
			_, w := weekOf(day, mode)
			b.WriteString(eval.ZeroPadded(int64(w), 2))
		case 'X', 'x':
			mode := map[byte]int64{'X': 2, 'x': 3}[c]
			wy, _ := weekOf(day, mode)
			b.WriteString(eval.ZeroPadded(int64(wy), 4))
		default:
			if !clockFormat(&b, c, us, us/3600000000) {
				b.WriteByte(c)
			}
		}
	}
	return types.NewStr(b.String())
}

// clockFormat writes the parts of a time of day; hour may be more than a day's.
func clockFormat(b *room.Builder, c byte, us, hour int64) bool {
	m, s, f := us/60000000%60, us/1000000%60, us%1000000
	h12 := (hour%24+11)%12 + 1
	half := "AM"
	if hour%24 >= 12 {
		half = "PM"
	}
	switch c {
	case 'H':
		b.WriteString(eval.ZeroPadded(int64(hour), 2))
	case 'k':
		b.WriteString(eval.ZeroPadded(int64(hour), 0))
	case 'h', 'I':
		b.WriteString(eval.ZeroPadded(int64(h12), 2))
	case 'l':
		b.WriteString(eval.ZeroPadded(int64(h12), 0))
	case 'i':
		b.WriteString(eval.ZeroPadded(int64(m), 2))
	case 'S', 's':
		b.WriteString(eval.ZeroPadded(int64(s), 2))
	case 'f':
		b.WriteString(eval.ZeroPadded(int64(f), 6))
	case 'p':
		b.WriteString(half)
	case 'r':
		fmt.Fprintf(b, "%02d:%02d:%02d %s", h12, m, s, half)
	case 'T':
		fmt.Fprintf(b, "%02d:%02d:%02d", hour, m, s)
	default:
		return false
	}
	return true
}

func ordinalSuffix(d int) string {
	if d >= 10 && d <= 19 {
		return "th"
	}
	switch d % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// timeFormat knows the parts of a time only; a part of a date makes the result NULL or zero.
func timeFormat(us int64, format string) types.Datum {
	a := max(us, -us)
	var b room.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case 'Y':
			b.WriteString("0000")
		case 'y', 'm', 'd':
			b.WriteString("00")
		case 'c', 'e':
			b.WriteString("0")
		case 'a', 'b', 'D', 'j', 'M', 'U', 'u', 'V', 'v', 'W', 'w', 'X', 'x':
			return types.Null
		default:
			if !clockFormat(&b, c, a, a/3600000000) {
				b.WriteByte(c)
			}
		}
	}
	if us < 0 {
		return types.NewStr("-" + b.String())
	}
	return types.NewStr(b.String())
}

func getFormat(kind, style string) types.Datum {
	formats := map[string]map[string]string{
		"date": {"usa": "%m.%d.%Y", "jis": "%Y-%m-%d", "iso": "%Y-%m-%d", "eur": "%d.%m.%Y", "internal": "%Y%m%d"},
		"datetime": {"usa": "%Y-%m-%d %H.%i.%s", "jis": "%Y-%m-%d %H:%i:%s", "iso": "%Y-%m-%d %H:%i:%s",
			"eur": "%Y-%m-%d %H.%i.%s", "internal": "%Y%m%d%H%i%s"},
		"time": {"usa": "%h:%i:%s %p", "jis": "%H:%i:%s", "iso": "%H:%i:%s", "eur": "%H.%i.%s", "internal": "%H%i%s"},
	}
	if kind == "timestamp" {
		kind = "datetime"
	}
	f, ok := formats[kind][strings.ToLower(style)]
	if !ok {
		return types.Null
	}
	return types.NewStr(f)
}

// DateFormatParts tells what a format of STR_TO_DATE has: parts of a date, parts of a time.
func DateFormatParts(format string) (date, clock bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch format[i] {
		case 'H', 'k', 'h', 'I', 'l', 'i', 'S', 's', 'f', 'p', 'r', 'T':
			clock = true
		case '%', '.', '#', '@':
		default:
			date = true
		}
	}
	return date, clock
}

// strToDate reads s by a format. A format without a date gives the microseconds of a time.
func strToDate(s, format string) (t int64, timeOnly, ok bool) {
	p := datePieces{year: -1, month: -1, day: -1, yday: -1, weekday: -1, week: -1}
	rest, ok := p.read(s, format)
	if !ok {
		return 0, false, false
	}
	_ = rest
	if p.half >= 0 && p.hasHalf {
		if p.hour < 1 || p.hour > 12 {
			return 0, false, false
		}
		p.hour = p.hour%12 + p.half*12
	}
	if p.minute > 59 || p.second > 59 {
		return 0, false, false
	}
	clock := (p.hour*3600+p.minute*60+p.second)*1000000 + p.micro
	date, hasClock := DateFormatParts(format)
	if !date && !hasClock {
		return 0, false, false
	}
	if !date {
		return clock, true, p.hour < 839
	}
	if p.hour > 23 {
		return 0, false, false
	}
	day, ok := p.date()
	return day*types.MicrosPerDay + clock, false, ok
}

type datePieces struct {
	year, month, day, yday, weekday, week int64
	weekMode                              byte
	hour, minute, second, micro           int64
	half                                  int64
	hasHalf                               bool
}

func (p *datePieces) date() (int64, bool) {
	switch {
	case p.yday > 0 && p.year >= 0:
		d := types.DaysFromCivil(p.year, 1, 1) + p.yday - 1
		return d, p.yday <= 366
	case p.week >= 0 && p.weekday >= 0 && p.year >= 0:
		return p.byWeek()
	}
	if p.year < 1 || p.month < 1 || p.month > 12 || p.day < 1 || p.day > int64(types.DaysInMonth(p.year, int(p.month))) {
		return 0, false
	}
	return types.DaysFromCivil(p.year, int(p.month), int(p.day)), true
}

// byWeek finds the day of a week by the numbering that the format named.
func (p *datePieces) byWeek() (int64, bool) {
	mode := map[byte]int64{'U': 0, 'u': 1, 'V': 2, 'v': 3}[p.weekMode]
	start := types.DaysFromCivil(p.year, 1, 1)
	for d := start - 7; d <= start+373; d++ {
		y, w := weekOf(d, mode)
		if w == p.week && int64(types.Weekday(d)) == p.weekday && (mode < 2 && y == p.year || mode >= 2 && y == p.year) {
			return d, true
		}
	}
	return 0, false
}

// read matches s against the format; what is left of s is allowed, as MySQL warns only.
func (p *datePieces) read(s, format string) (string, bool) {
	number := func(most int) (int64, bool) {
		n := 0
		for n < len(s) && n < most && isDigit(s[n]) {
			n++
		}
		if n == 0 {
			return 0, false
		}
		v, _ := strconv.ParseInt(s[:n], 10, 64)
		s = s[n:]
		return v, true
	}
	name := func(names func(i int) string, n int, short bool) (int64, bool) {
		for i := 0; i < n; i++ {
			w := names(i)
			if short {
				w = w[:3]
			}
			if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
				s = s[len(w):]
				return int64(i), true
			}
		}
		return 0, false
	}
	month := func(i int) string { return time.Month(i + 1).String() }
	weekday := func(i int) string { return time.Weekday(i).String() }
	for i := 0; i < len(format); i++ {
		s = strings.TrimLeft(s, " ")
		f := format[i]
		if f == ' ' {
			continue
		}
		if s == "" {
			if i == 0 {
				return s, false
			}
			return s, true // the rest is missing: zero
		}
		if f != '%' || i+1 == len(format) {
			if s[0] != f {
				return s, false
			}
			s = s[1:]
			continue
		}
		i++
		ok := true
		switch format[i] {
		case 'Y':
			n := len(s)
			p.year, ok = number(4)
			if n-len(s) <= 2 {
				p.year = twoDigitYear(p.year)
			}
		case 'y':
			p.year, ok = number(2)
			p.year = twoDigitYear(p.year)
		case 'm', 'c':
			p.month, ok = number(2)
		case 'M':
			p.month, ok = name(month, 12, false)
			p.month++
		case 'b':
			p.month, ok = name(month, 12, true)
			p.month++
		case 'd', 'e':
			p.day, ok = number(2)
		case 'D':
			if p.day, ok = number(2); ok && len(s) >= 2 {
				s = s[2:]
			}
		case 'j':
			p.yday, ok = number(3)
		case 'a':
			p.weekday, ok = name(weekday, 7, true)
		case 'W':
			p.weekday, ok = name(weekday, 7, false)
		case 'w':
			p.weekday, ok = number(1)
		case 'U', 'u', 'V', 'v':
			p.weekMode = format[i]
			p.week, ok = number(2)
		case 'X', 'x':
			p.year, ok = number(4)
		case 'H', 'k', 'h', 'I', 'l':
			p.hour, ok = number(2)
		case 'i':
			p.minute, ok = number(2)
		case 's', 'S':
			p.second, ok = number(2)
		case 'f':
			n := 0
			for n < len(s) && n < 6 && isDigit(s[n]) {
				n++
			}
			p.micro, ok = fractionMicros(s[:n]), n > 0
			s = s[n:]
		case 'p':
			ok = len(s) >= 2 && strings.EqualFold(s[1:2], "m") && (s[0]|0x20 == 'a' || s[0]|0x20 == 'p')
			if ok {
				p.hasHalf = true
				if s[0]|0x20 == 'p' {
					p.half = 1
				}
				s = s[2:]
			}
		case 'T', 'r':
			inner := "%H:%i:%s"
			if format[i] == 'r' {
				inner = "%h:%i:%s %p"
			}
			s, ok = p.read(s, inner)
		case '.':
			for s != "" && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[0]) >= 0 {
				s = s[1:]
			}
		case '@':
			for s != "" && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') {
				s = s[1:]
			}
		case '#':
			for s != "" && isDigit(s[0]) {
				s = s[1:]
			}
		case '%':
			ok = s[0] == '%'
			if ok {
				s = s[1:]
			}
		default:
			ok = false
		}
		if !ok {
			return s, false
		}
	}
	return s, true
}
