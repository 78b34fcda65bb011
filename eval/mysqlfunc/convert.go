package mysqlfunc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// MySQL's conversions: they read as much of a text as is a number, and make NULL of a text that
// is no date.
func registerConvert() {
	num := func(f func(string) types.Decimal) eval.Kernel { return eval.Fn1(f) }
	eval.Register(
		eval.Immutable("mysql:double", eval.Sig(types.Text), eval.TFloat8, eval.Fn1(prefixDouble)).NeverFails(),
		eval.Immutable("mysql:double", eval.Sig(types.Bytea), eval.TFloat8, eval.Fn1(prefixDouble)).NeverFails(),
		eval.Immutable("mysql:double", eval.Sig(types.Date), eval.TFloat8, eval.Fn1(func(d int64) float64 { return float64(dateNumber(d)) })).NeverFails(),
		eval.Immutable("mysql:double", eval.Sig(types.Timestamp), eval.TFloat8, eval.Fn1(func(t int64) float64 { return datetimeNumber(t).Float64() })).NeverFails(),
		eval.Immutable("mysql:double", eval.Sig(types.Interval), eval.TFloat8, eval.Fn1(func(v types.IntervalValue) float64 { return timeNumber(v.Micros).Float64() })).NeverFails(),
		eval.Immutable("mysql:double", eval.Sig(types.Time), eval.TFloat8, eval.Fn1(func(t int64) float64 { return timeNumber(t).Float64() })).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Text), eval.TInt8, eval.Fn1(prefixInt)).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Bytea), eval.TInt8, eval.Fn1(bytesInt)).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Date), eval.TInt8, eval.Fn1(dateNumber)).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Timestamp), eval.TInt8, eval.Fn1(func(t int64) int64 { i, _ := datetimeNumber(t).Round(0).ToInt(types.Int8); return i })).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Interval), eval.TInt8, eval.Fn1(func(v types.IntervalValue) int64 { i, _ := timeNumber(v.Micros).Round(0).ToInt(types.Int8); return i })).NeverFails(),
		eval.Immutable("mysql:int", eval.Sig(types.Time), eval.TInt8, eval.Fn1(func(t int64) int64 { i, _ := timeNumber(t).Round(0).ToInt(types.Int8); return i })).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Text), eval.TNumeric, num(prefixDecimal)).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Bytea), eval.TNumeric, eval.Fn1(func(s string) types.Decimal { return types.DecimalFromInt64(bytesInt([]byte(s))) })).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Date), eval.TNumeric, eval.Fn1(func(d int64) types.Decimal { return types.DecimalFromInt64(dateNumber(d)) })).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Timestamp), eval.TNumeric, eval.Fn1(datetimeNumber)).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Interval), eval.TNumeric, eval.Fn1(func(v types.IntervalValue) types.Decimal { return timeNumber(v.Micros) })).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Time), eval.TNumeric, eval.Fn1(timeNumber)).NeverFails(),
		eval.Immutable("mysql:decimal", eval.Sig(types.Float8), eval.TNumeric, eval.Try1(doubleDecimal)),
		eval.Immutable("mysql:int_prefix", eval.Sig(types.Text), eval.TNumeric, num(func(s string) types.Decimal { return prefixInteger(s) })).NeverFails(),
		eval.Immutable("mysql:signed", eval.Sig(types.Numeric), eval.TInt8, eval.Fn1(castSigned)).NeverFails(),
		eval.Immutable("mysql:signed", eval.Sig(types.Float8), eval.TInt8, eval.Fn1(func(f float64) int64 { return clampInt(math.RoundToEven(f)) })).NeverFails(),
		eval.Immutable("mysql:unsigned", eval.Sig(types.Numeric), types.FixedNumeric(20, 0), eval.Fn1(castUnsigned)).NeverFails(),
		eval.Immutable("mysql:decimal_to", eval.Sig(types.Numeric, types.Int4, types.Int4), eval.TNumeric, eval.Fn3(decimalTo)).NeverFails(),
		eval.Immutable("mysql:scale", eval.Sig(types.Numeric, types.Int4), eval.TNumeric, eval.Fn2(func(d types.Decimal, s int) types.Decimal { return d.WithScale(s) })).NeverFails(),
		eval.Immutable("mysql:cast_year", eval.Sig(types.Int8), eval.TInt4, eval.Fn1(castYear)).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Bool), eval.TText, eval.Fn1(func(b bool) string {
			if b {
				return "1"
			}
			return "0"
		})).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Float8), eval.TText, eval.Fn1(MySQLDouble)).NeverFails(),
		eval.Immutable("mysql:text_float", eval.Sig(types.Float8), eval.TText, eval.Fn1(MySQLFloat)).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Timestamp), eval.TText, eval.Fn1(MySQLDatetime)).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Interval), eval.TText, eval.Fn1(func(v types.IntervalValue) string { return MySQLTime(v.Micros) })).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Time), eval.TText, eval.Fn1(MySQLTime)).NeverFails(),
		eval.Immutable("mysql:text", eval.Sig(types.Bytea), eval.TText, eval.Fn1(bytesText)).NeverFails(),
		eval.Immutable("mysql:text_stored", eval.Sig(types.Bytea), eval.TText, eval.Try1(storedText)),
		eval.Immutable("mysql:bytes", eval.Sig(types.Text), eval.TBytea, eval.Fn1(func(s []byte) []byte { return s })).NeverFails(),
		eval.Immutable("mysql:binary", eval.Sig(types.Bytea, types.Int8), eval.TBytea, eval.Try2(binaryTo)),
	)
}

