package pg

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
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
	hammerInputs = flag.Int("hammer", 3000, "random and mutated inputs that TestHammer sends")
	hammerSeed   = flag.Uint64("hammerseed", 0, "TestHammer's seed; 0: of the clock")
)

// TestHammer sends random and mutated bytes to real listeners, before log-in, within it and after
// it, over TLS and in the clear, cut off at any place. Every connection must end in time, nothing
// may be logged (testServer), good clients are served in between, and neither goroutines nor
// memory may grow.
func TestHammer(t *testing.T) {
	seed := *hammerSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	v, err := Verifier("pw")
	if err != nil {
		t.Fatal(err)
	}
	open := listen(t, testServer(t, Config{AuthTimeout: 3 * time.Second}))
	secured := listen(t, testServer(t, Config{AuthTimeout: 3 * time.Second, TLS: testCertificate(t),
		Auth: Auth{Lookup: func(u string) (string, bool) { return v, u == "u" }, AllowMD5: true}}))
	setUp := dial(t, open)
	setUp.exec("create schema if not exists public")
	setUp.exec("create table public.t (a int, b text, c double precision)")
	setUp.exec("insert into public.t select g, 'row ' || g, g / 7.0 from generate_series(1, 5000) g")

	base, baseMem := settle(), memory()
	t.Logf("at the start: %d goroutines, %d MiB of memory", base, baseMem>>20)
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan string, 100)
	start, n := time.Now(), int64(*hammerInputs)
	var peak atomic.Int64
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := next.Add(1)
				if i > n || t.Failed() {
					return
				}
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				if err := hammer(r, open, secured); err != nil {
					failed <- fmt.Sprintf("input %d of seed %d: %v", i, seed, err)
					return
				}
				if i%20000 == 0 {
					m := memory()
					peak.Store(max(peak.Load(), m))
					t.Logf("%d inputs in %v, %d goroutines, %d MiB", i, time.Since(start).Round(time.Second), runtime.NumGoroutine(), m>>20)
				}
			}
		}()
	}
	wg.Wait()
	close(failed)
	for f := range failed {
		t.Error(f)
	}
	for _, addr := range []string{open} {
		c := dial(t, addr)
		c.exec("select count(*) from public.t")
		c.nc.Close()
	}
	after := settle()
	t.Logf("at the end: %d goroutines, %d MiB of memory, peak %d MiB", after, memory()>>20, peak.Load()>>20)
	if after > base+10 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left over of %d:\n%s", after-base, after, buf[:runtime.Stack(buf, true)])
	}
	if m := memory(); m > baseMem+600<<20 {
		t.Errorf("memory grew from %d to %d MiB", baseMem>>20, m>>20)
	}
}

// exec runs a simple query that must work.
func (c *client) exec(sql string) {
	c.t.Helper()
	c.nc.SetDeadline(time.Now().Add(60 * time.Second))
	c.nc.Write(message('Q', append([]byte(sql), 0)))
	buf := make([]byte, 5)
	for {
		if _, err := io.ReadFull(c.nc, buf); err != nil {
			c.t.Fatalf("%s: %v", sql, err)
		}
		body := make([]byte, binary.BigEndian.Uint32(buf[1:])-4)
		if _, err := io.ReadFull(c.nc, body); err != nil {
			c.t.Fatalf("%s: %v", sql, err)
		}
		switch buf[0] {
		case 'E':
			c.t.Fatalf("%s: %q", sql, body)
		case 'Z':
			return
		}
	}
}

// settle waits for connections to end and counts the goroutines.
func settle() int {
	n := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if m := runtime.NumGoroutine(); m >= n {
			return m
		} else {
			n = m
		}
	}
	return n
}

// memory is what the process has resident; 0 where /proc does not say.
func memory() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kb << 10
}

// hammer makes one connection, sends one input and reads to the end.
func hammer(r *rand.Rand, open, secured string) error {
	addr := open
	kind := r.IntN(10)
	if kind < 3 {
		addr = secured
	}
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(20 * time.Second))
	var in []byte
	switch {
	case kind == 0: // within TLS
		if _, err := nc.Write([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}); err != nil {
			return nil
		}
		var one [1]byte
		if _, err := io.ReadFull(nc, one[:]); err != nil || one[0] != 'S' {
			return fmt.Errorf("SSLRequest: %q %v", one, err)
		}
		if r.IntN(3) == 0 {
			in = mutate(r, []byte("\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03 and no hello"))
			break
		}
		c := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
		if err := c.Handshake(); err != nil {
			return err
		}
		c.Write(beforeLogin(r))
		c.CloseWrite()
		return drained(c, addr)
	case kind < 3: // log-in by password
		in = append(startupPacket("user", "u", "database", "lake"), sasl(r)...)
		if r.IntN(2) == 0 {
			in = mutate(r, in)
		}
	case kind < 5:
		in = beforeLogin(r)
	default:
		in = startupPacket("user", "u", "database", "lake", "statement_timeout", "300")
		for range 1 + r.IntN(6) {
			in = append(in, anyMessage(r)...)
		}
	}
	if r.IntN(8) == 0 {
		in = in[:r.IntN(len(in)+1)]
	}
	if _, err := nc.Write(in); err != nil {
		return nil // the server may have said its last word already
	}
	switch r.IntN(10) {
	case 0:
		return nil // gone without a word
	case 1:
		nc.(*net.TCPConn).SetLinger(0)
		return nil
	}
	nc.(*net.TCPConn).CloseWrite()
	return drained(nc, addr)
}

