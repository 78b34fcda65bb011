package exec

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// aggSpec says what to compute over input rows: columns of evaluated expressions, the group keys
// first.
type aggSpec struct {
	env    *Env
	types  []types.Type // of the input columns
	keys   int          // how many of them are group keys
	sets   [][]int      // grouping sets, as indexes of keys
	calls  []aggCall
	expect *keyRange
	serial bool // some call depends on the input's order: one partial state only
}

// aggCall is one aggregate over input columns.
type aggCall struct {
	state    func(*eval.Ctx) (eval.AggState, error)
	args     []int
	filter   int // a boolean column; -1: none
	distinct bool
	order    []int // columns to order the call's rows by
	orderBy  []keyColumn
	ret      types.Type
	// base is 1 + an earlier call whose state has all that this one needs, for view; 0: none.
	base int
	view func(base eval.AggState) eval.AggState
	// collects names what the state gathers; "": something of its own.
	collects string
}

// minGroups is how many groups a table holds however little memory there is: working through
// spilled rows makes progress.
const minGroups = 32

// aggTable is the state of one grouping set in one goroutine.
//
// When memory is short it freezes: groups that it has go on in memory, rows of new groups are
// spilled as they are, evaluated. Reading a partition back, rows whose group is in the (merged)
// table join it there; the rest make a table of the next level.
type aggTable struct {
	spec   *aggSpec
	set    []int
	c      *eval.Ctx
	level  int
	groups *groupTable
	mem    *memory
	file   *spillFile

	states   []eval.AggState
	distinct []*distinctSet // by call; nil: not distinct
	sorters  []*sorter      // by call; nil: not ordered

	frozen  bool
	spilled []*partitions // one per goroutine that spilled

	keys, args  []*vec.Vector
	gids        []uint32
	kept, lost  []uint16
	filtered    []uint16
	filterGroup []uint32
	gidVector   *vec.Vector
}

func newAggTable(spec *aggSpec, set []int, c *eval.Ctx, level int, file *spillFile) (*aggTable, error) {
	t := &aggTable{spec: spec, set: set, c: c, level: level, file: file, mem: newMemory(spec.env)}
	t.mem.sharers = int64((len(spec.sets) + 7) / 8)
	if level == 0 {
		t.mem.share(1, 2)
	}
	kt := make([]types.Type, len(set))
	for i, k := range set {
		kt[i] = spec.types[k]
	}
	t.groups = newGroupTable(kt)
	if len(set) == 1 {
		t.groups.int.expect = spec.expect
	}
	t.keys = make([]*vec.Vector, len(set))
	t.states = make([]eval.AggState, len(spec.calls))
	t.distinct = make([]*distinctSet, len(spec.calls))
	t.sorters = make([]*sorter, len(spec.calls))
	for i, call := range spec.calls {
		var err error
		if call.base > 0 {
			t.states[i] = call.view(t.states[call.base-1])
			continue
		}
		if t.states[i], err = call.state(c); err != nil {
			return nil, err
		}
		if call.distinct {
			t.distinct[i] = newDistinctSet(spec.env, t.typesOf(call.args), len(set) > 0, level, file)
		}
		if call.order != nil {
			by := append([]keyColumn{equalKey(gidType)}, call.orderBy...)
			t.sorters[i] = newSorter(spec.env, append([]types.Type{gidType}, t.typesOf(call.args)...), nil, by, file, 0)
		}
	}
	if len(set) == 0 {
		t.groups.n = 1 // the grand total exists without rows
	}
	return t, nil
}

var gidType = types.T(types.Int8)

func (t *aggTable) typesOf(cols []int) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = t.spec.types[c]
	}
	return ts
}

func (t *aggTable) keyVectors(in []*vec.Vector) []*vec.Vector {
	for i, k := range t.set {
		t.keys[i] = in[k]
	}
	return t.keys
}

// add folds the rows sel of in.
func (t *aggTable) add(in []*vec.Vector, sel []uint16, rows int) error {
	if len(sel) == 0 {
		return nil
	}
	t.gids = grown(t.gids, len(sel))
	if err := t.groups.find(t.keyVectors(in), sel, rows, t.gids, !t.frozen); err != nil {
		return err
	}
	if t.frozen {
		lost := t.split(sel)
		if len(lost) > 0 {
			if err := t.spill(in, lost, rows); err != nil {
				return err
			}
		}
		sel = t.kept
	}
	if err := t.update(in, sel, rows, t.gids[:len(sel)]); err != nil {
		return err
	}
	return t.account()
}

