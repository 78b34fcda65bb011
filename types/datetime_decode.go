package types

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// fieldMask says which parts of a date and time are known already.
type fieldMask uint32

const (
	hasYear fieldMask = 1 << iota
	hasMonth
	hasDay
	hasDOY
	hasTime
	hasZone
	hasDST
	hasAMPM
	hasADBC
	hasWeekday

	hasDate = hasYear | hasMonth | hasDay
)

type dateErr uint8

const (
	dateOK dateErr = iota
	dateBadFormat
	dateOverflow
	dateMonthDayOverflow
	dateZoneOverflow
	dateUnknownZone
	intervalOverflow
)

// error words a failure to read text as a value of the type named typ.
func (e dateErr) error(typ, text, zone string) error {
	switch e {
	case dateOK:
		return nil
	case dateOverflow:
		return sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: \"%s\"", text)
	case dateMonthDayOverflow:
		return sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: \"%s\"", text).
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case dateZoneOverflow:
		return sqlerr.New(sqlerr.InvalidTimeZone, "time zone displacement out of range: \"%s\"", text)
	case dateUnknownZone:
		return errUnknownZone(zone)
	case intervalOverflow:
		return sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", text)
	}
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, text)
}

// dateDecoder decodes the fields of a date and time (DecodeDateTime and DecodeTimeOnly).
type dateDecoder struct {
	o        *TextOptions
	order    dateOrder
	timeOnly bool

	mask             fieldMask
	year, month, day int64
	doy              int64
	hour, min, sec   int64
	micros           int64
	twoDigits        bool
	bc               bool
	julian           bool
	textMonth        bool
	ampm             int // 0 none, 1 AM, 2 PM
	special          int // resEpoch, resLate, resEarly, resNow; else -1
	west             int // seconds west of Greenwich, when hasZone and zone is nil
	zone             *time.Location
	dated            bool // zone is an abbreviation's, which today's date gives a meaning
	badZone          string
}

// known is the mask that the position rules see: a time alone behaves as if a date had come.
func (d *dateDecoder) known() fieldMask {
	if d.timeOnly {
		return d.mask | hasDate
	}
	return d.mask
}

