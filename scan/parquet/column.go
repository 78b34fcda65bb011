package parquet

import (
	"context"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Column yields one column of a file as vectors, forward only. Open starts a row group at its
// first row. Skip passes over rows and costs nothing by itself: what it allows to leave unread
// shows at the next Read. Vector gives the rows of the last Read, valid until the next one.
type Column interface {
	Open(file ReaderAt, g *RowGroup, indexes Indexes) error
	Skip(rows int)
	Read(ctx context.Context, rows int) error
	// Vector gives strings as codes with their dictionary where the file has one; with codes
	// set, every type. A dictionary has an identity of its own per row group (DictID).
	Vector(codes bool) (*vec.Vector, error)
	// Leaves lists the leaf columns that it reads.
	Leaves() []int
	leaves() []*leaf
}

// Indexes gives the offset index of leaf columns that have one.
type Indexes map[int]*OffsetIndex

// flat reads a leaf at the top of the schema: every row is one value or NULL.
type flat struct {
	leaf
	pending int // rows to skip before the next Read
	row     int64

	bits   levelBits
	n      int // rows of the batch
	nulls  bool
	valid  vec.Bitmap
	mode   flatMode
	direct []int64 // modeDirect
	batch  []uint32
	out    sink
	data   []byte // bytes that out.views point into
	vector vec.Vector
}

// flatMode is how the rows of the current batch are held.
type flatMode uint8

const (
	modeNone   flatMode = iota
	modeDirect          // flat.direct, in the page itself
	modeCodes           // flat.batch, codes of flat.dict
	modeValues          // flat.out
)

func newFlat(r *columnReader, n *Node, t types.Type) (*flat, error) {
	conv, err := ConversionFor(n, t)
	if err != nil {
		return nil, err
	}
	return &flat{leaf: leaf{r: r, node: n, conv: conv}, out: sink{form: conv.Form}}, nil
}

func (c *flat) Leaves() []int   { return []int{c.node.Leaf} }
func (c *flat) leaves() []*leaf { return []*leaf{&c.leaf} }

func (c *flat) Open(file ReaderAt, g *RowGroup, indexes Indexes) error {
	c.pending, c.row, c.n = 0, 0, 0
	return c.open(file, g, indexes[c.node.Leaf])
}

func (c *flat) Skip(rows int) { c.pending += rows }

// loadFlat is load for a column where entries are rows.
func (c *flat) loadFlat(ctx context.Context) error {
	no := c.pageNo
	if err := c.load(ctx); err != nil {
		return err
	}
	if c.index != nil && int64(c.left) != c.index.End(no)-c.index.Pages[no].FirstRow {
		return corrupt("the offset index of column %q does not fit its pages", c.node.Name)
	}
	if c.node.MaxDef > 0 {
		c.bits.reset(c.defs)
	}
	return nil
}

// catchUp carries out the pending skip, passing whole pages over undecompressed.
func (c *flat) catchUp(ctx context.Context) error {
	for c.pending > 0 {
		if c.left > 0 {
			m := min(c.pending, c.left)
			if m == c.left { // the rest of the page does not matter
				c.left = 0
			} else if err := c.skipRows(m); err != nil {
				return err
			}
			c.advance(m)
			continue
		}
		if c.atEnd() {
			return corrupt("column %q ends early", c.node.Name)
		}
		if c.index != nil {
			c.jump()
			if c.pending == 0 {
				return nil
			}
			if err := c.loadFlat(ctx); err != nil {
				return err
			}
			continue
		}
		if err := c.peek(ctx); err != nil {
			return err
		}
		if rows := int(c.head.values); rows <= c.pending {
			c.passPage()
			c.advance(rows)
			continue
		}
		if err := c.loadFlat(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *flat) advance(rows int) {
	c.pending -= rows
	c.row += int64(rows)
}

// jump goes to the page of the row that comes after the pending skip.
func (c *flat) jump() {
	to := c.index.Find(c.row + int64(c.pending))
	if to > c.pageNo {
		c.r.Stats.PagesSkipped.Add(int64(to - c.pageNo))
		c.advance(int(c.index.Pages[to].FirstRow - c.row))
		c.pageNo, c.peeked = to, false
	}
}

// skipRows passes over m rows of the current page.
func (c *flat) skipRows(m int) (err error) {
	k := m
	if c.node.MaxDef > 0 {
		if k, err = c.bits.read(nil, 0, m); err != nil {
			return err
		}
	}
	c.left -= m
	return c.skipValues(k)
}

func (c *flat) Read(ctx context.Context, rows int) (err error) {
	if err := c.catchUp(ctx); err != nil {
		return err
	}
	c.n, c.nulls, c.mode, c.direct = rows, false, modeNone, nil
	c.out.data, c.data = c.out.data[:0], nil
	if c.node.MaxDef > 0 {
		if c.valid, err = grow(c.r.budget, c.valid, (rows+63)/64, 0); err != nil {
			return err
		}
	}
	for done := 0; done < rows; {
		for c.left == 0 {
			if err := c.loadFlat(ctx); err != nil {
				return err
			}
		}
		m := min(rows-done, c.left)
		if err := c.take(done, m); err != nil {
			return err
		}
		done += m
		c.left -= m
		c.row += int64(m)
	}
	return nil
}

// take reads m rows of the current page as the batch's rows from at on.
func (c *flat) take(at, m int) error {
	k := m
	if c.node.MaxDef > 0 {
		set, err := c.bits.read(c.valid, at, m)
		if err != nil {
			return err
		}
		k = set
		c.nulls = c.nulls || k < m
	}
	switch {
	case c.cur == nil && (c.mode == modeNone || c.mode == modeCodes):
		return c.takeCodes(at, k, m)
	case c.mode == modeNone && m == c.n && k == m && c.conv.direct(c.node):
		if p, ok := c.cur.(*plainFixed); ok {
			var err error
			c.mode = modeDirect
			c.direct, err = p.direct(m)
			return err
		}
	}
	if err := c.toValues(at); err != nil {
		return err
	}
	// Strings of one page stay where they are; of several they are copied side by side.
	whole := m == c.n && c.cur != nil
	data, err := c.decode(&c.out, at, k, !whole)
	if err != nil {
		return err
	}
	c.data = data
	if k < m {
		c.out.spread(at, k, m, c.valid)
	}
	return nil
}

func (c *flat) takeCodes(at, k, m int) (err error) {
	c.mode = modeCodes
	if c.batch, err = grow(c.r.budget, c.batch, c.n, at); err != nil {
		return err
	}
	if err := c.readCodes(c.batch[at : at+k]); err != nil {
		return err
	}
	if k < m {
		spread(c.batch[at:at+m], k, c.valid, at)
	}
	return nil
}

// toValues makes room for the batch in out and brings the first done rows, held as codes, there.
func (c *flat) toValues(done int) error {
	if c.mode == modeValues {
		return nil
	}
	if err := c.out.grow(c.r.budget, c.n, 0); err != nil {
		return err
	}
	if c.mode == modeCodes && done > 0 {
		if err := c.out.gather(c.r.budget, 0, c.batch[:done], c.dict); err != nil {
			return err
		}
	}
	c.mode = modeValues
	return nil
}

// Valid has the rows of the last Read that are not NULL; nil: all.
func (c *flat) Valid() vec.Bitmap {
	if !c.nulls {
		return nil
	}
	return c.valid[:(c.n+63)/64]
}

// Vector leaves strings as codes, which group and compare cheaply. Numbers become values unless
// they are wanted for a predicate: arithmetic wants those, and gathering costs half a
// nanosecond.
func (c *flat) Vector(codes bool) (*vec.Vector, error) {
	v := &c.vector
	*v = vec.Vector{Type: c.conv.Type, Form: c.conv.Form, Valid: c.Valid()}
	switch c.mode {
	case modeDirect:
		v.I64 = c.direct
	case modeCodes:
		if codes || v.Form == types.FormStr {
			v.Enc, v.Codes, v.Dictionary = vec.Dict, c.batch[:c.n], c.dict
			return v, nil
		}
		if err := c.out.grow(c.r.budget, c.n, 0); err != nil {
			return nil, err
		}
		if err := c.out.gather(c.r.budget, 0, c.batch[:c.n], c.dict); err != nil {
			return nil, err
		}
		c.out.fillVector(v, c.n, nil)
	case modeValues:
		c.out.fillVector(v, c.n, c.data)
	}
	return v, nil
}
