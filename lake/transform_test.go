package lake

import (
	"encoding/hex"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/types"
)

func micros(s string) int64 {
	t, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", s)
	if err != nil {
		panic(err)
	}
	return t.UnixMicro()
}

// The hash values of the spec's appendix B.
func TestBucketHashVectors(t *testing.T) {
	u := uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")
	ns := micros("2017-11-16T22:31:08.000001Z")*1000 + 1
	for _, c := range []struct {
		iceberg string
		d       types.Datum
		want    int32
	}{
		{"int", types.NewInt(34), 2017239379},
		{"long", types.NewInt(34), 2017239379},
		{"decimal(9,2)", types.NewInt(1420), -500754589},
		{"decimal(38,2)", types.NewW128(types.Int128{Lo: 1420}), -500754589},
		{"date", types.NewInt(17486), -653330422},
		{"time", types.NewInt((22*3600 + 31*60 + 8) * 1e6), -662762989},
		{"timestamp", types.NewInt(micros("2017-11-16T22:31:08Z")), -2047944441},
		{"timestamptz", types.NewInt(micros("2017-11-16T14:31:08-08:00")), -2047944441},
		{"timestamp", types.NewInt(micros("2017-11-16T22:31:08.000001Z")), -1207196810},
		{"timestamp_ns", types.NewInt(ns), -1207196810},
		{"timestamptz_ns", types.NewInt(ns), -1207196810},
		{"string", types.NewStr("iceberg"), 1210000089},
		{"uuid", uuidDatum(u[:]), 1488055340},
		{"fixed[4]", types.NewStr("\x00\x01\x02\x03"), -188683207},
		{"binary", types.NewStr("\x00\x01\x02\x03"), -188683207},
	} {
		h, ok := bucketHash(c.d, TypeOf(c.iceberg))
		if !ok || int32(h) != c.want {
			t.Errorf("%s: %d %v, want %d", c.iceberg, int32(h), ok, c.want)
		}
		want := types.NewInt(int64(uint32(c.want)&0x7fffffff) % 16)
		if got := ParseTransform("bucket[16]").Apply(c.d, TypeOf(c.iceberg)); got.Int() != want.Int() {
			t.Errorf("bucket[16] of %s: %d, want %d", c.iceberg, got.Int(), want.Int())
		}
	}
}

func TestTruncate(t *testing.T) {
	dec := TypeOf("decimal(9,2)")
	for _, c := range []struct {
		transform, iceberg string
		in, want           types.Datum
	}{
		{"truncate[10]", "int", types.NewInt(1), types.NewInt(0)},
		{"truncate[10]", "int", types.NewInt(-1), types.NewInt(-10)},
		{"truncate[10]", "long", types.NewInt(-10), types.NewInt(-10)},
		{"truncate[50]", "decimal(9,2)", types.NewInt(1065), types.NewInt(1050)},
		{"truncate[50]", "decimal(9,2)", types.NewInt(-1), types.NewInt(-50)},
		{"truncate[3]", "string", types.NewStr("iceberg"), types.NewStr("ice")},
		{"truncate[3]", "string", types.NewStr("añ😀z"), types.NewStr("añ😀")},
		{"truncate[3]", "string", types.NewStr("a"), types.NewStr("a")},
		{"truncate[3]", "binary", types.NewStr("\x01\x02\x03\x04\x05"), types.NewStr("\x01\x02\x03")},
	} {
		src := TypeOf(c.iceberg)
		got := ParseTransform(c.transform).Apply(c.in, src)
		if got.Form() != c.want.Form() || got.Int() != c.want.Int() || got.Str() != c.want.Str() {
			t.Errorf("%s of %s: %v, want %v", c.transform, c.iceberg, got, c.want)
		}
	}
	if got := ParseTransform("truncate[50]").Apply(types.Null, dec); !got.IsNull() {
		t.Errorf("truncate of NULL: %v", got)
	}
}

// Wide decimals agree with big integers, also at the ends of the range.
func TestTruncateWide(t *testing.T) {
	src := TypeOf("decimal(38,0)")
	for _, s := range []string{"0", "1", "-1", "99", "-99", "-100", "12345678901234567890123", "-12345678901234567890123",
		"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "18446744073709551616", "-18446744073709551616"} {
		n, _ := new(big.Int).SetString(s, 10)
		d, _ := bigDatum(n, src)
		for _, w := range []int64{1, 7, 100, math.MaxInt32} {
			want := new(big.Int).Sub(n, new(big.Int).Mod(n, big.NewInt(w))) // Mod is never negative
			wd, _ := bigDatum(want, src)
			got := Transform{Kind: Truncate, Param: int(w)}.Apply(d, src)
			if got.W128() != wd.W128() {
				t.Errorf("truncate[%d] of %s: %v, want %v", w, s, got.W128(), want)
			}
		}
	}
}

