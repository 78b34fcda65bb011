package exec

import (
	"bytes"
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// noGroup is what find gives for rows whose group does not exist and may not be made.
const noGroup = ^uint32(0)

// groupTable numbers the distinct keys that it sees, densely from 0, and keeps their values.
// Keys are NULL-safe: NULL is one more value.
//
// One integer column is hashed as it is; other columns are hashed and compared where they lie. Keys of
// difficult types only are encoded as bytes. In front of all, keys that come as
// dictionary codes are looked up by code: a group by two dictionary columns costs an addition and a
// load per row.
type groupTable struct {
	types []types.Type
	keys  []*vec.Appender // column by column, group by group
	n     int
	kept  int // groups whose values are in keys: all but those of the batch at hand

	ints  bool
	int   intTable
	plain bool // some column is compared in place
	rows  rowTable
	bytes byteTable
	enc   *keyEncoder
	codes codeCache

	fresh   []uint16 // rows of the batch that made a group
	missing []int
	firsts  []uint16
	gone    []uint32
}

func newGroupTable(t []types.Type) *groupTable {
	g := &groupTable{types: t, ints: len(t) == 1 && sameI64(t[0])}
	cols := make([]keyColumn, len(t))
	for i := range t {
		cols[i] = equalKey(t[i])
		g.keys = append(g.keys, vec.NewAppender(t[i]))
		g.plain = g.plain || inPlace(t[i])
	}
	g.enc = newKeyEncoder(cols)
	g.rows = newRowTable(cols)
	g.int.null = noGroup
	return g
}

// bytesHeld is the memory in use.
func (t *groupTable) bytesHeld() int64 {
	n := t.int.bytesHeld() + t.rows.bytesHeld() + t.bytes.bytesHeld() + int64(cap(t.codes.table))*4
	for _, k := range t.keys {
		n += k.Bytes()
	}
	return n
}

// maxKeyBytes bounds a key column's strings: vec.View offsets are 32 bits.
const maxKeyBytes = math.MaxUint32 / 2

// find gives groups[i] for row sel[i]; add says whether unknown keys make a group.
func (t *groupTable) find(vs []*vec.Vector, sel []uint16, rows int, groups []uint32, add bool) error {
	t.fresh, t.kept = t.fresh[:0], t.n
	switch {
	case len(vs) == 0:
		if t.n == 0 && !add {
			fill(groups[:len(sel)], noGroup)
			return nil
		}
		t.n = max(t.n, 1)
		clear(groups[:len(sel)])
		return nil
	case t.codes.fits(vs, len(sel)):
		t.findCodes(vs, sel, rows, groups, add)
	default:
		t.findKeys(vs, sel, rows, groups, add)
	}
	return t.keep(vs, rows)
}

// findKeys is find by the keys' values.
func (t *groupTable) findKeys(vs []*vec.Vector, sel []uint16, rows int, groups []uint32, add bool) {
	switch {
	case t.ints:
		t.findInts(vs[0], sel, groups, add)
	case t.plain:
		t.findRows(vs, sel, rows, groups, add)
	default:
		t.findBytes(vs, sel, groups, add)
	}
}

// hash gives the hashes of the keys of rows sel, by which rows are spilled; valid until t's next call.
func (t *groupTable) hash(vs []*vec.Vector, sel []uint16, rows int) []uint64 {
	if t.plain {
		return t.rows.hashRows(t.enc.cols, vs, sel, rows, false)
	}
	t.enc.encode(vs, sel)
	t.rows.hashes = grown(t.rows.hashes, len(sel))
	hashes := t.rows.hashes[:len(sel)]
	for i := range sel {
		hashes[i] = hashKey(t.enc.key(i))
	}
	return hashes
}

func fill(s []uint32, x uint32) {
	for i := range s {
		s[i] = x
	}
}

// keep stores the values of the groups that the batch made.
func (t *groupTable) keep(vs []*vec.Vector, rows int) error {
	if len(t.fresh) == 0 {
		return nil
	}
	if t.plain && !t.ints {
		t.rows.keep(t.fresh)
	}
	for c, v := range vs {
		t.keys[c].AppendSel(v, t.fresh, rows)
		if len(t.keys[c].Vector().Data) > maxKeyBytes || t.n > math.MaxUint32/2 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many distinct keys to group in memory")
		}
	}
	return nil
}

