package load

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// mysqlPeer is a client of MySQL's protocol (MySQL internals, "Client/Server Protocol"): as much
// of it as these clients say, without a driver's retries and pools.
type mysqlPeer struct {
	nc   net.Conn
	in   *bufio.Reader
	addr string
	id   uint32 // the session's
	stmt uint32 // of double; 0: not prepared
}

type mysqlError struct {
	number uint16
	text   string
}

func (e *mysqlError) Error() string { return fmt.Sprintf("%d %s", e.number, e.text) }

const (
	mysqlQuit    = 1
	mysqlQuery   = 3
	mysqlPrepare = 0x16
	mysqlExecute = 0x17

	// long password, protocol 4.1, transactions, secure, several results, plugin log-in
	mysqlCaps = 1 | 1<<9 | 1<<13 | 1<<15 | 1<<17 | 1<<19
)

func dialMySQL(ctx context.Context, addr, name string) (*mysqlPeer, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &mysqlPeer{nc: nc, in: bufio.NewReader(nc), addr: addr}
	if err := p.logIn(ctx, name); err != nil {
		nc.Close()
		return nil, err
	}
	return p, nil
}

func (p *mysqlPeer) logIn(ctx context.Context, name string) error {
	defer p.until(ctx)()
	b, err := p.read()
	if err != nil {
		return err
	}
	if len(b) < 6 || b[0] != 10 {
		return fmt.Errorf("a strange greeting: %q", b)
	}
	end := 1
	for end < len(b) && b[end] != 0 {
		end++
	}
	if len(b) < end+5 {
		return fmt.Errorf("a short greeting: %q", b)
	}
	p.id = binary.LittleEndian.Uint32(b[end+1:])
	out := binary.LittleEndian.AppendUint32(nil, mysqlCaps)
	out = append(binary.LittleEndian.AppendUint32(out, 1<<24), 255)
	out = append(out, make([]byte, 23)...)
	out = append(append(out, name...), 0, 0) // no password: the server trusts its own machine
	out = append(append(out, "caching_sha2_password"...), 0)
	if err := p.write(1, out); err != nil {
		return err
	}
	_, err = p.read()
	return err
}

// until makes ctx's end the connection's deadline; the function it gives takes that back.
func (p *mysqlPeer) until(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { p.nc.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			p.nc.SetDeadline(time.Time{})
		}
	}
}

// read gives the next packet; one that reports an error is an error.
func (p *mysqlPeer) read() ([]byte, error) {
	var out []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(p.in, head[:]); err != nil {
			return nil, err
		}
		n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		at := len(out)
		out = append(out, make([]byte, n)...)
		if _, err := io.ReadFull(p.in, out[at:]); err != nil {
			return nil, err
		}
		if n < 1<<24-1 {
			break
		}
	}
	if len(out) > 3 && out[0] == 0xff {
		text := string(out[3:])
		if len(text) > 6 && text[0] == '#' {
			text = text[1:6] + " " + text[6:]
		}
		return nil, &mysqlError{binary.LittleEndian.Uint16(out[1:]), text}
	}
	return out, nil
}

func (p *mysqlPeer) write(seq byte, body []byte) error {
	n := len(body)
	_, err := p.nc.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}, body...))
	return err
}

func (p *mysqlPeer) ask(_ context.Context, sql string) error {
	return p.write(0, append([]byte{mysqlQuery}, sql...))
}

func (p *mysqlPeer) query(ctx context.Context, sql string, row func([][]byte) bool) error {
	defer p.until(ctx)()
	if err := p.ask(ctx, sql); err != nil {
		return err
	}
	return p.rows(func(b []byte, columns int) bool {
		values := make([][]byte, columns)
		for i := range values {
			values[i], b = lengthBytes(b)
		}
		return row(values)
	})
}

// rows reads a result: a count of columns, their definitions, an EOF, the rows, an EOF.
func (p *mysqlPeer) rows(row func(b []byte, columns int) bool) error {
	b, err := p.read()
	if err != nil || len(b) > 0 && b[0] == 0 {
		return err // OK: no rows
	}
	n, _ := lengthInt(b)
	for range n + 1 {
		if _, err := p.read(); err != nil {
			return err
		}
	}
	for {
		b, err := p.read()
		if err != nil || len(b) < 9 && len(b) > 0 && b[0] == 0xfe {
			return err
		}
		if !row(b, n) {
			return nil
		}
	}
}

func (p *mysqlPeer) double(ctx context.Context, n int) (string, error) {
	defer p.until(ctx)()
	if p.stmt == 0 {
		if err := p.write(0, append([]byte{mysqlPrepare}, "select cast(? as signed) * 2, concat(?)"...)); err != nil {
			return "", err
		}
		b, err := p.read()
		if err != nil {
			return "", err
		}
		if len(b) < 9 {
			return "", fmt.Errorf("a short answer to PREPARE: %q", b)
		}
		for range 6 { // two parameters, two columns, an EOF each
			if _, err := p.read(); err != nil {
				return "", err
			}
		}
		p.stmt = binary.LittleEndian.Uint32(b[1:])
	}
	// No cursor, one time, no NULLs, types follow: a BIGINT and a string.
	b := append(binary.LittleEndian.AppendUint32([]byte{mysqlExecute}, p.stmt), 0, 1, 0, 0, 0, 0, 1, 8, 0, 253, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(n))
	if err := p.write(0, append(b, 1, 'x')); err != nil {
		return "", err
	}
	var got []byte
	err := p.rows(func(b []byte, _ int) bool { got = append([]byte(nil), b...); return true })
	// A binary row: 0, a bitmap of NULLs of one byte, the BIGINT.
	if err != nil || len(got) < 10 {
		return fmt.Sprintf("%q", got), err
	}
	return fmt.Sprint(int64(binary.LittleEndian.Uint64(got[2:]))), nil
}

func (p *mysqlPeer) cancel(ctx context.Context) {
	other, err := dialMySQL(ctx, p.addr, "canceller")
	if err != nil {
		return
	}
	defer other.close()
	other.query(ctx, fmt.Sprintf("kill query %d", p.id), func([][]byte) bool { return true })
}

func (p *mysqlPeer) unasked(ctx context.Context) error {
	defer p.until(ctx)()
	b, err := p.read()
	if err == nil {
		err = fmt.Errorf("the server says %q", b)
	}
	return err
}

func (p *mysqlPeer) kill() {
	if tcp, ok := p.nc.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	p.nc.Close()
}

func (p *mysqlPeer) close() {
	p.write(0, []byte{mysqlQuit})
	p.nc.SetReadDeadline(time.Now().Add(patience))
	var b [512]byte
	for {
		if _, err := p.nc.Read(b[:]); err != nil {
			break
		}
	}
	p.nc.Close()
}

// lengthInt reads an integer that says how long it is, and gives the rest.
func lengthInt(b []byte) (int, []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	size := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}[b[0]]
	if size == 0 {
		return int(b[0]), b[1:]
	}
	if len(b) <= size {
		return 0, nil
	}
	n := 0
	for i := size; i > 0; i-- {
		n = n<<8 | int(b[i])
	}
	return n, b[size+1:]
}

// lengthBytes reads bytes behind their length; nil is NULL.
func lengthBytes(b []byte) (value, rest []byte) {
	if len(b) > 0 && b[0] == 0xfb {
		return nil, b[1:]
	}
	n, b := lengthInt(b)
	n = min(n, len(b))
	return b[:n:n], b[n:]
}
