package types

import (
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// decodeDate runs the decoder over s.
func decodeDate(s, typ string, o *TextOptions, timeOnly bool) (*dateDecoder, error) {
	_, order := o.dateStyle()
	d := &dateDecoder{o: o, order: order, timeOnly: timeOnly}
	fields, ok := splitDateFields(s)
	if !ok || len(fields) == 0 || len(s) > 1024 {
		return nil, dateBadFormat.error(typ, s, "")
	}
	if e := d.decode(fields); e != dateOK {
		return nil, e.error(typ, s, d.badZone)
	}
	return d, nil
}

// ParseDate reads PostgreSQL's date input.
func ParseDate(s string, o *TextOptions) (int64, error) {
	if days, rest, ok := isoDate(s); ok && rest == "" {
		return days, nil
	}
	o = o.orDefault()
	d, err := decodeDate(s, "date", o, false)
	if err != nil {
		return 0, err
	}
	switch d.special {
	case resEpoch:
		return 0, nil
	case resLate:
		return DateInfinity, nil
	case resEarly:
		return DateNegInfinity, nil
	}
	if days := d.days(); DateInRange(days) {
		return days, nil
	}
	return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range: \"%s\"", s)
}

// ParseTime reads PostgreSQL's time input; a zone is allowed and ignored.
func ParseTime(s string, o *TextOptions) (int64, error) {
	if tod, rest, ok := isoTime(s); ok && rest == "" {
		return tod, nil
	}
	d, err := decodeDate(s, "time", o.orDefault(), true)
	if err != nil {
		return 0, err
	}
	if d.zone != nil && !d.dated && d.special != resNow && d.mask&hasDate != hasDate && isRuleZone(d.zone) {
		return 0, dateBadFormat.error("time", s, "")
	}
	return d.timeOfDay(), nil
}

// isRuleZone tells whether a zone's offset depends on the date.
func isRuleZone(l *time.Location) bool {
	start, end := time.Unix(0, 0).In(l).ZoneBounds()
	return !start.IsZero() || !end.IsZero()
}

// ParseTimeTZ reads a time with zone; without one the session's holds, as of today.
func ParseTimeTZ(s string, o *TextOptions) (Int128, error) {
	const typ = "time with time zone"
	o = o.orDefault()
	d, err := decodeDate(s, typ, o, true)
	if err != nil {
		return Int128{}, err
	}
	west := d.west
	if d.zone != nil || d.mask&hasZone == 0 {
		zone := d.zone
		if zone == nil {
			zone = o.Zone
		} else if !d.dated && d.special != resNow && d.mask&hasDate != hasDate && isRuleZone(zone) {
			return Int128{}, dateBadFormat.error(typ, s, "")
		}
		days, _ := SplitTimestamp(ToLocal(zone, o.now().UnixMicro()))
		if d.mask&hasDate == hasDate {
			days = d.days()
		}
		west = -LocalOffset(zone, days*MicrosPerDay+d.timeOfDay())
	}
	return Int128{Lo: uint64(d.timeOfDay()), Hi: int64(west)}, nil
}

// ParseTimestamp reads a timestamp without time zone (µs since the epoch); a zone is ignored.
func ParseTimestamp(s string, o *TextOptions) (int64, error) {
	if micros, _, hasZone, ok := isoTimestamp(s); ok && !hasZone {
		return micros, nil
	}
	d, err := decodeDate(s, "timestamp", o.orDefault(), false)
	if err != nil {
		return 0, err
	}
	if v, ok := d.specialTimestamp(); ok {
		return v, nil
	}
	return d.timestamp(s, false)
}

// ParseTimestampTZ reads an instant (µs since the epoch); without a zone the session's holds.
func ParseTimestampTZ(s string, o *TextOptions) (int64, error) {
	o = o.orDefault()
	if micros, east, hasZone, ok := isoTimestamp(s); ok {
		if !hasZone {
			return ToUTC(o.Zone, micros), nil
		}
		return micros - int64(east)*MicrosPerSecond, nil
	}
	d, err := decodeDate(s, "timestamp with time zone", o, false)
	if err != nil {
		return 0, err
	}
	if v, ok := d.specialTimestamp(); ok {
		return v, nil
	}
	if d.special == resNow {
		return o.now().UnixMicro(), nil
	}
	return d.timestamp(s, true)
}

