package lake

import (
	"container/list"
	"context"
	"sync"
)

// Cache holds what was read from immutable files, keyed by location, bounded by bytes: the
// least recently used goes first. Safe for concurrent use; two readers of one key load once.
type Cache struct {
	mu      sync.Mutex
	max     int64
	used    int64
	byKey   map[string]*list.Element
	order   *list.List // front: most recent
	loading map[string]*loading
}

type cacheItem struct {
	key   string
	value any
	size  int64
}

type loading struct {
	done  chan struct{}
	value any
	err   error
}

// NewCache makes a cache of at most max bytes.
func NewCache(max int64) *Cache {
	return &Cache{max: max, byKey: map[string]*list.Element{}, order: list.New(), loading: map[string]*loading{}}
}

// SharedCache is the process's cache of metadata and manifests. Who knows how much memory the
// process may have sets its bound.
var SharedCache = NewCache(256 << 20)

// Resize sets the bound.
func (c *Cache) Resize(max int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = max
	c.evict(max)
}

// Trim forgets what was used longest ago until at most bytes are held.
func (c *Cache) Trim(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(bytes)
}

// Used gives the bytes held.
func (c *Cache) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Get returns the value of key, loading it if need be. load gives the value and its size in
// bytes. An error is not kept. A waiter whose ctx ends gives up; one whose loader was
// cancelled loads by itself.
func (c *Cache) Get(ctx context.Context, key string, load func() (any, int64, error)) (any, error) {
	for {
		c.mu.Lock()
		if e, ok := c.byKey[key]; ok {
			c.order.MoveToFront(e)
			v := e.Value.(*cacheItem).value
			c.mu.Unlock()
			return v, nil
		}
		l, waiting := c.loading[key]
		if !waiting {
			l = &loading{done: make(chan struct{})}
			c.loading[key] = l
			c.mu.Unlock()
			return c.fill(key, l, load)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.done:
		}
		if l.err == nil {
			return l.value, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (c *Cache) fill(key string, l *loading, load func() (any, int64, error)) (any, error) {
	var size int64
	l.err = context.Canceled // if load panics, waiters must not take nil for a value
	defer func() {
		c.mu.Lock()
		delete(c.loading, key)
		if l.err == nil && size <= c.max {
			c.byKey[key] = c.order.PushFront(&cacheItem{key, l.value, size})
			c.used += size
			c.evict(c.max)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.value, size, l.err = load()
	return l.value, l.err
}

func (c *Cache) evict(max int64) {
	for c.used > max && c.order.Len() > 0 {
		e := c.order.Back()
		it := c.order.Remove(e).(*cacheItem)
		delete(c.byKey, it.key)
		c.used -= it.size
	}
}
