package types

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Parse reads a value of type t from text, as the input function of PostgreSQL's type does,
// and fits it to t's parameters (length, precision).
func Parse(s string, t Type, o *TextOptions) (Datum, error) {
	switch t.Kind {
	case Bool:
		b, err := ParseBool(s)
		return NewBool(b), err
	case Int2, Int4, Int8:
		i, err := parseInt(s, t.Kind)
		return NewInt(i), err
	case Oid, Xid:
		i, err := parseOid(s, t.Kind)
		return NewInt(i), err
	case Regclass, Regtype, Regproc, Regnamespace, Regoper, Regrole, Regprocedure, Regoperator:
		return parseReg(s, t.Kind, o.orDefault())
	case Float4, Float8:
		f, err := parseFloat(s, t.Kind)
		return NewFloat(f), err
	case Numeric:
		d, err := ParseDecimal(s)
		if err != nil {
			return Null, err
		}
		return d.Datum(t)
	case Text, JSON, JSONB, JSONPath, Variant, Unknown, Name, Char, Varchar, Bpchar:
		return parseString(s, t, o)
	case Bytea:
		b, err := ParseBytea(s)
		if err != nil {
			return Null, err
		}
		if t.Prec > 0 && len(b) != int(t.Prec) {
			return Null, sqlerr.New(sqlerr.StringTooLong, "value of %d bytes does not fit type fixed(%d)", len(b), t.Prec)
		}
		return NewStr(b), nil
	case Date:
		v, err := ParseDate(s, o)
		return NewInt(v), err
	case Time:
		v, err := ParseTime(s, o)
		return RoundSeconds(NewInt(v), t), err
	case TimeTZ:
		v, err := ParseTimeTZ(s, o)
		return RoundSeconds(NewW128(v), t), err
	case Timestamp:
		v, err := ParseTimestamp(s, o)
		return RoundSeconds(NewInt(v), t), err
	case TimestampTZ:
		v, err := ParseTimestampTZ(s, o)
		return RoundSeconds(NewInt(v), t), err
	case TimestampNS, TimestampTZNS:
		v, err := parseNanos(s, t.Kind, o)
		return NewInt(v), err
	case Interval:
		v, err := ParseInterval(s, o)
		return RoundSeconds(NewW128(v.W128()), t), err
	case UUID:
		v, err := ParseUUID(s)
		return NewW128(v), err
	case Array:
		return parseArray(s, t, o)
	case Int2Vector, OidVector:
		return parseVector(s, t, o)
	case Struct, Map:
		if text := strings.TrimLeft(s, " \t\n\r\f\v"); t.Kind == Struct && strings.HasPrefix(text, "(") {
			return parseRecord(text, s, t, o)
		}
		v, err := ParseJSON(s, o.stop())
		if err != nil {
			return Null, err
		}
		if v.Kind != JSONObject {
			return Null, errSyntax(t.String(), s)
		}
		return FromJSON(&v, t, o)
	case Void:
		return NewStr(""), nil
	}
	return Null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s", t)
}

func parseString(s string, t Type, o *TextOptions) (Datum, error) {
	switch t.Kind {
	case JSON:
		return NewStr(s), ValidateJSON(s, o.stop())
	case JSONB:
		c, err := CanonicalJSON(s, o.stop())
		return NewStr(c), err
	case JSONPath:
		c, err := CanonicalJSONPath(s)
		return NewStr(c), err
	case Variant:
		v, err := VariantOfJSON(s, o.stop())
		return NewStr(v), err
	case Name:
		return NewStr(clipBytes(s, 63)), nil
	case Char:
		return NewStr(clipChar(s)), nil
	case Varchar, Bpchar:
		s, err := FitLength(s, t, false)
		return NewStr(s), err
	}
	return NewStr(s), nil
}

