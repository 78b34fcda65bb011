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
)

// Config says how a Server behaves. Zero values are the documented defaults.
type Config struct {
	TLS  *tls.Config // nil: TLS is not offered
	Auth Auth

	MaxConnections     int           // 0: 1000
	MaxUnauthenticated int           // connections before authentication at a time; 0: 100
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

	ctx    context.Context // ends at Shutdown's deadline: kills what still runs
	cancel context.CancelFunc

	mu        sync.Mutex
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	closing   bool
	wg        sync.WaitGroup

	unauthenticated atomic.Int64
}

// NewServer makes a Server over e.
func NewServer(e *engine.Engine, cfg Config) *Server {
	cfg.defaults()
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{engine: e, cfg: cfg, ctx: ctx, cancel: cancel,
		listeners: map[net.Listener]bool{}, conns: map[*conn]bool{}}
}

// Serve accepts until the listener closes or Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners[l] = true
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			closing := s.closing
			s.mu.Unlock()
			if closing || errors.Is(err, net.ErrClosed) {
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
	full := len(s.conns) >= s.cfg.MaxConnections
	if s.closing {
		s.mu.Unlock()
		nc.Close()
		return
	}
	s.conns[c] = true
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		defer func() {
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		}()
		c.serve(full)
	}()
}

// Shutdown stops accepting, lets statements in flight end until ctx is done, then cuts them off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
		s.cancel()
		s.mu.Lock()
		for c := range s.conns {
			c.nc.Close()
		}
		s.mu.Unlock()
		<-done
	}
	s.cancel()
	return err
}
