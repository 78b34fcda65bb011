// Package clock tells what time it is and waits, by the machine's clock or by one that a test or a generator of
// history puts into a context.
package clock

import (
	"context"
	"time"
)

// Clock is where commits get their time and wait.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the machine's.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

type key struct{}

// With has everything under ctx go by c.
func With(ctx context.Context, c Clock) context.Context { return context.WithValue(ctx, key{}, c) }

// Of is the clock that ctx goes by.
func Of(ctx context.Context) Clock {
	if c, ok := ctx.Value(key{}).(Clock); ok {
		return c
	}
	return System{}
}

// Now is the instant by the clock of ctx.
func Now(ctx context.Context) time.Time { return Of(ctx).Now() }

// Sleep waits for d by the clock of ctx, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error { return Of(ctx).Sleep(ctx, d) }
