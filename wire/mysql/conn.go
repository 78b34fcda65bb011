package mysql

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"time"

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
	in     *packetReader
	r      *door.Reader
	tls    *tls.Config // as it was when the client came; so is auth
	auth   Auth
	ctx    context.Context // ends when the client is gone
	cancel context.CancelFunc
	sess   *engine.Session
	leave  func() // gives back the session's place
	pid    int32

	caps    uint32
	salt    [20]byte
	user    string
	program string
	secure  bool // over TLS
	greeted bool
	over    bool // the last word has been said

	stmts    map[uint32]*statement
	lastStmt uint32
	more     bool // another result of the same command follows
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, Line: door.Line{Raw: nc}, pid: s.engine.ReservePID(), leave: func() {},
		tls: s.cfg.TLS, auth: s.cfg.Auth}
	if s.cfg.Current != nil {
		c.tls, c.auth = s.cfg.Current()
	}
	c.setConn(nc)
	c.reset()
	c.ctx, c.cancel = context.WithCancel(s.door.Context)
	return c
}

func (c *conn) setConn(nc net.Conn) {
	c.nc = nc
	c.w.line, c.w.nc, c.w.timeout, c.w.sent = &c.Line, nc, c.srv.cfg.WriteTimeout, &c.srv.count.Sent
}

// reset forgets what a client has made in its session.
func (c *conn) reset() {
	c.closeStatements()
	c.stmts = map[uint32]*statement{}
}

// setSession makes sess the connection's, which KILL and Shutdown can end.
func (c *conn) setSession(sess *engine.Session) {
	c.sess = sess
	c.my().FoundRows = c.caps&capFoundRows != 0
	c.LoggedIn(sess.Terminate)
	sess.OnTerminate(c.Wake)
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
	defer func() {
		c.closeStatements()
		if c.sess != nil {
			c.sess.Close()
		}
	}()
	if err != nil {
		c.srv.count.Aborted.Add(1)
		if !errors.Is(err, errDone) {
			c.last(err)
			door.Linger(c.nc, c.Raw, maxLoginPacket)
		}
		return
	}
	c.r = door.NewReader(c.nc, c.cancel)
	defer c.r.Close()
	c.in = &packetReader{r: c.r, limit: c.srv.cfg.MaxPacket,
		hold: func(n int64) error { return c.sess.Hold(n) }, drop: func(n int64) { c.sess.Drop(n) }}
	c.loop()
}

func (c *conn) logIn() error {
	done, err := c.srv.door.WaitForLogin(c.Raw.RemoteAddr())
	if err != nil {
		return err
	}
	defer done()
	return c.login()
}

func (c *conn) loop() {
	for c.w.err == nil && !c.over {
		if !c.r.Pending() {
			c.w.flush()
		}
		pkt, err := c.receive()
		var refused *refusedPacket
		if errors.As(err, &refused) && refused.command != comLongData { // which has no answer
			c.w.seq = c.in.seq
			c.failed(refused.err)
			continue
		}
		if err != nil {
			c.lost(err)
			return
		}
		if c.sess.Terminated() {
			c.last(errShutdown)
			return
		}
		c.srv.count.Received.Add(int64(len(pkt)) + 4)
		c.w.seq = c.in.seq
		if done := c.guarded(pkt); done || c.sess.Terminated() {
			c.w.flush()
			return
		}
	}
}

// guarded serves one command. A defect of this package is the command's error, not the
// connection's end.
func (c *conn) guarded(pkt []byte) (done bool) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Log("command: %v", p)
			c.sendError(sqlerr.New(sqlerr.InternalError, "internal error: %v", p))
			done = true // half a result may have left
		}
	}()
	return c.command(pkt)
}

// receive waits for a command, as long as the session may be idle.
func (c *conn) receive() ([]byte, error) {
	idle := c.idle()
	if e := c.sess.IdleTimeout(); e > 0 && (idle == 0 || e < idle) {
		idle = e
	}
	// A transaction may go on until it is cut off.
	done, ok := c.Wait(c.sess.Status() == 'I', c.r.Pending(), idle)
	if !ok {
		return nil, errShutdown
	}
	defer done()
	return c.in.next(true)
}

