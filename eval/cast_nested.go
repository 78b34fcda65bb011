package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// castChunk is how many nested values are cast at a time: a selection reaches no further.
const castChunk = 1 << 15

// castList casts the elements of an array, or the entries of a map.
func castList(from, to types.Type, ctx plan.CastContext) CastFunc {
	elem := castFunc(from, to, ctx)
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		dense := vec.Flatten(in, sel, rows)
		n := int(dense.Offsets[len(dense.Offsets)-1])
		child := vec.NewAppender(to)
		for lo := 0; lo < n; lo += castChunk {
			hi := min(lo+castChunk, n)
			part, err := castAll(c, elem, sliceOf(dense.Child, lo, hi), hi-lo, to)
			if err != nil {
				return err
			}
			child.AppendSel(part, nil, hi-lo)
		}
		r := *dense
		r.Type, r.Child = out.Type, child.Vector()
		scatterRows(out, &r, sel, rows)
		return nil
	}
}

// castStruct casts member by member.
func castStruct(from, to types.Type, ctx plan.CastContext) CastFunc {
	f, t := from.Fields(), to.Fields()
	members := make([]CastFunc, len(f))
	for i := range f {
		members[i] = castFunc(f[i].Type, t[i].Type, ctx)
	}
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		dense := vec.Flatten(in, sel, rows)
		n := rows
		if sel != nil {
			n = len(sel)
		}
		r := *dense
		r.Type = out.Type
		r.Children = make([]*vec.Vector, len(members))
		for i, cast := range members {
			m := *dense.Children[i]
			// A member of a NULL struct is meaningless: do not look at it.
			if dense.Valid != nil {
				m.Valid = both(m.Valid, dense.Valid, n)
			}
			var err error
			if r.Children[i], err = castAll(c, cast, &m, n, t[i].Type); err != nil {
				return err
			}
		}
		scatterRows(out, &r, sel, rows)
		return nil
	}
}

// castAll casts the rows of v that are not NULL.
func castAll(c *Ctx, cast CastFunc, v *vec.Vector, n int, to types.Type) (*vec.Vector, error) {
	out := vec.Alloc(to, to.Form(), n)
	if v.Valid != nil {
		out.Valid = append(vec.Bitmap(nil), v.Valid...)
	}
	var sel []uint16
	if v.Valid != nil {
		sel = make([]uint16, 0, n)
		for i := 0; i < n; i++ {
			if v.Valid.Get(i) {
				sel = append(sel, uint16(i))
			}
		}
		if len(sel) == 0 {
			return out, nil
		}
	}
	valid := out.Valid
	if err := cast(c, v, sel, n, out); err != nil {
		return nil, err
	}
	if out.Valid == nil {
		out.Valid = valid
	} else if valid != nil {
		out.Valid = both(out.Valid, valid, n)
	}
	return out, nil
}

// both is the bits set in a and in b; nil has all set.
func both(a, b vec.Bitmap, n int) vec.Bitmap {
	r := vec.NewBitmap(n, true)
	for i := range r {
		if a != nil {
			r[i] &= a[i]
		}
		if b != nil {
			r[i] &= b[i]
		}
	}
	return r
}

// sliceOf is rows [lo, hi) of a Flat vector, sharing its memory.
func sliceOf(v *vec.Vector, lo, hi int) *vec.Vector {
	if lo == 0 {
		return v
	}
	r := *v
	cut := func(n int) bool { return n >= hi }
	if cut(len(v.Bools)) {
		r.Bools = v.Bools[lo:hi]
	}
	if cut(len(v.I64)) {
		r.I64 = v.I64[lo:hi]
	}
	if cut(len(v.F64)) {
		r.F64 = v.F64[lo:hi]
	}
	if cut(len(v.W128)) {
		r.W128 = v.W128[lo:hi]
	}
	if cut(len(v.Views)) {
		r.Views = v.Views[lo:hi]
	}
	if v.Form == types.FormList {
		r.Offsets = v.Offsets[lo : hi+1]
	}
	if v.Form == types.FormStruct {
		r.Children = make([]*vec.Vector, len(v.Children))
		for i, c := range v.Children {
			r.Children[i] = sliceOf(c, lo, hi)
		}
	}
	if v.Valid != nil {
		r.Valid = vec.NewBitmap(hi-lo, true)
		for i := lo; i < hi; i++ {
			if !v.Valid.Get(i) {
				r.Valid.Clear(i - lo)
			}
		}
	}
	return &r
}

// scatterRows makes out the vector whose rows sel are v's rows 0…, the others being NULL.
func scatterRows(out *vec.Vector, v *vec.Vector, sel []uint16, rows int) {
	t, valid := out.Type, out.Valid
	if sel != nil {
		a := vec.NewAppender(t)
		for k, i := range sel {
			for a.Len() < int(i) {
				a.AppendNull()
			}
			a.Append(v, k)
		}
		for a.Len() < rows {
			a.AppendNull()
		}
		v = a.Vector()
	}
	*out = *v
	out.Type = t
	if out.Valid == nil {
		out.Valid = valid
	}
}
