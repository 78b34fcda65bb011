package regex

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
)

// LongText is the length of a text from which on a search in it looks now and then whether anybody
// waits for its result: one call of the regular expressions' library may take a minute.
const LongText = 64 << 10

// findIn is re.FindStringSubmatchIndex(s) that ends, by a panic, when nobody waits for it.
func findIn(c *eval.Ctx, re *regexp.Regexp, s string) []int {
	if len(s) < LongText {
		return re.FindStringSubmatchIndex(s)
	}
	skip, found := beforePrefix(re, s)
	if !found {
		return nil
	}
	return shift(re.FindReaderSubmatchIndex(&runes{c: c, s: s[skip:]}), skip)
}

// Match is re.MatchString(s), likewise.
func Match(c *eval.Ctx, re *regexp.Regexp, s string) bool {
	if len(s) < LongText {
		return re.MatchString(s)
	}
	skip, found := beforePrefix(re, s)
	return found && re.MatchReader(&runes{c: c, s: s[skip:]})
}

// beforePrefix is where a search may begin: at the character before the first place that holds what
// every match begins with. A search in runes does not look for that by itself.
func beforePrefix(re *regexp.Regexp, s string) (at int, found bool) {
	prefix, _ := re.LiteralPrefix()
	if prefix == "" {
		return 0, true
	}
	if at = strings.Index(s, prefix); at < 0 {
		return 0, false
	}
	_, w := utf8.DecodeLastRuneInString(s[:at])
	return at - w, true
}

// runes hands out the characters of a text, as long as anybody waits.
type runes struct {
	c    *eval.Ctx
	s    string
	seen int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.seen++; r.seen&4095 == 0 {
		r.c.MustLive()
	}
	if r.s == "" {
		return 0, 0, io.EOF
	}
	if b := r.s[0]; b < utf8.RuneSelf {
		r.s = r.s[1:]
		return rune(b), 1, nil
	}
	x, w := utf8.DecodeRuneInString(r.s)
	r.s = r.s[w:]
	return x, w, nil
}

// Each calls f with what re.FindAllStringSubmatchIndex finds in s, until f says stop.
func Each(c *eval.Ctx, re *regexp.Regexp, s string, f func(m []int) bool) {
	if len(s) < LongText {
		for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
			if !f(m) {
				return
			}
		}
		return
	}
	at, err := regexp.Compile(`\A(?s:.)(?:` + re.String() + `)`)
	if err != nil { // too large by this much
		at = re
	}
	p := &pattern{re: re, at: at}
	last := -1
	for from, n := 0, 0; from <= len(s); n++ {
		if n&255 == 255 {
			c.MustLive()
		}
		m := p.Find(c, s, from)
		if m == nil {
			return
		}
		// As the library has it, an empty match right behind another does not count.
		if (m[1] > m[0] || m[0] != last) && !f(m) {
			return
		}
		if last = m[1]; m[1] > m[0] {
			from = m[1]
			continue
		}
		_, w := utf8.DecodeRuneInString(s[m[1]:])
		from = m[1] + max(w, 1)
	}
}
