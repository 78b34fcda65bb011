// Command files answers: what do the walks over all that a table holds take, in time and memory, when it
// holds a million files?
//
// It makes a table of many files (entries with statistics, and files of one byte) in few snapshots, and one
// of many snapshots, runs each procedure's plan or the procedure itself in a process of its own, start
// included, and prints wall and CPU seconds and the process's peak resident set.
//
//	go build -o lhsql ./cmd/lhsql
//	go run ./bench/maintain/files -binary ./lhsql -dir DIR [-files 1000000] [-snapshots 5000] [-memory_limit 512MB]
//
// DIR keeps the tables: another run with the same numbers measures the big one again and makes the other anew, which it expires.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

var (
	binary    = flag.String("binary", "", "a built lhsql")
	dir       = flag.String("dir", "", "a folder for the tables")
	files     = flag.Int("files", 1_000_000, "files of the big table, in 50 snapshots and 1,000 partitions")
	snapshots = flag.Int("snapshots", 5_000, "snapshots of the busy table, of 20 files each; every tenth takes the files of the one before away")
	limit     = flag.String("memory_limit", "512MB", "of each process")
	real      = flag.Bool("real", true, "the files are there")
	only      = flag.String("only", "", "only statements that contain this")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// minutes makes commits a minute apart.
type minutes struct{ now time.Time }

func (c *minutes) Now() time.Time                             { c.now = c.now.Add(time.Minute); return c.now }
func (c *minutes) Sleep(context.Context, time.Duration) error { return nil }

func run(ctx context.Context) error {
	ctx = clock.With(ctx, &minutes{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	c, err := lake.OpenCatalog(ctx, "lake", map[string]string{"uri": "sqlite:///" + filepath.Join(*dir, "catalog.db"), "warehouse": filepath.Join(*dir, "wh")})
	if err != nil {
		return err
	}
	big, busy := lake.Name{Namespace: "b", Table: "big"}, lake.Name{Namespace: "b", Table: "busy"}
	if _, err := c.Load(ctx, big); err != nil {
		if err := c.CreateNamespace(ctx, "b", nil); err != nil {
			return err
		}
		if err := fill(ctx, c, big, 50, *files/50, false); err != nil {
			return err
		}
	}
	if *only == "" || strings.Contains("busy", *only) {
		if _, err := c.Load(ctx, busy); err == nil {
			if err := c.Drop(ctx, busy, false); err != nil {
				return err
			}
			if err := os.RemoveAll(filepath.Join(*dir, "wh", "b", "busy")); err != nil {
				return err
			}
		}
		if err := fill(ctx, c, busy, *snapshots, 20, true); err != nil {
			return err
		}
	}
	if err := c.Close(); err != nil {
		return err
	}
	fmt.Printf("%d files; %d snapshots of 20 files; memory_limit %s\n%9s%9s%9s\n", *files, *snapshots, *limit, "wall s", "CPU s", "peak MB")
	for _, q := range []string{
		"EXPLAIN CALL system.rewrite_data_files('b.big', options => map('min-input-files', '2'))",
		"EXPLAIN CALL system.rewrite_position_delete_files('b.big')",
		"EXPLAIN CALL system.rewrite_manifests('b.big')",
		"EXPLAIN CALL system.expire_snapshots('b.big', older_than => TIMESTAMP '2100-01-01')",
		"EXPLAIN CALL system.remove_orphan_files('b.big')",
		"CALL system.compute_partition_stats('b.big')",
		"SELECT * FROM system.table_health WHERE table_name = 'big'",
		"SELECT * FROM system.storage WHERE table_name = 'big'",
		"CALL system.rewrite_manifests('b.big')",
		"EXPLAIN CALL system.expire_snapshots('b.busy', older_than => TIMESTAMP '2100-01-01')",
		"CALL system.expire_snapshots('b.busy', older_than => TIMESTAMP '2100-01-01')",
	} {
		if !strings.Contains(q, *only) {
			continue
		}
		if err := measure(q); err != nil {
			return err
		}
	}
	return nil
}

// measure runs a statement in a process of its own.
func measure(q string) error {
	p := exec.Command(*binary, "sql", "--warehouse", filepath.Join(*dir, "wh"), "--catalogs.lake.uri", "sqlite:///"+filepath.Join(*dir, "catalog.db"), "--memory_limit", *limit, "-c", q)
	p.Env = append(os.Environ(), "LHSQL_CONFIG=")
	start := time.Now()
	out, err := p.CombinedOutput()
	if err != nil {
		if p.ProcessState == nil {
			return fmt.Errorf("%s: %w\n%s", q, err, out)
		}
		q += "\n  " + strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n  ")
	}
	usage := p.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Printf("%9.1f%9.1f%9d  %s\n", time.Since(start).Seconds(), (p.ProcessState.UserTime() + p.ProcessState.SystemTime()).Seconds(), usage.Maxrss>>10, q)
	if os.Getenv("VERBOSE") != "" {
		fmt.Println(string(out))
	}
	return nil
}

// fill makes a table by commits of so many files each.
func fill(ctx context.Context, c lake.Catalog, n lake.Name, commits, each int, replace bool) error {
	const columns = 10
	var fields []lake.Field
	for i := range columns {
		fields = append(fields, lake.Field{Name: fmt.Sprintf("c%d", i), Type: types.T(types.Int8), Iceberg: "long"})
	}
	t, err := c.Create(ctx, n, lake.TableSpec{Schema: &lake.Schema{Fields: fields}, PartitionBy: []lake.PartitionBy{{Column: "c0", Transform: lake.ParseTransform("identity")}},
		Properties: map[string]string{"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}})
	if err != nil {
		return err
	}
	spec := t.DefaultSpec().ID
	folder := strings.TrimPrefix(t.Location(), "file://") + "/data"
	made := map[string]bool{}
	var last []*lake.DataFile
	for i := range commits {
		var add, remove []*lake.DataFile
		for k := range each {
			f := &lake.DataFile{Path: fmt.Sprintf("%s/c0=%d/%05d-%d-8f14e45f-ceea-467f-9575-1e2a8b0c7d3%d.parquet", folder, k%1000, i, k, k%10), Format: "parquet", RecordCount: 100, FileSize: 1 << 20,
				Partition: []types.Datum{types.NewInt(int64(k % 1000))}, SpecID: spec,
				ColumnSizes: map[int]int64{}, ValueCounts: map[int]int64{}, NullCounts: map[int]int64{}, Lower: map[int][]byte{}, Upper: map[int][]byte{}}
			for id := 1; id <= columns; id++ {
				f.ColumnSizes[id], f.ValueCounts[id], f.NullCounts[id] = 1000, 100, 0
				f.Lower[id] = lake.EncodeBound(types.NewInt(int64(k*100)), "long")
				f.Upper[id] = lake.EncodeBound(types.NewInt(int64(k*100+99)), "long")
			}
			if *real {
				if d := filepath.Dir(f.Path); !made[d] {
					if err := os.MkdirAll(d, 0o755); err != nil {
						return err
					}
					made[d] = true
				}
				if err := os.WriteFile(f.Path, []byte{0}, 0o644); err != nil {
					return err
				}
			}
			add = append(add, f)
		}
		if replace && i%10 == 9 {
			remove = last
		}
		if _, err := c.Commit(ctx, n, lake.Change{Add: add, Remove: remove}); err != nil {
			return err
		}
		last = add
	}
	return nil
}
