// Package regex answers: where does a PostgreSQL pattern match?
//
// PostgreSQL's advanced regular expressions are translated to Go's, whose time is linear in the text; which of
// several matches PostgreSQL would take is found afterwards (preferences). It refuses to know of SQL.
package regex

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// PostgreSQL's regular expressions (POSIX EREs with Henry Spencer's "advanced" extensions) run
// on Go's RE2 engine: matching takes linear time. What RE2 does not have, back references and
// look-around, is refused with a message that says so.

// maxPattern bounds a pattern's length.
const maxPattern = 1 << 16

// KeyBytes bounds each cache of compiled patterns.
const KeyBytes = 8 << 20

var regexpCache = cache.Shared[Key, *regexp.Regexp]("regular expressions", KeyBytes)

// Size is about what a pattern takes compiled: its program, and one like it for matches that
// begin at the start. A short pattern can have a long program: (a{100}){10}.
func Size(text string) int64 {
	const base, perInst = 2048, 160
	n := base + 2*int64(len(text))
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		if prog, err := syntax.Compile(tree.Simplify()); err == nil {
			n += int64(len(prog.Inst)) * perInst
		}
	}
	return n
}

// Key is what a compiled pattern is kept by.
type Key struct{ Pattern, Flags string }

// Compile compiles a PostgreSQL pattern. flags are those of regexp_match and friends
// without g: i c n m p w s x q e t.
func Compile(pattern, flags string) (*regexp.Regexp, error) {
	key := Key{pattern, flags}
	if re, ok := regexpCache.Find(key); ok {
		return re, nil
	}
	text, err := translateRegexp(pattern, flags)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errRegexp(plainRegexpError(err))
	}
	regexpCache.Put(key, re, Size(text))
	return re, nil
}

func errRegexp(what string) error {
	return sqlerr.New(sqlerr.InvalidRegexp, "invalid regular expression: %s", what)
}

func errRegexpFeature(what string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "regular expression %s is not supported", what)
}

// plainRegexpError says what Go's parser found in PostgreSQL's words where it has them.
func plainRegexpError(err error) string {
	s := err.Error()
	for _, m := range [][2]string{
		{"missing argument to repetition", "quantifier operand invalid"},
		{"invalid nested repetition", "quantifier operand invalid"},
		{"missing closing )", "parentheses () not balanced"},
		{"unexpected )", "parentheses () not balanced"},
		{"missing closing ]", "brackets [] not balanced"},
		{"invalid character class range", "invalid character range"},
		{"invalid repeat count", "invalid repetition count(s)"},
		{"expression too large", "regular expression is too complex"},
		{"invalid UTF-8", "invalid byte sequence"},
	} {
		if strings.Contains(s, m[0]) {
			return m[1]
		}
	}
	return strings.TrimPrefix(s, "error parsing regexp: ")
}

// regexpOptions are what flags and embedded options set.
type regexpOptions struct {
	fold, literal, extended bool
	dotNewline, lines       bool // . and [^…] match newlines; ^ and $ match at them
}

func (o *regexpOptions) set(flags string) error {
	for _, f := range flags {
		switch f {
		case 'i':
			o.fold = true
		case 'c':
			o.fold = false
		case 'n', 'm':
			o.dotNewline, o.lines = false, true
		case 'p':
			o.dotNewline, o.lines = false, false
		case 'w':
			o.dotNewline, o.lines = true, true
		case 's':
			o.dotNewline, o.lines = true, false
		case 'x':
			o.extended = true
		case 't':
			o.extended = false
		case 'q':
			o.literal = true
		case 'e':
		case 'b':
			return errRegexpFeature(`option "b" (basic regular expressions)`)
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: %q", string(f))
		}
	}
	return nil
}

// translateRegexp rewrites a PostgreSQL pattern in Go's syntax.
func translateRegexp(pattern, flags string) (string, error) {
	t, err := newTranslator(pattern, flags)
	if err != nil {
		return "", err
	}
	if t.opt.literal {
		t.out.WriteString(regexp.QuoteMeta(t.in))
		return t.out.String(), nil
	}
	if err := t.run(); err != nil {
		return "", err
	}
	return t.out.String(), nil
}

