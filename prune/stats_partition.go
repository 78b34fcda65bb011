package prune

import (
	"math"
	"unicode/utf8"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// SpecLayout ties a partition spec's fields to a scan's columns. Made once per spec and scan.
type SpecLayout struct {
	spec   *lake.PartitionSpec
	layout *Layout
	fields map[plan.ColID][]int // the spec's fields over each column
}

// NewSpecLayout finds which of the scan's columns the spec partitions by.
func NewSpecLayout(spec *lake.PartitionSpec, l *Layout) *SpecLayout {
	s := &SpecLayout{spec: spec, layout: l, fields: map[plan.ColID][]int{}}
	if spec == nil {
		return s
	}
	for i, f := range spec.Fields {
		if len(f.SourceIDs) != 1 {
			continue // transforms of several columns are unknown to us
		}
		for id, c := range l.cols {
			if c.found && c.fieldID == f.SourceIDs[0] {
				s.fields[id] = append(s.fields[id], i)
			}
		}
	}
	return s
}

// Partitions tells whether any column of the scan is partitioned by.
func (s *SpecLayout) Partitions() bool { return len(s.fields) > 0 }

// PartitionStats is what a partition tuple says of the rows of a file.
type PartitionStats struct {
	Spec  *SpecLayout
	Tuple []types.Datum
}

// each calls f on the tuple's members over column c, until f says stop.
func (s *PartitionStats) each(c plan.ColID, f func(t lake.Transform, v types.Datum) (stop bool)) {
	for _, i := range s.Spec.fields[c] {
		if i < len(s.Tuple) && f(s.Spec.spec.Fields[i].Transform, s.Tuple[i]) {
			return
		}
	}
}

// null tells whether all of c is NULL or none of it. Every transform but void gives NULL for
// NULL and for nothing else.
func (s *PartitionStats) null(c plan.ColID) (null, ok bool) {
	s.each(c, func(t lake.Transform, v types.Datum) bool {
		switch t.Kind {
		case lake.Identity, lake.Bucket, lake.Truncate, lake.Year, lake.Month, lake.Day, lake.Hour:
			null, ok = v.IsNull(), true
		}
		return ok
	})
	return null, ok
}

func (s *PartitionStats) identity(c plan.ColID) (v types.Datum, ok bool) {
	s.each(c, func(t lake.Transform, d types.Datum) bool {
		if t.Kind == lake.Identity && !d.IsNull() {
			v, ok = d, true
		}
		return ok
	})
	return v, ok
}

func (s *PartitionStats) bounds(c plan.ColID) (lo, hi types.Datum, ok bool) {
	typ := s.Spec.layout.cols[c].typ
	s.each(c, func(t lake.Transform, d types.Datum) bool {
		if l, h, k := Preimage(t, typ, d); k {
			if ok {
				lo, hi, ok = intersect(typ, lo, hi, l, h)
			} else {
				lo, hi, ok = l, h, true
			}
		}
		return false
	})
	return lo, hi, ok
}

func (s *PartitionStats) mayContain(c plan.ColID, v types.Datum) bool {
	may := true
	typ := s.Spec.layout.cols[c].typ
	s.each(c, func(t lake.Transform, d types.Datum) bool {
		if t.Kind == lake.Bucket && !d.IsNull() {
			if b := t.Apply(v, typ); !b.IsNull() && b.Int() != d.Int() {
				may = false
			}
		}
		return !may
	})
	return may
}

// Preimage gives the range of values of type src whose transform is v. A NULL bound is open.
//
//	month(ts) = 612  →  ts in [2021-01-01 00:00:00, 2021-01-31 23:59:59.999999]
//
// Early writers rounded negative dates and times towards zero, so that a value just below a
// boundary landed in the period above it (the Java library's projections allow for the same).
// For v ≤ 0 the range therefore begins one period earlier.
func Preimage(t lake.Transform, src types.Type, v types.Datum) (lo, hi types.Datum, ok bool) {
	if v.IsNull() {
		return types.Null, types.Null, false
	}
	switch t.Kind {
	case lake.Identity:
		return v, v, !isNaN(v)
	case lake.Truncate:
		return truncated(src, int64(t.Param), v)
	case lake.Year, lake.Month, lake.Day, lake.Hour:
		if v.Form() != types.FormI64 {
			return types.Null, types.Null, false
		}
		return period(t.Kind, src, v.Int())
	}
	return types.Null, types.Null, false
}

func truncated(src types.Type, w int64, v types.Datum) (lo, hi types.Datum, ok bool) {
	if w <= 0 {
		return types.Null, types.Null, false
	}
	switch {
	case src.IsInteger() || src.Kind == types.Numeric && v.Form() == types.FormI64:
		// The truncation of values within w of the least one overflows, and wraps to the top.
		top := int64(math.MaxInt64)
		if src.Kind == types.Int4 || src.Kind == types.Int2 { // both are stored as int
			top = math.MaxInt32
		}
		if w > top || v.Int() > top-(w-1) {
			return types.Null, types.Null, false
		}
		return v, types.NewInt(v.Int() + w - 1), true
	case src.Kind == types.Numeric && v.Form() == types.FormW128:
		return v, types.NewW128(v.W128().Add(types.FromInt64(w - 1))), true
	case plainText(src):
		if int64(utf8.RuneCountInString(v.Str())) < w {
			return v, v, true // shorter than the width: it is the value
		}
	case src.Kind == types.Bytea:
		if int64(len(v.Str())) < w {
			return v, v, true
		}
	default:
		return types.Null, types.Null, false
	}
	if next := successor(v.Str()); next != "" {
		return v, types.NewStr(next), true
	}
	return v, types.Null, true
}

// period gives the instants in one year, month, day or hour counted from 1970 in UTC.
func period(kind lake.TransformKind, src types.Type, v int64) (lo, hi types.Datum, ok bool) {
	const limit = 1 << 32
	if v > limit || v < -limit {
		return types.Null, types.Null, false
	}
	first := v
	if v <= 0 {
		first--
	}
	var perDay int64
	switch src.Kind {
	case types.Date:
		perDay = 1
	case types.Timestamp, types.TimestampTZ:
		perDay = microsPerDay
	case types.TimestampNS, types.TimestampTZNS:
		perDay = microsPerDay * 1000
	default:
		return types.Null, types.Null, false
	}
	if kind == lake.Hour {
		if perDay == 1 {
			return types.Null, types.Null, false
		}
		return startOf(first, perDay/24, 0), startOf(v+1, perDay/24, -1), true
	}
	return startOf(dayOf(kind, first), perDay, 0), startOf(dayOf(kind, v+1), perDay, -1), true
}

// dayOf is the first day of the period.
func dayOf(kind lake.TransformKind, v int64) int64 {
	switch kind {
	case lake.Year:
		return daysFromCivil(1970+v, 1)
	case lake.Month:
		y := v / 12
		m := v % 12
		if m < 0 {
			y, m = y-1, m+12
		}
		return daysFromCivil(1970+y, m+1)
	}
	return v
}

// startOf scales a count of units, plus delta; NULL when it overflows.
func startOf(n, unit, delta int64) types.Datum {
	if n > math.MaxInt64/unit-1 || n < math.MinInt64/unit+1 {
		return types.Null
	}
	return types.NewInt(n*unit + delta)
}

// daysFromCivil gives the day number of the month's first day, proleptic Gregorian. Years are
// counted from March, so that the leap day is a year's last.
func daysFromCivil(y, m int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	if y < 0 && y%400 != 0 {
		era--
	}
	yoe := y - era*400
	doy := (153*(m-3) + 2) / 5
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// ManifestStats is what a manifest list entry says of all rows of a manifest's files.
type ManifestStats struct {
	Manifest *lake.Manifest
	Spec     *SpecLayout
}

// Rows is never told: entries of a manifest may be deleted ones.
func (s *ManifestStats) Rows() (int64, bool) { return 0, false }

// Nulls tells zero where no partition value is NULL. A summary that has neither NULLs nor
// bounds is one that its writer left empty, and proves nothing.
func (s *ManifestStats) Nulls(c plan.ColID) (n int64, ok bool) {
	s.each(c, func(f lake.PartitionField, sum lake.FieldSummary) {
		if f.Transform.Kind != lake.Void && f.Transform.Kind != lake.UnknownTransform &&
			!sum.ContainsNull && sum.Lower != nil && sum.Upper != nil {
			ok = true
		}
	})
	return 0, ok
}

// NaNs tells zero where the summary of an identity partition says so.
func (s *ManifestStats) NaNs(c plan.ColID) (n int64, ok bool) {
	s.each(c, func(f lake.PartitionField, sum lake.FieldSummary) {
		if f.Transform.Kind == lake.Identity && sum.ContainsNaN != nil && !*sum.ContainsNaN {
			ok = true
		}
	})
	return 0, ok
}

// Bounds is the range from the preimage of the lower to that of the upper partition value.
func (s *ManifestStats) Bounds(c plan.ColID) (lo, hi types.Datum, ok bool) {
	lc := s.Spec.layout.cols[c]
	s.each(c, func(f lake.PartitionField, sum lake.FieldSummary) {
		if f.Transform.Kind == lake.Bucket || sum.Lower == nil || sum.Upper == nil {
			return
		}
		t, spelled := f.Transform.Result(lc.typ, lc.iceberg)
		a, ok1 := lake.DecodeBound(t, spelled, sum.Lower)
		b, ok2 := lake.DecodeBound(t, spelled, sum.Upper)
		if cmp := comparer(t, t); !ok1 || !ok2 || cmp == nil || cmp(a, b) > 0 {
			return
		}
		l, _, ok1 := Preimage(f.Transform, lc.typ, a)
		_, h, ok2 := Preimage(f.Transform, lc.typ, b)
		if !ok1 || !ok2 {
			return
		}
		// A summary's string bounds may be truncated like any bounds: then the upper one is
		// no whole partition value, and only its successor bounds what lies under it.
		if f.Transform.Kind == lake.Truncate && h.Form() == types.FormStr {
			if h = types.NewStr(successor(b.Str())); h.Str() == "" {
				h = types.Null
			}
		}
		if ok {
			lo, hi, ok = intersect(lc.typ, lo, hi, l, h)
		} else {
			lo, hi, ok = l, h, true
		}
	})
	return lo, hi, ok
}

// MayContain asks the summaries of bucket partitions.
func (s *ManifestStats) MayContain(c plan.ColID, v types.Datum) bool {
	may := true
	lc := s.Spec.layout.cols[c]
	s.each(c, func(f lake.PartitionField, sum lake.FieldSummary) {
		if f.Transform.Kind != lake.Bucket || sum.Lower == nil || sum.Upper == nil {
			return
		}
		t, spelled := f.Transform.Result(lc.typ, lc.iceberg)
		a, ok1 := lake.DecodeBound(t, spelled, sum.Lower)
		b, ok2 := lake.DecodeBound(t, spelled, sum.Upper)
		bucket := f.Transform.Apply(v, lc.typ)
		if ok1 && ok2 && a.Int() <= b.Int() && !bucket.IsNull() && (bucket.Int() < a.Int() || bucket.Int() > b.Int()) {
			may = false
		}
	})
	return may
}

func (s *ManifestStats) each(c plan.ColID, f func(lake.PartitionField, lake.FieldSummary)) {
	for _, i := range s.Spec.fields[c] {
		if i < len(s.Manifest.Partitions) {
			f(s.Spec.spec.Fields[i], s.Manifest.Partitions[i])
		}
	}
}
