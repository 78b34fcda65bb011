package pg

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// decodeParams reads Bind's parameters as values of the statement's parameter types.
func (c *conn) decodeParams(want []types.Type, m *pgproto3.Bind) ([]types.Datum, error) {
	if len(m.Parameters) != len(want) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), m.PreparedStatement, len(want))
	}
	formats, err := expandFormats(m.ParameterFormatCodes, len(want))
	if err != nil {
		return nil, err
	}
	o := c.sess.TextOptions()
	args := make([]types.Datum, len(want))
	for i, raw := range m.Parameters {
		if raw == nil {
			continue
		}
		if formats[i] == 1 {
			args[i], err = decodeBinary(raw, want[i], o, 0)
		} else {
			args[i], err = decodeText(raw, want[i], o)
		}
		if err != nil {
			if e, ok := sqlerr.As(err); ok && e.Detail == "" {
				f := *e
				f.Detail = fmt.Sprintf("This is the value of parameter $%d.", i+1)
				return nil, &f
			}
			return nil, err
		}
	}
	return args, nil
}

func decodeText(raw []byte, t types.Type, o *types.TextOptions) (types.Datum, error) {
	s := string(raw)
	if err := checkText(s); err != nil {
		return types.Null, err
	}
	return types.Parse(s, outType(t), o)
}

// checkText refuses what PostgreSQL's UTF8 encoding refuses.
func checkText(s string) error {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
	}
	if !utf8.ValidString(s) {
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n <= 1 {
				return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x%02x", s[i])
			}
			i += n
		}
	}
	return nil
}

// maxArrayDepth is PostgreSQL's MAXDIM.
const maxArrayDepth = 6

// decodeBinary reads a value of t in its binary form (PostgreSQL's typreceive).
func decodeBinary(raw []byte, t types.Type, o *types.TextOptions, depth int) (types.Datum, error) {
	bad := func() (types.Datum, error) {
		return types.Null, sqlerr.New(sqlerr.InvalidBinary, "incorrect binary data format for type %s", t)
	}
	be := binary.BigEndian
	if n := binaryLen(t.Kind); n > 0 && len(raw) != n {
		return bad()
	}
	switch t.Kind {
	case types.Bool:
		return types.NewBool(raw[0] != 0), nil
	case types.Int2:
		return types.NewInt(int64(int16(be.Uint16(raw)))), nil
	case types.Int4:
		return types.NewInt(int64(int32(be.Uint32(raw)))), nil
	case types.Oid, types.Xid, types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return types.NewInt(int64(be.Uint32(raw))), nil
	case types.Int8, types.Time:
		return types.NewInt(int64(be.Uint64(raw))), nil
	case types.Float4:
		return types.NewFloat(float64(math.Float32frombits(be.Uint32(raw)))), nil
	case types.Float8:
		return types.NewFloat(math.Float64frombits(be.Uint64(raw))), nil
	case types.Date:
		switch d := int32(be.Uint32(raw)); d {
		case math.MaxInt32, math.MinInt32:
			return types.NewInt(int64(d)), nil
		default:
			return types.NewInt(int64(d) + epochDays), nil
		}
	case types.Timestamp, types.TimestampTZ:
		return types.NewInt(timestampIn(int64(be.Uint64(raw)))), nil
	case types.TimestampNS, types.TimestampTZNS:
		return types.NewInt(timestampIn(int64(be.Uint64(raw))) * 1000), nil
	case types.TimeTZ:
		return types.NewW128(types.Int128{Lo: be.Uint64(raw), Hi: int64(int32(be.Uint32(raw[8:])))}), nil
	case types.Interval:
		iv := types.IntervalValue{Micros: int64(be.Uint64(raw)), Days: int32(be.Uint32(raw[8:])), Months: int32(be.Uint32(raw[12:]))}
		return types.NewW128(iv.W128()), nil
	case types.UUID:
		return types.NewW128(types.Int128{Hi: int64(be.Uint64(raw)), Lo: be.Uint64(raw[8:])}), nil
	case types.Numeric:
		s, ok := numericText(raw)
		if !ok {
			return bad()
		}
		return types.Parse(s, t, o)
	case types.Bytea:
		return types.NewStr(string(raw)), nil
	case types.JSONB, types.JSONPath, types.Variant, types.Struct, types.Map:
		if len(raw) == 0 || raw[0] != 1 {
			return bad()
		}
		return decodeText(raw[1:], t, o)
	case types.Array, types.Int2Vector, types.OidVector:
		return decodeArray(raw, t, o, depth)
	}
	return decodeText(raw, t, o)
}

