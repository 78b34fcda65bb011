package door

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// readAhead bounds what a client may have in flight beyond what is being served.
const readAhead = 256 << 10

// Reader reads a connection ahead of its consumer, so that a client that disconnects is noticed
// while a statement runs (promises.md, V2). Read is for one goroutine.
type Reader struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte // unread bytes
	err    error  // sticky, after buf is drained
	gone   func() // called once at the connection's end
	closed bool
}

// NewReader starts reading nc; gone is called when the peer is gone.
func NewReader(nc net.Conn, gone func()) *Reader {
	r := &Reader{gone: gone}
	r.cond = sync.NewCond(&r.mu)
	go r.fill(nc)
	return r
}

func (r *Reader) fill(nc net.Conn) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := nc.Read(chunk)
		r.mu.Lock()
		r.buf = append(r.buf, chunk[:n]...)
		if err != nil {
			r.err = err
		}
		r.cond.Broadcast()
		for len(r.buf) >= readAhead && r.err == nil && !r.closed {
			r.cond.Wait()
		}
		stop := r.err != nil || r.closed
		r.mu.Unlock()
		if stop {
			// A deadline is our own doing (idle timeouts, draining): the peer is still there, and
			// a statement that runs may end.
			if !IsTimeout(err) {
				r.gone()
			}
			return
		}
	}
}

func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.buf) == 0 && r.err == nil && !r.closed {
		r.cond.Wait()
	}
	if len(r.buf) == 0 {
		if r.err == nil {
			return 0, io.EOF
		}
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	if len(r.buf) == 0 {
		r.buf = nil
	}
	r.cond.Broadcast()
	return n, nil
}

// Peek waits for n bytes and gives them without taking them; fewer at the end of the input.
func (r *Reader) Peek(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.buf) < n && r.err == nil && !r.closed {
		r.cond.Wait()
	}
	return string(r.buf[:min(n, len(r.buf))])
}

// Close lets fill end; the connection must be closed too, to end its Read.
func (r *Reader) Close() {
	r.mu.Lock()
	r.closed = true
	r.cond.Broadcast()
	r.mu.Unlock()
}

// Pending tells whether more input is waiting: then output need not be flushed yet.
func (r *Reader) Pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buf) > 0
}

// IsTimeout tells whether a deadline ended a read or a write.
func IsTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// Linger lets the client read the last words: a connection that is closed with input unread is
// reset, and the reset may overtake them. nc is raw or runs within it; at most limit bytes of what
// the client still sends are read.
func Linger(nc, raw net.Conn, limit int64) {
	nc.SetReadDeadline(time.Now().Add(time.Second))
	if h, ok := nc.(interface{ CloseWrite() error }); ok {
		h.CloseWrite()
	} else if h, ok := raw.(interface{ CloseWrite() error }); ok {
		h.CloseWrite()
	}
	io.CopyN(io.Discard, nc, limit)
}
