package pgfunc

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/regex"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// The functions on regular expressions, PostgreSQL's chapter 9.7. For a true-or-false match
// (the operators ~ and its kin) any match will do; here it matters which one.
func registerRegexp() {
	const text, i4 = types.Text, types.Int4
	registerPrefixes("regexp_match", 2, eval.Sig(text, text, text), eval.TTextArray, eval.Row(regexpMatch))
	registerPrefixes("regexp_matches", 2, eval.Sig(text, text, text), eval.TTextArray, eval.SetKernel(regexpMatches))
	registerPrefixes("regexp_replace", 3, eval.Sig(text, text, text, text), eval.TText, eval.Row(regexpReplace))
	registerPrefixes("regexp_replace", 4, eval.Sig(text, text, text, i4, i4, text), eval.TText, eval.Row(regexpReplaceNth))
	registerPrefixes("regexp_split_to_array", 2, eval.Sig(text, text, text), eval.TTextArray, eval.Row(regexpSplitToArray))
	registerPrefixes("regexp_split_to_table", 2, eval.Sig(text, text, text), eval.TText, eval.SetKernel(regexpSplitToTable))
	registerPrefixes("regexp_like", 2, eval.Sig(text, text, text), eval.TBool, eval.Row(regexpLike))
	registerPrefixes("regexp_count", 2, eval.Sig(text, text, i4, text), eval.TInt4, eval.Row(regexpCountOf))
	registerPrefixes("regexp_instr", 2, eval.Sig(text, text, i4, i4, i4, text, i4), eval.TInt4, eval.Row(regexpInstr))
	registerPrefixes("regexp_substr", 2, eval.Sig(text, text, i4, i4, text, i4), eval.TText, eval.Row(regexpSubstr))
	eval.Register(
		eval.Immutable("substring", eval.Sig(text, text), eval.TText, eval.Row(substringRegexp)),
		eval.Immutable("substring", eval.Sig(text, text, text), eval.TText, eval.Row(substringSimilar)),
		eval.Immutable("similar_to_escape", eval.Sig(text, text), eval.TText, eval.Try2(func(p, e string) (string, error) { return similarToRegexp(p, e) })),
		eval.Immutable("similar_to_escape", eval.Sig(text), eval.TText, eval.Try1(func(p string) (string, error) { return similarToRegexp(p, `\`) })),
	)
}

// splitFlags takes g out of flags.
func splitFlags(flags string) (rest string, global bool) {
	return strings.ReplaceAll(flags, "g", ""), strings.Contains(flags, "g")
}

func noGlobal(fn, flags string) error {
	if strings.Contains(flags, "g") {
		e := sqlerr.New(sqlerr.InvalidParameterValue, "%s() does not support the \"global\" option", fn)
		if fn == "regexp_match" {
			e = e.WithHint("Use the regexp_matches function instead.")
		}
		return e
	}
	return nil
}

// groups are a match's parenthesised parts, or the whole match when there are none.
func groups(s string, m []int) types.Datum {
	if len(m) == 2 {
		return types.NewList([]types.Datum{types.NewStr(s[m[0]:m[1]])})
	}
	list := make([]types.Datum, len(m)/2-1)
	for i := range list {
		if lo, hi := m[2*i+2], m[2*i+3]; lo >= 0 {
			list[i] = types.NewStr(s[lo:hi])
		}
	}
	return types.NewList(list)
}

func regexpMatch(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if err := noGlobal("regexp_match", a[2].Str()); err != nil {
		return types.Null, err
	}
	p, err := regex.CompilePattern(a[1].Str(), a[2].Str())
	if err != nil {
		return types.Null, err
	}
	s := a[0].Str()
	if m := p.Find(c, s, 0); m != nil {
		return groups(s, m), nil
	}
	return types.Null, nil
}

func regexpMatches(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	flags, global := splitFlags(a[2].Str())
	p, err := regex.CompilePattern(a[1].Str(), flags)
	if err != nil {
		return err
	}
	s := a[0].Str()
	p.Each(c, s, 0, func(m []int) bool {
		err = yield(groups(s, m))
		return err == nil && global
	})
	return err
}

func regexpReplace(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	flags := a[3].Str()
	if flags != "" && flags[0] >= '0' && flags[0] <= '9' {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", flags[0]).
			WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
	}
	flags, global := splitFlags(flags)
	n := 1
	if global {
		n = 0
	}
	return replaceMatches(c, a[0].Str(), a[1].Str(), a[2].Str(), flags, 0, n)
}

// charStart turns a start parameter, counted in characters from 1, into a byte offset.
func charStart(s string, d types.Datum) (int, bool, error) {
	if d.IsNull() {
		return 0, true, nil
	}
	if d.Int() < 1 {
		return 0, false, errParameter("start", d.Int())
	}
	at := runeOffset(s, d.Int()-1)
	return at, int64(utf8.RuneCountInString(s[:at])) == d.Int()-1, nil
}

func errParameter(name string, v int64) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, v)
}

func regexpReplaceNth(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	s := a[0].Str()
	from, inside, err := charStart(s, a[3])
	if err != nil {
		return types.Null, err
	}
	flags, global := splitFlags(a[5].Str())
	n := 1
	switch {
	case !a[4].IsNull():
		// A given N overrides the flag g.
		if n = int(a[4].Int()); n < 0 {
			return types.Null, errParameter("n", a[4].Int())
		}
	case global:
		n = 0
	}
	if !inside {
		return types.NewStr(s), nil
	}
	return replaceMatches(c, s, a[1].Str(), a[2].Str(), flags, from, n)
}

// replaceMatches replaces the n-th match, or all when n is 0.
func replaceMatches(c *eval.Ctx, s, pat, by, flags string, from, n int) (types.Datum, error) {
	p, err := regex.CompilePattern(pat, flags)
	if err != nil {
		return types.Null, err
	}
	var b room.Builder
	done, count := 0, 0
	p.Each(c, s, from, func(m []int) bool {
		count++
		if n > 0 && count < n {
			return true
		}
		b.WriteString(s[done:m[0]])
		expand(&b, by, s, m)
		done = m[1]
		return n == 0 && b.Len() <= eval.MaxString()
	})
	if b.Len()+len(s)-done > eval.MaxString() {
		return types.Null, eval.ErrTooLong()
	}
	if done == 0 && b.Len() == 0 && count == 0 {
		return types.NewStr(s), nil
	}
	b.WriteString(s[done:])
	return types.NewStr(b.String()), nil
}

// expand writes a replacement: \1 … \9 are groups, \& the match, \\ a backslash.
func expand(b *room.Builder, by, s string, m []int) {
	for i := 0; i < len(by); i++ {
		if by[i] != '\\' || i+1 == len(by) {
			b.WriteByte(by[i])
			continue
		}
		i++
		switch c := by[i]; {
		case c == '&':
			b.WriteString(s[m[0]:m[1]])
		case c >= '1' && c <= '9':
			if k := 2 * int(c-'0'); k < len(m) && m[k] >= 0 {
				b.WriteString(s[m[k]:m[k+1]])
			}
		case c == '\\':
			b.WriteByte('\\')
		default:
			// An unknown escape stays as it is.
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
}

// splitAt cuts s at the matches; those of no length at its ends or right behind another do
// not count.
func splitAt(c *eval.Ctx, fn, s, pat, flags string, yield func(part string) error) error {
	if err := noGlobal(fn, flags); err != nil {
		return err
	}
	p, err := regex.CompilePattern(pat, flags)
	if err != nil {
		return err
	}
	done, last := 0, 0
	p.Each(c, s, 0, func(m []int) bool {
		if m[0] < len(s) && m[1] > last {
			err = yield(s[done:m[0]])
			done = m[1]
		}
		last = m[1]
		return err == nil
	})
	if err != nil {
		return err
	}
	return yield(s[done:])
}

func regexpSplitToArray(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	var list []types.Datum
	err := splitAt(c, "regexp_split_to_array", a[0].Str(), a[1].Str(), a[2].Str(), func(part string) error {
		list = room.Append(list, types.NewStr(part))
		return checkList(len(list))
	})
	return types.NewList(list), err
}

func regexpSplitToTable(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
	return splitAt(c, "regexp_split_to_table", a[0].Str(), a[1].Str(), a[2].Str(), func(part string) error {
		return yield(types.NewStr(part))
	})
}

func regexpLike(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if err := noGlobal("regexp_like", a[2].Str()); err != nil {
		return types.Null, err
	}
	re, err := regex.Compile(a[1].Str(), a[2].Str())
	if err != nil {
		return types.Null, err
	}
	return types.NewBool(regex.Match(c, re, a[0].Str())), nil
}

func regexpCountOf(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	s := a[0].Str()
	from, inside, err := charStart(s, a[2])
	if err == nil {
		err = noGlobal("regexp_count", a[3].Str())
	}
	if err != nil {
		return types.Null, err
	}
	p, err := regex.CompilePattern(a[1].Str(), a[3].Str())
	if err != nil || !inside {
		return types.NewInt(0), err
	}
	n := int64(0)
	p.Each(c, s, from, func([]int) bool { n++; return true })
	return types.NewInt(n), nil
}

// nth finds the n-th match from a start parameter on.
func nth(c *eval.Ctx, fn, s, pat string, start, n types.Datum, flags string) ([]int, error) {
	from, inside, err := charStart(s, start)
	if err != nil {
		return nil, err
	}
	want := int64(1)
	if !n.IsNull() {
		if want = n.Int(); want < 1 {
			return nil, errParameter("n", want)
		}
	}
	if err := noGlobal(fn, flags); err != nil {
		return nil, err
	}
	p, err := regex.CompilePattern(pat, flags)
	if err != nil || !inside {
		return nil, err
	}
	var found []int
	p.Each(c, s, from, func(m []int) bool {
		if want--; want == 0 {
			found = m
		}
		return want > 0
	})
	return found, nil
}

// part narrows a match to a parenthesised part; 0 is all of it.
func part(m []int, sub types.Datum) ([]int, error) {
	k := sub.Int()
	if k < 0 {
		return nil, errParameter("subexpr", k)
	}
	if k == 1 && len(m) == 2 {
		return m, nil // without parentheses the match is its own first part
	}
	if m == nil || 2*k+1 >= int64(len(m)) || m[2*k] < 0 {
		return nil, nil
	}
	return m[2*k : 2*k+2], nil
}

func regexpInstr(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if e := a[4].Int(); e != 0 && e != 1 {
		return types.Null, errParameter("endoption", e)
	}
	s := a[0].Str()
	m, err := nth(c, "regexp_instr", s, a[1].Str(), a[2], a[3], a[5].Str())
	if err == nil {
		m, err = part(m, a[6])
	}
	if err != nil || m == nil {
		return types.NewInt(0), err
	}
	return types.NewInt(int64(utf8.RuneCountInString(s[:m[a[4].Int()]])) + 1), nil
}

func regexpSubstr(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	s := a[0].Str()
	m, err := nth(c, "regexp_substr", s, a[1].Str(), a[2], a[3], a[4].Str())
	if err == nil {
		m, err = part(m, a[5])
	}
	if err != nil || m == nil {
		return types.Null, err
	}
	return types.NewStr(s[m[0]:m[1]]), nil
}

// substringRegexp is SUBSTRING(s FROM pattern): the first parenthesised part, or the match.
func substringRegexp(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	s := a[0].Str()
	p, err := regex.CompilePattern(a[1].Str(), "")
	if err != nil {
		return types.Null, err
	}
	m := p.Find(c, s, 0)
	if m == nil {
		return types.Null, nil
	}
	if len(m) > 2 {
		m = m[2:]
	}
	if m[0] < 0 {
		return types.Null, nil
	}
	return types.NewStr(s[m[0]:m[1]]), nil
}

func substringSimilar(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	re, err := similarToRegexp(a[1].Str(), a[2].Str())
	if err != nil {
		return types.Null, err
	}
	return substringRegexp(c, []types.Datum{a[0], types.NewStr(re)})
}

// similarToRegexp turns a SIMILAR TO pattern into a regular expression (similar_escape_internal).
// In SUBSTRING … SIMILAR the escape with a double quote separates three parts, of which the
// middle one is wanted: the outer ones then prefer to be short and long.
func similarToRegexp(pat, escape string) (string, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return "", sqlerr.New(sqlerr.InvalidEscape, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	esc := rune(-1)
	if escape != "" {
		esc, _ = utf8.DecodeRuneInString(escape)
	}
	var b room.Builder
	b.WriteString("^(?:")
	afterEscape, inClass := false, false
	quotes := 0
	for _, r := range pat {
		switch {
		case afterEscape:
			if r == '"' && !inClass {
				switch quotes {
				case 0:
					b.WriteString("){1,1}?(")
				case 1:
					b.WriteString("){1,1}(?:")
				default:
					return "", sqlerr.New(sqlerr.Code("2200C"), "SQL regular expression may not contain more than two escape-double-quote separators")
				}
				quotes++
			} else {
				// Letters and digits behind a backslash would mean something to the regular expression.
				b.WriteByte('\\')
				b.WriteRune(r)
			}
			afterEscape = false
		case r == esc:
			afterEscape = true
		case inClass:
			if r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			inClass = r != ']'
		case r == '[':
			b.WriteRune(r)
			inClass = true
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		case r == '(':
			b.WriteString("(?:")
		case r == '\\' || r == '.' || r == '^' || r == '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(")$")
	return b.String(), nil
}
