package exec

import (
	"github.com/lhsql/lhsql/vec"
)

// marked makes the output of a mark join for one probe batch: all its rows and the mark, which
// is the three-valued OR of the join's condition over the build rows. So for x IN (…):
//
//	a build row equals x                    true
//	the build side is empty                 false
//	x is NULL, or a build row is NULL       NULL
//	otherwise                               false
//
// Several keys, or a rest of the condition, make NULL more than that: (1, NULL) = (2, 5) is
// false. There the condition itself is evaluated for the rows in doubt.
func (s *joinStream) marked(in *vec.Batch) (*vec.Batch, error) {
	m := s.marks.v
	m.Enc, m.Valid = vec.Flat, nil
	m.Bools = grown(m.Bools, in.Rows)
	for i, r := range s.sel {
		m.Bools[r] = s.matched[i]
		if s.matched[i] {
			continue
		}
		null, err := s.inDoubt(in, i, r)
		if err != nil {
			return nil, err
		}
		if null {
			if m.Valid == nil {
				m.Valid = s.marks.allValid(in.Rows)
			}
			m.Valid.Clear(int(r))
		}
	}
	cols := append(append(s.out.Cols[:0], in.Cols...), m)
	s.out = vec.Batch{Cols: cols, Sel: in.Sel, Rows: in.Rows}
	return &s.out, nil
}

// inDoubt tells whether the condition, true for no build row, is NULL for some.
func (s *joinStream) inDoubt(in *vec.Batch, i int, r uint16) (bool, error) {
	j := s.j
	if s.unknown[i] {
		return true, nil
	}
	nullKey := s.null != nil && s.null[i]
	if j.on == nil {
		if j.buildRows == 0 {
			return false, nil
		}
		return nullKey || j.nullKeys, nil
	}
	t := s.table
	if !nullKey {
		// Build rows with equal keys were tested; with other keys the condition is false.
		return s.anyNull(in, r, t.nulls)
	}
	for c, ch := range t.store.chunks {
		ids := make([]uint32, ch.rows)
		for k := range ids {
			ids[k] = uint32(c)<<chunkBits | uint32(k)
		}
		if null, err := s.anyNull(in, r, ids); null || err != nil {
			return null, err
		}
	}
	return false, nil
}

// anyNull evaluates the whole condition for probe row r beside the given build rows.
func (s *joinStream) anyNull(in *vec.Batch, r uint16, ids []uint32) (bool, error) {
	for len(ids) > 0 {
		n := min(len(ids), vec.BatchRows)
		pos := make([]uint16, n)
		for k := range pos {
			pos[k] = r
		}
		for c, v := range in.Cols {
			s.outer[c].taken = s.outer[c].take(v, pos)
		}
		s.pickInner(ids[:n], nil, n)
		s.assemble(&s.cand, nil, s.outer)
		s.cand.Sel, s.cand.Rows = nil, n
		v, err := s.on.Eval(s.c, &s.cand)
		if err != nil {
			return false, err
		}
		for k := range n {
			if v.Null(k) {
				return true, nil
			}
		}
		ids = ids[n:]
	}
	return false, nil
}
