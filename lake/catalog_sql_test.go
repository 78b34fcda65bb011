package lake

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pyiceberg runs a script with PyIceberg, or skips the test where there is none.
func pyiceberg(t *testing.T, script string, args ...string) string {
	t.Helper()
	python := os.Getenv("LHSQL_PYTHON")
	if python == "" {
		python = "../.venv/bin/python" // scripts/setup.sh makes it
	}
	if _, err := os.Stat(python); err != nil {
		t.Skip("no Python with PyIceberg: set LHSQL_PYTHON")
	}
	out, err := exec.Command(python, append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	return string(out)
}

func testCatalog(t *testing.T) (Catalog, string) {
	t.Helper()
	dir := t.TempDir()
	c, err := OpenCatalog(context.Background(), "lake", map[string]string{
		"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "wh")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, dir
}

const pyMake = `
import sys, pyarrow as pa
from pyiceberg.catalog import load_catalog
d = sys.argv[1]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
c.create_namespace("a", {"owner": "ann"})
c.create_namespace("a.b")
t = c.create_table("a.t", schema=pa.schema([("x", pa.int64()), ("s", pa.string())]))
t.append(pa.table({"x": [1, 2, 3], "s": ["p", None, "q"]}))
t.append(pa.table({"x": [4], "s": ["r"]}))
`

// A warehouse that PyIceberg made is read: namespaces, properties, tables, snapshots, files.
func TestReadsPyIcebergWarehouse(t *testing.T) {
	dir := t.TempDir()
	pyiceberg(t, pyMake, dir)
	ctx := context.Background()
	c, err := OpenCatalog(ctx, "lake", map[string]string{"uri": "sqlite:///" + dir + "/catalog.db", "warehouse": dir + "/wh"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ns, err := c.Namespaces(ctx)
	if err != nil || len(ns) != 2 || ns[0] != "a" || ns[1] != "a.b" {
		t.Fatalf("namespaces %v %v", ns, err)
	}
	if p, err := c.NamespaceProperties(ctx, "a"); err != nil || p["owner"] != "ann" || len(p) != 1 {
		t.Errorf("properties %v %v", p, err)
	}
	tab, err := c.Load(ctx, Name{Namespace: "a", Table: "t"})
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	ms, err := tab.Manifests(ctx, tab.CurrentSnapshot())
	for _, m := range ms {
		es, err := tab.Entries(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			rows += e.File.RecordCount
			if e.File.NullCounts[2] > 1 || e.File.ValueCounts[1] != e.File.RecordCount {
				t.Errorf("counts %v %v", e.File.NullCounts, e.File.ValueCounts)
			}
		}
	}
	if err != nil || len(tab.Snapshots()) != 2 || rows != 4 {
		t.Errorf("%d snapshots, %d rows, %v", len(tab.Snapshots()), rows, err)
	}
	var missing *NotFound
	if _, err := c.Load(ctx, Name{Namespace: "a", Table: "nope"}); !errors.As(err, &missing) {
		t.Errorf("missing table: %v", err)
	}
	if _, err := c.List(ctx, "nope"); !errors.As(err, &missing) {
		t.Errorf("missing namespace: %v", err)
	}
}

// Namespaces have their life: created once, with properties, dropped only when empty.
func TestNamespaces(t *testing.T) {
	ctx := context.Background()
	c, _ := testCatalog(t)
	var exists *Exists
	var missing *NotFound
	var full *NotEmpty
	if err := c.CreateNamespace(ctx, "a", map[string]string{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateNamespace(ctx, "a", nil); !errors.As(err, &exists) {
		t.Errorf("second create: %v", err)
	}
	if err := c.CreateNamespace(ctx, "a.b", nil); err != nil {
		t.Error(err)
	}
	if err := c.DropNamespace(ctx, "a"); !errors.As(err, &full) {
		t.Errorf("drop of a full namespace: %v", err)
	}
	if err := c.SetNamespaceProperties(ctx, "a", map[string]string{"k": "w", "l": "m"}, nil); err != nil {
		t.Error(err)
	}
	if err := c.SetNamespaceProperties(ctx, "a", nil, []string{"l"}); err != nil {
		t.Error(err)
	}
	if p, err := c.NamespaceProperties(ctx, "a"); err != nil || len(p) != 1 || p["k"] != "w" {
		t.Errorf("properties %v %v", p, err)
	}
	for _, bad := range []string{"", "a..b", "../x", "a/b"} {
		if err := c.CreateNamespace(ctx, bad, nil); err == nil {
			t.Errorf("namespace %q was made", bad)
		}
	}
	if err := c.DropNamespace(ctx, "a.b"); err != nil {
		t.Error(err)
	}
	if err := c.DropNamespace(ctx, "a"); err != nil {
		t.Error(err)
	}
	if err := c.DropNamespace(ctx, "a"); !errors.As(err, &missing) {
		t.Errorf("second drop: %v", err)
	}
}

// A new table gets a folder of its own, whatever lies where its name would put it: another engine's
// removal of orphans takes all that it does not know in its table's folder.
func TestFoldersAreNotShared(t *testing.T) {
	f := newFixture(t, "2")
	first := f.load()
	moved := f.name
	moved.Table = "kept"
	f.must(f.c.Rename(f.ctx, f.name, moved))
	spec := TableSpec{Schema: first.Schema(), Properties: map[string]string{"format-version": "2"}}
	second, err := f.c.Create(f.ctx, f.name, spec)
	f.must(err)
	if a, b := first.Location(), second.Location(); a == b || strings.HasPrefix(b, a+"/") || strings.HasPrefix(a, b+"/") {
		t.Errorf("a renamed table lies in %s, the new one in %s", a, b)
	}
	f.must(f.c.Drop(f.ctx, f.name, false))
	third, err := f.c.Create(f.ctx, f.name, spec)
	f.must(err)
	if third.Location() == second.Location() {
		t.Errorf("the new table lies where one was dropped: %s", third.Location())
	}
	spec.Location = first.Location() + "/../said"
	fourth := f.name
	fourth.Table = "fourth"
	said, err := f.c.Create(f.ctx, fourth, spec)
	f.must(err)
	if !strings.HasSuffix(said.Location(), "/said") {
		t.Errorf("LOCATION was not taken: %s", said.Location())
	}
}
