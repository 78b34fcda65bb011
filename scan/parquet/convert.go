package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// operation is what makes a column's physical values the wanted SQL type's.
type operation uint8

const (
	keep       operation = iota // as they are
	scaleUp                     // integers times mul: ms → µs, date → timestamp
	scaleDown                   // integers divided by mul, rounded down: ns → µs
	unsigned64                  // UINT_64 that must fit a bigint
	int96                       // INT96 to timestamps of mul a second
	bigEndian                   // two's complement big-endian: decimals
	uuid                        // 16 bytes to two big-endian halves
	half                        // FLOAT16
	allNull                     // a column of Parquet's null type
)

// Conversion makes a file's column the wanted type. It keeps order: bounds convert as values.
type Conversion struct {
	Type types.Type
	Form types.Form // of the vectors: a decimal is FormI64 where its width allows
	lane lane
	op   operation
	mul  int64
	w    int  // bytes of a laneFixed value
	text bool // values must be UTF-8
}

func mismatch(n *Node, t types.Type) error {
	return unsupported("column %q of %s cannot be read as %s", n.Name, n.Phys, t)
}

// ConversionFor finds how the values of leaf n become t, or fails: widening as Iceberg allows
// it (int → long, float → double, decimal precision, date → timestamp), never narrowing.
func ConversionFor(n *Node, t types.Type) (Conversion, error) {
	c := Conversion{Type: t, Form: t.Form(), lane: laneOf(n.Phys), w: n.width(),
		text: t.Kind == types.Text || t.Kind == types.Varchar || t.Kind == types.Bpchar}
	ok := false
	switch {
	case n.Logic == NullLogic:
		c.op, ok = allNull, true
	case t.Kind == types.Bool:
		ok = n.Phys == Boolean
	case t.Kind == types.Int2 || t.Kind == types.Int4:
		ok = n.Phys == Int32 && plainInteger(n) && !(n.Unsigned && n.Bits == 32)
	case t.Kind == types.Int8 || t.Kind == types.Oid:
		ok = (n.Phys == Int32 || n.Phys == Int64) && plainInteger(n)
		if n.Phys == Int64 && n.Unsigned {
			c.op = unsigned64
		}
	case t.Kind == types.Float4:
		ok = n.Phys == Float
		if n.Logic == Float16Logic && n.width() == 2 {
			c.op, ok = half, true
		}
	case t.Kind == types.Float8:
		ok = n.Phys == Float || n.Phys == Double
		if n.Logic == Float16Logic && n.width() == 2 {
			c.op, ok = half, true
		}
	case t.Kind == types.Numeric:
		ok = c.decimal(n, t)
	case t.Kind == types.Date:
		ok = n.Phys == Int32 && (n.Logic == DateLogic || n.Logic == NoLogic)
	case t.Kind == types.Time:
		ok = c.timeUnit(n, TimeLogic, Micros)
	case t.Kind == types.Timestamp || t.Kind == types.TimestampTZ:
		ok = c.timestamp(n, Micros)
	case t.Kind == types.TimestampNS || t.Kind == types.TimestampTZNS:
		ok = c.timestamp(n, Nanos)
	case t.Kind == types.UUID:
		c.op = uuid
		ok = n.Phys == ByteArray || n.width() == 16 && n.Phys == FixedLen
	case t.Kind == types.Bytea:
		ok = n.Logic != DecimalLogic && (n.Phys == ByteArray || n.Phys == FixedLen)
		if t.Prec > 0 && t.Prec < math.MaxInt16 && n.Phys == FixedLen && int(t.Prec) != n.TypeLen {
			ok = false
		}
	case t.Form() == types.FormStr:
		ok = n.Logic != DecimalLogic && n.Phys == ByteArray
	}
	if !ok {
		return c, mismatch(n, t)
	}
	return c, nil
}

func plainInteger(n *Node) bool { return n.Logic == NoLogic || n.Logic == IntegerLogic }

func (c *Conversion) decimal(n *Node, t types.Type) bool {
	if n.Logic != DecimalLogic || !t.Fixed || n.Scale != int(t.Scale) {
		return false
	}
	c.Form = types.FormI64
	if n.Phys == Int32 || n.Phys == Int64 {
		return true
	}
	c.op = bigEndian
	if n.Precision > 18 && !(n.Phys == FixedLen && n.TypeLen <= 8) {
		c.Form = types.FormW128
	}
	return n.Phys == ByteArray || n.Phys == FixedLen
}

// timeUnit converts between units that make a second.
func (c *Conversion) timeUnit(n *Node, logic Logic, want Unit) bool {
	have := n.Unit
	if n.Logic == NoLogic && n.Phys == Int64 {
		have = want // unannotated: Iceberg writers' own unit
	} else if n.Logic != logic {
		return false
	}
	switch {
	case have == want:
	case have == 0:
		return false
	case have < want:
		c.op, c.mul = scaleUp, int64(want/have)
	default:
		c.op, c.mul = scaleDown, int64(have/want)
	}
	return n.Phys == Int64 || n.Phys == Int32 && have == Millis
}

func (c *Conversion) timestamp(n *Node, want Unit) bool {
	switch {
	case n.Phys == Int96:
		c.op, c.mul = int96, int64(want)
		return true
	case n.Phys == Int32 && n.Logic == DateLogic:
		c.op, c.mul = scaleUp, 86400*int64(want)
		return true
	}
	return n.Phys == Int64 && c.timeUnit(n, TimestampLogic, want)
}

