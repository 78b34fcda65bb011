package types

import (
	"math"
	"strconv"
	"strings"
)

// intervalUnit is what a number in an interval counts.
type intervalUnit uint8

const (
	noUnit intervalUnit = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitRefused // a unit that intervals do not take
)

var intervalUnits = func() map[string]intervalUnit {
	m := map[string]intervalUnit{}
	for unit, words := range map[intervalUnit]string{
		unitMicrosecond: "us usec usecs useconds usecond microsecon microseconds",
		unitMillisecond: "ms msec msecs msecond mseconds millisecon",
		unitSecond:      "s sec secs second seconds",
		unitMinute:      "m min mins minute minutes",
		unitHour:        "h hr hrs hour hours",
		unitDay:         "d day days",
		unitWeek:        "w week weeks",
		unitMonth:       "mon mons month months",
		unitYear:        "y yr yrs year years",
		unitDecade:      "dec decs decade decades",
		unitCentury:     "c cent century centuries",
		unitMillennium:  "mil mils millennium millennia",
		unitRefused:     "qtr quarter timezone timezone_h timezone_m",
	} {
		for _, w := range strings.Fields(words) {
			m[clipToken(w)] = unit
		}
	}
	return m
}()

// ParseInterval reads PostgreSQL's interval input.
func ParseInterval(s string, o *TextOptions) (IntervalValue, error) {
	return ParseIntervalFields(s, "", o)
}

// ParseIntervalFields reads the text of INTERVAL '…' fields, fields being "", "year", "month",
// "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute",
// "day to second", "hour to minute", "hour to second" or "minute to second": a last number
// without a unit counts the last field, and what is smaller than it is cut off.
func ParseIntervalFields(s, fields string, o *TextOptions) (IntervalValue, error) {
	const typ = "interval"
	o = o.orDefault()
	if len(s) > 1024 {
		return IntervalValue{}, dateBadFormat.error(typ, s, "")
	}
	d := intervalDecoder{standard: o.IntervalStyle == "sql_standard", fields: fields}
	e := dateBadFormat
	if f, ok := splitDateFields(s); ok && len(f) > 0 {
		e = d.decode(f)
	}
	if e == dateBadFormat {
		if t := trimSpace(s); strings.HasPrefix(t, "P") {
			d = intervalDecoder{}
			e = d.decodeISO(t)
		}
	}
	if e == dateOverflow {
		e = intervalOverflow
	}
	if e != dateOK {
		return IntervalValue{}, e.error(typ, s, "")
	}
	if d.overflow {
		return IntervalValue{}, intervalOverflow.error(typ, s, "")
	}
	months := d.years*12 + d.months
	if months != int64(int32(months)) {
		return IntervalValue{}, errIntervalRange()
	}
	v := IntervalValue{int32(months), int32(d.days), d.micros}
	return v.TruncFields(fields), nil
}

// TruncFields cuts v to what an interval restricted to fields keeps (AdjustIntervalForTypmod).
func (v IntervalValue) TruncFields(fields string) IntervalValue {
	last := fields
	if i := strings.LastIndexByte(fields, ' '); i >= 0 {
		last = fields[i+1:]
	}
	switch strings.ToLower(last) {
	case "year":
		return IntervalValue{Months: v.Months / 12 * 12}
	case "month":
		return IntervalValue{Months: v.Months}
	case "day":
		v.Micros = 0
	case "hour":
		v.Micros = v.Micros / MicrosPerHour * MicrosPerHour
	case "minute":
		v.Micros = v.Micros / MicrosPerMinute * MicrosPerMinute
	}
	return v
}

type intervalDecoder struct {
	standard bool
	fields   string

	// Of years, months and days each must be an int4 by itself, as must be the months of both
	// together, which is another error.
	years, months, days, micros int64
	overflow                    bool
}

