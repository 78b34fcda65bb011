package eval

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// andNode and orNode are three-valued. A row is decided by the first argument that is false
// (true); later arguments are not evaluated for it, so that they cannot fail on it.
type andNode struct {
	args []node
	logic
}

type orNode struct {
	args []node
	logic
	found, next, hit scratchRows
}

// logic is what both share: decide evaluates args over ever fewer rows.
type logic struct {
	out   vec.Vector
	valid vec.Bitmap
	rest  scratchRows
}

func (n *andNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	return n.decide(c, b, sel, n.args, false)
}

func (n *orNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	return n.decide(c, b, sel, n.args, true)
}

func (n *logic) decide(c *Ctx, b *vec.Batch, sel []uint16, args []node, decisive bool) (*vec.Vector, error) {
	rows := b.Rows
	n.out.Type = TBool
	vals := OutBools(&n.out, rows)
	for i := range vals {
		vals[i] = !decisive
	}
	n.valid = resize(n.valid, (rows+63)/64)
	for i := range n.valid {
		n.valid[i] = ^uint64(0)
	}
	nulls := 0
	rest := sel
	for _, a := range args {
		if rest != nil && len(rest) == 0 {
			break
		}
		v, err := a.eval(c, b, rest)
		if err != nil {
			return nil, err
		}
		if v.Enc == vec.Const && !v.Null(0) && v.Bools[0] != decisive {
			continue
		}
		bools := v.Values().Bools
		left := n.rest.get(rows)
		j := 0
		step := func(i int) {
			switch {
			case v.Null(i):
				if n.valid.Get(i) {
					n.valid.Clear(i)
					nulls++
				}
			case bools[v.Row(i)] == decisive:
				vals[i] = decisive
				if !n.valid.Get(i) {
					n.valid.Set(i)
					nulls--
				}
				return
			}
			left[j] = uint16(i)
			j++
		}
		if rest == nil {
			for i := 0; i < rows; i++ {
				step(i)
			}
		} else {
			for _, i := range rest {
				step(int(i))
			}
		}
		rest = left[:j]
	}
	n.out.Valid = nil
	if nulls > 0 {
		n.out.Valid = n.valid
	}
	return &n.out, nil
}

func (n *andNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	cur := sel
	for _, a := range n.args {
		r, err := selectRows(c, a, b, cur, out)
		if err != nil || len(r) == 0 {
			return r, err
		}
		cur = r
	}
	return cur, nil
}

func (n *orNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	rows := b.Rows
	found := n.found.get(rows)[:0]
	rest := sel
	for _, a := range n.args {
		if rest != nil && len(rest) == 0 {
			break
		}
		hit, err := selectRows(c, a, b, rest, n.hit.get(rows))
		if err != nil {
			return nil, err
		}
		if len(hit) == 0 {
			continue
		}
		both := union(found, hit, n.next.get(rows))
		n.found, n.next = n.next, n.found
		found = both
		rest = minus(rest, rows, hit, n.rest.get(rows))
	}
	return out[:copy(out, found)], nil
}

// notNode is three-valued negation. Compile has pushed NOT into what has a negation of its own.
type notNode struct {
	x   node
	out vec.Vector
}

func (n *notNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	n.out.Type, n.out.Enc, n.out.Valid = TBool, v.Enc, v.Valid
	n.out.Codes = v.Codes
	if v.Enc == vec.Dict {
		// A dictionary of bools is small; a new one, because its identity is its content.
		d := vec.Alloc(TBool, types.FormBool, len(v.Dictionary.Bools))
		for i, x := range v.Dictionary.Bools {
			d.Bools[i] = !x
		}
		n.out.Form, n.out.Dictionary = types.FormBool, d
		return &n.out, nil
	}
	vals := OutBools(&n.out, len(v.Bools))
	for i, x := range v.Bools {
		vals[i] = !x
	}
	return &n.out, nil
}

// isNullNode is X IS [NOT] NULL.
type isNullNode struct {
	x      node
	negate bool
	out    vec.Vector
}

func (n *isNullNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	n.out.Type, n.out.Enc, n.out.Valid = TBool, vec.Flat, nil
	if v.Enc == vec.Const || v.Valid == nil {
		n.out.Enc = vec.Const
		OutBools(&n.out, 1)[0] = v.Null(0) != n.negate
		return &n.out, nil
	}
	vals := OutBools(&n.out, b.Rows)
	for i := range vals {
		vals[i] = (v.Valid[i>>6]>>(i&63)&1 == 0) != n.negate
	}
	return &n.out, nil
}

func (n *isNullNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	if v.Enc == vec.Const || v.Valid == nil {
		if v.Null(0) != n.negate {
			return copyRows(sel, b.Rows, out), nil
		}
		return out[:0], nil
	}
	j := 0
	want := uint64(b2i(n.negate))
	if sel == nil {
		for i := 0; i < b.Rows; i++ {
			out[j] = uint16(i)
			j += b2i(v.Valid[i>>6]>>(i&63)&1 == want)
		}
		return out[:j], nil
	}
	for _, i := range sel {
		out[j] = i
		j += b2i(v.Valid[i>>6]>>(i&63)&1 == want)
	}
	return out[:j], nil
}
