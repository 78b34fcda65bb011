package exec

import (
	"slices"

	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// intKeys is a scan.KeySet of integer keys: exact over a bitmap where their range is small, else
// a Bloom filter.
type intKeys struct {
	lo, hi int64
	empty  bool
	few    []int64    // all of them, where they are few; nil: unknown
	bits   vec.Bitmap // of key-lo; nil: unknown
	bloom  []uint64   // a power of two of words; nil: unknown
}

var _ scan.KeySet = (*intKeys)(nil)

func (k *intKeys) MinMax() (lo, hi types.Datum, ok bool) {
	return types.NewInt(k.lo), types.NewInt(k.hi), !k.empty
}
func (k *intKeys) Empty() bool       { return k.empty }
func (k *intKeys) MatchesNull() bool { return false }

// Few gives the keys where they are few.
func (k *intKeys) Few() ([]int64, bool) { return k.few, k.few != nil || k.empty }

// sparseBits is how much of the bitmap is searched for a key between bounds.
const sparseBits = 1 << 16

// Within searches what is exact, where the bounds are near enough.
func (k *intKeys) Within(lo, hi types.Datum) bool {
	if k.empty {
		return false
	}
	from, to := max(lo.Int(), k.lo), min(hi.Int(), k.hi)
	if from > to {
		return false
	}
	width := uint64(to) - uint64(from)
	switch {
	case k.few != nil:
		i, _ := slices.BinarySearch(k.few, from)
		return i < len(k.few) && k.few[i] <= to
	case k.bits != nil && width < sparseBits:
		at := uint64(from) - uint64(k.lo)
		for end := at + width; at <= end; at++ {
			if at&63 == 0 && k.bits[at>>6] == 0 {
				at |= 63
			} else if k.bits[at>>6]>>(at&63)&1 != 0 {
				return true
			}
		}
		return false
	case width == 0:
		return k.has(from, uint64(k.hi)-uint64(k.lo))
	}
	return true
}

// fewOf gives the different keys of column c, sorted; nil: they are many.
func fewOf(sides []*buildRows, c int) []int64 {
	var few []int64
	for _, r := range sides {
		for i, x := range r.ints[c] {
			if r.null != nil && r.null[i] || r.null == nil && i > 0 && x == r.ints[c][i-1] {
				continue
			}
			if at, ok := slices.BinarySearch(few, x); !ok {
				if len(few) == fewKeys {
					return nil
				}
				few = slices.Insert(few, at, x)
			}
		}
	}
	return few
}

// fewKeys is how many keys are worth a look-up each.
const fewKeys = 32

// Filter keeps rows whose key may be in the set.
func (k *intKeys) Filter(v *vec.Vector, sel []uint16, rows int, out []uint16) []uint16 {
	if k.empty {
		return out[:0]
	}
	if sel == nil {
		sel = identity[:rows]
	}
	if v.Values().Form != types.FormI64 { // a column of another form than its type's: let it pass
		return out[:copy(out[:len(sel)], sel)]
	}
	out = out[:len(sel)]
	n := 0
	span := uint64(k.hi) - uint64(k.lo)
	if v.Valid == nil && k.bits != nil && v.Enc != vec.Const {
		if v.Enc == vec.Dict {
			return out[:keysInBits(k.bits, uint64(k.lo), span, v.Dictionary.I64, v.Codes, sel, out)]
		}
		for _, r := range sel {
			out[n] = r
			if x := uint64(v.I64[r]) - uint64(k.lo); x <= span && k.bits[x>>6]>>(x&63)&1 != 0 {
				n++
			}
		}
		return out[:n]
	}
	f := v.Values()
	if v.Enc == vec.Dict && v.Valid == nil {
		for _, r := range sel {
			out[n] = r
			if k.has(f.I64[v.Codes[r]], span) {
				n++
			}
		}
		return out[:n]
	}
	for _, r := range sel {
		if v.Null(int(r)) {
			continue
		}
		out[n] = r
		if k.has(f.I64[v.Row(int(r))], span) {
			n++
		}
	}
	return out[:n]
}

// keysInBits is Filter for dictionary codes and a bitmap.
func keysInBits(bits vec.Bitmap, lo, span uint64, vals []int64, codes []uint32, sel, out []uint16) int {
	n := 0
	for _, r := range sel {
		out[n] = r
		if x := uint64(vals[codes[r]]) - lo; x <= span && bits[x>>6]>>(x&63)&1 != 0 {
			n++
		}
	}
	return n
}

func (k *intKeys) has(key int64, span uint64) bool {
	x := uint64(key) - uint64(k.lo)
	switch {
	case x > span:
		return false
	case k.few != nil:
		_, ok := slices.BinarySearch(k.few, key)
		return ok
	case k.bits != nil:
		return k.bits[x>>6]>>(x&63)&1 != 0
	case k.bloom != nil:
		h := hashInt(key)
		m := bloomMask(h)
		return k.bloom[h>>32&uint64(len(k.bloom)-1)]&m == m
	}
	return true
}

// bloomMask picks three bits of a word.
func bloomMask(h uint64) uint64 { return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) }

const (
	maxKeyBits  = 1 << 26 // a bitmap of 8 MiB
	maxBloomKey = 1 << 22
)

// publish hands the build side's keys to the scans that asked for them. It runs before the
// probe side is opened. Only joins that drop probe rows without a partner may.
func (j *hashJoin) publish(sides []*buildRows) {
	if j.keepOuter || j.mark || j.semiOuter && j.anti || !j.keys.ints {
		return
	}
	for c, f := range j.node.Filters {
		if f == nil || f.Values != nil || c >= len(j.keys.cols) {
			continue
		}
		f.Values = newIntKeys(sides, c, !j.spilling.Load())
	}
}

// newIntKeys collects key column c; complete says that the sides hold all rows.
func newIntKeys(sides []*buildRows, c int, complete bool) *intKeys {
	k := &intKeys{empty: true}
	n := 0
	for _, r := range sides {
		n += len(r.ints[c])
		if !r.valid {
			continue
		}
		if k.empty {
			k.lo, k.hi, k.empty = r.lo[c], r.hi[c], false
		}
		k.lo, k.hi = min(k.lo, r.lo[c]), max(k.hi, r.hi[c])
	}
	if k.empty || !complete {
		return k
	}
	if n <= 1<<16 {
		k.few = fewOf(sides, c)
	}
	span := uint64(k.hi) - uint64(k.lo)
	switch {
	case k.few != nil && span >= 1<<12:
		return k // a bitmap would cost more than the search
	case span < maxKeyBits && span < uint64(n)*128+1<<16:
		k.bits = vec.NewBitmap(int(span)+1, false)
	case n <= maxBloomKey:
		words := 64
		for words < n/4 { // 16 bits a key
			words *= 2
		}
		k.bloom = make([]uint64, words)
	default:
		return k
	}
	for _, r := range sides {
		for i, x := range r.ints[c] {
			if r.null != nil && r.null[i] {
				continue
			}
			if k.bits != nil {
				k.bits.Set(int(uint64(x) - uint64(k.lo)))
				continue
			}
			h := hashInt(x)
			k.bloom[h>>32&uint64(len(k.bloom)-1)] |= bloomMask(h)
		}
	}
	return k
}
