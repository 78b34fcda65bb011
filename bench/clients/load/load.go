// Package load answers: does the server stay itself while many clients of all kinds use it?
//
// It starts `lhsql serve` as a process of its own, connects idle and busy clients, slow readers,
// cancelling ones and ones that vanish, and watches answers, waiting times, errors and the
// process's memory. It knows the server only as its clients do.
package load

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"sort"
	"sync"
	"time"
)

// Config is how hard the server is pressed.
type Config struct {
	Server   *Server
	MySQL    bool // by the MySQL wire, not the Postgres wire
	Idle     int  // clients that ask once in a while
	Busy     int  // clients that always ask, of every kind by turns
	Duration time.Duration
	Queries  []string // more questions for the busy ones; each must always give one answer
	Seed     int64
	Out      io.Writer
}

// Wire is the one that the clients use.
func (c *Config) Wire() *Wire {
	if c.MySQL {
		return MySQL
	}
	return Postgres
}

// run is the state of one run; its methods are the clients.
type run struct {
	Config
	answers map[string]string // what each question gives when nobody else asks

	mu       sync.Mutex
	lat      map[string][]time.Duration // per kind
	clients  map[string]*tally          // per client
	problems []string
	errors   map[string]int // those that were provoked and came, by what gives them
}

// tally is what one client got done.
type tally struct {
	kind  string
	done  int
	worst time.Duration
}

// starved is how long a trivial statement may wait, and any client for a statement to end. It is
// many times what a loaded machine of two cores shows: a scheduler that forgets someone exceeds it.
const starved = 20 * time.Second

// Run presses the server and gives what is wrong; nothing, it may be hoped.
func Run(ctx context.Context, cfg Config) ([]string, error) {
	r := &run{Config: cfg, answers: map[string]string{}, lat: map[string][]time.Duration{}, clients: map[string]*tally{}, errors: map[string]int{}}
	if err := r.learn(ctx); err != nil {
		return nil, err
	}
	if err := r.fill(ctx); err != nil {
		return nil, err
	}
	if err := r.emptied(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(cfg.Out, "%d idle and %d busy clients on the %s wire for %v, seed %d\n", cfg.Idle, cfg.Busy, cfg.Wire().Name, cfg.Duration, cfg.Seed)
	memory := r.press(ctx)
	r.afterwards(ctx)
	r.judge(memory)
	r.print(memory)
	sort.Strings(r.problems)
	return r.problems, nil
}

// press runs all clients for the duration and gives samples of the server's memory.
func (r *run) press(parent context.Context) []int64 {
	ctx, cancel := context.WithTimeout(parent, r.Duration)
	defer cancel()
	var wg sync.WaitGroup
	start := func(kind string, i int, f func(context.Context, *client)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := &client{run: r, kind: kind, name: fmt.Sprintf("%s-%d", kind, i), rnd: rand.New(rand.NewSource(r.Seed + int64(len(kind)*1000+i)))}
			r.mu.Lock()
			r.clients[c.name] = &tally{kind: kind}
			r.mu.Unlock()
			f(ctx, c)
		}()
	}
	for i := range r.Idle {
		start("idle", i, idle)
	}
	kinds := []struct {
		name string
		f    func(context.Context, *client)
	}{{"asks", asks}, {"prepared", prepared}, {"slow", slow}, {"cancels", cancels}, {"timeout", timesOut}, {"asks", asks}, {"writes", writes}, {"vanishes", vanishes}}
	for i := range r.Busy {
		k := kinds[i%len(kinds)]
		start(k.name, i, k.f)
	}
	var memory []int64
	tick := time.NewTicker(max(r.Duration/60, 100*time.Millisecond))
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			memory = append(memory, r.Server.RSS())
		case <-ctx.Done():
		}
	}
	wg.Wait()
	return memory
}

func (r *run) problem(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.problems) < 50 {
		r.problems = append(r.problems, fmt.Sprintf(format, a...))
	}
}

// provoked counts an error that a client asked for.
func (r *run) provoked(code string) {
	r.mu.Lock()
	r.errors[code]++
	r.mu.Unlock()
}

// judge looks for the starved, the silent, and growth.
func (r *run) judge(memory []int64) {
	byKind := map[string][]int{}
	for _, t := range r.clients {
		byKind[t.kind] = append(byKind[t.kind], t.done)
	}
	for name, t := range r.clients {
		done := byKind[t.kind]
		sort.Ints(done)
		if mid := done[len(done)/2]; t.done == 0 || t.done*10 < mid {
			r.problem("%s got %d statements done, others like it %d", name, t.done, mid)
		}
		if t.worst > starved {
			r.problem("%s once waited for %v", name, t.worst)
		}
	}
	for _, what := range []string{"a cancel", "a statement's time", "the connection limit"} {
		if r.errors[what] == 0 {
			r.problem("%s never gave its error", what)
		}
	}
	// Flat: once warm, no third of the run needs more than the one before, but for what the
	// garbage collector has not got to yet.
	if n := len(memory) / 3; n > 0 {
		mid, late := peak(memory[n:2*n]), peak(memory[2*n:])
		warm := r.Duration >= 30*time.Second
		if warm && late > mid+mid/4+64<<20 {
			r.problem("memory grows: %d MB in the middle third, %d MB in the last", mid>>20, late>>20)
		}
		if limit := r.Server.Memory; limit > 0 && peak(memory) > limit+limit/10 {
			r.problem("memory reached %d MB, the limit is %d MB", peak(memory)>>20, limit>>20)
		}
	}
}

func peak(v []int64) (p int64) {
	for _, x := range v {
		p = max(p, x)
	}
	return p
}

func (r *run) print(memory []int64) {
	w := r.Out
	fmt.Fprintf(w, "\n%-10s %8s %10s %8s %8s %8s %8s\n", "client", "number", "statements", "p50 ms", "p95 ms", "p99 ms", "max ms")
	for _, kind := range sorted(r.lat) {
		l := r.lat[kind]
		sort.Slice(l, func(i, j int) bool { return l[i] < l[j] })
		at := func(p float64) int64 { return l[int(p*float64(len(l)-1))].Milliseconds() }
		n := 0
		for _, t := range r.clients {
			if t.kind == kind {
				n++
			}
		}
		fmt.Fprintf(w, "%-10s %8d %10d %8d %8d %8d %8d\n", kind, n, len(l), at(.5), at(.95), at(.99), at(1))
	}
	fmt.Fprint(w, "\nerrors that were asked for:")
	for _, c := range sorted(r.errors) {
		fmt.Fprintf(w, "  %s: %d", c, r.errors[c])
	}
	fmt.Fprint(w, "\nresident memory over time, MB:")
	for i, m := range memory {
		if i%20 == 0 {
			fmt.Fprint(w, "\n ")
		}
		fmt.Fprintf(w, " %d", m>>20)
	}
	fmt.Fprintln(w)
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
