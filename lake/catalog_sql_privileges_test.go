package lake

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// A store of privileges is one for all that open it: who changes it must have seen its newest version,
// and who reads it hears of what has changed, removed rows included.
func TestPrivilegeStore(t *testing.T) {
	for name, uri := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:///" + filepath.Join(t.TempDir(), "guard.db") },
		"postgres": postgres,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			u := uri(t)
			var stores [2]PrivilegeStore
			for i := range stores {
				s, end, err := OpenPrivilegeStore(ctx, u)
				if err != nil {
					t.Fatal(err)
				}
				defer end()
				stores[i] = s
			}
			a, b := stores[0], stores[1]
			v, rows, err := a.PrivilegeRows(ctx, 0)
			if err != nil || len(rows) > 0 || v < 1 {
				t.Fatalf("a new store: %d, %v, %v", v, rows, err)
			}
			set := func(s PrivilegeStore, after int64, want bool, rows ...PrivilegeRow) {
				t.Helper()
				if ok, err := s.SetPrivileges(ctx, after, rows); err != nil || ok != want {
					t.Fatalf("after %d: %v, %v", after, ok, err)
				}
			}
			set(a, v, true, PrivilegeRow{"role", "[1]", "one"}, PrivilegeRow{"role", "[2]", "two"})
			set(b, v, false, PrivilegeRow{"role", "[1]", "late"})
			v1, rows, err := b.PrivilegeRows(ctx, 0)
			if err != nil || v1 != v+1 || len(rows) != 2 {
				t.Fatalf("%d, %v, %v", v1, rows, err)
			}
			set(b, v1, true, PrivilegeRow{"role", "[1]", ""})
			v2, rows, err := a.PrivilegeRows(ctx, v1)
			if err != nil || v2 != v1+1 || len(rows) != 1 || rows[0] != (PrivilegeRow{"role", "[1]", ""}) {
				t.Fatalf("%d, %v, %v", v2, rows, err)
			}
			if v3, rows, err := b.PrivilegeRows(ctx, v2); err != nil || v3 != v2 || len(rows) > 0 {
				t.Fatalf("nothing has changed: %d, %v, %v", v3, rows, err)
			}
			// Of many who change it at once each does, one after the other.
			var wg sync.WaitGroup
			const each, of = 10, 4
			for i := range of {
				wg.Add(1)
				go func() {
					defer wg.Done()
					s := stores[i%2]
					for k := 0; k < each; {
						v, _, err := s.PrivilegeRows(ctx, 0)
						if err != nil {
							t.Error(err)
							return
						}
						ok, err := s.SetPrivileges(ctx, v, []PrivilegeRow{{"role", "[" + strconv.Itoa(100*i+k) + "]", "x"}})
						if err != nil {
							t.Error(err)
							return
						}
						if ok {
							k++
						}
					}
				}()
			}
			wg.Wait()
			if end, rows, err := a.PrivilegeRows(ctx, v2); err != nil || end != v2+each*of || len(rows) != each*of {
				t.Errorf("%d, %d rows, %v", end, len(rows), err)
			}
		})
	}
}
