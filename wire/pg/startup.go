package pg

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/door"
	"github.com/xdg-go/scram"
)

// Start-up request codes (PostgreSQL manual, 55.7).
const (
	protocol3  = 3 << 16
	cancelCode = 1234<<16 | 5678
	sslCode    = 1234<<16 | 5679
	gssCode    = 1234<<16 | 5680
)

// errDone ends a connection without a message: a cancel request, or a peer that left.
var errDone = errors.New("connection done")

// startup runs from the first byte to the session. It reads the connection directly; the
// read-ahead starts only after authentication.
func (c *conn) startup() error {
	deadline := time.Now().Add(c.srv.cfg.AuthTimeout)
	if err := c.nc.SetDeadline(deadline); err != nil {
		return errDone
	}
	if err := c.directTLS(deadline); err != nil {
		return err
	}
	params, err := c.startupPacket(deadline)
	if err != nil {
		return err
	}
	if _, ok := c.nc.(*tls.Conn); !ok && c.auth.RequireTLS {
		return sqlerr.New(sqlerr.InvalidAuthorization, "connections without encryption are refused").
			WithHint("Connect with sslmode=require or stronger.")
	}
	user := params["user"]
	if user == "" {
		return sqlerr.New(sqlerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if c.srv.door.Closing() {
		return errClosing
	}
	refused := func(err error) error {
		if !errors.Is(err, errDone) {
			c.srv.door.Refused("postgres", user, params["database"], c.nc.RemoteAddr(), err)
		}
		return err
	}
	if err := c.authenticate(user); err != nil {
		return refused(err)
	}
	if leave, err := c.srv.door.Admit(); err != nil {
		return err
	} else {
		c.leave = leave
	}
	settings, err := startupSettings(params)
	if err != nil {
		return err
	}
	db := params["database"]
	sess, err := c.srv.engine.NewSession(c.ctx, engine.SessionOptions{
		User: user, Database: db, RemoteAddr: c.nc.RemoteAddr().String(), Settings: settings, Dialect: "pg", Tell: c.tell,
		// A client without -d asks for a database named like the user; when there is none it gets
		// the default one, so that a bare `psql` works.
		DatabaseOptional: db == "" || db == user,
	})
	if err != nil {
		return refused(err)
	}
	c.sess = sess
	c.LoggedIn(sess.Terminate)
	c.w.begin('R')
	c.w.int32(0)
	c.w.end()
	c.reported = map[string]string{}
	c.reportSettings()
	c.w.begin('K')
	c.w.int32(sess.PID())
	c.w.int32(int32(sess.Secret()))
	c.w.end()
	return c.nc.SetDeadline(time.Time{})
}

// directTLS accepts a TLS handshake as the very first bytes (libpq 17, sslnegotiation=direct).
func (c *conn) directTLS(deadline time.Time) error {
	first := make([]byte, 1)
	if _, err := io.ReadFull(c.nc, first); err != nil {
		return errDone
	}
	c.nc = &prefixConn{Conn: c.nc, prefix: first}
	if first[0] != 0x16 {
		return nil
	}
	if c.tls == nil {
		return errDone
	}
	if err := c.handshake(deadline); err != nil {
		return err
	}
	// ALPN is demanded so that a TLS client of another protocol cannot be talked into this one.
	if st := c.nc.(*tls.Conn).ConnectionState(); st.NegotiatedProtocol != "postgresql" {
		return errDone
	}
	return nil
}

func (c *conn) handshake(deadline time.Time) error {
	cfg := c.tls.Clone()
	cfg.NextProtos = []string{"postgresql"}
	t := tls.Server(c.nc, cfg)
	if err := t.SetDeadline(deadline); err != nil {
		return errDone
	}
	if err := t.Handshake(); err != nil {
		return errDone
	}
	c.nc, c.w.nc = t, t
	return nil
}

// prefixConn gives back bytes that were read ahead.
type prefixConn struct {
	net.Conn
	prefix []byte
}

func (p *prefixConn) Read(b []byte) (int, error) {
	if len(p.prefix) > 0 {
		n := copy(b, p.prefix)
		p.prefix = p.prefix[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

// startupPacket answers encryption requests, in any order, until the start-up message.
func (c *conn) startupPacket(deadline time.Time) (map[string]string, error) {
	encrypted, gss := false, false
	if _, ok := c.nc.(*tls.Conn); ok {
		encrypted = true
	}
	for {
		body, err := readStartup(c.nc)
		if err != nil {
			return nil, err
		}
		code := binary.BigEndian.Uint32(body)
		switch {
		case code == sslCode && !encrypted:
			if c.tls == nil {
				if _, err := c.nc.Write([]byte{'N'}); err != nil {
					return nil, errDone
				}
				encrypted = true // a second request is a protocol violation
				continue
			}
			if _, err := c.nc.Write([]byte{'S'}); err != nil {
				return nil, errDone
			}
			if err := c.handshake(deadline); err != nil {
				return nil, err
			}
			encrypted = true
		case code == gssCode && !gss:
			gss = true
			if _, err := c.nc.Write([]byte{'N'}); err != nil {
				return nil, errDone
			}
		case code == cancelCode:
			if len(body) >= 12 {
				c.cancelRequest(int32(binary.BigEndian.Uint32(body[4:])), binary.BigEndian.Uint32(body[8:]))
			}
			return nil, errDone
		case code>>16 == 3:
			return c.startupParams(code, body[4:])
		default:
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", code>>16, code&0xffff)
		}
	}
}

// canceller stands for a user in the count of failures: the secrets of cancel requests can be guessed
// as passwords can.
const canceller = "\x00cancel"

// cancelRequest stops what the backend pid runs, if the secret is its own.
func (c *conn) cancelRequest(pid int32, secret uint32) {
	from := c.Raw.RemoteAddr()
	if !c.srv.door.Failures.Turn(c.ctx, canceller, from) {
		return
	}
	if c.srv.engine.CancelBackend(pid, secret) {
		c.srv.door.Failures.Passed(canceller, from)
	} else {
		c.srv.door.Failures.Failed(canceller, from)
	}
}

// readStartup reads one length-prefixed start-up message of at most maxStartupMessage bytes.
func readStartup(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, errDone
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 8 || n > maxStartupMessage {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "invalid length of startup packet")
	}
	body := make([]byte, n-4)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, errDone
	}
	return body, nil
}

func (c *conn) startupParams(code uint32, body []byte) (map[string]string, error) {
	params := map[string]string{}
	var unknown []string
	for len(body) > 0 && body[0] != 0 {
		i := bytes.IndexByte(body, 0)
		if i < 0 {
			break
		}
		key := string(body[:i])
		body = body[i+1:]
		if i = bytes.IndexByte(body, 0); i < 0 {
			return nil, sqlerr.New(sqlerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
		}
		if strings.HasPrefix(key, "_pq_.") {
			unknown = append(unknown, key)
		} else {
			params[key] = string(body[:i])
		}
		body = body[i+1:]
	}
	if len(body) == 0 {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
	}
	if code != protocol3 || len(unknown) > 0 {
		c.w.begin('v') // NegotiateProtocolVersion
		c.w.int32(protocol3)
		c.w.int32(int32(len(unknown)))
		for _, u := range unknown {
			c.w.cstring(u)
		}
		c.w.end()
		c.w.flush()
	}
	return params, nil
}

// startupSettings gathers the settings that a start-up packet carries: its own parameters and
// the -c switches of options.
func startupSettings(params map[string]string) (map[string]string, error) {
	s := map[string]string{}
	if err := parseOptions(params["options"], s); err != nil {
		return nil, err
	}
	for k, v := range params {
		switch k {
		case "user", "database", "options", "replication":
		default:
			s[k] = v
		}
	}
	if r := params["replication"]; r != "" && r != "false" && r != "off" && r != "0" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "replication connections are not supported")
	}
	return s, nil
}

// parseOptions reads "-c name=value --name=value" with backslash-escaped spaces.
func parseOptions(text string, into map[string]string) error {
	var words []string
	var w strings.Builder
	in := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			i++
			w.WriteByte(text[i])
			in = true
		case b == ' ' || b == '\t' || b == '\n':
			if in {
				words = append(words, w.String())
				w.Reset()
			}
			in = false
		default:
			w.WriteByte(b)
			in = true
		}
	}
	if in {
		words = append(words, w.String())
	}
	for i := 0; i < len(words); i++ {
		kv := words[i]
		switch {
		case kv == "-c" && i+1 < len(words):
			i++
			kv = words[i]
		case strings.HasPrefix(kv, "-c"):
			kv = kv[2:]
		case strings.HasPrefix(kv, "--"):
			kv = kv[2:]
		default:
			return sqlerr.New(sqlerr.SyntaxError, "invalid command-line argument for server process: %s", kv)
		}
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return sqlerr.New(sqlerr.SyntaxError, "-c %s requires a value", kv)
		}
		into[strings.ReplaceAll(k, "-", "_")] = v
	}
	return nil
}

