package store

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Store is an FS over every scheme that properties configure. The clients of object stores are made once
// and shared.
type Store struct {
	// Volatile: what is written to the local disk need not outlive the process. To be set before use.
	Volatile bool
	props    map[string]string
	places   []Place
	mu       sync.Mutex
	s3       FS
}

// Place is what lies below a prefix and is reached by a store of its own.
type Place struct {
	Prefix string // canonical
	Store  *Store
}

// New makes the store of a catalog's properties (s3.endpoint, s3.region, …). What lies below the prefix of
// one of the places, of several that of the most specific one, is reached by the place's store.
func New(props map[string]string, places ...Place) *Store {
	slices.SortStableFunc(places, func(a, b Place) int { return len(b.Prefix) - len(a.Prefix) })
	return &Store{props: props, places: places}
}

func (s *Store) at(ctx context.Context, path string) (FS, error) {
	scheme, _ := SplitScheme(path)
	switch scheme {
	case "", "file":
		return LocalFS{volatile: s.Volatile}, nil
	case "s3", "s3a", "s3n":
		for _, p := range s.places {
			if strings.HasPrefix(Canonical(path), p.Prefix) {
				return p.Store.at(ctx, path)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.s3 == nil {
			f, err := newS3(ctx, s.props)
			if err != nil {
				return nil, err
			}
			s.s3 = f
		}
		return s.s3, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "locations with the scheme %s are not supported", scheme)
}

// Open implements FS.
func (s *Store) Open(ctx context.Context, path string, size int64) (file File, err error) {
	f, err := s.at(ctx, path)
	if err != nil {
		return nil, err
	}
	err = around(ctx, "read", "", path, func() (err error) { file, err = f.Open(ctx, path, size); return err })
	if err == nil && storeSteps(ctx) != nil {
		file = steppedFile{file, path}
	}
	return file, err
}

// Identity implements Identified.
func (s *Store) Identity(ctx context.Context, path string) string {
	f, err := s.at(ctx, path)
	if err != nil {
		return path
	}
	return Identity(ctx, f, path)
}

// ReadAll implements FS.
func (s *Store) ReadAll(ctx context.Context, path string) (b []byte, err error) {
	f, err := s.at(ctx, path)
	if err != nil {
		return nil, err
	}
	err = around(ctx, "read", "", path, func() (err error) { b, err = f.ReadAll(ctx, path); return err })
	return b, err
}

// Create implements FS.
func (s *Store) Create(ctx context.Context, path string, data []byte) error {
	f, err := s.at(ctx, path)
	if err != nil {
		return err
	}
	return around(ctx, "create", "created", path, func() error { return f.Create(ctx, path, data) })
}

// CreateStream implements FS.
func (s *Store) CreateStream(ctx context.Context, path string) (w Writer, err error) {
	f, err := s.at(ctx, path)
	if err != nil {
		return nil, err
	}
	err = around(ctx, "create", "", path, func() (err error) { w, err = f.CreateStream(ctx, path); return err })
	if err == nil && storeSteps(ctx) != nil {
		w = steppedWriter{w, ctx, path}
	}
	return w, err
}

// Remove implements FS.
func (s *Store) Remove(ctx context.Context, path string) error {
	f, err := s.at(ctx, path)
	if err != nil {
		return err
	}
	return around(ctx, "remove", "removed", path, func() error { return f.Remove(ctx, path) })
}

// List implements FS.
func (s *Store) List(ctx context.Context, prefix string, yield func(Object) error) error {
	f, err := s.at(ctx, prefix)
	if err != nil {
		return err
	}
	return around(ctx, "list", "", prefix, func() error { return f.List(ctx, prefix, yield) })
}
