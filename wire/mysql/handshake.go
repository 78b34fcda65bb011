package mysql

import (
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/door"
)

// errDone ends a connection without a message: the peer left, or said nothing of sense.
var errDone = errors.New("connection done")

// login runs from the greeting to the session. It reads the connection directly; the read-ahead
// starts only after authentication.
func (c *conn) login() error {
	deadline := time.Now().Add(c.srv.cfg.AuthTimeout)
	if err := c.nc.SetDeadline(deadline); err != nil {
		return errDone
	}
	c.in = &packetReader{r: c.nc, limit: maxLoginPacket}
	var err error
	if c.salt, err = newSalt(); err != nil {
		return err
	}
	c.greet()
	c.greeted = true
	body, err := c.loginPacket()
	if err != nil {
		return err
	}
	if caps := (&fields{b: body}).int32(); len(body) == 32 && caps&capSSL != 0 {
		if body, err = c.startTLS(deadline); err != nil {
			return err
		}
	}
	if !c.secure && c.auth.RequireTLS {
		return wireError(3159, "HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	l, err := c.loginFields(body)
	if err != nil {
		return err
	}
	refused := func(err error) error {
		if !errors.Is(err, errDone) {
			c.srv.door.Refused("mysql", l.user, l.database, c.Raw.RemoteAddr(), err)
		}
		return err
	}
	if err := c.authenticate(l); err != nil {
		return refused(err)
	}
	if c.leave, err = c.srv.door.Admit(); err != nil {
		c.leave = func() {}
		return err
	}
	if err := c.open(l.user, l.database); err != nil {
		return refused(err)
	}
	c.ok(0, 0)
	c.w.flush()
	return c.nc.SetDeadline(time.Time{})
}

// greet sends the initial handshake (protocol 10).
func (c *conn) greet() {
	caps := uint32(offered)
	if c.tls != nil {
		caps |= capSSL
	}
	c.w.begin()
	c.w.byte(10)
	c.w.text(serverVersion)
	c.w.byte(0)
	c.w.int32(uint32(c.pid))
	c.w.bytes(c.salt[:8])
	c.w.byte(0)
	c.w.int16(uint16(caps))
	c.w.byte(collationText)
	c.w.int16(c.status())
	c.w.int16(uint16(caps >> 16))
	c.w.byte(21)
	c.w.bytes(make([]byte, 10))
	c.w.bytes(c.salt[8:])
	c.w.byte(0)
	c.w.text(pluginSHA2)
	c.w.byte(0)
	c.w.end()
	c.w.flush()
}

// loginPacket reads a packet of the log-in and takes its number over for the answer.
func (c *conn) loginPacket() ([]byte, error) {
	c.w.flush()
	c.in.seq = c.w.seq
	b, err := c.in.next(false)
	c.w.seq = c.in.seq
	if err != nil {
		if errors.Is(err, errTooLarge) || errors.Is(err, errSequence) {
			return nil, wireError(1043, "08S01", "Bad handshake")
		}
		return nil, errDone
	}
	return b, nil
}

func (c *conn) startTLS(deadline time.Time) ([]byte, error) {
	if c.tls == nil {
		return nil, wireError(1043, "08S01", "Bad handshake")
	}
	t := tls.Server(c.nc, c.tls)
	if err := t.SetDeadline(deadline); err != nil {
		return nil, errDone
	}
	if err := t.Handshake(); err != nil {
		return nil, errDone
	}
	c.setConn(t)
	c.in.r, c.secure = t, true
	return c.loginPacket()
}

// loginData is what a client says of itself.
type loginData struct {
	user, database, plugin string
	reply                  []byte
}

// loginFields reads HandshakeResponse41.
func (c *conn) loginFields(body []byte) (loginData, error) {
	f := &fields{b: body}
	bad := wireError(1043, "08S01", "Bad handshake")
	c.caps = f.int32()
	if c.caps&capProtocol41 == 0 || c.caps&capSecure == 0 {
		return loginData{}, bad
	}
	f.int32() // the largest packet that the client takes: rows are never split for it
	f.byte()  // its collation: texts are UTF-8 whatever it names
	f.take(23)
	var l loginData
	l.user = f.cstring()
	if c.caps&capLenencAuth != 0 {
		l.reply = f.lenBytes()
	} else {
		l.reply = f.take(int(f.byte()))
	}
	if c.caps&capConnectWithDB != 0 && len(f.b) > 0 {
		l.database = f.cstring()
	}
	l.plugin = pluginNative
	if c.caps&capPluginAuth != 0 && len(f.b) > 0 {
		l.plugin = f.cstring()
	}
	if c.caps&capConnectAttrs != 0 && len(f.b) > 0 {
		c.readAttributes(f)
	}
	if f.bad {
		return loginData{}, bad
	}
	l.reply = append([]byte(nil), l.reply...) // the next packet overwrites it
	return l, nil
}

// readAttributes takes the program's name from the connection attributes.
func (c *conn) readAttributes(f *fields) {
	a := &fields{b: f.lenBytes()}
	for len(a.b) > 0 && !a.bad {
		k, v := string(a.lenBytes()), string(a.lenBytes())
		if !a.bad && (k == "program_name" || k == "_client_name" && c.program == "") && !strings.ContainsRune(v, 0) {
			c.program = v
		}
	}
}

// authenticate admits the user or returns the error that the client shall see.
func (c *conn) authenticate(l loginData) (err error) {
	a := &c.auth
	local, certified := door.IsLoopback(c.Raw.RemoteAddr()), door.CertificateUser(c.nc) == l.user
	if a.Lookup == nil {
		if !local && !certified {
			return wireError(1045, "28000", "no users are configured: only connections from this machine are accepted")
		}
		return c.trusted(l)
	}
	acct, known := a.Lookup(l.user)
	// Where users are configured a certificate proves who one is, not that one may still come:
	// who is taken from the users is out.
	if local && a.TrustLoopback || certified && known {
		return c.trusted(l)
	}
	denied := c.denied(l)
	from := c.Raw.RemoteAddr()
	if !c.srv.door.Failures.Turn(c.ctx, l.user, from) {
		return denied
	}
	defer func() {
		switch err {
		case nil:
			c.srv.door.Failures.Passed(l.user, from)
		case denied:
			c.srv.door.Failures.Failed(l.user, from)
		}
	}()
	if l.plugin == pluginNative && known && acct.Native != "" {
		if !checkNative(acct.Native, c.salt[:], l.reply) {
			return denied
		}
		return nil
	}
	if l.plugin != pluginSHA2 {
		// The client began with another method: the account's own, and a salt of its own.
		plugin := pluginSHA2
		if known && acct.Native != "" && acct.Verifier == "" {
			plugin = pluginNative
		}
		reply, err := c.switchPlugin(plugin)
		if err != nil {
			return err
		}
		if plugin == pluginNative {
			if !checkNative(acct.Native, c.salt[:], reply) {
				return denied
			}
			return nil
		}
		l.reply = reply
	}
	ok, err := c.cachingSHA2(l, acct, known)
	if err != nil {
		return err
	}
	if !ok {
		return denied
	}
	return nil
}

// trusted lets a client in without looking at its answer, which must be heard out all the same.
func (c *conn) trusted(l loginData) error {
	if l.plugin == pluginSHA2 && len(l.reply) > 0 && !(len(l.reply) == 1 && l.reply[0] == 0) {
		c.moreData(3)
	}
	return nil
}

// moreData sends an AuthMoreData packet.
func (c *conn) moreData(data ...byte) {
	c.w.begin()
	c.w.byte(1)
	c.w.bytes(data)
	c.w.end()
}

// switchPlugin asks the client to answer by another method.
func (c *conn) switchPlugin(plugin string) ([]byte, error) {
	var err error
	if c.salt, err = newSalt(); err != nil {
		return nil, err
	}
	c.w.begin()
	c.w.byte(0xfe)
	c.w.text(plugin)
	c.w.byte(0)
	c.w.bytes(c.salt[:])
	c.w.byte(0)
	c.w.end()
	reply, err := c.loginPacket()
	return append([]byte(nil), reply...), err
}

// cachingSHA2 runs caching_sha2_password: by the cached hash, else with the password itself over
// TLS or under the server's RSA key. An unknown user goes through the same motions.
func (c *conn) cachingSHA2(l loginData, acct Account, known bool) (bool, error) {
	if hash, ok := c.srv.known.get(l.user, acct.Verifier); ok && known {
		if checkFast(hash, c.salt[:], l.reply) {
			c.moreData(3)
			return true, nil
		}
	}
	if len(l.reply) == 0 || len(l.reply) == 1 && l.reply[0] == 0 {
		return known && acct.Verifier != "" && c.auth.Check(acct.Verifier, l.user, ""), nil
	}
	c.moreData(4)
	body, err := c.loginPacket()
	if err != nil {
		return false, err
	}
	var password string
	switch {
	case c.secure:
		if len(body) == 0 || body[len(body)-1] != 0 {
			return false, nil
		}
		password = string(body[:len(body)-1])
	case len(body) == 1 && body[0] == 2:
		if err := c.srv.keys.load(); err != nil {
			return false, err
		}
		c.moreData(c.srv.keys.pem...)
		if body, err = c.loginPacket(); err != nil {
			return false, err
		}
		fallthrough
	default:
		if password, err = c.srv.keys.decrypt(body, c.salt[:]); err != nil {
			return false, nil
		}
	}
	verifier := acct.Verifier
	if !known || verifier == "" {
		verifier = mockVerifier
	}
	ok := c.auth.Check(verifier, l.user, password) && known && acct.Verifier != ""
	if ok {
		c.srv.known.put(l.user, acct.Verifier, password)
	}
	return ok, nil
}

// mockVerifier makes checking an unknown user's password take as long as a known one's.
const mockVerifier = "SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func (c *conn) denied(l loginData) error {
	using := "YES"
	if len(l.reply) == 0 {
		using = "NO"
	}
	return wireError(1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)", l.user, c.host(), using)
}

// host is the client's address as MySQL spells it in user@host.
func (c *conn) host() string {
	h, _, err := net.SplitHostPort(c.nc.RemoteAddr().String())
	if err != nil {
		return c.nc.RemoteAddr().String()
	}
	if ip := net.ParseIP(h); ip != nil && ip.IsLoopback() {
		return "localhost"
	}
	return h
}

// open makes the session of an authenticated user, in a database where one is named.
func (c *conn) open(user, database string) error {
	c.user = user
	now, most := c.srv.door.Sessions()
	c.srv.count.Now.Store(int64(now))
	c.srv.count.Most.Store(int64(most))
	sess, err := c.srv.engine.NewSession(c.ctx, engine.SessionOptions{
		User: user, RemoteAddr: c.nc.RemoteAddr().String(), Dialect: "mysql", PID: c.pid, MySQL: c.client(),
	})
	if err != nil {
		return err
	}
	if c.sess != nil {
		c.in.release()
		c.sess.Close()
	}
	c.setSession(sess)
	if database != "" {
		if err := c.use(database); err != nil {
			return err
		}
	}
	return nil
}

// client is what the session is to know of this connection.
func (c *conn) client() engine.MySQLClient {
	cfg := &c.srv.cfg
	m := engine.MySQLClient{Host: c.host(), Program: c.program, Counters: &c.srv.count, Variables: map[string]string{
		"max_connections": strconv.Itoa(cfg.MaxConnections), "max_allowed_packet": strconv.Itoa(cfg.MaxPacket),
		"net_write_timeout": strconv.Itoa(int(cfg.WriteTimeout.Seconds())), "connect_timeout": strconv.Itoa(int(cfg.AuthTimeout.Seconds()))}}
	if _, port, err := net.SplitHostPort(c.nc.LocalAddr().String()); err == nil {
		m.Variables["port"] = port
	}
	if c.tls != nil {
		m.Variables["have_ssl"], m.Variables["have_openssl"] = "YES", "YES"
	}
	if c.secure {
		m.TLSVersion, m.Cipher = c.tlsNames()
	}
	return m
}

// tlsNames are the version and cipher as SHOW STATUS names them.
func (c *conn) tlsNames() (version, cipher string) {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return "", ""
	}
	st := t.ConnectionState()
	version = strings.Replace(tls.VersionName(st.Version), "TLS 1", "TLSv1", 1)
	return version, tls.CipherSuiteName(st.CipherSuite)
}