// numberPrefix is the part of s that is a number, without the spaces before it.
func numberPrefix(s string) string {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	i, digits := 0, 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for ; j < len(s) && s[j] >= '0' && s[j] <= '9'; j++ {
			digits++
		}
		i = j
	}
	if digits == 0 {
		return ""
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		k := j
		for k < len(s) && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k > j {
			i = k
		}
	}
	return s[:i]
}

func prefixDouble(s string) float64 {
	p := numberPrefix(s)
	if p == "" {
		return 0
	}
	f, _ := strconv.ParseFloat(p, 64)
	if math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}

// integerPrefix cuts a number's text at its point or exponent.
func integerPrefix(s string) string {
	p := strings.TrimLeft(s, " \t\n\r\v\f")
	i := 0
	if i < len(p) && (p[i] == '-' || p[i] == '+') {
		i++
	}
	for i < len(p) && p[i] >= '0' && p[i] <= '9' {
		i++
	}
	return p[:i]
}

func prefixInteger(s string) types.Decimal {
	p := integerPrefix(s)
	if len(p) > 60 {
		p = p[:60]
	}
	d, err := types.ParseDecimal(strings.TrimPrefix(p, "+"))
	if err != nil {
		return types.DecimalFromInt64(0)
	}
	return d
}

func prefixInt(s string) int64 {
	d := prefixInteger(s)
	i, err := d.ToInt(types.Int8)
	if err != nil {
		return clampInt(d.Float64())
	}
	return i
}

func clampInt(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// bytesInt reads a binary string as the number that x'…' is in a sum.
func bytesInt(s []byte) int64 {
	var u uint64
	for _, b := range s {
		u = u<<8 | uint64(b)
	}
	return int64(u)
}

func prefixDecimal(s string) types.Decimal {
	p := numberPrefix(s)
	if p == "" {
		return types.DecimalFromInt64(0)
	}
	if i := strings.IndexAny(p, "eE"); i >= 0 {
		if n, err := strconv.Atoi(p[i+1:]); err != nil || n > 80 || n < -80 {
			d, _ := doubleDecimal(prefixDouble(s))
			return d
		}
	}
	d, err := types.ParseDecimal(p)
	if err != nil {
		return types.DecimalFromInt64(0)
	}
	if d.Scale() > 30 {
		return d.WithScale(30)
	}
	return d
}

func doubleDecimal(f float64) (types.Decimal, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return types.Decimal{}, sqlerr.New(sqlerr.NumericOutOfRange, "DECIMAL value is out of range")
	}
	d, err := types.ParseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	if err == nil && d.Scale() > 30 {
		d = d.WithScale(30)
	}
	return d, err
}

