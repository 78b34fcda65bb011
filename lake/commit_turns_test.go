package lake

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// Writers of one process go one after the other in the order of their coming; who has taken the turn
// before commits meanwhile, and who gives up waiting holds nobody up.
func TestWritersGoInOrder(t *testing.T) {
	f := newFixture(t, "2")
	line := &f.c.(*sqlCatalog).engine.turns
	name := f.name
	name.Catalog = f.c.Name()
	waiting := func(n int) { // until n stand in the line, whoever has the turn included
		t.Helper()
		for range 10_000 {
			line.mu.Lock()
			got := len(line.lines[name])
			line.mu.Unlock()
			if got == n {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("%d never stood in the line", n)
	}
	held, done, err := TakeTurn(f.ctx, f.c, f.name)
	f.must(err)
	waiting(1)
	var wg sync.WaitGroup
	files := []*DataFile{f.file(1), f.file(2), f.file(3), f.file(4), f.file(5)}
	ctx, cancel := context.WithCancel(f.ctx)
	for i, d := range files[1:] {
		wg.Go(func() {
			use := f.ctx
			if i == 1 {
				use = ctx
			}
			_, err := f.c.Commit(use, f.name, Change{Add: []*DataFile{d}})
			if (i == 1) != errors.Is(err, context.Canceled) {
				t.Errorf("writer %d: %v", i, err)
			}
		})
		waiting(i + 2)
	}
	_, err = f.c.Commit(held, f.name, Change{Add: files[:1]})
	f.must(err)
	f.has("f1") // the others wait
	cancel()
	waiting(4)
	done()
	wg.Wait()
	waiting(0)
	var order []string
	for _, s := range f.load().Snapshots() {
		ms, err := f.load().Manifests(f.ctx, s)
		f.must(err)
		for _, m := range ms {
			if m.AddedSnapshotID == s.ID {
				f.must(live(f.ctx, f.load(), m, func(d *DataFile) { order = append(order, filepath.Base(d.Path)) }))
			}
		}
	}
	if want := []string{"f1.parquet", "f2.parquet", "f4.parquet", "f5.parquet"}; !slices.Equal(order, want) {
		t.Errorf("they committed in the order %v, want %v", order, want)
	}

	// Two that want the same two tables in either order do not wait for each other.
	other := Name{Namespace: "a", Table: "u"}
	_, err = f.c.Create(f.ctx, other, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	set := func(k string) Change {
		return Change{Edit: func(e *Edit) error { return e.SetProperties(map[string]string{k: "1"}) }}
	}
	for i := range 8 {
		wg.Go(func() {
			both := []TableChange{{f.name, set(fmt.Sprint("p", i))}, {other, set(fmt.Sprint("p", i))}}
			if i%2 == 1 {
				slices.Reverse(both)
			}
			if _, err := f.c.CommitAll(f.ctx, both); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(f.load().Properties()); n != 8 {
		t.Errorf("%d of 8 changes", n)
	}
}
