package engine

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/room"
)

// rooms answers, before something large is allocated, whether the process has room for it
// (internal/room). What it grants counts until it can be seen in what the process uses: an
// allocation follows its grant at once, but on a busy machine not within a moment. So a grant
// counts until as much has been allocated as it and those before it that still counted ask for.
type rooms struct {
	g       *governor
	mu      sync.Mutex
	granted []grant
	pending int64
	samples []metrics.Sample
}

type grant struct {
	n    int64
	at   time.Time
	seen uint64 // what the process has allocated in all when nothing more is to come of it
}

// A grant counts beside what the process is seen to use for grantTime at least, and for lostGrant
// at most: who was granted it may have ended.
const (
	grantTime = 50 * time.Millisecond
	lostGrant = time.Second
)

// patienceForRoom is how long a statement waits for others to make room.
const patienceForRoom = 500 * time.Millisecond

func newRoom(g *governor) *rooms {
	return &rooms{g: g, samples: []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/allocs:bytes"}}}
}

// take waits until n bytes find room: first by collecting garbage, then by caches that go, then for
// other statements to end. It fails when they do not in time, or could not.
func (r *rooms) take(n int64) error {
	if n > r.g.limit {
		return room.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fits(n) {
		return nil
	}
	for begin := time.Now(); ; {
		runtime.GC()
		if r.fits(n) {
			return nil
		}
		// Nothing but grants in flight, caches and other statements can make room now.
		forgot := r.g.forget()
		if !forgot && (time.Since(begin) > patienceForRoom || !r.hopeful(n)) {
			return room.Error()
		}
		if !forgot {
			r.mu.Unlock()
			time.Sleep(grantTime / 2)
			r.mu.Lock()
		}
	}
}

// fits grants n bytes if there is room for them now. A part of the limit is left for what is too
// small to be asked for.
func (r *rooms) fits(n int64) bool {
	now, used := time.Now(), r.used()
	allocated := r.samples[3].Value.Uint64()
	for len(r.granted) > 0 {
		first := r.granted[0]
		if age := now.Sub(first.at); age < grantTime || age < lostGrant && allocated < first.seen {
			break
		}
		r.pending -= first.n
		r.granted = r.granted[1:]
	}
	if used+r.pending+n > r.g.limit-r.g.limit/32 {
		return false
	}
	r.pending += n
	r.granted = append(r.granted, grant{n, now, allocated + uint64(r.pending)})
	return true
}

// hopeful tells whether there may be room soon: grants in flight are counted twice, and several
// statements run of which one may end.
func (r *rooms) hopeful(n int64) bool {
	return r.pending > 0 && r.used()+n <= r.g.limit || r.g.e.statements() > 1
}

// used is what the process holds: Go's memory less what it could give out again, and what is not
// Go's.
func (r *rooms) used() int64 {
	metrics.Read(r.samples)
	return int64(r.samples[0].Value.Uint64()-r.samples[1].Value.Uint64()-r.samples[2].Value.Uint64()) + r.g.other.Load()
}

// statements is how many run.
func (e *Engine) statements() (n int) {
	for _, s := range e.activeSessions() {
		s.mu.Lock()
		n += len(s.running)
		s.mu.Unlock()
	}
	return n
}
