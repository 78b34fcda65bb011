package store

import "context"

// Guard is an FS that lets only locations under its prefixes through (V7).
type Guard struct {
	Inner    FS
	Prefixes []string // canonical
}

// Open implements FS.
func (g *Guard) Open(ctx context.Context, path string, size int64) (File, error) {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return nil, err
	}
	return g.Inner.Open(ctx, path, size)
}

// Identity implements Identified. What may not be read has none, so that no cache gives it out.
func (g *Guard) Identity(ctx context.Context, path string) string {
	path = Canonical(path)
	if Allowed(path, g.Prefixes) != nil {
		return ""
	}
	return Identity(ctx, g.Inner, path)
}

// ReadAll implements FS.
func (g *Guard) ReadAll(ctx context.Context, path string) ([]byte, error) {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return nil, err
	}
	return g.Inner.ReadAll(ctx, path)
}

// Create implements FS.
func (g *Guard) Create(ctx context.Context, path string, data []byte) error {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return err
	}
	return g.Inner.Create(ctx, path, data)
}

// CreateStream implements FS.
func (g *Guard) CreateStream(ctx context.Context, path string) (Writer, error) {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return nil, err
	}
	return g.Inner.CreateStream(ctx, path)
}

// Remove implements FS.
func (g *Guard) Remove(ctx context.Context, path string) error {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return err
	}
	return g.Inner.Remove(ctx, path)
}

// List implements FS.
func (g *Guard) List(ctx context.Context, prefix string, yield func(Object) error) error {
	prefix = Canonical(prefix)
	if err := Allowed(prefix, g.Prefixes); err != nil {
		return err
	}
	return g.Inner.List(ctx, prefix, yield)
}
