package types

import (
	"math"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// IntervalValue is a span of time in the three units that do not convert exactly.
type IntervalValue struct {
	Months, Days int32
	Micros       int64
}

// IntervalOf reads an interval out of a W128: Lo the microseconds, Hi months<<32 | days.
func IntervalOf(w Int128) IntervalValue {
	return IntervalValue{Months: int32(w.Hi >> 32), Days: int32(w.Hi), Micros: int64(w.Lo)}
}

// W128 packs v as IntervalOf reads it.
func (v IntervalValue) W128() Int128 {
	return Int128{Lo: uint64(v.Micros), Hi: int64(v.Months)<<32 | int64(uint32(v.Days))}
}

// span is v in microseconds with months of 30 days and days of 24 hours: what PostgreSQL
// compares and hashes.
func (v IntervalValue) span() Int128 {
	days := int64(v.Months)*30 + int64(v.Days)
	return MulInt64(days, MicrosPerDay).Add64(v.Micros)
}

// Cmp orders intervals: 1 month = 30 days = 720 hours.
func (v IntervalValue) Cmp(u IntervalValue) int { return v.span().Cmp(u.span()) }

func errIntervalRange() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "interval out of range")
}

// Neg is -v.
func (v IntervalValue) Neg() (IntervalValue, error) {
	if v.Months == math.MinInt32 || v.Days == math.MinInt32 || v.Micros == math.MinInt64 {
		return v, errIntervalRange()
	}
	return IntervalValue{-v.Months, -v.Days, -v.Micros}, nil
}

// Add is v + u.
func (v IntervalValue) Add(u IntervalValue) (IntervalValue, error) {
	m, d := int64(v.Months)+int64(u.Months), int64(v.Days)+int64(u.Days)
	us, ok := addInt64(v.Micros, u.Micros)
	if !ok || m != int64(int32(m)) || d != int64(int32(d)) {
		return v, errIntervalRange()
	}
	return IntervalValue{int32(m), int32(d), us}, nil
}

// Sub is v - u.
func (v IntervalValue) Sub(u IntervalValue) (IntervalValue, error) {
	n, err := u.Neg()
	if err != nil {
		return v, err
	}
	return v.Add(n)
}

func addInt64(a, b int64) (int64, bool) {
	s := a + b
	return s, (a^s)&(b^s) >= 0
}

// Mul is v * f. Fractions of months go to days, of days to microseconds (interval_mul).
func (v IntervalValue) Mul(f float64) (IntervalValue, error) {
	return v.scale(func(x float64) float64 { return x * f })
}

// Div is v / f.
func (v IntervalValue) Div(f float64) (IntervalValue, error) {
	if f == 0 {
		return v, ErrDivisionByZero()
	}
	return v.scale(func(x float64) float64 { return x / f })
}

// tsRound rounds to six decimals, so that binary noise does not become microseconds (TSROUND).
func tsRound(f float64) float64 { return math.RoundToEven(f*1e6) / 1e6 }

func (v IntervalValue) scale(f func(float64) float64) (r IntervalValue, err error) {
	months := f(float64(v.Months))
	days := f(float64(v.Days))
	if !(months >= math.MinInt32 && months <= math.MaxInt32) || !(days >= math.MinInt32 && days <= math.MaxInt32) {
		return r, errIntervalRange()
	}
	r.Months, r.Days = int32(months), int32(days)
	monthDays := tsRound((months - float64(r.Months)) * 30)
	secs := tsRound((days - float64(r.Days) + monthDays - float64(int32(monthDays))) * 86400)
	if math.Abs(secs) >= 86400 {
		r.Days += int32(secs / 86400)
		secs -= float64(int32(secs/86400)) * 86400
	}
	d := int64(r.Days) + int64(int32(monthDays))
	us := math.RoundToEven(f(float64(v.Micros)) + secs*1e6)
	if d != int64(int32(d)) || !(us >= math.MinInt64 && us < 0x1p63) {
		return r, errIntervalRange()
	}
	r.Days, r.Micros = int32(d), int64(us)
	return r, nil
}

// JustifyHours turns every 24 hours into a day.
func (v IntervalValue) JustifyHours() (IntervalValue, error) {
	days := v.Micros / MicrosPerDay
	v.Micros -= days * MicrosPerDay
	d := int64(v.Days) + days
	if d > 0 && v.Micros < 0 {
		v.Micros += MicrosPerDay
		d--
	} else if d < 0 && v.Micros > 0 {
		v.Micros -= MicrosPerDay
		d++
	}
	if d != int64(int32(d)) {
		return v, errIntervalRange()
	}
	v.Days = int32(d)
	return v, nil
}

