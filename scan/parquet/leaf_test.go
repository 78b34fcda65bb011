package parquet

import (
	"context"
	"testing"
)

// A goroutine that reads many files, one after the other, holds after the last about what it held
// after the first: columns give back what they held, and lend their buffers, which grow to the
// largest that is wanted, to the next ones.
func TestReleasedColumnsHoldNothing(t *testing.T) {
	ctx := context.Background()
	for name, b := range fixtures(t) {
		f := bytesFile(b)
		ft, err := ReadFooter(ctx, f, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m := &capped{left: fuzzMemory}
		r := NewReader(m, nil)
		var after []int64
		for range 6 {
			var cols []Column
			for _, n := range ft.Root.Children {
				c, err := NewColumn(r, specOf(n))
				if err != nil {
					continue // of a type that is refused by name
				}
				cols = append(cols, c)
				for g := range ft.Groups {
					if err := readGroup(ctx, f, r, c, &ft.Groups[g], nil, 0); err != nil {
						t.Fatalf("%s: %s: %v", name, n.Name, err)
					}
				}
			}
			r.Release(cols)
			after = append(after, fuzzMemory-m.left)
		}
		if after[5] > 2*after[0] {
			t.Errorf("%s: after each reading %v bytes are held", name, after)
		}
		r.Close()
		if m.left != fuzzMemory {
			t.Errorf("%s: %d bytes are not given back", name, fuzzMemory-m.left)
		}
	}
}
