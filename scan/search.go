package scan

import (
	"context"

	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/scan/parquet"
)

// SearchFile looks through a Parquet file whatever a table's schemas and deletes say of it: for
// proofs that a value is nowhere in it. Its pages go through no cache.
func SearchFile(ctx context.Context, f store.File, path string, mem Memory, s parquet.Search) (out parquet.Found, err error) {
	defer func() { err = atFile(err, path) }()
	defer guard(path, &err)
	if mem == nil {
		mem = &limit{left: atomicInt(defaultMemory)}
	}
	ft, err := parquet.ReadFooter(ctx, f, mem)
	if err != nil {
		return out, err
	}
	return parquet.SearchFile(ctx, f, ft, mem, s)
}
