package lake

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
)

// The SQL catalog on a PostgreSQL of the user's: LHSQL_POSTGRES names an empty database, as
// postgresql://user@host:port/db. TestLockedInPostgres runs the same on one of its own.
func TestPostgresCatalog(t *testing.T) {
	uri := os.Getenv("LHSQL_POSTGRES")
	if uri == "" {
		t.Skip("set LHSQL_POSTGRES to run")
	}
	testPostgresCatalog(t, uri)
}

func testPostgresCatalog(t *testing.T, uri string) {
	dir := t.TempDir()
	ctx := clock.With(context.Background(), &ticks{now: clockStart})
	c, err := OpenCatalog(ctx, "pg", map[string]string{"uri": uri, "warehouse": dir + "/wh"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f := &fixture{t: t, ctx: ctx, c: c, dir: dir, name: Name{Namespace: "a", Table: "t"}}
	f.must(c.CreateNamespace(ctx, "a", nil))
	_, err = c.Create(ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}, Properties: map[string]string{"commit.retry.num-retries": "50"}})
	f.must(err)
	if _, err := c.Create(ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}); err == nil {
		t.Error("a table was made twice")
	}
	files := []*DataFile{f.file(1), f.file(2), f.file(3), f.file(4)}
	var wg sync.WaitGroup
	for _, d := range files {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := c.Commit(ctx, f.name, Change{Add: []*DataFile{d}}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	f.verify()
	f.has("f1", "f2", "f3", "f4")
	f.must(c.Rename(ctx, f.name, Name{Namespace: "a", Table: "u"}))
	f.must(c.Drop(ctx, Name{Namespace: "a", Table: "u"}, true))
	f.must(c.DropNamespace(ctx, "a"))
	other, err := OpenCatalog(ctx, "pg", map[string]string{"uri": uri, "warehouse": dir + "/wh"})
	f.must(err)
	defer other.Close()
	testVersions(t, c, other)
}
