package lake

import (
	"context"
	"path/filepath"
	"testing"
)

// The catalog's version stays while nothing changes, and differs after a change by this program
// or by another.
func TestSQLCatalogVersion(t *testing.T) {
	ctx := context.Background()
	c, dir := testCatalog(t)
	ours := c.(Versioned)
	other, err := OpenCatalog(ctx, "lake", map[string]string{
		"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "wh")})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	v := ours.Version(ctx)
	if v == "" || ours.Version(ctx) != v {
		t.Fatalf("versions without a change: %q, %q", v, ours.Version(ctx))
	}
	for i, by := range []Catalog{c, other, c, other} {
		if err := by.CreateNamespace(ctx, "n"+string(rune('a'+i)), nil); err != nil {
			t.Fatal(err)
		}
		w := ours.Version(ctx)
		if w == "" || w == v {
			t.Errorf("change %d: the version is still %q", i, w)
		}
		v = w
	}
	if _, err := other.Namespaces(ctx); err != nil || ours.Version(ctx) != v {
		t.Errorf("reading changed the version: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if w := ours.Version(cancelled); w != "" {
		t.Errorf("a version without an answer: %q", w)
	}
	if w := ours.Version(ctx); w == "" {
		t.Error("no version after a read that failed")
	}
	c.Close()
	if w := ours.Version(ctx); w != "" {
		t.Errorf("a closed catalog's version: %q", w)
	}
}
