// Package store reads and writes objects, on a disk or in an object store.
//
// In: locations and the properties that say how they are reached. Out: bytes, whole or in ranges, and listings. It
// refuses to know what the bytes are, tables among them.
package store

import (
	"context"
	"time"
)

// FS reads and writes objects by absolute location ("/path", "file:///path", "s3://bucket/key").
// Every call takes a context and honours its end. Safe for concurrent use. A missing object is
// an error for which errors.Is(err, fs.ErrNotExist) holds.
type FS interface {
	// Open opens an object for ranged reads. size < 0 when unknown.
	Open(ctx context.Context, path string, size int64) (File, error)
	// ReadAll reads a whole small object (metadata, manifest list).
	ReadAll(ctx context.Context, path string) ([]byte, error)
	// Create writes an object durably: it appears whole or not at all, and never replaces an
	// existing one (fs.ErrExist).
	Create(ctx context.Context, path string, data []byte) error
	// CreateStream is Create for large objects; Commit publishes, Abort leaves no trace.
	CreateStream(ctx context.Context, path string) (Writer, error)
	Remove(ctx context.Context, path string) error
	// List calls yield for each object in the folder prefix and below, in no order.
	List(ctx context.Context, prefix string, yield func(Object) error) error
}

// Object is what a listing tells of an object.
type Object struct {
	Path     string // canonical
	Size     int64  // bytes
	Modified time.Time
	// Partial says that the object is not whole and never was: a writer is at it, or died at it.
	// Nothing but a listing sees it.
	Partial bool
}

// Identified is an FS that tells what lies at a path without opening it.
type Identified interface {
	// Identity is as File's; "" where nothing is there. Of an object store it is the store and the
	// location: objects that the table format knows are never replaced.
	Identity(ctx context.Context, path string) string
}

// Identity names what lies at loc in a store, for the key of a cache.
func Identity(ctx context.Context, store FS, loc string) string {
	if s, ok := store.(Identified); ok {
		return s.Identity(ctx, loc)
	}
	return loc
}

// File is an open object. ReadAt fills p whole or fails: a short read is an error (R4).
type File interface {
	ReadAt(ctx context.Context, p []byte, off int64) error
	Size() int64
	// Identity names what was opened, for caches: as far as the store can tell, no other object at
	// the same path, before or after, has the same.
	Identity() string
	Close() error
}

// Writer streams an object's bytes.
type Writer interface {
	Write(p []byte) (int, error)
	Commit(ctx context.Context) error
	Abort()
}
