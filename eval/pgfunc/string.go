package pgfunc

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Strings: PostgreSQL's chapter 9.4, except what formats, matches and encodes (other files).

func registerString() {
	const text, i4, i8 = types.Text, types.Int4, types.Int8
	length := eval.Fn1(eval.CountRunes)
	eval.Register(
		eval.Immutable("length", eval.Sig(text), eval.TInt4, length).NeverFails(),
		eval.Immutable("length", eval.Sig(types.Bpchar), eval.TInt4, eval.Fn1(func(s string) int { return utf8.RuneCountInString(strings.TrimRight(s, " ")) })).NeverFails(),
		eval.Immutable("char_length", eval.Sig(text), eval.TInt4, length).NeverFails(),
		eval.Immutable("char_length", eval.Sig(types.Bpchar), eval.TInt4, eval.Fn1(func(s string) int { return utf8.RuneCountInString(strings.TrimRight(s, " ")) })).NeverFails(),
		eval.Immutable("character_length", eval.Sig(text), eval.TInt4, length).NeverFails(),
		eval.Immutable("octet_length", eval.Sig(text), eval.TInt4, eval.Fn1(func(s []byte) int { return len(s) })).NeverFails(),
		eval.Immutable("octet_length", eval.Sig(types.Bpchar), eval.TInt4, eval.Fn1(func(s []byte) int { return len(s) })).NeverFails(),
		eval.Immutable("bit_length", eval.Sig(text), eval.TInt4, eval.Fn1(func(s []byte) int { return 8 * len(s) })).NeverFails(),
		eval.Immutable("lower", eval.Sig(text), eval.TText, eval.Ask1(inPieces(strings.ToLower))).NeverFails(),
		eval.Immutable("upper", eval.Sig(text), eval.TText, eval.Ask1(inPieces(strings.ToUpper))).NeverFails(),
		eval.Immutable("initcap", eval.Sig(text), eval.TText, eval.Ask1(initcap)).NeverFails(),
		eval.Immutable("reverse", eval.Sig(text), eval.TText, eval.Ask1(reverse)).NeverFails(),
		eval.Immutable("substr", eval.Sig(text, i4), eval.TText, eval.Fn2(substrFrom)).NeverFails(),
		eval.Immutable("substr", eval.Sig(text, i4, i4), eval.TText, eval.Try3(substr)),
		eval.Immutable("substring", eval.Sig(text, i4), eval.TText, eval.Fn2(substrFrom)).NeverFails(),
		eval.Immutable("substring", eval.Sig(text, i4, i4), eval.TText, eval.Try3(substr)),
		eval.Immutable("left", eval.Sig(text, i4), eval.TText, eval.Fn2(left)).NeverFails(),
		eval.Immutable("right", eval.Sig(text, i4), eval.TText, eval.Fn2(right)).NeverFails(),
		eval.Immutable("strpos", eval.Sig(text, text), eval.TInt4, eval.Fn2(strpos)).NeverFails(),
		eval.Immutable("position", eval.Sig(text, text), eval.TInt4, eval.Fn2(strpos)).NeverFails(),
		eval.Immutable("starts_with", eval.Sig(text, text), eval.TBool, eval.Fn2(strings.HasPrefix)).NeverFails(),
		eval.Immutable("lpad", eval.Sig(text, i4), eval.TText, eval.Try2(func(s string, n int) (string, error) { return pad(s, n, " ", true) })),
		eval.Immutable("lpad", eval.Sig(text, i4, text), eval.TText, eval.Try3(func(s string, n int, fill string) (string, error) { return pad(s, n, fill, true) })),
		eval.Immutable("rpad", eval.Sig(text, i4), eval.TText, eval.Try2(func(s string, n int) (string, error) { return pad(s, n, " ", false) })),
		eval.Immutable("rpad", eval.Sig(text, i4, text), eval.TText, eval.Try3(func(s string, n int, fill string) (string, error) { return pad(s, n, fill, false) })),
		eval.Immutable("btrim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.Trim(s, " ") })).NeverFails(),
		eval.Immutable("ltrim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.TrimLeft(s, " ") })).NeverFails(),
		eval.Immutable("rtrim", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return strings.TrimRight(s, " ") })).NeverFails(),
		eval.Immutable("btrim", eval.Sig(text, text), eval.TText, eval.Fn2(strings.Trim)).NeverFails(),
		eval.Immutable("ltrim", eval.Sig(text, text), eval.TText, eval.Fn2(strings.TrimLeft)).NeverFails(),
		eval.Immutable("rtrim", eval.Sig(text, text), eval.TText, eval.Fn2(strings.TrimRight)).NeverFails(),
		eval.Immutable("replace", eval.Sig(text, text, text), eval.TText, eval.Ask3(replace)),
		eval.Immutable("translate", eval.Sig(text, text, text), eval.TText, eval.Ask3(translate)).NeverFails(),
		eval.Immutable("split_part", eval.Sig(text, text, i4), eval.TText, eval.Try3(splitPart)),
		eval.Immutable("repeat", eval.Sig(text, i4), eval.TText, eval.Try2(repeat)),
		eval.Immutable("overlay", eval.Sig(text, text, i4), eval.TText, eval.Try3(func(s, by string, at int) (string, error) {
			return overlay(s, by, at, utf8.RuneCountInString(by))
		})),
		eval.Immutable("overlay", eval.Sig(text, text, i4, i4), eval.TText, eval.Try4(overlay)),
		eval.Immutable("ascii", eval.Sig(text), eval.TInt4, eval.Fn1(func(s string) int {
			r, n := utf8.DecodeRuneInString(s)
			if n == 0 {
				return 0
			}
			return int(r)
		})).NeverFails(),
		eval.Immutable("chr", eval.Sig(i4), eval.TText, eval.Try1(chr)),
		eval.Immutable("to_hex", eval.Sig(i4), eval.TText, eval.Fn1(func(i int64) string { return hexOf(uint64(uint32(i))) })).NeverFails(),
		eval.Immutable("to_hex", eval.Sig(i8), eval.TText, eval.Fn1(func(i int64) string { return hexOf(uint64(i)) })).NeverFails(),
		eval.Stable("concat", eval.Sig(types.Any), eval.TText, typed(concat)).AsVariadic().CalledOnNull(),
		eval.Stable("concat_ws", []types.Type{eval.TText, eval.TAny}, eval.TText, typed(concatWS)).AsVariadic().CalledOnNull(),
		eval.Immutable("num_nulls", eval.Sig(types.Any), eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewInt(countNulls(a)), nil
		})).AsVariadic().CalledOnNull(),
		eval.Immutable("num_nonnulls", eval.Sig(types.Any), eval.TInt4, eval.Row(func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
			return types.NewInt(int64(len(a)) - countNulls(a)), nil
		})).AsVariadic().CalledOnNull(),
		eval.Immutable("unistr", eval.Sig(text), eval.TText, eval.Try1(unistr)),
	)
}

