package eval

import (
	"time"

	"github.com/lhsql/lhsql/types"
)

// This file tells what time it is for a statement, and where.

func transactionTime(c *Ctx) int64 {
	if c == nil || c.Now.IsZero() {
		return time.Now().UnixMicro()
	}
	return types.TimestampFromTime(c.Now)
}

func localNow(c *Ctx) int64 { return types.ToLocal(zoneOf(c), transactionTime(c)) }

func zoneOf(c *Ctx) *time.Location {
	if c == nil || c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}
