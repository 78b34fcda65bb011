package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// This file says how values are spelled as text, and how long a text may be.

// SessionText is how the session writes and reads values. c is nil while constants fold.
func SessionText(c *Ctx) *types.TextOptions {
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

// MaxString bounds what a function may build of small arguments: PostgreSQL's MaxAllocSize, or
// what the process has room for.
func MaxString() int { return vec.ByteLimit() }

// ErrTooLong is the error of a value longer than MaxString: the memory's limit, told as PostgreSQL tells its
// own.
func ErrTooLong() error {
	return vec.CheckBytes(vec.MaxValue + 1)
}

// ZeroPadded is %0*d without its price.
func ZeroPadded(v int64, width int) string {
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

// UnsignedDecimal is a number of MySQL's BIGINT UNSIGNED, all of whose bits count.
func UnsignedDecimal(u uint64) types.Decimal {
	return types.DecimalFromInt128(types.Int128{Lo: u}, 0)
}

// RegCatalog is the catalog whose objects a reg… type names, or the type itself where it names them otherwise.
func RegCatalog(k types.Kind) string {
	switch k {
	case types.Regclass:
		return "pg_class"
	case types.Regtype:
		return "pg_type"
	case types.Regproc:
		return "pg_proc"
	case types.Regnamespace:
		return "pg_namespace"
	case types.Regoper:
		return "pg_operator"
	case types.Regrole:
		return "pg_authid"
	case types.Regprocedure, types.Regoperator:
		return types.T(k).String() // named with the types of its arguments
	}
	return ""
}
