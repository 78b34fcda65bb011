// Package theta answers: about how many different values were there? It is a theta sketch as Apache
// DataSketches defines it and Iceberg keeps it (Puffin's blob type apache-datasketches-theta-v1): the
// smallest hashes of what was seen, and the threshold below which they all are.
//
// No library that is kept up writes this form in Go; DataSketches' own judges it in the tests of
// testsql/interop_write.
package theta

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/twmb/murmur3"
)

const (
	// nominal is how many hashes a sketch keeps at least, once it has seen more values than that:
	// DataSketches' default, with a standard error of 1/√4096, 1.6 %.
	nominal = 4096
	// seed is DataSketches' default. Sketches of different seeds cannot be joined.
	seed = 9001
	// seedHash names the seed in the serialised form: the low 16 bits of the seed's own hash.
	seedHash = 0x93CC
	all      = math.MaxInt64 // the threshold of a sketch that has kept every hash
)

// Sketch is what is known of the values that were seen. The zero Sketch has seen none. Not safe for
// concurrent use.
type Sketch struct {
	theta  uint64 // hashes at and beyond it are not kept; 0: all are
	hashes map[uint64]struct{}
}

func (s *Sketch) limit() uint64 {
	if s.theta == 0 {
		return all
	}
	return s.theta
}

// Update sees a value by its bytes. The empty value is not counted, as DataSketches does not.
func (s *Sketch) Update(value []byte) {
	if len(value) == 0 {
		return
	}
	h, _ := murmur3.SeedSum128(seed, seed, value)
	s.add(h >> 1)
}

func (s *Sketch) add(h uint64) {
	if h == 0 || h >= s.limit() {
		return
	}
	if s.hashes == nil {
		s.hashes = make(map[uint64]struct{}, 64)
	}
	s.hashes[h] = struct{}{}
	if len(s.hashes) >= 2*nominal {
		s.shrink()
	}
}

// shrink keeps the smallest hashes; the next one becomes the threshold.
func (s *Sketch) shrink() {
	list := s.sorted()
	s.theta = list[nominal]
	for _, h := range list[nominal:] {
		delete(s.hashes, h)
	}
}

func (s *Sketch) sorted() []uint64 {
	list := make([]uint64, 0, len(s.hashes))
	for h := range s.hashes {
		list = append(list, h)
	}
	slices.Sort(list)
	return list
}

// Merge sees what o has seen.
func (s *Sketch) Merge(o *Sketch) {
	if o.limit() < s.limit() {
		s.theta = o.limit()
		for h := range s.hashes {
			if h >= s.theta {
				delete(s.hashes, h)
			}
		}
	}
	for h := range o.hashes {
		s.add(h)
	}
}

// Estimate is about how many different values were seen; exact up to twice nominal.
func (s *Sketch) Estimate() float64 {
	if s.theta == 0 {
		return float64(len(s.hashes))
	}
	return float64(len(s.hashes)) / (float64(s.theta) / all)
}

// The flags and the family of the serialised form (DataSketches, PreambleUtil).
const (
	serialVersion = 3
	compactFamily = 3
	flagReadOnly  = 1 << 1
	flagEmpty     = 1 << 2
	flagCompact   = 1 << 3
	flagOrdered   = 1 << 4
	flagSingle    = 1 << 5
)

// Append appends the compact, ordered form.
func (s *Sketch) Append(b []byte) []byte {
	list := s.sorted()
	words, flags := byte(2), byte(flagReadOnly|flagCompact|flagOrdered)
	switch {
	case s.theta != 0:
		words = 3
	case len(list) == 0:
		words, flags = 1, flags|flagEmpty
	case len(list) == 1:
		words, flags = 1, flags|flagSingle
	}
	b = append(b, words, serialVersion, compactFamily, 0, 0, flags)
	b = binary.LittleEndian.AppendUint16(b, seedHash)
	if words > 1 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1))
	}
	if words > 2 {
		b = binary.LittleEndian.AppendUint64(b, s.theta)
	}
	for _, h := range list {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return b
}

var errForm = errors.New("not a compact theta sketch of the default seed")

// Read reads the compact form.
func Read(b []byte) (*Sketch, error) {
	if len(b) < 8 || b[1] != serialVersion || b[2] != compactFamily || b[5]&flagCompact == 0 {
		return nil, errForm
	}
	s := &Sketch{hashes: map[uint64]struct{}{}}
	words, flags := int(b[0]&0x3f), b[5]
	if flags&flagEmpty != 0 {
		return s, nil
	}
	if binary.LittleEndian.Uint16(b[6:]) != seedHash {
		return nil, errForm
	}
	n := 1
	switch {
	case words < 1 || words > 3 || len(b) < 8*words:
		return nil, errForm
	case words > 1:
		n = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if words > 2 {
		if s.theta = binary.LittleEndian.Uint64(b[16:]); s.theta == 0 || s.theta > all {
			return nil, errForm
		}
		if s.theta == all {
			s.theta = 0
		}
	}
	if len(b) != 8*(words+n) {
		return nil, errForm
	}
	for i := range n {
		h := binary.LittleEndian.Uint64(b[8*(words+i):])
		if h == 0 || h >= s.limit() {
			return nil, errForm
		}
		s.hashes[h] = struct{}{}
	}
	return s, nil
}
