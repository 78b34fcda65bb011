package parquet

import (
	"math"

	"github.com/lhsql/lhsql/types"
)

// dictionary is a chunk's dictionary: codes by value, and for each code the index of its first
// value in the leaf.
type dictionary struct {
	codes []uint32
	first []int32
}

// minDictValues is below which a dictionary is not worth its page.
const minDictValues = 16

// buildDictionary gives nil where plain values are better: booleans, few values, a dictionary
// beyond the limit, or values that hardly repeat.
func buildDictionary(l *leaf, limit int) *dictionary {
	n := l.values()
	if l.phys == physBool || n < minDictValues {
		return nil
	}
	d := &dictionary{codes: make([]uint32, n)}
	maxEntries := max(minDictValues, n/2)
	var ok bool
	switch {
	case l.phys == physInt32 || l.phys == physInt64:
		ok = fill(d, n, maxEntries, limit, func(i int) (int64, int) { return l.ints[i], 8 })
	case l.phys == physFloat || l.phys == physDouble:
		// By bits: NaN is equal to itself, and the zeros keep their sign.
		ok = fill(d, n, maxEntries, limit, func(i int) (uint64, int) { return math.Float64bits(l.f64[i]), 8 })
	case l.isWide():
		ok = fill(d, n, maxEntries, limit, func(i int) (types.Int128, int) { return l.wide[i], 16 })
	default:
		ok = fillBytes(d, l, n, maxEntries, limit)
	}
	if !ok {
		return nil
	}
	return d
}

// fill gives codes to the values that key yields; false when the dictionary grows too large.
func fill[K comparable](d *dictionary, n, maxEntries, limit int, key func(int) (K, int)) bool {
	codes := make(map[K]uint32)
	bytes := 0
	for i := 0; i < n; i++ {
		k, size := key(i)
		c, ok := codes[k]
		if !ok {
			if bytes += size; len(d.first) >= maxEntries || bytes > limit {
				return false
			}
			c = uint32(len(d.first))
			codes[k] = c
			d.first = append(d.first, int32(i))
		}
		d.codes[i] = c
	}
	return true
}

// fillBytes is fill for byte strings, without a copy per look-up.
func fillBytes(d *dictionary, l *leaf, n, maxEntries, limit int) bool {
	codes := make(map[string]uint32)
	bytes := 0
	for i := 0; i < n; i++ {
		b := l.get(i)
		c, ok := codes[string(b)]
		if !ok {
			if bytes += 4 + len(b); len(d.first) >= maxEntries || bytes > limit {
				return false
			}
			c = uint32(len(d.first))
			codes[string(b)] = c
			d.first = append(d.first, int32(i))
		}
		d.codes[i] = c
	}
	return true
}

// plain is the dictionary page's content.
func (d *dictionary) plain(l *leaf) []byte {
	var out []byte
	for _, i := range d.first {
		out = l.appendPlain(out, int(i), int(i)+1)
	}
	return out
}
