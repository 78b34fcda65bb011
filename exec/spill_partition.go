package exec

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Rows that do not fit go to one of fanout partitions by some bits of their key's hash; each
// partition is then worked on alone, splitting again by the next bits when it still is too
// large. At maxLevel the hash has no bits left to trust: many rows share one key.
const (
	fanoutBits = 5
	fanout     = 1 << fanoutBits
	maxLevel   = 8
	// flushRows is the size of a partition's blocks; of wide rows, flushBytes is.
	flushRows  = 1024
	flushBytes = 128 << 10
)

// rowsOfBlock is how many rows of about so many bytes a block takes.
func rowsOfBlock(bytes int64, rows int) int {
	if rows == 0 {
		return flushRows
	}
	return int(max(1, min(flushRows, flushBytes/max(1, bytes/int64(rows)))))
}

// partitionOf takes a level's bits from the top of the hash, because tables use the bottom.
func partitionOf(hash uint64, level int) int {
	return int(hash >> (64 - fanoutBits*(level+1)) & (fanout - 1))
}

// partitions is one goroutine's share of spilled rows.
type partitions struct {
	types  []types.Type
	w      spillWriter
	bufs   [fanout]*rowStore
	blocks [fanout][]block
	rows   [fanout]int64
	lists  [fanout][]uint16
}

func newPartitions(file *spillFile, t []types.Type) *partitions {
	return &partitions{types: t, w: spillWriter{file: file}}
}

// write stores row sel[i] of cols in the partition of hashes[i].
func (p *partitions) write(cols []*vec.Vector, sel []uint16, rows int, hashes []uint64, level int) error {
	for i := range p.lists {
		p.lists[i] = p.lists[i][:0]
	}
	for i, s := range sel {
		k := partitionOf(hashes[i], level)
		p.lists[k] = append(p.lists[k], s)
	}
	for k, l := range p.lists {
		if len(l) == 0 {
			continue
		}
		if p.bufs[k] == nil {
			p.bufs[k] = newRowStore(p.types, nil)
		}
		p.bufs[k].append(cols, l, rows)
		p.rows[k] += int64(len(l))
		if p.bufs[k].n >= flushRows || p.bufs[k].bytes() >= flushBytes {
			if err := p.flush(k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partitions) flush(k int) error {
	s := p.bufs[k]
	if s == nil || s.n == 0 {
		return nil
	}
	for i := range s.chunks {
		b := s.batch(i)
		at, err := p.w.write(b.Cols, nil, b.Rows)
		if err != nil {
			return err
		}
		p.blocks[k] = append(p.blocks[k], at)
	}
	p.bufs[k] = nil
	return nil
}

// finish writes what is buffered.
func (p *partitions) finish() error {
	if p == nil {
		return nil
	}
	for k := range p.bufs {
		if err := p.flush(k); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with partition k's batches.
func (p *partitions) each(k int, f func(*vec.Batch) error) error {
	if p == nil {
		return nil
	}
	r := spillReader{file: p.w.file}
	for _, at := range p.blocks[k] {
		b, err := r.read(at, p.types)
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}
