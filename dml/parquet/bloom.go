package parquet

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// salt are the split block Bloom filter's multipliers (BloomFilter.md).
var salt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// maxBloom bounds a filter (Iceberg's write.parquet.bloom-filter-max-bytes).
const maxBloom = 1 << 20

// hashValues remembers the hashes of values for the chunk's Bloom filter.
func (l *leaf) hashValues(v *values) {
	var key []byte
	for i := range v.count(l) {
		if l.phys == physBytes {
			key = append(key[:0], v.get(i)...)
		} else {
			key = v.appendPlain(key[:0], l, i, i+1)
		}
		l.hashes = append(l.hashes, xxhash.Sum64(key))
	}
}

// bloom builds the chunk's filter with its header. rate is the wanted false positive rate.
func (l *leaf) bloom(rate float64) []byte {
	l.hashValues(&l.dict.vals)
	if rate <= 0 || rate >= 1 {
		rate = 0.01
	}
	bits := -8 * float64(len(l.hashes)) / math.Log(1-math.Pow(rate, 1.0/8))
	size := 32
	for size < maxBloom && float64(size)*8 < bits {
		size *= 2
	}
	set := make([]byte, size)
	for _, h := range l.hashes {
		block := int((h >> 32) * uint64(size/32) >> 32)
		for j, s := range salt {
			bit := (uint32(h) * s) >> 27
			at := block*32 + j*4
			w := binary.LittleEndian.Uint32(set[at:])
			binary.LittleEndian.PutUint32(set[at:], w|1<<bit)
		}
	}
	var t thrift
	t.i32(1, int64(size))
	for id := int16(2); id <= 4; id++ { // algorithm SPLIT_BLOCK, hash XXHASH, UNCOMPRESSED
		t.begin(id)
		t.begin(1)
		t.end()
		t.end()
	}
	t.stop()
	return append(t.buf, set...)
}
