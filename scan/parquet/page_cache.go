package parquet

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// PageCache keeps decompressed pages of files that are read again and again. Data files are
// immutable, so that a page never goes stale: its key is what was really opened, and where the page
// ends. A page comes in at its second reading, so that a scan of what is never read
// again pushes nothing out. Safe for concurrent use; a nil cache is empty and stays so.
//
// Pages are never reused once they left: a reader may still hold them. Nobody writes to them.
type PageCache struct {
	seed   maphash.Seed
	shards [pageShards]pageShard
}

const (
	pageShards = 16
	// seenOnce is how many pages per shard are remembered as read once.
	seenOnce = 1 << 13
	// pageOverhead is about what a page takes besides its bytes.
	pageOverhead = 256
)

type pageShard struct {
	mu    sync.Mutex
	max   int64
	used  int64
	pages map[pageKey]*list.Element
	order list.List // of *cachedPage, latest first
	seen  []uint64  // hashes of pages read once, by place
}

type pageKey struct {
	file string
	size int64 // of the file
	end  int64 // of the page
}

type cachedPage struct {
	key  pageKey
	data []byte
}

// NewPageCache makes a cache of about max bytes; nil where max is not positive.
func NewPageCache(max int64) *PageCache {
	if max <= 0 {
		return nil
	}
	c := &PageCache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].max = max / pageShards
		c.shards[i].pages = map[pageKey]*list.Element{}
		c.shards[i].seen = make([]uint64, seenOnce)
	}
	return c
}

// Bytes is the memory that the cache holds.
func (c *PageCache) Bytes() int64 {
	if c == nil {
		return 0
	}
	var n int64
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += s.used
		s.mu.Unlock()
	}
	return n
}

// Clear forgets all pages.
func (c *PageCache) Clear() {
	if c == nil {
		return
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.pages)
		s.order.Init()
		s.used = 0
		s.mu.Unlock()
	}
}

// get gives a page of n bytes; nil: it is not here. admit tells that it was read before, so that
// put is welcome.
func (c *PageCache) get(key pageKey, n int) (page []byte, admit bool) {
	h := maphash.Comparable(c.seed, key)
	s := &c.shards[h%pageShards]
	place := &s.seen[h/pageShards%seenOnce]
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.pages[key]; ok {
		if p := e.Value.(*cachedPage); len(p.data) == n {
			s.order.MoveToFront(e)
			return p.data, false
		}
		return nil, false
	}
	admit = *place == h && int64(n)+pageOverhead <= s.max/4
	*place = h
	return nil, admit
}

// put takes a page, which nobody may change from now on, and lets the ones go that were not
// used for the longest time.
func (c *PageCache) put(key pageKey, page []byte) {
	s := &c.shards[maphash.Comparable(c.seed, key)%pageShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.pages[key]; ok {
		return
	}
	s.pages[key] = s.order.PushFront(&cachedPage{key, page})
	s.used += int64(cap(page)) + pageOverhead
	for s.used > s.max {
		e := s.order.Back()
		p := s.order.Remove(e).(*cachedPage)
		delete(s.pages, p.key)
		s.used -= int64(cap(p.data)) + pageOverhead
	}
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
