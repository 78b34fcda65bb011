package exec

import (
	"bytes"
	"math/bits"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// rowTable numbers keys of any columns by open addressing over their hashes. It holds no keys: a
// group's values lie in the groupTable's columns, once, and are compared there, column by column
// for all rows of a batch, so that cache misses of different rows overlap.
type rowTable struct {
	// slots hold a hash's lower half above the number + 1; 0: empty. A key's place follows from the
	// lower half alone, so that a table grows without looking at its keys.
	slots []uint64

	hashes     []uint64 // of the batch's rows
	at         []uint32 // the slot where row i's candidate was found
	first      []uint64 // the slot at which row i's search begins
	candidates []uint32 // rows, as indexes of sel, that may have the group in groups
	unequal    []uint32
	again      []uint32
	missing    []uint32
	dicts      []dictHashes // by key column
	interned   []*interned  // by key column; nil: its values are compared in place
}

// interned numbers the values of a key column of difficult type by their encoding, so that groups
// have a number each to compare.
type interned struct {
	enc    *keyEncoder
	values byteTable
	groups []uint32 // by group: its value's number
	rows   []uint32 // of the batch, by row
	codes  []uint32 // by code of the dictionary that dicts knows
	cell   []byte
}

// unknownValue is the number of values that no group has.
const unknownValue = noGroup

// dictHashes are the hashes of a dictionary's values, made when they are first met.
type dictHashes struct {
	id     uint64
	n      int
	hashes []uint64 // 0: not made yet
}

func (t *rowTable) bytesHeld() int64 {
	n := int64(cap(t.slots))*8 + int64(cap(t.hashes))*8
	for i := range t.dicts {
		n += int64(cap(t.dicts[i].hashes)) * 8
	}
	for _, in := range t.interned {
		if in != nil {
			n += in.values.bytesHeld() + int64(cap(in.groups)+cap(in.codes)+cap(in.rows))*4
		}
	}
	return n
}

func newRowTable(cols []keyColumn) rowTable {
	t := rowTable{dicts: make([]dictHashes, len(cols)), interned: make([]*interned, len(cols))}
	for c := range cols {
		if !inPlace(cols[c].typ) {
			t.interned[c] = &interned{enc: newKeyEncoder(cols[c : c+1])}
		}
	}
	return t
}

// number gives the number of an encoded value; add says whether an unknown one gets one.
func (in *interned) number(k []byte, hash uint64, add bool) uint32 {
	id, slot := in.values.find(k, hash)
	if id == noGroup && add {
		id = uint32(len(in.values.ends))
		in.values.add(k, slot, id)
	}
	return id
}

// look gives hashes and numbers of the rows sel of v, the numbers by row.
func (in *interned) look(d *dictHashes, v *vec.Vector, sel []uint16, rows int, add bool, put func(i int, h uint64)) {
	in.rows = grown(in.rows, rows)
	f := v.Values()
	if v.Enc != vec.Dict || f.DictID == 0 && len32(f) > len(sel) {
		in.enc.encode([]*vec.Vector{v}, sel)
		for i, s := range sel {
			k := in.enc.key(i)
			h := hashKey(k)
			in.rows[s] = in.number(k, h, add)
			put(i, h)
		}
		return
	}
	hashes := d.of(f)
	in.codes = grown(in.codes, len(hashes))
	kc := &in.enc.cols[0]
	for i, s := range sel {
		if v.Null(int(s)) {
			in.cell = append(in.cell[:0], kc.nulls)
			h := hashKey(in.cell)
			in.rows[s] = in.number(in.cell, h, add)
			put(i, h)
			continue
		}
		code := v.Codes[s]
		h := hashes[code]
		if h == 0 || in.codes[code] == unknownValue && add {
			in.cell = kc.appendDatum(append(in.cell[:0], 1), f.Datum(int(code)), f.Type)
			h = hashKey(in.cell)
			hashes[code], in.codes[code] = h, in.number(in.cell, h, add)
		}
		in.rows[s] = in.codes[code]
		put(i, h)
	}
}

// inPlace tells whether values of t are hashed and compared where they lie. Others have several
// forms of one value (decimals, JSON) or are made of parts: they are encoded, and numbered.
func inPlace(t types.Type) bool {
	switch t.Kind {
	case types.Numeric, types.TimeTZ, types.JSONB, types.Variant:
		return false
	}
	switch t.Form() {
	case types.FormBool, types.FormI64, types.FormF64, types.FormW128, types.FormStr:
		return true
	}
	return false
}

// The seeds differ from process to process, so that nobody can prepare keys that collide.
var rowSeeds = [3]uint64{hashKey([]byte{1}) | 1, hashKey([]byte{2}) | 1, hashKey([]byte{3}) | 1}

// fold64 mixes two words by their 128-bit product.
func fold64(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func hashWord(x uint64) uint64 { return fold64(x^rowSeeds[0], rowSeeds[1]^0x9E3779B97F4A7C15) }

// nullHash stands for NULL.
const nullHash = 0x6A09E667F3BCC909

// hashValue is the hash of value r of f, a Flat vector of key column kc; never 0.
func hashValue(kc *keyColumn, f *vec.Vector, r int) uint64 {
	var h uint64
	switch f.Form {
	case types.FormBool:
		if f.Bools[r] {
			h = hashWord(1)
		} else {
			h = hashWord(0)
		}
	case types.FormI64:
		h = hashWord(uint64(f.I64[r]))
	case types.FormF64:
		h = hashWord(floatKey(f.F64[r]))
	case types.FormW128:
		w := wideKey(kc.typ, f.W128[r])
		h = fold64(hashWord(uint64(w.Hi))^rowSeeds[2], w.Lo^rowSeeds[1])
	default:
		h = hashKey(stringKey(kc, f, r))
	}
	return max(h, 1)
}

// hashRows gives the hashes of the keys of rows sel. Equal keys have equal hashes in whatever vectors
// they come; the upper half chooses a spilled row's partition, the lower its place in a table.
func (t *rowTable) hashRows(cols []keyColumn, vs []*vec.Vector, sel []uint16, rows int, add bool) []uint64 {
	t.hashes = grown(t.hashes, len(sel))
	out := t.hashes[:len(sel)]
	for c, v := range vs {
		t.hashColumn(c, &cols[c], v, sel, rows, add, out)
	}
	return out
}

// chain puts a further column's hash into that of the columns before it.
func chain(before, h uint64) uint64 { return fold64(before^rowSeeds[2], h^rowSeeds[1]) }

func (t *rowTable) hashColumn(c int, kc *keyColumn, v *vec.Vector, sel []uint16, rows int, add bool, out []uint64) {
	put := func(i int, h uint64) {
		if c > 0 {
			h = chain(out[i], h)
		}
		out[i] = h
	}
	f := v.Values()
	switch in := t.interned[c]; {
	case in != nil:
		in.look(&t.dicts[c], v, sel, rows, add, put)
	case v.Enc == vec.Const:
		h := uint64(nullHash)
		if !v.Null(0) {
			h = hashValue(kc, f, 0)
		}
		for i := range sel {
			put(i, h)
		}
	case v.Enc == vec.Dict && (f.DictID != 0 || len32(f) <= len(sel)):
		known := t.dicts[c].of(f)
		for i, s := range sel {
			h := uint64(nullHash)
			if !v.Null(int(s)) {
				code := v.Codes[s]
				if h = known[code]; h == 0 {
					h = hashValue(kc, f, int(code))
					known[code] = h
				}
			}
			put(i, h)
		}
	case v.Enc == vec.Flat && v.Valid == nil && f.Form == types.FormI64:
		hashInts(f.I64, sel, out, c == 0)
	default:
		for i, s := range sel {
			h := uint64(nullHash)
			if !v.Null(int(s)) {
				h = hashValue(kc, f, v.Row(int(s)))
			}
			put(i, h)
		}
	}
}

func hashInts(vals []int64, sel []uint16, out []uint64, first bool) {
	out = out[:len(sel)]
	if first {
		for i, s := range sel {
			out[i] = max(hashWord(uint64(vals[s])), 1)
		}
		return
	}
	for i, s := range sel {
		out[i] = chain(out[i], max(hashWord(uint64(vals[s])), 1))
	}
}

// of gives the hashes of dictionary f, those of the last batch where it brought the same one.
func (d *dictHashes) of(f *vec.Vector) []uint64 {
	n := len32(f)
	if f.DictID == 0 || f.DictID != d.id || n != d.n {
		d.hashes = grown(d.hashes, n)
		clear(d.hashes[:n])
		d.id, d.n = f.DictID, n
	}
	return d.hashes[:n]
}

// findRows looks keys up by their columns.
func (t *groupTable) findRows(vs []*vec.Vector, sel []uint16, rows int, groups []uint32, add bool) {
	r := &t.rows
	if r.slots == nil {
		r.slots = make([]uint64, minSlots)
	}
	hashes := r.hashRows(t.enc.cols, vs, sel, rows, add)
	r.at = grown(r.at, len(sel))
	r.candidates, r.missing, r.unequal = r.candidates[:0], r.missing[:0], r.unequal[:0]
	mask := uint32(len(r.slots) - 1)
	// All slots first, then what they say: loads that depend on nothing overlap.
	r.first = grown(r.first, len(sel))
	slots, at, first := r.slots, r.at[:len(hashes)], r.first[:len(hashes)]
	for i, h := range hashes {
		p := uint32(h) & mask
		at[i], first[i] = p, slots[p]
	}
	for i, s := range first {
		switch {
		case s == 0:
			r.missing = append(r.missing, uint32(i))
		case uint32(s>>32) == uint32(hashes[i]) && int(uint32(s)-1) < t.kept:
			groups[i] = uint32(s) - 1
			r.candidates = append(r.candidates, uint32(i))
		default:
			t.probe(vs, sel, groups, i)
		}
	}
	for len(r.candidates) > 0 {
		for c, v := range vs {
			r.compare(c, &t.enc.cols[c], t.keys[c].Vector(), v, sel, groups)
		}
		// What was taken for another key goes on behind it.
		r.again, r.unequal = r.unequal, r.again[:0]
		r.candidates = r.candidates[:0]
		for _, i := range r.again {
			r.at[i] = (r.at[i] + 1) & mask
			t.probe(vs, sel, groups, int(i))
		}
	}
	if !add {
		for _, i := range r.missing {
			groups[i] = noGroup
		}
		return
	}
	for _, i := range r.missing {
		groups[i] = t.addRow(vs, sel, int(i))
	}
}

// probe looks for row i's key from slot at[i] on, as far as the first that has its hash.
func (t *groupTable) probe(vs []*vec.Vector, sel []uint16, groups []uint32, i int) {
	r := &t.rows
	mask := uint32(len(r.slots) - 1)
	h := uint32(r.hashes[i])
	for p := r.at[i]; ; p = (p + 1) & mask {
		s := r.slots[p]
		if s == 0 {
			r.missing = append(r.missing, uint32(i))
			return
		}
		if uint32(s>>32) != h {
			continue
		}
		id := uint32(s) - 1
		if int(id) >= t.kept { // made by this batch: its values are not in the columns yet
			if !t.sameRows(vs, int(sel[i]), int(t.fresh[int(id)-t.kept])) {
				continue
			}
			groups[i] = id
			return
		}
		groups[i], r.at[i] = id, p
		r.candidates = append(r.candidates, uint32(i))
		return
	}
}

// addRow finds the key of row i, which no group before this batch has, or makes its group.
func (t *groupTable) addRow(vs []*vec.Vector, sel []uint16, i int) uint32 {
	r := &t.rows
	if uint64(t.n+1)*8 > uint64(len(r.slots))*5 {
		r.grow()
	}
	mask := uint32(len(r.slots) - 1)
	h := uint32(r.hashes[i])
	p := h & mask
	for ; r.slots[p] != 0; p = (p + 1) & mask {
		if uint32(r.slots[p]>>32) != h {
			continue
		}
		if id := uint32(r.slots[p]) - 1; int(id) >= t.kept && t.sameRows(vs, int(sel[i]), int(t.fresh[int(id)-t.kept])) {
			return id
		}
	}
	id := uint32(t.n)
	t.n++
	t.fresh = append(t.fresh, sel[i])
	r.slots[p] = uint64(h)<<32 | uint64(id+1)
	return id
}

// keep notes the interned values of the groups that the batch's rows fresh made.
func (t *rowTable) keep(fresh []uint16) {
	for _, in := range t.interned {
		if in == nil {
			continue
		}
		for _, s := range fresh {
			in.groups = append(in.groups, in.rows[s])
		}
	}
}

// grow doubles the slots.
func (t *rowTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		p := uint32(s>>32) & mask
		for t.slots[p] != 0 {
			p = (p + 1) & mask
		}
		t.slots[p] = s
	}
}

// sameRows compares two rows of a batch.
func (t *groupTable) sameRows(vs []*vec.Vector, a, b int) bool {
	for c, v := range vs {
		if in := t.rows.interned[c]; in != nil {
			if in.rows[a] != in.rows[b] {
				return false
			}
			continue
		}
		if v.Null(a) || v.Null(b) {
			if v.Null(a) != v.Null(b) {
				return false
			}
			continue
		}
		f := v.Values()
		if !sameValue(&t.enc.cols[c], f, v.Row(a), f, v.Row(b)) {
			return false
		}
	}
	return true
}

// sameValue compares value i of a with value j of b, Flat vectors of key column kc.
func sameValue(kc *keyColumn, a *vec.Vector, i int, b *vec.Vector, j int) bool {
	switch a.Form {
	case types.FormBool:
		return a.Bools[i] == b.Bools[j]
	case types.FormI64:
		return a.I64[i] == b.I64[j]
	case types.FormF64:
		return floatKey(a.F64[i]) == floatKey(b.F64[j])
	case types.FormW128:
		return wideKey(kc.typ, a.W128[i]) == wideKey(kc.typ, b.W128[j])
	}
	return bytes.Equal(stringKey(kc, a, i), stringKey(kc, b, j))
}

// compare keeps the candidates whose value in v is their group's in key; the others are unequal.
func (t *rowTable) compare(c int, kc *keyColumn, key, v *vec.Vector, sel []uint16, groups []uint32) {
	f := v.Values()
	kept := t.candidates[:0]
	unequal := t.unequal
	switch in := t.interned[c]; {
	case in != nil:
		for _, i := range t.candidates {
			if in.rows[sel[i]] == in.groups[groups[i]] {
				kept = append(kept, i)
			} else {
				unequal = append(unequal, i)
			}
		}
	case key.Valid != nil || v.Valid != nil:
		for _, i := range t.candidates {
			s, g := int(sel[i]), int(groups[i])
			same := v.Null(s) == key.Null(g)
			if same && !v.Null(s) {
				same = sameValue(kc, f, v.Row(s), key, g)
			}
			if same {
				kept = append(kept, i)
			} else {
				unequal = append(unequal, i)
			}
		}
	case f.Form == types.FormI64 && v.Enc == vec.Flat:
		for _, i := range t.candidates {
			if f.I64[sel[i]] == key.I64[groups[i]] {
				kept = append(kept, i)
			} else {
				unequal = append(unequal, i)
			}
		}
	case f.Form == types.FormStr && kc.typ.Kind != types.Bpchar:
		for _, i := range t.candidates {
			a, b := f.Views[v.Row(int(sel[i]))], key.Views[groups[i]]
			if a.Len == b.Len && bytes.Equal(f.Data[a.Off:a.Off+a.Len], key.Data[b.Off:b.Off+b.Len]) {
				kept = append(kept, i)
			} else {
				unequal = append(unequal, i)
			}
		}
	default:
		for _, i := range t.candidates {
			if sameValue(kc, f, v.Row(int(sel[i])), key, int(groups[i])) {
				kept = append(kept, i)
			} else {
				unequal = append(unequal, i)
			}
		}
	}
	t.candidates, t.unequal = kept, unequal
}
