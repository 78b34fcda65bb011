package exec

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// distinctSet collects the distinct arguments of one DISTINCT aggregate per group: rows of
// (group, arguments). They reach the aggregate's state at the end, when every goroutine's sets
// are merged. It freezes when memory is short, like aggTable: new rows are spilled.
type distinctSet struct {
	env     *Env
	table   *groupTable
	grouped bool // else all rows are of group 0, and the group is no part of the key
	level   int
	types   []types.Type
	mem     *memory
	file    *spillFile
	frozen  bool
	spilled []*partitions

	cols []*vec.Vector
	gid  *vec.Vector
	ids  []uint32
	lost []uint16
}

func newDistinctSet(env *Env, args []types.Type, grouped bool, level int, file *spillFile) *distinctSet {
	t := args
	if grouped {
		t = append([]types.Type{gidType}, args...)
	}
	d := &distinctSet{env: env, table: newGroupTable(t), grouped: grouped, level: level, types: t,
		mem: newMemory(env), file: file, cols: make([]*vec.Vector, len(t))}
	if level == 0 {
		d.mem.share(1, 2)
	}
	return d
}

func (d *distinctSet) add(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	if d.grouped {
		d.gid = scatterGroups(d.gid, sel, rows, groups)
		d.cols[0] = d.gid
		copy(d.cols[1:], args)
	} else {
		copy(d.cols, args)
	}
	return d.insert(d.cols, sel, rows)
}

// insert adds rows of the set's own columns.
func (d *distinctSet) insert(cols []*vec.Vector, sel []uint16, rows int) error {
	d.ids = grown(d.ids, len(sel))
	if err := d.table.find(cols, sel, rows, d.ids, !d.frozen); err != nil {
		return err
	}
	if !d.frozen {
		return nil
	}
	lost := d.unknown(sel)
	if len(lost) == 0 {
		return nil
	}
	if d.spilled == nil {
		d.spilled = []*partitions{newPartitions(d.file, d.types)}
	}
	return d.spilled[0].write(cols, lost, rows, d.table.hash(cols, lost, rows), d.level)
}

// unknown gives the rows that the last find did not find.
func (d *distinctSet) unknown(sel []uint16) []uint16 {
	d.lost = d.lost[:0]
	for i, s := range sel {
		if d.ids[i] == noGroup {
			d.lost = append(d.lost, s)
		}
	}
	return d.lost
}

func (d *distinctSet) account() {
	if !d.frozen && d.level < maxLevel && !d.mem.grow(d.table.bytesHeld()) && d.table.n >= minGroups {
		d.frozen = true
	}
}

// each hands out the rows of the set in memory.
func (d *distinctSet) each(f func(cols []*vec.Vector, rows int) error) error {
	cols := make([]*vec.Vector, len(d.types))
	for from := 0; from < d.table.n; from += vec.BatchRows {
		to := min(from+vec.BatchRows, d.table.n)
		for i, k := range d.table.keys {
			cols[i] = rowsOf(k.Vector(), from, to)
		}
		if err := f(cols, to-from); err != nil {
			return err
		}
	}
	return nil
}

// merge adds o's rows, whose group g is into[g] here.
func (d *distinctSet) merge(o *distinctSet, into []uint32) error {
	put := func(cols []*vec.Vector, rows int) error {
		if d.grouped {
			groups := make([]uint32, rows)
			for i, g := range cols[0].I64[:rows] {
				groups[i] = into[g]
			}
			cols = append([]*vec.Vector{scatterGroups(nil, identity[:rows], rows, groups)}, cols[1:]...)
		}
		err := d.insert(cols, identity[:rows], rows)
		d.account()
		return err
	}
	if err := o.each(put); err != nil {
		return err
	}
	for _, p := range o.spilled {
		if err := p.finish(); err != nil {
			return err
		}
		for k := range fanout {
			if err := p.each(k, func(b *vec.Batch) error { return put(b.Cols, b.Rows) }); err != nil {
				return err
			}
		}
	}
	o.free()
	return nil
}

// finish feeds every distinct row once: those in memory, then those of each spilled partition
// that are not in memory.
func (d *distinctSet) finish(feed func(args []*vec.Vector, rows int, groups []uint32) error) error {
	if err := d.each(func(cols []*vec.Vector, rows int) error {
		groups := grown(d.ids, rows)
		d.ids = groups
		if !d.grouped {
			clear(groups)
			return feed(cols, rows, groups)
		}
		for i, g := range cols[0].I64[:rows] {
			groups[i] = uint32(g)
		}
		return feed(cols[1:], rows, groups)
	}); err != nil {
		return err
	}
	for _, p := range d.spilled {
		if err := p.finish(); err != nil {
			return err
		}
	}
	if d.spilled == nil {
		return nil
	}
	args := d.types
	if d.grouped {
		args = args[1:]
	}
	for k := range fanout {
		child := newDistinctSet(d.env, args, d.grouped, d.level+1, d.file)
		for _, p := range d.spilled {
			err := p.each(k, func(b *vec.Batch) error {
				d.ids = grown(d.ids, b.Rows)
				if err := d.table.find(b.Cols, identity[:b.Rows], b.Rows, d.ids, false); err != nil {
					return err
				}
				err := child.insert(b.Cols, d.unknown(identity[:b.Rows]), b.Rows)
				child.account()
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := child.finish(feed); err != nil {
			return err
		}
		child.free()
	}
	return nil
}

func (d *distinctSet) free() { d.mem.free() }
