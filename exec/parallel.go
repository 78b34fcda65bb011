package exec

import (
	"context"
	"errors"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
)

// parallel runs f(0) … f(n-1), each in its own goroutine, and returns when all have ended: the
// first error, after which the others' context is cancelled. One task runs in the caller's
// goroutine.
func parallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := guard.Run(func() error { return f(ctx, i) }); err != nil {
				cancel(err)
			}
		}()
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return nil
}

// once runs a step that several partitions need and the first to come performs. Unlike
// sync.Once it keeps the error, and a cancelled waiter does not wait.
type once struct {
	mu   sync.Mutex
	done chan struct{} // nil: not begun
	err  error
}

var errClosed = errors.New("operator closed")

func (o *once) do(ctx context.Context, f func() error) error {
	o.mu.Lock()
	if o.done != nil {
		done := o.done
		o.mu.Unlock()
		select {
		case <-done:
			return o.err
		case <-ctx.Done():
			return canceled(ctx)
		}
	}
	o.done = make(chan struct{})
	o.mu.Unlock()
	defer close(o.done)
	// A panic passes on to the caller, but who waits must see a failure.
	o.err = errClosed
	o.err = f()
	return o.err
}
