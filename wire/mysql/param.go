package mysql

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/lhsql/lhsql/types"
)

// paramType is how a client says that it sends a parameter.
type paramType struct {
	typ      byte
	unsigned bool
}

// paramValue is one parameter as it came: exactly one of the members counts, as kind says.
type paramValue struct {
	kind byte // 'n' NULL, 'i' int, 'u' beyond int64, 'f' float, 'd' decimal text, 's' text, 'b' bytes, 't' instant text, 'T' time text
	i    int64
	f    float64
	s    string
}

// readParams reads the values of COM_STMT_EXECUTE and gives them as the statement's parameters.
func (c *conn) readParams(s *statement, f *fields) ([]types.Datum, error) {
	want := s.stmt.Params()
	if len(want) == 0 {
		return nil, nil
	}
	malformed := wireError(1835, "HY000", "Malformed communication packet.")
	nulls := f.take((len(want) + 7) / 8)
	if f.byte() == 1 {
		s.types = make([]paramType, len(want))
		for i := range s.types {
			t := f.int16()
			s.types[i] = paramType{byte(t), t&0x8000 != 0}
		}
	}
	if f.bad || len(s.types) != len(want) {
		return nil, malformed
	}
	if s.failed != nil {
		return nil, s.failed
	}
	values := make([]paramValue, len(want))
	for i := range want {
		if b, ok := s.long[i]; ok {
			values[i] = paramValue{kind: 's', s: string(b)}
			if want[i].Kind == types.Bytea {
				values[i].kind = 'b'
			}
			continue
		}
		if nulls[i/8]>>(i%8)&1 != 0 || s.types[i].typ == typeNull {
			values[i].kind = 'n'
			continue
		}
		var ok bool
		if values[i], ok = readValue(f, s.types[i]); !ok || f.bad {
			return nil, malformed
		}
	}
	return c.arguments(s, values)
}

// readValue reads one binary value.
func readValue(f *fields, t paramType) (paramValue, bool) {
	signed := func(n int64) (paramValue, bool) { return paramValue{kind: 'i', i: n}, true }
	switch t.typ {
	case typeTiny:
		if b := f.byte(); t.unsigned {
			return signed(int64(b))
		} else {
			return signed(int64(int8(b)))
		}
	case typeShort, typeYear:
		if n := f.int16(); t.unsigned {
			return signed(int64(n))
		} else {
			return signed(int64(int16(n)))
		}
	case typeLong, typeInt24:
		if n := f.int32(); t.unsigned {
			return signed(int64(n))
		} else {
			return signed(int64(int32(n)))
		}
	case typeLongLong:
		n := f.int64()
		if t.unsigned && n > math.MaxInt64 {
			return paramValue{kind: 'u', s: strconv.FormatUint(n, 10)}, true
		}
		return signed(int64(n))
	case typeFloat:
		// As decimal text has it: 1.1 sent as FLOAT means 1.1.
		v := math.Float32frombits(f.int32())
		x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return paramValue{kind: 'f', f: x}, true
	case typeDouble:
		return paramValue{kind: 'f', f: math.Float64frombits(f.int64())}, true
	case typeDate, typeDatetime, typeTimestamp:
		return readInstant(f.take(int(f.byte())), t.typ == typeDate)
	case typeTime:
		return readTime(f.take(int(f.byte())))
	case typeDecimal, typeNewDecimal:
		return paramValue{kind: 'd', s: string(f.lenBytes())}, true
	case typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeBit:
		return paramValue{kind: 'b', s: string(f.lenBytes())}, true
	case typeVarchar, typeVarString, typeString, typeEnum, typeSet, typeJSON:
		return paramValue{kind: 's', s: string(f.lenBytes())}, true
	}
	return paramValue{}, false
}

// readInstant reads a date or datetime; an empty one is midnight of year 0.
func readInstant(b []byte, date bool) (paramValue, bool) {
	var y, mo, d, h, mi, s, us int
	switch len(b) {
	case 11:
		us = int(binary.LittleEndian.Uint32(b[7:]))
		fallthrough
	case 7:
		h, mi, s = int(b[4]), int(b[5]), int(b[6])
		fallthrough
	case 4:
		y, mo, d = int(binary.LittleEndian.Uint16(b)), int(b[2]), int(b[3])
	case 0:
	default:
		return paramValue{}, false
	}
	text := fmt.Sprintf("%04d-%02d-%02d", y, mo, d)
	if !date || len(b) > 4 {
		text += fmt.Sprintf(" %02d:%02d:%02d", h, mi, s)
		if us != 0 {
			text += fmt.Sprintf(".%06d", us)
		}
	}
	return paramValue{kind: 't', s: text}, true
}

func readTime(b []byte) (paramValue, bool) {
	text := "00:00:00"
	switch len(b) {
	case 12, 8:
		hours := int64(binary.LittleEndian.Uint32(b[1:]))*24 + int64(b[5])
		text = fmt.Sprintf("%02d:%02d:%02d", hours, b[6], b[7])
		if b[0] != 0 {
			text = "-" + text
		}
		if len(b) == 12 {
			text += fmt.Sprintf(".%06d", binary.LittleEndian.Uint32(b[8:]))
		}
	case 0:
	default:
		return paramValue{}, false
	}
	return paramValue{kind: 'T', s: text}, true
}

