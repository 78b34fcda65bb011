package parquet

import (
	"encoding/binary"
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// StatValue decodes one bound of a leaf's statistics as the wanted type; ok false: it tells
// nothing. Bounds of strings may be truncated; they bound all the same.
func (c *Conversion) StatValue(n *Node, b []byte) (d types.Datum, ok bool) {
	switch c.lane {
	case laneI64:
		var v int64
		switch {
		case n.Phys == Int64 && len(b) == 8:
			v = int64(binary.LittleEndian.Uint64(b))
		case n.Phys == Int32 && len(b) == 4 && n.Unsigned:
			v = int64(binary.LittleEndian.Uint32(b))
		case n.Phys == Int32 && len(b) == 4:
			v = int64(int32(binary.LittleEndian.Uint32(b)))
		default:
			return types.Null, false
		}
		one := []int64{v}
		if c.integers(one) != nil {
			return types.Null, false
		}
		return types.NewInt(one[0]), true
	case laneF64:
		var f float64
		switch {
		case n.Phys == Double && len(b) == 8:
			f = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case n.Phys == Float && len(b) == 4:
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		default:
			return types.Null, false
		}
		return types.NewFloat(f), !math.IsNaN(f)
	case laneBool:
		if len(b) != 1 || b[0] > 1 {
			return types.Null, false
		}
		return types.NewBool(b[0] == 1), true
	}
	return c.statBytes(n, b)
}

func (c *Conversion) statBytes(n *Node, b []byte) (types.Datum, bool) {
	if n.Phys == Int96 || c.op == half { // no order that writers agree on
		return types.Null, false
	}
	if c.Form == types.FormStr {
		return types.NewStr(string(b)), true
	}
	s := sink{form: c.Form, i64: make([]int64, 1), w128: make([]types.Int128, 1)}
	if c.op == uuid && len(b) != 16 {
		return types.Null, false
	}
	if c.strings(&s, 0, []vec.View{{Len: uint32(len(b))}}, b) != nil {
		return types.Null, false
	}
	if c.Form == types.FormI64 {
		return types.NewInt(s.i64[0]), true
	}
	return types.NewW128(s.w128[0]), true
}

// Bounds gives the bounds of a column chunk as the wanted type. The deprecated statistics are
// ordered as signed values, which is right for signed numbers only.
func (c *Conversion) Bounds(n *Node, ch *Chunk) (lo, hi types.Datum, ok bool) {
	minimum, maximum := ch.Min, ch.Max
	if minimum == nil && maximum == nil && signedNumber(n) {
		minimum, maximum = ch.OldMin, ch.OldMax
	}
	if minimum == nil || maximum == nil {
		return types.Null, types.Null, false
	}
	return c.bounds(n, minimum, maximum)
}

func signedNumber(n *Node) bool {
	switch n.Phys {
	case Int32, Int64:
		return !n.Unsigned
	case Float, Double:
		return true
	}
	return false
}

func (c *Conversion) bounds(n *Node, minimum, maximum []byte) (lo, hi types.Datum, ok bool) {
	if n.Logic == IntervalLogic || n.Logic == UnknownLogic || n.Logic == GeometryLogic ||
		n.Logic == GeographyLogic || c.op == allNull {
		return types.Null, types.Null, false
	}
	lo, ok1 := c.StatValue(n, minimum)
	hi, ok2 := c.StatValue(n, maximum)
	if !ok1 || !ok2 || types.Compare(lo, hi, c.Type) > 0 {
		return types.Null, types.Null, false
	}
	return lo, hi, true
}

// PageBounds is Bounds for page i of a column index.
func (c *Conversion) PageBounds(n *Node, x *ColumnIndex, i int) (lo, hi types.Datum, ok bool) {
	if x.NullPage[i] {
		return types.Null, types.Null, false
	}
	return c.bounds(n, x.Min[i], x.Max[i])
}
