package types

import "math"

// Dates are days and timestamps microseconds since 1970-01-01, in the proleptic Gregorian
// calendar with a year 0 (1 BC), as Iceberg stores them.

// The special values of dates and timestamps (those of the ns kinds are the same).
const (
	DateInfinity         = math.MaxInt32
	DateNegInfinity      = math.MinInt32
	TimestampInfinity    = math.MaxInt64
	TimestampNegInfinity = math.MinInt64
)

// Units of time.
const (
	MicrosPerSecond = 1_000_000
	MicrosPerMinute = 60 * MicrosPerSecond
	MicrosPerHour   = 60 * MicrosPerMinute
	MicrosPerDay    = 24 * MicrosPerHour
)

// PostgreSQL's range of dates, 4714-11-24 BC to 5874897-12-31. Timestamps end in 294247 and not
// in 294276, because they count from 1970 and not from 2000.
var (
	minDate      = DaysFromCivil(-4713, 11, 24)
	maxDate      = DaysFromCivil(5874897, 12, 31)
	minTimestamp = minDate * MicrosPerDay
	endTimestamp = int64(TimestampInfinity) // exclusive
)

// DateInRange tells whether days is a finite date that PostgreSQL has.
func DateInRange(days int64) bool { return days >= minDate && days <= maxDate }

// TimestampInRange tells whether micros is a finite timestamp that PostgreSQL has.
func TimestampInRange(micros int64) bool { return micros >= minTimestamp && micros < endTimestamp }

// DaysFromCivil counts the days from 1970-01-01 to the given date (Howard Hinnant's algorithm;
// months run March to February so that the leap day comes last).
func DaysFromCivil(year int64, month, day int) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	mp := int64(month+9) % 12
	doy := (153*mp+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (year int64, month, day int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	if month > 12 {
		month -= 12
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return
}

// IsLeap tells leap years.
func IsLeap(y int64) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// DaysInMonth is the length of a month.
func DaysInMonth(y int64, m int) int {
	if m == 2 && IsLeap(y) {
		return 29
	}
	return monthDays[m]
}

// Weekday is 0 for Sunday … 6.
func Weekday(days int64) int { return int(floorMod(days+4, 7)) }

// DayOfYear is 1 for January 1st.
func DayOfYear(days int64) int {
	y, _, _ := CivilFromDays(days)
	return int(days-DaysFromCivil(y, 1, 1)) + 1
}

// ISOWeek is the ISO 8601 year and week of a date.
func ISOWeek(days int64) (year int64, week int) {
	// The week belongs to the year of its Thursday.
	thursday := days - floorMod(days+3, 7) + 3
	year, _, _ = CivilFromDays(thursday)
	return year, int(thursday-DaysFromCivil(year, 1, 1))/7 + 1
}

// ISOWeekStart is the Monday of the ISO week.
func ISOWeekStart(year int64, week int) int64 {
	jan4 := DaysFromCivil(year, 1, 4)
	return jan4 - floorMod(jan4+3, 7) + int64(week-1)*7
}

// SplitTimestamp gives the day and the time within it, rounding down.
func SplitTimestamp(micros int64) (days, micro int64) {
	days = floorDiv(micros, MicrosPerDay)
	return days, micros - days*MicrosPerDay
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// FloorDiv is a/b rounded down, b > 0.
func FloorDiv(a, b int64) int64 { return floorDiv(a, b) }