// JustifyDays turns every 30 days into a month.
func (v IntervalValue) JustifyDays() (IntervalValue, error) {
	m := int64(v.Months) + int64(v.Days/30)
	v.Days %= 30
	if m > 0 && v.Days < 0 {
		v.Days += 30
		m--
	} else if m < 0 && v.Days > 0 {
		v.Days -= 30
		m++
	}
	if m != int64(int32(m)) {
		return v, errIntervalRange()
	}
	v.Months = int32(m)
	return v, nil
}

// JustifyInterval does both and gives all parts one sign.
func (v IntervalValue) JustifyInterval() (IntervalValue, error) {
	days := v.Micros / MicrosPerDay
	us := v.Micros % MicrosPerDay
	d := int64(v.Days) + days
	m := int64(v.Months) + d/30
	d %= 30
	if m > 0 && (d < 0 || d == 0 && us < 0) {
		d += 30
		m--
	} else if m < 0 && (d > 0 || d == 0 && us > 0) {
		d -= 30
		m++
	}
	if d > 0 && us < 0 {
		us += MicrosPerDay
		d--
	} else if d < 0 && us > 0 {
		us -= MicrosPerDay
		d++
	}
	if m != int64(int32(m)) {
		return v, errIntervalRange()
	}
	return IntervalValue{int32(m), int32(d), us}, nil
}

func errTimestampOut() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
}

// AddMonths adds n months to a date, keeping the day unless the month is too short for it.
func AddMonths(days int64, n int64) int64 {
	y, m, d := CivilFromDays(days)
	total := y*12 + int64(m-1) + n
	y, m = floorDiv(total, 12), int(floorMod(total, 12))+1
	return DaysFromCivil(y, m, min(d, DaysInMonth(y, m)))
}

// AddInterval is timestamp + interval without time zone.
func AddInterval(micros int64, v IntervalValue) (int64, error) {
	if micros == TimestampInfinity || micros == TimestampNegInfinity {
		return micros, nil
	}
	if v.Months != 0 || v.Days != 0 {
		days, tod := SplitTimestamp(micros)
		if v.Months != 0 {
			days = AddMonths(days, int64(v.Months))
		}
		days += int64(v.Days)
		if !DateInRange(days) || days > endTimestamp/MicrosPerDay {
			return 0, errTimestampOut()
		}
		micros = days*MicrosPerDay + tod
	}
	r, ok := addInt64(micros, v.Micros)
	if !ok || !TimestampInRange(r) {
		return 0, errTimestampOut()
	}
	return r, nil
}

// AddIntervalTZ is timestamptz + interval: months and days move the zone's wall clock, the
// rest is elapsed time.
func AddIntervalTZ(micros int64, v IntervalValue, zone *time.Location) (int64, error) {
	if micros == TimestampInfinity || micros == TimestampNegInfinity {
		return micros, nil
	}
	if v.Months != 0 || v.Days != 0 {
		local, err := AddInterval(ToLocal(zone, micros), IntervalValue{Months: v.Months, Days: v.Days})
		if err != nil {
			return 0, err
		}
		micros = ToUTC(zone, local)
	}
	return AddInterval(micros, IntervalValue{Micros: v.Micros})
}

// SubTimestamps is a - b in days and microseconds (timestamp_mi with its justify_hours).
func SubTimestamps(a, b int64) (IntervalValue, error) {
	inf := func(x int64) bool { return x == TimestampInfinity || x == TimestampNegInfinity }
	if inf(a) || inf(b) {
		return IntervalValue{}, sqlerr.New(sqlerr.DatetimeOverflow, "cannot subtract infinite timestamps")
	}
	d := a - b
	if (a^b)&(a^d) < 0 {
		return IntervalValue{}, errIntervalRange()
	}
	return IntervalValue{Micros: d}.JustifyHours()
}

// Age is the difference of two wall clock times in years, months, days and so on
// (timestamp_age).
func Age(a, b int64) (IntervalValue, error) {
	inf := func(x int64) bool { return x == TimestampInfinity || x == TimestampNegInfinity }
	if inf(a) || inf(b) {
		return IntervalValue{}, errTimestampOut()
	}
	ad, at := SplitTimestamp(a)
	bd, bt := SplitTimestamp(b)
	ay, am, aday := CivilFromDays(ad)
	by, bm, bday := CivilFromDays(bd)
	us := at - bt
	days := int64(aday - bday)
	months := int64(am - bm)
	years := ay - by
	neg := a < b
	if neg {
		us, days, months, years = -us, -days, -months, -years
	}
	for us < 0 {
		us += MicrosPerDay
		days--
	}
	for days < 0 {
		// Borrow the length of the month in which the earlier of the two lies.
		if neg {
			days += int64(DaysInMonth(ay, am))
		} else {
			days += int64(DaysInMonth(by, bm))
		}
		months--
	}
	for months < 0 {
		months += 12
		years--
	}
	v := IntervalValue{Months: int32(years*12 + months), Days: int32(days), Micros: us}
	if neg {
		v.Months, v.Days, v.Micros = -v.Months, -v.Days, -v.Micros
	}
	return v, nil
}