func (d *dateDecoder) decode(fields []dateField) dateErr {
	d.special = -1
	pending := -1 // unitJulian, or pendingTime after a T
	const pendingTime = 1000
	for i, f := range fields {
		var got fieldMask
		var err dateErr
		switch f.look {
		case lookDate:
			switch {
			case pending == unitJulian:
				got, err = d.julianDay(f.text)
				pending = -1
			case d.timeOnly && i == 0 && len(fields) >= 2 && (fields[len(fields)-1].look == lookDate || fields[1].look == lookTime):
				got, err = d.date(f.text)
			case pending >= 0 || d.timeOnly || d.mask&(hasMonth|hasDay) == hasMonth|hasDay:
				if !isDigit(f.text[0]) && pending < 0 {
					if d.zone, _ = findZone(f.text); d.zone == nil {
						d.badZone = f.text
						return dateUnknownZone
					}
					got = hasZone
					break
				}
				if pending >= 0 && pending != pendingTime || d.mask&hasTime != 0 {
					return dateBadFormat
				}
				pending = -1
				cut := strings.IndexByte(f.text, '-')
				if cut < 0 {
					return dateBadFormat
				}
				if err = d.offset(f.text[cut:]); err != dateOK {
					return err
				}
				got, err = d.numberField(f.text[:cut])
				got |= hasZone
			default:
				got, err = d.date(f.text)
			}
		case lookTime:
			if pending >= 0 && pending != pendingTime {
				return dateBadFormat
			}
			pending = -1
			got, err = d.time(f.text)
		case lookTZ:
			got, err = hasZone, d.offset(f.text)
		case lookNumber:
			switch {
			case pending == unitJulian:
				got, err = d.julianDay(f.text)
			case pending == pendingTime:
				got, err = d.numberFieldAs(f.text, d.mask|hasDate)
				if err == dateOK && got != hasTime {
					err = dateBadFormat
				}
			default:
				got, err = d.number(fields, i)
			}
			pending = -1
		default:
			var tok token
			if east, ok := zoneAbbreviations[f.text]; ok {
				d.west, got = -int(east), hasZone
				d.zone = nil
				break
			}
			if _, ok := datedAbbreviations[f.text]; ok {
				d.zone, d.dated, got = abbreviatedZone(f.text), true, hasZone
				break
			}
			tok = dateTokens[clipToken(f.text)]
			if f.text == "+infinity" {
				tok = token{tokReserved, resLate}
			}
			switch tok.kind {
			case tokIgnore:
				continue
			case tokReserved:
				got = d.reserved(tok.value)
			case tokMonth:
				// A number before a month's name was the day, not the month.
				if d.mask&hasMonth != 0 && !d.textMonth && d.mask&hasDay == 0 && d.month >= 1 && d.month <= 31 {
					d.day = d.month
					got = hasDay
				} else {
					got = hasMonth
				}
				d.textMonth = true
				d.month = int64(tok.value)
			case tokDST:
				d.west -= tok.value
				got = hasDST
			case tokAMPM:
				d.ampm, got = tok.value+1, hasAMPM
			case tokADBC:
				d.bc, got = tok.value == 1, hasADBC
			case tokWeekday:
				got = hasWeekday
			case tokUnits:
				if tok.value != unitJulian {
					return dateBadFormat
				}
				pending = tok.value
			case tokISOTime:
				if !d.timeOnly && d.mask&hasDate != hasDate {
					return dateBadFormat
				}
				if i >= len(fields)-1 || fields[i+1].look != lookNumber && fields[i+1].look != lookTime && fields[i+1].look != lookDate {
					return dateBadFormat
				}
				pending = pendingTime
			default:
				if d.zone, _ = findZone(f.text); d.zone == nil {
					return dateBadFormat
				}
				got = hasZone
			}
		}
		if err != dateOK {
			return err
		}
		if got&d.mask != 0 {
			return dateBadFormat
		}
		d.mask |= got
	}
	return d.validate()
}

// number decides what a lone number is.
func (d *dateDecoder) number(fields []dateField, i int) (fieldMask, dateErr) {
	s := fields[i].text
	point := strings.IndexByte(s, '.')
	if d.timeOnly {
		switch {
		case point >= 0 && i == 0 && len(fields) >= 2 && fields[len(fields)-1].look == lookDate:
			return d.date(s)
		case point > 2, point < 0 && len(s) > 4:
			return d.numberField(s)
		case point >= 0:
			return 0, dateBadFormat
		}
		return d.numberPart(s, d.known())
	}
	switch {
	case point >= 0 && d.mask&hasDate == 0:
		return d.date(s)
	case point > 2:
		return d.numberField(s)
	case len(s) >= 6 && (d.mask&hasDate == 0 || d.mask&hasTime == 0):
		return d.numberField(s)
	}
	return d.numberPart(s, d.known())
}

// date decodes a field with delimiters inside (DecodeDate).
func (d *dateDecoder) date(s string) (got fieldMask, err dateErr) {
	var parts []string
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) {
			i++
			continue
		}
		start, class := i, isDigit
		if isAlpha(s[i]) {
			class = isAlpha
		}
		for i < len(s) && class(s[i]) {
			i++
		}
		parts = append(parts, s[start:i])
	}
	if len(parts) == 0 || len(parts) > maxDateFields {
		return 0, dateBadFormat
	}
	before := d.mask
	add := func(m fieldMask) bool {
		if d.mask&m != 0 {
			return false
		}
		d.mask |= m
		got |= m
		return true
	}
	defer func() { d.mask = before }() // the caller adds what we got
	// A month's name is unambiguous: look for it first.
	for i, p := range parts {
		if !isAlpha(p[0]) {
			continue
		}
		tok := dateTokens[clipToken(p)]
		parts[i] = ""
		if tok.kind == tokIgnore {
			continue
		}
		if tok.kind != tokMonth || !add(hasMonth) {
			return 0, dateBadFormat
		}
		d.month, d.textMonth = int64(tok.value), true
	}
	for _, p := range parts {
		if p == "" {
			continue
		}
		m, err := d.numberPart(p, d.mask)
		if err != dateOK {
			return 0, err
		}
		if !add(m) {
			return 0, dateBadFormat
		}
	}
	if d.mask&^(hasDOY|hasZone)&(hasDate|hasTime) != hasDate {
		return 0, dateBadFormat
	}
	return got, dateOK
}

