package types

import "strconv"

// AppendInterval appends v in the session's IntervalStyle (EncodeInterval).
func AppendInterval(dst []byte, v IntervalValue, o *TextOptions) []byte {
	style := ""
	if o != nil {
		style = o.IntervalStyle
	}
	p := partsOf(v)
	switch style {
	case "sql_standard":
		return p.appendSQL(dst)
	case "iso_8601":
		return p.appendISO(dst)
	case "postgres_verbose":
		return p.appendVerbose(dst)
	}
	return p.appendPostgres(dst)
}

type intervalParts struct{ year, mon, day, hour, min, sec, us int64 }

func partsOf(v IntervalValue) intervalParts {
	t := v.Micros
	return intervalParts{
		year: int64(v.Months / 12), mon: int64(v.Months % 12), day: int64(v.Days),
		hour: t / MicrosPerHour, min: t / MicrosPerMinute % 60, sec: t / MicrosPerSecond % 60,
		us: t % MicrosPerSecond,
	}
}

func abs64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func appendSeconds(dst []byte, sec, us int64, width int) []byte {
	return appendFraction(appendUint(dst, abs64(sec), width), int64(abs64(us)))
}

func plural(v int64) string {
	if v == 1 {
		return ""
	}
	return "s"
}

func (p intervalParts) appendPostgres(dst []byte) []byte {
	zero, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if !zero {
			dst = append(dst, ' ')
		}
		if before && v > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, v, 10)
		dst = append(dst, ' ')
		dst = append(dst, unit...)
		dst = append(dst, plural(v)...)
		// Each nonzero field sets whether the next positive one needs a plus sign.
		before = v < 0
		zero = false
	}
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	if zero || p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0 {
		minus := p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0
		if !zero {
			dst = append(dst, ' ')
		}
		if minus {
			dst = append(dst, '-')
		} else if before {
			dst = append(dst, '+')
		}
		dst = appendUint(dst, abs64(p.hour), 2)
		dst = append(dst, ':')
		dst = appendUint(dst, abs64(p.min), 2)
		dst = append(dst, ':')
		dst = appendSeconds(dst, p.sec, p.us, 2)
	}
	return dst
}

func (p intervalParts) appendVerbose(dst []byte) []byte {
	dst = append(dst, '@')
	zero, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if zero {
			before = v < 0
			v = int64(abs64(v))
		} else if before {
			v = -v
		}
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, v, 10)
		dst = append(dst, ' ')
		dst = append(dst, unit...)
		dst = append(dst, plural(v)...)
		zero = false
	}
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	part(p.hour, "hour")
	part(p.min, "min")
	if p.sec != 0 || p.us != 0 {
		dst = append(dst, ' ')
		if p.sec < 0 || p.sec == 0 && p.us < 0 {
			if zero {
				before = true
			} else if !before {
				dst = append(dst, '-')
			}
		} else if before {
			dst = append(dst, '-')
		}
		dst = appendSeconds(dst, p.sec, p.us, 1)
		dst = append(dst, " sec"...)
		if abs64(p.sec) != 1 || p.us != 0 {
			dst = append(dst, 's')
		}
		zero = false
	}
	if zero {
		dst = append(dst, " 0"...)
	}
	if before {
		dst = append(dst, " ago"...)
	}
	return dst
}

func (p intervalParts) appendISO(dst []byte) []byte {
	if p == (intervalParts{}) {
		return append(dst, "PT0S"...)
	}
	part := func(v int64, unit byte) {
		if v != 0 {
			dst = append(strconv.AppendInt(dst, v, 10), unit)
		}
	}
	dst = append(dst, 'P')
	part(p.year, 'Y')
	part(p.mon, 'M')
	part(p.day, 'D')
	if p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0 {
		dst = append(dst, 'T')
	}
	part(p.hour, 'H')
	part(p.min, 'M')
	if p.sec != 0 || p.us != 0 {
		if p.sec < 0 || p.us < 0 {
			dst = append(dst, '-')
		}
		dst = append(appendSeconds(dst, p.sec, p.us, 1), 'S')
	}
	return dst
}

func (p intervalParts) appendSQL(dst []byte) []byte {
	neg := p.year < 0 || p.mon < 0 || p.day < 0 || p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0
	pos := p.year > 0 || p.mon > 0 || p.day > 0 || p.hour > 0 || p.min > 0 || p.sec > 0 || p.us > 0
	hasYM := p.year != 0 || p.mon != 0
	hasTime := p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0
	hasDT := p.day != 0 || hasTime
	standard := !(neg && pos) && !(hasYM && hasDT)
	if neg && standard {
		dst = append(dst, '-')
	}
	clockPart := func() {
		dst = appendUint(dst, abs64(p.hour), 1)
		dst = append(dst, ':')
		dst = appendUint(dst, abs64(p.min), 2)
		dst = append(dst, ':')
		dst = appendSeconds(dst, p.sec, p.us, 2)
	}
	sign := func(minus bool) {
		if minus {
			dst = append(dst, '-')
		} else {
			dst = append(dst, '+')
		}
	}
	switch {
	case !neg && !pos:
		dst = append(dst, '0')
	case !standard:
		// Signs before every part, for reading back what the standard has no words for.
		sign(p.year < 0 || p.mon < 0)
		dst = appendUint(dst, abs64(p.year), 1)
		dst = append(dst, '-')
		dst = appendUint(dst, abs64(p.mon), 1)
		dst = append(dst, ' ')
		sign(p.day < 0)
		dst = appendUint(dst, abs64(p.day), 1)
		dst = append(dst, ' ')
		sign(p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0)
		clockPart()
	case hasYM:
		dst = appendUint(dst, abs64(p.year), 1)
		dst = append(dst, '-')
		dst = appendUint(dst, abs64(p.mon), 1)
	case p.day != 0:
		dst = appendUint(dst, abs64(p.day), 1)
		dst = append(dst, ' ')
		clockPart()
	default:
		clockPart()
	}
	return dst
}
