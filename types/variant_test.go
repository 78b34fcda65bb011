package types

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
)

// A variant by hand: {"a": 1, "bb": [true, null, "x"], "c": 1.50}.
func sampleVariant() string {
	meta := append([]byte{0x01, 3, 0, 1, 3, 4}, "abbc"...) // version 1, one-byte offsets
	arr := []byte{0x03, 3, 0, 1, 2, 4, 1 << 2, 0, 1<<2 | 1, 'x'}
	a := []byte{3 << 2, 1}
	c := []byte{8 << 2, 2, 150, 0, 0, 0}
	value := []byte{0x02, 3, 0, 1, 2, 0, byte(len(a)), byte(len(a) + len(arr)), byte(len(a) + len(arr) + len(c))}
	return string(append(append(append(append(meta, value...), a...), arr...), c...))
}

func TestVariant(t *testing.T) {
	s := sampleVariant()
	if err := CheckVariant(s); err != nil {
		t.Fatal(err)
	}
	if got, want := VariantJSON(s), `{"a": 1, "c": 1.50, "bb": [true, null, "x"]}`; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if got, want := VariantType(s), `object<a int8, bb array<boolean, null, string>, c decimal(9,2)>`; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// What is made of JSON shows as the same JSON, whatever width its counts, offsets and key numbers take.
func TestVariantOfJSON(t *testing.T) {
	list := func(n int, one string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(one+", ", n), ", ") + "]"
	}
	object := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`"` + strings.Repeat("k", i/26+1) + string(rune('a'+i%26)) + `": ` + list(i%3, "1") + ", ")
		}
		return "{" + strings.TrimSuffix(b.String(), ", ") + "}"
	}
	for _, s := range []string{"0", "-1", "127", "128", "-32769", "2147483648", "9223372036854775807", "9223372036854775808", "1.50", "-0.001",
		"99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001", "1" + strings.Repeat("0", 60),
		`""`, `"` + strings.Repeat("x", 63) + `"`, `"` + strings.Repeat("é", 32) + `"`, `"` + strings.Repeat("x", 70000) + `"`, "null", "true", "false",
		list(255, "1"), list(256, "1"), list(300, `"`+strings.Repeat("y", 300)+`"`), list(3, list(3, list(2, `{"a": {}}`))), object(5), object(300),
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000)} {
		v, err := VariantOfJSON(s)
		if err != nil {
			t.Errorf("%.40s: %v", s, err)
			continue
		}
		if err := CheckVariant(v); err != nil {
			t.Errorf("%.40s: %v", s, err)
			continue
		}
		want, _ := CanonicalJSON(s)
		if got := VariantJSON(v); got != want {
			t.Errorf("%.60s became %.60s", want, got)
		}
	}
	for _, s := range []string{"1" + strings.Repeat("0", 400), "0." + strings.Repeat("1", 39), strings.Repeat("7", 39)} {
		if _, err := VariantOfJSON(s); err == nil {
			t.Errorf("%s became a variant", s)
		}
	}
}

func TestVariantGarbage(t *testing.T) {
	s := sampleVariant()
	rnd := rand.New(rand.NewPCG(testseed.Of(t), 1))
	for range 40000 {
		b := []byte(s)
		for range 1 + rnd.IntN(3) {
			b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
		}
		if v := string(b[:rnd.IntN(len(b)+1)]); CheckVariant(v) == nil {
			VariantJSON(v)
			VariantType(v)
		}
	}
	// Arrays of two elements that are one and the same: 2^40 values in 200 bytes.
	bomb := []byte{1, 0, 0}
	for range 40 {
		bomb = append(bomb, 0x03, 2, 0, 0, 0)
	}
	if CheckVariant(string(append(bomb, 0))) == nil {
		t.Error("a hostile variant was taken")
	}
}
