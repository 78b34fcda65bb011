// Package parquet answers: how do the bytes of one Parquet file become vectors?
//
// In: a ranged reader over the file, the wanted SQL type of each column. Out: footers (Footer),
// page and column statistics as datums, and Columns that yield vectors row range by row range.
// It refuses to know Iceberg's tables, deletes and predicates: that is package scan.
//
// Nothing in a file is believed before it is checked against the file's length or charged to
// the query's memory: a stored file may be wrong, and must then give an error, not a crash
// and not an unbounded allocation. Names and numbers follow parquet.thrift.
package parquet

import (
	"context"
	"fmt"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// ReaderAt reads ranges of one immutable file. ReadAt fills p whole or fails.
type ReaderAt interface {
	ReadAt(ctx context.Context, p []byte, off int64) error
	Size() int64
}

// Memory is the account that buffers are charged to before they are made. Reserve fails with
// SQLSTATE 53200 when the query has no more. Safe for concurrent use.
type Memory interface {
	Reserve(bytes int64) error
	Release(bytes int64)
}

// corrupt is the error of a file that contradicts itself or the format.
func corrupt(format string, args ...any) error {
	return sqlerr.New(sqlerr.DataCorrupted, "corrupt Parquet file: %s", fmt.Sprintf(format, args...))
}

// unsupported is the error of a file that may be right but that we cannot read.
func unsupported(format string, args ...any) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported Parquet file: %s", fmt.Sprintf(format, args...))
}
