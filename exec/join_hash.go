package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// joinSides says which side of a join is which, for hash and loop joins alike. The inner side is
// kept (built); the outer side streams (probes).
type joinSides struct {
	kind    plan.JoinKind
	swapped bool // the inner side is Left
	// What leaves:
	pairs      bool // rows of both sides
	keepOuter  bool // outer rows without a partner, with NULLs
	keepInner  bool // inner rows without a partner, with NULLs
	single     bool // a second partner is an error
	mark       bool
	semiOuter  bool // outer rows with a partner, or without (anti)
	semiInner  bool // inner rows with a partner, or without
	anti       bool
	outerTypes []types.Type
	innerTypes []types.Type
	innerSkip  []bool // columns that neither output nor condition needs
	outerSkip  []bool
}

func newJoinSides(kind plan.JoinKind, swapped bool, left, right []types.Type) joinSides {
	if kind == plan.MarkJoin {
		swapped = false
	}
	s := joinSides{kind: kind, swapped: swapped, outerTypes: left, innerTypes: right}
	if swapped {
		s.outerTypes, s.innerTypes = right, left
	}
	switch kind {
	case plan.InnerJoin, plan.LeftJoin, plan.RightJoin, plan.FullJoin, plan.SingleJoin:
		s.pairs = true
		left := kind == plan.LeftJoin || kind == plan.FullJoin || kind == plan.SingleJoin
		right := kind == plan.RightJoin || kind == plan.FullJoin
		s.keepOuter, s.keepInner = left, right
		if swapped {
			s.keepOuter, s.keepInner = right, left
		}
		s.single = kind == plan.SingleJoin
	case plan.SemiJoin, plan.AntiJoin:
		s.anti = kind == plan.AntiJoin
		s.semiOuter, s.semiInner = !swapped, swapped
	case plan.MarkJoin:
		s.mark = true
	}
	return s
}

// marksInner tells whether somebody asks which inner rows found a partner.
func (s *joinSides) marksInner() bool { return s.keepInner || s.semiInner }

// hashJoin is what the partitions of a hash join share: the table of the build side, which the
// first to come makes.
type hashJoin struct {
	joinSides
	env   *Env
	node  *plan.Join
	keys  joinKeys
	build []vec.Source
	probe []vec.Source

	buildKeys, probeKeys []*eval.Program
	rest                 *eval.Program // over Left's and Right's columns
	on                   *eval.Program // three-valued, for marks; nil unless needed

	ready     once
	table     *joinTable
	memories  []*memory
	buildRows int64 // of the build side in all
	nullKeys  bool  // some build row has a NULL key
	file      *spillFile
	spilling  atomic.Bool
	spill     *joinSpill

	probing atomic.Int32 // partitions that go on
	using   atomic.Int32 // partitions that are not closed
}

// streams makes the join's partitions, one per partition of the probe side.
func (j *hashJoin) streams() []vec.Source {
	j.probing.Store(int32(len(j.probe)))
	j.using.Store(int32(len(j.probe)))
	out := make([]vec.Source, len(j.probe))
	for i, p := range j.probe {
		out[i] = newJoinStream(j, p)
	}
	return out
}

// minBuildRows is how many rows a build side holds however little memory there is.
const minBuildRows = 256

// canSpill: an IN whose NULLs must be compared with every build row needs those rows here.
func (j *hashJoin) canSpill() bool { return !j.mark || j.on == nil }

// prepare runs the build side.
func (j *hashJoin) prepare(ctx context.Context) error {
	sides := make([]*buildRows, len(j.build))
	spilled := make([]*partitions, len(j.build))
	j.memories = make([]*memory, len(j.build))
	for i := range j.build {
		sides[i] = newBuildRows(&j.keys, j.innerTypes, j.innerSkip)
		j.memories[i] = newMemory(j.env).share(1, 2)
	}
	err := parallel(ctx, len(j.build), func(ctx context.Context, i int) error {
		return j.collect(ctx, i, sides, spilled)
	})
	if err != nil {
		return err
	}
	for _, r := range sides {
		j.buildRows += int64(r.store.n) + r.flushed
		j.nullKeys = j.nullKeys || r.sawNull
		for _, n := range r.null {
			j.nullKeys = j.nullKeys || n
		}
	}
	j.publish(sides)
	if j.spilling.Load() {
		return j.startSpill(sides, spilled)
	}
	j.table, err = newJoinTable(ctx, &j.keys, sides, j.env.workers(), j.marksInner())
	return err
}

