package write

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// smallDisk mounts a file system of a few MB, or skips the test where that is not allowed.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill leaves free bytes on the disk.
func fill(t *testing.T, dir string, free int64) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	_ = os.Remove(path)
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	n := int64(st.Bavail)*st.Bsize - free
	if n <= 0 {
		t.Fatalf("only %d bytes are free", n+free)
	}
	f, err := os.Create(path)
	if err == nil {
		_, err = f.Write(make([]byte, n))
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A disk that is full, at every moment of a write: 53100, the table as it was, no file left
// behind, and the same statement works once there is room. The catalog's own database may be on
// the full disk as well.
func TestFullDisk(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("catalog there %v", own), func(t *testing.T) { fullDisk(t, own) })
	}
}

func fullDisk(t *testing.T, own bool) {
	disk := smallDisk(t, "6m")
	db := filepath.Join(t.TempDir(), "catalog.db")
	if own {
		db = filepath.Join(disk, "catalog.db")
	}
	eng, err := engine.Open(context.Background(), engine.Config{TempDir: t.TempDir(), Catalogs: []engine.CatalogConfig{{
		Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + db, "warehouse": filepath.Join(disk, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s := openSession(t, eng)
	defer s.Close()
	ctx := context.Background()
	must := mustRows(t, s)
	must("CREATE SCHEMA s")
	must("SET search_path = s")
	for _, mode := range []string{"copy-on-write", "merge-on-read"} {
		for _, q := range []string{
			"INSERT INTO t SELECT g, md5(g::text) FROM generate_series(5001, 9000) g",
			"DELETE FROM t WHERE id % 3 = 0",
			"UPDATE t SET v = md5(v) WHERE id % 2 = 0",
			"MERGE INTO t USING (SELECT g AS id FROM generate_series(4000, 6000) g) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = md5(t.v) WHEN NOT MATCHED THEN INSERT VALUES (u.id, 'new')",
			"CREATE TABLE c AS SELECT g, md5(g::text) AS v FROM generate_series(1, 4000) g",
			"CREATE TABLE c (id int)",
			"ALTER TABLE t ADD COLUMN w text",
			"TRUNCATE t",
			"CREATE VIEW c AS SELECT 1 AS x",
		} {
			failed := 0
			for _, free := range []int64{0, 4 << 10, 12 << 10, 28 << 10, 64 << 10, 128 << 10} {
				os.Remove(filepath.Join(disk, "filler"))
				must("DROP TABLE IF EXISTS t PURGE")
				must(fmt.Sprintf("CREATE TABLE t (id int, v text) TBLPROPERTIES ('write.delete.mode' = '%s', 'write.update.mode' = '%[1]s', 'write.merge.mode' = '%[1]s')", mode))
				must("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 5000) g")
				sum := strings.Join(must("SELECT count(*), sum(id), min(v), max(v) FROM t"), "")
				pointer := strings.Join(must("SELECT file FROM t.metadata_log_entries ORDER BY timestamp DESC LIMIT 1"), "")
				before := files(t, disk)
				fill(t, disk, free)
				_, err := rows(ctx, s, q)
				os.Remove(filepath.Join(disk, "filler"))
				if err == nil {
					if strings.HasPrefix(q, "CREATE VIEW") {
						must("DROP VIEW c")
					} else {
						must("DROP TABLE IF EXISTS c PURGE")
					}
					break // there was room
				}
				failed++
				if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.DiskFull || !strings.Contains(e.Message, "no space left") && !strings.Contains(e.Message, "full") {
					t.Errorf("%s, %s, %d bytes free: %s", mode, q, free, errText(err))
				}
				if got := strings.Join(must("SELECT count(*), sum(id), min(v), max(v) FROM t"), ""); got != sum {
					t.Errorf("%s, %s: the table has changed from %s to %s", mode, q, sum, got)
				}
				if got := strings.Join(must("SELECT file FROM t.metadata_log_entries ORDER BY timestamp DESC LIMIT 1"), ""); got != pointer {
					t.Errorf("%s, %s: the pointer moved", mode, q)
				}
				if got := files(t, disk); got != before {
					t.Errorf("%s, %s, %d bytes free left files behind:\n%s", mode, q, free, news(before, got))
				}
			}
			if failed == 0 {
				t.Errorf("%s, %s never met the full disk", mode, q)
			}
		}
	}
}
