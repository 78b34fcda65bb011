package parquet

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// Metrics is a column's metrics mode (Iceberg's write.metadata.metrics.*): which counts and
// bounds its manifest entry carries.
type Metrics struct {
	None   bool
	Bounds bool
	Length int // characters (bytes for binary) that string bounds keep; 0: all
}

// DefaultMetrics is Iceberg's default, truncate(16).
var DefaultMetrics = Metrics{Bounds: true, Length: 16}

// ParseMetrics reads a mode: none, counts, full, truncate(n).
func ParseMetrics(s string) (Metrics, error) {
	switch low := strings.ToLower(strings.TrimSpace(s)); {
	case low == "none":
		return Metrics{None: true}, nil
	case low == "counts":
		return Metrics{}, nil
	case low == "full":
		return Metrics{Bounds: true}, nil
	case strings.HasPrefix(low, "truncate(") && strings.HasSuffix(low, ")"):
		n, err := strconv.Atoi(low[9 : len(low)-1])
		if err == nil && n > 0 {
			return Metrics{Bounds: true, Length: n}, nil
		}
	}
	return Metrics{}, fmt.Errorf("unknown metrics mode %q", s)
}

// metrics gathers a leaf's counts and bounds over a file.
type metrics struct {
	field                *lake.Field
	mode                 Metrics
	entries, nulls, nans int64
	lo, hi               types.Datum
	some                 bool
}

func newMetrics(f *lake.Field, m Metrics) *metrics { return &metrics{field: f, mode: m} }

// add takes a chunk into account, while the leaf still holds its values.
func (m *metrics) add(l *leaf, c chunk) {
	m.entries += c.entries
	m.nulls += c.nulls
	m.nans += c.stats.nans
	if !c.stats.ok || !m.mode.Bounds {
		return
	}
	lo, hi := l.datum(c.stats.lo), l.datum(c.stats.hi)
	t := m.field.Type
	if !m.some || compareBound(lo, m.lo, t) < 0 {
		m.lo = lo
	}
	if !m.some || compareBound(hi, m.hi, t) > 0 {
		m.hi = hi
	}
	m.some = true
}

func compareBound(a, b types.Datum, t types.Type) int { return types.Compare(a, b, t) }

// into writes the metrics to a manifest entry. Leaves below lists and maps have counts only:
// bounds of repeated values are of no use to readers, and the spec's writers leave them out.
func (m *metrics) into(f *lake.DataFile, repeated bool) {
	id := m.field.ID
	if m.mode.None {
		return
	}
	f.ValueCounts[id] = m.entries
	f.NullCounts[id] = m.nulls
	if k := m.field.Type.Kind; k == types.Float4 || k == types.Float8 {
		f.NaNCounts[id] = m.nans
	}
	if !repeated {
		m.bounds(f)
	}
}

// Known is what is known of a column of a file that another writer made. It claims nothing else.
type Known struct {
	Values, Nulls int64       // -1: unknown
	Lower, Upper  types.Datum // of the type that is stored; NULL: unknown
}

// Note writes what is known of a field to a file's manifest entry, as the mode wants it.
func (mode Metrics) Note(f *lake.DataFile, field *lake.Field, k Known) {
	if mode.None {
		return
	}
	if k.Values >= 0 {
		f.ValueCounts[field.ID] = k.Values
	}
	if k.Nulls >= 0 {
		f.NullCounts[field.ID] = k.Nulls
	}
	m := metrics{field: field, mode: mode, lo: k.Lower, hi: k.Upper, some: mode.Bounds && !k.Lower.IsNull() && !k.Upper.IsNull()}
	m.bounds(f)
}

// bounds writes the bounds, if there are any.
func (m *metrics) bounds(f *lake.DataFile) {
	if !m.some {
		return
	}
	id := m.field.ID
	lo, hi, ok := m.cut()
	f.Lower[id] = lake.EncodeBound(lo, m.field.Iceberg)
	if ok {
		f.Upper[id] = lake.EncodeBound(hi, m.field.Iceberg)
	}
}

// cut shortens string bounds as the mode says; ok is false where there is no upper bound.
func (m *metrics) cut() (lo, hi types.Datum, ok bool) {
	text := m.field.Iceberg == "string"
	if n := m.mode.Length; n > 0 && (text || m.field.Iceberg == "binary" || strings.HasPrefix(m.field.Iceberg, "fixed")) {
		low := m.lo.Str()
		if text && utf8.RuneCountInString(low) > n {
			low = string([]rune(low)[:n])
		} else if !text && len(low) > n {
			low = low[:n]
		}
		high, ok := lake.TruncateUpper(m.hi.Str(), n, text)
		return types.NewStr(low), types.NewStr(high), ok
	}
	if m.lo.Form() == types.FormF64 {
		return types.NewFloat(signedZero(m.lo.Float(), false)), types.NewFloat(signedZero(m.hi.Float(), true)), true
	}
	return m.lo, m.hi, true
}
