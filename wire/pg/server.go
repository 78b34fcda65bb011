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
	"net"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/door"
)

// Config says how a Server behaves. Zero values are the documented defaults.
type Config struct {
	TLS  *tls.Config // nil: TLS is not offered
	Auth Auth
	// Current, if set, gives both as they are now: a new connection asks it once.
	Current func() (*tls.Config, Auth)

	MaxConnections     int           // 0: 1000
	MaxUnauthenticated int           // connections that log in at a time, others wait; 0: 100
	AuthTimeout        time.Duration // over TLS and authentication together; 0: 10 s
	WriteTimeout       time.Duration // a client that takes nothing for so long is dropped; 0: 60 s
	MaxMessage         int           // bytes of one message after authentication; 0: 256 MiB
	Log                func(format string, args ...any)
}

// maxStartupMessage bounds what a client may send before authentication (promises.md, V6).
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
	door   *door.Door
}

var (
	errTooMany  = sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	errClosing  = sqlerr.New(sqlerr.CannotConnectNow, "the database system is shutting down")
	errShutdown = sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command")
)

// NewServer makes a Server over e.
func NewServer(e *engine.Engine, cfg Config) *Server {
	cfg.defaults()
	return &Server{engine: e, cfg: cfg, door: door.New(door.Config{
		MaxSessions: cfg.MaxConnections, MaxLogins: cfg.MaxUnauthenticated, LoginTimeout: cfg.AuthTimeout,
		TooMany: errTooMany, Closing: errClosing, Log: cfg.Log})}
}

// Serve accepts until the listener closes, at the latest when Shutdown has ended; then it
// returns nil.
func (s *Server) Serve(l net.Listener) error {
	return s.door.Serve(l, func(nc net.Conn) door.Client { return newConn(s, nc) })
}

// Shutdown ends idle sessions, lets statements in flight end until ctx is done, and cuts off the
// rest; then it gives ctx's error. Clients hear why (57P01). While it waits, new ones are told
// that the server goes down (57P03), and cancel requests are still heard.
func (s *Server) Shutdown(ctx context.Context) error { return s.door.Shutdown(ctx) }
