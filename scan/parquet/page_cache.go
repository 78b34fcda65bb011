package parquet

import (
	"hash/maphash"

	"github.com/lhsql/lhsql/internal/cache"
)

// PageCache keeps decompressed pages of files that are read again and again. Data files are
// immutable, so that a page never goes stale: its key is what was really opened, and where the page
// ends. A page comes in at its second reading, so that a scan of what is never read
// again pushes nothing out. Safe for concurrent use; a nil cache is empty and stays so.
//
// Pages are never reused once they left: a reader may still hold them. Nobody writes to them.
type PageCache struct {
	seed   maphash.Seed
	max    int64 // of one page, with what it takes besides
	shards [pageShards]*cache.Cache[pageKey, []byte]
	seen   *cache.Seen[pageKey]
}

const (
	// Readers of many goroutines ask all the time: they share the lock of a shard only.
	pageShards = 16
	// seenOnce is how many pages are remembered as read once.
	seenOnce = 1 << 17
	// pageOverhead is about what a page takes besides its bytes.
	pageOverhead = 256
)

type pageKey struct {
	file string
	size int64 // of the file
	end  int64 // of the page
}

// NewPageCache makes a cache of about max bytes; nil where max is not positive.
func NewPageCache(max int64) *PageCache {
	if max <= 0 {
		return nil
	}
	c := &PageCache{seed: maphash.MakeSeed(), max: max / pageShards / 4, seen: cache.NewSeen[pageKey](seenOnce)}
	for i := range c.shards {
		c.shards[i] = cache.New[pageKey, []byte]("pages", max/pageShards)
	}
	return c
}

// Stats tells how the cache does; it implements cache.Bounded.
func (c *PageCache) Stats() cache.Stats {
	all := cache.Stats{Name: "pages"}
	if c == nil {
		return all
	}
	for _, s := range c.shards {
		all.Add(s.Stats())
	}
	return all
}

// Trim lets pages go until about so many bytes are held.
func (c *PageCache) Trim(bytes int64) {
	if c == nil {
		return
	}
	for _, s := range c.shards {
		s.Trim(bytes / pageShards)
	}
}

func (c *PageCache) shard(key pageKey) *cache.Cache[pageKey, []byte] {
	return c.shards[maphash.Comparable(c.seed, key)%pageShards]
}

// get gives a page of n bytes; nil: it is not here. admit tells that it was read before, so that
// put is welcome.
func (c *PageCache) get(key pageKey, n int) (page []byte, admit bool) {
	if page, ok := c.shard(key).Find(key); ok {
		if len(page) == n {
			return page, false
		}
		return nil, false
	}
	return nil, c.seen.Again(key) && int64(n)+pageOverhead <= c.max
}

// put takes a page, which nobody may change from now on, and lets the ones go that were not
// used for the longest time.
func (c *PageCache) put(key pageKey, page []byte) {
	c.shard(key).Put(key, page, int64(cap(page))+pageOverhead)
}

// cachedPage gives a page's plain bytes from the cache, or decompresses src into it if it was
// read before; ok false: neither.
func (l *leaf) cachedPage(src []byte, size int) (page []byte, ok bool, err error) {
	c := l.r.Pages
	if c == nil || l.r.File == "" || size == 0 {
		return nil, false, nil
	}
	key := pageKey{l.r.File, l.file.Size(), l.pos}
	page, admit := c.get(key, size)
	if page != nil {
		l.r.Stats.PagesCached.Add(1)
		return page, true, nil
	}
	if !admit {
		return nil, false, nil
	}
	page = make([]byte, size, size+zstdSlack)
	l.r.Stats.Decompressed.Add(int64(size))
	if err := l.r.dec.into(l.chunk.Codec, page, src); err != nil {
		return nil, false, err
	}
	c.put(key, page)
	return page, true, nil
}
