package door

import (
	"context"
	"errors"
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