// collect reads one partition of the build side.
func (j *hashJoin) collect(ctx context.Context, i int, sides []*buildRows, spilled []*partitions) error {
	c, progs := j.env.evalCtx(), clonePrograms(j.buildKeys)
	keys := make([]*vec.Vector, len(progs))
	for {
		b, err := j.build[i].Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		if err := evalAll(c, progs, b, keys); err != nil {
			return err
		}
		sides[i].add(&j.keys, b.Cols, keys, selection(b), b.Rows)
		switch {
		case !j.canSpill():
			if err := j.memories[i].must(sides[i].bytes()); err != nil {
				return err
			}
		case !j.memories[i].grow(sides[i].bytes()) && sides[i].store.n >= minBuildRows:
			j.spilling.Store(true)
		}
		if j.spilling.Load() && sides[i].store.n >= minBuildRows {
			if spilled[i] == nil {
				spilled[i] = newPartitions(j.file, spillTypes(j.innerTypes))
			}
			if err := j.flush(sides, i, spilled[i]); err != nil {
				return err
			}
		}
	}
	return j.build[i].Close()
}

// joinStream is one partition of a hash join.
type joinStream struct {
	j    *hashJoin
	src  vec.Source
	c    *eval.Ctx
	init bool

	progs []*eval.Program
	rest  *eval.Program
	on    *eval.Program
	look  joinProbe
	table *joinTable
	keys  []*vec.Vector

	// The probe batch under way.
	in      *vec.Batch
	sel     []uint16
	heads   []uint32
	null    []bool
	matched []bool // by place in sel
	unknown []bool // some pair's condition was NULL (marks only)

	// The pairs still to make of it: from place row on, starting with build row cur.
	row  int
	cur  uint32
	tail bool // all pairs are made: what has no partner is next

	place  []uint32
	ids    []uint32
	pass   []uint16
	rows   []uint16
	inner  []*column
	outer  []*column
	null0  []*vec.Vector // NULL columns of the inner side
	null1  []*vec.Vector // and of the outer side
	out    vec.Batch
	cand   vec.Batch
	marks  *column
	ended  bool // the probe side
	rowsOf int  // the chunk of unmatched inner rows to look at next
	last   bool // this partition hands those out
	closed bool
	jobs   []joinJob // pairs of spilled partitions, divided further
	memory *memory
	reader func(context.Context) (*vec.Batch, error)
}

func newJoinStream(j *hashJoin, src vec.Source) *joinStream {
	return &joinStream{j: j, src: src}
}

func (s *joinStream) start(ctx context.Context) error {
	j := s.j
	if err := j.ready.do(ctx, func() error { return j.prepare(ctx) }); err != nil {
		return err
	}
	s.init = true
	s.c = j.env.evalCtx()
	s.progs = clonePrograms(j.probeKeys)
	s.keys = make([]*vec.Vector, len(s.progs))
	if j.rest != nil {
		s.rest = j.rest.Clone()
	}
	if j.on != nil {
		s.on = j.on.Clone()
	}
	s.inner, s.outer = newColumns(j.innerTypes), newColumns(j.outerTypes)
	s.marks = newColumn(types.T(types.Bool))
	for _, t := range j.innerTypes {
		s.null0 = append(s.null0, vec.ConstOf(t, types.Null))
	}
	for _, t := range j.outerTypes {
		s.null1 = append(s.null1, vec.ConstOf(t, types.Null))
	}
	s.table = j.table
	s.reader = s.src.Next
	if j.spill != nil {
		return j.spill.drain(ctx)
	}
	return nil
}

