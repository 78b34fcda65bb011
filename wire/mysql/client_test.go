package mysql

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
)

// testServer is a Server over a warehouse with one namespace, ns. What it logs fails the test:
// these tests send it nonsense, which may not be more than an error to the client.
func testServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	dir := t.TempDir()
	log := func(f string, a ...any) {
		if !strings.HasPrefix(f, "log-in refused: ") { // which nonsense is, too
			t.Errorf("logged: "+f, a...)
		}
	}
	e, err := engine.Open(context.Background(), engine.Config{
		Catalogs: []engine.CatalogConfig{
			{Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}},
			{Name: "other", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "other.db"), "warehouse": dir + "/other"}},
		},
		MemoryLimit: 256 << 20, Workers: 1, TempDir: dir, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.CatalogNames() {
		cat, _ := e.Catalog(c)
		if err := cat.CreateNamespace(context.Background(), "ns", nil); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Log = log
	s := NewServer(e, cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		e.Close()
	})
	return s
}

// listen serves on a free port.
func listen(t testing.TB, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	return l.Addr().String()
}

// client is a protocol-level client.
type client struct {
	t    testing.TB
	nc   net.Conn
	in   packetReader
	salt []byte
	caps uint32
}

const testCaps = capProtocol41 | capSecure | capPluginAuth | capConnectWithDB | capMultiStmts | capMultiResults | capDeprecateEOF

// open connects and reads the greeting; an error packet instead is given as text.
func open(t testing.TB, addr string) (*client, string) {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	c := &client{t: t, nc: nc, in: packetReader{r: nc, limit: 1 << 26}, caps: testCaps}
	b := c.read()
	if len(b) == 0 || b[0] != 10 {
		return c, text(b)
	}
	f := &fields{b: b[1:]}
	f.cstring()
	f.int32()
	c.salt = append(c.salt, f.take(8)...)
	f.take(1 + 2 + 1 + 2 + 2 + 1 + 10)
	c.salt = append(c.salt, f.take(12)...)
	return c, ""
}

func dial(t testing.TB, addr, user, db string) *client {
	t.Helper()
	c, e := open(t, addr)
	if e != "" {
		t.Fatal(e)
	}
	c.write(1, loginPacket(c.caps, user, nil, db, pluginSHA2))
	if got := text(c.read()); got != "OK" {
		t.Fatal(got)
	}
	return c
}

func loginPacket(caps uint32, user string, reply []byte, db, plugin string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, caps)
	b = append(binary.LittleEndian.AppendUint32(b, 1<<24), 255)
	b = append(b, make([]byte, 23)...)
	b = append(append(b, user...), 0, byte(len(reply)))
	b = append(b, reply...)
	b = append(append(b, db...), 0)
	return append(append(b, plugin...), 0)
}

func packet(seq byte, body []byte) []byte {
	return append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), seq}, body...)
}

func (c *client) write(seq byte, body []byte) {
	for {
		n := min(len(body), maxPayload)
		c.nc.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}, body[:n]...))
		body = body[n:]
		seq++
		if n < maxPayload {
			c.in.seq = seq
			return
		}
	}
}

// unasked gives a packet that answers nothing, whatever its number.
func (c *client) unasked() []byte {
	var head [4]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		return nil
	}
	b := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	io.ReadFull(c.nc, b)
	return b
}

// read gives the next packet, nil at the connection's end.
func (c *client) read() []byte {
	b, err := c.in.next(false)
	if err != nil {
		return nil
	}
	return append([]byte(nil), b...)
}

// text says what a packet is: OK, "1064 42000 message", "closed".
func text(b []byte) string {
	switch {
	case b == nil:
		return "closed"
	case len(b) > 0 && b[0] == 0:
		return "OK"
	case len(b) > 3 && b[0] == 0xff:
		n := binary.LittleEndian.Uint16(b[1:])
		if b[3] == '#' {
			return fmt.Sprintf("%d %s %s", n, b[4:9], b[9:])
		}
		return fmt.Sprintf("%d %s", n, b[3:])
	}
	return fmt.Sprintf("packet %q", b)
}

// do sends a command and tells its answer: rows as a|b;c|d, several results joined by " / ",
// errors as number and SQLSTATE.
func (c *client) do(command byte, body string) string {
	c.t.Helper()
	c.write(0, append([]byte{command}, body...))
	var out []string
	for {
		s, more := c.result()
		out = append(out, s)
		if !more {
			return strings.Join(out, " / ")
		}
	}
}

func (c *client) query(sql string) string { c.t.Helper(); return c.do(comQuery, sql) }

func short(b []byte) string {
	s := text(b)
	if w := strings.SplitN(s, " ", 3); len(w) == 3 && b[0] == 0xff {
		return w[0] + " " + w[1]
	}
	return s
}

// result reads one text result.
func (c *client) result() (string, bool) {
	b := c.read()
	if b == nil || b[0] == 0xff {
		return short(b), false
	}
	f := &fields{b: b}
	if b[0] == 0 {
		f.byte()
		n := f.lenInt()
		f.lenInt()
		more := f.int16()&statusMoreResults != 0
		f.int16()
		if len(f.b) > 0 {
			if info := f.take(int(f.lenInt())); f.bad || len(f.b) > 0 {
				return fmt.Sprintf("OK with %q and %d bytes behind it", info, len(f.b)), false
			}
		}
		return fmt.Sprintf("OK %d", n), more
	}
	n := int(f.lenInt())
	for range n {
		c.read()
	}
	var rows []string
	for {
		b := c.read()
		if b == nil || b[0] == 0xff {
			return short(b), false
		}
		f := &fields{b: b}
		if b[0] == 0xfe && len(b) < 32 {
			f.byte()
			f.lenInt()
			f.lenInt()
			return strings.Join(rows, ";"), f.int16()&statusMoreResults != 0
		}
		var cols []string
		for range n {
			if f.b[0] == 0xfb {
				f.byte()
				cols = append(cols, "NULL")
			} else {
				cols = append(cols, string(f.lenBytes()))
			}
		}
		rows = append(rows, strings.Join(cols, "|"))
	}
}

func (c *client) want(sql, want string) {
	c.t.Helper()
	if got := c.query(sql); got != want {
		c.t.Errorf("%s\n got %s\nwant %s", sql, got, want)
	}
}

// scriptConn is a peer that says its script and then nothing more.
type scriptConn struct {
	in   *bytes.Reader
	done chan struct{}
	once sync.Once
}

func (c *scriptConn) Read(b []byte) (int, error)       { return c.in.Read(b) }
func (c *scriptConn) Write(b []byte) (int, error)      { return len(b), nil }
func (c *scriptConn) Close() error                     { c.once.Do(func() { close(c.done) }); return nil }
func (c *scriptConn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (c *scriptConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (c *scriptConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptConn) SetWriteDeadline(time.Time) error { return nil }

var _ io.ReadWriteCloser = (*scriptConn)(nil)

// serveScript runs a connection over the script to its end.
func serveScript(t testing.TB, s *Server, script []byte) {
	t.Helper()
	nc := &scriptConn{in: bytes.NewReader(script), done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		newConn(s, nc).Serve()
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("the connection does not end after %q", script)
	}
}
