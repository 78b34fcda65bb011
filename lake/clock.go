package lake

import (
	"context"
	"time"
)

// Clock is where commits get their time and wait. Tests and generators of history inject one.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the machine's.
var SystemClock Clock = systemClock{}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Now is the instant by the clock that commits under ctx use.
func Now(ctx context.Context) time.Time { return clockOf(ctx, SystemClock).Now() }

type clockKey struct{}
type yieldKey struct{}

// WithClock makes commits under ctx use c.
func WithClock(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

func clockOf(ctx context.Context, or Clock) Clock {
	if c, ok := ctx.Value(clockKey{}).(Clock); ok {
		return c
	}
	return or
}

// WithYield makes commits under ctx call yield at each of their steps, so that a test can run
// another writer there: "load", "validate", "manifests", "list", "metadata", "swap", "swapped",
// "retry"; and "read" where a table is loaded to be read. An error from it ends the commit there, as a crash would.
func WithYield(ctx context.Context, yield func(step string) error) context.Context {
	return context.WithValue(ctx, yieldKey{}, yield)
}

// Step calls what WithYield has set: for the steps of those who work with commits. maintain's are
// "remove", before each file that it removes.
func Step(ctx context.Context, step string) error { return yield(ctx, step) }

func yield(ctx context.Context, step string) error {
	if y, ok := ctx.Value(yieldKey{}).(func(string) error); ok {
		return y(step)
	}
	return nil
}