// split divides sel by whether a group was found: the found rows go to kept, and gids close up.
func (t *aggTable) split(sel []uint16) (lost []uint16) {
	t.kept, t.lost = t.kept[:0], t.lost[:0]
	for i, s := range sel {
		if g := t.gids[i]; g != noGroup {
			t.gids[len(t.kept)] = g
			t.kept = append(t.kept, s)
		} else {
			t.lost = append(t.lost, s)
		}
	}
	return t.lost
}

// absorb folds spilled rows whose group is here, and gives the rows of all others.
func (t *aggTable) absorb(b *vec.Batch) (rest []uint16, err error) {
	sel := selection(b)
	t.gids = grown(t.gids, len(sel))
	if err := t.groups.find(t.keyVectors(b.Cols), sel, b.Rows, t.gids, false); err != nil {
		return nil, err
	}
	rest = t.split(sel)
	return rest, t.update(b.Cols, t.kept, b.Rows, t.gids[:len(t.kept)])
}

// spill writes rows of new groups.
func (t *aggTable) spill(in []*vec.Vector, sel []uint16, rows int) error {
	if t.spilled == nil {
		t.spilled = []*partitions{newPartitions(t.file, t.spec.types)}
	}
	return t.spilled[0].write(in, sel, rows, t.groups.hash(t.keyVectors(in), sel, rows), t.level)
}

