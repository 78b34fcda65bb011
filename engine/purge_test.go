package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// PURGE looks at the other catalogs of the server: the same table, or one in its folder, keeps the files.
func TestPurgeLooksAtOtherCatalogs(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	sqlite := func(name string) CatalogConfig {
		return CatalogConfig{Name: name, Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, name+".db"), "warehouse": filepath.Join(dir, "wh")}}
	}
	e, err := Open(ctx, Config{Catalogs: []CatalogConfig{sqlite("one"), sqlite("two")}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.NewSession(ctx, SessionOptions{User: "root", Database: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must := func(sql string) {
		t.Helper()
		if _, err := run(ctx, s, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	other, err := e.NewSession(ctx, SessionOptions{User: "root", Database: "two"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := run(ctx, other, "CREATE SCHEMA a"); err != nil {
		t.Fatal(err)
	}
	must("CREATE SCHEMA a")
	for _, n := range []string{"t", "u", "free"} {
		must("CREATE TABLE one.a." + n + " AS SELECT 1 AS x")
	}
	must("CREATE TABLE two.a.inner AS SELECT 1 AS x")
	files, err := filepath.Glob(filepath.Join(dir, "wh/a/t/metadata/*.metadata.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if _, err := run(ctx, other, "CALL system.register_table('a.same', '"+files[len(files)-1]+"')"); err != nil {
		t.Fatal(err)
	}
	must("CREATE TABLE two.a.within (x int) LOCATION '" + filepath.Join(dir, "wh/a/u/more") + "'")
	for sql, why := range map[string]string{
		"DROP TABLE one.a.t PURGE": "it is also table a.same of catalog two",
		"DROP TABLE one.a.u PURGE": "a table of catalog two lies in the folder",
	} {
		if _, err := run(ctx, s, sql); sqlerr.CodeOf(err) != sqlerr.DependentObjectsExist || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n, err := run(ctx, s, "SELECT count(*)::text FROM two.a.same"); err != nil || n != "1" {
		t.Errorf("%s, %v", n, err)
	}
	must("DROP TABLE one.a.free PURGE")
	if left, _ := os.ReadDir(filepath.Join(dir, "wh/a/free/data")); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}
