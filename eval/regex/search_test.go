package regex

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/evaltest"
)

// A search in a long text finds what one in the text at once does.
func TestLongTextsAreSearchedAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 7))
	words := []string{"ab", "aab", "ä", "b", "\n", "x y ", "\xff", "abc"}
	patterns := []string{`abc`, `^ab`, `(a)(b)?c`, `\bx`, `(?m)^x y`, `[^a]b$`, `(?i)ABC`, `nowhere`, `a(ä|b)+x`, `\xff?ä`, `.`, ``, `abcabc`}
	for range 20 {
		var b strings.Builder
		for b.Len() < LongText+1000 {
			b.WriteString(words[rng.IntN(len(words))])
		}
		for _, p := range patterns {
			for _, longest := range []bool{false, true} {
				re := regexp.MustCompile(p)
				if longest {
					re.Longest()
				}
				for _, s := range []string{b.String(), strings.Repeat("q", LongText) + "abc ab", strings.Repeat("q", LongText)} {
					if got, want := findIn(nil, re, s), re.FindStringSubmatchIndex(s); !reflect.DeepEqual(got, want) {
						t.Errorf("%q: %v, want %v", p, got, want)
					}
					var all [][]int
					Each(nil, re, s, func(m []int) bool { all = append(all, m); return len(all) < 100 })
					if want := re.FindAllStringSubmatchIndex(s, 100); !longest && !reflect.DeepEqual(all, want) {
						t.Errorf("%q: all are %v, want %v", p, all, want)
					}
					if got, want := Match(nil, re, s), re.MatchString(s); got != want {
						t.Errorf("%q: %v, want %v", p, got, want)
					}
				}
			}
		}
	}
}

// Searches that take long look whether anybody waits for them.
func TestLongSearchesStop(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	pattern, err := CompilePattern("(a*)*b", "")
	if err != nil {
		t.Fatal(err)
	}
	evaltest.Stops(t, "find", func(c *eval.Ctx) error { pattern.Find(c, long, 0); return nil })
	evaltest.Stops(t, "match", func(c *eval.Ctx) error { Match(c, pattern.re, long); return nil })
	short, err := CompilePattern("a", "")
	if err != nil {
		t.Fatal(err)
	}
	evaltest.Stops(t, "each", func(c *eval.Ctx) error { short.Each(c, long, 0, func([]int) bool { return true }); return nil })
}