// Direct tells whether PLAIN pages hold the vector's values as they are.
func (c *Conversion) direct(n *Node) bool {
	return c.op == keep && c.Form == types.FormI64 && n.Phys == Int64
}

var errTimestamp = sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")

// integers converts in place.
func (c *Conversion) integers(v []int64) error {
	switch c.op {
	case keep:
	case scaleUp:
		limit := math.MaxInt64 / c.mul
		for i, x := range v {
			if x > limit || x < -limit {
				return errTimestamp
			}
			v[i] = x * c.mul
		}
	case scaleDown:
		for i, x := range v {
			q := x / c.mul
			if x%c.mul < 0 {
				q--
			}
			v[i] = q
		}
	case unsigned64:
		for _, x := range v {
			if x < 0 {
				return sqlerr.New(sqlerr.NumericOutOfRange, "bigint out of range")
			}
		}
	}
	return nil
}

// fixed converts values of c.w bytes each to sink rows from at on.
func (c *Conversion) fixed(s *sink, at, k int, b []byte) error {
	w := c.w
	switch c.op {
	case int96:
		for i := 0; i < k; i++ {
			v, err := fromInt96(b[i*w:], c.mul)
			if err != nil {
				return err
			}
			s.i64[at+i] = v
		}
	case bigEndian:
		return c.decimals(s, at, k, func(i int) []byte { return b[i*w : i*w+w] })
	case uuid:
		for i := 0; i < k; i++ {
			s.w128[at+i] = uuidOf(b[i*w:])
		}
	case half:
		for i := 0; i < k; i++ {
			s.f64[at+i] = fromHalf(binary.LittleEndian.Uint16(b[i*w:]))
		}
	}
	return nil
}

// decimals converts big-endian integers.
func (c *Conversion) decimals(s *sink, at, k int, value func(int) []byte) error {
	if c.Form == types.FormI64 {
		for i := 0; i < k; i++ {
			v, ok := bigEndian64(value(i))
			if !ok {
				return errDecimal
			}
			s.i64[at+i] = v
		}
		return nil
	}
	for i := 0; i < k; i++ {
		v, ok := bigEndian128(value(i))
		if !ok {
			return errDecimal
		}
		s.w128[at+i] = v
	}
	return nil
}

var errDecimal = corrupt("a decimal is wider than its precision")

// strings converts views into data, which are at s.views[at:at+k], for other forms than FormStr.
func (c *Conversion) strings(s *sink, at int, v []vec.View, data []byte) error {
	if c.op == uuid {
		for i, x := range v {
			if x.Len != 16 {
				return corrupt("uuid of %d bytes", x.Len)
			}
			s.w128[at+i] = uuidOf(data[x.Off:])
		}
		return nil
	}
	return c.decimals(s, at, len(v), func(i int) []byte { return data[v[i].Off : v[i].Off+v[i].Len] })
}

// bigEndian64 reads a two's complement integer of any length, if it fits.
func bigEndian64(b []byte) (int64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	for len(b) > 8 {
		if sign := byte(int8(b[1]) >> 7); b[0] != sign {
			return 0, false
		}
		b = b[1:]
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v, true
}

func bigEndian128(b []byte) (types.Int128, bool) {
	if len(b) == 0 {
		return types.Int128{}, false
	}
	for len(b) > 16 {
		if sign := byte(int8(b[1]) >> 7); b[0] != sign {
			return types.Int128{}, false
		}
		b = b[1:]
	}
	if len(b) == 16 {
		return types.Int128{Hi: int64(binary.BigEndian.Uint64(b)), Lo: binary.BigEndian.Uint64(b[8:])}, true
	}
	hi := int64(int8(b[0]) >> 7)
	lo := uint64(hi)
	for _, c := range b {
		hi = hi<<8 | int64(lo>>56)
		lo = lo<<8 | uint64(c)
	}
	return types.Int128{Hi: hi, Lo: lo}, true
}

func uuidOf(b []byte) types.Int128 {
	return types.Int128{Hi: int64(binary.BigEndian.Uint64(b)), Lo: binary.BigEndian.Uint64(b[8:])}
}

// fromInt96 reads Impala's timestamp: nanoseconds of the day, then the Julian day.
func fromInt96(b []byte, perSecond int64) (int64, error) {
	nanos := int64(binary.LittleEndian.Uint64(b))
	day := int64(binary.LittleEndian.Uint32(b[8:])) - 2440588
	q := nanos / (int64(Nanos) / perSecond)
	if nanos < 0 && nanos%(int64(Nanos)/perSecond) != 0 {
		q--
	}
	hi, lo := bits.Mul64(uint64(abs(day)), uint64(86400*perSecond))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, errTimestamp
	}
	v := int64(lo)
	if day < 0 {
		v = -v
	}
	sum := v + q
	if (sum > v) != (q > 0) && q != 0 {
		return 0, errTimestamp
	}
	return sum, nil
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

func fromHalf(h uint16) float64 {
	sign, exp, frac := h>>15, int(h>>10&31), float64(h&1023)
	var f float64
	switch exp {
	case 0:
		f = math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		f = math.Inf(1)
	default:
		f = math.Ldexp(1024+frac, exp-25)
	}
	if sign != 0 {
		f = -f
	}
	return f
}
