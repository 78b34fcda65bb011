package exec

import (
	"math"

	"github.com/lhsql/lhsql/vec"
)

// intTable maps int64 keys to group numbers. Keys that lie close together, as ids do, are found
// by position in a window over their range; others by open addressing. The window starts around
// the first batch's keys and is laid over all keys as soon as they turn out dense.
type intTable struct {
	direct []uint32 // number + 1 of key base + i; 0: none
	base   int64
	slots  []groupSlot
	used   int
	lo, hi int64 // of all keys, if there are any
	expect *keyRange
	null   uint32 // NULL's group
}

type groupSlot struct {
	key int64
	id  uint32 // number + 1; 0: empty
}

// keyRange says where a table's keys will lie, and densely so.
type keyRange struct{ lo, hi int64 }

const (
	// firstWindow is the window around the first batch.
	firstWindow = 1 << 16
	// maxSparse is how many places of the window a key may cost: more than slots do.
	maxSparse = 8
	// maxSparseSoon is the same where the range is expected to fill up.
	maxSparseSoon = 64
	minSlots      = 1 << 10
)

func (t *intTable) bytesHeld() int64 { return int64(cap(t.direct))*4 + int64(cap(t.slots))*16 }

// spread hashes a key so that eight neighbours share an aligned run of eight slots: tables are
// often probed in the order of their keys.
func spread(x int64) uint64 { return hashInt(x>>3) ^ uint64(x)&7 }

// hashInt spreads an integer over 64 bits (the finalizer of splitmix64, shortened).
func hashInt(x int64) uint64 {
	h := uint64(x) * 0x9E3779B97F4A7C15
	return h ^ h>>32
}

// find gives the number of x or noGroup.
func (t *intTable) find(x int64) uint32 {
	if d := uint64(x) - uint64(t.base); d < uint64(len(t.direct)) {
		return t.direct[d] - 1
	}
	mask := uint64(len(t.slots) - 1)
	for i := spread(x) & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.id == 0 || s.key == x {
			return s.id - 1
		}
	}
}

// put adds x, which is not there, as number id; n is how many there are with it.
func (t *intTable) put(x int64, id uint32, n int) {
	if t.lo > t.hi {
		t.lo, t.hi = x, x
	}
	t.lo, t.hi = min(t.lo, x), max(t.hi, x)
	if d := uint64(x) - uint64(t.base); d < uint64(len(t.direct)) {
		t.direct[d] = id + 1
		return
	}
	t.used++
	if 2*t.used > len(t.slots) {
		t.grow(n)
	}
	t.insert(groupSlot{x, id + 1})
}

