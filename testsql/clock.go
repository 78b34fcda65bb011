package testsql

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
)

// scriptClock is the time of a script: the machine's until `at` sets it; then it stands, but for
// a millisecond at each look, so that no two commits are at once.
type scriptClock struct{ now time.Time }

func (c *scriptClock) set(text string) error {
	t, err := time.Parse(time.RFC3339, text)
	c.now = t
	return err
}

// Now implements clock.Clock.
func (c *scriptClock) Now() time.Time {
	if c.now.IsZero() {
		return time.Now()
	}
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// Sleep implements clock.Clock.
func (c *scriptClock) Sleep(ctx context.Context, d time.Duration) error {
	return clock.System{}.Sleep(ctx, d)
}
