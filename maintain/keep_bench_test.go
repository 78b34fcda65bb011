package maintain_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/types"
)

var (
	benchSnapshots = flag.Int("keep.snapshots", 200, "snapshots of BenchmarkExpireSnapshots")
	benchFiles     = flag.Int("keep.files", 20, "files that each adds")
)

// BenchmarkExpireSnapshots expires all but one of a table's snapshots, each of which appended some
// files; every tenth also replaced an earlier one's.
func BenchmarkExpireSnapshots(b *testing.B) {
	for range b.N {
		b.StopTimer()
		dir, err := os.MkdirTemp("/dev/shm", "lhsql-keep-")
		if err != nil {
			dir = b.TempDir()
		}
		b.Cleanup(func() { os.RemoveAll(dir) })
		f := newFixtureIn(b, dir, map[string]string{"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"})
		spec := f.load().DefaultSpec().ID
		var last []*lake.DataFile
		for i := range *benchSnapshots {
			var add, remove []*lake.DataFile
			for k := range *benchFiles {
				add = append(add, &lake.DataFile{Path: fmt.Sprintf("%s/data/f%d-%d.parquet", f.load().Location(), i, k), Format: "parquet", RecordCount: 1, FileSize: 4,
					Partition: []types.Datum{types.NewInt(int64(k))}, SpecID: spec})
			}
			if i%10 == 9 {
				remove = last
			}
			f.commit(add, remove)
			last = add
		}
		later := f.now.Add(time.Hour)
		b.StartTimer()
		out, err := maintain.ExpireSnapshots(f.ctx, f.target(), maintain.Expire{OlderThan: &later})
		if err != nil || out.Err != nil || len(out.Snapshots) != *benchSnapshots-1 {
			b.Fatal(len(out.Snapshots), err, out.Err)
		}
	}
}