// newTranslator reads a pattern's options, with which the output begins.
func newTranslator(pattern, flags string) (*regexpTranslator, error) {
	if len(pattern) > maxPattern {
		return nil, errRegexp("regular expression is too complex")
	}
	o := regexpOptions{dotNewline: true}
	if err := o.set(flags); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(pattern, "***="):
		pattern, o.literal = pattern[4:], true
	case strings.HasPrefix(pattern, "***:"):
		pattern = pattern[4:]
	case strings.HasPrefix(pattern, "***"):
		return nil, errRegexp("invalid regexp (reg version 0.8)")
	}
	if !o.literal && strings.HasPrefix(pattern, "(?") {
		if end := strings.IndexByte(pattern, ')'); end > 2 && isLetters(pattern[2:end]) {
			if err := o.set(pattern[2:end]); err != nil {
				return nil, errRegexp("invalid embedded option")
			}
			pattern = pattern[end+1:]
		}
	}
	t := &regexpTranslator{in: pattern, opt: o}
	t.header()
	return t, nil
}

func isLetters(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

type regexpTranslator struct {
	in  string
	at  int
	out room.Builder
	opt regexpOptions
}

func (t *regexpTranslator) header() {
	f := ""
	if t.opt.fold {
		f += "i"
	}
	if t.opt.dotNewline {
		f += "s"
	}
	if t.opt.lines {
		f += "m"
	}
	if f != "" {
		t.out.WriteString("(?" + f + ")")
	}
}

func (t *regexpTranslator) rest() string { return t.in[t.at:] }

func (t *regexpTranslator) run() error {
	for t.at < len(t.in) {
		var err error
		switch c := t.in[t.at]; {
		case c == '\\':
			err = t.escape()
		case c == '[':
			err = t.bracket()
		case c == '(':
			err = t.open()
		case c == '{':
			err = t.bound()
		case t.opt.extended && strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			t.at++
		case t.opt.extended && c == '#':
			for t.at < len(t.in) && t.in[t.at] != '\n' {
				t.at++
			}
		case c == '}' || c == ']':
			t.out.WriteByte('\\')
			t.out.WriteByte(c)
			t.at++
		default:
			_, n := utf8.DecodeRuneInString(t.rest())
			t.out.WriteString(t.in[t.at : t.at+n])
			t.at += n
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open handles ( and what may follow it.
func (t *regexpTranslator) open() error {
	r := t.rest()
	switch {
	case strings.HasPrefix(r, "(?#"):
		end := strings.IndexByte(r, ')')
		if end < 0 {
			return errRegexp("parentheses () not balanced")
		}
		t.at += end + 1
		return nil
	case strings.HasPrefix(r, "(?:"):
		t.out.WriteString("(?:")
		t.at += 3
		return nil
	case strings.HasPrefix(r, "(?=") || strings.HasPrefix(r, "(?!"):
		return errRegexpFeature("lookahead")
	case strings.HasPrefix(r, "(?<=") || strings.HasPrefix(r, "(?<!"):
		return errRegexpFeature("lookbehind")
	case strings.HasPrefix(r, "(?"):
		return errRegexp("quantifier operand invalid")
	}
	t.out.WriteByte('(')
	t.at++
	return nil
}

// bound handles {m}, {m,} and {m,n}; a { that no digit follows is itself.
func (t *regexpTranslator) bound() error {
	r := t.rest()
	if len(r) < 2 || r[1] < '0' || r[1] > '9' {
		t.out.WriteString(`\{`)
		t.at++
		return nil
	}
	end := strings.IndexByte(r, '}')
	if end < 0 {
		return errRegexp("braces {} not balanced")
	}
	lo, hi, two := strings.Cut(r[1:end], ",")
	m, err1 := strconv.Atoi(lo)
	n, err2 := m, error(nil)
	if two && hi != "" {
		n, err2 = strconv.Atoi(hi)
	}
	if err1 != nil || err2 != nil || m > 255 || n > 255 || m > n {
		return errRegexp("invalid repetition count(s)")
	}
	t.out.WriteString(r[:end+1])
	t.at += end + 1
	return nil
}

// classEscapes are the escapes that mean a class, in and out of brackets.
var classEscapes = map[byte]string{
	'd': `\p{Nd}`, 's': `\s\v\x{85}\p{Z}`, 'w': `\p{L}\p{M}\p{N}_`,
}

var charEscapes = map[byte]string{
	'a': `\x07`, 'b': `\x08`, 'B': `\\`, 'e': `\x1b`, 'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\v`,
}

func (t *regexpTranslator) escape() error {
	if t.at+1 >= len(t.in) {
		return errRegexp("invalid escape \\ sequence")
	}
	c := t.in[t.at+1]
	if class, ok := classEscapes[lower(c)]; ok {
		t.at += 2
		if c == lower(c) {
			t.out.WriteString("[" + class + "]")
		} else {
			t.out.WriteString("[^" + class + "]")
		}
		return nil
	}
	switch c {
	case 'A':
		t.out.WriteString(`\A`)
	case 'Z':
		t.out.WriteString(`\z`)
	case 'y':
		t.out.WriteString(`\b`)
	case 'Y':
		t.out.WriteString(`\B`)
	case 'm':
		// The start of a word is a border before a word character.
		if !t.wordFollows(t.in[t.at+2:]) {
			return errRegexpFeature(`constraint \m before anything but a letter, digit or \w`)
		}
		t.out.WriteString(`\b`)
	case 'M':
		if !t.wordPrecedes() {
			return errRegexpFeature(`constraint \M after anything but a letter, digit or \w`)
		}
		t.out.WriteString(`\b`)
	default:
		text, n, err := t.charEscape(t.rest())
		if err != nil {
			return err
		}
		t.out.WriteString(text)
		t.at += n
		return nil
	}
	t.at += 2
	return nil
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lower(c) >= 'a' && lower(c) <= 'z'
}

func (t *regexpTranslator) wordFollows(s string) bool {
	s = strings.TrimLeft(s, "(")
	s = strings.TrimPrefix(s, "?:")
	if strings.HasPrefix(s, `\w`) || strings.HasPrefix(s, `\d`) {
		return !optional(s[2:])
	}
	return s != "" && isWordByte(s[0]) && !optional(s[1:])
}

// optional tells whether the quantifier at the start of s allows nothing.
func optional(s string) bool {
	return s != "" && (s[0] == '*' || s[0] == '?' || strings.HasPrefix(s, "{0"))
}

func (t *regexpTranslator) wordPrecedes() bool {
	s := strings.TrimRight(t.in[:t.at], ")")
	s = strings.TrimSuffix(s, "+")
	if strings.HasSuffix(s, `\w`) || strings.HasSuffix(s, `\d`) {
		return true
	}
	return s != "" && isWordByte(s[len(s)-1]) && !(len(s) > 1 && s[len(s)-2] == '\\')
}

// charEscape reads an escape that means one character, at the start of s.
func (t *regexpTranslator) charEscape(s string) (text string, n int, err error) {
	c := s[1]
	if e, ok := charEscapes[c]; ok {
		return e, 2, nil
	}
	switch {
	case c == 'c' && len(s) > 2:
		return fmt.Sprintf(`\x{%x}`, s[2]&0x1f), 3, nil
	case c == 'u' || c == 'U':
		digits := 4
		if c == 'U' {
			digits = 8
		}
		return hexEscape(s, digits)
	case c == 'x':
		end := 2
		for end < len(s) && isHex(s[end]) {
			end++
		}
		return hexEscape(s, end-2)
	case c == '0':
		end := 2
		for end < len(s) && end < 4 && s[end] >= '0' && s[end] <= '7' {
			end++
		}
		v, _ := strconv.ParseUint(s[1:end], 8, 32)
		return fmt.Sprintf(`\x{%x}`, v), end, nil
	case c >= '1' && c <= '9':
		return "", 0, errRegexpFeature("back reference")
	case isWordByte(c) && c != '_':
		return "", 0, errRegexp("invalid escape \\ sequence")
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return regexp.QuoteMeta(s[1 : 1+size]), 1 + size, nil
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || lower(c) >= 'a' && lower(c) <= 'f' }

func hexEscape(s string, digits int) (string, int, error) {
	if digits == 0 || len(s) < 2+digits {
		return "", 0, errRegexp("invalid escape \\ sequence")
	}
	v, err := strconv.ParseUint(s[2:2+digits], 16, 64)
	if err != nil || v > utf8.MaxRune {
		return "", 0, errRegexp("invalid escape \\ sequence")
	}
	return fmt.Sprintf(`\x{%x}`, v), 2 + digits, nil
}

// bracket copies a bracket expression, whose insides differ in small ways.
func (t *regexpTranslator) bracket() error {
	r := t.rest()
	for word, border := range map[string]string{"[[:<:]]": `\m`, "[[:>:]]": `\M`} {
		if strings.HasPrefix(r, word) {
			t.in = t.in[:t.at] + border + r[len(word):]
			return t.escape()
		}
	}
	i := 1
	var b room.Builder
	b.WriteByte('[')
	negated := i < len(r) && r[i] == '^'
	if negated {
		b.WriteByte('^')
		if !t.opt.dotNewline {
			b.WriteString(`\n`) // newline-sensitive: [^…] does not match a newline
		}
		i++
	}
	lastDash, closed := -1, -1 // where the last range began after its -, and where it ended
	for first := true; ; first = false {
		if i >= len(r) {
			return errRegexp("brackets [] not balanced")
		}
		if lastDash >= 0 && i > lastDash {
			lastDash, closed = -1, i
		}
		c := r[i]
		switch {
		case c == ']' && !first:
			b.WriteByte(']')
			t.out.WriteString(b.String())
			t.at += i + 1
			return nil
		case strings.HasPrefix(r[i:], "[:"):
			end := strings.Index(r[i:], ":]")
			if end < 0 {
				return errRegexp("brackets [] not balanced")
			}
			class, ok := posixClasses[r[i+2:i+end]]
			if !ok {
				return errRegexp("invalid character class")
			}
			b.WriteString(class)
			i += end + 2
		case strings.HasPrefix(r[i:], "[.") || strings.HasPrefix(r[i:], "[="):
			end := strings.Index(r[i+2:], r[i+1:i+2]+"]")
			if end < 0 || utf8.RuneCountInString(r[i+2:i+2+end]) != 1 {
				return errRegexp("invalid collating element")
			}
			b.WriteString(quoteInClass(r[i+2 : i+2+end]))
			i += end + 4
		case c == '\\':
			if i+1 >= len(r) {
				return errRegexp("invalid escape \\ sequence")
			}
			if class, ok := classEscapes[r[i+1]]; ok {
				b.WriteString(class)
				i += 2
				continue
			}
			if strings.IndexByte("DSWAZmMyY", r[i+1]) >= 0 {
				return errRegexp("invalid escape \\ sequence")
			}
			text, n, err := t.charEscape(r[i:])
			if err != nil {
				return err
			}
			if len(text) == 1 || len(text) == 2 && text[0] == '\\' && !isWordByte(text[1]) {
				text = quoteInClass(text[len(text)-1:])
			}
			b.WriteString(text)
			i += n
		case c == '-' && !first && i+1 < len(r) && r[i+1] != ']':
			if closed == i { // a-c-e
				return errRegexp("invalid character range")
			}
			b.WriteByte('-')
			i++
			lastDash = i
		default:
			_, n := utf8.DecodeRuneInString(r[i:])
			b.WriteString(quoteInClass(r[i : i+n]))
			i += n
		}
	}
}

// posixClasses are the named classes, over Unicode where that makes a difference.
var posixClasses = map[string]string{
	"alnum": `\p{L}\p{M}\p{N}`, "alpha": `\p{L}\p{M}`, "ascii": `\x00-\x7F`, "blank": `\t \p{Zs}`,
	"cntrl": `\p{Cc}`, "digit": `\p{Nd}`, "graph": `\p{L}\p{M}\p{N}\p{P}\p{S}`, "lower": `\p{Ll}`,
	"print": `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}`, "punct": `\p{P}\p{S}`, "space": `\s\v\x{85}\p{Z}`,
	"upper": `\p{Lu}`, "xdigit": `0-9A-Fa-f`, "word": `\p{L}\p{M}\p{N}_`,
}

func quoteInClass(s string) string {
	if len(s) == 1 && strings.IndexByte(`\]^-[&~`, s[0]) >= 0 {
		return `\` + s
	}
	return s
}
