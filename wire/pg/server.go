// Package pg answers: how does a Postgres client say it, and how do we say it back?
//
// It speaks the frontend/backend protocol 3 (PostgreSQL manual, chapter 55): start-up, TLS,
// authentication, simple and extended query, COPY, cancel, and the text and binary forms of
// values. In: bytes of one connection. Out: calls of engine.Session. It refuses to know SQL's
// meaning, tables and lake.
package pg

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Config says how a Server behaves. Zero values are the documented defaults.
type Config struct {
	TLS  *tls.Config // nil: TLS is not offered
	Auth Auth

	MaxConnections     int           // 0: 1000
	MaxUnauthenticated int           // connections that log in at a time, others wait; 0: 100
	AuthTimeout        time.Duration // over TLS and authentication together; 0: 10 s
	WriteTimeout       time.Duration // a client that takes nothing for so long is dropped; 0: 60 s
	MaxMessage         int           // bytes of one message after authentication; 0: 256 MiB
	Log                func(format string, args ...any)
}

// maxStartupMessage bounds what a client may send before authentication (PROMISES V6).
const maxStartupMessage = 16 << 10

func (c *Config) defaults() {
	if c.MaxConnections == 0 {
		c.MaxConnections = 1000
	}
	if c.MaxUnauthenticated == 0 {
		c.MaxUnauthenticated = 100
	}
	if c.AuthTimeout == 0 {
		c.AuthTimeout = 10 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 60 * time.Second
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = 256 << 20
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
}

// Server accepts connections on listeners and serves each in a goroutine of its own.
type Server struct {
	engine *engine.Engine
	cfg    Config

	ctx    context.Context // ends when Shutdown cuts off what still runs
	cancel context.CancelFunc

	mu        sync.Mutex
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	sessions  int  // conns that have logged in
	closing   bool // Shutdown has begun: nobody is let in
	closed    bool // and has ended: nobody is answered

	served   sync.WaitGroup // conns
	loggedIn sync.WaitGroup // sessions

	// logins are the places of those that log in. Who finds none free waits for one, so that
	// many clients that come at once are all served.
	logins  chan struct{}
	waiting atomic.Int64
}

// NewServer makes a Server over e.
func NewServer(e *engine.Engine, cfg Config) *Server {
	cfg.defaults()
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{engine: e, cfg: cfg, ctx: ctx, cancel: cancel,
		listeners: map[net.Listener]bool{}, conns: map[*conn]bool{}, logins: make(chan struct{}, cfg.MaxUnauthenticated)}
}

// Serve accepts until the listener closes, at the latest when Shutdown has ended; then it
// returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners[l] = true
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			closed := s.closed
			s.mu.Unlock()
			if closed || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Out of file descriptors and the like: wait, do not spin, do not die.
			s.cfg.Log("accept: %v", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		s.start(c)
	}
}

func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		nc.Close()
		return
	}
	s.conns[c] = true
	s.served.Add(1)
	go func() {
		defer s.served.Done()
		defer func() {
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		}()
		c.serve()
	}()
}

var (
	errTooMany  = sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	errClosing  = sqlerr.New(sqlerr.CannotConnectNow, "the database system is shutting down")
	errShutdown = sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command")
)

// waitForLogin takes a place among those that log in; leave gives it back. Those that wait hold a
// connection and a goroutine each, so there are no more of them than may be connected.
func (s *Server) waitForLogin() (leave func(), err error) {
	leave = sync.OnceFunc(func() { <-s.logins })
	select {
	case s.logins <- struct{}{}:
		return leave, nil
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > int64(s.cfg.MaxConnections) {
		return nil, errTooMany
	}
	t := time.NewTimer(s.cfg.AuthTimeout)
	defer t.Stop()
	select {
	case s.logins <- struct{}{}:
		return leave, nil
	case <-t.C:
		return nil, errTooMany
	case <-s.ctx.Done():
		return nil, errClosing
	}
}

// admit lets an authenticated client in; leave ends its stay.
func (s *Server) admit() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errClosing
	}
	if s.sessions >= s.cfg.MaxConnections {
		return nil, errTooMany
	}
	s.sessions++
	s.loggedIn.Add(1)
	return func() {
		s.mu.Lock()
		s.sessions--
		s.mu.Unlock()
		s.loggedIn.Done()
	}, nil
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// lastWords is how long a statement that is cut off may take to stop and its client to hear why.
const lastWords = 2 * time.Second

// Shutdown ends idle sessions, lets statements in flight end until ctx is done, and cuts off the
// rest; then it gives ctx's error. Clients hear why (57P01). While it waits, new ones are told
// that the server goes down (57P03), and cancel requests are still heard.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.loggedIn.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
		s.terminate()
		select {
		case <-done:
		case <-time.After(lastWords):
		}
	}
	s.cancel()
	s.mu.Lock()
	s.closed = true
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.nc.Close()
	}
	s.mu.Unlock()
	all := make(chan struct{})
	go func() { s.served.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(lastWords):
		// Something does not hear that its time is over. The process ends all the same.
		err = errors.Join(err, errors.New("a statement does not stop"))
	}
	return err
}

// terminate cuts off all sessions, as pg_terminate_backend does one.
func (s *Server) terminate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.terminate()
	}
}
