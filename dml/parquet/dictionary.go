package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// dictionary numbers the distinct values of a chunk as they come: hash tables of codes over
// dense values, without a Go map's cost per value.
type dictionary struct {
	vals  values
	table []uint32 // code+1 by hash; 0: free
	shift uint     // of a hash, to an index of table
	hash  []uint64 // byte strings and wide values: by code
	seen  []uint32 // by code: the page in which it was last
	page  uint32
	size  int  // of the dictionary page
	nan   bool // among the values

	// Codes by those of the source's dictionary, which many batches share.
	source *vec.Vector
	id     uint64
	remap  []uint32 // code+1
}

const minDictTable = 64

func (d *dictionary) reset() {
	d.vals.reset()
	d.hash, d.seen = d.hash[:0], d.seen[:0]
	d.page, d.size, d.nan = 0, 0, false
	d.source, d.id = nil, 0
	clear(d.table)
}

func (d *dictionary) bytes() int64 {
	return d.vals.bytes() + int64(4*cap(d.table)+8*cap(d.hash)+4*cap(d.seen)+4*cap(d.remap))
}

// golden and the seed spread keys over the table. The seed differs from process to process, so
// that nobody can make keys that all fall into one place.
const golden = 0x9E3779B97F4A7C15

var seed = rand.Uint64()

func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, golden)
	return hi ^ lo
}

func hashInt(x uint64) uint64 { return mix(seed, x) }

func hashWide(w types.Int128) uint64 { return mix(mix(seed, w.Lo), uint64(w.Hi)) }

func hashBytes(b []byte) uint64 {
	h := mix(seed, uint64(len(b)))
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if len(b) > 0 {
		h = mix(h, head(b))
	}
	return h
}

// int gives x's code.
func (d *dictionary) int(x int64) uint32 {
	if len(d.table) == 0 {
		d.grow()
	}
	mask := uint64(len(d.table) - 1)
	for at := hashInt(uint64(x)) >> d.shift; ; at = (at + 1) & mask {
		c := d.table[at]
		if c == 0 {
			d.vals.ints = append(d.vals.ints, x)
			return d.added(at, len(d.vals.ints), 8)
		}
		if d.vals.ints[c-1] == x {
			return c - 1
		}
	}
}

// float gives x's code, by its bits: NaN is equal to itself, and the zeros keep their sign.
func (d *dictionary) float(x float64) uint32 {
	if len(d.table) == 0 {
		d.grow()
	}
	k := math.Float64bits(x)
	mask := uint64(len(d.table) - 1)
	for at := hashInt(k) >> d.shift; ; at = (at + 1) & mask {
		c := d.table[at]
		if c == 0 {
			d.nan = d.nan || math.IsNaN(x)
			d.vals.f64 = append(d.vals.f64, x)
			return d.added(at, len(d.vals.f64), 8)
		}
		if math.Float64bits(d.vals.f64[c-1]) == k {
			return c - 1
		}
	}
}

func (d *dictionary) int128(x types.Int128) uint32 {
	if len(d.table) == 0 {
		d.grow()
	}
	mask := uint64(len(d.table) - 1)
	for at := hashWide(x) >> d.shift; ; at = (at + 1) & mask {
		c := d.table[at]
		if c == 0 {
			d.vals.wide = append(d.vals.wide, x)
			return d.added(at, len(d.vals.wide), 16)
		}
		if d.vals.wide[c-1] == x {
			return c - 1
		}
	}
}

// byteString gives b's code; a new one is copied.
func (d *dictionary) byteString(b []byte) uint32 {
	if len(d.table) == 0 {
		d.grow()
	}
	h := hashBytes(b)
	mask := uint64(len(d.table) - 1)
	for at := h >> d.shift; ; at = (at + 1) & mask {
		c := d.table[at]
		if c == 0 {
			d.vals.addBytes(b)
			d.hash = append(d.hash, h)
			return d.added(at, len(d.vals.views), 4+len(b))
		}
		if d.hash[c-1] == h && string(d.vals.get(int(c-1))) == string(b) {
			return c - 1
		}
	}
}

// added books the value that was appended as the nth, at a free place of the table.
func (d *dictionary) added(at uint64, n, size int) uint32 {
	d.table[at] = uint32(n)
	d.size += size
	d.seen = append(d.seen, 0)
	if 2*n > len(d.table) {
		d.grow()
	}
	return uint32(n - 1)
}

func (d *dictionary) grow() {
	n := max(minDictTable, 2*len(d.table))
	d.table = make([]uint32, n)
	d.shift = uint(64 - bits.TrailingZeros(uint(n)))
	mask := uint64(n - 1)
	put := func(h uint64, code int) {
		at := h >> d.shift
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = uint32(code + 1)
	}
	for i, x := range d.vals.ints {
		put(hashInt(uint64(x)), i)
	}
	for i, x := range d.vals.f64 {
		put(hashInt(math.Float64bits(x)), i)
	}
	for i, x := range d.vals.wide {
		put(hashWide(x), i)
	}
	for i, h := range d.hash {
		put(h, i)
	}
}

// count is the number of values.
func (d *dictionary) count() int { return len(d.seen) }

// translation gives the codes of a source dictionary's values that were looked up before. The
// same content keeps them from batch to batch.
func (d *dictionary) translation(v *vec.Vector, n int) []uint32 {
	if d.source == v && v.DictID != 0 && d.id == v.DictID && len(d.remap) == n {
		return d.remap
	}
	d.source, d.id = v, v.DictID
	if cap(d.remap) < n {
		d.remap = make([]uint32, n)
	}
	d.remap = d.remap[:n]
	clear(d.remap)
	return d.remap
}

// bounds finds the bounds of a page's codes; each value is compared once.
func (d *dictionary) bounds(l *leaf, codes []uint32) bounds {
	var b bounds
	d.page++
	float := l.phys == physFloat || l.phys == physDouble
	lo, hi := -1, -1
	var low, high value
	for _, c := range codes {
		if d.seen[c] == d.page {
			continue
		}
		d.seen[c] = d.page
		if float && math.IsNaN(d.vals.f64[c]) {
			continue
		}
		v := d.vals.at(l, int(c))
		if lo < 0 || l.less(&v, &low) {
			lo, low = int(c), v
		}
		if hi < 0 || l.less(&high, &v) {
			hi, high = int(c), v
		}
	}
	if d.nan {
		for _, c := range codes {
			if math.IsNaN(d.vals.f64[c]) {
				b.nans++
			}
		}
	}
	// Strings are safe: the dictionary only appends, so a page's bounds stay as they are.
	b.lo, b.hi, b.ok = low, high, lo >= 0
	return b
}
