package lake

import (
	"context"
	"errors"
	"io/fs"
	"net/http/httptest"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/lake/store/fakes3"
)

// A table lives in an object store, and reaches nothing beside it.
func TestTableOnS3(t *testing.T) {
	h := httptest.NewServer(fakes3.New(nil))
	defer h.Close()
	props := map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s"}
	ctx := clock.With(context.Background(), &ticks{now: clockStart})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	props["uri"], props["warehouse"] = "sqlite:///"+t.TempDir()+"/c.db", "s3://b/wh"
	c, err := OpenCatalog(ctx, "s", props)
	must(err)
	defer c.Close()
	must(c.CreateNamespace(ctx, "a", nil))
	name := Name{Namespace: "a", Table: "t"}
	_, err = c.Create(ctx, name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	must(err)
	tab, err := c.Commit(ctx, name, Change{Add: []*DataFile{{Path: "s3://b/wh/a/t/data/f.parquet", Format: "parquet", RecordCount: 2}}})
	must(err)
	ms, err := tab.Manifests(ctx, tab.CurrentSnapshot())
	if err != nil || len(ms) != 1 {
		t.Errorf("%v %v", ms, err)
	}
	if _, err := tab.FS().ReadAll(ctx, "s3://other/x"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another bucket was asked: %v", err)
	}
	moved, err := OpenPathIn(ctx, NewStore(props), "s3://b/wh/a/t", nil)
	if err != nil || len(moved.Snapshots()) != 1 {
		t.Errorf("by path: %v", err)
	}
}
