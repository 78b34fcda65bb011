package parquet

import (
	"bytes"
	"fmt"
	"testing"
)

// A page comes in at its second reading, and the least recently used go first.
func TestPageCacheAdmitsAtTheSecondReading(t *testing.T) {
	const page = 1000
	c := NewPageCache(pageShards * 8 * (page + pageOverhead))
	key := func(i int) pageKey { return pageKey{"f", 1 << 20, int64(i)} }
	data := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, page) }
	if _, admit := c.get(key(1), page); admit {
		t.Fatal("the first reading admits")
	}
	if _, admit := c.get(key(1), page); !admit {
		t.Fatal("the second reading does not admit")
	}
	c.put(key(1), data(1))
	if p, _ := c.get(key(1), page); !bytes.Equal(p, data(1)) {
		t.Fatal("the page is not the one put")
	}
	if p, admit := c.get(key(1), page+1); p != nil || admit {
		t.Fatal("a page of another length is served, or displaces the one that is there")
	}
	if p, _ := c.get(pageKey{"f", 1<<20 + 1, 1}, page); p != nil {
		t.Fatal("a file of another size has the same pages")
	}
	for i := 2; i < 400; i++ {
		c.get(key(i), page)
		if _, admit := c.get(key(i), page); admit {
			c.put(key(i), data(i))
		}
		if p, _ := c.get(key(1), page); !bytes.Equal(p, data(1)) {
			t.Fatal("a page in use was let go")
		}
	}
	if b := c.Stats().Bytes; b > pageShards*8*(page+pageOverhead) || b < pageShards*4*page {
		t.Fatalf("%d bytes are held", b)
	}
	if _, admit := c.get(key(1000), 8*page); admit {
		t.Fatal("a page of more than a quarter of a shard comes in")
	}
	if NewPageCache(0) != nil || (*PageCache)(nil).Stats().Bytes != 0 {
		t.Fatal("no cache is not empty")
	}
}

// Concurrent readers of the same pages see the bytes that belong to each.
func TestPageCacheConcurrently(t *testing.T) {
	c := NewPageCache(1 << 16)
	done := make(chan error, 4)
	for w := range 4 {
		go func() {
			for i := range 5000 {
				k := pageKey{"f", 1, int64((i*7 + w) % 97)}
				p, admit := c.get(k, 100)
				if p != nil && p[0] != byte(k.end) {
					done <- fmt.Errorf("page %d holds %d", k.end, p[0])
					return
				}
				if admit {
					c.put(k, bytes.Repeat([]byte{byte(k.end)}, 100))
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
