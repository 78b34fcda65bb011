package limits

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
)

var damageCount = flag.Int("damage.count", 1500, "how many damaged files TestDamagedFiles reads")

// A file of a table with some bytes changed or cut off gives the true answer or an error that is not
// ours; it ends nothing and is not taken for another file of the same name and size. Where the format
// has checksums or counts, a wrong answer is impossible:
//
//	pages and deletion vectors   have checksums
//	footers                      say how many rows there are, and so do manifests
//	manifests, manifest lists    count each other's files and rows, but have no checksum: a path or a
//	                             sequence number may become another one
//	table metadata               is text in which a digit may be another one
//
// So rows may be neither lost nor found whatever is changed in a page, a footer or a vector; what the
// rest lets pass is counted and told.
func TestDamagedFiles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), MemoryLimit: 512 << 20, Workers: 1, PathTables: []string{"/"},
		Log: func(f string, a ...any) { t.Logf(f, a...) },
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{
			"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	s := server{Engine: eng}.session(t)
	for _, sql := range []string{
		"create schema d",
		`create table d.positions (id int not null, p text, v bigint, x numeric(9,2), w text[]) partitioned by (p)
			tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')`,
		`create table d.vectors (id int not null, p text, v bigint, x numeric(9,2), w text[])
			tblproperties ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')`,
	} {
		if _, err := ask(ctx, s, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	for _, table := range []string{"d.positions", "d.vectors"} {
		for _, sql := range []string{
			"insert into " + table + " select g, 'p' || g % 2, g * 1000, g / 7.0, array['x' || g, null] from generate_series(1, 3000) g",
			"insert into " + table + " select g, 'p' || g % 3, null, g, null from generate_series(3001, 3100) g",
			"delete from " + table + " where id % 50 = 3",
			"update " + table + " set v = -v where id between 100 and 120",
		} {
			if _, err := ask(ctx, s, sql); err != nil {
				t.Fatal(sql, err)
			}
		}
	}

	type file struct {
		path, kind, folder string
		whole              []byte
	}
	var files []file
	truth := map[string][]string{}
	questions := func(folder string) []string {
		from := " from iceberg('" + folder + "')"
		return []string{
			"select count(*), sum(id), sum(v), sum(x), count(w), sum(length(p)), sum(cardinality(w))" + from,
			"select count(*), sum(v)" + from + " where id between 90 and 400",
			"select count(*), min(id), max(v)" + from + " where p = 'p1' and v > 5",
		}
	}
	answers := func(folder string) ([]string, error) {
		var all []string
		for _, q := range questions(folder) {
			rows, err := ask(ctx, s, q)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
		return all, nil
	}
	for _, name := range []string{"positions", "vectors"} {
		folder := filepath.Join(dir, "d", name)
		if truth[folder], err = answers(folder); err != nil {
			t.Fatal(err)
		}
		newest := ""
		filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".metadata.json") {
				newest = max(newest, path)
			}
			return err
		})
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f := file{path: path, folder: folder}
			base := filepath.Base(path)
			switch {
			case path == newest:
				f.kind = "metadata"
			case strings.HasSuffix(base, ".json"):
				return nil // of an older state
			case strings.HasPrefix(base, "snap-"):
				f.kind = "manifest list"
			case strings.HasSuffix(base, ".avro"):
				f.kind = "manifest"
			case strings.HasSuffix(base, ".puffin"):
				f.kind = "vector"
			case strings.HasSuffix(base, ".parquet"):
				f.kind = "parquet"
			default:
				return nil
			}
			f.whole, err = os.ReadFile(path)
			files = append(files, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	byKind := map[string][]file{}
	for _, f := range files {
		byKind[f.kind] = append(byKind[f.kind], f)
	}
	kinds := []string{"parquet", "parquet", "vector", "manifest", "manifest list", "metadata"}
	for _, k := range kinds {
		if len(byKind[k]) == 0 {
			t.Fatalf("no file is a %s", k)
		}
	}

	r := rand.New(rand.NewPCG(testseed.Of(t), 9))
	silent, refused, same := map[string]int{}, map[string]int{}, 0
	for n := range *damageCount {
		kind := kinds[n%len(kinds)]
		f := byKind[kind][r.IntN(len(byKind[kind]))]
		b := bytes.Clone(f.whole)
		part := kind
		lo, hi := 0, len(b)
		if kind == "parquet" {
			footer := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
			if part = "footer"; r.IntN(2) == 0 {
				part, hi = "pages", footer
			} else {
				lo = footer
			}
		}
		switch r.IntN(8) {
		case 0:
			b = b[:lo+r.IntN(hi-lo)]
		case 1: // a stretch of zeros, as a disk may leave it
			at := lo + r.IntN(hi-lo)
			clear(b[at:min(at+1+r.IntN(64), hi)])
		default:
			for range 1 + r.IntN(3) {
				b[lo+r.IntN(hi-lo)] ^= byte(1 + r.IntN(255))
			}
		}
		if bytes.Equal(b, f.whole) {
			continue
		}
		if err := os.WriteFile(f.path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := answers(f.folder)
		if err := os.WriteFile(f.path, f.whole, 0o644); err != nil {
			t.Fatal(err)
		}
		switch {
		case err != nil:
			if code := sqlerr.CodeOf(err); code == "" || code == sqlerr.InternalError {
				t.Errorf("mutant %d, %s of %s: %v", n, part, filepath.Base(f.path), err)
			}
			refused[part]++
		case slices.Equal(got, truth[f.folder]):
			same++
		default:
			silent[part]++
			rows := func(a []string) string { n, _, _ := strings.Cut(a[0], "|"); return n }
			if part == "pages" || part == "vector" || part == "footer" && rows(got) != rows(truth[f.folder]) {
				t.Errorf("mutant %d, %s of %s: %v, want %v", n, part, filepath.Base(f.path), got, truth[f.folder])
			}
		}
	}
	t.Logf("%d mutants: refused %v, harmless %d, another answer %v", *damageCount, refused, same, silent)
	for _, folder := range []string{filepath.Join(dir, "d", "positions"), filepath.Join(dir, "d", "vectors")} {
		if got, err := answers(folder); err != nil || !slices.Equal(got, truth[folder]) {
			t.Errorf("the files as they were: %v, %v", got, err)
		}
	}
}
