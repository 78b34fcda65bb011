package pg

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lhsql/lhsql/engine"
)

// testServer is a Server over an empty warehouse. What it logs fails the test: these tests send
// it nonsense, which may not be more than an error to the client.
func testServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	dir := t.TempDir()
	log := func(f string, a ...any) {
		if !strings.HasPrefix(f, "log-in refused: ") { // which nonsense is, too
			t.Errorf("logged: "+f, a...)
		}
	}
	e, err := engine.Open(context.Background(), engine.Config{
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{
			"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}},
		MemoryLimit: 256 << 20, Workers: 1, TempDir: dir, Log: log,
	})
	if err != nil {
		t.Fatal(err)
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
	*pgproto3.Frontend
	nc net.Conn
	t  testing.TB
}

func dial(t testing.TB, addr string, params ...string) *client {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	c := &client{pgproto3.NewFrontend(nc, nc), nc, t}
	nc.Write(startupPacket(append([]string{"user", "u", "database", "lake"}, params...)...))
	c.until('Z')
	return c
}

func startupPacket(params ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0}, protocol3)
	for _, p := range params {
		b = append(append(b, p...), 0)
	}
	b = append(b, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// until reads to a ReadyForQuery or the end and tells the messages as letters, with what matters
// of some: E(code), C(tag), Z(status).
func (c *client) until(end byte) string {
	c.t.Helper()
	var out []string
	for {
		m, err := c.Receive()
		if err != nil {
			return strings.Join(append(out, "closed"), " ")
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			out = append(out, "E("+m.Code+")")
			if m.Severity == "FATAL" {
				end = 0
			}
		case *pgproto3.CommandComplete:
			out = append(out, "C("+string(m.CommandTag)+")")
		case *pgproto3.ReadyForQuery:
			out = append(out, "Z("+string(m.TxStatus)+")")
			if end == 'Z' {
				return strings.Join(out, " ")
			}
		case *pgproto3.ParameterStatus, *pgproto3.NoticeResponse:
		default:
			b, _ := m.(interface{ Encode([]byte) ([]byte, error) }).Encode(nil)
			out = append(out, string(b[:1]))
			if b[0] == end {
				return strings.Join(out, " ")
			}
		}
	}
}

func (c *client) do(msgs ...pgproto3.FrontendMessage) string {
	c.t.Helper()
	for _, m := range msgs {
		c.Send(m)
	}
	if err := c.Frontend.Flush(); err != nil {
		c.t.Fatal(err)
	}
	return c.until('Z')
}

func query(s string) pgproto3.FrontendMessage { return &pgproto3.Query{String: s} }
func parse(name, s string) pgproto3.FrontendMessage {
	return &pgproto3.Parse{Name: name, Query: s}
}
func bind(portal, stmt string, args ...string) pgproto3.FrontendMessage {
	b := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: stmt}
	for _, a := range args {
		b.Parameters = append(b.Parameters, []byte(a))
	}
	return b
}
func execute(portal string, rows uint32) pgproto3.FrontendMessage {
	return &pgproto3.Execute{Portal: portal, MaxRows: rows}
}

// scriptConn is a peer that says its script and then nothing more; what it hears is kept.
type scriptConn struct {
	in   *bytes.Reader
	mu   sync.Mutex
	out  bytes.Buffer
	done chan struct{} // closed by Close
	once sync.Once
	hang bool // after the script, wait for Close instead of EOF
}

func newScript(b []byte) *scriptConn {
	return &scriptConn{in: bytes.NewReader(b), done: make(chan struct{})}
}

func (c *scriptConn) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	if err == io.EOF && c.hang {
		<-c.done
	}
	return n, err
}

func (c *scriptConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.Len() < 1<<20 {
		c.out.Write(b)
	}
	return len(b), nil
}

func (c *scriptConn) Close() error                     { c.once.Do(func() { close(c.done) }); return nil }
func (c *scriptConn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (c *scriptConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (c *scriptConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptConn) SetWriteDeadline(time.Time) error { return nil }

// serveScript runs a connection over the script to its end.
func serveScript(t testing.TB, s *Server, script []byte) {
	t.Helper()
	nc := newScript(script)
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
