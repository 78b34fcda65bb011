package door

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"
)

// deaf is a client that does not hear that its time is over.
type deaf struct {
	net.Conn
	until chan struct{}
}

func (c *deaf) Serve()     { <-c.until }
func (c *deaf) Drain()     {}
func (c *deaf) Terminate() {}
func (c *deaf) Close()     { c.Conn.Close() }

// Shutdown ends although a client does not, whatever its wire.
func TestShutdownOfADeafClient(t *testing.T) {
	d := New(Config{MaxSessions: 1, MaxLogins: 1, LoginTimeout: time.Second,
		TooMany: errors.New("too many"), Closing: errors.New("closing"), Log: t.Logf})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	until := make(chan struct{})
	defer close(until)
	served := make(chan error)
	go func() { served <- d.Serve(l, func(nc net.Conn) Client { return &deaf{nc, until} }) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for end := time.Now().Add(5 * time.Second); d.Connections() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	leave, err := d.Admit()
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if _, err := d.Admit(); err == nil || err.Error() != "too many" {
		t.Errorf("a second session: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error)
	go func() { ended <- d.Shutdown(ctx) }()
	select {
	case err = <-ended:
	case <-time.After(time.Minute):
		t.Fatal("Shutdown does not end")
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown says %v", err)
	}
	if _, err := d.Admit(); err == nil || err.Error() != "closing" {
		t.Errorf("after the end: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve says %v", err)
	}
}

// A log-in that failed leaves one line, whatever the client calls itself.
func TestRefusedLogIns(t *testing.T) {
	var lines []string
	d := New(Config{Log: func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }})
	d.Refused("postgres", "anna\nlog-in refused: wire=x", "lake", address("192.0.2.1"), errors.New("password authentication failed"))
	want := `log-in refused: wire=postgres user="anna\nlog-in refused: wire=x" database="lake" address=192.0.2.1:4711 reason="password authentication failed"`
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("%q", lines)
	}
}

func address(host string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(host), Port: 4711} }

// However many silent clients one address sends, others find a place at once, and those that wait
// get theirs when one leaves.
func TestOneAddressCannotLockOthersOut(t *testing.T) {
	d := New(Config{MaxSessions: 1000, MaxLogins: 100, LoginTimeout: 20 * time.Second,
		TooMany: errors.New("too many"), Closing: errors.New("closing"), Log: t.Logf})
	var leave []func()
	for range 25 {
		l, err := d.WaitForLogin(address("192.0.2.1"))
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	waited := make(chan error)
	go func() {
		l, err := d.WaitForLogin(address("192.0.2.1"))
		if err == nil {
			l()
		}
		waited <- err
	}()
	// Three more addresses take all but the reserve, which one that has no place yet gets.
	for i, n := range []int{25, 25, 5} {
		for range n {
			if _, err := d.WaitForLogin(address(fmt.Sprintf("192.0.2.%d", 2+i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d.LoggingIn() != 80 {
		t.Errorf("%d log in", d.LoggingIn())
	}
	for i := range 20 {
		if _, err := d.WaitForLogin(address(fmt.Sprintf("198.51.100.%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-waited:
		t.Fatalf("the 26th of one address got a place: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	for _, l := range leave {
		l()
		l()
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	// Of IPv6 a network counts as one.
	if a, b := Host(address("2001:db8::1")), Host(address("2001:db8::ffff:1")); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if a, b := Host(address("2001:db8::1")), Host(address("2001:db8:0:1::1")); a == b {
		t.Errorf("both are %s", a)
	}
}

// Guesses wait longer and longer, many at once take turns, and a user is not punished for what
// others try elsewhere.
func TestGuessesSlowDown(t *testing.T) {
	now := time.Unix(0, 0)
	var slept time.Duration
	f := newFailures()
	f.now = func() time.Time { return now }
	f.wait = func(_ context.Context, d time.Duration) error { slept = d; return nil }
	ctx := context.Background()
	turn := func(user, host string) (time.Duration, bool) {
		slept = 0
		ok := f.Turn(ctx, user, address(host))
		return slept, ok
	}
	for i, want := range []time.Duration{0, 0, 0, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		if d, ok := turn("anna", "192.0.2.1"); !ok || d != want {
			t.Errorf("attempt %d waits %v (%v), want %v", i, d, ok, want)
		}
		now = now.Add(slept)
		f.Failed("anna", address("192.0.2.1"))
	}
	// The next two at once: the second waits for the first's pause besides, a third is refused.
	if d, ok := turn("anna", "192.0.2.1"); !ok || d != 4*time.Second {
		t.Errorf("the next waits %v, %v", d, ok)
	}
	if _, ok := turn("anna", "192.0.2.1"); ok {
		t.Error("one that would wait for 8 s is let in")
	}
	for _, other := range [][2]string{{"anna", "192.0.2.2"}, {"bert", "192.0.2.1"}} {
		if d, ok := turn(other[0], other[1]); !ok || d != 0 {
			t.Errorf("%v waits %v", other, d)
		}
	}
	f.Passed("anna", address("192.0.2.1"))
	if d, ok := turn("anna", "192.0.2.1"); !ok || d != 0 {
		t.Errorf("after a success: %v", d)
	}
	// Many users from one address are guesses too.
	for i := range 30 {
		f.Failed(fmt.Sprint("user", i), address("203.0.113.1"))
	}
	if d, ok := turn("somebody", "203.0.113.1"); !ok || d != 4*time.Second {
		t.Errorf("an address that tried 30 users waits %v, %v", d, ok)
	}
	for i := range 2 * mostGuesses {
		f.Failed("u", &net.TCPAddr{IP: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i))})
	}
	if len(f.who) > mostGuesses+2 {
		t.Errorf("%d are remembered", len(f.who))
	}
}
