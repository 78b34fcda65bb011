package scan

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/scan/parquet"
)

// posSet is a set of row positions in one file: a roaring bitmap's containers by the high bits.
type posSet struct {
	chunks map[int64]*chunk
	count  int64
}

// chunk holds the low 16 bits of positions: sorted, or as bits where they are many.
type chunk struct {
	low  []uint16
	bits *[1024]uint64
}

const chunkOverhead = 64

// addSorted adds positions that are sorted, charging b.
func (s *posSet) addSorted(pos []int64, b *parquet.Budget) error {
	for len(pos) > 0 {
		hi := pos[0] >> 16
		n := sort.Search(len(pos), func(i int) bool { return pos[i]>>16 > hi })
		if err := s.add(hi, pos[:n], b); err != nil {
			return err
		}
		pos = pos[n:]
	}
	return nil
}

func (s *posSet) add(hi int64, pos []int64, b *parquet.Budget) error {
	c, err := s.chunk(hi, b)
	if err != nil {
		return err
	}
	if c.bits == nil && len(c.low) == 0 && len(pos) <= 4096 {
		if err := b.Reserve(int64(len(pos)) * 2); err != nil {
			return err
		}
		c.low = make([]uint16, 0, len(pos))
		for i, p := range pos {
			if i == 0 || p != pos[i-1] {
				c.low = append(c.low, uint16(p))
			}
		}
		s.count += int64(len(c.low))
		return nil
	}
	if err := c.toBits(b); err != nil {
		return err
	}
	for _, p := range pos {
		s.setBit(c, uint16(p))
	}
	return nil
}

func (s *posSet) setBit(c *chunk, low uint16) {
	w, m := low>>6, uint64(1)<<(low&63)
	if c.bits[w]&m == 0 {
		c.bits[w] |= m
		s.count++
	}
}

func (s *posSet) chunk(hi int64, b *parquet.Budget) (*chunk, error) {
	if s.chunks == nil {
		s.chunks = map[int64]*chunk{}
	}
	c := s.chunks[hi]
	if c == nil {
		if err := b.Reserve(chunkOverhead); err != nil {
			return nil, err
		}
		c = &chunk{}
		s.chunks[hi] = c
	}
	return c, nil
}

func (c *chunk) toBits(b *parquet.Budget) error {
	if c.bits != nil {
		return nil
	}
	if err := b.Reserve(8192); err != nil {
		return err
	}
	c.bits = new([1024]uint64)
	for _, l := range c.low {
		c.bits[l>>6] |= 1 << (l & 63)
	}
	c.low = nil
	return nil
}

// any tells whether some position in [from, to) is in s.
func (s *posSet) any(from, to int64) bool {
	for p := from; p < to; {
		end := min(to, (p>>16+1)<<16)
		if c := s.chunks[p>>16]; c != nil && c.any(int(p&0xffff), int(end-p)) {
			return true
		}
		p = end
	}
	return false
}

func (c *chunk) any(at, n int) bool {
	if c.bits == nil {
		i := sort.Search(len(c.low), func(i int) bool { return int(c.low[i]) >= at })
		return i < len(c.low) && int(c.low[i]) < at+n
	}
	for i := at; i < at+n; {
		w, o := i>>6, i&63
		m := min(64-o, at+n-i)
		if c.bits[w]>>o<<(64-m) != 0 {
			return true
		}
		i += m
	}
	return false
}

// live appends to out the rows of [0, n) whose position from+row is not in s.
func (s *posSet) live(out []uint16, from int64, n int) []uint16 {
	for row := 0; row < n; {
		p := from + int64(row)
		m := min(n-row, int((p>>16+1)<<16-p))
		out = s.chunks[p>>16].live(out, int(p&0xffff), row, m)
		row += m
	}
	return out
}

// live appends row … row+n-1 but for those whose low bits, at … at+n-1, are in c.
func (c *chunk) live(out []uint16, at, row, n int) []uint16 {
	switch {
	case c == nil:
		for i := 0; i < n; i++ {
			out = append(out, uint16(row+i))
		}
	case c.bits == nil:
		k := sort.Search(len(c.low), func(i int) bool { return int(c.low[i]) >= at })
		for i := 0; i < n; i++ {
			if k < len(c.low) && int(c.low[k]) == at+i {
				k++
				continue
			}
			out = append(out, uint16(row+i))
		}
	default:
		for i := 0; i < n; i++ {
			if j := at + i; c.bits[j>>6]>>(j&63)&1 == 0 {
				out = append(out, uint16(row+i))
			}
		}
	}
	return out
}