// numberPart takes a number as the next part of the date (DecodeNumber).
func (d *dateDecoder) numberPart(s string, known fieldMask) (got fieldMask, err dateErr) {
	n := digitsLen(s)
	if n == 0 {
		return 0, dateBadFormat
	}
	val, e := strconv.ParseInt(s[:n], 10, 32)
	if e != nil {
		return 0, dateOverflow
	}
	if n < len(s) {
		if s[n] != '.' {
			return 0, dateBadFormat
		}
		if n > 2 {
			return d.numberFieldAs(s, known|hasDate)
		}
		us, ok := fraction(s[n:])
		if !ok {
			return 0, dateBadFormat
		}
		d.micros = us
	}
	if len(s) == 3 && known&hasDate == hasYear && val >= 1 && val <= 366 {
		d.doy = val
		return hasDOY | hasMonth | hasDay, dateOK
	}
	setYear := func() fieldMask { d.year, d.twoDigits = val, len(s) <= 2; return hasYear }
	setMonth := func() fieldMask { d.month = val; return hasMonth }
	setDay := func() fieldMask { d.day = val; return hasDay }
	switch known & hasDate {
	case 0:
		switch {
		case len(s) >= 3 || d.order == orderYMD:
			return setYear(), dateOK
		case d.order == orderDMY:
			return setDay(), dateOK
		}
		return setMonth(), dateOK
	case hasYear:
		return setMonth(), dateOK
	case hasMonth:
		if d.textMonth && (len(s) >= 3 || d.order == orderYMD) {
			return setYear(), dateOK
		}
		return setDay(), dateOK
	case hasYear | hasMonth:
		if d.textMonth && len(s) >= 3 && d.twoDigits {
			// The first number was the day after all.
			d.day, d.year, d.twoDigits = d.year, val, false
			return hasDay, dateOK
		}
		return setDay(), dateOK
	case hasDay:
		return setMonth(), dateOK
	case hasMonth | hasDay:
		return setYear(), dateOK
	case hasDate:
		return d.numberFieldAs(s, known)
	}
	return 0, dateBadFormat
}

func (d *dateDecoder) numberField(s string) (fieldMask, dateErr) {
	return d.numberFieldAs(s, d.known())
}

// numberFieldAs takes a run of digits as yymmdd or hhmmss (DecodeNumberField).
func (d *dateDecoder) numberFieldAs(s string, known fieldMask) (fieldMask, dateErr) {
	if p := strings.IndexByte(s, '.'); p >= 0 {
		us, ok := fraction(s[p:])
		if !ok {
			return 0, dateBadFormat
		}
		d.micros = us
		s = s[:p]
	} else if known&hasDate != hasDate && len(s) >= 6 {
		n := len(s)
		if digitsLen(s) != n {
			return 0, dateBadFormat
		}
		d.day, d.month = atoi(s[n-2:]), atoi(s[n-4:n-2])
		y, err := strconv.ParseInt(s[:n-4], 10, 32)
		if err != nil {
			return 0, dateOverflow
		}
		d.year = y
		d.twoDigits = n-4 == 2
		return hasDate, dateOK
	}
	if known&hasTime == 0 && digitsLen(s) == len(s) {
		switch len(s) {
		case 6:
			d.hour, d.min, d.sec = atoi(s[:2]), atoi(s[2:4]), atoi(s[4:])
			return hasTime, dateOK
		case 4:
			d.hour, d.min, d.sec = atoi(s[:2]), atoi(s[2:]), 0
			return hasTime, dateOK
		}
	}
	return 0, dateBadFormat
}

