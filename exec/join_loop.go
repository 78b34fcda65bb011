package exec

import (
	"context"
	"sync/atomic"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// loopJoin compares every outer row with every inner row: joins without equal keys. The inner
// side is kept whole; the partitions of the outer side share it.
type loopJoin struct {
	joinSides
	env     *Env
	inner   vec.Source
	outer   []vec.Source
	on      *eval.Program // over Left's and Right's columns; nil: true
	ready   once
	rows    *rowBuffer
	matched [][]uint32 // by chunk, set atomically; nil when nobody asks
	probing atomic.Int32
	using   atomic.Int32
}

func (j *loopJoin) streams() []vec.Source {
	j.probing.Store(int32(len(j.outer)))
	j.using.Store(int32(len(j.outer)))
	out := make([]vec.Source, len(j.outer))
	for i, p := range j.outer {
		out[i] = &loopStream{j: j, src: p}
	}
	return out
}

func (j *loopJoin) prepare(ctx context.Context) error {
	j.rows = newRowBuffer(j.env, j.innerTypes)
	if err := j.rows.fill(ctx, j.inner); err != nil {
		return err
	}
	if j.marksInner() {
		for _, c := range j.rows.chunks {
			j.matched = append(j.matched, make([]uint32, c.rows))
		}
	}
	return j.inner.Close()
}

// loopStream is one partition of a loop join. For each outer batch and each inner chunk it walks
// the rows of the shorter and tests each beside all of the longer at once.
type loopStream struct {
	j    *loopJoin
	src  vec.Source
	c    *eval.Ctx
	on   *eval.Program
	init bool

	in      *vec.Batch
	sel     []uint16
	matched []bool // by outer row
	unknown []bool
	part    int // inner chunk under way
	chunk   *vec.Batch
	row     int // of the shorter side, to be tested next
	settled int // outer rows that need no more testing

	cand  vec.Batch
	pass  []uint16
	apps  []*vec.Appender
	count int
	out   vec.Batch
	null0 []*vec.Vector
	null1 []*vec.Vector
	marks *column
	rows  []uint16

	ended, last, closed bool
	rest                int // inner chunk of partnerless rows to look at next
}

func (s *loopStream) start(ctx context.Context) error {
	j := s.j
	if err := j.ready.do(ctx, func() error { return j.prepare(ctx) }); err != nil {
		return err
	}
	s.init = true
	s.c = j.env.evalCtx()
	if j.on != nil {
		s.on = j.on.Clone()
	}
	s.marks = newColumn(types.T(types.Bool))
	for _, t := range j.innerTypes {
		s.null0 = append(s.null0, vec.ConstOf(t, types.Null))
	}
	for _, t := range j.outerTypes {
		s.null1 = append(s.null1, vec.ConstOf(t, types.Null))
	}
	left, right := j.outerTypes, j.innerTypes
	if j.swapped {
		left, right = right, left
	}
	for _, t := range append(append([]types.Type(nil), left...), right...) {
		s.apps = append(s.apps, vec.NewAppender(t))
	}
	return nil
}

func (s *loopStream) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.init {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
	}
	// Rows collected in apps were handed out by the call before, or still wait to be full.
	if s.count >= s.j.env.batchRows() {
		s.resetApps()
	}
	for {
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		switch {
		case s.in != nil:
			b, err := s.step()
			if b != nil || err != nil {
				return b, err
			}
		case !s.ended:
			if err := s.pull(ctx); err != nil {
				return nil, err
			}
		case s.count > 0:
			if b := s.collected(); b != nil {
				s.count = s.j.env.batchRows() // handed out
				return b, nil
			}
		default:
			return s.innerRows()
		}
	}
}

func (s *loopStream) resetApps() {
	for _, a := range s.apps {
		a.Reset()
	}
	s.count = 0
}

func (s *loopStream) pull(ctx context.Context) error {
	b, err := s.src.Next(ctx)
	if err != nil {
		return err
	}
	if b == nil {
		s.ended = true
		s.last = s.j.probing.Add(-1) == 0
		return nil
	}
	if b.Len() == 0 {
		return nil
	}
	s.in, s.sel = b, selection(b)
	s.matched, s.unknown = grown(s.matched, b.Rows), grown(s.unknown, b.Rows)
	clear(s.matched)
	clear(s.unknown)
	s.part, s.chunk, s.row, s.settled = 0, nil, 0, 0
	return nil
}