// insert puts a key where it belongs in a table with room.
func (t *intTable) insert(s groupSlot) {
	if d := uint64(s.key) - uint64(t.base); d < uint64(len(t.direct)) {
		t.direct[d] = s.id
		t.used--
		return
	}
	mask := uint64(len(t.slots) - 1)
	i := spread(s.key) & mask
	for t.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// grow makes room for one of n keys more: by a window over all keys if they are dense, else by
// twice the slots.
func (t *intTable) grow(n int) {
	old, size := t.slots, 2*len(t.slots)
	span := uint64(t.hi) - uint64(t.lo)
	e := t.expect
	switch {
	case e != nil && t.lo >= e.lo && t.hi <= e.hi && uint64(e.hi)-uint64(e.lo) < maxSparseSoon*uint64(n):
		t.widen(e.lo, e.hi, 0)
		size = minSlots // the window has them all
	case span < maxSparse*uint64(n):
		// A quarter more on either side, so that few windows are laid however the keys come.
		t.widen(t.lo, t.hi, span/4+minSlots)
		size = minSlots
	}
	t.slots = make([]groupSlot, size)
	for _, s := range old {
		if s.id != 0 {
			t.insert(s)
		}
	}
}

// widen lays the window over the keys [lo, hi], all there are, and margin more on either side.
func (t *intTable) widen(lo, hi int64, margin uint64) {
	old, from := t.direct, t.base
	t.base = lo - int64(margin)
	if t.base > lo { // wrapped
		t.base = math.MinInt64
	}
	t.direct = make([]uint32, uint64(hi)-uint64(lo)+1+2*margin)
	if len(old) > 0 {
		t.moveWindow(old, from)
	}
}

// moveWindow copies an old window's numbers, all of which lie within the new window's keys.
func (t *intTable) moveWindow(old []uint32, from int64) {
	for len(old) > 0 && from < t.lo { // before the first key: empty
		k := min(uint64(len(old)), uint64(t.lo)-uint64(from))
		old, from = old[k:], from+int64(k)
	}
	if len(old) == 0 || from > t.hi {
		return
	}
	n := min(uint64(len(old)), uint64(t.hi)-uint64(from)+1)
	copy(t.direct[uint64(from)-uint64(t.base):], old[:n])
}

// start looks at the first batch's keys: close ones are worth a window.
func (t *intTable) start(v *vec.Vector, sel []uint16) {
	lo, hi, any := int64(0), int64(0), false
	f := v.Values()
	for _, s := range sel {
		if v.Null(int(s)) {
			continue
		}
		x := f.I64[v.Row(int(s))]
		if !any {
			lo, hi, any = x, x, true
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	t.lo, t.hi = 1, 0
	if any && uint64(hi)-uint64(lo) < firstWindow/2 && len(sel) >= 64 {
		t.base = lo - firstWindow/4
		if t.base > lo { // wrapped
			t.base = math.MinInt64
		}
		t.direct = make([]uint32, firstWindow)
	}
	t.slots = make([]groupSlot, minSlots)
}

// findInts looks one integer column up.
func (t *groupTable) findInts(v *vec.Vector, sel []uint16, groups []uint32, add bool) {
	if t.int.slots == nil {
		t.int.start(v, sel)
	}
	vals := v.Values().I64
	if v.Valid != nil || v.Enc != vec.Flat {
		t.findIntsAny(v, vals, sel, groups, add)
		return
	}
	// All lookups first, which do not depend on each other, so that their cache misses overlap.
	missing := t.int.findAll(vals, sel, groups, t.missing[:0])
	t.missing = missing
	if !add {
		return
	}
	for _, i := range missing {
		groups[i] = t.groupOf(vals[sel[i]], sel[i])
	}
}

// findAll gives the groups of vals[sel[i]] and lists the i without one.
func (t *intTable) findAll(vals []int64, sel []uint16, groups []uint32, missing []int) []int {
	base, direct, slots := uint64(t.base), t.direct, t.slots
	mask := uint64(len(slots) - 1)
	groups = groups[:len(sel)]
	for i, s := range sel {
		x := vals[s]
		var id uint32
		if d := uint64(x) - base; d < uint64(len(direct)) {
			id = direct[d]
		} else {
			for k := spread(x) & mask; ; k++ {
				if s := &slots[k&mask]; s.key == x || s.id == 0 {
					id = s.id
					break
				}
			}
		}
		groups[i] = id - 1
		if id == 0 {
			missing = append(missing, i)
		}
	}
	return missing
}

// groupOf finds or makes the group of x, which row s has.
func (t *groupTable) groupOf(x int64, s uint16) uint32 {
	id := t.int.find(x)
	if id == noGroup {
		id = uint32(t.n)
		t.n++
		t.int.put(x, id, t.n)
		t.fresh = append(t.fresh, s)
	}
	return id
}

// findIntsAny is findInts for columns with NULLs, codes or constants.
func (t *groupTable) findIntsAny(v *vec.Vector, vals []int64, sel []uint16, groups []uint32, add bool) {
	for i, s := range sel {
		switch {
		case v.Null(int(s)):
			if t.int.null == noGroup && add {
				t.int.null = uint32(t.n)
				t.n++
				t.fresh = append(t.fresh, s)
			}
			groups[i] = t.int.null
		case add:
			groups[i] = t.groupOf(vals[v.Row(int(s))], s)
		default:
			groups[i] = t.int.find(vals[v.Row(int(s))])
		}
	}
}
