package exec

import (
	"bytes"
	"context"
	"reflect"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// distinctOn passes the first row of each set of equal keys, in its input's order. Over an input
// sorted by those keys it remembers the last key only, else all of them.
type distinctOn struct {
	in     vec.Source
	c      *eval.Ctx
	keys   []*eval.Program
	vecs   []*vec.Vector
	sorted bool
	enc    *keyEncoder
	last   []byte
	any    bool
	table  *groupTable
	mem    *memory
	ids    []uint32
	sel    []uint16
	out    vec.Batch
}

func newDistinctOn(env *Env, n *plan.Distinct, in vec.Source) (*distinctOn, error) {
	keys, err := compileAll(n.On, n.Input.Columns())
	if err != nil {
		return nil, err
	}
	d := &distinctOn{in: in, c: env.evalCtx(), keys: keys, vecs: make([]*vec.Vector, len(keys)),
		sorted: sortedBy(n.Input, n.On), mem: newMemory(env)}
	t := make([]types.Type, len(n.On))
	cols := make([]keyColumn, len(n.On))
	for i, e := range n.On {
		t[i] = e.Type()
		cols[i] = equalKey(t[i])
	}
	d.enc = newKeyEncoder(cols)
	d.table = newGroupTable(t)
	return d, nil
}

// sortedBy tells whether n is sorted with exprs, in any order, as its first keys.
func sortedBy(n plan.Node, exprs []plan.Expr) bool {
	s, ok := n.(*plan.Sort)
	if !ok || len(s.Keys) < len(exprs) {
		return false
	}
	for _, k := range s.Keys[:len(exprs)] {
		found := false
		for _, e := range exprs {
			found = found || reflect.DeepEqual(k.Expr, e)
		}
		if !found {
			return false
		}
	}
	for _, e := range exprs {
		found := false
		for _, k := range s.Keys[:len(exprs)] {
			found = found || reflect.DeepEqual(k.Expr, e)
		}
		if !found {
			return false
		}
	}
	return true
}

func (d *distinctOn) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := d.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if b.Len() == 0 {
			continue
		}
		if err := evalAll(d.c, d.keys, b, d.vecs); err != nil {
			return nil, err
		}
		d.sel = d.sel[:0]
		if d.sorted {
			d.firsts(selection(b))
		} else if err := d.unseen(b); err != nil {
			return nil, err
		}
		if len(d.sel) > 0 {
			d.out = vec.Batch{Cols: b.Cols, Sel: d.sel, Rows: b.Rows}
			return &d.out, nil
		}
	}
}

func (d *distinctOn) firsts(sel []uint16) {
	d.enc.encode(d.vecs, sel)
	for i, r := range sel {
		if k := d.enc.key(i); !d.any || !bytes.Equal(k, d.last) {
			d.any = true
			d.last = append(d.last[:0], k...)
			d.sel = append(d.sel, r)
		}
	}
}

func (d *distinctOn) unseen(b *vec.Batch) error {
	sel := selection(b)
	d.ids = grown(d.ids, len(sel))
	next := uint32(d.table.n)
	if err := d.table.find(d.vecs, sel, b.Rows, d.ids, true); err != nil {
		return err
	}
	for i, id := range d.ids[:len(sel)] {
		if id == next { // numbers are given in order: a new one is a row's first
			next++
			d.sel = append(d.sel, sel[i])
		}
	}
	return d.mem.must(d.table.bytesHeld())
}

func (d *distinctOn) Close() error {
	d.mem.free()
	return d.in.Close()
}