// add adds (val + frac) units, val and frac having one sign.
func (d *intervalDecoder) add(unit intervalUnit, val int64, frac float64) {
	mul := func(dst *int64, n int64) {
		w := MulInt64(val, n).Add64(*dst)
		if !w.IsInt64() {
			d.overflow = true
		}
		*dst = w.Int64()
		d.check()
	}
	switch unit {
	case unitMicrosecond:
		mul(&d.micros, 1)
		d.fracMicros(frac, 1)
	case unitMillisecond:
		mul(&d.micros, 1000)
		d.fracMicros(frac, 1000)
	case unitSecond:
		mul(&d.micros, MicrosPerSecond)
		d.fracMicros(frac, MicrosPerSecond)
	case unitMinute:
		mul(&d.micros, MicrosPerMinute)
		d.fracMicros(frac, MicrosPerMinute)
	case unitHour:
		mul(&d.micros, MicrosPerHour)
		d.fracMicros(frac, MicrosPerHour)
	case unitDay:
		mul(&d.days, 1)
		d.fracMicros(frac, MicrosPerDay)
	case unitWeek:
		mul(&d.days, 7)
		d.fracDays(frac, 7)
	case unitMonth:
		mul(&d.months, 1)
		d.fracDays(frac, 30)
	case unitYear:
		mul(&d.years, 1)
		d.fracMonths(frac, 12)
	case unitDecade:
		mul(&d.years, 10)
		d.fracMonths(frac, 120)
	case unitCentury:
		mul(&d.years, 100)
		d.fracMonths(frac, 1200)
	case unitMillennium:
		mul(&d.years, 1000)
		d.fracMonths(frac, 12000)
	}
}

func (d *intervalDecoder) check() {
	for _, n := range [...]int64{d.years, d.months, d.days} {
		d.overflow = d.overflow || n != int64(int32(n))
	}
}

func (d *intervalDecoder) fracMicros(frac float64, scale int64) {
	if frac == 0 {
		return
	}
	f := frac * float64(scale)
	us := int64(f)
	f -= float64(us)
	if f > 0.5 {
		us++
	} else if f < -0.5 {
		us--
	}
	r, ok := addInt64(d.micros, us)
	d.micros, d.overflow = r, d.overflow || !ok
}

func (d *intervalDecoder) fracDays(frac float64, scale int64) {
	f := frac * float64(scale)
	whole := int64(f)
	d.days += whole
	d.check()
	d.fracMicros(f-float64(whole), MicrosPerDay)
}

func (d *intervalDecoder) fracMonths(frac float64, scale int64) {
	d.months += int64(math.RoundToEven(frac * float64(scale)))
	d.check()
}

func (d *intervalDecoder) negate() {
	d.overflow = d.overflow || d.micros == math.MinInt64
	d.years, d.months, d.days, d.micros = -d.years, -d.months, -d.days, -d.micros
	d.check()
}

// decode reads the fields from the right, so that a unit is known before its number
// (DecodeInterval).
func (d *intervalDecoder) decode(fields []dateField) dateErr {
	var seen uint32
	const clockBits = 1<<unitHour | 1<<unitMinute | 1<<unitSecond | 1<<unitMillisecond | 1<<unitMicrosecond
	unit, before := noUnit, false
	// The SQL standard reads '-1 1:00:00' as all negative.
	negative := d.standard && fields[0].text[0] == '-'
	for _, f := range fields[1:] {
		negative = negative && f.text[0] != '-' && f.text[0] != '+'
	}
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		var got uint32
		if f.look == lookTime || f.look == lookTZ && strings.IndexByte(f.text[1:], ':') > 0 {
			text, neg := f.text, false
			if f.look == lookTZ {
				text, neg = text[1:], text[0] == '-'
			}
			us, err := d.clock(text)
			if err == dateOK {
				if neg || negative && us > 0 {
					us = -us
				}
				if seen&clockBits != 0 {
					return dateBadFormat
				}
				seen |= clockBits
				r, ok := addInt64(d.micros, us)
				d.micros, d.overflow = r, d.overflow || !ok
				unit = unitDay
				continue
			}
			if f.look == lookTime {
				return err
			}
		}
		switch f.look {
		case lookTZ, lookDate, lookNumber:
			if unit == noUnit {
				unit = d.defaultUnit()
			}
			val, frac, ym, err := intervalNumber(f.text)
			if err != dateOK {
				return err
			}
			if ym {
				unit = unitMonth
			}
			if unit == unitRefused {
				return dateBadFormat
			}
			if negative && val >= 0 && frac >= 0 {
				val, frac = -val, -frac
			}
			d.add(unit, val, frac)
			got = 1 << unit
			if unit == unitSecond && frac != 0 {
				got |= 1<<unitMillisecond | 1<<unitMicrosecond
			}
			if ym {
				got = 0
			}
			if unit == unitHour {
				unit = unitDay // for the next number to the left
			}
		default:
			word := clipToken(f.text)
			if word == "ago" {
				before = true
				unit = unitRefused
				if i != len(fields)-1 {
					unit = noUnit
				}
				continue
			}
			u, ok := intervalUnits[word]
			if !ok {
				if dateTokens[word].kind == tokIgnore {
					continue
				}
				return dateBadFormat
			}
			unit = u
			continue
		}
		if got&seen != 0 {
			return dateBadFormat
		}
		seen |= got
		if seen == 0 {
			seen = 1 << noUnit
		}
	}
	if seen == 0 {
		return dateBadFormat
	}
	if before {
		d.negate()
	}
	return dateOK
}

