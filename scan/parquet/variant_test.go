package parquet

import (
	"math/rand/v2"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
)

// A variant by hand: {"a": 1, "bb": [true, null, "x"], "c": 1.50}.
func sampleVariant() (meta, value []byte) {
	meta = append([]byte{0x01, 3, 0, 1, 3, 4}, "abbc"...) // version 1, one-byte offsets
	arr := []byte{0x03, 3, 0, 1, 2, 4, 1 << 2, 0, 1<<2 | 1, 'x'}
	a := []byte{3 << 2, 1}
	c := []byte{8 << 2, 2, 150, 0, 0, 0}
	value = []byte{0x02, 3, 0, 1, 2, 0, byte(len(a)), byte(len(a) + len(arr)), byte(len(a) + len(arr) + len(c))}
	value = append(append(append(value, a...), arr...), c...)
	return meta, value
}

func variantText(meta, value []byte) (string, error) {
	v := variantReader{value: value}
	if err := v.open(meta); err != nil {
		return "", err
	}
	b, err := v.append(nil, value, 0)
	return string(b), err
}

func TestVariant(t *testing.T) {
	meta, value := sampleVariant()
	s, err := variantText(meta, value)
	if want := `{"a": 1, "c": 1.50, "bb": [true, null, "x"]}`; err != nil || s != want {
		t.Errorf("%s, %v; want %s", s, err, want)
	}
}

func TestVariantGarbage(t *testing.T) {
	m, v := sampleVariant()
	rnd := rand.New(rand.NewPCG(testseed.Of(t), 1))
	for range 20000 {
		meta, value := append([]byte(nil), m...), append([]byte(nil), v...)
		meta[rnd.IntN(len(meta))] = byte(rnd.IntN(256))
		value[rnd.IntN(len(value))] = byte(rnd.IntN(256))
		variantText(meta[:rnd.IntN(len(meta)+1)], value[:rnd.IntN(len(value)+1)])
		variantText(m, value)
	}
	// Arrays of two elements that are one and the same: 2^40 values in 200 bytes.
	var bomb []byte
	for range 40 {
		bomb = append(bomb, 0x03, 2, 0, 0, 0)
	}
	if _, err := variantText(m, append(bomb, 0)); err == nil {
		t.Error("a hostile variant was read")
	}
}
