package mysql

import (
	"errors"
	"io"
	"net"
	"sync"
)

// readAhead bounds what a client may have in flight beyond the command being served.
const readAhead = 256 << 10

// reader reads a connection ahead of its consumer, so that a client that disconnects is noticed
// while a statement runs (PROMISES V2). Read is for one goroutine.
type reader struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte // unread bytes
	err    error  // sticky, after buf is drained
	gone   func() // called once at the connection's end
	closed bool
}

// newReader starts reading nc; gone is called when the peer is gone.
func newReader(nc net.Conn, gone func()) *reader {
	r := &reader{gone: gone}
	r.cond = sync.NewCond(&r.mu)
	go r.fill(nc)
	return r
}

func (r *reader) fill(nc net.Conn) {
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
			if !isTimeout(err) {
				r.gone()
			}
			return
		}
	}
}

func (r *reader) Read(p []byte) (int, error) {
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

// close lets fill end; the connection must be closed too, to end its Read.
func (r *reader) close() {
	r.mu.Lock()
	r.closed = true
	r.cond.Broadcast()
	r.mu.Unlock()
}

// pending tells whether more input is waiting: then output need not be flushed yet.
func (r *reader) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buf) > 0
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