func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		at                     string
		year, month, day, hour int64
	}{
		{"2017-11-16T22:31:08Z", 47, 574, 17486, 419686},
		{"1970-01-01T00:00:00Z", 0, 0, 0, 0},
		{"1969-12-31T23:59:59.999999Z", -1, -1, -1, -1},
		{"1969-12-31T00:00:00Z", -1, -1, -1, -24},
		{"1969-01-01T00:00:00Z", -1, -12, -365, -8760},
		{"2000-02-29T12:00:00Z", 30, 361, 11016, 264396},
		{"0001-01-01T00:00:00Z", -1969, -23628, -719162, -17259888},
	} {
		us := micros(c.at)
		for _, in := range []struct {
			iceberg string
			v       int64
		}{{"timestamp", us}, {"timestamptz", us}, {"timestamp_ns", us * 1000}, {"date", floorDiv(us, 86400e6)}} {
			if in.iceberg == "timestamp_ns" && us < math.MinInt64/1000 {
				continue
			}
			for name, want := range map[string]int64{"year": c.year, "month": c.month, "day": c.day, "hour": c.hour} {
				tr := ParseTransform(name)
				if !tr.AppliesTo(in.iceberg) {
					continue
				}
				if got := tr.Apply(types.NewInt(in.v), TypeOf(in.iceberg)); got.IsNull() || got.Int() != want {
					t.Errorf("%s of %s %s: %v, want %d", name, in.iceberg, c.at, got.Int(), want)
				}
			}
		}
	}
	// civil agrees with Go's calendar for every day of 1,200 years.
	for d := int64(-600 * 365); d < 600*365; d++ {
		at := time.Unix(d*86400, 0).UTC()
		if y, m := civil(d); y != int64(at.Year()) || m != int64(at.Month()) {
			t.Fatalf("day %d: %d-%d, want %v", d, y, m, at)
		}
	}
}

func TestParseTransform(t *testing.T) {
	for s, want := range map[string]Transform{
		"bucket[16]": {Kind: Bucket, Param: 16}, "truncate[4]": {Kind: Truncate, Param: 4}, "void": {Kind: Void},
		"bucket": {}, "bucket[0]": {}, "bucket[-1]": {}, "bucket[x]": {}, "zorder": {}, "identity[3]": {Kind: UnknownTransform, Param: 3},
		"days": {Kind: Day}, "": {},
	} {
		if got := ParseTransform(s); got.Kind != want.Kind || got.Param != want.Param && want.Kind != UnknownTransform {
			t.Errorf("%q: %+v", s, got)
		}
	}
}

// What EncodeBound writes DecodeBound reads.
func TestBoundsRoundTrip(t *testing.T) {
	u := uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")
	for _, c := range []struct {
		iceberg string
		d       types.Datum
		hex     string
	}{
		{"boolean", types.NewBool(true), "01"},
		{"int", types.NewInt(-2), "feffffff"},
		{"long", types.NewInt(-2), "feffffffffffffff"},
		{"float", types.NewFloat(-0.5), "000000bf"},
		{"double", types.NewFloat(-0.5), "000000000000e0bf"},
		{"date", types.NewInt(-1), "ffffffff"},
		{"time", types.NewInt(1), "0100000000000000"},
		{"timestamp", types.NewInt(-1), "ffffffffffffffff"},
		{"string", types.NewStr("é"), "c3a9"},
		{"uuid", uuidDatum(u[:]), "f79c3e09677c4bbda4793f349cb785e7"},
		{"fixed[2]", types.NewStr("\x00\xff"), "00ff"},
		{"binary", types.NewStr("\xff"), "ff"},
		{"decimal(9,2)", types.NewInt(1420), "058c"},
		{"decimal(9,2)", types.NewInt(-1), "ff"},
		{"decimal(9,2)", types.NewInt(128), "0080"},
		{"decimal(9,2)", types.NewInt(-128), "80"},
		{"decimal(38,2)", types.NewW128(types.Int128{Hi: -1, Lo: 0}), "ff0000000000000000"},
	} {
		b := EncodeBound(c.d, c.iceberg)
		if hex.EncodeToString(b) != c.hex {
			t.Errorf("%s: encoded %x, want %s", c.iceberg, b, c.hex)
		}
		got, ok := DecodeBound(TypeOf(c.iceberg), c.iceberg, b)
		if !ok || got.Form() != c.d.Form() || got.W128() != c.d.W128() || got.Str() != c.d.Str() {
			t.Errorf("%s: decoded %v %v, want %v", c.iceberg, got, ok, c.d)
		}
	}
	// Widened columns, and what proves nothing.
	if d, ok := DecodeBound(TypeOf("long"), "long", []byte{0xff, 0xff, 0xff, 0xff}); !ok || d.Int() != -1 {
		t.Errorf("int bound of a long column: %v %v", d, ok)
	}
	if d, ok := DecodeBound(TypeOf("double"), "double", []byte{0, 0, 0, 0xbf}); !ok || d.Float() != -0.5 {
		t.Errorf("float bound of a double column: %v %v", d, ok)
	}
	for _, c := range []struct {
		iceberg string
		b       []byte
	}{{"int", []byte{1}}, {"int", nil}, {"string", []byte{0xff}}, {"double", []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
		{"uuid", []byte{1}}, {"decimal(9,2)", nil}, {"decimal(9,2)", make([]byte, 17)}, {"variant", []byte{1}}, {"struct", []byte{1}}} {
		if d, ok := DecodeBound(TypeOf(c.iceberg), c.iceberg, c.b); ok {
			t.Errorf("%s: bound %x proves %v", c.iceberg, c.b, d)
		}
	}
}

func TestTruncateUpper(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		text bool
		want string
		ok   bool
	}{
		{"abc", 3, true, "abc", true}, {"abcd", 3, true, "abd", true}, {"ab\U0010ffffz", 3, true, "ac", true},
		{"\U0010ffff\U0010ffff", 1, true, "", false}, {"\ud7ffx", 1, true, "\ue000", true},
		{"\x01\xffz", 2, false, "\x02", true}, {"\xff\xff", 1, false, "", false}, {"\xff", 1, false, "\xff", true},
	} {
		got, ok := TruncateUpper(c.in, c.n, c.text)
		if got != c.want || ok != c.ok {
			t.Errorf("%q to %d: %q %v, want %q %v", c.in, c.n, got, ok, c.want, c.ok)
		}
	}
}
