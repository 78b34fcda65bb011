package mysqlfunc

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/regex"
	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"golang.org/x/text/unicode/norm"
)

// LIKE and REGEXP in a collation: LIKE compares character by character, with case and accents
// folded away as the collation says; REGEXP folds case only.
func registerLike() {
	const text, i8 = types.Text, types.Int8
	like := func(fold bool) eval.Kernel {
		return eval.Ask3(func(_ *eval.Ctx, s, p, e string) (bool, error) { return mysqlLike(s, p, e, fold) })
	}
	eval.Register(
		eval.Immutable("mysql:like_ci", eval.Sig(text, text, text), eval.TBool, like(true)),
		eval.Immutable("mysql:like_bin", eval.Sig(text, text, text), eval.TBool, like(false)),
		eval.Immutable("mysql:regexp_like", eval.Sig(text, text, text), eval.TBool, eval.Ask3(func(c *eval.Ctx, s, p, f string) (bool, error) {
			re, err := mysqlRegexp(p, f)
			return err == nil && regex.Match(c, re, s), err
		})),
		eval.Immutable("mysql:regexp_replace", eval.Sig(text, text, text, i8, i8, text), eval.TText, eval.Row(mysqlRegexpReplace)),
		eval.Immutable("mysql:regexp_substr", eval.Sig(text, text, i8, i8, text), eval.TText, eval.Row(mysqlRegexpSubstr)),
		eval.Immutable("mysql:regexp_instr", eval.Sig(text, text, i8, i8, i8, text), eval.TInt4, eval.Row(mysqlRegexpInstr)),
	)
}

// foldRune is what a character counts as without case and accent.
func foldRune(r rune) rune {
	if r < 0x80 {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	d := norm.NFD.String(string(r))
	b, _ := utf8.DecodeRuneInString(d)
	b = unicode.ToLower(unicode.ToUpper(b))
	return b
}

// mysqlLike matches with the escape e (empty: none).
func mysqlLike(s, p, e string, fold bool) (bool, error) {
	esc := rune(-1)
	if e != "" {
		r, n := utf8.DecodeRuneInString(e)
		if n != len(e) {
			return false, sqlerr.New(sqlerr.InvalidEscape, "Incorrect arguments to ESCAPE")
		}
		esc = r
	}
	return likeRunes(s, p, esc, fold), nil
}

func nextRune(s string, fold bool) (rune, int) {
	if s[0] < 0x80 {
		r := rune(s[0])
		if fold && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if fold {
		r = foldRune(r)
	}
	return r, n
}

// likeRunes backtracks to the last % only, which suffices.
func likeRunes(s, p string, esc rune, fold bool) bool {
	starP, starS := "", ""
	star := false
	for {
		if p != "" {
			r, n := nextRune(p, fold)
			raw, _ := utf8.DecodeRuneInString(p)
			switch {
			case raw == esc && n < len(p):
				r, m := nextRune(p[n:], fold)
				if s != "" {
					if c, k := nextRune(s, fold); c == r {
						s, p = s[k:], p[n+m:]
						continue
					}
				}
			case raw == '%':
				star, starP, starS = true, p[n:], s
				p = starP
				continue
			case s == "":
			case raw == '_':
				_, k := utf8.DecodeRuneInString(s)
				s, p = s[k:], p[n:]
				continue
			default:
				if c, k := nextRune(s, fold); c == r {
					s, p = s[k:], p[n:]
					continue
				}
			}
		} else if s == "" {
			return true
		}
		if !star || starS == "" {
			return false
		}
		_, k := utf8.DecodeRuneInString(starS)
		starS = starS[k:]
		s, p = starS, starP
	}
}

// ---- regular expressions ----

var mysqlPatterns = cache.Shared[regex.Key, *regexp.Regexp]("MySQL's regular expressions", regex.KeyBytes)

// mysqlRegexp compiles a pattern. The flags are c (case counts), i, m (lines), n (. matches line
// ends), u (unix lines only).
func mysqlRegexp(p, flags string) (*regexp.Regexp, error) {
	key := regex.Key{Pattern: p, Flags: flags}
	if re, ok := mysqlPatterns.Find(key); ok {
		return re, nil
	}
	var set []byte
	fold := false
	for _, f := range flags {
		switch f {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm':
			set = append(set, 'm')
		case 'n':
			set = append(set, 's')
		case 'u':
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "Incorrect arguments to regexp_like: '%c'", f)
		}
	}
	if fold {
		set = append(set, 'i')
	}
	if len(set) > 0 {
		p = "(?" + string(set) + ")" + p
	}
	// MySQL's older word boundaries.
	p = strings.NewReplacer("[[:<:]]", `\b`, "[[:>:]]", `\b`).Replace(p)
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidRegexp, "Illegal argument to a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	mysqlPatterns.Put(key, re, regex.Size(p))
	return re, nil
}

// nthMatch finds occurrence n of re in s from character from on.
func nthMatch(ctx *eval.Ctx, re *regexp.Regexp, s string, from, n int64) ([]int, error) {
	c := int64(utf8.RuneCountInString(s))
	if from < 1 || from > c+1 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "Index out of bounds in regular expression search.")
	}
	at := charOffset(s, from-1)
	var found []int
	regex.Each(ctx, re, s[at:], func(m []int) bool {
		if n--; n <= 0 {
			found = []int{m[0] + at, m[1] + at}
		}
		return n > 0
	})
	return found, nil
}

