package door

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Line is one connection's life: when it may end, and how its goroutine, which waits for the
// client to speak or to listen, hears of that. A wire's connection embeds it. All methods may be
// called from any goroutine.
type Line struct {
	Raw net.Conn // as it was accepted

	hurry    atomic.Bool // the session is over: only last words are said
	mu       sync.Mutex
	draining bool   // end once idle
	waiting  bool   // for the client, with nothing under way
	end      func() // ends the session; nil before there is one
}

// LoggedIn tells how the line's session is ended, upon which Wake must be called.
func (l *Line) LoggedIn(end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = end
}

// Drain asks the connection to end once it is idle. One that runs a statement goes on reading:
// the statement may be a COPY, and its client may leave.
func (l *Line) Drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draining = true
	if l.waiting {
		l.Raw.SetReadDeadline(time.Now())
	}
}

// Draining tells whether Drain was called.
func (l *Line) Draining() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draining
}

// Terminate ends the connection's session, whatever it does.
func (l *Line) Terminate() {
	l.mu.Lock()
	end := l.end
	l.mu.Unlock()
	if end != nil {
		end()
	}
}

// Wake ends what the connection's goroutine may wait for once its session is over: what its
// client says next, or its taking of rows.
func (l *Line) Wake() {
	l.hurry.Store(true)
	l.Raw.SetReadDeadline(time.Now())
	l.Raw.SetWriteDeadline(time.Now().Add(LastWords / 2))
}

// Close ends the connection under whoever uses it.
func (l *Line) Close() { l.Raw.Close() }

// Wait begins a wait for the client, of idle at most unless that is 0; done ends it. ok is false
// where the line is to end instead. idling: nothing is under way that should come to its end
// first; more: something the client has said already is there.
func (l *Line) Wait(idling, more bool, idle time.Duration) (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining && idling && !more {
		return func() {}, false
	}
	l.waiting = idling
	stop := func() bool { return true }
	if idle > 0 {
		stop = time.AfterFunc(idle, func() { l.Raw.SetReadDeadline(time.Now()) }).Stop
	}
	return func() {
		stop()
		l.mu.Lock()
		l.waiting = false
		l.mu.Unlock()
	}, true
}

// Send writes b to nc, which is Raw or runs within it. The timeout is that of one write and not
// of a statement: a slow reader that still reads may stay. lend, if not nil, gives away what the
// statement holds while the client takes its time.
func (l *Line) Send(nc net.Conn, b []byte, timeout time.Duration, lend func() (back func())) error {
	if l.hurry.Load() {
		timeout = min(timeout, LastWords/2)
	}
	if err := nc.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if lend != nil {
		defer lend()()
	}
	_, err := nc.Write(b)
	return err
}

// CertificateUser is the CN of nc's verified client certificate, "" without one.
func CertificateUser(nc net.Conn) string {
	t, ok := nc.(*tls.Conn)
	if !ok {
		return ""
	}
	st := t.ConnectionState()
	if len(st.VerifiedChains) == 0 {
		return ""
	}
	return st.PeerCertificates[0].Subject.CommonName
}

// IsLoopback tells whether a client at a is on this machine.
func IsLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
