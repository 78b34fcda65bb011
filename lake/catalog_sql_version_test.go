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

// The version of a catalog in memory, and of one in PostgreSQL.
func testVersions(t *testing.T, ours, other Catalog) {
	t.Helper()
	ctx := context.Background()
	v := ours.(Versioned).Version(ctx)
	if v == "" || ours.(Versioned).Version(ctx) != v {
		t.Fatalf("versions without a change: %q, %q", v, ours.(Versioned).Version(ctx))
	}
	for i, by := range []Catalog{ours, other, ours} {
		n := "version_" + string(rune('a'+i))
		if err := by.CreateNamespace(ctx, n, nil); err != nil {
			t.Fatal(err)
		}
		w := ours.(Versioned).Version(ctx)
		if w == "" || w == v {
			t.Errorf("change %d: the version is still %q", i, w)
		}
		if err := by.DropNamespace(ctx, n); err != nil {
			t.Fatal(err)
		}
		v = ours.(Versioned).Version(ctx)
		if v == "" || w == v {
			t.Errorf("change %d undone: the version is still %q", i, w)
		}
	}
	if _, err := ours.Namespaces(ctx); err != nil || ours.(Versioned).Version(ctx) != v {
		t.Errorf("reading changed the version: %v", err)
	}
}

func TestMemoryCatalogVersion(t *testing.T) {
	open := func() Catalog {
		c, err := OpenCatalog(context.Background(), "versions", map[string]string{"type": "sql", "uri": "sqlite:///:memory:", "warehouse": t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	testVersions(t, open(), open())
}
