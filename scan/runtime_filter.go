package scan

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// KeySet is what plan.RuntimeFilter.Values holds: the keys of a join's build side. It is
// read-only once set, and safe for concurrent use.
type KeySet interface {
	// MinMax bounds the keys that are not NULL, as values of the filter's Expr's type. ok false:
	// unknown; an empty set says so by Empty.
	MinMax() (lo, hi types.Datum, ok bool)
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
func (f *runtimeFilter) excludes(t types.Type, lo, hi types.Datum, boundsOK bool, nulls int64, nullsOK, noNaN bool) bool {
	if f.keys.Empty() {
		return true
	}
	if f.keys.MatchesNull() && !(nullsOK && nulls == 0) {
		return false
	}
	klo, khi, ok := f.keys.MinMax()
	if !ok || !boundsOK || !noNaN || klo.IsNull() || khi.IsNull() || lo.IsNull() || hi.IsNull() {
		return false
	}
	return types.Compare(hi, klo, t) < 0 || types.Compare(khi, lo, t) < 0
}
