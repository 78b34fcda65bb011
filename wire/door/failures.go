package door

import (
	"context"
	"net"
	"sync"
	"time"
)

// Failures slow down those who guess: passwords of a user from one address, passwords of any users
// from one address, and the secrets of cancel requests. After a few failures attempts take turns,
// each some time after the one before, however many connections make them. One success of a user
// forgets the failures of that user from that address.
type Failures struct {
	mu   sync.Mutex
	who  map[guess]*failures
	now  func() time.Time
	wait func(context.Context, time.Duration) error
}

type guess struct{ user, host string }

type failures struct {
	n    int
	last time.Time // when the last attempt failed
	next time.Time // when the next one may be made
}

const (
	freeFailures     = 3  // of one user from one address
	freeHostFailures = 20 // of one address
	firstPause       = 250 * time.Millisecond
	longestPause     = 4 * time.Second
	forgetAfter      = 10 * time.Minute
	mostGuesses      = 10_000 // that are remembered
)

// patient is how long an attempt waits for its turn; one that would wait longer fails at once.
const patient = 6 * time.Second

func newFailures() *Failures {
	return &Failures{who: map[guess]*failures{}, now: time.Now, wait: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// pause is how long after failure n the next attempt may come.
func pause(n, free int) time.Duration {
	if n < free {
		return 0
	}
	return min(firstPause<<min(n-free, 10), longestPause)
}

// Refused writes a line of the log about a log-in that failed, and why. What the client says of itself
// is quoted, so that it can write no line of its own; how many lines there can be, Failures bounds.
func (d *Door) Refused(wire, user, database string, from net.Addr, err error) {
	address := ""
	if from != nil {
		address = from.String()
	}
	d.cfg.Log("log-in refused: wire=%s user=%.128q database=%.128q address=%s reason=%.512q", wire, user, database, address, err.Error())
}

// Turn waits until user may try from an address; false: there are too many attempts before it, and
// it counts as failed.
func (f *Failures) Turn(ctx context.Context, user string, from net.Addr) bool {
	host := Host(from)
	f.mu.Lock()
	now := f.now()
	at := now
	var mine []*failures
	for g, free := range map[guess]int{{user, host}: freeFailures, {"", host}: freeHostFailures} {
		x := f.who[g]
		if x == nil || pause(x.n, free) == 0 {
			continue
		}
		if x.next.After(at) {
			at = x.next
		}
		mine = append(mine, x)
	}
	if at.Sub(now) > patient {
		f.mu.Unlock()
		return false
	}
	for _, x := range mine {
		x.next = at.Add(pause(x.n, freeFailures))
	}
	f.mu.Unlock()
	return at.Equal(now) || f.wait(ctx, at.Sub(now)) == nil
}

// Failed tells of an attempt that was wrong, Passed of one that was right.
func (f *Failures) Failed(user string, from net.Addr) {
	host := Host(from)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.forget(now)
	for g, free := range map[guess]int{{user, host}: freeFailures, {"", host}: freeHostFailures} {
		x := f.who[g]
		if x == nil {
			x = &failures{}
			f.who[g] = x
		}
		x.n++
		x.last = now
		if next := now.Add(pause(x.n, free)); next.After(x.next) {
			x.next = next
		}
	}
}

// Passed forgets user's failures from an address.
func (f *Failures) Passed(user string, from net.Addr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.who, guess{user, Host(from)})
}

// forget drops what is old, and where there is too much, what is oldest.
func (f *Failures) forget(now time.Time) {
	if len(f.who) < mostGuesses {
		return
	}
	for age := forgetAfter; len(f.who) >= mostGuesses; age /= 2 {
		for g, x := range f.who {
			if now.Sub(x.last) >= age {
				delete(f.who, g)
			}
		}
	}
}
