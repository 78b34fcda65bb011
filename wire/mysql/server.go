// Package mysql answers: how does a MySQL client say it, and how do we say it back?
//
// It speaks the client/server protocol of MySQL 8.0 (protocol 10): handshake, TLS,
// authentication, COM_QUERY, prepared statements with their binary rows and cursors, KILL, and
// what the protocol's clients take for granted beside table data: SHOW, SET, USE, variables.
// In: bytes of one connection. Out: calls of engine.Session; SHOW and DESCRIBE become queries
// over information_schema, so that every question about data or catalogs has the engine's one
// answer. It refuses to know SQL's meaning, tables and lake.
//
// The protocol is written here and not taken from a library: vitess' connection parses prepared
// statements with a grammar of its own, holds rows as boxed values, takes packets of any size
// before a client is known, and has no COM_CHANGE_USER, COM_STATISTICS, COM_PROCESS_KILL or
// cursors.
package mysql

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
	MaxUnauthenticated int           // connections before authentication at a time; 0: 100
	AuthTimeout        time.Duration // over TLS and authentication together; 0: 10 s
	WriteTimeout       time.Duration // a client that takes nothing for so long is dropped; 0: 60 s
	MaxPacket          int           // bytes of one command (max_allowed_packet); 0: 64 MiB
	Log                func(format string, args ...any)
}

// maxLoginPacket bounds what a client may send before authentication (PROMISES V6).
const maxLoginPacket = 16 << 10

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
	if c.MaxPacket == 0 {
		c.MaxPacket = 64 << 20
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
}

// Server accepts connections on listeners and serves each in a goroutine of its own.
type Server struct {
	engine *engine.Engine
	cfg    Config
	start  time.Time

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

	count   counters
	globals globals
	keys    keyPair
	known   passwordCache
}

// counters are what SHOW STATUS and COM_STATISTICS tell.
type counters struct {
	connections, questions, slow, aborted, maxUsed atomic.Int64
	sent, received                                 atomic.Int64
}

// NewServer makes a Server over e.
func NewServer(e *engine.Engine, cfg Config) *Server {
	cfg.defaults()
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{engine: e, cfg: cfg, start: time.Now(), ctx: ctx, cancel: cancel,
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
		s.begin(c)
	}
}

func (s *Server) begin(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		nc.Close()
		return
	}
	s.conns[c] = true
	s.served.Add(1)
	s.count.connections.Add(1)
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
	errTooMany  = sqlerr.New(sqlerr.TooManyConnections, "Too many connections")
	errShutdown = sqlerr.New(sqlerr.AdminShutdown, "Server shutdown in progress")
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
		return nil, errShutdown
	}
}

// admit lets an authenticated client in; leave ends its stay.
func (s *Server) admit() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errShutdown
	}
	if s.sessions >= s.cfg.MaxConnections {
		return nil, errTooMany
	}
	s.sessions++
	if n := int64(s.sessions); n > s.count.maxUsed.Load() {
		s.count.maxUsed.Store(n)
	}
	s.loggedIn.Add(1)
	return func() {
		s.mu.Lock()
		s.sessions--
		s.mu.Unlock()
		s.loggedIn.Done()
	}, nil
}

// connected is the number of sessions.
func (s *Server) connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// lastWords is how long a statement that is cut off may take to stop and its client to hear why.
const lastWords = 2 * time.Second

// Shutdown ends idle sessions, lets statements in flight end until ctx is done, and cuts off the
// rest; then it gives ctx's error. Clients hear why (1053). While it waits, new ones are told
// that the server goes down.
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
		c.raw.Close()
	}
	s.mu.Unlock()
	s.served.Wait()
	return err
}

func (s *Server) terminate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.terminate()
	}
}