func hexOf(u uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	i := len(b)
	for {
		i--
		b[i] = digits[u&15]
		if u >>= 4; u == 0 {
			return string(b[i:])
		}
	}
}

func countNulls(a []types.Datum) (n int64) {
	for _, d := range a {
		if d.IsNull() {
			n++
		}
	}
	return n
}

// initcap makes each run of letters and digits start with an upper-case letter.
// lookEvery is after how many small steps a loop looks whether anybody waits for what it makes.
const lookEvery = 1 << 16

// inPieces is f, which maps each character by itself, for texts of any length: it looks between
// pieces whether anybody waits.
func inPieces(f func(string) string) func(*eval.Ctx, string) (string, error) {
	const piece = 1 << 20
	return func(c *eval.Ctx, s string) (string, error) {
		if len(s) <= piece {
			return f(s), nil
		}
		var b room.Builder
		b.Grow(len(s))
		for len(s) > 0 {
			if err := c.Alive(); err != nil {
				return "", err
			}
			n := min(piece, len(s))
			for n < len(s) && !utf8.RuneStart(s[n]) {
				n++
			}
			b.WriteString(f(s[:n]))
			s = s[n:]
		}
		return b.String(), nil
	}
}

func initcap(c *eval.Ctx, s string) (string, error) {
	inWord := false
	return inPieces(func(s string) string {
		return strings.Map(func(r rune) rune {
			was := inWord
			inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
			if was {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	})(c, s)
}

func reverse(c *eval.Ctx, s string) (string, error) {
	b := room.Grow([]byte(nil), len(s))[:len(s)]
	at := len(b)
	for i, steps := 0, 1; i < len(s); steps++ {
		if steps%lookEvery == 0 {
			if err := c.Alive(); err != nil {
				return "", err
			}
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		at -= n
		copy(b[at:], s[i:i+n])
		i += n
	}
	return room.String(b), nil
}

// runeOffset gives the byte offset of the n-th character, len(s) past the end.
func runeOffset(s string, n int64) int {
	if n >= int64(len(s)) {
		return len(s)
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
		} else {
			_, w := utf8.DecodeRuneInString(s[i:])
			i += w
		}
	}
	return i
}

func substrFrom(s string, from int64) string {
	if from <= 1 {
		return s
	}
	return s[runeOffset(s, from-1):]
}

func errNegativeSubstring() error {
	return sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
}

// substr takes n characters from the one numbered from on; numbers below 1 count too, so that
// substr('abc', -1, 3) is 'a'.
func substr(s string, from, n int64) (string, error) {
	if n < 0 {
		return "", errNegativeSubstring()
	}
	end := from + n
	if from < 1 {
		from = 1
	}
	if end <= from {
		return "", nil
	}
	s = s[runeOffset(s, from-1):]
	return s[:runeOffset(s, end-from)], nil
}

// left is the first n characters; a negative n leaves out the last -n.
func left(s string, n int64) string {
	if n < 0 {
		n = max(int64(utf8.RuneCountInString(s))+n, 0)
	}
	return s[:runeOffset(s, n)]
}

// right is the last n characters; a negative n leaves out the first -n.
func right(s string, n int64) string {
	if n < 0 {
		return s[runeOffset(s, -n):]
	}
	return s[runeOffset(s, max(int64(utf8.RuneCountInString(s))-n, 0)):]
}

func strpos(s, sub string) int {
	i := strings.Index(s, sub)
	if i < 0 {
		return 0
	}
	return utf8.RuneCountInString(s[:i]) + 1
}

// pad fills s to n characters, or cuts it to n.
func pad(s string, n int, fill string, before bool) (string, error) {
	if n < 0 {
		n = 0
	}
	have := utf8.RuneCountInString(s)
	if have >= n || fill == "" {
		return s[:runeOffset(s, int64(n))], nil
	}
	missing, width := n-have, utf8.RuneCountInString(fill)
	if err := vec.CheckBytes(len(s) + missing*len(fill)/width); err != nil {
		return "", err
	}
	var b room.Builder
	b.Grow(len(s) + (missing/width+1)*len(fill))
	if !before {
		b.WriteString(s)
	}
	for range missing / width {
		b.WriteString(fill)
	}
	b.WriteString(fill[:runeOffset(fill, int64(missing%width))])
	if before {
		b.WriteString(s)
	}
	return b.String(), nil
}

func replace(c *eval.Ctx, s, from, to string) (string, error) {
	if from == "" || !strings.Contains(s, from) {
		return s, nil
	}
	if n := len(to) - len(from); n > 0 {
		size := len(s) + n*strings.Count(s, from)
		if size > eval.MaxString() {
			return "", eval.ErrTooLong()
		}
		if err := room.Take(size); err != nil {
			return "", err
		}
	}
	if len(s) < lookEvery {
		return strings.ReplaceAll(s, from, to), nil
	}
	var b room.Builder
	b.Grow(len(s))
	for n := 1; ; n++ {
		if n%lookEvery == 0 {
			if err := c.Alive(); err != nil {
				return "", err
			}
		}
		before, after, found := strings.Cut(s, from)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		b.WriteString(to)
		s = after
	}
}

// translate maps the characters of from to those of to, position by position; those without a
// partner go. The first of repeated characters in from counts.
func translate(c *eval.Ctx, s, from, to string) (string, error) {
	m := map[rune]rune{}
	target := []rune(to)
	i := 0
	for _, r := range from {
		if _, dup := m[r]; !dup {
			m[r] = -1
			if i < len(target) {
				m[r] = target[i]
			}
		}
		i++
	}
	return inPieces(func(s string) string {
		return strings.Map(func(r rune) rune {
			if t, ok := m[r]; ok {
				return t
			}
			return r
		}, s)
	})(c, s)
}

func splitPart(s, sep string, n int) (string, error) {
	if n == 0 {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "field position must not be zero")
	}
	if s == "" {
		return "", nil
	}
	if sep == "" {
		if n == 1 || n == -1 {
			return s, nil
		}
		return "", nil
	}
	if n < 0 {
		n = strings.Count(s, sep) + 2 + n
	}
	if n < 1 {
		return "", nil
	}
	for ; n > 1; n-- {
		i := strings.Index(s, sep)
		if i < 0 {
			return "", nil
		}
		s = s[i+len(sep):]
	}
	if i := strings.Index(s, sep); i >= 0 {
		s = s[:i]
	}
	return s, nil
}

func repeat(s string, n int) (string, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if err := vec.CheckBytes(len(s)*n + 4); err != nil {
		return "", err
	}
	if err := room.Take(len(s) * n); err != nil {
		return "", err
	}
	return strings.Repeat(s, n), nil
}

// overlay replaces n characters of s from the one numbered at on.
func overlay(s, by string, at, n int) (string, error) {
	if at <= 0 {
		return "", errNegativeSubstring()
	}
	head, err := substr(s, 1, int64(at)-1)
	if err != nil {
		return "", err
	}
	return head + by + substrFrom(s, int64(at)+int64(n)), nil
}

func chr(i int64) (string, error) {
	switch {
	case i < 0:
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "character number must be positive")
	case i == 0:
		return "", sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case i > utf8.MaxRune:
		return "", sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character too large for encoding: %d", i)
	case i >= 0xD800 && i < 0xE000:
		return "", sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", i)
	}
	return string(rune(i)), nil
}

func concat(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	o := eval.SessionText(c)
	var b []byte
	for i, d := range a {
		if !d.IsNull() {
			b = types.AppendText(b, d, t[i], o)
		}
	}
	return types.NewStr(room.String(b)), nil
}

func concatWS(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	o := eval.SessionText(c)
	var b []byte
	first := true
	for i, d := range a[1:] {
		if d.IsNull() {
			continue
		}
		if !first {
			b = room.Text(b, a[0].Str())
		}
		first = false
		b = types.AppendText(b, d, t[i+1], o)
	}
	return types.NewStr(room.String(b)), nil
}

// unistr reads \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX.
func unistr(s string) (string, error) {
	bad := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
			WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
	}
	var b room.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		if strings.HasPrefix(s[i:], `\\`) {
			b.WriteByte('\\')
			i += 2
			continue
		}
		skip, digits := 1, 4
		switch {
		case strings.HasPrefix(s[i:], `\+`):
			skip, digits = 2, 6
		case strings.HasPrefix(s[i:], `\u`):
			skip = 2
		case strings.HasPrefix(s[i:], `\U`):
			skip, digits = 2, 8
		}
		if i+skip+digits > len(s) {
			return "", bad()
		}
		var r rune
		for _, c := range []byte(s[i+skip : i+skip+digits]) {
			v, ok := hexVal(c)
			if !ok {
				return "", bad()
			}
			r = r<<4 | rune(v)
		}
		i += skip + digits
		if r == 0 || r > utf8.MaxRune || r >= 0xD800 && r < 0xE000 {
			return "", sqlerr.New(sqlerr.SyntaxError, "invalid Unicode code point")
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func hexVal(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