// authenticate admits user or returns the error that the client shall see.
func (c *conn) authenticate(user string) error {
	a := &c.auth
	local, certified := door.IsLoopback(c.nc.RemoteAddr()), door.CertificateUser(c.nc) == user
	if a.Lookup == nil {
		if local || certified {
			return nil
		}
		return sqlerr.New(sqlerr.InvalidAuthorization, "no users are configured: only connections from this machine are accepted").
			WithHint("Add users to the server's configuration.")
	}
	if local && a.TrustLoopback {
		return nil
	}
	stored, known := a.Lookup(user)
	// Where users are configured a certificate proves who one is, not that one may still come:
	// who is taken from the users is out.
	if certified && known {
		return nil
	}
	failed := sqlerr.New(sqlerr.InvalidPassword, "password authentication failed for user %q", user)
	from := c.Raw.RemoteAddr()
	if !c.srv.door.Failures.Turn(c.ctx, user, from) {
		return failed
	}
	var err error
	if known && strings.HasPrefix(stored, "md5") && a.AllowMD5 {
		err = c.authMD5(user, stored, failed)
	} else {
		var ok bool
		if ok, err = c.authSCRAM(user, stored, known); err == nil && !ok {
			err = failed
		}
	}
	switch {
	case err == nil:
		c.srv.door.Failures.Passed(user, from)
	case err == failed:
		c.srv.door.Failures.Failed(user, from)
	}
	return err
}