func (s *joinStream) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.init {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		if s.table == nil { // spilled: the next partition
			more, err := s.nextJob(ctx)
			if !more || err != nil {
				return nil, err
			}
		}
		if s.in != nil {
			b, err := s.step()
			if b != nil || err != nil {
				return b, err
			}
			continue
		}
		if !s.ended {
			if err := s.pull(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if b := s.innerRows(); b != nil {
			return b, nil
		}
		if s.j.spill == nil {
			return nil, nil
		}
		s.endJob()
	}
}

// pull takes the next probe batch and looks its keys up.
func (s *joinStream) pull(ctx context.Context) error {
	b, err := s.reader(ctx)
	if err != nil {
		return err
	}
	if b == nil {
		s.ended = true
		s.rowsOf = 0
		// Who ends last sees all matches.
		s.last = s.j.spill != nil || s.j.probing.Add(-1) == 0
		return nil
	}
	if b.Len() == 0 {
		return nil
	}
	if s.j.spill != nil {
		// The last column of spilled rows is the key.
		n := len(b.Cols) - 1
		s.keys = append(s.keys[:0], b.Cols[n])
		b = &vec.Batch{Cols: b.Cols[:n], Sel: b.Sel, Rows: b.Rows}
	} else if err := evalAll(s.c, s.progs, b, s.keys); err != nil {
		return err
	}
	s.in, s.sel = b, selection(b)
	n := len(s.sel)
	s.heads = grown(s.heads, n)
	s.null = s.look.find(s.table, s.keys, s.sel, s.heads)
	s.matched = grown(s.matched, n)
	s.row, s.cur, s.tail = 0, noRow, false
	if s.rest != nil || s.table.dups {
		clear(s.matched)
	}
	if s.j.mark {
		s.unknown = grown(s.unknown, n)
		clear(s.unknown)
	}
	return nil
}

// step makes the next output of the batch under way; nil when there is none right now.
func (s *joinStream) step() (*vec.Batch, error) {
	j := s.j
	switch {
	case s.tail:
		b, err := s.finishBatch()
		if b == nil || err != nil {
			s.in = nil
		}
		return b, err
	case s.rest == nil && !j.pairs:
		// The first build row says it all.
		for i, h := range s.heads {
			s.matched[i] = h != noRow
		}
		if j.semiInner {
			s.markChains()
		}
		s.tail = true
		return nil, nil
	case !s.table.dups:
		s.tail = true
		return s.aligned()
	}
	return s.pairsBatch()
}

// aligned makes the output where every probe row has at most one partner: the probe columns stay
// as they are, and the build columns are laid beside them.
func (s *joinStream) aligned() (*vec.Batch, error) {
	j := s.j
	s.rows, s.ids, s.place = s.rows[:0], s.ids[:0], s.place[:0]
	for i, h := range s.heads {
		s.matched[i] = h != noRow
		if h != noRow {
			s.rows = append(s.rows, s.sel[i])
			s.ids = append(s.ids, h)
			s.place = append(s.place, uint32(i))
		}
	}
	if s.rest != nil && len(s.rows) > 0 {
		s.pickInner(s.ids, s.rows, s.in.Rows)
		s.assemble(&s.cand, s.in.Cols, nil)
		s.cand.Sel, s.cand.Rows = s.rows, s.in.Rows
		if err := s.test(s.rows); err != nil {
			return nil, err
		}
		// Keep the pairs that passed; others are as if not found.
		k := 0
		p := 0
		for i, r := range s.rows {
			if p < len(s.pass) && s.pass[p] == r {
				p++
				s.rows[k], s.ids[k], s.place[k] = r, s.ids[i], s.place[i]
				k++
			} else {
				s.matched[s.place[i]] = false
				s.heads[s.place[i]] = noRow
			}
		}
		s.rows, s.ids = s.rows[:k], s.ids[:k]
	}
	if s.table.matched != nil {
		for _, id := range s.ids {
			if !j.single {
				s.table.setMatched(id)
			} else if !s.table.matchOnce(id) {
				return nil, errMoreThanOneRow()
			}
		}
	}
	if !j.pairs {
		return nil, nil
	}
	rows, ids := s.rows, s.ids
	if j.keepOuter {
		rows, ids = s.sel, s.heads
		for i := range s.matched {
			s.matched[i] = true // nothing is left for the tail
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	s.pickInner(ids[:len(rows)], rows, s.in.Rows)
	s.assemble(&s.out, s.in.Cols, nil)
	s.out.Sel, s.out.Rows = rows, s.in.Rows
	if len(rows) == s.in.Rows {
		s.out.Sel = nil
	}
	return &s.out, nil
}

// test evaluates the rest of the condition over the candidates; rows are theirs. pass is set to
// those for which it is true; for marks, unknown is set where it is NULL.
func (s *joinStream) test(rows []uint16) error {
	if !s.j.mark {
		var err error
		s.pass, err = s.rest.Select(s.c, &s.cand, s.pass)
		return err
	}
	v, err := s.rest.Eval(s.c, &s.cand)
	if err != nil {
		return err
	}
	s.pass = s.pass[:0]
	for i, r := range rows {
		switch {
		case v.Null(int(r)):
			s.unknown[s.place[i]] = true
		case v.Values().Bools[v.Row(int(r))]:
			s.pass = append(s.pass, r)
		}
	}
	return nil
}

// pairsBatch makes the next batch of pairs of the batch under way.
func (s *joinStream) pairsBatch() (*vec.Batch, error) {
	j := s.j
	limit := j.env.batchRows()
	s.rows, s.ids, s.place = s.rows[:0], s.ids[:0], s.place[:0]
	// Where one partner settles a row, rows that have one are passed over.
	settles := !j.pairs && !j.semiInner
	for s.row < len(s.sel) && len(s.ids) < limit {
		if s.cur == noRow {
			s.cur = s.heads[s.row]
		}
		for s.cur != noRow && len(s.ids) < limit && !(settles && s.matched[s.row]) {
			s.rows = append(s.rows, s.sel[s.row])
			s.ids = append(s.ids, s.cur)
			s.place = append(s.place, uint32(s.row))
			s.cur = s.table.after(s.cur)
		}
		if s.cur == noRow || settles && s.matched[s.row] {
			s.cur = noRow
			s.row++
			continue
		}
	}
	if s.row == len(s.sel) {
		s.tail = true
	}
	n := len(s.ids)
	if n == 0 {
		return nil, nil
	}
	for c, v := range s.in.Cols {
		if j.outerSkip != nil && j.outerSkip[c] {
			s.outer[c].taken = s.null1[c]
			continue
		}
		s.outer[c].taken = s.outer[c].take(v, s.rows)
	}
	s.pickInner(s.ids, nil, n)
	s.assemble(&s.cand, nil, s.outer)
	s.cand.Sel, s.cand.Rows = nil, n
	pass := identity[:n]
	if s.rest != nil {
		if err := s.test(pass); err != nil {
			return nil, err
		}
		pass = s.pass
	}
	for _, p := range pass {
		i := s.place[p]
		if j.single && !j.swapped && s.matched[i] {
			return nil, errMoreThanOneRow()
		}
		s.matched[i] = true
		switch {
		case j.single && j.swapped: // the rows that may have one partner are the built ones
			if !s.table.matchOnce(s.ids[p]) {
				return nil, errMoreThanOneRow()
			}
		case s.table.matched != nil:
			s.table.setMatched(s.ids[p])
		}
	}
	if !j.pairs || len(pass) == 0 {
		return nil, nil
	}
	s.out = s.cand
	if len(pass) < n {
		s.out.Sel = pass
	}
	return &s.out, nil
}

func errMoreThanOneRow() error {
	return sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
}

// finishBatch makes what the batch under way yields after its pairs. It is called once: the
// batch then has ended.
func (s *joinStream) finishBatch() (*vec.Batch, error) {
	j := s.j
	in := s.in
	s.in = nil
	switch {
	case j.mark:
		return s.marked(in)
	case j.keepOuter:
		if s.collectRows(false); len(s.rows) == 0 {
			return nil, nil
		}
		cols := s.out.Cols[:0]
		if j.swapped {
			cols = append(append(cols, s.null0...), in.Cols...)
		} else {
			cols = append(append(cols, in.Cols...), s.null0...)
		}
		s.out = vec.Batch{Cols: cols, Sel: s.rows, Rows: in.Rows}
		return &s.out, nil
	case j.semiOuter:
		if s.collectRows(!j.anti); len(s.rows) == 0 {
			return nil, nil
		}
		s.out = vec.Batch{Cols: in.Cols, Sel: s.rows, Rows: in.Rows}
		return &s.out, nil
	}
	return nil, nil
}

// collectRows puts the rows with, or without, a partner in rows.
func (s *joinStream) collectRows(with bool) {
	s.rows = s.rows[:0]
	for i, m := range s.matched[:len(s.sel)] {
		if m == with {
			s.rows = append(s.rows, s.sel[i])
		}
	}
}

// pickInner fills the inner columns: row pos[i] (nil: i) is build row ids[i].
func (s *joinStream) pickInner(ids []uint32, pos []uint16, rows int) {
	for c := range s.inner {
		s.inner[c].taken = s.inner[c].pick(s.table.store, c, ids, pos, rows)
	}
}

// assemble puts Left's and Right's columns into b: the outer ones from cols, or as taken.
func (s *joinStream) assemble(b *vec.Batch, cols []*vec.Vector, taken []*column) {
	out := b.Cols[:0]
	inner := func() {
		for _, c := range s.inner {
			out = append(out, c.taken)
		}
	}
	if s.j.swapped {
		inner()
	}
	out = append(out, cols...)
	for _, c := range taken {
		out = append(out, c.taken)
	}
	if !s.j.swapped {
		inner()
	}
	b.Cols = out
}

// markChains marks all build rows of the keys found.
func (s *joinStream) markChains() {
	for _, h := range s.heads {
		// Chains are marked as a whole, so the head's mark stands for all.
		if h == noRow || s.table.isMatched(h) {
			continue
		}
		first := h
		for h = s.table.after(h); h != noRow; h = s.table.after(h) {
			s.table.setMatched(h)
		}
		s.table.setMatched(first)
	}
}

func (t *joinTable) setMatched(id uint32) {
	p := &t.matched[id>>chunkBits][id&chunkMask]
	if atomic.LoadUint32(p) == 0 {
		atomic.StoreUint32(p, 1)
	}
}

// matchOnce marks a row and tells whether it had no mark.
func (t *joinTable) matchOnce(id uint32) bool {
	return atomic.CompareAndSwapUint32(&t.matched[id>>chunkBits][id&chunkMask], 0, 1)
}

func (t *joinTable) isMatched(id uint32) bool {
	return atomic.LoadUint32(&t.matched[id>>chunkBits][id&chunkMask]) != 0
}

// innerRows hands out the inner rows that are due at the end, chunk by chunk.
func (s *joinStream) innerRows() *vec.Batch {
	j := s.j
	if !s.last || !j.marksInner() {
		return nil
	}
	for s.rowsOf < len(s.table.store.chunks) {
		k := s.rowsOf
		s.rowsOf++
		want := uint32(0)
		if j.semiInner && !j.anti {
			want = 1
		}
		s.rows = s.rows[:0]
		for i := range s.table.matched[k] {
			if atomic.LoadUint32(&s.table.matched[k][i]) == want {
				s.rows = append(s.rows, uint16(i))
			}
		}
		if len(s.rows) == 0 {
			continue
		}
		ch := s.table.store.chunks[k]
		cols := s.out.Cols[:0]
		if j.pairs && !j.swapped {
			cols = append(cols, s.null1...)
		}
		for c, v := range ch.cols {
			if v == nil {
				v = s.null0[c]
			}
			cols = append(cols, v)
		}
		if j.pairs && j.swapped {
			cols = append(cols, s.null1...)
		}
		s.out = vec.Batch{Cols: cols, Sel: s.rows, Rows: ch.rows}
		return &s.out
	}
	return nil
}

func (s *joinStream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.src.Close()
	s.memory.free()
	j := s.j
	if j.using.Add(-1) == 0 {
		if e := closeAll(j.build); err == nil {
			err = e
		}
		for _, m := range j.memories {
			m.free()
		}
		if e := j.file.close(); err == nil {
			err = e
		}
	}
	return err
}
