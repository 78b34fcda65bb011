package scan

import (
	"container/list"
	"context"
	"sync"

	"github.com/lhsql/lhsql/scan/parquet"
)

// FooterCache keeps the footers of files read lately. Data files are immutable, so that a
// footer never goes stale: its key is the file's location and size. Safe for concurrent use.
type FooterCache struct {
	mu    sync.Mutex
	max   int64
	used  int64
	byKey map[footerKey]*list.Element
	order list.List // of *footerItem, latest first
}

type footerKey struct {
	path string
	size int64
}

type footerItem struct {
	key    footerKey
	footer *parquet.Footer
}

// SharedFooters is the cache of scans that name none. Who knows how much memory the process may
// have sets its bound.
var SharedFooters = NewFooterCache(128 << 20)

// NewFooterCache makes a cache of about max bytes.
func NewFooterCache(max int64) *FooterCache {
	return &FooterCache{max: max, byKey: map[footerKey]*list.Element{}}
}

// Get reads the footer of f, which lies at path, or remembers it.
func (c *FooterCache) Get(ctx context.Context, path string, f parquet.ReaderAt, mem Memory) (*parquet.Footer, error) {
	key := footerKey{path, f.Size()}
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*footerItem).footer, nil
	}
	c.mu.Unlock()
	ft, err := parquet.ReadFooter(ctx, f, mem)
	if err != nil {
		return nil, err
	}
	c.put(key, ft)
	return ft, nil
}

func (c *FooterCache) put(key footerKey, ft *parquet.Footer) {
	size := ft.Size() + int64(len(key.path))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || size > c.max/4 {
		return
	}
	c.byKey[key] = c.order.PushFront(&footerItem{key, ft})
	c.used += size
	c.evict(c.max)
}

// Resize sets the bound.
func (c *FooterCache) Resize(max int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = max
	c.evict(max)
}

// Trim forgets what was used longest ago until at most bytes are held.
func (c *FooterCache) Trim(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(bytes)
}

// Used gives the bytes held.
func (c *FooterCache) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

func (c *FooterCache) evict(max int64) {
	for c.used > max {
		e := c.order.Back()
		it := c.order.Remove(e).(*footerItem)
		delete(c.byKey, it.key)
		c.used -= it.footer.Size() + int64(len(it.key.path))
	}
}
