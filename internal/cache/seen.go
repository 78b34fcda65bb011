package cache

import (
	"hash/maphash"
	"sync/atomic"
)

// Seen remembers, roughly and in a fixed space, what was asked for: a cache that takes in only what
// is asked for again is not emptied by what is read once. Safe for concurrent use.
type Seen[K comparable] struct {
	seed   maphash.Seed
	places []atomic.Uint64 // hashes, each where its value says
}

// NewSeen makes one that remembers about so many keys, of 8 bytes each.
func NewSeen[K comparable](keys int) *Seen[K] {
	return &Seen[K]{seed: maphash.MakeSeed(), places: make([]atomic.Uint64, keys)}
}

// Again tells whether key was asked about before, as far as that is remembered, and remembers it.
func (s *Seen[K]) Again(key K) bool {
	h := maphash.Comparable(s.seed, key) | 1 // an empty place is 0
	return s.places[h/2%uint64(len(s.places))].Swap(h) == h
}