// natural is the type that a value has by itself.
func (v *paramValue) natural() types.Type {
	switch v.kind {
	case 'i':
		return types.T(types.Int8)
	case 'u':
		return types.FixedNumeric(20, 0)
	case 'd':
		return types.T(types.Numeric)
	case 'f':
		return types.T(types.Float8)
	case 'b':
		return types.T(types.Bytea)
	case 't':
		if len(v.s) == 10 {
			return types.T(types.Date)
		}
		return types.T(types.Timestamp)
	case 'T':
		return types.T(types.Time)
	}
	return types.T(types.Text)
}

// as gives the value as t if nothing of it is lost by that; else ok is false.
func (v *paramValue) as(t types.Type, o *types.TextOptions) (d types.Datum, ok bool) {
	parse := func(s string) (types.Datum, bool) {
		d, err := types.Parse(s, t, o)
		return d, err == nil
	}
	isText := t.Kind == types.Text || t.Kind == types.Varchar || t.Kind == types.Unknown
	switch v.kind {
	case 'n':
		return types.Null, true
	case 'i':
		switch t.Kind {
		case types.Bool:
			return types.NewBool(v.i != 0), v.i == 0 || v.i == 1
		case types.Int2, types.Int4, types.Int8, types.Numeric:
			return parse(strconv.FormatInt(v.i, 10))
		case types.Float8:
			return types.NewFloat(float64(v.i)), v.i >= -1<<53 && v.i <= 1<<53
		}
	case 'u', 'd':
		if t.Kind == types.Numeric && !t.Fixed || t.Kind == types.Numeric && v.kind == 'u' {
			return parse(v.s)
		}
	case 'f':
		switch t.Kind {
		case types.Float8, types.Float4:
			return types.NewFloat(v.f), t.Kind == types.Float8 || float64(float32(v.f)) == v.f
		case types.Int2, types.Int4, types.Int8:
			// JavaScript has no other numbers.
			if v.f == math.Trunc(v.f) && math.Abs(v.f) <= 1<<53 {
				return parse(strconv.FormatFloat(v.f, 'f', 0, 64))
			}
		case types.Bool:
			return types.NewBool(v.f != 0), v.f == 0 || v.f == 1
		case types.Numeric:
			if !t.Fixed || v.f == math.Trunc(v.f) {
				return parse(strconv.FormatFloat(v.f, 'f', -1, 64))
			}
		}
	case 't', 'T':
		switch t.Kind {
		case types.Date:
			return first(parse(v.s))(len(v.s) == 10)
		case types.Time:
			return first(parse(v.s))(v.kind == 'T')
		case types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
			return first(parse(v.s))(v.kind == 't')
		}
	case 's':
		if isText {
			return parse(v.s)
		}
		switch t.Kind {
		case types.Bytea:
			return types.NewStr(v.s), true
		case types.Bool:
			if v.s == "1" || v.s == "0" {
				return types.NewBool(v.s == "1"), true
			}
			return types.Null, false
		case types.Numeric:
			// A literal's scale may exceed the column's: comparing must not round it.
			if t.Fixed {
				return types.Null, false
			}
		}
		return parse(v.s)
	case 'b':
		if isText || t.Kind == types.Bytea || t.Kind == types.JSON || t.Kind == types.JSONB || t.Kind == types.Variant {
			if t.Kind == types.Bytea {
				return types.NewStr(v.s), true
			}
			return parse(v.s) // refuses what is not UTF-8
		}
	}
	return types.Null, false
}

func first(d types.Datum, ok bool) func(bool) (types.Datum, bool) {
	return func(and bool) (types.Datum, bool) { return d, ok && and }
}

// arguments gives the values as the statement's parameters. Where one does not fit the type that
// was inferred without it (a string for a number, a fraction for an integer), the statement is
// bound anew with the value's own type, so that the dialect's rules decide what that means.
func (c *conn) arguments(s *statement, values []paramValue) ([]types.Datum, error) {
	o := c.sess.TextOptions()
	st := s.stmt
	args := make([]types.Datum, len(values))
	given := make([]types.Type, len(values))
	again := false
	for i := range values {
		given[i] = types.T(types.Unknown)
		var ok bool
		if args[i], ok = values[i].as(st.Params()[i], o); !ok {
			given[i], again = values[i].natural(), true
		}
	}
	if !again {
		return args, nil
	}
	bound, err := c.sess.Prepare(c.ctx, st.parsed, given)
	if err != nil {
		return nil, err
	}
	s.stmt = &stmt{bound, st.parsed}
	for i, t := range bound.Params() {
		var ok bool
		if args[i], ok = values[i].as(t, o); !ok {
			d, err := types.Parse(values[i].text(), t, o)
			if err != nil {
				return nil, err
			}
			args[i] = d
		}
	}
	return args, nil
}

// text is the value as a constant's text.
func (v *paramValue) text() string {
	switch v.kind {
	case 'i':
		return strconv.FormatInt(v.i, 10)
	case 'f':
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	}
	return v.s
}
