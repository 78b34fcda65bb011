package mysqlfunc

import (
	"math"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// What MySQL's strict mode takes into a column that is of another type: a text that is wholly a
// number, a date or a time as MySQL reads them. What an expression would make NULL, zero or a part
// of is an error here, for it would be stored.
func registerStore() {
	const text, n, i4 = types.Text, types.Numeric, types.Int4
	eval.Register(
		eval.Immutable("mysql:store_int", eval.Sig(text, i4), eval.TInt8, eval.Try2(storeInt)),
		eval.Immutable("mysql:store_double", eval.Sig(text), eval.TFloat8, eval.Try1(storeDouble)),
		eval.Immutable("mysql:store_decimal", eval.Sig(text), eval.TNumeric, eval.Try1(func(s string) (types.Decimal, error) { return wholeDecimal(s, "decimal") })),
		eval.Immutable("mysql:store_date", eval.Sig(text), eval.TDate, eval.Try1(func(s string) (types.Datum, error) { return stored(textDate(s), "date", s) })),
		eval.Immutable("mysql:store_date", eval.Sig(n), eval.TDate, eval.Try1(func(d types.Decimal) (types.Datum, error) {
			return stored(dateOf(numberDatetime(d)), "date", d.String())
		})),
		eval.Stable("mysql:store_datetime", eval.Sig(text), eval.TTimestamp, eval.Ask1(storeDatetime)),
		eval.Immutable("mysql:store_datetime", eval.Sig(n), eval.TTimestamp, eval.Try1(func(d types.Decimal) (types.Datum, error) { return stored(numberDatetime(d), "datetime", d.String()) })),
		eval.Immutable("mysql:store_time", eval.Sig(text), eval.TInterval, eval.Try1(func(s string) (types.Datum, error) { return stored(exactTime(s), "time", s) })),
		eval.Immutable("mysql:store_time", eval.Sig(n), eval.TInterval, eval.Try1(func(d types.Decimal) (types.Datum, error) { return stored(numberTime(d), "time", d.String()) })),
		eval.Immutable("mysql:time_of_day", eval.Sig(types.Interval), eval.TTime, eval.Try1(timeOfDay)),
		eval.Immutable("mysql:divisor", eval.Sig(types.Int8), eval.TInt8, eval.Try1(func(n int64) (int64, error) { return n, divisor(n == 0) })),
		eval.Immutable("mysql:divisor", eval.Sig(n), eval.TNumeric, eval.Try1(func(d types.Decimal) (types.Decimal, error) { return d, divisor(d.IsZero()) })),
		eval.Immutable("mysql:divisor", eval.Sig(types.Float8), eval.TFloat8, eval.Try1(func(f float64) (float64, error) { return f, divisor(f == 0) })),
		eval.Immutable("mysql:store_bytes", eval.Sig(types.Bytea, i4), eval.TBytea, eval.Try2(storeBytes)),
	)
}

func divisor(zero bool) error {
	if zero {
		return sqlerr.New(sqlerr.DivisionByZero, "Division by 0")
	}
	return nil
}

// stored is a value that was read, or the error of a text that could not be.
func stored(d types.Datum, what, text string) (types.Datum, error) {
	if d.IsNull() {
		return d, sqlerr.New(sqlerr.InvalidDatetimeFormat, "Incorrect %s value: '%s'", what, text)
	}
	return d, nil
}

// wholeNumber is the number that s wholly is, but for spaces around it.
func wholeNumber(s, what string) (string, error) {
	p := numberPrefix(s)
	if p == "" {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "Incorrect %s value: '%s'", what, s)
	}
	if strings.Trim(s, " \t\n\r\v\f") != p {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "Data truncated: '%s' is more than a number", s).WithNumber(1265)
	}
	return p, nil
}

func outOfRange(s string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "Out of range value: '%s'", s).WithNumber(1264)
}

func wholeDecimal(s, what string) (types.Decimal, error) {
	p, err := wholeNumber(s, what)
	if err != nil {
		return types.Decimal{}, err
	}
	if i := strings.IndexAny(p, "eE"); i >= 0 {
		if n, err := strconv.Atoi(p[i+1:]); err != nil || n > 80 {
			if prefixDouble(p) == 0 {
				return types.DecimalFromInt64(0), nil
			}
			return types.Decimal{}, outOfRange(s)
		}
	}
	return prefixDecimal(p), nil
}

// storeInt rounds to an integer of so many bytes.
func storeInt(s string, bytes int64) (int64, error) {
	d, err := wholeDecimal(s, "integer")
	if err != nil {
		return 0, err
	}
	i, err := d.Round(0).ToInt(types.Int8)
	if shift := 64 - 8*bytes; err != nil || i<<shift>>shift != i {
		return 0, outOfRange(s)
	}
	return i, nil
}

func storeDouble(s string) (float64, error) {
	p, err := wholeNumber(s, "double")
	if err != nil {
		return 0, err
	}
	f, _ := strconv.ParseFloat(p, 64)
	if math.IsInf(f, 0) {
		return 0, outOfRange(s)
	}
	return f, nil
}

// storeDatetime reads a DATETIME. With an offset, or Z for none, it is an instant and becomes the
// session's local time.
func storeDatetime(c *eval.Ctx, s string) (types.Datum, error) {
	text := strings.TrimSpace(s)
	if n := len(text); n > 10 && (text[n-1] == 'Z' || text[n-1] == 'z') && text[n-2] >= '0' && text[n-2] <= '9' {
		text = text[:n-1] + "+00:00"
	}
	t, err := stored(textDatetime(text), "datetime", s)
	if n := len(text); err == nil && n > 16 && text[n-3] == ':' && (text[n-6] == '+' || text[n-6] == '-') {
		us, _ := zoneOffset(text[n-6:])
		if text[n-6] == '-' {
			us = -us
		}
		t, err = stored(datetimeDatum(types.ToLocal(eval.ZoneOf(c), t.Int()-us)), "datetime", s)
	}
	return t, err
}

// exactTime is a TIME within its range, NULL beyond it: an expression takes the nearest instead.
func exactTime(s string) types.Datum {
	t := textTime(s)
	if t.IsNull() {
		return t
	}
	if us := types.IntervalOf(t.W128()).Micros; us == maxTime || us == -maxTime {
		u := strings.TrimPrefix(strings.TrimSpace(s), "-")
		if !strings.HasPrefix(u, "838:59:59") && !strings.HasPrefix(u, "8385959") && !strings.HasPrefix(u, "34 ") {
			return types.Null
		}
	}
	return t
}

// timeOfDay is a TIME as a column of the table format holds it: there a time is of a day.
func timeOfDay(v types.IntervalValue) (int64, error) {
	if v.Micros < 0 || v.Micros >= types.MicrosPerDay {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "Out of range value: '%s' is no time of a day, which is what a column of type time holds", MySQLTime(v.Micros)).
			WithNumber(1264)
	}
	return v.Micros, nil
}

// storeBytes is BINARY(n): filled with zero bytes, never cut.
func storeBytes(b []byte, n int64) ([]byte, error) {
	if int64(len(b)) > n {
		return nil, sqlerr.New(sqlerr.StringTooLong, "Data too long: %d bytes for BINARY(%d)", len(b), n)
	}
	out := make([]byte, n)
	copy(out, b)
	return out, nil
}
