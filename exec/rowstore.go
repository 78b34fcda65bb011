package exec

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A rowStore keeps copies of rows in chunks of dense columns. A row's id is its chunk's number
// and its place there, so chunks that several goroutines filled can be put together without
// moving rows. Ids ascend in the order of appending.
type rowStore struct {
	types  []types.Type
	skip   []bool // columns that nobody reads; nil: none
	chunks []*chunk
	open   []*vec.Appender // of the last chunk, while it grows
	sealed int64           // bytes of the chunks that are full
	n      int
	cols   []storeColumn // made by index
}

type chunk struct {
	cols []*vec.Vector
	rows int
}

const (
	chunkBits = 14
	chunkRows = 1 << chunkBits
	chunkMask = chunkRows - 1
	// noRow is the id of the row that does not exist: all NULL.
	noRow = ^uint32(0)
)

func newRowStore(t []types.Type, skip []bool) *rowStore { return &rowStore{types: t, skip: skip} }

func (s *rowStore) skipped(c int) bool { return s.skip != nil && s.skip[c] }

// last is the chunk that grows, with room for at least one row.
func (s *rowStore) last() *chunk {
	if k := len(s.chunks); k > 0 && s.open != nil && s.chunks[k-1].rows < chunkRows {
		return s.chunks[k-1]
	}
	s.seal()
	s.open = make([]*vec.Appender, len(s.types))
	c := &chunk{cols: make([]*vec.Vector, len(s.types))}
	for i, t := range s.types {
		if !s.skipped(i) {
			s.open[i] = vec.NewAppender(t)
			c.cols[i] = s.open[i].Vector()
		}
	}
	s.chunks = append(s.chunks, c)
	return c
}

func (s *rowStore) seal() {
	for _, a := range s.open {
		if a != nil {
			s.sealed += a.Bytes()
		}
	}
	s.open = nil
}

// append copies the rows sel (nil: all) of cols.
func (s *rowStore) append(cols []*vec.Vector, sel []uint16, rows int) {
	if sel == nil {
		sel = identity[:rows]
	}
	whole := len(sel) == rows
	for len(sel) > 0 {
		c := s.last()
		k := min(chunkRows-c.rows, len(sel))
		for i, a := range s.open {
			if a == nil {
				continue
			}
			if whole && k == rows {
				a.AppendSel(cols[i], nil, rows)
			} else {
				a.AppendSel(cols[i], sel[:k], rows)
			}
			c.cols[i] = a.Vector()
		}
		c.rows += k
		s.n += k
		sel = sel[k:]
		whole = false
	}
}

func (s *rowStore) appendBatch(b *vec.Batch) { s.append(b.Cols, b.Sel, b.Rows) }

// bytes is the memory held.
func (s *rowStore) bytes() int64 {
	n := s.sealed
	for _, a := range s.open {
		if a != nil {
			n += a.Bytes()
		}
	}
	return n
}

// nextID is the id that the next appended row gets.
func (s *rowStore) nextID() uint32 {
	k := len(s.chunks)
	if k == 0 {
		return 0
	}
	if s.open != nil && s.chunks[k-1].rows < chunkRows {
		return uint32(k-1)<<chunkBits | uint32(s.chunks[k-1].rows)
	}
	return uint32(k) << chunkBits
}

// adopt takes over other's chunks behind s's own; s's ids stay, other's shift by the result.
func (s *rowStore) adopt(other *rowStore) uint32 {
	s.seal()
	other.seal()
	base := uint32(len(s.chunks)) << chunkBits
	s.chunks = append(s.chunks, other.chunks...)
	s.sealed += other.sealed
	s.n += other.n
	return base
}

// batch is chunk i as a batch.
func (s *rowStore) batch(i int) *vec.Batch {
	return &vec.Batch{Cols: s.chunks[i].cols, Rows: s.chunks[i].rows}
}

// storeColumn is one column of all chunks, ready for reading by id.
type storeColumn struct {
	typ   types.Type
	form  types.Form // FormNone: chunks differ or values nest; read value by value
	nulls bool
	vecs  []*vec.Vector
	bools [][]bool
	i64   [][]int64
	f64   [][]float64
	w128  [][]types.Int128
}

// index prepares reading by id; call it after the last append.
func (s *rowStore) index() {
	s.seal()
	s.cols = make([]storeColumn, len(s.types))
	for c := range s.cols {
		if s.skipped(c) {
			continue
		}
		col := &s.cols[c]
		col.typ = s.types[c]
		for k, ch := range s.chunks {
			v := ch.cols[c]
			if k == 0 {
				col.form = v.Form
			} else if col.form != v.Form {
				col.form = types.FormNone
			}
			col.nulls = col.nulls || v.Valid != nil
			col.vecs = append(col.vecs, v)
		}
		switch col.form {
		case types.FormBool:
			col.bools = slicesOf(col.vecs, func(v *vec.Vector) []bool { return v.Bools })
		case types.FormI64:
			col.i64 = slicesOf(col.vecs, func(v *vec.Vector) []int64 { return v.I64 })
		case types.FormF64:
			col.f64 = slicesOf(col.vecs, func(v *vec.Vector) []float64 { return v.F64 })
		case types.FormW128:
			col.w128 = slicesOf(col.vecs, func(v *vec.Vector) []types.Int128 { return v.W128 })
		case types.FormStr:
		default:
			col.form = types.FormNone
		}
	}
}

func slicesOf[T any](vs []*vec.Vector, get func(*vec.Vector) []T) [][]T {
	s := make([][]T, len(vs))
	for i, v := range vs {
		s[i] = get(v)
	}
	return s
}
