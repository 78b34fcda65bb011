package exec

import "slices"

// radixRows is from how many rows on sorting by digits beats comparing.
const radixRows = 1024

// sort orders the entries by key, equal ones by arrival. Many are sorted by the bytes of their
// prefixes that differ at all, the last byte first; then rows whose whole prefixes are equal are
// compared by the rest of their keys.
func (s *sorter) sort() {
	if len(s.entries) < radixRows {
		s.compareSort(s.entries)
		return
	}
	s.entries = radixSort(s.entries)
	if s.short {
		return
	}
	for from := 0; from < len(s.entries); {
		to := from + 1
		for to < len(s.entries) && s.entries[to].hi == s.entries[from].hi && s.entries[to].lo == s.entries[from].lo {
			to++
		}
		if to-from > 1 {
			s.compareSort(s.entries[from:to])
		}
		from = to
	}
}

func (s *sorter) compareSort(e []sortEntry) {
	slices.SortFunc(e, func(a, b sortEntry) int {
		if c := compareEntries(s, a, s, b); c != 0 {
			return c
		}
		return int(int64(a.seq) - int64(b.seq))
	})
}

// radixSort orders entries by hi and lo, stable, and gives them in either slice that it used.
// Entries come in order of arrival, or sorted before, where equal ones are in that order too.
func radixSort(e []sortEntry) []sortEntry {
	var hi, lo uint64
	for i := range e {
		hi |= e[i].hi ^ e[0].hi
		lo |= e[i].lo ^ e[0].lo
	}
	var other []sortEntry
	for digit := range 16 {
		word, shift := lo, uint(digit*8)
		if digit >= 8 {
			word, shift = hi, uint(digit*8-64)
		}
		if word>>shift&0xFF == 0 {
			continue
		}
		if other == nil {
			other = make([]sortEntry, len(e))
		}
		if digit >= 8 {
			radixPassHi(other, e, shift)
		} else {
			radixPassLo(other, e, shift)
		}
		e, other = other, e
	}
	return e
}

// radixPassHi and radixPassLo move the entries to where their digit puts them.
func radixPassHi(dst, src []sortEntry, shift uint) {
	var at [256]int
	for i := range src {
		at[byte(src[i].hi>>shift)]++
	}
	startDigits(&at)
	for i := range src {
		d := byte(src[i].hi >> shift)
		dst[at[d]] = src[i]
		at[d]++
	}
}

func radixPassLo(dst, src []sortEntry, shift uint) {
	var at [256]int
	for i := range src {
		at[byte(src[i].lo>>shift)]++
	}
	startDigits(&at)
	for i := range src {
		d := byte(src[i].lo >> shift)
		dst[at[d]] = src[i]
		at[d]++
	}
}

// startDigits turns counts into starting places.
func startDigits(at *[256]int) {
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
}
