package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// A cache holds no more bytes than it may, and what was used last.
func TestBound(t *testing.T) {
	c := New[int, string]("test", 10*(100+overhead))
	for i := range 100 {
		c.Put(i, fmt.Sprint(i), 100)
		if i%3 == 0 {
			c.Find(0)
		}
		if c.Used() > 10*(100+overhead) {
			t.Fatalf("%d bytes", c.Used())
		}
	}
	if v, ok := c.Find(0); !ok || v != "0" {
		t.Error("what was used again and again is gone")
	}
	if _, ok := c.Find(50); ok {
		t.Error("what was used long ago is there")
	}
	c.Put(99, "again", 100)
	if v, _ := c.Find(99); v != "again" {
		t.Errorf("a value that was put anew is %s", v)
	}
	c.Put(7, "large", 1<<20)
	if _, ok := c.Find(7); ok {
		t.Error("what is larger than the cache is kept")
	}
	c.Trim(0)
	if s := c.Stats(); s.Entries != 0 || s.Bytes != 0 || s.Evictions != 100 {
		t.Errorf("after Trim: %+v", s)
	}
	c.Put(1, "one", 1)
	c.Drop(1)
	if _, ok := c.Find(1); ok || c.Used() != 0 {
		t.Error("what was dropped is there")
	}
}

// Those who want one value at once wait for one load; an error is not kept, nor a panic taken for a
// value.
func TestOneLoad(t *testing.T) {
	c := New[string, int]("test", 1<<20)
	begun, end := make(chan bool), make(chan bool)
	loads := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		c.Get(context.Background(), "k", func() (int, int64, error) {
			loads++
			close(begun)
			<-end
			return 7, 1, nil
		})
	})
	<-begun
	for range 5 {
		wg.Go(func() {
			if v, err := c.Get(context.Background(), "k", func() (int, int64, error) { panic("a second load") }); v != 7 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Get(gone, "k", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a waiter that is gone: %v", err)
	}
	close(end)
	wg.Wait()
	if loads != 1 {
		t.Errorf("%d loads", loads)
	}
	bad := errors.New("bad")
	if _, err := c.Get(context.Background(), "e", func() (int, int64, error) { return 0, 0, bad }); err != bad {
		t.Error(err)
	}
	func() {
		defer func() { recover() }()
		c.Get(context.Background(), "e", func() (int, int64, error) { panic("load") })
	}()
	if v, err := c.Get(context.Background(), "e", func() (int, int64, error) { return 1, 1, nil }); v != 1 || err != nil {
		t.Errorf("after an error and a panic: %d, %v", v, err)
	}
}

// What comes a second time was seen, unless much came between.
func TestSeen(t *testing.T) {
	s := NewSeen[int](1 << 10)
	known := 0
	for i := range 100 {
		if s.Again(i) {
			t.Errorf("%d was not there before", i)
		}
		if s.Again(i) {
			known++
		}
	}
	if known != 100 {
		t.Errorf("of 100 keys that came twice, %d are known", known)
	}
}
