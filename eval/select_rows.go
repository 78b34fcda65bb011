package eval

import (
	"math/bits"

	"github.com/lhsql/lhsql/vec"
)

// b2i is 1 for true, without a branch.
func b2i(b bool) int {
	var i int
	if b {
		i = 1
	}
	return i
}

// trueRows writes the rows of sel where the boolean v is true.
func trueRows(v *vec.Vector, sel []uint16, rows int, out []uint16) []uint16 {
	switch v.Enc {
	case vec.Const:
		if v.Null(0) || !v.Bools[0] {
			return out[:0]
		}
		return copyRows(sel, rows, out)
	case vec.Dict:
		out = selectDictBools(v.Dictionary.Bools, v.Codes, sel, rows, out)
	default:
		out = selectBools(v.Bools, sel, rows, out)
	}
	return validRows(v.Valid, out)
}

// copyRows writes sel, or all rows, to out.
func copyRows(sel []uint16, rows int, out []uint16) []uint16 {
	if sel != nil {
		return out[:copy(out, sel)]
	}
	out = out[:rows]
	for i := range out {
		out[i] = uint16(i)
	}
	return out
}

// validRows keeps the rows of sel, in place, that are not NULL.
func validRows(valid vec.Bitmap, sel []uint16) []uint16 {
	if valid == nil {
		return sel
	}
	j := 0
	for _, i := range sel {
		sel[j] = i
		j += int(valid[i>>6] >> (i & 63) & 1)
	}
	return sel[:j]
}

func selectBools(vals []bool, sel []uint16, rows int, out []uint16) []uint16 {
	j := 0
	if sel == nil {
		for i, x := range vals[:rows] {
			out[j] = uint16(i)
			j += b2i(x)
		}
		return out[:j]
	}
	for _, i := range sel {
		out[j] = i
		j += b2i(vals[i])
	}
	return out[:j]
}

func selectDictBools(vals []bool, codes []uint32, sel []uint16, rows int, out []uint16) []uint16 {
	j := 0
	if len(vals) == 0 { // then every row is NULL
		return out[:0]
	}
	if sel == nil {
		for i, x := range codes[:rows] {
			out[j] = uint16(i)
			j += b2i(vals[x])
		}
		return out[:j]
	}
	for _, i := range sel {
		out[j] = i
		j += b2i(vals[codes[i]])
	}
	return out[:j]
}

// minus writes the rows of sel (nil: all) that are not in sub, an ascending part of it. out may
// be sel, not sub.
func minus(sel []uint16, rows int, sub, out []uint16) []uint16 {
	j, k := 0, 0
	if sel == nil {
		for i := 0; i < rows; i++ {
			if k < len(sub) && int(sub[k]) == i {
				k++
				continue
			}
			out[j] = uint16(i)
			j++
		}
		return out[:j]
	}
	for _, i := range sel {
		if k < len(sub) && sub[k] == i {
			k++
			continue
		}
		out[j] = i
		j++
	}
	return out[:j]
}

// union merges two ascending selections without common rows into out, which is neither.
func union(a, b, out []uint16) []uint16 {
	out = out[:len(a)+len(b)]
	i, j := 0, 0
	for k := range out {
		if j == len(b) || i < len(a) && a[i] < b[j] {
			out[k] = a[i]
			i++
		} else {
			out[k] = b[j]
			j++
		}
	}
	return out
}

// allValid tells whether the bitmap has no NULL among its first rows bits.
func allValid(valid vec.Bitmap, rows int) bool {
	if valid == nil {
		return true
	}
	for _, w := range valid[:rows>>6] {
		if w != ^uint64(0) {
			return false
		}
	}
	if rest := rows & 63; rest != 0 {
		return bits.TrailingZeros64(^valid[rows>>6]) >= rest
	}
	return true
}

// scratchRows is a selection buffer that lives with its node.
type scratchRows []uint16

func (s *scratchRows) get(rows int) []uint16 {
	*s = resize(*s, rows)
	return *s
}