func atoi(s string) int64 {
	v, _ := strconv.ParseInt(s, 10, 64)
	return v
}

// fraction reads ".ddd" as microseconds, rounding to nearest even as rint does.
func fraction(s string) (int64, bool) {
	if s == "." {
		return 0, true
	}
	if digitsLen(s[1:]) != len(s)-1 {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	return int64(math.RoundToEven(f * 1e6)), true
}

// time decodes hh:mm[:ss[.f]] (DecodeTime).
func (d *dateDecoder) time(s string) (fieldMask, dateErr) {
	h, m, sec, us, err := clock(s)
	if err != dateOK {
		return 0, err
	}
	d.hour, d.min, d.sec, d.micros = h, m, sec, us
	if (h*3600+m*60+sec)*MicrosPerSecond+us > MicrosPerDay {
		return 0, dateOverflow // 23:59:60 is midnight, and nothing is behind it
	}
	return hasTime, dateOK
}

func clock(s string) (h, m, sec, us int64, err dateErr) {
	fail := func(e dateErr) (int64, int64, int64, int64, dateErr) { return 0, 0, 0, 0, e }
	n := digitsLen(s)
	h, e := strconv.ParseInt(s[:n], 10, 64)
	if e != nil {
		return fail(dateOverflow)
	}
	if n == len(s) || s[n] != ':' {
		return fail(dateBadFormat)
	}
	s = s[n+1:]
	n = digitsLen(s)
	if n > 9 {
		return fail(dateOverflow)
	}
	m, s = atoi(s[:n]), s[n:]
	ok := true
	switch {
	case s == "":
	case s[0] == '.':
		// Always mm:ss.fff.
		if us, ok = fraction(s); !ok {
			return fail(dateBadFormat)
		}
		sec, m, h = m, h, 0
	case s[0] == ':':
		s = s[1:]
		n = digitsLen(s)
		if n > 9 {
			return fail(dateOverflow)
		}
		sec, s = atoi(s[:n]), s[n:]
		if s != "" {
			if s[0] != '.' {
				return fail(dateBadFormat)
			}
			if us, ok = fraction(s); !ok {
				return fail(dateBadFormat)
			}
		}
	default:
		return fail(dateBadFormat)
	}
	if m > 59 || sec > 60 || us > MicrosPerSecond {
		return fail(dateOverflow)
	}
	return h, m, sec, us, dateOK
}

// offset decodes ±hh[:mm[:ss]] or ±hhmm (DecodeTimezone).
func (d *dateDecoder) offset(s string) dateErr {
	if s == "" || s[0] != '-' && s[0] != '+' {
		return dateBadFormat
	}
	neg := s[0] == '-'
	body := s[1:]
	n := digitsLen(body)
	if n > 9 {
		return dateZoneOverflow
	}
	h := atoi(body[:n]) // no digit is zero: + is Greenwich
	var m, sec int64
	rest := body[n:]
	switch {
	case strings.HasPrefix(rest, ":"):
		n = digitsLen(rest[1:])
		if n > 9 {
			return dateZoneOverflow
		}
		m, rest = atoi(rest[1:1+n]), rest[1+n:]
		if strings.HasPrefix(rest, ":") {
			n = digitsLen(rest[1:])
			if n > 9 {
				return dateZoneOverflow
			}
			sec, rest = atoi(rest[1:1+n]), rest[1+n:]
		}
	case rest == "" && len(s) > 3:
		m, h = h%100, h/100
	}
	if h > 15 || m > 59 || sec > 59 {
		return dateZoneOverflow
	}
	if rest != "" {
		return dateBadFormat
	}
	d.west = int((h*60+m)*60 + sec)
	if !neg {
		d.west = -d.west
	}
	d.zone = nil
	return dateOK
}

const julianEpoch = 2440588 // the Julian day of 1970-01-01

func (d *dateDecoder) julianDay(s string) (fieldMask, dateErr) {
	n := digitsLen(s)
	j, err := strconv.ParseInt(s[:n], 10, 32)
	if err != nil {
		return 0, dateOverflow
	}
	got := hasDate
	if rest := s[n:]; rest != "" {
		if rest[0] != '.' || digitsLen(rest[1:]) != len(rest)-1 {
			return 0, dateBadFormat
		}
		f, _ := strconv.ParseFloat("0"+rest, 64)
		us := int64(f * MicrosPerDay)
		d.hour, d.min, d.sec, d.micros = us/MicrosPerHour, us/MicrosPerMinute%60, us/MicrosPerSecond%60, us%MicrosPerSecond
		got |= hasTime
	}
	d.setDay(j - julianEpoch)
	d.julian = true
	return got, dateOK
}

func (d *dateDecoder) setDay(days int64) {
	y, m, day := CivilFromDays(days)
	d.year, d.month, d.day = y, int64(m), int64(day)
}

func (d *dateDecoder) reserved(v int) fieldMask {
	now := ToLocal(d.o.Zone, d.o.now().UnixMicro())
	today, tod := SplitTimestamp(now)
	switch v {
	case resNow:
		d.setDay(today)
		d.julian = true // the year is as counted here
		d.hour, d.min, d.sec, d.micros = tod/MicrosPerHour, tod/MicrosPerMinute%60, tod/MicrosPerSecond%60, tod%MicrosPerSecond
		d.special = resNow
		d.zone = d.o.Zone
		if d.zone == nil {
			d.zone = time.UTC
		}
		return hasDate | hasTime | hasZone
	case resYesterday:
		today--
	case resTomorrow:
		today++
	case resZulu:
		d.hour, d.min, d.sec, d.west = 0, 0, 0, 0
		return hasTime | hasZone
	case resEpoch, resLate, resEarly:
		d.special = v
		return hasDate | hasTime | hasZone
	}
	d.setDay(today)
	d.julian = true
	return hasDate
}

// validate checks the date as a whole (ValidateDate and the end of DecodeDateTime).
func (d *dateDecoder) validate() dateErr {
	if d.special == resEpoch || d.special == resLate || d.special == resEarly {
		return dateOK
	}
	if d.mask&hasDST != 0 && d.mask&hasZone == 0 {
		return dateBadFormat
	}
	if d.mask&hasYear != 0 && !d.julian {
		switch {
		case d.bc:
			if d.year <= 0 {
				return dateOverflow
			}
			d.year = 1 - d.year
		case d.twoDigits:
			if d.year < 70 {
				d.year += 2000
			} else if d.year < 100 {
				d.year += 1900
			}
		case d.year <= 0:
			return dateOverflow
		}
	}
	if d.mask&hasDOY != 0 {
		d.setDay(DaysFromCivil(d.year, 1, 1) + d.doy - 1)
	}
	if d.mask&hasMonth != 0 && (d.month < 1 || d.month > 12) {
		return dateMonthDayOverflow
	}
	if d.mask&hasDay != 0 && (d.day < 1 || d.day > 31) {
		return dateMonthDayOverflow
	}
	if d.mask&hasDate == hasDate && d.day > int64(DaysInMonth(d.year, int(d.month))) {
		return dateOverflow
	}
	if d.ampm != 0 {
		if d.hour > 12 {
			return dateOverflow
		}
		if d.ampm == 1 && d.hour == 12 {
			d.hour = 0
		} else if d.ampm == 2 && d.hour != 12 {
			d.hour += 12
		}
	}
	if d.mask&hasTime != 0 && (d.min > 59 || d.sec > 60 || d.hour > 24 || d.hour == 24 && (d.min > 0 || d.sec > 0 || d.micros > 0)) {
		return dateOverflow
	}
	if d.timeOnly {
		if d.mask&hasTime == 0 {
			return dateBadFormat
		}
	} else if d.mask&hasDate != hasDate {
		return dateBadFormat
	}
	return dateOK
}

func (d *dateDecoder) timeOfDay() int64 {
	return ((d.hour*60+d.min)*60+d.sec)*MicrosPerSecond + d.micros
}

func (d *dateDecoder) days() int64 { return DaysFromCivil(d.year, int(d.month), int(d.day)) }
