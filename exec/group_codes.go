package exec

import (
	"github.com/lhsql/lhsql/vec"
)

// codeCache remembers the groups of keys that come as dictionary codes, for as long as batches
// bring the same dictionaries (vec.Vector.DictID).
type codeCache struct {
	dicts []uint64
	sizes []uint32
	table []uint32 // combined code → group, noGroup: not seen
	codes []uint32
}

// codeTableMax bounds the table: beyond it clearing costs more than hashing.
const codeTableMax = 1 << 17

// fits tells whether every key is Dict with dictionaries small enough, and prepares the table.
func (c *codeCache) fits(vs []*vec.Vector, n int) bool {
	size := 1
	for _, v := range vs {
		if v.Enc != vec.Dict {
			return false
		}
		size *= len32(v.Dictionary) + 1
		if size > codeTableMax {
			return false
		}
	}
	same, lasting := len(c.dicts) == len(vs), true
	for _, v := range vs {
		lasting = lasting && v.Dictionary.DictID != 0
	}
	for i := 0; same && i < len(vs); i++ {
		id := vs[i].Dictionary.DictID
		same = id != 0 && c.dicts[i] == id && int(c.sizes[i]) == len32(vs[i].Dictionary)+1
	}
	if same {
		return true
	}
	// A table that is much larger than the rows at hand is not worth clearing; one for a
	// dictionary without identity serves this batch only.
	if size > 64*n || !lasting && size > n/2 {
		return false
	}
	c.dicts, c.sizes = c.dicts[:0], c.sizes[:0]
	for _, v := range vs {
		c.dicts = append(c.dicts, v.Dictionary.DictID)
		c.sizes = append(c.sizes, uint32(len32(v.Dictionary)+1))
	}
	c.table = grown(c.table, size)
	fill(c.table, noGroup)
	return true
}

// len32 is the number of values of a Flat vector.
func len32(v *vec.Vector) int {
	return max(len(v.I64), len(v.Views), len(v.F64), len(v.W128), len(v.Bools), len(v.Offsets)-1, structLen(v))
}

func structLen(v *vec.Vector) int {
	if len(v.Children) == 0 {
		return 0
	}
	return len32(v.Children[0])
}

// findCodes looks groups up by combined code and asks the table proper for new codes only.
func (t *groupTable) findCodes(vs []*vec.Vector, sel []uint16, rows int, groups []uint32, add bool) {
	c := &t.codes
	c.codes = grown(c.codes, len(sel))
	codes := c.codes[:len(sel)]
	for k, v := range vs {
		combineCodes(codes, v, sel, c.sizes[k], k == 0)
	}
	groups = groups[:len(codes)]
	table := c.table
	missing := t.missing[:0]
	for i, x := range codes {
		g := table[x]
		groups[i] = g
		if g == noGroup {
			missing = append(missing, i)
		}
	}
	t.missing = missing
	// Each new code once, by its first row.
	t.firsts = t.firsts[:0]
	for _, i := range missing {
		if table[codes[i]] == noGroup {
			table[codes[i]] = underWay
			t.firsts = append(t.firsts, sel[i])
			missing[len(t.firsts)-1] = i
		}
	}
	if len(t.firsts) == 0 {
		return
	}
	t.gone = grown(t.gone, len(t.firsts))
	t.findKeys(vs, t.firsts, rows, t.gone, add)
	for k, i := range missing[:len(t.firsts)] {
		table[codes[i]] = t.gone[k]
	}
	for i, g := range groups {
		if g == noGroup {
			groups[i] = table[codes[i]]
		}
	}
}

// underWay marks a code whose group is being looked for.
const underWay = noGroup - 1

// combineCodes makes codes[i] = codes[i]·size + row sel[i]'s code; NULL has the last code.
func combineCodes(codes []uint32, v *vec.Vector, sel []uint16, size uint32, first bool) {
	in := v.Codes
	sel = sel[:len(codes)]
	if v.Valid != nil {
		for i, s := range sel {
			x := size - 1
			if v.Valid.Get(int(s)) {
				x = in[s]
			}
			if first {
				codes[i] = x
			} else {
				codes[i] = codes[i]*size + x
			}
		}
		return
	}
	dense := len(sel) > 0 && int(sel[len(sel)-1]) == len(sel)-1
	switch {
	case first && dense:
		copy(codes, in)
	case first:
		for i, s := range sel {
			codes[i] = in[s]
		}
	case dense:
		in = in[:len(codes)]
		for i := range codes {
			codes[i] = codes[i]*size + in[i]
		}
	default:
		for i, s := range sel {
			codes[i] = codes[i]*size + in[s]
		}
	}
}
