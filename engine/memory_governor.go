package engine

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// governor keeps the process within its memory (promises.md, V1) where accounts, which count what
// they are told, do not see all of it: garbage that is not collected yet, values that functions
// make on the way, the parser's memory outside Go. It looks at what the process really has:
//
//	the collector's goal    = the limit − what is not Go's, so that garbage makes room first
//	live data beyond 5/8    → operators spill, whatever they have counted
//	live data beyond 7/8, or the process beyond the limit
//	                        → caches of metadata are emptied; then the statement that holds most
//	                          ends with 53200
type governor struct {
	e     *Engine
	limit int64
	done  chan struct{}
	ended chan struct{}

	goal    int64 // that the collector was given
	percent int64 // of live data that garbage may be, likewise
	samples []metrics.Sample
	cycle   uint64    // the collector's, when a statement was ended last
	victim  *runner   // ended last
	since   time.Time // when

	seen       uint64    // the collector's last cycle
	measured   time.Time // when it was seen
	collecting atomic.Bool
	other      atomic.Int64 // resident memory that is not Go's
}

// Govern tells that this process is e's alone: its memory is tuned and watched.
func (e *Engine) Govern() {
	g := &governor{e: e, limit: e.cfg.MemoryLimit, done: make(chan struct{}), ended: make(chan struct{}),
		samples: []metrics.Sample{
			{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
			{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}}
	g.look()
	e.governor = g
	room.Ask(newRoom(g).take)
	go g.run()
}

func (g *governor) stop() {
	if g != nil {
		room.Ask(nil)
		room.Short(false)
		close(g.done)
		<-g.ended
	}
}

// How often the governor looks: fast enough that a goroutine that allocates without pause gets no
// further than a few percent of a small limit.
const lookEvery = 5 * time.Millisecond

func (g *governor) run() {
	defer close(g.ended)
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-g.done:
			return
		case <-t.C:
			g.look()
		}
	}
}

// look measures and acts.
func (g *governor) look() {
	metrics.Read(g.samples)
	inGo := int64(g.samples[0].Value.Uint64() - g.samples[1].Value.Uint64())
	live := int64(g.samples[2].Value.Uint64())
	cycle := g.samples[3].Value.Uint64()
	if cycle != g.seen {
		g.seen, g.measured = cycle, time.Now()
	}
	resident, files := residentMemory()
	// Memory that Go has taken and nobody has written to yet is not resident: while a large value is
	// being filled, the difference tells less than there is. The program's own pages are certain, and
	// what was there a moment ago goes gradually.
	other := max(resident-inGo, files, g.other.Load()/64*63)
	g.other.Store(other)
	// The goal moves in steps: each stops the world for a moment. A twentieth is left for what is
	// allocated while the collector runs.
	goal := max(g.limit-other-g.limit/20, g.limit/4)
	if d := goal - g.goal; d > g.limit/50 || d < -g.limit/50 {
		g.goal = goal
		debug.SetMemoryLimit(goal)
	}
	if p := garbagePercent(live, g.limit); p > g.percent*5/4 || p < g.percent*4/5 {
		g.percent = p
		debug.SetGCPercent(int(p))
	}
	room.Short(resident > g.limit+g.limit/20)
	g.e.account.Press(live > g.limit/8*5 || resident > g.limit && live > g.limit/2)
	if live+other < g.limit/8*7 && resident < g.limit+g.limit/20 {
		return
	}
	far := resident > g.limit+g.limit/10
	if g.forget() && !far {
		g.collect()
		return
	}
	if v := g.e.largest(); v != nil {
		g.relieve(v, cycle, far)
	}
}

// forget empties most of the caches; false: they hold little.
func (g *governor) forget() bool {
	little, held := (manifestShare(g.limit)+footerShare(g.limit))/4, int64(0)
	for _, c := range g.e.caches() {
		held += c.Stats().Bytes
	}
	if held <= little {
		return false
	}
	for _, c := range g.e.caches() {
		c.Trim(c.Stats().Bytes / 4)
	}
	return true
}

// collect collects garbage beside what the governor does.
func (g *governor) collect() {
	if g.collecting.CompareAndSwap(false, true) {
		go func() {
			defer g.collecting.Store(false)
			runtime.GC()
		}()
	}
}

// garbagePercent is how much garbage, in percent of live data, may gather: the collector is rarely
// at work while there is room (docs/performance.md), and ever more as the limit nears. A server
// with little live data would collect after every few megabytes: it may let a small part of its
// memory fill first.
func garbagePercent(live, limit int64) int64 {
	const usual, most = 200, 1600
	return max(usual, min(most, limit/100*100/max(live, 1)))
}

// relieve ends v, the statement that holds most, one at a time: what it held must be collected
// before another has to go. So must be what earlier statements held before one that has begun
// since the last collection is blamed, unless the process is far beyond its limit.
func (g *governor) relieve(v *runner, cycle uint64, far bool) {
	if g.victim != nil && time.Since(g.since) < time.Second && (cycle < g.cycle+2 || g.victim.alive()) {
		return
	}
	if v.began.After(g.measured) && !far {
		g.collect()
		return
	}
	g.victim, g.cycle, g.since = v, cycle, time.Now()
	v.cancel(sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The server's memory was nearly used up, and this statement held most of it.").
		WithHint("Raise the memory limit, or reduce the size of single values, groups or partitions."))
}

func (r *runner) alive() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.running[r]
}

// largest is the statement that has reserved most; among equals a running one.
func (e *Engine) largest() (most *runner) {
	top := int64(-1)
	for _, s := range e.activeSessions() {
		s.mu.Lock()
		for r := range s.running {
			if n := r.held(); n > top {
				top, most = n, r
			}
		}
		s.mu.Unlock()
	}
	return most
}

var pageSize = int64(os.Getpagesize())

// residentMemory is the process's resident memory and the part of it that is mapped files, such as
// the program; 0 where the system does not tell.
func residentMemory() (all, files int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	if f := strings.Fields(string(b)); len(f) > 2 {
		all, _ = strconv.ParseInt(f[1], 10, 64)
		files, _ = strconv.ParseInt(f[2], 10, 64)
	}
	return all * pageSize, files * pageSize
}
