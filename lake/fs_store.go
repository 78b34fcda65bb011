package lake

import (
	"context"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Store is an FS over every scheme that a catalog's properties configure. The clients of
// object stores are made once and shared.
type Store struct {
	props map[string]string
	// places are reached by stores of their own, whatever props say; the most specific prefix comes
	// first, and is canonical.
	places []storePlace
	known  *MetadataCache
	local  LocalFS
	mu     sync.Mutex
	s3     FS
}

// storePlace is what lies below a prefix.
type storePlace struct {
	prefix string
	store  *Store
}

// NewStore makes the store of a catalog's properties (s3.endpoint, s3.region, …), with a cache of its
// own.
func NewStore(props map[string]string) *Store {
	return NewStoreWith(NewMetadataCache(ownCache), props)
}

// NewStoreWith is NewStore with a cache that others share.
func NewStoreWith(known *MetadataCache, props map[string]string) *Store {
	return &Store{props: props, known: known}
}

func (s *Store) at(ctx context.Context, path string) (FS, error) {
	scheme, _ := splitScheme(path)
	switch scheme {
	case "", "file":
		return s.local, nil
	case "s3", "s3a", "s3n":
		for _, p := range s.places {
			if strings.HasPrefix(Canonical(path), p.prefix) {
				return p.store.at(ctx, path)
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
	return identity(ctx, f, path)
}

func (s *Store) ReadAll(ctx context.Context, path string) (b []byte, err error) {
	f, err := s.at(ctx, path)
	if err != nil {
		return nil, err
	}
	err = around(ctx, "read", "", path, func() (err error) { b, err = f.ReadAll(ctx, path); return err })
	return b, err
}

func (s *Store) Create(ctx context.Context, path string, data []byte) error {
	f, err := s.at(ctx, path)
	if err != nil {
		return err
	}
	return around(ctx, "create", "created", path, func() error { return f.Create(ctx, path, data) })
}

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

func (s *Store) Remove(ctx context.Context, path string) error {
	f, err := s.at(ctx, path)
	if err != nil {
		return err
	}
	return around(ctx, "remove", "removed", path, func() error { return f.Remove(ctx, path) })
}

func (s *Store) List(ctx context.Context, prefix string, yield func(Object) error) error {
	f, err := s.at(ctx, prefix)
	if err != nil {
		return err
	}
	return around(ctx, "list", "", prefix, func() error { return f.List(ctx, prefix, yield) })
}
