package scan

import (
	"context"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/scan/parquet"
)

// FooterCache keeps the footers of files read lately. Data files are immutable, so that a
// footer never goes stale: its key is what was really opened. Safe for concurrent use.
type FooterCache struct {
	*cache.Cache[string, *parquet.Footer]
}

// NewFooterCache makes a cache of about max bytes.
func NewFooterCache(max int64) *FooterCache {
	return &FooterCache{cache.New[string, *parquet.Footer]("footers", max)}
}

// Get reads the footer of f, or remembers it.
func (c *FooterCache) Get(ctx context.Context, f store.File, mem Memory) (*parquet.Footer, error) {
	key := f.Identity()
	return c.Cache.Get(ctx, key, func() (*parquet.Footer, int64, error) {
		ft, err := parquet.ReadFooter(ctx, f, mem)
		if err != nil {
			return nil, 0, err
		}
		return ft, ft.Size() + int64(len(key)), nil
	})
}