// step tests one row of the shorter side, or ends the outer batch.
func (s *loopStream) step() (*vec.Batch, error) {
	j := s.j
	if s.chunk == nil {
		if s.part == len(j.rows.chunks) || s.settled == len(s.sel) {
			return s.finishBatch()
		}
		var err error
		if s.chunk, err = j.rows.chunk(s.part); err != nil {
			return nil, err
		}
		s.row = 0
	}
	if s.chunk.Rows < len(s.sel) {
		if s.row == s.chunk.Rows {
			s.chunk = nil
			s.part++
			return nil, nil
		}
		s.row++
		return s.testInner(s.row - 1)
	}
	if s.row == len(s.sel) {
		s.chunk = nil
		s.part++
		return nil, nil
	}
	s.row++
	return s.testOuter(s.sel[s.row-1])
}

// testInner tests inner row i of the chunk beside all outer rows.
func (s *loopStream) testInner(i int) (*vec.Batch, error) {
	inner := make([]*vec.Vector, len(s.chunk.Cols))
	for c, v := range s.chunk.Cols {
		inner[c] = constAt(v, i)
	}
	s.assemble(s.in.Cols, inner)
	s.cand.Sel, s.cand.Rows = s.in.Sel, s.in.Rows
	pass, err := s.test(func(r uint16) uint16 { return r })
	if err != nil {
		return nil, err
	}
	for _, r := range pass {
		if err := s.pair(r, i); err != nil {
			return nil, err
		}
	}
	return s.emit(pass)
}

// testOuter tests outer row r beside all inner rows of the chunk.
func (s *loopStream) testOuter(r uint16) (*vec.Batch, error) {
	j := s.j
	if s.matched[r] && !j.pairs && !j.marksInner() {
		return nil, nil
	}
	outer := make([]*vec.Vector, len(s.in.Cols))
	for c, v := range s.in.Cols {
		outer[c] = constAt(v, int(r))
	}
	s.assemble(outer, s.chunk.Cols)
	s.cand.Sel, s.cand.Rows = nil, s.chunk.Rows
	pass, err := s.test(func(uint16) uint16 { return r })
	if err != nil {
		return nil, err
	}
	for _, i := range pass {
		if err := s.pair(r, int(i)); err != nil {
			return nil, err
		}
	}
	return s.emit(pass)
}

// pair records that outer row r and inner row i of the chunk are partners.
func (s *loopStream) pair(r uint16, i int) error {
	if s.matched[r] && s.j.single {
		return errMoreThanOneRow()
	}
	if !s.matched[r] {
		s.matched[r] = true
		if !s.j.pairs && !s.j.marksInner() {
			s.settled++
		}
	}
	if s.j.matched != nil {
		p := &s.j.matched[s.part][i]
		if atomic.LoadUint32(p) == 0 {
			atomic.StoreUint32(p, 1)
		}
	}
	return nil
}

func (s *loopStream) assemble(outer, inner []*vec.Vector) {
	if s.j.swapped {
		outer, inner = inner, outer
	}
	s.cand.Cols = append(append(s.cand.Cols[:0], outer...), inner...)
}

// test gives the candidates for which the condition is true; for marks it notes where it is
// NULL. outerRow gives a candidate's outer row.
func (s *loopStream) test(outerRow func(uint16) uint16) ([]uint16, error) {
	if s.on == nil {
		return selection(&s.cand), nil
	}
	var err error
	if !s.j.mark {
		s.pass, err = s.on.Select(s.c, &s.cand, s.pass)
		return s.pass, err
	}
	v, err := s.on.Eval(s.c, &s.cand)
	if err != nil {
		return nil, err
	}
	s.pass = s.pass[:0]
	for _, r := range selection(&s.cand) {
		switch {
		case v.Null(int(r)):
			s.unknown[outerRow(r)] = true
		case v.Values().Bools[v.Row(int(r))]:
			s.pass = append(s.pass, r)
		}
	}
	return s.pass, nil
}

// emit hands out the pairs just found: as they are when they are many, else collected.
func (s *loopStream) emit(pass []uint16) (*vec.Batch, error) {
	if !s.j.pairs || len(pass) == 0 {
		return nil, nil
	}
	limit := s.j.env.batchRows()
	if len(pass) >= limit/8+1 {
		s.out = s.cand
		s.out.Sel = pass
		if len(pass) == s.cand.Rows {
			s.out.Sel = nil
		}
		return &s.out, nil
	}
	for c, a := range s.apps {
		a.AppendSel(s.cand.Cols[c], pass, s.cand.Rows)
	}
	s.count += len(pass)
	if s.count < limit {
		return nil, nil
	}
	return s.collected(), nil
}

