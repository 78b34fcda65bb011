// Package mysql answers: how does a MySQL client say it, and how do we say it back?
//
// It speaks the client/server protocol of MySQL 8.0 (protocol 10): handshake, TLS,
// authentication, COM_QUERY, prepared statements with their binary rows and cursors.
// In: bytes of one connection. Out: calls of engine.Session, whose MySQL dialect has SHOW, SET, USE,
// KILL and variables, too. It refuses to know SQL, tables and lake.
//
// The protocol is written here and not taken from a library: vitess' connection parses prepared
// statements with a grammar of its own, holds rows as boxed values, takes packets of any size
// before a client is known, and has no COM_CHANGE_USER, COM_STATISTICS, COM_PROCESS_KILL or
// cursors.
package mysql

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
	// Current, if set, gives TLS and Auth as they are now: a new connection asks it once.
	Current func() (*tls.Config, Auth)
	TLS     *tls.Config // nil: TLS is not offered
	Auth    Auth

	MaxConnections     int           // 0: 1000
	MaxUnauthenticated int           // connections before authentication at a time; 0: 100
	AuthTimeout        time.Duration // over TLS and authentication together; 0: 10 s
	WriteTimeout       time.Duration // a client that takes nothing for so long is dropped; 0: 60 s
	MaxPacket          int           // bytes of one command (max_allowed_packet); 0: 64 MiB
	Log                func(format string, args ...any)
}

// maxLoginPacket bounds what a client may send before authentication (promises.md, V6).
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
	door   *door.Door

	count engine.MySQLCounters
	keys  keyPair
	known passwordCache
}

var (
	errTooMany  = sqlerr.New(sqlerr.TooManyConnections, "Too many connections")
	errShutdown = sqlerr.New(sqlerr.AdminShutdown, "Server shutdown in progress")
)

// NewServer makes a Server over e.
func NewServer(e *engine.Engine, cfg Config) *Server {
	cfg.defaults()
	s := &Server{engine: e, cfg: cfg, door: door.New(door.Config{
		MaxSessions: cfg.MaxConnections, MaxLogins: cfg.MaxUnauthenticated, LoginTimeout: cfg.AuthTimeout,
		TooMany: errTooMany, Closing: errShutdown, Log: cfg.Log})}
	s.count.Started = time.Now()
	return s
}

// Serve accepts until the listener closes, at the latest when Shutdown has ended; then it
// returns nil.
func (s *Server) Serve(l net.Listener) error {
	return s.door.Serve(l, func(nc net.Conn) door.Client {
		s.count.Connections.Add(1)
		return newConn(s, nc)
	})
}

// Shutdown ends idle sessions, lets statements in flight end until ctx is done, and cuts off the
// rest; then it gives ctx's error. Clients hear why (1053). While it waits, new ones are told
// that the server goes down.
func (s *Server) Shutdown(ctx context.Context) error { return s.door.Shutdown(ctx) }
