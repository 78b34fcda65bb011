// Package cache answers: what was made or read before and may be needed again? It is the one kind
// of cache there is: bounded by bytes, the least recently used goes first, who waits for a value that
// another makes waits for that one, and what a cache holds and how it does can be seen
// (system.caches) and taken back when memory is short.
//
// A cache refuses to know what it holds: whoever puts a value in says its size.
package cache

import (
	"context"
	"slices"
	"sync"
)

// Cache holds values by key, up to a number of bytes. Safe for concurrent use. Values are shared:
// nobody may change one. The zero Cache holds nothing; New makes one that does.
type Cache[K comparable, V any] struct {
	name    string
	mu      sync.Mutex
	max     int64
	used    int64
	byKey   map[K]*item[K, V]
	front   *item[K, V] // most recent; a ring
	loading map[K]*load[V]

	hits, misses, evictions int64
}

type item[K comparable, V any] struct {
	key        K
	value      V
	size       int64
	prev, next *item[K, V]
}

type load[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// overhead is about what an item takes beside its key and value.
const overhead = 96

// New makes a cache of at most max bytes. The name says what it holds.
func New[K comparable, V any](name string, max int64) *Cache[K, V] {
	return &Cache[K, V]{name: name, max: max, byKey: map[K]*item[K, V]{}, loading: map[K]*load[V]{}}
}

// Get gives the value of key, loading it if need be. load gives the value and its size in bytes. An
// error is not kept. A waiter whose ctx ends gives up; one whose loader was cancelled loads by itself.
func (c *Cache[K, V]) Get(ctx context.Context, key K, f func() (V, int64, error)) (V, error) {
	var none V
	for {
		c.mu.Lock()
		if v, ok := c.find(key); ok {
			c.mu.Unlock()
			return v, nil
		}
		l, waiting := c.loading[key]
		if !waiting {
			l = &load[V]{done: make(chan struct{})}
			c.loading[key] = l
			c.misses++
			c.mu.Unlock()
			return c.fill(key, l, f)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return none, ctx.Err()
		case <-l.done:
		}
		if l.err == nil {
			return l.value, nil
		}
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
	}
}

func (c *Cache[K, V]) fill(key K, l *load[V], f func() (V, int64, error)) (V, error) {
	var size int64
	l.err = context.Canceled // if f panics, waiters must not take nothing for a value
	defer func() {
		c.mu.Lock()
		delete(c.loading, key)
		if l.err == nil {
			c.put(key, l.value, size)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.value, size, l.err = f()
	return l.value, l.err
}

// Find gives the value of key, if it is there.
func (c *Cache[K, V]) Find(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.find(key)
	if !ok {
		c.misses++
	}
	return v, ok
}

func (c *Cache[K, V]) find(key K) (v V, ok bool) {
	it := c.byKey[key]
	if it == nil {
		return v, false
	}
	c.hits++
	if it != c.front {
		c.unlink(it)
		c.link(it)
	}
	return it.value, true
}

// Put keeps a value of size bytes under key, instead of what was there. One that is larger than the
// cache is not kept.
func (c *Cache[K, V]) Put(key K, v V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, v, size)
}

func (c *Cache[K, V]) put(key K, v V, size int64) {
	c.drop(key)
	size += overhead
	if size > c.max {
		return
	}
	it := &item[K, V]{key: key, value: v, size: size}
	c.byKey[key] = it
	c.link(it)
	c.used += size
	c.evict(c.max)
}

// Drop forgets the value of key.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

func (c *Cache[K, V]) drop(key K) {
	if it := c.byKey[key]; it != nil {
		c.unlink(it)
		delete(c.byKey, key)
		c.used -= it.size
	}
}

// Resize sets the bound.
func (c *Cache[K, V]) Resize(max int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = max
	c.evict(max)
}

// Trim forgets what was used longest ago until at most bytes are held.
func (c *Cache[K, V]) Trim(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(bytes)
}

// Used gives the bytes held.
func (c *Cache[K, V]) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

func (c *Cache[K, V]) evict(max int64) {
	for c.used > max && c.front != nil {
		c.drop(c.front.prev.key)
		c.evictions++
	}
}

// link puts an item to the front of the ring, unlink takes it out.
func (c *Cache[K, V]) link(it *item[K, V]) {
	if c.front == nil {
		it.prev, it.next = it, it
	} else {
		it.prev, it.next = c.front.prev, c.front
		it.prev.next, it.next.prev = it, it
	}
	c.front = it
}

func (c *Cache[K, V]) unlink(it *item[K, V]) {
	if it.next == it {
		c.front = nil
		return
	}
	it.prev.next, it.next.prev = it.next, it.prev
	if c.front == it {
		c.front = it.next
	}
}

// Stats is what system.caches shows of a cache: what it holds, in bytes, and how it has done.
type Stats struct {
	Name                    string
	Entries, Bytes, Max     int64
	Hits, Misses, Evictions int64
}

// Add adds another's numbers to s: of a cache that is made of several.
func (s *Stats) Add(o Stats) {
	s.Entries += o.Entries
	s.Bytes += o.Bytes
	s.Max += o.Max
	s.Hits += o.Hits
	s.Misses += o.Misses
	s.Evictions += o.Evictions
}

// Stats tells how the cache does.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{c.name, int64(len(c.byKey)), c.used, c.max, c.hits, c.misses, c.evictions}
}

// Bounded is a cache of any kind, as those see it that take memory back.
type Bounded interface {
	Stats() Stats
	Trim(bytes int64)
}

var (
	sharedMu sync.Mutex
	shared   []Bounded
)

// Shared makes a cache of the whole process, for what is the same whoever asks: compiled patterns,
// time zones. It lives as long as the process.
func Shared[K comparable, V any](name string, max int64) *Cache[K, V] {
	c := New[K, V](name, max)
	sharedMu.Lock()
	defer sharedMu.Unlock()
	shared = append(shared, c)
	return c
}

// AllShared lists the process's caches.
func AllShared() []Bounded {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	return slices.Clone(shared)
}
