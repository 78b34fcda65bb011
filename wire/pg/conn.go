package pg

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/door"
)

// conn is one client connection, served by one goroutine; Drain, Terminate and Close may be called
// from any.
type conn struct {
	srv    *Server
	raw    net.Conn // as it was accepted
	nc     net.Conn // perhaps raw within TLS
	w      writer
	r      *door.Reader
	be     *pgproto3.Backend // reads messages
	ctx    context.Context   // ends when the client is gone
	cancel context.CancelFunc
	sess   *engine.Session

	unnamed  *prepared // the unnamed statement; named ones are the session's
	frames   *frames   // what be reads
	held     int64     // of the session's memory, for the message being served
	portals  map[string]*portal
	reported map[string]string // ParameterStatus values the client has
	stmtText string            // the text that error positions count in
	skip     bool              // after an error in extended query: skip to Sync
	over     bool              // the last word has been said
	leave    func()            // gives back the session's place

	mu       sync.Mutex
	draining bool            // end the connection once it is idle
	waiting  bool            // for a message
	session  *engine.Session // sess, for other goroutines
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, raw: nc, nc: nc, portals: map[string]*portal{}, leave: func() {}}
	c.w = writer{nc: nc, timeout: s.cfg.WriteTimeout}
	c.ctx, c.cancel = context.WithCancel(s.door.Context)
	return c
}

// Drain asks the connection to end once it is idle. One that runs a statement goes on reading:
// the statement may be a COPY, and its client may leave.
func (c *conn) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	if c.waiting {
		c.raw.SetReadDeadline(time.Now())
	}
}

// Terminate ends the connection's session, whatever it does.
func (c *conn) Terminate() {
	c.mu.Lock()
	sess := c.session
	c.mu.Unlock()
	if sess != nil {
		sess.Terminate() // and that wakes us
	}
}

// wake ends what the connection's goroutine may wait for once its session is terminated: its
// client's next message, or its taking of rows.
func (c *conn) wake() {
	c.w.hurry.Store(true)
	c.raw.SetReadDeadline(time.Now())
	c.raw.SetWriteDeadline(time.Now().Add(door.LastWords / 2))
}

// Close ends the connection under whoever uses it.
func (c *conn) Close() { c.raw.Close() }

// Serve runs the connection to its end.
func (c *conn) Serve() {
	defer c.raw.Close()
	defer c.cancel()
	defer func() {
		// The last resort: a defect in this package must not end the process.
		if p := recover(); p != nil {
			c.srv.cfg.Log("connection: %v", p)
		}
	}()
	err := c.logIn()
	defer func() { c.leave() }()
	if c.sess != nil {
		defer c.sess.Close()
	}
	if err != nil {
		if !errors.Is(err, errDone) {
			c.fatal(err)
			door.Linger(c.nc, c.raw, maxStartupMessage)
		}
		return
	}
	c.r = door.NewReader(c.nc, c.cancel)
	c.sess.OnTerminate(c.wake)
	c.sess.OnPortal(c.sqlPortal)
	defer c.closePortals()
	defer c.r.Close()
	c.frames = &frames{r: c.r, most: c.srv.cfg.MaxMessage, admit: c.holdMessage}
	c.be = pgproto3.NewBackend(c.frames, nil)
	c.be.SetMaxBodyLen(c.srv.cfg.MaxMessage)
	c.ready()
	c.loop()
}

func (c *conn) logIn() error {
	done, err := c.srv.door.WaitForLogin()
	if err != nil {
		return err
	}
	defer done()
	return c.startup()
}

func (c *conn) loop() {
	for c.w.err == nil && !c.over {
		if !c.r.Pending() {
			c.w.flush()
		}
		msg, err := c.receive()
		if err != nil {
			c.lost(err)
			return
		}
		if c.sess.Terminated() {
			c.fatal(errShutdown)
			return
		}
		if r, ok := c.frames.passed(); ok {
			c.refuse(r)
			continue
		}
		if done := c.message(msg); done {
			c.w.flush()
			return
		}
	}
}

// receive waits for a message, as long as the session may be idle.
func (c *conn) receive() (pgproto3.FrontendMessage, error) {
	c.mu.Lock()
	if c.draining && !c.r.Pending() {
		c.mu.Unlock()
		return nil, errShutdown
	}
	c.waiting = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.waiting = false
		c.mu.Unlock()
	}()
	if idle := c.sess.IdleTimeout(); idle > 0 {
		t := time.AfterFunc(idle, func() { c.raw.SetReadDeadline(time.Now()) })
		defer t.Stop()
	}
	return c.be.Receive()
}

func (c *conn) isDraining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining
}

// lost ends the connection after a failed read, with a last word where someone may listen.
func (c *conn) lost(err error) {
	switch {
	case c.isDraining() || c.sess.Terminated():
		c.fatal(errShutdown)
	case errors.Is(err, context.DeadlineExceeded) || door.IsTimeout(err):
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

// fatal says why the connection ends.
func (c *conn) fatal(err error) {
	c.sendError("FATAL", err)
	c.w.flush()
	c.over = true
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

// fail reports a statement's error and fails the transaction. A session that was terminated
// while it ran the statement ends with it.
func (c *conn) fail(err error) {
	c.sess.Fail()
	if c.sess.Terminated() {
		c.fatal(errShutdown)
		return
	}
	c.sendError("ERROR", err)
}

// ready ends a command cycle.
func (c *conn) ready() {
	if c.over {
		return
	}
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
