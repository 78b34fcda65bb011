package types

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// String spells d as PostgreSQL does.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// AppendText appends d as PostgreSQL spells it.
func (d Decimal) AppendText(dst []byte) []byte {
	switch d.class {
	case notANumber:
		return append(dst, "NaN"...)
	case posInf:
		return append(dst, "Infinity"...)
	case negInf:
		return append(dst, "-Infinity"...)
	}
	if d.big == nil {
		return AppendDecimal64(dst, d.small, int(d.scale))
	}
	return appendPoint(dst, d.big.Append(nil, 10), int(d.scale))
}

// AppendDecimal64 appends v / 10^scale.
func AppendDecimal64(dst []byte, v int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	var buf [24]byte
	return appendPoint(dst, strconv.AppendInt(buf[:0], v, 10), scale)
}

// AppendDecimal128 appends v / 10^scale.
func AppendDecimal128(dst []byte, v Int128, scale int) []byte {
	var buf [48]byte
	return appendPoint(dst, appendInt128(buf[:0], v), scale)
}

// appendPoint puts the decimal point into digits (with a sign perhaps).
func appendPoint(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	if digits[0] == '-' {
		dst = append(dst, '-')
		digits = digits[1:]
	}
	whole := len(digits) - scale
	if whole > 0 {
		dst = append(dst, digits[:whole]...)
		dst = append(dst, '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, "0."...)
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// ParseDecimal reads PostgreSQL's numeric input.
func ParseDecimal(s string) (Decimal, error) {
	t := trimSpace(s)
	if d, ok := parseDecimalFast(t); ok {
		return d, nil
	}
	switch strings.ToLower(t) {
	case "nan":
		return DecimalNaN, nil
	case "infinity", "+infinity", "inf", "+inf":
		return DecimalInf, nil
	case "-infinity", "-inf":
		return DecimalNegInf, nil
	}
	d, ok := parseDecimal(t)
	if !ok {
		if validNumber(t) {
			return d, errNumericOverflow()
		}
		return d, errSyntax("numeric", s)
	}
	return d.check()
}

// parseDecimalFast reads up to 18 plain digits.
func parseDecimalFast(s string) (Decimal, bool) {
	if len(s) == 0 || len(s) > 20 {
		return Decimal{}, false
	}
	neg := s[0] == '-'
	i := 0
	if neg || s[0] == '+' {
		i++
	}
	var v int64
	digits, point := 0, -1
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			v = v*10 + int64(c-'0')
			digits++
		case c == '.' && point < 0:
			point = digits
		default:
			return Decimal{}, false
		}
	}
	if digits == 0 || digits > 18 {
		return Decimal{}, false
	}
	if neg {
		v = -v
	}
	d := Decimal{small: v}
	if point >= 0 {
		d.scale = int32(digits - point)
	}
	return d, true
}

// splitNumber takes a plain number apart. ok is false when it is none.
func splitNumber(s string) (neg bool, whole, frac, exp string, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	n := digitsLen(s)
	whole, s = s[:n], s[n:]
	if s != "" && s[0] == '.' {
		n = digitsLen(s[1:])
		frac, s = s[1:1+n], s[1+n:]
	}
	if whole == "" && frac == "" {
		return
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		e := s[1:]
		if e != "" && (e[0] == '-' || e[0] == '+') {
			e = e[1:]
		}
		if e == "" || digitsLen(e) != len(e) {
			return
		}
		exp, s = s[1:], ""
	}
	return neg, whole, frac, exp, s == ""
}

func digitsLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func validNumber(s string) bool {
	_, _, _, _, ok := splitNumber(s)
	return ok
}

// parseDecimal reads a number with a fraction and an exponent perhaps. It refuses what would
// need an absurd amount of memory.
func parseDecimal(s string) (Decimal, bool) {
	neg, whole, frac, exp, ok := splitNumber(s)
	if !ok {
		return Decimal{}, false
	}
	e := 0
	if exp != "" {
		v, err := strconv.Atoi(exp)
		if err != nil || v > maxWholeDigits || v < -maxWholeDigits {
			return Decimal{}, false
		}
		e = v
	}
	digits := strings.TrimLeft(whole+frac, "0")
	scale := len(frac) - e
	if len(digits)-scale > maxWholeDigits && digits != "" {
		return Decimal{}, false
	}
	var d Decimal
	if digits == "" {
		d = Decimal{}
	} else if len(digits) <= 18 {
		v, _ := strconv.ParseInt(digits, 10, 64)
		d.small = v
	} else {
		z, ok := new(big.Int).SetString(digits, 10)
		if !ok {
			return Decimal{}, false
		}
		d = DecimalFromBig(z, 0)
	}
	if neg {
		d = d.Neg()
	}
	if scale < 0 {
		if !d.IsZero() {
			d = DecimalFromBig(new(big.Int).Mul(d.Coef(), bigPow10(-scale)), 0)
		}
		scale = 0
	}
	d.scale = int32(scale)
	if scale > maxScale {
		d = d.rescale(maxScale, false)
	}
	return d, true
}

// errSyntax is PostgreSQL's complaint about a text that is no value of a type.
func errSyntax(typ, s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// trimSpace removes what C's isspace says is space at both ends.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}
