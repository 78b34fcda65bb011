package types

// This file rounds times to the digits after the second of timestamp(p) and its kin.

// RoundSeconds is d, a time, timestamp or interval of type t, rounded to t's digits after the
// second, halves away from zero: from 2000-01-01, PostgreSQL's epoch, for timestamps.
func RoundSeconds(d Datum, t Type) Datum {
	p, ok := t.SecondDigits()
	if !ok || p >= 6 || d.IsNull() {
		return d
	}
	unit := Pow10Int64(6 - p)
	switch t.Kind {
	case Timestamp, TimestampTZ:
		const epoch = 946684800_000_000
		if v := d.Int(); v != TimestampInfinity && v != TimestampNegInfinity {
			return NewInt(epoch + roundTo(v-epoch, unit))
		}
	case Time:
		return NewInt(roundTo(d.Int(), unit))
	case TimeTZ:
		w := d.W128()
		w.Lo = uint64(roundTo(int64(w.Lo), unit))
		return NewW128(w)
	case Interval:
		iv := IntervalOf(d.W128())
		iv.Micros = roundTo(iv.Micros, unit)
		return NewW128(iv.W128())
	}
	return d
}

// roundTo rounds to a multiple of unit, halves away from zero.
func roundTo(v, unit int64) int64 {
	half := unit / 2
	if v >= 0 {
		return (v + half) / unit * unit
	}
	return -((-v + half) / unit * unit)
}
