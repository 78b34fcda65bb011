package scan

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/prune"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// KeySet is what plan.RuntimeFilter.Values holds: the keys of a join's build side. It is
// read-only once set, and safe for concurrent use.
type KeySet interface {
	// MinMax bounds the keys that are not NULL, as values of the filter's Expr's type. ok false:
	// unknown; an empty set says so by Empty.
	MinMax() (lo, hi types.Datum, ok bool)
	// Within tells whether a key may lie between lo and hi, both included and not NULL. It may say
	// yes too often.
	Within(lo, hi types.Datum) bool
	// Few lists the integer keys where they are few and known; ok false: they are not.
	Few() (keys []int64, ok bool)
	// Empty tells that no row can have a partner.
	Empty() bool
	// MatchesNull tells whether a row whose key is NULL may have a partner (IS NOT DISTINCT FROM).
	MatchesNull() bool
	// Filter writes the rows of sel (nil: all of rows) whose key in v may be in the set to out,
	// which has room for them. It may let too much through, never too little.
	Filter(v *vec.Vector, sel []uint16, rows int, out []uint16) []uint16
}

// runtimeFilter is a RuntimeFilter on a column of the scan.
type runtimeFilter struct {
	slot int
	keys KeySet
}

// runtimeFilters are the filters that have keys by now and are on plain columns.
func (s *Scanner) runtimeFilters() []runtimeFilter {
	var fs []runtimeFilter
	for _, f := range s.node.RuntimeFilters {
		keys, ok := f.Values.(KeySet)
		if !ok || keys == nil {
			continue
		}
		c, ok := f.Expr.(*plan.Col)
		if !ok {
			continue
		}
		for i := range s.cols {
			if s.cols[i].ID == c.ID {
				fs = append(fs, runtimeFilter{i, keys})
			}
		}
	}
	return fs
}

// excludes tells whether no row of those that the statistics speak of can pass.
func (f *runtimeFilter) excludes(lo, hi types.Datum, boundsOK bool, nulls int64, nullsOK, noNaN bool) bool {
	if f.keys.Empty() {
		return true
	}
	if f.keys.MatchesNull() && !(nullsOK && nulls == 0) {
		return false
	}
	if !boundsOK || !noNaN || lo.IsNull() || hi.IsNull() {
		return false
	}
	return !f.keys.Within(lo, hi)
}

// excludesFile tells, from the manifest alone, that no row of a file can have a partner: a file of
// another partition, or of other keys, is not even opened.
func (s *Scanner) excludesFile(f *lake.DataFile, filters []runtimeFilter) bool {
	if len(filters) == 0 || s.env.NoPruning {
		return false
	}
	st := &prune.FileStats{File: f, Layout: s.layout, NoBounds: s.byName}
	if spec := s.specLayout(f.SpecID); spec.Partitions() {
		st.Partition = &prune.PartitionStats{Spec: spec, Tuple: f.Partition}
	}
	for i := range filters {
		c := s.cols[filters[i].slot]
		lo, hi, ok := st.Bounds(c.ID)
		nulls, nok := st.Nulls(c.ID)
		if filters[i].excludes(lo, hi, ok, nulls, nok, !mayBeNaN(c.Type)) || filters[i].missesBuckets(st, c.ID) {
			return true
		}
	}
	return false
}

// missesBuckets tells whether each key is in another bucket than the file.
func (f *runtimeFilter) missesBuckets(st *prune.FileStats, c plan.ColID) bool {
	few, ok := f.keys.Few()
	if !ok || f.keys.MatchesNull() {
		return false
	}
	for _, k := range few {
		if st.MayContain(c, types.NewInt(k)) {
			return false
		}
	}
	return true
}

func mayBeNaN(t types.Type) bool { return t.Kind == types.Float4 || t.Kind == types.Float8 }

// specLayout is the layout of a partition spec, made once.
func (s *Scanner) specLayout(id int) *prune.SpecLayout {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.specs[id]
	if !ok {
		l = prune.NewSpecLayout(s.node.Table.Spec(id), s.layout)
		s.specs[id] = l
	}
	return l
}
