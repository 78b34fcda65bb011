package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A sorter keeps rows and puts them in the order of their keys, stable, on disk when memory is
// short. For one goroutine; mergeSorters puts several together.
//
// Of each key the first 16 bytes lie in the entry that is moved about, so that comparing seldom
// touches more: integers and dates fit with their NULL byte.
type sorter struct {
	env   *Env
	types []types.Type
	skip  []bool
	enc   *keyEncoder
	mem   *memory
	file  *spillFile

	store   *rowStore
	entries []sortEntry
	short   bool     // all keys fit in 16 bytes
	arena   []byte   // the keys, when not short
	ends    []uint64 // key i is arena[ends[i-1]:ends[i]]
	runs    [][]block
	w       spillWriter

	// limit > 0: only the first limit rows are wanted. worst is the last of those found so far.
	limit int
	worst []byte
	keep  []uint16
}

type sortEntry struct {
	hi, lo uint64
	id     uint32 // of the row in store
	seq    uint32 // of the key in arena; ascends with the order of arrival
}

// minRunRows keeps runs from being so short that merging them is all work; wide rows, which
// fill minRunBytes, make runs that are long enough.
const (
	minRunRows  = 512
	minRunBytes = 1 << 20
)

func newSorter(env *Env, t []types.Type, skip []bool, keys []keyColumn, file *spillFile, limit int) *sorter {
	s := &sorter{env: env, types: t, skip: skip, enc: newKeyEncoder(keys), mem: newMemory(env), file: file, limit: limit}
	s.w.file = file
	width := 0
	for _, k := range keys {
		w := easy(&k, &vec.Vector{Type: k.typ, Form: k.typ.Form()})
		if w <= 0 || k.typ.Kind == types.Numeric {
			w = 100 // varies
		}
		width += w + 1
	}
	s.short = width <= 16
	s.reset()
	return s
}

func (s *sorter) reset() {
	s.store = newRowStore(s.types, s.skip)
	s.entries = nil
	s.arena, s.ends = nil, nil
}

func prefix(k []byte) (hi, lo uint64) {
	if len(k) >= 16 {
		return binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(k[8:])
	}
	var b [16]byte
	copy(b[:], k)
	return binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
}

// key is an entry's whole key, when not short.
func (s *sorter) key(e sortEntry) []byte {
	from := uint64(0)
	if e.seq > 0 {
		from = s.ends[e.seq-1]
	}
	return s.arena[from:s.ends[e.seq]]
}

// compareEntries orders an entry of s and one of t by key alone.
func compareEntries(s *sorter, a sortEntry, t *sorter, b sortEntry) int {
	switch {
	case a.hi < b.hi:
		return -1
	case a.hi > b.hi:
		return 1
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	case s.short:
		return 0
	}
	return bytes.Compare(s.key(a), t.key(b))
}

// add takes the rows sel of cols, to be ordered by keys, vectors of the same rows.
func (s *sorter) add(cols, keys []*vec.Vector, sel []uint16, rows int) error {
	if s.worst != nil {
		sel = s.promising(keys[0], sel)
	}
	if len(sel) == 0 {
		return nil
	}
	s.enc.encode(keys, sel)
	if s.worst != nil {
		// Equal to the worst is too late as well: the order is stable.
		keep := s.keep[:0]
		for i, r := range sel {
			if bytes.Compare(s.enc.key(i), s.worst) < 0 {
				keep = append(keep, r)
			}
		}
		s.keep = keep
		if len(keep) == 0 {
			return nil
		}
		if len(keep) < len(sel) {
			sel = keep
			s.enc.encode(keys, sel)
		}
	}
	for from := 0; from < len(sel); {
		id := s.store.nextID()
		k := min(len(sel)-from, chunkRows-int(id&chunkMask))
		part := sel[from : from+k]
		if k == rows {
			s.store.append(cols, nil, rows)
		} else {
			s.store.append(cols, part, rows)
		}
		for i := range part {
			key := s.enc.key(from + i)
			hi, lo := prefix(key)
			s.entries = append(s.entries, sortEntry{hi, lo, id + uint32(i), uint32(len(s.entries))})
			if !s.short {
				s.arena = append(s.arena, key...)
				s.ends = append(s.ends, uint64(len(s.arena)))
			}
		}
		from += k
	}
	if s.limit > 0 && len(s.entries) >= 2*s.limit+4096 {
		s.compact()
	}
	return s.account()
}