// binaryLen is the length that a fixed-length binary form must have; 0: variable.
func binaryLen(k types.Kind) int {
	switch k {
	case types.Bool:
		return 1
	case types.Int2:
		return 2
	case types.Int4, types.Oid, types.Xid, types.Float4, types.Date, types.Regclass, types.Regtype,
		types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return 4
	case types.Int8, types.Float8, types.Time, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
		return 8
	case types.TimeTZ:
		return 12
	case types.Interval, types.UUID:
		return 16
	}
	return 0
}

func timestampIn(us int64) int64 {
	if us == math.MaxInt64 || us == math.MinInt64 {
		return us
	}
	return us + epochMicros
}

// numericText turns base-10000 digits into decimal text; ok is false for malformed input.
func numericText(raw []byte) (string, bool) {
	if len(raw) < 8 {
		return "", false
	}
	be := binary.BigEndian
	n, weight, sign, scale := int(be.Uint16(raw)), int(int16(be.Uint16(raw[2:]))), be.Uint16(raw[4:]), int(be.Uint16(raw[6:]))
	switch sign {
	case 0xC000:
		return "NaN", true
	case 0xD000:
		return "Infinity", true
	case 0xF000:
		return "-Infinity", true
	case 0, 0x4000:
	default:
		return "", false
	}
	// The format allows 131072 digits before and 16383 after the point.
	if len(raw) != 8+2*n || scale > 16383 {
		return "", false
	}
	digit := func(i int) int { // the digit of weight -i relative to the first
		if i < 0 || i >= n {
			return 0
		}
		return int(be.Uint16(raw[8+2*i:]))
	}
	var b strings.Builder
	if sign == 0x4000 {
		b.WriteByte('-')
	}
	if weight < 0 {
		b.WriteByte('0')
	}
	for i := 0; i <= weight; i++ {
		if d := digit(i); d > 9999 {
			return "", false
		} else {
			fmt.Fprintf(&b, "%04d", d)
		}
	}
	if scale > 0 {
		b.WriteByte('.')
		var f strings.Builder
		for i := weight + 1; f.Len() < scale; i++ {
			d := digit(i)
			if d > 9999 {
				return "", false
			}
			fmt.Fprintf(&f, "%04d", d)
		}
		b.WriteString(f.String()[:scale])
	}
	return b.String(), true
}

// decodeArray reads an array of up to maxArrayDepth dimensions.
func decodeArray(raw []byte, t types.Type, o *types.TextOptions, depth int) (types.Datum, error) {
	bad := sqlerr.New(sqlerr.InvalidBinary, "incorrect binary data format for type %s", t)
	be := binary.BigEndian
	if len(raw) < 12 || depth > 0 {
		return types.Null, bad
	}
	ndim := int(be.Uint32(raw))
	if ndim < 0 || ndim > maxArrayDepth || len(raw) < 12+8*ndim {
		return types.Null, bad
	}
	inner := t.Elem()
	switch t.Kind {
	case types.Int2Vector:
		inner = types.T(types.Int2)
	case types.OidVector:
		inner = types.T(types.Oid)
	}
	for inner.Kind == types.Array {
		inner = inner.Elem()
	}
	if oid := be.Uint32(raw[8:]); oid != outType(inner).OID() {
		return types.Null, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d instead of expected %d", oid, outType(inner).OID())
	}
	total := 1
	dims := make([]int, ndim)
	for i := range dims {
		dims[i] = int(be.Uint32(raw[12+8*i:]))
		// Each element takes at least its four bytes of length.
		if dims[i] < 0 || dims[i] > len(raw)/4 {
			return types.Null, bad
		}
		if total *= dims[i]; total > len(raw)/4 {
			return types.Null, bad
		}
	}
	raw = raw[12+8*ndim:]
	if ndim == 0 {
		return types.NewList(nil), nil
	}
	flat := make([]types.Datum, total)
	for i := range flat {
		if len(raw) < 4 {
			return types.Null, bad
		}
		n := int32(be.Uint32(raw))
		raw = raw[4:]
		if n < 0 {
			continue
		}
		if int(n) > len(raw) {
			return types.Null, bad
		}
		d, err := decodeBinary(raw[:n], inner, o, depth+1)
		if err != nil {
			return types.Null, err
		}
		flat[i], raw = d, raw[n:]
	}
	for i := ndim - 1; i > 0; i-- {
		if dims[i] == 0 {
			return types.NewList(nil), nil
		}
		next := make([]types.Datum, 0, len(flat)/dims[i])
		for len(flat) > 0 {
			next = append(next, types.NewList(flat[:dims[i]:dims[i]]))
			flat = flat[dims[i]:]
		}
		flat = next
	}
	return types.NewList(flat), nil
}
