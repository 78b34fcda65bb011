package lake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// What DROP … PURGE removes is of the dropped table alone: while the table has another name, lies in
// another one's folder or shares one with it, the drop is refused and nothing happens; what lies in a
// folder of another table below its own stays.
func TestPurgeLeavesOthers(t *testing.T) {
	type place struct {
		what    string
		make    func(f *fixture, other Name) // makes the other table
		refused string                       // what the refusal says; "": the drop works
	}
	spec := func(location string, props map[string]string) TableSpec {
		return TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}, Location: location, Properties: props}
	}
	create := func(location func(f *fixture) string, props func(f *fixture) map[string]string) func(*fixture, Name) {
		return func(f *fixture, other Name) {
			var p map[string]string
			if props != nil {
				p = props(f)
			}
			_, err := f.c.Create(f.ctx, other, spec(location(f), p))
			f.must(err)
		}
	}
	register := func(f *fixture, other Name) {
		_, err := f.c.Register(f.ctx, other, f.load().MetadataLocation)
		f.must(err)
	}
	for _, p := range []place{
		{"the same table", register, "it is also table b.other"},
		{"the same table, which has gone on", func(f *fixture, other Name) {
			register(f, other)
			_, err := f.c.Commit(f.ctx, other, Change{Add: []*DataFile{f.file(2)}})
			f.must(err)
		}, "it is also table b.other"},
		{"the same folder", create(func(f *fixture) string { return f.dir + "/wh/a/t/" }, nil), "they lie in the folder of table b.other"},
		{"a folder around", create(func(f *fixture) string { return "file://" + f.dir + "/wh/a" }, nil), "they lie in the folder of table b.other"},
		{"a data folder around", create(func(f *fixture) string { return f.dir + "/wh/b/other" }, func(f *fixture) map[string]string {
			return map[string]string{"write.data.path": f.dir + "/wh/a"}
		}), "they lie in the folder of table b.other"},
		{"a table that cannot be read, in the same folder", func(f *fixture, other Name) {
			bad := f.dir + "/wh/a/t/metadata/00009-bad.metadata.json"
			f.must(os.WriteFile(bad, []byte("{"), 0o644))
			c := f.c.(*sqlCatalog)
			_, err := c.db.Exec("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) VALUES (?, ?, ?, ?, 'TABLE')", c.name, other.Namespace, other.Table, bad)
			f.must(err)
		}, "they lie in the folder of table b.other"},
		{"the same table in another catalog of the database", func(f *fixture, other Name) {
			c := f.c.(*sqlCatalog)
			_, err := c.db.Exec("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) VALUES ('elsewhere', ?, ?, ?, 'TABLE')", other.Namespace, other.Table, f.load().MetadataLocation)
			f.must(err)
		}, "it is also table b.other"},
		{"a folder whose name begins alike", create(func(f *fixture) string { return f.dir + "/wh/a/t2" }, nil), ""},
		{"a folder below", create(func(f *fixture) string { return f.dir + "/wh/a/t/data/sub" }, nil), ""},
		{"a table elsewhere", create(func(f *fixture) string { return f.dir + "/wh/b/other" }, nil), ""},
	} {
		for _, inBlock := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/block %v", p.what, inBlock), func(t *testing.T) {
				f := newFixture(t, "2")
				put := func(path string) *DataFile {
					d := f.file(1)
					d.Path = f.dir + "/wh/a/t/data/" + path
					f.must(os.MkdirAll(filepath.Dir(d.Path), 0o755))
					f.must(os.WriteFile(d.Path, []byte("rows"), 0o644))
					return d
				}
				_, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{put("own.parquet"), put("sub/other.parquet")}})
				f.must(err)
				f.must(f.c.CreateNamespace(f.ctx, "b", nil))
				other := Name{Catalog: f.c.Name(), Namespace: "b", Table: "other"}
				p.make(f, other)
				files := func() string {
					var out []string
					f.must(filepath.WalkDir(f.dir+"/wh", func(path string, d os.DirEntry, err error) error {
						if err == nil && d.Type().IsRegular() {
							out = append(out, path)
						}
						return err
					}))
					return strings.Join(out, "\n")
				}
				before := files()
				drop := func() error {
					if !inBlock {
						return f.c.Drop(f.ctx, f.name, true)
					}
					tx := Begin(f.c)
					if err := tx.Drop(f.ctx, f.name, true); err != nil {
						return err
					}
					leftover, err := tx.Publish(f.ctx)
					f.must(leftover)
					return err
				}
				err = drop()
				if p.refused != "" {
					if sqlerr.CodeOf(err) != sqlerr.DependentObjectsExist || !strings.Contains(err.Error(), p.refused) {
						t.Errorf("%v", err)
					}
					f.load()
					if after := files(); after != before {
						t.Errorf("files were touched:\n%s\nwere\n%s", after, before)
					}
					f.must(f.c.Drop(f.ctx, f.name, false))
					return
				}
				f.must(err)
				after := files()
				if strings.Contains(after, "own.parquet") {
					t.Error("the table's file stayed")
				}
				if below := p.what == "a folder below"; strings.Contains(after, "sub/other.parquet") != below {
					t.Errorf("the file in another table's folder:\n%s", after)
				}
				_, err = f.c.Load(f.ctx, other)
				f.must(err)
			})
		}
	}
	// One scheme by three names, and folders that end in a slash.
	for _, c := range []struct {
		loc, folder string
		in          bool
	}{{"s3a://b/wh/t/data/f", "s3://b/wh/t", true}, {"s3n://b/wh/t", "s3a://b/wh/t/", true}, {"s3://b/wh/t2", "s3://b/wh/t", false}, {"s3://b/wh", "s3://b/wh/t", false}, {"file:///wh/t/f", "/wh/t", true}} {
		if within(c.loc, c.folder) != c.in {
			t.Errorf("%s in %s: %v", c.loc, c.folder, !c.in)
		}
	}
}
