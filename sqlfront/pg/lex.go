package pg

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/sqlfront/token"
)

// reserved lists PostgreSQL's fully reserved keywords, and those that may not name a table.
var reserved = token.Set(`all analyse analyze and any array as asc asymmetric both case cast check
	collate column constraint create current_catalog current_date current_role current_time
	current_timestamp current_user default deferrable desc distinct do else end except false fetch
	for foreign from grant group having in initially intersect into lateral leading limit localtime
	localtimestamp not null offset on only or order placing primary references returning select
	session_user some symmetric system_user table then to trailing true union unique user using
	variadic when where window with authorization binary collation concurrently cross
	current_schema freeze full ilike inner is isnull join left like natural notnull outer overlaps
	right similar tablesample verbose`)

const opChars = "~!@#^&|`?+-*/%<>="

func isIdentStart(c byte) bool {
	return c == '_' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isIdentPart(c byte) bool { return isIdentStart(c) || isDigit(c) || c == '$' }
func isSpace(c byte) bool     { return c == ' ' || c >= '\t' && c <= '\r' }

// lexer walks a text token by token, as PostgreSQL's scan.l does with
// standard_conforming_strings on.
type lexer struct {
	s string
	i int
}

// skipSpace passes white space and comments; block comments nest.
func (l *lexer) skipSpace() {
	for l.i < len(l.s) {
		c := l.s[l.i]
		switch {
		case isSpace(c):
			l.i++
		case strings.HasPrefix(l.s[l.i:], "--"):
			n := strings.IndexAny(l.s[l.i:], "\n\r")
			if n < 0 {
				l.i = len(l.s)
			} else {
				l.i += n
			}
		case strings.HasPrefix(l.s[l.i:], "/*"):
			if end := blockCommentEnd(l.s, l.i); end >= 0 {
				l.i = end
			} else {
				return // unterminated: next() makes it an invalid token
			}
		default:
			return
		}
	}
}

func blockCommentEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}

