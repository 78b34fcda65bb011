package lake

import (
	"hash/maphash"

	"github.com/lhsql/lhsql/internal/room"
)

// locSet is a set of canonical locations by a hash of 128 bits, sixteen bytes and a little each: a walk of a
// million files fits in 32 MB. Two locations of one hash, which nobody will see and nobody can provoke
// since the seeds are the process's own, would make a file be kept.
type locSet struct {
	slots []locHash // open addressing; the zero hash is a free slot
	n     int       // taken
	gone  int       // taken by a mark of what was removed
}

type locHash struct{ a, b uint64 }

var (
	locSeedA, locSeedB = maphash.MakeSeed(), maphash.MakeSeed()
	locRemoved         = locHash{1, 0}
)

func hashLoc(loc string) locHash {
	h := locHash{maphash.String(locSeedA, loc), maphash.String(locSeedB, loc)}
	if h.b == 0 {
		h.b = 1 // no hash is free or removed
	}
	return h
}

func newLocSet() *locSet { return &locSet{slots: make([]locHash, 64)} }

func (s *locSet) len() int { return s.n }

// find gives the slot that holds h, or the one where it would go.
func (s *locSet) find(h locHash) (int, bool) {
	mask := len(s.slots) - 1
	free := -1
	for i := int(h.a) & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return i, true
		case locHash{}:
			if free >= 0 {
				return free, false
			}
			return i, false
		case locRemoved:
			if free < 0 {
				free = i
			}
		}
	}
}

// has tells whether a location is in the set; nothing is in a nil one.
func (s *locSet) has(loc string) bool {
	if s == nil {
		return false
	}
	_, ok := s.find(hashLoc(loc))
	return ok
}

// add puts a location in and tells whether it was not there yet. There may be no memory for it.
func (s *locSet) add(loc string) (bool, error) {
	if (s.n+s.gone)*4 >= len(s.slots)*3 {
		if err := s.grow(); err != nil {
			return false, err
		}
	}
	h := hashLoc(loc)
	i, ok := s.find(h)
	if ok {
		return false, nil
	}
	if s.slots[i] == locRemoved {
		s.gone--
	}
	s.slots[i] = h
	s.n++
	return true, nil
}

func (s *locSet) grow() error {
	size := len(s.slots)
	if s.n*2 >= size {
		size *= 2
	}
	if err := room.Take(16 * size); err != nil {
		return err
	}
	old := s.slots
	s.slots, s.gone = make([]locHash, size), 0
	for _, h := range old {
		if h != (locHash{}) && h != locRemoved {
			i, _ := s.find(h)
			s.slots[i] = h
		}
	}
	return nil
}

// remove takes a location out and tells whether it was there.
func (s *locSet) remove(loc string) bool {
	i, ok := s.find(hashLoc(loc))
	if ok {
		s.slots[i] = locRemoved
		s.n--
		s.gone++
	}
	return ok
}
