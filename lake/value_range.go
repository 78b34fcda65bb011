package lake

import (
	"math"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// What SQL knows and the table format does not: NaN among decimals, dates and instants that are
// infinite, before the year 1 or after 9999, the time 24:00. Other engines misread such values, or
// cannot open the table (PyIceberg, DuckDB): they are refused wherever a value becomes part of a table.

const microsPerDay = 24 * 60 * 60 * 1_000_000

// Days and microseconds of the first and the last date that all engines have.
var (
	firstDay = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
	lastDay  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix() / 86400
)

// ValueRange gives the least and the greatest integer that stands for a value of the Iceberg
// primitive type, a decimal of at most 18 digits included; ok is false where integers do not.
func ValueRange(iceberg string) (lo, hi int64, ok bool) {
	switch iceberg {
	case "int":
		return math.MinInt32, math.MaxInt32, true
	case "long":
		return math.MinInt64, math.MaxInt64, true
	case "date":
		return firstDay, lastDay, true
	case "time":
		return 0, microsPerDay - 1, true
	case "timestamp", "timestamptz":
		return firstDay * microsPerDay, (lastDay+1)*microsPerDay - 1, true
	case "timestamp_ns", "timestamptz_ns": // 64 bits end in 1677 and 2262; their ends are infinities
		return math.MinInt64 + 1, math.MaxInt64 - 1, true
	}
	if p, _, is := decimalParams(iceberg); is && p <= 18 {
		n := int64(1)
		for range p {
			n *= 10
		}
		return -(n - 1), n - 1, true
	}
	return 0, 0, false
}

// ErrOutOfRange is the error of a value that f's Iceberg type does not have: 22008 or 22003.
func ErrOutOfRange(f *Field, d types.Datum) error {
	text := types.Format(d, f.Type, &types.TextOptions{Zone: time.UTC, DateStyle: "ISO", IntervalStyle: "postgres"})
	if f.Iceberg == "date" || strings.HasPrefix(f.Iceberg, "time") {
		return sqlerr.New(sqlerr.DatetimeOverflow, "column %q cannot hold %s: the type %s of a table has no such value", f.Name, text, f.Iceberg).
			WithHint("Tables hold dates from the year 1 to 9999, and times before 24:00. NULL may stand for what has no date.")
	}
	return sqlerr.New(sqlerr.NumericOutOfRange, "column %q cannot hold %s: the type %s of a table has no such value", f.Name, text, f.Iceberg)
}

// CheckValue refuses a value that f's Iceberg type does not have, at any depth.
func CheckValue(f *Field, d types.Datum) error {
	if d.IsNull() {
		return nil
	}
	switch f.Iceberg {
	case "struct":
		for i, x := range d.List() {
			if err := CheckValue(&f.Children[i], x); err != nil {
				return err
			}
		}
		return nil
	case "list":
		for _, x := range d.List() {
			if err := CheckValue(&f.Children[0], x); err != nil {
				return err
			}
		}
		return nil
	case "map":
		for _, pair := range d.List() {
			for i, x := range pair.List() {
				if err := CheckValue(&f.Children[i], x); err != nil {
					return err
				}
			}
		}
		return nil
	}
	switch d.Form() {
	case types.FormI64:
		if lo, hi, ok := ValueRange(f.Iceberg); ok && (d.Int() < lo || d.Int() > hi) {
			return ErrOutOfRange(f, d)
		}
	case types.FormStr:
		if _, _, ok := decimalParams(f.Iceberg); ok {
			return ErrOutOfRange(f, d) // a finite one has a fixed form
		}
	}
	return nil
}