func mysqlRegexpSubstr(ctx *eval.Ctx, a []types.Datum) (types.Datum, error) {
	re, err := mysqlRegexp(a[1].Str(), a[4].Str())
	if err != nil {
		return types.Null, err
	}
	m, err := nthMatch(ctx, re, a[0].Str(), a[2].Int(), a[3].Int())
	if err != nil || m == nil {
		return types.Null, err
	}
	return types.NewStr(a[0].Str()[m[0]:m[1]]), nil
}

func mysqlRegexpInstr(ctx *eval.Ctx, a []types.Datum) (types.Datum, error) {
	re, err := mysqlRegexp(a[1].Str(), a[5].Str())
	if err != nil {
		return types.Null, err
	}
	s := a[0].Str()
	if s == "" {
		return types.NewInt(0), nil
	}
	m, err := nthMatch(ctx, re, s, a[2].Int(), a[3].Int())
	if err != nil || m == nil {
		return types.NewInt(0), err
	}
	at := m[0]
	if a[4].Int() == 1 {
		at = m[1]
	}
	return types.NewInt(int64(utf8.RuneCountInString(s[:at])) + 1), nil
}

func mysqlRegexpReplace(ctx *eval.Ctx, a []types.Datum) (types.Datum, error) {
	re, err := mysqlRegexp(a[1].Str(), a[5].Str())
	if err != nil {
		return types.Null, err
	}
	s, by, from, n := a[0].Str(), a[2].Str(), a[3].Int(), a[4].Int()
	c := int64(utf8.RuneCountInString(s))
	if from < 1 || from > c+1 && !(from == 1) {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "Index out of bounds in regular expression search.")
	}
	at := charOffset(s, from-1)
	var b room.Builder
	b.WriteString(s[:at])
	rest, last := s[at:], 0
	i := int64(0)
	regex.Each(ctx, re, rest, func(m []int) bool {
		if i++; n > 0 && i != n {
			return i < n
		}
		b.WriteString(rest[last:m[0]])
		expandICU(&b, by, rest, m)
		last = m[1]
		return b.Len() <= eval.MaxString()
	})
	if b.Len() > eval.MaxString() {
		return types.Null, eval.ErrTooLong()
	}
	b.WriteString(rest[last:])
	return types.NewStr(b.String()), nil
}

// expandICU writes a replacement, in which $1 is a group and a backslash escapes.
func expandICU(b *room.Builder, by, s string, m []int) {
	for i := 0; i < len(by); i++ {
		switch {
		case by[i] == '\\' && i+1 < len(by):
			i++
			b.WriteByte(by[i])
		case by[i] == '$' && i+1 < len(by) && by[i+1] >= '0' && by[i+1] <= '9':
			i++
			if g := int(by[i] - '0'); 2*g+1 < len(m) && m[2*g] >= 0 {
				b.WriteString(s[m[2*g]:m[2*g+1]])
			}
		default:
			b.WriteByte(by[i])
		}
	}
}

// sortBy sorts two slices by the same order, stably.
func sortBy(a, b [][]byte, less func(i, j int) bool) { sort.Stable(&pairSort{a, b, less}) }

type pairSort struct {
	a, b [][]byte
	less func(i, j int) bool
}

func (p *pairSort) Len() int           { return len(p.a) }
func (p *pairSort) Less(i, j int) bool { return p.less(i, j) }
func (p *pairSort) Swap(i, j int) {
	p.a[i], p.a[j] = p.a[j], p.a[i]
	p.b[i], p.b[j] = p.b[j], p.b[i]
}
