package pg

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// conn is one client connection, served by one goroutine.
type conn struct {
	srv    *Server
	nc     net.Conn
	w      writer
	r      *reader
	be     *pgproto3.Backend // reads messages
	ctx    context.Context   // ends when the client is gone
	cancel context.CancelFunc
	sess   *engine.Session

	stmts    map[string]*prepared
	portals  map[string]*portal
	reported map[string]string // ParameterStatus values the client has
	stmtText string            // the text that error positions count in
	skip     bool              // after an error in extended query: skip to Sync
	draining atomic.Bool
	reading  atomic.Bool // past log-in: the reader has the connection
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, nc: nc, stmts: map[string]*prepared{}, portals: map[string]*portal{}}
	c.w = writer{nc: nc, timeout: s.cfg.WriteTimeout}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// drain asks the connection to end once it is idle.
func (c *conn) drain() {
	c.draining.Store(true)
	// Wakes a connection that waits for a message; one that runs a statement sees the flag after.
	if c.reading.Load() {
		c.nc.SetReadDeadline(time.Now())
	}
}

// serve runs the connection to its end.
func (c *conn) serve(full bool) {
	defer c.nc.Close()
	defer c.cancel()
	defer func() {
		// The last resort: a defect in this package must not end the process.
		if p := recover(); p != nil {
			c.srv.cfg.Log("connection: %v", p)
		}
	}()
	if n := c.srv.unauthenticated.Add(1); int(n) > c.srv.cfg.MaxUnauthenticated {
		c.srv.unauthenticated.Add(-1)
		return
	}
	err := c.startup()
	c.srv.unauthenticated.Add(-1)
	if err == nil && full {
		err = sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	if c.sess != nil {
		defer c.sess.Close()
	}
	if err != nil {
		if !errors.Is(err, errDone) {
			c.sendError("FATAL", err)
			c.w.flush()
			// Let the client read the message before a reset could discard it.
			c.nc.SetReadDeadline(time.Now().Add(time.Second))
		}
		return
	}
	c.r = newReader(c.nc, c.cancel)
	c.reading.Store(true)
	c.sess.OnTerminate(func() { c.nc.SetReadDeadline(time.Now()) })
	c.sess.OnPortal(c.sqlPortal)
	if c.draining.Load() {
		c.drain()
	}
	defer c.closePortals()
	defer c.r.close()
	c.be = pgproto3.NewBackend(c.r, nil)
	c.be.SetMaxBodyLen(c.srv.cfg.MaxMessage)
	c.ready()
	c.loop()
}

func (c *conn) loop() {
	for c.w.err == nil {
		if !c.r.pending() {
			c.w.flush()
		}
		msg, err := c.receive()
		if err != nil {
			c.lost(err)
			return
		}
		if c.sess.Terminated() {
			c.fatal(sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command"))
			return
		}
		if done := c.message(msg); done {
			c.w.flush()
			return
		}
		if c.draining.Load() && c.sess.Status() == 'I' {
			c.fatal(sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command"))
			return
		}
	}
}

// receive waits for a message, as long as the session may be idle.
func (c *conn) receive() (pgproto3.FrontendMessage, error) {
	if idle := c.sess.IdleTimeout(); idle > 0 {
		t := time.AfterFunc(idle, func() { c.nc.SetReadDeadline(time.Now()) })
		defer t.Stop()
	}
	return c.be.Receive()
}

// lost ends the connection after a failed read, with a last word where someone may listen.
func (c *conn) lost(err error) {
	switch {
	case c.draining.Load() || c.sess.Terminated():
		c.fatal(sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command"))
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		if c.sess.Status() != 'I' {
			c.fatal(sqlerr.New(sqlerr.IdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout"))
		} else {
			c.fatal(sqlerr.New("57P05", "terminating connection due to idle-session timeout"))
		}
	default:
		var tooBig *pgproto3.ExceededMaxBodyLenErr
		if errors.As(err, &tooBig) {
			c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid message length"))
		} else if c.ctx.Err() == nil {
			c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid message: %v", err))
		}
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func (c *conn) fatal(err error) {
	c.sendError("FATAL", err)
	c.w.flush()
}

// message serves one message; done ends the connection.
func (c *conn) message(msg pgproto3.FrontendMessage) (done bool) {
	if c.skip {
		switch msg.(type) {
		case *pgproto3.Sync, *pgproto3.Terminate:
		default:
			return false
		}
	}
	var err error
	switch m := msg.(type) {
	case *pgproto3.Query:
		c.query(m.String)
		return false
	case *pgproto3.Parse:
		err = c.parse(m)
	case *pgproto3.Bind:
		err = c.bind(m)
	case *pgproto3.Describe:
		err = c.describe(m)
	case *pgproto3.Execute:
		err = c.execute(m)
	case *pgproto3.Close:
		c.close(m)
	case *pgproto3.Flush:
		c.w.flush()
	case *pgproto3.Sync:
		c.sync()
	case *pgproto3.Terminate:
		return true
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		// Left over from a COPY that failed: the protocol says to ignore them.
	case *pgproto3.FunctionCall:
		err = sqlerr.New(sqlerr.FeatureNotSupported, "function calls by protocol message are not supported")
		c.fail(err)
		c.ready()
		return false
	default:
		c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid frontend message"))
		return true
	}
	if err != nil {
		c.fail(err)
		c.skip = true
	}
	return false
}

// fail reports a statement's error and fails the transaction.
func (c *conn) fail(err error) {
	c.sess.Fail()
	c.sendError("ERROR", err)
}

// ready ends a command cycle.
func (c *conn) ready() {
	c.reportSettings()
	c.w.begin('Z')
	c.w.byte(c.sess.Status())
	c.w.end()
}

func (c *conn) sync() {
	c.skip = false
	if err := c.sess.EndImplicit(c.ctx); err != nil {
		c.sendError("ERROR", err)
	}
	if c.sess.Status() == 'I' {
		c.closePortals()
	}
	c.ready()
	c.w.flush()
}

// reportSettings sends a ParameterStatus for each reported setting that the client does not
// have as it is now.
func (c *conn) reportSettings() {
	for k, v := range c.sess.Reported() {
		if old, ok := c.reported[k]; ok && old == v {
			continue
		}
		c.reported[k] = v
		c.w.begin('S')
		c.w.cstring(k)
		c.w.cstring(v)
		c.w.end()
	}
}
