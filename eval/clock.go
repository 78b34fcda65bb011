package eval

import (
	"time"

	"github.com/lhsql/lhsql/types"
)

// This file tells what time it is for a statement, and where.

func TransactionTime(c *Ctx) int64 {
	if c == nil || c.Now.IsZero() {
		return time.Now().UnixMicro()
	}
	return types.TimestampFromTime(c.Now)
}

func LocalNow(c *Ctx) int64 { return types.ToLocal(ZoneOf(c), TransactionTime(c)) }

func ZoneOf(c *Ctx) *time.Location {
	if c == nil || c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}