func (s *sorter) account() error {
	held := s.store.bytes() + int64(cap(s.entries))*24 + int64(cap(s.arena)) + int64(cap(s.ends))*8
	if s.mem.grow(held) || len(s.entries) < minRunRows && held < minRunBytes {
		return nil
	}
	return s.spill()
}

// promising drops rows that by their first key alone come after the worst of the rows kept. It
// only looks at plain 8-byte values: the key's first byte is 01, then come 7 of them in hi.
func (s *sorter) promising(v *vec.Vector, sel []uint16) []uint16 {
	kc := &s.enc.cols[0]
	if v.Enc != vec.Flat || v.Valid != nil || easy(kc, v) != 8 {
		return sel
	}
	worst, _ := prefix(s.worst)
	if worst>>56 != 1 {
		return sel
	}
	worst = worst<<8 | 0xFF
	flip := uint64(0)
	if kc.desc {
		flip = ^flip
	}
	if cap(s.keep) < len(sel) {
		s.keep = make([]uint16, len(sel))
	}
	keep := s.keep[:len(sel)]
	n := 0
	if v.Form == types.FormI64 {
		for _, r := range sel {
			keep[n] = r
			if uint64(v.I64[r])^1<<63^flip <= worst {
				n++
			}
		}
	} else {
		for _, r := range sel {
			keep[n] = r
			if floatKey(v.F64[r])^flip <= worst {
				n++
			}
		}
	}
	// keep is read while add filters again into the same memory: that goes forward only.
	return keep[:n]
}

// compact keeps the limit first rows only and remembers the worst of them.
func (s *sorter) compact() {
	s.sort()
	n := min(s.limit, len(s.entries))
	kept := s.entries[:n]
	if n == s.limit {
		last := kept[n-1]
		if s.short {
			s.worst = binary.BigEndian.AppendUint64(s.worst[:0], last.hi)
			s.worst = binary.BigEndian.AppendUint64(s.worst, last.lo)
		} else {
			s.worst = append(s.worst[:0], s.key(last)...)
		}
	}
	s.store.index()
	old := *s
	cols := newColumns(s.types)
	s.reset()
	s.entries = make([]sortEntry, 0, 2*s.limit+4096+vec.BatchRows)
	ids := make([]uint32, 0, vec.BatchRows)
	vs := make([]*vec.Vector, len(cols))
	for len(kept) > 0 {
		k := min(len(kept), vec.BatchRows)
		ids = ids[:0]
		for _, e := range kept[:k] {
			ids = append(ids, e.id)
		}
		for c := range cols {
			vs[c] = cols[c].pick(old.store, c, ids, nil, k)
		}
		for _, e := range kept[:k] {
			seq := uint32(len(s.entries))
			if !s.short {
				s.arena = append(s.arena, old.key(e)...)
				s.ends = append(s.ends, uint64(len(s.arena)))
			}
			// The store fills from empty in batches that divide its chunks: ids are in step.
			s.entries = append(s.entries, sortEntry{e.hi, e.lo, seq, seq})
		}
		s.store.append(vs, nil, k)
		kept = kept[k:]
	}
}

// spill writes the rows held as one sorted run, each with its key as a last column.
func (s *sorter) spill() error {
	if len(s.entries) == 0 {
		return nil
	}
	if s.limit > 0 && len(s.entries) > s.limit {
		s.compact()
	}
	s.sort()
	step := rowsOfBlock(s.store.bytes(), s.store.n)
	s.store.index()
	cols := newColumns(s.types)
	vs := make([]*vec.Vector, len(cols)+1)
	keys := vec.NewAppender(types.T(types.Bytea))
	var run []block
	ids := make([]uint32, 0, step)
	var buf [16]byte
	for at := 0; at < len(s.entries); {
		k := min(len(s.entries)-at, step)
		ids = ids[:0]
		keys.Reset()
		for _, e := range s.entries[at : at+k] {
			ids = append(ids, e.id)
			if s.short {
				binary.BigEndian.PutUint64(buf[:], e.hi)
				binary.BigEndian.PutUint64(buf[8:], e.lo)
				keys.AppendDatum(types.NewStr(string(buf[:])))
			} else {
				keys.AppendDatum(types.NewStr(string(s.key(e))))
			}
		}
		for c := range cols {
			vs[c] = cols[c].pick(s.store, c, ids, nil, k)
		}
		vs[len(cols)] = keys.Vector()
		b, err := s.w.write(vs, nil, k)
		if err != nil {
			return err
		}
		run = append(run, b)
		at += k
	}
	s.runs = append(s.runs, run)
	s.reset()
	s.mem.free()
	return nil
}

func (s *sorter) free() {
	s.reset()
	s.mem.free()
}
