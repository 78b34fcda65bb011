package exec

import (
	"context"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/vec"
)

// gather merges partitions into one source. Each partition runs in a goroutine, hands its batch
// over and waits for the acknowledgement before it goes on, so that a batch stays its source's
// and nothing is copied.
type gather struct {
	parts  []vec.Source
	ch     chan handed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	ack    chan struct{} // of the batch lent last
	live   int
	closed bool
}

type handed struct {
	b   *vec.Batch
	err error
	ack chan struct{}
}

// newGather merges parts, whose order of rows is lost. One partition passes as it is.
func newGather(parts []vec.Source) vec.Source {
	if len(parts) == 1 {
		return parts[0]
	}
	return &gather{parts: parts}
}

func (g *gather) start(ctx context.Context) {
	ctx, g.cancel = context.WithCancelCause(ctx)
	g.ch = make(chan handed)
	g.live = len(g.parts)
	for _, p := range g.parts {
		g.wg.Add(1)
		go func() {
			defer g.wg.Done()
			err := guard.Run(func() error { return g.run(ctx, p) })
			// The end of a partition, or its error, is a hand-over without a batch.
			select {
			case g.ch <- handed{err: err}:
			case <-ctx.Done():
			}
		}()
	}
}

func (g *gather) run(ctx context.Context, p vec.Source) error {
	ack := make(chan struct{}, 1)
	for {
		b, err := p.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		select {
		case g.ch <- handed{b: b, ack: ack}:
		case <-ctx.Done():
			return canceled(ctx)
		}
		select {
		case <-ack:
		case <-ctx.Done():
			return canceled(ctx)
		}
	}
}

func (g *gather) Next(ctx context.Context) (*vec.Batch, error) {
	if g.cancel == nil {
		g.start(ctx)
	}
	if g.ack != nil {
		g.ack <- struct{}{}
		g.ack = nil
	}
	for g.live > 0 {
		select {
		case h := <-g.ch:
			if h.err != nil {
				g.cancel(h.err)
				return nil, h.err
			}
			if h.b != nil {
				g.ack = h.ack
				return h.b, nil
			}
			g.live--
		case <-ctx.Done():
			return nil, canceled(ctx)
		}
	}
	return nil, nil
}

func (g *gather) Close() error {
	if g.closed {
		return nil
	}
	g.closed = true
	if g.cancel != nil {
		g.cancel(errClosed)
		g.wg.Wait()
	}
	return closeAll(g.parts)
}
