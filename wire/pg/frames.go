package pg

import (
	"encoding/binary"
	"io"
)

// heldMessage is the size from which a message's bytes count as the session's memory.
const heldMessage = 64 << 10

// frames hands the connection's messages to the protocol's decoder, one per Read at most, and asks
// before a large one is taken into memory. A message that is refused is passed over; the decoder
// gets an empty Flush in its place, and refused says what it was.
type frames struct {
	r     io.Reader
	most  int               // bytes of a body; the decoder itself refuses more
	admit func(n int) error // room for a body of n bytes, until the next call
	head  [5]byte
	out   []byte // of head, not handed out yet
	left  int    // of the body
	refused
}

// refused is a message that was passed over.
type refused struct {
	typ byte // 0: none
	err error
}

func (f *frames) Read(p []byte) (int, error) {
	if len(f.out) == 0 && f.left == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if len(f.out) > 0 {
		n := copy(p, f.out)
		f.out = f.out[n:]
		return n, nil
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

// next begins the next message.
func (f *frames) next() error {
	if _, err := io.ReadFull(f.r, f.head[:]); err != nil {
		return err
	}
	f.out = f.head[:]
	n := int(binary.BigEndian.Uint32(f.head[1:])) - 4
	if n < 0 || n > f.most { // for the decoder to refuse
		return nil
	}
	f.left = n
	if err := f.admit(n); err != nil {
		f.refused = refused{f.head[0], err}
		if _, err := io.CopyN(io.Discard, f.r, int64(n)); err != nil {
			return err
		}
		f.head, f.left = [5]byte{'H', 0, 0, 0, 4}, 0
	}
	return nil
}

// passed gives the message that was passed over last, once.
func (f *frames) passed() (r refused, ok bool) {
	r, f.refused = f.refused, refused{}
	return r, r.typ != 0
}

// holdMessage counts a message's body and the decoder's copy of it, until the next one.
func (c *conn) holdMessage(n int) error {
	c.sess.Drop(c.held)
	c.held = 0
	if n < heldMessage {
		return nil
	}
	if err := c.sess.Hold(2 * int64(n)); err != nil {
		return err
	}
	c.held = 2 * int64(n)
	return nil
}

// refuse reports a message that was passed over.
func (c *conn) refuse(r refused) {
	switch {
	case r.typ == 'Q':
		c.stmtText = ""
		c.fail(r.err)
		c.ready()
		c.w.flush()
	case !c.skip:
		c.fail(r.err)
		c.skip = true
	}
}