// clock reads hh:mm[:ss[.f]] of an interval, where hours are free and mm:ss means what the
// fields say.
func (d *intervalDecoder) clock(s string) (int64, dateErr) {
	h, m, sec, us, err := clock(s)
	if err != dateOK {
		return 0, err
	}
	if d.fields == "minute to second" && strings.Count(s, ":") == 1 && !strings.Contains(s, ".") {
		if h, m, sec = 0, h, m; m > 59 {
			return 0, dateOverflow
		}
	}
	w := MulInt64(h, MicrosPerHour).Add64(m*MicrosPerMinute + sec*MicrosPerSecond + us)
	if !w.IsInt64() {
		return 0, dateOverflow
	}
	return w.Int64(), dateOK
}

func (d *intervalDecoder) defaultUnit() intervalUnit {
	last := d.fields
	if i := strings.LastIndexByte(last, ' '); i >= 0 {
		last = last[i+1:]
	}
	switch last {
	case "year":
		return unitYear
	case "month":
		return unitMonth
	case "day":
		return unitDay
	case "hour":
		return unitHour
	case "minute":
		return unitMinute
	}
	return unitSecond
}

// intervalNumber reads ±n, ±n.f or the standard's years-months.
func intervalNumber(s string) (val int64, frac float64, yearMonth bool, err dateErr) {
	neg := s[0] == '-'
	body := s
	if neg || s[0] == '+' {
		body = s[1:]
	}
	n := digitsLen(body)
	rest := body[n:]
	if n > 0 {
		text := body[:n]
		if neg {
			text = "-" + text
		}
		v, e := strconv.ParseInt(text, 10, 64)
		if e != nil {
			return 0, 0, false, dateOverflow
		}
		val = v
	}
	switch {
	case rest == "":
		if n == 0 {
			return 0, 0, false, dateBadFormat
		}
	case rest[0] == '-':
		k := digitsLen(rest[1:])
		if k == 0 || k != len(rest)-1 {
			return 0, 0, false, dateBadFormat
		}
		m := int64(99)
		if k < 4 {
			m = atoi(rest[1:])
		}
		if m >= 12 || val > math.MaxInt64/12-1 || val < math.MinInt64/12+1 {
			return 0, 0, false, dateOverflow
		}
		if neg {
			m = -m
		}
		return val*12 + m, 0, true, dateOK
	case rest[0] == '.':
		if digitsLen(rest[1:]) != len(rest)-1 {
			return 0, 0, false, dateBadFormat
		}
		frac, _ = strconv.ParseFloat("0"+rest, 64)
		if neg {
			frac = -frac
		}
	default:
		return 0, 0, false, dateBadFormat
	}
	return val, frac, false, dateOK
}

