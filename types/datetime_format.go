package types

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// appendUint appends v with at least width digits.
func appendUint(dst []byte, v uint64, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for v != 0 || width > 0 {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
		width--
	}
	return append(dst, buf[i:]...)
}

func append2(dst []byte, v int) []byte { return append(dst, byte('0'+v/10), byte('0'+v%10)) }

// appendYMD appends an ISO date without the BC mark.
func appendYMD(dst []byte, y int64, m, d int) []byte {
	dst = appendYear(dst, y)
	dst = append(dst, '-')
	dst = append2(dst, m)
	dst = append(dst, '-')
	return append2(dst, d)
}

// appendYear appends the year as it is counted AD and BC, there being no year 0.
func appendYear(dst []byte, y int64) []byte {
	if y <= 0 {
		y = 1 - y
	}
	return appendUint(dst, uint64(y), 4)
}

// AppendDate appends a date (days since 1970-01-01) in the session's style.
func AppendDate(dst []byte, days int64, o *TextOptions) []byte {
	switch days {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateNegInfinity:
		return append(dst, "-infinity"...)
	}
	y, m, d := CivilFromDays(days)
	style, order := o.orDefault().dateStyle()
	dst = appendStyledDate(dst, y, m, d, style, order)
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendStyledDate(dst []byte, y int64, m, d int, style dateFormat, order dateOrder) []byte {
	sep := byte('-')
	switch style {
	case isoDates:
		return appendYMD(dst, y, m, d)
	case sqlDates:
		sep = '/'
	case germanDates:
		sep, order = '.', orderDMY
	}
	if order == orderDMY {
		m, d = d, m
	}
	dst = append2(dst, m)
	dst = append(dst, sep)
	dst = append2(dst, d)
	dst = append(dst, sep)
	return appendYear(dst, y)
}

// AppendTime appends a time of day (µs since midnight; 24:00:00 is one).
func AppendTime(dst []byte, micros int64) []byte {
	secs := int(micros / MicrosPerSecond)
	dst = append2(dst, secs/3600)
	dst = append(dst, ':')
	dst = append2(dst, secs/60%60)
	dst = append(dst, ':')
	dst = append2(dst, secs%60)
	return appendFraction(dst, micros%MicrosPerSecond)
}

// appendFraction appends .ffffff without trailing zeros, nothing for 0.
func appendFraction(dst []byte, micros int64) []byte {
	if micros == 0 {
		return dst
	}
	dst = append(dst, '.')
	dst = appendUint(dst, uint64(micros), 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendOffset appends seconds east of Greenwich as +HH, +HH:MM or +HH:MM:SS.
func appendOffset(dst []byte, east int, minutes bool) []byte {
	sign := byte('+')
	if east < 0 {
		sign, east = '-', -east
	}
	dst = append(dst, sign)
	dst = appendUint(dst, uint64(east/3600), 2)
	if m, s := east/60%60, east%60; m != 0 || s != 0 || minutes {
		dst = append(dst, ':')
		dst = append2(dst, m)
		if s != 0 {
			dst = append(dst, ':')
			dst = append2(dst, s)
		}
	}
	return dst
}

// AppendTimeTZ appends a time with zone: Lo µs since midnight, Hi seconds west of Greenwich.
func AppendTimeTZ(dst []byte, w Int128) []byte {
	return appendOffset(AppendTime(dst, int64(w.Lo)), int(-w.Hi), false)
}

// AppendTimestamp appends a timestamp without time zone (µs since the epoch).
func AppendTimestamp(dst []byte, micros int64, o *TextOptions) []byte {
	return appendTimestamp(dst, micros, o.orDefault(), false)
}

// AppendTimestampTZ appends an instant (µs since the epoch) in the session's zone and style.
func AppendTimestampTZ(dst []byte, micros int64, o *TextOptions) []byte {
	return appendTimestamp(dst, micros, o.orDefault(), true)
}

var (
	dayNames   = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	monthNames = [13]string{"", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

func appendTimestamp(dst []byte, micros int64, o *TextOptions, zoned bool) []byte {
	switch micros {
	case TimestampInfinity:
		return append(dst, "infinity"...)
	case TimestampNegInfinity:
		return append(dst, "-infinity"...)
	}
	var east int
	var abbrev string
	if zoned && o.Zone != nil && o.Zone != time.UTC {
		east, abbrev = ZoneOffset(o.Zone, micros)
		micros += int64(east) * MicrosPerSecond
	} else {
		abbrev = "UTC"
	}
	days, tod := SplitTimestamp(micros)
	y, m, d := CivilFromDays(days)
	style, order := o.dateStyle()
	if style == postgresDates {
		dst = append(dst, dayNames[Weekday(days)]...)
		dst = append(dst, ' ')
		if order == orderDMY {
			dst = append2(dst, d)
			dst = append(dst, ' ')
			dst = append(dst, monthNames[m]...)
		} else {
			dst = append(dst, monthNames[m]...)
			dst = append(dst, ' ')
			dst = append2(dst, d)
		}
		dst = append(dst, ' ')
		dst = AppendTime(dst, tod)
		dst = append(dst, ' ')
		dst = appendYear(dst, y)
	} else {
		dst = appendStyledDate(dst, y, m, d, style, order)
		dst = append(dst, ' ')
		dst = AppendTime(dst, tod)
	}
	if zoned {
		if style == isoDates {
			dst = appendOffset(dst, east, false)
		} else {
			dst = append(dst, ' ')
			dst = append(dst, abbrev...)
		}
	}
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendJSONTimestamp appends a timestamp as PostgreSQL's to_json does: ISO 8601 with a T.
func AppendJSONTimestamp(dst []byte, micros int64, zone *time.Location, zoned bool) []byte {
	switch micros {
	case TimestampInfinity:
		return append(dst, "infinity"...)
	case TimestampNegInfinity:
		return append(dst, "-infinity"...)
	}
	east := 0
	if zoned {
		east, _ = ZoneOffset(zone, micros)
		micros += int64(east) * MicrosPerSecond
	}
	days, tod := SplitTimestamp(micros)
	y, m, d := CivilFromDays(days)
	dst = appendYMD(dst, y, m, d)
	dst = append(dst, 'T')
	dst = AppendTime(dst, tod)
	if zoned {
		dst = appendOffset(dst, east, true)
	}
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendFloat appends a float as PostgreSQL does: bits is 32 for real, 64 for double
// precision; extra is the setting extra_float_digits.
func AppendFloat(dst []byte, f float64, bits, extra int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case f > maxFloat:
		return append(dst, "Infinity"...)
	case f < -maxFloat:
		return append(dst, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	if extra <= 0 {
		return appendPrintfG(dst, f, max(digits+extra, 1))
	}
	// Shortest digits that read back exactly, laid out as %.15g (%.6g) would lay them out.
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, bits)
	if a := math.Abs(f); bits == 64 && a >= 1<<53 && a < 1e40 || bits == 32 && a >= 1<<24 && a < 1e20 {
		e = strictlyShortest(e, f, bits)
	}
	return layoutG(dst, e, digits)
}

// strictlyShortest replaces digits that lie just halfway to the next float, which Go takes
// because reading them rounds to even, and which PostgreSQL's Ryu does not: 1e23 is
// 9.999999999999999e+22 there. Such digits exist among large whole numbers only.
func strictlyShortest(e []byte, f float64, bits int) []byte {
	halfway := func(e []byte) bool {
		r, ok := new(big.Rat).SetString(string(e))
		if !ok {
			return false
		}
		exact := new(big.Rat).SetFloat64(f)
		up, down := math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1))
		if bits == 32 {
			up = float64(math.Nextafter32(float32(f), float32(math.Inf(1))))
			down = float64(math.Nextafter32(float32(f), float32(math.Inf(-1))))
		}
		for _, next := range []float64{up, down} {
			if math.IsInf(next, 0) {
				continue
			}
			mid := new(big.Rat).SetFloat64(next)
			mid.Add(mid, exact).Quo(mid, big.NewRat(2, 1))
			if mid.Cmp(r) == 0 {
				return true
			}
		}
		return false
	}
	if !halfway(e) {
		return e
	}
	for n := 0; n < 18; n++ {
		longer := strconv.AppendFloat(nil, f, 'e', n, bits)
		if back, err := strconv.ParseFloat(string(longer), bits); err == nil && back == f && !halfway(longer) {
			return longer
		}
	}
	return e
}

const maxFloat = 0x1p1023 * (1 + (1 - 0x1p-52))

// appendPrintfG is C's %.{n}g.
func appendPrintfG(dst []byte, f float64, n int) []byte {
	var buf [64]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', n-1, 64)
	// %g drops trailing zeros of the mantissa.
	at := len(e) - 1
	for e[at] != 'e' {
		at--
	}
	mant, exp := e[:at], e[at:]
	for k := 0; k < len(mant); k++ {
		if mant[k] == '.' {
			for mant[len(mant)-1] == '0' {
				mant = mant[:len(mant)-1]
			}
			if mant[len(mant)-1] == '.' {
				mant = mant[:len(mant)-1]
			}
			break
		}
	}
	return layoutG(dst, append(mant, exp...), n)
}

// layoutG lays out d.ddde±xx plainly when -4 ≤ exponent < n, else with an exponent of at
// least two digits.
func layoutG(dst, e []byte, n int) []byte {
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	at := len(e) - 1
	for e[at] != 'e' {
		at--
	}
	exp, _ := strconv.Atoi(string(e[at+1:]))
	if exp < -4 || exp >= n {
		return append(dst, e...) // Go writes two exponent digits as C does
	}
	lead := e[0]
	frac := e[1:at]
	if len(frac) > 0 {
		frac = frac[1:]
	}
	if exp < 0 {
		dst = append(dst, "0."...)
		for i := exp + 1; i < 0; i++ {
			dst = append(dst, '0')
		}
		dst = append(dst, lead)
		return append(dst, frac...)
	}
	dst = append(dst, lead)
	for i := 0; i < exp; i++ {
		if i < len(frac) {
			dst = append(dst, frac[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if len(frac) > exp {
		dst = append(dst, '.')
		dst = append(dst, frac[exp:]...)
	}
	return dst
}