func castSigned(d types.Decimal) int64 {
	r := d.Round(0)
	if i, err := r.ToInt(types.Int8); err == nil {
		return i
	}
	if u, ok := unsignedBits(r); ok {
		return int64(u)
	}
	return clampInt(r.Float64())
}

// unsignedBits is d as 64 bits without a sign.
func unsignedBits(d types.Decimal) (uint64, bool) {
	w, ok := d.WithScale(0).Int128()
	if !ok || w.Hi != 0 {
		return 0, false
	}
	return w.Lo, true
}

func castUnsigned(d types.Decimal) types.Decimal {
	r := d.Round(0)
	if u, ok := unsignedBits(r); ok {
		return eval.UnsignedDecimal(u)
	}
	if i, err := r.ToInt(types.Int8); err == nil {
		return eval.UnsignedDecimal(uint64(i))
	}
	if r.Sign() < 0 {
		return eval.UnsignedDecimal(1 << 63)
	}
	return eval.UnsignedDecimal(math.MaxUint64)
}

// decimalTo is DECIMAL(p, s): what does not fit becomes the largest that does.
func decimalTo(d types.Decimal, p, s int) types.Decimal {
	r := d.WithScale(s)
	if len(r.Abs().Coef().String()) <= p {
		return r
	}
	nines, err := types.ParseDecimal(strings.Repeat("9", p) + "e-" + strconv.Itoa(s))
	if err != nil {
		return r
	}
	if d.Sign() < 0 {
		return nines.Neg()
	}
	return nines
}

func castYear(y int64) types.Datum {
	switch {
	case y == 0:
	case y > 0 && y < 70:
		y += 2000
	case y >= 70 && y < 100:
		y += 1900
	case y < 1901 || y > 2155:
		return types.Null
	}
	return types.NewInt(y)
}

// MySQLDouble spells a double as MySQL does: the shortest digits that read back, with an
// exponent from 1e15 on and below 1e-15.
func MySQLDouble(f float64) string { return mysqlFloat(f, 64) }

// MySQLFloat spells a FLOAT: six digits that count.
func MySQLFloat(f float64) string {
	g, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 5, 64), 64)
	return mysqlFloat(g, 64)
}

func mysqlFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == 0:
		return "0" // of either sign
	}
	if a := math.Abs(f); a < 1e15 && a >= 1e-15 {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	mant, exp, _ := strings.Cut(s, "e")
	sign := ""
	if exp[0] == '-' {
		sign = "-"
	}
	return mant + "e" + sign + strings.TrimLeft(exp[1:], "0")
}

// storedText is bytes that a text column takes: what is no text is refused, and not stored as NULL.
func storedText(b []byte) (types.Datum, error) {
	if utf8.Valid(b) {
		return types.NewStr(string(b)), nil
	}
	var shown strings.Builder
	for _, c := range b[:min(len(b), 6)] {
		fmt.Fprintf(&shown, "\\x%02X", c)
	}
	if len(b) > 6 {
		shown.WriteString("...")
	}
	return types.Null, sqlerr.New(sqlerr.DataException, "Incorrect string value: '%s'", shown.String())
}

// bytesText is bytes as text, NULL where they are none.
func bytesText(b []byte) types.Datum {
	if !utf8.Valid(b) {
		return types.Null
	}
	return types.NewStr(string(b))
}

// binaryTo is BINARY(n): cut, or filled with zero bytes.
func binaryTo(b []byte, n int64) ([]byte, error) {
	if n < 0 || n > int64(eval.MaxString()) {
		return nil, eval.ErrTooLong()
	}
	out := make([]byte, n)
	copy(out, b)
	return out, nil
}
