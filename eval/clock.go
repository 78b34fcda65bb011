package eval

import (
	"time"

	"github.com/lhsql/lhsql/types"
)

// This file tells what time it is for a statement, and where.

// TransactionTime is when the transaction began, in microseconds since the epoch: what now() stands still at.
func TransactionTime(c *Ctx) int64 {
	if c == nil || c.Now.IsZero() {
		return time.Now().UnixMicro()
	}
	return types.TimestampFromTime(c.Now)
}

// LocalNow is the same as a local timestamp of the session's zone.
func LocalNow(c *Ctx) int64 { return types.ToLocal(ZoneOf(c), TransactionTime(c)) }

// ZoneOf is the session's time zone; UTC where nobody asks for a session.
func ZoneOf(c *Ctx) *time.Location {
	if c == nil || c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}
