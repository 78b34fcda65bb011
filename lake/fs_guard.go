package lake

import "context"

// guardFS lets only locations under its prefixes through (V7).
type guardFS struct {
	inner    FS
	prefixes []string
}

func (g *guardFS) Open(ctx context.Context, path string, size int64) (File, error) {
	path = Canonical(path)
	if err := allowed(path, g.prefixes); err != nil {
		return nil, err
	}
	return g.inner.Open(ctx, path, size)
}

// Identity implements Identified. What may not be read has none, so that no cache gives it out.
func (g *guardFS) Identity(ctx context.Context, path string) string {
	path = Canonical(path)
	if allowed(path, g.prefixes) != nil {
		return ""
	}
	return identity(ctx, g.inner, path)
}

func (g *guardFS) ReadAll(ctx context.Context, path string) ([]byte, error) {
	path = Canonical(path)
	if err := allowed(path, g.prefixes); err != nil {
		return nil, err
	}
	return g.inner.ReadAll(ctx, path)
}

func (g *guardFS) Create(ctx context.Context, path string, data []byte) error {
	path = Canonical(path)
	if err := allowed(path, g.prefixes); err != nil {
		return err
	}
	return g.inner.Create(ctx, path, data)
}

func (g *guardFS) CreateStream(ctx context.Context, path string) (Writer, error) {
	path = Canonical(path)
	if err := allowed(path, g.prefixes); err != nil {
		return nil, err
	}
	return g.inner.CreateStream(ctx, path)
}

func (g *guardFS) Remove(ctx context.Context, path string) error {
	path = Canonical(path)
	if err := allowed(path, g.prefixes); err != nil {
		return err
	}
	return g.inner.Remove(ctx, path)
}

func (g *guardFS) List(ctx context.Context, prefix string, yield func(Object) error) error {
	prefix = Canonical(prefix)
	if err := allowed(prefix, g.prefixes); err != nil {
		return err
	}
	return g.inner.List(ctx, prefix, yield)
}
