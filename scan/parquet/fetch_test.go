package parquet

import (
	"bytes"
	"context"
	"math/rand"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
)

// Ranges are joined while what lies between them is at most a tenth of what is wanted.
func TestMergeWants(t *testing.T) {
	kb := int64(1 << 10)
	for name, c := range map[string]struct {
		wants  [][2]int64
		groups [][2]int64
	}{
		"neighbours":            {[][2]int64{{0, 100 * kb}, {100 * kb, 200 * kb}}, [][2]int64{{0, 200 * kb}}},
		"a small gap":           {[][2]int64{{0, 100 * kb}, {110 * kb, 200 * kb}}, [][2]int64{{0, 200 * kb}}},
		"a gap as large":        {[][2]int64{{0, 100 * kb}, {200 * kb, 300 * kb}}, [][2]int64{{0, 100 * kb}, {200 * kb, 300 * kb}}},
		"gaps that add up":      {[][2]int64{{0, 50 * kb}, {55 * kb, 60 * kb}, {64 * kb, 70 * kb}}, [][2]int64{{0, 60 * kb}, {64 * kb, 70 * kb}}},
		"too much for one read": {[][2]int64{{0, 4 << 20}, {4 << 20, 9 << 20}}, [][2]int64{{0, 4 << 20}, {4 << 20, 9 << 20}}},
	} {
		var wants []want
		for _, w := range c.wants {
			wants = append(wants, want{off: w[0], end: w[1]})
		}
		got := mergeWants(wants)
		if len(got) != len(c.groups) {
			t.Errorf("%s: %d reads, want %d", name, len(got), len(c.groups))
			continue
		}
		for i, g := range got {
			if g.off != c.groups[i][0] || g.end != c.groups[i][1] {
				t.Errorf("%s: read %d is [%d, %d), want %v", name, i, g.off, g.end, c.groups[i])
			}
		}
	}
}

type bytesAt []byte

func (b bytesAt) Size() int64 { return int64(len(b)) }
func (b bytesAt) ReadAt(_ context.Context, p []byte, off int64) error {
	copy(p, b[off:])
	return nil
}

// A window that goes forward over a chunk in pieces of any size gives its bytes, and reads each once.
func TestWindowReadsOnce(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.Of(t))))
	data := make([]byte, 3<<20)
	rnd.Read(data)
	for range 50 {
		r := &Reader{budget: NewBudget(nil), window: minWindow, Stats: &IOStats{}}
		w := &window{r: r}
		w.reset(bytesAt(data), int64(len(data)))
		read := 0
		if rnd.Intn(2) == 0 { // the first bytes come with those of other columns
			read = rnd.Intn(1 << 20)
			w.preload(bytes.Clone(data[:read]), 0)
		}
		for off := 0; off < len(data); {
			n := min(rnd.Intn(400<<10), len(data)-off)
			got, err := w.bytes(context.Background(), int64(off), n)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, data[off:off+n]) {
				t.Fatalf("%d bytes at %d are wrong", n, off)
			}
			off += n
		}
		if total := int64(read) + r.Stats.BytesRead.Load(); total != int64(len(data)) {
			t.Fatalf("%d bytes were read of %d", total, len(data))
		}
	}
}
