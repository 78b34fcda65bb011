package parquet

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// notNull refuses a NULL in a required field.
func (n *node) notNull() error {
	return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q violates not-null constraint", n.field.Name)
}

// shredTop adds the rows sel (nil: all) of a top-level column.
func (n *node) shredTop(v *vec.Vector, sel []uint16, rows int) error {
	if n.leaf != nil && v.Valid == nil && v.Enc == vec.Flat && sel == nil && n.leaf.appendAll(v, rows) {
		return nil
	}
	one := func(i int) error { return n.shred(v, i, 0, 0) }
	if sel != nil {
		for _, i := range sel {
			if err := one(int(i)); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i < rows; i++ {
		if err := one(i); err != nil {
			return err
		}
	}
	return nil
}

// appendAll adds whole slices of a flat column without NULLs; false where forms differ.
func (l *leaf) appendAll(v *vec.Vector, rows int) bool {
	switch {
	case l.phys == physInt64 && v.Form == types.FormI64:
		l.ints = append(l.ints, v.I64[:rows]...)
	case (l.phys == physFloat || l.phys == physDouble) && v.Form == types.FormF64:
		l.f64 = append(l.f64, v.F64[:rows]...)
	default:
		return false
	}
	l.entries += rows
	if l.def != nil {
		for range rows {
			l.def = append(l.def, l.maxDef)
		}
	}
	return true
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
		return n.leaf.value(f, r)
	case "struct":
		for j, c := range n.children {
			if err := c.shred(f.Children[j], r, def, rep); err != nil {
				return err
			}
		}
		return nil
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
