package lake

import "context"

type yieldKey struct{}

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