func (d *dateDecoder) specialTimestamp() (int64, bool) {
	switch d.special {
	case resEpoch:
		return 0, true
	case resLate:
		return TimestampInfinity, true
	case resEarly:
		return TimestampNegInfinity, true
	}
	return 0, false
}

func (d *dateDecoder) timestamp(s string, zoned bool) (int64, error) {
	days := d.days()
	if days < minDate-1 || days > maxDate {
		return 0, errTimestampRange(s)
	}
	w := MulInt64(days, MicrosPerDay).Add64(d.timeOfDay())
	v := w.Int64()
	if !w.IsInt64() || v > endTimestamp-2*MicrosPerDay { // what a zone may add must not overflow
		return 0, errTimestampRange(s)
	}
	if zoned {
		switch {
		case d.zone != nil:
			v = ToUTC(d.zone, v)
		case d.mask&hasZone != 0:
			v += int64(d.west) * MicrosPerSecond
		default:
			v = ToUTC(d.o.Zone, v)
		}
	}
	if !TimestampInRange(v) {
		return 0, errTimestampRange(s)
	}
	return v, nil
}

func errTimestampRange(s string) error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range: \"%s\"", s)
}

// isoDate reads a leading YYYY-MM-DD, the form that nearly all text has, without the general
// decoder's allocations. ok is false for whatever else, which the decoder judges.
func isoDate(s string) (days int64, rest string, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return
	}
	y, ok1 := digits2(s[0:])
	y2, ok2 := digits2(s[2:])
	m, ok3 := digits2(s[5:])
	d, ok4 := digits2(s[8:])
	year := int64(y*100 + y2)
	if !ok1 || !ok2 || !ok3 || !ok4 || year == 0 || m < 1 || m > 12 || d < 1 || d > DaysInMonth(year, m) {
		return
	}
	return DaysFromCivil(year, m, d), s[10:], true
}

func digits2(s string) (int, bool) {
	a, b := s[0]-'0', s[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// isoTime reads a leading HH:MM:SS[.ffffff].
func isoTime(s string) (tod int64, rest string, ok bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return
	}
	h, ok1 := digits2(s)
	m, ok2 := digits2(s[3:])
	sec, ok3 := digits2(s[6:])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 59 {
		return
	}
	tod = int64((h*60+m)*60+sec) * MicrosPerSecond
	rest = s[8:]
	if rest != "" && rest[0] == '.' {
		n := digitsLen(rest[1:])
		if n == 0 || n > 6 {
			return 0, "", false
		}
		us := int64(0)
		for i := 1; i <= 6; i++ {
			us *= 10
			if i <= n {
				us += int64(rest[i] - '0')
			}
		}
		tod += us
		rest = rest[1+n:]
	}
	return tod, rest, true
}

// isoTimestamp reads YYYY-MM-DD[( |T)HH:MM:SS[.ffffff][Z|±HH[:MM]]].
func isoTimestamp(s string) (micros int64, east int, zoned, ok bool) {
	days, rest, ok := isoDate(s)
	if !ok {
		return
	}
	if rest == "" {
		return days * MicrosPerDay, 0, false, true
	}
	if rest[0] != ' ' && rest[0] != 'T' {
		return 0, 0, false, false
	}
	tod, rest, ok := isoTime(rest[1:])
	if !ok {
		return 0, 0, false, false
	}
	micros = days*MicrosPerDay + tod
	if rest == "" {
		return micros, 0, false, true
	}
	if rest == "Z" {
		return micros, 0, true, true
	}
	if len(rest) != 3 && len(rest) != 6 || rest[0] != '+' && rest[0] != '-' {
		return 0, 0, false, false
	}
	h, ok1 := digits2(rest[1:])
	m, ok2 := 0, true
	if len(rest) == 6 {
		m, ok2 = digits2(rest[4:])
		ok2 = ok2 && rest[3] == ':'
	}
	if !ok1 || !ok2 || h > 15 || m > 59 {
		return 0, 0, false, false
	}
	east = (h*60 + m) * 60
	if rest[0] == '-' {
		east = -east
	}
	return micros, east, true, true
}
