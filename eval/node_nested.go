package eval

import (
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// fieldNode reads a member of a struct.
type fieldNode struct {
	x     node
	index int
	typ   types.Type
	out   vec.Vector
	valid vec.Bitmap
}

func (n *fieldNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	if v.Enc == vec.Flat {
		return n.member(v, b.Rows), nil
	}
	rows := b.Rows
	if v.Enc == vec.Const {
		if v.Null(0) {
			return nullVector(n.typ), nil
		}
		sel, rows = nil, 1
	}
	n.out = vec.Vector{Type: n.typ}
	err = PutDatums(&n.out, sel, rows, func(i int) (types.Datum, error) {
		if v.Null(i) {
			return types.Null, nil
		}
		return v.Values().Children[n.index].Datum(v.Row(i)), nil
	})
	n.out.Enc = v.Enc
	if v.Enc == vec.Dict {
		n.out.Enc = vec.Flat
	}
	return &n.out, err
}

// member is a flat struct's child with the struct's NULLs added to its own.
func (n *fieldNode) member(v *vec.Vector, rows int) *vec.Vector {
	m := v.Children[n.index]
	if v.Valid == nil || allValid(v.Valid, rows) {
		return m
	}
	n.out = *m
	words := (rows + 63) / 64
	n.valid = resize(n.valid, words)
	copy(n.valid, v.Valid[:words])
	if m.Enc == vec.Const {
		// One value, and NULL in some rows: a dictionary of one.
		if m.Null(0) {
			return m
		}
		one := *m
		one.Enc, one.Valid = vec.Flat, nil
		n.out = vec.Vector{Type: m.Type, Form: m.Form, Enc: vec.Dict, Codes: make([]uint32, rows), Dictionary: &one}
	} else if m.Valid != nil {
		for w := range n.valid {
			n.valid[w] &= m.Valid[w]
		}
	}
	n.out.Valid = n.valid
	return &n.out
}

// compileRow makes a strict call of a Row that has no entry in the table.
func (k *compiler) compileRow(t types.Type, f Row, args ...plan.Expr) (node, error) {
	ns, err := k.compileAll(args)
	if err != nil {
		return nil, err
	}
	return &callNode{name: "subscript", kernel: RowKernel(f), args: ns, typ: t, strict: true,
		vals: make([]*vec.Vector, len(ns))}, nil
}

// subscript is x[i] on an array, NULL outside it, or x[key] on a map.
func subscript(e *plan.Subscript) Row {
	t := e.X.Type()
	if t.Kind == types.Map {
		key := t.Key()
		return func(_ *Ctx, a []types.Datum) (types.Datum, error) {
			for _, kv := range a[0].List() {
				if m := kv.List(); types.Compare(m[0], a[1], key) == 0 {
					return m[1], nil
				}
			}
			return types.Null, nil
		}
	}
	if t.Kind == types.Name {
		return nameByte
	}
	// PostgreSQL's vector types count from 0, arrays from 1.
	base := int64(1)
	if t.Kind != types.Array {
		base = 0
	}
	return func(_ *Ctx, a []types.Datum) (types.Datum, error) {
		l, i := a[0].List(), a[1].Int()-base
		if i < 0 || i >= int64(len(l)) {
			return types.Null, nil
		}
		return l[i], nil
	}
}

// nameByte is x[i] on a name: one of the 64 bytes that it holds, the first at 0, as "char"; they
// are zero after the text, which "char" shows as nothing.
func nameByte(_ *Ctx, a []types.Datum) (types.Datum, error) {
	const bytes = 64
	s, i := a[0].Str(), a[1].Int()
	switch {
	case i < 0 || i >= bytes:
		return types.Null, nil
	case i >= int64(len(s)):
		return types.NewStr(""), nil
	}
	return types.NewStr(s[i : i+1]), nil
}

// compileSlice is x[lower:upper]; bounds outside the array fall back to its ends.
func (k *compiler) compileSlice(e *plan.Slice) (node, error) {
	args := []plan.Expr{e.X}
	lowerAt, upperAt := 0, 0
	if e.Lower != nil {
		args = append(args, e.Lower)
		lowerAt = len(args) - 1
	}
	if e.Upper != nil {
		args = append(args, e.Upper)
		upperAt = len(args) - 1
	}
	return k.compileRow(e.Type(), func(_ *Ctx, a []types.Datum) (types.Datum, error) {
		lo, hi := int64(1), int64(math.MaxInt64)
		if lowerAt > 0 {
			lo = max(lo, a[lowerAt].Int())
		}
		if upperAt > 0 {
			hi = a[upperAt].Int()
		}
		return sliceAt(a[0], lo, hi, e.Depth), nil
	}, args...)
}

// sliceAt cuts the arrays that lie depth levels inside of a. If nothing is left of one, nothing
// is left of a: PostgreSQL has no array of empty arrays.
func sliceAt(a types.Datum, lo, hi int64, depth int) types.Datum {
	l := a.List()
	if depth == 0 {
		if hi = min(hi, int64(len(l))); lo > hi {
			return types.NewList(nil)
		}
		return types.NewList(l[lo-1 : hi])
	}
	out := make([]types.Datum, len(l))
	for i, e := range l {
		if e.IsNull() {
			continue
		}
		if e.Form() != types.FormList {
			return types.NewList(nil) // fewer dimensions than subscripts
		}
		if out[i] = sliceAt(e, lo, hi, depth-1); len(out[i].List()) == 0 {
			return types.NewList(nil)
		}
	}
	return types.NewList(out)
}

// arrayNode is ARRAY[…].
type arrayNode struct {
	elems []node
	out   vec.Vector
}

func (n *arrayNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	vals, rows, enc, err := evalAll(c, n.elems, b, &sel)
	if err != nil {
		return nil, err
	}
	n.out = vec.Vector{Type: n.out.Type}
	list := make([]types.Datum, len(vals))
	err = PutDatums(&n.out, sel, rows, func(i int) (types.Datum, error) {
		for j, v := range vals {
			list[j] = v.Datum(i)
		}
		if !sameLengths(list) {
			return types.Null, sqlerr.New(sqlerr.ArraySubscript, "multidimensional arrays must have array expressions with matching dimensions")
		}
		return types.NewList(list), nil // the Appender copies
	})
	n.out.Enc = enc
	return &n.out, err
}

// sameLengths tells whether the members of an ARRAY[…] that are arrays have one length, and a
// NULL stands beside NULLs alone. Columns may hold what is ragged; an array that is written down
// is PostgreSQL's.
func sameLengths(list []types.Datum) bool {
	n := -1
	for _, d := range list {
		switch {
		case d.IsNull():
		case d.Form() != types.FormList:
			return true
		case n < 0:
			n = len(d.List())
		case n != len(d.List()):
			return false
		}
	}
	for _, d := range list {
		if n > 0 && d.IsNull() {
			return false
		}
	}
	return true
}

// evalAll evaluates nodes; when all are constant there is one row to make.
func evalAll(c *Ctx, nodes []node, b *vec.Batch, sel *[]uint16) (vals []*vec.Vector, rows int, enc vec.Enc, err error) {
	vals = make([]*vec.Vector, len(nodes))
	rows, enc = b.Rows, vec.Const
	for i, e := range nodes {
		if vals[i], err = e.eval(c, b, *sel); err != nil {
			return nil, 0, 0, err
		}
		if vals[i].Enc != vec.Const {
			enc = vec.Flat
		}
	}
	if enc == vec.Const {
		*sel, rows = nil, 1
	}
	return vals, rows, enc, nil
}

// rowNode is ROW(…). Its members are the expressions' vectors as they are.
type rowNode struct {
	elems []node
	out   vec.Vector
}

func (n *rowNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	vals, _, enc, err := evalAll(c, n.elems, b, &sel)
	if err != nil {
		return nil, err
	}
	n.out.Form, n.out.Enc, n.out.Valid, n.out.Children = types.FormStruct, enc, nil, vals
	return &n.out, nil
}
