package theta

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"
)

func of(from, to int) *Sketch {
	s := new(Sketch)
	for i := from; i < to; i++ {
		s.Update(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	}
	return s
}

// The hash and the form are DataSketches': what its own library (5.2.0) writes for the long 0, and for
// 0 and 1 but for the unused sampling probability.
func TestForm(t *testing.T) {
	for _, c := range []struct {
		s    *Sketch
		want string
	}{
		{of(0, 0), "01030300001ecc93"},
		{of(0, 1), "01030300003acc93e56b61eec8804420"},
	} {
		if got := hex.EncodeToString(c.s.Append(nil)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4096, 8191} {
		if e := of(0, n).Estimate(); e != float64(n) {
			t.Errorf("%g for %d values, which fit", e, n)
		}
	}
	for _, n := range []int{8192, 100_000, 1_000_000} {
		if e := of(0, n).Estimate(); math.Abs(e/float64(n)-1) > 0.05 {
			t.Errorf("%g for %d values", e, n)
		}
	}
}

// Sketches of parts make the sketch of the whole, however they are cut; and what is written is read.
func TestMerge(t *testing.T) {
	for _, cut := range []int{0, 10, 5000, 90_000, 100_000} {
		s, rest := of(0, cut), of(cut/2, 100_000) // they overlap
		read, err := Read(rest.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		s.Merge(read)
		if e := s.Estimate(); math.Abs(e/100_000-1) > 0.05 {
			t.Errorf("cut at %d: %g", cut, e)
		}
	}
	small := of(0, 10)
	small.Merge(of(5, 20))
	if !bytes.Equal(small.Append(nil), of(0, 20).Append(nil)) {
		t.Error("the union of small sketches is another than the sketch of all")
	}
}

func TestDamage(t *testing.T) {
	whole := of(0, 100).Append(nil)
	for n := range whole {
		if _, err := Read(whole[:n]); err == nil {
			t.Errorf("%d bytes of %d are read", n, len(whole))
		}
	}
	for i := range 16 * 8 {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		_, _ = Read(b) // it may be a sketch of something else, but no panic
	}
	for _, b := range [][]byte{append(bytes.Clone(whole), 0), make([]byte, 8), make([]byte, 16)} {
		if _, err := Read(b); err == nil {
			t.Errorf("%x is read", b)
		}
	}
}