// drained reads until the server closes. A time-out is the one error: the connection hangs.
func drained(nc net.Conn, addr string) error {
	_, err := io.Copy(io.Discard, nc)
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return fmt.Errorf("the connection to %s hangs", addr)
	}
	return nil
}

func beforeLogin(r *rand.Rand) []byte {
	seeds := [][]byte{startupPacket("user", "u", "database", "lake"), startupPacket("user", "u", "options", "-c a=b\\ c --x=y -c"),
		startupPacket("user", "u", "database", "lake", "client_encoding", "'utf-8'", "DateStyle", "ISO", "TimeZone", "UTC", "_pq_.x", "1"),
		{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}, {0, 0, 0, 8, 4, 0xd2, 0x16, 0x30}, {0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 1},
		{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3}, {0, 0, 0, 8, 0, 3, 0, 2}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0}}
	var in []byte
	for range 1 + r.IntN(3) {
		if r.IntN(5) == 0 {
			in = append(in, noise(r, r.IntN(200))...)
		} else {
			in = append(in, seeds[r.IntN(len(seeds))]...)
		}
	}
	return mutate(r, in)
}

func sasl(r *rand.Rand) []byte {
	first := "n,,n=u,r=rOprNGfwEbeRWgbNEkqO"
	body := append([]byte("SCRAM-SHA-256\x00"), binary.BigEndian.AppendUint32(nil, uint32(len(first)))...)
	in := message('p', mutate(r, append(body, first...)))
	return append(in, message('p', mutate(r, []byte("c=biws,r=rOprNGfwEbeRWgbNEkqOxyz,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=")))...)
}

var hammerSQL = []string{"select 1", "select * from t where a < 5", "select a, b, c from t order by b desc limit 3", "begin", "commit", "rollback", "savepoint s", "rollback to s",
	"declare c scroll cursor with hold for select * from t", "fetch 3 in c", "move 2 c", "fetch all c", "close c", "copy t to stdout", "copy (select * from t) to stdout (format binary)",
	"copy t from stdin", "copy t (a) from stdin (format csv, header)", "copy t from stdin binary", "set timezone = 'UTC'", "show all", "discard all", "listen x", "prepare p as select $1::int",
	"execute p(1)", "deallocate p", "explain analyze select count(*) from t", "select '\\x00'::bytea, '{1,2}'::int[], '{\"a\":1}'::jsonb", "select 1/0", "select pg_sleep(0.01)",
	"select * from pg_class, pg_attribute limit 10", "values (1), (2)", ";;", "-- x", "select $1, $2::text", "select array_agg(a) from t group by a % 7", "select x from generate_series(1, 1000) x"}

// anyMessage is a message of the protocol, often spoilt.
func anyMessage(r *rand.Rand) []byte {
	text := []byte(hammerSQL[r.IntN(len(hammerSQL))])
	if r.IntN(3) == 0 {
		text = mutate(r, text)
	}
	name := []string{"", "s", "p", "c"}[r.IntN(4)]
	i16 := func(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
	i32 := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	z := func(s []byte) []byte { return append(append([]byte{}, s...), 0) }
	var m []byte
	switch r.IntN(12) {
	case 0, 1, 2:
		m = message('Q', z(text))
	case 3, 4:
		oids := []int{0, 16, 17, 20, 21, 23, 25, 1007, 1114, 1184, 1700, 2950, 3802, 99999}
		n := r.IntN(4)
		b := join(z([]byte(name)), z(text), i16(n))
		for range n {
			b = append(b, i32(oids[r.IntN(len(oids))])...)
		}
		m = message('P', b)
	case 5, 6:
		n := r.IntN(3)
		b := join(z([]byte(name)), z([]byte(name)), i16(1), i16(r.IntN(2)), i16(n))
		for range n {
			v := noise(r, r.IntN(12))
			b = join(b, i32(len(v)), v)
		}
		m = message('B', join(b, i16(1), i16(r.IntN(3))))
	case 7:
		m = message('D', join([]byte{"SPX"[r.IntN(3)]}, z([]byte(name))))
	case 8:
		m = message('E', join(z([]byte(name)), i32([]int{0, 1, 100, -1}[r.IntN(4)])))
	case 9:
		m = message("SHCcfX"[r.IntN(6)], nil)
		if m[0] == 'C' {
			m = message('C', join([]byte{"SP"[r.IntN(2)]}, z([]byte(name))))
		}
	case 10:
		data := [][]byte{[]byte("1\tx\t2.5\n2\t\\N\t\\N\n"), []byte("a,b,c\n1,x,2\n"), []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x07\xff\xff"), []byte("\\.\n")}
		m = message('d', mutate(r, data[r.IntN(len(data))]))
	default:
		m = message(byte(r.IntN(256)), noise(r, r.IntN(50)))
	}
	if r.IntN(4) == 0 {
		m = mutate(r, m)
	}
	return m
}

func message(typ byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4)), body...)
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// mutate spoils a copy of b in a few places: a byte, a length, a piece taken out, put in twice or
// put in from nowhere.
func mutate(r *rand.Rand, b []byte) []byte {
	out := append([]byte{}, b...)
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return noise(r, 4)
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
			out = append(out[:i:i], append(noise(r, r.IntN(8)), out[i:]...)...)
		case 5:
			for k := i; k < min(i+4, len(out)); k++ {
				out[k] = []byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
			}
		}
	}
	return out
}

// testCertificate is a TLS configuration with a certificate of its own.
func testCertificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(crand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