// clipChar keeps the first byte, all that a "char" holds, or the one that \ooo spells.
func clipChar(s string) string {
	octal := func(c byte) bool { return c >= '0' && c <= '7' }
	if len(s) == 4 && s[0] == '\\' && s[1] <= '3' && octal(s[1]) && octal(s[2]) && octal(s[3]) {
		return string([]byte{(s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0')})
	}
	if len(s) > 1 {
		return s[:1]
	}
	return s
}

// clipBytes cuts s to at most n bytes without cutting a character.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// FitLength fits s to the length of t, a varchar(n) or char(n): an explicit cast cuts,
// anything else refuses (22001) unless only spaces go. char(n) is filled up with spaces.
func FitLength(s string, t Type, explicit bool) (string, error) {
	n := int(t.Prec)
	if n <= 0 || t.Kind != Varchar && t.Kind != Bpchar {
		return s, nil
	}
	count := utf8.RuneCountInString(s)
	switch {
	case count > n:
		at := 0
		for i := 0; i < n; i++ {
			_, w := utf8.DecodeRuneInString(s[at:])
			at += w
		}
		if !explicit && strings.Trim(s[at:], " ") != "" {
			return "", sqlerr.New(sqlerr.StringTooLong, "value too long for type %s", t)
		}
		return s[:at], nil
	case count < n && t.Kind == Bpchar:
		return s + strings.Repeat(" ", n-count), nil
	}
	return s, nil
}

// ParseBool reads PostgreSQL's boolean input: any unambiguous prefix of true, false, yes, no,
// on, off, or 1 and 0.
func ParseBool(s string) (bool, error) {
	t := strings.ToLower(trimSpace(s))
	switch {
	case t == "":
	case strings.HasPrefix("true", t), strings.HasPrefix("yes", t), t == "on", t == "1":
		return true, nil
	case strings.HasPrefix("false", t), strings.HasPrefix("no", t), len(t) > 1 && strings.HasPrefix("off", t), t == "0":
		return false, nil
	}
	return false, errSyntax("boolean", s)
}

// parseInt reads an integer of kind Int2, Int4 or Int8.
func parseInt(s string, k Kind) (int64, error) {
	if v, ok := plainInt(s); ok && intFits(v, k) {
		return v, nil
	}
	t := trimSpace(s)
	body := t
	if body != "" && (body[0] == '-' || body[0] == '+') {
		body = body[1:]
	}
	if body == "" || digitsLen(body) != len(body) {
		return 0, errSyntax(kindNames[k], s)
	}
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil || !intFits(v, k) {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "value \"%s\" is out of range for type %s", s, kindNames[k])
	}
	return v, nil
}

// plainInt reads what integers nearly always look like: up to 18 digits, a minus perhaps.
func plainInt(s string) (v int64, ok bool) {
	neg := len(s) > 1 && s[0] == '-'
	i := 0
	if neg {
		i = 1
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for ; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	if neg {
		v = -v
	}
	return v, true
}

// ParseInt reads an integer of kind Int2, Int4 or Int8 as its input function does.
func ParseInt(s string, k Kind) (int64, error) { return parseInt(s, k) }

// parseOid reads an unsigned 32-bit number; a negative one wraps, as strtoul has it.
func parseOid(s string, k Kind) (int64, error) {
	t := trimSpace(s)
	body := t
	if body != "" && (body[0] == '-' || body[0] == '+') {
		body = body[1:]
	}
	if body == "" || digitsLen(body) != len(body) {
		return 0, errSyntax(kindNames[k], s)
	}
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil || v > math.MaxUint32 || v < math.MinInt32 {
		return 0, sqlerr.New(sqlerr.NumericOutOfRange, "value \"%s\" is out of range for type %s", s, kindNames[k])
	}
	return int64(uint32(v)), nil
}

func parseReg(s string, k Kind, o *TextOptions) (Datum, error) {
	if s == "-" {
		return NewInt(0), nil
	}
	if s != "" && digitsLen(s) == len(s) {
		i, err := parseOid(s, Oid)
		return NewInt(i), err
	}
	if o.ObjectOID != nil {
		if oid, ok := o.ObjectOID(k, s); ok {
			return NewInt(int64(oid)), nil
		}
	}
	switch k {
	case Regclass:
		return Null, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", s)
	case Regtype:
		return Null, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", s)
	case Regproc, Regprocedure:
		return Null, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", s)
	case Regoper, Regoperator:
		return Null, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", s)
	case Regnamespace:
		return Null, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
	}
	return Null, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", s)
}

// parseFloat reads a float; a Float4 comes back as the float32's value.
func parseFloat(s string, k Kind) (float64, error) {
	t := trimSpace(s)
	bits := 64
	if k == Float4 {
		bits = 32
	}
	if t != "" && (isDigit(t[len(t)-1]) || t[len(t)-1] == '.') && validNumber(t) {
		f, err := strconv.ParseFloat(t, bits)
		if errors.Is(err, strconv.ErrRange) || f == 0 && strings.ContainsAny(mantissa(t), "123456789") {
			return 0, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type %s", t, kindNames[k])
		}
		if err == nil {
			return f, nil
		}
	}
	switch low := strings.ToLower(t); low {
	case "nan":
		return math.NaN(), nil
	case "infinity", "+infinity", "inf", "+inf":
		return math.Inf(1), nil
	case "-infinity", "-inf":
		return math.Inf(-1), nil
	default:
		// Hexadecimal floats pass because C's strtod reads them.
		if strings.HasPrefix(strings.TrimLeft(low, "+-"), "0x") && !strings.Contains(low, "_") {
			if !strings.Contains(low, "p") {
				low += "p0"
			}
			if f, err := strconv.ParseFloat(low, bits); err == nil {
				return f, nil
			}
		}
	}
	return 0, errSyntax(kindNames[k], s)
}

// ParseFloat reads a value of kind Float4 or Float8 as its input function does.
func ParseFloat(s string, k Kind) (float64, error) { return parseFloat(s, k) }

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// parseNanos reads a timestamp with up to nine digits of fraction.
func parseNanos(s string, k Kind, o *TextOptions) (int64, error) {
	zoned := k == TimestampTZNS
	parse := ParseTimestamp
	if zoned {
		parse = ParseTimestampTZ
	}
	// The nanoseconds beyond the microsecond are cut out and read apart, where a fraction of
	// seconds has more than six digits.
	extra := int64(0)
	if at := strings.LastIndexByte(s, '.'); at >= 0 && strings.Count(s[:at], ":") >= 2 {
		n := digitsLen(s[at+1:])
		if n > 6 {
			for i := 7; i <= 9; i++ {
				extra *= 10
				if i <= n {
					extra += int64(s[at+i] - '0')
				}
			}
			s = s[:at+7] + s[at+1+n:]
		}
	}
	v, err := parse(s, o)
	if err != nil {
		return 0, err
	}
	r, ok := MicrosToNanos(v)
	if !ok {
		return 0, errTimestampRange(s)
	}
	if v == TimestampInfinity || v == TimestampNegInfinity {
		return r, nil
	}
	return r + extra, nil
}

// MicrosToNanos widens a timestamp; ok is false beyond the years 1678 to 2261.
func MicrosToNanos(v int64) (int64, bool) {
	if v == TimestampInfinity || v == TimestampNegInfinity {
		return v, true
	}
	w := MulInt64(v, 1000)
	return w.Int64(), w.IsInt64()
}

// NanosToMicros narrows a timestamp, rounding down.
func NanosToMicros(v int64) int64 {
	if v == TimestampInfinity || v == TimestampNegInfinity {
		return v
	}
	return floorDiv(v, 1000)
}

// microsOf gives the microseconds of a timestamp of whichever kind.
func microsOf(v int64, k Kind) int64 {
	if k == TimestampNS || k == TimestampTZNS {
		return NanosToMicros(v)
	}
	return v
}

// ParseUUID reads 32 hexadecimal digits, with a hyphen allowed after each four, in braces
// perhaps.
func ParseUUID(s string) (w Int128, err error) {
	t := s
	if strings.HasPrefix(t, "{") {
		if !strings.HasSuffix(t, "}") {
			return w, errSyntax("uuid", s)
		}
		t = t[1 : len(t)-1]
	}
	n := 0
	for i := 0; i < len(t); i++ {
		v, ok := hexDigit(t[i])
		if !ok {
			if t[i] == '-' && n%4 == 0 && n > 0 && n < 32 && t[i-1] != '-' {
				continue
			}
			return w, errSyntax("uuid", s)
		}
		if n == 32 {
			return w, errSyntax("uuid", s)
		}
		if n < 16 {
			w.Hi = w.Hi<<4 | int64(v)
		} else {
			w.Lo = w.Lo<<4 | uint64(v)
		}
		n++
	}
	if n != 32 {
		return w, errSyntax("uuid", s)
	}
	return w, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// ParseBytea reads hex (\x…) or escape input.
func ParseBytea(s string) (string, error) {
	if strings.HasPrefix(s, `\x`) {
		out := make([]byte, 0, len(s)/2)
		for i := 2; i < len(s); {
			if isSpace(s[i]) && s[i] != '\v' && s[i] != '\f' {
				i++
				continue
			}
			hi, ok := hexDigit(s[i])
			if !ok {
				return "", errHexDigit(s[i:])
			}
			if i+1 >= len(s) {
				return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
			}
			lo, ok := hexDigit(s[i+1])
			if !ok {
				return "", errHexDigit(s[i+1:])
			}
			out = append(out, hi<<4|lo)
			i += 2
		}
		return string(out), nil
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	octal := func(c byte) bool { return c >= '0' && c <= '7' }
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		case i+3 < len(s) && s[i+1] <= '3' && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return string(out), nil
}

func errHexDigit(rest string) error {
	_, n := utf8.DecodeRuneInString(rest)
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", rest[:n])
}

// parseVector reads int2vector and oidvector: numbers between spaces.
func parseVector(s string, t Type, o *TextOptions) (Datum, error) {
	words := strings.Fields(s)
	list := make([]Datum, len(words))
	for i, w := range words {
		var err error
		if list[i], err = Parse(w, elemOf(t), o); err != nil {
			return Null, err
		}
	}
	return NewList(list), nil
}
