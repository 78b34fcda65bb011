package lake

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake/store"
)

// Files with some bytes changed give values or errors, never a panic, and take no undue
// memory. The golden files are the seeds; a failing seed is printed.
func TestChangedBytes(t *testing.T) {
	dir := goldenDir(t)
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	var files [][]byte
	for _, pattern := range []string{"*/metadata/*-m0.avro", "*/metadata/snap-*.avro", "*/metadata/v*.metadata.json", "iceberg/*/metadata/*.avro"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, n := range names {
			b, err := store.LocalFS{}.ReadAll(context.Background(), n)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, b)
		}
	}
	spec := &PartitionSpec{Fields: []PartitionField{{FieldID: 1000, SourceIDs: []int{1}, Name: "partition_col", Transform: Transform{Kind: Identity}, Type: TypeOf("long"), Iceberg: "long"}}}
	for range 3000 {
		b := append([]byte(nil), files[r.IntN(len(files))]...)
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		if r.IntN(4) == 0 {
			b = b[:r.IntN(len(b))]
		}
		_, _ = parseManifest(b, &Manifest{}, spec, nil)
		_, _ = parseManifestList(b, 1)
		if s, err := parseMetadata(b); err == nil {
			_ = (&Table{state: *s}).NameMapping()
		}
	}
}
