package exec

import (
	"bytes"
	"context"
	"math"
	"math/bits"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// joinKeys says how a join's keys are hashed.
type joinKeys struct {
	cols     []keyColumn
	nullSafe []bool
	ints     bool // every key lies as int64: packed into one when their ranges allow
}

func newJoinKeys(l, r []types.Type, nullSafe []bool) (k joinKeys, ok bool) {
	k.ints = true
	for i := range l {
		c, ok := joinKey(l[i], r[i])
		if !ok {
			return k, false
		}
		safe := nullSafe != nil && nullSafe[i]
		k.cols = append(k.cols, c)
		k.nullSafe = append(k.nullSafe, safe)
		k.ints = k.ints && sameI64(l[i]) && sameI64(r[i]) && !safe
	}
	return k, true
}

// nullRows marks the rows of sel whose key is NULL where NULL equals nothing: null[i] for
// sel[i]. nil: none.
func (k *joinKeys) nullRows(vs []*vec.Vector, sel []uint16, null []bool) []bool {
	any := false
	for c, v := range vs {
		if k.nullSafe[c] || v.Valid == nil {
			continue
		}
		if !any {
			null = grown(null, len(sel))
			clear(null)
			any = true
		}
		for i, s := range sel {
			if v.Null(int(s)) {
				null[i] = true
			}
		}
	}
	if !any {
		return nil
	}
	return null
}

// buildRows are the rows of a join's build side that one goroutine collected, with their keys.
// Row i of the store has its key at index i of the arrays.
type buildRows struct {
	store *rowStore
	null  []bool // nil until a row's key is NULL
	// Keys: columns of integers with their bounds, or encoded bytes.
	ints   [][]int64
	lo, hi []int64
	valid  bool // lo and hi hold something
	arena  []byte
	ends   []uint64

	enc     *keyEncoder
	scratch []bool

	// Of rows that went to disk before.
	flushed int64
	sawNull bool
}

func newBuildRows(k *joinKeys, t []types.Type, skip []bool) *buildRows {
	r := &buildRows{store: newRowStore(t, skip), enc: newKeyEncoder(k.cols)}
	if k.ints {
		r.ints = make([][]int64, len(k.cols))
		r.lo, r.hi = make([]int64, len(k.cols)), make([]int64, len(k.cols))
	}
	return r
}

func (r *buildRows) bytes() int64 {
	n := r.store.bytes() + int64(cap(r.null)) + int64(cap(r.arena)) + int64(cap(r.ends))*8
	for _, c := range r.ints {
		n += int64(cap(c)) * 8
	}
	// The table that will be made of it: slots at half load, chains, matches.
	return n + int64(r.store.n)*(16*2+8)
}

// add appends the rows sel of cols with their keys.
func (r *buildRows) add(k *joinKeys, cols, keys []*vec.Vector, sel []uint16, rows int) {
	from := r.store.n
	if len(sel) == rows {
		r.store.append(cols, nil, rows)
	} else {
		r.store.append(cols, sel, rows)
	}
	null := k.nullRows(keys, sel, r.scratch)
	if null != nil {
		r.scratch = null
		if r.null == nil {
			r.null = make([]bool, from)
		}
	}
	if r.null != nil {
		if null == nil {
			r.null = append(r.null, make([]bool, len(sel))...)
		} else {
			r.null = append(r.null, null...)
		}
	}
	if !k.ints {
		r.enc.encode(keys, sel)
		base := uint64(len(r.arena))
		r.arena = append(r.arena, r.enc.buf[:r.enc.off[len(sel)]]...)
		for i := range sel {
			r.ends = append(r.ends, base+uint64(r.enc.off[i+1]))
		}
		return
	}
	for c, v := range keys {
		f := v.Values()
		for i, s := range sel {
			x := int64(0)
			if null == nil || !null[i] {
				x = f.I64[v.Row(int(s))]
				if !r.valid {
					// The first whole key sets all columns' bounds.
					for c2, v2 := range keys {
						y := v2.Values().I64[v2.Row(int(s))]
						r.lo[c2], r.hi[c2] = y, y
					}
					r.valid = true
				}
				if x < r.lo[c] {
					r.lo[c] = x
				}
				if x > r.hi[c] {
					r.hi[c] = x
				}
			}
			r.ints[c] = append(r.ints[c], x)
		}
	}
}

func (r *buildRows) key(i int) []byte {
	from := uint64(0)
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.arena[from:r.ends[i]]
}

// joinTable finds the build rows of a key. Rows of one key are chained.
type joinTable struct {
	keys    *joinKeys
	store   *rowStore
	nulls   []uint32 // ids of rows whose key is NULL
	dups    bool     // some key has several rows
	packed  bool     // by ints: key = Σ (x-lo)·stride
	lo, hi  []int64
	stride  []uint64
	dense   []uint32 // packed key → first row
	parts   []joinPart
	shift   uint // of a hash: the part
	next    [][]uint32
	matched [][]uint32 // set atomically; nil when nobody asks
	rowKeys []chunkKeys
}

// joinPart is the share of the hash table that one goroutine built.
type joinPart struct {
	ints  []intSlot
	bytes []joinSlot
	dups  bool
}

type joinSlot struct {
	hash uint64
	head uint32 // noRow: empty
}

// chunkKeys finds the encoded key of a chunk's row.
type chunkKeys struct {
	rows *buildRows
	from int
}

// newJoinTable puts together what the goroutines collected, building with workers of them.
func newJoinTable(ctx context.Context, k *joinKeys, sides []*buildRows, workers int, matches bool) (*joinTable, error) {
	t := &joinTable{keys: k, store: sides[0].store, packed: k.ints}
	bases := make([]uint32, len(sides))
	for i, r := range sides {
		if i > 0 {
			bases[i] = t.store.adopt(r.store)
		}
	}
	for i, r := range sides {
		end := len(t.store.chunks)
		if i+1 < len(sides) {
			end = int(bases[i+1] >> chunkBits)
		}
		for c := int(bases[i] >> chunkBits); c < end; c++ {
			t.rowKeys = append(t.rowKeys, chunkKeys{r, (c - int(bases[i]>>chunkBits)) << chunkBits})
		}
		for j, null := range r.null {
			if null {
				t.nulls = append(t.nulls, bases[i]+uint32(j))
			}
		}
	}
	for _, c := range t.store.chunks {
		t.next = append(t.next, make([]uint32, c.rows))
		if matches {
			t.matched = append(t.matched, make([]uint32, c.rows))
		}
	}
	t.store.index()
	n := t.store.n
	if t.store.n < 4*chunkRows {
		workers = 1
	}
	// A power of two of parts, by the top bits of the hash.
	logParts := bits.Len(uint(workers)) - 1
	workers = 1 << logParts
	t.shift = uint(64 - logParts)
	if k.ints && t.pack(sides, n) {
		t.buildDense(ctx, sides, bases, workers)
		return t, nil
	}
	t.parts = make([]joinPart, workers)
	err := parallel(ctx, workers, func(_ context.Context, w int) error {
		t.buildPart(uint64(w), sides, bases, n/workers)
		return nil
	})
	for i := range t.parts {
		t.dups = t.dups || t.parts[i].dups
	}
	return t, err
}

// pack finds the strides that make one number of several keys, and tells whether an array over
// all such numbers is small enough.
func (t *joinTable) pack(sides []*buildRows, n int) bool {
	t.packed = false
	any := false
	for _, r := range sides {
		if !r.valid {
			continue
		}
		if !any {
			t.lo, t.hi = append([]int64(nil), r.lo...), append([]int64(nil), r.hi...)
			any = true
		}
		for c := range t.lo {
			t.lo[c], t.hi[c] = min(t.lo[c], r.lo[c]), max(t.hi[c], r.hi[c])
		}
	}
	if !any { // no keys: an array without places finds nothing
		t.lo, t.hi = make([]int64, len(t.keys.cols)), make([]int64, len(t.keys.cols))
		t.packed, t.dense = true, []uint32{noRow}
		t.stride = make([]uint64, len(t.lo))
		for c := range t.stride {
			t.stride[c] = 1
		}
		return true
	}
	size := uint64(1)
	t.stride = make([]uint64, len(t.lo))
	for c := range t.lo {
		t.stride[c] = size
		span := uint64(t.hi[c]) - uint64(t.lo[c])
		if len(t.lo) == 1 && span == math.MaxUint64 {
			t.packed = true // any integer is a key
			return false
		}
		hi, lo := bits.Mul64(size, span+1)
		if hi != 0 || span == math.MaxUint64 {
			return false
		}
		size = lo
	}
	t.packed = true
	if size > uint64(8*n+1024) {
		return false
	}
	t.dense = make([]uint32, size)
	fill(t.dense, noRow)
	return true
}

// packRow is build row i's packed key.
func (t *joinTable) packRow(r *buildRows, i int) uint64 {
	if len(r.ints) == 1 {
		return uint64(r.ints[0][i]) - uint64(t.lo[0])
	}
	x := uint64(0)
	for c, ints := range r.ints {
		x += (uint64(ints[i]) - uint64(t.lo[c])) * t.stride[c]
	}
	return x
}

// buildDense fills the array, each goroutine its own range of it.
func (t *joinTable) buildDense(ctx context.Context, sides []*buildRows, bases []uint32, workers int) {
	dups := make([]bool, workers)
	size := uint64(len(t.dense))
	_ = parallel(ctx, workers, func(_ context.Context, w int) error {
		from, to := size*uint64(w)/uint64(workers), size*uint64(w+1)/uint64(workers)
		for s, r := range sides {
			for i := range r.ints[0] {
				if r.null != nil && r.null[i] {
					continue
				}
				x := t.packRow(r, i)
				if x < from || x >= to {
					continue
				}
				id := bases[s] + uint32(i)
				head := t.dense[x]
				t.next[id>>chunkBits][id&chunkMask] = head
				dups[w] = dups[w] || head != noRow
				t.dense[x] = id
			}
		}
		return nil
	})
	for _, d := range dups {
		t.dups = t.dups || d
	}
}

func (t *joinTable) buildPart(w uint64, sides []*buildRows, bases []uint32, expect int) {
	p := &t.parts[w]
	size := 1 << bits.Len(uint(2*expect+16))
	if t.keys.ints && t.packed {
		p.ints = newIntSlots(size)
	} else {
		p.bytes = newJoinSlots(size)
	}
	used := 0
	for s, r := range sides {
		for i := range r.store.rowsOfOwn(r) {
			if r.null != nil && r.null[i] {
				continue
			}
			id := bases[s] + uint32(i)
			var head *uint32
			if p.ints != nil {
				x := t.packRow(r, i)
				h := hashInt(int64(x))
				if h>>t.shift != w {
					continue
				}
				head = p.slotInt(int64(x), h)
			} else {
				key := r.joinKeyBytes(i)
				h := hashKey(key)
				if h>>t.shift != w {
					continue
				}
				head = p.slotBytes(t, key, h)
			}
			t.next[id>>chunkBits][id&chunkMask] = *head
			if *head == noRow {
				used++
			} else {
				p.dups = true
			}
			*head = id
			if 2*used > size {
				size *= 2
				p.grow(size)
			}
		}
	}
}

// rowsOfOwn ranges over the rows that r collected itself: its store may have adopted more.
func (s *rowStore) rowsOfOwn(r *buildRows) int {
	if r.ints != nil {
		return len(r.ints[0])
	}
	return len(r.ends)
}

// joinKeyBytes is row i's key as bytes. Integer keys whose ranges do not pack are encoded now.
func (r *buildRows) joinKeyBytes(i int) []byte {
	if r.ints == nil {
		return r.key(i)
	}
	return appendIntsKey(nil, r.ints, i)
}

func appendIntsKey(dst []byte, ints [][]int64, i int) []byte {
	for _, c := range ints {
		dst = appendIntKey(dst, c[i])
	}
	return dst
}

func newJoinSlots(n int) []joinSlot {
	s := make([]joinSlot, n)
	for i := range s {
		s[i].head = noRow
	}
	return s
}

func (p *joinPart) slotInt(x int64, h uint64) *uint32 {
	mask := uint64(len(p.ints) - 1)
	i := h & mask
	for {
		s := &p.ints[i]
		if s.id == noRow {
			s.key = x
			return &s.id
		}
		if s.key == x {
			return &s.id
		}
		i = (i + 1) & mask
	}
}

func (p *joinPart) slotBytes(t *joinTable, key []byte, h uint64) *uint32 {
	mask := uint64(len(p.bytes) - 1)
	i := h & mask
	for {
		s := &p.bytes[i]
		if s.head == noRow {
			s.hash = h
			return &s.head
		}
		if s.hash == h && bytes.Equal(t.rowKey(s.head), key) {
			return &s.head
		}
		i = (i + 1) & mask
	}
}

// rowKey is the byte key of a row in the table.
func (t *joinTable) rowKey(id uint32) []byte {
	k := &t.rowKeys[id>>chunkBits]
	return k.rows.joinKeyBytes(k.from + int(id&chunkMask))
}

func (p *joinPart) grow(size int) {
	mask := uint64(size - 1)
	if p.ints != nil {
		old := p.ints
		p.ints = newIntSlots(size)
		for _, s := range old {
			if s.id == noRow {
				continue
			}
			i := hashInt(s.key) & mask
			for p.ints[i].id != noRow {
				i = (i + 1) & mask
			}
			p.ints[i] = s
		}
		return
	}
	old := p.bytes
	p.bytes = newJoinSlots(size)
	for _, s := range old {
		if s.head == noRow {
			continue
		}
		i := s.hash & mask
		for p.bytes[i].head != noRow {
			i = (i + 1) & mask
		}
		p.bytes[i] = s
	}
}

// intSlot is one place of a join's table of integer keys.
type intSlot struct {
	key int64
	id  uint32 // noGroup: empty
}

func newIntSlots(n int) []intSlot {
	s := make([]intSlot, n)
	for i := range s {
		s[i].id = noGroup
	}
	return s
}
