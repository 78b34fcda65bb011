package pg

import (
	"encoding/binary"
	"net"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/door"
)

// flushAt is the size at which buffered output is sent: large enough to spare system calls,
// small enough that the first rows of a long result leave soon.
const flushAt = 64 << 10

// writer buffers messages to the client. After an error it swallows output; err says why.
type writer struct {
	line    *door.Line
	nc      net.Conn
	timeout time.Duration
	buf     []byte
	err     error
	start   int // of the message being built

	lend func() (back func()) // of the statement whose rows are being sent
}

// sends says whose rows are sent from here on: while the client takes its time, the statement
// may end by itself. Then the rest of its batch is gone.
func (w *writer) sends(r *engine.Result) (end func()) {
	w.lend = r.Lend
	return func() { w.lend = nil }
}

// begin starts a message of the type; end patches its length.
func (w *writer) begin(typ byte) {
	w.start = len(w.buf)
	w.buf = append(w.buf, typ, 0, 0, 0, 0)
}

func (w *writer) end() {
	binary.BigEndian.PutUint32(w.buf[w.start+1:], uint32(len(w.buf)-w.start-1))
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *writer) byte(b byte)    { w.buf = append(w.buf, b) }
func (w *writer) int16(n int)    { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(n)) }
func (w *writer) int32(n int32)  { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(n)) }
func (w *writer) bytes(b []byte) { w.buf = append(w.buf, b...) }
func (w *writer) cstring(s string) {
	// A NUL would end the string early and shift what follows.
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			s = s[:i]
			break
		}
	}
	w.buf = append(append(w.buf, s...), 0)
}

// flush sends what is buffered.
func (w *writer) flush() {
	if w.err != nil || len(w.buf) == 0 {
		w.buf = w.buf[:0]
		return
	}
	w.err = w.line.Send(w.nc, w.buf, w.timeout, w.lend)
	if cap(w.buf) > 4*flushAt {
		w.buf = make([]byte, 0, flushAt+4096)
	}
	w.buf = w.buf[:0]
}