// next gives the next token; ok is false at the end.
func (l *lexer) next() (t token.Token, ok bool) {
	l.skipSpace()
	if l.i >= len(l.s) {
		return token.Token{Pos: len(l.s), End: len(l.s)}, false
	}
	start := l.i
	c := l.s[start]
	raw := func(k token.Kind, end int) (token.Token, bool) {
		l.i = end
		return token.Token{Kind: k, Text: l.s[start:end], Pos: start, End: end}, true
	}
	quoteAt := func(i int) bool { return i < len(l.s) && l.s[i] == '\'' }

	switch {
	case (c == 'e' || c == 'E') && quoteAt(start+1):
		return l.str(start, start+1, true)
	case strings.IndexByte("bBxXnN", c) >= 0 && quoteAt(start+1):
		return l.str(start, start+1, false)
	case (c == 'u' || c == 'U') && strings.HasPrefix(l.s[start+1:], "&'"):
		return l.str(start, start+2, false)
	case (c == 'u' || c == 'U') && strings.HasPrefix(l.s[start+1:], `&"`):
		return l.quoted(start, start+2)
	case isIdentStart(c):
		end := start + 1
		for end < len(l.s) && isIdentPart(l.s[end]) {
			end++
		}
		l.i = end
		text := lowerASCII(l.s[start:end])
		return token.Token{Kind: token.Word, Text: text, Value: clip(text), Reserved: reserved[text], Pos: start, End: end}, true
	case c == '"':
		return l.quoted(start, start)
	case c == '\'':
		return l.str(start, start, false)
	case c == '$':
		if end := start + 1; end < len(l.s) && isDigit(l.s[end]) {
			for end < len(l.s) && isDigit(l.s[end]) {
				end++
			}
			return raw(token.Param, end)
		}
		if end := dollarQuoteEnd(l.s, start); end > 0 {
			return raw(token.String, end)
		}
		return raw(token.Invalid, start+1)
	case isDigit(c) || c == '.' && start+1 < len(l.s) && isDigit(l.s[start+1]):
		return raw(token.Number, numberEnd(l.s, start))
	case strings.HasPrefix(l.s[start:], "::"), strings.HasPrefix(l.s[start:], ".."), strings.HasPrefix(l.s[start:], ":="):
		return raw(token.Punct, start+2)
	case strings.IndexByte("()[],;:.", c) >= 0:
		return raw(token.Punct, start+1)
	case strings.HasPrefix(l.s[start:], "/*"):
		return raw(token.Invalid, len(l.s))
	case strings.IndexByte(opChars, c) >= 0:
		end := start
		for end < len(l.s) && strings.IndexByte(opChars, l.s[end]) >= 0 &&
			!strings.HasPrefix(l.s[end:], "--") && !strings.HasPrefix(l.s[end:], "/*") {
			end++
		}
		// scan.l: an operator ends in + or - only if it also has one of ~!@#^&|`?%.
		if !strings.ContainsAny(l.s[start:end], "~!@#^&|`?%") {
			for end > start+1 && (l.s[end-1] == '+' || l.s[end-1] == '-') {
				end--
			}
		}
		if l.s[start:end] == "=>" {
			return raw(token.Punct, end)
		}
		return raw(token.Op, end)
	}
	_, n := utf8.DecodeRuneInString(l.s[start:])
	return raw(token.Invalid, start+n)
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// str reads a string constant whose quote is at open, with its continuations on later lines.
func (l *lexer) str(start, open int, escapes bool) (token.Token, bool) {
	i := open + 1
	for {
		if i >= len(l.s) {
			l.i = len(l.s)
			return token.Token{Kind: token.Invalid, Text: l.s[start:], Pos: start, End: l.i}, true
		}
		switch {
		case escapes && l.s[i] == '\\':
			i += 2
		case l.s[i] != '\'':
			i++
		case i+1 < len(l.s) && l.s[i+1] == '\'':
			i += 2
		default:
			i++
			if next := stringContinues(l.s, i); next > 0 {
				i = next
				continue
			}
			l.i = i
			return token.Token{Kind: token.String, Text: l.s[start:i], Pos: start, End: i}, true
		}
	}
}

// stringContinues tells where a string goes on: 'a' newline 'b' is 'ab'. 0: it does not.
func stringContinues(s string, i int) int {
	newline := false
	for i < len(s) {
		switch {
		case s[i] == '\n' || s[i] == '\r':
			newline = true
			i++
		case isSpace(s[i]):
			i++
		case strings.HasPrefix(s[i:], "--"):
			n := strings.IndexAny(s[i:], "\n\r")
			if n < 0 {
				return 0
			}
			i += n
		case s[i] == '\'' && newline:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// maxName is how many bytes of a name count, as in PostgreSQL, whose grammar cuts longer ones off: what
// is made by a long name must be found by it.
const maxName = 63

func clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	n := maxName
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

func (l *lexer) quoted(start, open int) (token.Token, bool) {
	for i := open + 1; i < len(l.s); i++ {
		if l.s[i] != '"' {
			continue
		}
		if i+1 < len(l.s) && l.s[i+1] == '"' {
			i++
			continue
		}
		l.i = i + 1
		name := strings.ReplaceAll(l.s[open+1:i], `""`, `"`)
		return token.Token{Kind: token.Quoted, Value: clip(name), Pos: start, End: l.i}, true
	}
	l.i = len(l.s)
	return token.Token{Kind: token.Invalid, Text: l.s[start:], Pos: start, End: l.i}, true
}

// dollarQuoteEnd gives the end of a $tag$…$tag$ string at i, -1 if there is none.
func dollarQuoteEnd(s string, i int) int {
	j := i + 1
	for j < len(s) && s[j] != '$' {
		if !isIdentStart(s[j]) && !(isDigit(s[j]) && j > i+1) {
			return -1
		}
		j++
	}
	if j >= len(s) {
		return -1
	}
	tag := s[i : j+1]
	n := strings.Index(s[j+1:], tag)
	if n < 0 {
		return -1
	}
	return j + 1 + n + len(tag)
}

func numberEnd(s string, i int) int {
	word := func(j int) int {
		for j < len(s) && (isIdentPart(s[j]) && s[j] != '$') {
			j++
		}
		return j
	}
	if s[i] == '0' && i+1 < len(s) && strings.IndexByte("xXoObB", s[i+1]) >= 0 {
		return word(i + 2)
	}
	digits := func(j int) int {
		for j < len(s) && (isDigit(s[j]) || s[j] == '_') {
			j++
		}
		return j
	}
	j := digits(i)
	if j < len(s) && s[j] == '.' && !strings.HasPrefix(s[j:], "..") {
		j = digits(j + 1)
	}
	if j < len(s) && (s[j] == 'e' || s[j] == 'E') {
		k := j + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if k < len(s) && isDigit(s[k]) {
			j = digits(k)
		}
	}
	return j
}
