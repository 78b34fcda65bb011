package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// This file says how values are spelled as text, and how long a text may be.

// sessionText is how the session writes and reads values. c is nil while constants fold.
func sessionText(c *Ctx) *types.TextOptions {
	if c == nil {
		return nil
	}
	o := &types.TextOptions{Zone: c.Zone, DateStyle: c.DateStyle, IntervalStyle: c.IntervalStyle,
		ExtraFloatDigits: c.ExtraFloatDigits, ByteaOutput: c.ByteaOutput, Now: c.Now, Stop: c.MustLive}
	if s := c.Session; s != nil {
		o.ObjectName = func(k types.Kind, oid uint32) (string, bool) { return s.ObjectName(RegCatalog(k), oid) }
		o.ObjectOID = func(k types.Kind, name string) (uint32, bool) { return s.ObjectOID(RegCatalog(k), name) }
	}
	return o
}

// maxString bounds what a function may build of small arguments: PostgreSQL's MaxAllocSize, or
// what the process has room for.
func maxString() int { return vec.ByteLimit() }

func errTooLong() error {
	return vec.CheckBytes(vec.MaxValue + 1)
}

// zeroPadded is %0*d without its price.
func zeroPadded(v int64, width int) string {
	var b [32]byte
	i := len(b)
	u := uint64(v)
	if v < 0 {
		u = -u
		width--
	}
	for ; u > 0 || i == len(b); u /= 10 {
		i--
		b[i] = byte('0' + u%10)
	}
	for i > len(b)-width {
		i--
		b[i] = '0'
	}
	if v < 0 {
		i--
		b[i] = '-'
	}
	return string(b[i:])
}

func unsignedDecimal(u uint64) types.Decimal {
	return types.DecimalFromInt128(types.Int128{Lo: u}, 0)
}
