package pg

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/door"
)

// conn is one client connection, served by one goroutine.
type conn struct {
	door.Line
	srv    *Server
	nc     net.Conn // perhaps Raw within TLS
	w      writer
	r      *door.Reader
	tls    *tls.Config // as it was when the client came; so is auth
	auth   Auth
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
	last     bool              // the statement under way ends its implicit transaction: it has done its work once that is committed
	over     bool              // the last word has been said
	leave    func()            // gives back the session's place
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, Line: door.Line{Raw: nc}, nc: nc, portals: map[string]*portal{}, leave: func() {},
		tls: s.cfg.TLS, auth: s.cfg.Auth}
	if s.cfg.Current != nil {
		c.tls, c.auth = s.cfg.Current()
	}
	c.w = writer{line: &c.Line, nc: nc, timeout: s.cfg.WriteTimeout}
	c.ctx, c.cancel = context.WithCancel(s.door.Context)
	return c
}

// Serve runs the connection to its end.
func (c *conn) Serve() {
	defer c.Raw.Close()
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
			door.Linger(c.nc, c.Raw, maxStartupMessage)
		}
		return
	}
	c.r = door.NewReader(c.nc, c.cancel)
	c.sess.OnTerminate(c.Wake)
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
	done, err := c.srv.door.WaitForLogin(c.Raw.RemoteAddr())
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
	done, ok := c.Wait(true, c.r.Pending(), c.sess.IdleTimeout())
	if !ok {
		return nil, errShutdown
	}
	defer done()
	return c.be.Receive()
}

// lost ends the connection after a failed read, with a last word where someone may listen.
func (c *conn) lost(err error) {
	switch {
	case c.Draining() || c.sess.Terminated():
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