// findBytes looks keys up by their encoding.
func (t *groupTable) findBytes(vs []*vec.Vector, sel []uint16, groups []uint32, add bool) {
	t.enc.encode(vs, sel)
	for i, s := range sel {
		k := t.enc.key(i)
		id, slot := t.bytes.find(k, hashKey(k))
		if id == noGroup && add {
			id = uint32(t.n)
			t.n++
			t.bytes.add(k, slot, id)
			t.fresh = append(t.fresh, s)
		}
		groups[i] = id
	}
}

// byteTable maps encoded keys to numbers by open addressing.
type byteTable struct {
	slots []byteSlot
	arena []byte
	ends  []uint64 // key i is arena[ends[i-1]:ends[i]]
}

func (t *byteTable) bytesHeld() int64 {
	return int64(cap(t.slots))*8 + int64(cap(t.arena)) + int64(cap(t.ends))*8
}

type byteSlot struct {
	hash uint32 // the upper half
	id   uint32 // number + 1; 0: empty
}

func (t *byteTable) key(id uint32) []byte {
	from := uint64(0)
	if id > 0 {
		from = t.ends[id-1]
	}
	return t.arena[from:t.ends[id]]
}

// find gives k's number, or noGroup and the slot's token to hand to add.
func (t *byteTable) find(k []byte, hash uint64) (id uint32, token uint64) {
	if len(t.slots) == 0 {
		t.slots = make([]byteSlot, 1<<10)
	}
	mask := uint64(len(t.slots) - 1)
	h := uint32(hash >> 32)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.id == 0 {
			return noGroup, hash
		}
		if s.hash == h && bytes.Equal(t.key(s.id-1), k) {
			return s.id - 1, hash
		}
	}
}

// add puts k, which find did not find, in as number id = number of keys so far.
func (t *byteTable) add(k []byte, hash uint64, id uint32) {
	t.arena = append(t.arena, k...)
	t.ends = append(t.ends, uint64(len(t.arena)))
	if 2*len(t.ends) > len(t.slots) {
		t.grow()
	}
	t.insert(hash, id)
}

func (t *byteTable) insert(hash uint64, id uint32) {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = byteSlot{hash: uint32(hash >> 32), id: id + 1}
}

func (t *byteTable) grow() {
	t.slots = make([]byteSlot, 2*len(t.slots))
	for id := range len(t.ends) - 1 { // the newest is inserted by the caller
		t.insert(hashKey(t.key(uint32(id))), uint32(id))
	}
}

// rowsOf is rows [from, to) of a Flat vector as a vector of its own, sharing memory. from is a
// multiple of 64, for the bitmap's sake.
func rowsOf(v *vec.Vector, from, to int) *vec.Vector {
	w := *v
	if v.Valid != nil {
		w.Valid = v.Valid[from/64:]
	}
	switch v.Form {
	case types.FormBool:
		w.Bools = v.Bools[from:to]
	case types.FormI64:
		w.I64 = v.I64[from:to]
	case types.FormF64:
		w.F64 = v.F64[from:to]
	case types.FormW128:
		w.W128 = v.W128[from:to]
	case types.FormStr:
		w.Views = v.Views[from:to]
	case types.FormList:
		w.Offsets = v.Offsets[from : to+1]
	case types.FormStruct:
		w.Children = make([]*vec.Vector, len(v.Children))
		for i, c := range v.Children {
			w.Children[i] = rowsOf(c, from, to)
		}
	}
	return &w
}
