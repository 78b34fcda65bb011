package regex

import (
	"regexp"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/cache"
)

// pattern is a compiled pattern that finds the match PostgreSQL would: the longest, or, where
// the pattern's first quantifier is non-greedy, the shortest.
type pattern struct {
	re *regexp.Regexp
	// at matches behind one character of context, anchored there.
	at *regexp.Regexp
	// prefers says where the match ends and what its groups hold; nil: it is the longest, without
	// groups.
	prefers *preferences
}

var patterns = cache.Shared[Key, *pattern]("patterns", KeyBytes)

// CompilePattern compiles a PostgreSQL pattern, or finds it compiled. Errors are 2201B.
func CompilePattern(text, flags string) (*pattern, error) {
	key := Key{text, flags}
	if p, ok := patterns.Find(key); ok {
		return p, nil
	}
	if _, err := Compile(text, flags); err != nil {
		return nil, err
	}
	translated, err := translateRegexp(text, flags)
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	if p.prefers, err = readPreferences(text, flags); err != nil {
		return nil, err
	}
	if p.re, err = regexp.Compile(translated); err == nil {
		p.at, err = regexp.Compile(`\A(?s:.)(?:` + translated + `)`)
	}
	if err != nil {
		return nil, errRegexp(plainRegexpError(err))
	}
	size := 2 * Size(translated)
	if p.prefers != nil {
		size += p.prefers.size
	} else {
		p.re.Longest()
		p.at.Longest()
	}
	patterns.Put(key, p, size)
	return p, nil
}

// Find gives the first match at or behind byte from: where it begins, any engine says.
func (p *pattern) Find(c *eval.Ctx, s string, from int) []int {
	m := p.search(c, s, from)
	if m == nil || p.prefers == nil {
		return m
	}
	return p.prefers.match(c, s, m[0])
}

// search finds the first match at or behind byte from, with what stands before it as context for
// ^ and word boundaries. Go's engine has no such call: it searches from the character before
// and passes over matches that begin there.
func (p *pattern) search(c *eval.Ctx, s string, from int) []int {
	if from == 0 {
		return findIn(c, p.re, s)
	}
	for from <= len(s) {
		_, w := utf8.DecodeLastRuneInString(s[:from])
		prev := from - w
		m := findIn(c, p.re, s[prev:])
		if m == nil {
			return nil
		}
		if m[0]+prev >= from {
			return shift(m, prev)
		}
		if m = findIn(c, p.at, s[prev:]); m != nil {
			m = shift(m, prev)
			m[0] = from
			return m
		}
		if from == len(s) {
			return nil
		}
		_, w = utf8.DecodeRuneInString(s[from:])
		from += w
	}
	return nil
}

func shift(m []int, by int) []int {
	for i := range m {
		if m[i] >= 0 {
			m[i] += by
		}
	}
	return m
}

// Each calls f for the matches from byte from on, until it says stop.
func (p *pattern) Each(c *eval.Ctx, s string, from int, f func(m []int) bool) {
	for n := 0; from <= len(s); n++ {
		if n&255 == 255 {
			c.MustLive()
		}
		m := p.Find(c, s, from)
		if m == nil || !f(m) {
			return
		}
		from = m[1]
		if m[0] == m[1] {
			if from == len(s) {
				return
			}
			_, w := utf8.DecodeRuneInString(s[from:])
			from += w
		}
	}
}
