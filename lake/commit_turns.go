package lake

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// turns lets the writers of this process at a table one after the other, in the order of their
// coming, from the head that they load to the pointer that they move. Writers who race lose their
// work whenever they lose, and who works longest loses most: beside a session that appends without
// a pause an UPDATE would never come to its end. Who waits for a turn waits for work of others that
// is going on, and gives up when its statement ends.
type turns struct {
	mu    sync.Mutex
	lines map[Name][]chan struct{} // who has its turn stands first
}

// take waits for the turn at all tables of the changes; the function that it gives ends it.
// A test that decides itself which writer goes on when (WithYield) does not wait here.
func (t *turns) take(ctx context.Context, changes []TableChange) (done func(), err error) {
	if ctx.Value(yieldKey{}) != nil {
		return func() {}, nil
	}
	var names []Name
	for i := range changes {
		if n := changes[i].Name; ctx.Value(heldTurn{t, n}) == nil {
			names = append(names, n)
		}
	}
	// In one order, so that no two wait for each other.
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
	names = slices.Compact(names)
	taken := 0
	done = func() {
		for _, n := range names[:taken] {
			t.leave(n, nil)
		}
	}
	for _, n := range names {
		if err := t.one(ctx, n); err != nil {
			done()
			return nil, err
		}
		taken++
	}
	return done, nil
}

// heldTurn is the context key of a turn that is had already.
type heldTurn struct {
	t *turns
	n Name
}

// TakeTurn waits until no other writer of this process is at the table, and keeps others away from
// it until done is called. Commits under the context that it gives do not wait for their turn again.
func TakeTurn(ctx context.Context, c Catalog, n Name) (held context.Context, done func(), err error) {
	d, ok := c.(definer)
	if !ok {
		return ctx, func() {}, nil // nobody else writes there
	}
	n.Catalog = c.Name()
	t := &d.commits().turns
	if done, err = t.take(ctx, []TableChange{{Name: n}}); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, heldTurn{t, n}, true), done, nil
}

func (t *turns) one(ctx context.Context, n Name) error {
	my := make(chan struct{})
	t.mu.Lock()
	if t.lines == nil {
		t.lines = map[Name][]chan struct{}{}
	}
	t.lines[n] = append(t.lines[n], my)
	if len(t.lines[n]) == 1 {
		close(my)
	}
	t.mu.Unlock()
	select {
	case <-my:
		return nil
	case <-ctx.Done():
		t.leave(n, my)
		return ctx.Err()
	}
}

// leave takes one who waits out of a line, or with nil who has its turn, and lets the next one go.
func (t *turns) leave(n Name, who chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.lines[n]
	i := 0
	if who != nil {
		i = slices.Index(line, who)
	}
	if line = slices.Delete(line, i, i+1); len(line) == 0 {
		delete(t.lines, n)
		return
	}
	t.lines[n] = line
	if i == 0 {
		close(line[0])
	}
}
