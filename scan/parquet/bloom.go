package parquet

import (
	"context"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/lhsql/lhsql/types"
)

// Bloom is a split block Bloom filter of a column chunk (BloomFilter.md).
type Bloom struct {
	blocks []byte // of 32 bytes
}

// maxBloom bounds what is read of a filter; larger ones are not worth the bytes.
const maxBloom = 8 << 20

// ReadBloom reads the Bloom filter of column leaf in g; nil, nil: there is none of a kind that
// we know.
func ReadBloom(ctx context.Context, f ReaderAt, g *RowGroup, leaf int, b *Budget) (*Bloom, error) {
	r := g.Columns[leaf].Bloom
	if r.Off <= 0 || r.Off >= f.Size() {
		return nil, nil
	}
	if r.N == 0 { // older writers do not tell the length
		r.N = min(64, f.Size()-r.Off)
	}
	if err := checkRange(r, f.Size(), "Bloom filter"); err != nil || r.N > maxBloom {
		return nil, nil
	}
	buf, err := readRange(ctx, f, b, r.Off, r.N)
	if err != nil {
		return nil, err
	}
	size, head, ok := bloomHeader(buf)
	if !ok {
		return nil, nil
	}
	if int64(head)+size > r.N {
		full := Range{r.Off, int64(head) + size}
		if checkRange(full, f.Size(), "Bloom filter") != nil || full.N > maxBloom {
			return nil, nil
		}
		if buf, err = readRange(ctx, f, b, full.Off, full.N); err != nil {
			return nil, err
		}
	}
	return &Bloom{blocks: buf[head : int64(head)+size]}, nil
}

var bloomFilterHeader = describe("BloomFilterHeader", "numBytes", "algorithm", "hash", "compression")

// bloomHeader reads BloomFilterHeader and accepts the one algorithm, hash and compression.
func bloomHeader(b []byte) (size int64, n int, ok bool) {
	t := &thrift{b: b}
	known := 0
	t.fields(tStruct, bloomFilterHeader, func(id int16, f byte) {
		switch id {
		case 1:
			size = t.integer(f)
		case 2, 3, 4:
			t.fields(f, anyStruct, func(kind int16, g byte) {
				if kind == 1 {
					known++
				}
				t.skip(g)
			})
		default:
			t.skip(f)
		}
	})
	ok = !t.bad && known == 3 && size > 0 && size%32 == 0 && size <= maxBloom
	return size, t.p, ok
}

var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// has tells whether a value of the hash may be in the column.
func (x *Bloom) has(hash uint64) bool {
	block := (hash >> 32) * uint64(len(x.blocks)/32) >> 32
	b := x.blocks[block*32 : block*32+32]
	for i, salt := range bloomSalt {
		bit := uint32(hash) * salt >> 27
		if binary.LittleEndian.Uint32(b[4*i:])>>bit&1 == 0 {
			return false
		}
	}
	return true
}

// MayContain tells whether the column may have the value d of c's type. Values whose stored
// form is not certain may always be.
func (x *Bloom) MayContain(c *Conversion, n *Node, d types.Datum) bool {
	if d.IsNull() || len(x.blocks) == 0 || n.Unsigned {
		return true
	}
	var buf [16]byte
	switch {
	case c.op == uuid && d.Form() == types.FormW128 && n.Phys == FixedLen:
		w := d.W128()
		binary.BigEndian.PutUint64(buf[:], uint64(w.Hi))
		binary.BigEndian.PutUint64(buf[8:], w.Lo)
		return x.has(xxhash.Sum64(buf[:16]))
	case c.op != keep || d.Form() != c.Form:
		return true
	case c.lane == laneI64 && n.Phys == Int64:
		binary.LittleEndian.PutUint64(buf[:], uint64(d.Int()))
		return x.has(xxhash.Sum64(buf[:8]))
	case c.lane == laneI64:
		if v := d.Int(); int64(int32(v)) != v {
			return false
		}
		binary.LittleEndian.PutUint32(buf[:], uint32(d.Int()))
		return x.has(xxhash.Sum64(buf[:4]))
	case c.lane == laneBytes && c.Form == types.FormStr && c.Type.Kind != types.Bpchar:
		return x.has(xxhash.Sum64String(d.Str()))
	}
	return true // floats too: ±0 are equal and hash apart
}