func (c *conn) authMD5(user, stored string, failed error) error {
	var salt [4]byte
	copy(salt[:], mac(processSecret[:], fmt.Sprint(time.Now().UnixNano())))
	c.w.begin('R')
	c.w.int32(5)
	c.w.bytes(salt[:])
	c.w.end()
	c.w.flush()
	body, err := c.readAuth()
	if err != nil {
		return err
	}
	want := "md5" + md5Hex(stored[3:]+string(salt[:]))
	if string(bytes.TrimRight(body, "\x00")) != want {
		return failed
	}
	return nil
}

// authSCRAM runs SCRAM-SHA-256 (RFC 5802, RFC 7677), with channel binding over TLS.
func (c *conn) authSCRAM(user, stored string, known bool) (bool, error) {
	cred, err := parseVerifier(stored)
	if !known || err != nil {
		// Unknown users go through the same motions; their proof cannot fit.
		cred, known = mockVerifier(user), false
	}
	// The name in the exchange may be empty (libpq) or "*" (pgjdbc): the start-up packet's counts.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return cred, nil })
	if err != nil {
		return false, err
	}
	conv := server.NewConversation()
	plus := scram.ChannelBinding{}
	if t, ok := c.nc.(*tls.Conn); ok && len(c.tls.Certificates) > 0 {
		if plus, err = serverEndpoint(c.tls, t); err == nil {
			conv = server.NewConversationWithChannelBinding(plus)
		}
	}
	c.w.begin('R')
	c.w.int32(10)
	if plus.IsSupported() {
		c.w.cstring("SCRAM-SHA-256-PLUS")
	}
	c.w.cstring("SCRAM-SHA-256")
	c.w.byte(0)
	c.w.end()
	c.w.flush()
	body, err := c.readAuth()
	if err != nil {
		return false, err
	}
	i := bytes.IndexByte(body, 0)
	if i < 0 || len(body) < i+5 {
		return false, sqlerr.New(sqlerr.ProtocolViolation, "malformed SASL initial response")
	}
	mech, first := string(body[:i]), body[i+5:]
	if mech != "SCRAM-SHA-256" && !(mech == "SCRAM-SHA-256-PLUS" && plus.IsSupported()) {
		return false, sqlerr.New(sqlerr.ProtocolViolation, "client selected an invalid SASL authentication mechanism")
	}
	reply, err := conv.Step(string(first))
	if err != nil {
		return false, nil
	}
	c.sasl(11, reply)
	if body, err = c.readAuth(); err != nil {
		return false, err
	}
	reply, err = conv.Step(string(body))
	if err != nil || !conv.Valid() || !known {
		return false, nil
	}
	c.sasl(12, reply)
	return true, nil
}

func (c *conn) sasl(code int32, data string) {
	c.w.begin('R')
	c.w.int32(code)
	c.w.bytes([]byte(data))
	c.w.end()
	if code == 11 {
		c.w.flush()
	}
}

// readAuth reads one password or SASL message.
func (c *conn) readAuth() ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		return nil, errDone
	}
	n := binary.BigEndian.Uint32(head[1:])
	if head[0] != 'p' || n < 4 || n > maxStartupMessage {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "expected password response, got message type %d", head[0])
	}
	body := make([]byte, n-4)
	if _, err := io.ReadFull(c.nc, body); err != nil {
		return nil, errDone
	}
	return body, nil
}
