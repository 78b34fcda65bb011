package prune

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Layout ties a scan's columns to the fields that metadata speaks of. Made once per scan.
type Layout struct {
	cols map[plan.ColID]layoutColumn
}

type layoutColumn struct {
	fieldID int
	typ     types.Type
	iceberg string
	found   bool
}

// NewLayout looks the columns up in the schema that the scan reads with. Of one whose declared type
// compares otherwise than what is stored for it, metadata tells nothing.
func NewLayout(cols []plan.ScanColumn, schema *lake.Schema) *Layout {
	l := &Layout{cols: map[plan.ColID]layoutColumn{}}
	for _, c := range cols {
		lc := layoutColumn{fieldID: c.FieldID, typ: c.Type}
		if f, path := schema.ByID(c.FieldID); f != nil && len(path) == 1 {
			lc.iceberg, lc.found = f.Iceberg, lake.OrderedAsStored(c.Type)
		}
		l.cols[c.ID] = lc
	}
	return l
}

// FileStats is what a manifest entry says of a data file: partition tuple, counts, bounds.
// Either part can be left out to learn which of them proves something.
type FileStats struct {
	File      *lake.DataFile
	Partition *PartitionStats // nil: not asked
	Layout    *Layout
	NoBounds  bool // leave out counts and bounds
}

// Rows is the record count.
func (s *FileStats) Rows() (int64, bool) { return s.File.RecordCount, s.File.RecordCount >= 0 }

// Nulls prefers the partition tuple: it is one value for all rows.
func (s *FileStats) Nulls(c plan.ColID) (int64, bool) {
	if s.Partition != nil {
		if null, ok := s.Partition.null(c); ok {
			if null {
				return s.File.RecordCount, s.File.RecordCount >= 0
			}
			return 0, true
		}
	}
	lc, ok := s.Layout.cols[c]
	if !ok {
		return 0, false
	}
	switch lc.fieldID {
	case plan.HiddenFile, plan.HiddenPos, plan.HiddenSpecID:
		return 0, true
	}
	if s.NoBounds || !lc.found {
		return 0, false
	}
	n, ok := s.File.NullCounts[lc.fieldID]
	if !ok || n < 0 || n > s.File.RecordCount {
		return 0, false
	}
	return n, true
}

// NaNs reads the NaN count; an identity partition value decides it too.
func (s *FileStats) NaNs(c plan.ColID) (int64, bool) {
	if s.Partition != nil {
		if v, ok := s.Partition.identity(c); ok {
			if isNaN(v) {
				return s.File.RecordCount, s.File.RecordCount >= 0
			}
			return 0, true
		}
	}
	lc, ok := s.Layout.cols[c]
	if s.NoBounds || !ok || !lc.found {
		return 0, false
	}
	n, ok := s.File.NaNCounts[lc.fieldID]
	if !ok || n < 0 || n > s.File.RecordCount {
		return 0, false
	}
	return n, true
}

// Bounds intersects what the partition tuple and the column bounds say.
func (s *FileStats) Bounds(c plan.ColID) (lo, hi types.Datum, ok bool) {
	lc, have := s.Layout.cols[c]
	if !have {
		return types.Null, types.Null, false
	}
	switch lc.fieldID {
	case plan.HiddenFile:
		v := types.NewStr(s.File.Path)
		return v, v, true
	case plan.HiddenPos:
		return types.NewInt(0), types.NewInt(max(s.File.RecordCount-1, 0)), s.File.RecordCount > 0
	case plan.HiddenSpecID:
		v := types.NewInt(int64(s.File.SpecID))
		return v, v, true
	}
	if !s.NoBounds && lc.found {
		lo, hi, ok = decodeBounds(lc, s.File.Lower[lc.fieldID], s.File.Upper[lc.fieldID])
	}
	if s.Partition != nil {
		if pl, ph, pok := s.Partition.bounds(c); pok {
			lo, hi, ok = intersect(lc.typ, lo, hi, pl, ph)
		}
	}
	return lo, hi, ok
}

// MayContain asks the bucket partitions.
func (s *FileStats) MayContain(c plan.ColID, v types.Datum) bool {
	return s.Partition == nil || s.Partition.mayContain(c, v)
}

// decodeBounds decodes both bounds; inverted ones prove nothing, neither of them.
func decodeBounds(lc layoutColumn, lower, upper []byte) (lo, hi types.Datum, ok bool) {
	var lok, hok bool
	if lower != nil {
		if lo, lok = lake.DecodeBound(lc.typ, lc.iceberg, lower); !lok {
			lo = types.Null
		}
	}
	if upper != nil {
		if hi, hok = lake.DecodeBound(lc.typ, lc.iceberg, upper); !hok {
			hi = types.Null
		}
	}
	hi = raised(lc.typ, hi)
	if lok && hok {
		if cmp := comparer(lc.typ, lc.typ); cmp == nil || cmp(lo, hi) > 0 {
			return types.Null, types.Null, false
		}
	}
	return lo, hi, lok || hok
}

// truncation is the length at which writers cut string bounds by default.
const truncation = 16

// raised allows for writers that cut an upper bound without raising its last character: a
// bound as long as a cut one also covers what begins with it.
func raised(t types.Type, hi types.Datum) types.Datum {
	if hi.Form() != types.FormStr || len(hi.Str()) < truncation {
		return hi
	}
	switch {
	case plainText(t):
		return types.NewStr(hi.Str() + "\U0010ffff")
	case t.Kind == types.Bytea:
		return types.NewStr(hi.Str() + "\xff\xff\xff\xff\xff\xff\xff\xff")
	}
	return hi
}

// intersect gives the tighter of two pairs of bounds; a contradiction proves nothing.
func intersect(t types.Type, alo, ahi, blo, bhi types.Datum) (lo, hi types.Datum, ok bool) {
	cmp := comparer(t, t)
	if cmp == nil {
		return types.Null, types.Null, false
	}
	lo, hi = alo, ahi
	if lo.IsNull() || !blo.IsNull() && cmp(blo, lo) > 0 {
		lo = blo
	}
	if hi.IsNull() || !bhi.IsNull() && cmp(bhi, hi) < 0 {
		hi = bhi
	}
	if !lo.IsNull() && !hi.IsNull() && cmp(lo, hi) > 0 {
		return types.Null, types.Null, false
	}
	return lo, hi, true
}
