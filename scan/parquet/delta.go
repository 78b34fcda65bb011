package parquet

import (
	"encoding/binary"

	"github.com/lhsql/lhsql/vec"
)

// deltaStream streams DELTA_BINARY_PACKED integers (Encodings.md, "Delta Encoding"): blocks of
// miniblocks, each with a bit width of its own, of differences less the block's smallest.
type deltaStream struct {
	b         []byte
	p         int
	left      int // values not handed out yet
	first     bool
	last      int64
	minDelta  int64
	perMini   int
	minis     int
	widths    []byte // of the block's miniblocks not begun yet
	mini      int    // values left in the current miniblock
	w         uint
	bit       int // bit offset of the next value in b[p:]
	miniBytes int
}

func (d *deltaStream) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.b[d.p:])
	if n <= 0 {
		return 0, corrupt("delta-encoded values end early")
	}
	d.p += n
	return v, nil
}

func (d *deltaStream) varint() (int64, error) {
	u, err := d.uvarint()
	return int64(u>>1) ^ -int64(u&1), err
}

// reset reads the header. limit bounds the count that it may claim.
func (d *deltaStream) reset(b []byte, limit int) error {
	*d = deltaStream{b: b}
	if len(b) == 0 {
		return nil
	}
	var h [3]uint64
	for i := range h {
		v, err := d.uvarint()
		if err != nil {
			return err
		}
		h[i] = v
	}
	first, err := d.varint()
	if err != nil {
		return err
	}
	block, minis, total := h[0], h[1], h[2]
	if minis == 0 || block == 0 || block > 1<<24 || minis > block || block%minis != 0 || block/minis%8 != 0 {
		return corrupt("delta block of %d values in %d miniblocks", block, minis)
	}
	if total > uint64(limit) {
		return corrupt("%d delta-encoded values in a page of %d", total, limit)
	}
	d.perMini, d.minis, d.left, d.last, d.first = int(block/minis), int(minis), int(total), first, true
	return nil
}

// nextMini begins a miniblock, and a block where one is due.
func (d *deltaStream) nextMini() error {
	d.p += d.miniBytes
	d.miniBytes = 0
	if len(d.widths) == 0 {
		v, err := d.varint()
		if err != nil {
			return err
		}
		d.minDelta = v
		if d.minis > len(d.b)-d.p {
			return corrupt("delta-encoded values end early")
		}
		d.widths = d.b[d.p : d.p+d.minis]
		d.p += d.minis
	}
	d.w = uint(d.widths[0])
	d.widths = d.widths[1:]
	if d.w > 64 {
		return corrupt("delta bit width %d", d.w)
	}
	d.mini, d.bit = d.perMini, 0
	d.miniBytes = d.perMini / 8 * int(d.w)
	// The last miniblock may lack the bytes behind its last value.
	if have := len(d.b) - d.p; d.miniBytes > have {
		d.miniBytes = have
		if need := (min(d.left, d.perMini)*int(d.w) + 7) / 8; need > have {
			return corrupt("delta-encoded values end early")
		}
	}
	return nil
}

// read fills dst.
func (d *deltaStream) read(dst []int64) error {
	if len(dst) > d.left {
		return errValues
	}
	if len(dst) == 0 {
		return nil
	}
	if d.first {
		d.first = false
		dst[0] = d.last
		dst = dst[1:]
		d.left--
	}
	for len(dst) > 0 {
		if d.mini == 0 {
			if err := d.nextMini(); err != nil {
				return err
			}
		}
		n := min(len(dst), d.mini)
		d.unpackDeltas(dst[:n])
		d.mini -= n
		d.left -= n
		dst = dst[n:]
	}
	return nil
}

// unpackDeltas unpacks len(dst) deltas of the current miniblock and sums them up. Sums wrap,
// as the encoding has it.
func (d *deltaStream) unpackDeltas(dst []int64) {
	last, w, bit := d.last, d.w, d.bit
	b := d.b[d.p : d.p+d.miniBytes]
	if w == 0 {
		for i := range dst {
			last += d.minDelta
			dst[i] = last
		}
		d.last = last
		return
	}
	mask := ^uint64(0) >> (64 - w)
	for i := range dst {
		at, sh := bit>>3, uint(bit&7)
		var x uint64
		if at+8 <= len(b) {
			x = binary.LittleEndian.Uint64(b[at:]) >> sh
		} else {
			for j := 0; at+j < len(b); j++ {
				x |= uint64(b[at+j]) << (8 * j)
			}
			x >>= sh
		}
		if sh+w > 64 && at+8 < len(b) {
			x |= uint64(b[at+8]) << (64 - sh)
		}
		last += d.minDelta + int64(x&mask)
		dst[i] = last
		bit += int(w)
	}
	d.last, d.bit = last, bit
}

// rest is what follows the stream in b; all values must have been read.
func (d *deltaStream) rest() []byte {
	return d.b[d.p+d.miniBytes:]
}

// deltaInts is DELTA_BINARY_PACKED for INT32 and INT64.
type deltaInts struct {
	noLanes
	s        deltaStream
	narrow   bool // INT32: sums wrap at 32 bits
	unsigned bool
	tmp      [256]int64
}

func (d *deltaInts) reset(b []byte, n int) error { return d.s.reset(b, n) }

func (d *deltaInts) i64(dst []int64) error {
	if err := d.s.read(dst); err != nil {
		return err
	}
	switch {
	case d.narrow && d.unsigned:
		for i, v := range dst {
			dst[i] = int64(uint32(v))
		}
	case d.narrow:
		for i, v := range dst {
			dst[i] = int64(int32(v))
		}
	}
	return nil
}

