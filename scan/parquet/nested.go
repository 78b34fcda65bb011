package parquet

import (
	"context"
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Kind is what a Spec builds.
type Kind uint8

const (
	Value    Kind = iota // a leaf's values
	Struct               // Children: the members
	List                 // Children: the element
	Map                  // Children: key and value
	Variant              // a variant: Children are its metadata and, as the file has them, value and typed value
	Constant             // Const for every row: what the file does not have
)

// Spec says what to make of a file's schema node: the projection, by now free of names.
type Spec struct {
	Kind     Kind
	Type     types.Type
	Node     *Node // nil for Constant
	Repeated *Node // List, Map: the repeated node
	Children []*Spec
	Const    types.Datum
	Role     Role   // of a Variant's parts
	Name     string // of a value in a shredded object: its key
}

// NewColumn makes the Column of a spec. A Constant at the top is none of a file's business.
func NewColumn(r *Reader, s *Spec) (Column, error) {
	if s.Kind == Value && s.Node.MaxRep == 0 && s.Node.MaxDef <= 1 {
		return newFlat(r.forColumn(), s.Node, s.Type)
	}
	c := &nested{r: r.forColumn()}
	root, err := c.build(s)
	c.root = root
	return c, err
}

// nested puts lists, maps and structs together from the levels of their leaves (Dremel).
type nested struct {
	r       *columnReader
	root    *builder
	all     []*levelLeaf
	pending int
	rows    int
}

// builder makes the vector of one node of the spec.
//
// A node's slots are the places where it could stand: the entries of a leaf below it whose
// repetition level is not deeper than the node (rep ≤ R: they begin a new slot), and whose
// definition level says that the list element around exists (def ≥ D). Rows are the slots of
// R = 0, D = 0; a list's elements are those of its repeated node's levels.
type builder struct {
	spec     *Spec
	leaf     *levelLeaf // Value: its own; else any leaf below: the witness for levels
	children []*builder
	valid    vec.Bitmap
	offsets  []uint32
	text     []byte // Variant, as are the next two
	views    []vec.View
	keys     types.VariantKeys
	out      vec.Vector
}

func (c *nested) build(s *Spec) (b *builder, err error) {
	b = &builder{spec: s}
	if s.Kind == Constant {
		return b, nil
	}
	if s.Kind == Value {
		b.leaf, err = newLevelLeaf(c.r, s.Node, s.Type)
		c.all = append(c.all, b.leaf)
		return b, err
	}
	for _, k := range s.Children {
		kid, err := c.build(k)
		if err != nil {
			return nil, err
		}
		b.children = append(b.children, kid)
		if b.leaf == nil {
			b.leaf = kid.leaf
		}
	}
	if b.leaf == nil {
		// None of the wanted members is in the file: one that is there tells which structs are.
		n := s.Node
		if s.Repeated != nil {
			n = s.Repeated
		}
		if b.leaf, err = c.witness(n.FirstLeaf()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// witness reads a leaf for its levels alone.
func (c *nested) witness(n *Node) (*levelLeaf, error) {
	t := types.T(types.Bytea)
	switch laneOf(n.Phys) {
	case laneBool:
		t = types.T(types.Bool)
	case laneF64:
		t = types.T(types.Float8)
	case laneI64:
		t = types.T(types.Int8)
	}
	plain := &Node{Name: n.Name, MaxDef: n.MaxDef, MaxRep: n.MaxRep, Leaf: n.Leaf, Phys: n.Phys, TypeLen: n.TypeLen}
	if n.Phys == Int96 {
		t = types.T(types.Timestamp)
	}
	l, err := newLevelLeaf(c.r, plain, t)
	if err == nil {
		c.all = append(c.all, l)
	}
	return l, err
}

func (c *nested) Open(file ReaderAt, g *RowGroup, indexes Indexes) error {
	c.pending = 0
	for _, l := range c.all {
		if err := l.openLevels(file, g, indexes); err != nil {
			return err
		}
	}
	return nil
}

func (c *nested) Skip(rows int) { c.pending += rows }

func (c *nested) Leaves() []int {
	var v []int
	for _, l := range c.all {
		v = append(v, l.node.Leaf)
	}
	return v
}

func (c *nested) leaves() []*leaf {
	var v []*leaf
	for _, l := range c.all {
		v = append(v, &l.leaf)
	}
	return v
}

func (c *nested) Read(ctx context.Context, rows int) error {
	for _, l := range c.all {
		if err := l.skip(ctx, c.pending); err != nil {
			return err
		}
		l.reset()
		if err := l.readRows(ctx, rows); err != nil {
			return err
		}
	}
	c.pending, c.rows = 0, rows
	return nil
}

func (c *nested) Vector(bool) (*vec.Vector, error) { return c.vector(c.root, 0, 0, c.rows) }

var errShape = corrupt("columns of one list or struct do not fit together")

// vector makes b's vector of n slots at levels R, D.
func (c *nested) vector(b *builder, R, D, n int) (*vec.Vector, error) {
	switch b.spec.Kind {
	case Constant:
		return vec.ConstOf(b.spec.Type, b.spec.Const), nil
	case Value:
		return c.value(b, R, D, n)
	case Struct:
		return c.structure(b, R, D, n)
	case Variant:
		return c.variant(b, R, D, n)
	}
	return c.list(b, R, D, n)
}

// validity marks the slots where the definition level reaches full, and counts them.
func (c *nested) validity(b *builder, R, D, full, n int) (valid vec.Bitmap, set int, err error) {
	if b.valid, err = grow(c.r.budget, b.valid, (n+63)/64, 0); err != nil {
		return nil, 0, err
	}
	clear(b.valid)
	slot := 0
	l := b.leaf
	for i, rep := range l.rep {
		if int(rep) > R || int(l.def[i]) < D {
			continue
		}
		if slot == n {
			return nil, 0, errShape
		}
		if int(l.def[i]) >= full {
			b.valid.Set(slot)
			set++
		}
		slot++
	}
	if slot != n {
		return nil, 0, errShape
	}
	if set == n {
		return nil, set, nil
	}
	return b.valid, set, nil
}

func (c *nested) value(b *builder, R, D, n int) (*vec.Vector, error) {
	l := b.leaf
	valid, set, err := c.validity(b, R, D, l.node.MaxDef, n)
	if err != nil {
		return nil, err
	}
	if set != l.count {
		return nil, errShape
	}
	if err := l.values.grow(c.r.budget, n, l.count); err != nil {
		return nil, err
	}
	if valid != nil {
		l.values.spread(0, set, n, valid)
	}
	b.out = vec.Vector{Type: b.spec.Type, Form: l.conv.Form, Valid: valid}
	l.values.fillVector(&b.out, n, l.data)
	return &b.out, nil
}

func (c *nested) structure(b *builder, R, D, n int) (*vec.Vector, error) {
	valid, _, err := c.validity(b, R, D, b.spec.Node.MaxDef, n)
	if err != nil {
		return nil, err
	}
	kids := b.out.Children[:0]
	for _, k := range b.children {
		v, err := c.vector(k, R, D, n)
		if err != nil {
			return nil, err
		}
		if v.Enc == vec.Const { // members are as long as the struct
			if v, err = c.repeat(k, v, n); err != nil {
				return nil, err
			}
		}
		kids = append(kids, v)
	}
	b.out = vec.Vector{Type: b.spec.Type, Form: types.FormStruct, Valid: valid, Children: kids}
	return &b.out, nil
}

// repeat makes a flat vector of n times the constant v.
func (c *nested) repeat(k *builder, v *vec.Vector, n int) (*vec.Vector, error) {
	if err := c.r.budget.Reserve(int64(n) * 16); err != nil {
		return nil, err
	}
	defer c.r.budget.Give(int64(n) * 16)
	a := vec.NewAppender(k.spec.Type)
	d := v.Datum(0)
	for i := 0; i < n; i++ {
		a.AppendDatum(d)
	}
	return a.Vector(), nil
}

func (c *nested) list(b *builder, R, D, n int) (*vec.Vector, error) {
	rep := b.spec.Repeated
	valid, _, err := c.validity(b, R, D, rep.MaxDef-1, n)
	if err != nil {
		return nil, err
	}
	if b.offsets, err = grow(c.r.budget, b.offsets, n+1, 0); err != nil {
		return nil, err
	}
	slot, count := 0, 0
	l := b.leaf
	for i, r := range l.rep {
		if int(l.def[i]) < D {
			continue
		}
		if int(r) <= R {
			b.offsets[slot] = uint32(count)
			slot++
		}
		if int(r) <= rep.MaxRep && int(l.def[i]) >= rep.MaxDef {
			count++
		}
	}
	if count > math.MaxInt32 {
		return nil, unsupported("more than 2^31 list elements in one batch")
	}
	b.offsets[n] = uint32(count)
	var child *vec.Vector
	if b.spec.Kind == List {
		child, err = c.vector(b.children[0], rep.MaxRep, rep.MaxDef, count)
	} else {
		child, err = c.pairs(b, rep, count)
	}
	if err == nil && child.Enc == vec.Const {
		child, err = c.repeat(b.children[0], child, count)
	}
	if err != nil {
		return nil, err
	}
	b.out = vec.Vector{Type: b.spec.Type, Form: types.FormList, Valid: valid, Offsets: b.offsets, Child: child}
	return &b.out, nil
}

// pairs makes a map's {key, value} structs.
func (c *nested) pairs(b *builder, rep *Node, n int) (*vec.Vector, error) {
	p := &vec.Vector{Type: vec.ListChild(b.spec.Type), Form: types.FormStruct}
	for _, k := range b.children {
		v, err := c.vector(k, rep.MaxRep, rep.MaxDef, n)
		if err != nil {
			return nil, err
		}
		if v.Enc == vec.Const {
			if v, err = c.repeat(k, v, n); err != nil {
				return nil, err
			}
		}
		p.Children = append(p.Children, v)
	}
	return p, nil
}
