// Package hammer answers: does a listener bear whatever bytes it is sent?
//
// In: a function that sends one input to a server in this process and reads to the end. Out: a
// test that fails where a connection hangs, a good client is not served, or goroutines or memory
// stay behind. It refuses to know protocols; only tests import it.
package hammer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	inputs = flag.Int("hammer", 3000, "random and mutated inputs that TestHammer sends")
	seeds  = flag.Uint64("hammerseed", 0, "TestHammer's seed; 0: of the clock")
)

const (
	clients = 16
	// goodEvery is how many inputs lie between two clients that mean well.
	goodEvery = 500
	// Deadline is when a connection has to have ended.
	Deadline = 20 * time.Second
	// room is what may stay allocated: caches that fill, and garbage.
	room = 600 << 20
)

// Run sends inputs: one sends one, of what r says, and tells what went wrong; good is a client
// that must be served at any time; it fails the test itself.
func Run(t *testing.T, one func(r *rand.Rand) error, good func()) {
	t.Helper()
	seed := *seeds
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	good()
	base, baseMem := settle(), Memory()
	t.Logf("at the start: %d goroutines, %d MiB of memory", base, baseMem>>20)
	var next, peak atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := next.Add(1); i <= int64(*inputs) && !t.Failed(); i = next.Add(1) {
				if err := one(rand.New(rand.NewPCG(seed, uint64(i)))); err != nil {
					t.Errorf("input %d of seed %d: %v", i, seed, err)
				}
				if i%goodEvery == 0 {
					good()
					m := Memory()
					peak.Store(max(peak.Load(), m))
					if i%20000 == 0 {
						fmt.Printf("%d inputs in %v, %d goroutines, %d MiB\n", i, time.Since(start).Round(time.Second), runtime.NumGoroutine(), m>>20)
					}
				}
			}
		}()
	}
	wg.Wait()
	good()
	after, mem := settle(), Memory()
	t.Logf("at the end: %d inputs in %v, %d goroutines, %d MiB of memory, peak %d MiB", *inputs, time.Since(start).Round(time.Second), after, mem>>20, peak.Load()>>20)
	if after > base+10 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left over of %d:\n%s", after-base, after, buf[:runtime.Stack(buf, true)])
	}
	if mem > baseMem+room {
		t.Errorf("memory grew from %d to %d MiB", baseMem>>20, mem>>20)
	}
}

// settle waits for connections to end and counts the goroutines.
func settle() int {
	n := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		m := runtime.NumGoroutine()
		if m >= n {
			return m
		}
		n = m
	}
	return n
}

// Memory is what the process has resident; 0 where /proc does not say.
func Memory() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kb << 10
}

// Send writes in to nc, perhaps cut off and perhaps by a client that leaves without a word, and
// reads until the server closes.
func Send(r *rand.Rand, nc net.Conn, in []byte) error {
	if r.IntN(8) == 0 {
		in = in[:r.IntN(len(in)+1)]
	}
	if _, err := nc.Write(in); err != nil {
		return nil // the server may have said its last word already
	}
	switch r.IntN(10) {
	case 0:
		return nil
	case 1:
		if c, ok := nc.(*net.TCPConn); ok {
			c.SetLinger(0)
		}
		return nil
	}
	if c, ok := nc.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
	return Drained(nc)
}

// Drained reads until the server closes. A time-out is the one error: the connection hangs.
func Drained(nc net.Conn) error {
	_, err := io.Copy(io.Discard, nc)
	return Hangs(nc, err)
}

// Hangs is the error of a connection that met its deadline; a server may end it for any reason.
func Hangs(nc net.Conn, err error) error {
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return fmt.Errorf("the connection to %s hangs", nc.RemoteAddr())
	}
	return nil
}

// Noise is n random bytes.
func Noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Mutate spoils a copy of b in a few places: a byte, a length, a piece taken out, put in twice or
// put in from nowhere.
func Mutate(r *rand.Rand, b []byte) []byte {
	out := append([]byte{}, b...)
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return Noise(r, 4)
		}
		i := r.IntN(len(out))
		j := i + r.IntN(len(out)-i)
		switch r.IntN(6) {
		case 0:
			out[i] = byte(r.Uint32())
		case 1:
			out[i] ^= 1 << r.IntN(8)
		case 2:
			out = append(out[:i], out[j:]...)
		case 3:
			out = append(out[:j:j], append(append([]byte{}, out[i:j]...), out[j:]...)...)
		case 4:
			out = append(out[:i:i], append(Noise(r, r.IntN(8)), out[i:]...)...)
		case 5:
			for k := i; k < min(i+4, len(out)); k++ {
				out[k] = []byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
			}
		}
	}
	return out
}