func (d *deltaInts) skip(n int) error {
	for n > 0 {
		m := min(n, len(d.tmp))
		if err := d.s.read(d.tmp[:m]); err != nil {
			return err
		}
		n -= m
	}
	return nil
}

// readLengths reads a whole delta stream of lengths and gives what follows it.
func readLengths(budget *Budget, s *deltaStream, buf []int64, b []byte, n int) (lengths []int64, rest []byte, err error) {
	if err := s.reset(b, n); err != nil {
		return buf[:0], nil, err
	}
	if buf, err = grow(budget, buf, s.left, 0); err != nil {
		return buf[:0], nil, err
	}
	if err := s.read(buf); err != nil {
		return buf[:0], nil, err
	}
	for _, l := range buf {
		if l < 0 || l > 1<<31 {
			return buf[:0], nil, corrupt("string of length %d", l)
		}
	}
	return buf, s.rest(), nil
}

// deltaLength is DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLength struct {
	noLanes
	budget  *Budget
	s       deltaStream
	buf     []int64
	lengths []int64
	b       []byte
	p       int64
}

func (d *deltaLength) reset(b []byte, n int) (err error) {
	d.buf, d.b, err = readLengths(d.budget, &d.s, d.buf, b, n)
	d.lengths, d.p = d.buf, 0
	return err
}

func (d *deltaLength) skip(n int) error {
	if n > len(d.lengths) {
		return errValues
	}
	for _, l := range d.lengths[:n] {
		d.p += l
	}
	if d.p > int64(len(d.b)) {
		return errValues
	}
	d.lengths = d.lengths[n:]
	return nil
}

func (d *deltaLength) views(dst []vec.View) ([]byte, error) {
	if len(dst) > len(d.lengths) {
		return nil, errValues
	}
	p := d.p
	for i := range dst {
		l := d.lengths[i]
		if l > int64(len(d.b))-p {
			return nil, errValues
		}
		dst[i] = vec.View{Off: uint32(p), Len: uint32(l)}
		p += l
	}
	d.p, d.lengths = p, d.lengths[len(dst):]
	return d.b, nil
}

// deltaBytes is DELTA_BYTE_ARRAY: each value shares a prefix with the one before.
type deltaBytes struct {
	noLanes
	budget    *Budget
	w         int // FIXED_LEN_BYTE_ARRAY's length; 0: BYTE_ARRAY
	s         deltaStream
	pbuf      []int64
	sbuf      []int64
	prefixes  []int64
	suffixes  []int64
	b         []byte
	last      []byte // the value before
	out       []byte
	fixedView []vec.View
}

func (d *deltaBytes) reset(b []byte, n int) (err error) {
	var rest []byte
	d.last = d.last[:0]
	if d.pbuf, rest, err = readLengths(d.budget, &d.s, d.pbuf, b, n); err != nil {
		return err
	}
	d.sbuf, d.b, err = readLengths(d.budget, &d.s, d.sbuf, rest, n)
	if err == nil && len(d.sbuf) != len(d.pbuf) {
		err = corrupt("%d prefixes and %d suffixes", len(d.pbuf), len(d.sbuf))
	}
	d.prefixes, d.suffixes = d.pbuf, d.sbuf
	return err
}

func (d *deltaBytes) views(dst []vec.View) ([]byte, error) {
	if len(dst) > len(d.prefixes) || len(dst) > len(d.suffixes) {
		return nil, errValues
	}
	// Prefixes may make far more bytes than the page has: sum them before allocating.
	var total int64
	for i := range dst {
		total += d.prefixes[i] + d.suffixes[i]
	}
	if total > 1<<31 {
		return nil, unsupported("more than 2 GiB of strings in one batch")
	}
	var err error
	if d.out, err = grow(d.budget, d.out, int(total), 0); err != nil {
		return nil, err
	}
	out, last := d.out[:0], d.last
	for i := range dst {
		p, s := d.prefixes[i], d.suffixes[i]
		if p > int64(len(last)) || s > int64(len(d.b)) {
			return nil, errValues
		}
		at := len(out)
		out = append(out, last[:p]...)
		out = append(out, d.b[:s]...)
		d.b = d.b[s:]
		last = out[at:]
		dst[i] = vec.View{Off: uint32(at), Len: uint32(p + s)}
	}
	d.prefixes, d.suffixes = d.prefixes[len(dst):], d.suffixes[len(dst):]
	if len(dst) > 0 {
		if d.last, err = grow(d.budget, d.last, len(last), 0); err != nil {
			return nil, err
		}
		copy(d.last, last)
	}
	return out, nil
}

func (d *deltaBytes) skip(n int) error {
	for n > 0 {
		m := min(n, 256)
		if _, err := d.values(m); err != nil {
			return err
		}
		n -= m
	}
	return nil
}

func (d *deltaBytes) values(n int) (data []byte, err error) {
	if d.fixedView, err = grow(d.budget, d.fixedView, n, 0); err != nil {
		return nil, err
	}
	return d.views(d.fixedView)
}

func (d *deltaBytes) fixed(n int) ([]byte, error) {
	data, err := d.values(n)
	if err != nil {
		return nil, err
	}
	for _, v := range d.fixedView {
		if int(v.Len) != d.w {
			return nil, corrupt("value of %d bytes in a column of %d", v.Len, d.w)
		}
	}
	return data[:n*d.w], nil
}
