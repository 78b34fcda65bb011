package mysql

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/door"
)

// maxPayload is the most that one packet carries; a packet of exactly so much goes on in the
// next one (MySQL internals, "MySQL Packets").
const maxPayload = 1<<24 - 1

// The ways in which a client's packets are wrong.
var (
	errTooLarge = errors.New("packet too large")
	errSequence = errors.New("packets out of order")
)

// heldPacket is the size from which a packet's bytes count as the session's memory.
const heldPacket = 64 << 10

// packetReader reads packets of at most limit bytes. Nothing is allocated on the word of a header:
// the buffer grows as bytes come, and large packets are held first where hold is set.
type packetReader struct {
	r     io.Reader
	seq   byte
	limit int
	hold  func(n int64) error // counts n bytes as kept; nil: nothing is counted
	drop  func(n int64)       // gives them back
	held  int64
	buf   []byte
}

// refusedPacket is a packet that found no room and was passed over; command is its first byte.
type refusedPacket struct {
	command byte
	err     error
}

func (r *refusedPacket) Error() string { return r.err.Error() }

// next reads a packet with all its continuations. The bytes are valid until the next call.
// fresh: it begins a command, so its sequence starts at 0.
func (p *packetReader) next(fresh bool) ([]byte, error) {
	if fresh {
		p.seq = 0
	}
	p.release()
	out := p.buf[:0]
	var refused *refusedPacket
	for {
		var head [4]byte
		if _, err := io.ReadFull(p.r, head[:]); err != nil {
			return nil, err
		}
		n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		if head[3] != p.seq {
			return nil, errSequence
		}
		p.seq++
		if len(out)+n > p.limit {
			return nil, errTooLarge
		}
		if refused == nil {
			refused = p.admit(n, len(out) > 0)
		}
		if refused != nil {
			if err := refused.pass(p.r, n); err != nil {
				return nil, err
			}
		}
		for left := n; left > 0 && refused == nil; {
			k := min(left, 64<<10)
			at := len(out)
			out = append(out, make([]byte, k)...)
			if _, err := io.ReadFull(p.r, out[at:]); err != nil {
				return nil, err
			}
			left -= k
		}
		switch {
		case n == maxPayload:
		case refused != nil:
			return nil, refused
		default:
			p.buf = out
			return out, nil
		}
	}
}

// admit holds a large packet: its bytes and the copy that serving it makes.
func (p *packetReader) admit(n int, goesOn bool) *refusedPacket {
	if p.hold == nil || n < heldPacket && !goesOn {
		return nil
	}
	if err := p.hold(2 * int64(n)); err != nil {
		return &refusedPacket{err: err}
	}
	p.held += 2 * int64(n)
	return nil
}

// pass reads over a payload.
func (r *refusedPacket) pass(in io.Reader, n int) error {
	if n > 0 && r.command == 0 {
		var b [1]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		r.command = b[0]
		n--
	}
	_, err := io.CopyN(io.Discard, in, int64(n))
	return err
}

// release gives back what the last packet held.
func (p *packetReader) release() {
	if p.held > 0 {
		p.drop(p.held)
	}
	p.held = 0
	if cap(p.buf) > heldPacket {
		p.buf = nil
	}
}

// flushAt is the size at which buffered output is sent: large enough to spare system calls,
// small enough that the first rows of a long result leave soon.
const flushAt = 64 << 10

// writer buffers packets to the client. After an error it swallows output; err says why.
type writer struct {
	line    *door.Line
	nc      net.Conn
	timeout time.Duration
	buf     []byte
	err     error
	start   int // of the packet being built
	seq     byte
	sent    *atomic.Int64

	lend func() (back func()) // of the statement whose rows are being sent
}

// sends says whose rows are sent from here on: while the client takes its time, the statement
// may end by itself. Then the rest of its batch is gone.
func (w *writer) sends(r *engine.Result) (end func()) {
	w.lend = r.Lend
	return func() { w.lend = nil }
}

// begin starts a packet; end patches its header.
func (w *writer) begin() {
	w.start = len(w.buf)
	w.buf = append(w.buf, 0, 0, 0, 0)
}

func (w *writer) end() {
	n := len(w.buf) - w.start - 4
	if n >= maxPayload {
		w.split()
	} else {
		w.header(w.start, n)
	}
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *writer) header(at, n int) {
	w.buf[at], w.buf[at+1], w.buf[at+2], w.buf[at+3] = byte(n), byte(n>>8), byte(n>>16), w.seq
	w.seq++
}

// split sends a payload that does not fit one packet as several, the last one shorter than
// maxPayload, if need be empty.
func (w *writer) split() {
	payload := append([]byte(nil), w.buf[w.start+4:]...)
	w.buf = w.buf[:w.start]
	for {
		n := min(len(payload), maxPayload)
		at := len(w.buf)
		w.buf = append(append(w.buf, 0, 0, 0, 0), payload[:n]...)
		w.header(at, n)
		payload = payload[n:]
		w.flush()
		if n < maxPayload {
			return
		}
	}
}

func (w *writer) byte(b byte)     { w.buf = append(w.buf, b) }
func (w *writer) int16(n uint16)  { w.buf = binary.LittleEndian.AppendUint16(w.buf, n) }
func (w *writer) int32(n uint32)  { w.buf = binary.LittleEndian.AppendUint32(w.buf, n) }
func (w *writer) bytes(b []byte)  { w.buf = append(w.buf, b...) }
func (w *writer) text(s string)   { w.buf = append(w.buf, s...) }
func (w *writer) lenInt(n uint64) { w.buf = appendLenInt(w.buf, n) }
func (w *writer) lenText(s string) {
	w.buf = append(appendLenInt(w.buf, uint64(len(s))), s...)
}

// flush sends what is buffered.
func (w *writer) flush() {
	if w.err != nil || len(w.buf) == 0 {
		w.buf = w.buf[:0]
		return
	}
	w.err = w.line.Send(w.nc, w.buf, w.timeout, w.lend)
	if w.sent != nil {
		w.sent.Add(int64(len(w.buf)))
	}
	if cap(w.buf) > 4*flushAt {
		w.buf = make([]byte, 0, flushAt+4096)
	}
	w.buf = w.buf[:0]
}

// appendLenInt appends a length-encoded integer.
func appendLenInt(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}

// fields reads the parts of a packet; after a read beyond its end bad is set and every read
// gives zero.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) take(n int) []byte {
	if f.bad || n < 0 || n > len(f.b) {
		f.bad = true
		return nil
	}
	out := f.b[:n]
	f.b = f.b[n:]
	return out
}

func (f *fields) byte() byte {
	if b := f.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (f *fields) int16() uint16 {
	if b := f.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (f *fields) int32() uint32 {
	if b := f.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f *fields) int64() uint64 {
	if b := f.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// lenInt reads a length-encoded integer.
func (f *fields) lenInt() uint64 {
	switch c := f.byte(); {
	case c < 251:
		return uint64(c)
	case c == 0xfc:
		return uint64(f.int16())
	case c == 0xfd:
		if b := f.take(3); b != nil {
			return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
		}
		return 0
	case c == 0xfe:
		return f.int64()
	}
	f.bad = true
	return 0
}

func (f *fields) lenBytes() []byte {
	n := f.lenInt()
	if n > uint64(len(f.b)) {
		f.bad = true
		return nil
	}
	return f.take(int(n))
}

// cstring reads to a NUL.
func (f *fields) cstring() string {
	for i, c := range f.b {
		if c == 0 {
			s := string(f.b[:i])
			f.b = f.b[i+1:]
			return s
		}
	}
	f.bad = true
	return ""
}