func (s *loopStream) collected() *vec.Batch {
	cols := s.out.Cols[:0:0]
	n := 0
	for _, a := range s.apps {
		cols = append(cols, a.Vector())
		n = a.Len()
	}
	if len(s.apps) == 0 {
		n = s.count
	}
	s.out = vec.Batch{Cols: cols, Rows: n}
	return &s.out
}

// finishBatch makes what the outer batch yields after all tests.
func (s *loopStream) finishBatch() (*vec.Batch, error) {
	j := s.j
	in := s.in
	s.in = nil
	switch {
	case j.mark:
		m := s.marks.v
		m.Valid = nil
		m.Bools = grown(m.Bools, in.Rows)
		for _, r := range s.sel {
			m.Bools[r] = s.matched[r]
			if !s.matched[r] && s.unknown[r] {
				if m.Valid == nil {
					m.Valid = s.marks.allValid(in.Rows)
				}
				m.Valid.Clear(int(r))
			}
		}
		s.out = vec.Batch{Cols: append(append([]*vec.Vector(nil), in.Cols...), m), Sel: in.Sel, Rows: in.Rows}
		return &s.out, nil
	case j.keepOuter:
		if s.collect(false); len(s.rows) == 0 {
			return nil, nil
		}
		s.assemble(in.Cols, s.null0)
		s.out = vec.Batch{Cols: append([]*vec.Vector(nil), s.cand.Cols...), Sel: s.rows, Rows: in.Rows}
		return &s.out, nil
	case j.semiOuter:
		if s.collect(!j.anti); len(s.rows) == 0 {
			return nil, nil
		}
		s.out = vec.Batch{Cols: in.Cols, Sel: s.rows, Rows: in.Rows}
		return &s.out, nil
	}
	return nil, nil
}

func (s *loopStream) collect(with bool) {
	s.rows = s.rows[:0]
	for _, r := range s.sel {
		if s.matched[r] == with {
			s.rows = append(s.rows, r)
		}
	}
}

// innerRows hands out the inner rows that are due at the end.
func (s *loopStream) innerRows() (*vec.Batch, error) {
	j := s.j
	if !s.last || !j.marksInner() {
		return nil, nil
	}
	want := uint32(0)
	if j.semiInner && !j.anti {
		want = 1
	}
	for s.rest < len(j.rows.chunks) {
		k := s.rest
		s.rest++
		s.rows = s.rows[:0]
		for i := range j.matched[k] {
			if atomic.LoadUint32(&j.matched[k][i]) == want {
				s.rows = append(s.rows, uint16(i))
			}
		}
		if len(s.rows) == 0 {
			continue
		}
		ch, err := j.rows.chunk(k)
		if err != nil {
			return nil, err
		}
		cols := ch.Cols
		if j.pairs {
			s.assemble(s.null1, ch.Cols)
			cols = append([]*vec.Vector(nil), s.cand.Cols...)
		}
		s.out = vec.Batch{Cols: cols, Sel: s.rows, Rows: ch.Rows}
		return &s.out, nil
	}
	return nil, nil
}

func (s *loopStream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.src.Close()
	if s.j.using.Add(-1) == 0 {
		if e := s.j.inner.Close(); err == nil {
			err = e
		}
		if e := s.j.rows.close(); err == nil {
			err = e
		}
	}
	return err
}

// constAt is row i of v as a Const vector that shares v's memory.
func constAt(v *vec.Vector, i int) *vec.Vector {
	if v.Enc == vec.Const {
		return v
	}
	if v.Null(i) {
		return vec.ConstOf(v.Type, types.Null)
	}
	f, r := v.Values(), v.Row(i)
	out := &vec.Vector{Type: v.Type, Form: f.Form, Enc: vec.Const}
	switch f.Form {
	case types.FormBool:
		out.Bools = f.Bools[r : r+1]
	case types.FormI64:
		out.I64 = f.I64[r : r+1]
	case types.FormF64:
		out.F64 = f.F64[r : r+1]
	case types.FormW128:
		out.W128 = f.W128[r : r+1]
	case types.FormStr:
		out.Views, out.Data = f.Views[r:r+1], f.Data
	default:
		a := vec.NewAppender(v.Type)
		a.Append(v, i)
		out = a.Vector()
		out.Enc = vec.Const
	}
	return out
}
