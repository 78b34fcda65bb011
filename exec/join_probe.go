package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/lhsql/lhsql/vec"
)

func appendIntKey(dst []byte, x int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(x)^1<<63)
}

// joinProbe looks keys up in a joinTable; for one goroutine.
type joinProbe struct {
	enc  *keyEncoder
	null []bool
	buf  []byte
}

// find gives the first build row of each key, or noRow: heads[i] for row sel[i]. null[i] tells
// whether the key is NULL (nil: none is).
func (p *joinProbe) find(t *joinTable, keys []*vec.Vector, sel []uint16, heads []uint32) (null []bool) {
	null = t.keys.nullRows(keys, sel, p.null)
	if null != nil {
		p.null = null
	}
	switch {
	case t.packed && len(keys) == 1:
		p.findInt(t, keys[0], sel, heads, null)
	case t.packed:
		p.findPacked(t, keys, sel, heads, null)
	default:
		p.findBytes(t, keys, sel, heads, null)
	}
	return null
}

func (p *joinProbe) findInt(t *joinTable, v *vec.Vector, sel []uint16, heads []uint32, null []bool) {
	f := v.Values()
	lo, span := uint64(t.lo[0]), uint64(t.hi[0])-uint64(t.lo[0])
	switch {
	case null == nil && v.Enc == vec.Flat && t.dense != nil:
		dense, in := t.dense, v.I64
		for i, s := range sel {
			h := noRow
			if x := uint64(in[s]) - lo; x < uint64(len(dense)) {
				h = dense[x]
			}
			heads[i] = h
		}
	case null == nil && v.Enc == vec.Flat:
		in := v.I64
		for i, s := range sel {
			h := noRow
			if x := uint64(in[s]) - lo; x <= span {
				h = t.headInt(x)
			}
			heads[i] = h
		}
	default:
		for i, s := range sel {
			heads[i] = noRow
			if null != nil && null[i] {
				continue
			}
			if x := uint64(f.I64[v.Row(int(s))]) - lo; x <= span {
				heads[i] = t.headPacked(x)
			}
		}
	}
}

func (t *joinTable) headPacked(x uint64) uint32 {
	if t.dense != nil {
		return t.dense[x]
	}
	return t.headInt(x)
}

func (t *joinTable) headInt(x uint64) uint32 {
	h := hashInt(int64(x))
	slots := t.parts[h>>t.shift].ints
	mask := uint64(len(slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &slots[i]
		if s.id == noRow || s.key == int64(x) {
			return s.id
		}
	}
}

func (p *joinProbe) findPacked(t *joinTable, keys []*vec.Vector, sel []uint16, heads []uint32, null []bool) {
	for i, s := range sel {
		heads[i] = noRow
		if null != nil && null[i] {
			continue
		}
		x, inside := uint64(0), true
		for c, v := range keys {
			k := v.Values().I64[v.Row(int(s))]
			if k < t.lo[c] || k > t.hi[c] {
				inside = false
				break
			}
			x += (uint64(k) - uint64(t.lo[c])) * t.stride[c]
		}
		if inside {
			heads[i] = t.headPacked(x)
		}
	}
}

func (p *joinProbe) findBytes(t *joinTable, keys []*vec.Vector, sel []uint16, heads []uint32, null []bool) {
	if !t.keys.ints {
		if p.enc == nil {
			p.enc = newKeyEncoder(t.keys.cols)
		}
		p.enc.encode(keys, sel)
	}
	for i, s := range sel {
		heads[i] = noRow
		if null != nil && null[i] {
			continue
		}
		var key []byte
		if t.keys.ints {
			p.buf = p.buf[:0]
			for _, v := range keys {
				p.buf = appendIntKey(p.buf, v.Values().I64[v.Row(int(s))])
			}
			key = p.buf
		} else {
			key = p.enc.key(i)
		}
		h := hashKey(key)
		slots := t.parts[h>>t.shift].bytes
		mask := uint64(len(slots) - 1)
		for j := h & mask; ; j = (j + 1) & mask {
			q := &slots[j]
			if q.head == noRow {
				break
			}
			if q.hash == h && bytes.Equal(t.rowKey(q.head), key) {
				heads[i] = q.head
				break
			}
		}
	}
}

func (t *joinTable) after(id uint32) uint32 { return t.next[id>>chunkBits][id&chunkMask] }
