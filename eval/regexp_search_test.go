package eval

import (
	"context"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// A search in a long text finds what one in the text at once does.
func TestLongTextsAreSearchedAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 7))
	words := []string{"ab", "aab", "ä", "b", "\n", "x y ", "\xff", "abc"}
	patterns := []string{`abc`, `^ab`, `(a)(b)?c`, `\bx`, `(?m)^x y`, `[^a]b$`, `(?i)ABC`, `nowhere`, `a(ä|b)+x`, `\xff?ä`, `.`, ``, `abcabc`}
	for range 20 {
		var b strings.Builder
		for b.Len() < longText+1000 {
			b.WriteString(words[rng.IntN(len(words))])
		}
		for _, p := range patterns {
			for _, longest := range []bool{false, true} {
				re := regexp.MustCompile(p)
				if longest {
					re.Longest()
				}
				for _, s := range []string{b.String(), strings.Repeat("q", longText) + "abc ab", strings.Repeat("q", longText)} {
					if got, want := findIn(nil, re, s), re.FindStringSubmatchIndex(s); !reflect.DeepEqual(got, want) {
						t.Errorf("%q: %v, want %v", p, got, want)
					}
					var all [][]int
					eachIn(nil, re, s, func(m []int) bool { all = append(all, m); return len(all) < 100 })
					if want := re.FindAllStringSubmatchIndex(s, 100); !longest && !reflect.DeepEqual(all, want) {
						t.Errorf("%q: all are %v, want %v", p, all, want)
					}
					if got, want := matchIn(nil, re, s), re.MatchString(s); got != want {
						t.Errorf("%q: %v, want %v", p, got, want)
					}
				}
			}
		}
	}
}

// stopsIn runs f under a context that is cancelled after its first look, and tells whether f ended
// with the statement's end rather than a value.
func stopsIn(t *testing.T, what string, f func(c *Ctx) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(sqlerr.New(sqlerr.QueryCanceled, "cancelled by the test"))
	c := *testCtx()
	c.Context = ctx
	began := time.Now()
	var err error
	func() {
		defer func() {
			if e, ok := recover().(*sqlerr.Error); ok {
				err = e
			}
		}()
		err = f(&c)
	}()
	if sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
		t.Errorf("%s: %v after %v", what, err, time.Since(began))
	}
}

// Kernels that take long on one value look whether anybody waits for it.
func TestLongKernelsStop(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	pattern, err := compilePattern("(a*)*b", "")
	if err != nil {
		t.Fatal(err)
	}
	stopsIn(t, "find", func(c *Ctx) error { pattern.find(c, long, 0); return nil })
	stopsIn(t, "match", func(c *Ctx) error { matchIn(c, pattern.re, long); return nil })
	short, err := compilePattern("a", "")
	if err != nil {
		t.Fatal(err)
	}
	stopsIn(t, "array @>", func(c *Ctx) error {
		list := make([]types.Datum, 10000)
		contains(c, list, list, tInt4, tInt8)
		amongst(c, list, 1, tInt4, tInt8)(types.NewInt(1))
		for range 64 {
			amongst(c, list, 100, tInt4, tInt4)(types.NewInt(1))
		}
		return nil
	})
	stopsIn(t, "ln", func(c *Ctx) error {
		d, err := types.ParseDecimal("0." + strings.Repeat("3", 5000))
		if err != nil {
			return err
		}
		_, err = d.LnUntil(c.MustLive)
		return err
	})
	stopsIn(t, "jsonb", func(c *Ctx) error {
		_, err := types.CanonicalJSON("["+strings.Repeat("1,", 5000)+"1]", c.MustLive)
		return err
	})
	stopsIn(t, "array text", func(c *Ctx) error {
		_, err := types.Parse("{"+strings.Repeat("1,", 5000)+"1}", types.ArrayOf(tInt4), sessionText(c))
		return err
	})
	stopsIn(t, "path", func(c *Ctx) error {
		_, _, err := runPath(c, []types.Datum{types.NewStr("[" + strings.Repeat("1,", 500) + "1]"), types.NewStr("$ ? (@[*] == $[*] + 7)"), types.Null, types.Null})
		return err
	})
	stopsIn(t, "each", func(c *Ctx) error { short.each(c, long, 0, func([]int) bool { return true }); return nil })
	stopsIn(t, "replace", func(c *Ctx) error { _, err := replace(c, long, "a", "bc"); return err })
	stopsIn(t, "upper", func(c *Ctx) error { _, err := inPieces(strings.ToUpper)(c, long+"a"); return err })
	stopsIn(t, "reverse", func(c *Ctx) error { _, err := reverse(c, long); return err })
	stopsIn(t, "md5", func(c *Ctx) error { _, err := md5Hex(c, []byte(long)); return err })
	stopsIn(t, "string_to_array", func(c *Ctx) error {
		_, err := stringToArray(c, []types.Datum{types.NewStr(long), types.NewStr("a")})
		return err
	})
	// Also when it is a constant, which is computed while the statement is planned.
	stopsIn(t, "a constant", func(c *Ctx) error {
		text := &plan.Const{Value: types.NewStr(long), Typ: tText}
		r, err := ResolveFunction("reverse", []types.Type{tText}, false)
		if err != nil {
			return err
		}
		_, err = EvalConst(c, callResolved(r, []plan.Expr{text}))
		return err
	})
}

// What takes longer than compiling may is left to who evaluates it: compiling does not fail for it.
func TestFoldingEndsQuietly(t *testing.T) {
	text := &plan.Const{Value: types.NewStr(strings.Repeat("a", 3_000_000)), Typ: tText}
	flags := &plan.Const{Value: types.NewStr(""), Typ: tText}
	r, err := ResolveFunction("regexp_split_to_array", []types.Type{tText, tText}, false)
	if err != nil {
		t.Fatal(err)
	}
	past := &briefly{Context: context.Background(), asked: time.Now().Add(-time.Hour)}
	e := callResolved(r, []plan.Expr{text, flags, flags}[:len(r.Args)])
	if d, ok := (folder{ctx: &Ctx{Context: past}, upTo: plan.Immutable}).compute(e); ok {
		t.Errorf("folded to %d elements", len(d.List()))
	}
}