// decodeISO reads ISO 8601: P1Y2M3DT4H5M6S, or P0001-02-03T04:05:06 (DecodeISO8601Interval).
func (d *intervalDecoder) decodeISO(s string) dateErr {
	s = s[1:]
	if s == "" {
		return dateBadFormat
	}
	datePart, haveField := true, false
	for s != "" {
		if s[0] == 'T' {
			datePart, haveField = false, false
			s = s[1:]
			continue
		}
		val, frac, n, ok := isoNumber(s)
		if !ok {
			return dateBadFormat
		}
		unit := byte(0)
		if n < len(s) {
			unit = s[n]
		}
		rest := s[min(n+1, len(s)):]
		if datePart {
			switch unit {
			case 'Y':
				d.add(unitYear, val, frac)
			case 'M':
				d.add(unitMonth, val, frac)
			case 'W':
				d.add(unitWeek, val, frac)
			case 'D':
				d.add(unitDay, val, frac)
			case 'T', 0:
				if frac == 0 && n == 8 && !haveField { // YYYYMMDD
					d.add(unitYear, val/10000, 0)
					d.add(unitMonth, val/100%100, 0)
					d.add(unitDay, val%100, 0)
					if unit == 0 {
						return dateOK
					}
					datePart, s = false, rest
					haveField = false
					continue
				}
				return d.isoAlternative(s, haveField)
			case '-':
				return d.isoAlternative(s, haveField)
			default:
				return dateBadFormat
			}
		} else {
			switch unit {
			case 'H':
				d.add(unitHour, val, frac)
			case 'M':
				d.add(unitMinute, val, frac)
			case 'S':
				d.add(unitSecond, val, frac)
			case 0:
				if n == 6 && frac == 0 && !haveField { // hhmmss
					d.add(unitHour, val/10000, 0)
					d.add(unitMinute, val/100%100, 0)
					d.add(unitSecond, val%100, 0)
					return dateOK
				}
				return d.isoClock(s, haveField)
			case ':':
				return d.isoClock(s, haveField)
			default:
				return dateBadFormat
			}
		}
		haveField = true
		s = rest
	}
	return dateOK
}

// isoAlternative reads years-months-days[Ttime].
func (d *intervalDecoder) isoAlternative(s string, haveField bool) dateErr {
	if haveField {
		return dateBadFormat
	}
	for i, unit := range []intervalUnit{unitYear, unitMonth, unitDay} {
		val, frac, n, ok := isoNumber(s)
		if !ok {
			return dateBadFormat
		}
		d.add(unit, val, frac)
		s = s[n:]
		if s == "" {
			return dateOK
		}
		if s[0] == 'T' {
			return d.decodeISO("P" + s)
		}
		if s[0] != '-' || i == 2 {
			return dateBadFormat
		}
		s = s[1:]
	}
	return dateBadFormat
}

func (d *intervalDecoder) isoClock(s string, haveField bool) dateErr {
	if haveField {
		return dateBadFormat
	}
	for i, unit := range []intervalUnit{unitHour, unitMinute, unitSecond} {
		val, frac, n, ok := isoNumber(s)
		if !ok {
			return dateBadFormat
		}
		d.add(unit, val, frac)
		s = s[n:]
		if s == "" {
			return dateOK
		}
		if s[0] != ':' || i == 2 {
			return dateBadFormat
		}
		s = s[1:]
	}
	return dateBadFormat
}

// isoNumber reads a leading number, n being its length in bytes.
func isoNumber(s string) (val int64, frac float64, n int, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		n = 1
	}
	digits := digitsLen(s[n:])
	n += digits
	if n < len(s) && s[n] == '.' {
		k := digitsLen(s[n+1:])
		n += 1 + k
		digits += k
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		k := n + 1
		if k < len(s) && (s[k] == '-' || s[k] == '+') {
			k++
		}
		if e := digitsLen(s[k:]); e > 0 {
			n = k + e
		}
	}
	// A number is a double, whose fraction is what precision is left for one.
	v, err := strconv.ParseFloat(s[:n], 64)
	if digits == 0 || err != nil || math.Abs(v) > 1<<53*1024 {
		return 0, 0, n, false
	}
	whole := math.Trunc(v)
	return int64(whole), v - whole, n, true
}