// update hands rows to the calls' states. groups[i] is row sel[i]'s.
func (t *aggTable) update(in []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	for i := range t.spec.calls {
		call := &t.spec.calls[i]
		if call.base > 0 {
			continue
		}
		s, g := sel, groups
		if call.filter >= 0 {
			s, g = t.filter(in[call.filter], s, g)
		}
		if len(s) == 0 {
			continue
		}
		t.args = t.args[:0]
		for _, a := range call.args {
			t.args = append(t.args, in[a])
		}
		var err error
		switch {
		case t.distinct[i] != nil:
			err = t.distinct[i].add(t.args, s, rows, g)
		case t.sorters[i] != nil:
			err = t.addOrdered(i, t.args, columnsAt(in, call.order), s, rows, g)
		default:
			err = t.fold(i, t.args, s, rows, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func columnsAt(in []*vec.Vector, at []int) []*vec.Vector {
	out := make([]*vec.Vector, len(at))
	for i, k := range at {
		out[i] = in[k]
	}
	return out
}

// fold updates call i's state proper.
func (t *aggTable) fold(i int, args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	if len(sel) == rows {
		sel = nil
	}
	if len(t.set) == 0 {
		groups = nil
	}
	t.states[i].Grow(t.groups.n)
	return t.states[i].Update(args, sel, rows, groups)
}

// filter keeps the rows for which the boolean v is true.
func (t *aggTable) filter(v *vec.Vector, sel []uint16, groups []uint32) ([]uint16, []uint32) {
	t.filtered, t.filterGroup = t.filtered[:0], t.filterGroup[:0]
	f := v.Values()
	for i, s := range sel {
		if !v.Null(int(s)) && f.Bools[v.Row(int(s))] {
			t.filtered = append(t.filtered, s)
			t.filterGroup = append(t.filterGroup, groups[i])
		}
	}
	return t.filtered, t.filterGroup
}

// groupColumn is groups as a column of rows physical rows.
func (t *aggTable) groupColumn(sel []uint16, rows int, groups []uint32) *vec.Vector {
	t.gidVector = scatterGroups(t.gidVector, sel, rows, groups)
	return t.gidVector
}

func scatterGroups(v *vec.Vector, sel []uint16, rows int, groups []uint32) *vec.Vector {
	if v == nil {
		v = vec.Alloc(gidType, types.FormI64, rows)
	}
	v.I64 = grown(v.I64, rows)
	for i, s := range sel {
		v.I64[s] = int64(groups[i])
	}
	return v
}

// addOrdered keeps the rows of an ordered call for its sorter.
func (t *aggTable) addOrdered(i int, args, order []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	gid := t.groupColumn(sel, rows, groups)
	cols := append([]*vec.Vector{gid}, args...)
	return t.sorters[i].add(cols, append([]*vec.Vector{gid}, order...), sel, rows)
}

// account reserves what the table holds now and freezes it when there is no more.
func (t *aggTable) account() error {
	held := t.groups.bytesHeld()
	for i, s := range t.states {
		held += s.Bytes()
		if t.distinct[i] != nil {
			t.distinct[i].account()
		}
	}
	if t.frozen || len(t.set) == 0 || t.level == maxLevel {
		return t.mem.must(held)
	}
	if !t.mem.grow(held) && t.groups.n >= minGroups {
		t.frozen = true
	}
	return nil
}

// merge folds another goroutine's table of the same set into t; o is not used again.
func (t *aggTable) merge(o *aggTable) error {
	into := make([]uint32, o.groups.n)
	keys := make([]*vec.Vector, len(t.set))
	if len(t.set) > 0 {
		for from := 0; from < o.groups.n; from += vec.BatchRows {
			to := min(from+vec.BatchRows, o.groups.n)
			for i, k := range o.groups.keys {
				keys[i] = rowsOf(k.Vector(), from, to)
			}
			if err := t.groups.find(keys, identity[:to-from], to-from, into[from:to], true); err != nil {
				return err
			}
		}
	}
	// What has been taken over goes at once: the collector may run before the merge ends.
	o.groups = nil
	for i, s := range t.states {
		s.Grow(t.groups.n)
		if t.distinct[i] != nil {
			if err := t.distinct[i].merge(o.distinct[i], into); err != nil {
				return err
			}
			continue
		}
		o.states[i].Grow(len(into))
		if err := s.Merge(o.states[i], into); err != nil {
			return err
		}
		o.states[i] = nil
	}
	t.spilled = append(t.spilled, o.spilled...)
	t.frozen = t.frozen || o.frozen
	o.mem.free()
	held := t.groups.bytesHeld()
	for _, s := range t.states {
		held += s.Bytes()
	}
	return t.mem.must(held)
}

// finish folds what distinct and ordered calls held back.
func (t *aggTable) finish() error {
	for i := range t.spec.calls {
		t.states[i].Grow(t.groups.n)
		if d := t.distinct[i]; d != nil {
			if err := d.finish(func(args []*vec.Vector, rows int, groups []uint32) error {
				return t.foldDistinct(i, args, rows, groups)
			}); err != nil {
				return err
			}
			d.free()
		}
		if s := t.sorters[i]; s != nil {
			if err := t.foldOrdered(i, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldDistinct folds rows without duplicates, by way of the sorter where the call has an order
// (which then consists of arguments).
func (t *aggTable) foldDistinct(i int, args []*vec.Vector, rows int, groups []uint32) error {
	call := &t.spec.calls[i]
	if t.sorters[i] == nil {
		return t.fold(i, args, identity[:rows], rows, groups)
	}
	order := make([]*vec.Vector, len(call.order))
	for k, c := range call.order {
		for j, a := range call.args {
			if a == c {
				order[k] = args[j]
			}
		}
	}
	return t.addOrdered(i, args, order, identity[:rows], rows, groups)
}

func (t *aggTable) foldOrdered(i int, s *sorter) error {
	out, err := mergeSorters([]*sorter{s}, vec.BatchRows)
	if err != nil {
		return err
	}
	defer out.close()
	for {
		b, err := out.next()
		if b == nil || err != nil {
			return err
		}
		t.gids = grown(t.gids, b.Rows)
		for r := range b.Rows {
			t.gids[r] = uint32(b.Cols[0].I64[r])
		}
		if err := t.fold(i, b.Cols[1:], identity[:b.Rows], b.Rows, t.gids); err != nil {
			return err
		}
	}
}

// outRows is how many groups leave at a time, of n: few where they are large, and a multiple of
// 64 where it is not less.
func (t *aggTable) outRows(n int) int {
	var held int64
	for _, s := range t.states {
		held += s.Bytes()
	}
	if k := wideRows(n, held, t.groups.n); k < n {
		return max(1, k&^63)
	}
	return n
}

func (t *aggTable) free() {
	t.mem.free()
	for i := range t.states {
		if t.distinct[i] != nil {
			t.distinct[i].free()
		}
		if t.sorters[i] != nil {
			t.sorters[i].free()
		}
	}
}
