package parquet

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/lhsql/lhsql/vec"
)

// lane is how decoded physical values leave their decoder.
type lane uint8

const (
	laneI64   lane = iota // INT32, INT64
	laneF64               // FLOAT, DOUBLE
	laneBool              // BOOLEAN
	laneFixed             // FIXED_LEN_BYTE_ARRAY, INT96: width bytes each, side by side
	laneBytes             // BYTE_ARRAY: views into bytes
)

func laneOf(p Phys) lane {
	switch p {
	case Boolean:
		return laneBool
	case Int32, Int64:
		return laneI64
	case Float, Double:
		return laneF64
	case ByteArray:
		return laneBytes
	}
	return laneFixed
}

// decoder streams the values of one page. The methods for lanes other than its own are not
// called. Results that are slices stay valid until the next call on the decoder.
type decoder interface {
	// reset starts a page with values in b; n bounds how many there are.
	reset(b []byte, n int) error
	skip(n int) error
	i64(dst []int64) error
	f64(dst []float64) error
	bools(dst []bool) error
	fixed(n int) ([]byte, error)
	views(dst []vec.View) (data []byte, err error)
}

// noLanes is embedded by decoders, which override their own lane.
type noLanes struct{}

func (noLanes) i64([]int64) error         { return corrupt("encoding does not fit the type") }
func (noLanes) f64([]float64) error       { return corrupt("encoding does not fit the type") }
func (noLanes) bools([]bool) error        { return corrupt("encoding does not fit the type") }
func (noLanes) fixed(int) ([]byte, error) { return nil, corrupt("encoding does not fit the type") }
func (noLanes) views([]vec.View) ([]byte, error) {
	return nil, corrupt("encoding does not fit the type")
}

var errValues = corrupt("a page has fewer values than its header says")

// width is the bytes of one PLAIN value; 0: it varies.
func (n *Node) width() int {
	switch n.Phys {
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Int96:
		return 12
	case FixedLen:
		return n.TypeLen
	}
	return 0
}

// decoderFor makes the decoder of a page encoding; budget is charged for its buffers.
func decoderFor(n *Node, enc Encoding, b *Budget) (decoder, error) {
	switch {
	case enc == Plain && n.Phys == Boolean:
		return &plainBool{}, nil
	case enc == Plain && n.Phys == ByteArray:
		return &plainBytes{}, nil
	case enc == Plain:
		return &plainFixed{w: n.width(), unsigned: n.Unsigned}, nil
	case enc == RLE && n.Phys == Boolean:
		return &rleBool{}, nil
	case enc == DeltaBinary && (n.Phys == Int32 || n.Phys == Int64):
		return &deltaInts{narrow: n.Phys == Int32, unsigned: n.Unsigned}, nil
	case enc == DeltaLength && n.Phys == ByteArray:
		return &deltaLength{budget: b}, nil
	case enc == DeltaByteArray && n.Phys == ByteArray:
		return &deltaBytes{budget: b}, nil
	case enc == DeltaByteArray && n.Phys == FixedLen:
		return &deltaBytes{budget: b, w: n.TypeLen}, nil
	case enc == ByteStreamSplit && n.width() > 0 && n.Phys != Int96:
		return &streamSplit{budget: b, plain: plainFixed{w: n.width(), unsigned: n.Unsigned}}, nil
	}
	return nil, unsupported("encoding %d of a %s column", enc, n.Phys)
}

// plainFixed reads PLAIN values of one width.
type plainFixed struct {
	noLanes
	b        []byte
	w        int
	unsigned bool
}

func (d *plainFixed) reset(b []byte, _ int) error { d.b = b; return nil }

// take gives the bytes of n values.
func (d *plainFixed) take(n int) ([]byte, error) {
	if n > len(d.b)/d.w {
		return nil, errValues
	}
	v := d.b[:n*d.w]
	d.b = d.b[n*d.w:]
	return v, nil
}

func (d *plainFixed) skip(n int) error { _, err := d.take(n); return err }

func (d *plainFixed) fixed(n int) ([]byte, error) { return d.take(n) }

// direct gives n INT64 values where they lie. The page buffer may not be aligned for them,
// which the architectures that we run on do not mind.
func (d *plainFixed) direct(n int) ([]int64, error) {
	v, err := d.take(n)
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(v))), n), nil
}

func (d *plainFixed) i64(dst []int64) error {
	v, err := d.take(len(dst))
	if err != nil {
		return err
	}
	switch {
	case d.w == 8:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(v[8*i:]))
		}
	case d.unsigned:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint32(v[4*i:]))
		}
	default:
		widenI32(dst, v)
	}
	return nil
}

