package planner

import (
	"math"
	"testing"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// An extreme comes from metadata only where the bound is a value that occurs: writers cut the
// bounds of strings and of bytes (some on the wrong side), leave NaN out of those of floats and
// mix up the zeros, and foreign files hold bounds that are short, inverted or missing.
func TestMetadataBounds(t *testing.T) {
	double := func(f float64) []byte { return lake.EncodeBound(types.NewFloat(f), "double") }
	long := func(i int64) []byte { return lake.EncodeBound(types.NewInt(i), "long") }
	text := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name, typ string
		lo, hi    []byte
		nulls     int64 // -1: unknown
		nans      int64
		answered  bool
	}{
		{"integers", "int8", long(1), long(9), 0, -1, true},
		{"one value", "int8", long(9), long(9), 3, -1, true},
		{"nulls unknown", "int8", long(1), long(9), -1, -1, true},
		{"all null", "int8", nil, nil, 10, -1, true},
		{"more nulls than rows", "int8", long(1), long(9), 11, -1, false},
		{"no bounds", "int8", nil, nil, 0, -1, false},
		{"one bound", "int8", long(1), nil, 0, -1, false},
		{"inverted", "int8", long(9), long(1), 0, -1, false},
		{"cut integer", "int8", long(1)[:5], long(9), 0, -1, false},
		{"widened from integer", "int8", long(1)[:4], long(9)[:4], 0, -1, true},
		{"short text", "text", text("a"), text("b"), 0, -1, false},
		{"text cut and raised", "text", text("aaaaaaaaaaaaaaaa"), text("bbbbbbbbbbbbbbbc"), 0, -1, false},
		{"text cut on the wrong side", "text", text("aaaaaaaaaaaaaaab"), text("bbbbbbbbbbbbbbbb"), 0, -1, false},
		{"bytes", "bytea", text("a"), text("b"), 0, -1, false},
		{"floats", "float8", double(1), double(9), 0, 0, true},
		{"NaN unknown", "float8", double(1), double(9), 0, -1, false},
		{"with NaN", "float8", double(1), double(9), 0, 1, false},
		{"NaN as a bound", "float8", double(1), double(math.NaN()), 0, 0, false},
		{"a zero", "float8", double(0), double(9), 0, 0, false},
		{"the other zero", "float8", double(-1), double(math.Copysign(0, -1)), 0, 0, false},
	} {
		b := newBuilder(t)
		s := b.scan("s", "a "+c.typ)
		f := &lake.DataFile{Path: "f", RecordCount: 10, FileSize: 100, NullCounts: map[int]int64{}, NaNCounts: map[int]int64{},
			Lower: map[int][]byte{}, Upper: map[int][]byte{}}
		if c.nulls >= 0 {
			f.NullCounts[1] = c.nulls
		}
		if c.nans >= 0 {
			f.NaNCounts[1] = c.nans
		}
		if c.lo != nil {
			f.Lower[1] = c.lo
		}
		if c.hi != nil {
			f.Upper[1] = c.hi
		}
		b.files(s, f)
		n := b.plan(b.env(), b.agg(s, nil, "lo", "min", "s.a", "hi", "max", "s.a"))
		if _, answered := n.(*plan.Values); answered != c.answered {
			t.Errorf("%s:\n%s", c.name, ExplainText(n, ExplainOptions{}))
		}
	}
}