// lost ends the connection after a failed read, with a last word where someone may listen.
func (c *conn) lost(err error) {
	c.w.seq = c.in.seq
	switch {
	case c.Draining() || c.sess.Terminated():
		c.last(errShutdown)
	case door.IsTimeout(err):
		c.last(wireError(4031, "HY000", "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior."))
	case errors.As(err, new(*refusedPacket)):
		c.last(err)
	case errors.Is(err, errTooLarge):
		c.last(wireError(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"))
		door.Linger(c.nc, c.Raw, maxLoginPacket)
	case errors.Is(err, errSequence):
		c.last(wireError(1156, "08S01", "Got packets out of order"))
	}
}

// last says why the connection ends.
func (c *conn) last(err error) {
	c.sendError(err)
	c.w.flush()
	c.over = true
}

// command serves one command; done ends the connection.
func (c *conn) command(pkt []byte) (done bool) {
	if len(pkt) == 0 {
		c.sendError(wireError(1835, "HY000", "Malformed communication packet."))
		return false
	}
	body := pkt[1:]
	c.more = false
	var err error
	switch pkt[0] {
	case comQuit:
		return true
	case comQuery:
		c.srv.count.Questions.Add(1)
		c.query(string(body))
	case comPrepare:
		err = c.prepare(string(body))
	case comExecute:
		c.srv.count.Questions.Add(1)
		err = c.execute(body)
	case comLongData:
		c.longData(body) // never answered
	case comFetch:
		err = c.fetch(body)
	case comClose:
		c.closeStatement(&fields{b: body}) // never answered
	case comReset:
		err = c.resetStatement(body)
	case comInitDB:
		if err = c.use(string(body)); err == nil {
			c.ok(0, 0)
		}
	case comPing:
		c.ok(0, 0)
	case comStatistics:
		c.w.begin()
		c.w.text(c.statistics())
		c.w.end()
	case comProcessKill:
		f := &fields{b: body}
		if id := f.int32(); f.bad {
			err = wireError(1835, "HY000", "Malformed communication packet.")
		} else if err = c.my().Kill(int64(id), false); err == nil {
			c.ok(0, 0)
		}
	case comFieldList:
		err = c.fieldList(body)
	case comChangeUser:
		return c.changeUser(body)
	case comResetConn:
		if err = c.resetSession(); err == nil {
			c.ok(0, 0)
		}
	case comSetOption:
		f := &fields{b: body}
		switch f.int16() {
		case 0:
			c.caps |= capMultiStmts
		case 1:
			c.caps &^= capMultiStmts
		}
		c.eof(0)
	case comDebug:
		c.eof(0)
	default:
		err = wireError(1047, "08S01", "Unknown command")
	}
	if err != nil {
		c.failed(err)
	}
	if err := c.sess.EndImplicit(c.ctx); err != nil {
		c.srv.cfg.Log("ending a statement: %v", err)
	}
	return false
}

// failed reports a statement's error and keeps it for SHOW WARNINGS.
func (c *conn) failed(err error) {
	if c.over {
		return
	}
	if c.sess.Terminated() {
		c.last(errShutdown)
		return
	}
	e := asMySQL(err)
	c.my().Warnings = []engine.MySQLWarning{{Level: "Error", Number: e.number, Text: e.text}}
	c.my().Failed()
	c.sendError(err)
}

// status is the flags of OK and EOF packets.
func (c *conn) status() uint16 {
	var f uint16
	if c.sess != nil {
		if c.sess.Status() != 'I' {
			f |= statusInTrans
			if v, _ := c.sess.Setting("transaction_read_only"); v == "on" {
				f |= statusReadOnly
			}
		}
	}
	if c.sess == nil && c.srv.engine.AutocommitDefault() || c.sess != nil && c.my().Autocommit() {
		f |= statusAutocommit
	}
	if c.more {
		f |= statusMoreResults
	}
	return f
}

func (c *conn) warningCount() uint16 {
	if c.sess == nil {
		return 0
	}
	return uint16(min(len(c.my().Warnings), 65535))
}

// ok sends an OK packet.
func (c *conn) ok(affected, insertID uint64) { c.okInfo(affected, insertID, "") }

func (c *conn) okInfo(affected, insertID uint64, info string) {
	c.w.begin()
	c.w.byte(0)
	c.okBody(affected, insertID, info, 0)
}

func (c *conn) okBody(affected, insertID uint64, info string, flags uint16) {
	c.w.lenInt(affected)
	c.w.lenInt(insertID)
	c.w.int16(c.status() | flags)
	c.w.int16(c.warningCount())
	if info != "" {
		// With its length, although the protocol's description says that it goes to the packet's end:
		// servers send it so, and the C clients take the connection for broken otherwise.
		c.w.lenText(info)
	}
	c.w.end()
}

// eof ends column definitions or rows for clients that still take EOF packets.
func (c *conn) eof(flags uint16) {
	c.w.begin()
	c.w.byte(0xfe)
	c.w.int16(c.warningCount())
	c.w.int16(c.status() | flags)
	c.w.end()
}

// endRows ends a result's rows.
func (c *conn) endRows(flags uint16) {
	if c.caps&capDeprecateEOF == 0 {
		c.eof(flags)
		return
	}
	c.w.begin()
	c.w.byte(0xfe)
	c.okBody(0, 0, "", flags)
}

// resetSession gives the connection a fresh session for the same user (COM_RESET_CONNECTION).
func (c *conn) resetSession() error {
	db := c.sess.CurrentDatabase()
	c.reset()
	if err := c.open(c.user, db); err != nil {
		return err
	}
	return nil
}

// changeUser serves COM_CHANGE_USER: log-in anew on the same connection.
func (c *conn) changeUser(body []byte) (done bool) {
	f := &fields{b: body}
	l := loginData{user: f.cstring()}
	l.reply = append([]byte(nil), f.take(int(f.byte()))...)
	l.database = f.cstring()
	l.plugin = pluginNative
	if len(f.b) >= 2 {
		f.int16()
	}
	if c.caps&capPluginAuth != 0 && len(f.b) > 0 {
		l.plugin = f.cstring()
	}
	if c.caps&capConnectAttrs != 0 && len(f.b) > 0 {
		c.readAttributes(f)
	}
	if f.bad {
		c.sendError(wireError(1047, "08S01", "Unknown command"))
		return true
	}
	c.reset()
	err := c.authenticateAgain(&l)
	if err == nil {
		err = c.open(l.user, l.database)
	}
	if err != nil {
		if !errors.Is(err, errDone) {
			c.srv.door.Refused("mysql", l.user, l.database, c.Raw.RemoteAddr(), err)
			c.sendError(err)
		}
		return true
	}
	c.ok(0, 0)
	return false
}

// authenticateAgain checks the new user with a fresh salt: the client knows only the old one.
func (c *conn) authenticateAgain(l *loginData) error {
	a := &c.auth
	if a.Lookup == nil || a.TrustLoopback && door.IsLoopback(c.nc.RemoteAddr()) {
		l.reply = nil
		return c.authenticate(*l)
	}
	if l.plugin != pluginNative && l.plugin != pluginSHA2 {
		l.plugin = pluginSHA2
	}
	if acct, ok := a.Lookup(l.user); ok && l.plugin == pluginNative && acct.Native == "" {
		l.plugin = pluginSHA2
	}
	limit := c.in.limit
	c.in.limit = maxLoginPacket
	defer func() { c.in.limit = limit }()
	reply, err := c.switchPlugin(l.plugin)
	if err != nil {
		return err
	}
	l.reply = reply
	return c.authenticate(*l)
}

// use makes a database the one of unqualified names.
func (c *conn) use(name string) error {
	err := c.sess.Use(c.ctx, name)
	c.sess.EndImplicit(c.ctx)
	return err
}

// idle is how long the connection may wait for its client; 0: for ever.
func (c *conn) idle() time.Duration {
	name := "wait_timeout"
	if c.caps&capInteractive != 0 {
		name = "interactive_timeout"
	}
	return time.Duration(min(c.my().Int(name), 31_536_000)) * time.Second
}

// statistics is COM_STATISTICS, as the clients' `status` prints it.
func (c *conn) statistics() string {
	s := c.srv
	up := int64(time.Since(s.count.Started).Seconds())
	q := s.count.Questions.Load()
	now, _ := s.door.Sessions()
	return "Uptime: " + itoa(up) + "  Threads: " + itoa(int64(now)) + "  Questions: " + itoa(q) +
		"  Slow queries: " + itoa(s.count.Slow.Load()) + "  Opens: 0  Flush tables: 1  Open tables: 0  Queries per second avg: " +
		strconv.FormatFloat(float64(q)/float64(max(up, 1)), 'f', 3, 64)
}

// fieldList serves COM_FIELD_LIST: the columns of a table by a pattern.
func (c *conn) fieldList(body []byte) error {
	f := &fields{b: body}
	table, pattern := f.cstring(), string(f.b)
	if f.bad {
		return wireError(1835, "HY000", "Malformed communication packet.")
	}
	st, keep, err := c.my().FieldList(c.ctx, table, pattern)
	if err != nil {
		return err
	}
	for _, col := range describeAll(st.Columns(), st.Origins()) {
		if keep != nil && !keep[col.name] {
			continue
		}
		c.w.begin()
		c.definition(&col)
		c.w.byte(0xfb) // no default value
		c.w.end()
	}
	c.endRows(0)
	return nil
}