// widenI32 sign-extends PLAIN INT32 values.
func widenI32(dst []int64, v []byte) {
	for len(dst) >= 4 && len(v) >= 16 {
		x, y := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[8:])
		dst[0], dst[1] = int64(int32(x)), int64(x)>>32
		dst[2], dst[3] = int64(int32(y)), int64(y)>>32
		dst, v = dst[4:], v[16:]
	}
	for i := range dst {
		dst[i] = int64(int32(binary.LittleEndian.Uint32(v[4*i:])))
	}
}

func (d *plainFixed) f64(dst []float64) error {
	v, err := d.take(len(dst))
	if err != nil {
		return err
	}
	if d.w == 8 {
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(v[8*i:]))
		}
		return nil
	}
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(v[4*i:])))
	}
	return nil
}

// plainBool reads one bit per value.
type plainBool struct {
	noLanes
	b   []byte
	off int
}

func (d *plainBool) reset(b []byte, _ int) error { d.b, d.off = b, 0; return nil }

func (d *plainBool) skip(n int) error {
	if n > len(d.b)*8-d.off {
		return errValues
	}
	d.off += n
	return nil
}

func (d *plainBool) bools(dst []bool) error {
	at := d.off
	if err := d.skip(len(dst)); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = d.b[(at+i)>>3]>>((at+i)&7)&1 != 0
	}
	return nil
}

// rleBool reads BOOLEAN in RLE: a length and a hybrid of width 1.
type rleBool struct {
	noLanes
	bits levelBits
	tmp  [32]uint64
}

func (d *rleBool) reset(b []byte, _ int) error {
	if len(b) == 0 {
		d.bits.reset(nil)
		return nil
	}
	if len(b) < 4 {
		return errValues
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return errValues
	}
	d.bits.reset(b[4 : 4+n])
	return nil
}

func (d *rleBool) skip(n int) error { _, err := d.bits.read(nil, 0, n); return err }

func (d *rleBool) bools(dst []bool) error {
	for len(dst) > 0 {
		n := min(len(dst), 64*len(d.tmp))
		bm := vec.Bitmap(d.tmp[:])
		if _, err := d.bits.read(bm, 0, n); err != nil {
			return err
		}
		for i := range dst[:n] {
			dst[i] = bm[i>>6]>>(i&63)&1 != 0
		}
		dst = dst[n:]
	}
	return nil
}

// plainBytes reads length-prefixed byte arrays in place.
type plainBytes struct {
	noLanes
	b []byte
	p int
}

func (d *plainBytes) reset(b []byte, _ int) error { d.b, d.p = b, 0; return nil }

func (d *plainBytes) skip(n int) error {
	p := d.p
	for ; n > 0; n-- {
		if len(d.b)-p < 4 {
			return errValues
		}
		l := binary.LittleEndian.Uint32(d.b[p:])
		if uint64(l) > uint64(len(d.b)-p-4) {
			return errValues
		}
		p += 4 + int(l)
	}
	d.p = p
	return nil
}

func (d *plainBytes) views(dst []vec.View) ([]byte, error) {
	p, b := d.p, d.b
	for i := range dst {
		if len(b)-p < 4 {
			return nil, errValues
		}
		l := binary.LittleEndian.Uint32(b[p:])
		p += 4
		if uint64(l) > uint64(len(b)-p) {
			return nil, errValues
		}
		dst[i] = vec.View{Off: uint32(p), Len: l}
		p += int(l)
	}
	d.p = p
	return b, nil
}

// streamSplit undoes BYTE_STREAM_SPLIT: byte k of all values, for k from 0, stream by stream.
type streamSplit struct {
	noLanes
	budget *Budget
	b      []byte
	n, at  int
	plain  plainFixed
	buf    []byte
}

func (d *streamSplit) reset(b []byte, _ int) error {
	if len(b)%d.plain.w != 0 {
		return corrupt("byte stream split page of %d bytes for values of %d", len(b), d.plain.w)
	}
	d.b, d.n, d.at = b, len(b)/d.plain.w, 0
	return nil
}

func (d *streamSplit) skip(n int) error {
	if n > d.n-d.at {
		return errValues
	}
	d.at += n
	return nil
}

func (d *streamSplit) fixed(n int) ([]byte, error) {
	at, w := d.at, d.plain.w
	if err := d.skip(n); err != nil {
		return nil, err
	}
	var err error
	if d.buf, err = grow(d.budget, d.buf, n*w, 0); err != nil {
		return nil, err
	}
	for k := 0; k < w; k++ {
		src := d.b[k*d.n+at : k*d.n+at+n]
		for i, c := range src {
			d.buf[i*w+k] = c
		}
	}
	return d.buf, nil
}

func (d *streamSplit) i64(dst []int64) error {
	v, err := d.fixed(len(dst))
	if err != nil {
		return err
	}
	d.plain.b = v
	return d.plain.i64(dst)
}

func (d *streamSplit) f64(dst []float64) error {
	v, err := d.fixed(len(dst))
	if err != nil {
		return err
	}
	d.plain.b = v
	return d.plain.f64(dst)
}
