package parquet

import (
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// notNull refuses a NULL in a required field.
func (n *node) notNull() error {
	return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q violates not-null constraint", n.field.Name)
}

// everyRow are the indexes of a batch without a selection.
var everyRow = func() (all [vec.MaxBatchRows]uint16) {
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}()

// shredTop adds the rows sel (nil: all) of a top-level column.
func (w *Writer) shredTop(n *node, v *vec.Vector, sel []uint16, rows int) error {
	if sel == nil {
		sel = everyRow[:rows]
	}
	if n.leaf != nil {
		return w.shredLeaf(n, v, sel)
	}
	for _, i := range sel {
		if err := w.endFull(n); err != nil {
			return err
		}
		if err := n.shred(v, int(i), 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// endFull ends the pages below n that are full: a page begins with a row.
func (w *Writer) endFull(n *node) error {
	if n.leaf != nil {
		if n.leaf.full() {
			return w.endPage(n.leaf)
		}
		return nil
	}
	for _, c := range n.children {
		if err := w.endFull(c); err != nil {
			return err
		}
	}
	return nil
}

// shredLeaf adds rows of a top-level column of single values, page by page.
func (w *Writer) shredLeaf(n *node, v *vec.Vector, sel []uint16) error {
	l := n.leaf
	for len(sel) > 0 {
		if l.full() {
			if err := w.endPage(l); err != nil {
				return err
			}
		}
		part := sel[:l.fitting(v, sel)]
		sel = sel[len(part):]
		there, err := n.present(v, part)
		if err != nil {
			return err
		}
		if err := l.add(v, there); err != nil {
			return err
		}
	}
	return nil
}

// fitting is how many of the rows the open page takes, at least one.
func (l *leaf) fitting(v *vec.Vector, sel []uint16) int {
	n := min(len(sel), l.opt.PageRows-l.rows)
	if l.phys != physBytes {
		return max(1, min(n, (l.opt.PageBytes-l.size)/l.width()))
	}
	room := l.opt.PageBytes - l.size
	if l.coding != plain {
		room = l.opt.PageBytes // of new values of the dictionary, at most
	}
	f := v.Values()
	for k, i := range sel[:n] {
		if room <= 0 {
			return max(1, k)
		}
		if !v.Null(int(i)) {
			room -= 4 + int(f.Views[v.Row(int(i))].Len)
		}
	}
	return n
}

// present records the levels of rows and gives those that are not NULL.
func (n *node) present(v *vec.Vector, sel []uint16) ([]uint16, error) {
	l := n.leaf
	if v.Valid == nil || v.Enc == vec.Const && v.Valid.Get(0) {
		if l.def != nil {
			for range sel {
				l.def = append(l.def, l.maxDef)
			}
		}
		l.entries += len(sel)
		l.rows += len(sel)
		return sel, nil
	}
	l.idx = l.idx[:0]
	for _, i := range sel {
		if !v.Null(int(i)) {
			l.idx = append(l.idx, i)
		}
	}
	if len(l.idx) < len(sel) {
		if !n.optional {
			return nil, n.notNull()
		}
		if l.def == nil {
			l.allThere()
		}
	}
	if l.def != nil {
		for _, i := range sel {
			d := l.maxDef
			if v.Null(int(i)) {
				d = 0
			}
			l.def = append(l.def, d)
		}
	}
	l.entries += len(sel)
	l.rows += len(sel)
	return l.idx, nil
}

// shred adds row i of v. def is the definition level that the parents have reached, rep the
// repetition level of the next entry (Dremel, as in Parquet's README, "Nested Encoding").
func (n *node) shred(v *vec.Vector, i int, def, rep uint8) error {
	if v.Null(i) {
		if !n.optional {
			return n.notNull()
		}
		n.absent(def, rep)
		return nil
	}
	if n.optional {
		def++
	}
	f, r := v.Values(), v.Row(i)
	switch n.kind {
	case "leaf":
		n.leaf.level(def, rep)
		n.leaf.size += n.leaf.width()
		return n.leaf.one(f, r)
	case "struct":
		for j, c := range n.children {
			if err := c.shred(f.Children[j], r, def, rep); err != nil {
				return err
			}
		}
		return nil
	}
	if n.kind == "variant" {
		return n.shredVariant(f.Views[r], f.Data, def, rep)
	}
	lo, hi := int(f.Offsets[r]), int(f.Offsets[r+1])
	if lo == hi {
		n.absent(def, rep) // an empty list: defined, without an entry
		return nil
	}
	for k := lo; k < hi; k++ {
		if k > lo {
			rep = uint8(n.maxRep + 1)
		}
		if err := n.shredElement(f.Child, k, def+1, rep); err != nil {
			return err
		}
	}
	return nil
}

// shredVariant adds a variant's metadata and value as they are (types.Variant).
func (n *node) shredVariant(w vec.View, data []byte, def, rep uint8) error {
	b := data[w.Off : w.Off+w.Len]
	meta, _, err := types.SplitVariant(room.String(b))
	if err != nil {
		return err
	}
	for i, part := range [][]byte{b[:len(meta)], b[len(meta):]} {
		l := n.children[i].leaf
		l.level(def, rep)
		l.size += l.width()
		if err := l.oneBytes(part); err != nil {
			return err
		}
	}
	return nil
}

// shredElement adds a list's element, or a map's key and value.
func (n *node) shredElement(child *vec.Vector, k int, def, rep uint8) error {
	if n.kind == "list" {
		return n.children[0].shred(child, k, def, rep)
	}
	kv, r := child.Values(), child.Row(k)
	for j, c := range n.children {
		if err := c.shred(kv.Children[j], r, def, rep); err != nil {
			return err
		}
	}
	return nil
}

// absent records in every leaf below that nothing is there from level def on.
func (n *node) absent(def, rep uint8) {
	if n.leaf != nil {
		n.leaf.level(def, rep)
		return
	}
	for _, c := range n.children {
		c.absent(def, rep)
	}
}
