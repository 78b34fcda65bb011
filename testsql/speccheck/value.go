package speccheck

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// order is how values of an Iceberg type compare (spec, "Sorting" and appendix D). The decoding of
// bounds and the comparisons here are written from the spec and share nothing with the engine's, so
// that a fault there does not hide itself.
type order uint8

const (
	none   order = iota // has no bounds: struct, list, map, variant, unknown, geometry
	ints                // numbers, days, instants, false before true
	floats              // NaN has no place in bounds; both zeros are equal
	octets              // unsigned bytes: text in UTF-8, binary, uuid
	wides               // decimals, made octets by sortable
)

func orderOf(iceberg string) order {
	switch iceberg {
	case "boolean", "int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
		return ints
	case "float", "double":
		return floats
	case "string", "binary", "uuid":
		return octets
	}
	switch {
	case strings.HasPrefix(iceberg, "decimal("):
		return wides
	case strings.HasPrefix(iceberg, "fixed["):
		return octets
	}
	return none
}

// value is one value of a leaf; which member counts follows from the order.
type value struct {
	null bool
	i    int64
	f    float64
	b    []byte
}

func (o order) compare(a, b value) int {
	switch o {
	case ints:
		return cmp.Compare(a.i, b.i)
	case floats:
		switch {
		case a.f < b.f:
			return -1
		case a.f > b.f:
			return 1
		}
		return 0
	}
	return bytes.Compare(a.b, b.b)
}

func (o order) nan(v value) bool { return o == floats && math.IsNaN(v.f) }

// sortable is a decimal's 16 bytes with the sign turned, so that they compare as it does.
func sortable(big []byte) ([]byte, error) {
	if len(big) == 0 || len(big) > 16 {
		return nil, fmt.Errorf("a decimal of %d bytes", len(big))
	}
	out := make([]byte, 16)
	if big[0]&0x80 != 0 {
		for i := range out {
			out[i] = 0xff
		}
	}
	copy(out[16-len(big):], big)
	out[0] ^= 0x80
	return out, nil
}

func sortableInt(i int64) []byte {
	b, _ := sortable(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return b
}

// parseBound reads a bound of a manifest (appendix D). It may have been written before the column
// was widened.
func parseBound(iceberg string, b []byte) (value, error) {
	wrong := fmt.Errorf("a bound of %d bytes for type %s", len(b), iceberg)
	switch o := orderOf(iceberg); o {
	case ints:
		switch len(b) {
		case 1:
			if iceberg == "boolean" && b[0] <= 1 {
				return value{i: int64(b[0])}, nil
			}
		case 4:
			if iceberg != "boolean" && iceberg != "time" {
				return value{i: int64(int32(binary.LittleEndian.Uint32(b))) * perDay(iceberg)}, nil
			}
		case 8:
			if iceberg != "boolean" && iceberg != "int" && iceberg != "date" {
				return value{i: int64(binary.LittleEndian.Uint64(b))}, nil
			}
		}
		return value{}, wrong
	case floats:
		switch {
		case len(b) == 4:
			return value{f: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}, nil
		case len(b) == 8 && iceberg == "double":
			return value{f: math.Float64frombits(binary.LittleEndian.Uint64(b))}, nil
		}
		return value{}, wrong
	case wides:
		s, err := sortable(b)
		return value{b: s}, err
	case octets:
		if iceberg == "uuid" && len(b) != 16 {
			return value{}, wrong
		}
		return value{b: b}, nil
	}
	return value{}, fmt.Errorf("a bound for type %s", iceberg)
}

// perDay is the factor that makes a date what its column has become since.
func perDay(iceberg string) int64 {
	switch iceberg {
	case "timestamp", "timestamptz":
		return 86_400_000_000
	case "timestamp_ns", "timestamptz_ns":
		return 86_400_000_000_000
	}
	return 1
}

// datum is the value as the transforms of package lake take it.
func (v value) datum(f *lake.Field) types.Datum {
	if v.null {
		return types.Null
	}
	switch orderOf(f.Iceberg) {
	case ints:
		if f.Iceberg == "boolean" {
			return types.NewBool(v.i != 0)
		}
		return types.NewInt(v.i)
	case floats:
		return types.NewFloat(v.f)
	case wides:
		w := types.Int128{Hi: int64(binary.BigEndian.Uint64(v.b) ^ 1<<63), Lo: binary.BigEndian.Uint64(v.b[8:])}
		if f.Type.Form() == types.FormI64 {
			return types.NewInt(int64(w.Lo))
		}
		return types.NewW128(w)
	}
	if f.Iceberg == "uuid" {
		return types.NewW128(types.Int128{Hi: int64(binary.BigEndian.Uint64(v.b)), Lo: binary.BigEndian.Uint64(v.b[8:])})
	}
	return types.NewStr(string(v.b))
}

// String is for messages.
func (o order) String(v value) string {
	switch {
	case v.null:
		return "NULL"
	case o == ints:
		return fmt.Sprint(v.i)
	case o == floats:
		return fmt.Sprint(v.f)
	}
	return fmt.Sprintf("%q", v.b)
}