var errRoaring = sqlerr.New(sqlerr.DataCorrupted, "corrupt deletion vector")

// readRoaring adds the positions of a 64-bit roaring bitmap in the portable format
// (RoaringFormatSpec, "Extension for 64-bit implementations").
func (s *posSet) readRoaring(buf []byte, b *parquet.Budget) error {
	if len(buf) < 8 {
		return errRoaring
	}
	n := binary.LittleEndian.Uint64(buf)
	buf = buf[8:]
	last := int64(-1)
	for ; n > 0; n-- {
		if len(buf) < 4 {
			return errRoaring
		}
		key := int64(binary.LittleEndian.Uint32(buf))
		if key <= last || key > 1<<31-1 {
			return errRoaring
		}
		last = key
		var err error
		if buf, err = s.readRoaring32(key<<16, buf[4:], b); err != nil {
			return err
		}
	}
	if len(buf) != 0 {
		return errRoaring
	}
	return nil
}

// readRoaring32 reads one 32-bit bitmap whose containers' high bits follow base.
func (s *posSet) readRoaring32(base int64, buf []byte, b *parquet.Budget) (rest []byte, err error) {
	const noRuns, withRuns, noOffsets = 12346, 12347, 4
	le := binary.LittleEndian
	if len(buf) < 4 {
		return nil, errRoaring
	}
	cookie := le.Uint32(buf)
	var size int
	var runs []byte
	buf = buf[4:]
	switch {
	case cookie == noRuns:
		if len(buf) < 4 || le.Uint32(buf) > 1<<16 {
			return nil, errRoaring
		}
		size = int(le.Uint32(buf))
		buf = buf[4:]
	case cookie&0xffff == withRuns:
		size = int(cookie>>16) + 1
		k := (size + 7) / 8
		if len(buf) < k {
			return nil, errRoaring
		}
		runs, buf = buf[:k], buf[k:]
	default:
		return nil, errRoaring
	}
	if len(buf) < 4*size {
		return nil, errRoaring
	}
	heads := buf[:4*size]
	buf = buf[4*size:]
	if runs == nil || size >= noOffsets {
		if len(buf) < 4*size {
			return nil, errRoaring
		}
		buf = buf[4*size:]
	}
	last := -1
	for i := 0; i < size; i++ {
		key, card := int(le.Uint16(heads[4*i:])), int(le.Uint16(heads[4*i+2:]))+1
		if key <= last {
			return nil, errRoaring
		}
		last = key
		c, err := s.chunk(base|int64(key), b)
		if err != nil {
			return nil, err
		}
		run := runs != nil && runs[i/8]>>(i%8)&1 != 0
		if buf, err = s.readContainer(c, buf, card, run, b); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

func (s *posSet) readContainer(c *chunk, buf []byte, card int, run bool, b *parquet.Budget) (rest []byte, err error) {
	le := binary.LittleEndian
	switch {
	case run:
		if len(buf) < 2 {
			return nil, errRoaring
		}
		n := int(le.Uint16(buf))
		buf = buf[2:]
		if len(buf) < 4*n {
			return nil, errRoaring
		}
		if err := c.toBits(b); err != nil {
			return nil, err
		}
		for ; n > 0; n-- {
			from, to := int(le.Uint16(buf)), int(le.Uint16(buf))+int(le.Uint16(buf[2:]))
			if to > 0xffff {
				return nil, errRoaring
			}
			for v := from; v <= to; v++ {
				s.setBit(c, uint16(v))
			}
			buf = buf[4:]
		}
		return buf, nil
	case card <= 4096:
		if len(buf) < 2*card {
			return nil, errRoaring
		}
		if c.bits == nil && len(c.low) == 0 {
			if err := b.Reserve(int64(card) * 2); err != nil {
				return nil, err
			}
			c.low = make([]uint16, card)
			for i := range c.low {
				c.low[i] = le.Uint16(buf[2*i:])
				if i > 0 && c.low[i] <= c.low[i-1] {
					return nil, errRoaring
				}
			}
			s.count += int64(card)
			return buf[2*card:], nil
		}
		if err := c.toBits(b); err != nil {
			return nil, err
		}
		for i := 0; i < card; i++ {
			s.setBit(c, le.Uint16(buf[2*i:]))
		}
		return buf[2*card:], nil
	}
	if len(buf) < 8192 {
		return nil, errRoaring
	}
	if err := c.toBits(b); err != nil {
		return nil, err
	}
	for i := range c.bits {
		w := le.Uint64(buf[8*i:])
		s.count += int64(bits.OnesCount64(w &^ c.bits[i]))
		c.bits[i] |= w
	}
	return buf[8192:], nil
}
