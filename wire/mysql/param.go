package mysql

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// paramType is how a client says that it sends a parameter.
type paramType struct {
	typ      byte
	unsigned bool
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
	values := make([]engine.MySQLValue, len(want))
	for i := range want {
		if b, ok := s.long[i]; ok {
			values[i] = engine.MySQLValue{Kind: 's', Text: string(b)}
			if want[i].Kind == types.Bytea {
				values[i].Kind = 'b'
			}
			continue
		}
		if nulls[i/8]>>(i%8)&1 != 0 || s.types[i].typ == typeNull {
			values[i].Kind = 'n'
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
func readValue(f *fields, t paramType) (engine.MySQLValue, bool) {
	signed := func(n int64) (engine.MySQLValue, bool) { return engine.MySQLValue{Kind: 'i', Int: n}, true }
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
			return engine.MySQLValue{Kind: 'u', Text: strconv.FormatUint(n, 10)}, true
		}
		return signed(int64(n))
	case typeFloat:
		// As decimal text has it: 1.1 sent as FLOAT means 1.1.
		v := math.Float32frombits(f.int32())
		x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return engine.MySQLValue{Kind: 'f', Float: x}, true
	case typeDouble:
		return engine.MySQLValue{Kind: 'f', Float: math.Float64frombits(f.int64())}, true
	case typeDate, typeDatetime, typeTimestamp:
		return readInstant(f.take(int(f.byte())), t.typ == typeDate)
	case typeTime:
		return readTime(f.take(int(f.byte())))
	case typeDecimal, typeNewDecimal:
		return engine.MySQLValue{Kind: 'd', Text: string(f.lenBytes())}, true
	case typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeBit:
		return engine.MySQLValue{Kind: 'b', Text: string(f.lenBytes())}, true
	case typeVarchar, typeVarString, typeString, typeEnum, typeSet, typeJSON:
		return engine.MySQLValue{Kind: 's', Text: string(f.lenBytes())}, true
	}
	return engine.MySQLValue{}, false
}

// readInstant reads a date or datetime; an empty one is midnight of year 0.
func readInstant(b []byte, date bool) (engine.MySQLValue, bool) {
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
		return engine.MySQLValue{}, false
	}
	text := fmt.Sprintf("%04d-%02d-%02d", y, mo, d)
	if !date || len(b) > 4 {
		text += fmt.Sprintf(" %02d:%02d:%02d", h, mi, s)
		if us != 0 {
			text += fmt.Sprintf(".%06d", us)
		}
	}
	return engine.MySQLValue{Kind: 't', Text: text}, true
}

func readTime(b []byte) (engine.MySQLValue, bool) {
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
		return engine.MySQLValue{}, false
	}
	return engine.MySQLValue{Kind: 'T', Text: text}, true
}

// arguments gives the values as the statement's parameters; the statement becomes the one that is
// bound for them.
func (c *conn) arguments(s *statement, values []engine.MySQLValue) ([]types.Datum, error) {
	st, args, err := c.sess.MySQLArguments(c.ctx, s.stmt.parsed, s.stmt.Stmt, &s.given, values)
	if err == nil && st != s.stmt.Stmt {
		s.stmt = &stmt{st, s.stmt.parsed}
	}
	return args, err
}
