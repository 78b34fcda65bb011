package eval

import (
	"bytes"
	"math"
	"slices"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// inNode is X [NOT] IN (constants). For a type whose equal values have equal bits it probes a
// hash set, else it searches a sorted list.
//
//	x IN (1, NULL):     true for 1, else NULL
//	x NOT IN (1, NULL): false for 1, else NULL
type inNode struct {
	x       node
	typ     types.Type
	negate  bool
	hasNull bool
	empty   bool

	ints   *intSet
	strs   map[string]struct{}
	pad    bool // bpchar: trailing spaces do not count
	sorted []types.Datum

	out   vec.Vector
	valid vec.Bitmap
	hits  []bool
}

func newInNode(x node, e *plan.InList) *inNode {
	n := &inNode{x: x, typ: e.X.Type(), negate: e.Negate, empty: len(e.List) == 0}
	var list []types.Datum
	for _, d := range e.List {
		if d.IsNull() {
			n.hasNull = true
		} else {
			list = append(list, d)
		}
	}
	switch form := n.typ.Form(); {
	case n.typ.Kind == types.JSONB || n.typ.Kind == types.JSON || n.typ.Kind == types.Variant:
		n.sort(list)
	case form == types.FormStr && n.typ.Kind != types.Numeric:
		n.pad = n.typ.Kind == types.Bpchar
		n.strs = make(map[string]struct{}, len(list))
		for _, d := range list {
			s := d.Str()
			if n.pad {
				s = string(trimPad([]byte(s)))
			}
			n.strs[s] = struct{}{}
		}
	case form == types.FormF64:
		n.ints = newIntSet(len(list))
		for _, d := range list {
			n.ints.add(floatKey(d.Float()))
		}
	case n.typ.Kind == types.Numeric:
		n.sort(list)
		if n.typ.Fixed {
			n.ints = newIntSet(len(list))
			for _, d := range list {
				// What is not exact at this scale equals no value of it.
				k, exact := scaledFloor(types.DecimalOf(d, n.typ), int(n.typ.Scale))
				if exact && k.IsInt64() {
					n.ints.add(k.Int64())
				}
			}
		}
	case form == types.FormI64:
		n.ints = newIntSet(len(list))
		for _, d := range list {
			n.ints.add(d.Int())
		}
	default:
		n.sort(list)
	}
	return n
}

func (n *inNode) sort(list []types.Datum) {
	n.sorted = slices.Clone(list)
	slices.SortFunc(n.sorted, func(a, b types.Datum) int { return types.Compare(a, b, n.typ) })
}

// floatKey has equal bits for floats that SQL calls equal.
func floatKey(f float64) int64 {
	if f != f {
		f = math.NaN()
	}
	return int64(math.Float64bits(f + 0)) // -0 + 0 = +0
}

func trimPad(b []byte) []byte { return bytes.TrimRight(b, " ") }

// member fills n.hits with whether each row's value is in the list; NULL rows give anything.
func (n *inNode) member(v *vec.Vector, sel []uint16, rows int) []bool {
	if v.Enc == vec.Const {
		sel, rows = nil, 1
	}
	n.hits = resize(n.hits, rows)
	hits := n.hits
	f := v.Values()
	null := v.Valid != nil || rowsOf(f) == 0
	switch {
	case n.ints != nil && f.Form == types.FormI64 && v.Enc == vec.Flat:
		n.ints.probeAll(f.I64, sel, rows, hits)
	case n.ints != nil && f.Form == types.FormI64:
		EachRow(sel, rows, func(i int) error {
			if !null || !v.Null(i) {
				hits[i] = n.ints.has(f.I64[v.Row(i)])
			}
			return nil
		})
	case n.ints != nil && f.Form == types.FormF64:
		EachRow(sel, rows, func(i int) error {
			if !null || !v.Null(i) {
				hits[i] = n.ints.has(floatKey(f.F64[v.Row(i)]))
			}
			return nil
		})
	case n.strs != nil:
		EachRow(sel, rows, func(i int) error {
			if null && v.Null(i) {
				return nil
			}
			b := v.Bytes(i)
			if n.pad {
				b = trimPad(b)
			}
			_, hits[i] = n.strs[string(b)]
			return nil
		})
	default:
		EachRow(sel, rows, func(i int) error {
			if null && v.Null(i) {
				return nil
			}
			d := v.Datum(i)
			_, hits[i] = slices.BinarySearchFunc(n.sorted, d, func(a, b types.Datum) int { return types.Compare(a, b, n.typ) })
			return nil
		})
	}
	return hits
}

func (n *inNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	n.out.Type, n.out.Enc, n.out.Valid = TBool, vec.Flat, nil
	if n.empty {
		n.out.Enc = vec.Const
		OutBools(&n.out, 1)[0] = n.negate
		return &n.out, nil
	}
	rows := b.Rows
	if v.Enc == vec.Const {
		if v.Null(0) {
			return nullVector(TBool), nil
		}
		sel, rows, n.out.Enc = nil, 1, vec.Const
	}
	hits := n.member(v, sel, rows)
	vals := OutBools(&n.out, rows)
	for i, h := range hits {
		vals[i] = h != n.negate
	}
	if !n.hasNull && v.Valid == nil {
		return &n.out, nil
	}
	n.valid = resize(n.valid, (rows+63)/64)
	if v.Valid != nil && v.Enc != vec.Const {
		copy(n.valid, v.Valid)
	} else {
		for w := range n.valid {
			n.valid[w] = ^uint64(0)
		}
	}
	if n.hasNull {
		for i, h := range hits {
			if !h {
				n.valid.Clear(i)
			}
		}
	}
	n.out.Valid = n.valid
	return &n.out, nil
}

func (n *inNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	if n.negate && n.hasNull {
		// Never true; but X must still be computed, as it may fail.
		_, err := n.x.eval(c, b, sel)
		return out[:0], err
	}
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	if n.empty || v.Enc == vec.Const {
		take := n.negate
		if !n.empty {
			take = !v.Null(0) && n.member(v, nil, 1)[0] != n.negate
		}
		if take {
			return copyRows(sel, b.Rows, out), nil
		}
		return out[:0], nil
	}
	hits := n.member(v, sel, b.Rows)
	j := 0
	if sel == nil {
		for i := 0; i < b.Rows; i++ {
			out[j] = uint16(i)
			j += b2i(hits[i] != n.negate)
		}
	} else {
		for _, i := range sel {
			out[j] = i
			j += b2i(hits[i] != n.negate)
		}
	}
	return validRows(v.Valid, out[:j]), nil
}

// intSet is a set of int64: a few are compared one by one, many probed by open addressing at
// half load.
type intSet struct {
	few   []int64
	slots []int64
	used  []bool
	shift uint
}

const fewInts = 4

func newIntSet(n int) *intSet {
	s := &intSet{}
	if n > fewInts {
		bits := uint(3)
		for 1<<bits < 2*n {
			bits++
		}
		s.slots, s.used, s.shift = make([]int64, 1<<bits), make([]bool, 1<<bits), 64-bits
	}
	return s
}

func (s *intSet) slot(x int64) uint64 { return uint64(x) * 0x9E3779B97F4A7C15 >> s.shift }

func (s *intSet) add(x int64) {
	if s.slots == nil {
		s.few = append(s.few, x)
		return
	}
	mask := uint64(len(s.slots) - 1)
	for i := s.slot(x); ; i = (i + 1) & mask {
		if !s.used[i] {
			s.slots[i], s.used[i] = x, true
			return
		}
		if s.slots[i] == x {
			return
		}
	}
}

func (s *intSet) has(x int64) bool {
	if s.slots == nil {
		for _, y := range s.few {
			if x == y {
				return true
			}
		}
		return false
	}
	mask := uint64(len(s.slots) - 1)
	for i := s.slot(x); s.used[i]; i = (i + 1) & mask {
		if s.slots[i] == x {
			return true
		}
	}
	return false
}

func (s *intSet) probeAll(vals []int64, sel []uint16, rows int, hits []bool) {
	if sel == nil {
		for i, x := range vals[:rows] {
			hits[i] = s.has(x)
		}
		return
	}
	for _, i := range sel {
		hits[i] = s.has(vals[i])
	}
}
