package lake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/lhsql/lhsql/internal/room"
)

var (
	errAvro     = errors.New("avro data is cut short or malformed")
	errAvroText = errors.New("a string is not valid UTF-8")
)

// maxAvroBlock bounds one decompressed block.
const maxAvroBlock = 1 << 29

// avroBuf reads Avro's binary encoding. After an error every read gives zero; err tells.
type avroBuf struct {
	b   []byte
	err error
}

func (r *avroBuf) fail() {
	if r.err == nil {
		r.err = errAvro
	}
	r.b = nil
}

func (r *avroBuf) long() int64 {
	u, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return int64(u>>1) ^ -int64(u&1)
}

func (r *avroBuf) take(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.fail()
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// bytes aliases the block.
func (r *avroBuf) bytes() []byte { return r.take(r.long()) }

// str copies a string. One that is not UTF-8 is damaged: as a path it would name another file, or
// none, and what a delete file says of it would be lost without a word.
func (r *avroBuf) str() string {
	b := r.bytes()
	if !utf8.Valid(b) {
		if r.err == nil {
			r.err = errAvroText
		}
		r.b = nil
		return ""
	}
	return string(b)
}

func (r *avroBuf) boolean() bool {
	p := r.take(1)
	return len(p) == 1 && p[0] != 0
}

func (r *avroBuf) float() float32 {
	p := r.take(4)
	if p == nil {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(p))
}

func (r *avroBuf) double() float64 {
	p := r.take(8)
	if p == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p))
}

// value resolves a union: it gives the branch that follows, whose kind is avroNull for null.
func (r *avroBuf) value(n *avroNode) *avroNode {
	if n.kind != avroUnion {
		return n
	}
	i := r.long()
	if i < 0 || i >= int64(len(n.branches)) {
		r.fail()
		return &avroNode{}
	}
	return n.branches[i]
}

// blockCount reads the count of an array's or map's next block; size is -1 if not given.
func (r *avroBuf) blockCount() (n, size int64) {
	n, size = r.long(), -1
	if n < 0 {
		n, size = -n, r.long()
	}
	// An item may take no bytes (null), but none of ours does: so more items than bytes is a lie.
	if n > int64(len(r.b)) || n < 0 {
		r.fail()
		return 0, 0
	}
	return n, size
}

func (r *avroBuf) skip(n *avroNode, depth int) {
	if depth > maxAvroDepth {
		r.fail()
		return
	}
	switch n.kind {
	case avroBool:
		r.take(1)
	case avroInt, avroLong, avroEnum:
		r.long()
	case avroFloat:
		r.take(4)
	case avroDouble:
		r.take(8)
	case avroBytes, avroString:
		r.bytes()
	case avroFixed:
		r.take(int64(n.size))
	case avroUnion:
		r.skip(r.value(n), depth+1)
	case avroRecord:
		for i := range n.fields {
			r.skip(n.fields[i].node, depth+1)
		}
	case avroArray, avroMap:
		r.skipItems(n, depth)
	}
}

func (r *avroBuf) skipItems(n *avroNode, depth int) {
	for r.err == nil {
		count, size := r.blockCount()
		if count == 0 {
			return
		}
		if size >= 0 {
			r.take(size)
			continue
		}
		for ; count > 0 && r.err == nil; count-- {
			if n.kind == avroMap {
				r.bytes()
			}
			r.skip(n.elem, depth+1)
		}
	}
}

// items calls read for each item of an array.
func (r *avroBuf) items(read func()) {
	for r.err == nil {
		count, _ := r.blockCount()
		if count == 0 {
			return
		}
		for ; count > 0 && r.err == nil; count-- {
			read()
		}
	}
}

// avroFile is an object container file in memory.
type avroFile struct {
	meta   map[string]string
	schema *avroNode
	codec  string
	sync   []byte
	rest   avroBuf
	buf    []byte // of the block that is being read
	flate  io.ReadCloser
}

func openAvro(b []byte) (*avroFile, error) {
	if !bytes.HasPrefix(b, []byte("Obj\x01")) {
		return nil, errors.New("not an Avro file")
	}
	f := &avroFile{meta: map[string]string{}, rest: avroBuf{b: b[4:]}}
	r := &f.rest
	r.items(func() { k := r.str(); f.meta[k] = r.str() })
	f.sync = r.take(16)
	if r.err != nil {
		return nil, r.err
	}
	f.codec = f.meta["avro.codec"]
	var err error
	f.schema, err = parseAvroSchema([]byte(f.meta["avro.schema"]))
	if err == nil && f.schema.kind != avroRecord {
		err = errors.New("the Avro file does not hold records")
	}
	return f, err
}

// rows calls read once per record; read must consume exactly one, and copy what it keeps.
func (f *avroFile) rows(read func(r *avroBuf) error) error {
	r := &f.rest
	for len(r.b) > 0 {
		n, size := r.long(), r.long()
		data := r.take(size)
		sync := r.take(16)
		if r.err != nil {
			return r.err
		}
		if !bytes.Equal(sync, f.sync) {
			return fmt.Errorf("%w: block marker differs", errAvro)
		}
		data, err := f.decompress(data)
		if err != nil {
			return err
		}
		block := avroBuf{b: data}
		for ; n > 0; n-- {
			if err := read(&block); err != nil {
				return err
			}
			if block.err != nil {
				return block.err
			}
		}
		if n < 0 || len(block.b) > 0 {
			return errAvro
		}
	}
	return nil
}

func (f *avroFile) decompress(b []byte) ([]byte, error) {
	switch f.codec {
	case "", "null":
		return b, nil
	case "deflate":
		if f.flate == nil {
			f.flate = flate.NewReader(bytes.NewReader(b))
		} else if err := f.flate.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
			return nil, err
		}
		return f.readBounded(f.flate)
	case "zstandard":
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return f.readBounded(z)
	case "snappy": // each block ends in a CRC-32 of the plain bytes
		if len(b) < 4 {
			return nil, errAvro
		}
		n, err := snappy.DecodedLen(b[:len(b)-4])
		if err != nil || n > maxAvroBlock {
			return nil, errAvro
		}
		if err := room.Take(n); err != nil {
			return nil, err
		}
		return snappy.Decode(nil, b[:len(b)-4])
	}
	return nil, fmt.Errorf("avro codec %q is not supported", f.codec)
}

func (f *avroFile) readBounded(r io.Reader) (b []byte, err error) {
	f.buf, err = room.ReadAll(f.buf[:0], r, maxAvroBlock)
	return f.buf, err
}
